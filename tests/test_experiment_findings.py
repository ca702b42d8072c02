"""Experiments: Markdown, sentences, charts and the committed results."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from covary.reproduction.experiments import NAMES, SEED, ResultTable, find_experiment
from covary.reproduction.experiments.base import Results, trial_key
from covary.reproduction.experiments.charts import heatmap
from covary.reproduction.experiments.crime import EDUCATION
from covary.reproduction.experiments.methods import METHODS, METHODS_NOTE
from covary.reproduction.experiments.power_dimension import (
    PowerDimension,
    count_wins,
    powerless_settings,
)
from covary.reproduction.experiments.power_experiment import PAPER
from covary.reproduction.experiments.real_tables import load_cached
from covary.reproduction.experiments.running import run_trials
from covary.reproduction.experiments.writing import markdown_table
from experiment_tables import write_example_tables

COMMITTED = Path(__file__).parents[1] / "docs" / "reproduction"


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    write_example_tables(folder)
    return folder


# ------------------------------------------------------------------ Markdown


def test_a_table_in_markdown():
    table = ResultTable("t", ["a|b", "n"], [["x|y", 1.0], [None, None]], digits=1)
    assert markdown_table(table).split("\n") == [
        r"| a\|b |   n |",
        "| ---- | --: |",
        r"| x\|y | 1.0 |",
        "| -    |   - |",
    ]


def test_names_are_escaped():
    table = ResultTable("t", ["name"], [["<img src=x>\n| `x` [a](b)"]])
    row = markdown_table(table).split("\n")[2:]
    assert row == [r"| &lt;img src=x&gt; \| \`x\` \[a\](b) |"]


# ------------------------------------------------------------------ sentences and charts


def crime_sentences(tables, significant):
    experiment = find_experiment("crime")(quick=True, data=tables)
    best = {"columns": list(EDUCATION), "score": 0.5, "pvalue": 0.01, "family_pvalue": None}
    results = {}
    for trial in experiment.trials():
        kind, _, method, *_ = trial
        pvalue = 0.01 if method in significant else 0.5
        assessment = {"score": 0.5, "pvalue": pvalue, "as_high": 0.01, "rank": 3, "of": 9}
        results[trial_key(trial)] = (
            {"all": [best], "larger": [best]} if kind == "search" else assessment
        )
    return " ".join(experiment.findings(Results(results)).sentences)


@pytest.mark.parametrize(
    ("significant", "expected"),
    [
        (("uds", "mac"), "Our results confirm that only UDS and MAC"),
        (("uds", "mac", "uds-chance"), "Our results confirm that only UDS and MAC"),
        (("uds", "mac", "hics"), "Our results do not confirm that only UDS and MAC"),
        (("mac",), "Our results do not confirm that only UDS and MAC"),
        ((), "Our results do not confirm that only UDS and MAC"),
    ],
)
def test_sentence_about_the_set_of_the_paper(tables, significant, expected):
    load_cached.cache_clear()
    assert expected in crime_sentences(tables, significant)


def test_sentence_if_no_larger_set_adds_anything(tables):
    load_cached.cache_clear()
    experiment = find_experiment("energy")(quick=True, data=tables)
    results = {}
    for trial in experiment.trials():
        columns = ["T1", "T2"] if trial[1] == "appliances_energy" else ["part_0", "part_1"]
        pair = {"columns": columns, "score": 0.5, "pvalue": 0.01, "family_pvalue": None}
        results[trial_key(trial)] = {"all": [pair], "larger": []}
    sentences = experiment.findings(Results(results)).sentences
    assert sum("no set of at least three columns adds anything" in each for each in sentences) == 2


def test_settings_without_power_are_named():
    rows = [
        {"setting": setting, "f": function, **dict.fromkeys(METHODS, power)}
        for setting, function, power in (("a", "f1", 0.9), ("a", "f2", 0.05), ("b", "f1", 0.0))
    ]
    rows.append({**rows[1], "mac": 0.06})
    rows.append({**rows[2], "uds": 0.3})
    rows.append({**rows[2], "f": "f3"})
    found = powerless_settings(rows)
    assert found["mac"] == ["f1, f3 (b)"]
    assert found["uds"] == ["f2 (a)", "f3 (b)"]
    assert found["total-correlation"] == ["f2 (a)", "f1, f3 (b)"]
    assert "cmi" not in found  # it has no reason in REASONS
    assert count_wins(rows, "uds", ["mac", "cmi"]) == (1, 4, 1)


def test_panel_spacing_fits_the_panel_titles():
    def spacing(n_columns, name):
        cells = [
            {"row": "a", "value": 0.5, "x": at, "panel": panel}
            for at in range(n_columns)
            for panel in (name, "b")
        ]
        return heatmap("t", cells, x_field="x", rows=["a"], panel_field="panel")["spacing"]

    assert spacing(6, "short") == 12
    assert 38 + spacing(1, "a name of 20 letters") >= 7 * 20


# ------------------------------------------------------------------ committed results


def committed_document(name):
    return json.loads((COMMITTED / f"{name}.json").read_text())


@pytest.mark.parametrize("name", NAMES)
def test_committed_results_are_complete(name):
    document = committed_document(name)
    assert document["quick"] is False
    assert document["seed"] == SEED
    assert document["notes"][-1] == METHODS_NOTE
    assert all(table["published"] for table in document["run"]["tables"].values())
    text = (COMMITTED / f"{name}.md").read_text()
    assert all(html.escape(each, quote=False) in text for each in document["sentences"])
    assert f"`{document['run']['command']}`" in text
    for fact in ("date", "machine", "covary"):
        assert document["run"][fact] in text
    for suffix in ("svg", "png"):
        assert (COMMITTED / f"{name}.{suffix}").stat().st_size > 0


def committed_rows(name, title):
    table = next(t for t in committed_document(name)["tables"] if t["title"] == title)
    rows = [dict(zip(table["heads"], row, strict=True)) for row in table["rows"]]
    return [row for row in rows if row["f"] != "mean"]


def test_committed_powers_support_the_summary():
    paper = committed_rows("power-dimension", "Power: the paper's setting")
    low_noise = [row for row in paper if row["noise"] == 0.5]
    assert {row["columns"] for row in low_noise} == {20, 40, 60, 80}
    assert min(row["uds"] for row in low_noise) >= 0.95
    assert min(row["uds-chance"] for row in paper) >= 0.95
    for function in ("f3", "f4"):
        rows = [row for row in paper if row["f"] == function]
        assert sum(row["uds"] for row in rows) > sum(row["uds-unregularized"] for row in rows)
    independent = committed_rows("power-dimension", "Power: independent X")
    means = {method: np.mean([row[method] for row in independent]) for method in METHODS}
    assert all(means["uds-chance"] > means[m] for m in METHODS if m != "uds-chance")


@dataclass(frozen=True)
class OneComparison(PowerDimension):
    """The comparison of f3 with high noise, with powers between 0 and 1."""

    def comparisons(self):
        labels = {"setting": PAPER, "f": "f3", "noise": 2.0, "columns": 20}
        return [each for each in super().comparisons() if each.labels == labels]


@pytest.mark.slow
def test_the_committed_powers_are_reproducible(tmp_path):
    experiment = OneComparison()
    run = run_trials(experiment, tmp_path / "power.trials", 2)
    (found,) = experiment.powers(run.results)
    rows = committed_rows("power-dimension", "Power: the paper's setting")
    (row,) = (r for r in rows if all(r[k] == found[k] for k in ("f", "noise", "columns")))
    assert {method: found[method] for method in METHODS} == {m: row[m] for m in METHODS}


@pytest.mark.slow
def test_the_committed_sets_are_reproducible(real_tables):
    experiment = find_experiment("energy")(data=real_tables)
    trial = experiment.trial("search", "energy_efficiency", "uds-chance")
    found = experiment.run(trial)["all"]
    title = "Energy efficiency: best sets by uds-chance"
    table = next(t for t in committed_document("energy")["tables"] if t["title"] == title)
    assert [
        [", ".join(each["columns"]), each["score"], each["pvalue"], each["family_pvalue"]]
        for each in found
    ] == table["rows"]
