"""Base class of HiCS and MCDE: one column inside random slices of the others."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Self

import numpy as np

from covary.array_types import Floats, Integers, Rows
from covary.measures.base import Measure
from covary.measures.shared.complete_rows import MIN_COMPLETE_ROWS
from covary.measures.shared.content_order import order_one_by_content
from covary.prepare import Derived, Moves, Need, Prepared, Ranks, move_orders
from covary.validation import check_fraction, check_whole_number

MAX_SLICES = 1_000_000

# Row numbers by ascending value, sorted values, and the number of present cells, by column.
SortedColumns = tuple[Rows, Floats, Integers]


class ShuffledTies(Derived):
    """Row numbers by ascending value, with rows of equal values in random order.

    Attributes
    ----------
    orders : one line per column
    """

    def __init__(self, orders: Rows) -> None:
        self.orders = orders

    @classmethod
    def of(cls, prepared: Prepared, seed: int) -> Self:
        orders = prepared.orders.copy()
        ranks = prepared.derived(Ranks).by_row
        for column, n_present in enumerate(prepared.n_present):
            order, values = orders[column, :n_present], prepared.values[column, :n_present]
            runs = np.cumsum(values[1:] != values[:-1])
            if runs.size and runs[-1] < runs.size:
                # The seed depends on the ranks of the column, not on its place in the table.
                digest = hashlib.blake2b(ranks[column].tobytes(), digest_size=8).digest()
                rng = np.random.default_rng([seed, int.from_bytes(digest, "little")])
                places = np.lexsort((rng.permutation(n_present), np.append(0, runs)))
                order[:] = order[places]
        orders.flags.writeable = False
        return cls(orders)

    def moved(self, moves: Moves) -> Self:
        return type(self)(move_orders(self.orders, moves))


class Draws(NamedTuple):
    """The random numbers of a set: by slice, the reference, and one uniform per column."""

    references: Integers
    uniforms: Floats


class RandomSlices(Measure):
    """A measure that compares one column of a set inside and outside random slices.

    Sets of one size use the same random numbers. The content of the columns decides which column
    uses which, so that their order does not matter. Constant columns are ignored. A target is the
    reference column of every slice.
    """

    takes_target: ClassVar[bool] = True
    slices: int
    alpha: float
    seed: int

    def __post_init__(self) -> None:
        check_whole_number("slices", self.slices, 1, MAX_SLICES)
        check_whole_number("seed", self.seed, 0)
        check_fraction("alpha", self.alpha)

    def needs(self) -> tuple[Need, ...]:
        return (Need(Ranks), Need(ShuffledTies, (self.seed,)))

    def score_set(
        self, prepared: Prepared, columns: Sequence[int], target: int | None = None
    ) -> float:
        varying = [column for column in columns if prepared.entropies[column] > 0]
        members = order_one_by_content(prepared, varying) if len(varying) > 1 else varying
        if target is not None:
            if prepared.entropies[target] == 0.0:
                return 0.0
            members = [*members, target]
        if len(members) < 2 or prepared.n_complete(members) < MIN_COMPLETE_ROWS:
            return 0.0
        draws = self._draw(len(members))
        if target is not None:
            draws.references[:] = len(members) - 1
        orders = prepared.derived(ShuffledTies, self.seed).orders
        by_value = (orders, prepared.values, prepared.n_present)
        return self.mean_deviation(by_value, np.array(members, np.int64), draws)

    def _draw(self, n_columns: int) -> Draws:
        rng = np.random.default_rng(self.seed)
        references = rng.integers(n_columns, size=self.slices)
        return Draws(references, rng.random((self.slices, n_columns)))

    @abstractmethod
    def mean_deviation(self, columns: SortedColumns, members: Integers, draws: Draws) -> float:
        """Return the mean difference of the reference inside and outside of slices, 0 to 1."""
