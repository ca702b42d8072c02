"""What a search found."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, overload

from covary.names import printable
from covary.table import as_frame


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
        How likely such a score is by chance: for this set alone, among all sets that were scored
        (false discovery rate), and for the best of the whole search. None if not tested.
    """

    columns: tuple[Any, ...]
    score: float
    pvalue: float | None = None
    qvalue: float | None = None
    family_pvalue: float | None = None

    def __str__(self) -> str:
        return f"{self.score:.4f}  {', '.join(map(printable, self.columns))}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary that JSON knows."""
        return {**dataclasses.asdict(self), "columns": list(self.columns)}


@dataclass(frozen=True)
class SearchResult:
    """The best sets of a search, best first; ``str()`` lists them.

    It has a length, can be indexed and iterated over.

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
    """

    subspaces: tuple[Subspace, ...]
    measure: str
    strategy: str
    parameters: Mapping[str, Any]
    target: Any
    rows: int
    scored: int
    complete: bool = True
    _kind: str | None = field(default=None, repr=False, compare=False)

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
        return "\n".join([self.summary(), *map(str, self.subspaces)])

    def summary(self) -> str:
        """Return in one line what was searched and how."""
        sets = f"{self.scored:,} scored set{'s' if self.scored != 1 else ''}"
        best = f"the best {len(self)} of {sets}" if len(self) < self.scored else sets
        toward = "" if self.target is None else f" by what explains {printable(self.target)}"
        unfinished = "" if self.complete else ", interrupted"
        return f"{best}{toward} ({self.measure}, {self.strategy}, {self.rows:,} rows{unfinished})"

    def to_frame(self) -> Any:
        """Return one row per set, as the kind of frame that was searched.

        An array or a file gives a pyarrow table. The columns of a set are a list.
        """
        names = [field.name for field in dataclasses.fields(Subspace)]
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
            "subspaces": [subspace.to_dict() for subspace in self.subspaces],
        }

    def to_json(self, **options: Any) -> str:
        """Return the result as JSON text; options go to `json.dumps`."""
        return json.dumps(self.to_dict(), **{"allow_nan": False, "default": str, **options})
