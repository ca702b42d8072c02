"""The command line: output, error messages and exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes

import covary
from covary.cli import output
from covary.cli.main import COMMANDS
from covary.correlation_scale import like_correlation
from covary.formatting import fraction_text, printable
from covary.measures import all_measures, find_measure


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["x,[bold]sign[/bold],noise,who"]
    lines += [f"{k / 7},{int(k >= 90)},{rng.random()},someone" for k in rng.permutation(300)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines))
    return path


def test_help_lists_every_command(covary_command):
    code, out, _ = covary_command("--help")
    assert code == 0
    for name in COMMANDS:
        assert f"  {name} " in out
    assert "Start with: covary demo" in out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(covary_command, name):
    code, out, _ = covary_command(name, "--help")
    assert code == 0
    assert out.startswith(f"Usage: covary {name}")


def test_version(covary_command):
    code, out, _ = covary_command("--version")
    assert (code, out) == (0, f"covary, version {covary.__version__}\n")


def test_explain_prints_score_and_steps(covary_command, table):
    code, out, err = covary_command(
        "explain", table, "-c", "x,[bold]sign[/bold]", "-m", "uds", "-s", "order=exact"
    )
    assert code == 0
    assert out.startswith("uds = 1.0000   (2 columns, 300 rows; x comes first")
    row = next(line for line in out.splitlines() if "[bold]sign[/bold]" in line)
    assert row.split()[:4] == ["[bold]sign[/bold]", "1.0000", "300", "x"], "names are not markup"
    assert err == ""


def test_explain_json_is_the_explanation(covary_command, table):
    code, out, err = covary_command("explain", table, "--json")
    found = json.loads(out)
    assert code == 0
    explanation = covary.explain(table)
    assert found["score"] == explanation.score
    assert found["order"] == list(explanation.order)
    assert [step["target"] for step in found["steps"]] == [s.target for s in explanation.steps]
    assert found["rows"] == 300
    assert err == "covary: note: left out: 'who' (a single level, 'someone' in all rows)\n"


def test_explain_with_a_measure_without_explanations_is_an_error(covary_command, table):
    code, out, err = covary_command("explain", table, "-c", "x,noise", "-m", "spearman")
    assert (code, out) == (1, "")
    assert "spearman" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("measure", ["uds-chance", "spearman"])
def test_score_prints_one_line(covary_command, table, measure):
    expected = covary.score(table, ["x", "noise"], measure=measure)
    reading = find_measure(measure).reading
    if measure == "uds-chance":
        reading = f"like a correlation of {like_correlation(expected):.2f}"
    code, out, err = covary_command("score", table, "-c", "x,noise", "-m", measure)
    assert (code, err) == (0, "")
    assert out == f"{measure} = {expected:.4f}   (2 columns, 300 rows; {reading})\n"


def test_score_json_has_measure_parameters_score_rows_and_columns(covary_command, table):
    expected = covary.score(table, ["x", "noise"], measure="spearman")
    code, out, _ = covary_command("score", table, "-c", "x,noise", "-m", "spearman", "--json")
    result = {"measure": "spearman", "parameters": {"aggregate": None}, "score": expected}
    result |= {"rows": 300, "columns": ["x", "noise"], "target": None, "given": []}
    assert (code, json.loads(out)) == (0, result)
    code, out, err = covary_command("score", table, "--json")
    assert code == 0
    assert json.loads(out) == {
        "measure": "uds-chance",
        "parameters": {"max_given": None},
        "score": covary.score(table),
        "rows": 300,
        "columns": ["x", "[bold]sign[/bold]", "noise"],
        "target": None,
        "given": [],
    }
    assert err == "covary: note: left out: 'who' (a single level, 'someone' in all rows)\n"


def test_score_accepts_parameters(covary_command, table):
    code, out, _ = covary_command(
        "score", table, "-c", "x,noise", "-m", "uds-unregularized", "-s", "beta=5", "-s",
        "scale=none", "--json",
    )  # fmt: skip
    expected = covary.score(table, ["x", "noise"], measure="uds-unregularized", beta=5, scale=None)
    assert code == 0
    assert json.loads(out)["score"] == expected


def test_column_names_with_commas(covary_command, tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{k},{k % 7}" for k in range(200)]
    path.write_text("\n".join(['"a, b",c', *rows]))
    code, out, _ = covary_command("score", path, "--columns", '"a, b",c', "--json")
    assert code == 0
    assert json.loads(out)["columns"] == ["a, b", "c"]


def test_matrix_prints_numbers_and_best_pairs(covary_command, table):
    code, out, _ = covary_command("matrix", table, "-m", "uds", "-s", "order=exact")
    assert code == 0
    assert "The best pair" in out
    assert "1.0000" in out
    assert "[bold]sign[/bold]" in out


def test_matrix_json(covary_command, table):
    code, out, _ = covary_command(
        "matrix", table, "--json", "-j", "1", "-m", "uds", "-s", "order=exact"
    )
    found = json.loads(out)
    assert code == 0
    assert found["columns"] == ["x", "[bold]sign[/bold]", "noise"]
    assert np.allclose(found["scores"], np.transpose(found["scores"]))
    assert found["scores"][0][1] == 1.0


@pytest.mark.parametrize("measure", ["mutual-information", "xi"])
def test_matrix_with_scores_outside_0_to_1(covary_command, table, measure):
    code, out, _ = covary_command("matrix", table, "-m", measure, "--json")
    scores = json.loads(out)["scores"]
    assert code == 0
    assert scores[0][0] == (None if measure == "mutual-information" else 1.0)
    assert scores[0][1] == covary.score(table, ["x", "[bold]sign[/bold]"], measure=measure)
    assert covary_command("matrix", table, "-m", measure)[0] == 0


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_matrix_writes_a_file_that_covary_can_read(covary_command, table, tmp_path, suffix):
    path = tmp_path / f"scores.{suffix}"
    code, out, _ = covary_command("matrix", table, "-o", path)
    assert code == 0
    assert f"written to {path}" in out.replace("\n", "")
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"scores.{suffix}", "table.csv"]
    assert covary.table.read_table(path).names == ("x", "[bold]sign[/bold]", "noise")


def test_matrix_does_not_overwrite_the_table(covary_command, table):
    before = table.read_bytes()
    code, _, err = covary_command("matrix", table, "-o", table)
    assert code == 2
    assert "is the table itself: name another file" in err
    assert table.read_bytes() == before


def test_columns_option_can_be_repeated(covary_command, table):
    code, out, _ = covary_command("matrix", table, "-c", "x", "-c", "noise", "--json")
    assert code == 0
    assert json.loads(out)["columns"] == ["x", "noise"]


def test_examples_in_help_keep_their_line_breaks(covary_command):
    for name in ("score", "explain", "test", "matrix", "search"):
        _, out, _ = covary_command(name, "--help")
        assert f"\n    covary {name} wine.csv" in out


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_full_disk_error_is_one_line(table):
    run = subprocess.run(
        f"{sys.executable} -m covary score {table} > /dev/full",
        shell=True, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1] == (
        "covary: cannot write the output: No space left on device"
    )
    assert "Traceback" not in run.stderr


def test_closed_output_is_not_an_error(table):
    run = subprocess.run(
        f"{sys.executable} -m covary matrix {table} >&-",
        shell=True, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0
    assert "Traceback" not in run.stderr


def test_matrix_rejects_an_unknown_format_before_computing(covary_command, table, monkeypatch):
    monkeypatch.setattr(
        "covary.searching.pairs.pair_scores", lambda *a, **k: pytest.fail("computed first")
    )
    code, _, err = covary_command("matrix", table, "-o", "scores.xlsx")
    assert code == 2
    assert "end the file in .csv or .parquet, not 'scores.xlsx'" in err


def test_search_lists_the_best_sets(covary_command, table):
    code, out, err = covary_command("search", table, "--top", "2")
    assert code == 0
    assert out.startswith("2 relations in 4 scored sets (uds-chance, beam, 300 rows)")
    assert "[bold]sign[/bold]" in out, "names are not markup"
    line = out.splitlines()[4].split()
    found = covary.search(table)
    assert line[2] == fraction_text(like_correlation(found[0].score))
    assert line[4] == str(found[0].variants)
    assert found[0].variants > 0
    assert "variants: sets that contain this relation" in out
    assert "come first" not in out
    assert err == "covary: note: left out: 'who' (a single level, 'someone' in all rows)\n"


def test_search_json_is_the_result(covary_command, table):
    code, out, _ = covary_command(
        "search", table, "--json", "--max-size", "2", "-m", "uds-unregularized", "-s", "beta=7",
    )  # fmt: skip
    found = covary.search(table, max_size=2, measure="uds-unregularized", beta=7)
    assert code == 0
    assert json.loads(out) == json.loads(found.to_json())


def test_search_passes_its_options_on(covary_command, table):
    strategy = {"max-size": 3, "beam": 2, "parents": "one", "every": 5}
    options = {"strategy": "beam", **strategy, "top": 7}
    written = [text for name, value in options.items() for text in (f"--{name}", value)]
    code, out, _ = covary_command("search", table, *written, "--prune", "--json", "-j", 1)
    parameters = json.loads(out)["parameters"]
    assert code == 0
    expected = {name.replace("-", "_"): value for name, value in strategy.items()}
    assert parameters["strategy_parameters"] == expected
    assert (parameters["top"], parameters["prune"], parameters["target"]) == (7, True, None)


def test_search_for_a_target_does_not_list_it_among_the_columns(covary_command, table):
    code, out, _ = covary_command("search", table, "--target", "[bold]sign[/bold]")
    assert code == 0
    assert "that explain [bold]sign[/bold] (uds-chance, beam, 300 rows)" in " ".join(out.split())
    heading, _, *rows = out[out.index("explained  ") :].splitlines()
    assert heading.split() == ["explained", "like", "r", "by"]
    assert rows[0].split()[0] == "1"
    assert rows[0].split()[-1] == "x"


def test_search_lists_every_set_if_asked(covary_command, table):
    code, out, _ = covary_command("search", table, "--all", "--top", "2")
    assert code == 0
    assert out.startswith("the best 2 of 4 scored sets (uds-chance, beam, 300 rows)")
    assert [line.split()[0] for line in out.splitlines()[4:6]] == ["1", "2"]
    assert "variants" not in out
    code, out, _ = covary_command("search", table, "-m", "spearman")
    assert code == 0
    assert "like r" not in out, "it is the scale of uds-chance"


def test_exhaustive_search_prints_the_number_of_sets(covary_command, table):
    code, _, err = covary_command("search", table, "--strategy", "exhaustive", "--max-size", "2")
    assert code == 0
    assert "covary: 3 sets to score\n" in err


def test_search_of_noise_reports_that_nothing_was_found(covary_command, tmp_path):
    path = tmp_path / "noise.csv"
    np.savetxt(path, np.random.default_rng(0).normal(size=(2000, 3)), delimiter=",")
    code, out, _ = covary_command("search", path)
    assert code == 0
    assert "No set scores above 0: nothing was found." in out


def test_search_shows_a_progress_bar_per_stage_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    with output.stages() as show:
        for done in (0, 50, 190):
            show("pairs", done, 190)
        show("sets of 3", 10, 40)
    shown = capsys.readouterr().err
    assert "10/40" in shown
    assert "sets of 3" in shown


def test_measures_are_listed_with_parameters(covary_command):
    code, out, _ = covary_command("measures")
    assert code == 0
    assert all(name in out for name in all_measures())
    assert "beta=20" in out
    assert "0 .. ∞" in out
    code, out, _ = covary_command("measures", "--json")
    assert json.loads(out)["uds"]["parameters"]["beta"] == 20
    assert json.loads(out)["cmi"]["bounds"] == [0.0, None]
    pairs_only = {name for name, entry in json.loads(out).items() if entry["pairs_only"]}
    assert {"hsic", "pearson", "spearman", "xi"} <= pairs_only
    assert pairs_only.isdisjoint({"uds", "uds-chance", "cmi", "mac", "dhsic"})


def test_measures_describes_one_measure(covary_command):
    code, out, _ = covary_command("measures", "MAC")
    assert code == 0
    assert out.startswith("mac: 0 .. 1 (above 0 by chance, 1 if determined)\n\nMultivariate")
    assert "It is above 0 for independent columns" in out
    code, _, err = covary_command("measures", "mca")
    assert code == 1
    assert "Did you mean 'mac'?" in err


def test_demo_runs_an_overview_a_search_and_a_report(covary_command, tmp_path, monkeypatch):
    pytest.importorskip("vl_convert")
    page = tmp_path / "demo.html"
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    code, out, err = covary_command("demo", "-o", page, "--open")
    assert code == 0
    assert "HDL ← cholesterol ratio and total cholesterol" in out
    assert "total cholesterol, HDL, cholesterol ratio" in out
    assert "covary FILE" in out
    data = load_diabetes(scaled=False)
    best = covary.search(data.data, max_size=3)[0]
    assert f"{best.score:.4f}" in out
    assert f"report: {page}" in out.replace("\n", "")
    assert "Map of the table" in page.read_text(encoding="utf-8")
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert opened == [page.as_uri()]
    # The replacement for webbrowser.open returns None.
    assert "no browser found to open the page" in err


def test_demo_without_the_packages_for_a_report(covary_command, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    code, out, err = covary_command("demo", "-o", tmp_path / "demo.html")
    assert code == 0
    assert "total cholesterol, HDL, cholesterol ratio" in out
    assert "no page: a report needs the packages jinja2 and vl-convert-python" in err
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "{table}", "-c", "x,nois"], "there is no column 'nois'. Did you mean 'noise'?"),
        (["score", "{table}", "-c", "x,who"], "column 'who' cannot be used: it is a single leve"),
        (
            ["score", "{table}", "--nominal", "nois"],
            "nominal names 'nois', which is not a column. Did you mean 'noise'?",
        ),
        (
            ["explain", "{table}", "--ordered", "nois=a,b"],
            "ordered names 'nois', which is not a column. Did you mean 'noise'?",
        ),
        (
            ["matrix", "{table}", "--nominal", "who", "--ordered", "who=someone"],
            "column 'who' is declared as nominal and as ordered: choose one",
        ),
        (
            ["test", "{table}", "--ordered", "[bold]sign[/bold]=0,2"],
            "ordered does not list '1' of column '[bold]sign[/bold]': it lists '0', '2'",
        ),
        (
            ["search", "{table}", "--ordered", "noise=1,1"],
            "ordered['noise'] must be different values, not ['1', '1']",
        ),
        (["score", "{table}", "-c", "x,x"], "column 'x' is named twice"),
        (["score", "{table}", "-c", "x"], "at least two columns"),
        (["score", "{table}", "-m", "udz"], "there is no measure 'udz'. Did you mean 'uds'?"),
        (
            ["score", "{table}", "-m", "uds", "-s", "beta=1"],
            "beta must be a whole number from 2 to 254, not 1",
        ),
        (["score", "{table}", "-s", "depth=1"], "measure 'uds-chance' has no parameter 'depth'"),
        (["score", "{table}", "-s", "data=3"], "measure 'uds-chance' has no parameter 'data'"),
        (
            ["matrix", "{table}", "-s", "measure=3"],
            "measure 'uds-chance' has no parameter 'measure'",
        ),
        (["matrix", "nowhere.csv"], "cannot read nowhere.csv: there is no such file"),
        (["matrix", "."], "cannot read .: it is a directory"),
        (
            ["search", "{table}", "-c", "x,noise", "--target", "nois"],
            "no column 'nois'. Did you mean 'noise'?",
        ),
        (["search", "{table}", "--engine", "gpu"], "there is no engine 'gpu': use 'dask'"),
        (
            ["search", "{table}", "-c", "x,noise", "--strategy", "4s", "--target", "x"],
            "'4s' does not support a target",
        ),
        (["search", "{table}", "--strategy", "4s", "--beam", "5"], "has no parameter 'beam'"),
    ],
)
def test_errors_are_one_line_and_exit_1(covary_command, table, arguments, message):
    code, out, err = covary_command(*[a.format(table=table) for a in arguments])
    assert code == 1
    assert out == ""
    assert message in err
    assert err.startswith("covary: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["score"],
        ["nonsense"],
        ["score", "x.csv", "--nonsense"],
        ["score", "x.csv", "-s", "beta"],
        ["search", "x.csv", "--resume"],
        ["search", "x.csv", "--strategy", "random"],
        ["search", "x.csv", "--max-size", "1"],
        ["search", "x.csv", "--top", "0"],
        ["score", "x.csv", "--ordered", "size"],
    ],
)
def test_usage_errors_exit_2(covary_command, arguments):
    code, _, err = covary_command(*arguments)
    assert code == 2
    assert "Usage: covary" in err


def test_column_names_cannot_send_control_codes_to_the_terminal(covary_command, tmp_path):
    path = tmp_path / "t.csv"
    evil = "\x1b[31mred\x07"
    path.write_text("\n".join([f"{evil},<script>", *(f"{k},{k // 9}" for k in range(200))]))
    code, out, _ = covary_command("explain", path)
    assert code == 0
    assert "\x1b[31m" not in out
    assert "\\x1b[31mred\\x07" in out
    assert "<script>" in out
    _, out, _ = covary_command("score", path, "--json")
    assert "\x1b" not in out
    assert evil in json.loads(out)["columns"]


def test_printable_escapes_only_control_characters():
    assert printable("naïve 数\u202e\x00") == "naïve 数\\u202e\\x00"


def test_wide_matrix_of_unbounded_scores_is_shown_in_shades(capsys):
    rng = np.random.default_rng(0)
    scores = rng.uniform(-1, 30, size=(30, 30))
    np.fill_diagonal(scores, np.nan)
    output.print_matrix(output.console(), scores, [f"c{k}" for k in range(30)], bounded=False)
    shown = capsys.readouterr().out
    assert "█ 2" in shown  # 0.8 of the maximum score, which is nearly 30
    assert "██" in shown


def test_wide_matrix_is_shown_in_shades_and_a_very_wide_one_is_not_shown(capsys):
    from rich.console import Console

    names = [f"c{k}" for k in range(30)]
    scores = np.full((30, 30), 0.93)
    output.print_matrix(Console(width=100), scores, names)
    shown = capsys.readouterr().out
    assert "██" in shown
    assert "0.93" not in shown
    output.print_matrix(Console(width=40), scores, names)
    assert "30 columns do not fit on the screen" in capsys.readouterr().out


def test_closed_pipe_is_not_an_error(table):
    run = subprocess.run(
        f"{sys.executable} -m covary score {table} | true",
        shell=True, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in run.stderr


INTERRUPTED_MATRIX = """
import os, signal, sys
from covary.cli.main import main
from covary.engines.base import Session

