"""Tests of every registered measure, and of the data that measures derive from a table."""

from __future__ import annotations

import inspect
import json
import math
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest

import covary
from covary import errors
from covary.engines import Threads
from covary.errors import ColumnError, CovaryWarning, ParameterError
from covary.measures import Measure, all_measures, find_measure
from covary.measures.former_names import RENAMED
from covary.measures.uds_chance.balanced_cells import KeptCells
from covary.measures.uds_chance.conditional import ConditionalEvidence
from covary.measures.uds_chance.midranks import FoldedColumns
from covary.prepare import Derived, Need, prepare
from covary.table import Table
from nominal_tables import nominal_table, renumbered, reordered, with_rows

NAMES = sorted(all_measures())
PAIRS_ONLY = {name for name in NAMES if find_measure(name).max_columns == 2}
SEEDED = {"codec", "hics", "mcde", "mutual-information", "total-correlation", "xi"}
NOT_1_IF_DETERMINED = {
    "cmi",
    "dhsic",
    "hics",
    "mutual-information",
    "quadratic",
    "total-correlation",
}
TAKES_NOMINAL = [name for name in NAMES if find_measure(name).takes_nominal]
ORDERED_ONLY = [name for name in NAMES if name not in TAKES_NOMINAL]
# Invariances that a measure does not have, according to its documentation.
UNITS_MATTER = {"cmi", "dhsic", "hsic"}
COLUMN_ORDER_MATTERS = {"dhsic", "hsic"}
ROW_ORDER_MATTERS = {"cmi"}


@pytest.fixture(scope="module")
def table():
    """Return a table with ties in one column."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=200)
    return np.column_stack([x, x**2 + 0.1 * rng.normal(size=200), np.round(x), rng.random(200)])


@pytest.fixture(scope="module")
def smooth():
    """Return a table without ties."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=150)
    return np.column_stack([x, x**2 + rng.normal(size=150), rng.exponential(size=150)])


def score(data, name, columns=None, **parameters):
    """Return the score; the mean over all pairs if the measure scores pairs only."""
    if name in PAIRS_ONLY:
        parameters = {"aggregate": "mean", **parameters}
    return covary.score(data, columns, measure=name, **parameters)


def within_bounds(value, name):
    low, high = find_measure(name).bounds
    return isinstance(value, float) and low <= value <= high and math.isfinite(value)


def test_public_names_of_measures():
    """Other programs use these names."""
    sets = "uds uds-unregularized uds-chance cmi mac hics mcde total-correlation quadratic dhsic"
    pairs = (
        "cramers-v distance-correlation hsic mutual-information pearson phik spearman theils-u xi"
    )
    assert set(sets.split()) <= set(NAMES) - PAIRS_ONLY
    assert set(pairs.split()) <= PAIRS_ONLY


