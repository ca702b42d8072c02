"""Table 2 of the paper: how well outliers are told in the sets that were found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from covary.experiments.base import Experiment, Findings, Result, Results, Table, Trial
from covary.experiments.pictures import page
from covary.experiments.subspaces import (
    COMPARED,
    SEARCH_NOTE,
    Classed,
    Floats,
    Quality,
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
NEIGHBOURS = (10, 20, 50)

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Outliers(Experiment):
    """Beam search, LOF in every set, its mean over sets; AUC, its mean over draws of outliers."""

    name: ClassVar[str] = "outliers"
    title: ClassVar[str] = "Outliers in the sets that were found (Table 2)"
    pool: ClassVar[str] = "outliers"

    def trials(self) -> list[Trial]:
        return [
            ("lof", name, method, draw)
            for name in self._names
            for method in COMPARED
            for draw in range(2 if self.quick else DRAWS)
        ]

    @property
    def _names(self) -> tuple[str, ...]:
        return ("wdbc",) if self.quick else tuple(DATASETS)

    def run(self, trial: Trial) -> Result:
        _, name, method, draw = trial
        table = classed(name, self.data)
        outliers, others = drawn(table.labels, self.seed, draw)
        kept = outliers | others
        chosen = table.rows(kept)
        scores = outlier_scores(chosen, found_sets(chosen, method, self.seed))
        return {"auc": [auc(each, outliers[kept]) for each in scores]}

    def findings(self, results: Results) -> Findings:
        aucs: dict[tuple[str, str], list[list[float]]] = {}
        for trial in self.trials():
            _, name, method, _ = trial
            aucs.setdefault((method, name), []).append(results[trial]["auc"])
        best, mean = (
            Quality.of(
                f"AUC, {words}",
                DATASETS,
                self._names,
                {key: float(combined(np.mean(found, axis=0))) for key, found in aucs.items()},
                PAPER,
            )
            for words, combined in (
                ("best number of neighbours", np.max),
                ("mean over numbers of neighbours", np.mean),
            )
        )
        spread = {key: float(np.std(found, axis=0, ddof=1).mean()) for key, found in aucs.items()}
        between = Table(
            "Standard deviation of AUC between draws",
            ["method", *best.tables],
            [[method, *(spread[method, name] for name in self._names)] for method in COMPARED],
        )
        sentences = [
            f"Mean AUC at the best of {len(NEIGHBOURS)} numbers of neighbours for each method and "
            f"table: {best.ranking()}. Mean over all of them: {mean.ranking()}.",
            f"The paper's averages are UDS 0.75, MAC 0.73, HiCS 0.69, CMI 0.66, with UDS best on "
            f"every table. Mean ranks here: {best.ranks_in_words()}.",
            f"AUC differs between draws by {np.mean(list(spread.values())):.2f} (standard "
            "deviation, on average), and between the eight methods by "
            f"{best.spread_of_methods():.2f}. The paper tells neither how often outliers were "
            "drawn, nor how many sets were used, nor the parameters of LOF.",
        ]
        notes = [
            SEARCH_NOTE,
            f"Outliers are {SHARE:.0%} of the smallest class, drawn anew {DRAWS} times; the rest "
            "of that class is left out, all other rows are inliers. Of classes of the same size "
            "(Segmentation) one is drawn each time. Every draw is searched anew.",
            f"LOF with {', '.join(map(str, NEIGHBOURS))} neighbours in each set; its mean over "
            "all sets is the score of a row. Rows with missing cells (16 of WBC) are left out.",
        ]
        return Findings(
            sentences,
            [best.table(), mean.table(), between],
            page(best.picture(), mean.picture()),
            notes,
        )


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


def outlier_scores(table: Classed, sets: Sequence[Sequence[int]]) -> list[Floats]:
    """Return the mean LOF of each row over some sets, for every number of neighbours."""
    from sklearn.neighbors import KNeighborsTransformer, LocalOutlierFactor

    points = scaled(table.values)
    totals = [np.zeros(len(points)) for _ in NEIGHBOURS]
    for columns in sets:
        near = KNeighborsTransformer(n_neighbors=max(NEIGHBOURS)).fit_transform(
            points[:, list(columns)]
        )
        for total, k in zip(totals, NEIGHBOURS, strict=True):
            found = LocalOutlierFactor(n_neighbors=k, metric="precomputed").fit(near)
            total -= found.negative_outlier_factor_
    return [total / len(sets) for total in totals]


def auc(scores: Floats, outliers: Bools) -> float:
    """Return how likely an outlier has a higher score than another row."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(outliers, scores))
