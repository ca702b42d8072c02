"""Linear identities among a few columns of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from covary.array_types import Floats
from covary.measures.shared.content_order import rows_by_content, table_order_by_content
from covary.prepare import Prepared
from covary.results.link import FUNCTION, IDENTITY
from covary.structure.formulas import Formula, fitted, formula_text, number_text
from covary.structure.identity_search import (
    MIN_ROWS,
    RESIDUAL_OF_SINGLE,
    RESIDUAL_OF_TWO,
    IdentitySearch,
)
from covary.structure.links import Draft
from covary.structure.value_counts import run_lengths

# Each column of an identity differs from its most frequent value in this many rows.
MIN_OTHER_VALUES = 10
MAX_COLUMNS = 1_000
MAX_FITTED_ROWS = 5_000


def find_identities(prepared: Prepared, columns: Sequence[int]) -> list[Draft]:
    """Return exact or nearly exact linear identities among a few columns of numbers.

    Each says something new: none of them follows from the others. Identities of fewer columns
    come first. ``columns`` should not contain copies.
    """
    chosen = set(columns)
    order = [c for c in table_order_by_content(prepared).tolist() if c in chosen]
    order = [c for c in order if _is_usable(prepared, c)]
    if not 2 <= len(order) <= MAX_COLUMNS:
        return []
    rows = rows_by_content(prepared, order)
    if rows.size > MAX_FITTED_ROWS:
        rows = np.random.default_rng(0).choice(rows, MAX_FITTED_ROWS, replace=False)
    by_column = {c: prepared.by_row(c)[rows] for c in order}
    order = [c for c in order if _differs_enough(by_column[c])]
    if len(order) < 2:
        return []
    search = IdentitySearch(np.stack([by_column[c] for c in order], axis=1))
    found = []
    for support in search.supports():
        formulas = search.formulas(support)
        formulas = [each for each in formulas if _holds_everywhere(prepared, order, each)]
        if formulas:
            found.append(formulas)
    return [_draft(prepared, order, formula) for formula in _independent(found, search)]


def as_formula(prepared: Prepared, link: Draft) -> Draft:
    """Return the link of a pair as a formula if this is linear and exact."""
    columns = (link.target, *link.by)
    if link.kind != FUNCTION or not all(_is_usable(prepared, column) for column in columns):
        return link
    y, x = (prepared.by_row(column) for column in columns)
    present = ~(np.isnan(x) | np.isnan(y))
    y, x = y[present], x[present]
    (slope,), intercept, residual = fitted(y, x[:, None])
    if residual > RESIDUAL_OF_TWO or slope == 0.0:
        return link
    name = str(prepared.names[link.by[0]])
    text = formula_text([slope], [name], intercept)
    (divisor,), subtracted, residual = fitted(x, y[:, None])
    if residual <= RESIDUAL_OF_TWO and abs(divisor) not in (0.0, 1.0):
        sign = float(np.sign(divisor))
        dividend = formula_text([sign], [name], -sign * subtracted)
        dividend = f"({dividend})" if subtracted else dividend
        text = min(text, f"{dividend} / {number_text(abs(divisor))}", key=len)
    return Draft(link.target, link.by, 1.0, IDENTITY, text)


def _is_usable(prepared: Prepared, column: int) -> bool:
    """Return whether a column has enough numbers that a formula can contain as they are."""
    n = int(prepared.n_present[column])
    described = prepared.table.columns[column]
    if described.kind != "number" or described.origin or prepared.exponents[column]:
        return False
    return n >= max(MIN_ROWS, prepared.n_rows / 2)


def _differs_enough(values: Floats) -> bool:
    """Return whether enough values differ from the most frequent one."""
    present = np.sort(values[~np.isnan(values)])
    if present.size < MIN_ROWS:
        return False
    return present.size - int(run_lengths(present).max()) >= MIN_OTHER_VALUES


def _holds_everywhere(prepared: Prepared, order: Sequence[int], formula: Formula) -> bool:
    """Return whether a formula holds in all rows, also outside of the sample it is fitted to."""
    y = prepared.by_row(order[formula.target])
    residuals = y - formula.intercept
    for column, slope in zip(formula.by, formula.slopes, strict=True):
        residuals = residuals - slope * prepared.by_row(order[column])
    complete = ~np.isnan(residuals)
    size = float(np.sqrt(np.mean(residuals[complete] ** 2)) / y[complete].std())
    return size <= 2.0 * formula.limit


def _independent(supports: Iterable[list[Formula]], search: IdentitySearch) -> Iterator[Formula]:
    """Yield the simplest formula of each support, unless it follows from earlier ones.

    A formula with residuals may also follow from earlier ones and from near copies. No two
    formulas have the same target.
    """
    exact = np.empty((0, search.spread.size))
    nearly = exact
    for vector in search.near_copies():
        nearly = _with_vector(nearly, vector)
    targets: set[int] = set()
    for formulas in sorted(supports, key=lambda each: (each[0].complexity, each[0].by)):
        formula = next((each for each in formulas if each.target not in targets), None)
        if formula is None:
            continue
        vector = np.zeros(search.spread.size)
        vector[[formula.target, *formula.by]] = [-1.0, *formula.slopes]
        vector *= search.spread
        known = exact if formula.residual <= RESIDUAL_OF_TWO else nearly
        if len(_with_vector(known, vector)) > len(known):
            exact, nearly = _with_vector(exact, vector), _with_vector(nearly, vector)
            targets.add(formula.target)
            yield formula


def _with_vector(basis: Floats, vector: Floats) -> Floats:
    """Return an orthonormal basis with one more vector, unless it depends on the others."""
    vector = vector / np.linalg.norm(vector)
    vector -= basis.T @ (basis @ vector)
    size = np.linalg.norm(vector)
    if size <= RESIDUAL_OF_SINGLE:
        return basis
    vector -= basis.T @ (basis @ vector)
    return np.vstack([basis, vector / np.linalg.norm(vector)])


def _draft(prepared: Prepared, order: Sequence[int], formula: Formula) -> Draft:
    """Return a formula as a link; its terms have the order of the table."""
    terms = sorted((order[c], slope) for c, slope in zip(formula.by, formula.slopes, strict=True))
    by = tuple(column for column, _ in terms)
    names = [str(prepared.names[column]) for column in by]
    text = formula_text([slope for _, slope in terms], names, formula.intercept)
    return Draft(order[formula.target], by, 1.0, IDENTITY, text)
