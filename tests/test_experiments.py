"""The experiments: what they draw, what they compute, how they go on, and what they write."""

from __future__ import annotations

import gzip
import html
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import warnings
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import covary
from covary.errors import CovaryError
from covary.experiments import NAMES, find_experiment
from covary.experiments.base import METHODS, SEED, Results, Sheet, key_of
from covary.experiments.beta import Beta
from covary.experiments.clustering import Clustered, Clustering, dbscans, f1, without_redundant
from covary.experiments.crime import CODES, EDUCATION, POLICE
from covary.experiments.generator import Recipe, related, unrelated
from covary.experiments.outliers import auc, drawn, mean_rank, outlier_factors
from covary.experiments.pictures import tiles
from covary.experiments.power import PAPER, power_of
from covary.experiments.power_dimension import PowerDimension, against, without_power
from covary.experiments.power_extra import PowerExtra
from covary.experiments.power_mixed import PowerMixed
from covary.experiments.running import Done, TrialFile, run_trials
from covary.experiments.subspaces import (
    Quality,
    against_random,
    apart,
    found_sets,
    varying,
    verdict,
)
from covary.experiments.tables import fingerprint, loaded
from covary.experiments.writing import METHODS_NOTE, markdown_table

COMMITTED = Path(__file__).parents[1] / "docs" / "reproduction"


