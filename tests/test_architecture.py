"""The layers of the package, and what importing it costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import covary

SOURCES = Path(covary.__file__).parent
FILES = sorted(SOURCES.rglob("*.py"))

# From low to high. A file imports only from its own layer and from lower ones. This includes
# imports for type checking and imports inside functions.
LAYERS = [
    "version",
    "accessors",
    "errors",
    "array_types",
    "validation",
    "formatting",
    "correlation_scale",
    "tolerance",
    "tail_probability",
    "seeds",
    "options",
    "registry",
    "engines",
    "table",
    "kernels",
    "results",
    "prepare",
    "measures",
    "runs",
    "significance",
    "searching",
    "structure",
    "plots",
    "report",
    "keywords",
    "api",
    "estimators",
    "__init__",
    "reproduction",
    "datasets",  # former names of public modules
    "strategies",
    "cli",
    "__main__",
]
# The layers that may use a library. Every layer may use numpy, except those that must import fast.
LIBRARIES = {
    "numpy": None,
    "numba": {"kernels"},
    "narwhals": {"table"},
    "pyarrow": {"table"},
    "scipy": {"measures", "plots", "reproduction"},
    "sklearn": {"measures", "plots", "estimators", "reproduction", "cli"},
    "networkx": {"searching", "plots"},
    "joblib": {"engines"},
    "cloudpickle": {"engines"},
    "threadpoolctl": {"engines"},
    "dask": {"engines"},
    "distributed": {"engines"},
    "altair": {"plots", "reproduction", "cli"},
    "vl_convert": {"report", "reproduction"},
    "jinja2": {"report"},
    "markupsafe": {"report"},
    "click": {"cli"},
    "rich": {"cli"},
}
# errors.py holds one builder per message.
MAX_LINES = 450
LONG_FILES = {"errors.py"}


def layer_of(path):
    """The folder, or the file at the top, that a source file belongs to."""
    return path.relative_to(SOURCES).parts[0].removesuffix(".py")


def imports(path):
    """Yield every imported module, wherever the import stands."""
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
def test_a_file_imports_only_from_its_own_and_lower_layers(path):
    here = layer_of(path)
    for name in imports(path):
        top, _, rest = name.partition(".")
        if top in sys.stdlib_module_names:
            continue
        if top != "covary":
            allowed = LIBRARIES[top]
            assert allowed is None or here in allowed, f"{here} imports {name}"
            continue
        there = rest.partition(".")[0]
        there = there if there in LAYERS else "__init__"  # such as covary.search
        assert LAYERS.index(there) <= LAYERS.index(here), f"{here} imports {name}, a higher layer"


def test_every_file_belongs_to_a_layer_and_every_layer_exists():
    assert {layer_of(path) for path in FILES} == set(LAYERS)


def test_files_inside_a_package_do_not_import_each_other_in_a_circle():
    """Imports at the top of files are acyclic."""
    graph = {}
    for path in FILES:
        parts = path.relative_to(SOURCES.parent).with_suffix("").parts
        graph[".".join(parts).removesuffix(".__init__")] = [
            name
            for node in ast.parse(path.read_text()).body
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for name in imported_by(node)
            if name.startswith("covary.")
        ]
    visited, finished = set(), set()

    def visit(module, trail):
        assert module not in trail, " -> ".join([*trail, module])
        if module in finished or module not in graph:
            return
        visited.add(module)
        for name in graph[module]:
            visit(name, [*trail, module])
        finished.add(module)

    for module in graph:
        if not module.endswith("__main__"):
            visit(module, [])
    assert len(visited) > 50


def imported_by(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if node.module == "covary":
        return [f"covary.{alias.name}" for alias in node.names]
    return [node.module]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCES)))
def test_no_file_is_long(path):
    lines = len(path.read_text().splitlines())
    assert lines <= MAX_LINES or path.name in LONG_FILES, f"{path.name} has {lines} lines"


def test_pytest_does_not_take_a_source_file_for_a_test():
    for path in FILES:
        assert not path.name.startswith("test_"), path
        assert not path.name.endswith("_test.py"), path


def in_a_fresh_interpreter(code):
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_importing_covary_loads_nothing_heavy():
    loaded = in_a_fresh_interpreter(
        "import covary, covary.cli.main, sys; print(' '.join(sys.modules))"
    ).split()
    heavy = {"numba", "sklearn", "scipy", "pyarrow", "pandas", "altair", "rich", "narwhals"}
    heavy |= {"joblib", "networkx", "distributed", "dask", "sqlite3", "numpy"}
    assert heavy.isdisjoint(loaded)


def test_help_loads_nothing_heavy():
    loaded = in_a_fresh_interpreter(
        "import sys; sys.argv = ['covary', '--help']\n"
        "from covary.cli.main import command\n"
        "command.main(standalone_mode=False)\n"
        "print(' '.join(sys.modules))"
    ).split()
    assert {"numpy", "numba", "rich", "sqlite3"}.isdisjoint(loaded)


def test_only_the_kernels_need_numba():
    modules = [
        ".".join(("covary", *path.relative_to(SOURCES).with_suffix("").parts))
        for path in FILES
        if "kernels" not in path.parts and not path.stem.startswith("__")
    ]
    in_a_fresh_interpreter(
        "import sys, importlib, warnings; sys.modules['numba'] = None\n"
        "warnings.simplefilter('ignore', DeprecationWarning)\n"
        f"for name in {modules}: importlib.import_module(name)"
    )


def test_every_public_name_is_there():
    names = covary.__all__
    assert {"search", "SearchResult", "UDS", "Xi", "FourS", "__version__"} <= set(names)
    for name in names:
        assert hasattr(covary, name)
        assert name in dir(covary)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = covary.nothing


def test_every_file_has_a_docstring():
    for path in FILES:
        assert ast.get_docstring(ast.parse(path.read_text())), path
