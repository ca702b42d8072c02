"""P-values of links, groups of columns, and columns that are missing together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import covary
from covary.engines import run_here
from covary.measures import find_measure
from covary.prepare import prepare
from covary.significance.null_evidence import FamilyPvalues, NullEvidence
from covary.structure.evidence import (
    Relation,
    large_relation,
    link_pvalues,
    relations_evidence,
    small_relations,
    unclear_links,
)
from covary.structure.links import Draft, Groups, pair_link
from covary.structure.missing import find_missing_together


def family_of(prepared, n_columns, sizes=(2, 3)):
    measure = find_measure("uds-chance")
    null = NullEvidence.of(measure, prepared, range(n_columns), None, 0, each_target=True)
    family = FamilyPvalues(null, range(2, 6))
    family.compute(sizes, run_here(null))
    return family


def pvalues_of(prepared, link, n_columns):
    relations = small_relations(link)
    evidence = dict(zip(relations, relations_evidence(prepared, relations), strict=True))
    return link_pvalues([link], evidence, family_of(prepared, n_columns), n_columns)


@pytest.mark.parametrize("seed", range(3))
def test_related_explaining_columns_do_not_make_a_link_significant(seed):
    """The hypothesis is about the target: the others may depend on each other."""
    rng = np.random.default_rng(seed)
    a, noise, other = rng.normal(size=(3, 300))
    b = a + 0.1 * rng.normal(size=300)
    prepared = prepare(np.column_stack([a, b, noise, other]))
    assert pvalues_of(prepared, Draft(2, (0, 1), 0.1), 4).pvalues[0] > 0.05
    assert pvalues_of(prepared, Draft(0, (1, 2), 0.9), 4).family_pvalues[0] < 1e-4


def test_a_joint_link_is_significant_though_its_pairs_are_not():
    bits = np.random.default_rng(0).integers(0, 2, (2, 300))
    prepared = prepare(np.column_stack([*bits, bits[0] ^ bits[1]]))
    link = Draft(2, (0, 1), 1.0)
    evidence = relations_evidence(prepared, small_relations(link))
    assert max(evidence[:2]) < 5
    found = pvalues_of(prepared, link, 3)
    assert found.family_pvalues[0] < 1e-4
    assert found.pvalues[0] <= found.qvalues[0] <= found.family_pvalues[0]


def test_four_columns_of_parity_need_the_large_relation():
    bits = np.random.default_rng(1).integers(0, 2, (3, 600))
    prepared = prepare(np.column_stack([*bits, bits.sum(axis=0) % 2]))
    link = Draft(3, (0, 1, 2), 1.0)
    family = family_of(prepared, 4, (2, 3, 4))
    relations = [*small_relations(link), large_relation(link)]
    evidence = dict(zip(relations, relations_evidence(prepared, relations), strict=True))
    assert unclear_links([link], evidence, family) == [link]
    without = {each: evidence[each] for each in relations[:-1]}
    assert link_pvalues([link], without, family, 4).family_pvalues[0] > 0.05
    assert link_pvalues([link], evidence, family, 4).family_pvalues[0] < 0.001


def test_the_order_of_explaining_columns_does_not_change_a_relation():
    assert Relation.of(2, (1, 0)) == Relation.of(2, (0, 1)) == Relation((0, 1, 2), 2)
    assert Relation.of(2, (0, 1)) != Relation.of(1, (0, 2))
    assert Relation.of(2, (0,)) == Relation.of(0, (2,)) == Relation((0, 2), None)


# ---------------------------------------------------------------- groups and directions


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12))
def test_groups_are_connected_columns(pairs):
    links = [Draft(a, (b,), 0.5) for a, b in pairs if a != b]
    reached = {column: {column} for column in range(10)}
    for _ in range(10):  # at most ten steps from any column to any other
        for link in links:
            together = reached[link.target] | reached[link.by[0]]
            for column in together:
                reached[column] = reached[column] | together
    expected = {tuple(sorted(each)) for each in reached.values()}
    groups = Groups(range(10), links)
    assert {tuple(each) for each in groups.members()} == expected
    assert [each[0] for each in groups.members()] == sorted(each[0] for each in groups.members())


def test_a_pair_has_a_direction_if_one_is_clearly_better():
    assert pair_link(1, 0, 0.5, 0.45) == Draft(1, (0,), 0.5, "go together")
    assert pair_link(1, 0, 0.45, 0.5) == Draft(1, (0,), 0.5, "go together")
    assert pair_link(1, 0, 0.5, 0.3) == Draft(1, (0,), 0.5)


def test_a_date_is_not_alone_if_its_hour_has_a_link():
    rng = np.random.default_rng(2)
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 8000, 800), unit="h")
    load = np.sin(when.hour / 24 * 2 * np.pi) + 0.3 * rng.normal(size=800)
    overview = covary.overview(
        pd.DataFrame({"when": when, "load": load, "other": rng.normal(size=800)})
    )
    assert {link.target for link in overview.links} == {"load"}
    assert overview.alone == ("other",)


# ---------------------------------------------------------------- missing cells


@pytest.mark.parametrize("share", [0.5, 0.8, 0.955])
def test_columns_that_are_often_missing_are_not_missing_together_by_chance(share):
    rng = np.random.default_rng(3)
    values = rng.normal(size=(2000, 3))
    values[rng.random((2000, 3)) < share] = np.nan
    copied = np.where(np.isnan(values[:, 0]), np.nan, rng.normal(size=2000))
    values = np.column_stack([values, copied])
    found = find_missing_together(prepare(values), range(4))
    assert [each.columns for each in found] == [(0, 3)]
    assert found[0].share == 1.0


def test_a_link_says_what_missing_cells_explain():
    rng = np.random.default_rng(4)
    x, noise = rng.normal(size=(2, 2000))
    y = x + 0.5 * noise
    frame = pd.DataFrame({"x": np.where(y > 1.0, np.nan, x), "y": y})
    (link,) = covary.overview(frame).links
    assert link.missing > 0.1 or link.target == "x"
    text = f"whether cells are missing: {link.missing:.2f}"
    assert (text in str(link)) == (link.missing > 0)
    frame = pd.DataFrame({"x": x, "y": np.where(rng.random(2000) < 0.2, np.nan, y)})
    (link,) = covary.overview(frame).links
    assert "missing" not in str(link)
