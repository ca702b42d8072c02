"""The content of a report: texts, tables and figures, before any HTML."""

from __future__ import annotations

from typing import Any, NamedTuple

from covary.array_types import OnStage
from covary.formatting import printable, short_number
from covary.plots.figure_source import FigureSource
from covary.plots.figures.style import Spec, shown_label
from covary.plots.search_figures import SearchFigures
from covary.plots.set_figures import SetFigures
from covary.plots.table_map import EXACT
from covary.report.cards import MAX_CARDS, Card, anchor_of, card_of_link, card_of_set
from covary.report.findings import Finding, list_findings, significance_note
from covary.report.overview_part import OverviewPart, gather_overview
from covary.report.settings import Setting, list_overview_settings, list_settings
from covary.results import ADDS_NOTHING, Overview, RowDependence, SearchResult, Subspace
from covary.searching.progress import of_stage


class ListedSet(NamedTuple):
    """One line of the list of sets."""

    rank: int
    score: str
    pvalues: tuple[str, ...]
    columns: tuple[str, ...]
    remark: str
    has_card: bool


class SearchPart(NamedTuple):
    """The part of a report about a search.

    Parameters
    ----------
    findings : sentences about the best sets
    significance : a sentence about the significance of the findings
    sets : the list of sets
    tested, marked, explains, has_target : whether there are p-values, remarks, explaining columns
        and a target
    meanings : sentences that define the p-values
    """

    findings: tuple[Finding, ...]
    significance: str
    sets: tuple[ListedSet, ...]
    tested: bool
    marked: bool
    explains: bool
    has_target: bool
    meanings: tuple[str, ...]


class ReportContent(NamedTuple):
    """The content of a report; it has an overview, a search, or both.

    Parameters
    ----------
    title : the heading of the page
    settings : names and values about the table, the search and the tests
    warning : sentences if something is incomplete or p-values may be wrong, else empty
    overview : the map of the table, groups and links
    search : the findings and sets of a search
    cards : one section per set, or per link if there is no search
    figures : Vega-Lite data by name; scatter plots take their rows from ``points``
    points : by field, the values of all drawn rows
    """

    title: str
    settings: tuple[Setting, ...]
    warning: str
    overview: OverviewPart | None
    search: SearchPart | None
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
    overview: Overview | None = None,
) -> ReportContent:
    """Return the content of the report of a search.

    Parameters
    ----------
    result : the result of the search
    source : the data of its figures
    title : the heading of the page
    with_rows : whether the report may contain values of the table
    on_progress : is called with the stage ("pairs" or "figures"), the amount done and the total
    overview : the overview of the same table, if the page begins with it
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
        tested = null is not None
        cards.append(card_of_set(rank, subspace, result, set_figures, with_rows, tested))
        report_figures(rank, min(len(result), MAX_CARDS))
    some = {"graph": search_figures.graph(), "delays": search_figures.delays()}
    figures |= {name: figure for name, figure in some.items() if figure is not None}
    findings = tuple(list_findings(result, [card.explained for card in cards]))
    warnings = [
        result.unfinished(),
        about_rows(None if result.tests is None else result.tests.row_dependence),
    ]
    of_overview = None
    if overview is not None:
        anchors = {
            frozenset(subspace.columns): card.anchor
            for subspace, card in reversed(list(zip(result, cards, strict=False)))
        }
        of_overview = gather_overview(
            overview, [anchors.get(frozenset(link.columns), "") for link in overview.links]
        )
        warnings.append(overview.unfinished())
    return ReportContent(
        title=printable(title),
        settings=list_settings(result, source.record, with_rows=with_rows),
        warning=" ".join(filter(None, warnings)),
        overview=of_overview,
        search=SearchPart(
            findings=findings,
            significance=significance_note(result, findings),
            sets=tuple(_listed(rank, each) for rank, each in enumerate(result, start=1)),
            tested=result.tests is not None,
            marked=any(_remark(subspace) for subspace in result),
            explains=source.record.measure.explains,
            has_target=result.target is not None,
            meanings=tuple(result.explained()),
        ),
        cards=tuple(cards),
        figures=figures,
        points=_take_points(figures),
    )


def gather_overview_content(
    overview: Overview,
    source: FigureSource,
    title: str,
    *,
    with_rows: bool = True,
    on_progress: OnStage | None = None,
) -> ReportContent:
    """Return the content of the report of an overview.

    Parameters
    ----------
    overview : the overview
    source : the data of its figures; the sets of its record are the columns of the links
    title : the heading of the page
    with_rows : whether the report may contain values of the table
    on_progress : is called with the stage "figures", the amount done and the total
    """
    report_figures = of_stage("figures", on_progress)
    position = {name: at for at, name in enumerate(source.record.labels)}
    figures: dict[str, Spec] = {}
    cards = []
    shown = _links_with_cards(overview)
    for done, at in enumerate(shown, start=1):
        link = overview.links[at]
        columns = source.record.sets[at]
        set_figures = SetFigures(source, columns, position[link.target])
        card = card_of_link(at, link, set_figures, with_rows)
        figures[card.figure] = set_figures.projections() if with_rows else set_figures.counts()
        cards.append(card)
        report_figures(done, len(shown))
    anchors = [anchor_of(at) if at in shown else "" for at in range(len(overview.links))]
    return ReportContent(
        title=printable(title),
        settings=list_overview_settings(overview, source.record, with_rows=with_rows),
        warning=" ".join(
            filter(None, [overview.unfinished(), about_rows(overview.row_dependence)])
        ),
        overview=gather_overview(overview, anchors),
        search=None,
        cards=tuple(cards),
        figures=figures,
        points=_take_points(figures),
    )


def about_rows(dependence: RowDependence | None) -> str:
    """Return a warning about dependent rows as a sentence; empty if there is none."""
    if dependence is None:
        return ""
    text = str(dependence)
    return f"{text[0].upper()}{text[1:]}."


def _links_with_cards(overview: Overview) -> list[int]:
    """Return the numbers of the strongest links; copies and identities need no figure."""
    links = overview.links
    found = [at for at, link in enumerate(links) if link.kind not in EXACT]
    return sorted(sorted(found, key=lambda at: -links[at].explained)[:MAX_CARDS])


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
    pvalues = (subspace.pvalue, subspace.qvalue, subspace.family_pvalue)
    return ListedSet(
        rank,
        short_number(subspace.score),
        tuple("-" if p is None else short_number(p) for p in pvalues),
        tuple(shown_label(column) for column in subspace.columns),
        _remark(subspace),
        rank <= MAX_CARDS,
    )


def _remark(subspace: Subspace) -> str:
    """Return why a set may say nothing new; empty if it does."""
    if subspace.adds_nothing:
        return ADDS_NOTHING
    if subspace.variant_of is None:
        return ""
    return f"variant of {', '.join(shown_label(column) for column in subspace.variant_of)}"
