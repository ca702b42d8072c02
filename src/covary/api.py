"""The public functions. Each only combines other modules."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

from covary import errors
from covary.array_types import OnProgress, OnStage
from covary.engines import find_engine
from covary.keywords import check_keywords, declared, measure_of
from covary.measures import Measure, find_measure
from covary.options import accepts
from covary.registry import DEFAULT_MEASURE
from covary.report.presenter import OverviewPresenter, search_result
from covary.results import Explanation, Overview, SearchResult, TestResult
from covary.searching.options import SearchOptions
from covary.searching.pairs import pair_scores
from covary.searching.plan import plan_search
from covary.searching.run import Search
from covary.searching.strategies import (
    Strategy,
    find_strategy,
    strategy_parameters,
)
from covary.significance.independence import TestOptions, plan_test
from covary.structure.options import OverviewOptions
from covary.structure.plan import plan_overview
from covary.structure.run import OverviewRun
from covary.table import TableOptions, label_matrix, labels_of

__all__ = ["evidence", "explain", "matrix", "overview", "score", "search", "test"]


@accepts(TableOptions)
def score(
    data: Any,
    columns: Sequence[Any] | None = None,
    *,
    target: Any = None,
    given: Sequence[Any] | None = None,
    measure: str | Measure = DEFAULT_MEASURE,
    **parameters: Any,
) -> float:
    """Return how strongly the columns depend on each other, from 0 (not) to 1 (fully).

    With a target, return the fraction of the target that the columns explain. With given columns,
    return the fraction that they explain of what the given columns leave unexplained.

    Parameters
    ----------
    data : array, frame or path
        A two-dimensional NumPy array, a pandas, polars or pyarrow table, or the path of a CSV,
        Parquet or Arrow file. Missing cells, text and categories are allowed, see :doc:`/tables`.
    columns : list of names, optional
        Two or more columns, or one with a target; positions for an array. All usable columns if
        None.
    target : name, optional
        The column to be explained.
    given : list of names, optional
        Columns that are known already, see :doc:`/given`.
    measure : str or Measure
        A registered name (``covary measures`` lists them), or a measure such as
        ``covary.UDS(beta=10)``. The default is described in :doc:`/uds_chance`.
    <options>
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
    data, of_measure = declared(data, parameters)
    return measure_of(score, measure, of_measure).score(data, columns, target, given)


@accepts(TableOptions)
def evidence(
    data: Any,
    columns: Sequence[Any] | None = None,
    *,
    target: Any = None,
    given: Sequence[Any] | None = None,
    measure: str | Measure = DEFAULT_MEASURE,
    **parameters: Any,
) -> float:
    """Return the evidence statistic: the statistic that independence tests use.

    It is the score, unless the measure has a more powerful statistic. Compare it with its values
    on permuted columns, not between tables.

    Parameters
    ----------
    data, columns, target, given, measure, **parameters
        As for `score`.
    nominal, ordered, dates, time, difference, lags, groups, permute, missing
        As for `score`. With a target, it is the evidence that the target depends on the columns,
        given other columns.

    Returns
    -------
    float
        Small if the columns are independent; large values are evidence of dependence.

    Examples
    --------
    >>> import covary, numpy as np
    >>> x, noise = np.linspace(0, 1, 500), np.random.default_rng(0).random(500)
    >>> covary.evidence(np.column_stack([x, x**2])) > 100
    True
    >>> covary.evidence(np.column_stack([x, noise])) < 3
    True

    """
    data, of_measure = declared(data, parameters)
    return measure_of(evidence, measure, of_measure).evidence(data, columns, target, given)


@accepts(TableOptions)
@accepts(TestOptions)
def test(
    data: Any,
    columns: Sequence[Any] | None = None,
    *,
    measure: str | Measure = DEFAULT_MEASURE,
    engine: Any = "threads",
    n_jobs: int | None = None,
    on_progress: OnProgress | None = None,
    **parameters: Any,
) -> TestResult:
    """Test whether columns are independent, and return the p-value.

    The p-value is the probability, under independence, of an evidence statistic at least as large
    as the observed one. Each column is permuted independently, or only the target if there is one.
    With given columns, the target is permuted among rows that are similar in these, or for which
    these predict similar values, see :doc:`/given`.

    Without ``level``, the p-value is (1 + number of permutations with at least the observed
    evidence) / (1 + number of permutations). If the values have at most ``permutations`` other
    distinct arrangements, all of them are used and the p-value is exact.

    Parameters
    ----------
    data, columns, measure
        As for `score`.
    nominal, ordered, dates, time, difference, lags, groups, permute, missing
        As for `score`.
    <options>
    engine, n_jobs
        As for `search`.
    on_progress : callable, optional
        Called with the number of permutations done and their maximum.
    **parameters
        Parameters of the measure.

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
    uds-chance = 0.6324, p = 0.0010 for x0, x1
      p: probability of evidence at least this large if the columns were independent
      999 permutations of each column (200 rows, seed 0)
    >>> covary.test(np.column_stack([x, noise])).pvalue > 0.05
    True

    The columns of the next table depend on each other only through the first one:

    >>> shared = np.column_stack([x, x + rng.random(200) / 5, x**2 + noise / 5])
    >>> covary.test(shared, [1], target=2).pvalue
    0.001
    >>> covary.test(shared, [1], target=2, given=[0]).pvalue > 0.05
    True

    """
    table, rest = declared(data, parameters)
    given, of_measure = TestOptions.split(rest)
    options = TestOptions(**given)
    found = measure_of(test, measure, of_measure, options.seed)
    planned = plan_test(table, columns, found, options)
    return planned.run(find_engine(engine, n_jobs), on_progress).relabelled(labels_of(data))