def written(folder, name, columns):
    lines = [",".join(columns)]
    lines += [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    with gzip.open(folder / f"{name}.csv.gz", "wt") as file:
        file.write("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Tables with the names and columns of the real ones, and other numbers."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(5)
    n = 150
    label = rng.integers(0, 3, n)
    wave = {f"x{at}": label * (at % 3) + rng.normal(size=n) for at in range(1, 22)}
    written(folder, "waveform", wave | {"label": label})
    written(folder, "wdbc", wave | {"label": label})
    level = rng.normal(size=n)
    names = [*EDUCATION, "PctEmploy", "PctUnemployed", *CODES, *POLICE[:2], "population"]
    crime = {name: (level + rng.normal(size=n)).round(2) for name in names}
    written(folder, "communities", crime)
    home = {f"T{at}": level + at * rng.normal(size=n) for at in range(1, 6)}
    written(folder, "appliances_energy", {"date": ["2016-01-11 17:00:00"] * n, **home})
    written(folder, "energy_efficiency", {f"part_{at}": c for at, c in enumerate(home.values())})
    return folder


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One folder for all quick runs: experiments on power share their trials."""
    return tmp_path_factory.mktemp("reproduction")


# ------------------------------------------------------------------ the commands


@pytest.mark.parametrize("name", NAMES)
def test_a_quick_run_writes_everything(name, place, tables, covary_command):
    loaded.cache_clear()
    fingerprint.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sklearn on tables with many copies
        code, out, err = covary_command(
            "reproduce", name, "--quick", "--data", tables, "-o", place, "-j", 2
        )
    assert code == 0, err
    stem = place / f"{name}-quick"
    document = json.loads(stem.with_suffix(".json").read_text())
    assert document["experiment"] == name
    assert document["sentences"]
    text = stem.with_suffix(".md").read_text()
    for table in document["tables"]:
        assert table["title"] in text
        assert table["title"].split()[0] in out
        assert all(len(row) == len(table["heads"]) for row in table["rows"])
    told = json.dumps(document["tables"])
    assert all(f'"{method}"' in told for method in METHODS)
    picture = stem.with_suffix(".svg").read_text()
    assert picture.startswith("<svg")
    assert "row of the table" not in picture  # a picture of the rows, not what their cells hold
    assert stem.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    assert not list(place.glob("*.partial"))
    assert "Nothing to cite" in out
    assert "Nothing to cite" in text
    if name in ("clustering", "outliers", "crime", "energy"):
        assert "not the table" in err
        assert "**Not the published tables**" in text
        assert not any(table["published"] for table in document["run"]["tables"].values())
    if name != "runtime":  # which is of times
        the_same_again(find_experiment(name)(quick=True, data=tables), place)


def the_same_again(experiment, place):
    """Run some trials in this process: they give what they gave in others."""
    known = TrialFile(place / f"{experiment.pool}.trials", experiment.seed).read()
    trials = experiment.trials()
    for trial in (trials[0], trials[len(trials) // 2], trials[-1]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert json.loads(json.dumps(experiment.run(trial))) == known[key_of(trial)].result


def test_another_seed_draws_other_tables():
    recipe = Recipe(50, 4, "f2", 0.5, False)
    assert not np.array_equal(related(recipe, 1, 0), related(recipe, 2, 0))
    assert not np.array_equal(related(recipe, 1, 0), related(recipe, 1, 1))


def test_help_names_every_experiment(covary_command):
    code, out, _ = covary_command("reproduce", "--help")
    assert code == 0
    assert all(name in out for name in NAMES)


def test_an_unknown_experiment_is_a_misuse(covary_command):
    code, _, err = covary_command("reproduce", "power-dimensions")
    assert code == 2
    assert "power-dimension" in err
    with pytest.raises(CovaryError, match="Did you mean 'beta'"):
        find_experiment("betas")


def test_a_table_that_is_not_there_is_told_in_one_line(tmp_path, covary_command):
    code, _, err = covary_command(
        "reproduce", "clustering", "--data", tmp_path, "-o", tmp_path / "out"
    )
    assert code == 1
    assert "optdigits.csv.gz" in err
    assert "Traceback" not in err
    assert err.count("\n") == 1


def test_all_missing_tables_are_told_before_anything_is_done(tables, tmp_path, covary_command):
    code, _, err = covary_command("reproduce", "all", "--data", tables, "-o", tmp_path / "out")
    assert code == 1
    for name in ("optdigits", "letter", "ann_thyroid"):
        assert f"{name}.csv.gz" in err
    assert "waveform.csv.gz" not in err
    assert not (tmp_path / "out").exists()
    code, _, err = covary_command("reproduce", "crime", "--data", tmp_path / "nowhere")
    assert code == 1
    assert "there is no folder" in err


def test_a_folder_that_cannot_be_made(tmp_path, covary_command):
    (tmp_path / "file").write_text("")
    code, _, err = covary_command("reproduce", "runtime", "--quick", "-o", tmp_path / "file/out")
    assert code == 1
    assert "cannot write" in err
    assert err.count("\n") == 1


# ------------------------------------------------------------------ going on


def small(seed=1):
    class Small(PowerDimension):
        def comparisons(self):
            return super().comparisons()[:1]

    return Small(quick=True, seed=seed)


def test_what_is_done_is_not_done_again(tmp_path):
    experiment = small()
    path = tmp_path / "power.trials"
    whole = run_trials(experiment, path, 1)
    with sqlite3.connect(path) as file:
        file.execute("DELETE FROM trials WHERE rowid % 4 != 0")
        n_left = file.execute("SELECT COUNT(*) FROM trials").fetchone()[0]
    done = []
    again = run_trials(experiment, path, 1, on_progress=lambda n, total: done.append((n, total)))
    assert done[0] == (n_left, len(experiment.trials()))
    assert done[-1] == (len(experiment.trials()),) * 2
    for trial in experiment.trials():
        assert again.results[trial] == whole.results[trial]
    # Nothing is left to do: no worker is started.
    run_trials(experiment, path, 1, on_progress=lambda *_: pytest.fail("worked again"))


def test_trials_of_another_seed_are_refused(tmp_path):
    path = tmp_path / "power.trials"
    TrialFile(path, seed=1)
    with pytest.raises(CovaryError, match="with seed 1: name another folder with --output"):
        TrialFile(path, seed=2)
    path.write_text("something else\n" * 100)
    with pytest.raises(CovaryError, match="--output"):
        TrialFile(path, 1)


def test_an_empty_file_is_one_without_trials(tmp_path):
    path = tmp_path / "power.trials"
    path.write_bytes(b"")
    assert TrialFile(path, 1).read() == {}


def test_a_result_that_is_no_result_is_refused(tmp_path):
    path = tmp_path / "power.trials"
    TrialFile(path, 1)
    with sqlite3.connect(path) as file:
        file.execute("INSERT INTO trials VALUES ('[]', '{not json', 1.0, '', '')")
    with pytest.raises(CovaryError, match="--output"):
        TrialFile(path, 1).read()


def test_two_runs_share_a_file(tmp_path):
    path = tmp_path / "power.trials"
    one, other = TrialFile(path, 1), TrialFile(path, 1)
    for at in range(20):
        file = (one, other)[at % 2]
        file.write({f"[{at}]": Done({"uds": 0.1 + at}, 1.0, "2026-01-01", "a machine")})
    assert one.read() == other.read()
    assert len(one.read()) == 20


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(CovaryError, match="cannot write"):
        TrialFile(tmp_path / "nowhere" / "power.trials", 1)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX systems")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_goes_on(number, tmp_path):
    command = [sys.executable, "-m", "covary", "reproduce", "power-mixed", "--quick", "-j", "1"]
    command += ["-o", str(tmp_path)]
    process = subprocess.Popen(
        command, start_new_session=True, stderr=subprocess.PIPE, preexec_fn=listening
    )
    path = tmp_path / "power.trials"
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until and known(path) < 5:
            time.sleep(0.05)
    finally:
        os.killpg(process.pid, number)
        told = process.communicate()[1].decode()
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert "the same command goes on" in told
    before = known(path)
    assert before >= 5
    experiment = PowerMixed(quick=True)
    assert before < len(experiment.trials())
    done = []
    again = run_trials(experiment, path, 2, on_progress=lambda n, total: done.append(n))
    assert done[0] >= before
    for trial in experiment.trials()[::40]:
        assert again.results[trial] == experiment.run(trial)


def listening():
    """Hear an interrupt, even if whoever runs the tests does not."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def known(path):
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as file:
        try:
            return file.execute("SELECT COUNT(*) FROM trials").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


def test_trials_of_another_table_are_done_anew(tables, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    with gzip.open(tables / "wdbc.csv.gz", "rt") as file:
        head, first, *rest = file.read().splitlines()
    with gzip.open(other / "wdbc.csv.gz", "wt") as file:
        file.write("\n".join([head, *rest, first]) + "\n")
    experiment = find_experiment("outliers")
    ones = experiment(quick=True, data=tables).trials()
    assert not set(ones) & set(experiment(quick=True, data=other).trials())


def test_a_table_without_classes_is_told(tmp_path, covary_command):
    written(tmp_path, "wdbc", {"a": [1, 2, 3], "b": [2, 3, 1]})
    code, _, err = covary_command(
        "reproduce", "outliers", "--quick", "--data", tmp_path, "-o", tmp_path, "-j", 1
    )
    assert code == 1
    assert "no classes" in err


# ------------------------------------------------------------------ what is drawn


def shape_of(function, w):
    return {
        "f1": 2 * w + 1,
        "f2": w * w - 2 * w,
        "f3": np.log(np.abs(w) + 1),
        "f4": np.sin(2 * w),
    }[function]


@pytest.mark.parametrize("independent", [False, True])
def test_half_of_the_columns_are_functions_of_the_other_half(independent):
    n, given = 8, 4
    # Without noise f1 is linear: that tells B, which is the same for all functions.
    table = related(Recipe(400, n, "f1", 0.0, independent), 3, 0)
    design = np.column_stack([table[:, :given], np.ones(400)])
    solved, *_ = np.linalg.lstsq(design, table[:, given:], rcond=None)
    assert np.allclose(solved[-1], 1.0)
    b = solved[:-1].T / 2
    assert b.min() >= 0
    assert b.max() <= 0.5
    for function in ("f2", "f3", "f4"):
        other = related(Recipe(400, n, function, 0.0, independent), 3, 7)
        assert np.allclose(other[:, given:], shape_of(function, other[:, :given] @ b.T))


def test_noise_has_its_standard_deviation():
    quiet = related(Recipe(4000, 6, "f3", 0.0, False), 3, 0)
    loud = related(Recipe(4000, 6, "f3", 1.7, False), 3, 0)
    # Tables of another noise are drawn apart: only the spread can be compared.
    assert loud[:, 3:].var(axis=0) - quiet[:, 3:].var(axis=0) == pytest.approx(1.7**2, rel=0.15)


def test_given_columns_depend_on_each_other_unless_they_are_independent():
    together = np.corrcoef(related(Recipe(4000, 20, "f1", 1.0, False), 3, 0)[:, :10].T)
    apart = np.corrcoef(related(Recipe(4000, 20, "f1", 1.0, True), 3, 0)[:, :10].T)
    off = ~np.eye(10, dtype=bool)
    assert together[off].mean() > 0.5
    assert np.abs(apart[off]).max() < 0.08


def test_unrelated_columns_are_unrelated_and_have_the_same_values():
    recipe = Recipe(4000, 10, "f2", 0.5, False)
    table = unrelated(recipe, 3, 0)
    correlations = np.corrcoef(table.T)[~np.eye(10, dtype=bool)]
    assert np.abs(correlations).max() < 0.08
    other = related(recipe, 3, 0)
    for one, two in zip(np.sort(table, axis=0).T, np.sort(other, axis=0).T, strict=True):
        assert np.abs(one - two).mean() < 0.15 * two.std()


def test_unrelated_tables_of_one_function_stand_for_all_where_ranks_decide():
    from scipy.stats import ks_2samp

    scores = {
        recipe: [covary.score(unrelated(recipe, 3, number)) for number in range(60)]
        for recipe in (Recipe(200, 6, "f1", 0.5, False), Recipe(200, 6, "f4", 2.0, True))
    }
    assert max(map(max, scores.values())) > 0
    assert ks_2samp(*scores.values()).pvalue > 0.001


@pytest.mark.parametrize("experiment", [PowerDimension(), PowerExtra(), PowerMixed(), Beta()])
def test_full_runs_are_of_the_size_that_the_paper_has(experiment):
    for each in experiment.comparisons():
        assert len(each.related) == len(each.unrelated) == 100
        assert {drawn.recipe.rows for drawn in (*each.related, *each.unrelated)} == {4000}
    sizes = {drawn.recipe.columns for each in experiment.comparisons() for drawn in each.related}
    if experiment.name == "power-mixed":
        assert min(sizes) >= 2
        assert max(sizes) <= 50
        assert len(sizes) > 30
    else:
        assert 20 in sizes


def test_extra_columns_come_in_both_directions():
    sizes = {
        (each.related[0].recipe.columns, each.unrelated[0].recipe.columns)
        for each in PowerExtra().comparisons()
    }
    assert {(20, 40), (20, 60), (20, 80), (40, 20), (60, 20), (80, 20)} == sizes


# ------------------------------------------------------------------ what is computed


def test_power_is_the_share_above_what_chance_exceeds_in_one_of_twenty():
    chance = list(range(100))
    assert power_of([95.5, 96], chance) == 1.0
    assert power_of([95, 95.5], chance) == 0.5
    # One more by chance is above in 5 of 101.
    assert power_of(chance, chance) == 0.04
    # Scores that are all 0 by chance: above it is above 0.
    assert power_of([0.0, 0.0, 0.1], [0.0] * 100) == pytest.approx(1 / 3)


def naive_f1(clusters, classes):
    """The mean over classes of F1 of the union of the clusters that stand for it."""
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
    assert f1(clusters, classes) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(20))
def test_clusters_that_larger_sets_cover_are_left_out(seed):
    rng = np.random.default_rng(seed)
    sets = [frozenset({0}), frozenset({0, 1}), frozenset({1, 2}), frozenset({0, 1, 2})]
    found = [Clustered(columns, rng.integers(-1, 3, 12)) for columns in sets]
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
    assert [rows.tolist() for rows in without_redundant(found)] == expected


def test_rows_that_coincide_are_clustered_as_if_they_were_single():
    from sklearn.cluster import DBSCAN

    rng = np.random.default_rng(0)
    points = rng.integers(0, 8, (300, 2)) / 7
    for (k, share), labels in dbscans(points).items():
        distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
        reach = np.quantile(np.sort(distances, axis=1)[:, k - 1], share)
        direct = DBSCAN(eps=max(reach + 1e-6, 1e-12), min_samples=k).fit(points).labels_
        same = labels[:, None] == labels[None]
        noise = labels < 0
        assert np.array_equal(noise, direct < 0)
        core = ~noise
        assert np.array_equal(
            same[np.ix_(core, core)], (direct[:, None] == direct[None])[np.ix_(core, core)]
        )


def test_outliers_are_a_tenth_of_the_smallest_class():
    labels = np.array(["a"] * 200 + ["b"] * 50 + ["c"] * 80)
    outliers, others = drawn(labels, 1, 0)
    assert outliers.sum() == 5
    assert set(labels[outliers]) == {"b"}
    assert np.array_equal(others, labels != "b")
    assert not np.array_equal(outliers, drawn(labels, 1, 1)[0])
    assert np.array_equal(outliers, drawn(labels, 1, 0)[0])


def test_of_equal_classes_each_has_its_turn():
    labels = np.array(["a"] * 50 + ["b"] * 50)
    assert {labels[drawn(labels, 1, draw)[0]][0] for draw in range(20)} == {"a", "b"}


def test_outlier_factors_are_those_of_scikit_learn():
    from sklearn.neighbors import LocalOutlierFactor

    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 3)) * [1.0, 10.0, 0.1]
    table = varying("t", ["a", "b", "c"], values, np.array(["x"] * 200))
    factors = outlier_factors(table, [[0, 2], [1]])
    points = (values - values.min(axis=0)) / np.ptp(values, axis=0)
    for found, k in zip(factors, (10, 20, 50), strict=True):
        for at, columns in enumerate([[0, 2], [1]]):
            direct = LocalOutlierFactor(n_neighbors=k).fit(points[:, columns])
            assert found[at] == pytest.approx(-direct.negative_outlier_factor_)


