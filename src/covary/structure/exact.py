"""Exact relations: copies, functions of one column, and linear identities of a few columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from covary.array_types import Floats
from covary.formatting import distinct_texts
from covary.prepare import Prepared, Ranks
from covary.results.overview import COPY, FUNCTION, IDENTITY
from covary.structure.links import Draft

# A function of a column with ties is exact if this many rows, and this share of all rows, have a
# value that occurs before, and none of them differs.
MIN_TIED_ROWS = 20
MIN_TIED_SHARE = 0.05
# A function of a column without ties is smooth: nine of ten rows differ from the mean of their
# neighbours by less than this many standard deviations.
SMOOTH = 0.005
# An identity leaves residuals below this many standard deviations of its target; one of two
# columns, below the second number.
RESIDUAL = 0.005
RESIDUAL_OF_TWO = 1e-6
MAX_IN_IDENTITY = 4
# A smaller intercept, relative to the largest value of the target, is a rounding error.
NO_INTERCEPT = 1e-6
MIN_ROWS = 30
MAX_COLUMNS = 500
MAX_FITTED_ROWS = 5_000


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

    The first column of the table is the original.
    """
    first: dict[bytes, int] = {}
    links: list[Draft] = []
    original: dict[int, int] = {}
    for column in columns:
        key = _pattern(prepared, column)
        other = first.setdefault(key, column)
        if other == column:
            continue
        same = prepared.nominal[column] or _n_values(prepared, column) == 2
        same = same or _equal_values(prepared, column, other)
        original[column] = other
        links.append(Draft(column, (other,), 1.0, COPY if same else FUNCTION))
    return Copies(links, original)


def _pattern(prepared: Prepared, column: int) -> bytes:
    """Return what columns with the same ranks have in common, whatever their direction.

    Levels without an order are numbered by their first row.
    """
    ranks = prepared.derived(Ranks).by_row[column].astype(np.int64)
    n = int(prepared.n_present[column])
    missing = np.ones(ranks.size, np.bool_)
    missing[prepared.orders[column, :n]] = False
    _, first, codes = np.unique(ranks[~missing], return_index=True, return_inverse=True)
    if prepared.nominal[column]:
        renumbered = np.empty(first.size, np.int64)
        renumbered[np.argsort(first, kind="stable")] = np.arange(first.size)
        codes = renumbered[codes]
    elif codes.size and codes[0] > first.size - 1 - codes[0]:
        codes = first.size - 1 - codes
    elif codes.size and 2 * codes[0] == first.size - 1:
        codes = min(codes, first.size - 1 - codes, key=lambda each: each.tobytes())
    kind = b"levels" if prepared.nominal[column] else b"ranks"
    return kind + missing.tobytes() + codes.tobytes()


def _n_values(prepared: Prepared, column: int) -> int:
    values = prepared.values[column, : prepared.n_present[column]]
    return int(np.count_nonzero(values[1:] != values[:-1])) + 1


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


def as_function(prepared: Prepared, link: Draft) -> Draft:
    """Return the link of a pair as a function, in the direction in which it is exact."""
    if len(link.by) != 1:
        return link
    (other,) = link.by
    if is_function(prepared, link.target, other):
        return Draft(link.target, link.by, max(link.explained, 0.0), FUNCTION)
    return link


def is_function(prepared: Prepared, target: int, other: int) -> bool:
    """Return whether a column is an exact function of another one, as far as rows show it."""
    y, x = prepared.by_row(target), prepared.by_row(other)
    present = ~(np.isnan(x) | np.isnan(y))
    x, y = x[present], y[present]
    if x.size < MIN_ROWS or np.ptp(y) == 0.0:
        return False
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    tied = x[1:] == x[:-1]
    if np.any(tied & (y[1:] != y[:-1])):
        return False
    n_tied = int(np.count_nonzero(tied))
    if n_tied >= max(MIN_TIED_ROWS, MIN_TIED_SHARE * x.size):
        return True
    return not (prepared.nominal[target] or prepared.nominal[other]) and _is_smooth(y)


def _is_smooth(y: Floats) -> bool:
    """Return whether each value is close to the mean of its neighbours."""
    residuals = np.abs(y[1:-1] - (y[:-2] + y[2:]) / 2.0)
    return bool(np.quantile(residuals, 0.9) <= SMOOTH * y.std())


# ---------------------------------------------------------------- identities


def find_identities(prepared: Prepared, columns: Sequence[int]) -> list[Draft]:
    """Return exact or nearly exact linear identities among a few columns of numbers."""
    numbers = [c for c in columns if prepared.table.columns[c].kind == "number"]
    complete = [c for c in numbers if prepared.n_present[c] == prepared.n_rows]
    if not 2 <= len(complete) <= MAX_COLUMNS or prepared.n_rows < MIN_ROWS:
        return []
    rng = np.random.default_rng(0)
    rows = np.arange(prepared.n_rows)
    if rows.size > MAX_FITTED_ROWS:
        rows = np.sort(rng.choice(rows, MAX_FITTED_ROWS, replace=False))
    values = np.stack([prepared.by_row(c)[rows] for c in complete], axis=1)
    found: dict[frozenset[int], Draft] = {}
    for support in _supports(values):
        which = [complete[at] for at in support]
        link = _identity(prepared, which, values[:, support])
        if link is not None:
            found.setdefault(link.columns, link)
    return _one_for_each_target(found.values())


