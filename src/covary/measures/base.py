"""What a measure is, how it is registered, and what an explanation looks like."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from covary import errors
from covary.names import printable, told_apart
from covary.prepare import Prepared, prepare
from covary.table import labels_of

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class Step:
    """One column explained by those before it.

    Parameters
    ----------
    target : str
        The column that is explained.
    given : tuple of str
        The columns before it, in their order.
    explained : float
        The fraction of the target's cumulative entropy that they explain, 0 to 1.
    by : tuple of str
        Those of ``given`` that explain something here: that are cut, or have missing cells.
    bins : int
        Into how many bins a column was cut for this step, missing cells not counted: each of
        ``by`` (at most), or with `covary.UDS` the last of ``given``.
    cuts : dict of tuple
        By column, where to cut it, in its own units: the largest value of each bin but the last.
        With `covary.UDS` it is where the last of ``given`` was cut; otherwise a few cuts that
        tell most about the target.
    missing : int
        How many cells of those columns are missing, a bin of their own if there are any.
    rows : int
        How many rows have a value of the target.
    alone : tuple of float
        How much each of ``by`` explains by itself, where the measure knows.
    """

    target: str
    given: tuple[str, ...]
    explained: float
    by: tuple[str, ...]
    bins: int
    cuts: Mapping[str, tuple[Any, ...]]
    missing: int
    rows: int
    alone: tuple[float, ...] = ()

    def __str__(self) -> str:
        target = printable(self.target)
        if not self.by:
            return f"{target}: nothing explained"
        by = " and ".join(map(printable, self.by))
        details = self.details()
        how = f" ({details})" if details else ""
        return f"{target}: {self.explained:.4f} explained by {by}{how}"

    def details(self, most: int = 5) -> str:
        """Return in words how the columns are cut, and what each explains by itself."""
        words = []
        if len(self.alone) > 1:
            words.append(f"{self.bins} x {self.bins} bins")
            for column, alone in zip(self.by, self.alone, strict=True):
                words.append(f"{printable(column)} alone {alone:.4f}")
        elif self.alone:
            words.append(f"{self.bins} bins")
        if len(self.alone) < 2:
            for column in (c for c in self.cuts if c in self.by and self.cuts[c]):
                cuts = told_apart(self.cuts[column])
                if len(cuts) <= most or not self.alone:
                    where = ", ".join(cuts[:most] + ["..."] * (len(cuts) > most))
                    what = "best" if self.alone else printable(column)
                    words.append(f"{what} cut at {where}")
        words += [f"{self.missing} missing cells as a bin"] if self.missing else []
        return "; ".join(words)


@dataclass(frozen=True)
class Explanation:
    """A score and where it comes from; ``str()`` says it in words.

    Parameters
    ----------
    score : float
        The score of the set.
    order : tuple of str
        The columns in the order in which they explain each other.
    steps : tuple of Step
        One step for every column but the first.
    measure : str
        The name of the measure.
    rows : int
        How many rows the table has.
    """

    score: float
    order: tuple[str, ...]
    steps: tuple[Step, ...]
    measure: str
    rows: int

    def __str__(self) -> str:
        order = " -> ".join(map(printable, self.order))
        head = f"{self.measure} = {self.score:.4f} for {order}"
        return "\n  ".join([head, *map(str, self.steps)])

    def relabelled(self, labels: Mapping[str, Any]) -> Explanation:
        """Return the same with other words for the columns."""

        def words(names: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(labels.get(name, name) for name in names)

        steps = [
            dataclasses.replace(
                step,
                target=labels.get(step.target, step.target),
                given=words(step.given),
                by=words(step.by),
                cuts={labels.get(name, name): cuts for name, cuts in step.cuts.items()},
            )
            for step in self.steps
        ]
        return dataclasses.replace(self, order=words(self.order), steps=tuple(steps))

    def to_dict(self) -> dict[str, Any]:
        """Return lists and dictionaries; cut points stay what they are.

        The columns that a step is given are those before its target in ``order``.
        """
        steps = []
        for step in self.steps:
            told = {f.name: getattr(step, f.name) for f in dataclasses.fields(step)}
            del told["given"]
            told["cuts"] = {column: list(cuts) for column, cuts in step.cuts.items()}
            steps.append({k: list(v) if isinstance(v, tuple) else v for k, v in told.items()})
        return {
            "measure": self.measure,
            "score": self.score,
            "rows": self.rows,
            "order": list(self.order),
            "steps": steps,
        }


Sets = npt.NDArray[np.int32]
Scores = npt.NDArray[np.float64]
Run = Callable[[Callable[[Any, Any], Any], Any], Iterable[tuple[int, Any]]]


class Scorer:
    """Scores one batch of sets after the other; this one shares nothing among them.

    Parameters
    ----------
    shared : what every task needs: the measure (or what it scores with) and the prepared columns
    """

    def __init__(self, shared: Any) -> None:
        self.shared = shared

    def score(
        self, sets: Sets, run: Run, remember: int = 0
    ) -> Iterator[tuple[npt.NDArray[np.int64], Scores]]:
        """Yield which sets are scored and their scores, a few at a time and in any order.

        Parameters
        ----------
        sets : one line per set, all of one size
        run : an engine's; ``run(task, items)`` yields ``(first, task(shared, items[first:last]))``
            until all are done
        remember : how many of the best sets of this size the next size will be built from

        """
        for first, scores in run(_score_one_by_one, sets):
            yield np.arange(first, first + len(scores)), scores


def here(shared: Any) -> Run:
    """Return what runs tasks in this thread, one item after the other."""

    def run(task: Callable[[Any, Any], Any], items: Any) -> Iterator[tuple[int, Any]]:
        for at in range(len(items)):
            yield at, _interruptible(task, shared, items[at : at + 1])

    return run


def _interruptible(task: Callable[[Any, Any], Any], shared: Any, items: Any) -> Any:
    """Run a task; an interrupt that comes while a kernel runs is a KeyboardInterrupt."""
    try:
        return task(shared, items)
    except SystemError as error:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            cause = cause.__cause__
        raise


def _score_one_by_one(shared: tuple[Measure, Prepared, int | None], sets: Sets) -> Scores:
    measure, prepared, target = shared
    if target is None:
        return np.array([measure.score_set(prepared, columns) for columns in sets.tolist()])
    return np.array([measure.score_target(prepared, c, target) for c in sets.tolist()])


class Measure(ABC):
    """A dependence measure with its parameters; subclasses are frozen dataclasses.

    Attributes
    ----------
    reading : what scores mean, in a few words
    most_rows : of how many rows it can be computed

    """

    reading: ClassVar[str] = "0 if independent, 1 if determined"
    most_rows: ClassVar[int | None] = None

    def score(self, data: Any, columns: Sequence[Any] | None = None) -> float:
        """Return the dependence among the columns (all usable ones if None), a float."""
        prepared = self.prepared(data, columns)
        return self.score_set(prepared, range(len(prepared.names)))

    def explain(
        self,
        data: Any,
        columns: Sequence[Any] | None = None,
        on_progress: OnProgress | None = None,
    ) -> Explanation:
        """Return the score with the steps that it is made of, if the measure has such."""
        if not self.explains:
            raise errors.no_explanation(self.name)
        prepared = self.prepared(data, columns)
        explanation = self.explain_set(prepared, range(len(prepared.names)), on_progress)
        labels = labels_of(data)
        return explanation.relabelled(labels) if labels else explanation

    def evidence(self, data: Any, columns: Sequence[Any] | None = None) -> float:
        """Return the statistic that tells best whether the columns are dependent at all."""
        prepared = self.prepared(data, columns)
        return self.evidence_set(prepared, range(len(prepared.names)))

    def prepared(self, data: Any, columns: Sequence[Any] | None = None) -> Prepared:
        """Return the prepared columns, two at least, if the measure takes so many at once."""
        prepared = prepare(data, columns)
        self.check(prepared, len(prepared.names))
        return prepared

    def check(self, prepared: Prepared, size: int) -> None:
        """Refuse a table, or sets of this size, that the measure cannot take; warn of gaps."""
        if len(prepared.names) < 2:
            raise errors.too_few_columns(prepared.names)
        if self.most_columns is not None and size > self.most_columns:
            raise errors.only_pairs(self.name, size)
        if self.most_rows is not None and prepared.n_rows > self.most_rows:
            raise errors.too_many_rows(self.name, prepared.n_rows, self.most_rows)
        if self.leaves_out_rows and np.any(prepared.n_present < prepared.n_rows):
            complete = prepared.n_complete(range(len(prepared.names)))
            errors.warn(errors.incomplete_rows(self.name, complete, prepared.n_rows))

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest score there can be."""
        return 0.0, 1.0

    @property
    def most_columns(self) -> int | None:
        """The most columns of a set; None if there is no limit."""
        return None

    @property
    def leaves_out_rows(self) -> bool:
        """Whether rows in which one of the columns is missing are left out."""
        return False

    @property
    def of_itself(self) -> float:
        """What a column and itself score, by convention: 1, or NaN if 1 would mean nothing."""
        return 1.0 if self.bounds[1] == 1.0 else math.nan

    @property
    def explains(self) -> bool:
        """Whether the measure says which column is explained by which."""
        return type(self).explain_set is not Measure.explain_set

    @property
    def takes_target(self) -> bool:
        """Whether the measure says how much of one column others explain."""
        cls = type(self)
        one_by_one = cls.score_target is not Measure.score_target
        return one_by_one or cls.target_scorer is not Measure.target_scorer

    @abstractmethod
    def score_set(self, prepared: Prepared, columns: Sequence[int]) -> float:
        """Return the score of the columns at these positions."""

    def evidence_set(self, prepared: Prepared, columns: Sequence[int]) -> float:
        """Return the evidence of the columns at these positions: their score, or better."""
        return float(self.evidence_sets(prepared, [columns])[0])

    def evidence_sets(
        self, prepared: Prepared, sets: Sequence[Sequence[int]], target: int | None = None
    ) -> Scores:
        """Return the evidence of many sets; what they have in common is computed once.

        With a ``target``, which is in all sets, it is the evidence that the target depends on the
        others, whether or not these depend on each other.
        """
        return self.score_sets(prepared, sets, target)

    def evidence_moved(
        self,
        prepared: Prepared,
        sets: Sequence[Sequence[int]],
        moves: Sequence[Mapping[int, npt.NDArray[np.uint32]]],
        target: int | None = None,
    ) -> Scores:
        """Return the evidence of many sets, one line for each way to move values.

        Parameters
        ----------
        moves : ways to move, as `Prepared.moved` takes them

        """
        lines = [self.evidence_sets(prepared.moved(rows), sets, target) for rows in moves]
        return np.array(lines).reshape(len(lines), len(sets))

    def score_sets(
        self, prepared: Prepared, sets: Sequence[Sequence[int]], target: int | None = None
    ) -> Scores:
        """Return the scores of many sets of any size, computed in this thread."""
        scores = np.zeros(len(sets))
        sizes = np.array([len(columns) for columns in sets])
        scorer = self.any_scorer(prepared, target)
        for size in np.unique(sizes):
            which = np.flatnonzero(sizes == size)
            columns = [[c for c in sets[number] if c != target] for number in which.tolist()]
            for done, found in scorer.score(np.array(columns, np.int32), here(scorer.shared)):
                scores[which[done]] = found
        return scores

    def any_scorer(self, prepared: Prepared, target: int | None) -> Scorer:
        """Return what scores batches of sets, by how much of a target they explain if any."""
        self.make_ready(prepared)
        return self.scorer(prepared) if target is None else self.target_scorer(prepared, target)

    def make_ready(self, prepared: Prepared) -> None:  # noqa: B027
        """Have made, before there are many workers, what is made once for a table."""

    def order_set(self, prepared: Prepared, columns: Sequence[int]) -> list[int]:
        """Return the columns in the order in which they explain each other; empty if none."""
        return []

    def scorer(self, prepared: Prepared) -> Scorer:
        """Return what scores batches of sets, faster than one by one where a measure can share."""
        return Scorer((self, prepared, None))

    def target_scorer(self, prepared: Prepared, target: int) -> Scorer:
        """Return what scores sets of other columns by how much of the target they explain."""
        if not self.takes_target:
            raise errors.no_target(self.name)
        return Scorer((self, prepared, target))

    def score_target(self, prepared: Prepared, columns: Sequence[int], target: int) -> float:
        """Return how much of the target the columns at these positions explain."""
        raise errors.no_target(self.name)

    def explain_set(
        self,
        prepared: Prepared,
        columns: Sequence[int],
        on_progress: OnProgress | None = None,
    ) -> Explanation:
        """Return the explanation of the columns at these positions.

        ``on_progress``, where a measure takes long, is told how much is done and to do.
        """
        raise errors.no_explanation(self.name)

    @property
    def name(self) -> str:
        """The registered name that is nearest to this measure's parameters."""
        mine = [entry for entry in registered().values() if entry.cls is type(self)]
        fits = [e for e in mine if all(getattr(self, k) == v for k, v in e.fixed.items())]
        return max(fits, key=lambda entry: len(entry.fixed)).name if fits else type(self).__name__

    def with_parameters(self, parameters: Mapping[str, Any]) -> Measure:
        """Return the same measure with some parameters changed."""
        if not parameters:
            return self
        _refuse_unknown(self.name, type(self), parameters)
        changed: Measure = dataclasses.replace(self, **parameters)  # type: ignore[type-var]
        return changed


