"""A set of columns with its score, its order, and what explains each column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from covary.array_types import Columns
from covary.engines.base import RunTasks
from covary.measures.uds_chance.cuts import Partitions
from covary.measures.uds_chance.grids import Grids
from covary.measures.uds_chance.profile import profile
from covary.measures.uds_chance.selection import NOTHING, Found, Probe, examine
from covary.measures.uds_chance.set_scorer import Examined, Level, SetScorer
from covary.measures.uds_chance.strengths import Conditions, explain_targets
from covary.prepare import Prepared
from covary.results import Step


class ScoredSet(NamedTuple):
    """A scored set.

    Parameters
    ----------
    scorer : has the strengths of the columns of the set
    score, order : the score, and the order that gives it; columns that never vary come last
    level, examined : how conditions were examined, and which of them with balanced cells
    """

    scorer: SetScorer
    score: float
    order: list[int]
    level: Level
    examined: Examined

    @classmethod
    def of(cls, scorer: SetScorer, columns: Sequence[int], run: RunTasks) -> ScoredSet:
        """Score a set; all its columns explain each other."""
        varying = tuple(scorer.prepared.varying(columns))
        level = scorer.level(varying)
        scorer.table.compute(np.array([varying], np.int32), level.most, run)
        (examined,) = scorer.examine([varying], run)
        score, order = scorer.best_order(varying, examined)
        constant = [c for c in columns if not scorer.prepared.varies[c]]
        return cls(scorer, score, order + constant, level, examined)

    @classmethod
    def of_target(cls, scorer: SetScorer, columns: Sequence[int], run: RunTasks) -> ScoredSet:
        """Score what the columns, and given ones, explain of the target of the scorer."""
        ((_, scores),) = scorer.score(np.array([columns], np.int32), run)
        varying = tuple(scorer.prepared.varying((*columns, *scorer.given)))
        (examined,) = scorer.examine([varying], run)
        order = [*columns, *scorer.given, scorer.target]
        return cls(scorer, float(scores[0]), order, scorer.level(varying), examined)

    def step(self, given: Sequence[int], target: int) -> Step:
        """Return the fraction of a column that given columns explain, and which of them do."""
        prepared = self.scorer.prepared
        names = prepared.names
        best = NOTHING
        if varying := prepared.varying(given):
            best = self.scorer.best_condition(target, varying, self.level, self.examined)
        alone = {column: self.explained(target, (column,)) for column in best.columns}
        # The column that explains more alone comes first.
        by = sorted(best.columns, key=lambda column: alone[column], reverse=True)
        by = by if best.estimate > 0.0 else []
        adds = {c: self.added(target, c, by, best.estimate) for c in by}
        # The column that adds most comes first.
        partitions = {
            column: Partitions(prepared, target, column, _without(by, column))
            for column in sorted(by, key=lambda column: -adds[column])
        }
        return Step(
            target=names[target],
            given=tuple(names[column] for column in given),
            explained=best.estimate,
            by=tuple(names[column] for column in by),
            bins=_bins_of_best_grid(prepared, by[0], target) if len(by) == 1 else 0,
            cells=self._examined(target, best.columns).n_cells if len(by) > 1 else 0,
            alone=tuple(alone[column] for column in by),
            adds=tuple(adds[column] for column in by),
            cuts={names[column]: partitions[column].best().cuts for column in by},
            missing=sum(_n_missing(prepared, column, target) for column in by),
            rows=_n_counted(prepared, by, target),
            missing_as_bin=prepared.missing_is_level,
            profile=profile(prepared, target, partitions),
        )

    def added(self, target: int, column: int, by: Sequence[int], explained: float) -> float:
        """Return the fraction of a target that a column explains beyond the others."""
        others = tuple(sorted(other for other in by if other != column))
        without = self.explained(target, others) if others else 0.0
        return max((explained - without) / (1.0 - without), 0.0) if without < 1.0 else 0.0

    def explained(self, target: int, columns: Columns) -> float:
        """Return the fraction of a target that columns explain together."""
        selector, (most, deviations) = self.scorer.selector, self.level
        examined = {}
        if len(columns) > 1:
            examined = {columns: self._examined(target, columns)}
        return selector.best(target, columns, most, deviations, examined).estimate

    def _examined(self, target: int, columns: Columns) -> Found:
        found = self.examined.get(target, {})
        if columns not in found:
            return examine(self.scorer.prepared, [Probe(target, columns)])[0]
        return found[columns]


def _without(columns: Sequence[int], column: int) -> list[int]:
    return [other for other in columns if other != column]


def _bins_of_best_grid(prepared: Prepared, column: int, target: int) -> int:
    """Return the number of bins of the best grid on one column, without missing cells."""
    _, best = explain_targets(prepared, Conditions((column,), np.array([target], np.int64)))
    families = prepared.derived(Grids).families
    n_bins = np.concatenate([family.n_bins[column] for family in families])
    return int(n_bins[best[0]]) - int(prepared.has_missing(column))


def _n_missing(prepared: Prepared, column: int, target: int) -> int:
    """Return the number of missing cells of a column in the rows that have the target."""
    rows = prepared.orders[target, : prepared.n_present[target]]
    return int(np.isnan(prepared.by_row(column)[rows]).sum())


def _n_counted(prepared: Prepared, by: Sequence[int], target: int) -> int:
    """Return the number of rows with the target that count for these columns."""
    rows = prepared.orders[target, : prepared.n_present[target]]
    absent = prepared.absent(by)
    return rows.size if absent is None else int(np.count_nonzero(~absent[rows]))
