"""Permutation tests of one set of columns, or of many on the same permuted tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from covary.measures import Measure
from covary.prepare import Prepared
from covary.significance.arrangements import Moves
from covary.significance.stopping import FEWEST, Stopping

Floats = npt.NDArray[np.float64]
Run = Callable[[Callable[[Any, Any], Any], Any], Any]

# Values that are closer than this, relatively, are equal: rounding must not decide.
EQUAL = 1e-9


def at_least(null: Floats, observed: Any) -> npt.NDArray[np.bool_]:
    """Return which values are at least as high as what was observed, but for rounding."""
    return np.asarray(null >= observed - EQUAL * np.maximum(np.abs(observed), 1.0))


class Arrangements(Protocol):
    """Ways to move the values of columns, by number."""

    def moves(self, number: int) -> Moves:
        """Return where the values of each row go."""


class Job(NamedTuple):
    """What every task needs.

    Parameters
    ----------
    target : the column that is tested against the others, in all sets; or None, if all columns of
        a set are tested for independence of each other
    """

    measure: Measure
    prepared: Prepared
    sets: tuple[tuple[int, ...], ...]
    target: int | None
    arrangements: Arrangements

    def observed(self) -> Floats:
        """Return the evidence of the sets as they are."""
        return self.measure.evidence_sets(self.prepared, self.sets, self.target)


class Permutation(NamedTuple):
    """One permuted table, and which sets are looked at in it."""

    number: int
    live: tuple[int, ...]


def evidence_permuted(job: Job, permutations: Sequence[Permutation]) -> Floats:
    """Return the evidence of the sets that are looked at, one line per permutation: a task."""
    sets = [job.sets[at] for at in permutations[0].live]
    moves = [job.arrangements.moves(each.number) for each in permutations]
    return job.measure.evidence_moved(job.prepared, sets, moves, job.target)


class Tested(NamedTuple):
    """The p-value of a set, its evidence, and that of the permutations that it comes from."""

    pvalue: float
    observed: float
    null: Floats


class Null:
    """The evidence of sets on permuted tables, computed as long as it has something to tell.

    Parameters
    ----------
    observed : the evidence of each set
    most : permutations
    stopping : when to stop before; None to stop at the last
    known : the first permutations that were computed before, NaN where not; one line each
    """

    def __init__(
        self,
        observed: Floats,
        most: int,
        stopping: Stopping | None = None,
        known: Floats | None = None,
    ) -> None:
        self.observed = observed
        self.most = most
        self.stopping = stopping
        self.values = np.empty((0, observed.size)) if known is None else known
        self.ends: list[int | None] = [None if most > 0 else 0] * observed.size
        self.looked = 0  # so many permutations have been looked at
        self.computed = 0  # so many values are known: some for each permutation

    @property
    def live(self) -> tuple[int, ...]:
        """The sets that need more permutations."""
        return tuple(at for at, end in enumerate(self.ends) if end is None)

    def grow(
        self,
        run: Run,
        save: Callable[[list[int], tuple[int, ...], Floats], None] | None = None,
        tell: Callable[[int, int], None] | None = None,
    ) -> None:
        """Permute until every set has seen enough.

        Parameters
        ----------
        run : an engine's, with a `Job` as what is shared
        save : told the numbers of permutations, the sets, and their evidence
        tell : told how many permutations of sets are done, of how many at most

        """
        while self.live and self.looked < self.most:
            last = self.most
            if self.stopping is not None:
                last = min(last, max(2 * self.looked, FEWEST))
            self._compute(last, run, save, tell)
            self.looked = last
            for at in self.live:
                self.ends[at] = self._end(at)

    def _compute(self, last: int, run: Run, save: Any, tell: Any) -> None:
        live = self.live
        more = np.full((max(last - len(self.values), 0), self.observed.size), np.nan)
        self.values = np.concatenate([self.values, more])
        block = self.values[self.looked : last, live]
        missing = (np.flatnonzero(np.isnan(block).any(axis=1)) + self.looked).tolist()
        items = [Permutation(number, live) for number in missing]
        at_most = self.computed + len(live) * (self.most - self.looked)
        self.computed += len(live) * (last - self.looked - len(items))
        for first, lines in run(evidence_permuted, items):
            numbers = missing[first : first + len(lines)]
            self.values[np.ix_(numbers, live)] = lines
            self.computed += lines.size
            if save is not None:
                save(numbers, live, lines)
            if tell is not None:
                tell(self.computed, at_most)

    def _end(self, at: int) -> int | None:
        """Return after how many permutations a set has seen enough, or None."""
        if self.stopping is None:
            return self.looked if self.looked == self.most else None
        return self.stopping.stops(np.cumsum(self._beaten(at, self.looked)))

    def _beaten(self, at: int, end: int) -> npt.NDArray[np.bool_]:
        return at_least(self.values[:end, at], self.observed[at])

    def tested(self, at: int) -> Tested | None:
        """Return the result of a set, a rough one if it needs more; None if nothing is known."""
        end = self.ends[at]
        looked = self.looked if end is None else end
        if looked == 0 and self.most > 0:
            return None
        count = int(self._beaten(at, looked).sum())
        null = self.values[:looked, at].copy()
        if self.stopping is None or end is None:
            pvalue = (1 + count) / (1 + looked)
        else:
            pvalue = self.stopping.pvalue(end, count)
        return Tested(pvalue, float(self.observed[at]), null)
