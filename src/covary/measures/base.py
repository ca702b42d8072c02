"""What a measure is. A new measure derives from `Measure` and implements `score_set`."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from covary import errors
from covary.array_types import Columns, Floats, Integers, OnProgress
from covary.engines.inline import run_here
from covary.measures.former_names import check_definitions, former_attribute
from covary.measures.registry import MEASURES
from covary.measures.scorer import Scorer
from covary.measures.shared.shifted import evidence_of_shifts
from covary.prepare import Moves, Need, Prepared, Roles, prepare_with_roles
from covary.results import Explanation
from covary.table import labels_of


class Measure(ABC):
    """A dependence measure with its parameters; subclasses are frozen dataclasses.

    A subclass implements `score_set`. It states its properties in the class attributes and
    properties below. It may override the optional methods, each of which has a default.

    Attributes
    ----------
    reading : what the scores mean, as short text
    max_rows : the largest number of rows that the measure can handle
    takes_target : whether the measure can score how much of one column others explain
    explains_target : whether it can explain which columns do
    takes_nominal : whether it can use nominal columns, whose levels have no order. Other measures
        reject those that the user names, and leave out the others
    takes_calendars : whether it knows that a date does not explain its own hour and weekday.
        Other measures get these columns only if the user asks for them
    """

    reading: ClassVar[str] = "0 if independent, 1 if determined"
    max_rows: ClassVar[int | None] = None
    takes_target: ClassVar[bool] = False
    explains_target: ClassVar[bool] = False
    takes_nominal: ClassVar[bool] = False
    takes_calendars: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        check_definitions(cls)

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            return former_attribute(self, name)

    # ------------------------------------------------------------ for users

    def score(
        self,
        data: Any,
        columns: Sequence[Any] | None = None,
        target: Any = None,
        given: Sequence[Any] | None = None,
    ) -> float:
        """Return the score of the columns; of all usable columns if None.

        With a target, return the fraction of it that the columns explain, beyond given ones.
        """
        measure, prepared, roles = self.with_roles(data, columns, target, given)
        measure.check(prepared, len(roles.tested))
        if roles.target is None:
            return measure.score_set(prepared, roles.others)
        return measure.score_set(prepared, roles.others, roles.target)

    def explain(
        self,
        data: Any,
        columns: Sequence[Any] | None = None,
        on_progress: OnProgress | None = None,
        target: Any = None,
        given: Sequence[Any] | None = None,
    ) -> Explanation:
        """Return the score with the steps that it consists of."""
        if not self.explains:
            raise errors.no_explanation(self.name)
        measure, prepared, roles = self.with_roles(data, columns, target, given)
        if roles.target is not None and not self.explains_target:
            raise errors.no_target_explanation(self.name)
        measure.check(prepared, len(roles.tested))
        with_target = {} if roles.target is None else {"target": roles.target}
        explanation = measure.explain_set(prepared, roles.others, on_progress, **with_target)
        labels = labels_of(data)
        return explanation.relabelled(labels) if labels else explanation

    def evidence(
        self,
        data: Any,
        columns: Sequence[Any] | None = None,
        target: Any = None,
        given: Sequence[Any] | None = None,
    ) -> float:
        """Return the evidence statistic of the columns."""
        measure, prepared, roles = self.with_roles(data, columns, target, given)
        measure.check(prepared, len(roles.tested))
        if prepared.series is not None:
            found = measure.evidence_shifted(prepared, [roles.tested], [{}], roles.target)
            return float(found[0, 0])
        return float(measure.evidence_sets(prepared, [roles.tested], roles.target)[0])

    def with_roles(
        self,
        data: Any,
        columns: Sequence[Any] | None,
        target: Any,
        given: Sequence[Any] | None,
    ) -> tuple[Measure, Prepared, Roles]:
        """Return the measure beyond given columns, the prepared columns and their roles."""
        ordered_for = None if self.takes_nominal else self.name
        prepared, roles = prepare_with_roles(
            data, columns, target, given, ordered_for, self.takes_calendars
        )
        if roles.target is not None and not self.takes_target:
            raise errors.no_target(self.name)
        measure = self.beyond(roles.given) if roles.given else self
        return measure, prepared, roles

    def prepared(
        self, data: Any, columns: Sequence[Any] | None = None, size: int | None = None
    ) -> Prepared:
        """Return the prepared columns after checking that the measure can score sets of this size.

        If the size is None, check that it can score all columns together.
        """
        _, prepared, roles = self.with_roles(data, columns, None, None)
        self.check(prepared, len(roles.others) if size is None else size)
        return prepared

    @property
    def name(self) -> str:
        """The registered name that fits the parameters best."""
        return MEASURES.name_of(self)

    def with_parameters(self, parameters: Mapping[str, Any]) -> Measure:
        """Return the same measure with some parameters changed."""
        if not parameters:
            return self
        MEASURES.check_parameters(self.name, type(self), parameters)
        changed: Measure = dataclasses.replace(self, **parameters)  # type: ignore[type-var]
        return changed

    # ------------------------------------------------------------ properties

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest possible score."""
        return 0.0, 1.0

    @property
    def max_columns(self) -> int | None:
        """The largest number of columns of a set; None if there is no limit."""
        return None

    @property
    def drops_incomplete_rows(self) -> bool:
        """Whether the measure ignores rows in which a column of the set is missing."""
        return False

    @property
    def self_score(self) -> float:
        """The score of a column with itself, by convention; NaN if the maximum is not 1."""
        return 1.0 if self.bounds[1] == 1.0 else math.nan

    @property
    def explains(self) -> bool:
        """Whether the measure computes explanations."""
        return type(self).explain_set is not Measure.explain_set

    @property
    def tests_increments(self) -> bool:
        """Whether the measure has an increment test of its own."""
        return type(self).increment_pvalue is not Measure.increment_pvalue

    # ------------------------------------------------------------ to implement

    @abstractmethod
    def score_set(
        self, prepared: Prepared, columns: Sequence[int], target: int | None = None
    ) -> float:
        """Return the score of a set.

        With a target, return the fraction of the target that ``columns`` explain. Then
        ``columns`` does not contain the target. Only measures that take a target get one.
        """

    # ------------------------------------------------------------ optional

    def needs(self) -> tuple[Need, ...]:
        """Return the derived data that `score_set` uses, to be computed before workers start."""
        return ()

    def evidence_needs(self) -> tuple[Need, ...]:
        """Return the derived data that `evidence_sets` uses."""
        return self.needs()

    def check(self, prepared: Prepared, size: int) -> None:
        """Raise an error if the measure cannot score sets of this size of this table.

        Warns if rows are dropped.
        """
        if len(prepared.names) < 2:
            raise errors.too_few_columns(prepared.names)
        if self.max_columns is not None and size > self.max_columns:
            raise errors.only_pairs(self.name, size)
        if self.max_rows is not None and prepared.n_rows > self.max_rows:
            raise errors.too_many_rows(self.name, prepared.n_rows, self.max_rows)
        if self.drops_incomplete_rows and np.any(prepared.n_present < prepared.n_rows):
            complete = prepared.n_complete(range(len(prepared.names)))
            errors.warn(errors.incomplete_rows(self.name, complete, prepared.n_rows))

    def make_scorer(self, prepared: Prepared, target: int | None) -> Scorer:
        """Return a scorer of many sets; override it if sets can share computations."""
        return Scorer((self, prepared, target))

    def seconds_per_triple(self, n_rows: int, *, with_target: bool) -> float | None:
        """Return the predicted time to score a set of three columns; None if it is unknown.

        It decides which sets a beam search scores. So it must depend on nothing but its arguments.
        """
        return None

    def beyond(self, given: Columns) -> Measure:
        """Return the measure of what columns explain of a target beyond given columns."""
        raise errors.no_given(self.name)

    def plain(self) -> Measure:
        """Return the same measure without given columns."""
        return self

    def keeps_missing(self, prepared: Prepared) -> bool:
        """Return whether missing cells stay in their rows when a column is permuted."""
        return False

    def n_tested(self, prepared: Prepared, columns: Sequence[int], target: int | None) -> int:
        """Return the number of rows that a test of a set uses."""
        return prepared.n_rows if prepared.series is None else prepared.series.centre.size

    def untestable(self, prepared: Prepared, columns: Sequence[int], target: int | None) -> str:
        """Return why a set cannot be tested, so that its evidence is 0; empty if it can."""
        return ""

    def order_set(self, prepared: Prepared, columns: Sequence[int]) -> list[int]:
        """Return the columns in the order in which they explain each other; empty if undefined."""
        return []

    def explain_set(
        self,
        prepared: Prepared,
        columns: Sequence[int],
        on_progress: OnProgress | None = None,
        target: int | None = None,
    ) -> Explanation:
        """Return the explanation of a set; with a target, what the columns explain of it.

        Only measures that explain targets get one.
        """
        raise errors.no_explanation(self.name)

    def evidence_sets(
        self, prepared: Prepared, sets: Sequence[Sequence[int]], target: int | None = None
    ) -> Floats:
        """Return the evidence statistic of many sets; by default their scores.

        With a target, which all sets contain, it is the evidence that the target depends on the
        other columns. Dependence among these does not count.
        """
        return self.score_sets(prepared, sets, target)

    def evidence_moved(
        self,
        prepared: Prepared,
        sets: Sequence[Sequence[int]],
        moves: Sequence[Moves],
        target: int | None = None,
    ) -> Floats:
        """Return the evidence statistic of many sets, one line per permutation."""
        lines = [self.evidence_sets(prepared.moved(each), sets, target) for each in moves]
        return np.array(lines).reshape(len(lines), len(sets))

    def evidence_shifted(
        self,
        prepared: Prepared,
        sets: Sequence[Sequence[int]],
        shifts: Sequence[Mapping[int, Integers]],
        target: int | None = None,
    ) -> Floats:
        """Return the evidence statistic of many sets, one line per shift in time.

        By column, a shift says by how many rows each series moves; other columns stay.
        """
        return evidence_of_shifts(self.evidence_sets, prepared, sets, shifts, target)

    def increment_pvalue(
        self,
        prepared: Prepared,
        columns: Columns,
        target: int | None,
        given: Columns,
        seed: int,
    ) -> float:
        """Return the p-value of the hypothesis that a set does not need one of its columns.

        With a target, the others explain it, beyond given columns if there are any. A search uses
        the test of `covary.UDSChance` if the measure has none.
        """
        raise NotImplementedError

    # ------------------------------------------------------------ not to override

    def scorer(self, prepared: Prepared, target: int | None = None) -> Scorer:
        """Return a scorer of many sets, with the derived data computed."""
        if target is not None and not self.takes_target:
            raise errors.no_target(self.name)
        prepared.precompute(self.needs())
        return self.make_scorer(prepared, target)

    def score_sets(
        self, prepared: Prepared, sets: Sequence[Sequence[int]], target: int | None = None
    ) -> Floats:
        """Return the scores of sets of any size, computed in this thread.

        With a target, all sets contain it.
        """
        scores = np.zeros(len(sets))
        sizes = np.array([len(columns) for columns in sets])
        scorer = self.scorer(prepared, target)
        for size in np.unique(sizes):
            which = np.flatnonzero(sizes == size)
            others = [[c for c in sets[number] if c != target] for number in which.tolist()]
            batch = np.array(others, np.int32)
            for indices, found in scorer.score(batch, run_here(scorer.shared)):
                scores[which[indices]] = found
        return scores
