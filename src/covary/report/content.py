"""What a report says, gathered before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from covary.names import printable, shown
from covary.report.figures.style import Spec, label
from covary.report.plots import SearchFigures, SetFigures
from covary.report.searched import Searched

if TYPE_CHECKING:
    from covary.results import SearchResult, Subspace

OnStage = Callable[[str, int, int], None]

MOST_CARDS = 100
HEADLINES = 5
SURE = 0.05


class Headline(NamedTuple):
    """A finding in a sentence, and the rank of the set that it is about."""

    sentence: str
    rank: int


class Line(NamedTuple):
    """One set in the list of all that were found."""

    rank: int
    score: str
    pvalues: tuple[str, ...]
    columns: tuple[str, ...]
    remark: str
    has_card: bool


class Explained(NamedTuple):
    """How much of a column is explained, by what, and how.

    ``from_missing`` is how many of its rows lack what explains it, if that is most of them.
    """

    target: str
    by: str
    several: bool
    share: float
    details: str
    from_missing: int = 0


class Card(NamedTuple):
    """One set, with what explains what in it, and its figures by their names."""

    rank: int
    title: str
    numbers: tuple[tuple[str, str], ...]
    explained: tuple[Explained, ...]
    remark: str
    note: str
    figure: str
    null: str
    axes: tuple[tuple[str, str], ...]


class Content(NamedTuple):
    """Everything that is on the page.

    Parameters
    ----------
    figures : by name, as Vega-Lite has them; those of rows draw them from ``points``
    points : by field, the cells of all rows that are drawn
    """

    title: str
    facts: tuple[tuple[str, str], ...]
    warning: str
    headlines: tuple[Headline, ...]
    chance: str
    lines: tuple[Line, ...]
    tested: bool
    marked: bool
    arrows: bool
    meanings: tuple[str, ...]
    cards: tuple[Card, ...]
    figures: dict[str, Spec]
    points: dict[str, list[Any]]


def gather(
    result: SearchResult,
    searched: Searched,
    version: str,
    title: str,
    *,
    with_rows: bool = True,
    on_progress: OnStage | None = None,
) -> Content:
    """Return what a report on a search says; without rows, no cell of the table is in it."""

    def tell(done: int, total: int) -> None:
        if on_progress is not None:
            on_progress("pairs", done, total)

    whole = SearchFigures(searched, tell)
    figures = {"heatmap": whole.heatmap()}
    cards = []
    for rank, subspace in enumerate(result[:MOST_CARDS], start=1):
        of_set = SetFigures(searched, searched.sets[rank - 1])
        figures[f"set{rank}"] = of_set.projections() if with_rows else of_set.counts()
        null = of_set.null_distribution()
        if null is not None:
            figures[f"null{rank}"] = null
        cards.append(_card(rank, subspace, result, of_set, with_rows, null is not None))
        if on_progress is not None:
            on_progress("figures", rank, min(len(result), MOST_CARDS))
    graph = whole.graph()
    if graph is not None:
        figures["graph"] = graph
    headlines = tuple(_headlines(result, cards))
    return Content(
        title=printable(title),
        facts=_facts(result, searched, version),
        warning=result.unfinished(),
        headlines=headlines,
        chance=_chance(result, headlines),
        lines=tuple(_line(rank, each) for rank, each in enumerate(result, start=1)),
        tested=result.tests is not None,
        marked=any(subspace.adds_nothing for subspace in result),
        arrows=searched.measure.explains,
        meanings=tuple(result.explained()),
        cards=tuple(cards),
        figures=figures,
        points=_shared_points(figures),
    )


def _shared_points(figures: dict[str, Spec]) -> dict[str, list[Any]]:
    """Take the points out of all figures, where most stand many times; leave which rows."""
    rows: dict[int, Spec] = {}
    drawn = {
        name: figure.pop("data")["values"]
        for name, figure in figures.items()
        if "concat" in figure and "data" in figure
    }
    for points in drawn.values():
        for point in points:
            rows.setdefault(point["row"], {}).update(point)
    place = {row: at for at, row in enumerate(rows)}
    for name, points in drawn.items():
        fields = list(points[0]) if points else []
        figures[name]["usermeta"] = {"fields": fields, "rows": [place[p["row"]] for p in points]}
    fields = list(dict.fromkeys(field for row in rows.values() for field in row))
    return {field: [row.get(field) for row in rows.values()] for field in fields}


def _line(rank: int, subspace: Subspace) -> Line:
    return Line(
        rank,
        shown(subspace.score),
        tuple("-" if p is None else shown(p) for p in _tested(subspace)),
        tuple(label(column) for column in subspace.columns),
        "adds nothing to its parts" if subspace.adds_nothing else "",
        rank <= MOST_CARDS,
    )


def _tested(subspace: Subspace) -> tuple[float | None, ...]:
    return (subspace.pvalue, subspace.qvalue, subspace.family_pvalue)


def _card(
    rank: int,
    subspace: Subspace,
    result: SearchResult,
    of_set: SetFigures,
    with_rows: bool,
    tested: bool,
) -> Card:
    numbers = [(result.measure, shown(subspace.score))]
    for name, value in zip(("p", "q", "family p"), _tested(subspace), strict=True):
        if value is not None:
            numbers.append((name, shown(value)))
    remark = ""
    if subspace.adds_nothing:
        remark = "Adds nothing to its parts: it may score high only because of what is in it."
    return Card(
        rank=rank,
        title=", ".join(label(column) for column in subspace.columns),
        numbers=tuple(numbers),
        explained=tuple(_explained(subspace, result, of_set, with_rows)),
        remark=remark,
        note=(of_set.drawn() if with_rows else of_set.counted()) + of_set.undrawn(),
        figure=f"set{rank}",
        null=f"null{rank}" if tested else "",
        axes=tuple(of_set.numeric_axes()) if with_rows else (),
    )


def _explained(
    subspace: Subspace, result: SearchResult, of_set: SetFigures, with_rows: bool
) -> list[Explained]:
    """Return what is explained by what; with a target, what it is the others explain of it."""
    if result.target is not None:
        others = [column for column in subspace.columns if column != result.target]
        if not 0.0 < subspace.score <= 1.0:
            return []
        return [
            Explained(label(result.target), _all_of(others), len(others) > 1, subspace.score, "")
        ]
    return [
        Explained(
            label(step.target),
            _all_of(step.by),
            len(step.by) > 1,
            step.explained,
            step.details(),
            of_set.rows_from_missing(step),
        )
        for step in of_set.steps(coarse=not with_rows)
    ]


def _all_of(names: Sequence[Any]) -> str:
    *most, last = (label(name) for name in names)
    return f"{', '.join(most)} and {last}" if most else last


def _headlines(result: SearchResult, cards: Sequence[Card]) -> list[Headline]:
    """Return the findings in plain sentences, one for each of the first sets that count."""
    headlines: list[Headline] = []
    told: set[tuple[str, str]] = set()
    for subspace, card in zip(result, cards, strict=False):
        if subspace.adds_nothing or subspace.score <= 0:
            continue
        if subspace.family_pvalue is not None and subspace.family_pvalue > SURE:
            continue
        news = [each for each in card.explained if (each.by, each.target) not in told]
        if news:
            best = max(news, key=lambda explained: explained.share)
            told.add((best.by, best.target))
            explain = "explain" if best.several else "explains"
            sentence = f"{best.by} {explain} {best.share:.0%} of {best.target}"
            if best.from_missing:
                sentence += f", counting {best.from_missing:,} rows in which {best.by} "
                sentence += "are missing" if best.several else "is missing"
            headlines.append(Headline(sentence, card.rank))
        elif not card.explained:
            sentence = f"{card.title} vary together ({result.measure} = {shown(subspace.score)})"
            headlines.append(Headline(sentence, card.rank))
        if len(headlines) == HEADLINES:
            break
    return headlines


def _chance(result: SearchResult, headlines: Sequence[Headline]) -> str:
    """Return in a sentence how likely such findings are in a table with nothing to find."""
    if result.scored == 0:
        return "No set was scored."
    if not headlines and result.tests is None:
        return "No set scores above 0."
    if not headlines:
        return "Nothing was found that chance alone could not have done."
    pvalues = [result[headline.rank - 1].family_pvalue for headline in headlines]
    known = [pvalue for pvalue in pvalues if pvalue is not None]
    if len(known) < len(pvalues):
        how = "Not tested" if result.tests is None else "Not tested to the end"
        return f"{how}: any of these could be chance."
    return (
        f"In a table with nothing to find, a search like this one finds as much with p = "
        f"{shown(max(known))}{' or less' if len(known) > 1 else ''}."
    )


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
        kinds = [f"{label(name)} ({kind})" for name, kind in table.kinds_left_out()]
        facts.append(("Left out", "; ".join(kinds)))
    constant = [
        searched.labels[at] for at, varies in enumerate(searched.prepared.varies) if not varies
    ]
    if constant:
        facts.append(("Never vary", ", ".join(label(name) for name in constant)))
    if result.target is not None:
        facts.append(("Target", label(result.target)))
    for name, meaning in (
        ("prune", "sets whose superset scores as high"),
        ("sift", "sets that add nothing to their parts"),
    ):
        if parameters[name]:
            facts.append(("Not listed", meaning))
    if result.tests is not None:
        tests = result.tests
        facts.append(
            (
                "Tests",
                f"up to {tests.permutations:,} permutations a set, {tests.searches:,} shuffled "
                f"tables searched, seed {tests.seed}",
            )
        )
        corrections = (
            "q for all sets that were scored (Benjamini-Hochberg), family p for the whole search "
            "(Westfall-Young)"
        )
        facts.append(("Corrected", corrections if tests.complete else "not yet"))
    else:
        facts.append(("Tests", "none: any of these sets could be chance (permutations=999)"))
    if searched.started is not None:
        when = f"{searched.started:%Y-%m-%d %H:%M} UTC"
        if searched.finished is not None:
            when += f", in {_duration((searched.finished - searched.started).total_seconds())}"
        facts.append(("Searched", when))
    facts.append(("Written", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC by covary {version}"))
    return tuple(facts)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
