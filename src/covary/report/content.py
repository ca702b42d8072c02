"""What a report says, gathered before anything is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from covary.names import printable, shown
from covary.report.plots import Searched, SearchPlots, SetPlots

if TYPE_CHECKING:
    from covary.measures import Step
    from covary.results import SearchResult, Subspace

MOST_CARDS = 20
HEADLINES = 5
SURE = 0.05


class Line(NamedTuple):
    """One set in the list of all that were found."""

    rank: int
    score: str
    pvalues: tuple[str, ...]
    size: int
    columns: tuple[str, ...]
    remark: str
    has_card: bool


class Card(NamedTuple):
    """One set, with what explains what in it, and its figure."""

    rank: int
    title: str
    score: str
    steps: tuple[str, ...]
    remark: str
    figure: Any


class Content(NamedTuple):
    """Everything that is on the page, figures as specifications."""

    title: str
    facts: tuple[tuple[str, str], ...]
    warning: str
    headlines: tuple[str, ...]
    lines: tuple[Line, ...]
    tested: bool
    meanings: tuple[str, ...]
    cards: tuple[Card, ...]
    figures: dict[str, Any]


def gather(result: SearchResult, searched: Searched, version: str, title: str) -> Content:
    """Return what a report on a search says."""
    plots = SearchPlots(searched)
    cards = tuple(_card(rank, each, searched) for rank, each in _with_cards(result))
    figures = {"heatmap": _spec(plots.heatmap()), "graph": _spec(plots.graph())}
    figures |= {f"set{card.rank}": card.figure for card in cards}
    return Content(
        title=title,
        facts=_facts(result, searched, version),
        warning=_warning(result),
        headlines=tuple(_headlines(result, searched)),
        lines=tuple(_line(rank, each) for rank, each in enumerate(result, start=1)),
        tested=result.tests is not None,
        meanings=tuple(result.explained()),
        cards=cards,
        figures=figures,
    )


def _with_cards(result: SearchResult) -> list[tuple[int, Subspace]]:
    return [(rank, each) for rank, each in enumerate(result[:MOST_CARDS], start=1)]


def _line(rank: int, subspace: Subspace) -> Line:
    tested = (subspace.pvalue, subspace.qvalue, subspace.family_pvalue)
    return Line(
        rank,
        shown(subspace.score),
        tuple("-" if p is None else shown(p) for p in tested),
        len(subspace.columns),
        tuple(_name(column) for column in subspace.columns),
        "adds nothing to its parts" if subspace.adds_nothing else "",
        rank <= MOST_CARDS,
    )


def _card(rank: int, subspace: Subspace, searched: Searched) -> Card:
    title = ", ".join(_name(column) for column in subspace.columns)
    steps = _steps(subspace, searched)
    remark = ""
    if subspace.adds_nothing:
        remark = "Adds nothing to its parts: it may score high only because of what is in it."
    figure = _spec(SetPlots(searched, subspace.columns).projections())
    told = tuple(str(step).replace(": ", " is ", 1) for step in steps if step.by)
    return Card(rank, title, shown(subspace.score), told, remark, figure)


def _steps(subspace: Subspace, searched: Searched) -> Sequence[Step]:
    if not searched.measure.explains:
        return ()
    columns = [searched.labels.index(column) for column in subspace.columns]
    return searched.measure.explain_set(searched.prepared, columns).steps


def _headlines(result: SearchResult, searched: Searched) -> list[str]:
    """Return the findings in plain sentences, one for each of the first sets that count."""
    sentences: list[str] = []
    for subspace in result:
        if subspace.adds_nothing or subspace.score <= 0:
            continue
        if subspace.family_pvalue is not None and subspace.family_pvalue > SURE:
            continue
        best = max(_steps(subspace, searched), key=lambda step: step.explained, default=None)
        if best is not None and best.by:
            by = " and ".join(_name(column) for column in best.by)
            sentence = f"{by} explain{'s' if len(best.by) == 1 else ''} {best.explained:.0%} of "
            sentence += _name(best.target)
        else:
            names = ", ".join(_name(column) for column in subspace.columns)
            sentence = f"{names} vary together ({result.measure} = {shown(subspace.score)})"
        if subspace.family_pvalue is not None:
            sentence += f"; chance alone would do so with p = {shown(subspace.family_pvalue)}"
        if sentence not in sentences:
            sentences.append(sentence)
        if len(sentences) == HEADLINES:
            break
    return sentences or ["Nothing was found that chance alone could not have done."]


def _facts(result: SearchResult, searched: Searched, version: str) -> tuple[tuple[str, str], ...]:
    table = searched.prepared.table
    parameters = result.parameters
    measured = ", ".join(f"{k}={v}" for k, v in parameters["measure_parameters"].items())
    chosen = ", ".join(f"{k}={v}" for k, v in parameters["strategy_parameters"].items())
    facts = [
        ("Table", f"{result.rows:,} rows, {len(searched.labels):,} columns used"),
        ("Measure", f"{result.measure} ({measured or 'no parameters'})"),
        ("Search", f"{result.strategy} ({chosen}), {result.scored:,} sets scored"),
    ]
    if table.left_out:
        facts.append(("Left out", "; ".join(f"{_name(n)} ({why})" for n, why in table.left_out)))
    if result.target is not None:
        facts.append(("Target", _name(result.target)))
    if result.tests is not None:
        tests = result.tests
        facts.append(
            (
                "Tests",
                f"up to {tests.permutations:,} permutations a set, {tests.searches:,} shuffled "
                f"tables searched, seed {tests.seed}",
            )
        )
    else:
        facts.append(("Tests", "none: any of these sets could be chance (permutations=999)"))
    facts.append(("Written", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC by covary {version}"))
    return tuple(facts)


def _warning(result: SearchResult) -> str:
    if not result.complete:
        return "The search was interrupted: this is the best so far, there may be better sets."
    if result.tests is not None and not result.tests.complete:
        return "Testing was interrupted: p-values are rough, or missing."
    return ""


def _spec(chart: Any) -> dict[str, Any]:
    """Return a chart as Vega-Lite reads it; checking our own against the schema takes seconds."""
    spec: dict[str, Any] = chart.to_dict(validate=False)
    return spec


def _name(name: Any) -> str:
    return printable(name) or "(no name)"
