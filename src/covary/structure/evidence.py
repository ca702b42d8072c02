"""The evidence of links: p-values that account for all relations that were compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from covary.array_types import Columns, Floats
from covary.measures.uds_chance.evidence import evidence_of
from covary.prepare import Prepared
from covary.significance.null_evidence import (
    SMALLEST,
    FamilyPvalues,
    false_discovery_rates,
    family_pvalues,
)
from covary.structure.links import Draft

# Sets of up to this many columns are compared. The evidence of a link with more columns is that of
# its target and the first ones.
MAX_TESTED = 5
# Larger sets than triples are tested only if pairs and triples leave a larger p-value than this.
UNCLEAR = 0.001


def sets_evidence(prepared: Prepared, sets: Sequence[Columns]) -> list[float]:
    """Return the evidence of sets: a task."""
    found: list[float] = evidence_of(prepared, sets, None).tolist()
    return found


def small_sets(link: Draft) -> list[Columns]:
    """Return the sets whose evidence counts for a link: its pairs, and its first three columns.

    The explaining columns are in the order of what they explain.
    """
    pairs = [_with_target(link, (column,)) for column in link.by]
    return pairs if len(link.by) == 1 else [*pairs, _with_target(link, link.by[:2])]


def large_set(link: Draft) -> Columns:
    """Return all columns of a link, or the first ones of many."""
    return _with_target(link, link.by[: MAX_TESTED - 1])


def _with_target(link: Draft, by: Sequence[int]) -> Columns:
    return tuple(sorted((*by, link.target)))


def unclear_links(
    links: Sequence[Draft], evidence: Mapping[Columns, float], family: FamilyPvalues
) -> list[Draft]:
    """Return the links of more than three columns that pairs and triples do not show."""
    return [
        link
        for link in links
        if len(link.by) > 2
        and min(family.expected(len(each), evidence[each]) for each in small_sets(link)) > UNCLEAR
    ]


class LinkPvalues(NamedTuple):
    """The p-values of links, one entry each; see `covary.results.Link`."""

    pvalues: Floats
    qvalues: Floats
    family_pvalues: Floats


def link_pvalues(
    links: Sequence[Draft],
    evidence: Mapping[Columns, float],
    family: FamilyPvalues,
    n_columns: int,
) -> LinkPvalues:
    """Return the p-values of links from the evidence of their sets.

    Every set that was compared belongs to the family, so that the smallest p-value of a link's
    sets needs no further correction.
    """
    expected, of_target = np.empty(len(links)), np.empty(len(links))
    for at, link in enumerate(links):
        sets = [*small_sets(link), *([large_set(link)] if large_set(link) in evidence else [])]
        numbers = [family.expected(len(each), evidence[each]) for each in sets]
        best = int(np.argmin(numbers))
        expected[at] = numbers[best]
        # The share of all sets that contain the target.
        of_target[at] = numbers[best] * len(sets[best]) / n_columns
    own = np.clip(of_target, SMALLEST, 1.0)
    rates = np.maximum(false_discovery_rates(expected), own)
    return LinkPvalues(own, rates, np.maximum(family_pvalues(expected), rates))
