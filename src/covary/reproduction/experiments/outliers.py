"""Table 2 of the paper: how well outliers are detected in the best sets of columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from covary.array_types import Booleans, Floats
from covary.reproduction.experiments.base import Result, Results, Trial
from covary.reproduction.experiments.charts import stacked
from covary.reproduction.experiments.findings import Findings, ResultTable, joined
from covary.reproduction.experiments.quality import best_method_counts
from covary.reproduction.experiments.real_tables import fingerprint
from covary.reproduction.experiments.subspace_experiment import (
    COMPARED,
    SUBSPACE_NOTE,
    LabelledTable,
    SubspaceExperiment,
    column_names,
    scaled_to_unit,
    select_sets,
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
OUTLIER_FRACTION = 0.1
DRAWS = 10
NEIGHBOURS = (10, 20, 50)
REFERENCE = "uds-chance"

# AUC of each draw and number of neighbours, by method and table.
AUCs = Mapping[tuple[str, str], list[list[float]]]


@dataclass(frozen=True)
class Outliers(SubspaceExperiment):
    """AUC of the mean LOF over the best sets, averaged over random draws of outliers."""

    name: ClassVar[str] = "outliers"
    title: ClassVar[str] = "Outliers in the best sets of columns (Table 2)"
    trial_group: ClassVar[str] = "outliers"
    titles: ClassVar[Mapping[str, str]] = DATASETS
    min_rows: ClassVar[int] = 2 * max(NEIGHBOURS)

    @property
    def draws(self) -> int:
        """The number of random draws of outliers."""
        return 2 if self.quick else DRAWS

    def trials(self) -> list[Trial]:
        return [
            ("lof", name, method, draw, digest)
            for name in self.dataset_names
            for digest in [fingerprint(name, self.data)]
            for method in COMPARED
            for draw in range(self.draws)
        ]

    def run(self, trial: Trial) -> Result:
        _, name, method, draw, _ = trial
        table = self.table(name)
        outliers, inliers = draw_outliers(table.labels, self.seed, draw)
        used = outliers | inliers
        sample = table.select_rows(used)
        sets = select_sets(sample, method, self.seed, draw)
        factors = outlier_factors(sample, sets)
        return {
            "sets": column_names(sample, sets),
            **{
                label: [auc(aggregate(each), outliers[used]) for each in factors]
                for label, aggregate in AGGREGATES.items()
            },
        }

    def findings(self, results: Results) -> Findings:
        aucs = self._aucs(results)
        qualities = {
            (aggregate, choice): self.quality(
                f"AUC by {aggregate}, {choice}",
                {key: float(over(np.mean(each, axis=0))) for key, each in aucs[aggregate].items()},
                PAPER if (aggregate, over) == (MEAN, np.max) else {},
            )
            for aggregate in AGGREGATES
            for choice, over in (
                ("best number of neighbours", np.max),
                ("mean over numbers of neighbours", np.mean),
            )
        }
        counts = " ".join(f"{q.label}: {best_method_counts(q)}" for q in qualities.values())
        sentences = [
            *(quality.summary() for quality in qualities.values()),
            "In the paper, UDS is the best method on every table, once tied with MAC. Here: "
            f"{counts} For each method and table, we chose the best number of neighbours by AUC "
            "itself, which uses the classes.",
            *self.comparison_sentences(list(qualities.values())),
            "The paper does not state how often outliers were drawn, how many sets were used, or "
            "the parameters of LOF.",
        ]
        notes = [
            SUBSPACE_NOTE,
            f"Outliers are {OUTLIER_FRACTION:.0%} of the smallest class, drawn {self.draws} "
            "times. The rest of that class is omitted, and all other rows are inliers. If several "
            "classes are smallest, one of them is drawn each time. Every draw has its own search, "
            "and AUC is averaged over draws. AUC is the area under the ROC curve: the probability "
            "that an outlier has a higher score than an inlier. Rows with missing cells are "
            "omitted.",
            f"We compute local outlier factors (LOF) with {joined(NEIGHBOURS)} neighbours in each "
            "set. The score of a row is the mean of its LOF over all sets, or the mean of its "
            "rank by LOF. If many rows coincide, LOF can be in the billions, and a single set "
            "then dominates the mean of LOF.",
            "Differences from `uds-chance` are shown with their standard error over draws. The "
            "draws are the same for all methods. The differences use the mean over numbers of "
            "neighbours.",
        ]
        if not self.quick:
            notes.append(
                "Many rows coincide in WBC and Ann-Thyroid. All classes of Segmentation have the "
                "same size. WBCD is the diagnostic one of the two tables on breast cancer in "
                "Wisconsin; we assume that the paper uses this one."
            )
        return Findings(
            sentences,
            [
                *(quality.result_table() for quality in qualities.values()),
                *(self._difference_table(name, aucs[name]) for name in AGGREGATES),
                *self.set_size_tables(results),
                self.dataset_table(),
            ],
            stacked(
                *(q.chart() for (_, choice), q in qualities.items() if choice.startswith("best"))
            ),
            notes,
        )

    def _aucs(self, results: Results) -> dict[str, AUCs]:
        """Return the AUCs by aggregate."""
        grouped = self.group_results(results)
        return {
            name: {key: [result[name] for result in each] for key, each in grouped.items()}
            for name in AGGREGATES
        }

    def _difference_table(self, aggregate: str, aucs: AUCs) -> ResultTable:
        def difference(method: str, name: str) -> str:
            reference, values = (np.mean(aucs[m, name], axis=1) for m in (REFERENCE, method))
            differences = values - reference
            error = np.std(differences, ddof=1) / math.sqrt(len(differences))
            return f"{round(differences.mean(), 2) + 0.0:+.2f} ± {error:.2f}"

        return ResultTable(
            f"AUC by {aggregate} minus that of {REFERENCE}",
            ["method", *(self.titles[name] for name in self.dataset_names)],
            [
                [method, *(difference(method, name) for name in self.dataset_names)]
                for method in COMPARED
                if method != REFERENCE
            ],
        )


def draw_outliers(labels: npt.NDArray[np.str_], seed: int, draw: int) -> tuple[Booleans, Booleans]:
    """Return which rows are outliers and which are inliers.

    Outliers are drawn from the smallest class; if several classes are smallest, from one of them.
    Inliers are the rows of all other classes.
    """
    rng = np.random.default_rng((seed, draw))
    names, sizes = np.unique(labels, return_counts=True)
    smallest = labels == rng.choice(names[sizes == sizes.min()])
    rows = np.flatnonzero(smallest)
    outliers = np.zeros(len(labels), np.bool_)
    outliers[rng.choice(rows, max(1, round(OUTLIER_FRACTION * len(rows))), replace=False)] = True
    return outliers, ~smallest


def outlier_factors(table: LabelledTable, sets: Sequence[Sequence[int]]) -> list[Floats]:
    """Return the LOF of each row in each set, for every number of neighbours."""
    from sklearn.neighbors import KNeighborsTransformer, LocalOutlierFactor

    points = scaled_to_unit(table.values)
    factors = [np.empty((len(sets), len(points))) for _ in NEIGHBOURS]
    for at, columns in enumerate(sets):
        neighbours = KNeighborsTransformer(n_neighbors=max(NEIGHBOURS)).fit_transform(
            points[:, list(columns)]
        )
        for by_set, k in zip(factors, NEIGHBOURS, strict=True):
            fitted = LocalOutlierFactor(n_neighbors=k, metric="precomputed").fit(neighbours)
            by_set[at] = -fitted.negative_outlier_factor_
    return factors


def mean_rank(factors: Floats) -> Floats:
    """Return the mean rank of each row over all sets."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(factors, axis=1).mean(axis=0))


def mean_factor(factors: Floats) -> Floats:
    """Return the mean factor of each row over all sets."""
    return np.asarray(factors.mean(axis=0))


# Functions that combine the factors of a row in all sets into one score.
MEAN, RANKS = "mean LOF", "mean rank of LOF"
AGGREGATES: dict[str, Callable[[Floats], Floats]] = {MEAN: mean_factor, RANKS: mean_rank}


def auc(scores: Floats, outliers: Booleans) -> float:
    """Return the probability that an outlier scores higher than an inlier (area under ROC)."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(outliers, scores))
