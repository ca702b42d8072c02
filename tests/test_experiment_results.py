"""Experiments: synthetic tables, power, clustering, outliers and quality."""

from __future__ import annotations

import numpy as np
import pytest

import covary
from covary.errors import CovaryError
from covary.reproduction.experiments.base import Results, trial_key
from covary.reproduction.experiments.beta import Beta
from covary.reproduction.experiments.clustering import (
    Clustering,
    SetClusters,
    mean_f1,
    remove_redundant,
    run_dbscan,
)
from covary.reproduction.experiments.methods import METHODS
from covary.reproduction.experiments.outliers import (
    auc,
    draw_outliers,
    mean_rank,
    outlier_factors,
)
from covary.reproduction.experiments.power_dimension import PowerDimension
from covary.reproduction.experiments.power_experiment import estimated_power
from covary.reproduction.experiments.power_extra import PowerExtra
from covary.reproduction.experiments.power_mixed import PowerMixed
from covary.reproduction.experiments.quality import (
    Quality,
    best_method_counts,
    compare_with_random,
    tables_far_from_paper,
)
from covary.reproduction.experiments.subspace_experiment import select_sets, without_constants
from covary.reproduction.experiments.synthetic_tables import (
    Design,
    related_table,
    unrelated_table,
)
from experiment_tables import write_table

# ------------------------------------------------------------------ synthetic tables


def function_values(function, w):
    return {
        "f1": 2 * w + 1,
        "f2": w * w - 2 * w,
        "f3": np.log(np.abs(w) + 1),
        "f4": np.sin(2 * w),
    }[function]


@pytest.mark.parametrize("independent", [False, True])
def test_half_of_the_columns_are_functions_of_the_other_half(independent):
    n, n_x = 8, 4
    # Without noise, f1 is linear: least squares gives B, which is the same for all functions.
    table = related_table(Design(400, n, "f1", 0.0, independent), 3, 0)
    design = np.column_stack([table[:, :n_x], np.ones(400)])
    solved, *_ = np.linalg.lstsq(design, table[:, n_x:], rcond=None)
    assert np.allclose(solved[-1], 1.0)
    b = solved[:-1].T / 2
    assert b.min() >= 0
    assert b.max() <= 0.5
    for function in ("f2", "f3", "f4"):
        other = related_table(Design(400, n, function, 0.0, independent), 3, 7)
        assert np.allclose(other[:, n_x:], function_values(function, other[:, :n_x] @ b.T))


def test_noise_has_the_given_standard_deviation():
    without_noise = related_table(Design(4000, 6, "f3", 0.0, False), 3, 0)
    with_noise = related_table(Design(4000, 6, "f3", 1.7, False), 3, 0)
    # Tables with other noise have other random numbers: only variances can be compared.
    added = with_noise[:, 3:].var(axis=0) - without_noise[:, 3:].var(axis=0)
    assert added == pytest.approx(1.7**2, rel=0.15)


def test_x_columns_are_dependent_unless_the_design_is_independent():
    dependent = np.corrcoef(related_table(Design(4000, 20, "f1", 1.0, False), 3, 0)[:, :10].T)
    independent = np.corrcoef(related_table(Design(4000, 20, "f1", 1.0, True), 3, 0)[:, :10].T)
    off = ~np.eye(10, dtype=bool)
    assert dependent[off].mean() > 0.5
    assert np.abs(independent[off]).max() < 0.08


def test_unrelated_columns_are_independent_and_have_the_same_distributions():
    design = Design(4000, 10, "f2", 0.5, False)
    table = unrelated_table(design, 3, 0)
    correlations = np.corrcoef(table.T)[~np.eye(10, dtype=bool)]
    assert np.abs(correlations).max() < 0.08
    other = related_table(design, 3, 0)
    for one, two in zip(np.sort(table, axis=0).T, np.sort(other, axis=0).T, strict=True):
        assert np.abs(one - two).mean() < 0.15 * two.std()


def test_unrelated_tables_of_all_functions_have_the_same_score_distribution():
    from scipy.stats import ks_2samp

    scores = {
        design: [covary.score(unrelated_table(design, 3, number)) for number in range(60)]
        for design in (Design(200, 6, "f1", 0.5, False), Design(200, 6, "f4", 2.0, True))
    }
    assert max(map(max, scores.values())) > 0
    assert ks_2samp(*scores.values()).pvalue > 0.001


@pytest.mark.parametrize("experiment", [PowerDimension(), PowerExtra(), PowerMixed(), Beta()])
def test_full_runs_have_the_sizes_of_the_paper(experiment):
    for each in experiment.comparisons():
        assert len(each.related) == len(each.unrelated) == 100
        assert {table.design.rows for table in (*each.related, *each.unrelated)} == {4000}
    sizes = {table.design.columns for each in experiment.comparisons() for table in each.related}
    if experiment.name == "power-mixed":
        assert min(sizes) >= 2
        assert max(sizes) <= 50
        assert len(sizes) > 30
    else:
        assert 20 in sizes


