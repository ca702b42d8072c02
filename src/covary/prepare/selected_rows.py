"""The same columns with some of the rows, which may differ between columns."""

from __future__ import annotations

from collections.abc import Sequence

from covary.array_types import Integers
from covary.prepare.prepared import Prepared
from covary.table import Column, Table, TableOptions
from covary.table.dependent_rows import DependentRows


def with_rows(
    prepared: Prepared,
    columns: Sequence[int],
    rows: Sequence[Integers],
    dependent: DependentRows | None = None,
) -> Prepared:
    """Return prepared columns with some of their rows.

    Parameters
    ----------
    columns : the columns, by position
    rows : the rows of each of these columns; the same number for all
    dependent : the series or groups of these rows
    """
    chosen = []
    for column, own in zip(columns, rows, strict=True):
        kind = "nominal" if prepared.nominal[column] else "number"
        values = prepared.by_row(column)[own]
        # Calendar columns and their date still have a common source.
        source = f"source {prepared.sources[column]}"
        chosen.append(Column(prepared.names[column], values, kind, part_of=source))
    options = TableOptions(missing="level" if prepared.missing_is_level else "values")
    n_rows = chosen[0].values.size
    return Prepared(Table(tuple(chosen), n_rows, options=options, dependent=dependent))
