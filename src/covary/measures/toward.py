"""How much of one column a set of others explains, as UDS estimates it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from covary.measures.base import Sets
from covary.measures.chains import NOTHING, Chain, Extensions, Known
from covary.prepare import Prepared

if TYPE_CHECKING:
    from covary.measures.uds import UDS


@dataclass(frozen=True)
class Toward:
    """The explained fraction of a target: 1 - h(target | the others, discretised) / h(target).

    The others are taken by descending entropy, and each is cut for the target, given the cuts of
    those before it: the step of the paper's Algorithm 1, with its last column as the target of
    every step.
    """

    measure: UDS
    target: int

    def ordered(self, prepared: Prepared, sets: Sets) -> Sets:
        return self.measure.ordered(prepared, sets, beside=(self.target,))

    def chain(
        self, prepared: Prepared, columns: tuple[int, ...] = (), known: Known = NOTHING
    ) -> Chain:
        return self.measure.chain(prepared, columns, known)

    def extend(self, chain: Chain, column: int) -> Chain:
        known = self.extend_many(chain, np.array([column])).known(0)
        columns = (*chain.columns, column)
        return Chain(chain.prepared, chain.bins, columns, known, cubes_before=chain.cubes)

    def extend_many(self, chain: Chain, columns: npt.NDArray[np.int64]) -> Extensions:
        log_bins = [self.measure.log_bins(chain.prepared, c) for c in columns.tolist()]
        explained, ends, parts = chain.steps(
            columns, np.full_like(columns, self.target), chain.cubes.log_cells + np.array(log_bins)
        )
        nothing = np.zeros_like(explained)
        return Extensions(chain.known, explained, explained, nothing, nothing, ends, parts)