def test_extra_columns_are_in_related_and_in_unrelated_tables():
    sizes = {
        (each.related[0].design.columns, each.unrelated[0].design.columns)
        for each in PowerExtra().comparisons()
    }
    assert {(20, 40), (20, 60), (20, 80), (40, 20), (60, 20), (80, 20)} == sizes


# ------------------------------------------------------------------ statistics


def test_power_is_the_fraction_above_the_cutoff():
    null = list(range(100))
    assert estimated_power([95.5, 96], null) == 1.0
    assert estimated_power([95, 95.5], null) == 0.5
    # A further null score is above the cutoff with probability 5 / 101.
    assert estimated_power(null, null) == 0.04
    # If all null scores are 0, the cutoff is 0.
    assert estimated_power([0.0, 0.0, 0.1], [0.0] * 100) == pytest.approx(1 / 3)


def naive_f1(clusters, classes):
    """Return the mean F1 over classes; clusters count for their majority class."""
    total = 0.0
    kinds = sorted(set(classes))
    for kind in kinds:
        found = set()
        for rows in clusters:
            inside = [classes[row] for row in rows]
            if max(kinds, key=lambda k: (inside.count(k), -k)) == kind:
                found |= set(rows)
        real = {row for row, each in enumerate(classes) if each == kind}
        common = len(found & real)
        if common:
            precision, recall = common / len(found), common / len(real)
            total += 2 * precision * recall / (precision + recall)
    return total / len(kinds)


@pytest.mark.parametrize("seed", range(20))
def test_f1_of_clusters(seed):
    rng = np.random.default_rng(seed)
    classes = np.concatenate([np.arange(3), rng.integers(0, 3, 37)])
    clusters = [
        rng.choice(40, size, replace=False) for size in rng.integers(1, 12, rng.integers(0, 7))
    ]
    expected = naive_f1([rows.tolist() for rows in clusters], classes.tolist())
    assert mean_f1(clusters, classes) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(20))
def test_clusters_covered_by_larger_sets_are_redundant(seed):
    rng = np.random.default_rng(seed)
    sets = [frozenset({0}), frozenset({0, 1}), frozenset({1, 2}), frozenset({0, 1, 2})]
    found = [SetClusters(columns, rng.integers(-1, 3, 12)) for columns in sets]
    expected = []
    for each in found:
        for at in range(each.labels.max() + 1):
            rows = set(np.flatnonzero(each.labels == at))
            covers = [
                rows & set(np.flatnonzero(other.labels == k))
                for other in found
                if each.columns < other.columns
                for k in range(other.labels.max() + 1)
            ]
            if rows and all(len(common) < 0.5 * len(rows) for common in covers):
                expected.append(sorted(rows))
    assert [rows.tolist() for rows in remove_redundant(found)] == expected


def test_duplicate_rows_are_clustered_as_by_scikit_learn():
    from sklearn.cluster import DBSCAN

    rng = np.random.default_rng(0)
    points = rng.integers(0, 8, (300, 2)) / 7
    for (k, quantile), labels in run_dbscan(points).items():
        distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
        eps = np.quantile(np.sort(distances, axis=1)[:, k - 1], quantile)
        direct = DBSCAN(eps=max(eps + 1e-6, 1e-12), min_samples=k).fit(points).labels_
        same = labels[:, None] == labels[None]
        noise = labels < 0
        assert np.array_equal(noise, direct < 0)
        core = ~noise
        assert np.array_equal(
            same[np.ix_(core, core)], (direct[:, None] == direct[None])[np.ix_(core, core)]
        )


def test_outliers_are_a_tenth_of_the_smallest_class():
    labels = np.array(["a"] * 200 + ["b"] * 50 + ["c"] * 80)
    outliers, inliers = draw_outliers(labels, 1, 0)
    assert outliers.sum() == 5
    assert set(labels[outliers]) == {"b"}
    assert np.array_equal(inliers, labels != "b")
    assert not np.array_equal(outliers, draw_outliers(labels, 1, 1)[0])
    assert np.array_equal(outliers, draw_outliers(labels, 1, 0)[0])


def test_one_of_several_smallest_classes_is_drawn():
    labels = np.array(["a"] * 50 + ["b"] * 50)
    assert {labels[draw_outliers(labels, 1, draw)[0]][0] for draw in range(20)} == {"a", "b"}


def test_outlier_factors_equal_those_of_scikit_learn():
    from sklearn.neighbors import LocalOutlierFactor

    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 3)) * [1.0, 10.0, 0.1]
    table = without_constants("t", ["a", "b", "c"], values, np.array(["x"] * 200))
    factors = outlier_factors(table, [[0, 2], [1]])
    points = (values - values.min(axis=0)) / np.ptp(values, axis=0)
    for found, k in zip(factors, (10, 20, 50), strict=True):
        for at, columns in enumerate([[0, 2], [1]]):
            direct = LocalOutlierFactor(n_neighbors=k).fit(points[:, columns])
            assert found[at] == pytest.approx(-direct.negative_outlier_factor_)


def test_mean_rank_ignores_the_size_of_extreme_factors():
    factors = np.array([[1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 9e9]])
    assert mean_rank(factors).tolist() == [2.0, 2.0, 2.0, 4.0]


