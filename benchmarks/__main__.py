"""Run the benchmarks and print what they found."""

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
from benchmarks.report import Table
from benchmarks.timing import Progress

SECTIONS = {
    "calls": "covary.score from a raw array",
    "steps": "one step of the kernel, in nanoseconds per row",
    "matrix": "all pairs of 200 columns, with 1 and 2 threads",
    "search": "searches by engine, measure and workers, and how they grow",
    "permutations": "permutation tests, and what else one would use",
    "measures": "every measure: what it sees, what it says of nothing, and its time",
    "growth": "how time grows with rows and with columns",
    "memory": "peak memory, as a multiple of the table's own",
    "startup": "import and command line, with warm and cold kernels",
    "peers": "what else one would use, as a ratio to covary's time",
}


def main() -> int:
    """Run the sections that were asked for; return the exit code."""
    arguments = parse()
    console = Console(width=None if sys.stdout.isatty() else 120)
    machine = describe_machine()
    found: dict[str, Any] = {"machine": machine, "quick": arguments.quick, "sections": {}}
    for name in arguments.only or SECTIONS:
        found["sections"][name] = run_section(name, arguments.quick, console, one_line(machine))
    if arguments.json:
        text = json.dumps(found, indent=2, ensure_ascii=False)
        arguments.json.write_text(text + "\n", encoding="utf-8")
    return int(any(section["failure"] for section in found["sections"].values()))


def parse() -> argparse.Namespace:
    """Return the options of the command line."""
    listed = "\n".join(f"  {name:13}{about}" for name, about in SECTIONS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Time covary on this machine. Without options: about ten minutes.",
        epilog=f"sections:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="smaller tables, under a minute")
    parser.add_argument(
        "--only",
        action="append",
        choices=SECTIONS,
        metavar="NAME",
        help="run this section alone; may be given again",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers as JSON too")
    arguments = parser.parse_args()
    if arguments.json and not arguments.json.absolute().parent.is_dir():
        parser.error(f"there is no folder to write {arguments.json} to")
    return arguments


def run_section(name: str, quick: bool, console: Console, machine: str) -> dict[str, Any]:
    """Run and print one section; return its numbers."""
    section = importlib.import_module(f"benchmarks.{name}")
    measured = inspect.cleandoc(section.__doc__)
    console.rule(f"[bold]{name}", align="left")
    console.print(escape(measured), highlight=False)
    console.print(escape(machine), style="dim", highlight=False)
    console.print()
    tables: list[Table] = []
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
        "measured": measured,
        "seconds": progress.seconds,
        "failure": failure,
        "tables": [table.as_json() for table in tables],
    }


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
