"""The correlation that has the same explained fraction as a score."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import covary
from covary.correlation_scale import like_correlation, reading


@pytest.mark.parametrize("r", [0.3, 0.6, 0.9])
def test_a_normal_pair_reads_as_its_correlation(r):
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 40_000))
    table = np.column_stack([x, r * x + np.sqrt(1 - r * r) * noise])
    assert like_correlation(covary.score(table)) == pytest.approx(r, abs=0.015)


def test_the_scale_rises_from_0_to_1():
    values = [like_correlation(fraction) for fraction in np.linspace(0, 1, 101)]
    assert values[0] == 0.0
    assert values[-1] == 1.0
    assert all(a < b for a, b in itertools.pairwise(values))


def test_it_is_a_sentence():
    assert reading(0.0) == "like a correlation of 0.00"
