"""Nominal columns in uds-chance: comparison with naive versions, invariances, level and power."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import example_tables
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

import covary
import naive_chance
import naive_conditional
import naive_evidence
from covary import UDSChance, kernels
from covary.kernels.uds_chance.grids import cut_along
from covary.measures.uds_chance import conditional, residuals
from covary.measures.uds_chance import evidence_views as views
from covary.measures.uds_chance.conditional import ConditionalEvidence
from covary.measures.uds_chance.grids import Grids
from covary.measures.uds_chance.midranks import MidRanks, target_arrays
from covary.measures.uds_chance.places import Places
from covary.measures.uds_chance.selection import Probe, examine
from covary.prepare import Prepared
from covary.table import Column, Table, TableOptions
from naive_chance import Nominal

nan = math.nan
# Maximum errors of the degrees of freedom of a cell, which are interpolated over sizes of cells,
# with fewer than 80 % of the rows and with more; and of degrees of freedom of all cells.
INTERPOLATED, INTERPOLATED_NEAR_THE_END = 0.02, 0.4
INTERPOLATED_SUM = 0.06
numbers_given = st.sampled_from([1, 2, 3, None])


def as_column(name, column):
    """Return a column from a list; the levels of a `Nominal` one are numbered in their order."""
    values = np.array(column, float)
    if not isinstance(column, Nominal):
        return Column(name, values)
    labels = np.unique(values[~np.isnan(values)])
    numbers = np.where(np.isnan(values), nan, np.searchsorted(labels, values))
    return Column(name, numbers, "nominal", tuple(f"level {label}" for label in labels))


def as_table(columns, names=None):
    """Return a table of lists, of which some are `Nominal`."""
    names = names or [f"x{at}" for at in range(len(columns))]
    return Table(tuple(map(as_column, names, columns)), len(columns[0]))


def prepared_columns(columns, missing="level"):
    return Prepared(replace(as_table(columns), options=TableOptions(missing=missing)))


# ---------------------------------------------------------------- random tables

ORDERED = ("normal", "ties", "binary", "dependent", "constant")
LEVELS = ("equal", "skewed", "few", "many", "all different", "function")


def levels(rng, kind, n_rows, others):
    """Return the levels of a nominal column."""
    if kind == "function" and others:
        base = np.nan_to_num(others[rng.integers(len(others))])
        return np.floor(3 * np.cos(3 * base)) + 10 * (rng.random(n_rows) < 0.1)
    if kind == "skewed":
        return rng.geometric(rng.choice([0.2, 0.5]), n_rows)
    if kind == "all different":
        return rng.permutation(n_rows)
    n_levels = {"few": 3, "many": max(n_rows // 2, 3)}.get(kind, int(rng.integers(2, 12)))
    return rng.integers(0, n_levels, n_rows)


@st.composite
def mixed_tables(draw, rows=(3, 60), columns=(2, 4), missing=True, ordered=ORDERED):
    """Draw columns as lists, of which at least the first is nominal."""
    n_rows = draw(st.integers(*rows))
    kinds = st.sampled_from((*LEVELS, *ordered))
    chosen = [draw(st.sampled_from(LEVELS))]
    chosen += draw(st.lists(kinds, min_size=columns[0] - 1, max_size=columns[1] - 1))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    made = []
    for kind in chosen:
        make = levels if kind in LEVELS else example_tables.column
        made.append(np.array(make(rng, kind, n_rows, made), float))
    if missing and draw(st.booleans()):
        rate = draw(st.sampled_from([0.02, 0.2, 0.7]))
        for each in made:
            each[rng.random(n_rows) < rate] = nan
    made = [
        (Nominal if kind in LEVELS else list)(each.tolist())
        for kind, each in zip(chosen, made, strict=True)
    ]
    return draw(st.permutations(made))


def a_cell_has_all_rows_but_one(columns):
    """Return whether this is so for a nominal target and a grid on another column.

    Such cells have 0 degrees of freedom, which interpolation between cell sizes misses.
    """
    for target, condition in itertools.permutations(columns, 2):
        n = sum(x == x for x in target)
        for size in naive_evidence.all_sizes(len(target), 1):
            cells = naive_chance.cells(target, [naive_chance.bins(condition, size)])
            if naive_chance.is_nominal(target) and any(len(rows) == n - 1 for rows in cells):
                return True
    return False


def test_random_tables_have_nominal_columns_of_all_kinds():
    rng = np.random.default_rng(0)
    for kind in LEVELS:
        found = Nominal(np.array(levels(rng, kind, 40, [rng.normal(size=40)]), float).tolist())
        assert naive_chance.is_nominal(found)


# ---------------------------------------------------------------- entropy of levels


def level_counts_of(columns):
    return [sorted(naive_chance.level_counts(each).values()) for each in columns]


def tables_of(prepared, column):
    """Return functions of a cell size: the expected loss of entropy, and degrees of freedom."""
    midranks = prepared.derived(MidRanks)
    look_up = kernels.uds_chance.expected_entropy.look_up

    def loss(size):
        bias = look_up(midranks.bias_lines[midranks.bias_of[column]], size)
        return bias * prepared.n_present[column] / size

    def freedom(size):
        return look_up(midranks.bias_lines[midranks.freedom_of[column]], size)

    return loss, freedom


@settings(max_examples=60)
@given(mixed_tables(rows=(3, 9), columns=(1, 1)))
def test_the_bias_is_the_mean_over_all_subsets(columns):
    target = naive_chance.rank_target(columns[0])
    if not naive_chance.is_nominal(columns[0]):
        return
    loss, _ = tables_of(prepared_columns(columns), 0)
    for size in range(1, target.n + 1):
        by_enumeration = naive_chance.expected_entropy_by_enumeration(target, size)
        assert naive_chance.expected_entropy(target, size) == pytest.approx(by_enumeration)
        bias = float(naive_chance.bias_of_levels(target.counts, size))
        assert target.entropy - by_enumeration == pytest.approx(bias, abs=1e-12)
        assert loss(size) == pytest.approx(bias / target.entropy, abs=1e-12)


def null_moments_of(prepared, column):
    return [moment[column] for moment in prepared.derived(MidRanks).null_moments]


@settings(max_examples=60)
@given(mixed_tables(rows=(3, 150), columns=(1, 1)))
def test_entropy_bias_and_null_moments_follow_the_definition(columns):
    prepared = prepared_columns(columns)
    assert prepared.nominal.tolist() == [naive_chance.is_nominal(columns[0])]
    if not prepared.nominal[0]:
        return
    target = naive_chance.rank_target(columns[0])
    midranks = prepared.derived(MidRanks)
    assert midranks.entropies[0] == pytest.approx(naive_chance.weight(columns[0]), rel=1e-12)
    assert midranks.shannon[0] == pytest.approx(target.n * target.entropy, rel=1e-12)
    assert null_moments_of(prepared, 0) == pytest.approx(naive_chance.null_shape(target))
    loss, freedom = tables_of(prepared, 0)
    for size in {*range(1, min(target.n, 20)), *range(20, target.n, 9), target.n}:
        expected = 1 - naive_chance.expected_entropy(target, size) / target.entropy
        assert loss(size) == pytest.approx(expected, abs=1e-11)
        if size > 1:
            exact = size <= 16 or size == target.n
            large = size >= 0.8 * target.n
            error = INTERPOLATED_NEAR_THE_END if large else INTERPOLATED
            error = 1e-9 if exact else error
            expected = naive_chance.freedom_of_cell(target, size)
            assert freedom(size) == pytest.approx(expected, abs=error)


@pytest.mark.parametrize("n_different", [47, 60, 90])
def test_many_different_frequencies_are_represented_by_a_few(n_different):
    """More than 48 different frequencies are represented by 48."""
    column = Nominal(np.repeat(np.arange(n_different), np.arange(1, n_different + 1)).tolist())
    target = naive_chance.rank_target(column)
    _, freedom = tables_of(prepared_columns([column]), 0)
    for size in (2, 3, 6, 16, 70, 300, target.n // 2):
        expected = naive_chance.freedom_of_cell(target, size)
        assert freedom(size) == pytest.approx(expected, rel=0.01)


def test_large_cells_have_as_many_degrees_of_freedom_as_the_docs_say():
    """Close to 1 - n / m if many rows of every level are expected, and fewer otherwise."""
    many, few = (Nominal((np.arange(6000) % k).astype(float).tolist()) for k in (4, 1000))
    for size in (300, 1000, 3000, 4500):
        _, of_many = tables_of(prepared_columns([many]), 0)
        _, of_few = tables_of(prepared_columns([few]), 0)
        assert of_many(size) == pytest.approx(1 - size / 6000, abs=0.01)
        assert of_few(size) < of_many(size) if size < 1000 else True


@pytest.mark.parametrize("n_levels", [3, 5, 30])
@pytest.mark.parametrize("skewed", [False, True])
def test_gains_of_random_cells_have_the_moments_of_a_chi_square_variable(n_levels, skewed):
    """Mean 0, and the variance that the degrees of freedom give, for any cells."""
    rng = np.random.default_rng(n_levels)
    column = rng.integers(0, n_levels, 300)
    if skewed:
        column = rng.geometric(min(3 / n_levels, 0.5), 300)
    target = Nominal(column.astype(float).tolist())
    ranked = naive_chance.rank_target(target)
    shape = naive_chance.null_shape(ranked)
    rows = np.arange(300)
    cells = [rows // 3, rows // 20, rows // 150, rows**2 // 9000]
    parts = [[np.flatnonzero(each == c).tolist() for c in set(each)] for each in cells]
    for each in parts:
        freedom = naive_chance.freedom_of(ranked, each)
        gains = []
        for _ in range(400):
            row_of = rng.permutation(300)
            moved = [row_of[rows].tolist() for rows in each]
            gains.append(naive_chance.relative_gain(ranked, moved)[0])
        chance = naive_chance.relative_gain(ranked, each)[1]
        deviation = shape.unit * math.sqrt(freedom * shape.variance)
        assert np.mean(gains) == pytest.approx(chance, abs=4 * deviation / math.sqrt(400))
        assert np.std(gains) == pytest.approx(deviation, rel=0.2)


# ---------------------------------------------------------------- grids


def all_gains(prepared, condition, target):
    """Return gains, expected gains and degrees of freedom of all grids of a condition."""
    grids = prepared.derived(Grids)
    found = [
        kernels.uds_chance.gains.gains_along(
            family.arrays,
            np.array(condition),
            n_grids,
            np.array([target]),
            target_arrays(prepared),
            *kernels.shared.entropy_tables.whole_increments(prepared.n_rows),
        )
        for family, n_grids in zip(grids.families, grids.n_examined(len(condition)), strict=True)
        if n_grids > 0
    ]
    return [np.concatenate([each[k][0] for each in found]) for k in range(3)]


def check_every_grid(columns, error):
    prepared = prepared_columns(columns)
    *others, last = range(len(columns))
    target = naive_chance.rank_target(columns[last])
    for n_given in range(1, len(columns)):
        condition = tuple(others[:n_given])
        gains, chances, freedoms = all_gains(prepared, condition, last)
        sizes = naive_chance.sizes(len(columns[0]), n_given)
        for gain, chance, freedom, size in zip(gains, chances, freedoms, sizes, strict=True):
            if target.entropy == 0:
                assert gain == chance == freedom == 0
                continue
            binned = [naive_chance.bins(columns[c], size) for c in condition]
            expected = naive_chance.gain(target, naive_chance.cells(columns[last], binned))
            if expected is None:
                assert freedom == 0 or chance > 1 - 1e-8
                continue
            of_freedom = 1e-9 if len(columns[0]) <= 16 else INTERPOLATED_SUM
            assert gain / (1 - chance) == pytest.approx(expected.explained, abs=error)
            assert freedom / (1 - chance) ** 2 == pytest.approx(expected.freedom, rel=of_freedom)


@settings(max_examples=80)
@given(mixed_tables(rows=(3, 16), columns=(2, 4)))
def test_gains_of_every_grid_with_few_rows(columns):
    check_every_grid(columns, 1e-9)


@settings(max_examples=40)
@given(mixed_tables(rows=(17, 160), columns=(2, 4)))
def test_gains_of_every_grid(columns):
    assume(not a_cell_has_all_rows_but_one(columns))
    check_every_grid(columns, 2e-3)


def bins_of(prepared, column, size):
    """Return the bin of each row in the grid of this size."""
    for family in prepared.derived(Grids).families:
        if size in family.sizes:
            grid = family.sizes.index(size)
            maps = family.maps[family.starts[column] : family.starts[column + 1]]
            maps = maps.reshape(len(family.sizes), -1)
            return maps[grid][family.codes[column]].tolist()
    return None


def same_partition(one, other):
    return len(set(one)) == len(set(other)) == len(set(zip(one, other, strict=True)))


@pytest.mark.parametrize("n_rows", [30, 300, 2500])
@pytest.mark.parametrize("n_levels", [3, 5, 12, 13, 39, 40, 70, 200, 400])
@pytest.mark.parametrize("skewed", [False, True])
def test_grids_have_the_most_frequent_levels(n_rows, n_levels, skewed):
    rng = np.random.default_rng([n_rows, n_levels])
    column = rng.integers(0, n_levels, n_rows).astype(float)
    if skewed:
        column = np.floor(n_levels * rng.random(n_rows) ** 3)
    column[rng.random(n_rows) < 0.05] = nan
    column = Nominal(column.tolist())
    prepared = prepared_columns([column])
    seen = 0
    for size in itertools.chain(*naive_chance.FAMILIES):
        found = bins_of(prepared, 0, size)
        if found is not None:
            assert same_partition(found, naive_chance.bins(column, size))
            seen += 1
    assert seen >= 2


def test_grids_by_hand():
    """Eleven levels with 9, 8, 7, 7, .. rows, and two missing cells."""
    counts = [9, 8, 7, 7, 6, 5, 5, 5, 5, 5, 1]
    column = Nominal([*np.repeat(np.arange(11.0), counts).tolist(), nan, nan])
    prepared = prepared_columns([column])
    # By size: how many levels are bins of their own. The finest grids have 8 and 6 bins.
    for size, alone in {2: 1, 3: 2, 4: 2, 6: 11, 8: 11}.items():
        # Size 4: 3 would separate levels with 7 rows, and 2 is as near as 4.
        found = bins_of(prepared, 0, size)
        n_bins = alone + 1 if alone < 11 else 11
        assert len(set(found)) == n_bins + 1  # missing cells
        assert len(set(found[: sum(counts[:alone])])) == alone
        assert found[-1] not in found[:-2]


def test_copies_of_a_finer_grid_are_refined_by_all_finer_ones():
    column = Nominal(np.floor(300 * np.random.default_rng(0).random(3000) ** 2).tolist())
    prepared = prepared_columns([column])
    for family in naive_chance.FAMILIES:
        for coarse, fine in itertools.pairwise(bins_of(prepared, 0, size) for size in family):
            assert len(set(zip(coarse, fine, strict=True))) == len(set(fine))


def test_grids_with_too_many_cells_are_not_used():
    """The first grid of three columns with 60 levels would have 216,000 cells."""
    rng = np.random.default_rng(0)
    n_rows = 6000
    levels = np.array([rng.permutation(np.arange(n_rows) % 60) for _ in range(3)])
    target = (levels.sum(axis=0) % 2).astype(float)
    table = as_table([*(Nominal(each.tolist()) for each in levels), target.tolist()])
    prepared = Prepared(table)
    for columns, n_cells in {(0,): 60, (0, 1): 3600, (0, 1, 2): 1}.items():
        for family in prepared.derived(Grids).arrays:
            found, maps, numbers, which = cut_along(family, np.array(columns), 1)
            assert numbers.tolist() == [n_cells]
            own = zip(*levels[list(columns)], strict=True) if n_cells > 1 else [()] * n_rows
            assert same_partition(found.tolist(), list(own))
            assert maps.shape == (1, n_cells)
            assert which.tolist() == [0]
    assert covary.score(table, ["x0", "x1"], target="x3") == 0.0


@pytest.mark.parametrize("n_levels", [40, 200])
def test_interactions_with_many_equally_frequent_levels_are_found(n_levels):
    """The sign of the slope depends on the level."""
    rng = np.random.default_rng(n_levels)
    levels = rng.permutation(np.arange(4000) % n_levels)
    x = rng.normal(size=4000)
    y = rng.choice([-1, 1], n_levels)[levels] * np.sign(x) * (1 + rng.random(4000))
    table = as_table([Nominal(levels.tolist()), x, y], ["levels", "x", "y"])
    assert covary.score(table, ["levels"], target="y") < 0.02
    assert covary.score(table, ["x"], target="y") < 0.02
    # Half of the entropy of y is that of its sign.
    assert covary.score(table, ["levels", "x"], target="y") == pytest.approx(0.5, abs=0.05)
    assert covary.evidence(table, ["levels", "x"], target="y") > 100


# ---------------------------------------------------------------- balanced cells


def partition(cells):
    """Return the cells as a set of sets of rows."""
    rows = {}
    for row, cell in enumerate(cells):
        rows.setdefault(int(cell), set()).add(row)
    return {frozenset(each) for each in rows.values()}


@settings(max_examples=100)
@given(mixed_tables(rows=(3, 120), columns=(1, 4)))
def test_balanced_cells_follow_the_definition(columns):
    places = prepared_columns(columns).derived(Places).arrays
    which = np.arange(len(columns))
    found = kernels.uds_chance.cells.separations(places, which).tolist()
    assert found == naive_chance.separations(columns)
    orders = kernels.uds_chance.cells.orders_of_columns(places, which)
    expected_orders = naive_chance.preferred_orders(columns)
    assert sorted(map(tuple, orders.tolist())) == sorted(expected_orders)
    for order in orders:
        cells, maps, n_cells = kernels.uds_chance.cells.balanced_cells(
            places, order, np.arange(len(columns[0]), dtype=np.uint32)
        )
        with naive_chance.missing_cells("level"):
            levels_of_cells = naive_chance.balanced_levels(columns, order.tolist())
        assert len(levels_of_cells) == len(n_cells)
        for line, number, parts in zip(maps, n_cells, levels_of_cells, strict=True):
            assert partition(line[cells]) == {frozenset(part) for part in parts}
            assert number == len(parts)


def check_cells(columns, error):
    """Compare what balanced cells explain, with both options `missing`."""
    for missing in ("values", "level"):
        with naive_chance.missing_cells(missing):
            check_cells_with(missing, columns, error)


def check_cells_with(missing, columns, error):
    *condition, candidate, target = range(len(columns))
    if naive_chance.rank_target(columns[target]).entropy == 0:
        return
    prepared = prepared_columns(columns, missing)
    (found,) = examine(prepared, [Probe(target, tuple(condition), (candidate,))])
    given_columns = [columns[c] for c in condition]
    expected = naive_chance.best_cells(columns[target], given_columns) or (0.0, 0.0)
    assert (found.explained, found.freedom) == pytest.approx(expected, rel=error, abs=error)
    added = naive_chance.added_deviations(columns[target], given_columns, columns[candidate])
    assert found.added[0] == pytest.approx(added, rel=error, abs=error)


@settings(max_examples=80)
@given(mixed_tables(rows=(8, 16), columns=(3, 4)))
def test_strengths_in_balanced_cells_of_few_rows_follow_the_definition(columns):
    check_cells(columns, 1e-8)


@settings(max_examples=50)
@given(mixed_tables(rows=(17, 90), columns=(3, 4)))
def test_strengths_in_balanced_cells_follow_the_definition(columns):
    assume(not a_cell_has_all_rows_but_one(columns))
    check_cells(columns, INTERPOLATED_SUM)


# ---------------------------------------------------------------- explained fractions and scores


@settings(max_examples=60)
@given(mixed_tables(rows=(3, 16), columns=(2, 4)), numbers_given)
def test_explained_fraction_with_few_rows_follows_the_definition(columns, max_given):
    table = as_table(columns)
    for target in range(len(columns)):
        expected = naive_chance.explained(columns, target, max_given)
        found = UDSChance(max_given=max_given).score(table, target=target)
        assert found == pytest.approx(expected, abs=1e-8)


@settings(max_examples=25)
@given(mixed_tables(rows=(17, 120), columns=(2, 4)), numbers_given)
def test_explained_fraction_follows_the_definition(columns, max_given):
    assume(not a_cell_has_all_rows_but_one(columns))
    table = as_table(columns)
    for target in range(len(columns)):
        expected = naive_chance.explained(columns, target, max_given)
        found = UDSChance(max_given=max_given).score(table, target=target)
        assert found == pytest.approx(expected, abs=0.01)


@settings(max_examples=60)
@given(mixed_tables(rows=(3, 16), columns=(2, 4)), numbers_given)
def test_score_with_few_rows_is_the_maximum_over_all_orders(columns, max_given):
    expected = naive_chance.score(columns, max_given)
    found = UDSChance(max_given=max_given).score(as_table(columns))
    assert found == pytest.approx(expected, abs=1e-8)


@settings(max_examples=20)
@given(mixed_tables(rows=(17, 120), columns=(2, 4)), numbers_given)
def test_score_is_the_maximum_over_all_orders(columns, max_given):
    assume(not a_cell_has_all_rows_but_one(columns))
    expected = naive_chance.score(columns, max_given)
    found = UDSChance(max_given=max_given).score(as_table(columns))
    assert found == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("kind", ["copy", "sum modulo 3", "noise", "number", "mixed"])
@pytest.mark.parametrize("max_given", [None, 1])
def test_scores_beyond_given_columns_are_the_naive_ones(kind, max_given):
    rng = np.random.default_rng(len(kind))
    z, x, v = rng.integers(0, 3, size=(3, 60)).astype(float)
    e = rng.normal(size=60)
    y = {"copy": (z + 1) % 3, "noise": e, "number": z * e + v, "mixed": (v + (e > 1)) % 3}.get(
        kind, (z + v) % 3
    )
    columns = [Nominal(each.tolist()) for each in (x, v, y, z)]
    if kind in ("noise", "number"):
        columns[2] = list(columns[2])
    columns.append((z + 0.3 * e).tolist())
    measure = UDSChance(max_given=max_given)
    for known in ([3], [3, 4]):
        chosen = columns[: known[-1] + 1]
        found = measure.score(
            as_table(chosen), ["x0", "x1"], target="x2", given=[f"x{c}" for c in known]
        )
        expected = naive_chance.explained_beyond(chosen, 2, known, max_given)
        assert found == pytest.approx(expected, abs=2e-3)


# ---------------------------------------------------------------- evidence

N_GRID_VIEWS = len(views.GRID_VIEWS)


def check_views(columns, error):
    """Compare the views of the last column, given the first, with both options `missing`."""
    for missing in ("values", "level"):
        with naive_chance.missing_cells(missing):
            check_views_with(missing, columns[0], columns[-1], error)


def check_views_with(missing, condition, target, error):
    prepared = prepared_columns([condition, target], missing)
    found, _ = views.pair_gains(prepared, 0, [1])
    rows = naive_chance.counted_rows([condition, target])
    counted = [type(column)(column[row] for row in rows) for column in (condition, target)]
    for at, (sizes, fold, *_) in enumerate(
        naive_evidence.GRIDS_OF_PAIRS + naive_evidence.NEIGHBOURS
    ):
        if at < N_GRID_VIEWS:
            of_target = naive_chance.as_if_missing(target, [condition])
            of_target = naive_evidence.as_target(of_target, fold)
            expected = naive_evidence.grid_gain(of_target, [condition], sizes)
        else:
            of_target = naive_evidence.as_target(counted[1], fold)
            expected = naive_evidence.neighbour_gain(of_target, counted[0], sizes)
        assert found.gains[0, at] == pytest.approx(expected.gain, rel=error, abs=error), at
        if expected.gain > -math.inf:
            assert found.skewnesses[0, at] == pytest.approx(expected.skewness, rel=error, abs=1e-9)


@settings(max_examples=60)
@given(mixed_tables(rows=(3, 16), columns=(2, 2)))
def test_views_with_few_rows_are_the_naive_ones(columns):
    check_views(columns, 1e-7)


@settings(max_examples=40)
@given(mixed_tables(rows=(17, 110), columns=(2, 2)))
def test_views_are_the_naive_ones(columns):
    assume(not a_cell_has_all_rows_but_one(columns))
    check_views(columns, 0.03)


@settings(max_examples=80)
@given(mixed_tables(rows=(3, 80), columns=(2, 2)))
def test_associations_are_the_naive_ones(columns):
    if not any(map(naive_chance.is_nominal, columns)):
        return
    prepared = prepared_columns(columns)
    (_, (found, kinds)) = views.pair_gains(prepared, 0, [1])
    weights = np.array(views.CORRELATION_WEIGHTS)
    none = np.full((1, 1), -np.inf), np.zeros((1, 1))
    evidence = kernels.uds_chance.tails.evidence_of_pairs(
        none, none, (found, kinds), (np.zeros(1), np.zeros(1), np.ones(1), weights)
    )
    # The weights of the first two count five times, and all are divided by their sum.
    all_weights = 1 + 4 * (weights[0] + weights[1])
    expected = naive_evidence.association(*columns) / all_weights
    assert math.exp(evidence[0]) == pytest.approx(expected, rel=1e-6)
    (_, (reverse, reverse_kinds)) = views.pair_gains(prepared, 1, [0])
    assert (reverse.tolist(), reverse_kinds.tolist()) == (found.tolist(), kinds.tolist())


def every_permutation(column):
    return [type(column)(each) for each in itertools.permutations(column)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([0, 0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1, 2]),
        ([0, nan, 0, 1, 1, 2, 2], [0, 0, 1, nan, 1, nan, 2]),
    ],
)
def test_pearsons_chi_square_has_its_exact_moments(one, other):
    permutations = every_permutation(Nominal(other))
    found = [naive_evidence.pearson(Nominal(one), each).gain for each in permutations]
    assert np.mean(found) == pytest.approx(0, abs=1e-9)
    assert np.var(found) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("levels", [[0, 0, 0, 1, 1, 2, 2], [0, 0, nan, 1, 1, nan, 2]])
def test_the_statistic_of_kruskal_and_wallis_has_its_exact_moments(levels):
    ranks = naive_chance.mid_ranks([3.0, 1, 4, 1, nan, 9, 2])
    permutations = every_permutation(Nominal(levels))
    found = [naive_evidence.kruskal_wallis(each, ranks).gain for each in permutations]
    assert np.mean(found) == pytest.approx(0, abs=1e-9)
    assert np.var(found) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("n_levels", [3, 10, 60, 100])
def test_associations_with_ranks_have_variance_1_under_independence(n_levels):
    assert deviation_of_kruskal_wallis(n_levels) == pytest.approx(1, abs=0.12)


def deviation_of_kruskal_wallis(n_levels):
    """Return the standard deviation over permutations of 120 rows."""
    rng = np.random.default_rng(0)
    levels_of_rows = (np.arange(120) % n_levels).tolist()
    found = []
    for _ in range(600):
        prepared = prepared_columns([Nominal(levels_of_rows), rng.normal(size=120).tolist()])
        _, (associations, _) = views.pair_gains(prepared, 0, [1])
        found.append(associations[0, 0])
    assert np.mean(found) == pytest.approx(0, abs=0.15)
    return np.std(found)


@pytest.mark.parametrize(
    ("count", "expected"), [(9, 2.5), (3, 0.4), (40, 22.0), (1, 7.0), (0, 4.0)]
)
def test_tails_of_counts_are_those_of_a_poisson_variable(count, expected):
    upper, lower = stats.poisson.sf(count - 1, expected), stats.poisson.cdf(count, expected)
    found = stats.norm.sf(naive_evidence.tail_of_count(count, expected))
    assert found == pytest.approx(upper if count > expected else lower, rel=0.25)


@settings(max_examples=40)
@given(mixed_tables(rows=(3, 16), columns=(2, 4)), numbers_given)
def test_evidence_with_few_rows_is_the_naive_one(columns, max_given):
    found = UDSChance(max_given=max_given).evidence(as_table(columns))
    expected = naive_evidence.evidence(columns, max_given=max_given)
    assert found == pytest.approx(expected, abs=1e-6)


@settings(max_examples=15)
@given(mixed_tables(rows=(17, 80), columns=(2, 4)), st.booleans())
def test_evidence_is_the_naive_one(columns, with_target):
    assume(not a_cell_has_all_rows_but_one(columns))
    target = 0 if with_target else None
    found = UDSChance().evidence(as_table(columns), target=target)
    expected = naive_evidence.evidence(columns, target)
    assert found == pytest.approx(expected, rel=0.02, abs=0.05)


# ---------------------------------------------------------------- conditional evidence


@pytest.mark.parametrize("n_levels", [(3,), (5, 0), (0, 3, 4), (3, 3, 3)])
@pytest.mark.parametrize(("n_further", "most"), [(0, 0), (0, 9), (0, 40), (2, 60)])
def test_terms_of_nominal_columns_are_the_naive_ones(n_levels, n_further, most):
    found = residuals.terms(n_levels, n_further, most)
    expected = naive_conditional.terms(n_levels, n_further, most)
    assert len(found) == len(expected)
    assert {frozenset(term.factors) for term in found} == set(expected)
    for term in found:
        assert term.variance == pytest.approx(float(expected[frozenset(term.factors)]), rel=1e-12)


def ranked(column):
    return residuals.ranked(np.array(column), naive_chance.is_nominal(column))


def related_columns(n_rows, seed=0):
    """Return a number and levels that depend on each other, and what both depend on."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 3, n_rows)
    w, a, b = rng.normal(size=(3, n_rows))
    x = (z + rng.integers(0, 2, n_rows)) % 3
    return {
        "number": (z == 1) + 0.5 * (x == 2) + 0.5 * w + 0.5 * a,
        "levels": x,
        "many levels": np.floor(3 * (x + rng.random(n_rows))),
        "given levels": z,
        "given number": w + 0.3 * b,
    }