test.__test__ = False  # type: ignore[attr-defined]  # not a test function of pytest


@accepts(TableOptions)
def explain(
    data: Any,
    columns: Sequence[Any] | None = None,
    *,
    target: Any = None,
    given: Sequence[Any] | None = None,
    measure: str | Measure = DEFAULT_MEASURE,
    on_progress: OnProgress | None = None,
    **parameters: Any,
) -> Explanation:
    """Return the score with its explanation: which column is explained by which.

    With a target, the explanation says which columns explain it, and what each of them adds.

    Parameters
    ----------
    data, columns, target, given, measure, **parameters
        As for `score`.
    nominal, ordered, dates, time, difference, lags, groups, permute, missing
        As for `score`.
    on_progress : callable, optional
        Called with the amount done and the total.

    Returns
    -------
    Explanation
        With ``score``, ``order`` and ``steps``; each `Step` has ``target``, ``given``,
        ``explained``, ``by``, ``bins``, ``cells``, ``cuts``, ``missing``, ``rows``, ``alone``,
        ``adds`` and ``profile``.

    Examples
    --------
    >>> import covary, numpy as np
    >>> x = np.linspace(0, 1, 500)
    >>> print(covary.explain(np.column_stack([x, x > 0.8])))
    uds-chance = 0.9790 for x0 -> x1
      x1: 0.9790 explained by x0 (64 bins; best cut at 0.7996)

    """
    data, of_measure = declared(data, parameters)
    found = measure_of(explain, measure, of_measure)
    return found.explain(data, columns, on_progress, target, given)


@accepts(TableOptions)
def matrix(
    data: Any,
    columns: Sequence[Any] | None = None,
    *,
    measure: str | Measure = DEFAULT_MEASURE,
    n_jobs: int | None = None,
    on_progress: OnProgress | None = None,
    **parameters: Any,
) -> Any:
    """Return the scores of all pairs of columns as a labelled table.

    Parameters
    ----------
    data, columns, measure, **parameters
        As for `score`.
    nominal, ordered, dates, time, difference, lags, groups, permute, missing
        As for `score`.
    n_jobs : int, optional
        The number of threads; all cores if None. It does not change the scores.
    on_progress : callable, optional
        Called with the number of pairs done and their total.

    Returns
    -------
    array or frame
        The same kind of table as the data. A pandas frame has the names as its index. A polars or
        pyarrow table has them in a first column ``column``. An array gives an array, a file a
        pyarrow table. The diagonal is 1, or 0 for a constant column. It is NaN for measures
        without a natural maximum.

    Examples
    --------
    >>> import covary, numpy as np
    >>> x = np.linspace(0, 1, 500)
    >>> covary.matrix(np.column_stack([x, x > 0.8, 0 * x])).round(2)
    array([[1.  , 0.98, 0.  ],
           [0.98, 1.  , 0.  ],
           [0.  , 0.  , 0.  ]])

    """
    table, of_measure = declared(data, parameters)
    found = measure_of(matrix, measure, of_measure)
    prepared = found.prepared(table, columns, size=2)
    engine = find_engine("threads", n_jobs)
    scores = pair_scores(prepared, found, engine, on_progress=on_progress)
    return label_matrix(scores, prepared.names, like=data)