@pytest.mark.parametrize("name", NAMES)
class TestEveryMeasure:
    def test_score_is_a_float_within_bounds(self, name, table):
        assert within_bounds(score(table, name), name)

    def test_score_is_deterministic(self, name, table):
        assert score(table, name) == score(table, name)

    def test_randomised_measures_have_a_seed(self, name, smooth, table):
        assert ("seed" in all_measures()[name].parameters) == (name in SEEDED)
        if name in SEEDED:
            assert score(table, name, seed=1) == score(table, name, seed=1)
        if name in {"hics", "mcde"}:
            assert score(smooth, name, seed=1) != score(smooth, name, seed=2)

    @pytest.mark.parametrize("columns", [["x0", "x1"], ["x2", "x1"], ["x0", "x2"]])
    def test_score_does_not_depend_on_units(self, name, smooth, columns):
        if name in UNITS_MATTER:
            pytest.skip("its documentation says that units matter")
        scaled = smooth * [1e6, 0.3, 2.0] + [5.0, -1.0, 1e3]
        expected = score(smooth, name, columns)
        assert score(scaled, name, columns) == pytest.approx(expected, rel=1e-6, abs=1e-9)

    def test_score_does_not_depend_on_the_order_of_columns(self, name, smooth):
        if name in COLUMN_ORDER_MATTERS:
            pytest.skip("its documentation says that the order of columns matters")
        expected = score(smooth, name, ["x0", "x1", "x2"])
        for order in (["x2", "x0", "x1"], ["x1", "x0", "x2"], ["x2", "x1", "x0"]):
            assert score(smooth, name, order) == pytest.approx(expected, rel=1e-12, abs=1e-12)

    def test_score_does_not_depend_on_the_order_of_rows(self, name, smooth):
        if name in ROW_ORDER_MATTERS:
            pytest.skip("its documentation says that the order of rows matters")
        shuffled = np.random.default_rng(0).permutation(smooth)
        expected = score(smooth, name)
        assert score(shuffled, name) == pytest.approx(expected, rel=1e-9, abs=1e-12)

    def test_strong_pair_scores_higher_than_independent_pair(self, name, table):
        pair = covary.score(table, ["x0", "x2"], measure=name)
        assert pair > covary.score(table, ["x2", "x3"], measure=name)

    def test_constant_column_scores_0(self, name, table):
        constant = np.column_stack([table[:, 0], np.full(200, 3.0)])
        assert score(constant, name) == 0.0
        assert score(np.full((50, 3), 2.0), name) == 0.0

    def test_tiny_tables(self, name):
        rng = np.random.default_rng(0)
        for n_rows in (3, 4, 5, 7):
            for n_columns in (2, 3):
                few = rng.normal(size=(n_rows, n_columns))
                assert within_bounds(score(few, name), name)
                assert within_bounds(score(np.round(few), name), name)

    def test_missing_cells_ties_and_constants(self, name, table):
        rng = np.random.default_rng(0)
        holes = np.column_stack([table, np.ones(200), rng.integers(0, 3, 200)])
        holes[rng.random(holes.shape) < 0.1] = np.nan
        assert within_bounds(score(holes, name), name)

    def test_columns_that_are_never_present_together(self, name):
        rng = np.random.default_rng(0)
        apart = rng.normal(size=(60, 3))
        apart[:30, 0] = np.nan
        apart[30:, 1] = np.nan
        assert within_bounds(score(apart, name), name)
        apart[:, 2] = np.nan
        assert within_bounds(score(apart, name), name)

    def test_warns_if_it_drops_rows(self, name, smooth):
        holes = smooth.copy()
        holes[3, 0] = holes[3, 1] = holes[7, 1] = np.nan
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            score(holes, name)
            covary.matrix(holes, measure=name)
        messages = [str(w.message) for w in shown if "missing cell" in str(w.message)]
        measure = find_measure(name)
        assert len(messages) == 2 * int(measure.drops_incomplete_rows)
        for message in messages:
            assert f"'{name}' ignores, for each set, the rows with a missing cell" in message
            assert "148 of 150 rows have no missing cell" in message

    @pytest.mark.parametrize("remember", [0, 1, 2, 100])
    def test_scorer_agrees_with_score_set(self, name, table, remember):
        measure = find_measure(name)
        prepared = prepare(table)
        scorer = measure.scorer(prepared)
        batches = [[(0, 1), (0, 2)], [(1, 3)], [(0, 1, 2), (1, 2, 3)], [(0, 1, 2, 3)]]
        for sets in batches[:2] if name in PAIRS_ONLY else batches:
            scores = {}
            with Threads(2).session(scorer.shared) as session:
                for which, found in scorer.score(np.array(sets, np.int32), session.run, remember):
                    scores.update(zip(which.tolist(), found.tolist(), strict=True))
            one_by_one = [measure.score_set(prepared, columns) for columns in sets]
            assert [scores[at] for at in range(len(sets))] == one_by_one

    def test_moved_columns_score_like_the_moved_table(self, name, smooth):
        measure = find_measure(name)
        rows = np.random.default_rng(0).permutation(len(smooth)).astype(np.uint32)
        moved = smooth.copy()
        moved[rows, 1] = smooth[:, 1]
        found = measure.score_set(prepare(smooth).moved({1: rows}), [0, 1])
        expected = covary.score(moved, ["x0", "x1"], measure=name)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)

    def test_works_with_matrix_search_and_test(self, name, table):
        frame = covary.matrix(table, measure=name)
        assert frame[0, 1] == frame[1, 0] == covary.score(table, ["x0", "x1"], measure=name)
        one = name not in NOT_1_IF_DETERMINED
        assert (np.diag(frame) == 1.0).all() if one else np.isnan(np.diag(frame)).all()
        found = covary.search(table, measure=name, max_size=2, permutations=19)
        assert len(found) == 6
        assert found[0].score == max(subspace.score for subspace in found)
        tested = covary.test(table, ["x0", "x2"], measure=name, permutations=39)
        assert tested.pvalue == 1 / 40

    def test_explains_or_raises_an_error(self, name, table):
        measure = find_measure(name)
        if measure.explains:
            assert covary.explain(table, measure=name).measure == name
        else:
            with pytest.raises(ParameterError, match=f"'{name}' gives a score but no explanation"):
                covary.explain(table, ["x0", "x1"], measure=name)

    def test_documents_range_reference_and_limitations(self, name, table):
        text = inspect.getdoc(all_measures()[name].cls)
        assert re.search(r"(cannot|does not|hardly) detects?\b", text)
        assert re.search(r"in \[|upper bound", text)
        reference = text + inspect.getmodule(all_measures()[name].cls).__doc__
        assert re.search(r"(18|19|20)\d\d", reference)

    def test_name_and_parameters(self, name, table):
        measure = find_measure(name)
        assert measure.name == name
        entry = all_measures()[name]
        assert entry.summary
        assert find_measure(name, **entry.parameters) == measure
        json.dumps(entry.parameters)

    def test_rejects_unknown_parameters(self, name, table):
        with pytest.raises(ParameterError, match=f"measure '{name}' has no parameter 'nonsense'"):
            covary.score(table, measure=name, nonsense=1)


