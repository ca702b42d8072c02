"""Layers of the map of a table: how many steps each column is away from where it starts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

# With at least this many, columns that explain nothing alternate between two layers.
MANY_LEAVES = 8


class MapLink(NamedTuple):
    """A link of the map; columns are numbers.

    Parameters
    ----------
    by : the explaining columns, the one that explains most alone first
    target : the explained column
    explained : the explained fraction
    directed : whether there is an arrow
    exact : whether this is a copy, a function or an identity
    """

    by: tuple[int, ...]
    target: int
    explained: float
    directed: bool = True
    exact: bool = False


class Layers:
    """The layer of each column of a group, and a tree for the order of its rows.

    Every explaining column is in an earlier layer than its target. In the tree, the parent of a
    target is its explaining column in the last layer.

    Parameters
    ----------
    columns : the columns of the group
    links : the links between them; a column is the target of at most one
    names : the names of all columns; they decide between equals, so that the order of the columns
        does not matter
    only_main : whether only the first explaining column of each target counts. The others, its
        helpers, may be in any layer

    Attributes
    ----------
    links : by target, the links that count
    helpers : by target, the explaining columns that do not count
    """

    def __init__(
        self,
        columns: Sequence[int],
        links: Sequence[MapLink],
        names: Sequence[str],
        *,
        only_main: bool = False,
    ) -> None:
        self.columns = sorted(columns, key=lambda column: (names[column], column))
        self.names = names
        n_counted = 1 if only_main else None
        self.links = {link.target: link._replace(by=link.by[:n_counted]) for link in links}
        self.helpers = {link.target: link.by[1:] if only_main else () for link in links}
        self.depth: dict[int, int] = {}
        for column in self.columns:
            self._find_depth(column)
        self.parent = {column: self._parent(column) for column in self.columns}
        # Columns that only help to explain others are beside the first of these.
        self.satellite_of = self._find_satellites()
        self.children = self._find_children()
        self._stagger_leaves()

    def _find_depth(self, column: int) -> None:
        """Set the depth of a column and of all columns before it; links in a circle do not count.

        An explicit stack, because chains may be longer than the recursion limit.
        """
        open_columns: dict[int, None] = {}
        stack = [column]
        while stack:
            current = stack[-1]
            if current in self.depth:
                stack.pop()
                continue
            open_columns[current] = None
            before = self.links[current].by if current in self.links else ()
            waiting = [b for b in before if b not in self.depth and b not in open_columns]
            if waiting:
                stack.append(waiting[0])
                continue
            known = [self.depth[b] for b in before if b in self.depth]
            self.depth[current] = 1 + max(known, default=-1)
            del open_columns[current]
            stack.pop()

    def _parent(self, column: int) -> int | None:
        link = self.links.get(column)
        before = [b for b in link.by if self.depth[b] < self.depth[column]] if link else []
        return max(before, key=lambda b: self.depth[b], default=None)

    def _find_satellites(self) -> dict[int, int]:
        parents = set(self.parent.values())
        satellite_of = {}
        for column in self.columns:
            if column in parents or column in self.links:
                continue
            helped = [
                link
                for target, link in self.links.items()
                if column in link.by or column in self.helpers[target]
            ]
            if helped:
                first = max(helped, key=lambda link: (link.explained, self.names[link.target]))
                self.depth[column] = min(self.depth[link.target] for link in helped) - 1
                satellite_of[column] = first.target
        return satellite_of

    def _find_children(self) -> dict[int, list[int]]:
        """Return the children of each column, the largest explained fractions first."""
        children: dict[int, list[int]] = defaultdict(list)
        for column in self.columns:
            parent = self.parent[column]
            if parent is not None:
                children[parent].append(column)
        for each in children.values():
            each.sort(key=lambda column: (-self.links[column].explained, self.names[column]))
        return children

    def _stagger_leaves(self) -> None:
        """Move every second of many leaves to the next layer, and the leaves to the end."""
        explaining = {column for link in self.links.values() for column in link.by}
        for parent, children in self.children.items():
            leaves = [c for c in children if c not in explaining and not self.has_joint(c)]
            if len(leaves) >= MANY_LEAVES:
                for column in leaves[1::2]:
                    self.depth[column] += 1
                others = [column for column in children if column not in leaves]
                self.children[parent] = others + leaves

    def is_staggered(self, column: int) -> bool:
        """Return whether a column is between the rows of two others."""
        parent = self.parent[column]
        return (
            parent is not None
            and not self.has_joint(column)
            and self.depth[column] > self.depth[parent] + 1
        )

    def has_joint(self, column: int) -> bool:
        """Return whether several columns explain a column."""
        return column in self.links and len((*self.links[column].by, *self.helpers[column])) > 1

    def below(self, column: int) -> list[int]:
        """Return the columns below a column in the tree."""
        found = list(self.children.get(column, ()))
        for each in found:
            found += self.children.get(each, ())
        return found
