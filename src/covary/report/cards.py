"""The cards of a report: one section per set of a search or per link of an overview."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from covary.correlation_scale import like_correlation
from covary.formatting import fraction_text, short_number
from covary.plots.figures.style import joined_labels, shown_label
from covary.plots.set_figures import MarkableAxis, SetFigures
from covary.plots.table_map import link_sentence
from covary.report.findings import Contribution, ExplainedColumn
from covary.report.profile import profile_of
from covary.results import ADDS_NOTHING, Link, SearchResult, Step, Subspace

MAX_CARDS = 100
PVALUES = ("p", "q", "family-wise p")


class Card(NamedTuple):
    """The section of one set of columns.

    Parameters
    ----------
    anchor : its name on the page
    title : its heading
    numbers : names and values of score and p-values
    explained : one entry per explained column
    figure, null : the names of its figures; ``null`` is empty if the set was not tested
    axes : the columns whose rows can be marked
    legend : sentences that say how to read the panels
    """

    anchor: str
    title: str
    numbers: tuple[tuple[str, str], ...]
    explained: tuple[ExplainedColumn, ...]
    remark: str
    note: str
    figure: str
    null: str
    axes: tuple[MarkableAxis, ...]
    legend: tuple[str, ...]


def card_of_set(
    rank: int,
    subspace: Subspace,
    result: SearchResult,
    set_figures: SetFigures,
    with_rows: bool,
    tested: bool,
) -> Card:
    """Return the card of a set of a search.

    Parameters
    ----------
    rank, subspace : the set
    result : the search
    set_figures : the figures of the set
    with_rows : whether the page may contain values of the table
    tested : whether there is a null distribution
    """
    numbers = [(result.measure, short_number(subspace.score))]
    pvalues = (subspace.pvalue, subspace.qvalue, subspace.family_pvalue)
    for name, value in zip(PVALUES, pvalues, strict=True):
        if value is not None:
            numbers.append((name, short_number(value)))
    remark = ""
    if subspace.adds_nothing:
        remark = f"This set {ADDS_NOTHING}: its score may come from a subset alone."
    title = ", ".join(shown_label(column) for column in subspace.columns)
    card = _card(f"set{rank}", f"{rank}. {title}", numbers, set_figures, with_rows)
    return card._replace(
        explained=tuple(_explained_columns(subspace, result, set_figures, with_rows)),
        remark=remark,
        null=f"null{rank}" if tested else "",
    )


def card_of_link(at: int, link: Link, set_figures: SetFigures, with_rows: bool) -> Card:
    """Return the card of a link of an overview.

    Parameters
    ----------
    at, link : the link and its number
    set_figures : the figures of its columns, with its target
    with_rows : whether the page may contain values of the table
    """
    numbers = [("like a correlation of", fraction_text(like_correlation(link.explained)))]
    pvalues = (link.pvalue, link.qvalue, link.family_pvalue)
    numbers += [
        (name, short_number(value))
        for name, value in zip(PVALUES, pvalues, strict=True)
        if value is not None
    ]
    explained = ExplainedColumn(
        shown_label(link.target),
        joined_labels(link.by),
        len(link.by) > 1,
        link.explained,
        contributions_of(link),
    )
    steps = set_figures.steps(coarse=not with_rows)
    names = set_figures.record.prepared.names
    by = {names[at] for at in set_figures.columns if at != set_figures.target}
    if len(steps) == 1 and set(steps[0].by) == by:
        own = _explained_column(steps[0], set_figures, with_rows)
        explained = explained._replace(details=own.details, profile=own.profile)
    title = link_sentence(link, with_share=False)
    card = _card(anchor_of(at), title, numbers, set_figures, with_rows)
    return card._replace(explained=(explained,))


def anchor_of(at: int) -> str:
    """Return the name of the card of a link on the page."""
    return f"link{at + 1}"


def contributions_of(link: Link) -> tuple[Contribution, ...]:
    """Return what each of several explaining columns explains alone, and what it adds."""
    if len(link.by) < 2 or not len(link.by) == len(link.alone) == len(link.adds):
        return ()
    return tuple(
        Contribution(shown_label(name), alone, adds)
        for name, alone, adds in zip(link.by, link.alone, link.adds, strict=True)
    )


def _card(
    anchor: str,
    title: str,
    numbers: Sequence[tuple[str, str]],
    set_figures: SetFigures,
    with_rows: bool,
) -> Card:
    """Return a card with everything that its figures give."""
    return Card(
        anchor=anchor,
        title=title,
        numbers=tuple(numbers),
        explained=(),
        remark="",
        note=set_figures.note_on_rows() if with_rows else set_figures.note_on_counts(),
        figure=anchor,
        null="",
        axes=tuple(set_figures.markable_axes()) if with_rows else (),
        legend=tuple(set_figures.notes_on_panels(with_rows=with_rows)),
    )


def _explained_columns(
    subspace: Subspace, result: SearchResult, set_figures: SetFigures, with_rows: bool
) -> list[ExplainedColumn]:
    """Return the explained columns of a set; in a search with a target, only the target."""
    steps = set_figures.steps(coarse=not with_rows)
    if result.target is None:
        return [
            _explained_column(step, set_figures, with_rows)._replace(
                rows_missing=set_figures.rows_without_explanation(step)
            )
            for step in steps
        ]
    if not 0.0 < subspace.score <= 1.0:
        return []
    others = [column for column in subspace.columns if column != result.target]
    target = shown_label(result.target)
    given = result.parameters.get("given") or ()
    if given:
        target += f" beyond {joined_labels(given)}"
    explained = ExplainedColumn(target, joined_labels(others), len(others) > 1, subspace.score)
    if len(steps) != 1:
        return [explained]
    details = _explained_column(steps[0], set_figures, with_rows, given)
    return [
        explained._replace(
            contributions=details.contributions, details=details.details, profile=details.profile
        )
    ]


def _explained_column(
    step: Step, set_figures: SetFigures, with_rows: bool, given: Sequence[Any] = ()
) -> ExplainedColumn:
    """Return what a step explains, with its details; given columns are marked."""
    labels = {str(name): f"{shown_label(name)} (given)" for name in given}
    contributions = tuple(
        Contribution(labels.get(name, shown_label(name)), alone, adds)
        for name, alone, adds in step.contributions()
    )
    columns = {column.name: column for column in set_figures.record.prepared.table.columns}
    return ExplainedColumn(
        shown_label(step.target),
        joined_labels(step.by),
        len(step.by) > 1,
        step.explained,
        contributions,
        "; ".join(step.note_on_missing()) if contributions else step.details(),
        profile=profile_of(step, columns, labels, coarse=not with_rows),
    )
