"""`Overview`: how the columns of a table hang together; which column is explained by which."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from covary import errors
from covary.correlation_scale import reading
from covary.formatting import (
    counted,
    fraction_text,
    printable,
    short_number,
    to_json_text,
)
from covary.results.link import CLEAR, GO_TOGETHER, Link
from covary.results.significance import RowDependence
from covary.table import as_frame
from covary.tail_probability import SMALLEST_PVALUE

if TYPE_CHECKING:
    from covary.array_types import OnStage


class OverviewPresenter(Protocol):
    """Draws the figures and writes the report of an overview that still has its table."""

    def plots(self) -> Any:
        """Return the figures of the overview."""

    def write_report(
        self,
        overview: Overview,
        path: str | os.PathLike[str],
        title: str | None,
        rows: bool,
        on_progress: OnStage | None,
    ) -> None:
        """Write the report."""


class Group(NamedTuple):
    """Columns that are connected by links.

    Parameters
    ----------
    name : name
        The column of the group that explains most.
    columns : tuple
        All columns of the group, in table order.
    links : tuple of Link
        The links between them, the strongest first; copies, functions and identities last.
    """

    name: Any
    columns: tuple[Any, ...]
    links: tuple[Link, ...]


class MissingTogether(NamedTuple):
    """Columns whose cells are missing in about the same rows.

    Parameters
    ----------
    columns : tuple
        The columns.
    rows : int
        The number of rows in which all of them are missing.
    share : float
        The share of these rows among those in which any of them is missing.
    """

    columns: tuple[Any, ...]
    rows: int
    share: float


@dataclass(frozen=True)
class Overview:
    """How the columns of a table hang together; ``str()`` lists groups and links.

    Parameters
    ----------
    groups : tuple of Group
        Connected columns with their links, the largest explained fractions first.
    alone : tuple
        The columns without links, in table order.
    score : float
        The score of all columns together, 0 to 1.
    order : tuple
        The columns in the order of that score: each is explained by columns before it.
    missing_together : tuple of MissingTogether
        Columns whose cells are missing in about the same rows.
    not_examined : tuple of str
        What was not examined, in words.
    measure : str
        The name of the measure.
    columns : tuple
        All columns, in table order.
    constant : tuple
        Columns that never vary.
    rows : int
        The number of rows.
    repeated_rows : int
        The number of rows that repeat another row, if this is unlikely to be chance; otherwise 0.
    null_of_rows : str
        What takes the place of permutations in series or groups, in words; else empty.
    row_dependence : RowDependence or None
        Why p-values may be wrong: rows that depend on each other.
    parameters : mapping
        All options by name.
    complete : bool
        False if the computation was interrupted.
    """

    groups: tuple[Group, ...]
    alone: tuple[Any, ...]
    score: float
    order: tuple[Any, ...]
    missing_together: tuple[MissingTogether, ...] = ()
    not_examined: tuple[str, ...] = ()
    measure: str = "uds-chance"
    columns: tuple[Any, ...] = ()
    constant: tuple[Any, ...] = ()
    rows: int = 0
    repeated_rows: int = 0
    null_of_rows: str = ""
    row_dependence: RowDependence | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    complete: bool = True
    _frame_library: str | None = field(default=None, repr=False, compare=False)
    _presenter: OverviewPresenter | None = field(default=None, repr=False, compare=False)

    @property
    def links(self) -> tuple[Link, ...]:
        """All links, group after group."""
        return tuple(link for group in self.groups for link in group.links)

    @property
    def plot(self) -> Any:
        """Figures of the overview: `covary.plots.accessors.OverviewPlots`."""
        return self._available().plots()

    def report(
        self,
        path: str | os.PathLike[str],
        title: str | None = None,
        *,
        rows: bool = True,
        on_progress: OnStage | None = None,
    ) -> None:
        """Write an HTML page with the map of the table, groups and links; it needs no network.

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
        self._available().write_report(self, path, title, rows, on_progress)

    def _available(self) -> OverviewPresenter:
        if self._presenter is None:
            raise errors.no_table_to_draw()
        return self._presenter

    def __getstate__(self) -> dict[str, Any]:
        """Leave the table behind: a copied or pickled result is small."""
        return {**vars(self), "_presenter": None}

    def __repr__(self) -> str:
        return f"<Overview: {self.summary()}>"

    def __str__(self) -> str:
        lines = [self.summary()]
        for group in self.groups:
            lines.append(f"{printable(group.name)} ({counted(len(group.columns), 'column')})")
            lines += [f"  {link}" for link in group.links]
        return "\n".join([*lines, *self.closing_lines()])

    def summary(self) -> str:
        """Return one line that describes the table."""
        size = f"{counted(len(self.columns), 'column')}, {counted(self.rows, 'row')}"
        if not self.complete:
            return f"links are not known yet ({size})"
        links = counted(len(self.links), "link")
        groups = counted(len(self.groups), "group")
        return (
            f"{links} in {groups}; {self.measure} of the whole table = "
            f"{short_number(self.score)} ({reading(self.score)}; {size})"
        )

    def nothing_linked(self) -> str:
        """Return a sentence that says why there are no links."""
        if not self.complete:
            return "Links are not known yet."
        return "No columns are linked."

    def unfinished(self) -> str:
        """Return one sentence that says what is missing; empty if nothing is."""
        if self.complete:
            return ""
        return "The overview was interrupted or is still running: its links are not known yet."

    def closing_lines(self) -> list[str]:
        """Return what is said once: columns without links, missing cells, p-values."""
        lines = []
        if self.alone:
            lines.append(f"without links: {', '.join(map(printable, self.alone))}")
        if self.constant:
            lines.append(f"never vary: {', '.join(map(printable, self.constant))}")
        for each in self.missing_together:
            names = ", ".join(map(printable, each.columns))
            lines.append(f"missing together, in {counted(each.rows, 'row')}: {names}")
        if self.repeated_rows:
            lines.append(f"repeated rows: {self.about_repeated_rows()}")
        if self.row_dependence is not None:
            lines.append(f"warning: {self.row_dependence}")
        if self.null_of_rows:
            lines.append(f"p-values: {self.null_of_rows}")
        return [*lines, *self.explained()]

    def about_repeated_rows(self) -> str:
        """Return what repeated rows do to the results."""
        return (
            f"{self.repeated_rows:,} of {self.rows:,} rows repeat another row. If they are copies "
            "of one observation, remove them: what copies have in common looks like dependence."
        )

    def explained(self) -> list[str]:
        """Return how to read the links, line by line."""
        tested = [link.qvalue for link in self.links if link.qvalue is not None]
        lines = []
        if tested:
            lines.append(
                "explained fraction: 0 if independent, 1 if determined; it sorts the links of a "
                "group, because most p-values are too small to compare; it does not mean 'causes'"
            )
            clear = [q for q in tested if q <= CLEAR]
            if clear:
                most = SMALLEST_PVALUE if max(clear) <= SMALLEST_PVALUE else CLEAR
                unless = " unless shown" if len(clear) < len(tested) else ""
                lines.append(
                    f"q ≤ {most:g}{unless}: the expected share of false links "
                    "(permutations, corrected for all relations that were compared; smaller "
                    f"values than {SMALLEST_PVALUE:g} are not reported)"
                )
        return [*lines, *(f"not examined: {text}" for text in self.not_examined)]

    def _repr_html_(self) -> str:
        """Return the groups and links as an HTML table for notebooks; all names are escaped."""
        rows = []
        for group in self.groups:
            name = html.escape(printable(group.name))
            rows.append(f'<tr><th colspan="4" style="text-align:left">{name}</th></tr>')
            for link in group.links:
                bar = f"{100 * link.explained:.0f}"
                cells = [
                    fraction_text(link.explained),
                    f'<div style="width:6em"><div style="width:{bar}%;background:#4c78a8">'
                    "&nbsp;</div></div>",
                    html.escape(link.sentence()),
                    html.escape(link.note()),
                ]
                rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        closing = "".join(f"<p>{html.escape(line)}</p>" for line in self.closing_lines())
        return f"<p>{html.escape(self.summary())}</p><table>{''.join(rows)}</table>{closing}"

    def to_frame(self) -> Any:
        """Return one row per link, as a frame of the library that the data came from.

        An array or a file gives a pyarrow table. ``by``, ``alone`` and ``adds`` are lists.
        """
        rows = [
            {"group": group.name, **link.to_dict()}
            for group in self.groups
            for link in group.links
        ]
        names = ("group", *Link(None, (), 0.0).to_dict())
        columns = {name: [row[name] for row in rows] for name in names}
        return as_frame(columns, self._frame_library)

    def to_dict(self) -> dict[str, Any]:
        """Return the overview as JSON types."""
        return {
            "measure": self.measure,
            "score": self.score,
            "rows": self.rows,
            "repeated_rows": self.repeated_rows,
            "null_of_rows": self.null_of_rows,
            "row_dependence": self.row_dependence and self.row_dependence.to_dict(),
            "columns": list(self.columns),
            "parameters": dict(self.parameters),
            "complete": self.complete,
            "order": list(self.order),
            "groups": [
                {
                    "name": group.name,
                    "columns": list(group.columns),
                    "links": [link.to_dict() for link in group.links],
                }
                for group in self.groups
            ],
            "links": [link.to_dict() for link in self.links],
            "alone": list(self.alone),
            "constant": list(self.constant),
            "missing_together": [
                {"columns": list(each.columns), "rows": each.rows, "share": each.share}
                for each in self.missing_together
            ],
            "not_examined": list(self.not_examined),
        }

    def to_json(self, **options: Any) -> str:
        """Return `to_dict` as JSON text; options are passed to `json.dumps`."""
        return to_json_text(self.to_dict(), options)


def named_after(columns: Sequence[Any], links: Sequence[Link]) -> Any:
    """Return the column that explains most; of equal ones the first."""
    total = dict.fromkeys(columns, 0.0)
    for link in links:
        for column, alone in zip(link.by, link.alone or (link.explained,), strict=False):
            total[column] += max(alone, link.explained / len(link.by))
        if link.kind == GO_TOGETHER:
            total[link.target] += link.explained
    return max(columns, key=lambda column: total[column])
