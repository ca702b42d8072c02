"""Relations: the sets of a ranking without repetition, and how many variants each has.

Going down the ranking, a set is a *variant* of a relation that is already listed if

- it contains a set that comes before it: the relation itself or one of its variants,
- all of its columns, or all but one, belong to the relation, but at least two, or
- the listed relations already link all of its columns, directly or through other columns.

Earlier values of a column count as this column. All other sets are relations of their own. So no
relation is printed that a better one contains together with unrelated columns, and every relation
links columns that were not linked before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from covary.array_types import Columns
from covary.searching.ranking import ScoredSet

# The number of best sets that are compared with each other.
MAX_COMPARED_SETS = 20_000
# Subsets of larger sets are not looked up, except for the listed relations themselves.
MAX_COLUMNS_WITH_ALL_SUBSETS = 10


class Relation(NamedTuple):
    """A set that is listed, and what was left out because of it.

    Parameters
    ----------
    variants : the number of its variants
    columns_of_variants : columns of variants that the set does not contain, best variants first
    """

    columns: Columns
    score: float
    variants: int
    columns_of_variants: Columns


class Relations:
    """The relations of a ranking, and the relation of which every other set is a variant.

    Parameters
    ----------
    ranked : sets and scores, best first; sets that do not score above 0 are ignored
    target : the column that all sets contain, if there is one; it does not count in comparisons
    most : the number of relations to list
    listable : the number of first sets that may be listed; all by default
    folded : whether there are variants; otherwise every set is a relation of its own
    undelayed : for each column, the one of which it has earlier values; itself by default

    Attributes
    ----------
    listed : the relations and their scores, best first
    """

    def __init__(
        self,
        ranked: Sequence[ScoredSet],
        target: int | None,
        most: int,
        *,
        listable: int | None = None,
        folded: bool = True,
        undelayed: Sequence[int] | None = None,
    ) -> None:
        self.most = most
        self.folded = folded
        # The number of columns in common that make a set a variant, at least.
        self._least_common = 2 if target is None else 1
        self.listed: list[ScoredSet] = []
        # By set, the number of its relation; -1 if the list was full.
        self._numbers: dict[Columns, int] = {}
        self._by_mask: dict[int, int] = {}  # the same by the columns of a set, one bit each
        self._masks: list[int] = []  # of the listed relations
        self._links = _Links()
        for at, (columns, score) in enumerate(ranked):
            if at == listable:
                self.most = 0
            if score > 0.0:
                compared = [c for c in columns if c != target]
                if undelayed is not None:
                    compared = sorted({undelayed[c] for c in compared})
                self._add(columns, score, compared)

    def _add(self, columns: Columns, score: float, compared: Sequence[int]) -> None:
        mask = _mask(compared)
        number = self._variant_of(compared, mask) if self.folded else None
        if number is None:
            number = len(self.listed) if len(self.listed) < self.most else -1
            if number >= 0:
                self.listed.append((columns, score))
                self._masks.append(mask)
                self._links.add(compared)
        self._numbers[columns] = self._by_mask[mask] = number

    def _variant_of(self, compared: Sequence[int], mask: int) -> int | None:
        """Return the number of the relation of which a set is a variant; None if of none."""
        contained = [self._by_mask[part] for part in _subsets(compared) if part in self._by_mask]
        if contained:
            return min(contained, key=lambda number: (number < 0, number))
        for number, other in enumerate(self._masks):
            common = (mask & other).bit_count()
            least = max(len(compared) - 1, self._least_common)
            if common == other.bit_count() or common >= least:
                return number
        if self._masks and self._links.has_all(compared):
            common_counts = [(mask & other).bit_count() for other in self._masks]
            return common_counts.index(max(common_counts))
        return None

    def relations(self) -> list[Relation]:
        """Return the listed relations with their variants, best first."""
        n_variants = [0] * len(self.listed)
        more: list[dict[int, None]] = [{} for _ in self.listed]
        for columns, number in self._numbers.items():
            if number >= 0 and columns != self.listed[number][0]:
                n_variants[number] += 1
                new = (c for c in columns if c not in self.listed[number][0])
                more[number].update(dict.fromkeys(new))
        return [
            Relation(columns, score, n, tuple(new))
            for (columns, score), n, new in zip(self.listed, n_variants, more, strict=True)
        ]

    def variant_of(self, columns: Columns) -> Columns | None:
        """Return the listed relation of which a set is a variant, if it is one."""
        number = self._numbers.get(columns, -1)
        relation = self.listed[number][0] if number >= 0 else columns
        return None if relation == columns else relation


class _Links:
    """Groups of columns that relations link."""

    def __init__(self) -> None:
        self._group_of: dict[int, set[int]] = {}

    def add(self, columns: Sequence[int]) -> None:
        """Link columns, and all columns that are linked to one of them."""
        group = set(columns).union(*(self._group_of.get(column, ()) for column in columns))
        self._group_of.update(dict.fromkeys(group, group))

    def has_all(self, columns: Sequence[int]) -> bool:
        """Return whether all of these columns are linked."""
        return self._group_of.get(columns[0], set()).issuperset(columns)


def _mask(columns: Iterable[int]) -> int:
    return sum(1 << column for column in columns)


def _subsets(columns: Sequence[int]) -> Iterator[int]:
    """Yield all proper subsets, one bit per column, unless there are too many."""
    if len(columns) <= MAX_COLUMNS_WITH_ALL_SUBSETS:
        for size in range(1, len(columns)):
            for subset in combinations(columns, size):
                yield _mask(subset)
