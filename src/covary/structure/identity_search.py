"""The search for linear identities: sets of columns, one of which others determine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from covary.array_types import Booleans, Columns, Floats, Integers
from covary.structure.formulas import Formula, fitted, slopes_of

MIN_ROWS = 30
# An identity leaves residuals below this many standard deviations of its target, and below this
# share of what the best single column leaves. One of two columns: below the third number.
RESIDUAL = 0.005
RESIDUAL_OF_SINGLE = 0.01
RESIDUAL_OF_TWO = 1e-6
MAX_IN_IDENTITY = 4
# Of five columns with an identity, two have a correlation of 1/4 or more; of fewer, a larger one.
LEAST_CORRELATION = 0.24
# First columns that are tried for a target, supports that are extended, and those checked.
MAX_STARTS = 256
BEAM = 16
MAX_CHECKED = 4
# With missing cells, correlations are of different rows. Supports are checked if they leave less
# than this variance, in standard errors, and columns are not added if others leave less of them.
IMPRECISION = 10.0
MAX_IMPRECISION = 0.1


class IdentitySearch:
    """Searches linear identities among columns of values, missing cells being NaN.

    A support is a tuple of columns, ascending, that an identity connects. For one to four other
    columns, a target is explained by forward selection from several first columns. If there are
    clearly more rows than columns, targets that all others together do not explain are left out,
    and those without a support are also explained by a fixed set of independent columns.

    Parameters
    ----------
    values : one column per column
    """

    def __init__(self, values: Floats) -> None:
        self.values = values
        self.spread: Floats = np.nanstd(values, axis=0)
        missing = float(np.isnan(values).mean(axis=0).max())
        self.complete = missing == 0.0
        self.imprecision = min(
            IMPRECISION * float(np.sqrt(missing / len(values))), MAX_IMPRECISION
        )
        self.correlations = _correlations(values)
        squares = self.correlations**2
        np.fill_diagonal(squares, 0.0)
        single = 1.0 - squares.max(axis=0)
        self.limits = np.clip(RESIDUAL_OF_SINGLE**2 * single, 1e-10, RESIDUAL**2)
        self.nearest: Integers = squares.argmax(axis=0)
        variances = 1.0 - squares
        usable = variances > max(1e-9, self.imprecision)
        np.fill_diagonal(usable, False)
        self.inverse_variances = np.where(usable, 1.0 / np.where(usable, variances, 1.0), 0.0)

    def near_copies(self) -> Iterator[Floats]:
        """Yield the difference of each column and its near copy, in standard deviations."""
        for column, other in enumerate(self.nearest.tolist()):
            correlation = self.correlations[column, other]
            if 1.0 - correlation**2 <= 4.0 * RESIDUAL**2:
                difference = np.zeros(self.nearest.size)
                difference[[column, other]] = 1.0, -np.sign(correlation)
                yield difference

    def supports(self) -> list[Columns]:
        """Return the sets of columns that an identity connects, each once."""
        n_rows, n_columns = self.values.shape
        targets = np.arange(n_columns)
        many_rows = self.complete and 2 * n_columns <= n_rows
        if many_rows:
            inverse = np.linalg.inv(self.correlations + 1e-12 * np.eye(n_columns))
            targets = np.flatnonzero(np.diag(inverse) * self.limits >= 0.5)
        found: dict[Columns, None] = {}
        missed = []
        for target in targets.tolist():
            supports = self._supports_of(target)
            found.update(dict.fromkeys(supports))
            if not supports:
                missed.append(target)
        if missed and many_rows:
            found.update(dict.fromkeys(self._supports_by_basis(targets)))
        return list(found)

    def _supports_of(self, target: int) -> list[Columns]:
        """Return the smallest supports with a target."""
        nearest = int(self.nearest[target])
        if self.holds(target, (nearest,)):
            return [tuple(sorted((target, nearest)))]
        limit = max(float(self.limits[target]), self.imprecision)
        for paths in _forward_paths(self.correlations, self.inverse_variances, target):
            close = [by for by, left in paths if left <= limit][:MAX_CHECKED]
            found = {tuple(sorted((target, *by))) for by in close if self.holds(target, by)}
            if found:
                return sorted(found)
        return []

    def _supports_by_basis(self, columns: Integers) -> list[Columns]:
        """Return the supports of columns that depend on a few of a set of independent columns."""
        inner = self.correlations[np.ix_(columns, columns)]
        basis = _independent_columns(inner)
        rest = np.setdiff1d(np.arange(columns.size), basis)
        slopes = np.linalg.solve(inner[np.ix_(basis, basis)], inner[np.ix_(basis, rest)])
        found = []
        for target, some in zip(columns[rest].tolist(), slopes.T, strict=True):
            by = tuple(columns[basis[np.abs(some) > RESIDUAL_OF_SINGLE]].tolist())
            if 1 <= len(by) <= MAX_IN_IDENTITY and self.holds(target, by):
                found.append(tuple(sorted((target, *by))))
        return found

    def _complete_rows(self, columns: Sequence[int]) -> Floats:
        """Return the rows without missing cells in some columns; none if they are too few."""
        some = self.values[:, columns]
        if self.complete:
            return some
        rows = some[~np.isnan(some).any(axis=1)]
        return rows if len(rows) >= max(MIN_ROWS, len(some) / 2) else rows[:0]

    def holds(self, target: int, by: Sequence[int]) -> bool:
        """Return whether an identity holds, needs all of its columns, and predicts other rows."""
        limit = self._limit(target, by)
        if len(by) == 1 and 1.0 - self.correlations[target, by[0]] ** 2 > 1e-10:
            return False
        rows = self._complete_rows((target, *by))
        if not len(rows) or not rows.std(axis=0).all():
            return False
        correlations = np.asarray(np.corrcoef(rows, rowvar=False))
        if _left(correlations) > max(limit, 1e-10):
            return False
        smaller = [np.delete(np.arange(len(by) + 1), 1 + at) for at in range(len(by))]
        if len(by) > 1 and any(_left(correlations[np.ix_(c, c)]) <= limit for c in smaller):
            return False
        half = np.random.default_rng(0).permutation(len(rows)) < len(rows) // 2
        errors = [_prediction_error(rows[:, 0], rows[:, 1:], some) for some in (half, ~half)]
        return max(errors) <= 2.0 * float(np.sqrt(limit))

    def _limit(self, target: int, by: Sequence[int]) -> float:
        """Return the largest variance, relative to that of the target, that an identity leaves."""
        return RESIDUAL_OF_TWO**2 if len(by) == 1 else float(self.limits[target])

    def formulas(self, support: Sequence[int]) -> list[Formula]:
        """Return the identity of a support, solved for its columns, the simplest one first."""
        rows = self._complete_rows(support)
        found = []
        for at, target in enumerate(support):
            others = [c for c in range(len(support)) if c != at]
            slopes, intercept, residual = fitted(rows[:, at], rows[:, others])
            by = tuple(support[c] for c in others)
            limit = float(np.sqrt(self._limit(target, by)))
            if residual <= limit and all(slopes):
                found.append(Formula(target, by, slopes, intercept, residual, limit))
        return sorted(found, key=lambda each: (each.complexity, -self.spread[each.target]))


def _independent_columns(correlations: Floats) -> Integers:
    """Return columns that the others among them do not explain (pivoted Cholesky)."""
    factor = np.zeros_like(correlations)
    left = np.ones(len(correlations))
    chosen: list[int] = []
    while len(chosen) < left.size and left.max() > RESIDUAL**2:
        column, k = int(left.argmax()), len(chosen)
        row = correlations[column] - factor[:k, column] @ factor[:k]
        factor[k] = row / np.sqrt(left[column])
        left = left - factor[k] ** 2
        left[[*chosen, column]] = 0.0
        chosen.append(column)
    return np.array(chosen, np.int64)


def _forward_paths(
    correlations: Floats, inverse_variances: Floats, target: int
) -> Iterator[list[tuple[Columns, float]]]:
    """Yield the best supports of two, three and four columns with the variance that they leave.

    Many first columns are tried. Every step adds one of the two columns that explain most of what
    is left (orthogonal least squares); only the best supports are extended.

    Parameters
    ----------
    inverse_variances : by two columns, one divided by what the first one leaves of the second one;
        0 if the second one must not be added
    """
    own = correlations[target]
    starts = np.argsort(-np.abs(own), kind="stable")[: MAX_STARTS + 1]
    starts = starts[(np.abs(own[starts]) >= LEAST_CORRELATION) & (starts != target)]
    least = 1.0 / max(float(inverse_variances.max()), 1.0)
    if not starts.size:
        return
    gains = correlations[starts] * own[starts, None]
    gains -= own
    gains *= gains
    gains *= inverse_variances[starts]
    gains[:, target] = 0.0
    paths, left, _ = _extended(starts[:, None], 1.0 - own[starts] ** 2, gains)
    yield _as_pairs(paths, left)
    # By path: orthonormal directions in the space of its columns, by their correlations with all.
    directions = correlations[paths[:, :1]]
    covariances = own - own[paths[:, :1]] * directions[:, 0]
    variances = 1.0 - directions[:, 0] ** 2
    while paths.shape[1] < MAX_IN_IDENTITY:
        each, added = np.arange(len(paths)), paths[:, -1]
        new = correlations[added] - np.einsum("pk,pkc->pc", directions[each, :, added], directions)
        new /= np.sqrt(np.maximum(variances[each, added], least))[:, None]
        covariances = covariances - new * new[:, [target]]
        variances = variances - new**2
        usable = variances > least
        usable[:, target] = False
        gains = np.where(usable, covariances**2 / np.where(usable, variances, 1.0), 0.0)
        directions = np.concatenate([directions, new[:, None]], axis=1)
        paths, left, kept = _extended(paths, left, gains)
        yield _as_pairs(paths, left)
        directions, covariances, variances = directions[kept], covariances[kept], variances[kept]


def _extended(paths: Integers, left: Floats, gains: Floats) -> tuple[Integers, Floats, Integers]:
    """Return the best paths with one more column, what they leave, and what they extend."""
    best = np.argsort(left - gains.max(axis=1), kind="stable")[: 2 * BEAM]
    others = gains[best]
    added = others.argmax(axis=1)
    others[np.arange(len(best)), added] = 0.0
    added = np.concatenate([added, others.argmax(axis=1)])
    best = np.concatenate([best, best])
    left = left[best] - gains[best, added]
    paths = np.column_stack([paths[best], added])
    order = np.argsort(left, kind="stable")
    _, first = np.unique(np.sort(paths[order], axis=1), axis=0, return_index=True)
    kept = order[np.sort(first)][:BEAM]
    return paths[kept], left[kept], best[kept]


def _as_pairs(paths: Integers, left: Floats) -> list[tuple[Columns, float]]:
    return list(zip(map(tuple, paths.tolist()), left.tolist(), strict=True))


def _correlations(values: Floats) -> Floats:
    """Return the correlations of columns, each of the rows in which both are present."""
    present = ~np.isnan(values)
    centred = np.where(present, values - np.nanmean(values, axis=0), 0.0)
    centred /= np.maximum(np.nanstd(values, axis=0), 1e-300)
    if present.all():
        return np.asarray(centred.T @ centred / len(values))
    weights = present.astype(np.float64)
    numbers = np.maximum(weights.T @ weights, 1.0)
    means = centred.T @ weights / numbers
    variances = np.maximum((centred**2).T @ weights / numbers - means**2, 1e-12)
    covariances = centred.T @ centred / numbers - means * means.T
    return np.asarray(np.clip(covariances / np.sqrt(variances * variances.T), -1.0, 1.0))


def _left(correlations: Floats) -> float:
    """Return the share of the variance of the first column that the others leave."""
    own = correlations[1:, 0]
    return 1.0 - float(own @ np.linalg.lstsq(correlations[1:, 1:], own, rcond=1e-14)[0])


def _prediction_error(y: Floats, x: Floats, used: Booleans) -> float:
    """Return the root mean square error in other rows than the used ones, relative to spread."""
    y, x = y - y[used].mean(), x - x[used].mean(axis=0)
    errors = y[~used] - x[~used] @ slopes_of(y[used], x[used])
    return float(np.sqrt(np.mean(errors**2)) / y.std())
