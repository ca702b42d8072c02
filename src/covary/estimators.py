"""scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from covary.api import search
from covary.array_types import AnyArray, Booleans
from covary.measures import Measure
from covary.options import accepts, document
from covary.registry import DEFAULT_MEASURE
from covary.searching.options import SearchOptions
from covary.searching.strategies import Strategy
from covary.table import Column, Table, kind_of_frame, read_table
from covary.table.arrays import array_column
from covary.table.read import MIN_ROWS

# Options that the estimator has under another name, or describes itself.
RENAMED = ("target", "seed")
OPTIONS = {name: each for name, each in SearchOptions.allowed().items() if name not in RENAMED}
# Fewer sets than `covary.search` returns, because all of their columns are selected. With a
# target, the columns of the best set are the answer.
DEFAULTS = {name: SearchOptions.defaults()[name] for name in OPTIONS} | {"top": None}
TOP = 10
TOP_SUPERVISED = 1


class SubspaceSearch(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the columns of the sets that depend on each other most.

    Parameters
    ----------
    measure : str or Measure
        As for `covary.score`.
    measure_params : dict, optional
        Parameters of the measure.
    supervised : bool
        Whether ``y`` is the target. Then sets are ranked by the fraction of it that they explain.
    strategy, max_size, beam, parents, engine, n_jobs
        As for `covary.search`.
    strategy_params : dict, optional
        More parameters of the strategy.
    random_state : int
        Random seed for the permutations, and for a randomised measure given by name.
    <options>

    Attributes
    ----------
    subspaces_ : tuple of Subspace
        The sets that were found, best first. `transform` keeps the columns of all of them.
    result_ : SearchResult
        The result of the search.
    n_features_in_ : int
        The number of columns of ``X``.
    feature_names_in_ : array of str
        The names of the columns of ``X``, if it has names.

    Notes
    -----
    A set that scores 0 selects nothing. ``top`` is 10 by default, and 1 if ``supervised``: the
    columns that explain ``y`` best together.

    Examples
    --------
    >>> import numpy as np
    >>> x, noise = np.linspace(0, 1, 500), np.random.default_rng(0).random(500)
    >>> selector = SubspaceSearch(top=1).fit(np.column_stack([x, noise, x > 0.8]))
    >>> selector.subspaces_[0].columns
    ('x0', 'x2')
    >>> selector.get_support()
    array([ True, False,  True])

    """

    @accepts(SearchOptions, without=RENAMED, more_keywords=False, top=DEFAULTS["top"])
    def __init__(
        self,
        measure: str | Measure = DEFAULT_MEASURE,
        *,
        measure_params: Mapping[str, Any] | None = None,
        supervised: bool = False,
        strategy: str | Strategy = "beam",
        strategy_params: Mapping[str, Any] | None = None,
        max_size: int | None = None,
        beam: int | None = None,
        parents: Literal["all", "one"] | None = None,
        random_state: int = 0,
        engine: Any = "threads",
        n_jobs: int | None = None,
        **options: Any,
    ) -> None:
        self.measure = measure
        self.measure_params = measure_params
        self.supervised = supervised
        self.strategy = strategy
        self.strategy_params = strategy_params
        self.max_size = max_size
        self.beam = beam
        self.parents = parents
        self.random_state = random_state
        self.engine = engine
        self.n_jobs = n_jobs
        for name, default in DEFAULTS.items():
            setattr(self, name, options.pop(name, default))
        if options:
            raise TypeError(f"SubspaceSearch has no parameter {next(iter(options))!r}")

    def fit(self, X: Any, y: Any = None) -> SubspaceSearch:
        """Search the columns of ``X`` and return the estimator itself.

        Parameters
        ----------
        X : array of numbers, or frame, n_samples x n_features
            NaN is a missing cell. A frame may contain text, categories and dates, as for
            `covary.search`; columns that cannot be used are not selected.
        y : array of n_samples numbers or class labels, optional
            Used if ``supervised``. Text is a class label, without an order. Whole numbers are
            ordered; pass ``y.astype(str)`` if they are labels.

        Returns
        -------
        SubspaceSearch

        """
        if self.supervised:
            _check_labels(y)
        checks: dict[str, Any] = {
            "dtype": np.float64,
            "ensure_all_finite": "allow-nan",
            "ensure_min_samples": MIN_ROWS,
            "ensure_min_features": 1 if self.supervised else 2,
        }
        if is_frame := kind_of_frame(X) is not None:
            checks = {"skip_check_array": True}
        if self.supervised:
            X, y = validate_data(self, X, y, **checks)
            y = column_or_1d(y)
            check_consistent_length(X, y)
        else:
            X = validate_data(self, X, **checks)
        if is_frame:
            names, table = list(map(str, X.columns)), read_table(X)
        else:
            names = _unnamed(self.n_features_in_)
            columns = tuple(Column(name, X[:, at]) for at, name in enumerate(names))
            table = Table(columns, len(X))
        target = None
        if self.supervised:
            target = _unused_name([*names, *table.names])
            column = _target_column(np.asarray(y), target)
            table = replace(table, columns=(*table.columns, column))
        top = self.top
        if top is None:
            top = TOP_SUPERVISED if self.supervised else TOP
        self.result_ = search(
            table,
            measure=self.measure,
            strategy=self.strategy,
            engine=self.engine,
            n_jobs=self.n_jobs,
            target=target,
            seed=self.random_state,
            **{name: getattr(self, name) for name in OPTIONS} | {"top": top},
            **{
                "max_size": self.max_size,
                "beam": self.beam,
                "parents": self.parents,
                **(self.strategy_params or {}),
            },
            **(self.measure_params or {}),
        )
        self.subspaces_ = self.result_.subspaces
        found = {name for each in self.subspaces_ if each.score > 0 for name in each.columns}
        # The hour, weekday or month of a date selects the date.
        chosen = {each.part_of or each.name for each in table.columns if each.name in found}
        self._support = np.array([name in chosen for name in names])
        return self

    def _get_support_mask(self) -> Booleans:
        check_is_fitted(self)
        return self._support

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self.supervised
        return tags


document(SubspaceSearch, OPTIONS)


def _check_labels(y: Any) -> None:
    """Raise an error if a class label is missing; scikit-learn checks numbers."""
    labels = np.asarray(y)
    if labels.dtype.kind != "O" or labels.ndim != 1:
        return
    column = array_column(labels, "y", as_levels=True)
    n_missing = int(np.isnan(column.values).sum()) if isinstance(column, Column) else 0
    if n_missing:
        raise ValueError(
            f"Input y contains NaN: {n_missing:,} of {labels.size:,} labels are missing; remove "
            "these rows"
        )


def _target_column(values: AnyArray, name: str) -> Column:
    """Return the target: class labels if they are text, otherwise numbers."""
    column = array_column(values, name, as_levels=True)
    if isinstance(column, str):
        raise ValueError(f"y cannot be used: it is {column}")
    return column


def _unnamed(n_columns: int) -> list[str]:
    return [f"x{at}" for at in range(n_columns)]


def _unused_name(names: list[str]) -> str:
    """Return a name for the target that no column has."""
    name = "y"
    while name in names:
        name += "_"
    return name
