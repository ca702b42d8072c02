"""When enough permutations have been seen.

After n permutations, s of them at least as high as what was observed, permuting stops if it is
clear on which side of the level the p-value lies: boundaries for s are such that, if the p-value
was exactly the level, either would ever be reached with a chance of at most `RISK` (Gandy,
Sequential implementation of Monte Carlo tests with uniformly bounded resampling risk, JASA 2009).

The p-value that is reported takes the stopping into account and is valid exactly: under the null
hypothesis it is at most a with a chance of at most a, for every a. For if what was observed is
one of exchangeable values, s after n permutations has a known distribution, whatever the statistic
(Polya's urn), and so has the place where permuting stops, as by Fay, Kim and Hachey (On using
truncated sequential probability ratio test boundaries for Monte Carlo implementation of
hypothesis tests, JCGS 2007). The most extreme place is the lower boundary, the earlier the more
so; then comes the last permutation, by count; then the upper boundary, from the end.
"""

from __future__ import annotations

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
# While their number doubles, it is looked at about so many times whether to stop.
LOOKS = 100


class Stopping:
    """Tells when to stop, and what the p-value is then.

    Parameters
    ----------
    most : permutations
    level : permuting stops when it is clear that the p-value is above it
    go_on : whether to go on, to the last, when it is clear that the p-value is below it

    Attributes
    ----------
    lower, upper : by number of permutations, from 0: the counts at or beyond which to stop
    pvalues : by number of permutations and count, where permuting may stop

    """

    def __init__(self, most: int, level: float, *, go_on: bool) -> None:
        self.most = most
        self.level = level
        self.go_on = go_on
        self.lower = [-1]
        self.upper = [1]
        self.pvalues: dict[tuple[int, int], float] = {}
        # Of each count, from the first, that permuting has not stopped at so far: how likely it
        # is if the p-value is the level, and under the null hypothesis.
        self._first = 0
        self._at_level = np.ones(1)
        self._at_null = np.ones(1)
        self._risk_below = self._risk_above = 0.0
        self._stopped_below = self._stopped_above = 0.0

    def stops(self, counts: Counts) -> int | None:
        """Return after how many permutations to stop, or None if there have to be more.

        Parameters
        ----------
        counts : after each permutation, how many were at least as high as what was observed

        """
        while len(self.lower) <= counts.size:
            self._next()
        lower, upper = np.array(self.lower[1:]), np.array(self.upper[1:])
        over = (counts <= lower[: counts.size]) | (counts >= upper[: counts.size])
        if over.any():
            return int(np.argmax(over)) + 1
        return counts.size if counts.size == self.most else None

    def pvalue(self, n: int, count: int) -> float:
        """Return the p-value if permuting stopped after n permutations with this count."""
        return self.pvalues[n, count]

    def _next(self) -> None:
        """Work out the boundaries after one permutation more."""
        n = len(self.lower)
        self._at_level = _step(self._at_level, self.level)
        counts = self._first + np.arange(self._at_null.size, dtype=np.float64)
        self._at_null = _step(self._at_null, (counts + 1.0) / (n + 1.0))
        n_below, n_kept = self._beyond(n)
        below, above = self._at_null[:n_below], self._at_null[n_kept:]
        self._name(n, 0, self._stopped_below + np.cumsum(below))
        self._stopped_below += float(below.sum())
        self._stopped_above += float(above.sum())
        self._name(n, n_kept, 1.0 - self._stopped_above + np.cumsum(above))
        self.lower.append(self._first + n_below - 1)
        self.upper.append(self._first + n_kept)
        self._first += n_below
        self._at_level = self._at_level[n_below:n_kept]
        self._at_null = self._at_null[n_below:n_kept]
        if n == self.most:
            self._name(n, 0, self._stopped_below + np.cumsum(self._at_null))

    def _beyond(self, n: int) -> tuple[int, int]:
        """Return how many counts are on or below the lower boundary, and below the upper."""
        if n < FEWEST or n % max(1, n // LOOKS):
            return 0, self._at_level.size
        allowed = RISK * n / (HALF_SPENT + n)
        below = self._risk_below + np.cumsum(self._at_level)
        above = self._risk_above + np.cumsum(self._at_level[::-1])[::-1]
        n_below = 0 if self.go_on else int(np.count_nonzero(below <= allowed))
        n_kept = int(np.count_nonzero(above > allowed))
        self._risk_below += float(self._at_level[:n_below].sum())
        self._risk_above += float(self._at_level[n_kept:].sum())
        return n_below, n_kept

    def _name(self, n: int, first: int, pvalues: Floats) -> None:
        for at, pvalue in enumerate(pvalues.tolist(), start=self._first + first):
            # Rounding must not put 1/20 above 0.05.
            whole = round(pvalue * (n + 1))
            near = abs(pvalue * (n + 1) - whole) < 1e-12 * (whole + 1)
            self.pvalues[n, at] = min(whole / (n + 1) if near else pvalue, 1.0)


def _step(chances: Floats, more: float | Floats) -> Floats:
    """Return how likely counts are after one permutation more, which adds one or nothing."""
    up = chances * more
    after: Floats = np.append(chances - up, 0.0)
    after[1:] += up
    return after
