"""Every registered measure, present and future."""

from __future__ import annotations

import json

import numpy as np
import pytest

import covary
from covary.engines import Threads
from covary.errors import ParameterError
from covary.measures import all_measures, find_measure
from covary.prepare import prepare

NAMES = sorted(all_measures())


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(4)
    x = rng.normal(size=200)
    return np.column_stack([x, x**2 + 0.1 * rng.normal(size=200), np.round(x), rng.random(200)])


def test_the_names_that_programs_rely_on_are_there():
    assert {"uds", "uds-unregularized"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
class TestEveryMeasure:
    def test_gives_a_float_in_its_range(self, name, table):
        score = covary.score(table, measure=name)
        assert isinstance(score, float)
        assert 0.0 <= score <= 1.0

    def test_gives_the_same_bits_twice(self, name, table):
        assert covary.score(table, measure=name) == covary.score(table, measure=name)

    def test_sees_a_strong_pair_above_an_independent_one(self, name, table):
        pair = covary.score(table, ["x0", "x1"], measure=name)
        assert pair > covary.score(table, ["x0", "x3"], measure=name)

    @pytest.mark.parametrize("remember", [0, 1, 2, 100])
    def test_scores_many_sets_as_it_scores_each(self, name, table, remember):
        measure = find_measure(name)
        ready = prepare(table)
        scorer = measure.scorer(ready)
        for sets in ([(0, 1), (0, 2)], [(1, 3)], [(0, 1, 2), (1, 2, 3)], [(0, 1, 2, 3)]):
            scores = {}
            with Threads(2).session(scorer.shared) as session:
                for which, found in scorer.score(np.array(sets, np.int32), session.run, remember):
                    scores.update(zip(which.tolist(), found.tolist(), strict=True))
            one_by_one = [measure.score_set(ready, columns) for columns in sets]
            assert [scores[at] for at in range(len(sets))] == one_by_one

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

    def test_takes_gaps_ties_and_constants(self, name, table):
        rng = np.random.default_rng(0)
        holes = np.column_stack([table, np.ones(200), rng.integers(0, 3, 200)])
        holes[rng.random(holes.shape) < 0.1] = np.nan
        assert 0.0 <= covary.score(holes, measure=name) <= 1.0


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