def test_auc_counts_pairs():
    rng = np.random.default_rng(0)
    scores, outliers = rng.integers(0, 5, 60).astype(float), rng.random(60) < 0.3
    pairs = [
        1.0 if one > other else 0.5 if one == other else 0.0
        for one in scores[outliers]
        for other in scores[~outliers]
    ]
    assert auc(scores, outliers) == pytest.approx(np.mean(pairs))


def test_sets_of_every_method_random_sets_and_all_columns():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    values = np.column_stack([x, x**2, rng.normal(size=(300, 3)), np.zeros(300)])
    table = without_constants("t", [f"x{at}" for at in range(6)], values, np.array(["a"] * 300))
    assert table.columns == ["x0", "x1", "x2", "x3", "x4"]
    for method in METHODS:
        best = set(select_sets(table, method, 1)[0])
        assert {0, 1} <= best, method
        # The scores of some methods grow with the number of columns.
        assert len(best) < 5 or method in ("uds-unregularized", "cmi", "total-correlation"), method
    assert select_sets(table, "all columns", 1) == [[0, 1, 2, 3, 4]]
    random_sets = select_sets(table, "random sets", 1)
    assert len(random_sets) == 20
    assert all(len(set(each)) == len(each) >= 2 for each in random_sets)
    assert random_sets != select_sets(table, "random sets", 1, draw=1)
    assert random_sets != select_sets(table._replace(name="u"), "random sets", 1)


def test_ranks_are_averaged_over_tables():
    ours = {method: [0.1 * at, 0.5] for at, method in enumerate(METHODS)}
    quality = Quality("AUC", ["one", "two"], ours, {"uds": [0.1, 0.2]})
    ranks = quality.mean_ranks()
    assert ranks["total-correlation"] == (1 + 4.5) / 2  # all are equal on the second
    assert ranks["uds-chance"] == (8 + 4.5) / 2
    table = quality.result_table()
    assert table.rows[-1][0] == "uds, in the paper"
    assert table.rows[-1][-2] == pytest.approx(0.15)


def test_tables_far_from_the_paper_are_named():
    paper = {"uds": [0.5, 0.9, 0.3, 0.5], "mac": [0.5, 0.8, 0.2, 0.4]}
    ours = {
        "uds": [0.5, 0.7, 0.5, 0.4],
        "mac": [0.4, 0.7, 0.6, 0.4],
        "all columns": [0.5, 0.75, 0.5, 0.41],
    }
    sentence = tables_far_from_paper(
        Quality("F1", ["near", "below", "above", "almost"], ours, paper)
    )
    assert "below the paper's UDS on below and" in sentence
    assert "above the paper's best on above." in sentence
    assert tables_far_from_paper(Quality("F1", ["near"], {"uds": [0.5]}, {"uds": [0.5]})) == ""
    assert tables_far_from_paper(Quality("F1", ["other"], {"uds": [0.5]}, {})) == ""


def test_set_sizes():
    experiment = Clustering(quick=True)
    sets = [["a", "b"], ["b", "c", "d"]]
    results = Results({trial_key(trial): {"sets": sets} for trial in experiment.trials()})
    per_set, distinct = experiment.set_size_tables(results)
    assert per_set.rows[0] == ["uds-chance", 2.5]
    assert distinct.rows[0] == ["uds-chance", 4.0]


def test_comparison_with_random_sets():
    scores = [0.5, 0.604, 0.61, 0.2, 0.9, 0.9, 0.9, 0.6]
    ours = {method: [score, score] for method, score in zip(METHODS, scores, strict=True)}
    half = Quality("F1", ["one", "two"], {**ours, "random sets": [0.5, 0.7]}, {})
    sentence = compare_with_random([half])
    assert "at least as good as 4 of 8 methods (F1)." in sentence
    assert "we think" not in sentence
    most = half._replace(label="AUC", ours={**half.ours, "random sets": [0.61, 0.61]})
    sentence = compare_with_random([half, most])
    assert "4 of 8 methods (F1); 5 of 8 methods (AUC)." in sentence
    assert "we think" in sentence


def test_counts_of_best_methods():
    ours = {method: [0.1, 0.1, 0.1] for method in (*METHODS, "random sets")}
    ours |= {"uds": [0.5, 0.2, 0.3], "mac": [0.5, 0.4, 0.2], "mcde": [0.6, 0.4, 0.1]}
    ours["random sets"] = [0.1, 0.4, 0.2]
    assert best_method_counts(Quality("F1", ["a", "b", "c"], ours, {})) == (
        "`uds` is the best of the paper's methods on 2 of 3 tables. Of all methods, `mcde` is "
        "best most often, on 2. Random sets are at least as good as every method on 1."
    )


def test_a_table_with_one_class_is_refused(tmp_path):
    rows = np.arange(200.0)
    write_table(tmp_path, "wdbc", {"x": rows, "y": rows**2, "label": ["a"] * 200})
    with pytest.raises(CovaryError, match="fewer than two classes"):
        Clustering(quick=True, data=tmp_path).table("wdbc")