def test_measures_of_nominal_columns():
    """Other programs use these names, and an error message lists them."""
    expected = "cramers-v mutual-information phik theils-u total-correlation uds-chance"
    assert expected.split() == TAKES_NOMINAL
    message = str(errors.nominal_columns("uds", ["a"]))
    assert re.findall("'([a-z-]+)'", message.partition(";")[2]) == sorted(
        TAKES_NOMINAL, key=message.index
    )


@pytest.mark.parametrize("name", TAKES_NOMINAL)
class TestNominalColumns:
    """Measures that can use columns whose levels have no order."""

    PAIRS = (("colour", "shape"), ("colour", "x"), ("noise", "shape"), ("two", "colour"))

    def scores(self, data, name):
        pairs = [covary.score(data, pair, measure=name) for pair in self.PAIRS]
        return [*pairs, score(data, name)]

    @pytest.mark.parametrize("missing", [0.0, 0.2])
    def test_score_is_a_float_within_bounds(self, name, missing):
        for seed in range(3):
            for value in self.scores(nominal_table(seed, missing=missing), name):
                assert within_bounds(value, name)

    def test_score_is_deterministic(self, name):
        assert self.scores(nominal_table(), name) == self.scores(nominal_table(), name)

    @pytest.mark.parametrize("missing", [0.0, 0.2])
    def test_order_of_columns_does_not_matter(self, name, missing):
        table = nominal_table(missing=missing)
        for one, other in self.PAIRS:
            expected = covary.score(table, [one, other], measure=name)
            found = covary.score(table, [other, one], measure=name)
            assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
        expected = score(table, name)
        for order in (
            ("noise", "two", "x", "shape", "colour"),
            ("x", "colour", "two", "noise", "shape"),
        ):
            found = score(reordered(table, *order), name)
            assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)

    @pytest.mark.parametrize("missing", [0.0, 0.2])
    def test_numbering_of_levels_does_not_matter(self, name, missing):
        table = nominal_table(missing=missing)
        names = [n for n in table.names if n != "two"]
        table = reordered(table, *names)
        expected = score(table, name)
        for seed in range(3):
            found = score(renumbered(table, seed), name)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)

    def test_order_of_rows_does_not_matter(self, name):
        table = reordered(nominal_table(), "colour", "shape", "x", "noise")
        shuffled = with_rows(table, np.random.default_rng(0).permutation(table.n_rows))
        assert score(shuffled, name) == pytest.approx(score(table, name), rel=1e-9, abs=1e-12)

    def test_dependent_pairs_score_higher_than_independent_pairs(self, name):
        dependent = covary.score(nominal_table(), ["colour", "shape"], measure=name)
        mixed = covary.score(nominal_table(), ["x", "colour"], measure=name)
        for pair in (["colour", "noise"], ["shape", "noise"], ["colour", "two"]):
            assert covary.score(nominal_table(), pair, measure=name) < min(dependent, mixed)

    def test_tiny_and_constant_columns(self, name):
        for n_rows in (3, 4, 6, 10):
            for seed in range(5):
                table = nominal_table(seed, n_rows, missing=0.1 * (seed % 2))
                assert within_bounds(score(table, name), name)

    def test_scorer_agrees_with_score_set(self, name):
        measure, prepared = find_measure(name), prepare(nominal_table(missing=0.1))
        scorer = measure.scorer(prepared)
        sets = np.array([(0, 1), (0, 2), (1, 4), (0, 3)], np.int32)
        scores = np.zeros(len(sets))
        with Threads(2).session(scorer.shared) as session:
            for which, found in scorer.score(sets, session.run):
                scores[which] = found
        assert scores.tolist() == [measure.score_set(prepared, each) for each in sets.tolist()]

    def test_moved_columns_score_like_the_moved_table(self, name):
        measure, table = find_measure(name), nominal_table()
        rows = np.random.default_rng(0).permutation(table.n_rows).astype(np.uint32)
        prepared = prepare(table).moved({0: rows})
        moved = with_rows(table, np.argsort(rows)).columns[0]
        for at in (1, 2):
            found = measure.score_set(prepared, [0, at])
            pair = Table((moved, table.columns[at]), table.n_rows)
            assert found == pytest.approx(score(pair, name), rel=1e-9, abs=1e-12)

    def test_works_with_matrix_search_and_test(self, name):
        table = nominal_table()
        names, frame = list(table.names), covary.matrix(table, measure=name)
        pair = covary.score(table, ["colour", "shape"], measure=name)
        assert frame["shape"][0].as_py() == frame["colour"][1].as_py() == pair
        assert frame["column"].to_pylist() == names
        found = covary.search(table, measure=name, max_size=2, permutations=19)
        assert len(found) == 10
        assert set(found[0].columns) <= {"colour", "shape", "x"}
        tested = covary.test(table, ["shape", "x"], measure=name, permutations=39)
        assert tested.pvalue == 1 / 40

    @pytest.mark.parametrize("target", ["colour", "x"])
    def test_works_with_a_target(self, name, target):
        table = nominal_table(missing=0.05)
        found = covary.search(table, measure=name, target=target, max_size=2, permutations=19)
        assert len(found) == 4
        other = "x" if target == "colour" else "colour"
        tested = covary.test(table, [other], measure=name, target=target, permutations=39)
        assert tested.pvalue == 1 / 40
        explained = find_measure(name).score(table, [other], target)
        assert within_bounds(explained, name)


