"""The registry of measures, strategies and engines: a class in its own file is found by name."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest

import covary
from covary import engines
from covary.engines import ENGINES, Engine, Threads, find_engine
from covary.errors import ColumnError, ParameterError
from covary.measures import MEASURES, Measure, find_measure
from covary.options import option
from covary.prepare import Ranks
from covary.registry import Entry, Registry
from covary.searching import strategies
from covary.searching.strategies import STRATEGIES, Exhaustive, Strategy, find_strategy
from nominal_tables import nominal_table

REGISTRIES = {
    "measure": (MEASURES, Measure, find_measure),
    "strategy": (STRATEGIES, Strategy, find_strategy),
    "engine": (ENGINES, Engine, find_engine),
}


@pytest.fixture
def table():
    rng = np.random.default_rng(1)
    cells = rng.normal(size=(150, 4))
    cells[:, 1] += 2 * cells[:, 0]
    return cells


@pytest.fixture
def csv(table, tmp_path):
    path = tmp_path / "table.csv"
    np.savetxt(path, table, delimiter=",", header="a,b,c,d", comments="", fmt="%.17g")
    return path


@pytest.fixture(params=list(REGISTRIES))
def kind(request):
    return request.param


def temporary(monkeypatch, registry):
    """Make registrations of this test temporary; return the registry."""
    monkeypatch.setattr(registry, "_entries", dict(registry.entries()))
    return registry


# ---------------------------------------------------------------- a registry of its own


@pytest.fixture
def shapes(tmp_path, monkeypatch):
    """Return the registry of a temporary package with two files and a subpackage."""
    package = tmp_path / "shapes_package"
    (package / "round").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "registry.py").write_text(
        "from covary.registry import Registry\n"
        "SHAPES = Registry('shape', 'shapes_package')\n"
        "imported = []\n"
    )
    (package / "square.py").write_text(
        "from dataclasses import dataclass\n"
        "from shapes_package.registry import SHAPES, imported\n"
        "imported.append(__name__)\n"
        "@SHAPES.register('square', 'four equal sides')\n"
        "@SHAPES.register('unit-square', 'four sides of length 1', side=1)\n"
        "@dataclass(frozen=True)\n"
        "class Square:\n"
        "    side: int = 2\n"
        "    colour: str = 'red'\n"
    )
    (package / "round" / "__init__.py").write_text("")
    (package / "round" / "circle.py").write_text(
        "from dataclasses import dataclass\n"
        "from shapes_package.registry import SHAPES, imported\n"
        "imported.append(__name__)\n"
        "@SHAPES.register('circle', 'one radius')\n"
        "@dataclass(frozen=True)\n"
        "class Circle:\n"
        "    radius: float = 1.0\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("shapes_package.registry")
    yield module
    for name in [name for name in sys.modules if name.startswith("shapes_package")]:
        del sys.modules[name]


def test_every_file_of_the_package_is_imported_when_first_needed(shapes):
    assert shapes.imported == []
    assert list(shapes.SHAPES.entries()) == ["circle", "square", "unit-square"]
    assert sorted(shapes.imported) == ["shapes_package.round.circle", "shapes_package.square"]
    shapes.SHAPES.entries()
    assert len(shapes.imported) == 2


def test_a_new_file_is_enough_for_a_new_member(shapes, tmp_path):
    (tmp_path / "shapes_package" / "line.py").write_text(
        "from shapes_package.registry import SHAPES\n"
        "@SHAPES.register('line', 'no area')\n"
        "class Line:\n"
        "    pass\n"
    )
    importlib.invalidate_caches()
    assert type(shapes.SHAPES.entry("line").make()).__name__ == "Line"


def test_entries_have_summary_class_and_parameters(shapes):
    entry = shapes.SHAPES.entry("square")
    assert isinstance(entry, Entry)
    assert (entry.name, entry.summary) == ("square", "four equal sides")
    assert entry.parameters == {"side": 2, "colour": "red"}
    assert entry.make() == entry.cls(side=2)
    assert entry.make({"side": 5}) == entry.cls(side=5)
    fixed = shapes.SHAPES.entry("unit-square")
    assert fixed.parameters == {"side": 1, "colour": "red"}
    assert fixed.make({"colour": "blue"}) == entry.cls(1, "blue")
    assert set(shapes.SHAPES.classes()) == {"Square", "Circle"}


def test_the_name_of_an_instance_fits_its_parameters_best(shapes):
    square = shapes.SHAPES.entry("square").cls
    assert shapes.SHAPES.name_of(square()) == "square"
    assert shapes.SHAPES.name_of(square(side=1)) == "unit-square"
    assert shapes.SHAPES.name_of(1.5) == "float"


@pytest.mark.parametrize("name", ["unit-square", "unit_square", " Unit-Square "])
def test_names_are_found_in_any_spelling(shapes, name):
    assert shapes.SHAPES.entry(name).name == "unit-square"


@pytest.mark.parametrize("name", ["sqare", "triangle", "", 3, None])
def test_unknown_names_give_an_error_that_lists_the_known_ones(shapes, name):
    with pytest.raises(ParameterError, match="shape") as caught:
        shapes.SHAPES.entry(name)
    for known in ("circle", "square", "unit-square"):
        assert known in str(caught.value)
    assert ("Did you mean 'square'?" in str(caught.value)) == (name == "sqare")


def test_unknown_parameters_give_an_error_that_names_who_has_them(shapes):
    square = shapes.SHAPES.entry("square").cls
    shapes.SHAPES.check_parameters("square", square, {"side": 3})
    with pytest.raises(ParameterError, match="shape 'square' has no parameter 'radius'") as caught:
        shapes.SHAPES.check_parameters("square", square, {"radius": 3})
    assert "'circle'" in str(caught.value)


# ---------------------------------------------------------------- the registries of the package


def test_measures_strategies_and_engines_use_the_same_class(kind):
    registry, base, _ = REGISTRIES[kind]
    assert type(registry) is Registry
    assert registry.kind == kind
    assert registry.entries()
    for name, entry in registry.entries().items():
        assert issubclass(entry.cls, base)
        assert name == entry.name == entry.name.lower()
        assert entry.summary


def test_no_class_of_the_package_is_forgotten(kind):
    """Every concrete class that is defined in the package of a registry is registered."""
    registry, base, _ = REGISTRIES[kind]
    package = importlib.import_module(registry.package)
    names = [each.name for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    defined = {
        cls
        for name in names
        for cls in vars(importlib.import_module(name)).values()
        if inspect.isclass(cls) and issubclass(cls, base) and not inspect.isabstract(cls)
    }
    registered = {entry.cls for entry in registry.entries().values()}
    assert {cls for cls in defined if not cls.__name__.startswith("_")} == registered


def test_unknown_members_give_an_error_that_lists_the_known_ones(kind):
    registry, _, find = REGISTRIES[kind]
    with pytest.raises(ParameterError, match=f"there is no {kind} 'nonsense'") as caught:
        find("nonsense")
    for name in registry.entries():
        assert f"'{name}'" in str(caught.value)


@pytest.mark.parametrize("registry", [MEASURES, STRATEGIES], ids=["measures", "strategies"])
def test_registered_classes_are_public(registry):
    for name, cls in registry.classes().items():
        assert getattr(covary, name) is cls
        assert name in dir(covary)
    with pytest.raises(AttributeError, match="has no attribute 'Nonsense'"):
        _ = covary.Nonsense


def test_strategies_and_engines_are_attributes_of_their_packages():
    assert covary.FourS is strategies.FourS
    assert covary.FourS(edges=3) == strategies.FourS(edges=3)
    for package, registry in ((strategies, STRATEGIES), (engines, ENGINES)):
        for name, cls in registry.classes().items():
            assert getattr(package, name) is cls
        with pytest.raises(AttributeError, match="has no attribute 'Nonsense'"):
            _ = package.Nonsense


@pytest.mark.parametrize("registry", [MEASURES, STRATEGIES], ids=["measures", "strategies"])
def test_instances_have_the_registered_name(registry):
    for name, entry in registry.entries().items():
        assert entry.make().name == name


# ---------------------------------------------------------------- new members


def test_a_new_measure(monkeypatch, table, csv, covary_command):
    registry = temporary(monkeypatch, MEASURES)

    @registry.register("rank-difference", "1 minus the mean difference of ranks")
    @registry.register("half-rank-difference", "half of it", factor=0.5)
    @dataclass(frozen=True)
    class RankDifference(Measure):
        """One minus the mean difference of the ranks of the first and the last column."""

        factor: float = 1.0

        def score_set(self, prepared, columns, target=None):
            ranks = prepared.derived(Ranks).by_row.astype(float) / prepared.n_rows
            difference = np.abs(ranks[columns[0]] - ranks[columns[-1]]).mean()
            return float(self.factor * (1 - difference))

    order = np.argsort(np.argsort(table, axis=0), axis=0) / len(table)
    expected = 1 - np.abs(order[:, 0] - order[:, 1]).mean()
    assert covary.score(table, [0, 1], measure="rank-difference") == pytest.approx(expected)
    halved = covary.score(table, [0, 1], measure="half-rank-difference")
    assert halved == pytest.approx(expected / 2)
    assert covary.score(table, [0, 1], measure="rank-difference", factor=0.5) == halved
    assert covary.RankDifference is RankDifference
    assert RankDifference(0.5).name == "half-rank-difference"
    found = covary.search(table, measure="rank-difference", max_size=2, permutations=19)
    assert found.measure == "rank-difference"
    assert found[0].columns == ("x0", "x1")
    code, out, _ = covary_command(
        "score", csv, "-c", "a,b", "-m", "rank-difference", "-s", "factor=0.5", "--json"
    )
    assert (code, json.loads(out)["score"]) == (0, pytest.approx(expected / 2))
    assert "rank-difference" in covary_command("measures")[1]


def test_a_new_measure_rejects_nominal_columns_unless_it_takes_them(
    monkeypatch, tmp_path, covary_command
):
    registry = temporary(monkeypatch, MEASURES)

    @registry.register("first-values", "the share of rows with the first value")
    @dataclass(frozen=True)
    class FirstValues(Measure):
        """The share of rows with the first value of each column."""

        def score_set(self, prepared, columns, target=None):
            lines = [prepared.by_row(column) for column in columns]
            return float(np.mean([line == line[0] for line in lines]))

    @registry.register("first-levels", "the same, also of levels")
    class FirstLevels(FirstValues):
        """The same, also of levels."""

        takes_nominal = True

    table = nominal_table()
    assert not FirstValues().takes_nominal
    with pytest.raises(ColumnError, match="'first-values' cannot use nominal columns: 'colour'"):
        covary.score(table, ["colour", "x"], measure="first-values")
    colour, x = (table.columns[at].values for at in (0, 2))
    expected = np.mean([colour == colour[0], x == x[0]])
    found = covary.score(table, ["colour", "x"], measure="first-levels")
    assert found == pytest.approx(expected)
    csv = tmp_path / "shop.csv"
    lines = [
        f"{['red', 'green', 'blue', 'grey'][int(a)]},{b},{b * b}"
        for a, b in zip(colour, x, strict=True)
    ]
    csv.write_text("\n".join(["colour,x,y", *lines]) + "\n")
    code, out, notes = covary_command("matrix", csv, "-m", "first-values", "--json")
    assert (code, json.loads(out)["columns"]) == (0, ["x", "y"])
    assert "cannot use nominal columns: 'colour'" in notes
    code, out, _ = covary_command("matrix", csv, "-m", "first-levels", "--json")
    assert (code, json.loads(out)["columns"]) == (0, ["colour", "x", "y"])
    for command in ("matrix", "score", "search", "test"):
        code, _, notes = covary_command(command, csv, "-c", "x,colour", "-m", "first-values")
        assert code != 0
        assert "measure 'first-values' cannot use nominal columns: 'colour'" in notes


def test_a_new_strategy(monkeypatch, table):
    registry = temporary(monkeypatch, STRATEGIES)

    @registry.register("all-pairs", "every pair")
    @dataclass(frozen=True)
    class AllPairs(Exhaustive):
        """Every pair."""

        max_size: int = option(2, "Maximum number of columns of a set.", minimum=2)

    found = covary.search(table, strategy="all-pairs")
    assert (found.strategy, found.scored) == ("all-pairs", 6)
    assert covary.AllPairs is AllPairs
    assert strategies.AllPairs is AllPairs


def test_a_new_engine(monkeypatch, table):
    registry = temporary(monkeypatch, ENGINES)
    sessions = []

    @registry.register("recorded", "threads that record their sessions")
    class Recorded(Threads):
        @classmethod
        def at(cls, place, n_jobs):
            return cls(n_jobs) if place == "recorded://" else None

        @contextmanager
        def session(self, shared):
            sessions.append(self.n_jobs)
            with super().session(shared) as session:
                yield session

    expected = covary.search(table)
    for place in ("recorded", "recorded://"):
        sessions.clear()
        assert covary.search(table, engine=place, n_jobs=2) == expected
        assert sessions == [2]
    assert engines.Recorded is Recorded


def test_registration_returns_the_class():
    registry = Registry("thing", "covary.engines")

    class Thing:
        pass

    assert registry.register("thing", "a thing")(Thing) is Thing
    assert registry.entry("thing").cls is Thing


def test_a_name_is_registered_once():
    registry = Registry("thing", "covary.measures")
    registry.register("one", "the first")(type("First", (), {}))
    with pytest.raises(ValueError, match="the thing 'one' is registered already"):
        registry.register("one", "the second")(type("Second", (), {}))


def test_a_class_is_as_good_as_its_name(table):
    assert find_strategy(covary.Exhaustive, max_size=3) == covary.Exhaustive(max_size=3)
    assert find_measure(covary.UDS) == covary.UDS()


def test_an_empty_attribute_name_is_an_attribute_error():
    for module in (covary, engines, strategies):
        with pytest.raises(AttributeError):
            getattr(module, "")


@pytest.mark.parametrize("name", ["SearchPlots", "SetPlots"])
def test_the_former_module_of_plots_warns(name):
    from covary.plots import accessors
    from covary.report import plots

    with pytest.warns(DeprecationWarning, match="covary.plots.accessors"):
        assert getattr(plots, name) is getattr(accessors, name)


def test_the_measures_of_covary_itself_can_be_imported_from_their_packages():
    from covary.measures.uds import UDS
    from covary.measures.uds_chance import UDSChance

    assert (UDS, UDSChance) == (covary.UDS, covary.UDSChance)
