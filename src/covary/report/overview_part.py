"""The part of a report about the overview of a table: its map, groups and links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from covary.correlation_scale import reading
from covary.formatting import counted, percent_text, printable
from covary.plots.figures.map_shapes import TableMap
from covary.plots.figures.style import isolated, joined_labels, shown_label
from covary.plots.levels import shortened
from covary.plots.table_map import EXACT, all_columns, link_sentence, table_map
from covary.report.cards import contributions_of
from covary.report.findings import Contribution
from covary.results import Link, MissingTogether, Overview
from covary.results.link import LEAST_MISSING, pvalue_text

MAX_CHARACTERS = 300


class ListedLink(NamedTuple):
    """One line of the list of links.

    Parameters
    ----------
    number : the position of the link in the overview
    sentence : the link in words
    fraction : the explained fraction
    percent : the same as text
    is_exact : whether it is a copy, a function or an identity; then it has no bar
    notes : how to read the fraction, its q-value, and missing cells
    contributions : those of several explaining columns
    anchor : the name of its card on the page; empty if it has none
    """

    number: int
    sentence: str
    fraction: float
    percent: str
    is_exact: bool
    notes: tuple[str, ...]
    contributions: tuple[Contribution, ...]
    anchor: str


class ListedGroup(NamedTuple):
    """A group of columns and its links."""

    name: str
    size: str
    links: tuple[ListedLink, ...]


class NamedColumn(NamedTuple):
    """A column: its position in the table and its label."""

    column: int
    label: str


class OverviewPart(NamedTuple):
    """The part of a report about an overview.

    Parameters
    ----------
    summary : one line that describes the table
    map : the map; None if there are no links
    nothing_linked : a sentence that says so then
    groups : connected columns with their links
    alone, constant : columns without links, and columns that never vary
    missing : sentences about columns that are missing together
    repeated : sentences about repeated rows
    not_examined : what was not examined
    meanings : sentences that define the numbers
    columns : the labels of all columns, in table order
    links : for each link, the positions of its explaining columns and of its target
    """

    summary: str
    map: TableMap | None
    nothing_linked: str
    groups: tuple[ListedGroup, ...]
    alone: tuple[NamedColumn, ...]
    constant: tuple[NamedColumn, ...]
    missing: tuple[str, ...]
    repeated: tuple[str, ...]
    not_examined: tuple[str, ...]
    meanings: tuple[str, ...]
    columns: tuple[str, ...]
    links: tuple[tuple[int, ...], ...]


def gather_overview(overview: Overview, anchors: Sequence[str]) -> OverviewPart:
    """Return the part of a report about an overview.

    Parameters
    ----------
    overview : the overview
    anchors : for each link, the name of its card on the page, or an empty text
    """
    names = all_columns(overview)
    position = {name: at for at, name in enumerate(names)}
    return OverviewPart(
        summary=overview.summary(),
        map=table_map(overview) if overview.links else None,
        nothing_linked=overview.nothing_linked(),
        groups=tuple(_listed_groups(overview, anchors)),
        alone=tuple(_named(overview.alone, position)),
        constant=tuple(_named(overview.constant, position)),
        missing=tuple(_missing_sentence(each) for each in overview.missing_together),
        repeated=(overview.about_repeated_rows(),) if overview.repeated_rows else (),
        not_examined=tuple(_shown(text) for text in overview.not_examined),
        meanings=tuple(_meanings(overview)),
        columns=tuple(shown_label(name) for name in names),
        links=tuple(tuple(position[name] for name in link.columns) for link in overview.links),
    )


def _listed_groups(overview: Overview, anchors: Sequence[str]) -> list[ListedGroup]:
    groups = []
    number = 0
    for group in overview.groups:
        links = []
        for link in group.links:
            links.append(_listed_link(number, link, anchors[number]))
            number += 1
        size = counted(len(group.columns), "column")
        groups.append(ListedGroup(shown_label(group.name), size, tuple(links)))
    return groups


def _listed_link(number: int, link: Link, anchor: str) -> ListedLink:
    is_exact = link.kind in EXACT
    notes = []
    if not is_exact:
        notes.append(reading(link.explained))
    if link.qvalue is not None:
        notes.append(pvalue_text("q", link.qvalue))
    if link.missing >= LEAST_MISSING:
        they = "it is" if len(link.by) == 1 else "they are"
        notes.append(
            f"{percent_text(link.missing)} of {shown_label(link.target)} by whether {they} missing"
        )
    return ListedLink(
        number,
        link_sentence(link, with_share=False),
        min(max(link.explained, 0.0), 1.0),
        percent_text(link.explained),
        is_exact,
        tuple(notes),
        contributions_of(link),
        anchor,
    )


def _meanings(overview: Overview) -> list[str]:
    """Return what the numbers of the links mean."""
    if all(link.kind in EXACT for link in overview.links):
        return []
    meanings = [
        "Explained fraction: 0% if independent, 100% if determined. “Like a correlation of”: the "
        "correlation of two normal columns with the same explained fraction. It may be high "
        "although the correlation of the columns themselves is 0."
    ]
    if any(contributions_of(link) for link in overview.links):
        meanings.append(
            "Alone: what a column explains if nothing else is known. Adds: what it explains "
            "beyond all others, as a fraction of what these leave unexplained."
        )
    if any(link.qvalue is not None for link in overview.links):
        meanings.append(
            "q: the expected share of false links among those with at least this evidence, from "
            "permutations, corrected for all relations that were compared."
        )
    return meanings


def _missing_sentence(each: MissingTogether) -> str:
    return (
        f"{joined_labels(each.columns)} are missing together in {counted(each.rows, 'row')}: "
        f"{each.share:.0%} of the rows in which any of them is missing"
    )


def _named(names: Sequence[Any], position: dict[Any, int]) -> list[NamedColumn]:
    return [NamedColumn(position[name], shown_label(name)) for name in names]


def _shown(text: str) -> str:
    return isolated(shortened(printable(text), MAX_CHARACTERS))
