"""Table 2 of the paper: how well outliers are told in the sets that were found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from covary.experiments.base import METHODS, Experiment, Findings, Result, Results, Trial
from covary.experiments.subspaces import (
    BASELINES,
    Classed,
    Floats,
    classed,
    found_sets,
    scaled,
)

DATASETS = {
    "ann_thyroid": "Ann-Thyroid",
    "satimage": "Satimage",
    "segmentation": "Segmentation",
    "waveform_noise": "Wave Noise",
    "wbc": "WBC",
    "wdbc": "WBCD",
}
PAPER = {
    "uds": (0.98, 0.98, 0.54, 0.51, 0.50, 0.99),
    "cmi": (0.96, 0.74, 0.39, 0.50, 0.47, 0.92),
    "mac": (0.96, 0.95, 0.51, 0.50, 0.48, 0.99),
    "hics": (0.95, 0.86, 0.49, 0.48, 0.47, 0.91),
}
SHARE = 0.1
DRAWS = 10
NEIGHBOURS = 20

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Outliers(Experiment):
    """Beam search, LOF in every set, its mean over sets; AUC, its mean over draws of outliers."""

    name: ClassVar[str] = "outliers"
    title: ClassVar[str] = "Outliers in the sets that were found (Table 2)"
    pool: ClassVar[str] = "outliers"

    def trials(self) -> list[Trial]:
        names = ("wdbc",) if self.quick else DATASETS
        draws = range(2 if self.quick else DRAWS)
        return [
            ("outliers", name, method, draw)
            for name in names
            for method in (*METHODS, *BASELINES)
            for draw in draws
        ]

    def run(self, trial: Trial) -> Result:
        _, name, method, draw = trial
        table = classed(name, self.data)
        outliers, others = drawn(table.labels, self.seed, draw)
        kept = outliers | others
        scores = outlier_scores(table.rows(kept), method, self.seed)
        return {"auc": auc(scores, outliers[kept])}

    def findings(self, results: Results) -> Findings:
        raise NotImplementedError


def drawn(labels: npt.NDArray[np.str_], seed: int, draw: int) -> tuple[Bools, Bools]:
    """Return which rows are outliers, some of the smallest class, and which are of other classes.

    Of classes of the same size, one is drawn.
    """
    rng = np.random.default_rng((seed, draw))
    names, sizes = np.unique(labels, return_counts=True)
    smallest = labels == rng.choice(names[sizes == sizes.min()])
    rows = np.flatnonzero(smallest)
    outliers = np.zeros(len(labels), np.bool_)
    outliers[rng.choice(rows, max(1, round(SHARE * len(rows))), replace=False)] = True
    return outliers, ~smallest


def outlier_scores(table: Classed, method: str, seed: int) -> Floats:
    """Return the mean LOF of each row over the sets that a method finds."""
    from sklearn.neighbors import LocalOutlierFactor

    points = scaled(table.values)
    sets = found_sets(table, method, seed)
    total = np.zeros(len(points))
    for columns in sets:
        found = LocalOutlierFactor(n_neighbors=NEIGHBOURS).fit(points[:, columns])
        total -= found.negative_outlier_factor_
    return total / len(sets)


def auc(scores: Floats, outliers: Bools) -> float:
    """Return how likely an outlier has a higher score than another row."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(outliers, scores))
