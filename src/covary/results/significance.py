"""`TestResult` of one set, and `TestSummary` of the tests of a search."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from covary.formatting import counted, listing, printable, short_number, to_json_text

if TYPE_CHECKING:
    from covary.array_types import Floats

# A conditional test uses a random sample of this many rows if there are more.
MAX_TESTED = 5_000
LEFT_OUT = "rows with missing cells are left out of the test"
ADDS_NOTHING = "may add nothing beyond a subset"


@dataclass(frozen=True)
class RowDependence:
    """Why p-values may be wrong: rows that depend on each other; ``str()`` is a sentence.

    Parameters
    ----------
    columns : tuple
        The columns in which neighbouring rows are similar.
    examined : int
        The number of columns that were examined.
    strongest : name or None
        The column whose neighbours are most similar.
    similarity : float
        The rank correlation of its neighbours; of named values, how much more often they are equal
        than by chance, as a fraction of the possible excess.
    order : str
        "row" for the order of the table, or the date that orders the rows.
    drifting : tuple
        With ``time``, the columns that behave like random walks.
    cyclic : tuple
        With ``time``, columns that have a common cycle.
    period : float
        The period of this cycle, in rows.
    sorted_by : name or None
        The column by which the rows are sorted, if neighbouring rows are similar because of it.
    """

    columns: tuple[Any, ...] = ()
    examined: int = 0
    strongest: Any = None
    similarity: float = 0.0
    order: str = "row"
    drifting: tuple[Any, ...] = ()
    cyclic: tuple[Any, ...] = ()
    period: float = 0.0
    sorted_by: Any = None

    def __str__(self) -> str:
        if self.drifting or self.cyclic:
            return "; ".join(filter(None, (self._about_drift(), self._about_cycle())))
        if self.sorted_by is not None:
            by = printable(self.sorted_by)
            return (
                f"neighbouring rows are similar in {len(self.columns):,} of {self.examined:,} "
                f"columns, and rows are sorted by '{by}': if rows with the same '{by}' belong "
                "together, such as the measurements of a person, p-values are too small; use "
                f"groups='{by}' (--groups {by})"
            )
        order = printable(self.order)
        along = "rows" if order == "row" else f"rows in the order of '{order}'"
        return (
            f"neighbouring {along} are similar in {len(self.columns):,} of {self.examined:,} "
            f"columns (rank correlation {self.similarity:.2f} in {printable(self.strongest)}): "
            "p-values assume independent rows and are too small. For series in time, use "
            f"time='{order}' (--time {order}); for repeated measurements, groups= (--groups). "
            "If the rows were only sorted, ignore this"
        )

    def _about_drift(self) -> str:
        if not self.drifting:
            return ""
        one = len(self.drifting) == 1
        are = "behaves like a random walk" if one else "behave like random walks"
        return (
            f"{_first_names(self.drifting)} {are}: scores may show a common drift only, and "
            "p-values are less reliable; use the changes with difference=True (--difference)"
        )

    def _about_cycle(self) -> str:
        if not self.cyclic:
            return ""
        period = f"{self.period:.0f}" if self.period >= 10 else f"{self.period:.1f}"
        return (
            f"{_first_names(self.cyclic)} have a common cycle of about {period} rows: a common "
            "cycle alone gives small p-values; to look beyond it, test with the place in the "
            "cycle as a given column, such as given='date (hour)'"
        )

    def relabelled(self, labels: Mapping[str, Any]) -> RowDependence:
        """Return the same with other labels for the columns."""
        return dataclasses.replace(
            self,
            columns=tuple(labels.get(name, name) for name in self.columns),
            strongest=labels.get(self.strongest, self.strongest),
            drifting=tuple(labels.get(name, name) for name in self.drifting),
            cyclic=tuple(labels.get(name, name) for name in self.cyclic),
            sorted_by=labels.get(self.sorted_by, self.sorted_by),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON types, and the sentence."""
        fields = dataclasses.asdict(self)
        lists = {"columns": list(self.columns), "drifting": list(self.drifting)}
        return {**fields, **lists, "text": str(self)}


def _relabelled(lag: Lag, labels: Mapping[str, Any]) -> Lag:
    return lag._replace(column=labels.get(lag.column, lag.column))


def _first_names(names: Sequence[Any], most: int = 5) -> str:
    """Return the first names and the number of the others."""
    if len(names) <= most:
        return listing(names)
    more = counted(len(names) - most, "more column")
    return f"{', '.join(map(printable, names[:most]))} and {more}"