@pytest.mark.parametrize("name", ORDERED_ONLY)
class TestMeasuresThatNeedAnOrder:
    """They reject nominal columns that the user names, and leave out others."""

    def message(self, name, *columns):
        listed = ", ".join(f"'{column}'" for column in columns)
        return f"measure '{name}' cannot use nominal columns: {listed}; use 'uds-chance'.*ordered"

    def calls(self, table, name, columns, **keywords):
        """Yield calls of all public functions with these columns."""
        keywords = {"measure": name, **keywords}
        yield lambda: covary.score(table, columns, **keywords)
        yield lambda: covary.evidence(table, columns, **keywords)
        yield lambda: covary.test(table, columns, permutations=19, **keywords)
        yield lambda: covary.search(table, columns, max_size=2, **keywords)
        if "target" not in keywords:
            yield lambda: covary.matrix(table, columns, measure=name)
        if find_measure(name).explains:
            yield lambda: covary.explain(table, columns, **keywords)

    @pytest.mark.parametrize(
        ("columns", "refused"),
        [(["colour", "x"], ["colour"]), (["x", "shape", "colour"], ["shape", "colour"])],
    )
    def test_named_columns_raise_an_error(self, name, columns, refused):
        for call in self.calls(nominal_table(), name, columns):
            with pytest.raises(ColumnError, match=self.message(name, *refused)):
                call()

    def test_a_target_raises_an_error(self, name):
        for columns in (None, ["x", "noise"]):
            for call in self.calls(nominal_table(), name, columns, target="colour"):
                with pytest.raises(ColumnError, match=self.message(name, "colour")):
                    call()

    def test_given_columns_raise_an_error(self, name):
        more = {"target": "x", "given": ["shape"]}
        for call in self.calls(nominal_table(), name, ["noise"], **more):
            with pytest.raises(ColumnError, match=self.message(name, "shape")):
                call()

    def test_columns_without_a_name_are_left_out_with_a_warning(self, name):
        table = nominal_table()
        rest = reordered(table, "x", "two", "noise")
        message = self.message(name, "colour", "shape")
        more = {"aggregate": "max"} if name in PAIRS_ONLY else {}
        with pytest.warns(CovaryWarning, match=f"left out, because {message}"):
            found = score(table, name, **more)
        assert found == score(rest, name, **more)
        with pytest.warns(CovaryWarning, match=f"left out, because {message}"):
            frame = covary.matrix(table, measure=name)
        assert frame.column_names == ["column", "x", "two", "noise"]
        with pytest.warns(CovaryWarning, match=f"left out, because {message}"):
            found = covary.search(table, measure=name, max_size=2, permutations=19)
        expected = covary.search(rest, measure=name, max_size=2, permutations=19)
        assert found.to_dict()["subspaces"] == expected.to_dict()["subspaces"]
        with pytest.warns(CovaryWarning, match=f"left out, because {message}"):
            tested = covary.test(table, measure=name, permutations=19, **more)
        assert tested.columns == ("x", "two", "noise")

    def test_fewer_than_two_columns_with_an_order_are_an_error(self, name):
        for order in (("colour", "x", "shape"), ("colour", "shape")):
            for call in self.calls(reordered(nominal_table(), *order), name, None):
                with pytest.raises(ColumnError, match=self.message(name, "colour", "shape")):
                    call()

    def test_a_column_with_two_levels_can_be_used(self, name):
        pair = covary.score(nominal_table(), ["two", "x"], measure=name)
        assert within_bounds(pair, name)