def test_a_mean_of_ranks_does_not_mind_how_far_out_a_row_is():
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


def test_every_method_finds_sets_and_so_do_the_baselines():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    values = np.column_stack([x, x**2, rng.normal(size=(300, 3)), np.zeros(300)])
    table = varying("t", [f"x{at}" for at in range(6)], values, np.array(["a"] * 300))
    assert table.columns == ["x0", "x1", "x2", "x3", "x4"]
    for method in METHODS:
        best = set(found_sets(table, method, 1)[0])
        assert {0, 1} <= best, method
        # Some methods score higher, the more columns there are.
        assert len(best) < 5 or method in ("uds-unregularized", "cmi", "total-correlation"), method
    assert found_sets(table, "all columns", 1) == [[0, 1, 2, 3, 4]]
    drawn_sets = found_sets(table, "random sets", 1)
    assert len(drawn_sets) == 20
    assert all(len(set(each)) == len(each) >= 2 for each in drawn_sets)
    assert drawn_sets != found_sets(table, "random sets", 1, draw=1)
    assert drawn_sets != found_sets(table._replace(name="u"), "random sets", 1)


def test_ranks_are_means_over_tables():
    ours = {method: [0.1 * at, 0.5] for at, method in enumerate(METHODS)}
    quality = Quality("AUC", ["one", "two"], ours, {"uds": [0.1, 0.2]})
    ranks = quality.places()
    assert ranks["total-correlation"] == (1 + 4.5) / 2  # all are equal on the second
    assert ranks["uds-chance"] == (8 + 4.5) / 2
    table = quality.sheet()
    assert table.rows[-1][0] == "uds, in the paper"
    assert table.rows[-1][-2] == pytest.approx(0.15)


