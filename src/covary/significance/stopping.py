"""When enough permutations have been seen.

After n permutations, s of them at least as high as what was observed, permuting stops if it is
clear on which side of the level the p-value lies: boundaries for s are such that, if the p-value
was exactly the level, either would ever be reached with a chance of at most `RISK` (Gandy,
Sequential implementation of Monte Carlo tests with uniformly bounded resampling risk, JASA 2009).

The p-value that is reported takes the stopping into account and is valid exactly: under the null
hypothesis it is at most a with a chance of at most a, for every a. For if what was observed is
one of exchangeable values, s after n permutations has a known distribution, whatever the statistic
(Polya's urn), and so has the place where permuting stops; places are ranked by (s + 1) / (n + 1),
as by Fay, Kim and Hachey (On using truncated sequential probability ratio test boundaries for
Monte Carlo implementation of hypothesis tests, JCGS 2007).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LEVEL = 0.05
# The chance of ever deciding against what endlessly many permutations would say, on either side.
RISK = 0.001
# Half of the risk is spent in the first so many permutations.
HALF_SPENT = 1000
# Fewer would be enough to give up a hopeless set, but its p-value would be all too rough.
FEWEST = 32


class Stopping(NamedTuple):
    """When to stop, at most after the last permutation.

    Parameters
    ----------
    lower, upper : by number of permutations, from 0: the counts at or beyond which to stop
    pvalues : by number of permutations and count, where permuting may stop
    """

    lower: Counts
    upper: Counts
    pvalues: dict[tuple[int, int], float]

    def stops(self, counts: Counts) -> int | None:
        """Return after how many permutations to stop, or None if there have to be more.

        Parameters
        ----------
        counts : after each permutation, how many were at least as high as what was observed

        """
        n = np.arange(1, counts.size + 1)
        over = np.flatnonzero((counts <= self.lower[n]) | (counts >= self.upper[n]))
        if over.size > 0:
            return int(over[0]) + 1
        return counts.size if counts.size == self.lower.size - 1 else None

    def pvalue(self, n: int, count: int) -> float:
        """Return the p-value if permuting stopped after n permutations with this count."""
        return self.pvalues[n, count]


@lru_cache(maxsize=8)
def stopping(most: int, level: float, go_on: bool) -> Stopping:
    """Return when to stop.

    Parameters
    ----------
    most : permutations
    level : permuting stops when it is clear that the p-value is above it
    go_on : whether to go on, to the last, when it is clear that the p-value is below it
    """
    lower, upper = _boundaries(most, level, go_on)
    places, chances = _where_it_ends(lower, upper)
    ranks = np.array([(s + 1) / (n + 1) for n, s in places])
    order = np.argsort(ranks, kind="stable")
    # Places of equal rank count together.
    last = np.searchsorted(ranks[order], ranks[order] * (1 + 1e-12), side="right") - 1
    pvalues = np.minimum(np.cumsum(chances[order])[last], 1.0)
    named = {places[at]: p for at, p in zip(order.tolist(), pvalues.tolist(), strict=True)}
    return Stopping(lower, upper, named)


def _boundaries(most: int, level: float, go_on: bool) -> tuple[Counts, Counts]:
    lower = np.full(most + 1, -1)
    upper = np.arange(most + 1) + 1
    chances = np.ones(1)  # of each count from ``first`` on, if the p-value is the level
    first = 0
    spent_below = spent_above = 0.0
    for n in range(1, most + 1):
        chances = np.append(chances, 0.0) * (1.0 - level) + np.append(0.0, chances) * level
        if n < FEWEST:
            continue
        allowed = RISK * n / (HALF_SPENT + n)
        above = np.cumsum(chances[::-1])[::-1]
        n_kept = int(np.count_nonzero(spent_above + above > allowed))
        n_below = 0
        if not go_on:
            below = np.cumsum(chances)
            n_below = int(np.count_nonzero(spent_below + below <= allowed))
        spent_above += float(chances[n_kept:].sum())
        spent_below += float(chances[:n_below].sum())
        upper[n] = first + n_kept
        lower[n] = first + n_below - 1
        chances = chances[n_below:n_kept]
        first += n_below
    return lower, upper


def _where_it_ends(lower: Counts, upper: Counts) -> tuple[list[tuple[int, int]], Floats]:
    """Return where permuting may stop, and how likely each place is under the null hypothesis."""
    places: list[tuple[int, int]] = []
    ends: list[Floats] = []
    chances = np.ones(1)
    counts = np.zeros(1, np.int64)
    most = lower.size - 1
    for n in range(1, most + 1):
        more = (counts + 1.0) / (n + 1.0)
        chances = np.append(chances * (1.0 - more), 0.0) + np.append(0.0, chances * more)
        counts = np.arange(counts[0], counts[0] + counts.size + 1)
        stops = (counts <= lower[n]) | (counts >= upper[n]) | (n == most)
        places += [(n, count) for count in counts[stops].tolist()]
        ends.append(chances[stops])
        chances, counts = chances[~stops], counts[~stops]
        if counts.size == 0:
            break
    return places, np.concatenate(ends)
