"""Whether rows depend on each other: neighbouring rows that are similar, and series that drift.

Permutations assume that rows are independent. They are not in time series: if neighbouring rows
are similar in two columns, the evidence of these columns varies more than under permutations, and
p-values are too small. One such column alone does no harm.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from covary.array_types import Floats, Integers, Rows
from covary.prepare import Prepared, Ranks
from covary.results.significance import RowDependence
from covary.significance.cycles import common_period

# The probability of a warning for a table of independent rows is at most this.
FALSE_ALARMS = 2e-4
# Fewer rows are not examined.
MIN_ROWS = 20
# If rows are sorted by a column, they are compared with rows that are exchanged within this many
# neighbouring rows, this many times, and the difference must be this many standard deviations.
WINDOW = 20
N_EXCHANGES = 49
MAX_LOCAL_ROWS = 20_000
DEVIATIONS = 5.0
# A random walk has at least this ratio, and at most this decay, with a probability of 99 %.
WALK_RATIO = 0.004
WALK_DECAY = 30.0
MIN_WALK_ROWS = 50
# A column by which rows are sorted may name groups of rows if it has at least this many values.
MIN_GROUPS = 10

ROW_ORDER = "row"


def find_row_dependence(prepared: Prepared, columns: Sequence[int]) -> RowDependence | None:
    """Return what is known about dependent rows that affects p-values; None if nothing is.

    Without declared series or groups, at least two columns with similar neighbours, in the order
    of the rows or of a date. With series, the columns that drift like random walks, and those with
    a common cycle.
    """
    names = prepared.names
    if prepared.dependent is not None:
        if prepared.series is None:
            return None
        series = {c: _longest_series(prepared, c) for c in columns}
        drifting = tuple(names[c] for c, ranks in series.items() if _drifts(ranks))
        complete = int(prepared.series.sizes.max())
        cyclic, period = common_period(
            {names[c]: ranks for c, ranks in series.items() if ranks.size == complete}
        )
        if not drifting and not cyclic:
            return None
        return RowDependence(drifting=drifting, cyclic=tuple(cyclic), period=period)
    if prepared.n_rows < MIN_ROWS:
        return None
    found = None
    orders = _orders(prepared)
    examined = [c for c in columns if prepared.varies[c] and not _is_date(prepared, c)]
    limit = FALSE_ALARMS / max(len(examined) * len(orders), 1)
    for name, order in orders.items():
        values = _values_in_order(prepared, examined, order)
        sorting = _sorting_column(prepared, values, order.size)
        similar = _similar_columns(prepared, values, sorting, order.size, limit)
        sorted_by = None
        if len(similar) < 2 and sorting is not None and _names_groups(values[sorting]):
            similar = _similar_columns(prepared, values, None, order.size, limit)
            similar.pop(sorting, None)
            sorted_by = names[sorting]
        if len(similar) >= 2 and (found is None or len(similar) > len(found.columns)):
            strongest = max(similar, key=lambda column: similar[column])
            found = RowDependence(
                tuple(names[c] for c in similar),
                len(examined),
                names[strongest],
                similar[strongest],
                name,
                sorted_by=sorted_by,
            )
    return found


def _is_date(prepared: Prepared, column: int) -> bool:
    """Return whether a column is a date or a part of one."""
    described = prepared.table.columns[column]
    return described.kind == "date" or bool(described.part_of)


def _orders(prepared: Prepared) -> dict[str, Integers]:
    """Return the orders of the rows: that of the table, and those of dates."""
    orders = {ROW_ORDER: np.arange(prepared.n_rows)}
    for column, described in enumerate(prepared.table.columns):
        n_present = int(prepared.n_present[column])
        if described.kind != "date" or described.part_of or n_present < MIN_ROWS:
            continue
        order = prepared.orders[column, :n_present].astype(np.int64)
        if n_present == prepared.n_rows and np.all(np.diff(order) > 0):
            orders.pop(ROW_ORDER, None)  # the date has the order of the rows
        orders[described.name] = order
    return orders


def _values_in_order(
    prepared: Prepared, columns: Sequence[int], order: Integers
) -> dict[int, Floats]:
    """Return the ranks of columns in an order of the rows, without missing cells."""
    ranks = prepared.derived(Ranks).by_row
    return {c: _in_order(prepared, ranks, c, order) for c in columns}


def _sorting_column(
    prepared: Prepared, by_column: Mapping[int, Floats], n_rows: int
) -> int | None:
    """Return the first column by which the rows are sorted."""
    for column, values in by_column.items():
        if values.size == n_rows and _sorts_rows(values, bool(prepared.nominal[column])):
            return column
    return None


def _names_groups(values: Floats) -> bool:
    """Return whether sorted values may name groups of rows: many, with several rows each."""
    return MIN_GROUPS <= np.unique(values).size <= values.size / 2


def _similar_columns(
    prepared: Prepared,
    by_column: Mapping[int, Floats],
    sorting: int | None,
    n_rows: int,
    limit: float,
) -> dict[int, float]:
    """Return the columns in which neighbours are similar, and how similar they are.

    Parameters
    ----------
    by_column : the values of each column in the order of the rows
    sorting : a column by which the rows are sorted; only what goes beyond it counts
    n_rows, limit : the number of all rows, and the largest p-value
    """
    blocks = None if sorting is None else _windows(by_column[sorting])
    found = {}
    for column, values in by_column.items():
        if values.size < MIN_ROWS or column == sorting:
            continue
        nominal = bool(prepared.nominal[column])
        if blocks is not None and values.size == n_rows:
            similarity, is_similar = _locally_similar(values, nominal, blocks)
        else:
            similarity, pvalue = _similarity(values, nominal)
            is_similar = pvalue <= limit
        if is_similar:
            found[column] = similarity
    return found


def _in_order(prepared: Prepared, ranks: Rows, column: int, order: Integers) -> Floats:
    """Return the ranks of a column in an order of the rows, without missing cells."""
    is_present = np.zeros(prepared.n_rows, np.bool_)
    is_present[prepared.orders[column, : prepared.n_present[column]]] = True
    found: Floats = ranks[column, order[is_present[order]]].astype(np.float64)
    return found


def _sorts_rows(values: Floats, nominal: bool) -> bool:
    """Return whether rows are sorted by a column that is no regular time."""
    changes = np.flatnonzero(np.diff(values) != 0.0) + 1
    if changes.size == 0:
        return False
    n_values = np.unique(values).size
    if nominal:
        return changes.size + 1 == n_values
    is_sorted = bool(np.all(np.diff(values) >= 0.0) or np.all(np.diff(values) <= 0.0))
    return is_sorted and n_values < values.size


def _windows(values: Floats) -> Integers:
    """Return the block of each row: neighbouring rows with equal values, divided into windows."""
    starts = np.append(True, values[1:] != values[:-1])
    run = np.cumsum(starts)
    place = np.arange(values.size) - np.flatnonzero(starts)[run - 1]
    blocks = np.append(0, np.cumsum((np.diff(run) != 0) | (place[1:] % WINDOW == 0)))
    return np.asarray(blocks)


def _similarity(values: Floats, nominal: bool) -> tuple[float, float]:
    """Return how similar neighbours are, 0 by chance and 1 at most, and a one-sided p-value."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    if nominal:
        return _equal_neighbours(codes, counts)
    if counts.max() > values.size / 2:  # the most frequent value against all others
        is_most = codes == counts.argmax()
        return _equal_neighbours(is_most.astype(np.int64), np.bincount(is_most))
    correlation = _autocorrelation(_mid_ranks(codes, counts))
    z = (correlation + 1.0 / values.size) * math.sqrt(values.size)
    return correlation, _upper_tail(z)