def test_tables_on_which_no_method_is_near_the_paper_are_named():
    paper = {"uds": [0.5, 0.9, 0.3, 0.5], "mac": [0.5, 0.8, 0.2, 0.4]}
    ours = {
        "uds": [0.5, 0.7, 0.5, 0.4],
        "mac": [0.4, 0.7, 0.6, 0.4],
        "all columns": [0.5, 0.75, 0.5, 0.41],
    }
    told = apart(Quality("F1", ["near", "below", "above", "almost"], ours, paper))
    assert "below the paper's UDS on below and" in told
    assert "above the paper's best on above:" in told
    assert apart(Quality("F1", ["near"], {"uds": [0.5]}, {"uds": [0.5]})) == ""
    assert apart(Quality("F1", ["other"], {"uds": [0.5]}, {})) == ""


def test_sizes_tell_columns_of_a_set_and_of_all():
    experiment = Clustering(quick=True)
    sets = [["a", "b"], ["b", "c", "d"]]
    known = Results({key_of(trial): {"sets": sets} for trial in experiment.trials()})
    of_one, of_all = experiment.sizes(known)
    assert of_one.rows[0] == ["uds-chance", 2.5]
    assert of_all.rows[0] == ["uds-chance", 4.0]


def test_random_sets_are_as_good_as_so_many_methods():
    scores = [0.5, 0.604, 0.61, 0.2, 0.9, 0.9, 0.9, 0.6]
    ours = {method: [score, score] for method, score in zip(METHODS, scores, strict=True)}
    half = Quality("F1", ["one", "two"], {**ours, "random sets": [0.5, 0.7]}, {})
    told = against_random([half])
    assert "at least as good as 4 of 8 methods (F1)." in told
    assert "we think" not in told
    most = half._replace(what="AUC", ours={**half.ours, "random sets": [0.61, 0.61]})
    told = against_random([half, most])
    assert "4 of 8 methods (F1); 5 of 8 methods (AUC)." in told
    assert "we think" in told


