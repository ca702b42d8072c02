"""Exact relations of an overview: functions, copies, identities, one-hot blocks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from covary.prepare import prepare
from covary.results.link import COPY, FUNCTION, IDENTITY
from covary.structure.exact import as_functions, find_copies, is_function
from covary.structure.identities import as_formula, find_identities
from covary.structure.links import Draft
from covary.structure.one_hot import block_links, find_blocks, without_links_in_blocks


def identities(columns):
    """The identities of a table without its copies, as text."""
    prepared = prepare(pd.DataFrame(columns))
    every = range(len(prepared.names))
    original = find_copies(prepared, every).original
    links = find_identities(prepared, [c for c in every if c not in original])
    assert all(link.kind == IDENTITY for link in links)
    return {f"{prepared.names[link.target]} = {link.formula}" for link in links}


def terms(texts):
    """Identities as sets of words, because terms have the order of the table."""
    return {frozenset(text.split()) for text in texts}


def function_of(x, y):
    prepared = prepare(pd.DataFrame({"x": x, "y": y}))
    return is_function(prepared, 1, 0, np.arange(prepared.n_rows, dtype=np.uint32))


def normal(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


# ---------------------------------------------------------------- functions


@pytest.mark.parametrize("n_rows", [500, 5000])
@pytest.mark.parametrize("share", [0.005, 0.02, 0.05])
def test_a_rare_target_is_no_function(n_rows, share):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=n_rows)
        logit = 2.0 * x + np.log(share) - 2.0
        y = rng.random(n_rows) < 1.0 / (1.0 + np.exp(-logit))
        if y.any():
            assert not function_of(x, y.astype(float))
            assert not function_of(np.round(x, 2), y.astype(float))


def test_few_ones_at_the_end_are_no_function():
    x = normal(0, 1000)
    assert not function_of(x, (x > np.sort(x)[-4]).astype(float))


def test_a_single_outlier_or_a_noisy_region_is_no_function():
    x = normal(1, 5000)
    order = np.argsort(x)
    outlier = x**2
    assert function_of(x, outlier)
    outlier[order[2500]] += 3.0
    assert not function_of(x, outlier)
    noisy = np.zeros(5000)
    noisy[order[2000:2050]] = normal(2, 50)
    assert not function_of(x, noisy)
    assert not function_of(x, x + 0.05 * normal(3, 5000))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_rows", [3000, 6000])
@pytest.mark.parametrize(
    "function",
    [np.sin, np.square, np.abs, np.floor, lambda x: np.maximum(x, 0.0), lambda x: x > 0.3],
    ids=["sin", "square", "abs", "floor", "positive part", "step"],
)
def test_functions_without_noise_are_recognised(function, n_rows, seed):
    x = np.random.default_rng(seed).uniform(-3, 3, n_rows)
    assert function_of(x, function(x).astype(float))


def test_levels_that_are_intervals_are_a_function():
    age = np.random.default_rng(4).uniform(0, 90, 500)
    group = np.array(["child", "adult", "old"])[np.digitize(age, [18, 65])]
    assert function_of(age, group)
    group[np.argsort(age)[250]] = "old"
    assert not function_of(age, group)


class Explained:
    """Explanations in which the larger column number is always explained by half."""

    def __init__(self, prepared):
        self.prepared = prepared

    def explained(self, target, by):
        return 0.5 if target > min(by) else 0.25


def test_the_exact_direction_of_a_pair_is_found():
    x = normal(5, 5000)
    prepared = prepare(pd.DataFrame({"x": x, "y": x**2, "z": normal(6, 5000)}))
    given = Draft(1, (0,), 0.7)
    assert as_functions(Explained(prepared), [given]) == [Draft(1, (0,), 1.0, FUNCTION)]
    other = Draft(0, (1,), 0.7)
    assert as_functions(Explained(prepared), [other]) == [Draft(1, (0,), 1.0, FUNCTION)]
    taken = [other, Draft(1, (2,), 0.1)]
    assert as_functions(Explained(prepared), taken) == taken


# ---------------------------------------------------------------- copies


def test_the_original_of_functions_does_not_depend_on_the_order_of_columns():
    wage = np.random.default_rng(7).lognormal(2.0, size=300)
    share = np.append(np.random.default_rng(8).random(298), [0.0, 1.0])
    columns = {"log": np.log(wage), "wage": wage, "minus": -wage, "k": wage / 1000}
    columns |= {"share": share, "squared": share**2, "other": normal(9, 300)}
    found = set()
    for seed in range(6):
        names = np.random.default_rng(seed).permutation(list(columns))
        prepared = prepare(pd.DataFrame({name: columns[name] for name in names}))
        copies = find_copies(prepared, range(len(names)))
        found.add(frozenset((names[a], names[b]) for a, b in copies.original.items()))
        assert {link.kind for link in copies.links} == {FUNCTION}
    (pairs,) = found
    assert pairs == {("log", "wage"), ("minus", "wage"), ("k", "wage"), ("squared", "share")}


def test_the_first_of_equal_columns_is_the_original():
    x = normal(10, 300)
    prepared = prepare(pd.DataFrame({"other": x[::-1], "a": x, "b": x}))
    assert find_copies(prepared, range(3)).links == [Draft(2, (1,), 1.0, COPY)]


# ---------------------------------------------------------------- identities


def test_identities_hold_in_large_tables_of_which_rows_are_drawn():
    a, b = normal(40, 2, 20_000)
    assert identities({"a": a, "b": b, "c": a - b, "d": normal(41, 20_000)}) == {"a = b + c"}


def test_rare_values_that_a_sample_lacks_are_left_out():
    a, b = normal(42, 2, 30_000)
    columns = {"rare": (np.arange(30_000) < 12) * 1.0, "a": a, "b": b, "c": a - b}
    assert identities(columns) == {"a = b + c"}


def test_an_identity_holds_in_all_rows_not_only_in_those_that_are_drawn():
    a, b = normal(43, 2, 100_000)
    c = a - b
    c[7] = 1e4
    assert identities({"a": a, "b": b, "c": c}) == set()


@pytest.mark.parametrize("n_rows", [500, 8_000])
def test_identities_do_not_depend_on_the_order_of_rows(n_rows):
    rng = np.random.default_rng(44)
    columns = {name: rng.normal(size=n_rows) for name in "ab"}
    columns["c"] = columns["a"] + 0.3 * columns["b"] + 0.001 * rng.normal(size=n_rows)
    order = rng.permutation(n_rows)
    expected = identities(columns)
    assert len(expected) == 1
    assert identities({name: values[order] for name, values in columns.items()}) == expected


def test_a_linear_function_of_one_column_has_a_formula():
    x = normal(45, 500).round(3)
    for y, formula in (
        (x / 2.54, "x / 2.54"),
        (1.8 * x + 32, "1.8 x + 32"),
        ((x - 5) / 9, "(x - 5) / 9"),
        (7 - x, "-x + 7"),
    ):
        prepared = prepare(pd.DataFrame({"x": x, "y": y}))
        assert as_formula(prepared, Draft(1, (0,), 1.0, FUNCTION)).formula == formula
    for y in (x**3, np.where(x > 2.0, x + 0.01, x)):
        link = Draft(1, (0,), 1.0, FUNCTION)
        assert as_formula(prepare(pd.DataFrame({"x": x, "y": y})), link) is link


def test_an_intercept_and_slopes_have_all_digits_that_matter():
    a, b = normal(11, 2, 400)
    assert identities({"a": a, "b": b, "c": a + b + 100003}) == {"c = a + b + 100003"}
    large = 50_000 + a
    assert identities({"a": large, "b": b, "c": 1.00009 * large + b}) == {"c = 1.00009 a + b"}
    assert identities({"a": a, "b": b, "c": a + b + 0.003}) == {"c = a + b + 0.003"}
    found = identities({"a": a, "b": b, "c": a - b / 3})
    assert found == {"a = c + 0.3333333 b"} or found == {"a = 0.3333333 b + c"}


def test_rounded_columns_have_simple_formulas():
    a, b = 100 * normal(12, 2, 400)
    found = identities({"a": a, "b": b, "c": np.round(a + b)})
    assert found == {"c = a + b"}


def nested():
    p = np.random.default_rng(13).gamma(3, 100, size=(4, 400)).round()
    columns = {f"p{at}": each for at, each in enumerate(p)}
    columns |= {"s1": p[0] + p[1], "s2": p[2] + p[3], "tot": p.sum(axis=0)}
    return columns


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scaled", [False, True])
def test_nested_sums_are_named_once_in_any_order_of_columns(seed, scaled):
    columns = nested()
    if scaled:
        columns["tot_k"] = columns["tot"] / 1000
    names = np.random.default_rng(seed).permutation(list(columns))
    found = identities({name: columns[name] for name in names})
    assert terms(found) == terms({"tot = s1 + s2", "s1 = p0 + p1", "s2 = p2 + p3"})


def test_a_scaled_sum_is_no_second_identity():
    a, b = normal(14, 2, 300)
    assert identities({"m": (a + b) / 1000, "a": a, "b": b, "s": a + b}) == {"s = a + b"}


def test_no_identity_follows_from_others():
    a, b = normal(15, 2, 300)
    found = identities({"a": a, "b": b, "c": a + b, "d": a - b})
    assert found == {"c = a + b", "a = b + d"}


@pytest.mark.parametrize(("n_rows", "n_columns"), [(60, 80), (60, 300), (500, 100), (40, 30)])
def test_identities_among_many_columns_and_few_rows(n_rows, n_columns):
    x = normal(16, n_columns, n_rows)
    columns = {f"x{at}": each for at, each in enumerate(x)}
    assert identities(columns) == set()
    columns["two"] = x[1] + x[2]
    columns["three"] = x[3] + x[4] - x[5]
    columns["four"] = x[6] + x[7] + x[8] + x[9]
    found = identities(columns)
    assert {"two = x1 + x2", "four = x6 + x7 + x8 + x9"} <= found
    assert {each - {"=", "+", "-"} for each in terms(found)} == {
        frozenset({"two", "x1", "x2"}),
        frozenset({"three", "x3", "x4", "x5"}),
        frozenset({"four", "x6", "x7", "x8", "x9"}),
    }


@pytest.mark.parametrize("spread", [0.3, 0.02, 0.003])
def test_a_difference_of_nearly_equal_columns_is_found(spread):
    x, a, b, *others = normal(17, 30, 400)
    columns = {f"x{at}": each for at, each in enumerate(others)}
    columns |= {"new": x + spread * a, "old": x + spread * b, "paid": spread * (a - b)}
    assert identities(columns) == {"new = old + paid"}


@pytest.mark.parametrize("n_columns", [10, 200])
def test_a_sum_of_columns_with_a_common_factor_is_found(n_columns):
    x = normal(18, 400) + 0.3 * normal(19, n_columns, 400)
    columns = {f"x{at}": each for at, each in enumerate(x)} | {"s": x[:4].sum(axis=0)}
    assert identities(columns) == {"s = x0 + x1 + x2 + x3"}


@pytest.mark.parametrize("noise", [0.05, 0.01, 0.004, 0.001, 1e-5])
def test_near_copies_are_no_identity(noise):
    x, y = normal(20, 2, 1000)
    columns = {f"x{at}": x + noise * each for at, each in enumerate(normal(21, 10, 1000))}
    columns |= {f"y{at}": y + noise * each for at, each in enumerate(normal(22, 10, 1000))}
    assert identities(columns) == set()


@pytest.mark.parametrize("seed", range(5))
def test_noise_with_ties_is_no_identity(seed):
    rng = np.random.default_rng(seed)
    for share in (0.02, 0.05, 0.1, 0.3, 0.5):
        columns = (rng.random((80, 60)) < share).astype(float)
        assert identities({f"x{at}": each for at, each in enumerate(columns)}) == set()
    columns = rng.integers(0, 3, (80, 60))
    assert identities({f"x{at}": each for at, each in enumerate(columns)}) == set()


def test_missing_cells_do_not_hide_identities():
    a, b, c, d, *others = normal(23, 20, 400)
    columns = {"a": a, "b": b, "s": a + b, "t": a + b}
    columns["s"] = np.where(np.arange(400) == 7, np.nan, a + b)
    del columns["t"]
    assert identities(columns) == {"s = a + b"}
    columns |= {"c": c, "d": d, "t": a + b + c + d}
    del columns["s"]
    columns |= {f"x{at}": each for at, each in enumerate(others)}
    rng = np.random.default_rng(24)
    for name in ("a", "b", "c", "x0"):
        columns[name] = np.where(rng.random(400) < 0.1, np.nan, columns[name])
    assert identities(columns) == {"t = a + b + c + d"}


def test_an_identity_needs_half_of_the_rows():
    a, b = normal(25, 2, 400)
    columns = {"a": a, "b": b, "s": np.where(np.arange(400) < 210, np.nan, a + b)}
    assert identities(columns) == set()


def test_a_multiple_with_missing_cells_is_an_identity():
    a = normal(26, 400)
    double = np.where(np.arange(400) < 5, np.nan, 2 * a + 3)
    assert identities({"a": a, "b": double, "c": normal(27, 400)}) == {"b = 2 a + 3"}


def test_a_copy_with_missing_cells_does_not_repeat_identities():
    a, b = normal(29, 2, 400)
    copy = np.where(np.arange(400) < 9, np.nan, a + b)
    assert identities({"a": a, "b": b, "c": a + b, "d": copy}) in (
        {"c = a + b", "d = c"},
        {"c = d", "c = a + b"},
        {"c = d", "d = a + b"},
    )


def test_many_identities_and_near_copies_at_once():
    a, b, c = normal(28, 3, 60, 1000)
    columns = {f"a{at}": each for at, each in enumerate(a)}
    columns |= {f"b{at}": each for at, each in enumerate(b)}
    columns |= {f"s{at}": each for at, each in enumerate(a + b)}
    columns |= {f"n{at}": each for at, each in enumerate(a + 0.001 * c)}
    assert identities(columns) == {f"s{at} = a{at} + b{at}" for at in range(60)}


# ---------------------------------------------------------------- one-hot blocks


def one_hot(seed, n_rows=1000, n_levels=7, name="k"):
    rng = np.random.default_rng(seed)
    shares = 0.6 ** np.arange(n_levels)
    codes = rng.choice(n_levels, n_rows, p=shares / shares.sum())
    return {f"{name}{at}": (codes == at).astype(int) for at in range(n_levels)}


@pytest.mark.parametrize("seed", range(4))
def test_blocks_are_found_in_any_order_of_columns(seed):
    columns = one_hot(30) | one_hot(31, n_levels=4, name="m") | one_hot(32, n_levels=3, name="o")
    rng = np.random.default_rng(33)
    columns |= {f"x{at}": (rng.random(1000) < 0.02).astype(int) for at in range(20)}
    columns |= {"z": normal(34, 1000)}
    names = np.random.default_rng(seed).permutation(list(columns))
    prepared = prepare(pd.DataFrame({name: columns[name] for name in names}))
    blocks = find_blocks(prepared, range(len(names)))
    found = {frozenset(names[c] for c in block) for block in blocks}
    assert found == {
        frozenset(f"k{at}" for at in range(7)),
        frozenset(f"m{at}" for at in range(4)),
        frozenset(f"o{at}" for at in range(3)),
    }
    links = block_links(prepared, blocks)
    assert {names[link.target] for link in links} == {"k0", "m0", "o0"}
    assert {link.kind for link in links} == {IDENTITY}
    assert all(set(link.columns) in [set(block) for block in blocks] for link in links)


def test_the_formula_of_a_block_is_shortened():
    prepared = prepare(pd.DataFrame(one_hot(35, 5000, 9)))
    (link,) = block_links(prepared, find_blocks(prepared, range(9)))
    assert link.formula == "1 - (k1 + k2 + … 6 more)"
    prepared = prepare(pd.DataFrame(one_hot(36, n_levels=4)))
    (link,) = block_links(prepared, find_blocks(prepared, range(4)))
    assert link.formula == "1 - k1 - k2 - k3"


def test_almost_a_block_is_none():
    columns = one_hot(37, n_levels=4)
    columns["k0"][3] = 1 - columns["k0"][3]
    assert find_blocks(prepare(pd.DataFrame(columns)), range(4)) == []
    columns = one_hot(38, n_levels=4)
    columns["k0"] = np.where(np.arange(1000) == 3, np.nan, columns["k0"])
    assert find_blocks(prepare(pd.DataFrame(columns)), range(4)) == []


@pytest.mark.parametrize("share", [0.01, 0.05, 0.3])
def test_independent_columns_are_no_block(share):
    rng = np.random.default_rng(39)
    x = (rng.random((300, 200)) < share).astype(int)
    x[:, :20] = 1 - x[:, :20]
    assert find_blocks(prepare(pd.DataFrame(x)), range(200)) == []


def test_links_within_a_block_are_removed():
    blocks = [(0, 1, 2), (4, 5, 6)]
    other = Draft(3, (0, 4), 0.4)
    links = [Draft(0, (1,), 0.5), Draft(1, (2, 3), 0.6), other, Draft(4, (0,), 0.2)]
    expected = [Draft(1, (3,), 0.25), other, Draft(4, (0,), 0.2)]
    assert without_links_in_blocks(Explained(None), links, blocks) == expected