def _supports(values: Floats) -> list[list[int]]:
    """Return the positions of columns that a linear identity connects, each set once."""
    spread = values.std(axis=0)
    usable = np.flatnonzero(spread > 0.0)
    standard = (values[:, usable] - values[:, usable].mean(axis=0)) / spread[usable]
    gram = standard.T @ standard / len(values)
    inverse = np.linalg.inv(gram + 1e-12 * np.eye(usable.size))
    redundant = np.flatnonzero(np.diag(inverse) >= RESIDUAL**-2)
    found: dict[tuple[int, ...], None] = {}
    for target in redundant.tolist():
        others = [at for at in redundant.tolist() if at != target]
        support = _smallest_support(gram, target, others)
        if 1 <= len(support) <= MAX_IN_IDENTITY:
            found[tuple(sorted(usable[[target, *support]].tolist()))] = None
    return [list(each) for each in found]


def _smallest_support(gram: Floats, target: int, others: list[int]) -> list[int]:
    """Return the columns that are left if columns are dropped while the residual stays small."""
    while others:
        inner = gram[np.ix_(others, others)] + 1e-12 * np.eye(len(others))
        inverse = np.linalg.inv(inner)
        coefficients = inverse @ gram[others, target]
        residual = 1.0 - coefficients @ gram[others, target]
        increase = coefficients**2 / np.diag(inverse)
        weakest = int(np.argmin(increase))
        if residual + increase[weakest] > RESIDUAL**2:
            return others if residual <= RESIDUAL**2 else []
        others = others[:weakest] + others[weakest + 1 :]
    return []


def _identity(prepared: Prepared, columns: list[int], values: Floats) -> Draft | None:
    """Return the identity of some columns with the simplest formula, if there is one."""
    best: tuple[tuple[int, int, float], Draft] | None = None
    for at, target in enumerate(columns):
        others = [c for c in range(len(columns)) if c != at]
        design = np.column_stack([values[:, others], np.ones(len(values))])
        scale = np.abs(design).max(axis=0)
        coefficients = np.linalg.lstsq(design / scale, values[:, at], rcond=None)[0] / scale
        coefficients = np.array([_rounded(c) for c in coefficients])
        if abs(coefficients[-1]) <= NO_INTERCEPT * np.abs(values[:, at]).max():
            coefficients[-1] = 0.0
        residuals = values[:, at] - design @ coefficients
        limit = RESIDUAL if len(others) > 1 else RESIDUAL_OF_TWO
        if residuals.std() > limit * values[:, at].std() or not np.all(coefficients[:-1]):
            continue
        *slopes, intercept = coefficients.tolist()
        simple = (
            sum(slope < 0 for slope in slopes) + (intercept != 0.0),
            sum(abs(slope) != 1.0 for slope in slopes),
            -float(values[:, at].std()),
        )
        if best is None or simple < best[0]:
            by = [columns[c] for c in others]
            names = [str(prepared.names[c]) for c in by]
            link = Draft(target, tuple(by), 1.0, IDENTITY, _formula(slopes, names, intercept))
            best = simple, link
    return None if best is None else best[1]


def _rounded(coefficient: float) -> float:
    """Return a coefficient as a simple number if it is very close to one."""
    for digits in range(1, 5):
        simple = float(f"{coefficient:.{digits}g}")
        if abs(coefficient - simple) <= 1e-4 * abs(simple):
            return simple
    return 0.0 if abs(coefficient) < 1e-12 else coefficient


def _formula(slopes: Sequence[float], names: Sequence[str], intercept: float) -> str:
    """Return a linear formula as text: a + 2 b - c."""
    terms = [(slope, name) for slope, name in zip(slopes, names, strict=True)]
    terms.sort(key=lambda term: term[0] < 0)
    text = ""
    for slope, name in terms:
        sign = "-" if slope < 0 else "+"
        size = "" if abs(slope) == 1.0 else f"{distinct_texts([abs(slope)])[0]} "
        text += f" {sign} {size}{name}" if text else f"{'-' if slope < 0 else ''}{size}{name}"
    if intercept:
        text += f" {'-' if intercept < 0 else '+'} {distinct_texts([abs(intercept)])[0]}"
    return text


def _one_for_each_target(links: Iterable[Draft]) -> list[Draft]:
    """Return the identities with the fewest columns, at most one for each target."""
    found: dict[int, Draft] = {}
    for link in sorted(links, key=lambda each: len(each.by)):
        found.setdefault(link.target, link)
    return list(found.values())
