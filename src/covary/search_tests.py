"""The sets that a search found, tested: could they be chance?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from covary.engines import Engine, given_up
from covary.measures import Measure
from covary.measures.base import Run, here
from covary.prepare import Prepared
from covary.ranking import Columns
from covary.results import TestSummary
from covary.runs import RunFile
from covary.significance.arrangements import SEARCHES, Shuffles
from covary.significance.corrections import benjamini_hochberg, besag_clifford, enough_of
from covary.significance.increments import Increment, increment_pvalues
from covary.significance.permutation import EQUAL, Job, Null, Tested, at_least
from covary.significance.stopping import LEVEL, Stopping
from covary.strategies import Batch, Strategy

if TYPE_CHECKING:
    from covary.searching import Search

OnStage = Callable[[str, int, int], None]
Floats = npt.NDArray[np.float64]

# The whole search is repeated on at most so many shuffled tables: enough for 0.005.
MOST_SEARCHES = 199
FIRST_SEARCHES = 16


class SearchJob(NamedTuple):
    """What every search of a shuffled table needs.

    Parameters
    ----------
    others, target : the columns that sets are made of, and the one that all contain, if any
    thresholds : scores, ascending, for which it is counted how many sets score as high
    """

    prepared: Prepared
    measure: Measure
    strategy: Strategy
    others: npt.NDArray[np.int32]
    target: int | None
    thresholds: Floats
    shuffles: Shuffles


class Shuffled(NamedTuple):
    """What the search of a shuffled table found.

    Parameters
    ----------
    scored : how many sets were scored
    highest : the best score
    counts : how many scored as high as each threshold
    """

    scored: int
    highest: float
    counts: list[int]


def search_shuffled(job: SearchJob, numbers: Sequence[int]) -> list[Shuffled]:
    """Search shuffled tables from beginning to end: a task."""
    return [_search(job, number) for number in numbers]


def _search(job: SearchJob, number: int) -> Shuffled:
    prepared = job.prepared.moved(job.shuffles.moves(number))
    scorer = job.measure.any_scorer(prepared, job.target)
    run = _until_given_up(here(scorer.shared))
    least = job.thresholds - EQUAL * np.maximum(np.abs(job.thresholds), 1.0)
    places = np.zeros(least.size + 1, np.int64)  # how many scored between thresholds
    highest = -np.inf

    def score(batch: Batch) -> Floats:
        nonlocal highest
        scores = np.empty(len(batch.sets))
        for which, found in scorer.score(job.others[batch.sets], run, batch.remember):
            scores[which] = found
        highest = max(highest, float(scores.max()))
        places[:] += np.bincount(np.searchsorted(least, scores, side="right"), None, places.size)
        return scores

    job.strategy.run(len(job.others), int(job.target is not None), score)
    counts = np.cumsum(places[::-1])[::-1]
    return Shuffled(int(counts[0]), highest, counts[1:].tolist())


def _until_given_up(run: Run) -> Run:
    """Return what runs tasks in the same way, but stops if nobody waits for the result."""

    def some(task: Any, items: Any) -> Iterator[tuple[int, Any]]:
        for found in run(task, items):
            if given_up():
                raise RuntimeError("given up")
            yield found

    return some


class Increments:
    """Which sets of three columns or more are more than their parts, as far as it is known."""

    def __init__(self, search: Search) -> None:
        self.shared = (search.measure, search.prepared, search.seed)
        self.target = search.target
        self.n_columns = len(search.others) + search.fixed
        self.raw: dict[Columns, float] = {}

    def ready(self) -> tuple[Measure, Prepared, int]:
        """Return what tasks share, with all that they need computed before the workers get it."""
        _, prepared, _ = self.shared
        _ = prepared.ranked, prepared.grids
        return self.shared

    def unknown(self, sets: Sequence[Columns]) -> list[Columns]:
        """Return those of the sets that have to be tested."""
        return [columns for columns in sets if len(columns) > 2 and columns not in self.raw]

    def learn(
        self,
        sets: Sequence[Columns],
        run: Run,
        kept: RunFile | None,
        tell: Callable[[int, int], None],
    ) -> None:
        """Test those of the sets that are not known yet.

        ``run`` is an engine's, with ``shared`` as what is shared.
        """
        todo = self.unknown(sets)
        items = [Increment(columns, self.target) for columns in todo]
        done = 0
        for first, pvalues in run(increment_pvalues, items):
            new = dict(zip(todo[first:], pvalues.tolist(), strict=False))
            self.raw.update(new)
            done += len(new)
            if kept is not None:
                kept.save_increments(new)
            tell(done, len(todo))

    def pvalue(self, columns: Columns) -> float | None:
        """Return the p-value of the hypothesis that one of its columns can be spared.

        A column that was added is the best of many: the p-value is times as many. None for pairs,
        or if not known.
        """
        if columns not in self.raw:
            return None
        return min(1.0, self.raw[columns] * (self.n_columns - len(columns) + 1))

    def adds_nothing(self, columns: Columns) -> bool | None:
        """Return whether it cannot be ruled out that one of its columns can be spared."""
        pvalue = self.pvalue(columns)
        return None if pvalue is None else pvalue > LEVEL


class SearchTests:
    """The tests of what a search found, and what is known of them so far."""

    def __init__(self, search: Search) -> None:
        found = search.found()
        self.prepared = search.prepared
        self.measure = search.measure
        self.strategy = search.strategy
        self.others = search.others
        self.target = search.target
        self.permutations = search.permutations
        self.seed = search.seed
        self.scored = search.scored
        self.sets = tuple(columns for columns, _ in found)
        self.scores = np.array([score for _, score in found])
        self.null: Null | None = None
        self.increments = search.increments
        self.shuffled: list[Shuffled] = []
        self.complete = False

    def run(
        self, engine: Engine, kept: RunFile | None = None, on_progress: OnStage | None = None
    ) -> None:
        """Test to the end, or until interrupted; what the run file knows is not computed again."""
        try:
            self._test_sets(engine, kept, on_progress)
            self._test_increments(engine, kept, on_progress)
            self._search_shuffled(engine, kept, on_progress)
        finally:
            if kept is not None:
                kept.flush()
        self.complete = True

    def _test_sets(
        self, engine: Engine, kept: RunFile | None, on_progress: OnStage | None
    ) -> None:
        """Compare each set with the same columns on permuted tables, which all sets share."""
        moving = sorted({column for columns in self.sets for column in columns})[1:]
        shuffles = Shuffles(self.prepared.n_rows, self._moving(moving), self.seed)
        job = Job(self.measure, self.prepared, self.sets, self.target, shuffles)
        most, known = self.permutations, None
        if kept is not None:
            known = kept.known_permutations(most, len(self.sets))
        observed = job.observed()
        self.null = Null(observed, most, Stopping(most, LEVEL, go_on=True), known)
        with engine.session(job) as session:
            self.null.grow(
                session.run,
                None if kept is None else kept.save_permutations,
                teller("permutations", on_progress),
            )

    def _test_increments(
        self, engine: Engine, kept: RunFile | None, on_progress: OnStage | None
    ) -> None:
        """Tell which of the larger sets are more than their parts."""
        if self.increments.unknown(self.sets):
            tell = teller("sets against their parts", on_progress)
            with engine.session(self.increments.ready()) as session:
                self.increments.learn(self.sets, session.run, kept, tell)

    def _moving(self, columns: Sequence[int]) -> tuple[int, ...]:
        """Return which columns have to move, of some that are independent of each other."""
        return tuple(columns) if self.target is None else (self.target,)

    def _search_shuffled(
        self, engine: Engine, kept: RunFile | None, on_progress: OnStage | None
    ) -> None:
        """Repeat the search on shuffled tables, until the best set is out of reach."""
        moving = self._moving(self.others[1:].tolist())
        job = SearchJob(
            self.prepared,
            self.measure,
            self.strategy,
            self.others,
            self.target,
            self._thresholds,
            Shuffles(self.prepared.n_rows, moving, self.seed, SEARCHES),
        )
        known = {} if kept is None else kept.known_shuffled(self._thresholds.size)
        results = {number: Shuffled(*each) for number, each in known.items()}
        tell = teller("shuffled tables", on_progress)
        with engine.session(job) as session:
            last = 0
            while not self._enough() and last < self.searches:
                first, last = last, min(max(2 * last, FIRST_SEARCHES), self.searches)
                todo = [number for number in range(first, last) if number not in results]
                done = last - len(todo)
                for start, found in session.run(search_shuffled, todo):
                    for number, each in zip(todo[start:], found, strict=False):
                        results[number] = each
                        if kept is not None:
                            kept.save_shuffled(number, *each)
                    done += len(found)
                    tell(done, self.searches)
                self.shuffled += [results[number] for number in range(first, last)]
        if self._enough():
            best = float(self.scores[0])
            exceeded = np.cumsum(at_least(self._highest, best))
            del self.shuffled[int(np.searchsorted(exceeded, self._too_many)) + 1 :]

    @property
    def searches(self) -> int:
        """How many shuffled tables are searched at most."""
        return min(self.permutations, MOST_SEARCHES)

    @property
    def _thresholds(self) -> Floats:
        return np.unique(self.scores)

    @property
    def _highest(self) -> Floats:
        return np.array([each.highest for each in self.shuffled])

    @property
    def _too_many(self) -> int:
        return enough_of(self.searches, LEVEL)

    def _enough(self) -> bool:
        best = float(self.scores[0])
        return int(at_least(self._highest, best).sum()) >= self._too_many

    # ------------------------------------------------------------ what it tells

    def pvalues(self) -> list[float | None]:
        """Return how likely such evidence is for each set by itself, by chance."""
        tested = self.tested()
        return [tested[columns].pvalue if columns in tested else None for columns in self.sets]

    def tested(self) -> dict[Columns, Tested]:
        """Return the p-value of each set and the permutations behind it, as far as known."""
        if self.null is None:
            return {}
        tested = {columns: self.null.tested(at) for at, columns in enumerate(self.sets)}
        return {columns: each for columns, each in tested.items() if each is not None}

    def family_pvalues(self) -> list[float | None]:
        """Return how likely such a score is, by chance, for the best set of the whole search."""
        if not self.complete:
            return [None] * len(self.sets)
        return [
            besag_clifford(at_least(self._highest, score), self._too_many, self.searches)
            for score in self.scores
        ]

    def qvalues(self) -> list[float | None]:
        """Return the false discovery rate among all sets that score as high.

        Every scored set has a p-value: the share of all sets, of all shuffled tables, that score
        as high. Benjamini and Hochberg's procedure is applied to all of them, but sets that add
        nothing to their parts do not count as discoveries: one strong pair, padded in many ways,
        would let many false sets pass. No set gets less than its p-value by itself.
        """
        if not self.complete:
            return [None] * len(self.sets)
        in_all = 1 + sum(each.scored for each in self.shuffled)
        counts = 1 + np.sum([each.counts for each in self.shuffled], axis=0)
        at = np.searchsorted(self._thresholds, self.scores)
        adds = np.array([not self.increments.adds_nothing(columns) for columns in self.sets])
        ranks = np.array([np.count_nonzero(adds & at_least(self.scores, t)) for t in self.scores])
        qvalues = benjamini_hochberg(counts[at] / in_all, ranks, self.scored)
        own = np.array([1.0 if p is None else p for p in self.pvalues()])
        return [float(q) for q in np.maximum(qvalues, own)]

    def told(self) -> list[dict[str, Any]]:
        """Return what is known of each set, by the names that `Subspace` has for it."""
        fields = {
            "pvalue": self.pvalues(),
            "qvalue": self.qvalues(),
            "family_pvalue": self.family_pvalues(),
            "increment_pvalue": [self.increments.pvalue(columns) for columns in self.sets],
            "adds_nothing": [self.increments.adds_nothing(columns) for columns in self.sets],
        }
        return [
            dict(zip(fields, line, strict=True)) for line in zip(*fields.values(), strict=True)
        ]

    def lines(self) -> list[tuple[float | None, ...]]:
        """Return evidence and all p-values of each set, as a run file keeps them."""
        evidence = [None] * len(self.sets) if self.null is None else self.null.observed.tolist()
        return list(
            zip(
                evidence,
                self.pvalues(),
                self.qvalues(),
                self.family_pvalues(),
                [self.increments.pvalue(columns) for columns in self.sets],
                strict=True,
            )
        )

    def summary(self) -> TestSummary:
        """Return in numbers what was corrected for."""
        return TestSummary(
            permutations=self.permutations,
            searches=len(self.shuffled),
            seed=self.seed,
            level=LEVEL,
            complete=self.complete,
        )


def teller(stage: str, on_progress: OnStage | None) -> Callable[[int, int], None]:
    """Return what tells the progress of a stage."""

    def tell(done: int, total: int) -> None:
        if on_progress is not None:
            on_progress(stage, done, total)

    return tell