def chosen_columns(n_rows, names, missing=False):
    columns = related_columns(n_rows)
    rng = np.random.default_rng(1)
    made = []
    for name in names:
        column = columns[name].astype(float)
        if missing:
            column[rng.random(n_rows) < 0.1] = nan
        made.append((Nominal if "levels" in name else list)(column.tolist()))
    return made


# Target, tested columns, given columns.
ROLES = {
    "given levels": ("number", ["given number"], ["given levels"]),
    "tested levels": ("number", ["levels"], ["given number"]),
    "target with levels": ("levels", ["number"], ["given number"]),
    "only levels": ("levels", ["many levels"], ["given levels"]),
    "target with many levels": ("many levels", ["number"], ["given levels"]),
    "two given columns": ("number", ["levels"], ["given levels", "given number"]),
    "two tested columns": ("number", ["levels", "given number"], ["given levels"]),
    "two nominal given columns": ("number", ["given number"], ["levels", "given levels"]),
    "levels and two given columns": ("levels", ["number"], ["given levels", "given number"]),
}


@pytest.mark.parametrize(
    "names", [("given levels",), ("given levels", "given number"), ("levels", "given levels")]
)
@pytest.mark.parametrize("n_rows", [14, 40, 90])
def test_residuals_given_levels_are_the_naive_ones(names, n_rows):
    columns = chosen_columns(n_rows, ("number", *names))
    target, *known = columns
    (found,) = residuals.adjust([ranked(target)], [ranked(each) for each in known])
    (expected,) = naive_conditional.adjust([target], known)
    assert found.unexplained == pytest.approx(expected.unexplained, abs=1e-9)
    assert found.residuals == pytest.approx(expected.residuals, abs=2e-9)
    assert found.fitted == pytest.approx(expected.fitted, abs=2e-9)