def test_which_is_best_how_often():
    ours = {method: [0.1, 0.1, 0.1] for method in (*METHODS, "random sets")}
    ours |= {"uds": [0.5, 0.2, 0.3], "mac": [0.5, 0.4, 0.2], "mcde": [0.6, 0.4, 0.1]}
    ours["random sets"] = [0.1, 0.4, 0.2]
    assert verdict(Quality("F1", ["a", "b", "c"], ours, {})) == (
        "`uds` is best among the paper's methods on 2 of 3; of all methods, `mcde` is best most "
        "often, on 2; sets drawn at random are at least as good as all on 1."
    )


def test_a_table_with_one_class_is_refused(tmp_path):
    rows = np.arange(200.0)
    written(tmp_path, "wdbc", {"x": rows, "y": rows**2, "label": ["a"] * 200})
    with pytest.raises(CovaryError, match="no classes, or only one"):
        Clustering(quick=True, data=tmp_path).table("wdbc")


# ------------------------------------------------------------------ what is written


def test_a_table_in_markdown():
    table = Sheet("t", ["a|b", "n"], [["x|y", 1.0], [None, None]], digits=1)
    assert markdown_table(table).split("\n") == [
        r"| a\|b |   n |",
        "| ---- | --: |",
        r"| x\|y | 1.0 |",
        "| -    |   - |",
    ]


