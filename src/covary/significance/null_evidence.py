"""The null distribution of the evidence of sets that were not chosen in advance.

A search compares many sets and reports the best. Their p-values must account for this. Evidence is
drawn from shuffled tables, pooled over random sets of one size, and its tail is extrapolated. The
family-wise p-value of a set is the expected number of sets, of any size, that reach its evidence
if all columns were independent: an upper bound of the probability that any set does. Sets of
different sizes share the error rate equally.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
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
from covary.significance.nulls import exchanged, present_rows
from covary.significance.tails import Tail
from covary.significance.time_scales import EvidenceScales
from covary.table.dependent_rows import DependentRows, spaced_shift
from covary.tail_probability import SMALLEST_PVALUE

# Of larger tables, a sample of rows is used: the distribution hardly depends on their number, but
# it does depend on the number of rare cells, those without the most frequent value of a column.
# So the sample is larger, up to a limit, if it has fewer of them than this.
MAX_ROWS = 2_000
MAX_ROWS_IF_RARE = 20_000
LEAST_RARE_CELLS = 50
# Each draw shuffles some columns and takes all sets of these: about this many values.
SETS_PER_DRAW = 500
# The number of values that are drawn for each size: this many times the number of sets, within
# limits; and the limits of the number of draws.
VALUES_PER_SET = 20
N_VALUES = (2_000, 16_000)
DRAWS = (32, 400)
# With a target, only the target is shuffled, several times for the same sets.
SHUFFLES_OF_TARGET = 10
# The scales of the evidence of series are compared with the mean evidence of each pair over this
# many draws, unless there are more columns.
SCALE_DRAWS = 40
MAX_SCALED_COLUMNS = 64


class Draw(NamedTuple):
    """A draw of evidence: the number of columns of the sets, and the number of the draw."""

    size: int
    number: int


class NullEvidence(NamedTuple):
    """What every task needs to draw evidence of random sets of shuffled columns.

    Parameters
    ----------
    measure, prepared : the measure, and the columns, of a sample of the rows if there are many
    columns : the columns from which sets are built, without the target, ordered by content: the
        order decides which of them are drawn
    target : the column that all sets contain, if there is one
    seed : of the shuffles
    each_target : whether each column of three or more is the target once. Then a relation of some
        columns with another target counts as another set
    scales : the scales of the evidence, if rows are time series
    """

    measure: Measure
    prepared: Prepared
    columns: Columns
    target: int | None
    seed: int
    each_target: bool = False
    scales: EvidenceScales | None = None

    @classmethod
    def of(
        cls,
        measure: Measure,
        prepared: Prepared,
        columns: Sequence[int],
        target: int | None,
        seed: int,
        *,
        each_target: bool = False,
    ) -> NullEvidence:
        """Return the task data; a sample of rows if there are many."""
        used = [*columns, *([] if target is None else [target])]
        sample = _sample_rows(prepared, sampled_rows(prepared, used), seed)
        sample.precompute(measure.evidence_needs())
        ordered = order_one_by_content(prepared, columns)
        scales = EvidenceScales(sample)
        return cls(measure, sample, tuple(ordered), target, seed, each_target, scales)

    @property
    def n_fixed(self) -> int:
        """The number of columns that all sets contain."""
        return 0 if self.target is None else 1

    def n_sets(self, size: int) -> int:
        """Return the number of sets of a size."""
        return math.comb(len(self.columns), size - self.n_fixed) * self._n_targets(size)

    def _n_targets(self, size: int) -> int:
        """Return the number of targets of a set: 1 if the set has none or a fixed one."""
        return size if self.each_target and size > 2 else 1

    def draws(self, sizes: Sequence[int]) -> list[Draw]:
        """Return the draws for sets of these sizes."""
        found = []
        for size in sizes:
            values = self._n_sets_drawn(size) * self._n_shuffles * self._n_targets(size)
            least, most = N_VALUES
            most = max(least, most * MAX_ROWS // max(self.prepared.n_rows, MAX_ROWS))
            wanted = np.clip(VALUES_PER_SET * self.n_sets(size), least, most)
            number = np.clip(math.ceil(wanted / values), *DRAWS)
            found += [Draw(size, at) for at in range(int(number))]
        return found

    @property
    def _n_shuffles(self) -> int:
        return 1 if self.target is None else SHUFFLES_OF_TARGET

    def _n_sets_drawn(self, size: int) -> int:
        """Return the number of sets of a draw, on average."""
        n_drawn = self._n_drawn(size)
        if self.prepared.series is None or self.target is not None:
            return math.comb(n_drawn, size - self.n_fixed)
        # Each column of a set must be in another class. Of the sets of `size` from n ordered
        # columns, this is the share on average over all cuts.
        expected = math.comb(n_drawn + size - 1, 2 * size - 1) / math.comb(n_drawn - 1, size - 1)
        return max(int(expected), 1)

    def _n_drawn(self, size: int) -> int:
        """Return the number of columns of a draw."""
        n_values = self._n_shuffles * self._n_targets(size)
        n, size = len(self.columns), size - self.n_fixed
        drawn = size
        while drawn < n and math.comb(drawn + 1, size) * n_values <= SETS_PER_DRAW:
            drawn += 1
        return min(drawn, n)

    def draw(self, which: Draw) -> Floats:
        """Return the evidence of all sets of some shuffled columns."""
        rng = random_stream(self.seed, Purpose.NULL_SEARCHES, *which)
        n_drawn = self._n_drawn(which.size)
        which_columns = np.sort(rng.choice(len(self.columns), n_drawn, replace=False))
        chosen = [self.columns[at] for at in which_columns.tolist()]
        if self.prepared.series is not None:
            return self._draw_shifted(chosen, which.size, self.prepared.series, rng)
        sets = self._sets_of(chosen, which.size)
        moving = chosen[1:] if self.target is None else [self.target]
        moves: list[Moves] = [
            {column: self._shuffled(column, rng) for column in moving}
            for _ in range(self._n_shuffles)
        ]
        return self._evidence_of(
            sets,
            chosen,
            lambda some, target: self.measure.evidence_moved(self.prepared, some, moves, target),
        )

    def _sets_of(self, chosen: Sequence[int], size: int) -> list[Columns]:
        """Return all sets of some columns, each with the target if there is one."""
        fixed = [] if self.target is None else [self.target]
        return [
            tuple(sorted((*some, *fixed))) for some in combinations(chosen, size - self.n_fixed)
        ]

    def _evidence_of(
        self,
        sets: Sequence[Columns],
        chosen: Sequence[int],
        evidence: Callable[[Sequence[Columns], int | None], Floats],
    ) -> Floats:
        """Return the evidence of sets, each of whose columns is the target once if required."""
        by_target: dict[int | None, Sequence[Columns]] = {self.target: sets}
        if self._n_targets(len(sets[0])) > 1:
            by_target = {c: [each for each in sets if c in each] for c in chosen}
        found = [
            self.scaled(evidence(some, target), some, target).ravel()
            for target, some in by_target.items()
            if some
        ]
        return np.concatenate(found)

    def far_evidence(self, number: int) -> Floats:
        """Return the evidence of pairs that are far from each other in time, NaN for others.

        By columns, flattened. A draw has about a quarter of all pairs. Later columns have earlier
        shifts, so that a scale is not computed from the shifts that it is compared with.
        """
        series = self.prepared.series
        assert series is not None
        n_columns = len(self.prepared.names)
        rng = random_stream(self.seed, Purpose.NULL_SEARCHES, 0, number)
        columns = [*self.columns, *([] if self.target is None else [self.target])]
        sides = dict(zip(columns, rng.permutation(len(columns)) % 2, strict=True))
        if self.target is not None:
            sides = {column: int(column != self.target) for column in columns}
        shifts = {c: spaced_shift(series, int(at), 2, rng) for c, at in sides.items()}
        pairs = [pair for pair in combinations(columns, 2) if sides[pair[0]] > sides[pair[1]]]
        found = np.full((n_columns, n_columns), np.nan)
        if not pairs:
            return found.ravel()
        evidence = self.measure.evidence_shifted(self.prepared, pairs, [shifts], None)[0]
        for (one, other), own in zip(pairs, evidence, strict=True):
            found[one, other] = found[other, one] = own
        return found.ravel()

    def scaled(
        self, evidence: Floats, sets: Sequence[Sequence[int]], target: int | None
    ) -> Floats:
        """Return evidence that is comparable between sets; sets are on the last axis."""
        return evidence if self.scales is None else self.scales.scaled(evidence, sets, target)

    def _draw_shifted(
        self, chosen: Sequence[int], size: int, series: DependentRows, rng: np.random.Generator
    ) -> Floats:
        """Return the evidence of sets whose columns are far from each other in time.

        Columns that are shifted by similar numbers of rows may depend on each other. So columns
        are divided into classes, one for each column of a set, with equally spaced shifts. Later
        columns have later shifts; in `far_evidence`, they have earlier ones.
        """
        class_of = dict.fromkeys(chosen, 0)
        if self.target is None:
            cuts = np.sort(rng.choice(len(chosen) - 1, size - 1, replace=False)) + 1
            classes = np.searchsorted(cuts, np.arange(len(chosen)), side="right")
            class_of = dict(zip(chosen, classes.tolist(), strict=True))
        else:
            class_of[self.target] = 1
        sets = self._sets_of(chosen, size)
        if self.target is None:
            sets = [each for each in sets if len({class_of[c] for c in each}) == size]
        shifts = []
        for _ in range(self._n_shuffles):
            if self.target is None:  # each column has its own shift
                drawn = {c: spaced_shift(series, at, size, rng) for c, at in class_of.items()}
            else:  # all others move together
                sides = [spaced_shift(series, at, 2, rng) for at in range(2)]
                drawn = {c: sides[at] for c, at in class_of.items()}
            shifts.append(drawn)
        return self._evidence_of(
            sets,
            chosen,
            lambda some, target: self.measure.evidence_shifted(
                self.prepared, some, shifts, target
            ),
        )

    def _shuffled(self, column: int, rng: np.random.Generator) -> Rows:
        """Return a random permutation; missing cells stay in their rows if they do not count."""
        prepared = self.prepared
        if prepared.dependent is not None:
            present = present_rows(prepared, [column]).get(column)
            keeps = self.measure.keeps_missing(prepared)
            return exchanged(prepared.dependent, rng, present if keeps else None)
        rows: Rows = rng.permutation(prepared.n_rows).astype(np.uint32)
        if prepared.has_missing(column) and self.measure.keeps_missing(prepared):
            rows = keep_missing(rows, present_rows(prepared, [column])[column])
        return rows


def rare_cells(prepared: Prepared, column: int) -> int:
    """Return the number of cells of a column without its most frequent value."""
    values = prepared.values[column, : prepared.n_present[column]]
    ends = np.flatnonzero(np.append(values[1:] != values[:-1], True))
    return int(values.size - np.diff(ends, prepend=-1).max(initial=0))


def sampled_rows(prepared: Prepared, columns: Sequence[int]) -> int:
    """Return the number of rows of a sample that has enough rare cells of every column."""
    if prepared.dependent is not None:
        # The number of rows matters more if these are similar.
        return min(prepared.n_rows, MAX_ROWS_IF_RARE)
    rarest = min((rare_cells(prepared, column) for column in columns), default=0)
    needed = math.ceil(LEAST_RARE_CELLS * prepared.n_rows / max(rarest, 1))
    return min(prepared.n_rows, max(MAX_ROWS, min(needed, MAX_ROWS_IF_RARE)))


def too_rare(prepared: Prepared, columns: Sequence[int]) -> list[int]:
    """Return the columns of which a sample has too few rare cells, so that p is approximate."""
    n_rows, n_sampled = prepared.n_rows, sampled_rows(prepared, columns)
    if n_sampled == n_rows:
        return []
    return [c for c in columns if rare_cells(prepared, c) * n_sampled < LEAST_RARE_CELLS * n_rows]


def _sample_rows(prepared: Prepared, n_rows: int, seed: int) -> Prepared:
    """Return the same columns with a random sample of the rows."""
    if prepared.n_rows == n_rows:
        return prepared
    rng = random_stream(seed, Purpose.REFERENCE, 2)
    dependent = prepared.dependent
    if dependent is None:
        rows = np.sort(rng.choice(prepared.n_rows, n_rows, replace=False))
    else:
        rows = dependent.some_rows(n_rows, rng)
        dependent = dependent.of_rows(rows)
    table = prepared.table
    columns = tuple(replace(each, values=np.array(each.values)[rows]) for each in table.columns)
    return Prepared(replace(table, columns=columns, n_rows=rows.size, dependent=dependent))


def draw_evidence(null: NullEvidence, draws: Sequence[Draw]) -> list[Floats]:
    """Return the evidence of random sets of shuffled columns: a task."""
    return [null.draw(each) for each in draws]


def far_evidence(null: NullEvidence, numbers: Sequence[int]) -> list[Floats]:
    """Return the evidence of pairs of series that are far from each other in time: a task."""
    return [null.far_evidence(number) for number in numbers]


# How a run file stores the result of a draw.
DRAWS_AS_NUMBERS = Codec(np.ravel, np.copy)


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

    @property
    def needs_scales(self) -> bool:
        """Whether `compute_scales` is necessary before anything else."""
        few = len(self.null.columns) + self.null.n_fixed <= MAX_SCALED_COLUMNS
        return self.null.prepared.series is not None and few

    def compute_scales(self, run: RunTasks) -> None:
        """Adjust the scales of the evidence; later tasks need a session with the new ``null``."""
        n_columns = len(self.null.prepared.names)
        total, number = np.zeros(n_columns**2), np.zeros(n_columns**2)
        found: list[Floats] = [np.empty(0)] * SCALE_DRAWS
        for first, some in run(far_evidence, range(SCALE_DRAWS)):
            found[first : first + len(some)] = some
        for each in found:
            present = ~np.isnan(each)
            total[present] += each[present]
            number += present
        means = np.where(number > 0, total / np.maximum(number, 1), np.nan)
        assert self.null.scales is not None
        scales = self.null.scales.raised(means.reshape(n_columns, n_columns))
        self.null = self.null._replace(scales=scales)

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
    return np.clip(expected, SMALLEST_PVALUE, 1.0)


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
    return np.clip(qvalues, SMALLEST_PVALUE, 1.0)
