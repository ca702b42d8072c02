"""What a search found."""

from __future__ import annotations

import dataclasses
import html
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, overload

from covary.names import printable, shown
from covary.table import as_frame

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from covary.report.plots import SearchPlots, SetPlots
    from covary.report.searched import Searched


def _json(document: Any, options: Mapping[str, Any]) -> str:
    return json.dumps(document, **{"allow_nan": False, "default": str, **options})


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number != 1 else ''}"


def _public_fields(cls: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(cls) if not field.name.startswith("_")]


ADDS_NOTHING = "adds nothing to its parts"


@dataclass(frozen=True)
class Subspace:
    """A set of columns and how strongly they depend on each other.

    Parameters
    ----------
    columns : tuple
        What the columns are called, in the order of the table: ``df[list(subspace.columns)]``.
    score : float
        Their score; with a target, how much of the target the other columns explain.
    pvalue, qvalue, family_pvalue : float or None
        How likely that is by chance: for this set alone, among all sets that were scored (false
        discovery rate), and for the best of the whole search. None if not tested.
    increment_pvalue : float or None
        The p-value of the hypothesis that one of its columns can be spared; None for pairs, or if
        not tested.
    adds_nothing : bool or None
        Whether that cannot be ruled out at the 5 % level: such a set may score high only because
        of what is in it, such as a strong pair.
    """

    columns: tuple[Any, ...]
    score: float
    pvalue: float | None = None
    qvalue: float | None = None
    family_pvalue: float | None = None
    increment_pvalue: float | None = None
    adds_nothing: bool | None = None
    _searched: Searched | None = field(default=None, repr=False, compare=False)

    @property
    def plot(self) -> SetPlots:
        """Figures of the set: `SetPlots`."""
        from covary.report.plots import SetPlots

        return SetPlots(self._searched, self.columns)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the table behind: a result is small, wherever it goes."""
        return {**vars(self), "_searched": None}

    def __str__(self) -> str:
        tested = {"p": self.pvalue, "q": self.qvalue, "family": self.family_pvalue}
        words = [f"{name} = {shown(p)}" for name, p in tested.items() if p is not None]
        words += [ADDS_NOTHING] if self.adds_nothing else []
        more = f"  ({', '.join(words)})" if words else ""
        return f"{shown(self.score)}  {', '.join(map(printable, self.columns))}{more}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary that JSON knows."""
        told = {name: getattr(self, name) for name in _public_fields(Subspace)}
        return {**told, "columns": list(self.columns)}