def test_no_name_becomes_markup():
    table = Sheet("t", ["name"], [["<img src=x>\n| `x` [a](b)"]])
    row = markdown_table(table).split("\n")[2:]
    assert row == [r"| &lt;img src=x&gt; \| \`x\` \[a\](b) |"]


# ------------------------------------------------------------------ what is said


def crime_sentences(tables, significant):
    experiment = find_experiment("crime")(quick=True, data=tables)
    best = {"columns": list(EDUCATION), "score": 0.5, "pvalue": 0.01, "family_pvalue": None}
    known = {}
    for trial in experiment.trials():
        kind, _, method, *_ = trial
        pvalue = 0.01 if method in significant else 0.5
        about = {"score": 0.5, "pvalue": pvalue, "as_high": 0.01, "rank": 3, "of": 9}
        known[key_of(trial)] = {"all": [best], "larger": [best]} if kind == "search" else about
    return " ".join(experiment.findings(Results(known)).sentences)


@pytest.mark.parametrize(
    ("significant", "told"),
    [
        (("uds", "mac"), "alone detect it is what we see"),
        (("uds", "mac", "uds-chance"), "alone detect it is what we see"),
        (("uds", "mac", "hics"), "alone detect it is not what we see"),
        (("mac",), "alone detect it is not what we see"),
        ((), "alone detect it is not what we see"),
    ],
)
def test_what_is_said_of_the_set_of_the_paper(tables, significant, told):
    loaded.cache_clear()
    assert told in crime_sentences(tables, significant)


def test_where_no_larger_set_adds_anything_that_is_said(tables):
    loaded.cache_clear()
    experiment = find_experiment("energy")(quick=True, data=tables)
    known = {}
    for trial in experiment.trials():
        columns = ["T1", "T2"] if trial[1] == "appliances_energy" else ["part_0", "part_1"]
        pair = {"columns": columns, "score": 0.5, "pvalue": 0.01, "family_pvalue": None}
        known[key_of(trial)] = {"all": [pair], "larger": []}
    sentences = experiment.findings(Results(known)).sentences
    assert sum("No set of more than two columns adds anything" in each for each in sentences) == 2


def test_methods_without_power_are_named_with_where():
    rows = [
        {"setting": setting, "f": function, **dict.fromkeys(METHODS, power)}
        for setting, function, power in (("a", "f1", 0.9), ("a", "f2", 0.05), ("b", "f1", 0.0))
    ]
    rows.append({**rows[1], "mac": 0.06})
    rows.append({**rows[2], "uds": 0.3})
    rows.append({**rows[2], "f": "f3"})
    found = without_power(rows)
    assert found["mac"] == ["f1, f3 (b)"]
    assert found["uds"] == ["f2 (a)", "f3 (b)"]
    assert found["total-correlation"] == ["f2 (a)", "f1, f3 (b)"]
    assert "cmi" not in found  # we cannot say why
    assert against(rows, "uds", ["mac", "cmi"]) == (1, 4, 1)


