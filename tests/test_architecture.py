"""Who may import whom, and what importing costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import covary

SOURCES = Path(covary.__file__).parent
EVERYTHING = {"*"}

# A folder or file may import itself, the standard library, covary.errors, covary.names, and this.
MAY_IMPORT = {
    "__init__": {"covary.api", "covary.estimators", "covary.measures", "covary.results"},
    "__main__": {"covary.cli"},
    "errors": set(),
    "names": set(),
    "table": {"numpy", "narwhals", "pyarrow"},
    "experiments": {
        "scipy",
        "numpy",
        "sklearn",
        "vl_convert",
        "covary.__version__",
        "covary.datasets",
        "covary.engines",
        "altair",
        "covary.measures",
        "covary.report",
        "covary",
        "covary.table",
    },
    "datasets": {"numpy", "sklearn", "covary.table"},
    "prepare": {"numpy", "covary.kernels", "covary.table"},
    "kernels": {"numpy", "numba"},
    "measures": {
        "numpy",
        "scipy",
        "sklearn",
        "covary.kernels",
        "covary.prepare",
        "covary.table",
    },
    "strategies": {"numpy", "networkx"},
    "engines": {"numpy", "joblib", "cloudpickle", "dask", "distributed"},
    "runs": {"numpy"},
    "ranking": {"numpy"},
    "results": {"numpy", "covary.table", "covary.report"},
    "report": {
        "numpy",
        "scipy",
        "sklearn",
        "networkx",
        "altair",
        "covary.measures",
        "jinja2",
        "markupsafe",
        "vl_convert",
        "covary.__version__",
        "covary.results",  # for types only
        "covary.significance",  # for types only
        "covary.pairs",
        "covary.prepare",
        "covary.table",
    },
    "significance": {
        "numpy",
        "covary.table",
        "covary.kernels",
        "covary.prepare",
        "covary.measures",
    },
    "testing": {
        "covary.prepare",
        "covary.measures",
        "covary.engines",
        "covary.significance",
        "covary.results",
    },
    "search_tests": {
        "numpy",
        "covary.prepare",
        "covary.measures",
        "covary.strategies",
        "covary.engines",
        "covary.runs",
        "covary.ranking",
        "covary.results",
        "covary.searching",  # for types only
        "covary.significance",
    },
    "searching": {
        "numpy",
        "covary.__version__",
        "covary.search_tests",
        "covary.prepare",
        "covary.measures",
        "covary.strategies",
        "covary.engines",
        "covary.runs",
        "covary.ranking",
        "covary.report",
        "covary.results",
        "covary.table",
    },
    "recalling": {
        "covary.table",
        "covary.measures",
        "covary.strategies",
        "covary.engines",
        "covary.runs",
        "covary.searching",
    },
    "pairs": {
        "numpy",
        "covary.prepare",
        "covary.measures",
        "covary.strategies",
        "covary.engines",
    },
    "api": {
        "numpy",
        "covary.pairs",
        "covary.table",
        "covary.prepare",
        "covary.measures",
        "covary.strategies",
        "covary.engines",
        "covary.results",
        "covary.searching",
        "covary.testing",
    },
    "estimators": {
        "numpy",
        "sklearn",
        "covary.api",
        "covary.measures",
        "covary.strategies",
        "covary.table",
    },
    "cli": EVERYTHING,
}

FILES = sorted(SOURCES.rglob("*.py"))


def place(path):
    """The folder, or the file at the top, that a source file belongs to."""
    first = path.relative_to(SOURCES).parts[0]
    return first.removesuffix(".py")


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            if node.module == "covary":
                yield from (f"covary.{alias.name}" for alias in node.names)
            else:
                yield node.module


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCES)))
def test_every_file_keeps_the_import_law(path):
    here = place(path)
    allowed = MAY_IMPORT[here]
    if allowed is EVERYTHING:
        return
    for name in imports(path):
        top, _, rest = name.partition(".")
        if top in sys.stdlib_module_names:
            continue
        unit = f"covary.{rest.partition('.')[0]}" if rest and top == "covary" else top
        assert unit in allowed | {"covary.errors", "covary.names", f"covary.{here}"}, (
            f"{here} imports {name}"
        )


def in_a_fresh_interpreter(code):
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_importing_covary_loads_nothing_heavy():
    loaded = in_a_fresh_interpreter(
        "import covary, covary.cli.main, sys; print(' '.join(sys.modules))"
    ).split()
    heavy = {"numba", "sklearn", "scipy", "pyarrow", "pandas", "altair", "rich", "narwhals"}
    heavy |= {"joblib", "networkx", "distributed", "dask", "sqlite3"}
    assert heavy.isdisjoint(loaded)


def test_only_the_kernels_need_numba():
    modules = [
        ".".join(("covary", *path.relative_to(SOURCES).with_suffix("").parts))
        for path in FILES
        if "kernels" not in path.parts and not path.stem.startswith("__")
    ]
    in_a_fresh_interpreter(
        "import sys, importlib; sys.modules['numba'] = None\n"
        f"for name in {modules}: importlib.import_module(name)"
    )


def test_every_public_name_is_there():
    for name in covary.__all__:
        assert hasattr(covary, name)
        assert name in dir(covary)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = covary.nothing


def test_there_is_no_file_that_says_nothing_about_itself():
    for path in FILES:
        assert ast.get_docstring(ast.parse(path.read_text())), path
