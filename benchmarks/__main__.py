"""Run the benchmarks and print the results."""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import sys
import warnings
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from benchmarks.machine import describe_machine, one_line
from benchmarks.result_tables import BenchmarkTable
from benchmarks.timing import Progress

# Each section is a module of this package. Its docstring is printed above its results.
SECTIONS = {
    "calls": "covary.score from a raw array",
    "steps": "one step of the kernel, in nanoseconds per row",
    "matrix": "all pairs of 200 columns, with 1 and 2 threads",
    "search": "searches by engine, measure and number of workers, and their growth",
    "permutations": "permutation tests, compared with other libraries",
    "evidence": "power of the evidence statistic, compared with MGC and xi",
    "nominal": "nominal columns: independent tables, power, time, compared with others",
    "conditional": "conditional independence tests, compared with hyppo and Spearman",
    "many_given": "several given columns: false positives and remaining scores",
    "dependent_rows": "time series and groups: level and power, compared with hyppo",
    "selection": "feature selection, compared with FOCI and scikit-learn",
    "measures": "every measure: power, score of independent columns, time",
    "growth": "growth of time with rows and with columns",
    "memory": "peak memory, as a multiple of the table's size",
    "startup": "import and command line, with warm and cold kernels",
    "peers": "time of other libraries, as a ratio to covary's time",
}


def main() -> int:
    """Run the requested sections; return the exit code."""
    arguments = parse()
    console = Console(width=None if sys.stdout.isatty() else 120)
    machine = describe_machine()
    results: dict[str, Any] = {"machine": machine, "quick": arguments.quick, "sections": {}}
    for name in arguments.only or SECTIONS:
        results["sections"][name] = run_section(name, arguments.quick, console, one_line(machine))
    if arguments.json:
        text = json.dumps(results, indent=2, ensure_ascii=False)
        arguments.json.write_text(text + "\n", encoding="utf-8")
    return int(any(section["failure"] for section in results["sections"].values()))


def parse() -> argparse.Namespace:
    """Return the options of the command line."""
    descriptions = "\n".join(f"  {name:15}{about}" for name, about in SECTIONS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Time covary on this machine. Without options: about an hour.",
        epilog=f"sections:\n{descriptions}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="smaller tables, a few minutes")
    parser.add_argument(
        "--only",
        action="append",
        choices=SECTIONS,
        metavar="NAME",
        help="run only this section; can be repeated",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers as JSON")
    arguments = parser.parse_args()
    if arguments.json and not arguments.json.absolute().parent.is_dir():
        parser.error(f"the folder of {arguments.json} does not exist; create it first")
    return arguments


def run_section(name: str, quick: bool, console: Console, machine: str) -> dict[str, Any]:
    """Run and print one section; return its results."""
    section = importlib.import_module(f"benchmarks.{name}")
    description = inspect.cleandoc(section.__doc__)
    console.rule(f"[bold]{name}", align="left")
    console.print(escape(description), highlight=False)
    console.print(escape(machine), style="dim", highlight=False)
    console.print()
    tables: list[BenchmarkTable] = []
    failure = None
    with Progress(name) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tables = section.run(quick, progress)
        except Exception as error:
            failure = f"{type(error).__name__}: {error}"
    if failure:
        console.print(escape(f"This section failed. {failure}"), style="red", highlight=False)
    for table in tables:
        console.print(table.as_text(), highlight=False)
    return {
        "measured": description,
        "seconds": progress.seconds,
        "failure": failure,
        "tables": [table.as_json() for table in tables],
    }


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
