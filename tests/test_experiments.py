"""Experiments: the command, interrupted runs and trial files."""

from __future__ import annotations

import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import warnings
from contextlib import closing

import numpy as np
import pytest

from covary.errors import CovaryError
from covary.reproduction.experiments import NAMES, find_experiment
from covary.reproduction.experiments.base import trial_key
from covary.reproduction.experiments.methods import METHODS
from covary.reproduction.experiments.power_dimension import PowerDimension
from covary.reproduction.experiments.power_mixed import PowerMixed
from covary.reproduction.experiments.real_tables import fingerprint, load_cached
from covary.reproduction.experiments.running import run_trials
from covary.reproduction.experiments.synthetic_tables import Design, related_table
from covary.reproduction.experiments.trial_file import TrialFile, TrialRecord
from experiment_tables import write_example_tables, write_table


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    write_example_tables(folder)
    return folder


@pytest.fixture(scope="module")
def output_folder(tmp_path_factory):
    """Return one folder for all quick runs, because power experiments share trials."""
    return tmp_path_factory.mktemp("reproduction")


# ------------------------------------------------------------------ the command


@pytest.mark.parametrize("name", NAMES)
def test_a_quick_run_writes_all_files(name, output_folder, tables, covary_command):
    load_cached.cache_clear()
    fingerprint.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns about many equal rows
        code, out, err = covary_command(
            "reproduce", name, "--quick", "--data", tables, "-o", output_folder, "-j", 2
        )
    assert code == 0, err
    stem = output_folder / f"{name}-quick"
    document = json.loads(stem.with_suffix(".json").read_text())
    assert document["experiment"] == name
    assert document["sentences"]
    text = stem.with_suffix(".md").read_text()
    for table in document["tables"]:
        assert table["title"] in text
        assert table["title"].split()[0] in out
        assert all(len(row) == len(table["heads"]) for row in table["rows"])
    results = json.dumps(document["tables"])
    assert all(f'"{method}"' in results for method in METHODS)
    figure = stem.with_suffix(".svg").read_text()
    assert figure.startswith("<svg")
    assert "row of the table" not in figure  # the file must not publish the cells
    assert stem.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    assert not list(output_folder.glob("*.partial"))
    assert "Do not cite" in out
    assert "Do not cite" in text
    if name in ("clustering", "outliers", "crime", "energy"):
        assert "not the table" in err
        assert "tables differ from those of the published results" in text
        assert not any(table["published"] for table in document["run"]["tables"].values())
    if name != "runtime":  # times vary
        assert_same_results(find_experiment(name)(quick=True, data=tables), output_folder)


