"""Print every number that covary computes on fixed tables, with all digits, and their digest.

Two versions of covary that print the same text compute the same bits::

    python -m benchmarks.fingerprint > before.txt
    python -m benchmarks.fingerprint > after.txt
    cmp before.txt after.txt

The script uses only public names. Compare only on the same kind of machine: NumPy and Numba may
round differently on another.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import covary

PERMUTATIONS = 39
# Slow baselines are computed only for tables with at most this number of rows.
MOST_ROWS_OF_SLOW = 320
SLOW = {"hsic", "dhsic", "quadratic", "mac", "cmi", "mutual-information"}
PAIRWISE = {"pearson", "spearman", "xi", "hsic", "distance-correlation", "mutual-information"}
WITHOUT_TARGET = {"mac", "quadratic", "dhsic"}


def tables() -> dict[str, Any]:
    """Return the tables by name."""
    rng = np.random.default_rng(20161)
    x, y, z = rng.normal(size=(3, 300))
    wide = rng.normal(size=(120, 30))
    wide[:, 1] = wide[:, 0] + 0.5 * wide[:, 1]
    wide[:, 4] = wide[:, 2] * wide[:, 3]
    wide[:, 7] = np.round(wide[:, 6] + wide[:, 5])
    missing = np.column_stack([x, y, x + y, x**2, z])[:200].copy()
    missing[rng.random(missing.shape) < 0.15] = np.nan
    angle = rng.uniform(0, 2 * np.pi, 250)
    counts = rng.poisson(0.6, (200, 2)).astype(float)
    long = rng.normal(size=(20_500, 3))
    long[:, 2] = long[:, 0] * long[:, 1] + long[:, 2]
    chain = np.cumsum(rng.normal(size=(1000, 6)), axis=1)
    uniform = rng.random((100, 2))
    dates = pd.date_range("2020-01-01", periods=150, freq="D")
    season = np.sin(np.arange(150) / 20)
    frame = pd.DataFrame(
        {
            "when": dates,
            "season": season,
            "size": pd.Categorical.from_codes(
                np.digitize(season, [-0.3, 0.3]), ["S", "M", "L"], ordered=True
            ),
            "open": season > rng.normal(0, 0.2, 150),
            "text": ["word"] * 150,
        }
    )
    return {
        "gaussian": np.column_stack([x, 0.7 * x + 0.7 * y, z, y, 0.3 * x + z]),
        "ties": rng.integers(0, 4, (60, 4)).astype(float),
        "tied": np.column_stack([np.round(x), np.round(x + y), np.round(2 * y)])[:180],
        "missing": missing,
        "gaps": np.where(rng.random((90, 4)) < 0.4, np.nan, rng.integers(0, 3, (90, 4))),
        "few": np.column_stack([x, x**2, y])[:7],
        "three": np.column_stack([x, -x, y])[:3],
        "wide": wide,
        "product": np.column_stack([x, y, x * y, z]),
        "constant": np.column_stack([x, np.ones(300), x > 0, y, (x > 0) ^ (y > 0)])[:150],
        "extreme": np.column_stack([x * 1e300, y * 1e-300, x**3, x + 1e9])[:200],
        "circle": np.column_stack([np.cos(angle), np.sin(angle), rng.random(250)]),
        "zeros": np.column_stack([counts, counts.sum(axis=1), counts[:, 0] * z[:200]]),
        "copies": np.column_stack([uniform, uniform, uniform[:, :1] ** 2]),
        "chain": chain,
        "frame": frame,
        "long": long,
    }


def hexed(value: Any) -> str:
    """Return a value with all its bits."""
    if isinstance(value, (bool, np.bool_)) or value is None:
        return str(value)
    if isinstance(value, (float, np.floating)):
        return float(value).hex()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {hexed(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(hexed(each) for each in value) + "]"
    return str(value)


def attempted(function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    """Return the result of a function, or the name of the error that it raises."""
    try:
        return function(*args, **keywords)
    except covary.CovaryError as error:
        return type(error).__name__


def of_search(found: Any) -> Any:
    """Return all numbers of a search result."""
    if isinstance(found, str):
        return found
    sets = [
        [
            "+".join(map(str, each.columns)),
            each.score,
            each.pvalue,
            each.qvalue,
            each.family_pvalue,
            each.increment_pvalue,
            each.adds_nothing,
        ]
        for each in found
    ]
    tests = None if found.tests is None else [found.tests.searches, found.tests.complete]
    return [found.scored, found.complete, tests, sets]


def of_test(tested: Any) -> Any:
    """Return all numbers of a test result."""
    if isinstance(tested, str):
        return tested
    null = hashlib.blake2b(np.ascontiguousarray(tested.null).tobytes(), digest_size=8).hexdigest()
    return [tested.score, tested.statistic, tested.pvalue, tested.permutations, tested.exact, null]


def of_explanation(found: Any) -> Any:
    """Return the content of an explanation."""
    if isinstance(found, str):
        return found
    steps = [
        [s.target, s.given, s.explained, s.by, s.bins, dict(s.cuts), s.missing, s.rows, s.alone]
        for s in found.steps
    ]
    return [found.score, found.order, steps]


def measures_of(name: str, data: Any) -> list[str]:
    """Return the names of the measures to compute on a table."""
    from covary.measures import all_measures

    skip = SLOW if len(data) > MOST_ROWS_OF_SLOW else set()
    return [each for each in all_measures() if each not in skip]


def single(name: str, data: Any) -> Iterator[tuple[str, Any]]:
    """Yield scores, evidence, explanations, matrices and tests of every measure on a table."""
    first = list(data.columns)[:2] if isinstance(data, pd.DataFrame) else [0, 1]
    for measure in measures_of(name, data):
        pair = first if measure in PAIRWISE else None
        if data is not None and measure in SLOW and np.shape(data)[1] > 10:
            pair = first
        for columns in {None: None, str(first): first}.values() if pair is None else [pair]:
            label = f"{name} {measure} {'all' if columns is None else 'pair'}"
            yield f"{label} score", attempted(covary.score, data, columns, measure=measure)
            yield f"{label} evidence", attempted(covary.evidence, data, columns, measure=measure)
            explained = attempted(covary.explain, data, columns, measure=measure)
            yield f"{label} explain", of_explanation(explained)
            for target in (None, first[0]):
                tested = attempted(
                    covary.test,
                    data,
                    columns,
                    measure=measure,
                    target=target,
                    permutations=PERMUTATIONS,
                    seed=3,
                )
                yield f"{label} test target={target}", of_test(tested)
        if not (measure in SLOW and np.shape(data)[1] > 10):
            matrix = attempted(covary.matrix, data, measure=measure, n_jobs=2)
            yield f"{name} {measure} matrix", np.asarray(matrix).tolist()


def searched(name: str, data: Any) -> Iterator[tuple[str, Any]]:
    """Yield the results of all kinds of searches of a table."""
    target = list(data.columns)[1] if isinstance(data, pd.DataFrame) else 0
    ways: list[dict[str, Any]] = [
        {"max_size": 3, "permutations": PERMUTATIONS},
        {"strategy": "exhaustive", "max_size": 3, "top": 12, "permutations": PERMUTATIONS},
        {"strategy": "4s", "permutations": PERMUTATIONS, "seed": 4},
        {"max_size": 4, "parents": "one", "beam": 10, "prune": True},
        {"max_size": 4, "sift": True, "permutations": PERMUTATIONS, "engine": "processes"},
        {"max_size": 3, "target": target, "permutations": PERMUTATIONS},
        {"max_size": 4, "target": target, "sift": True, "beam": 20},
    ]
    small = np.shape(data)[1] <= 6 and len(data) <= 1000
    for measure in measures_of(name, data):
        ours = measure.startswith("uds")
        for at, way in enumerate(ways):
            if way.get("engine") and (name not in ("product", "missing") or measure in SLOW):
                continue
            if not ours and (at not in (0, 5) or not small):
                continue
            if at == 1 and not small:
                continue
            if measure in SLOW and at == 5:
                way = {**way, "permutations": 0}
            if measure in PAIRWISE:
                way = {**way, "max_size": 2}
            if measure in WITHOUT_TARGET and "target" in way:
                continue
            label = f"{name} {measure} search {sorted((k, str(v)) for k, v in way.items())}"
            yield label, of_search(attempted(covary.search, data, measure=measure, **way))


def resumed(name: str, data: Any) -> Iterator[tuple[str, Any]]:
    """Yield the result of a search that is interrupted several times and resumed."""

    class Stop(Exception):  # noqa: N818
        pass

    for measure in ("uds-chance", "uds", "hics"):
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "run.covary")
            calls, allowed, stops = 0, 3, 0

            def interrupt(*_: Any) -> None:
                nonlocal calls
                calls += 1
                if calls >= allowed:  # noqa: B023, the loop below changes it
                    raise Stop

            while True:
                try:
                    found = covary.search(
                        data,
                        measure=measure,
                        max_size=3,
                        sift=True,
                        permutations=PERMUTATIONS,
                        run=run,
                        resume=True,
                        on_progress=interrupt,
                    )
                    break
                except Stop:
                    calls, allowed, stops = 0, 2 * allowed, stops + 1
            assert stops > 1
            yield f"{name} {measure} resumed", of_search(found)


def lines() -> Iterator[str]:
    """Yield one line for each number or list of numbers."""
    every = tables()
    for name, data in every.items():
        for kind in (single, searched):
            for label, value in kind(name, data):
                yield f"{label}: {hexed(value)}"
    for name in ("gaussian", "missing", "product"):
        for label, value in resumed(name, every[name]):
            yield f"{label}: {hexed(value)}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        pd.DataFrame(every["missing"], columns=list("abcde")).to_csv(path, index=False)
        yield f"file: {hexed(of_search(covary.search(path, max_size=3)))}"


def main() -> None:
    """Print all lines, and their digest on standard error."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    warnings.simplefilter("ignore")
    digest = hashlib.sha256()
    for line in lines():
        digest.update(f"{line}\n".encode())
        print(line, flush=True)
    print(f"sha256 {digest.hexdigest()}", file=sys.stderr)


if __name__ == "__main__":
    main()
