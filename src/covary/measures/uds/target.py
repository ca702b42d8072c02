"""The fraction of a target that a set of other columns explains, with the estimator of UDS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from covary.array_types import Columns, ColumnSets, Integers
from covary.measures.uds.chains import EMPTY_STATE, Chain, ChainState, Extensions
from covary.prepare import Prepared

if TYPE_CHECKING:
    from covary.measures.uds.uds import UDS


@dataclass(frozen=True)
class TargetChains:
    """Chains whose score is 1 - h(target | the others, discretised) / h(target).

    The other columns are taken by descending entropy. Each is cut for the target, given the cuts
    of the columns before it. This is the step of the paper's Algorithm 1 with its last column as
    the target of every step.
    """

    measure: UDS
    target: int

    def ordered(self, prepared: Prepared, sets: ColumnSets) -> ColumnSets:
        return self.measure.ordered(prepared, sets, context=(self.target,))

    def chain(
        self, prepared: Prepared, columns: Columns = (), state: ChainState = EMPTY_STATE
    ) -> Chain:
        return self.measure.chain(prepared, columns, state)

    def extend(self, chain: Chain, column: int) -> Chain:
        state = self.extend_many(chain, np.array([column])).state(0)
        columns = (*chain.columns, column)
        return Chain(chain.prepared, chain.bins, columns, state, cubes_before=chain.cubes)

    def extend_many(self, chain: Chain, columns: Integers) -> Extensions:
        log_bins = [self.measure.log_bins(chain.prepared, c) for c in columns.tolist()]
        explained, ends, parts = chain.steps(
            columns, np.full_like(columns, self.target), chain.cubes.log_cells + np.array(log_bins)
        )
        zeros = np.zeros_like(explained)
        return Extensions(chain.state, explained, explained, zeros, zeros, ends, parts)
