"""Power of covary and of other methods at the 5 % level, by shape of the dependence, noise and
number of rows. Also the mean scores of independent columns, and of normal pairs by correlation.
One thread.
"""

from __future__ import annotations

import argparse
import inspect
import json
import sys
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from benchmarks.machine import describe_machine, one_line
from benchmarks.power_methods import METHODS
from benchmarks.power_shapes import SHAPES
from benchmarks.power_study import (
    PARTS,
    QUICK_PLAN,
    SEED,
    PowerPlan,
    PowerStudy,
    format_minutes,
)
from benchmarks.power_tables import study_tables
from benchmarks.timing import Progress


def main() -> int:
    """Run the study and print its results; return the exit code."""
    arguments = parse()
    console = Console(width=None if sys.stdout.isatty() else 150)
    machine = describe_machine()
    requested = [m for m in METHODS if not arguments.only or m.name in arguments.only]
    console.print(escape(inspect.cleandoc(__doc__ or "")), highlight=False)
    console.print(escape(one_line(machine)), style="dim", highlight=False)
    console.print()
    with Progress("power study") as progress:
        progress("loading")
        available = [method for method in requested if not method.unavailable()]
        study = PowerStudy(plan_of(arguments), available, arguments.jobs, progress)
        study.run(arguments.part or list(PARTS))
    tables = study_tables(study, requested, arguments.levels)
    for table in tables:
        console.print(table.as_text(), highlight=False)
    console.print(f"total time: {format_minutes(progress.seconds)}", style="dim", highlight=False)
    if arguments.json:
        results = {
            "machine": machine,
            "seed": SEED,
            "quick": arguments.quick,
            "seconds": progress.seconds,
            **study.results,
            "tables": [table.as_json() for table in tables],
        }
        text = json.dumps(results, ensure_ascii=False)
        arguments.json.write_text(text + "\n", encoding="utf-8")
    if arguments.figure:
        from benchmarks.power_figure import draw

        draw(study.results, arguments.figure)
    return 0


def plan_of(arguments: argparse.Namespace) -> PowerPlan:
    """Return the size of the study that the options ask for."""
    plan = QUICK_PLAN if arguments.quick else PowerPlan()
    if arguments.rows:
        plan = replace(plan, rows=tuple(arguments.rows), slow_rows=tuple(arguments.rows))
    if arguments.shape:
        plan = replace(plan, shapes=tuple(arguments.shape))
    return plan


def parse() -> argparse.Namespace:
    """Return the options of the command line."""
    descriptions = "\n".join(f"  {name:13}{about}" for name, about in PARTS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.power",
        description="Compare the power of covary and of other methods. Takes about 25 minutes.",
        epilog=f"parts:\n{descriptions}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [method.name for method in METHODS]
    parser.add_argument("--quick", action="store_true", help="fewer tables, about one minute")
    parser.add_argument(
        "--only",
        action="append",
        choices=names,
        metavar="METHOD",
        help=f"run only this method; can be repeated. One of {', '.join(names)}",
    )
    parser.add_argument(
        "--part",
        action="append",
        choices=PARTS,
        metavar="PART",
        help="run only this part; can be repeated",
    )
    parser.add_argument(
        "--rows",
        action="append",
        type=int,
        metavar="N",
        help="number of rows for power; can be repeated",
    )
    parser.add_argument(
        "--shape",
        action="append",
        choices=[shape.name for shape in SHAPES],
        metavar="SHAPE",
        help="compute power only for this shape; can be repeated",
    )
    parser.add_argument(
        "--levels", action="store_true", help="also show each level of noise by shape"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="number of processes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers as JSON")
    parser.add_argument("--figure", type=Path, metavar="FILE.svg", help="draw the figure")
    arguments = parser.parse_args()
    for path in (arguments.json, arguments.figure):
        if path and not path.absolute().parent.is_dir():
            parser.error(f"the folder of {path} does not exist; create it first")
    return arguments


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