def test_a_seed_that_no_file_can_hold_is_refused(covary_command, tmp_path):
    code, _, err = covary_command(
        "reproduce", "runtime", "--quick", "-o", tmp_path, "--seed", 2**63
    )
    assert code == 2
    assert "--seed" in err


def test_panels_are_far_enough_apart_for_their_names():
    def spacing(n_across, name):
        cells = [
            {"row": "a", "value": 0.5, "x": at, "panel": panel}
            for at in range(n_across)
            for panel in (name, "b")
        ]
        return tiles("t", cells, across="x", rows=["a"], panels="panel")["spacing"]

    assert spacing(6, "short") == 12
    assert 38 + spacing(1, "a name of 20 letters") >= 7 * 20


# ------------------------------------------------------------------ what is committed


def committed(name):
    return json.loads((COMMITTED / f"{name}.json").read_text())


@pytest.mark.parametrize("name", NAMES)
def test_full_results_are_there_with_their_command(name):
    document = committed(name)
    assert document["quick"] is False
    assert document["seed"] == SEED
    assert document["notes"][-1] == METHODS_NOTE
    assert all(table["published"] for table in document["run"]["tables"].values())
    text = (COMMITTED / f"{name}.md").read_text()
    assert all(html.escape(each, quote=False) in text for each in document["sentences"])
    assert f"`{document['run']['command']}`" in text
    for fact in ("date", "machine", "covary"):
        assert document["run"][fact] in text
    for ending in ("svg", "png"):
        assert (COMMITTED / f"{name}.{ending}").stat().st_size > 0


def rows_of(name, title):
    table = next(t for t in committed(name)["tables"] if t["title"] == title)
    rows = [dict(zip(table["heads"], row, strict=True)) for row in table["rows"]]
    return [row for row in rows if row["f"] != "mean"]


def test_the_power_that_is_claimed():
    paper = rows_of("power-dimension", "Power: the paper's setting")
    usual = [row for row in paper if row["noise"] == 0.5]
    assert {row["columns"] for row in usual} == {20, 40, 60, 80}
    assert min(row["uds"] for row in usual) >= 0.95
    assert min(row["uds-chance"] for row in paper) >= 0.95
    for function in ("f3", "f4"):
        rows = [row for row in paper if row["f"] == function]
        assert sum(row["uds"] for row in rows) > sum(row["uds-unregularized"] for row in rows)
    hard = rows_of("power-dimension", "Power: independent X")
    means = {method: np.mean([row[method] for row in hard]) for method in METHODS}
    assert all(means["uds-chance"] > means[m] for m in METHODS if m != "uds-chance")


@dataclass(frozen=True)
class OneComparison(PowerDimension):
    """That of f3 with much noise, where powers are anything from 0 to 1."""

    def comparisons(self):
        labels = {"setting": PAPER, "f": "f3", "noise": 2.0, "columns": 20}
        return [each for each in super().comparisons() if each.labels == labels]


@pytest.mark.slow
def test_the_same_seed_gives_the_powers_that_are_committed(tmp_path):
    experiment = OneComparison()
    ran = run_trials(experiment, tmp_path / "power.trials", 2)
    (found,) = experiment.powers(ran.results)
    rows = rows_of("power-dimension", "Power: the paper's setting")
    (row,) = (r for r in rows if all(r[k] == found[k] for k in ("f", "noise", "columns")))
    assert {method: found[method] for method in METHODS} == {m: row[m] for m in METHODS}


@pytest.mark.slow
def test_the_same_seed_gives_the_sets_that_are_committed(real_tables):
    experiment = find_experiment("energy")(data=real_tables)
    trial = experiment.trial("search", "energy_efficiency", "uds-chance")
    found = experiment.run(trial)["all"]
    title = "Energy efficiency: the best sets of uds-chance"
    table = next(t for t in committed("energy")["tables"] if t["title"] == title)
    assert [
        [", ".join(each["columns"]), each["score"], each["pvalue"], each["family_pvalue"]]
        for each in found
    ] == table["rows"]
