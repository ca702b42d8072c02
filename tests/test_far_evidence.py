"""Sets whose evidence is far above their null distribution use fewer permutations."""

from __future__ import annotations

import numpy as np
import pytest

import covary
from covary.significance import permutation
from covary.significance.permutation import FAR_PERMUTATIONS, NullDistribution
from covary.significance.stopping import LEVEL, MIN_PERMUTATIONS, Stopping

MAXIMUM = 999


def run_on(values):
    """Return a function that runs tasks: line by line the evidence of each permutation."""

    def run(task, items):
        for at, (number, sets) in enumerate(items):
            yield at, values[None, number, list(sets)]

    return run


def permuted(observed, values, *, skips_far, on_progress=None):
    stopping = Stopping(MAXIMUM, LEVEL, continue_below=True)
    null = NullDistribution(observed, MAXIMUM, stopping, skips_far=skips_far)
    null.grow(run_on(values), on_progress=on_progress)
    return null


def drawn(kind, shape, rng):
    """Return statistics with a light, a Gamma and a heavier tail."""
    draw = {
        "normal": lambda: rng.normal(size=shape),
        "gamma": lambda: rng.gamma(0.7, size=shape),
        "lognormal": lambda: np.exp(0.5 * rng.normal(size=shape)),
    }
    return draw[kind]()


@pytest.mark.parametrize("kind", ["normal", "gamma", "lognormal"])
def test_pvalues_under_the_null_hypothesis_are_uniform(kind):
    rng = np.random.default_rng(5)
    n_sets = 20_000
    everything = drawn(kind, (MAXIMUM + 1, n_sets), rng)
    null = permuted(everything[0], everything[1:], skips_far=True)
    full = permuted(everything[0], everything[1:], skips_far=False)
    pvalues, expected = (
        np.array([each.result(at).pvalue for at in range(n_sets)]) for each in (null, full)
    )
    for level in (0.001, 0.005, 0.01, 0.05, 0.2):
        share = np.mean(pvalues <= level)
        noise = np.sqrt(level * (1 - level) / n_sets)
        assert abs(share - level) < 4 * noise + 1e-4, level
    assert np.count_nonzero(pvalues != expected) <= 1, "even a wrong tail decides almost nothing"


def test_strong_sets_have_the_pvalue_of_all_permutations_after_few_of_them():
    rng = np.random.default_rng(0)
    values = rng.gamma(2.0, size=(MAXIMUM, 300))
    observed = np.where(np.arange(300) < 100, 25.0, rng.uniform(60, 90, 300))
    null, full = (permuted(observed, values, skips_far=skips) for skips in (True, False))
    results = [null.result(at) for at in range(300)]
    assert [each.pvalue for each in results] == [full.result(at).pvalue for at in range(300)]
    assert {each.pvalue for each in results} == {1 / (1 + MAXIMUM)}
    used = [each.null.size for each in results]
    assert used[:100].count(FAR_PERMUTATIONS) >= 90, "the tail of some permutations seems heavier"
    assert set(used[:100]) <= {FAR_PERMUTATIONS, MAXIMUM}
    assert set(used[100:]) == {MIN_PERMUTATIONS}
    assert null.n_values == sum(used)


def test_a_set_that_is_not_far_uses_all_permutations():
    """Its smallest p-value is likely, but not certain."""
    rng = np.random.default_rng(0)
    values = rng.gamma(2.0, size=(MAXIMUM, 50))
    observed = np.full(50, 9.0)  # p = 0.0012
    null, full = (permuted(observed, values, skips_far=skips) for skips in (True, False))
    assert all(null.result(at).null.size == MAXIMUM for at in range(50))
    assert [null.result(at).pvalue for at in range(50)] == [
        full.result(at).pvalue for at in range(50)
    ]


def test_equal_permutations_never_stop():
    null = permuted(np.ones(2), np.zeros((MAXIMUM, 2)), skips_far=True)
    assert null.result(0).null.size == MAXIMUM, "no tail can be fitted"


def test_progress_announces_the_work_that_is_done():
    rng = np.random.default_rng(1)
    values = rng.gamma(2.0, size=(MAXIMUM, 100))
    # Strong sets, some with weaker evidence, and some without.
    observed = np.repeat([60.0, 25.0, 2.0], [70, 20, 10])
    reports = []
    null = permuted(observed, values, skips_far=True, on_progress=lambda *r: reports.append(r))
    assert reports[-1][0] == null.n_values == reports[-1][1]
    # The first estimate knows nothing of the sets. All later ones do.
    totals = [total for done, total in reports if done > 100 * MIN_PERMUTATIONS]
    assert max(totals) <= 1.5 * null.n_values
    assert min(totals) >= null.n_values / 1.5
    assert null.n_values < 100 * MAXIMUM / 10


@pytest.mark.parametrize("target", [None, "x0"])
def test_a_search_gives_the_pvalues_of_all_permutations(target, monkeypatch):
    rng = np.random.default_rng(2)
    cells = rng.normal(size=(150, 5))
    cells[:, 1] = cells[:, 0] + 0.3 * cells[:, 1]
    options = {"permutations": 299, "max_size": 3, "target": target}
    few = covary.search(cells, **options)
    monkeypatch.setattr(permutation, "FAR_FRACTION", 0.0)
    monkeypatch.setattr(permutation, "VERY_FAR_DEVIATIONS", np.inf)
    every = covary.search(cells, **options)
    assert [each.pvalue for each in few] == [each.pvalue for each in every]
    assert few[0].pvalue == 1 / 300
    assert max(each.pvalue for each in few) > 0.1, "sets without evidence are compared, too"