@dataclass(frozen=True)
class Registered:
    """A measure by its public name: the class, and the parameters that the name stands for."""

    name: str
    cls: type[Measure]
    summary: str
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters with their defaults."""
        return {
            parameter.name: self.fixed.get(parameter.name, parameter.default)
            for parameter in dataclasses.fields(self.cls)  # type: ignore[arg-type]
        }

    @property
    def range(self) -> str:
        """The least and the greatest score in words."""
        least, most = (f"{bound:g}".replace("inf", "∞") for bound in self.make({}).bounds)
        return f"{least} .. {most}"

    def make(self, parameters: Mapping[str, Any]) -> Measure:
        """Return the measure with these parameters."""
        _refuse_unknown(self.name, self.cls, parameters)
        return self.cls(**{**self.fixed, **parameters})


_registered: dict[str, Registered] = {}
M = TypeVar("M", bound=type[Measure])


def register(name: str, summary: str, **fixed: Any) -> Callable[[M], M]:
    """Give a measure class a public name, one line about it, and the parameters that it fixes."""

    def add(cls: M) -> M:
        _registered[name] = Registered(name, cls, summary, fixed)
        return cls

    return add


def registered() -> dict[str, Registered]:
    """Return the measures whose files have been loaded, by name."""
    return _registered


def _refuse_unknown(measure: str, cls: type[Measure], parameters: Mapping[str, Any]) -> None:
    known = [parameter.name for parameter in dataclasses.fields(cls)]  # type: ignore[arg-type]
    for name in parameters:
        if name not in known:
            others = sorted(e.name for e in registered().values() if name in e.parameters)
            raise errors.unknown_parameter("measure", measure, name, known, others)