def _mid_ranks(codes: Integers, counts: Integers) -> Floats:
    """Return the mid-ranks of values from their numbers among the distinct values."""
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2.0)[codes])


def _autocorrelation(values: Floats) -> float:
    """Return the correlation of successive values."""
    centred = values - values.mean()
    return float(centred[1:] @ centred[:-1] / (centred @ centred))


def moments_of_runs(counts: Integers) -> tuple[float, float]:
    """Return mean and variance of the number of runs over all orders of the rows (Mood 1940).

    Parameters
    ----------
    counts : the number of rows with each value
    """
    n = float(counts.sum())
    squares, cubes = float(np.sum(counts**2.0)), float(np.sum(counts**3.0))
    expected = (n * (n + 1.0) - squares) / n
    variance = (squares * (squares + n * (n + 1.0)) - 2.0 * n * cubes - n**3) / (n * n * (n - 1.0))
    return expected, variance


def _equal_neighbours(codes: Integers, counts: Integers) -> tuple[float, float]:
    """Return the excess share of equal neighbours, and the p-value of so few runs.

    If equal neighbours are rare, their number is close to a Poisson distribution.
    """
    n = float(codes.size)
    runs = 1.0 + np.count_nonzero(codes[1:] != codes[:-1])
    expected, variance = moments_of_runs(counts)
    z = (expected - runs - 0.5) / math.sqrt(max(variance, 1e-12))
    equal, expected_equal = n - runs, n - expected
    similarity = (equal - expected_equal) / max(n - counts.size - expected_equal, 1.0)
    n_other = n - float(counts.max())
    if counts.size == 2:
        # Of a rare value, neighbours are rarely equal.
        pairs = n_other - _n_runs_of(codes, int(counts.argmin()))
        return similarity, max(_upper_tail(z), _poisson_tail(pairs, n_other * n_other / n))
    return similarity, max(_upper_tail(z), _poisson_tail(equal, expected_equal))