class Lag(NamedTuple):
    """What earlier values of a column explain of the target; ``str()`` names them.

    Parameters
    ----------
    column : name
        The explaining column.
    rows : int
        The delay, in rows.
    explained : float
        The fraction of the target that the column explains with this delay.
    statistic : float
        The evidence statistic.
    """

    column: Any
    rows: int
    explained: float
    statistic: float

    def __str__(self) -> str:
        if self.rows == 0:
            return printable(self.column)
        return f"{printable(self.column)} {counted(self.rows, 'row')} before"


@dataclass(frozen=True)
class TestResult:
    """The result of an independence test of a set; ``str()`` describes it.

    Parameters
    ----------
    columns : tuple
        The columns.
    target : name or None
        The column whose independence of the others was tested; None if the independence of all
        columns was tested.
    given : tuple
        The columns that are given, see :doc:`/given`.
    score : float
        The score of the set; with a target, the fraction of it that the others explain, of what
        the given columns leave unexplained.
    statistic : float
        The evidence statistic, see `covary.evidence`.
    pvalue : float
        The probability, under independence, of a statistic at least this large.
    null : array
        The null distribution: the statistic of each permutation, in the order of the draws.
    permutations : int
        The number of permutations: all distinct ones if ``exact``, fewer than requested if the
        test stopped early.
    exact : bool
        Whether the test used every distinct arrangement of the values; of series, every shift.
    measure : str
        The name of the measure.
    rows : int
        The number of rows of the table.
    seed : int
        The random seed.
    level : float or None
        The level at which the test stopped early; None if it did not.
    tested : int or None
        The number of rows that were tested. With given columns, rows with missing cells are left
        out, and a random sample of 5,000 rows is tested if there are more. Of series, the rows at
        both ends are left out.
    null_of_rows : str
        What takes the place of permutations in series or groups, in words; else empty.
    row_dependence : RowDependence or None
        Why the p-value may be wrong: rows that depend on each other.
    lags : tuple of Lag
        With ``lags``, what each column explains with each delay.
    best_lag : Lag or None
        The delay with the strongest evidence; score, statistic and p-value are about it. The
        p-value is corrected for the number of columns and delays.
    """

    __test__: ClassVar[bool] = False  # not a test class of pytest

    columns: tuple[Any, ...]
    target: Any
    score: float
    statistic: float
    pvalue: float
    null: Floats = field(repr=False, compare=False)
    permutations: int
    exact: bool
    measure: str
    rows: int
    seed: int
    level: float | None = None
    given: tuple[Any, ...] = ()
    tested: int | None = None
    null_of_rows: str = ""
    row_dependence: RowDependence | None = None
    lags: tuple[Lag, ...] = ()
    best_lag: Lag | None = None

    def __str__(self) -> str:
        return "\n  ".join([self.summary(), *self.explained()])

    def relabelled(self, labels: Mapping[str, Any]) -> TestResult:
        """Return the same result with other labels for the columns."""
        return dataclasses.replace(
            self,
            columns=tuple(labels.get(name, name) for name in self.columns),
            target=labels.get(self.target, self.target),
            given=tuple(labels.get(name, name) for name in self.given),
            row_dependence=self.row_dependence and self.row_dependence.relabelled(labels),
            lags=tuple(_relabelled(each, labels) for each in self.lags),
            best_lag=self.best_lag and _relabelled(self.best_lag, labels),
        )

    def summary(self) -> str:
        """Return score and p-value as one line."""
        others = self._others() if self.best_lag is None else str(self.best_lag)
        if self.target is not None:
            others = f"{printable(self.target)} explained by {others}"
        if self.given:
            others += f" beyond {listing(self.given)}"
        score, pvalue = short_number(self.score), short_number(self.pvalue)
        return f"{self.measure} = {score}, p = {pvalue} for {others}"

    def explained(self) -> list[str]:
        """Return the meaning of the p-value and how it was computed, one sentence per line."""
        if self.permutations == 0:
            return ["nothing can be permuted: too few columns vary"]
        if self.target is None:
            null, permuted = "if the columns were independent", "each column"
        else:
            target = printable(self.target)
            null, permuted = f"if {target} were independent of the others", target
            if self.given:
                given = listing(self.given)
                null = f"if {target} were independent of {self._others()} given {given}"
                similar = f"that are similar in {given}"
                if len(self.given) > 1:
                    similar = f"for which {given} predict similar values of {target}"
                permuted = f"{target} among rows {similar}"
        lines = [f"p: probability of evidence at least this large {null}"]
        if self.lags:
            lines[0] += f"; corrected for {len(self.lags):,} columns and delays"
        rows = counted(self.rows, "row")
        if self.tested is not None and self.tested < self.rows:
            rows = f"{self.tested:,} of {rows}"
        if self.null_of_rows:
            number = f"all {self.permutations:,}" if self.exact else f"{self.permutations:,}"
            lines.append(f"{number} tables in which {self.null_of_rows} (seed {self.seed})")
        elif self.exact:
            arrangements = counted(self.permutations, "other arrangement")
            lines.append(f"exact: all {arrangements} of the values ({rows})")
        else:
            permutations = counted(self.permutations, "permutation")
            lines.append(f"{permutations} of {permuted} ({rows}, seed {self.seed})")
        if self.tested is not None and self.tested < self.rows and not self.null_of_rows:
            # At most this many rows are tested, see `tested`.
            sampled = self.tested == MAX_TESTED
            why = "the tested rows are a random sample" if sampled else LEFT_OUT
            lines.append(why)
        if self.row_dependence is not None:
            lines.append(f"warning: {self.row_dependence}")
        if self.level is not None:
            side = "at most" if self.pvalue <= self.level else "above"
            lines[1] += f"; stopped early because p is {side} {self.level:g}"
        return lines

    def _others(self) -> str:
        """Return the columns without the target, as text."""
        return ", ".join(printable(name) for name in self.columns if name != self.target)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields except the null distribution as JSON types."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        del fields["null"]
        warning = self.row_dependence and self.row_dependence.to_dict()
        lists = {"columns": list(self.columns), "given": list(self.given)}
        best = self.best_lag and self.best_lag._asdict()
        lags = {"lags": [each._asdict() for each in self.lags], "best_lag": best}
        return {**fields, **lists, **lags, "row_dependence": warning}

    def to_json(self, **options: Any) -> str:
        """Return `to_dict` as JSON text; options are passed to `json.dumps`."""
        return to_json_text(self.to_dict(), options)


