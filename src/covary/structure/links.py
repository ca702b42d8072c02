"""Links: each column with the few columns that explain it, without repetition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import combinations

from covary.array_types import Columns
from covary.results.link import EXPLAINS, GO_TOGETHER
from covary.structure.explanations import Explanations

# One of several columns is named only if it adds this fraction of the whole target, and this
# fraction of what the others leave unexplained.
LEAST_GAIN = 0.02
LEAST_ADDED = 0.05
# Both directions of a pair are about equally good if the smaller explained fraction is at least
# this share of the larger one.
EQUALLY_GOOD = 0.8
# Columns that explain another one together may be read in another direction if that explains at
# least this share as much.
NEARLY_AS_GOOD = 0.5


@dataclass(frozen=True)
class Draft:
    """A link while it is found; columns are positions.

    Parameters
    ----------
    target, by : the explained and the explaining columns
    explained : the explained fraction
    kind, formula : as in `covary.results.Link`
    strongest : the explaining columns, the one that explains most alone first, if ``by`` has
        another order
    """

    target: int
    by: Columns
    explained: float
    kind: str = EXPLAINS
    formula: str = ""
    strongest: Columns = ()

    @property
    def columns(self) -> frozenset[int]:
        """All columns of the link."""
        return frozenset((*self.by, self.target))

    @property
    def is_exact(self) -> bool:
        """Whether the target is a copy, a function or a formula of the other columns."""
        return self.kind not in (EXPLAINS, GO_TOGETHER)


def find_links(explanations: Explanations, targets: Iterable[int]) -> list[Draft]:
    """Return at most one link for each target, from the explanation of the whole table.

    Columns of a set that explain each other in several ways appear in one link.
    """
    wanted = set(targets)
    found = []
    order = explanations.order
    for at, target in enumerate(order):
        if target in wanted:
            # The hour of a date is no target itself, so it may explain columns before it.
            allowed = [c for c in order if c not in wanted or c in order[:at]]
            by, explained = explanations.best(target, allowed)
            if by:
                found.append(_without_superfluous(explanations, target, by, explained))
    return _rearranged(explanations, _joined(explanations, found, wanted))


def _without_superfluous(
    explanations: Explanations, target: int, by: Columns, explained: float
) -> Draft:
    """Return a link without columns that add next to nothing."""
    if len(by) > 1:
        # The best condition was found by coarse grids; this is what all of its columns explain.
        explained = explanations.explained(target, by)
    while len(by) > 1:
        smaller = {
            column: explanations.explained(target, [c for c in by if c != column])
            for column in explanations.by_content(by)
        }
        needless = max(smaller, key=lambda column: smaller[column])
        if _adds_enough(explained, smaller[needless]):
            # It must add more than the same column does when shuffled.
            shuffled = {c: explanations.explained_with_shuffled(target, by, c) for c in smaller}
            needless = max(smaller, key=lambda column: max(smaller[column], shuffled[column]))
            if _adds_enough(explained, max(smaller[needless], shuffled[needless])):
                break
        by = tuple(column for column in by if column != needless)
        explained = smaller[needless]
    return Draft(target, strongest_first(explanations, target, by), explained)


def _adds_enough(explained: float, without: float) -> bool:
    """Return whether a column adds enough to be named."""
    loss = explained - without
    return loss >= LEAST_GAIN and loss >= LEAST_ADDED * (1.0 - without)


def strongest_first(explanations: Explanations, target: int, by: Columns) -> Columns:
    """Return columns by what they explain of a target alone, the largest fraction first."""
    alone = explanations.alone(target, by)
    return tuple(sorted(explanations.by_content(by), key=lambda column: -alone[column]))


def _joined(explanations: Explanations, links: list[Draft], targets: set[int]) -> list[Draft]:
    """Return the links, with those of a common effect joined to one.

    If y is the sum of independent columns a and b, the order of the table may explain y by a, and
    then b by y and a. One link says the same: y is explained by a and b, because a and b are
    independent of each other.
    """
    found = list(links)
    for link in sorted(links, key=lambda each: -len(each.by)):
        if len(link.by) < 2 or link not in found:
            continue
        better = _as_effect(explanations, link, found, targets)
        if better is not None:
            found = [each for each in found if not each.columns <= link.columns]
            found.append(better)
    return _with_common_effects(explanations, found, targets)


def _with_common_effects(
    explanations: Explanations, links: list[Draft], targets: set[int]
) -> list[Draft]:
    """Return the links, with those that share a column joined if it is their common effect.

    If y is the sum of independent columns a and b with much noise, the order of the table may
    explain y by a, and b by y. But a and b together explain more of y than the sum of what each of
    them explains alone. Effects of a common cause explain less of it together.
    """
    found = list(links)
    for effect in explanations.by_content(sorted(targets)):
        pair = _pair_with_effect(explanations, effect, found)
        while pair is not None:
            *parts, joint = pair
            found = [*(each for each in found if each not in parts), joint]
            pair = _pair_with_effect(explanations, effect, found)
    return found


def _pair_with_effect(
    explanations: Explanations, effect: int, links: Sequence[Draft]
) -> tuple[Draft, Draft, Draft] | None:
    """Return two links to the causes of an effect, and one link that says the same better."""
    own = [link for link in links if link.target == effect]
    back = [link for link in links if link.by == (effect,)]
    for one, other in combinations((*own, *back), 2):
        if own and one not in own:
            break  # the effect has its own link, which would remain
        parts = [tuple(sorted(link.columns - {effect})) for link in (one, other)]
        causes = tuple(sorted({*parts[0], *parts[1]}))
        if not _are_independent(explanations, causes):
            continue
        explained = explanations.explained(effect, causes)
        if explained <= sum(explanations.explained(effect, part) for part in parts):
            continue
        joint = _without_superfluous(explanations, effect, causes, explained)
        others = [each for each in links if each not in (one, other)]
        if len(joint.by) == len(causes) and not _has_circle([*others, joint]):
            return one, other, joint
    return None


def _as_effect(
    explanations: Explanations, link: Draft, links: Sequence[Draft], targets: set[int]
) -> Draft | None:
    """Return the link with the only column that all others explain and are independent without."""
    others_explain = {each.target for each in links if not each.columns <= link.columns}
    best: Draft | None = None
    for target in explanations.by_content(sorted(link.columns)):
        if target in others_explain or target not in targets:
            continue
        by = tuple(sorted(link.columns - {target}))
        if not _are_independent(explanations, by):
            continue
        explained = explanations.explained(target, by)
        least = NEARLY_AS_GOOD * link.explained if best is None else best.explained
        if explained > least:
            best = Draft(target, by, explained)
    if best is None:
        return None
    joint = _without_superfluous(explanations, best.target, best.by, best.explained)
    # Otherwise a column that the link explains would have no link any more.
    return joint if link.target in joint.columns else None


def _are_independent(explanations: Explanations, columns: Columns) -> bool:
    """Return whether no column explains another one."""
    return all(
        explanations.explained(a, (b,)) == explanations.explained(b, (a,)) == 0.0
        for a, b in combinations(columns, 2)
    )


def _rearranged(explanations: Explanations, links: list[Draft]) -> list[Draft]:
    """Return the links, read in the other direction where that takes fewer columns.

    If the ends of a chain a, b, c come before its middle in the order of the table, then a
    explains c, and both of them explain b. In fewer words, a explains b, and b explains c.
    """
    found = list(links)
    for link in sorted(links, key=lambda each: -len(each.by)):
        for cause in link.by:
            other = next((each for each in found if each.target == cause), None)
            if link not in found or other is None or not set(other.by) < set(link.by):
                continue
            by = tuple(column for column in link.by if column != cause)
            turned = (*other.by, link.target)
            pair = [
                _without_superfluous(
                    explanations, target, some, explanations.explained(target, some)
                )
                for target, some in ((link.target, by), (cause, turned))
            ]
            others = [each for each in found if each not in (link, other)]
            shorter = sum(len(each.by) for each in pair) < len(link.by) + len(other.by)
            if shorter and link.target in pair[1].by and not _has_circle([*others, *pair]):
                found = [*others, *pair]
    return found


def _has_circle(links: Sequence[Draft]) -> bool:
    """Return whether a column explains itself over other columns."""
    try:
        TopologicalSorter({link.target: link.by for link in links}).prepare()
    except CycleError:
        return True
    return False


def directed(explanations: Explanations, link: Draft) -> Draft:
    """Return the link of a pair without a direction if both are about equally good."""
    if len(link.by) > 1 or link.kind != EXPLAINS:
        return link
    back = explanations.explained(link.by[0], (link.target,))
    return pair_link(link.target, link.by[0], link.explained, back)


def pair_link(target: int, other: int, there: float, back: float) -> Draft:
    """Return the link of a pair from the fractions that are explained there and back."""
    if min(there, back) >= EQUALLY_GOOD * max(there, back):
        return Draft(target, (other,), max(there, back), GO_TOGETHER)
    return Draft(target, (other,), there)


class Groups:
    """Columns that links connect.

    Parameters
    ----------
    columns : all columns
    links : the links, more of which may be added
    """

    def __init__(self, columns: Sequence[int], links: Iterable[Draft]) -> None:
        self._next = {column: column for column in columns}
        for link in links:
            self.add(link)

    def add(self, link: Draft) -> None:
        """Connect the columns of a link."""
        for column in link.by:
            self.connect(column, link.target)

    def connect(self, one: int, other: int) -> None:
        """Connect two columns."""
        self._next[self.of(one)] = self.of(other)

    def of(self, column: int) -> int:
        """Return the column that stands for the group of a column."""
        passed = []
        while self._next[column] != column:
            passed.append(column)
            column = self._next[column]
        self._next.update(dict.fromkeys(passed, column))
        return column

    def members(self) -> list[list[int]]:
        """Return the columns of each group in the given order."""
        found: dict[int, list[int]] = {}
        for column in self._next:
            found.setdefault(self.of(column), []).append(column)
        return list(found.values())