def test_residuals_given_levels_have_their_means_removed():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 12, 2000)
    y = rng.normal(size=12)[z] * 3 + (1 + z / 4) * rng.normal(size=2000)
    (found,) = residuals.adjust(
        [residuals.ranked(y)], [residuals.ranked(z.astype(float), nominal=True)]
    )
    for level in range(12):
        of_level = found.residuals[z == level]
        assert abs(of_level.mean()) < 0.1 * found.residuals.std()
        assert of_level.std() == pytest.approx(found.residuals.std(), rel=0.25)


class Recorded(ConditionalEvidence):
    """Conditional evidence that records the random numbers of copies."""

    def _copies(self, numbers):
        self.__dict__.setdefault("numbers", []).append(numbers.tolist())
        return super()._copies(numbers)


def conditional_evidence(columns, n_tested, n_reference):
    """Return the evidence of a table and of a permutation, and its naive version.

    The naive one is a function, because it is a mean of 1 / probability, which may overflow.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conditional, "N_REFERENCE", n_reference)
        tested, known = range(1, 1 + n_tested), range(1 + n_tested, len(columns))
        found = Recorded(prepared_columns(columns), 0, tuple(tested), tuple(known))
    rows = np.random.default_rng(0).permutation(len(columns[0]))

    def naive_evidence():
        return naive_conditional.evidence(
            columns[0],
            [columns[c] for c in tested],
            [columns[c] for c in known],
            [] if found.untestable else found.numbers[0],
            [rows.tolist()],
        )

    return [found.observed, *found.of_permutations(rows[None].astype(np.uint32))], naive_evidence


@pytest.mark.parametrize("roles", ROLES)
@pytest.mark.parametrize(("n_rows", "missing"), [(14, False), (30, False), (40, True)])
def test_conditional_evidence_is_the_naive_one(roles, n_rows, missing):
    target, tested, known = ROLES[roles]
    columns = chosen_columns(n_rows, (target, *tested, *known), missing)
    found, naive_evidence = conditional_evidence(columns, len(tested), n_reference=6)
    assert found == pytest.approx(naive_evidence(), rel=1e-5, abs=1e-5)
    assert any(found) or n_rows < 12 * len(known) or missing


@settings(max_examples=15)
@given(mixed_tables(rows=(12, 36), columns=(3, 4)), st.integers(1, 2))
def test_conditional_evidence_of_any_table_is_the_naive_one(columns, n_tested):
    found, naive_evidence = conditional_evidence(columns, n_tested, n_reference=3)
    assume(max(found) < 300)
    assert found == pytest.approx(naive_evidence(), rel=1e-5, abs=1e-5)


def test_rows_exchange_only_with_rows_of_the_same_levels():
    columns = chosen_columns(200, ("levels", "number", "given levels", "given number"))
    for known in ((2,), (2, 3)):
        test = ConditionalEvidence(prepared_columns(columns), 0, (1,), known)
        level_of = {}
        for cell, row in zip(test.cells.tolist(), test.rows.tolist(), strict=True):
            assert level_of.setdefault(cell, columns[2][row]) == columns[2][row]
        assert len(level_of) > 3 if 3 in known else len(level_of) == 3


# ---------------------------------------------------------------- properties on any table


def renamed(column, rng):
    """Return the same levels with other numbers, in another order."""
    present = sorted({x for x in column if x == x})
    numbers = rng.permutation(5 * len(present))[: len(present)] - 7.0
    new = dict(zip(present, numbers.tolist(), strict=True))
    return Nominal(new.get(x, nan) for x in column)


def changed(columns, function):
    return [function(each) if isinstance(each, Nominal) else each for each in columns]


def results(columns, **options):
    """Return all that must stay the same to the last bit; of the evidence, eleven digits.

    Sums of ranks of a column with two values depend on which of them is the larger one.
    """
    table = as_table(columns)
    explanation = covary.explain(table, **options)
    steps = [
        (step.target, step.by, step.explained, step.bins, step.cells, step.alone, step.adds)
        for step in explanation.steps
    ]
    evidence = pytest.approx(covary.evidence(table, **options), rel=1e-11, abs=1e-12)
    return covary.score(table, **options), evidence, steps


@settings(max_examples=60)
@given(mixed_tables(rows=(3, 120), columns=(2, 5)), st.integers(0, 2**32 - 1), st.booleans())
def test_names_and_order_of_levels_do_not_change_a_single_bit(columns, seed, with_target):
    rng = np.random.default_rng(seed)
    options = {"target": "x0"} if with_target else {}
    other = changed(columns, lambda column: renamed(column, rng))
    assert results(other, **options) == results(columns, **options)


def test_names_of_many_levels_do_not_change_a_single_bit():
    """Rounding must not depend on the place of a level in a loop that is vectorised."""
    a = [0, 5, 8, 1, 5, 5, 5, 7, 9, 4, 5, 7, 0, 8, 9, 10, 6, 10, 8, 7, 4, 0, 8, 0]
    x = [4, 5, 0, 2, 0, 3, 1, 5, 0, 4, 2, 0, 0, 4, 0, 1, 4, 1, 1, 0, 5, 5, 4, 2]
    to = [4, 5, 9, 6, 0, 10, 8, 3, 7, 1, 2]
    one, other = as_table([Nominal(a), x]), as_table([Nominal(to[level] for level in a), x])
    assert covary.evidence(other) == covary.evidence(one)


@settings(max_examples=50)
@given(mixed_tables(rows=(3, 120), columns=(2, 5)), st.randoms(), st.booleans())
def test_row_order_does_not_change_a_single_bit(columns, random, with_target):
    order = list(range(len(columns[0])))
    random.shuffle(order)
    options = {"target": "x0"} if with_target else {}
    other = [type(each)(each[row] for row in order) for each in columns]
    assert results(other, **options) == results(columns, **options)


@settings(max_examples=60)
@given(mixed_tables(rows=(3, 120), columns=(2, 5)), st.randoms(), numbers_given)
def test_column_order_does_not_change_a_single_bit(columns, random, max_given):
    order = list(range(len(columns)))
    random.shuffle(order)
    measure = UDSChance(max_given=max_given)
    one, other = as_table(columns), as_table([columns[c] for c in order])
    assert measure.score(other) == measure.score(one)
    assert measure.evidence(other) == measure.evidence(one)
    target = f"x{order.index(0)}"
    assert measure.score(other, target=target) == measure.score(one, target="x0")
    assert measure.evidence(other, target=target) == measure.evidence(one, target="x0")


@pytest.mark.parametrize("kind", ["levels tested", "levels given", "target", "half"])
def test_conditional_evidence_does_not_depend_on_the_order_of_rows_or_levels(kind):
    """Also if levels are equally frequent, so that the reader numbers them by their rows."""
    rng = np.random.default_rng(5)
    n = 360
    levels = np.repeat([f"level {i}" for i in range(18)], n // 18)
    x, z = rng.normal(size=n), rng.integers(0, 4, n)
    half = np.where(rng.permutation(n) % 2 == 0, "no", "yes")
    y = x + (half == "yes") + z + rng.normal(size=n)
    table = pd.DataFrame({"levels": levels, "x": x, "y": y, "z": z, "half": half})
    tested, target, known = {
        "levels tested": ("levels", "y", ["z"]),
        "levels given": ("x", "y", ["levels", "z"]),
        "target": ("x", "levels", ["z"]),
        "half": ("x", "y", ["half"]),
    }[kind]

    def evidence(frame):
        return covary.evidence(frame, [tested], target=target, given=known)

    expected = evidence(table)
    names = {f"level {i}": f"{chr(65 + at)}" for at, i in enumerate(rng.permutation(18))}
    renamed_levels = table.assign(levels=table["levels"].map(names))
    other_half = table.assign(half=table["half"].map({"no": "z", "yes": "a"}))
    for changed_table in (table[::-1], table.sample(frac=1, random_state=1), other_half):
        assert evidence(changed_table) == expected
    assert evidence(renamed_levels.sample(frac=1, random_state=2)) == expected


@settings(max_examples=60)
@given(mixed_tables(rows=(3, 120), columns=(2, 5)), numbers_given)
def test_scores_lie_between_0_and_1(columns, max_given):
    table = as_table(columns)
    measure = UDSChance(max_given=max_given)
    explanation = measure.explain(table)
    assert 0.0 <= explanation.score <= 1.0
    assert explanation.score == measure.score(table)
    assert all(0.0 <= step.explained <= 1.0 for step in explanation.steps)
    assert math.isfinite(measure.evidence(table))
    for target in table.names:
        explanation = measure.explain(table, target=target)
        (step,) = explanation.steps
        assert explanation.score == pytest.approx(step.explained, abs=1e-12)
        assert explanation.score == measure.score(table, target=target)
        assert all(0.0 <= each <= 1.0 for each in (explanation.score, *step.alone, *step.adds))
        assert max_given is None or len(step.by) <= max_given


def two_levels(column):
    """Return a column with at most two different values."""
    present = sorted({x for x in column if x == x})
    low = set(present[::2])
    return [nan if x != x else float(x in low) for x in column]


@settings(max_examples=50)
@given(mixed_tables(rows=(3, 100), columns=(2, 4)), st.booleans())
def test_two_levels_are_0_and_1(columns, with_target):
    """Scores and explanations are the same to the last bit, evidence apart from rounding."""
    options = {"target": "x0"} if with_target else {}
    which = next(at for at, each in enumerate(columns) if isinstance(each, Nominal))
    numbers = two_levels(columns[which])
    columns = list(columns)
    columns[which] = numbers
    score, evidence, steps = results(columns, **options)
    for other in (Nominal(numbers), Nominal(9.0 - 4 * x for x in numbers)):
        columns[which] = other
        found = results(columns, **options)
        assert found == (score, evidence, steps)


@pytest.mark.parametrize("with_given", [False, True])
def test_two_levels_have_the_same_test_and_explanation_as_a_boolean_column(with_given):
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, 120).astype(float)
    others = [
        as_column("y", (z + rng.normal(size=120)).tolist()),
        as_column("w", Nominal(rng.integers(0, 4, 120).tolist())),
    ]
    options = {"target": "y", "permutations": 99, "n_jobs": 1}
    if with_given:
        options["given"] = ["w"]
    same = [as_column("z", Nominal(z.tolist())), Column("z", z), Column("z", z, "boolean")]
    same.append(as_column("z", Nominal((3 - 2 * z).tolist())))
    found = []
    for column in same:
        table = Table((column, *others), 120)
        test = covary.test(table, ["z"], **options)
        explanation = covary.explain(table, target="y")
        (step,) = explanation.steps
        of_test = (test.pvalue, test.statistic, test.score, test.null.tolist())
        found.append((of_test, explanation.score, step.by, step.adds, step.bins))
    assert all(each == found[0] for each in found)
    assert found[0][0][0] <= 0.02


@settings(max_examples=40)
@given(mixed_tables(rows=(3, 100), columns=(2, 4)), st.integers(0, 3), numbers_given)
def test_constant_columns_do_not_change_the_score(columns, n_constants, max_given):
    measure = UDSChance(max_given=max_given)
    n = len(columns[0])
    constants = [Nominal([nan] * n), Nominal([2.0] * n), [1.0] * n][:n_constants]
    one, other = as_table(columns), as_table([*constants, *columns])
    assert measure.score(other) == measure.score(one)
    assert measure.evidence(other) == measure.evidence(one)


# ---------------------------------------------------------------- exact dependence


def random_levels(rng, n_rows, n_levels, skewed=False):
    """Return levels with equal or very different frequencies."""
    if skewed:
        return np.floor(n_levels * rng.random(n_rows) ** 3)
    return rng.integers(0, n_levels, n_rows).astype(float)


@pytest.mark.parametrize("n_rows", [30, 100, 1000])
@pytest.mark.parametrize("n_levels", [3, 5, 12, 80])
@pytest.mark.parametrize("skewed", [False, True])
def test_a_renamed_copy_scores_exactly_1(n_rows, n_levels, skewed):
    rng = np.random.default_rng([n_rows, n_levels])
    n_levels = min(n_levels, n_rows // 4)
    column = Nominal(random_levels(rng, n_rows, n_levels, skewed).tolist())
    copy = renamed(column, rng)
    table = as_table([column, copy])
    assert covary.score(table) == 1.0
    assert covary.score(table, target="x0") == covary.score(table, target="x1") == 1.0
    (step,) = covary.explain(table).steps
    assert step.explained == 1.0
    missing = Nominal(
        nan if gone else x for x, gone in zip(copy, rng.random(n_rows) < 0.1, strict=True)
    )
    assert covary.score(as_table([column, missing]), target="x1") == 1.0


# The values of the levels 0, 1, 2, ..
FUNCTIONS_OF_LEVELS = {
    "number": np.sin(np.arange(300)).tolist(),
    "few numbers": (np.arange(300) % 4 // 2).tolist(),
    "0 or 1": (np.arange(300) % 2).tolist(),
    "levels": Nominal((np.arange(300) % 5).tolist()),
}


@pytest.mark.parametrize("kind", FUNCTIONS_OF_LEVELS)
@pytest.mark.parametrize(("n_rows", "n_levels"), [(100, 4), (100, 20), (1000, 50), (1000, 200)])
def test_a_function_of_levels_is_explained_exactly(kind, n_rows, n_levels):
    rng = np.random.default_rng([n_rows, n_levels])
    function = FUNCTIONS_OF_LEVELS[kind]
    column = random_levels(rng, n_rows, n_levels)
    values = [function[int(x)] for x in column]
    values = type(function)(values)
    levels_only = Nominal(column.tolist())
    table = as_table([levels_only, values])
    assert covary.score(table, target="x1") == covary.score(table) == 1.0
    # Missing cells of the function are left out. Those of the levels are one cell.
    gone = column == 0
    without = type(function)(nan if each else y for each, y in zip(gone, values, strict=True))
    assert covary.score(as_table([levels_only, without]), target="x1") == 1.0
    unknown = Nominal(nan if each else x for each, x in zip(gone, levels_only, strict=True))
    assert covary.score(as_table([unknown, values]), target="x1") == 1.0
    assert covary.score(as_table([unknown, without]), target="x1") == 1.0


@settings(max_examples=80)
@given(mixed_tables(rows=(8, 100), columns=(2, 2)))
def test_a_score_of_1_means_constant_in_every_cell(columns):
    """For one condition: the cells of some grid; if there is no noise level of 1 or more."""
    condition, target = columns
    ranked_target = naive_chance.rank_target(target)
    score = covary.score(as_table(columns), target="x1", missing="level")
    if ranked_target.entropy == 0:
        assert score == 0.0
        return
    constant = usable = False
    for size in naive_chance.sizes(len(target), 1):
        cells = naive_chance.cells(target, [naive_chance.bins(condition, size)])
        of_grid = naive_chance.gain(ranked_target, cells)
        if all(len({target[row] for row in cell}) == 1 for cell in cells) and of_grid is not None:
            constant = True
            tau = naive_chance.level(naive_chance.null_shape(ranked_target), of_grid, 2.0)
            usable = usable or tau < 1
    assert (score == 1.0) == (constant and usable)


def test_a_function_of_two_categories_is_explained_exactly():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 4, size=(2, 500))
    function = rng.normal(size=(4, 4))
    for values in (function[a, b].tolist(), Nominal(((3 * a + b) % 5).tolist())):
        table = as_table([Nominal(a.tolist()), Nominal(b.tolist()), values])
        assert covary.score(table, target="x2") == 1.0
        assert set(covary.explain(table, target="x2").steps[0].by) == {"x0", "x1"}


# ---------------------------------------------------------------- interactions and many levels


def noise_columns(rng, n_rows, number):
    """Return numbers and levels that depend on nothing."""
    return [
        Nominal(rng.integers(0, 4, n_rows).tolist())
        if at % 2
        else rng.normal(size=n_rows).tolist()
        for at in range(number)
    ]


def sum_modulo(rng, n_rows, n_levels):
    a, b = rng.integers(0, n_levels, size=(2, n_rows))
    return [Nominal(each.tolist()) for each in (a, b, (a + b) % n_levels)]


def slope_by_level(rng, n_rows, n_levels):
    z = rng.integers(0, n_levels, n_rows)
    x, noise = rng.normal(size=(2, n_rows))
    y = np.where(z % 2 == 0, x, -x) + 0.3 * noise
    return [Nominal(z.tolist()), x.tolist(), y.tolist()]


def quadrant(rng, n_rows, n_levels):
    """Levels in an order that no number has: opposite quadrants, divided by their radius."""
    x, y = rng.normal(size=(2, n_rows))
    radius = np.searchsorted(np.linspace(0, 2, n_levels // 2), np.hypot(x, y))
    return [x.tolist(), y.tolist(), Nominal((np.sign(x * y) * (1 + radius)).tolist())]


INTERACTIONS = {
    "sum modulo 3": (sum_modulo, 3, 1.0, 0.02),
    "sum modulo 6": (sum_modulo, 6, 1.0, 0.02),
    "slope": (slope_by_level, 4, 0.55, 0.25),
    "quadrants": (quadrant, 4, 0.6, 0.3),
}


@pytest.mark.parametrize("kind", INTERACTIONS)
@pytest.mark.parametrize("n_rows", [400, 1500])
def test_two_columns_explain_a_third_together(kind, n_rows):
    make, n_levels, least, most_alone = INTERACTIONS[kind]
    rng = np.random.default_rng(n_rows)
    columns = make(rng, n_rows, n_levels)
    table = as_table(columns)
    assert covary.score(table, target="x2") >= least
    assert set(covary.explain(table, target="x2").steps[0].by) == {"x0", "x1"}
    for one in ("x0", "x1"):
        assert covary.score(table, [one], target="x2") < most_alone
    among_others = as_table([*columns, *noise_columns(rng, n_rows, 20)])
    best = covary.search(among_others, target="x2", top=1)[0]
    assert best.columns == ("x0", "x1", "x2")
    assert best.score >= least - 0.05


def test_two_thousand_levels():
    rng = np.random.default_rng(0)
    n_rows = 10_000
    numbers = rng.integers(0, 2000, n_rows)
    column = Nominal(numbers.tolist())
    unrelated = [
        rng.normal(size=n_rows).tolist(),
        rng.integers(0, 2, n_rows).tolist(),
        Nominal(rng.integers(0, 5, n_rows).tolist()),
        Nominal(rng.integers(0, 2000, n_rows).tolist()),
    ]
    for other in unrelated:
        table = as_table([column, other])
        assert covary.score(table) == 0.0
        assert covary.score(table, target="x0") == covary.score(table, target="x1") == 0.0
        assert covary.evidence(table) < 5
    functions = [
        rng.normal(size=2000)[numbers].tolist(),
        (numbers % 2).tolist(),
        Nominal((numbers % 7).tolist()),
        renamed(column, rng),
    ]
    for other in functions:
        table = as_table([column, other])
        assert covary.score(table) == covary.score(table, target="x1") == 1.0
        assert covary.evidence(table) > 100


# ---------------------------------------------------------------- behaviour under independence


def with_gaps(column, rng):
    return type(column)(nan if rng.random() < 0.3 else x for x in column)


def of_levels(n_levels, skewed=False):
    return lambda rng, n: Nominal(random_levels(rng, n, n_levels, skewed).tolist())


def numbers(rng, n):
    return rng.normal(size=n).tolist()


def dates(rng, n):
    return np.floor(1000 * rng.random(n)).tolist()


# An ordered or nominal column, and the largest mean score with 100 rows. A column with two values
# has few degrees of freedom, so that its scores have a long tail.
OTHERS = {
    "levels": (None, 0.005),
    "numbers": (numbers, 0.005),
    "dates": (dates, 0.005),
    "numbers with gaps": (lambda rng, n: with_gaps(numbers(rng, n), rng), 0.005),
    "levels with gaps": (lambda rng, n: with_gaps(of_levels(5)(rng, n), rng), 0.005),
    "two values": (lambda rng, n: (rng.random(n) < 0.3).astype(float).tolist(), 0.01),
}


def mean_score(n_levels, skewed, other, n_rows, n_tables):
    rng = np.random.default_rng([n_levels, n_rows, 3])
    make = of_levels(n_levels, skewed)
    other_make = OTHERS[other][0] or make
    scores = [
        covary.score(as_table([make(rng, n_rows), other_make(rng, n_rows)]))
        for _ in range(n_tables)
    ]
    return np.mean(scores)


def largest_mean(n_levels, other, n_rows):
    largest = 0.01 if n_levels == 2 else OTHERS[other][1]
    return largest if n_rows == 100 else largest / 5


every_independent_pair = pytest.mark.parametrize(
    ("n_levels", "skewed", "other"),
    list(itertools.product([2, 5, 20, 100], [False, True], OTHERS)),
)


@every_independent_pair
@pytest.mark.parametrize("n_rows", [100, 1000])
def test_independent_columns_have_small_mean_scores(n_levels, skewed, other, n_rows):
    found = mean_score(n_levels, skewed, other, n_rows, 60)
    # Means of few tables vary.
    assert found <= 1.6 * largest_mean(n_levels, other, n_rows)


@pytest.mark.slow
@every_independent_pair
@pytest.mark.parametrize("n_rows", [100, 1000])
def test_independent_columns_have_small_mean_scores_over_many_tables(
    n_levels, skewed, other, n_rows
):
    found = mean_score(n_levels, skewed, other, n_rows, 400)
    assert found <= largest_mean(n_levels, other, n_rows)


@pytest.mark.parametrize("n_levels", [3, 20])
def test_independent_sets_have_small_mean_scores(n_levels):
    rng = np.random.default_rng(n_levels)
    scores = []
    for _ in range(20):
        columns = [of_levels(n_levels, skewed)(rng, 200) for skewed in (False, True)]
        scores.append(covary.score(as_table([*columns, *noise_columns(rng, 200, 3)])))
    assert np.mean(scores) < 0.002


@pytest.mark.parametrize("n_levels", [3, 12, 60])
@pytest.mark.parametrize("kind", ["numbers", "levels", "gaps"])
def test_evidence_is_near_0_for_independent_columns(n_levels, kind):
    rng = np.random.default_rng(n_levels)
    make = of_levels(n_levels)
    found = []
    for _ in range(80):
        other = numbers(rng, 150) if kind != "levels" else make(rng, 150)
        column = make(rng, 150)
        if kind == "gaps":
            column, other = with_gaps(column, rng), with_gaps(other, rng)
        found.append(covary.evidence(as_table([column, other])))
    assert -0.5 < np.median(found) < 1
    assert np.quantile(found, 0.95) < 4
    assert np.max(found) < 12


REJECTED = {
    "3 levels and numbers": (of_levels(3), numbers),
    "40 levels and numbers": (of_levels(40), numbers),
    "5 levels each": (of_levels(5), of_levels(5)),
    "20 and 40 levels": (of_levels(20, True), of_levels(40)),
    "gaps": (
        lambda rng, n: with_gaps(of_levels(6)(rng, n), rng),
        lambda rng, n: with_gaps(numbers(rng, n), rng),
    ),
    "three columns": (of_levels(4), of_levels(20), numbers),
}


def n_rejected(kind, n_tables, n_rows=200):
    """Return how many of some independent tables are rejected at level 0.05."""
    rejected = 0
    for seed in range(n_tables):
        rng = np.random.default_rng([seed, n_rows])
        table = as_table([make(rng, n_rows) for make in REJECTED[kind]])
        rejected += covary.test(table, permutations=19, seed=seed, n_jobs=1).pvalue <= 0.05
    return rejected


@pytest.mark.parametrize("kind", REJECTED)
def test_independent_columns_are_rejected_at_the_level(kind):
    # A valid test exceeds this number with a probability of 0.001.
    assert n_rejected(kind, 60) <= stats.binom.ppf(0.999, 60, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("kind", REJECTED)
def test_rejection_rate_of_many_tables(kind):
    assert 0.03 <= n_rejected(kind, 800) / 800 <= 0.076


DEPENDENT = {
    "mean": lambda rng, z: (0.7 * (z == 1) + rng.normal(size=z.size)).tolist(),
    "spread": lambda rng, z: ((1 + 1.2 * (z == 1)) * rng.normal(size=z.size)).tolist(),
    "levels": lambda rng, z: Nominal(
        np.where(rng.random(z.size) < 0.3, (z + 1) % 4, rng.integers(0, 4, z.size)).tolist()
    ),
    "one cell": lambda rng, z: Nominal(
        np.where((z == 1) & (rng.random(z.size) < 0.4), 4, rng.integers(0, 15, z.size)).tolist()
    ),
}


@pytest.mark.parametrize("kind", DEPENDENT)
def test_dependence_on_levels_is_detected(kind):
    detected = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        z = rng.integers(0, 5, 300)
        table = as_table([Nominal(z.tolist()), DEPENDENT[kind](rng, z)])
        detected += covary.test(table, permutations=39, seed=seed, n_jobs=1).pvalue <= 0.05
    assert detected >= 16


# ---------------------------------------------------------------- beyond given columns


def common_cause(rng, n_rows):
    """Return two numbers, and levels that explain all that they have in common."""
    z = rng.integers(0, 5, n_rows)
    effects = np.array([[0, 2, -1, 1, 3], [1, -1, 2, 0, 2.5]])
    x, y = effects[:, z] + rng.normal(size=(2, n_rows))
    w = np.where(rng.random(n_rows) < 0.6, z // 2, rng.integers(0, 3, n_rows))
    return {"x": x.tolist(), "y": y.tolist(), "w": Nominal(w.tolist()), "z": Nominal(z.tolist())}


@pytest.mark.parametrize(("tested", "target"), [("x", "y"), ("w", "y"), ("x", "w")])
def test_columns_with_common_levels_are_rejected_at_the_level(tested, target):
    rejected = without = 0
    for seed in range(40):
        columns = common_cause(np.random.default_rng(seed), 200)
        table = as_table(list(columns.values()), list(columns))
        options = {"target": target, "permutations": 19, "seed": seed, "n_jobs": 1}
        rejected += covary.test(table, [tested], given=["z"], **options).pvalue <= 0.05
        without += covary.test(table, [tested], **options).pvalue <= 0.05 if seed < 5 else 0
    assert rejected <= stats.binom.ppf(0.999, 40, 0.05)
    assert without == 5


@pytest.mark.parametrize("kind", ["levels tested", "levels as target", "other slope"])
def test_dependence_beyond_given_levels_is_detected(kind):
    detected = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        columns = common_cause(rng, 300)
        w, x = np.array(columns["w"]), np.array(columns["x"])
        z = np.array(columns["z"])
        if kind == "levels tested":
            columns["y"] = (np.array(columns["y"]) + (w == 1)).tolist()
            roles = ("w", "y")
        elif kind == "levels as target":
            columns["w"] = Nominal(((z + (x > 1)) % 5).tolist())
            roles = ("x", "w")
        else:
            columns["y"] = (np.where(z % 2 == 0, x, -x) + rng.normal(size=300)).tolist()
            roles = ("x", "y")
        table = as_table(list(columns.values()), list(columns))
        test = covary.test(
            table, [roles[0]], target=roles[1], given=["z"], permutations=39, n_jobs=1
        )
        detected += test.pvalue <= 0.05
    assert detected >= 9


def test_a_copy_of_given_levels_adds_nothing():
    rng = np.random.default_rng(0)
    columns = common_cause(rng, 500)
    columns["copy"] = renamed(columns["z"], rng)
    table = as_table(list(columns.values()), list(columns))
    assert covary.score(table, ["copy"], target="y") > 0.2
    assert covary.score(table, ["copy"], target="y", given=["z"]) == 0.0
    assert covary.score(table, ["x"], target="y", given=["z"]) < 0.01


# ---------------------------------------------------------------- searches


def test_a_search_keeps_only_sets_that_need_all_of_their_columns():
    rng = np.random.default_rng(0)
    a, b, c = sum_modulo(rng, 200, 3)
    noise = Nominal(rng.integers(0, 3, 200).tolist())
    table = as_table([a, b, c, renamed(a, rng), noise])
    found = covary.search(table, max_size=3, top=20, sift=True, permutations=19, n_jobs=1)
    triples = {each.columns for each in found if len(each.columns) == 3}
    assert triples == {("x0", "x1", "x2"), ("x1", "x2", "x3")}
    assert found[0].columns == ("x0", "x3")


def test_engines_give_the_same_bits():
    rng = np.random.default_rng(0)
    columns = [*sum_modulo(rng, 100, 3), with_gaps(of_levels(8)(rng, 100), rng)]
    options = {"target": "x2", "max_size": 3, "permutations": 9, "n_jobs": 2, "seed": 1}
    one, other = (
        covary.search(as_table(columns), engine=engine, **options)
        for engine in ("threads", "processes")
    )
    assert one[0].columns == ("x0", "x1", "x2")
    for each, again in zip(one, other, strict=True):
        assert each == again
