"""A search under way: a strategy proposes sets, a measure scores them on an engine."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from platform import python_version
from typing import Any

import numpy as np
import numpy.typing as npt

from covary import __version__, errors
from covary.engines import Engine, Session
from covary.measures import Measure, Scorer
from covary.prepare import Prepared, prepare_toward
from covary.ranking import Best, Found, LargestBest, SmallestBest
from covary.report.searched import Searched
from covary.results import SearchResult, Subspace
from covary.runs import Description, RunFile
from covary.search_tests import Increments, OnStage, SearchTests, teller
from covary.strategies import Batch, Strategy
from covary.table import kind_of_frame, labels_of

# How many of the best sets are kept to choose from where some will be left out again.
POOL = 100_000

# The scores of all pairs are kept for figures, if that takes no more than 32 MB.
MOST_COLUMNS_OF_PAIRS = 2_000

# Weeks of work for any machine: the wrong question.
MOST_SETS = 10**12


class Search:
    """One search, and what it has found so far.

    Parameters
    ----------
    prepared, measure, strategy : what is searched, with what, and how
    target : the position of the column that every set has to contain, if any
    top : how many sets to report
    prune : whether to leave out sets of which a superset scores at least as high; with a target,
        sets that explain no more than a part of them are left out whatever this is
    sift : whether to leave out sets that add nothing to their parts
    permutations : how many tell at most whether a set could be chance; 0 to test nothing
    seed : of the permutations
    source : the file that the table comes from, if it does
    """

    def __init__(
        self,
        prepared: Prepared,
        measure: Measure,
        strategy: Strategy,
        *,
        target: int | None = None,
        top: int = 100,
        prune: bool = False,
        sift: bool = False,
        permutations: int = 0,
        seed: int = 0,
        source: str | None = None,
    ) -> None:
        if prune and sift:
            raise errors.prune_and_sift()
        largest = len(prepared.names)
        if strategy.max_size is not None:
            largest = min(largest, strategy.max_size)
        measure.check(prepared, largest)
        self.top = errors.whole_number("top", top, 1)
        if target is not None and not strategy.takes_target:
            raise errors.strategy_without_target(strategy.name)
        self.prepared = prepared
        self.measure = measure
        self.strategy = strategy
        self.target = target
        self.prune = bool(prune)
        self.sift = bool(sift)
        self.fixed = 0 if target is None else 1
        self.scored = 0
        self._stage = ("", 0)  # the one under way, and how many sets were scored before it
        self.complete = False
        self.tests: SearchTests | None = None
        self.permutations = errors.whole_number("permutations", permutations, 0)
        self.seed = errors.whole_number("seed", seed, 0)
        self.best = self._best()
        varies = prepared.varies.copy()
        if target is not None and prepared.entropies[target] == 0:
            raise errors.constant_target(prepared.names[target])
        if not varies.all():
            errors.warn(errors.never_varies([prepared.names[c] for c in np.flatnonzero(~varies)]))
        if target is not None:
            varies[target] = False
        self.others = np.flatnonzero(varies).astype(np.int32)
        n_columns = len(prepared.names)
        self.pairs: npt.NDArray[np.float64] | None = None
        if target is None and n_columns <= MOST_COLUMNS_OF_PAIRS:
            self.pairs = np.full((n_columns, n_columns), np.nan)
        self.source = source
        self.started: datetime | None = None
        self.finished: datetime | None = None
        self.increments = Increments(self)
        self.sifted: list[Found] | None = None
        if self.n_candidates is not None and self.n_candidates > MOST_SETS:
            raise errors.too_many_sets(self.n_candidates, MOST_SETS)

    def _best(self) -> Best:
        pool = max(POOL, self.top)
        if self.target is not None:
            return SmallestBest(pool, self.target)
        if self.prune:
            return LargestBest(pool)
        return Best(pool if self.sift else self.top)

    @property
    def n_candidates(self) -> int | None:
        """How many sets will be scored, if that is known beforehand."""
        return self.strategy.count(len(self.others), self.fixed)

    @contextmanager
    def kept_in(
        self, path: str | os.PathLike[str] | None, *, resume: bool = False
    ) -> Iterator[RunFile | None]:
        """Open the run file of this search, if it is to have one."""
        if path is None:
            yield None
            return
        kept = RunFile.open(path, self.description(), resume=resume)
        try:
            yield kept
        finally:
            kept.close()

    def run(
        self,
        engine: Engine,
        kept: RunFile | None = None,
        on_progress: OnStage | None = None,
    ) -> None:
        """Search to the end, or until interrupted; what the run file knows is not scored again.

        ``on_progress`` is told the stage in words, how many of its sets are scored, and how many
        it has.
        """
        self.started = datetime.now(UTC)
        try:
            self._run(engine, kept, on_progress)
        finally:
            self.finished = datetime.now(UTC)

    def _run(self, engine: Engine, kept: RunFile | None, on_progress: OnStage | None) -> None:
        if kept is not None and (self.permutations > 0 or self.sift):
            kept.begin_tests({"permutations": self.permutations, "seed": self.seed})
            self.increments.raw = kept.known_increments()
        scorer = self.measure.any_scorer(self.prepared, self.target)
        with engine.session(scorer.shared) as session:

            def score(batch: Batch) -> npt.NDArray[np.float64]:
                tell = self._teller(batch, on_progress)
                return self._score(batch, scorer, session, kept, tell)

            self.strategy.run(len(self.others), self.fixed, score)
        if self.sift:
            self._sift(engine, kept, on_progress)
        self.complete = True
        if kept is not None:
            kept.keep_found(self.found())
        if self.permutations > 0 and self.found():
            self.tests = SearchTests(self)
            self.tests.run(engine, kept, on_progress)
        if kept is not None:
            kept.finish(self.tests.lines() if self.tests else ())

    def _sift(self, engine: Engine, kept: RunFile | None, on_progress: OnStage | None) -> None:
        """Choose the best sets that are more than their parts; pairs always are."""
        tell = teller("sets against their parts", on_progress)
        chosen: list[Found] = []
        ranked = self.best.listed(max(POOL, self.top))
        looked = 0
        try:
            with engine.session(self.increments.ready()) as session:
                while looked < len(ranked) and len(chosen) < self.top:
                    some = ranked[looked : 2 * max(looked, self.top)]
                    looked += len(some)
                    self.increments.learn([c for c, _ in some], session.run, kept, tell)
                    chosen += [each for each in some if not self.increments.adds_nothing(each[0])]
        finally:
            if kept is not None:
                kept.flush()
        self.sifted = chosen[: self.top]

    def _teller(self, batch: Batch, on_progress: OnStage | None) -> Callable[[int], None]:
        """Return what tells progress: of the search if its end is known, else of the stage."""
        if batch.stage != self._stage[0]:
            self._stage = (batch.stage, self.scored)
        total, before = batch.total, self.scored - self._stage[1]
        if self.n_candidates is not None:
            total, before = self.n_candidates, self.scored

        def tell(done: int) -> None:
            if on_progress is not None:
                on_progress(batch.stage, before + done, total)

        return tell

    def _score(
        self,
        batch: Batch,
        scorer: Scorer,
        session: Session,
        kept: RunFile | None,
        tell: Callable[[int], None],
    ) -> npt.NDArray[np.float64]:
        """Return the scores of a batch; interrupted, keep what is there."""
        first = self.scored
        others = self.others[batch.sets]
        sets = self._with_target(others)
        scores = np.full(len(sets), np.nan) if kept is None else kept.known(first, sets)
        saved = ~np.isnan(scores)
        open_ = np.flatnonzero(~saved)
        done = len(sets) - len(open_)
        tell(done)
        try:
            if len(open_) > 0:
                for which, found in scorer.score(others[open_], session.run, batch.remember):
                    scores[open_[which]] = found
                    if kept is not None:
                        kept.save(first + open_[which], sets[open_[which]], found)
                        saved[open_[which]] = True
                    done += len(found)
                    tell(done)
        finally:
            known = ~np.isnan(scores)
            self.best.add(sets[known], scores[known])
            if self.pairs is not None and sets.shape[1] == 2:
                self.pairs[sets[known, 0], sets[known, 1]] = scores[known]
            self.scored += int(known.sum())
            if kept is not None:
                late = np.flatnonzero(known & ~saved)  # an interrupt came in between
                kept.save(first + late, sets[late], scores[late])
                kept.flush()
        return scores

    def _with_target(self, others: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        if self.target is None:
            return others
        whole = np.insert(others, 0, self.target, axis=1)
        whole.sort(axis=1)
        return whole

    # ------------------------------------------------------------ what was found

    def found(self) -> list[Found]:
        """Return the positions and scores of the best sets, best first."""
        return self.best.listed(self.top) if self.sifted is None else self.sifted

    def result(self, data: Any = None) -> SearchResult:
        """Return what was found, in terms of the data that was searched."""
        labels = labels_of(data)
        names = [labels.get(name, name) for name in self.prepared.names]
        found = self.found()
        told = [{}] * len(found) if self.tests is None else self.tests.told()
        searched = Searched(
            self.prepared,
            self.measure,
            tuple(names),
            sets=tuple(columns for columns, _ in found),
            pairs=self.pairs,
            tested={} if self.tests is None else self.tests.tested(),
            target=self.target,
            complete=self.complete,
            started=self.started,
            finished=self.finished,
        )
        return SearchResult(
            tuple(
                Subspace(
                    tuple(names[column] for column in columns), score, **more, _searched=searched
                )
                for (columns, score), more in zip(found, told, strict=True)
            ),
            measure=self.measure.name,
            strategy=self.strategy.name,
            parameters={**self.parameters(), "permutations": self.permutations, "seed": self.seed},
            tests=None if self.tests is None else self.tests.summary(),
            target=None if self.target is None else names[self.target],
            rows=self.prepared.n_rows,
            scored=self.scored,
            complete=self.complete,
            _kind=kind_of_frame(data),
            _searched=searched,
        )

    # ------------------------------------------------------------ what was asked for

    def parameters(self) -> dict[str, Any]:
        """Return everything that was asked for, as JSON knows it."""
        return {
            "measure": self.measure.name,
            "measure_parameters": _fields(self.measure),
            "strategy": self.strategy.name,
            "strategy_parameters": _fields(self.strategy),
            "target": None if self.target is None else self.prepared.names[self.target],
            "top": self.top,
            "prune": self.prune,
            "sift": self.sift,
        }

    def description(self) -> Description:
        """Return what makes another search the same as this one."""
        return Description(
            parameters=self.parameters(),
            rows=self.prepared.n_rows,
            columns=[
                (storable(column.name), _fingerprint(column.values))
                for column in self.prepared.table.columns
            ],
            versions={
                "covary": __version__,
                "python": python_version(),
                **{name: version(name) for name in ("numpy", "numba", "scipy", "scikit-learn")},
            },
            bounds=self.measure.bounds,
            source=self.source,
            left_out=[
                (storable(name), storable(kind))
                for name, kind in self.prepared.table.kinds_left_out()
            ],
        )


def _fields(of: Any) -> dict[str, Any]:
    """Return the parameters of a measure or a strategy, as JSON knows them."""
    known = dataclasses.fields(of) if dataclasses.is_dataclass(of) else ()
    fields = {field.name: getattr(of, field.name) for field in known}
    told: dict[str, Any] = json.loads(json.dumps(fields, default=_plain))
    return told


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else repr(value)


def _fingerprint(values: npt.NDArray[np.float64]) -> str:
    """Return a hash of a column's values; all ways to write zero or missing are the same."""
    plain = np.array(values, np.float64) + 0.0
    plain[np.isnan(plain)] = np.nan
    return hashlib.blake2b(plain.tobytes(), digest_size=16).hexdigest()


def storable(name: str) -> str:
    """Return a name that any database takes."""
    return name.encode(errors="backslashreplace").decode()


def plan_search(
    data: Any,
    columns: Sequence[Any] | None = None,
    *,
    measure: Measure,
    strategy: Strategy,
    target: Any = None,
    top: int = 100,
    prune: bool = False,
    sift: bool = False,
    permutations: int = 0,
    seed: int = 0,
) -> Search:
    """Return a search of anything that `read_table` takes."""
    prepared, position = prepare_toward(data, columns, target)
    return Search(
        prepared,
        measure,
        strategy,
        target=position,
        top=top,
        prune=prune,
        sift=sift,
        permutations=permutations,
        seed=seed,
        source=os.path.abspath(data) if isinstance(data, (str, os.PathLike)) else None,
    )
