"""Tables with nominal columns, whose levels have no order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from covary.table import Column, Table


def nominal_table(seed=0, n_rows=200, missing=0.0):
    """Return a table with two nominal columns that depend on each other.

    ``x`` is a number that depends on ``colour``. ``two`` is a nominal column with two levels, and
    ``noise`` is a number that is independent of all others.
    """
    rng = np.random.default_rng(seed)
    colour = rng.choice(4, n_rows, p=[0.4, 0.3, 0.2, 0.1])
    shape = np.where(rng.random(n_rows) < 0.7, (colour + 2) % 5, rng.integers(0, 5, n_rows))
    columns = {
        "colour": colour,
        "shape": shape,
        "x": colour % 2 + 0.3 * rng.normal(size=n_rows),
        "two": rng.integers(0, 2, n_rows),
        "noise": rng.normal(size=n_rows),
    }
    cells = {name: values.astype(float) for name, values in columns.items()}
    for values in cells.values():
        values[rng.random(n_rows) < missing] = np.nan
    return as_table(cells, {"colour", "shape", "two"})


def as_table(cells, nominal):
    """Return a table of arrays by name; those in ``nominal`` are numbers of levels."""
    columns = tuple(
        Column(name, np.asarray(values, float), "nominal" if name in nominal else "number")
        for name, values in cells.items()
    )
    return Table(columns, len(columns[0].values))


def changed(table, change):
    """Return a table with other values; ``change`` maps a column to them."""
    columns = tuple(replace(column, values=change(column)) for column in table.columns)
    return replace(table, columns=columns, n_rows=len(columns[0].values))


def renumbered(table, seed=0):
    """Return the table with the levels of its nominal columns numbered at random."""
    rng = np.random.default_rng(seed)

    def renumber(column):
        if column.kind != "nominal":
            return column.values
        present = ~np.isnan(column.values)
        numbers = rng.permutation(int(np.max(column.values[present], initial=0.0)) + 1)
        values = column.values.copy()
        values[present] = numbers[column.values[present].astype(int)]
        return values

    return changed(table, renumber)


def with_rows(table, rows):
    """Return a table with these rows, in this order."""
    return changed(table, lambda column: column.values[rows])


def reordered(table, *names):
    """Return a table with these columns, in this order."""
    return table.select([table.names.index(name) for name in names])
