"""Quality of the sets of each method, next to the values of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from covary.reproduction.experiments.charts import Spec, heatmap
from covary.reproduction.experiments.findings import ResultTable, method_list, sorted_values
from covary.reproduction.experiments.methods import METHODS

# What the methods are compared with: random sets, and one set of all columns.
RANDOM_SETS, ALL_COLUMNS = "random sets", "all columns"
# A difference from the paper's values that counts as large.
LARGE_DIFFERENCE = 0.1


class Quality(NamedTuple):
    """Quality of the sets of each method on each table.

    Parameters
    ----------
    label : name of the values
    tables : names of the tables
    ours : our values by method, for each table; includes random sets and all columns
    paper : values of the paper by method, for each table; empty for other tables than its own
    """

    label: str
    tables: Sequence[str]
    ours: Mapping[str, Sequence[float]]
    paper: Mapping[str, Sequence[float]]

    def means(self) -> dict[str, float]:
        """Return our means over all tables."""
        return _means(self.ours)

    def paper_means(self) -> dict[str, float]:
        """Return the means of the paper over the same tables."""
        return _means(self.paper)

    def mean_ranks(self) -> dict[str, float]:
        """Return the mean rank of each method; the best method of a table has rank 1.

        Values that agree to two digits are equal.
        """
        from scipy.stats import rankdata

        values = np.array([self.ours[method] for method in METHODS]).round(2)
        ranks = rankdata(-values, axis=0).mean(axis=1)
        return dict(zip(METHODS, ranks.tolist(), strict=True))

    def result_table(self) -> ResultTable:
        """Return all values as a table."""
        means, ranks = self.means(), self.mean_ranks()
        rows = [
            [method, *values, means[method], ranks.get(method)]
            for method, values in self.ours.items()
        ]
        rows += [
            [_paper_label(method), *values, self.paper_means()[method], None]
            for method, values in self.paper.items()
        ]
        return ResultTable(self.label, ["method", *self.tables, "mean", "mean rank"], rows)

    def chart(self) -> Spec:
        """Return all values as a heatmap."""
        rows = {**self.ours, **{_paper_label(method): v for method, v in self.paper.items()}}
        cells = [
            {"row": method, "data": name, "value": value}
            for method, values in rows.items()
            for name, value in zip(
                (*self.tables, "mean"), (*values, float(np.mean(values))), strict=True
            )
        ]
        columns = (*self.tables, "mean")
        return heatmap(self.label, cells, x_field="data", rows=list(rows), columns=columns)

    def summary(self) -> str:
        """Return a sentence with our means and those of the paper."""
        paper = sorted_values(self.paper_means())
        return (
            f"{self.label}, mean over {len(self.tables)} table{'s' * (len(self.tables) > 1)}: "
            f"{sorted_values(self.means())}." + (f" In the paper: {paper}." if paper else "")
        )


def _paper_label(method: str) -> str:
    """Return the name of a row with values of the paper."""
    return f"{method}, in the paper"


def _means(values: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {method: float(np.mean(each)) for method, each in values.items()}


def best_method_counts(quality: Quality) -> str:
    """Return sentences on the number of tables on which each method is best.

    They compare UDS, the other methods and random sets. Values that agree to two digits are equal.
    """
    values = {m: np.round(quality.ours[m], 2) for m in (*METHODS, RANDOM_SETS)}
    best_of_paper = np.max([values[m] for m in ("uds", "cmi", "mac", "hics")], axis=0)
    best = np.max([values[m] for m in METHODS], axis=0)
    n_best = {m: int(np.sum(values[m] == best)) for m in METHODS}
    most = max(n_best.values())
    leaders = [m for m in METHODS if n_best[m] == most]
    n_uds = int(np.sum(values["uds"] == best_of_paper))
    n_random = int(np.sum(values[RANDOM_SETS] >= best))
    return (
        f"`uds` is the best of the paper's methods on {n_uds} of {len(best)} tables. Of all "
        f"methods, {method_list(leaders)} {'is' if len(leaders) == 1 else 'are'} best most often, "
        f"on {most}. Random sets are at least as good as every method on {n_random}."
    )


def compare_with_random(qualities: Sequence[Quality]) -> str:
    """Return how many methods have a mean that random sets reach.

    Values that agree to two digits are equal.
    """
    counts = []
    for quality in qualities:
        means = {m: round(mean, 2) for m, mean in quality.means().items()}
        counts.append(sum(means[RANDOM_SETS] >= means[m] for m in METHODS))
    listing = "; ".join(
        f"{count} of {len(METHODS)} methods ({quality.label})"
        for count, quality in zip(counts, qualities, strict=True)
    )
    reason = (
        " If random sets match most methods, we think that the most dependent columns need not be "
        "those that separate the classes, and that combining many sets removes most differences "
        "between them."
    )
    return f"Averaged over tables, random sets are at least as good as {listing}." + reason * (
        max(counts) > len(METHODS) / 2
    )


def tables_far_from_paper(quality: Quality) -> str:
    """Return a sentence about the tables on which all values differ much from the paper's."""
    if not quality.paper:
        return ""
    ours = np.array(list(quality.ours.values()))
    paper = np.array(list(quality.paper.values()))
    below = ours.max(axis=0) < np.array(quality.paper["uds"]) - LARGE_DIFFERENCE
    above = ours.min(axis=0) > paper.max(axis=0) + LARGE_DIFFERENCE
    differences = [
        f"{description} on {', '.join(np.array(quality.tables)[selected])}"
        for description, selected in (
            (f"more than {LARGE_DIFFERENCE} below the paper's UDS", below),
            (f"more than {LARGE_DIFFERENCE} above the paper's best", above),
        )
        if selected.any()
    ]
    if not differences:
        return ""
    return (
        f"{quality.label}: for all sets, including random sets and all columns, the values are "
        f"{' and '.join(differences)}. We think that the setup differs there in a detail that the "
        "paper does not state."
    )
