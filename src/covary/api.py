"""The public functions: each a few lines over the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from covary import errors
from covary.engines import Threads
from covary.measures import Explanation, Measure, find_measure
from covary.prepare import Prepared, prepare
from covary.table import label_matrix

__all__ = ["explain", "matrix", "score"]

DEFAULT_MEASURE = "uds"
ROWS_PER_BLOCK = 1 << 18


def score(
    data: Any,
    columns: Sequence[Any] | None = None,
    *,
    measure: str | Measure = DEFAULT_MEASURE,
    **parameters: Any,
) -> float:
    """Return how strongly the columns depend on each other, from 0 (not) to 1 (fully).

    Parameters
    ----------
    data : array, frame or path
        A two-dimensional NumPy array, a pandas, polars or pyarrow table, or the path of a CSV,
        Parquet or Arrow file. Missing cells take part, see :doc:`/tables`.
    columns : list of names, optional
        Two or more columns (positions will do for an array). All usable ones if None.
    measure : str or Measure
        A registered name (``covary measures`` lists them), or a measure such as
        ``covary.UDS(beta=10)``.
    **parameters
        Parameters of the measure.

    Returns
    -------
    float

    Examples
    --------
    >>> import covary, numpy as np
    >>> x = np.linspace(0, 1, 500)
    >>> covary.score(np.column_stack([x, x > 0.8]))
    1.0

    """
    return find_measure(measure, **parameters).score(data, columns)


def explain(
    data: Any,
    columns: Sequence[Any] | None = None,
    *,
    measure: str | Measure = DEFAULT_MEASURE,
    on_progress: Callable[[int, int], None] | None = None,
    **parameters: Any,
) -> Explanation:
    """Return the score with what it is made of: which column is explained by which.

    Parameters
    ----------
    data, columns, measure, **parameters
        As for `score`.
    on_progress : callable, optional
        Told how much is done and to do, where that takes long: with ``order="exact"``.

    Returns
    -------
    Explanation
        With ``score``, ``order`` and ``steps``; each `Step` has ``target``, ``given``,
        ``explained``, ``by``, ``bins``, ``cuts``, ``missing`` and ``rows``.

    Examples
    --------
    >>> import covary, numpy as np
    >>> x = np.linspace(0, 1, 500)
    >>> print(covary.explain(np.column_stack([x, x > 0.8])))
    uds = 1.0000 for x0 -> x1
      x1: 1.0000 explained by x0 (x0 cut at 0.7996)

    """
    return find_measure(measure, **parameters).explain(data, columns, on_progress)


def matrix(
    data: Any,
    columns: Sequence[Any] | None = None,
    *,
    measure: str | Measure = DEFAULT_MEASURE,
    n_jobs: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    **parameters: Any,
) -> Any:
    """Return the scores of all pairs of columns as a labelled table.

    Parameters
    ----------
    data, columns, measure, **parameters
        As for `score`.
    n_jobs : int, optional
        How many threads to use; all cores if None. The scores are the same to the last bit.
    on_progress : callable, optional
        Called with the number of blocks of pairs done and to do, from any thread.

    Returns
    -------
    array or frame
        The same kind of table as came in. A pandas frame has the names as its index; polars and
        pyarrow tables have them in a first column ``column``, and so has the pyarrow table that
        a file gives; an array gives an array. The diagonal is 1, or 0 for a constant column.

    Examples
    --------
    >>> import covary, numpy as np
    >>> x = np.linspace(0, 1, 500)
    >>> covary.matrix(np.column_stack([x, x > 0.8, 0 * x]))
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 0.]])

    """
    found = find_measure(measure, **parameters)
    prepared = prepare(data, columns)
    scores = pairwise(prepared, found, n_jobs=n_jobs, on_progress=on_progress)
    return label_matrix(scores, prepared.names, like=data)


def pairwise(
    prepared: Prepared,
    measure: Measure,
    *,
    n_jobs: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> npt.NDArray[np.float64]:
    """Return the scores of all pairs of prepared columns as a square array."""
    n_columns = len(prepared.names)
    if n_columns < 2:
        raise errors.too_few_columns(prepared.names)
    firsts, seconds = np.triu_indices(n_columns, k=1)
    pairs = np.column_stack([firsts, seconds])
    # Blocks of pairs, so that a measure can share work among them; small enough to be stopped.
    size = max(1, ROWS_PER_BLOCK // prepared.n_rows)
    blocks = [pairs[start : start + size] for start in range(0, len(pairs), size)]
    found = Threads(n_jobs).run(_score_block, (prepared, measure), blocks, on_progress)
    scores = np.diag((prepared.entropies > 0).astype(np.float64))
    scores[firsts, seconds] = scores[seconds, firsts] = np.concatenate(found)
    return scores


def _score_block(
    shared: tuple[Prepared, Measure], pairs: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    prepared, measure = shared
    return measure.score_sets(prepared, pairs.tolist())
