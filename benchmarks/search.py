"""Searches: sets scored per second by engine, measure and number of workers, and growth with
columns, beam and rows. Kernels are warm; an engine's start is told apart from its speed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import covary
from benchmarks.data import KINDS, make_table
from benchmarks.report import Column, Table, as_number, as_ratio, in_seconds
from benchmarks.timing import Progress, best_time

MEASURES = ("uds-chance", "uds", "uds-unregularized")
ENGINES = ("threads", "processes", "dask")
WORKERS = (1, 2)
# Seconds of the authors' program for the same beam search, as it was reported.
AUTHORS_JAVA = 14.0


def run(quick: bool, progress: Progress) -> list[Table]:
    """Return the times of two named searches, the rates, and the growth."""
    return [
        _named(quick, progress),
        _engines(quick, progress),
        *_growth(quick, progress),
    ]


def _named(quick: bool, progress: Progress) -> Table:
    """Return the searches that others have timed too, on one thread."""
    beam = {"beam": 100, "top": 20, "max_size": 20}
    triples = {"strategy": "exhaustive", "max_size": 3}
    searches = [
        ("uds", "beam of 100", (1000, 20), beam),
        ("uds", "all pairs and triples", (4000, 20), triples),
        ("uds-chance", "beam of 100", (1000, 20), beam),
        ("uds-chance", "all pairs and triples", (4000, 20), triples),
    ]
    if not quick:
        four = {"strategy": "exhaustive", "max_size": 4}
        searches.append(("uds-chance", "all sets of up to 4", (4000, 50), four))
    rows = []
    for measure, name, shape, options in searches:
        for kind in KINDS:
            progress(f"{measure}, {name}, {kind}")
            table = make_table(kind, *shape)
            call = partial(covary.search, table, measure=measure, n_jobs=1, **options)
            seconds = best_time(call, budget=0.3 if quick else 2.0, least=1).seconds
            scored = call().scored
            rows.append(
                {
                    "measure": measure,
                    "search": f"{name}, {shape[0]} x {shape[1]}",
                    "kind": kind,
                    "scored": scored,
                    "seconds": seconds,
                    "rate": scored / seconds,
                }
            )
            if "beam" in options:
                rows[-1]["authors"] = AUTHORS_JAVA
    columns = [
        Column("measure", "measure"),
        Column("search", "search"),
        Column("kind", "columns are"),
        Column("scored", "sets scored", as_number(0)),
        Column("seconds", "time", in_seconds),
        Column("rate", "sets per second", as_number(0)),
        Column("authors", "authors' Java program, reported", in_seconds),
    ]
    note = "The authors' figure is quoted, not measured in this run, and of another table."
    return Table("Searches on one thread", columns, rows, note)


def _engines(quick: bool, progress: Progress) -> Table:
    """Return sets per second for every engine, measure and number of workers."""
    table = make_table("dependent", 4000, 20 if quick else 45)
    rows = []
    for measure in MEASURES:
        for engine in ENGINES:
            row: dict[str, Any] = {"measure": measure, "engine": engine}
            for workers in WORKERS:
                progress(f"{measure}, {engine}, workers: {workers}")
                rate, start = _best_rate(table, measure, engine, workers, 1 if quick else 2)
                row[f"rate_{workers}"] = rate
                row["start"] = start
            row["speedup"] = row["rate_2"] / row["rate_1"]
            rows.append(row)
    columns = [
        Column("measure", "measure"),
        Column("engine", "engine"),
        Column("rate_1", "sets per second, 1 worker", as_number(0)),
        Column("rate_2", "2 workers", as_number(0)),
        Column("speedup", "2 against 1", as_ratio),
        Column("start", "start of 2", in_seconds),
    ]
    title = f"All pairs and triples, {table.shape[0]} x {table.shape[1]}, dependent"
    return Table(title, columns, rows)


def _best_rate(
    table: Any, measure: str, engine: str, workers: int, repeats: int
) -> tuple[float, float]:
    """Return sets per second between the first and the last score, and the time to the first."""
    rates, starts = [], []
    for _ in range(repeats):
        events: list[tuple[float, int]] = []
        begun = time.perf_counter()

        def note(stage: str, done: int, total: int, events: Any = events) -> None:
            if done > 0:
                events.append((time.perf_counter(), done))

        found = covary.search(
            table,
            measure=measure,
            engine=engine,
            n_jobs=workers,
            strategy="exhaustive",
            max_size=3,
            on_progress=note,
        )
        (first, done), (last, _) = events[0], events[-1]
        rates.append((found.scored - done) / (last - first))
        starts.append(first - begun)
    return max(rates), min(starts)


def _growth(quick: bool, progress: Progress) -> list[Table]:
    """Return times and rates by columns, by beam and by rows, on one thread."""
    return [
        _grow("columns", (25, 50, 100) if quick else (25, 50, 100, 200, 400), progress,
              lambda size: (make_table("dependent", 1000, size), {"max_size": 2})),
        _grow("beam", (50, 100, 200) if quick else (50, 100, 200, 400, 800), progress,
              lambda size: (make_table("dependent", 1000, 40), {"max_size": 4, "beam": size})),
        _grow("rows", (1000, 4000) if quick else (1000, 4000, 16_000, 64_000), progress,
              lambda size: (make_table("dependent", size, 20), {"max_size": 3})),
    ]  # fmt: skip


def _grow(
    key: str,
    sizes: Sequence[int],
    progress: Progress,
    make: Callable[[int], tuple[Any, dict[str, Any]]],
) -> Table:
    rows = []
    for size in sizes:
        progress(f"{size:,} {key}")
        table, options = make(size)
        call = partial(covary.search, table, n_jobs=1, **options)
        seconds = best_time(call, budget=0.5, least=1).seconds
        scored = call().scored
        rows.append({key: size, "scored": scored, "seconds": seconds, "rate": scored / seconds})
    columns = [
        Column(key, key, as_number(0)),
        Column("scored", "sets scored", as_number(0)),
        Column("seconds", "time", in_seconds),
        Column("rate", "sets per second", as_number(0)),
    ]
    titles = {
        "columns": "All pairs by number of columns, 1000 rows",
        "beam": "Sets of up to 4 by width of the beam, 1000 x 40",
        "rows": "Sets of up to 3 by number of rows, 20 columns",
    }
    return Table(titles[key], columns, rows, "uds-chance, one thread, dependent columns.")