@dataclass(frozen=True)
class TestSummary:
    """How the sets of a search were tested, and what their p-values are corrected for.

    Parameters
    ----------
    permutations : int
        The maximum number of permutations per set; clearly insignificant sets get fewer.
    compared : int
        The number of all possible sets, which q and family-wise p are corrected for.
    seed : int
        The random seed.
    level : float
        The significance level: tests stop early when p is clearly above it, and increment tests
        use it.
    complete : bool
        False if the tests were interrupted.
    null_of_rows : str
        What takes the place of permutations in series or groups, in words; else empty.
    row_dependence : RowDependence or None
        Why p-values may be wrong: rows that depend on each other.
    """

    __test__: ClassVar[bool] = False  # not a test class of pytest

    permutations: int
    compared: int
    seed: int
    level: float
    complete: bool = True
    null_of_rows: str = ""
    row_dependence: RowDependence | None = None

    def explained(
        self, target: Any = None, given: Sequence[Any] = (), marked: bool = True
    ) -> list[str]:
        """Return the meaning of p, q, family-wise p and, if sets have it, of the mark.

        One sentence per line.
        """
        if target is None:
            null, global_null = "its columns were independent", "all columns were independent"
        else:
            null = global_null = f"{printable(target)} were independent of the other columns"
            if given:
                null = global_null = f"{null} given {listing(given)}"
        of_rows = [f"in place of permutations, {self.null_of_rows}"] if self.null_of_rows else []
        of_rows += [f"warning: {self.row_dependence}"] if self.row_dependence else []
        lines = [
            *of_rows,
            f"p: probability of evidence at least this large if {null}; for this set alone, not "
            f"corrected for the search (up to {counted(self.permutations, 'permutation')})",
        ]
        if not self.complete:
            return [*lines, "the tests were interrupted: p is rough, q and family-wise p missing"]
        return [
            *lines,
            "q: expected share of false sets among those with at least this evidence "
            f"(Benjamini-Hochberg over {counted(self.compared, 'possible set')})",
            "family-wise p: probability that any possible set has at least this evidence if "
            f"{global_null} (Bonferroni, with the null distribution of sets of its size)",
            *([f"{ADDS_NOTHING}: no evidence that every column is needed"] if marked else []),
        ]

    def relabelled(self, labels: Mapping[str, Any]) -> TestSummary:
        """Return the same summary with other labels for the columns."""
        dependence = self.row_dependence and self.row_dependence.relabelled(labels)
        return dataclasses.replace(self, row_dependence=dependence)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON types."""
        warning = self.row_dependence and self.row_dependence.to_dict()
        fields = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        return {**fields, "row_dependence": warning}