@dataclass(frozen=True)
class TestResult:
    """Whether columns depend on each other, or whether it could be chance; ``str()`` says it.

    Parameters
    ----------
    columns : tuple
        The columns.
    target : name or None
        The column that was tested against the others; None if all were, against each other.
    score : float
        How strongly they depend on each other; with a target, how much of it is explained.
    statistic : float
        What was compared: the measure's evidence, see `covary.evidence`.
    pvalue : float
        The chance of a statistic as high, if there was no dependence.
    null : array
        The statistic of each permutation, in the order in which they were drawn.
    permutations : int
        How many there were: all that there are if ``exact``, fewer than asked for if permuting
        was stopped.
    exact : bool
        Whether every distinct arrangement of the values was looked at.
    measure : str
        The name of the measure.
    rows : int
        How many rows the table has.
    seed : int
        Of the permutations.
    level : float or None
        Permuting stopped when it was clear on which side of it the p-value lies, if it did.
    """

    __test__: ClassVar[bool] = False  # pytest need not take it for one of its own

    columns: tuple[Any, ...]
    target: Any
    score: float
    statistic: float
    pvalue: float
    null: npt.NDArray[np.float64] = field(repr=False, compare=False)
    permutations: int
    exact: bool
    measure: str
    rows: int
    seed: int
    level: float | None = None

    def __str__(self) -> str:
        return "\n  ".join([self.summary(), *self.explained()])

    def relabelled(self, labels: Mapping[str, Any]) -> TestResult:
        """Return the same with other words for the columns."""
        return dataclasses.replace(
            self,
            columns=tuple(labels.get(name, name) for name in self.columns),
            target=labels.get(self.target, self.target),
        )

    def summary(self) -> str:
        """Return score and p-value in one line."""
        names = ", ".join(printable(name) for name in self.columns if name != self.target)
        of = f"{printable(self.target)} given {names}" if self.target is not None else names
        return f"{self.measure} = {shown(self.score)}, p = {shown(self.pvalue)} for {of}"

    def explained(self) -> list[str]:
        """Return in words, one line each, what the p-value means and where it comes from."""
        target = None if self.target is None else printable(self.target)
        if self.permutations == 0:
            return ["nothing can be permuted: too few of the columns vary"]
        null = "the columns were independent of each other"
        if target is not None:
            null = f"{target} was independent of the others"
        kind = _counted(self.permutations, "permutation")
        if self.exact:
            kind = f"all {_counted(self.permutations, 'other arrangement')} of the values"
        what = "every column by itself" if target is None else f"{target} against the others"
        how = "exact" if self.exact else f"seed {self.seed}"
        lines = [
            f"p is the chance of as much evidence if {null}",
            f"{kind}, {what} ({_counted(self.rows, 'row')}, {how})",
        ]
        if self.level is not None:
            side = "at most" if self.pvalue <= self.level else "above"
            lines[1] += f"; then it was clear that p is {side} {self.level:g}"
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, but for the null distribution, as JSON knows them."""
        told = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        del told["null"]
        return {**told, "columns": list(self.columns)}

    def to_json(self, **options: Any) -> str:
        """Return the same as JSON text; options go to `json.dumps`."""
        return _json(self.to_dict(), options)


@dataclass(frozen=True)
class TestSummary:
    """How the sets of a search were tested, and what their p-values are corrected for.

    Parameters
    ----------
    permutations : int
        How many permuted tables each set was compared with at most; hopeless sets with fewer.
    searches : int
        How many shuffled tables were searched from beginning to end.
    seed : int
        Of all shuffling.
    level : float
        Where permuting stops when the p-value is clearly above, and where a set adds something.
    complete : bool
        False if testing was interrupted.
    """

    __test__: ClassVar[bool] = False  # pytest need not take it for one of its own

    permutations: int
    searches: int
    seed: int
    level: float
    complete: bool = True

    def explained(self, scored: int, target: Any = None) -> list[str]:
        """Return in words, one line each, what the p-values mean and were corrected for."""
        if target is None:
            null, moved = "its columns were independent", "its columns"
        else:
            null, moved = f"{printable(target)} was independent", printable(target)
        lines = [
            f"p: chance of as much evidence if {null}, for this set alone; up to "
            f"{_counted(self.permutations, 'table')} with {moved} permuted, not corrected for the "
            "search",
        ]
        if not self.complete:
            return [*lines, "testing was interrupted: p is rough, and the rest is missing"]
        return [
            *lines,
            "q: share of false sets to expect among those that score as high; corrected for all "
            f"of {_counted(scored, 'scored set')} (Benjamini-Hochberg)",
            "family: chance that any set scores as high in a table with nothing to find; "
            "corrected for the whole search, repeated on "
            f"{_counted(self.searches, 'shuffled table')} (Westfall-Young)",
            f"{ADDS_NOTHING}: may score high only because of what is in it, such as a strong pair",
        ]


@dataclass(frozen=True)
class SearchResult:
    """The best sets of a search, best first; ``str()`` lists them.

    It has a length, can be indexed and iterated over. It holds on to the table, for figures,
    until it is copied or sent elsewhere.

    Parameters
    ----------
    subspaces : tuple of Subspace
        The sets.
    measure, strategy : str
        What scored the sets, and what chose them.
    parameters : mapping
        Everything that was asked for, by name.
    target : name or None
        The column that every set contains, and whose explanation is the score.
    rows : int
        How many rows the table has.
    scored : int
        How many sets were scored.
    complete : bool
        False if the search was interrupted: there may be better sets.
    tests : TestSummary or None
        How the sets were tested for chance, if they were.
    """

    subspaces: tuple[Subspace, ...]
    measure: str
    strategy: str
    parameters: Mapping[str, Any]
    target: Any
    rows: int
    scored: int
    complete: bool = True
    tests: TestSummary | None = None
    _kind: str | None = field(default=None, repr=False, compare=False)
    _searched: Searched | None = field(default=None, repr=False, compare=False)

    @property
    def plot(self) -> SearchPlots:
        """Figures of the search: `SearchPlots`."""
        from covary.report.plots import SearchPlots

        return SearchPlots(self._searched)

    def report(
        self,
        path: str | os.PathLike[str],
        title: str | None = None,
        *,
        rows: bool = True,
        on_progress: Callable[[str, int, int], None] | None = None,
    ) -> None:
        """Write an HTML page with everything that was found; it opens without a network.

        Parameters
        ----------
        path : path
            Where to write it.
        title : str, optional
            What the page is called.
        rows : bool
            Whether rows of the table may be on the page, up to 500 per figure. If not, figures
            count the rows between round numbers; a count of 1 still tells that there is one.
        on_progress : callable, optional
            Told what is being done, how much of it is done, and how much there is.
        """
        from covary.report.write import write_report

        write_report(
            self,
            self._searched,
            path,
            title=title,
            with_rows=rows,
            on_progress=on_progress,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave the table behind: a result is small, wherever it goes."""
        return {**vars(self), "_searched": None}

    def _repr_html_(self) -> str:
        """Return the sets as a table for a notebook; names are text, whatever is in them."""
        tested = ("pvalue", "qvalue", "family_pvalue") if self.tests is not None else ()
        heads = ["", "score", *(["p", "q", "family"] if tested else []), "columns", ""]
        rows = []
        for rank, subspace in enumerate(self, start=1):
            numbers = [getattr(subspace, name) for name in tested]
            cells = [str(rank), shown(subspace.score)]
            cells += ["-" if number is None else shown(number) for number in numbers]
            cells += [", ".join(map(printable, subspace.columns))]
            cells += [ADDS_NOTHING if subspace.adds_nothing else ""]
            rows.append("".join(f"<td>{html.escape(cell)}</td>" for cell in cells))
        head = "".join(f"<th>{html.escape(text)}</th>" for text in heads)
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return (
            f"<p>{html.escape(self.summary())}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )

    def __len__(self) -> int:
        return len(self.subspaces)

    def __iter__(self) -> Iterator[Subspace]:
        return iter(self.subspaces)

    @overload
    def __getitem__(self, which: int) -> Subspace: ...
    @overload
    def __getitem__(self, which: slice) -> tuple[Subspace, ...]: ...
    def __getitem__(self, which: int | slice) -> Subspace | tuple[Subspace, ...]:
        return self.subspaces[which]

    def __repr__(self) -> str:
        return f"<SearchResult: {self.summary()}>"

    def __str__(self) -> str:
        return "\n".join([self.summary(), *map(str, self.subspaces), *self.explained()])

    def unfinished(self) -> str:
        """Return in words what is missing, if the search has not come to its end."""
        if not self.complete:
            return "The search was interrupted, or is still under way: there may be better sets."
        if self.tests is not None and not self.tests.complete:
            return (
                "Testing was interrupted, or is still under way: p is rough, the rest is missing."
            )
        if self.tests is None and self.parameters.get("permutations") and self.subspaces:
            return "The search was interrupted before its sets were tested: any could be chance."
        return ""

    def explained(self) -> list[str]:
        """Return in words, one line each, what the p-values mean, if there are any."""
        if self.tests is None:
            return []
        marked = any(subspace.adds_nothing for subspace in self)
        return self.tests.explained(self.scored, self.target)[: None if marked else 3]

    def summary(self) -> str:
        """Return in one line what was searched and how."""
        sets = _counted(self.scored, "scored set")
        best = f"the best {len(self)} of {sets}" if len(self) < self.scored else sets
        toward = "" if self.target is None else f" by what explains {printable(self.target)}"
        unfinished = "" if self.complete else ", interrupted"
        return f"{best}{toward} ({self.measure}, {self.strategy}, {self.rows:,} rows{unfinished})"

    def to_frame(self) -> Any:
        """Return one row per set, as the kind of frame that was searched.

        An array or a file gives a pyarrow table. The columns of a set are a list.
        """
        names = _public_fields(Subspace)
        rows = [subspace.to_dict() for subspace in self.subspaces]
        columns = {name: [row[name] for row in rows] for name in names}
        return as_frame({**columns, "size": [len(row["columns"]) for row in rows]}, self._kind)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as lists and dictionaries that JSON knows."""
        return {
            "measure": self.measure,
            "strategy": self.strategy,
            "parameters": dict(self.parameters),
            "target": self.target,
            "rows": self.rows,
            "scored": self.scored,
            "complete": self.complete,
            "tests": None if self.tests is None else dataclasses.asdict(self.tests),
            "subspaces": [subspace.to_dict() for subspace in self.subspaces],
        }

    def to_json(self, **options: Any) -> str:
        """Return the result as JSON text; options go to `json.dumps`."""
        return _json(self.to_dict(), options)
