"""Every registered measure, present and future."""

from __future__ import annotations

import inspect
import json
import math
import re
import warnings

import numpy as np
import pytest

import covary
from covary.engines import Threads
from covary.errors import ParameterError
from covary.measures import all_measures, find_measure
from covary.prepare import prepare

NAMES = sorted(all_measures())
PAIRS_ONLY = {
    "distance-correlation",
    "hsic",
    "mutual-information",
    "pearson",
    "spearman",
    "xi",
}
SEEDED = {"hics", "mcde", "mutual-information", "total-correlation", "xi"}
NOT_1_IF_DETERMINED = {
    "cmi",
    "dhsic",
    "hics",
    "mutual-information",
    "quadratic",
    "total-correlation",
}
# What a measure does not promise: its documentation says so.
UNITS_MATTER = {"cmi", "dhsic", "hsic"}
COLUMN_ORDER_MATTERS = {"dhsic", "hsic"}
ROW_ORDER_MATTERS = {"cmi"}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(4)
    x = rng.normal(size=200)
    return np.column_stack([x, x**2 + 0.1 * rng.normal(size=200), np.round(x), rng.random(200)])


@pytest.fixture(scope="module")
def smooth():
    """A table without ties."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=150)
    return np.column_stack([x, x**2 + rng.normal(size=150), rng.exponential(size=150)])


def score(data, name, columns=None, **parameters):
    """The score; of all pairs together if the measure looks at pairs only."""
    if name in PAIRS_ONLY:
        parameters = {"aggregate": "mean", **parameters}
    return covary.score(data, columns, measure=name, **parameters)


def within_bounds(found, name):
    least, most = find_measure(name).bounds
    return isinstance(found, float) and least <= found <= most and math.isfinite(found)


def test_the_names_that_programs_rely_on_are_there():
    others = "uds uds-unregularized uds-chance cmi mac hics mcde total-correlation quadratic dhsic"
    assert {*others.split(), *PAIRS_ONLY} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
class TestEveryMeasure:
    def test_gives_a_float_in_its_range(self, name, table):
        assert within_bounds(score(table, name), name)

    def test_gives_the_same_bits_twice(self, name, table):
        assert score(table, name) == score(table, name)

    def test_takes_a_seed_where_chance_plays_a_part(self, name, smooth, table):
        assert ("seed" in all_measures()[name].parameters) == (name in SEEDED)
        if name in SEEDED:
            assert score(table, name, seed=1) == score(table, name, seed=1)
        if name in {"hics", "mcde"}:
            assert score(smooth, name, seed=1) != score(smooth, name, seed=2)

    @pytest.mark.parametrize("columns", [["x0", "x1"], ["x2", "x1"], ["x0", "x2"]])
    def test_units_do_not_matter_where_that_is_promised(self, name, smooth, columns):
        if name in UNITS_MATTER:
            pytest.skip("its documentation says that units matter")
        scaled = smooth * [1e6, 0.3, 2.0] + [5.0, -1.0, 1e3]
        expected = score(smooth, name, columns)
        assert score(scaled, name, columns) == pytest.approx(expected, rel=1e-6, abs=1e-9)

    def test_the_order_of_columns_does_not_matter_where_that_is_promised(self, name, smooth):
        if name in COLUMN_ORDER_MATTERS:
            pytest.skip("its documentation says that the first column is special")
        expected = score(smooth, name, ["x0", "x1", "x2"])
        for order in (["x2", "x0", "x1"], ["x1", "x0", "x2"], ["x2", "x1", "x0"]):
            assert score(smooth, name, order) == pytest.approx(expected, rel=1e-12, abs=1e-12)

    def test_the_order_of_rows_does_not_matter_where_that_is_promised(self, name, smooth):
        if name in ROW_ORDER_MATTERS:
            pytest.skip("its documentation says that the order of rows matters")
        shuffled = np.random.default_rng(0).permutation(smooth)
        expected = score(smooth, name)
        assert score(shuffled, name) == pytest.approx(expected, rel=1e-9, abs=1e-12)

    def test_sees_a_strong_pair_above_an_independent_one(self, name, table):
        pair = covary.score(table, ["x0", "x2"], measure=name)
        assert pair > covary.score(table, ["x2", "x3"], measure=name)

    def test_a_constant_depends_on_nothing(self, name, table):
        constant = np.column_stack([table[:, 0], np.full(200, 3.0)])
        assert score(constant, name) == 0.0
        assert score(np.full((50, 3), 2.0), name) == 0.0

    def test_takes_tiny_tables(self, name):
        rng = np.random.default_rng(0)
        for n_rows in (3, 4, 5, 7):
            for n_columns in (2, 3):
                few = rng.normal(size=(n_rows, n_columns))
                assert within_bounds(score(few, name), name)
                assert within_bounds(score(np.round(few), name), name)

    def test_takes_gaps_ties_and_constants(self, name, table):
        rng = np.random.default_rng(0)
        holes = np.column_stack([table, np.ones(200), rng.integers(0, 3, 200)])
        holes[rng.random(holes.shape) < 0.1] = np.nan
        assert within_bounds(score(holes, name), name)

    def test_takes_columns_that_are_never_present_together(self, name):
        rng = np.random.default_rng(0)
        apart = rng.normal(size=(60, 3))
        apart[:30, 0] = np.nan
        apart[30:, 1] = np.nan
        assert within_bounds(score(apart, name), name)
        apart[:, 2] = np.nan
        assert within_bounds(score(apart, name), name)

    def test_tells_when_it_leaves_out_rows(self, name, smooth):
        holes = smooth.copy()
        holes[3, 0] = holes[3, 1] = holes[7, 1] = np.nan
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            score(holes, name)
            covary.matrix(holes, measure=name)
        told = [str(w.message) for w in shown if "lack" in str(w.message)]
        measure = find_measure(name)
        assert len(told) == 2 * int(measure.leaves_out_rows)
        for message in told:
            assert f"'{name}' leaves out, set by set" in message
            assert "148 of 150 rows lack none" in message

    @pytest.mark.parametrize("remember", [0, 1, 2, 100])
    def test_scores_many_sets_as_it_scores_each(self, name, table, remember):
        measure = find_measure(name)
        ready = prepare(table)
        scorer = measure.scorer(ready)
        batches = [[(0, 1), (0, 2)], [(1, 3)], [(0, 1, 2), (1, 2, 3)], [(0, 1, 2, 3)]]
        for sets in batches[:2] if name in PAIRS_ONLY else batches:
            scores = {}
            with Threads(2).session(scorer.shared) as session:
                for which, found in scorer.score(np.array(sets, np.int32), session.run, remember):
                    scores.update(zip(which.tolist(), found.tolist(), strict=True))
            one_by_one = [measure.score_set(ready, columns) for columns in sets]
            assert [scores[at] for at in range(len(sets))] == one_by_one

    def test_moving_values_is_scoring_the_moved_table(self, name, smooth):
        measure = find_measure(name)
        rows = np.random.default_rng(0).permutation(len(smooth)).astype(np.uint32)
        moved = smooth.copy()
        moved[rows, 1] = smooth[:, 1]
        found = measure.score_set(prepare(smooth).moved({1: rows}), [0, 1])
        expected = covary.score(moved, ["x0", "x1"], measure=name)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)

    def test_serves_all_functions(self, name, table):
        frame = covary.matrix(table, measure=name)
        assert frame[0, 1] == frame[1, 0] == covary.score(table, ["x0", "x1"], measure=name)
        one = name not in NOT_1_IF_DETERMINED
        assert (np.diag(frame) == 1.0).all() if one else np.isnan(np.diag(frame)).all()
        found = covary.search(table, measure=name, max_size=2, permutations=19)
        assert len(found) == 6
        assert found[0].score == max(subspace.score for subspace in found)
        tested = covary.test(table, ["x0", "x2"], measure=name, permutations=39)
        assert tested.pvalue == 1 / 40

    def test_explains_or_says_that_it_cannot(self, name, table):
        measure = find_measure(name)
        if measure.explains:
            assert covary.explain(table, measure=name).measure == name
        else:
            with pytest.raises(ParameterError, match=f"'{name}' gives a score only"):
                covary.explain(table, ["x0", "x1"], measure=name)

    def test_documents_formula_reference_range_and_blind_spots(self, name, table):
        text = inspect.getdoc(all_measures()[name].cls)
        source = inspect.getmodule(all_measures()[name].cls).__doc__ + text
        assert re.search(r"blind", text, re.IGNORECASE)
        assert re.search(r"in \[|upper bound", text)
        assert re.search(r"(18|19|20)\d\d", source)

    def test_knows_its_name_and_its_parameters(self, name, table):
        measure = find_measure(name)
        assert measure.name == name
        entry = all_measures()[name]
        assert entry.summary
        assert find_measure(name, **entry.parameters) == measure
        json.dumps(entry.parameters)

    def test_refuses_a_parameter_it_does_not_have(self, name, table):
        with pytest.raises(ParameterError, match=f"measure '{name}' has no parameter 'nonsense'"):
            covary.score(table, measure=name, nonsense=1)


def test_an_unknown_measure_is_told_the_nearest():
    with pytest.raises(ParameterError, match=r"no measure 'usd'. Did you mean 'uds'\? The meas"):
        find_measure("usd")
    with pytest.raises(ParameterError, match="there is no measure '3'"):
        find_measure(3)


def test_a_misspelt_parameter_is_told_the_nearest():
    with pytest.raises(ParameterError, match=r"no parameter 'bta'.*Did you mean 'beta'\?"):
        find_measure("uds", bta=3)


def test_a_measure_object_takes_parameters_too():
    measure = covary.UDS(beta=5)
    assert find_measure(measure) is measure
    assert find_measure(measure, scale=None) == covary.UDS(beta=5, scale=None)
    with pytest.raises(ParameterError, match="no parameter 'alpha'"):
        find_measure(measure, alpha=1)


def test_measures_are_values():
    assert covary.UDS() == covary.UDS(beta=20)
    assert len({covary.UDS(), covary.UDS(beta=20), covary.UDS(beta=10)}) == 2
    with pytest.raises(AttributeError):
        covary.UDS().beta = 3
