"""The map of an overview: columns as boxes, links as lines, and the texts on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from covary.formatting import counted, percent_text, printable
from covary.plots.figures.map_geometry import Box, text_width
from covary.plots.figures.map_group import Route
from covary.plots.figures.map_layers import MapLink
from covary.plots.figures.map_layout import map_layout
from covary.plots.figures.map_shapes import (
    HELPS,
    MARGIN,
    NUMBER_SIZE,
    MapColumn,
    MapJoint,
    MapLine,
    TableMap,
)
from covary.plots.figures.style import isolated, joined_labels, shown_label
from covary.plots.levels import shortened
from covary.results import Link, Overview
from covary.results.link import COPY, EXPLAINS, FUNCTION, GO_TOGETHER, IDENTITY

# A map with more columns cannot be read: it shows those of the strongest links.
MAX_COLUMNS = 150
MAX_CHARACTERS = 24
# Widths of lines: nothing explained, everything explained, and a line to a joint or a copy.
THINNEST, THICKEST, THIN = 1.0, 6.0, 1.4
EXACT = frozenset((COPY, FUNCTION, IDENTITY))
_EXACT_TEXTS = {COPY: "copy", FUNCTION: "function", IDENTITY: "formula"}


def table_map(overview: Overview, max_columns: int = MAX_COLUMNS) -> TableMap:
    """Return the map of an overview; the same links give the same map.

    Parameters
    ----------
    overview : the overview
    max_columns : if more columns have links, those of the strongest links are drawn
    """
    names = all_columns(overview)
    position = {name: at for at, name in enumerate(names)}
    drawn = strongest_links(overview.links, max_columns)
    map_links = [
        MapLink(
            tuple(position[name] for name in link.by),
            position[link.target],
            link.explained,
            link.kind not in (GO_TOGETHER, COPY),
            link.kind in EXACT,
        )
        for _, link in drawn
    ]
    link_of = {position[link.target]: (at, link) for at, link in drawn}
    texts = _distinct_texts(names)
    numbers = [number_text(link_of[at][1]) if at in link_of else "" for at in range(len(names))]
    widths = [_box_width(*both) for both in zip(texts, numbers, strict=True)]
    layout = map_layout(map_links, texts, widths)
    n_linked = len({name for link in overview.links for name in link.columns})
    left_out = ""
    if n_linked > len(layout.boxes):
        left_out = (
            f"The map shows {len(layout.boxes):,} of {n_linked:,} columns with links: those of "
            "the strongest links. The lists below contain all links."
        )
    return TableMap(
        columns=tuple(
            MapColumn(
                at,
                isolated(texts[at]),
                numbers[at],
                box,
                at in link_of,
                link_sentence(link_of[at][1]) if at in link_of else shown_label(names[at]),
            )
            for at, box in sorted(layout.boxes.items(), key=lambda item: _reading_order(item[1]))
        ),
        lines=tuple(
            _line(*link_of[route.target], route)
            for route in sorted(layout.routes, key=lambda each: not each.is_faint)
        ),
        joints=tuple(
            MapJoint(link_of[at][0], _kind(link_of[at][1]), place, link_sentence(link_of[at][1]))
            for at, place in layout.joints.items()
        ),
        panels=layout.panels,
        width=layout.width,
        height=layout.height,
        description=(
            f"Map of {counted(len(layout.boxes), 'column')} and {counted(len(drawn), 'link')}"
        ),
        left_out=left_out,
    )


def all_columns(overview: Overview) -> tuple[Any, ...]:
    """Return all columns of an overview: in table order, and any others after them."""
    linked = (name for link in overview.links for name in link.columns)
    return tuple(dict.fromkeys((*overview.columns, *linked, *overview.alone, *overview.constant)))


def strongest_links(links: Sequence[Link], max_columns: int) -> list[tuple[int, Link]]:
    """Return the strongest links of at most this many columns, each with its number.

    Copies, functions and identities come last, because they say little about the table.
    """
    ranked = sorted(
        enumerate(links),
        key=lambda each: (each[1].kind in EXACT, -each[1].explained, printable(each[1].target)),
    )
    columns: set[Any] = set()
    kept = []
    for at, link in ranked:
        if len(columns.union(link.columns)) <= max_columns:
            columns.update(link.columns)
            kept.append((at, link))
    return sorted(kept, key=lambda each: each[0])


def number_text(link: Link) -> str:
    """Return the explained fraction of a link, or the kind of an exact one."""
    return _EXACT_TEXTS.get(link.kind, percent_text(link.explained))


def link_sentence(link: Link, *, with_share: bool = True) -> str:
    """Return a link as a sentence, with or without its explained fraction.

    Long names are shortened.
    """
    target, by = shown_label(link.target), joined_labels(link.by)
    verb = "explains" if len(link.by) == 1 else "explain"
    if link.kind == COPY:
        return f"{target} repeats {by}"
    if link.kind == FUNCTION:
        return f"{target} is a function of {by}"
    if link.kind == IDENTITY:
        return f"{target} = {shortened(isolated(printable(link.formula)), 200)}"
    share = percent_text(link.explained) if with_share else ""
    if link.kind == GO_TOGETHER:
        return f"{by} and {target} go together" + (f": {share}" if share else "")
    return f"{by} {verb} " + (f"{share} of " if share else "") + target


def _line(at: int, link: Link, route: Route) -> MapLine:
    kind = HELPS if route.is_faint else _kind(link)
    to_joint = len(link.by) > 1 and route.start is not None
    is_thin = to_joint or link.kind in EXACT
    width = THIN if is_thin else THINNEST + (THICKEST - THINNEST) * min(link.explained, 1.0)
    has_arrow = not to_joint and link.kind not in (GO_TOGETHER, COPY)
    columns = (route.target,) if route.start is None else (route.start, route.target)
    return MapLine(at, kind, route.path, round(width, 2), has_arrow, columns, link_sentence(link))


def _kind(link: Link) -> str:
    if link.kind in EXACT:
        return "exact"
    return "together" if link.kind == EXPLAINS and len(link.by) > 1 else "explains"


def _distinct_texts(names: Sequence[Any]) -> list[str]:
    """Return short texts for the columns that are all different."""
    texts = [
        shortened(printable(str(name)[:4000]) or "(no name)", MAX_CHARACTERS) for name in names
    ]
    counts: dict[str, int] = {}
    for text in texts:
        counts[text] = counts.get(text, 0) + 1
    return [
        text if counts[text] == 1 else f"{shortened(text, MAX_CHARACTERS - 5)} #{at + 1}"
        for at, text in enumerate(texts)
    ]


def _box_width(text: str, number: str) -> float:
    width = text_width(text) + 2 * MARGIN
    return width + (MARGIN + text_width(number, NUMBER_SIZE) if number else 0.0)


def _reading_order(box: Box) -> tuple[float, float]:
    return (box.y, box.x)