def _n_runs_of(codes: Integers, code: int) -> float:
    is_code = codes == code
    return float(is_code[0] + np.count_nonzero(is_code[1:] & ~is_code[:-1]))


def _upper_tail(z: float) -> float:
    return 0.5 * math.erfc(z / math.sqrt(2.0))


def _poisson_tail(count: float, mean: float) -> float:
    """Return a bound of the probability of at least this count (Chernoff)."""
    if count <= mean or mean <= 0.0:
        return 1.0 if count <= mean else 0.0
    return math.exp(count - mean - count * math.log(count / mean))


def _locally_similar(values: Floats, nominal: bool, blocks: Integers) -> tuple[float, bool]:
    """Return how similar neighbours are, and whether more so than rows of the same block.

    Rows that are sorted by another column are similar because of it, but exchangeable within
    small blocks.
    """
    values, blocks = values[:MAX_LOCAL_ROWS], blocks[:MAX_LOCAL_ROWS]

    def similarity(some: Floats) -> float:
        if nominal:
            return float(np.mean(some[1:] == some[:-1]))
        return _autocorrelation(some) if np.ptp(some) > 0.0 else 0.0

    rng = np.random.default_rng(0)
    null = [
        similarity(values[np.lexsort((rng.random(values.size), blocks))])
        for _ in range(N_EXCHANGES)
    ]
    observed, spread = similarity(values), float(np.std(null, ddof=1))
    return observed, observed > float(np.mean(null)) + DEVIATIONS * spread > 0.0


def _longest_series(prepared: Prepared, column: int) -> Floats:
    """Return the mid-ranks of a column in the longest series, without missing cells.

    None of nominal columns and dates.
    """
    dependent = prepared.dependent
    assert dependent is not None
    if prepared.nominal[column] or _is_date(prepared, column):
        return np.empty(0)
    values = prepared.derived(Ranks).by_row[column].astype(np.float64)
    longest = int(dependent.sizes.argmax())
    rows = np.arange(dependent.starts[longest], dependent.starts[longest + 1])
    n_present = prepared.n_present[column]
    present = np.isin(rows, prepared.orders[column, :n_present])
    values = values[rows[present]]
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    return _mid_ranks(codes, counts)


def _drifts(ranks: Floats) -> bool:
    """Return whether a series behaves like a random walk.

    The variance of its cumulative sums, relative to its own, is that of a random walk (Breitung
    2002), and neighbours are as similar (Dickey and Fuller 1979). Both are computed from ranks.
    """
    n = ranks.size
    if n < MIN_WALK_ROWS or np.unique(ranks).size < n / 10:
        return False
    centred = ranks - ranks.mean()
    sums = np.cumsum(centred)
    ratio = float(sums @ sums / (n * n * (centred @ centred)))
    decay = n * (1.0 - float(centred[1:] @ centred[:-1] / (centred[:-1] @ centred[:-1])))
    return ratio >= WALK_RATIO and decay <= WALK_DECAY