@accepts(TableOptions)
@accepts(SearchOptions)
def search(
    data: Any,
    columns: Sequence[Any] | None = None,
    *,
    measure: str | Measure = DEFAULT_MEASURE,
    strategy: str | Strategy = "beam",
    max_size: int | None = None,
    engine: Any = "threads",
    n_jobs: int | None = None,
    run: str | os.PathLike[str] | None = None,
    resume: bool = False,
    on_progress: OnStage | None = None,
    **parameters: Any,
) -> SearchResult:
    """Search the table for sets of columns that depend on each other, and return the best.

    Parameters
    ----------
    data, columns, measure
        As for `score`.
    nominal, ordered, dates, time, difference, lags, groups, permute, missing
        As for `score`.
    strategy : "beam", "exhaustive", "4s" or Strategy
        Which sets to score, see :doc:`/search`.
    max_size : int, optional
        Maximum number of columns of a set, including the target: 5 by default, no limit for "4s",
        2 for a measure of pairs.
    <options>
    engine : "threads", "processes", "dask", address or Client
        Where to compute: in threads or processes of this machine, on a temporary Dask cluster on
        this machine, or on an existing Dask cluster. It does not change the result.
    n_jobs : int, optional
        The number of workers; all cores if None.
    run : path, optional
        A run file that keeps every score, so that the search can be resumed.
    resume : bool
        Whether to continue the run file if it exists.
    on_progress : callable, optional
        Called with the stage, the amount done and the total.
    **parameters
        Parameters of the measure and of the strategy, such as ``beam=20``.

    Returns
    -------
    SearchResult
        With ``subspaces``, best first. Each has ``columns`` and ``score``, and with
        ``permutations`` also ``pvalue``, ``qvalue``, ``family_pvalue``, ``increment_pvalue`` and
        ``adds_nothing``, see :doc:`/significance`.

    Examples
    --------
    >>> import covary, numpy as np
    >>> x, noise = np.linspace(0, 1, 500), np.random.default_rng(0).random(500)
    >>> found = covary.search(np.column_stack([x, noise, x > 0.8, x**2]), top=3)
    >>> print(found)
    the best 3 of 11 scored sets (uds-chance, beam, 500 rows)
    0.9883  x0, x2, x3
    0.9823  x0, x3
    0.9790  x0, x2

    """
    table, others = declared(data, parameters)
    given, rest = SearchOptions.split(others)
    options = SearchOptions(**given)
    of_strategy, of_measure = strategy_parameters(rest, find_measure(measure))
    found = measure_of(search, measure, of_measure, options.seed)
    chosen = find_strategy(strategy, found.max_columns, max_size=max_size, **of_strategy)
    if resume and run is None:
        raise errors.invalid_parameter("run", "the file to resume", run)
    searching = Search(plan_search(table, columns, found, chosen, options))
    with searching.stored_in(run, resume=resume) as run_file:
        searching.run(find_engine(engine, n_jobs), run_file, on_progress)
    return search_result(searching, data)


@accepts(TableOptions)
@accepts(OverviewOptions)
def overview(
    data: Any,
    columns: Sequence[Any] | None = None,
    *,
    engine: Any = "threads",
    n_jobs: int | None = None,
    run: str | os.PathLike[str] | None = None,
    resume: bool = False,
    on_progress: OnStage | None = None,
    **parameters: Any,
) -> Overview:
    """Return how the table is structured: which columns are explained by which, and which are not.

    Every column has at most one link: the columns of the table are put into one order, and each is
    explained by a few columns before it, so that nothing is said twice. Columns that are
    related only through others have no link. Copies and exact formulas are named once.

    Parameters
    ----------
    data, columns
        As for `score`.
    nominal, ordered, dates, time, difference, lags, groups, permute, missing
        As for `score`.
    <options>
    engine, n_jobs, run, resume, on_progress
        As for `search`.

    Returns
    -------
    Overview
        With ``links``, ``groups``, ``alone``, ``score``, ``order`` and ``missing_together``.

    Examples
    --------
    >>> import covary, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a, b, noise = rng.normal(size=(3, 500))
    >>> found = covary.overview(np.column_stack([a, b, a * b, noise]))
    >>> print(found.links[0])
    0.89  x2 is explained by x1 and x0 (alone 0.12, 0.10)
    >>> found.alone
    ('x3',)

    """
    table, rest = declared(data, parameters)
    given, unknown = OverviewOptions.split(rest)
    check_keywords(overview, unknown)
    started = OverviewRun(plan_overview(table, columns, OverviewOptions(**given)))
    if resume and run is None:
        raise errors.invalid_parameter("run", "the file to resume", run)
    with started.stored_in(run, resume=resume) as run_file:
        started.run(find_engine(engine, n_jobs), run_file, on_progress)
    return overview_result(started, data)


def overview_result(found: OverviewRun, data: Any = None) -> Overview:
    """Return the result of an overview that ended or was interrupted, with its report."""
    record = found.record(data)
    plain = found.result(record)
    return dataclasses.replace(plain, _presenter=OverviewPresenter(record, plain))
