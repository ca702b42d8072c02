"""The methods whose power is compared, and what each is given of more than two columns.

A statistic takes blocks of columns, two or more, and returns one number, the larger the stronger.
Peers are imported only when loaded.
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

ALL_COLUMNS = "all columns at once"
LAST = "the last column against the others"
BEST_PAIR = "the largest over all pairs"


@dataclass(frozen=True)
class Method:
    """A statistic of dependence.

    Parameters
    ----------
    name : what the report calls it
    package : the distribution that it comes in
    load : imports what is needed and returns the statistic
    given : what it is given of each group of shapes; not there if it does not take part
    about : what exactly is computed
    most_rows : more would take too long here
    slow_from : numbers of rows, by group of shapes, from which on there are fewer data sets
    slow : there are always fewer data sets, and not all numbers of rows
    """

    name: str
    package: str
    load: Callable[[], Statistic]
    given: Mapping[str, str]
    about: str
    most_rows: int = 1000
    slow_from: Mapping[str, int] = field(default_factory=dict)
    slow: bool = False

    def unavailable(self) -> str:
        """Return why the method cannot run here; nothing if it can."""
        try:
            metadata.version(self.package)
            self.load()
        except metadata.PackageNotFoundError:
            return "not installed"
        except Exception as error:
            return f"not available: {' '.join(str(error).split())[:60]}"
        return ""


def apply(statistic: Statistic, table: Array, given: str) -> float:
    """Return the statistic of a table.

    Parameters
    ----------
    statistic : takes blocks of columns
    table : two columns or more
    given : ALL_COLUMNS, LAST or BEST_PAIR
    """
    columns = np.split(table, table.shape[1], axis=1)
    if given == BEST_PAIR:
        return max(float(statistic(*pair)) for pair in combinations(columns, 2))
    if given == LAST:
        return float(statistic(np.hstack(columns[:-1]), columns[-1]))
    return float(statistic(*columns))


# ------------------------------------------------------------ covary


def load_evidence() -> Statistic:
    """Return covary's evidence for dependence, by the measure that is not fooled by chance."""
    import covary

    covary.evidence(_trial(), measure="uds-chance")
    return lambda *columns: covary.evidence(np.hstack(columns), measure="uds-chance")


def load_score(measure: str) -> Callable[[], Statistic]:
    """Return how the score of one of covary's measures is loaded."""

    def load() -> Statistic:
        import covary

        covary.score(_trial(), measure=measure)
        return lambda *columns: covary.score(np.hstack(columns), measure=measure)

    return load


def _trial() -> Array:
    return np.random.default_rng(0).standard_normal((100, 2))


# ------------------------------------------------------------ peers


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

    Hyppo takes the bandwidth of both kernels from the first block, so the columns are scaled to
    have it fit both.
    """
    from hyppo.independence import Hsic

    return lambda left, right: Hsic().statistic(_standardized(left), _standardized(right))


def load_mgc() -> Statistic:
    """Return hyppo's multiscale graph correlation, without permutations."""
    from hyppo.independence import MGC

    return lambda left, right: MGC().statistic(left, right)


def load_dhsic() -> Statistic:
    """Return hyppo's HSIC of several columns (Pfister et al. 2018), on scaled columns as HSIC."""
    from hyppo.d_variate import dHsic

    return lambda *columns: dHsic().statistic(*map(_standardized, columns))


def load_xi() -> Statistic:
    """Return Chatterjee's xi, in the better direction."""
    from scipy.stats import chatterjeexi

    def statistic(left: Array, right: Array) -> float:
        x, y = left[:, 0], right[:, 0]
        return max(chatterjeexi(x, y).statistic, chatterjeexi(y, x).statistic)

    return statistic


def load_pearson() -> Statistic:
    """Return the size of the correlation."""
    return lambda left, right: abs(np.corrcoef(left[:, 0], right[:, 0])[0, 1])


def load_spearman() -> Statistic:
    """Return the size of the correlation of ranks."""
    from scipy.stats import spearmanr

    return lambda left, right: abs(spearmanr(left[:, 0], right[:, 0]).statistic)


def _standardized(block: Array) -> Array:
    return (block - block.mean(axis=0)) / block.std(axis=0)


JOINTLY = {"pairs": ALL_COLUMNS, "triples": ALL_COLUMNS, "sets": ALL_COLUMNS}
BY_SIDES = {"pairs": ALL_COLUMNS, "triples": LAST, "sets": BEST_PAIR}
BY_PAIRS = {"pairs": ALL_COLUMNS, "triples": BEST_PAIR, "sets": BEST_PAIR}

METHODS = [
    Method("uds-chance", "covary", load_evidence, JOINTLY, "covary.evidence"),
    Method("uds", "covary", load_score("uds"), JOINTLY, "covary.score"),
    Method(
        "uds-unregularized", "covary", load_score("uds-unregularized"), JOINTLY, "covary.score"
    ),
    Method(
        "dcor",
        "dcor",
        load_distance_correlation,
        BY_SIDES,
        "distance correlation",
        slow_from={"triples": 1000},
    ),
    Method(
        "HSIC",
        "hyppo",
        load_hsic,
        BY_SIDES,
        "Gaussian kernels, on standardized columns",
        most_rows=300,
        slow_from={"sets": 100},
    ),
    Method(
        "dHSIC",
        "hyppo",
        load_dhsic,
        {"triples": ALL_COLUMNS, "sets": ALL_COLUMNS},
        "Gaussian kernels, on standardized columns",
        most_rows=300,
    ),
    Method(
        "MGC",
        "hyppo",
        load_mgc,
        BY_SIDES,
        "multiscale graph correlation",
        slow=True,
    ),
    Method(
        "xi",
        "scipy",
        load_xi,
        {"pairs": ALL_COLUMNS, "sets": BEST_PAIR},
        "Chatterjee's, the larger of both directions",
    ),
    Method("Spearman", "scipy", load_spearman, BY_PAIRS, "size of the rank correlation"),
    Method("Pearson", "numpy", load_pearson, BY_PAIRS, "size of the correlation"),
]
