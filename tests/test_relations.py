"""Relations: the sets of a search without repetition."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import covary
from covary.searching.relations import Relations


def naive_relations(ranked, target=None):
    """Return the listed relations, and by set the one of which it is a variant, by definition."""
    listed, relation_of = [], {}
    for columns, score in ranked:
        if score <= 0:
            continue
        own = set(columns) - {target}
        contained = [relation_of[each] for each in relation_of if set(each) - {target} < own]
        similar = [
            relation
            for relation in listed
            if set(relation) - {target} <= own
            or len(set(columns) & set(relation)) >= max(len(columns) - 1, 2)
        ]
        groups = [set(relation) - {target} for relation in listed]
        for one, other in itertools.product(groups, repeat=2):
            if one & other:
                one |= other
        for one, other in itertools.product(groups, repeat=2):
            if one & other:
                one |= other
        if contained:
            found = min(contained, key=listed.index)
        elif similar:
            found = similar[0]
        elif any(own <= group for group in groups):
            found = max(listed, key=lambda relation: len(own & set(relation)))
        else:
            found = columns
            listed.append(columns)
        relation_of[columns] = found
    return listed, relation_of


@given(
    seed=st.integers(0, 10**6),
    n_columns=st.integers(2, 7),
    target=st.sampled_from([None, 0]),
)
def test_relations_and_variants_are_the_naive_ones(seed, n_columns, target):
    rng = np.random.default_rng(seed)
    sets = [c for k in (2, 3, 4) for c in itertools.combinations(range(n_columns), k)]
    sets = [c for c in sets if target in (None, *c)]
    scores = rng.choice([0.0, 0.25, 0.5, 0.75], len(sets)).tolist()
    ranked = sorted(zip(sets, scores, strict=True), key=lambda each: (-each[1], len(each[0])))
    found = Relations(ranked, target, 1000)
    listed, relation_of = naive_relations(ranked, target)
    assert [columns for columns, _ in found.listed] == listed
    for columns, relation in relation_of.items():
        assert found.variant_of(columns) == (None if relation == columns else relation)
    for relation in found.relations():
        variants = [c for c, of in relation_of.items() if of == relation.columns != c]
        assert relation.variants == len(variants)
        assert set(relation.columns_of_variants) == set().union(*variants) - {*relation.columns}


def test_earlier_values_of_a_column_count_as_this_column():
    # Columns 1 and 2 are earlier values of column 0; column 4 is one of column 3.
    ranked = [((0, 9), 0.9), ((1, 9), 0.8), ((1, 3, 9), 0.7), ((4, 9), 0.6), ((0, 2, 9), 0.5)]
    found = Relations(ranked, 9, 10, undelayed=[0, 0, 0, 3, 3, 5, 6, 7, 8, 9])
    assert found.listed == [((0, 9), 0.9), ((4, 9), 0.6)]
    assert [relation.variants for relation in found.relations()] == [3, 0]
    assert found.variant_of((0, 2, 9)) == (0, 9)


def test_no_more_relations_are_listed_than_asked_for():
    ranked = [((0, 1), 0.9), ((2, 3), 0.8), ((2, 3, 4), 0.7), ((0, 1, 4), 0.6)]
    found = Relations(ranked, None, 1)
    assert found.listed == [((0, 1), 0.9)]
    assert found.relations()[0].variants == 1, "only the last set"
    assert found.variant_of((2, 3, 4)) is None
    assert [c for c, _ in Relations(ranked, None, 9, folded=False).listed] == [
        columns for columns, _ in ranked
    ]


@pytest.fixture(scope="module")
def table():
    """Return two pairs, a sum, and noise."""
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(400, 10))
    frame = pd.DataFrame(cells, columns=list("abcdefghij"))
    frame["b"] = frame["a"] + 0.2 * frame["b"]
    frame["d"] = frame["c"] ** 2 + 0.1 * frame["d"]
    frame["g"] = frame["e"] * frame["f"]
    return frame


def test_each_relation_of_a_table_is_listed_once(table):
    found = covary.search(table, top=100)
    strong = [each.columns for each in found.relations if each.score > 0.1]
    assert strong == [("a", "b"), ("c", "d"), ("e", "f", "g")]
    assert sum(set("ab") <= set(each.columns) for each in found) > 5, "all sets remain"
    padded = next(each for each in found if {"a", "b"} < set(each.columns))
    assert padded.variant_of == ("a", "b")
    assert found.relations[0].variants > 5
    assert set(found.relations[0].variant_columns) >= set(padded.columns) - {"a", "b"}


def test_relations_continue_beyond_the_best_sets(table):
    few, many = (covary.search(table, top=top) for top in (3, 100))
    assert len(few) == len(few.relations) == 3
    assert [each.columns for each in few.relations] == [
        each.columns for each in many.relations[:3]
    ]
    assert few.relations[2] not in few.subspaces


def test_relations_beyond_the_best_sets_are_tested(table):
    found = covary.search(table, top=3, max_size=3, permutations=19)
    assert all(each.pvalue == 1 / 20 for each in found.relations)
    assert found.relations[2].qvalue is not None


def test_every_sifted_set_is_a_relation(table):
    found = covary.search(table[list("abcefg")], top=4, max_size=3, sift=True)
    assert found.relations == tuple(each for each in found if each.score > 0)
    assert all(each.variants == 0 for each in found.relations)


@pytest.mark.parametrize("options", [{}, {"prune": True}, {"strategy": "4s"}, {"measure": "uds"}])
def test_a_relation_is_never_listed_with_an_unrelated_column(table, options):
    """Columns h, i and j are noise."""
    found = covary.search(table, **options)
    for relation in found.relations:
        if relation.score > 0.2:
            assert set("hij").isdisjoint(relation.columns)


@pytest.mark.parametrize("seed", [8, 18])
def test_a_weak_but_certain_relation_is_no_variant_of_one_by_chance(seed):
    """Rare values score more by chance than a correlation of 0.25, also together with it."""
    rng = np.random.default_rng(7000 + seed)
    x = rng.normal(size=1000)
    columns = {"x": x, "y": 0.25 * x + np.sqrt(1 - 0.25**2) * rng.normal(size=1000)}
    for share in np.linspace(0.02, 0.5, 10):
        columns[f"ones{share:.2f}"] = (rng.random(1000) < share) * 1
    while len(columns) < 30:
        columns[f"noise{len(columns)}"] = rng.normal(size=1000)
    frame = pd.DataFrame(columns)
    frame = frame[rng.permutation(frame.columns)]
    best = covary.search(frame, max_size=3)[0]
    assert set(best.columns) != {"x", "y"}
    found = covary.search(frame, max_size=3, permutations=99)
    assert set(found.relations[0].columns) == {"x", "y"}
    assert found.relations[0].family_pvalue == 1 / 100
    assert found.relations[0].variant_of is None
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True), "all sets remain in the order of their scores"
