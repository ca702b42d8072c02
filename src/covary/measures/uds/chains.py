"""Columns in an order, each cut into bins given the cuts of the columns before it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from covary import kernels
from covary.array_types import Codes, Floats, Integers, Rows
from covary.measures.shared.bins import EqualFrequencyBins
from covary.prepare import Prepared


class Cubes(NamedTuple):
    """The cube of every row, the number of cubes, and the sum of log e_i over their columns."""

    of_row: Rows
    number: int
    log_cells: float


UNCUT = Cubes(np.empty(0, np.uint32), 1, 0.0)


class ChainState(NamedTuple):
    """What has to be kept to continue a chain: a few bytes, independent of the number of rows.

    Parameters
    ----------
    ends : for each column that is cut, the last initial bin of each of its parts
    explained : the explained fraction of each step
    gain, total : the numerator and the denominator of the score
    """

    ends: tuple[Codes, ...] = ()
    explained: tuple[float, ...] = ()
    gain: float = 0.0
    total: float = 0.0


EMPTY_STATE = ChainState()


@dataclass
class Chain:
    """Columns in an order; all of them except the last are cut.

    Parameters
    ----------
    state : has one entry of ``ends`` for each column that is cut
    cubes_before : the cubes of all cut columns except the last; computed if None
    """

    prepared: Prepared
    bins: EqualFrequencyBins
    columns: tuple[int, ...] = ()
    state: ChainState = EMPTY_STATE
    cubes_before: Cubes | None = None

    @cached_property
    def cubes(self) -> Cubes:
        """The cubes of all columns that are cut."""
        n_cut = len(self.state.ends)
        if n_cut == 0:
            return UNCUT
        if self.cubes_before is not None:
            return self._cut(self.cubes_before, n_cut - 1)
        cubes = UNCUT
        for at in range(n_cut):
            cubes = self._cut(cubes, at)
        return cubes

    def _cut(self, cubes: Cubes, at: int) -> Cubes:
        """Return the cubes after cutting them along one more column."""
        column, ends = self.columns[at], self.state.ends[at]
        n_bins = self.n_parts(at) + self.prepared.has_missing(column)
        if n_bins == 1:
            return cubes
        codes = np.arange(self.bins.counts[column] + 1)
        of_row, number = kernels.shared.cubes.refine_cubes(
            cubes.of_row,
            cubes.number,
            self.bins.codes[column],
            np.minimum(np.searchsorted(ends, codes), n_bins - 1).astype(np.uint8),
            n_bins,
        )
        return Cubes(of_row, number, cubes.log_cells + math.log(n_bins))

    def n_parts(self, at: int) -> int:
        """Return the number of parts of a cut column; 0 if all its cells are missing."""
        return min(self.state.ends[at].size, int(self.bins.counts[self.columns[at]]))

    def is_cut(self, at: int) -> bool:
        """Return whether a column has two or more parts; missing cells are a part."""
        return self.n_parts(at) + self.prepared.has_missing(self.columns[at]) > 1

    def steps(
        self, conditions: Integers, targets: Integers, log_cells: Floats
    ) -> tuple[Floats, Codes, Integers]:
        """Return the result of `covary.kernels.uds.step.discretize_many` from these cubes."""
        prepared, cubes = self.prepared, self.cubes
        steps: tuple[Floats, Codes, Integers] = kernels.uds.step.discretize_many(
            (prepared.orders, prepared.values, prepared.n_present, prepared.entropies),
            (self.bins.codes, self.bins.counts),
            conditions,
            targets,
            cubes.of_row,
            cubes.number,
            kernels.shared.entropy_tables.increments(prepared.n_rows),
            log_cells,
        )
        return steps


class Extensions(NamedTuple):
    """One chain extended by each of several columns; entries are one per column."""

    before: ChainState
    scores: Floats
    explained: Floats
    gains: Floats
    totals: Floats
    ends: Codes
    parts: Integers

    def state(self, at: int) -> ChainState:
        """Return the state of one of the extended chains."""
        return ChainState(
            (*self.before.ends, self.ends[at, : self.parts[at]].copy()),
            (*self.before.explained, float(self.explained[at])),
            float(self.gains[at]),
            float(self.totals[at]),
        )
