"""The selection of the columns that explain a target together.

It starts from the condition that explains most by grids, examines it with balanced cells, adds
columns while this helps, and drops columns that are not needed.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from covary import kernels
from covary.array_types import Columns
from covary.engines.base import RunTasks
from covary.measures.uds_chance.balanced_cells import Cells, KeptCells
from covary.measures.uds_chance.midranks import MidRanks, targets_of
from covary.measures.uds_chance.places import Places
from covary.measures.uds_chance.strengths import StrengthTable
from covary.prepare import Prepared

# In each step, this many columns are compared by what they add within the cells of the others:
# more if a set has a single target.
MAX_COMPARED = 4
MAX_COMPARED_FOR_ONE = 16
# Of these, this many are tried, if they add more than the noise level.
MAX_TRIED = 2
# Results that are kept for other sets: about 200 MB.
MAX_REMEMBERED = 1 << 20


class Probe(NamedTuple):
    """A target, a condition to examine with balanced cells, and columns that may add something."""

    target: int
    columns: Columns
    candidates: Columns = ()


class Found(NamedTuple):
    """What the balanced cells of a condition explain.

    Parameters
    ----------
    explained, freedom : the explained fraction and the degrees of freedom of the best level
    n_cells : the number of cells of that level
    added : what each candidate adds, in standard deviations
    null : unit, variance and skewness of the null distribution of the target in the rows that
        count
    """

    explained: float
    freedom: float
    n_cells: int
    added: tuple[float, ...] = ()
    null: tuple[float, ...] = (0.0, 0.0, 0.0)

    @property
    def fraction(self) -> tuple[float, ...]:
        """The explained fraction as the kernel `strength_of` expects it."""
        return (self.explained, self.freedom, *self.null)


class Strength(NamedTuple):
    """A condition of a target: a lower bound and an estimate of the fraction that it explains.

    Conditions are compared by the lower bound. The estimate is reported.
    """

    bound: float
    estimate: float
    columns: Columns = ()

    def value(self) -> tuple[float, float]:
        """Return what conditions are compared by: the lower bound, then the estimate."""
        return self.bound, self.estimate

    def is_better(self, other: Strength) -> bool:
        """Return whether this condition has the larger lower bound."""
        return self.value() > other.value()

    def is_worth_more_than(self, other: Strength) -> bool:
        """Return whether this condition explains enough more to be worth another column."""
        worth: bool = kernels.uds_chance.strength_table.is_worth_more(self.bound, other.bound)
        return worth


NOTHING = Strength(0.0, 0.0)
# A selection asks for probes, receives what they found, and returns all conditions it examined.
Selection = Generator[list[Probe], list[Found], dict[Columns, Found]]


def examine(prepared: Prepared, probes: Sequence[Probe]) -> list[Found]:
    """Return what balanced cells explain, for many conditions: a task."""
    kept = prepared.derived(KeptCells)
    return [
        _examine(prepared, probe, kept.over(prepared, probe.columns))
        if len(prepared.unrelated(probe.columns, probe.target)) == len(probe.columns)
        else Found(0.0, 0.0, 0, (0.0,) * len(probe.candidates))
        for probe in probes
    ]


def _examine(prepared: Prepared, probe: Probe, every_cells: Sequence[Cells]) -> Found:
    """Return what the best of some balanced cells explain, and the most that candidates add."""
    found, best_bound = Found(0.0, 0.0, 0), -np.inf
    # What a candidate with missing cells adds is measured in the rows in which it is present.
    partial = [
        at for at, each in enumerate(probe.candidates) if prepared.absent([each]) is not None
    ]
    whole = [at for at in range(len(probe.candidates)) if at not in partial]
    most_added = np.zeros(len(probe.candidates))
    for cells in every_cells:
        bound, each = _explained_in_cells(prepared, probe, cells, whole)
        most_added[whole] = np.maximum(most_added[whole], each.added)
        for at in partial:
            _, added = _explained_in_cells(prepared, probe, cells, [at])
            most_added[at] = max(most_added[at], added.added[0])
        if bound > best_bound:
            best_bound, found = bound, each
    return found._replace(added=tuple(most_added.tolist()))


def _explained_in_cells(
    prepared: Prepared, probe: Probe, cells: Cells, candidates: Sequence[int]
) -> tuple[float, Found]:
    """Return the bound of what cells explain, and what was found, with some of the candidates.

    Rows count in which all columns of the probe and all of these candidates are present.
    """
    wanted = [probe.candidates[at] for at in candidates]
    absent = prepared.absent([*probe.columns, *wanted])
    which, columns, moments = targets_of(prepared, [probe.target]).without(absent)
    best, bounds, n_cells, added = kernels.uds_chance.explained.explained_in_cells(
        *cells,
        prepared.derived(Places).arrays,
        np.array(wanted, np.int64),
        np.zeros(0, np.bool_) if absent is None else absent,
        which,
        columns,
        moments,
        *kernels.shared.entropy_tables.whole_increments(prepared.n_rows),
    )
    explained, freedom = best[0].tolist()
    null = tuple(float(each[which[0]]) for each in moments)
    found = Found(explained, freedom, int(n_cells[0]), tuple(added[0].tolist()), null)
    return float(bounds[0]), found


class Selector:
    """Selects the columns that explain targets, and remembers all conditions it examined.

    Parameters
    ----------
    table : the strengths of conditions of few columns, by grids
    max_given : the largest number of columns of a condition, if it is limited
    """

    def __init__(self, prepared: Prepared, table: StrengthTable, max_given: int | None) -> None:
        self.prepared = prepared
        self.table = table
        self.max_given = max_given
        # By target and condition, what was found; `added` by candidate as well.
        self._found: dict[tuple[int, Columns], Found] = {}
        self._added: dict[tuple[int, Columns, int], float] = {}

    @property
    def nulls(self) -> tuple[np.ndarray, ...]:
        """The null distributions of the columns."""
        return self.prepared.derived(MidRanks).null_moments

    def strength(self, columns: Columns, found: Found, deviations: float) -> Strength:
        """Return the strength of an examined condition at a noise level."""
        bound, estimate = kernels.uds_chance.strength_table.strength_of(
            np.array(found.fraction), deviations
        )
        return Strength(bound, estimate, columns)

    def best_stored(
        self, target: int, others: Sequence[int], most: int, deviations: float
    ) -> Strength:
        """Return the best condition by grids, of up to ``most`` of the other columns."""
        columns, bound, estimate = kernels.uds_chance.strength_table.best_stored(
            self.table.arrays, target, np.array(others, np.int64), most, self.nulls, deviations
        )
        return Strength(bound, estimate, tuple(columns.tolist()))

    def best(
        self,
        target: int,
        others: Sequence[int],
        most: int,
        deviations: float,
        examined: dict[Columns, Found],
    ) -> Strength:
        """Return the best condition, by grids or by balanced cells, within the other columns."""
        best = self.best_stored(target, others, most, deviations)
        for columns, found in examined.items():
            if set(columns) <= set(others):
                strength = self.strength(columns, found, deviations)
                best = strength if strength.is_better(best) else best
        return best

    def run(self, selections: Sequence[Selection], run: RunTasks) -> list[dict[Columns, Found]]:
        """Return the conditions that each selection examined; all proceed at the same time."""
        results: list[dict[Columns, Found]] = [{} for _ in selections]
        wanted: dict[int, list[Probe]] = {}

        def proceed(at: int, found: list[Found] | None) -> None:
            try:
                # The first value sent to a generator must be None.
                wanted[at] = selections[at].send(found)  # type: ignore[arg-type]
            except StopIteration as stop:
                wanted.pop(at, None)
                results[at] = stop.value

        if len(self._found) + len(self._added) > MAX_REMEMBERED:
            self._found.clear()
            self._added.clear()
        for at in range(len(selections)):
            proceed(at, None)
        while wanted:
            todo = self._missing(probe for probes in wanted.values() for probe in probes)
            for first, found in run(examine, todo) if todo else ():
                for probe, each in zip(todo[first:], found, strict=False):
                    self._found[probe.target, probe.columns] = each
                    for candidate, added in zip(probe.candidates, each.added, strict=True):
                        self._added[probe.target, probe.columns, candidate] = added
            for at, probes in list(wanted.items()):
                proceed(at, [self._answer(probe) for probe in probes])
        return results

    def _missing(self, probes: Iterable[Probe]) -> list[Probe]:
        """Return what is not known yet; probes of the same cells become one."""
        candidates: dict[tuple[int, Columns], dict[int, None]] = {}
        for target, columns, wanted in probes:
            unknown = [each for each in wanted if (target, columns, each) not in self._added]
            if unknown or (target, columns) not in self._found:
                candidates.setdefault((target, columns), {}).update(dict.fromkeys(unknown))
        return [Probe(*cells, tuple(unknown)) for cells, unknown in candidates.items()]

    def _answer(self, probe: Probe) -> Found:
        target, columns, candidates = probe
        added = tuple(self._added[target, columns, each] for each in candidates)
        return self._found[target, columns]._replace(added=added)

    def select(
        self,
        target: int,
        others: Columns,
        starts: Sequence[Columns],
        level: tuple[int, float],
        n_compared: int,
        given: Columns = (),
    ) -> Selection:
        """Select the columns that explain a target.

        Parameters
        ----------
        others : the columns that may explain it; of equally good columns, the first are preferred
        starts : conditions to start from, by grids
        level : the number of columns up to which all conditions were examined by grids, and the
            noise level in standard deviations
        n_compared : the number of columns that are compared in each step
        given : columns that are known already; the best condition is also examined with these in
            the place of others
        """
        examined: dict[Columns, Found] = {}
        for start in dict.fromkeys(starts):
            yield from self._grow(target, others, start, level, n_compared, examined)
        if given and examined:
            yield from self._put_in_place(target, given, level, n_compared, examined)
        return self._worthwhile(target, examined, *level)

    def _put_in_place(
        self,
        target: int,
        given: Columns,
        level: tuple[int, float],
        n_compared: int,
        examined: dict[Columns, Found],
    ) -> Generator[list[Probe], list[Found], None]:
        """Examine the best condition with given columns in the place of others, one by one.

        The parameters are those of `select`; all conditions are added to ``examined``.
        """
        most, deviations = level

        def strength(columns: Columns) -> Strength:
            return self.strength(columns, examined[columns], deviations)

        current = max(map(strength, examined), key=Strength.value)
        while True:
            conditions = []
            unused = [column for column in given if column not in current.columns]
            for out in (column for column in current.columns if column not in given):
                rest = tuple(column for column in current.columns if column != out)
                promising = self._promising(target, rest, unused, most, deviations)[:n_compared]
                conditions += [tuple(sorted((*rest, column))) for column in promising]
            if not conditions:
                break
            results = yield [Probe(target, each) for each in conditions]
            examined.update(zip(conditions, results, strict=True))
            best = max(map(strength, conditions), key=Strength.value)
            if current.is_worth_more_than(best):
                break
            current = best

    def _grow(
        self,
        target: int,
        others: Columns,
        start: Columns,
        level: tuple[int, float],
        n_compared: int,
        examined: dict[Columns, Found],
    ) -> Generator[list[Probe], list[Found], None]:
        """Add columns to a condition while this helps, then drop those that are not needed.

        All conditions that are examined are added to ``examined``. The other parameters are those
        of `select`.
        """
        most, deviations = level
        current = self.best_stored(target, start, most, deviations)

        def note(columns: Columns, found: Found) -> Strength:
            examined[columns] = found
            return self.strength(columns, found, deviations)

        limit = len(others) if self.max_given is None else min(self.max_given, len(others))
        while True:
            columns = current.columns
            candidates: Columns = ()
            if len(columns) < limit:
                rest = [column for column in others if column not in columns]
                candidates = self._promising(target, columns, rest, most, deviations)[:n_compared]
            if candidates or (len(columns) > 1 and columns not in examined):
                (found,) = yield [Probe(target, columns, candidates)]
                if len(columns) > 1:
                    refined = note(columns, found)
                    current = refined if refined.is_better(current) else current
                candidates = _most_added(candidates, found.added, deviations)
            larger = [tuple(sorted((*columns, column))) for column in candidates]
            results = yield [Probe(target, each) for each in larger]
            best = max(map(note, larger, results), key=Strength.value, default=NOTHING)
            if not best.is_worth_more_than(current):
                break
            current = best
        while len(current.columns) > max(len(start), 2):
            smaller = [tuple(c for c in current.columns if c != out) for out in current.columns]
            results = yield [Probe(target, each) for each in smaller]
            best = max(map(note, smaller, results), key=Strength.value)
            if current.is_worth_more_than(best):
                break
            current = best

    def _worthwhile(
        self, target: int, examined: dict[Columns, Found], most: int, deviations: float
    ) -> dict[Columns, Found]:
        """Return the conditions that explain enough more than any part of their columns."""
        kept: dict[Columns, Found] = {}
        for columns in sorted(examined, key=len):
            strength = self.strength(columns, examined[columns], deviations)
            parts = [tuple(c for c in columns if c != out) for out in columns]
            best = max(
                (self.best(target, part, most, deviations, kept) for part in parts),
                key=Strength.value,
            )
            if strength.is_worth_more_than(best):
                kept[columns] = examined[columns]
        return kept

    def _promising(
        self, target: int, columns: Columns, rest: list[int], most: int, deviations: float
    ) -> Columns:
        """Return the other columns that may add most to a condition, judged by grids."""
        promises = kernels.uds_chance.strength_table.promises(
            self.table.arrays,
            target,
            np.array(columns, np.int64),
            np.array(rest, np.int64),
            most,
            self.nulls,
            deviations,
        )
        best = np.argsort(-promises, kind="stable")
        return tuple(rest[at] for at in best.tolist() if promises[at] > -np.inf)


def _most_added(columns: Columns, added: Sequence[float], least: float) -> Columns:
    """Return the columns that add most, if they add more than this number of deviations."""
    order = sorted(range(len(columns)), key=lambda at: -added[at])
    return tuple(columns[at] for at in order[:MAX_TRIED] if added[at] > least)
