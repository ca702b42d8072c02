"""Cliques of the dependence graph, after 4S (Nguyen, Müller, Böhm, IEEE BigData 2013)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import ClassVar

import numpy as np

from covary.array_types import Columns
from covary.options import option
from covary.searching.strategies.base import (
    MAX_SIZE_HELP,
    Batches,
    Strategy,
    all_sets,
    listed_sets,
    register,
)

MAX_CLIQUES = 10_000


@register("4s", "cliques of the strongest pairs")
@dataclass(frozen=True)
class FourS(Strategy):
    """Score all pairs. The strongest are the edges of a graph, and its cliques are the sets.

    This finds a large set without scoring its subsets first. The strongest pairs that score above
    0 become edges. Maximal cliques of three or more columns are scored. Unions of cliques are
    scored if they overlap enough: if describing the union once, and what each clique lacks of it,
    takes fewer bits than describing each clique (minimum description length, greedily from the
    largest clique on). With a maximum size, larger cliques are reduced to the columns with the
    strongest pairs, and larger unions are not scored.

    Parameters
    ----------
    <options>
    """

    takes_target: ClassVar[bool] = False

    max_size: int | None = option(None, MAX_SIZE_HELP, minimum=2)
    edges: int | None = option(
        None,
        "Number of pairs that become edges; n log2(n) for n columns by default. It is halved "
        "until there are at most 10,000 cliques.",
        minimum=1,
    )

    def batches(self, n_columns: int, fixed: int = 0) -> Batches:
        n_edges = self.edges
        if n_edges is None:
            n_edges = math.ceil(n_columns * math.log2(max(n_columns, 2)))
        strongest: list[tuple[float, Columns]] = []
        for batch in all_sets(n_columns, 2, fixed):
            scores = yield batch
            best = np.argsort(-scores, kind="stable")[:n_edges]
            strongest += [
                (float(scores[at]), tuple(batch.sets[at].tolist()))
                for at in best
                if scores[at] > 0
            ]
            strongest = sorted(strongest, key=lambda edge: (-edge[0], edge[1]))[:n_edges]
        cliques = self._cut_to_size(
            _cliques(strongest), {pair: score for score, pair in strongest}
        )
        sets = cliques | self._merged(cliques, n_columns)
        for size in sorted({len(columns) for columns in sets}):
            listed = sorted(columns for columns in sets if len(columns) == size)
            yield from listed_sets(listed, fixed)

    def _cut_to_size(
        self, cliques: Iterable[Columns], strength: dict[Columns, float]
    ) -> set[Columns]:
        """Return the cliques, reduced to the maximum size."""
        cut = set()
        for clique in cliques:
            if self.max_size is not None and len(clique) > self.max_size:
                total = {
                    c: sum(strength[min(c, d), max(c, d)] for d in clique if d != c)
                    for c in clique
                }
                by_strength = sorted(clique, key=lambda c: (-total[c], c))
                clique = tuple(sorted(by_strength[: self.max_size]))
            if len(clique) > 2:
                cut.add(clique)
        return cut

    def _merged(self, cliques: set[Columns], n_columns: int) -> set[Columns]:
        """Return the unions of cliques that take fewer bits than the cliques alone."""
        groups: list[_Group] = []
        groups_with: defaultdict[int, set[int]] = defaultdict(set)  # by column
        for clique in sorted(cliques, key=lambda clique: (-len(clique), clique)):
            alone = _Group(frozenset(clique), Counter([len(clique)]), n_columns)
            best, best_cost, best_at = alone, alone.bits, len(groups)
            for at in sorted(set().union(*(groups_with[c] for c in clique))):
                joint = groups[at].joined_by(clique)
                if self.max_size is not None and len(joint.columns) > self.max_size:
                    continue
                cost = joint.bits - groups[at].bits
                if cost < best_cost:
                    best, best_cost, best_at = joint, cost, at
            groups[best_at : best_at + 1] = [best]
            for column in best.columns:
                groups_with[column].add(best_at)
        return {tuple(sorted(group.columns)) for group in groups}


@dataclass(frozen=True)
class _Group:
    """Cliques described together: their union, and the number of cliques of each size."""

    columns: frozenset[int]
    sizes: Counter[int]
    n_columns: int

    def joined_by(self, clique: Columns) -> _Group:
        sizes = self.sizes + Counter([len(clique)])
        return _Group(self.columns.union(clique), sizes, self.n_columns)

    @cached_property
    def bits(self) -> float:
        """The bits for the union, and for what each clique lacks of it."""
        union = len(self.columns)
        bits = math.log2(self.n_columns) + math.log2(math.comb(self.n_columns, union))
        for size, count in self.sizes.items():
            bits += count * (1 + union - size) * math.log2(union)
        return bits


def _cliques(strongest: list[tuple[float, Columns]]) -> list[Columns]:
    """Return the maximal cliques of the strongest pairs; fewer pairs if there are too many."""
    import networkx

    n_edges = len(strongest)
    while True:
        graph = networkx.Graph(pair for _, pair in strongest[:n_edges])
        found = list(islice(networkx.find_cliques(graph), MAX_CLIQUES + 1))
        if len(found) <= MAX_CLIQUES:
            return [tuple(sorted(clique)) for clique in found]
        n_edges //= 2
