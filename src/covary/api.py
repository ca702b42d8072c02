"""The public functions: each a few lines over the rest."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from typing import Any, Literal

from covary import errors
from covary.engines import find_engine
from covary.measures import Explanation, Measure, all_measures, find_measure, find_seeded
from covary.names import DEFAULT_MEASURE
from covary.pairs import pairwise
from covary.prepare import prepare
from covary.results import SearchResult, TestResult
from covary.searching import plan_search
from covary.strategies import Strategy, find_strategy
from covary.table import label_matrix, labels_of
from covary.testing import plan_test

__all__ = ["evidence", "explain", "matrix", "score", "search", "test"]


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
        ``covary.UDS(beta=10)``. The default is described in :doc:`/uds_chance`.
    **parameters
        Parameters of the measure.

    Returns
    -------
    float

    Examples
    --------
    >>> import covary, numpy as np
    >>> x = np.linspace(-1, 1, 500)
    >>> round(covary.score(np.column_stack([x, x**2])), 2)
    0.96

    """
    return _measure(score, measure, parameters).score(data, columns)


def evidence(
    data: Any,
    columns: Sequence[Any] | None = None,
    *,
    measure: str | Measure = DEFAULT_MEASURE,
    **parameters: Any,
) -> float:
    """Return the statistic that tells best whether the columns are dependent at all.

    It is the score, unless the measure offers something more powerful; to be compared with what
    it is on permuted columns, not from table to table.

    Parameters
    ----------
    data, columns, measure, **parameters
        As for `score`.

    Returns
    -------
    float
        Small if the columns are independent; the larger, the surer it is that they are not.

    Examples
    --------
    >>> import covary, numpy as np
    >>> x, noise = np.linspace(0, 1, 500), np.random.default_rng(0).random(500)
    >>> covary.evidence(np.column_stack([x, x**2])) > 100
    True
    >>> covary.evidence(np.column_stack([x, noise])) < 3
    True

    """
    return _measure(evidence, measure, parameters).evidence(data, columns)


def test(
    data: Any,
    columns: Sequence[Any] | None = None,
    *,
    measure: str | Measure = DEFAULT_MEASURE,
    target: Any = None,
    permutations: int = 999,
    level: float | None = None,
    seed: int = 0,
    engine: Any = "threads",
    n_jobs: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    **parameters: Any,
) -> TestResult:
    """Return how likely it is that columns seem to depend on each other by chance alone.

    Each column is permuted by itself, and the measure's `evidence` is compared with what it is
    then: the p-value is (1 + number of permutations with as much) / (1 + number of permutations).
    Where there are no more distinct arrangements of the values than ``permutations``, all of them
    are looked at, and the p-value is exact.

    Parameters
    ----------
    data, columns, measure, **parameters
        As for `score`.
    target : name, optional
        Test whether this column depends on the others, whatever these have to do with each other:
        only the target is permuted.
    permutations : int
        How many permutations.
    level : float, optional
        Stop as soon as it is clear on which side of this level the p-value lies: often after 32
        to 200 permutations. Where it stops before the last one, endlessly many would decide
        otherwise with a chance of at most 0.001. The p-value takes the stopping into account, see
        :doc:`/significance`.
    seed : int
        Of the permutations, and of what a measure draws that is given by its name: the same seed,
        the same p-value, on any engine.
    engine, n_jobs
        As for `search`.
    on_progress : callable, optional
        Told how many permutations are done, and how many there are at most.

    Returns
    -------
    TestResult
        With ``pvalue``, ``statistic``, ``null``, ``score`` and ``permutations``.

    Examples
    --------
    >>> import covary, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.random(200), rng.random(200)
    >>> print(covary.test(np.column_stack([x, (x - 0.5)**2 + noise / 10])))
    uds-chance = 0.6317, p = 0.0010 for x0, x1
      p is the chance of as much evidence if the columns were independent of each other
      999 permutations, every column by itself (200 rows, seed 0)
    >>> covary.test(np.column_stack([x, noise])).pvalue > 0.05
    True

    """
    found = _measure(test, measure, parameters, seed)
    job = plan_test(
        data,
        columns,
        measure=found,
        target=target,
        permutations=permutations,
        level=level,
        seed=seed,
    )
    return job.run(find_engine(engine, n_jobs), on_progress).relabelled(labels_of(data))


test.__test__ = False  # type: ignore[attr-defined]  # pytest need not take it for one of its own


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
        Told how much is done and to do, where that takes long: with many columns.

    Returns
    -------
    Explanation
        With ``score``, ``order`` and ``steps``; each `Step` has ``target``, ``given``,
        ``explained``, ``by``, ``bins``, ``cuts``, ``missing``, ``rows`` and ``alone``.

    Examples
    --------
    >>> import covary, numpy as np
    >>> x = np.linspace(0, 1, 500)
    >>> print(covary.explain(np.column_stack([x, x > 0.8])))
    uds-chance = 0.9760 for x0 -> x1
      x1: 0.9760 explained by x0 (64 bins; best cut at 0.7996)

    """
    return _measure(explain, measure, parameters).explain(data, columns, on_progress)


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
        Called with the number of pairs done and to do.

    Returns
    -------
    array or frame
        The same kind of table as came in. A pandas frame has the names as its index; polars and
        pyarrow tables have them in a first column ``column``, and so has the pyarrow table that
        a file gives; an array gives an array. The diagonal is 1, or 0 for a constant column; it is
        NaN if 1 would mean nothing to the measure.

    Examples
    --------
    >>> import covary, numpy as np
    >>> x = np.linspace(0, 1, 500)
    >>> covary.matrix(np.column_stack([x, x > 0.8, 0 * x])).round(2)
    array([[1.  , 0.98, 0.  ],
           [0.98, 1.  , 0.  ],
           [0.  , 0.  , 0.  ]])

    """
    found = _measure(matrix, measure, parameters)
    prepared = prepare(data, columns)
    scores = pairwise(prepared, found, n_jobs=n_jobs, on_progress=on_progress)
    return label_matrix(scores, prepared.names, like=data)


