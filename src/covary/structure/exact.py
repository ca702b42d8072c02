"""Exact relations of two columns: copies and functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from covary.array_types import Floats, Rows
from covary.measures.shared.content_order import table_ranks_by_content
from covary.prepare import Prepared
from covary.results.link import COPY, FUNCTION
from covary.structure.explanations import Explanations
from covary.structure.links import Draft
from covary.structure.repeats import different_rows
from covary.structure.value_counts import rank_pattern, run_lengths

MIN_ROWS = 30
# A function of a column with ties is exact if this share of all rows has a value that occurs
# before, and none of them differs although this many would if the columns were independent.
MIN_TIED_SHARE = 0.05
MIN_DIFFERENCES = 20
# A step function is constant on at least this many neighbouring rows.
MIN_STEP = 20
# A function without steps is smooth: nine of ten rows differ from the mean of their neighbours by
# less than this many standard deviations, and no row exceeds both neighbours by the second number,
# except for the 2 % that are farthest from their neighbours, if these are farther away than the
# third number.
SMOOTH = 0.005
OUTLIER = 0.1
SPARSE = 0.1


class Copies(NamedTuple):
    """Columns that have the same ranks, or the same levels, as another one.

    Parameters
    ----------
    links : one for each copy
    original : by copy, the column that it repeats
    """

    links: list[Draft]
    original: dict[int, int]


def find_copies(prepared: Prepared, columns: Sequence[int]) -> Copies:
    """Return the columns that repeat another one, or are a strictly monotone function of it.

    The original depends only on values: it has the largest range. Of equal columns it is the first
    one in the table.
    """
    classes: dict[bytes, list[int]] = {}
    for column in columns:
        classes.setdefault(rank_pattern(prepared, column), []).append(column)
    original: dict[int, int] = {}
    repeated = [members for members in classes.values() if len(members) > 1]
    rank = table_ranks_by_content(prepared) if repeated else np.empty(0, np.int64)
    for members in repeated:
        first = min(members, key=lambda column: (*_precedence(prepared, column), rank[column]))
        original.update((column, first) for column in members if column != first)
    links = []
    for members in repeated:
        for at, column in enumerate(members):
            if column in original:
                before = (c for c in members[:at] if _equal_values(prepared, column, c))
                links.append(_copy(prepared, column, next(before, original[column])))
    return Copies(sorted(links, key=lambda link: columns.index(link.target)), original)


def _precedence(prepared: Prepared, column: int) -> tuple[bool, float, float, float]:
    """Return what decides which of several copies is the original, the smallest first.

    Only columns of numbers appear in formulas, so they come first.
    """
    values = prepared.values[column, : prepared.n_present[column]]
    width = float(np.ldexp(prepared.widths[column], min(int(prepared.exponents[column]), 500)))
    is_number = prepared.table.columns[column].kind == "number"
    return not is_number, -width, -float(values[0]), -float(values.mean())


def _copy(prepared: Prepared, column: int, original: int) -> Draft:
    are_named = all(prepared.table.columns[c].kind != "number" for c in (column, original))
    same = prepared.nominal[column] or (are_named and _n_values(prepared, column) == 2)
    same = same or _equal_values(prepared, column, original)
    return Draft(column, (original,), 1.0, COPY if same else FUNCTION)


def _n_values(prepared: Prepared, column: int) -> int:
    return run_lengths(prepared.values[column, : prepared.n_present[column]]).size


def _equal_values(prepared: Prepared, one: int, other: int) -> bool:
    if prepared.exponents[one] != prepared.exponents[other]:
        return False
    table = prepared.table
    if table.columns[one].origin != table.columns[other].origin:
        return False
    a, b = prepared.by_row(one), prepared.by_row(other)
    return bool(np.array_equal(a, b, equal_nan=True))


def without_copies(links: Sequence[Draft], original: dict[int, int]) -> list[Draft]:
    """Return the links with originals in the place of copies; the strongest for each target."""
    best: dict[int, Draft] = {}
    for link in links:
        target = original.get(link.target, link.target)
        by = tuple(
            dict.fromkeys(original.get(c, c) for c in link.by if original.get(c, c) != target)
        )
        if by and (target not in best or link.explained > best[target].explained):
            best[target] = Draft(target, by, link.explained)
    return list(best.values())


# ---------------------------------------------------------------- functions


def as_functions(explanations: Explanations, links: Sequence[Draft]) -> list[Draft]:
    """Return the links, as functions if the target is an exact one of one of its columns.

    A column that is a function of another explaining column is left out: it adds only precision.
    The link of a pair is reversed if only the other direction is exact, and no link has that
    target. Of repeated rows, the first ones count: all columns of copies have equal values.
    """
    prepared = explanations.prepared
    rows = different_rows(prepared)
    targets = {link.target for link in links}
    found = []
    for each in links:
        link = _without_functions(explanations, each, rows)
        exact = _as_function(prepared, link, rows)
        if len(link.by) == 1 and exact is link and link.by[0] not in targets:
            target = link.by[0]
            if is_function(prepared, target, link.target, rows):
                exact = Draft(target, (link.target,), 1.0, FUNCTION)
                targets.add(target)
        found.append(exact)
    return found


def _without_functions(explanations: Explanations, link: Draft, rows: Rows) -> Draft:
    """Return a link without explaining columns that are exact functions of others."""
    kept = list(link.by)
    for column in reversed(link.by):
        others = (each for each in kept if each != column)
        if any(is_function(explanations.prepared, column, other, rows) for other in others):
            kept.remove(column)
    if len(kept) == len(link.by):
        return link
    return Draft(link.target, tuple(kept), explanations.explained(link.target, kept))


def _as_function(prepared: Prepared, link: Draft, rows: Rows) -> Draft:
    """Return the link as a function if its target is an exact one of one of its columns."""
    for column in link.by:
        if is_function(prepared, link.target, column, rows):
            return Draft(link.target, (column,), 1.0, FUNCTION)
    return link


def is_function(prepared: Prepared, target: int, other: int, rows: Rows) -> bool:
    """Return whether a column is an exact function of another one, as far as rows show it."""
    y, x = prepared.by_row(target)[rows], prepared.by_row(other)[rows]
    present = ~(np.isnan(x) | np.isnan(y))
    x, y = x[present], y[present]
    if x.size < MIN_ROWS or np.ptp(y) == 0.0:
        return False
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    tied = x[1:] == x[:-1]
    if np.any(tied & (y[1:] != y[:-1])):
        return False
    # In the rows of the most frequent value, both may be 0 for a common reason.
    n_tied = int(np.count_nonzero(tied)) - (int(run_lengths(x).max()) - 1)
    if _ties_show_function(y, n_tied):
        return True
    if prepared.nominal[other]:
        return False
    ordered = not prepared.nominal[target]
    # A slow time series is smooth, too, but no function of the date.
    may_be_smooth = ordered and prepared.table.columns[other].kind != "date"
    return _has_steps(y, ordered) or (may_be_smooth and _is_smooth(y, x))


def _ties_show_function(y: Floats, n_tied: int) -> bool:
    """Return whether independent columns would differ in many rows that have tied values."""
    shares = run_lengths(np.sort(y)) / y.size
    n_different = n_tied * (1.0 - float(shares @ shares))
    return n_tied >= MIN_TIED_SHARE * y.size and n_different >= MIN_DIFFERENCES


def _has_steps(y: Floats, ordered: bool) -> bool:
    """Return whether values along another column are constant on long steps.

    Steps of a monotone function may also be short, if at least two are long.
    """
    lengths = run_lengths(y)
    is_long = lengths >= MIN_STEP
    if np.count_nonzero(is_long) < 2:
        return False
    rising = np.diff(y) >= 0.0
    falling = np.diff(y) <= 0.0
    return bool(is_long.all() or (ordered and (rising.all() or falling.all())))


def _is_smooth(y: Floats, x: Floats) -> bool:
    """Return whether each value is close to its neighbours along another column.

    Rows whose neighbours have the same value show nothing, nor do outliers where rows are sparse.
    """
    before, at, after = y[:-2], y[1:-1], y[2:]
    differ = (before != at) | (at != after)
    if np.count_nonzero(differ) < MIN_ROWS:
        return False
    residuals = np.abs(at - (before + after) / 2.0)[differ]
    below, above = np.minimum(before, after) - at, at - np.maximum(before, after)
    gaps = x[2:] - x[:-2]
    dense = gaps <= max(SPARSE * float(x.std()), float(np.quantile(gaps, 0.98)))
    outside = float(np.maximum(below, above)[dense].max())
    spread = float(y.std())
    return bool(np.quantile(residuals, 0.9) <= SMOOTH * spread and outside <= OUTLIER * spread)