def assert_same_results(experiment, folder):
    """Check that some trials have the same results in this process."""
    records = TrialFile(folder / f"{experiment.trial_group}.trials", experiment.seed).read()
    trials = experiment.trials()
    for trial in (trials[0], trials[len(trials) // 2], trials[-1]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert (
                json.loads(json.dumps(experiment.run(trial))) == records[trial_key(trial)].result
            )


def test_tables_depend_on_seed_and_number():
    design = Design(50, 4, "f2", 0.5, False)
    assert not np.array_equal(related_table(design, 1, 0), related_table(design, 2, 0))
    assert not np.array_equal(related_table(design, 1, 0), related_table(design, 1, 1))


def test_help_names_every_experiment(covary_command):
    code, out, _ = covary_command("reproduce", "--help")
    assert code == 0
    assert all(name in out for name in NAMES)


def test_an_unknown_experiment_is_a_usage_error(covary_command):
    code, _, err = covary_command("reproduce", "power-dimensions")
    assert code == 2
    assert "power-dimension" in err
    with pytest.raises(CovaryError, match="Did you mean 'beta'"):
        find_experiment("betas")


def test_a_missing_table_is_reported_in_one_line(tmp_path, covary_command):
    code, _, err = covary_command(
        "reproduce", "clustering", "--data", tmp_path, "-o", tmp_path / "out"
    )
    assert code == 1
    assert "optdigits.csv.gz" in err
    assert "Traceback" not in err
    assert err.count("\n") == 1


def test_all_missing_tables_are_reported_before_any_trial(tables, tmp_path, covary_command):
    code, _, err = covary_command("reproduce", "all", "--data", tables, "-o", tmp_path / "out")
    assert code == 1
    for name in ("optdigits", "letter", "ann_thyroid"):
        assert f"{name}.csv.gz" in err
    assert "waveform.csv.gz" not in err
    assert not (tmp_path / "out").exists()
    code, _, err = covary_command("reproduce", "crime", "--data", tmp_path / "nowhere")
    assert code == 1
    assert "there is no folder" in err


def test_an_output_folder_that_cannot_be_created(tmp_path, covary_command):
    (tmp_path / "file").write_text("")
    code, _, err = covary_command("reproduce", "runtime", "--quick", "-o", tmp_path / "file/out")
    assert code == 1
    assert "cannot write" in err
    assert err.count("\n") == 1


def test_a_seed_too_large_for_the_trial_file_is_refused(covary_command, tmp_path):
    code, _, err = covary_command(
        "reproduce", "runtime", "--quick", "-o", tmp_path, "--seed", 2**63
    )
    assert code == 2
    assert "--seed" in err


# ------------------------------------------------------------------ resuming


def small_experiment(seed=1):
    class Small(PowerDimension):
        def comparisons(self):
            return super().comparisons()[:1]

    return Small(quick=True, seed=seed)


def test_finished_trials_do_not_run_again(tmp_path):
    experiment = small_experiment()
    path = tmp_path / "power.trials"
    first = run_trials(experiment, path, 1)
    with sqlite3.connect(path) as file:
        file.execute("DELETE FROM trials WHERE rowid % 4 != 0")
        n_finished = file.execute("SELECT COUNT(*) FROM trials").fetchone()[0]
    done = []
    again = run_trials(experiment, path, 1, on_progress=lambda n, total: done.append((n, total)))
    assert done[0] == (n_finished, len(experiment.trials()))
    assert done[-1] == (len(experiment.trials()),) * 2
    for trial in experiment.trials():
        assert again.results[trial] == first.results[trial]
    # All trials are finished: no worker starts.
    run_trials(experiment, path, 1, on_progress=lambda *_: pytest.fail("a trial ran again"))


def test_trials_of_another_seed_are_refused(tmp_path):
    path = tmp_path / "power.trials"
    TrialFile(path, seed=1)
    with pytest.raises(CovaryError, match="with seed 1: choose another folder with --output"):
        TrialFile(path, seed=2)
    path.write_text("something else\n" * 100)
    with pytest.raises(CovaryError, match="--output"):
        TrialFile(path, 1)


def test_an_empty_file_has_no_trials(tmp_path):
    path = tmp_path / "power.trials"
    path.write_bytes(b"")
    assert TrialFile(path, 1).read() == {}


def test_an_invalid_result_is_refused(tmp_path):
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
        file.write({f"[{at}]": TrialRecord({"uds": 0.1 + at}, 1.0, "2026-01-01", "a machine")})
    assert one.read() == other.read()
    assert len(one.read()) == 20


def test_a_trial_file_in_a_missing_folder(tmp_path):
    with pytest.raises(CovaryError, match="cannot write"):
        TrialFile(tmp_path / "nowhere" / "power.trials", 1)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX systems")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_resumes(number, tmp_path):
    command = [sys.executable, "-m", "covary", "reproduce", "power-mixed", "--quick", "-j", "1"]
    command += ["-o", str(tmp_path)]
    process = subprocess.Popen(
        command, start_new_session=True, stderr=subprocess.PIPE, preexec_fn=enable_interrupts
    )
    path = tmp_path / "power.trials"
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and count_trials(path) < 5:
            time.sleep(0.05)
    finally:
        os.killpg(process.pid, number)
        message = process.communicate()[1].decode()
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert "run the same command again" in message
    before = count_trials(path)
    assert before >= 5
    experiment = PowerMixed(quick=True)
    assert before < len(experiment.trials())
    done = []
    again = run_trials(experiment, path, 2, on_progress=lambda n, total: done.append(n))
    assert done[0] >= before
    for trial in experiment.trials()[::40]:
        assert again.results[trial] == experiment.run(trial)


def enable_interrupts():
    """Enable interrupts, even if the test process ignores them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def count_trials(path):
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as file:
        try:
            return file.execute("SELECT COUNT(*) FROM trials").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


def test_trials_of_another_table_run_again(tables, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    with gzip.open(tables / "wdbc.csv.gz", "rt") as file:
        head, first, *rest = file.read().splitlines()
    with gzip.open(other / "wdbc.csv.gz", "wt") as file:
        file.write("\n".join([head, *rest, first]) + "\n")
    experiment = find_experiment("outliers")
    trials = experiment(quick=True, data=tables).trials()
    assert not set(trials) & set(experiment(quick=True, data=other).trials())


def test_a_table_without_classes_is_refused(tmp_path, covary_command):
    write_table(tmp_path, "wdbc", {"a": [1, 2, 3], "b": [2, 3, 1]})
    code, _, err = covary_command(
        "reproduce", "outliers", "--quick", "--data", tmp_path, "-o", tmp_path, "-j", 1
    )
    assert code == 1
    assert "fewer than two classes" in err
