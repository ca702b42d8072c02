"""The settings in a report: the table, the measure, the search and the tests."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from covary.formatting import counted, printable
from covary.plots.figures.style import joined_labels, shown_label
from covary.plots.levels import shortened
from covary.results import Overview, SearchResult, TestSummary
from covary.searching.options import TEST_OPTIONS, SearchOptions
from covary.searching.record import SearchRecord
from covary.version import __version__

MAX_CHARACTERS = 150
# A name and its value, both as text.
Setting = tuple[str, str]


def list_settings(
    result: SearchResult, record: SearchRecord, *, with_rows: bool = True
) -> tuple[Setting, ...]:
    """Return everything that is needed to repeat the search, as names and values.

    Parameters
    ----------
    result, record : the search
    with_rows : whether the settings may contain cells of the table
    """
    return (
        *_search_settings(result, record, with_rows),
        *_test_settings(result.tests),
        *_times(record),
    )


def list_overview_settings(
    overview: Overview, record: SearchRecord, *, with_rows: bool = True
) -> tuple[Setting, ...]:
    """Return everything that is needed to repeat an overview, as names and values.

    Parameters
    ----------
    overview, record : the overview, and the table with the measure
    with_rows : whether the settings may contain cells of the table
    """
    parameters = _assignments(overview.parameters)
    settings = [
        ("Table", f"{counted(overview.rows, 'row')}, {len(record.labels):,} columns used"),
        ("Measure", overview.measure),
        *_row_settings(record),
        *_column_settings(record, with_rows),
    ]
    if parameters:
        settings.append(("Options", shortened(printable(parameters), 2 * MAX_CHARACTERS)))
    return (*settings, *_times(record))


def _search_settings(result: SearchResult, record: SearchRecord, with_rows: bool) -> list[Setting]:
    parameters = result.parameters
    measure = _assignments(parameters["measure_parameters"]) or "no parameters"
    strategy = _assignments(parameters["strategy_parameters"])
    sets = counted(result.scored, "set")
    settings = [
        ("Table", f"{counted(result.rows, 'row')}, {len(record.labels):,} columns used"),
        ("Measure", f"{result.measure} ({measure})"),
        ("Search", f"{result.strategy} ({strategy}), {sets} scored"),
    ]
    settings += [*_row_settings(record), *_column_settings(record, with_rows)]
    constant = [
        record.labels[at] for at, varies in enumerate(record.prepared.varies) if not varies
    ]
    if constant:
        settings.append(("Constant", ", ".join(shown_label(name) for name in constant)))
    if result.target is not None:
        settings.append(("Target", shown_label(result.target)))
    if parameters.get("given"):
        settings.append(("Given", joined_labels(parameters["given"])))
    if parameters.get("missing") == "level":
        settings.append(("Missing cells", "a value of their own (missing=level)"))
    return settings + _option_settings(parameters)


def _row_settings(record: SearchRecord) -> list[Setting]:
    """Return how rows are ordered or grouped, and what takes the place of permutations."""
    table = record.prepared.table
    if table.dependent is None:
        return []
    facts = table.options.rows_to_facts()
    if facts["groups"] is None:
        del facts["permute"]
    chosen = _assignments({name: value for name, value in facts.items() if value})
    return [
        ("Rows", shortened(printable(chosen), MAX_CHARACTERS)),
        ("Null distribution", table.about_rows()),
    ]


def _column_settings(record: SearchRecord, with_rows: bool) -> list[Setting]:
    """Return columns of names, columns that were converted, and columns that were not used."""
    table = record.prepared.table
    settings = []
    nominal = [
        f"{shown_label(label)} ({counted(len(column.categories), 'level')})"
        for label, column in zip(record.labels, table.columns, strict=True)
        if column.kind == "nominal"
    ]
    if nominal:
        settings.append(("Nominal", f"{', '.join(nominal)}: values without an order"))
    read_as = [
        f"{shown_label(label)} ({_note(column.read_as, with_rows)})"
        for label, column in zip(record.labels, table.columns, strict=True)
        if column.read_as
    ]
    if read_as:
        settings.append(("Text read as", "; ".join(read_as)))
    if table.left_out:
        unused = [
            f"{shown_label(name)} ({_note(reason)})" for name, reason in table.kinds_left_out()
        ]
        settings.append(("Not used", "; ".join(unused)))
    return settings


def _note(text: str, with_rows: bool = True) -> str:
    """Return a note on a column for the page, without an example if cells must not be shown."""
    shown = text if with_rows else text.partition(", such as")[0]
    return shortened(printable(shown), MAX_CHARACTERS)


def _option_settings(parameters: Mapping[str, Any]) -> list[Setting]:
    """Return the options that differ from their defaults and appear nowhere else."""
    defaults = SearchOptions.defaults()
    elsewhere = {"target", "given", "top", *TEST_OPTIONS}
    settings = []
    for name, allowed in SearchOptions.allowed().items():
        value = parameters.get(name, defaults[name])
        if name not in elsewhere and value != defaults[name]:
            shown = joined_labels(value) if allowed.kind == "columns" else value
            text = allowed.help if allowed.kind == "flag" else f"{shown}. {allowed.help}"
            settings.append((f"Option {name}", text))
    return settings


def _assignments(parameters: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in parameters.items() if value is not None)


def _test_settings(tests: TestSummary | None) -> list[Setting]:
    if tests is None:
        return [("Tests", "none: scores may be due to chance; to test, use permutations=999")]
    correction = (
        f"q (Benjamini-Hochberg) and family-wise p (Bonferroni) for "
        f"{counted(tests.compared, 'possible set')}"
    )
    return [
        (
            "Tests",
            f"up to {tests.permutations:,} permutations per set, seed {tests.seed}",
        ),
        ("Correction", correction if tests.complete else "not yet computed"),
    ]


def _times(record: SearchRecord) -> list[Setting]:
    times = []
    if record.started is not None:
        searched = f"{record.started:%Y-%m-%d %H:%M} UTC"
        if record.finished is not None:
            searched += f", in {_duration((record.finished - record.started).total_seconds())}"
        times.append(("Searched", searched))
    times.append(("Written", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC by covary {__version__}"))
    return times


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
