"""`covary search`: find sets of dependent columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from covary.cli import options, output
from covary.cli.output import INTERRUPTED
from covary.formatting import printable, short_number

if TYPE_CHECKING:
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
    as_json: bool,
    engine: str,
    jobs: int | None,
    strategy: str,
    **keywords: Any,
) -> int:
    """Find the sets of columns of FILE that depend on each other most.

    \b
    Examples:
      covary search wine.csv --top 10
      covary search wine.csv --target density --max-size 3
      covary search wine.csv --permutations 999          with p-values
      covary search genes.parquet --run genes.covary     if interrupted, add --resume
      covary search wine.csv --report wine.html          an HTML page
    """  # noqa: D301
    from covary.api import search_result
    from covary.engines import find_engine
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
        print_result(result)
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


def print_result(result: SearchResult) -> None:
    """Print the sets, best first; only the number, and the smallest p, of those that score 0."""
    out = output.console()
    out.print(output.cell(result.summary()))
    listed = [subspace for subspace in result if subspace.score > 0]
    rest = [subspace for subspace in result if subspace.score <= 0]
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
    score, columns = ("#score", "columns") if result.target is None else ("#explained", "by")
    tested = result.tests is not None
    marked = any(subspace.adds_nothing for subspace in listed)
    highest = max(listed[0].score, 1.0)  # some measures have no upper bound
    with_bar = not tested or out.width >= MIN_WIDTH_FOR_BARS
    headings = [
        "#",
        score,
        *([""] if with_bar else []),
        *(["#p", "#q", "#family-\nwise p"] if tested else []),
    ]
    listing = output.table(*headings, columns, *([""] if marked else []))
    for rank, subspace in enumerate(listed, start=1):
        names = [name for name in subspace.columns if name != result.target]
        pvalues = (subspace.pvalue, subspace.qvalue, subspace.family_pvalue)
        listing.add_row(
            str(rank),
            short_number(subspace.score),
            *([output.bar(subspace.score / highest)] if with_bar else []),
            *([output.pvalue(p) for p in pvalues] if tested else []),
            output.cell(", ".join(names)),
            *(["may add nothing" if subspace.adds_nothing else ""] if marked else []),
        )
    out.print(listing)
    for line in result.explained():
        out.print(output.cell(line), style="dim")
    if rest:
        score, are = ("score", "are") if len(rest) > 1 else ("scores", "is")
        zero = "0" if min(subspace.score for subspace in rest) == 0 else "0 or less"
        found = f" ({smallest})" if smallest else ""
        of_all = f"{len(rest):,} of these {len(result):,} sets"
        out.print(output.cell(f"{of_all} {score} {zero} and {are} not shown{found}."))


def _smallest_pvalue(sets: Sequence[Subspace], target: Any) -> str:
    """Return the smallest p-value of sets, and which one has it; empty if none was tested."""
    tested = [subspace for subspace in sets if subspace.pvalue is not None]
    if not tested:
        return ""
    best = min(tested, key=lambda subspace: subspace.pvalue or 0.0)
    names = ", ".join(printable(name) for name in best.columns if name != target)
    among = f", the smallest of {len(tested):,}" if len(tested) > 1 else ""
    return f"p = {output.pvalue(best.pvalue)} for {names}{among}"
