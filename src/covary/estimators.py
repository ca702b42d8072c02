"""scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from covary.api import search
from covary.measures import Measure
from covary.names import DEFAULT_MEASURE
from covary.strategies import Strategy
from covary.table import Column, Table

FEWEST_ROWS = 3


class SubspaceSearch(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the columns of the sets that depend on each other most.

    Parameters
    ----------
    measure : str or Measure
        As for `covary.score`.
    measure_params : dict, optional
        Parameters of the measure.
    supervised : bool
        Whether ``y`` is the target: only sets of columns that explain it, ranked by how much of
        it they explain.
    strategy, max_size, beam, parents, prune, sift, engine, n_jobs
        As for `covary.search`.
    top : int
        How many sets to find; `transform` keeps the columns that are in any of them.
    permutations : int
        As for `covary.search`: tell which of the sets could be chance. What is kept is the same.
    random_state : int
        The seed of the permutations.

    Attributes
    ----------
    subspaces_ : tuple of Subspace
        The sets that were found, best first.
    result_ : SearchResult
        The same with how they were found.
    n_features_in_ : int
        How many columns ``X`` had.
    feature_names_in_ : array of str
        Their names, if ``X`` had names.

    Notes
    -----
    A set that scores 0 selects nothing.

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

    def __init__(
        self,
        measure: str | Measure = DEFAULT_MEASURE,
        *,
        measure_params: Mapping[str, Any] | None = None,
        supervised: bool = False,
        strategy: str | Strategy = "beam",
        max_size: int | None = None,
        beam: int | None = None,
        parents: Literal["all", "one"] | None = None,
        prune: bool = False,
        sift: bool = False,
        top: int = 10,
        permutations: int = 0,
        random_state: int = 0,
        engine: Any = "threads",
        n_jobs: int | None = None,
    ) -> None:
        self.measure = measure
        self.measure_params = measure_params
        self.supervised = supervised
        self.strategy = strategy
        self.max_size = max_size
        self.beam = beam
        self.parents = parents
        self.prune = prune
        self.sift = sift
        self.top = top
        self.permutations = permutations
        self.random_state = random_state
        self.engine = engine
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> SubspaceSearch:
        """Search the columns of ``X`` and return the estimator itself.

        Parameters
        ----------
        X : array or frame of numbers, n_samples x n_features
            NaN is a missing cell.
        y : array of n_samples numbers, optional
            Used if ``supervised``.

        Returns
        -------
        SubspaceSearch

        """
        given: dict[str, Any] = {
            "dtype": np.float64,
            "ensure_all_finite": "allow-nan",
            "ensure_min_samples": FEWEST_ROWS,
            "ensure_min_features": 1 if self.supervised else 2,
        }
        if self.supervised:
            X, y = validate_data(self, X, y, y_numeric=True, **given)
        else:
            X = validate_data(self, X, **given)
        names = list(getattr(self, "feature_names_in_", _unnamed(self.n_features_in_)))
        columns = [Column(name, X[:, at]) for at, name in enumerate(names)]
        target = None
        if self.supervised:
            target = _other_than(names)
            columns.append(Column(target, np.asarray(y, np.float64)))
        self.result_ = search(
            Table(tuple(columns), len(X)),
            measure=self.measure,
            target=target,
            strategy=self.strategy,
            max_size=self.max_size,
            beam=self.beam,
            parents=self.parents,
            prune=self.prune,
            sift=self.sift,
            top=self.top,
            permutations=self.permutations,
            seed=self.random_state,
            engine=self.engine,
            n_jobs=self.n_jobs,
            **(self.measure_params or {}),
        )
        self.subspaces_ = self.result_.subspaces
        chosen = {name for each in self.subspaces_ if each.score > 0 for name in each.columns}
        self._support = np.array([name in chosen for name in names])
        return self

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        return self._support

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self.supervised
        return tags


def _unnamed(n_columns: int) -> list[str]:
    return [f"x{at}" for at in range(n_columns)]


def _other_than(names: list[str]) -> str:
    """Return a name for the target that no column has."""
    name = "y"
    while name in names:
        name += "_"
    return name
