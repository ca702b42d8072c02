"""Time of other libraries on the same data in the same run, and its ratio to the time of covary's
uds-chance (above 1: slower than covary). The columns share a hidden factor. covary runs on one
thread. Other libraries run with their defaults, and some use all cores. Imports and compiling are
not included, except for hoi, which compiles in every call.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from importlib import metadata
from typing import Any

import covary
from benchmarks.data import make_table
from benchmarks.peer_functions import (
    ALL_PAIRS,
    ONE_PAIR,
    PAIRS_AND_TRIPLES,
    SEVERAL_COLUMNS,
    Array,
    Peer,
    ScoreTable,
)
from benchmarks.result_tables import BenchmarkColumn, BenchmarkTable, format_ratio, format_seconds
from benchmarks.timing import Progress, best_time

ROWS = (1000, 4000)
WARM_UP_ROWS = 100
COLUMNS_OF_TABLE = 10
COLUMNS_OF_SETS = (3, 4, 5)
COLUMNS_OF_SEARCH = 20
# Longer loops over all pairs are estimated: the time of one pair times the number of pairs.
MAX_LOOP_SECONDS = 3.0
# A function that takes longer is called only once.
PATIENCE_SECONDS = 2.0


@dataclass
class PeerComparison:
    """Compares covary with other libraries on the same tables.

    Parameters
    ----------
    quick : whether to skip slow comparisons
    progress : receives the description of what is being timed
    one_pair : seconds for one pair by name and number of rows, filled by `measure`
    """

    quick: bool
    progress: Progress
    one_pair: dict[tuple[str, int], float] = field(default_factory=dict)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of rows."""
        return ROWS[:1] if self.quick else ROWS

    @property
    def budget(self) -> float:
        """Seconds to spend on each timing."""
        return 0.2 if self.quick else 0.8

    def compare(
        self, title: str, n_columns: int, covary_function: ScoreTable, peers: list[Peer]
    ) -> BenchmarkTable:
        """Return the times of covary and of its peers on tables with ``n_columns`` columns."""
        tables = [make_table("dependent", n_rows, n_columns) for n_rows in self.sizes]
        self.progress(f"{title}: covary")
        covary_seconds = [
            best_time(partial(covary_function, table), self.budget).seconds for table in tables
        ]
        times = self.times_and_ratios(covary_seconds, covary_seconds)
        version = metadata.version("covary")
        rows = [{"peer": "covary uds-chance", "version": version, **times}]
        for peer in peers:
            self.progress(f"{title}: {peer.name}")
            rows.append({"peer": peer.name, **self.measure(peer, tables, covary_seconds)})
        columns = [BenchmarkColumn("peer", "function"), BenchmarkColumn("version", "version")]
        for n_rows in self.sizes:
            columns.append(BenchmarkColumn(f"seconds_{n_rows}", f"{n_rows} rows", format_seconds))
            columns.append(BenchmarkColumn(f"ratio_{n_rows}", "ratio", format_ratio))
        columns.append(BenchmarkColumn("remark", "remark"))
        return BenchmarkTable(title, columns, rows)

    def measure(
        self, peer: Peer, tables: list[Array], covary_seconds: list[float]
    ) -> dict[str, Any]:
        """Return version, times and ratios of a peer, or a remark if it cannot run."""
        try:
            version = metadata.version(peer.package)
        except metadata.PackageNotFoundError:
            return {"remark": "not installed"}
        if self.quick and peer.slow_start:
            return {"version": version, "remark": "slow to load: not with --quick"}
        try:
            return {"version": version, **self.measure_installed(peer, tables, covary_seconds)}
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            return {"version": version, "remark": f"fails: {reason[:60]}"}

    def measure_installed(
        self, peer: Peer, tables: list[Array], covary_seconds: list[float]
    ) -> dict[str, Any]:
        """Return times and ratios of an installed peer."""
        function = peer.load()
        function(tables[0][:WARM_UP_ROWS])
        seconds: list[float] = []
        remarks = ["pair by pair"] if peer.loops else []
        for table in tables:
            if len(table) > peer.max_rows:
                remarks.append(f"{len(table)} rows take too long")
                break
            estimate = self.estimate(peer, table)
            if estimate:
                remarks.append(f"{len(table)} estimated")
            seconds.append(estimate or self.seconds(function, table))
            if table.shape[1] == 2:
                self.one_pair[peer.name, len(table)] = seconds[-1]
        times = self.times_and_ratios(seconds, covary_seconds)
        return {**times, "remark": ", ".join(remarks)}

    def estimate(self, peer: Peer, table: Array) -> float | None:
        """Return the estimated time of a loop over all pairs; None if the loop is short."""
        one_pair = self.one_pair.get((peer.name, len(table)), 0.0)
        seconds = one_pair * math.comb(table.shape[1], 2)
        return seconds if peer.loops and seconds > MAX_LOOP_SECONDS else None

    def seconds(self, function: ScoreTable, table: Array) -> float:
        """Return the shortest time of a call."""
        call = partial(function, table)
        return best_time(call, self.budget, min_repeats=1, patience=PATIENCE_SECONDS).seconds

    def times_and_ratios(
        self, seconds: list[float], covary_seconds: list[float]
    ) -> dict[str, float]:
        """Return times and their ratios to covary's times, by number of rows."""
        row = {}
        for n_rows, each, reference in zip(self.sizes, seconds, covary_seconds, strict=False):
            row[f"seconds_{n_rows}"] = each
            row[f"ratio_{n_rows}"] = each / reference
        return row


def run(quick: bool, progress: Progress) -> list[BenchmarkTable]:
    """Return the comparisons: one pair, all pairs of a table, sets of several columns."""
    comparison = PeerComparison(quick, progress)
    all_pairs = f"All {math.comb(COLUMNS_OF_TABLE, 2)} pairs of {COLUMNS_OF_TABLE} columns"
    matrix = partial(covary.matrix, n_jobs=1)
    tables = [
        comparison.compare("One pair", 2, covary.score, ONE_PAIR),
        comparison.compare(all_pairs, COLUMNS_OF_TABLE, matrix, ALL_PAIRS),
    ]
    tables[1].note = "Estimated: the time of one pair, multiplied by the number of pairs."
    n_sets = math.comb(COLUMNS_OF_SEARCH, 2) + math.comb(COLUMNS_OF_SEARCH, 3)
    search = partial(covary.search, strategy="exhaustive", max_size=3, n_jobs=1)
    title = f"All {n_sets:,} pairs and triples of {COLUMNS_OF_SEARCH} columns"
    tables.append(comparison.compare(title, COLUMNS_OF_SEARCH, search, PAIRS_AND_TRIPLES))
    for n_columns in COLUMNS_OF_SETS:
        title = f"One set of {n_columns} columns"
        tables.append(comparison.compare(title, n_columns, covary.score, SEVERAL_COLUMNS))
    return tables
