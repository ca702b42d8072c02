"""Cliques of the dependency graph, after 4S (Nguyen, Müller, Böhm, IEEE BigData 2013)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from covary import errors
from covary.strategies.base import Batches, Strategy, all_sets, listed_sets

MOST_CLIQUES = 10_000
Columns = tuple[int, ...]


@dataclass(frozen=True)
class FourS(Strategy):
    """Score all pairs; the strongest are the edges of a graph, and its cliques are the sets.

    A large set is found without any of its parts being scored first. The strongest pairs that
    score above 0 become edges. Maximal cliques of three or more columns are scored, and the unions
    of cliques that overlap so much that describing the union once, and what each clique lacks of
    it, takes fewer bits than describing each alone (minimum description length, greedily from the
    largest clique on).

    Parameters
    ----------
    max_size : int, optional
        The most columns of a set; no limit if None. Of a larger clique the columns with the
        strongest pairs are taken; unions that would be larger are not made.
    edges : int, optional
        How many pairs become edges; n log2(n) for n columns if None. Where they make more than
        10,000 cliques, half as many are taken, as often as it needs.
    """

    name = "4s"
    summary = "cliques of the strongest pairs"
    takes_target = False

    max_size: int | None = None
    edges: int | None = None

    def __post_init__(self) -> None:
        if self.max_size is not None:
            errors.whole_number("max_size", self.max_size, 2)
        if self.edges is not None:
            errors.whole_number("edges", self.edges, 1)

    def batches(self, n_columns: int, fixed: int = 0) -> Batches:
        most = self.edges
        if most is None:
            most = math.ceil(n_columns * math.log2(max(n_columns, 2)))
        strongest: list[tuple[float, Columns]] = []
        for batch in all_sets(n_columns, 2, fixed):
            scores = yield batch
            best = np.argsort(-scores, kind="stable")[:most]
            strongest += [
                (float(scores[at]), tuple(batch.sets[at].tolist()))
                for at in best
                if scores[at] > 0
            ]
            strongest = sorted(strongest, key=lambda edge: (-edge[0], edge[1]))[:most]
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
        """Return the cliques, each with no more columns than allowed."""
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
        """Return the unions of cliques that are shorter to describe together than alone."""
        groups: list[_Group] = []
        holding: defaultdict[int, set[int]] = defaultdict(set)
        for clique in sorted(cliques, key=lambda clique: (-len(clique), clique)):
            alone = _Group(frozenset(clique), Counter([len(clique)]), n_columns)
            best, best_cost, best_at = alone, alone.bits, len(groups)
            for at in sorted(set().union(*(holding[c] for c in clique))):
                joint = groups[at].joined_by(clique)
                if self.max_size is not None and len(joint.columns) > self.max_size:
                    continue
                cost = joint.bits - groups[at].bits
                if cost < best_cost:
                    best, best_cost, best_at = joint, cost, at
            groups[best_at : best_at + 1] = [best]
            for column in best.columns:
                holding[column].add(best_at)
        return {tuple(sorted(group.columns)) for group in groups}


@dataclass(frozen=True)
class _Group:
    """Cliques that are described together: their union, and how many of which size there are."""

    columns: frozenset[int]
    sizes: Counter[int]
    n_columns: int

    def joined_by(self, clique: Columns) -> _Group:
        sizes = self.sizes + Counter([len(clique)])
        return _Group(self.columns.union(clique), sizes, self.n_columns)

    @cached_property
    def bits(self) -> float:
        """Return the bits for the union, and for what each clique lacks of it, one by one."""
        union = len(self.columns)
        bits = math.log2(self.n_columns) + math.log2(math.comb(self.n_columns, union))
        for size, count in self.sizes.items():
            bits += count * (1 + union - size) * math.log2(union)
        return bits


def _cliques(strongest: list[tuple[float, Columns]]) -> list[Columns]:
    """Return the maximal cliques of the strongest pairs; of fewer pairs if there are too many."""
    import networkx

    n_edges = len(strongest)
    while True:
        graph = networkx.Graph(pair for _, pair in strongest[:n_edges])
        found = list(islice(networkx.find_cliques(graph), MOST_CLIQUES + 1))
        if len(found) <= MOST_CLIQUES:
            return [tuple(sorted(clique)) for clique in found]
        n_edges //= 2
