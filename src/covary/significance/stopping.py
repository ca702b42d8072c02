"""When a permutation test can stop early, and its p-value then.

After n permutations, s of them with a statistic at least as large as the observed one, the test
stops if it is clear on which side of the level the p-value lies. The boundaries for s are such
that, if the p-value were exactly the level, each of them would ever be reached with probability at
most `RISK` (Gandy, Sequential implementation of Monte Carlo tests with uniformly bounded
resampling risk, JASA 2009).

The reported p-value takes early stopping into account and is exactly valid: under the null
hypothesis it is at most a with probability at most a, for every a. If the observed value is one of
exchangeable values, s after n permutations has a known distribution (Polya's urn), independent of
the statistic. So has the point at which the test stops (Fay, Kim and Hachey, On using truncated
sequential probability ratio test boundaries for Monte Carlo implementation of hypothesis tests,
JCGS 2007). Points on the lower boundary are the most extreme, earlier ones more so. Then come the
points after the last permutation, by count. Points on the upper boundary, from the end, are the
least extreme.
"""

from __future__ import annotations

import numpy as np

from covary.array_types import Floats, Integers

LEVEL = 0.05
# The probability, on either side, of a decision that infinitely many permutations would reverse.
RISK = 0.001
# Half of the risk is spent within this many permutations.
HALF_SPENT = 1000
# Fewer permutations could reject a set, but would give a rough p-value.
MIN_PERMUTATIONS = 32
# The number of times the test may stop while the number of permutations doubles.
STOPS_PER_DOUBLING = 100


class Stopping:
    """The stopping rule and the p-values at the points where the test may stop.

    Parameters
    ----------
    maximum : the maximum number of permutations
    level : the test stops when it is clear that the p-value is above this level
    continue_below : whether the test continues when it is clear that the p-value is below it

    Attributes
    ----------
    lower, upper : after n permutations, the test stops if the count is at most ``lower[n]`` or at
        least ``upper[n]``
    pvalues : by number of permutations and count, the p-value if the test stops there
    """

    def __init__(self, maximum: int, level: float, *, continue_below: bool) -> None:
        self.maximum = maximum
        self.level = level
        self.continue_below = continue_below
        self.lower = [-1]
        self.upper = [1]
        self.pvalues: dict[tuple[int, int], float] = {}
        # The probability of each count at which the test has not stopped, from the first: if the
        # p-value is the level, and under the null hypothesis.
        self._first = 0
        self._at_level = np.ones(1)
        self._at_null = np.ones(1)
        self._risk_below = self._risk_above = 0.0
        self._stopped_below = self._stopped_above = 0.0

    def stops(self, counts: Integers) -> int | None:
        """Return the number of permutations after which to stop, or None if more are needed.

        Parameters
        ----------
        counts : after each permutation, the number of values at least as large as the observed
        """
        while len(self.lower) <= counts.size:
            self._next()
        lower, upper = np.array(self.lower[1:]), np.array(self.upper[1:])
        outside = (counts <= lower[: counts.size]) | (counts >= upper[: counts.size])
        if outside.any():
            return int(np.argmax(outside)) + 1
        return counts.size if counts.size == self.maximum else None

    def pvalue(self, n: int, count: int) -> float:
        """Return the p-value if the test stopped after n permutations with this count."""
        return self.pvalues[n, count]

    def _next(self) -> None:
        """Compute the boundaries after one more permutation."""
        n = len(self.lower)
        self._at_level = _step(self._at_level, self.level)
        counts = self._first + np.arange(self._at_null.size, dtype=np.float64)
        self._at_null = _step(self._at_null, (counts + 1.0) / (n + 1.0))
        n_below, n_kept = self._beyond(n)
        below, above = self._at_null[:n_below], self._at_null[n_kept:]
        self._record(n, 0, self._stopped_below + np.cumsum(below))
        self._stopped_below += float(below.sum())
        self._stopped_above += float(above.sum())
        self._record(n, n_kept, 1.0 - self._stopped_above + np.cumsum(above))
        self.lower.append(self._first + n_below - 1)
        self.upper.append(self._first + n_kept)
        self._first += n_below
        self._at_level = self._at_level[n_below:n_kept]
        self._at_null = self._at_null[n_below:n_kept]
        if n == self.maximum:
            self._record(n, 0, self._stopped_below + np.cumsum(self._at_null))

    def _beyond(self, n: int) -> tuple[int, int]:
        """Return the number of counts at or below the lower boundary, and below the upper one."""
        if n < MIN_PERMUTATIONS or n % max(1, n // STOPS_PER_DOUBLING):
            return 0, self._at_level.size
        allowed = RISK * n / (HALF_SPENT + n)
        below = self._risk_below + np.cumsum(self._at_level)
        above = self._risk_above + np.cumsum(self._at_level[::-1])[::-1]
        n_below = 0 if self.continue_below else int(np.count_nonzero(below <= allowed))
        n_kept = int(np.count_nonzero(above > allowed))
        self._risk_below += float(self._at_level[:n_below].sum())
        self._risk_above += float(self._at_level[n_kept:].sum())
        return n_below, n_kept

    def _record(self, n: int, first: int, pvalues: Floats) -> None:
        for at, pvalue in enumerate(pvalues.tolist(), start=self._first + first):
            # Rounding must not put 1/20 above 0.05.
            whole = round(pvalue * (n + 1))
            near = abs(pvalue * (n + 1) - whole) < 1e-12 * (whole + 1)
            self.pvalues[n, at] = min(whole / (n + 1) if near else pvalue, 1.0)


def _step(probabilities: Floats, increase: float | Floats) -> Floats:
    """Return the probabilities of counts after one more permutation, which adds 1 or 0."""
    up = probabilities * increase
    after: Floats = np.append(probabilities - up, 0.0)
    after[1:] += up
    return after