def test_columns_that_a_measure_leaves_out_are_recorded():
    prepared = find_measure("uds").prepared(nominal_table())
    assert prepared.names == prepared.table.names == ("x", "two", "noise")
    assert prepared.table.left_out == (("colour", "nominal"), ("shape", "nominal"))
    expected = prepare(reordered(nominal_table(), "x", "two", "noise"))
    for each in ("orders", "values", "n_present", "nominal", "entropies", "widths", "exponents"):
        np.testing.assert_array_equal(getattr(prepared, each), getattr(expected, each))
        assert not getattr(prepared, each).flags.writeable


def test_total_correlation_of_neighbours_needs_an_order():
    measure = covary.TotalCorrelation(estimator="knn")
    message = "'total-correlation' cannot use nominal columns: 'colour'; .*correlation' with bins"
    with pytest.raises(ColumnError, match=message):
        covary.score(nominal_table(), ["colour", "x"], measure=measure)


def test_error_for_an_unknown_measure_suggests_the_closest_name():
    with pytest.raises(ParameterError, match=r"no measure 'usd'. Did you mean 'uds'\? The meas"):
        find_measure("usd")
    with pytest.raises(ParameterError, match="there is no measure '3'"):
        find_measure(3)


def test_error_for_a_misspelt_parameter_suggests_the_closest_name():
    with pytest.raises(ParameterError, match=r"no parameter 'bta'.*Did you mean 'beta'\?"):
        find_measure("uds", bta=3)


def test_parameters_of_a_measure_object_can_be_changed():
    measure = covary.UDS(beta=5)
    assert find_measure(measure) is measure
    assert find_measure(measure, scale=None) == covary.UDS(beta=5, scale=None)
    with pytest.raises(ParameterError, match="no parameter 'alpha'"):
        find_measure(measure, alpha=1)


