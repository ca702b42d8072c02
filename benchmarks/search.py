"""Searches: sets scored per second by engine, measure and number of workers, and growth with
columns, beam width and rows. Kernels are compiled. The start of an engine is timed separately.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import covary
from benchmarks.data import KINDS, make_table
from benchmarks.result_tables import (
    BenchmarkColumn,
    BenchmarkTable,
    decimals,
    format_ratio,
    format_seconds,
)
from benchmarks.timing import Progress, best_time

MEASURES = ("uds-chance", "uds", "uds-unregularized")
ENGINES = ("threads", "processes", "dask")
WORKERS = (1, 2)
# Seconds of the authors' Java program for the same beam search, as reported.
AUTHORS_JAVA_SECONDS = 14.0


def run(quick: bool, progress: Progress) -> list[BenchmarkTable]:
    """Return the times on one thread, the rates of the engines, and the growth."""
    return [
        _one_thread(quick, progress),
        _engines(quick, progress),
        *_growth(quick, progress),
    ]


def _one_thread(quick: bool, progress: Progress) -> BenchmarkTable:
    """Return the times of common searches, on one thread."""
    beam = {"beam": 100, "top": 20, "max_size": 20}
    triples = {"strategy": "exhaustive", "max_size": 3}
    searches = [
        ("uds", "beam of 100", (1000, 20), beam),
        ("uds", "all pairs and triples", (4000, 20), triples),
        ("uds-chance", "default", (1000, 20), {}),
        ("uds-chance", "all pairs and triples", (4000, 20), triples),
    ]
    if not quick:
        four = {"strategy": "exhaustive", "max_size": 4}
        searches.append(("uds-chance", "all sets of up to 4", (4000, 20), four))
    rows = []
    for measure, name, shape, options in searches:
        for kind in KINDS:
            progress(f"{measure}, {name}, {kind}")
            table = make_table(kind, *shape)
            call = partial(covary.search, table, measure=measure, n_jobs=1, **options)
            seconds = best_time(call, budget=0.3 if quick else 2.0, min_repeats=1).seconds
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
                rows[-1]["authors"] = AUTHORS_JAVA_SECONDS
    columns = [
        BenchmarkColumn("measure", "measure"),
        BenchmarkColumn("search", "search"),
        BenchmarkColumn("kind", "columns are"),
        BenchmarkColumn("scored", "sets scored", decimals(0)),
        BenchmarkColumn("seconds", "time", format_seconds),
        BenchmarkColumn("rate", "sets per second", decimals(0)),
        BenchmarkColumn("authors", "authors' Java program, reported", format_seconds),
    ]
    note = "The time of the authors' program is quoted, and is for another table."
    return BenchmarkTable("Searches on one thread", columns, rows, note)


def _engines(quick: bool, progress: Progress) -> BenchmarkTable:
    """Return sets per second for every engine, measure and number of workers."""
    table = make_table("dependent", 4000, 20)
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
        BenchmarkColumn("measure", "measure"),
        BenchmarkColumn("engine", "engine"),
        BenchmarkColumn("rate_1", "sets per second, 1 worker", decimals(0)),
        BenchmarkColumn("rate_2", "2 workers", decimals(0)),
        BenchmarkColumn("speedup", "speedup", format_ratio),
        BenchmarkColumn("start", "start of 2 workers", format_seconds),
    ]
    title = f"All pairs and triples, {table.shape[0]} x {table.shape[1]}, dependent"
    return BenchmarkTable(title, columns, rows)


def _best_rate(
    table: Any, measure: str, engine: str, workers: int, repeats: int
) -> tuple[float, float]:
    """Return sets per second from the first to the last score, and the time to the first."""
    rates, starts = [], []
    for _ in range(repeats):
        events: list[tuple[float, int]] = []
        start = time.perf_counter()

        def record(stage: str, done: int, total: int, events: Any = events) -> None:
            if done > 0:
                events.append((time.perf_counter(), done))

        result = covary.search(
            table,
            measure=measure,
            engine=engine,
            n_jobs=workers,
            strategy="exhaustive",
            max_size=3,
            on_progress=record,
        )
        (first, done), (last, _) = events[0], events[-1]
        rates.append((result.scored - done) / (last - first))
        starts.append(first - start)
    return max(rates), min(starts)


def _growth(quick: bool, progress: Progress) -> list[BenchmarkTable]:
    """Return times and rates by columns, by beam width and by rows, on one thread."""
    return [
        _growth_with("columns", (25, 50, 100) if quick else (25, 50, 100, 200, 400), progress,
              lambda size: (make_table("dependent", 1000, size), {"max_size": 2})),
        _growth_with("beam", (50, 100, 200) if quick else (50, 100, 200, 400, 800), progress,
              lambda size: (make_table("dependent", 1000, 40), {"max_size": 4, "beam": size})),
        _growth_with("rows", (1000, 4000) if quick else (1000, 4000, 16_000, 64_000), progress,
              lambda size: (make_table("dependent", size, 20), {"max_size": 3})),
    ]  # fmt: skip


def _growth_with(
    key: str,
    sizes: Sequence[int],
    progress: Progress,
    make: Callable[[int], tuple[Any, dict[str, Any]]],
) -> BenchmarkTable:
    rows = []
    for size in sizes:
        progress(f"{size:,} {key}")
        table, options = make(size)
        call = partial(covary.search, table, n_jobs=1, **options)
        seconds = best_time(call, budget=0.5, min_repeats=1).seconds
        scored = call().scored
        rows.append({key: size, "scored": scored, "seconds": seconds, "rate": scored / seconds})
    columns = [
        BenchmarkColumn(key, key, decimals(0)),
        BenchmarkColumn("scored", "sets scored", decimals(0)),
        BenchmarkColumn("seconds", "time", format_seconds),
        BenchmarkColumn("rate", "sets per second", decimals(0)),
    ]
    titles = {
        "columns": "All pairs by number of columns, 1000 rows",
        "beam": "Sets of up to 4 by beam width, 1000 x 40",
        "rows": "Sets of up to 3 by number of rows, 20 columns",
    }
    note = "uds-chance, one thread, dependent columns."
    return BenchmarkTable(titles[key], columns, rows, note)
