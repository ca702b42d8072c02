"""What else one would use, on the same data in the same run: time, and as a ratio to the time of
covary's uds-chance (above 1: slower than covary). The columns share a hidden factor. covary runs
on one thread, its peers as they come: some use all cores. Imports and compiling are not counted,
except for hoi, which compiles anew in every call.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from importlib import metadata
from typing import Any

import covary
from benchmarks.data import make_table
from benchmarks.peer_calls import (
    ALL_PAIRS,
    ONE_PAIR,
    PAIRS_AND_TRIPLES,
    SEVERAL,
    Array,
    Call,
    Peer,
)
from benchmarks.report import Column, Table, as_ratio, in_seconds
from benchmarks.timing import Progress, best_time

ROWS = (1000, 4000)
WARM_UP_ROWS = 100
COLUMNS_OF_TABLE = 10
COLUMNS_OF_SETS = (3, 4, 5)
COLUMNS_OF_SEARCH = 20
# A loop over all pairs that would take longer is estimated: the time of one, times their number.
LONGEST_LOOP_SECONDS = 3.0
# A peer that takes longer is called once.
PATIENCE_SECONDS = 2.0


@dataclass
class Race:
    """Covary and its peers on tables of the same numbers of rows.

    Parameters
    ----------
    quick : whether to leave out what takes long
    progress : told what is being timed
    one_pair : seconds of every peer for one pair, by name and number of rows, once known
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
        """Seconds for each time."""
        return 0.2 if self.quick else 0.8

    def compare(self, title: str, n_columns: int, ours: Call, peers: list[Peer]) -> Table:
        """Return the times of covary and of its peers on tables with so many columns."""
        tables = [make_table("dependent", n_rows, n_columns) for n_rows in self.sizes]
        self.progress(f"{title}: covary")
        own = [best_time(partial(ours, table), self.budget).seconds for table in tables]
        version = metadata.version("covary")
        rows = [{"peer": "covary uds-chance", "version": version, **self.figures(own, own)}]
        for peer in peers:
            self.progress(f"{title}: {peer.name}")
            rows.append({"peer": peer.name, **self.measure(peer, tables, own)})
        columns = [Column("peer", "peer"), Column("version", "version")]
        for n_rows in self.sizes:
            columns.append(Column(f"seconds_{n_rows}", f"{n_rows} rows", in_seconds))
            columns.append(Column(f"ratio_{n_rows}", "ratio", as_ratio))
        return Table(title, [*columns, Column("remark", "remark")], rows)

    def measure(self, peer: Peer, tables: list[Array], own: list[float]) -> dict[str, Any]:
        """Return version and figures of a peer, or a remark why there are none."""
        try:
            version = metadata.version(peer.package)
        except metadata.PackageNotFoundError:
            return {"remark": "not installed"}
        if self.quick and peer.slow_start:
            return {"version": version, "remark": "slow to load: not with --quick"}
        try:
            return {"version": version, **self.race(peer, tables, own)}
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            return {"version": version, "remark": f"fails: {reason[:60]}"}

    def race(self, peer: Peer, tables: list[Array], own: list[float]) -> dict[str, Any]:
        """Return figures of a peer that is installed."""
        call = peer.load()
        call(tables[0][:WARM_UP_ROWS])
        seconds: list[float] = []
        remarks = ["pair by pair"] if peer.loops else []
        for table in tables:
            if len(table) > peer.most_rows:
                remarks.append(f"{len(table)} rows take too long")
                break
            estimate = self.estimate(peer, table)
            if estimate:
                remarks.append(f"{len(table)} estimated")
            seconds.append(estimate or self.seconds(call, table))
            if table.shape[1] == 2:
                self.one_pair[peer.name, len(table)] = seconds[-1]
        return {**self.figures(seconds, own), "remark": ", ".join(remarks)}

    def estimate(self, peer: Peer, table: Array) -> float | None:
        """Return the time of a loop over all pairs if it is too long to be waited for."""
        one_pair = self.one_pair.get((peer.name, len(table)), 0.0)
        seconds = one_pair * math.comb(table.shape[1], 2)
        return seconds if peer.loops and seconds > LONGEST_LOOP_SECONDS else None

    def seconds(self, call: Call, table: Array) -> float:
        """Return the time of a peer that has warmed up."""
        timed = best_time(partial(call, table), self.budget, least=1, patience=PATIENCE_SECONDS)
        return timed.seconds

    def figures(self, seconds: list[float], own: list[float]) -> dict[str, float]:
        """Return times and ratios to covary's own, by number of rows."""
        found = {}
        for n_rows, each, reference in zip(self.sizes, seconds, own, strict=False):
            found[f"seconds_{n_rows}"] = each
            found[f"ratio_{n_rows}"] = each / reference
        return found


def run(quick: bool, progress: Progress) -> list[Table]:
    """Return the comparisons: one pair, all pairs of a table, sets of several columns."""
    race = Race(quick, progress)
    all_pairs = f"All {math.comb(COLUMNS_OF_TABLE, 2)} pairs of {COLUMNS_OF_TABLE} columns"
    matrix = partial(covary.matrix, n_jobs=1)
    tables = [
        race.compare("One pair", 2, covary.score, ONE_PAIR),
        race.compare(all_pairs, COLUMNS_OF_TABLE, matrix, ALL_PAIRS),
    ]
    tables[1].note = "Estimated: the time of one pair, times the number of pairs."
    n_sets = math.comb(COLUMNS_OF_SEARCH, 2) + math.comb(COLUMNS_OF_SEARCH, 3)
    search = partial(covary.search, strategy="exhaustive", max_size=3, n_jobs=1)
    title = f"All {n_sets:,} pairs and triples of {COLUMNS_OF_SEARCH} columns"
    tables.append(race.compare(title, COLUMNS_OF_SEARCH, search, PAIRS_AND_TRIPLES))
    for n_columns in COLUMNS_OF_SETS:
        title = f"{n_columns} columns at once"
        tables.append(race.compare(title, n_columns, covary.score, SEVERAL))
    return tables