def search(
    data: Any,
    columns: Sequence[Any] | None = None,
    *,
    measure: str | Measure = DEFAULT_MEASURE,
    target: Any = None,
    strategy: str | Strategy = "beam",
    max_size: int | None = None,
    beam: int | None = None,
    parents: Literal["all", "one"] | None = None,
    prune: bool = False,
    sift: bool = False,
    top: int = 100,
    permutations: int = 0,
    seed: int = 0,
    engine: Any = "threads",
    n_jobs: int | None = None,
    run: str | os.PathLike[str] | None = None,
    resume: bool = False,
    on_progress: Callable[[str, int, int], None] | None = None,
    **parameters: Any,
) -> SearchResult:
    """Return the sets of columns that depend on each other most.

    Parameters
    ----------
    data, columns, measure, **parameters
        As for `score`.
    target : name, optional
        Look only at sets that contain this column, and rank them by how much of it the others
        explain. Sets that explain no more than a part of them are left out.
    strategy : "beam", "exhaustive", "4s" or Strategy
        Which sets to score, see :doc:`/search`.
    max_size : int, optional
        The most columns of a set, the target included: 5 if None (no limit for "4s"; 2 if the
        measure looks at pairs only).
    beam : int, optional
        How many sets of a size the beam search builds the next size from: 100 if None.
    parents : "all" or "one", optional
        Whether the beam search scores a set only if all its subsets with one column less were
        kept ("all", the default), or if one was.
    prune : bool
        Whether to leave out a set if a superset of it scores at least as high.
    sift : bool
        Whether to leave out sets that add nothing to their parts: that score high only because of
        what is in them, such as a strong pair. See :doc:`/significance`.
    top : int
        How many sets to return.
    permutations : int
        Tell which of the sets could be chance, with at most so many permutations each; 0 for no
        test. See :doc:`/significance`.
    seed : int
        Of the permutations, and of what a measure draws that is given by its name: the same seed,
        the same result.
    engine : "threads", "processes", "dask", address or Client
        Where to compute: threads or processes of this machine, a Dask cluster on this machine, or
        the Dask cluster of a scheduler. The result is the same to the last bit.
    n_jobs : int, optional
        How many workers to use; all cores if None.
    run : path, optional
        A file that keeps every score as soon as it is known.
    resume : bool
        Whether to go on with a run file that is there, or start it if it is not.
    on_progress : callable, optional
        Told the stage ("pairs", "sets of 3", ..., and with tests "permutations", "sets against
        their parts", "shuffled tables"), how much of it is done, and how much there is.

    Returns
    -------
    SearchResult
        With ``subspaces``, best first; each has ``columns`` and ``score``, and with
        ``permutations`` also ``pvalue``, ``qvalue``, ``family_pvalue``, ``increment_pvalue`` and
        ``adds_nothing``.

    Examples
    --------
    >>> import covary, numpy as np
    >>> x, noise = np.linspace(0, 1, 500), np.random.default_rng(0).random(500)
    >>> found = covary.search(np.column_stack([x, noise, x > 0.8, x**2]), top=3)
    >>> print(found)
    the best 3 of 11 scored sets (uds-chance, beam, 500 rows)
    0.9815  x0, x3
    0.9786  x0, x2, x3
    0.9760  x0, x2

    """
    found = _measure(search, measure, parameters, seed)
    searched = plan_search(
        data,
        columns,
        measure=found,
        strategy=find_strategy(
            strategy, found.most_columns, max_size=max_size, beam=beam, parents=parents
        ),
        target=target,
        top=top,
        prune=prune,
        sift=sift,
        permutations=permutations,
        seed=seed,
    )
    if resume and run is None:
        raise errors.invalid_parameter("run", "the file to resume", run)
    with searched.kept_in(run, resume=resume) as kept:
        searched.run(find_engine(engine, n_jobs), kept, on_progress)
    return searched.result(data)


def _measure(
    function: Callable[..., Any],
    measure: str | Measure,
    parameters: dict[str, Any],
    seed: int | None = None,
) -> Measure:
    """Return the measure; a misspelt parameter may be one of the function that was called."""
    found = find_measure(measure) if seed is None else find_seeded(measure, seed)
    if not parameters:
        return found
    keywords = list(inspect.signature(function).parameters)
    known = {name for entry in all_measures().values() for name in entry.parameters}
    for name in parameters:
        if name not in known and errors.is_misspelt(name, keywords):
            raise errors.unknown_keyword(function.__name__, name, keywords)
    return found.with_parameters(parameters)