def test_measures_are_immutable_and_hashable():
    assert covary.UDS() == covary.UDS(beta=20)
    assert len({covary.UDS(), covary.UDS(beta=20), covary.UDS(beta=10)}) == 2
    with pytest.raises(AttributeError):
        covary.UDS().beta = 3


# ---------------------------------------------------------------- derived data


def needs_of_all_measures():
    """Return each need of a registered measure once, and the data that only evidence uses."""
    measures = [find_measure(name) for name in NAMES]
    measures.append(find_measure("total-correlation", estimator="knn"))
    needs = dict.fromkeys(need for measure in measures for need in measure.needs())
    return [*needs, Need(FoldedColumns)]


def derived_classes(base=Derived):
    """Return all classes of derived data in covary."""
    classes = {each for each in base.__subclasses__() if each.__module__.startswith("covary.")}
    return classes.union(*map(derived_classes, classes))


def arrays_of(thing, path=""):
    """Return the arrays and numbers inside derived data, by their path."""
    if isinstance(thing, (np.ndarray, np.generic, int, float)):
        return {path: np.asarray(thing)}
    if isinstance(thing, Derived):
        parts = vars(thing)
    elif isinstance(thing, dict):
        parts = thing
    elif isinstance(thing, tuple) and hasattr(thing, "_fields"):
        parts = thing._asdict()
    elif isinstance(thing, (tuple, list)):
        parts = dict(enumerate(thing))
    else:
        raise TypeError(f"{path} is a {type(thing).__name__}: add a case to `arrays_of`")
    return {
        key: array
        for name, part in parts.items()
        for key, array in arrays_of(part, f"{path}.{name}").items()
    }


def contains_orders(array, shape):
    """Return whether each line of an array is an order of all rows."""
    return array.shape == shape and (np.sort(array, axis=1) == np.arange(shape[1])).all()


def move(table, moves):
    """Return the table with the value of row i of a column in row moves[column][i]."""
    table = table.copy()
    for column, rows in moves.items():
        table[rows, column] = table[:, column].copy()
    return table


def random_moves(rng, n_rows, columns):
    return {column: rng.permutation(n_rows).astype(np.uint32) for column in columns}


