"""How to read a score: the correlation of two normal columns with the same explained fraction."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from covary.array_types import Floats
from covary.formatting import fraction_text

# The measure whose scores are explained fractions of this kind.
CORRELATION_SCALE_OF = "uds-chance"


def like_correlation(explained: float) -> float:
    """Return the correlation of two normal columns, one of which explains this fraction.

    For normal columns with correlation r, the conditional distribution function of the ranks of
    one column is Phi((z - r x) / sqrt(1 - r^2)). Its mean entropy of the side of every threshold,
    divided by that without the condition (1/2), is the fraction that is not explained.

    Examples
    --------
    >>> [round(like_correlation(fraction), 2) for fraction in (0.0, 0.045, 0.28, 0.56, 1.0)]
    [0.0, 0.3, 0.7, 0.9, 1.0]

    """
    correlations, fractions = _scale()
    return float(np.interp(explained, fractions, correlations))


def reading(explained: float) -> str:
    """Return how to read a score: the correlation that has the same explained fraction.

    Examples
    --------
    >>> reading(0.32)
    'like a correlation of 0.74'

    """
    return f"like a correlation of {fraction_text(like_correlation(explained))}"


@lru_cache(maxsize=1)
def _scale() -> tuple[Floats, Floats]:
    """Return correlations from 0 to 1, and the explained fraction of each."""
    # Equal steps of the angle are fine near 1, where the fraction changes fast.
    correlations = np.sin(np.linspace(0.0, np.pi / 2, 181))
    fractions = np.array([0.0, *(_explained_by_normal(r) for r in correlations[1:-1]), 1.0])
    return correlations, fractions


def _explained_by_normal(r: float) -> float:
    """Return the explained fraction of one of two normal columns with correlation r > 0.

    The thresholds z are integrated on a grid that moves with the mean r x of the condition.
    """
    x, of_x = _normal_nodes()
    t, entropies = _thresholds()
    spread = np.sqrt(1.0 - r * r)
    z = r * x[:, None] + spread * t[None, :]
    densities = np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
    # The integrand vanishes at both ends, so that the trapezoidal rule is a plain sum.
    conditional = (entropies * densities).sum(axis=1) * spread * (t[1] - t[0])
    return float(1.0 - 2.0 * np.sum(of_x * conditional))


@lru_cache(maxsize=1)
def _thresholds() -> tuple[Floats, Floats]:
    """Return thresholds of a standard normal variable, and the entropy of the side of each."""
    t = np.linspace(-8.5, 8.5, 401)
    return t, _side_entropy(t)


@lru_cache(maxsize=1)
def _normal_nodes() -> tuple[Floats, Floats]:
    """Return points of a standard normal variable and their weights, which add up to 1."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    return nodes, weights / weights.sum()


def _side_entropy(t: Floats) -> Floats:
    """Return the entropy, in nats, of whether a standard normal variable is below t."""
    below = np.array([0.5 * (1.0 + math.erf(each / math.sqrt(2.0))) for each in t])
    inner = np.clip(below, 1e-300, 1.0 - 1e-16)
    return np.asarray(-inner * np.log(inner) - (1.0 - inner) * np.log1p(-inner))
