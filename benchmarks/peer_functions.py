"""Functions of other libraries, called as their users call them.

Each library is imported only when its function is loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
ScoreTable = Callable[[Array], Any]


@dataclass(frozen=True)
class Peer:
    """A function of another library that scores the same columns.

    Parameters
    ----------
    name : name in the printed tables
    package : the distribution that contains it
    load : imports the package and returns the function that scores a table
    loops : whether the function loops over the pairs of columns
    slow_start : whether importing or compiling takes many seconds
    max_rows : tables with more rows are skipped because they take too long
    """

    name: str
    package: str
    load: Callable[[], ScoreTable]
    loops: bool = False
    slow_start: bool = False
    max_rows: int = 1_000_000


# ------------------------------------------------------------ pairs


def load_distance_correlation() -> ScoreTable:
    """Return dcor's distance correlation, in O(n log n) for two columns."""
    import dcor

    return lambda table: dcor.distance_correlation(table[:, 0], table[:, 1])


def load_mutual_information() -> ScoreTable:
    """Return scikit-learn's mutual information, by nearest neighbours."""
    from sklearn.feature_selection import mutual_info_regression

    return lambda table: mutual_info_regression(table[:, :1], table[:, 1], random_state=0)


def load_spearman() -> ScoreTable:
    """Return scipy's rank correlation, of all pairs if there are more than two columns."""
    from scipy.stats import spearmanr

    return spearmanr


def load_xi() -> ScoreTable:
    """Return Chatterjee's xi of the second column given the first."""
    from scipy.stats import chatterjeexi

    return lambda table: chatterjeexi(table[:, 0], table[:, 1])


def load_pandas_spearman() -> ScoreTable:
    """Return the rank correlations of a pandas data frame."""
    import pandas

    return lambda table: pandas.DataFrame(table).corr(method="spearman")


def load_mgc() -> ScoreTable:
    """Return the statistic of multiscale graph correlation."""
    from hyppo.independence import MGC

    return lambda table: MGC().statistic(table[:, :1], table[:, 1:2])


def load_dcorr() -> ScoreTable:
    """Return hyppo's distance correlation, from the full distance matrices."""
    from hyppo.independence import Dcorr

    return lambda table: Dcorr().statistic(table[:, :1], table[:, 1:2])


def load_fast_dcorr() -> ScoreTable:
    """Return hyppo's fast test, in O(n log n) without permutations."""
    from hyppo.independence import Dcorr

    return lambda table: Dcorr().test(table[:, :1], table[:, 1:2])


def load_hsic() -> ScoreTable:
    """Return the statistic of the Hilbert-Schmidt independence criterion."""
    from hyppo.independence import Hsic

    return lambda table: Hsic().statistic(table[:, :1], table[:, 1:2])


def load_hoi_pairs(max_size: int = 2) -> ScoreTable:
    """Return hoi's total correlation of all sets with at most ``max_size`` columns.

    For a pair it is the mutual information.
    """
    from hoi.metrics import TC

    return lambda table: TC(table, verbose=False).fit(minsize=2, maxsize=max_size)


# ------------------------------------------------------------ all pairs


def load_all_mutual_information() -> ScoreTable:
    """Return mutual information of all pairs, by one call per column."""
    from sklearn.feature_selection import mutual_info_regression

    return lambda table: [
        mutual_info_regression(table[:, :column], table[:, column], random_state=0)
        for column in range(1, table.shape[1])
    ]


def pair_by_pair(peer: Peer) -> Peer:
    """Return the same function, in a loop over all pairs of columns."""

    def load() -> ScoreTable:
        score = peer.load()
        return lambda table: [
            score(np.ascontiguousarray(table[:, pair]))
            for pair in combinations(range(table.shape[1]), 2)
        ]

    return replace(peer, load=load, loops=True)


# ------------------------------------------------------------ several columns at once


def load_copula_entropy() -> ScoreTable:
    """Return copula entropy, by nearest neighbours: the negative total correlation."""
    from copent import copent

    return copent


def load_hoi_total_correlation(method: str) -> Callable[[], ScoreTable]:
    """Return a function that loads hoi's total correlation of all columns."""

    def load() -> ScoreTable:
        from hoi.metrics import TC

        return lambda table: TC(table, verbose=False).fit(
            minsize=table.shape[1], maxsize=table.shape[1], method=method
        )

    return load


def load_hoi_o_information() -> ScoreTable:
    """Return hoi's O-information of all columns."""
    from hoi.metrics import Oinfo

    return lambda table: Oinfo(table, verbose=False).fit(
        minsize=table.shape[1], maxsize=table.shape[1]
    )


SPEARMAN = Peer("scipy spearmanr", "scipy", load_spearman)
PANDAS = Peer("pandas corr, spearman", "pandas", load_pandas_spearman)
XI = Peer("scipy chatterjeexi", "scipy", load_xi)
MUTUAL_INFORMATION = Peer(
    "scikit-learn mutual_info_regression", "scikit-learn", load_mutual_information
)
COPULA_ENTROPY = Peer("copent", "copent", load_copula_entropy)
DISTANCE_CORRELATION = Peer(
    "dcor distance_correlation", "dcor", load_distance_correlation, slow_start=True
)
HOI_PAIRS = Peer("hoi TC, Gaussian copula", "hoi", load_hoi_pairs, slow_start=True)
HYPPO = [
    Peer("hyppo Dcorr, fast test", "hyppo", load_fast_dcorr, slow_start=True),
    Peer("hyppo Dcorr, statistic", "hyppo", load_dcorr, slow_start=True),
    Peer("hyppo Hsic, statistic", "hyppo", load_hsic, slow_start=True),
    Peer("hyppo MGC, statistic", "hyppo", load_mgc, slow_start=True),
]

ONE_PAIR = [
    SPEARMAN,
    PANDAS,
    XI,
    MUTUAL_INFORMATION,
    COPULA_ENTROPY,
    DISTANCE_CORRELATION,
    HOI_PAIRS,
    *HYPPO,
]
ALL_PAIRS = [
    SPEARMAN,
    PANDAS,
    pair_by_pair(XI),
    replace(MUTUAL_INFORMATION, load=load_all_mutual_information),
    pair_by_pair(COPULA_ENTROPY),
    pair_by_pair(DISTANCE_CORRELATION),
    HOI_PAIRS,
    *(pair_by_pair(peer) for peer in HYPPO),
]
PAIRS_AND_TRIPLES = [replace(HOI_PAIRS, load=partial(load_hoi_pairs, 3))]
SEVERAL_COLUMNS = [
    COPULA_ENTROPY,
    Peer("hoi TC, Gaussian copula", "hoi", load_hoi_total_correlation("gc"), slow_start=True),
    Peer(
        "hoi TC, nearest neighbours",
        "hoi",
        load_hoi_total_correlation("knn"),
        slow_start=True,
        max_rows=1000,
    ),
    Peer("hoi O-information, Gaussian copula", "hoi", load_hoi_o_information, slow_start=True),
]
