"""The null distribution of the evidence of sets that were not chosen in advance.

A search compares many sets and reports the best. Their p-values must account for this. Evidence is
drawn from shuffled tables, pooled over random sets of one size, and its tail is extrapolated. The
family-wise p-value of a set is the expected number of sets, of any size, that reach its evidence
if all columns were independent: an upper bound of the probability that any set does. Sets of
different sizes share the error rate equally.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from covary.array_types import Columns, Floats, Rows
from covary.engines import RunTasks
from covary.measures import Measure
from covary.measures.shared.content_order import order_one_by_content
from covary.prepare import Moves, Prepared
from covary.prepare.derived import keep_missing
from covary.runs import Codec
from covary.seeds import Purpose, random_stream
from covary.significance.nulls import present_rows

# Of larger tables, a sample of rows is used: the distribution hardly depends on their number.
MAX_ROWS = 4_000
# Each draw shuffles some columns and takes all sets of these: about this many.
SETS_PER_DRAW = 500
# The number of values that are drawn for each size: this many times the number of sets, within
# limits; and the limits of the number of draws.
VALUES_PER_SET = 20
N_VALUES = (2_000, 16_000)
DRAWS = (32, 400)
# With a target, only the target is shuffled, several times for the same sets.
SHUFFLES_OF_TARGET = 10
# The tail is fitted to this share of the values.
TAIL = 0.05
# Smaller probabilities are not reported, because the tail is too uncertain there.
SMALLEST = 1e-6


class Draw(NamedTuple):
    """A draw of evidence: the number of columns of the sets, and the number of the draw."""

    size: int
    number: int


class NullEvidence(NamedTuple):
    """What every task needs to draw evidence of random sets of shuffled columns.

    Parameters
    ----------
    measure, prepared : the measure, and the columns, of at most `MAX_ROWS` rows
    columns : the columns from which sets are built, without the target, ordered by content: the
        order decides which of them are drawn
    target : the column that all sets contain, if there is one
    seed : of the shuffles
    """

    measure: Measure
    prepared: Prepared
    columns: Columns
    target: int | None
    seed: int

    @classmethod
    def of(
        cls,
        measure: Measure,
        prepared: Prepared,
        columns: Sequence[int],
        target: int | None,
        seed: int,
    ) -> NullEvidence:
        """Return the task data; a sample of rows if there are many."""
        sample = _sample_rows(prepared, seed)
        sample.precompute(measure.evidence_needs())
        ordered = order_one_by_content(prepared, columns)
        return cls(measure, sample, tuple(ordered), target, seed)

    @property
    def n_fixed(self) -> int:
        """The number of columns that all sets contain."""
        return 0 if self.target is None else 1

    def n_sets(self, size: int) -> int:
        """Return the number of sets of a size."""
        return math.comb(len(self.columns), size - self.n_fixed)

    def draws(self, sizes: Sequence[int]) -> list[Draw]:
        """Return the draws for sets of these sizes."""
        found = []
        for size in sizes:
            values = math.comb(self._n_drawn(size), size - self.n_fixed) * self._n_shuffles
            wanted = np.clip(VALUES_PER_SET * self.n_sets(size), *N_VALUES)
            number = int(np.clip(math.ceil(wanted / values), *DRAWS))
            found += [Draw(size, at) for at in range(max(number // self._n_shuffles, 1))]
        return found

    @property
    def _n_shuffles(self) -> int:
        return 1 if self.target is None else SHUFFLES_OF_TARGET

    def _n_drawn(self, size: int) -> int:
        """Return the number of columns of a draw."""
        n, size = len(self.columns), size - self.n_fixed
        drawn = size
        while drawn < n and math.comb(drawn + 1, size) * self._n_shuffles <= SETS_PER_DRAW:
            drawn += 1
        return min(drawn, n)

    def draw(self, which: Draw) -> Floats:
        """Return the evidence of all sets of some shuffled columns."""
        rng = random_stream(self.seed, Purpose.NULL_SEARCHES, *which)
        n_drawn = self._n_drawn(which.size)
        which_columns = np.sort(rng.choice(len(self.columns), n_drawn, replace=False))
        chosen = [self.columns[at] for at in which_columns.tolist()]
        sets = [
            tuple(sorted((*some, *([] if self.target is None else [self.target]))))
            for some in combinations(chosen, which.size - self.n_fixed)
        ]
        moving = chosen[1:] if self.target is None else [self.target]
        moves: list[Moves] = [
            {column: self._shuffled(column, rng) for column in moving}
            for _ in range(self._n_shuffles)
        ]
        return self.measure.evidence_moved(self.prepared, sets, moves, self.target).ravel()

    def _shuffled(self, column: int, rng: np.random.Generator) -> Rows:
        """Return a random permutation; missing cells stay in their rows if they do not count."""
        prepared = self.prepared
        rows: Rows = rng.permutation(prepared.n_rows).astype(np.uint32)
        if prepared.has_missing(column) and self.measure.keeps_missing(prepared):
            rows = keep_missing(rows, present_rows(prepared, [column])[column])
        return rows


def _sample_rows(prepared: Prepared, seed: int) -> Prepared:
    """Return the same columns with a random sample of the rows, if there are many."""
    if prepared.n_rows <= MAX_ROWS:
        return prepared
    rng = random_stream(seed, Purpose.REFERENCE, 2)
    rows = np.sort(rng.choice(prepared.n_rows, MAX_ROWS, replace=False))
    table = prepared.table
    columns = tuple(replace(each, values=np.array(each.values)[rows]) for each in table.columns)
    return Prepared(replace(table, columns=columns, n_rows=rows.size))


def draw_evidence(null: NullEvidence, draws: Sequence[Draw]) -> list[Floats]:
    """Return the evidence of random sets of shuffled columns: a task."""
    return [null.draw(each) for each in draws]


# How a run file stores the result of a draw.
DRAWS_AS_NUMBERS = Codec(np.ravel, np.copy)


class Tail:
    """The upper tail of a sample: a generalised Pareto distribution above a quantile.

    Its shape is estimated by probability-weighted moments (Hosking and Wallis 1987), and is at
    least 0, that of an exponential tail. Below the quantile, the sample itself counts.

    Parameters
    ----------
    values : the sample
    """

    def __init__(self, values: Floats) -> None:
        self.values = np.sort(values)
        n = self.values.size
        k = min(max(int(TAIL * n), 1), n)
        self.start = float(self.values[n - k])
        excesses = self.values[n - k :] - self.start
        mean = float(excesses.mean())
        weights = (k - np.arange(1, k + 1) + 0.35) / k
        weighted = float(np.mean(weights * excesses))
        self.share = k / n
        self.shape, self.scale = 0.0, mean
        if mean > 2.0 * weighted > 0.0:
            shape = 2.0 - mean / (mean - 2.0 * weighted)
            if shape > 0.0:
                self.shape = min(shape, 1.0)
                self.scale = 2.0 * mean * weighted / (mean - 2.0 * weighted)

    def probability(self, value: float) -> float:
        """Return the probability of a value at least this large."""
        n = self.values.size
        count = n - int(np.searchsorted(self.values, value - 1e-9 * abs(value)))
        empirical = (1 + count) / (1 + n)
        if value <= self.start or self.scale <= 0.0:
            return empirical
        excess = (value - self.start) / self.scale
        if self.shape > 0.0:
            beyond = math.exp(-math.log1p(self.shape * excess) / self.shape)
        else:
            beyond = math.exp(-excess)
        return min(self.share * beyond, empirical)


class FamilyPvalues:
    """P-values of sets that account for all sets that a search compares.

    Parameters
    ----------
    null : the null distribution to draw from
    sizes : the sizes of all sets that are compared
    """

    def __init__(self, null: NullEvidence, sizes: Sequence[int]) -> None:
        self.null = null
        self.sizes = sorted(set(sizes))
        self.tails: dict[int, Tail] = {}

    def compute(self, sizes: Sequence[int], run: RunTasks) -> None:
        """Draw evidence of sets of some sizes; ``run`` needs a session with the null."""
        draws = self.null.draws(sizes)
        found: list[Floats] = [np.empty(0)] * len(draws)
        for first, some in run(draw_evidence, draws):
            found[first : first + len(some)] = some
        for size in sizes:
            values = [each for each, draw in zip(found, draws, strict=True) if draw.size == size]
            self.tails[size] = Tail(np.concatenate(values))

    @property
    def n_compared(self) -> int:
        """The number of all sets that are compared."""
        return sum(self.null.n_sets(size) for size in self.sizes)

    def single(self, size: int, evidence: float) -> float:
        """Return the p-value of one set that was chosen in advance."""
        return self.tails[size].probability(evidence)

    def expected(self, size: int, evidence: float) -> float:
        """Return the expected number of sets with such evidence, times the number of sizes."""
        return self.single(size, evidence) * self.null.n_sets(size) * len(self.sizes)


def family_pvalues(expected: Floats) -> Floats:
    """Return family-wise p-values from the expected numbers of false sets (Bonferroni)."""
    return np.clip(expected, SMALLEST, 1.0)


def false_discovery_rates(expected: Floats, counted: Sequence[bool] | None = None) -> Floats:
    """Return q-values: the expected share of false sets among those with at least this evidence.

    The procedure is that of Benjamini and Hochberg over all sets that were compared.

    Parameters
    ----------
    expected : for each reported set, the expected number of false sets with such evidence
    counted : which of the sets count as discoveries; all by default
    """
    counts = np.ones(expected.size, np.bool_) if counted is None else np.array(counted)
    order = np.argsort(expected, kind="stable")
    ranks = np.maximum(np.cumsum(counts[order]), 1)
    rates = np.minimum.accumulate((expected[order] / ranks)[::-1])[::-1]
    qvalues = np.empty(expected.size)
    qvalues[order] = rates
    return np.clip(qvalues, SMALLEST, 1.0)