submitted = 0
submit, run = Session.submit, Session.run


def run_and_interrupt(self, task, items):
    counted = self.submit

    def submit(task, items):
        global submitted
        submitted += len(items)
        return counted(task, items)

    self.submit = submit
    for number, found in enumerate(run(self, task, items)):
        print(f"chunk {number}: {submitted} of {len(items)} submitted", flush=True)
        os.kill(os.getpid(), signal.SIGINT)
        yield found


Session.run = run_and_interrupt
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_stops_the_computation_and_exits_130(tmp_path):
    """After the interrupt no chunk is awaited, and most of the work was never submitted."""
    path = tmp_path / "table.csv"
    np.savetxt(path, np.random.default_rng(0).normal(size=(300, 40)), delimiter=",", fmt="%.4f")
    run = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_MATRIX, "matrix", path, "-m", "pearson", "-j", "2"],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert run.returncode == 130
    assert run.stderr.strip().endswith("covary: interrupted")
    assert "Traceback" not in run.stderr
    (line,) = run.stdout.splitlines()
    chunk, submitted, _, total, _ = line.removeprefix("chunk ").split()
    assert (chunk, int(total)) == ("0:", 40 * 39 // 2)
    assert int(submitted) < int(total) / 10


def test_interrupt_during_an_import_is_not_lost(tmp_path):
    (tmp_path / "greedy.py").write_text(
        "import os, signal, time\n"
        "try:\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(0.3)\n"
        "except BaseException:\n"
        "    pass\n"
    )
    code = (
        "import signal, time\n"
        "from covary.cli.main import _Interrupt\n"
        "signal.signal(signal.SIGINT, _Interrupt())\n"
        "import greedy\n"
        "try:\n"
        "    time.sleep(20)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert run.stdout == "interrupted\n"


def test_a_matrix_of_a_frame_has_the_labels_of_calendar_columns():
    rng = np.random.default_rng(0)
    day = pd.date_range("2021-01-01", periods=300, freq="37h")
    frame = pd.DataFrame({"d": day, 7: rng.normal(size=300)})
    matrix = covary.matrix(frame)
    assert list(matrix.columns) == list(matrix.index)
    assert {"d", "d (hour)", "d (weekday)", 7} <= set(matrix.columns)


def test_explain_of_independent_columns_says_so(covary_command, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b", *(f"{k % 7},{k % 11}" for k in range(770))]))
    code, out, _ = covary_command("explain", path)
    assert code == 0
    assert out == "uds-chance = 0.0000   (2 columns, 770 rows; no dependence found)\n"


def test_explain_keeps_brackets_in_the_name_of_a_target(covary_command, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b (m)", *(f"{k},{k // 9}" for k in range(200))]))
    code, out, _ = covary_command("explain", path, "--target", "b (m)")
    assert code == 0
    assert "of b (m))" in out


def test_names_with_commas_need_quotes(covary_command, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(['"a,b",c', *(f"{k % 9},{k % 7}" for k in range(100))]))
    code, _, err = covary_command("score", path, "-c", "a,b,c")
    assert code == 1
    assert "A name that contains a comma needs quotes: '\"a,b\"'." in err
    assert covary_command("score", path, "-c", '"a,b",c')[0] == 0
    code, _, err = covary_command("score", path, "-c", "x,y")
    assert code == 1
    assert "quotes" not in err


def test_sets_that_score_0_are_counted(covary_command, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.random(300)
    frame = pd.DataFrame({"x": x, "y": x**2, "u": rng.random(300), "v": rng.random(300)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    arguments = ["--max-size", "2", "--top", "4"]
    code, out, _ = covary_command("search", tmp_path / "t.csv", *arguments)
    assert code == 0
    assert out.startswith("1 relation in 6 scored sets")
    found = covary.search(frame, max_size=2, top=4)
    zeros = sum(subspace.score == 0 for subspace in found)
    assert zeros > 1
    assert f"{zeros} of the best 4 sets score 0 and are not shown." in out


def test_a_conditional_test_says_why_rows_are_left_out(covary_command, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    arguments = ["-c", "a", "--target", "b", "--given", "c", "--permutations", "19"]
    for n_missing, said in ((0, False), (11, True)):
        frame.iloc[:n_missing, 0] = np.nan
        frame.to_csv(tmp_path / "t.csv", index=False)
        code, out, _ = covary_command("test", tmp_path / "t.csv", *arguments)
        assert code == 0
        assert ("289 of 300 rows" in out) == said
        assert ("rows with missing cells are left out of the test" in out) == said
