"""The methods of the power study, and which columns each method compares.

A statistic takes two or more blocks of columns and returns one number. Larger numbers mean
stronger dependence. Each library is imported only when its statistic is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from itertools import combinations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Statistic = Callable[..., float]

ALL_COLUMNS = "all columns together"
LAST = "last column against the others"
BEST_PAIR = "maximum over all pairs"


@dataclass(frozen=True)
class Method:
    """A statistic of dependence.

    Parameters
    ----------
    name : name in the printed tables
    package : the distribution that contains it
    load : imports the package and returns the statistic
    inputs : ALL_COLUMNS, LAST or BEST_PAIR by group of shapes; other groups are skipped
    about : description of the statistic
    max_rows : tables with more rows are skipped because they take too long
    slow_from : number of rows by group of shapes; from this number on, fewer tables are drawn
    slow : whether to draw fewer tables, and to skip some numbers of rows
    """

    name: str
    package: str
    load: Callable[[], Statistic]
    inputs: Mapping[str, str]
    about: str
    max_rows: int = 1000
    slow_from: Mapping[str, int] = field(default_factory=dict)
    slow: bool = False

    def unavailable(self) -> str:
        """Return why the method cannot run; an empty text if it can."""
        try:
            metadata.version(self.package)
            self.load()
        except metadata.PackageNotFoundError:
            return "not installed"
        except Exception as error:
            return f"not available: {' '.join(str(error).split())[:60]}"
        return ""


def apply(statistic: Statistic, table: Array, inputs: str) -> float:
    """Return the statistic of a table.

    Parameters
    ----------
    statistic : takes blocks of columns
    table : two or more columns
    inputs : ALL_COLUMNS, LAST or BEST_PAIR
    """
    columns = np.split(table, table.shape[1], axis=1)
    if inputs == BEST_PAIR:
        return max(float(statistic(*pair)) for pair in combinations(columns, 2))
    if inputs == LAST:
        return float(statistic(np.hstack(columns[:-1]), columns[-1]))
    return float(statistic(*columns))


# ------------------------------------------------------------ covary


def load_evidence() -> Statistic:
    """Return covary's evidence for dependence, of the measure uds-chance."""
    import covary

    covary.evidence(_warm_up_table(), measure="uds-chance")
    return lambda *columns: covary.evidence(np.hstack(columns), measure="uds-chance")


def load_score(measure: str) -> Callable[[], Statistic]:
    """Return a function that loads the score of one of covary's measures."""

    def load() -> Statistic:
        import covary

        covary.score(_warm_up_table(), measure=measure)
        return lambda *columns: covary.score(np.hstack(columns), measure=measure)

    return load


def _warm_up_table() -> Array:
    return np.random.default_rng(0).standard_normal((100, 2))


# ------------------------------------------------------------ other libraries


def load_distance_correlation() -> Statistic:
    """Return dcor's distance correlation."""
    import dcor

    def statistic(left: Array, right: Array) -> float:
        if left.shape[1] == 1:  # The fast algorithm is for vectors.
            return dcor.distance_correlation(left[:, 0], right[:, 0])
        return dcor.distance_correlation(left, right)

    return statistic


def load_hsic() -> Statistic:
    """Return hyppo's HSIC.

    Hyppo computes the bandwidth of both kernels from the first block. Columns are standardized so
    that this bandwidth fits both blocks.
    """
    from hyppo.independence import Hsic

    return lambda left, right: Hsic().statistic(_standardized(left), _standardized(right))


def load_mgc() -> Statistic:
    """Return hyppo's multiscale graph correlation, without permutations."""
    from hyppo.independence import MGC

    return lambda left, right: MGC().statistic(left, right)


def load_dhsic() -> Statistic:
    """Return hyppo's dHSIC (Pfister et al. 2018), on standardized columns like HSIC."""
    from hyppo.d_variate import dHsic

    return lambda *columns: dHsic().statistic(*map(_standardized, columns))


def load_xi() -> Statistic:
    """Return Chatterjee's xi, the maximum of both directions."""
    from scipy.stats import chatterjeexi

    def statistic(left: Array, right: Array) -> float:
        x, y = left[:, 0], right[:, 0]
        return max(chatterjeexi(x, y).statistic, chatterjeexi(y, x).statistic)

    return statistic


def load_pearson() -> Statistic:
    """Return the absolute value of Pearson's correlation."""
    return lambda left, right: abs(np.corrcoef(left[:, 0], right[:, 0])[0, 1])


def load_spearman() -> Statistic:
    """Return the absolute value of Spearman's rank correlation."""
    from scipy.stats import spearmanr

    return lambda left, right: abs(spearmanr(left[:, 0], right[:, 0]).statistic)


def _standardized(block: Array) -> Array:
    return (block - block.mean(axis=0)) / block.std(axis=0)


TOGETHER = {"pairs": ALL_COLUMNS, "triples": ALL_COLUMNS, "sets": ALL_COLUMNS}
LAST_OR_PAIRS = {"pairs": ALL_COLUMNS, "triples": LAST, "sets": BEST_PAIR}
PAIRS_ONLY = {"pairs": ALL_COLUMNS, "triples": BEST_PAIR, "sets": BEST_PAIR}

METHODS = [
    Method("uds-chance", "covary", load_evidence, TOGETHER, "covary.evidence"),
    Method("uds", "covary", load_score("uds"), TOGETHER, "covary.score"),
    Method(
        "uds-unregularized", "covary", load_score("uds-unregularized"), TOGETHER, "covary.score"
    ),
    Method(
        "dcor",
        "dcor",
        load_distance_correlation,
        LAST_OR_PAIRS,
        "distance correlation",
        slow_from={"triples": 1000},
    ),
    Method(
        "HSIC",
        "hyppo",
        load_hsic,
        LAST_OR_PAIRS,
        "Gaussian kernels, on standardized columns",
        max_rows=300,
        slow_from={"sets": 100},
    ),
    Method(
        "dHSIC",
        "hyppo",
        load_dhsic,
        {"triples": ALL_COLUMNS, "sets": ALL_COLUMNS},
        "Gaussian kernels, on standardized columns",
        max_rows=300,
    ),
    Method(
        "MGC",
        "hyppo",
        load_mgc,
        LAST_OR_PAIRS,
        "multiscale graph correlation",
        slow=True,
    ),
    Method(
        "xi",
        "scipy",
        load_xi,
        {"pairs": ALL_COLUMNS, "sets": BEST_PAIR},
        "Chatterjee's, maximum of both directions",
    ),
    Method("Spearman", "scipy", load_spearman, PAIRS_ONLY, "absolute rank correlation"),
    Method("Pearson", "numpy", load_pearson, PAIRS_ONLY, "absolute correlation"),
]
