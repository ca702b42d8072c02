"""`covary.overview`: planted links, exact relations, level, run files, output."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import covary
from covary.cli.main import command
from covary.errors import CovaryError
from covary.prepare import prepare
from covary.results import Link
from covary.structure.links import find_links
from covary.structure.missing import find_missing_together
from covary.structure.resume import restore_overview
from planted_tables import awkward, planted


def sets_of(overview):
    return {frozenset(link.columns) for link in overview.links}


def facts(overview):
    """What must not depend on the order of columns and rows, or on the engine."""
    return sorted(
        (str(each.target), sorted(map(str, each.by)), each.kind, each.explained, each.pvalue)
        for each in overview.links
    )


@pytest.fixture(scope="module")
def table():
    return planted(100)


@pytest.fixture(scope="module")
def found(table):
    return covary.overview(table[0])


def test_the_links_are_those_that_were_planted(table, found):
    assert sets_of(found) == table[1]


def test_an_effect_is_explained_by_its_causes_and_a_square_by_its_root(found):
    by = {link.target: set(link.by) for link in found.links}
    assert by["sum"] == {"term0", "term1"}
    assert by["product"] == {"factor0", "factor1"}
    assert by["square"] == {"root"}


def test_both_directions_of_a_linear_pair_are_equally_good(found):
    kinds = {frozenset(link.columns): link.kind for link in found.links}
    assert kinds[frozenset(["chain0", "chain1"])] == "go together"
    assert kinds[frozenset(["root", "square"])] == "explains"


def test_columns_of_noise_are_alone(table, found):
    noise = [name for name in table[0] if name.startswith("noise")]
    assert list(found.alone) == noise


def test_groups_are_connected_columns_named_after_one_of_them(found):
    by_column = {column: group for group in found.groups for column in group.columns}
    assert by_column["chain0"] is by_column["chain3"]
    assert by_column["chain0"] is not by_column["hub"]
    assert by_column["leaf0"].name == "hub"
    for group in found.groups:
        assert group.name in group.columns
        assert all(set(link.columns) <= set(group.columns) for link in group.links)
        assert len(group.links) < len(group.columns)


def test_every_column_is_explained_at_most_once_and_printed_lines_are_few(table, found):
    targets = [link.target for link in found.links]
    assert len(targets) == len(set(targets))
    lines = len(found.links) + len(found.groups) + bool(found.alone)
    assert lines <= table[0].shape[1]


def test_the_score_is_that_of_the_table(table, found):
    assert found.score == covary.score(table[0])
    assert sorted(found.order) == sorted(table[0].columns)


def test_corrected_pvalues_are_not_smaller(found):
    for link in found.links:
        assert 0 < link.pvalue <= link.qvalue <= link.family_pvalue <= 1


@pytest.mark.parametrize("seed", [101, 102])
def test_nothing_depends_on_the_order_of_columns_or_rows(seed):
    table, _ = planted(seed, n_rows=300, n_columns=20)
    table = table.drop(columns="copy", errors="ignore")
    rng = np.random.default_rng(seed)
    other = table[rng.permutation(table.columns)]
    one = covary.overview(table)
    assert facts(covary.overview(other)) == facts(one)
    shuffled = covary.overview(table.sample(frac=1, random_state=seed))
    assert [f[:4] for f in facts(shuffled)] == [f[:4] for f in facts(one)]


@pytest.mark.slow
def test_planted_links_are_found_in_at_least_18_of_20_tables():
    right = false = links = 0
    for seed in range(20):
        table, expected = planted(1000 + seed)
        overview = covary.overview(table)
        right += sets_of(overview) == expected
        for link in overview.links:
            links += link.qvalue <= 0.1
            false += any(str(c).startswith("noise") for c in link.columns)
    assert right >= 18
    assert false < links / 10


# ---------------------------------------------------------------- indirect and redundant relations


def test_no_superfluous_column_is_named():
    rng = np.random.default_rng(0)
    x, other = rng.normal(size=(2, 2000))
    table = pd.DataFrame({"x": x, "other": other, "y": x + 0.3 * rng.normal(size=2000)})
    (link,) = covary.overview(table).links
    assert set(link.columns) == {"x", "y"}


@pytest.mark.parametrize("seed", [2005, 2006])
def test_a_column_that_adds_nothing_to_a_common_effect_is_not_named(seed):
    overview = covary.overview(planted(seed)[0])
    (link,) = [link for link in overview.links if "sum" in link.columns]
    assert set(link.columns) == {"sum", "term0", "term1"}
    assert all(added > 0 for each in overview.links for added in each.adds)


@pytest.mark.parametrize("seed", range(3))
def test_a_column_that_only_divides_the_cells_of_discrete_columns_is_not_named(seed):
    """Smaller cells explain a larger fraction of an uncertain level, whatever divides them."""
    rng = np.random.default_rng(seed)
    bits = rng.random((2, 1000)) < 0.45
    columns = {"bit0": bits[0], "bit1": bits[1]}
    columns["xor"] = bits[0] ^ bits[1] ^ (rng.random(1000) < 0.06)
    columns |= {f"noise{k}": rng.normal(size=1000) for k in range(10)}
    found = covary.overview(pd.DataFrame(columns))
    assert sets_of(found) == {frozenset(("bit0", "bit1", "xor"))}


def test_a_third_cause_of_two_discrete_ones_is_named():
    rng = np.random.default_rng(3)
    bits = rng.random((2, 1000)) < 0.5
    other = rng.normal(size=1000)
    wrong = rng.random(1000) < np.where(other > 0, 0.25, 0.02)
    table = pd.DataFrame({"bit0": bits[0], "bit1": bits[1], "other": other})
    table["xor"] = bits[0] ^ bits[1] ^ wrong
    (link,) = covary.overview(table).links
    assert set(link.columns) == {"bit0", "bit1", "other", "xor"}


def test_nothing_depends_on_the_order_if_columns_are_discrete():
    rng = np.random.default_rng(4)
    table = pd.DataFrame(rng.integers(0, 2, (600, 6)), columns=list("abcdef"))
    table["xor"] = table.a ^ table.b ^ (rng.random(600) < 0.1)
    table["less"] = np.where(rng.random(600) < 0.2, np.nan, table.c ^ (rng.random(600) < 0.1))
    one = facts(covary.overview(table))
    for seed in range(3):
        other = table[np.random.default_rng(seed).permutation(table.columns)]
        assert facts(covary.overview(other)) == one
        shuffled = facts(covary.overview(table.sample(frac=1, random_state=seed)))
        assert [each[:4] for each in shuffled] == [each[:4] for each in one]


@pytest.mark.parametrize("seed", range(900, 903))
def test_causes_of_an_uncertain_sum_are_in_one_link(seed):
    rng = np.random.default_rng(seed)
    columns = dict(zip("ab", rng.normal(size=(2, 1000)), strict=True))
    columns["sum"] = columns["a"] + columns["b"] + 1.3 * rng.normal(size=1000)
    columns |= {f"noise{k}": rng.normal(size=1000) for k in range(10)}
    (link,) = covary.overview(pd.DataFrame(columns)).links
    assert (link.target, set(link.by)) == ("sum", {"a", "b"})


def test_a_long_chain_has_no_shortcuts():
    rng = np.random.default_rng(1)
    columns = [rng.normal(size=1000)]
    for _ in range(7):
        columns.append(columns[-1] + 0.5 * columns[-1].std() * rng.normal(size=1000))
    table = pd.DataFrame({f"c{k}": column for k, column in enumerate(columns)})
    expected = {frozenset((f"c{k}", f"c{k + 1}")) for k in range(7)}
    assert sets_of(covary.overview(table)) == expected


class ChainExplained:
    """What columns of a chain 0, 1, 2 explain, if its middle is the last of the whole table."""

    order = (0, 2, 1)

    def best(self, target, before):
        return tuple(sorted(before)), self.explained(target, before)

    def explained(self, target, by):
        neighbours = [column for column in by if abs(column - target) == 1]
        return {0: 0.3 if by else 0.0, 1: 0.5, 2: 0.7}[len(neighbours)]

    def explained_with_shuffled(self, target, by, column):
        return self.explained(target, [each for each in by if each != column])

    def by_content(self, columns):
        return sorted(columns)

    def alone(self, target, by):
        return {column: self.explained(target, (column,)) for column in by}


def test_a_chain_is_read_along_its_columns_in_whatever_order_the_table_explains_them():
    found = find_links(ChainExplained(), range(3))
    assert {link.columns for link in found} == {frozenset((0, 1)), frozenset((1, 2))}
    assert all(link.explained == 0.5 for link in found)


def test_near_copies_do_not_multiply_links():
    rng = np.random.default_rng(2)
    x = rng.normal(size=1000)
    near = {f"near{k}": x + 0.02 * rng.normal(size=1000) for k in range(3)}
    table = pd.DataFrame({"x": x, **near, "y": x**2 + 0.5 * rng.normal(size=1000)})
    overview = covary.overview(table)
    assert len(overview.links) == 4
    assert sum("y" in link.columns for link in overview.links) == 1


def test_a_weak_but_certain_relation_is_found_among_rare_binary_columns():
    found = 0
    for seed in range(2):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=1000)
        columns = {"x": x, "y": 0.25 * x + np.sqrt(1 - 0.25**2) * rng.normal(size=1000)}
        for k, share in enumerate(np.linspace(0.02, 0.5, 10)):
            columns[f"binary{k}"] = rng.random(1000) < share
        for k in range(8):
            columns[f"noise{k}"] = rng.normal(size=1000)
        links = covary.overview(pd.DataFrame(columns)).links
        found += any(set(e.columns) == {"x", "y"} and e.family_pvalue <= 0.05 for e in links)
    assert found == 2


def test_independent_columns_of_awkward_kinds_have_few_links():
    significant = 0
    for seed in range(12):
        links = covary.overview(awkward(seed, 200, 12)).links
        significant += any(each.family_pvalue <= 0.05 for each in links)
    assert significant <= 3  # more with probability 0.002 if the level is 5 %


@pytest.mark.slow
def test_the_level_of_family_wise_pvalues():
    significant = 0
    for seed in range(200):
        links = covary.overview(awkward(seed)).links
        significant += any(each.family_pvalue <= 0.05 for each in links)
    assert significant <= 18


# ---------------------------------------------------------------- exact relations


def test_a_copy_repeats_its_original():
    rng = np.random.default_rng(3)
    x = rng.normal(size=300)
    table = pd.DataFrame({"rv1": x, "other": rng.normal(size=300), "rv2": x})
    overview = covary.overview(table)
    assert [link.sentence() for link in overview.links] == ["rv2 repeats rv1"]
    assert overview.alone == ("other",)


@pytest.mark.parametrize("names", [("copy", "orig", "scaled"), ("scaled", "orig", "copy")])
def test_a_copy_repeats_its_original_even_if_both_are_functions_of_another_column(names):
    x = np.random.default_rng(20).normal(size=400)
    columns = {"copy": x, "orig": x, "scaled": 2.5 * x + 32}
    overview = covary.overview(pd.DataFrame({name: columns[name] for name in names}))
    first, second = (name for name in names if name != "scaled")
    assert {link.sentence() for link in overview.links} == {
        f"{first} = 0.4 scaled - 12.8",
        f"{second} repeats {first}",
    }
    assert all(link.family_pvalue == 1e-6 for link in overview.links)


def test_what_columns_add_agrees_with_what_they_explain():
    """Explained = alone + (1 - alone) * what the other adds, also after a column is dropped."""
    rng = np.random.default_rng(21)
    here, there, other = rng.uniform(-1, 1, (3, 2000))
    table = pd.DataFrame({"here": here, "there": there, "other": other})
    table["price"] = np.sin(6 * here) * np.sin(6 * there) + 0.1 * rng.normal(size=2000)
    table["income"] = table.price + 0.7 * rng.normal(size=2000)
    overview = covary.overview(table)
    for link in overview.links:
        if len(link.by) == 2:
            for alone, added in zip(link.alone, link.adds[::-1], strict=True):
                assert alone + (1 - alone) * added == pytest.approx(link.explained, abs=1e-9)
    (price,) = [link for link in overview.links if link.target == "price"]
    assert set(price.by) == {"here", "there"}
    assert price.explained == pytest.approx(
        covary.score(table, ["here", "there"], target="price"), abs=0.02
    )


def test_relabelled_levels_are_a_copy():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 4, 300)
    table = pd.DataFrame(
        {"colour": np.array(list("rgby"))[codes], "code": [f"n{c}" for c in codes]}
    )
    assert [link.kind for link in covary.overview(table).links] == ["copy"]


def test_a_monotone_function_is_named_and_a_reversed_one_too():
    wage = np.random.default_rng(5).lognormal(size=300)
    table = pd.DataFrame({"wage": wage, "logwage": np.log(wage), "minus": -wage})
    sentences = {link.sentence() for link in covary.overview(table).links}
    assert "logwage is a function of wage" in sentences
    assert len(sentences) == 2


def test_a_coarser_column_is_a_function_of_the_finer_one():
    rng = np.random.default_rng(6)
    fine = rng.integers(0, 30, 1000)
    table = pd.DataFrame({"sub": [f"s{f}" for f in fine], "grade": [f"g{f // 5}" for f in fine]})
    (link,) = covary.overview(table).links
    assert link.sentence() == "grade is a function of sub"


def test_a_sum_is_an_identity_with_its_formula():
    rng = np.random.default_rng(7)
    first, second, other = rng.gamma(3, 100, size=(3, 400)).round()
    table = pd.DataFrame(
        {"first floor": first, "second floor": second, "living": first + second, "other": other}
    )
    overview = covary.overview(table)
    assert [link.sentence() for link in overview.links] == ["living = first floor + second floor"]
    assert overview.alone == ("other",)


def test_identities_have_their_coefficients():
    rng = np.random.default_rng(8)
    wall, roof = rng.gamma(3, 100, size=(2, 400))
    table = pd.DataFrame({"wall": wall, "roof": roof, "surface": wall + 2 * roof})
    assert [e.formula for e in covary.overview(table).links] == ["wall + 2 roof"]


def test_noise_is_no_identity():
    rng = np.random.default_rng(9)
    a, b = rng.normal(size=(2, 400))
    table = pd.DataFrame({"a": a, "b": b, "c": a + b + 0.05 * rng.normal(size=400)})
    (link,) = covary.overview(table).links
    assert link.kind == "explains"
    assert set(link.columns) == {"a", "b", "c"}


def test_a_function_of_one_column_needs_no_other():
    x = np.random.default_rng(25).uniform(-2, 2, 3000)
    found = covary.overview(pd.DataFrame({"x": x, "y": x**2, "wave": np.sin(3 * x)}))
    assert {str(link) for link in found.links} == {
        "exact  wave is a function of x",
        "exact  y is a function of x",
    }


def test_a_function_of_an_explaining_column_adds_nothing():
    """The range of x is too sparse at its ends to see that the wave is a function, too."""
    x = np.random.default_rng(25).normal(size=3000)
    found = covary.overview(pd.DataFrame({"x": x, "y": x**2, "wave": np.sin(3 * x)}))
    assert sets_of(found) == {frozenset(["x", "y"]), frozenset(["x", "wave"])}


def test_zeros_in_common_show_no_function():
    rng = np.random.default_rng(27)
    area = np.where(rng.random(1000) < 0.5, 0.0, rng.exponential(size=1000))
    value = np.where(area == 0.0, 0.0, 20.0 * area + 10.0 * rng.normal(size=1000))
    (link,) = covary.overview(pd.DataFrame({"area": area, "value": value})).links
    assert link.kind != "function"


def test_a_complement_is_a_formula():
    rng = np.random.default_rng(28)
    female = rng.integers(0, 2, 300)
    table = pd.DataFrame({"female": female, "male": 1 - female, "x": rng.normal(size=300)})
    assert [link.kind for link in covary.overview(table).links] == ["identity"]


def test_a_block_of_many_columns_is_one_formula_in_any_order():
    rng = np.random.default_rng(29)
    level = rng.integers(0, 14, 500)
    columns = {f"is {k}": (level == k).astype(int) for k in range(14)}
    table = pd.DataFrame({**columns, "x": rng.normal(size=500)})
    found = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(table.columns)
        (link,) = covary.overview(table[order]).links
        found.append((link.target, link.kind, set(link.by), link.pvalue, link.qvalue))
    assert found[0] == found[1] == found[2]
    assert found[0][1] == "identity"


@pytest.mark.parametrize("seed", range(2))
def test_the_hour_explains_a_column_wherever_the_order_of_the_table_has_it(seed):
    when = pd.date_range("2020-01-01", periods=2000, freq="1h")
    noise = 0.2 * np.random.default_rng(seed).normal(size=2000)
    load = np.sin(2 * np.pi * when.hour / 24) + noise
    (link,) = covary.overview(pd.DataFrame({"when": when, "load": load})).links
    assert link.by[0] == "when (hour)"
    assert link.explained > 0.6


def test_parts_of_a_date_are_not_missing_together():
    when = pd.Series(pd.date_range("2020-01-01", periods=600, freq="31h"))
    when[np.random.default_rng(30).random(600) < 0.2] = pd.NaT
    table = pd.DataFrame({"when": when, "x": np.random.default_rng(31).normal(size=600)})
    assert covary.overview(table).missing_together == ()


def test_a_slow_series_is_no_function_of_its_dates():
    day = np.arange(2000)
    table = pd.DataFrame({"day": pd.Timestamp("2020-01-01") + pd.to_timedelta(day, unit="D")})
    table["slow"] = np.sin(day / 150) + np.sin(day / 97)
    kinds = {link.kind for link in covary.overview(table).links if "slow" in link.columns}
    assert kinds == {"explains"}


def test_copies_of_rows_show_no_function():
    """All columns of a copy have the values of its original, whatever depends on what."""
    table = pd.DataFrame(np.random.default_rng(26).normal(size=(1000, 3)), columns=list("abc"))
    table.iloc[700:] = np.repeat(table.iloc[:100].to_numpy(), 3, axis=0)
    found = covary.overview(table)
    assert found.repeated_rows == 300
    assert all(link.kind != "function" for link in found.links)


@pytest.mark.parametrize("seed", range(3))
def test_a_column_keeps_its_link_if_another_one_is_explained_better_without_it(seed):
    """The end nearly follows from the start alone, but the duration only from both."""
    rng = np.random.default_rng(seed)
    start, duration = rng.uniform(0, 3000, 2000), rng.uniform(1, 60, 2000)
    end = start + duration + rng.normal(size=2000)
    found = covary.overview(pd.DataFrame({"start": start, "duration": duration, "end": end}))
    by = {link.target: set(link.by) for link in found.links}
    assert by["duration"] == {"start", "end"}


# ---------------------------------------------------------------- missing cells


def test_columns_that_are_missing_together_are_a_section_of_their_own():
    rng = np.random.default_rng(10)
    table = pd.DataFrame(rng.normal(size=(1000, 4)), columns=list("abcd"))
    table.loc[rng.random(1000) < 0.6, ["a", "b"]] = np.nan
    table.loc[rng.random(1000) < 0.3, "c"] = np.nan
    overview = covary.overview(table)
    (together,) = overview.missing_together
    assert together.columns == ("a", "b")
    assert together.rows == table["a"].isna().sum()
    assert together.share == 1.0
    assert "missing together" in str(overview)


@pytest.mark.parametrize("order", ["abc", "bac", "cab"])
def test_columns_are_missing_together_in_nine_of_ten_rows_whatever_their_order(order):
    # a and b share 92 of 100 rows with the middle one, but only 84 with each other.
    gone = {"a": range(92), "b": range(100), "c": range(8, 100)}
    rng = np.random.default_rng(11)
    columns = {name: rng.normal(size=300) for name in "abc"}
    for name, rows in gone.items():
        columns[name][list(rows)] = np.nan
    prepared = prepare(pd.DataFrame({name: columns[name] for name in order}))
    (together,) = find_missing_together(prepared, range(3))
    assert together.share >= 0.9
    names = {prepared.names[c] for c in together.columns}
    assert names in ({"a", "b"}, {"b", "c"})
    again = prepare(pd.DataFrame({name: columns[name] for name in "cba"}))
    (other,) = find_missing_together(again, range(3))
    assert {again.names[c] for c in other.columns} == names


def test_the_parts_of_a_date_and_the_date_are_one_group_of_columns():
    days = pd.date_range("2020-01-01", periods=1500, freq="31h")
    rng = np.random.default_rng(12)
    noise = 0.6 * rng.normal(size=1500)
    warm = np.sin(2 * np.pi * days.hour / 24) + 0.1 * np.linspace(-1.7, 1.7, 1500) + noise
    found = covary.overview(pd.DataFrame({"when": days, "warm": warm}))
    assert sets_of(found) == {frozenset(["warm", "when (hour)"])}


# ---------------------------------------------------------------- results


def test_the_result_as_text_frame_json_and_html(table, found):
    text = str(found)
    assert "original" in text
    assert "without links: " in text
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == len(found.links)
    document = json.loads(found.to_json())
    assert len(document["links"]) == len(found.links)
    assert document["score"] == found.score
    assert "<table>" in found._repr_html_()
    assert repr(found).startswith(f"<Overview: {len(found.links)} links in ")
    assert pickle.loads(pickle.dumps(found)) == found


def test_weak_and_nearly_perfect_links_do_not_look_like_0_or_1():
    link = Link("a", ("b", "c"), 0.999, (0.001, 0.0), (0.0, 0.0), qvalue=0.02, missing=0.005)
    assert str(link) == (
        ">0.99  a is explained by b and c "
        "(alone <0.01, 0.00, whether cells are missing: 0.01, q = 0.0200)"
    )


def test_labels_that_are_not_text_become_json(table):
    frame = table[0].iloc[:, :3].set_axis([np.nan, None, ("a", 1)], axis=1)
    document = json.loads(covary.overview(frame).to_json())
    assert document["columns"] == ["nan", None, ["a", 1]]


def test_hostile_names_are_escaped():
    rng = np.random.default_rng(11)
    x = rng.normal(size=300)
    table = pd.DataFrame(
        {"<script>alert(1)</script>": x, "a\x1b[31m": x + 0.1 * rng.normal(size=300)}
    )
    overview = covary.overview(table)
    assert "<script>" not in overview._repr_html_()
    assert "\x1b" not in str(overview)


def test_frames_and_labels_of_any_kind():
    x = np.random.default_rng(12).normal(size=300)
    array = np.column_stack([x, x**2, x[::-1]])
    assert covary.overview(array).links[0].columns == ("x0", "x1")
    frame = pd.DataFrame(array, columns=[1, ("a", 2), 3.5])
    assert covary.overview(frame).links[0].target == ("a", 2)
    polars = pl.DataFrame({"a": x, "b": x**2})
    assert isinstance(covary.overview(polars).to_frame(), pl.DataFrame)


@pytest.mark.parametrize("n_columns", [2, 3])
def test_small_tables(n_columns):
    rng = np.random.default_rng(13)
    overview = covary.overview(rng.normal(size=(100, n_columns)))
    assert overview.groups == ()
    assert len(overview.alone) == n_columns


def test_constant_columns_are_named():
    x = np.random.default_rng(14).normal(size=200)
    overview = covary.overview(pd.DataFrame({"x": x, "one": 1, "y": x[::-1].copy()}))
    assert overview.constant == ("one",)
    only = covary.overview(pd.DataFrame({"x": x, "one": 1}))
    assert only.links == ()


def test_errors_say_what_to_do():
    with pytest.raises(CovaryError, match="two columns"):
        covary.overview(np.ones((10, 1)))
    with pytest.raises(
        CovaryError, match=r"overview has no parameter 'sed'\. Did you mean 'seed'"
    ):
        covary.overview(np.random.default_rng(0).normal(size=(50, 2)), sed=1)
    with pytest.raises(CovaryError, match="run"):
        covary.overview(np.random.default_rng(0).normal(size=(50, 2)), resume=True)


# ---------------------------------------------------------------- engines and run files


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "table.csv"
    planted(103, n_rows=300, n_columns=20)[0].to_csv(path, index=False)
    return path


@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_every_engine_gives_the_same_result(file, engine):
    expected = covary.overview(file, n_jobs=1).to_json()
    assert covary.overview(file, engine=engine, n_jobs=2).to_json() == expected


class _StopError(Exception):
    pass


def test_an_interrupted_overview_is_resumed(file, tmp_path):
    expected = covary.overview(file).to_json()
    run = tmp_path / "run.covary"
    for stop in ("what explains each column", "evidence of links", "null distribution"):

        def interrupt(stage, done, total, stop=stop):
            if stage == stop and done >= total // 2:
                raise _StopError

        with pytest.raises(_StopError):
            covary.overview(file, run=run, resume=True, on_progress=interrupt)
    interrupted = restore_overview(run)
    result = interrupted.result(interrupted.record())
    assert not result.complete
    assert str(result).startswith("links are not known yet (")
    assert not result.alone
    assert "Links are not known yet." in result.nothing_linked()
    computed = []
    resumed = covary.overview(
        file, run=run, resume=True, on_progress=lambda stage, *_: computed.append(stage)
    )
    assert computed[0] == "null distribution"
    assert resumed.to_json() == expected
    restored = restore_overview(run)
    assert restored.complete
    assert restored.result(restored.record()).to_json() == expected


def test_a_killed_overview_is_resumed(file, tmp_path):
    run = tmp_path / "run.covary"
    code = f"import covary; covary.overview({str(file)!r}, run={str(run)!r}, resume=True)"
    expected = covary.overview(file).to_json()
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", code])
        deadline = time.monotonic() + 60
        while not run.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.2)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert covary.overview(file, run=run, resume=True).to_json() == expected


def test_a_run_file_of_another_table_or_of_a_search_is_refused(file, tmp_path):
    run = tmp_path / "run.covary"
    covary.overview(file, run=run)
    with pytest.raises(CovaryError, match="already exists"):
        covary.overview(file, run=run)
    with pytest.raises(CovaryError, match="seed is 0 there and 1 here"):
        covary.overview(file, run=run, resume=True, seed=1)
    with pytest.raises(CovaryError, match="run file of a `covary overview`"):
        covary.search(file, run=run, resume=True)
    searched = tmp_path / "search.covary"
    covary.search(file, max_size=2, run=searched)
    with pytest.raises(CovaryError, match="run file of a `covary search`"):
        covary.overview(file, run=searched, resume=True)


def test_a_damaged_result_is_detected(file, tmp_path):
    import sqlite3

    run = tmp_path / "run.covary"
    covary.overview(file, run=run)
    for change in ("results = x'00'", "items = 'other'", "sizes = x'ffffffffffffffff'"):
        with sqlite3.connect(run) as connection:
            before = connection.execute("SELECT * FROM tasks").fetchall()
            connection.execute(f"UPDATE tasks SET {change} WHERE call = 0")
        with pytest.raises(CovaryError, match="damaged"):
            covary.overview(file, run=run, resume=True)
        with sqlite3.connect(run) as connection:
            connection.executemany("INSERT OR REPLACE INTO tasks VALUES (?, ?, ?, ?, ?)", before)


# ---------------------------------------------------------------- the command


def run_command(*arguments):
    return CliRunner().invoke(command, [str(each) for each in arguments], standalone_mode=False)


def test_the_command_prints_groups_links_and_columns_alone(file):
    result = run_command("overview", file)
    assert result.exception is None, result.exception
    assert "sum ← " in result.output
    assert "goes together with" in result.output
    assert "q ≤ 1e-06: " in result.output
    assert "covary explain FILE --target COLUMN" in result.output


def test_a_file_alone_runs_the_overview(file):
    assert run_command(file).output == run_command("overview", file).output


def test_the_command_prints_json(file):
    document = json.loads(run_command("overview", file, "--json").stdout)
    assert document["links"] == covary.overview(file).to_dict()["links"]


def test_a_misspelt_command_is_not_taken_for_a_file():
    result = CliRunner().invoke(command, ["serch", "x.csv"])
    assert result.exit_code == 2
    assert "There is no command and no file 'serch'; did you mean 'search'?" in result.output
