"""`SearchResult`: the best sets of a search, and how to print, convert, draw and report them."""

from __future__ import annotations

import dataclasses
import html
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, overload

from covary import errors
from covary.formatting import counted, listing, printable, short_number, to_json_text
from covary.results.significance import ADDS_NOTHING, TestSummary
from covary.table import as_frame

if TYPE_CHECKING:
    from covary.array_types import OnStage


class Presenter(Protocol):
    """Draws figures and writes the report of a search that still has its table."""

    def plots(self) -> Any:
        """Return the figures of the whole search."""

    def set_plots(self, columns: Sequence[Any]) -> Any:
        """Return the figures of one set."""

    def write_report(
        self,
        result: SearchResult,
        path: str | os.PathLike[str],
        title: str | None,
        rows: bool,
        on_progress: OnStage | None,
    ) -> None:
        """Write the report."""


def _available(presenter: Presenter | None) -> Presenter:
    if presenter is None:
        raise errors.no_table_to_draw()
    return presenter


@dataclass(frozen=True)
class Subspace:
    """A set of columns with its score and p-values.

    Parameters
    ----------
    columns : tuple
        The labels of the columns, in table order: ``df[list(subspace.columns)]``.
    score : float
        The score; with a target, the fraction of the target that the other columns explain.
    pvalue : float or None
        The probability, under independence, of evidence at least this large; for this set alone.
        None if not tested.
    qvalue : float or None
        The false discovery rate among all sets with at least this evidence.
    family_pvalue : float or None
        The probability, under independence, that any possible set has at least this evidence. It
        is never smaller than ``qvalue``, and that never smaller than ``pvalue``.
    increment_pvalue : float or None
        The p-value of the hypothesis that one column of the set adds nothing beyond the others.
        It is corrected for the number of columns that could have been added (Bonferroni). None for
        pairs, or if not tested.
    adds_nothing : bool or None
        Whether this hypothesis is not rejected at the 5 % level. The score of such a set may come
        from a subset alone, such as a strong pair.
    variant_of : tuple or None
        The columns of the better relation of which this set is a variant, if it is one: it says
        little that this relation does not say.
    variants : int
        If the set is a relation, the number of its variants; otherwise 0.
    variant_columns : tuple
        The columns of these variants that the set does not contain, those of the best variants
        first.
    """

    columns: tuple[Any, ...]
    score: float
    pvalue: float | None = None
    qvalue: float | None = None
    family_pvalue: float | None = None
    increment_pvalue: float | None = None
    adds_nothing: bool | None = None
    variant_of: tuple[Any, ...] | None = None
    variants: int = 0
    variant_columns: tuple[Any, ...] = ()
    _presenter: Presenter | None = field(default=None, repr=False, compare=False)

    @property
    def plot(self) -> Any:
        """Figures of the set: `covary.plots.accessors.SetPlots`."""
        return _available(self._presenter).set_plots(self.columns)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the table behind: a copied or pickled result is small."""
        return {**vars(self), "_presenter": None}

    def __str__(self) -> str:
        pvalues = {"p": self.pvalue, "q": self.qvalue, "family-wise p": self.family_pvalue}
        words = [f"{name} = {short_number(p)}" for name, p in pvalues.items() if p is not None]
        words += [ADDS_NOTHING] if self.adds_nothing else []
        suffix = f"  ({', '.join(words)})" if words else ""
        columns = ", ".join(map(printable, self.columns))
        return f"{short_number(self.score)}  {columns}{suffix}"

    def to_dict(self) -> dict[str, Any]:
        """Return the public fields as JSON types."""
        fields = {name: getattr(self, name) for name in _public_fields()}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in fields.items()}


def _public_fields() -> list[str]:
    return [each.name for each in dataclasses.fields(Subspace) if not each.name.startswith("_")]


@dataclass(frozen=True)
class SearchResult:
    """The best sets of a search, best first; ``str()`` lists them.

    It has a length, and can be indexed and iterated over. It keeps the table for figures until it
    is copied or pickled.

    Parameters
    ----------
    subspaces : tuple of Subspace
        The sets.
    relations : tuple of Subspace
        The best sets that score above 0, without variants of better ones. They may continue beyond
        the last of ``subspaces``. With p-values, those with a small family-wise p come first.
    measure, strategy : str
        The names of the measure and the strategy.
    parameters : mapping
        All options of the search by name.
    target : name or None
        The column that every set contains and that is explained.
    rows : int
        The number of rows of the table.
    scored : int
        The number of scored sets.
    examined : tuple of tuple
        For each size of sets: the size, the number of scored sets, and the number of all sets.
    complete : bool
        False if the search was interrupted: better sets may exist.
    tests : TestSummary or None
        How the sets were tested, if they were.
    """

    subspaces: tuple[Subspace, ...]
    measure: str
    strategy: str
    parameters: Mapping[str, Any]
    target: Any
    rows: int
    scored: int
    examined: tuple[tuple[int, int, int], ...] = ()
    complete: bool = True
    tests: TestSummary | None = None
    relations: tuple[Subspace, ...] = ()
    _frame_library: str | None = field(default=None, repr=False, compare=False)
    _presenter: Presenter | None = field(default=None, repr=False, compare=False)

    @property
    def plot(self) -> Any:
        """Figures of the search: `covary.plots.accessors.SearchPlots`."""
        return _available(self._presenter).plots()

    def report(
        self,
        path: str | os.PathLike[str],
        title: str | None = None,
        *,
        rows: bool = True,
        on_progress: OnStage | None = None,
    ) -> None:
        """Write an HTML page with all results. It opens without a network.

        Parameters
        ----------
        path : path
            The file to write.
        title : str, optional
            The title of the page.
        rows : bool
            Whether the page may contain rows of the table, up to 500 per figure. Otherwise
            figures show counts of rows between round numbers. A count of 1 still reveals a row.
        on_progress : callable, optional
            Called with the stage, the amount done and the total.
        """
        _available(self._presenter).write_report(self, path, title, rows, on_progress)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the table behind: a copied or pickled result is small."""
        return {**vars(self), "_presenter": None}

    def __len__(self) -> int:
        return len(self.subspaces)

    def __iter__(self) -> Iterator[Subspace]:
        return iter(self.subspaces)

    @overload
    def __getitem__(self, index: int) -> Subspace: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Subspace, ...]: ...
    def __getitem__(self, index: int | slice) -> Subspace | tuple[Subspace, ...]:
        return self.subspaces[index]

    def __repr__(self) -> str:
        return f"<SearchResult: {self.summary()}>"

    def __str__(self) -> str:
        return "\n".join([self.summary(), *map(str, self.subspaces), *self.explained()])

    def _repr_html_(self) -> str:
        """Return the sets as an HTML table for notebooks; all names are escaped."""
        pvalues = ("pvalue", "qvalue", "family_pvalue") if self.tests is not None else ()
        headings = ["", "score", *(["p", "q", "family-wise p"] if pvalues else []), "columns", ""]
        rows = []
        for rank, subspace in enumerate(self, start=1):
            numbers = [getattr(subspace, name) for name in pvalues]
            cells = [str(rank), short_number(subspace.score)]
            cells += ["-" if number is None else short_number(number) for number in numbers]
            cells += [", ".join(map(printable, subspace.columns))]
            cells += [ADDS_NOTHING if subspace.adds_nothing else ""]
            rows.append("".join(f"<td>{html.escape(cell)}</td>" for cell in cells))
        heading = "".join(f"<th>{html.escape(text)}</th>" for text in headings)
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return (
            f"<p>{html.escape(self.summary())}</p>"
            f"<table><thead><tr>{heading}</tr></thead><tbody>{body}</tbody></table>"
        )

    def unfinished(self) -> str:
        """Return one sentence that says what is missing; empty if nothing is."""
        if not self.complete:
            return "The search was interrupted or is still running: better sets may exist."
        if self.tests is not None and not self.tests.complete:
            return (
                "The tests were interrupted or are still running: p is rough, q and family-wise p "
                "are missing."
            )
        if self.tests is None and self.parameters.get("permutations") and self.subspaces:
            return "The search was interrupted before its sets were tested."
        return ""

    def explained(self) -> list[str]:
        """Return which sets were not scored, and the meaning of the p-values, line by line."""
        lines = self.not_examined()
        if self.tests is not None:
            marked = any(subspace.adds_nothing for subspace in self)
            given = self.parameters.get("given") or ()
            lines += self.tests.explained(self.target, given, marked)
        return lines

    def not_examined(self) -> list[str]:
        """Return one line that says which sets were not scored; empty if all were."""
        parts = [
            f"{possible - scored:,} of {possible:,} sets of {size}"
            for size, scored, possible in self.examined
            if scored < possible
        ]
        return [f"not scored: {', '.join(parts)} columns"] if parts and self.complete else []

    def summary(self, *, relations: bool = False) -> str:
        """Return one line that describes the search, with the number of sets or of relations."""
        sets = counted(self.scored, "scored set")
        best = f"the best {len(self)} of {sets}" if len(self) < self.scored else sets
        if relations:
            best = f"{counted(len(self.relations), 'relation')} in {sets}"
        purpose = "" if self.target is None else f" that explain {printable(self.target)}"
        if given := self.parameters.get("given"):
            purpose += f" beyond {listing(given)}"
        state = "" if self.complete else ", interrupted"
        return f"{best}{purpose} ({self.measure}, {self.strategy}, {self.rows:,} rows{state})"

    def to_frame(self) -> Any:
        """Return one row per set, as a frame of the library that the data came from.

        An array or a file gives a pyarrow table. The columns of a set are a list.
        """
        rows = [subspace.to_dict() for subspace in self.subspaces]
        columns = {name: [row[name] for row in rows] for name in _public_fields()}
        sizes = [len(row["columns"]) for row in rows]
        return as_frame({**columns, "size": sizes}, self._frame_library)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON types."""
        return {
            "measure": self.measure,
            "strategy": self.strategy,
            "parameters": dict(self.parameters),
            "target": self.target,
            "rows": self.rows,
            "scored": self.scored,
            "examined": [list(each) for each in self.examined],
            "complete": self.complete,
            "tests": None if self.tests is None else self.tests.to_dict(),
            "subspaces": [subspace.to_dict() for subspace in self.subspaces],
            "relations": [relation.to_dict() for relation in self.relations],
        }

    def to_json(self, **options: Any) -> str:
        """Return `to_dict` as JSON text; options are passed to `json.dumps`."""
        return to_json_text(self.to_dict(), options)
