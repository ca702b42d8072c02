"""`covary search`: find sets of dependent columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from covary.cli import options, output
from covary.cli.output import INTERRUPTED
from covary.formatting import fraction_text, printable, short_number

if TYPE_CHECKING:
    from rich.console import Console

    from covary.results import SearchResult, Subspace
    from covary.searching.run import Search

# Narrower terminals have no room for bars beside p-values.
MIN_WIDTH_FOR_BARS = 100


def _generated() -> list[click.Option]:
    from covary.searching.options import SearchOptions

    return [
        *options.options_of(SearchOptions),
        *options.table_options(),
        *options.strategy_options(),
        *options.engine_options(),
    ]


@click.command("search", cls=options.GeneratedCommand, generated=_generated)
@options.file
@options.columns
@options.measure
@options.run_path
@options.resume
@options.report
@options.no_rows
@click.option("--all", "every_set", is_flag=True, help="Print every set, variants included.")
@options.as_json
def command(
    file: str,
    columns: list[str] | None,
    measure: str,
    parameters: dict[str, Any],
    run_path: str | None,
    resume: bool,
    report: str | None,
    no_rows: bool,
    every_set: bool,
    as_json: bool,
    engine: str,
    jobs: int | None,
    strategy: str,
    **keywords: Any,
) -> int:
    """Find the sets of columns of FILE that depend on each other most.

    \b
    Examples:
      covary search wine.csv --top 10                    one line per relation
      covary search wine.csv --all                       every set
      covary search wine.csv --target density --max-size 3
      covary search wine.csv --permutations 999          with p-values
      covary search genes.parquet --run genes.covary     if interrupted, add --resume
      covary search wine.csv --report wine.html          an HTML page
    """  # noqa: D301
    from covary.engines import find_engine
    from covary.report.presenter import search_result
    from covary.searching.run import Search

    options.check_files(file, run_path, resume, report, no_rows)
    found_engine = find_engine(engine, jobs)
    interrupted = False
    with output.stages() as on_progress:
        with output.notices():
            search = Search(_plan(file, columns, measure, parameters, strategy, keywords))
        with output.notices(), search.stored_in(run_path, resume=resume) as run_file:
            if (number := search.plan.candidates.number) is not None:
                click.echo(f"covary: {number:,} sets to score", err=True)
            try:
                search.run(found_engine, run_file, on_progress)
            except KeyboardInterrupt:
                interrupted = True
    if interrupted:
        _print_interrupted(search, run_path)
    result = search_result(search)
    if as_json:
        output.print_json(result.to_dict())
    else:
        print_result(result, every_set=every_set or result.parameters["sift"])
    if report is not None:
        title = f"Dependent columns in {Path(file).name}"
        if not output.write_report(result, report, title, run_path, no_rows, as_json):
            return INTERRUPTED
    return INTERRUPTED if interrupted else 0


def _plan(
    file: str,
    columns: list[str] | None,
    measure: str,
    parameters: dict[str, Any],
    strategy: str,
    keywords: dict[str, Any],
) -> Any:
    """Return the plan of the search."""
    from covary.measures import find_seeded
    from covary.searching.options import SearchOptions
    from covary.searching.plan import plan_search
    from covary.searching.strategies import find_strategy

    table = options.declared(file, keywords)
    given, of_strategy = SearchOptions.split(keywords)
    search_options = SearchOptions(**given)
    found = find_seeded(measure, search_options.seed, **parameters)
    chosen = find_strategy(strategy, found.max_columns, **of_strategy)
    return plan_search(table, columns, found, chosen, search_options)


def _print_interrupted(search: Search, run_path: str | None) -> None:
    how = f"; add --resume to continue {printable(run_path)}" if run_path else ""
    what = "during the tests" if search.complete else "these are the best sets so far"
    click.echo(f"covary: interrupted, {what}{how}", err=True)


def print_result(result: SearchResult, *, every_set: bool = False) -> None:
    """Print the relations, best first, or every set.

    Of the sets that score 0, print only the number and the smallest p.
    """
    out = output.console()
    listed = [subspace for subspace in result if subspace.score > 0]
    rest = [subspace for subspace in result if subspace.score <= 0]
    out.print(output.cell(result.summary(relations=bool(listed) and not every_set)))
    smallest = _smallest_pvalue(rest, result.target)
    if result.scored == 0:
        out.print("No set was scored.")
        return
    if not listed:
        found = f"; {smallest}" if smallest else ": nothing was found"
        out.print(output.cell(f"No set scores above 0{found}."))
        if result.measure == "uds":
            out.print(
                "uds does not detect weak dependence; --measure uds-chance, the default, does."
            )
        return
    shown = listed if every_set else list(result.relations)
    _print_sets(out, result, shown, with_variants=not every_set)
    for line in result.explained():
        out.print(output.cell(line), style="dim")
    if any(one.score < other.score for one, other in pairwise(shown)):
        out.print("certain relations come first: the others may score high by chance", style="dim")
    if not every_set and any(relation.variants for relation in shown):
        out.print(
            "variants: sets that contain this relation, or have most columns in common with it; "
            "--all lists every set",
            style="dim",
        )
    if rest:
        score, are = ("score", "are") if len(rest) > 1 else ("scores", "is")
        zero = "0" if min(subspace.score for subspace in rest) == 0 else "0 or less"
        found = f" ({smallest})" if smallest else ""
        of_all = f"{len(rest):,} of the best {len(result):,} sets"
        out.print(output.cell(f"{of_all} {score} {zero} and {are} not shown{found}."))


def _print_sets(
    out: Console, result: SearchResult, shown: Sequence[Subspace], *, with_variants: bool
) -> None:
    """Print one line per set."""
    from covary.correlation_scale import CORRELATION_SCALE_OF, like_correlation

    score, columns = ("#score", "columns") if result.target is None else ("#explained", "by")
    tested = result.tests is not None
    marked = any(subspace.adds_nothing for subspace in shown)
    as_correlations = result.measure == CORRELATION_SCALE_OF
    with_variants = with_variants and any(subspace.variants for subspace in shown)
    highest = max(1.0, *(each.score for each in shown))  # some measures have no upper bound
    with_bar = not tested or out.width >= MIN_WIDTH_FOR_BARS
    headings = [
        "#",
        score,
        *(["#like r"] if as_correlations else []),
        *([""] if with_bar else []),
        *(["#p", "#q", "#family-\nwise p"] if tested else []),
        *(["#variants"] if with_variants else []),
        columns,
        *([""] if marked else []),
    ]
    listing = output.table(*headings)
    for rank, subspace in enumerate(shown, start=1):
        names = [name for name in subspace.columns if name != result.target]
        pvalues = (subspace.pvalue, subspace.qvalue, subspace.family_pvalue)
        listing.add_row(
            str(rank),
            short_number(subspace.score),
            *([fraction_text(like_correlation(subspace.score))] if as_correlations else []),
            *([output.bar(subspace.score / highest)] if with_bar else []),
            *([output.pvalue(p) for p in pvalues] if tested else []),
            *([f"{subspace.variants:,}" if subspace.variants else ""] if with_variants else []),
            output.cell(", ".join(names)),
            *(["may add nothing" if subspace.adds_nothing else ""] if marked else []),
        )
    out.print(listing)


def _smallest_pvalue(sets: Sequence[Subspace], target: Any) -> str:
    """Return the smallest p-value of sets, and which one has it; empty if none was tested."""
    tested = [subspace for subspace in sets if subspace.pvalue is not None]
    if not tested:
        return ""
    best = min(tested, key=lambda subspace: subspace.pvalue or 0.0)
    names = ", ".join(printable(name) for name in best.columns if name != target)
    among = f", the smallest of {len(tested):,}" if len(tested) > 1 else ""
    return f"p = {output.pvalue(best.pvalue)} for {names}{among}"