def table_with_ties(rng, n_rows):
    """Return a table with ties in all columns, and with missing cells in most of them."""
    table = np.column_stack(
        [
            np.round(rng.normal(size=n_rows), 1),
            rng.integers(0, 3, n_rows),
            np.abs(np.round(rng.normal(size=n_rows))),
            rng.random(n_rows) < 0.05,
            np.full(n_rows, 2.5),
        ]
    ).astype(float)
    table[:, :3][rng.random((n_rows, 3)) < 0.2] = np.nan
    table[n_rows // 3 :, 4] = np.nan
    return table


def id_of(need):
    return "-".join([need.kind.__name__, *map(str, need.parameters)])


@pytest.mark.parametrize("need", needs_of_all_measures(), ids=id_of)
class TestDerivedData:
    """Derived data of moved columns must equal derived data of the moved table."""

    @pytest.mark.parametrize("n_rows", [3, 10, 61, 400])
    @pytest.mark.parametrize("columns", [[1], [0, 2], [0, 1, 2]])
    def test_moved_without_ties(self, need, n_rows, columns):
        rng = np.random.default_rng(n_rows)
        table = rng.normal(size=(n_rows, 3))
        moves = random_moves(rng, n_rows, columns)
        moved = prepare(table).moved(moves).derived(need.kind, *need.parameters)
        expected = need.kind.of(prepare(move(table, moves)), *need.parameters)
        self.assert_equal(moved, expected)

    @pytest.mark.parametrize("n_rows", [10, 61, 400])
    @pytest.mark.parametrize("columns", [[0], [1, 4], [0, 1, 2, 3, 4]])
    def test_moved_with_ties_and_missing_cells(self, need, n_rows, columns):
        rng = np.random.default_rng(n_rows)
        table = table_with_ties(rng, n_rows)
        moves = random_moves(rng, n_rows, columns)
        moved_table = move(table, moves)
        moved = prepare(table).moved(moves).derived(need.kind, *need.parameters)
        expected = need.kind.of(prepare(moved_table), *need.parameters)
        self.assert_equal(moved, expected, moved_table)

    @pytest.mark.parametrize("columns", [[0], [1, 2], [0, 1, 2, 3, 4]])
    def test_moved_with_nominal_columns(self, need, columns):
        table = nominal_table(missing=0.1)
        moves = random_moves(np.random.default_rng(0), table.n_rows, columns)
        cells = move(np.column_stack([each.values for each in table.columns]), moves)
        moved_table = Table(
            tuple(
                replace(each, values=values)
                for each, values in zip(table.columns, cells.T, strict=True)
            ),
            table.n_rows,
        )
        moved = prepare(table).moved(moves).derived(need.kind, *need.parameters)
        expected = need.kind.of(prepare(moved_table), *need.parameters)
        self.assert_equal(moved, expected, cells)

    def test_moved_twice(self, need):
        rng = np.random.default_rng(0)
        table = rng.normal(size=(50, 3))
        first, second = (random_moves(rng, 50, columns) for columns in ([0, 1], [1, 2]))
        moved = prepare(table).moved(first).moved(second).derived(need.kind, *need.parameters)
        moved_table = move(move(table, first), second)
        self.assert_equal(moved, need.kind.of(prepare(moved_table), *need.parameters))

    @staticmethod
    def assert_equal(derived, expected, table_with_ties=None):
        """Assert that all arrays are equal.

        Orders of a table with ties are compared by the values along them, because rows with equal
        values may come in any order.
        """
        assert type(derived) is type(expected)
        arrays, expected_arrays = arrays_of(derived), arrays_of(expected)
        assert arrays
        assert arrays.keys() == expected_arrays.keys()
        for path, array in arrays.items():
            other = expected_arrays[path]
            assert array.dtype == other.dtype, path
            if table_with_ties is not None and contains_orders(other, table_with_ties.T.shape):
                assert contains_orders(array, other.shape), path
                array, other = (
                    np.take_along_axis(table_with_ties.T, each, axis=1) for each in (array, other)
                )
            np.testing.assert_array_equal(array, other, err_msg=path, strict=True)


def test_all_classes_of_derived_data_are_tested():
    # Conditional evidence has other parameters for each set; see test_conditional.py. Cells are
    # computed when they are needed; see test_selection.py.
    every = derived_classes() - {ConditionalEvidence, KeptCells}
    assert {need.kind for need in needs_of_all_measures()} == every


class TestFormerNames:
    """The names of the first release still work, with a warning."""

    @pytest.mark.parametrize("former", sorted(RENAMED))
    def test_a_former_name_warns(self, former):
        measure = covary.Spearman()
        with pytest.warns(DeprecationWarning, match=f"{former} of a measure is now"):
            found = getattr(measure, former)
        if former not in ("evidence_set", "make_ready"):
            assert found == getattr(measure, RENAMED[former])

    def test_former_methods_return_the_same(self, smooth):
        measure = covary.UDSChance()
        prepared = prepare(smooth)
        with pytest.warns(DeprecationWarning, match="is now score_set"):
            explained = measure.score_target(prepared, [0, 1], 2)
        assert explained == measure.score_set(prepared, [0, 1], 2)
        with pytest.warns(DeprecationWarning, match="is now evidence_sets"):
            evidence = measure.evidence_set(prepared, [0, 1])
        assert evidence == measure.evidence_sets(prepared, [[0, 1]])[0]
        with pytest.warns(DeprecationWarning, match="is now needs"):
            measure.make_ready(prepared)

    def test_other_names_are_attribute_errors(self):
        for name in ("nothing", "of_pair"):
            with pytest.raises(AttributeError, match=f"'UDS' object has no attribute '{name}'"):
                getattr(covary.UDS(), name)

    def test_a_definition_under_a_former_name_is_an_error(self):
        with pytest.raises(TypeError, match="Mine defines most_columns, which is now max_columns"):
            type("Mine", (Measure,), {"most_columns": 2})
