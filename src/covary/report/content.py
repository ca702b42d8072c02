"""The content of a report: texts, tables and figures, before any HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from covary.array_types import OnStage
from covary.formatting import printable, short_number
from covary.plots.figure_source import FigureSource
from covary.plots.figures.style import Spec, shown_label
from covary.plots.search_figures import SearchFigures
from covary.plots.set_figures import MarkableAxis, SetFigures
from covary.report.findings import (
    Contribution,
    ExplainedColumn,
    Finding,
    joined_labels,
    list_findings,
    significance_note,
)
from covary.report.profile import profile_of
from covary.report.settings import Setting, list_settings
from covary.results import ADDS_NOTHING, SearchResult, Step, Subspace
from covary.searching.progress import of_stage

MAX_CARDS = 100


class ListedSet(NamedTuple):
    """One line of the list of sets."""

    rank: int
    score: str
    pvalues: tuple[str, ...]
    columns: tuple[str, ...]
    remark: str
    has_card: bool


class Card(NamedTuple):
    """The section of one set.

    Parameters
    ----------
    numbers : names and values of score and p-values
    explained : one entry per explained column
    figure, null : the names of its figures; ``null`` is empty if the set was not tested
    axes : the columns whose rows can be marked
    legend : sentences that say how to read the panels
    """

    rank: int
    title: str
    numbers: tuple[tuple[str, str], ...]
    explained: tuple[ExplainedColumn, ...]
    remark: str
    note: str
    figure: str
    null: str
    axes: tuple[MarkableAxis, ...]
    legend: tuple[str, ...]


class ReportContent(NamedTuple):
    """The content of a report.

    Parameters
    ----------
    title : the heading of the page
    settings : names and values about the table, the search and the tests
    warning : a sentence if the search or its tests are incomplete, else empty
    findings : sentences about the best sets
    significance : a sentence about the significance of the findings
    sets : the list of sets
    tested, marked, explains, has_target : whether there are p-values, remarks, explaining columns
        and a target
    meanings : sentences that define the p-values
    cards : one section per set
    figures : Vega-Lite data by name; scatter plots take their rows from ``points``
    points : by field, the values of all drawn rows
    """

    title: str
    settings: tuple[Setting, ...]
    warning: str
    findings: tuple[Finding, ...]
    significance: str
    sets: tuple[ListedSet, ...]
    tested: bool
    marked: bool
    explains: bool
    has_target: bool
    meanings: tuple[str, ...]
    cards: tuple[Card, ...]
    figures: dict[str, Spec]
    points: dict[str, list[Any]]


def gather_content(
    result: SearchResult,
    source: FigureSource,
    title: str,
    *,
    with_rows: bool = True,
    on_progress: OnStage | None = None,
) -> ReportContent:
    """Return the content of the report of a search.

    Parameters
    ----------
    result : the result of the search
    source : the data of its figures
    title : the heading of the page
    with_rows : whether the report may contain values of the table
    on_progress : is called with the stage ("pairs" or "figures"), the amount done and the total
    """
    search_figures = SearchFigures(source, of_stage("pairs", on_progress))
    report_figures = of_stage("figures", on_progress)
    figures = {"heatmap": search_figures.heatmap()}
    cards = []
    for rank, subspace in enumerate(result[:MAX_CARDS], start=1):
        set_figures = SetFigures(source, source.record.sets[rank - 1])
        figures[f"set{rank}"] = set_figures.projections() if with_rows else set_figures.counts()
        null = set_figures.null_distribution()
        if null is not None:
            figures[f"null{rank}"] = null
        cards.append(_card(rank, subspace, result, set_figures, with_rows, null is not None))
        report_figures(rank, min(len(result), MAX_CARDS))
    graph = search_figures.graph()
    if graph is not None:
        figures["graph"] = graph
    findings = tuple(list_findings(result, [card.explained for card in cards]))
    return ReportContent(
        title=printable(title),
        settings=list_settings(result, source.record, with_rows=with_rows),
        warning=result.unfinished(),
        findings=findings,
        significance=significance_note(result, findings),
        sets=tuple(_listed(rank, each) for rank, each in enumerate(result, start=1)),
        tested=result.tests is not None,
        marked=any(subspace.adds_nothing for subspace in result),
        explains=source.record.measure.explains,
        has_target=result.target is not None,
        meanings=tuple(result.explained()),
        cards=tuple(cards),
        figures=figures,
        points=_take_points(figures),
    )


def _take_points(figures: dict[str, Spec]) -> dict[str, list[Any]]:
    """Move the points of all scatter plots into one table; return it.

    Most rows occur in many figures. Each figure keeps only the positions of its rows.
    """
    rows: dict[int, Spec] = {}
    points_by_figure = {
        name: figure.pop("data")["values"]
        for name, figure in figures.items()
        if "concat" in figure and "data" in figure
    }
    for points in points_by_figure.values():
        for point in points:
            rows.setdefault(point["row"], {}).update(point)
    position = {row: at for at, row in enumerate(rows)}
    for name, points in points_by_figure.items():
        fields = list(points[0]) if points else []
        figures[name]["usermeta"] = {
            "fields": fields,
            "rows": [position[point["row"]] for point in points],
        }
    fields = list(dict.fromkeys(field for row in rows.values() for field in row))
    return {field: [row.get(field) for row in rows.values()] for field in fields}


def _listed(rank: int, subspace: Subspace) -> ListedSet:
    return ListedSet(
        rank,
        short_number(subspace.score),
        tuple("-" if p is None else short_number(p) for p in _pvalues(subspace)),
        tuple(shown_label(column) for column in subspace.columns),
        ADDS_NOTHING if subspace.adds_nothing else "",
        rank <= MAX_CARDS,
    )


def _pvalues(subspace: Subspace) -> tuple[float | None, ...]:
    return (subspace.pvalue, subspace.qvalue, subspace.family_pvalue)


def _card(
    rank: int,
    subspace: Subspace,
    result: SearchResult,
    set_figures: SetFigures,
    with_rows: bool,
    tested: bool,
) -> Card:
    numbers = [(result.measure, short_number(subspace.score))]
    for name, value in zip(("p", "q", "family-wise p"), _pvalues(subspace), strict=True):
        if value is not None:
            numbers.append((name, short_number(value)))
    remark = ""
    if subspace.adds_nothing:
        remark = f"This set {ADDS_NOTHING}: its score may come from a subset alone."
    return Card(
        rank=rank,
        title=", ".join(shown_label(column) for column in subspace.columns),
        numbers=tuple(numbers),
        explained=tuple(_explained_columns(subspace, result, set_figures, with_rows)),
        remark=remark,
        note=set_figures.note_on_rows() if with_rows else set_figures.note_on_counts(),
        figure=f"set{rank}",
        null=f"null{rank}" if tested else "",
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
