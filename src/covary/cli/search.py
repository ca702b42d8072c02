"""`covary search`: which sets of columns depend on each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from covary.cli import options, output
from covary.names import printable, shown

if TYPE_CHECKING:
    from covary.results import SearchResult


# Narrower terminals have no room for bars beside p-values.
WIDE = 100


@click.command("search")
@options.file
@options.columns
@options.measure
@click.option(
    "--target", metavar="NAME", help="Only sets with this column, by how much of it they explain."
)
@click.option(
    "--strategy",
    type=click.Choice(["beam", "exhaustive", "4s"]),
    default="beam",
    show_default=True,
    help="Which sets to score.",
)
@click.option(
    "--max-size",
    type=click.IntRange(min=2),
    help="The most columns of a set.  [default: 5; no limit with 4s; 2 with a measure of pairs]",
)
@click.option(
    "--beam",
    type=click.IntRange(min=1),
    help="How many sets of a size the next size is built from.  [default: 100]",
)
@click.option(
    "--parents",
    type=click.Choice(["all", "one"]),
    help="Beam search: how many subsets of a set have to be kept.  [default: all]",
)
@click.option("--prune", is_flag=True, help="Leave out sets whose superset scores as high.")
@click.option("--sift", is_flag=True, help="Leave out sets that add nothing to their parts.")
@options.top(default=100, least=1, of="sets")
@click.option(
    "--permutations",
    "-n",
    default=0,
    type=click.IntRange(min=0),
    metavar="N",
    help="Test which sets could be chance, with up to N permutations each; 999 is usual.",
)
@options.seed
@options.engine
@options.jobs
@click.option(
    "--run", "run_file", type=click.Path(), metavar="FILE.covary", help="Keep every score here."
)
@click.option("--resume", is_flag=True, help="Go on with the run file, or start it.")
@click.option(
    "--report",
    type=click.Path(),
    metavar="FILE.html",
    help="Write a page with everything that was found; it opens offline.",
)
@options.no_rows
@options.as_json
def command(
    file: str,
    columns: list[str] | None,
    measure: str,
    parameters: dict[str, Any],
    target: str | None,
    strategy: str,
    max_size: int | None,
    beam: int | None,
    parents: str | None,
    prune: bool,
    sift: bool,
    top: int,
    permutations: int,
    seed: int,
    engine: str,
    jobs: int | None,
    run_file: str | None,
    resume: bool,
    report: str | None,
    no_rows: bool,
    as_json: bool,
) -> int:
    """Find the sets of columns of FILE that depend on each other most.

    \b
    Examples:
      covary search wine.csv --top 10
      covary search wine.csv --target density --max-size 3
      covary search wine.csv --permutations 999          which of them could be chance?
      covary search genes.parquet --run genes.covary     interrupted? add --resume
      covary search wine.csv --report wine.html          a page to look at
    """  # noqa: D301
    from covary.engines import find_engine
    from covary.measures import find_seeded
    from covary.report.page import check_page
    from covary.searching import plan_search
    from covary.strategies import find_strategy

    if no_rows and report is None:
        raise click.UsageError("--no-rows is about the page: add --report FILE.html")
    if report is not None:
        check_page(report, file, run_file)
    if resume and run_file is None:
        raise click.UsageError("--resume needs --run FILE.covary, the run to go on with")
    found_engine = find_engine(engine, jobs)
    found_measure = find_seeded(measure, seed, **parameters)
    found_strategy = find_strategy(
        strategy, found_measure.most_columns, max_size=max_size, beam=beam, parents=parents
    )
    interrupted = False
    with output.stages() as on_progress:
        with output.notices():
            search = plan_search(
                file,
                columns,
                measure=found_measure,
                strategy=found_strategy,
                target=target,
                top=top,
                prune=prune,
                sift=sift,
                permutations=permutations,
                seed=seed,
            )
        with output.notices(), search.kept_in(run_file, resume=resume) as kept:
            if search.n_candidates is not None:
                click.echo(f"covary: {search.n_candidates:,} sets to score", err=True)
            try:
                search.run(found_engine, kept, on_progress)
            except KeyboardInterrupt:
                interrupted = True
    if interrupted:
        where = f"; {printable(run_file)} keeps it, --resume goes on" if run_file else ""
        what = "while testing what was found" if search.complete else "this is the best so far"
        click.echo(f"covary: interrupted, {what}{where}", err=True)
    result = search.result()
    if as_json:
        output.print_json(result.to_dict())
    else:
        print_result(result)
    if report is not None:
        title = f"What varies together in {Path(file).name}"
        try:
            with output.notices(), output.stages() as on_progress:
                result.report(report, title, rows=not no_rows, on_progress=on_progress)
        except KeyboardInterrupt:
            later = f"; covary report {printable(run_file)} writes it" if run_file else ""
            click.echo(f"covary: interrupted before the page was written{later}", err=True)
            return 130
        if not as_json:
            output.tell_page(report, open_it=False)
    return 130 if interrupted else 0


def print_result(result: SearchResult) -> None:
    """Print the sets, best first; those that score 0 only as a number."""
    out = output.console()
    out.print(output.cell(result.summary()))
    listed = [subspace for subspace in result if subspace.score > 0]
    if result.scored == 0:
        out.print("No set was scored.")
        return
    if not listed:
        out.print("No set scores above 0: nothing was found.")
        if result.measure == "uds":
            out.print(
                "uds is blind to weak dependence; --measure uds-chance, the default, is not."
            )
        return
    what, columns = ("#score", "columns") if result.target is None else ("#explained", "by")
    tests = result.tests
    marked = any(subspace.adds_nothing for subspace in listed)
    most = max(listed[0].score, 1.0)  # some measures have no upper bound
    with_bar = tests is None or out.width >= WIDE
    headings = [
        "#",
        what,
        *([""] if with_bar else []),
        *(["#p", "#q", "#family"] if tests else []),
    ]
    listing = output.table(*headings, columns, *([""] if marked else []))
    for rank, subspace in enumerate(listed, start=1):
        names = [name for name in subspace.columns if name != result.target]
        pvalues = (subspace.pvalue, subspace.qvalue, subspace.family_pvalue)
        listing.add_row(
            str(rank),
            shown(subspace.score),
            *([output.bar(subspace.score / most)] if with_bar else []),
            *([output.pvalue(p) for p in pvalues] if tests else []),
            output.cell(", ".join(names)),
            *(["adds nothing" if subspace.adds_nothing else ""] if marked else []),
        )
    out.print(listing)
    for line in result.explained():
        out.print(output.cell(line), style="dim")
    rest = len(result) - len(listed)
    if rest:
        out.print(f"{rest:,} of them {'score' if rest > 1 else 'scores'} 0 or less, not shown.")
