"""The evidence of links: p-values that account for all relations that were compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from covary.array_types import Columns, Floats
from covary.measures.uds_chance.evidence import evidence_of
from covary.prepare import Prepared
from covary.significance.null_evidence import (
    FamilyPvalues,
    false_discovery_rates,
    family_pvalues,
)
from covary.structure.links import Draft
from covary.tail_probability import SMALLEST_PVALUE

# Relations of up to this many columns are compared. The evidence of a link with more columns is
# that of its target and the first ones.
MAX_TESTED = 5
# Larger relations than triples are tested only if pairs and triples leave a larger p-value.
UNCLEAR = 0.001


class Relation(NamedTuple):
    """Columns and the one that the others explain; None for a pair, which has no direction."""

    columns: Columns
    target: int | None

    @classmethod
    def of(cls, target: int, by: Sequence[int]) -> Relation:
        """Return the relation of a target and the columns that explain it."""
        return cls(tuple(sorted((*by, target))), target if len(by) > 1 else None)

    @property
    def size(self) -> int:
        """The number of columns."""
        return len(self.columns)


def relations_evidence(prepared: Prepared, relations: Sequence[Relation]) -> list[float]:
    """Return the evidence of relations: a task."""
    evidence = np.empty(len(relations))
    by_target: dict[int | None, list[int]] = {}
    for at, relation in enumerate(relations):
        by_target.setdefault(relation.target, []).append(at)
    for target, places in by_target.items():
        sets = [relations[at].columns for at in places]
        evidence[places] = evidence_of(prepared, sets, None, target)
    found: list[float] = evidence.tolist()
    return found


def small_relations(link: Draft) -> list[Relation]:
    """Return the relations that count for a link: its pairs, and its first three columns.

    The first columns are those that explain most alone.
    """
    by = link.strongest or link.by
    pairs = [Relation.of(link.target, (column,)) for column in by]
    return pairs if len(by) == 1 else [*pairs, Relation.of(link.target, by[:2])]


def large_relation(link: Draft) -> Relation:
    """Return the relation of all columns of a link, or of the first ones of many."""
    return Relation.of(link.target, (link.strongest or link.by)[: MAX_TESTED - 1])


def unclear_links(
    links: Sequence[Draft], evidence: Mapping[Relation, float], family: FamilyPvalues
) -> list[Draft]:
    """Return the links of more than three columns that pairs and triples do not show."""
    return [
        link
        for link in links
        if len(link.by) > 2
        and min(family.expected(each.size, evidence[each]) for each in small_relations(link))
        > UNCLEAR
    ]


class LinkPvalues(NamedTuple):
    """The p-values of links, one entry each; see `covary.results.Link`."""

    pvalues: Floats
    qvalues: Floats
    family_pvalues: Floats


def link_pvalues(
    links: Sequence[Draft],
    evidence: Mapping[Relation, float],
    family: FamilyPvalues,
    n_columns: int,
) -> LinkPvalues:
    """Return the p-values of links from the evidence of their relations.

    Every relation that was compared belongs to the family, so that the smallest p-value of a
    link's relations needs no further correction.
    """
    expected, of_target = np.empty(len(links)), np.empty(len(links))
    for at, link in enumerate(links):
        relations = [
            each for each in (*small_relations(link), large_relation(link)) if each in evidence
        ]
        numbers = [family.expected(each.size, evidence[each]) for each in relations]
        best = int(np.argmin(numbers))
        expected[at] = numbers[best]
        # The share of all relations of this size in which the column is the target, or one of two.
        share = (2 if relations[best].target is None else 1) / n_columns
        of_target[at] = numbers[best] * share
    own = np.clip(of_target, SMALLEST_PVALUE, 1.0)
    rates = np.maximum(false_discovery_rates(expected), own)
    return LinkPvalues(own, rates, np.maximum(family_pvalues(expected), rates))
