"""Columns in an order, each cut into bins given the cuts of those before it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from covary import kernels
from covary.prepare import Bins, Prepared

Ends = npt.NDArray[np.uint8]


class Cubes(NamedTuple):
    """The cube of every row, how many there are, and the sum of log e_i over their columns."""

    of_row: npt.NDArray[np.uint32]
    number: int
    log_cells: float


UNCUT = Cubes(np.empty(0, np.uint32), 1, 0.0)


class Known(NamedTuple):
    """All that has to be kept of a chain to carry on from it: a few bytes, whatever the rows.

    Parameters
    ----------
    ends : for each column that is cut, the last initial bin of each of its parts
    explained : what each step explained of its target
    gain, total : the sums that make the score of a set
    """

    ends: tuple[Ends, ...] = ()
    explained: tuple[float, ...] = ()
    gain: float = 0.0
    total: float = 0.0


NOTHING = Known()


@dataclass
class Chain:
    """Columns in an order, the first ones cut.

    Parameters
    ----------
    known : has one entry of ``ends`` for each column that is cut
    cubes_before : the cubes from all columns that are cut but the last of these; made if None
    """

    prepared: Prepared
    bins: Bins
    columns: tuple[int, ...] = ()
    known: Known = NOTHING
    cubes_before: Cubes | None = None

    @cached_property
    def cubes(self) -> Cubes:
        """The cubes from all columns that are cut; made when a step needs them first."""
        n_cut = len(self.known.ends)
        if n_cut == 0:
            return UNCUT
        if self.cubes_before is not None:
            return self._cut(self.cubes_before, n_cut - 1)
        cubes = UNCUT
        for at in range(n_cut):
            cubes = self._cut(cubes, at)
        return cubes

    def _cut(self, cubes: Cubes, at: int) -> Cubes:
        """Return the cubes, each cut along one column more."""
        column, ends = self.columns[at], self.known.ends[at]
        n_bins = self.n_parts(at) + self.prepared.has_missing(column)
        if n_bins == 1:
            return cubes
        codes = np.arange(self.bins.counts[column] + 1)
        of_row, number = kernels.cubes.refine_cubes(
            cubes.of_row,
            cubes.number,
            self.bins.codes[column],
            np.minimum(np.searchsorted(ends, codes), n_bins - 1).astype(np.uint8),
            n_bins,
        )
        return Cubes(of_row, number, cubes.log_cells + math.log(n_bins))

    def n_parts(self, at: int) -> int:
        """Return into how many parts a column is cut: none if it has no value at all."""
        return min(self.known.ends[at].size, int(self.bins.counts[self.columns[at]]))

    def is_cut(self, at: int) -> bool:
        """Return whether a column is cut in two or more, its missing cells being one part."""
        return self.n_parts(at) + self.prepared.has_missing(self.columns[at]) > 1

    def steps(
        self,
        conditions: npt.NDArray[np.int64],
        targets: npt.NDArray[np.int64],
        log_cells: npt.NDArray[np.float64],
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        """Return what `covary.kernels.step.discretize_many` does from the cubes of this chain."""
        prepared, cubes = self.prepared, self.cubes
        steps: tuple[npt.NDArray[np.float64], npt.NDArray[np.uint8], npt.NDArray[np.int64]]
        steps = kernels.step.discretize_many(
            (prepared.orders, prepared.values, prepared.n_present, prepared.entropies),
            (self.bins.codes, self.bins.counts),
            conditions,
            targets,
            cubes.of_row,
            cubes.number,
            kernels.tables.increments(prepared.n_rows),
            log_cells,
        )
        return steps


class Extensions(NamedTuple):
    """One chain, extended by one column in many ways."""

    before: Known
    scores: npt.NDArray[np.float64]
    explained: npt.NDArray[np.float64]
    gains: npt.NDArray[np.float64]
    totals: npt.NDArray[np.float64]
    ends: npt.NDArray[np.uint8]
    parts: npt.NDArray[np.int64]

    def known(self, way: int) -> Known:
        """Return what has to be kept of one of them."""
        return Known(
            (*self.before.ends, self.ends[way, : self.parts[way]].copy()),
            (*self.before.explained, float(self.explained[way])),
            float(self.gains[way]),
            float(self.totals[way]),
        )
