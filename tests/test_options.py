"""Options: declared once, and available in Python, command line, estimator and run file."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass

import click
import numpy as np
import pytest
from click.testing import CliRunner

import covary
from covary.cli import explain as cli_explain
from covary.cli import matrix as cli_matrix
from covary.cli import options as cli_options
from covary.cli import score as cli_score
from covary.cli import search as cli_search
from covary.cli import test as cli_test
from covary.cli.main import command as main_command
from covary.errors import ParameterError
from covary.estimators import RENAMED
from covary.measures import all_measures, find_seeded
from covary.options import Options, accepts, option
from covary.runs import RunFile
from covary.searching.options import SearchOptions
from covary.searching.resume import restore_search
from covary.searching.strategies import STRATEGIES, all_strategies, strategy_parameters
from covary.significance.independence import TestOptions
from covary.table import TableOptions

KINDS = {
    *("whole number", "fraction", "flag", "choice", "several choices"),
    *("column", "columns", "orders"),
}
# The function that describes the options, and a command.
FUNCTIONS = {SearchOptions: covary.search, TestOptions: covary.test, TableOptions: covary.score}
COMMANDS = {
    SearchOptions: cli_search.command,
    TestOptions: cli_test.command,
    TableOptions: cli_score.command,
}
EVERY_OPTION = [
    pytest.param(cls, name, id=f"{cls.__name__}.{name}")
    for cls in FUNCTIONS
    for name in cls.allowed()
]
STRATEGY_CLASSES = sorted(STRATEGIES.classes().values(), key=lambda cls: cls.__name__)


def parameters_of(command):
    """Return the command line options of a command by the name of their argument."""
    context = click.Context(command)
    return {each.name: each for each in command.get_params(context)}


def unwrapped(text):
    return " ".join(text.split())


@pytest.fixture(scope="module")
def table():
    """Return seven columns: a group of four, a pair, and noise."""
    rng = np.random.default_rng(4)
    cells = rng.normal(size=(200, 7))
    for column in (1, 2, 3):
        cells[:, column] = cells[:, 0] + 0.2 * column * cells[:, column]
    cells[:, 5] += cells[:, 4]
    return cells


@pytest.fixture
def csv(table, tmp_path):
    path = tmp_path / "table.csv"
    header = ",".join(f"x{at}" for at in range(table.shape[1]))
    np.savetxt(path, table, delimiter=",", header=header, comments="", fmt="%.17g")
    return path


# ---------------------------------------------------------------- one declaration for all


@pytest.mark.parametrize(("cls", "name"), EVERY_OPTION)
def test_every_option_has_a_help_text(cls, name):
    allowed = cls.allowed()[name]
    assert allowed.help.endswith(".")
    assert len(allowed.help.split()) > 2
    assert allowed.kind in KINDS


@pytest.mark.parametrize(("cls", "name"), EVERY_OPTION)
def test_every_option_is_on_the_command_line(cls, name):
    shown = parameters_of(COMMANDS[cls])[name]
    allowed = cls.allowed()[name]
    assert f"--{name.replace('_', '-')}" in shown.opts
    assert not allowed.flag or allowed.flag in shown.opts
    assert shown.help == allowed.help
    assert shown.default == cls.defaults()[name]


@pytest.mark.parametrize(("cls", "name"), EVERY_OPTION)
def test_every_option_is_in_signature_and_docstring_of_the_function(cls, name):
    function = FUNCTIONS[cls]
    parameter = inspect.signature(function).parameters[name]
    assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
    assert parameter.default == cls.defaults()[name]
    documentation = unwrapped(inspect.getdoc(function))
    assert f"{name} : {cls.allowed()[name].type_name} {cls.allowed()[name].help}" in documentation
    assert "<options>" not in documentation


@pytest.mark.parametrize("name", TableOptions.allowed())
@pytest.mark.parametrize(
    "function", [covary.evidence, covary.explain, covary.matrix, covary.test, covary.search]
)
def test_every_function_declares_columns(function, name):
    parameter = inspect.signature(function).parameters[name]
    assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
    assert parameter.default == TableOptions.defaults()[name]
    first, _, described = unwrapped(inspect.getdoc(function)).rpartition("As for `score`.")
    assert f" {name}," in first or f" {name} " in first
    assert described


@pytest.mark.parametrize("name", TableOptions.allowed())
@pytest.mark.parametrize("module", [cli_explain, cli_matrix, cli_test, cli_search])
def test_every_command_declares_columns(module, name):
    shown = parameters_of(module.command)[name]
    assert shown.opts == [f"--{name}"]
    assert shown.help == TableOptions.allowed()[name].help
    assert shown.default == TableOptions.defaults()[name]


@pytest.mark.parametrize("name", [n for n in SearchOptions.allowed() if n not in RENAMED])
def test_every_option_is_a_parameter_of_the_estimator(name):
    assert name in inspect.signature(covary.SubspaceSearch).parameters
    assert name in covary.SubspaceSearch().get_params()
    documentation = unwrapped(inspect.getdoc(covary.SubspaceSearch))
    allowed = SearchOptions.allowed()[name]
    assert f"{name} : {allowed.type_name} {allowed.help}" in documentation
    assert "<options>" not in documentation


def test_the_estimator_renames_target_and_seed():
    assert set(RENAMED) == {"target", "seed"}
    assert not set(RENAMED) & set(covary.SubspaceSearch().get_params())
    assert {"supervised", "random_state"} <= set(covary.SubspaceSearch().get_params())


def test_a_run_file_contains_every_option(csv, tmp_path):
    path = tmp_path / "run.covary"
    chosen = {"target": "x4", "top": 3, "sift": True, "permutations": 19, "seed": 7}
    given = {**SearchOptions.defaults(), **chosen}
    covary.search(csv, run=path, max_size=3, n_jobs=1, **given)
    with RunFile.read(path) as run_file:
        facts = run_file.facts()
    stored = {**facts, **facts["tests"]}
    assert {name: stored[name] for name in given} == given
    assert {name: stored[name] for name in TableOptions.defaults()} == TableOptions.defaults()
    assert restore_search(path).plan.options == SearchOptions(**given)


def test_a_result_contains_every_option(table):
    found = covary.search(table, max_size=2, top=4, prune=True, seed=9, n_jobs=1)
    expected = SearchOptions(top=4, prune=True, seed=9).to_dict()
    assert {name: found.parameters[name] for name in SearchOptions.allowed()} == expected


# ---------------------------------------------------------------- invalid values


INVALID = {
    "whole number": (1.5, "3", True, [2], np.nan),
    "fraction": (0, 1, 0.0, 1.0, -0.1, np.nan, "0.5", True),
    "flag": ("yes", "False", [1]),
    "choice": ("some", 3, True),
    "column": (),
    "columns": ("age", 3),
    "orders": ("size=S,M,L", 3, ["S", "M", "L"]),
    "several choices": ("hour", 3, ["minute"], []),
}


def invalid_values(cls):
    """Return a parameter for each option of a class and each value that it must reject."""
    for name, allowed in cls.allowed().items():
        values = list(INVALID[allowed.kind])
        if allowed.kind == "whole number":
            values.append(allowed.minimum - 1)
        if allowed.kind not in ("flag", "column", "columns") and not allowed.optional:
            values.append(None)
        for value in values:
            yield pytest.param(cls, name, value, id=f"{cls.__name__}.{name}={value!r}")


@pytest.mark.parametrize(
    ("cls", "name", "value"),
    [
        each
        for cls in (SearchOptions, TestOptions, TableOptions, *STRATEGY_CLASSES)
        for each in invalid_values(cls)
    ],
)
def test_invalid_values_are_errors_that_name_the_option(cls, name, value):
    with pytest.raises(ParameterError, match=rf"^{name} must be .+, not ") as caught:
        cls(**{name: value})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("function", "keywords"),
    [
        (covary.search, {"top": 0}),
        (covary.search, {"permutations": -1}),
        (covary.search, {"beam": 0}),
        (covary.search, {"edges": 0, "strategy": "4s"}),
        (covary.test, {"level": 2}),
        (covary.test, {"permutations": 0}),
    ],
)
def test_functions_reject_invalid_values(table, function, keywords):
    name = next(iter(keywords))
    with pytest.raises(ParameterError, match=f"^{name} must be "):
        function(table, **keywords)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("SML", "a list of values in their order, not 'SML'"),
        (3, "a list of values in their order, not 3"),
        (["S", "M", "S"], r"different values, not \['S', 'M', 'S'\]"),
        ([1, "1"], r"different values, not \[1, '1'\]"),
    ],
)
def test_invalid_orders_name_the_column(order, message):
    with pytest.raises(ParameterError, match=rf"^ordered\['size'\] must be {message}$"):
        TableOptions(ordered={"colour": ["red", "blue"], "size": order})


def test_declarations_are_compared_by_value():
    assert TableOptions(nominal=["zip"]) == TableOptions(nominal=("zip",)) != TableOptions()
    assert TableOptions(ordered={"a": iter("SM")}) == TableOptions(ordered={"a": ("S", "M")})
    assert TableOptions(nominal=[], ordered={}) == TableOptions()
    json.dumps(TableOptions([np.int64(3)], {"a": [np.float64(1), True]}).to_facts())


def test_numpy_numbers_are_converted():
    made = SearchOptions(top=np.int64(5), prune=np.bool_(True))
    assert made == SearchOptions(top=5, prune=True)
    assert (type(made.top), type(made.prune)) == (int, bool)
    json.dumps(made.to_dict())


def test_unknown_options_are_an_error():
    with pytest.raises(TypeError, match="unexpected keyword argument 'topp'"):
        SearchOptions(topp=3)
    assert SearchOptions.split({"top": 3, "beta": 5}) == ({"top": 3}, {"beta": 5})


# ---------------------------------------------------------------- a new option


@dataclass(frozen=True)
class MoreOptions(SearchOptions):
    """The options of a search, and new ones.

    Parameters
    ----------
    <options>
    """

    rounds: int = option(3, "Number of rounds.", minimum=2, flag="-r")
    share: float | None = option(None, "Fraction of rows to use.", kind="fraction")
    only_new: bool = option(False, "Return only new sets.", kind="flag")
    side: str = option("left", "Side of the interval.", choices=("left", "right"))


NEW = ("rounds", "share", "only_new", "side")


def test_a_new_option_appears_in_signature_and_docstring():
    @accepts(MoreOptions, without=["sift"], rounds=5)
    def function(data, *, engine="threads", **keywords):
        """Do something.

        Parameters
        ----------
        data : array
        <options>
        engine : str
        """
        return keywords

    parameters = inspect.signature(function).parameters
    expected = [name for name in MoreOptions.allowed() if name != "sift"]
    assert list(parameters) == ["data", "engine", *expected, "keywords"]
    assert parameters["rounds"].default == 5
    assert parameters["share"].default is None
    documentation = unwrapped(function.__doc__)
    assert "rounds : int Number of rounds." in documentation
    assert "share : float, optional Fraction of rows to use." in documentation
    assert "only_new : bool Return only new sets." in documentation
    assert 'side : "left" or "right" Side of the interval. engine : str' in documentation
    assert "sift" not in documentation
    assert function(None, rounds=4) == {"rounds": 4}, "only given options are passed"


def test_a_new_option_appears_in_the_docstring_of_its_class():
    documentation = unwrapped(MoreOptions.__doc__)
    assert all(MoreOptions.allowed()[name].help in documentation for name in NEW)


def test_a_new_option_appears_on_the_command_line():
    received = {}

    @click.command(
        cls=cli_options.GeneratedCommand, generated=lambda: cli_options.options_of(MoreOptions)
    )
    def command(**keywords):
        received.update(keywords)

    def run(*arguments):
        return CliRunner().invoke(command, arguments)

    assert run().exit_code == 0
    assert MoreOptions(**received) == MoreOptions()
    written = ("-r", "7", "--share", "0.25", "--only-new", "--side", "right", "--top", "3")
    assert run(*written).exit_code == 0
    assert received["rounds"] == 7
    expected = MoreOptions(rounds=7, share=0.25, only_new=True, side="right", top=3)
    assert MoreOptions(**received) == expected
    shown = unwrapped(run("--help").output)
    assert all(MoreOptions.allowed()[name].help in shown for name in NEW)
    for wrong in (("-r", "1"), ("--share", "1"), ("--side", "up"), ("--rounds", "x")):
        assert run(*wrong).exit_code == 2


def test_a_new_option_is_validated_and_listed():
    assert list(MoreOptions.defaults()) == [*SearchOptions.defaults(), *NEW]
    assert MoreOptions(rounds=2).to_dict()["rounds"] == 2
    with pytest.raises(ParameterError, match="rounds must be a whole number of at least 2, not 1"):
        MoreOptions(rounds=1)
    with pytest.raises(ParameterError, match="side must be 'left' or 'right', not 'up'"):
        MoreOptions(side="up")


def test_a_new_option_of_a_strategy_is_a_keyword_and_on_the_command_line(monkeypatch, table):
    monkeypatch.setattr(STRATEGIES, "_entries", dict(STRATEGIES.entries()))

    @STRATEGIES.register("first-pairs", "the first pairs of columns")
    @dataclass(frozen=True)
    class FirstPairs(covary.Exhaustive):
        """Score the pairs of the first columns."""

        max_size: int = option(2, "Maximum number of columns of a set.", minimum=2)
        first: int = option(3, "Number of columns to search.", minimum=2)

        def batches(self, n_columns, fixed=0):
            return super().batches(min(n_columns, self.first), fixed)

        def count(self, n_columns, fixed=0):
            return super().count(min(n_columns, self.first), fixed)

    assert covary.search(table, strategy="first-pairs").scored == 3
    assert covary.search(table, strategy="first-pairs", first=4).scored == 6
    by_name = {each.name: each for each in cli_options.strategy_options()}
    assert "Number of columns to search." in by_name["first"].help
    assert "Only for strategy first-pairs." in by_name["first"].help
    assert "first-pairs" in by_name["strategy"].type.choices


# ---------------------------------------------------------------- parameters of strategies


def test_every_strategy_parameter_is_a_keyword_and_on_the_command_line():
    shown = parameters_of(cli_search.command)
    keywords = {name: None for entry in all_strategies().values() for name in entry.parameters}
    assert {"max_size", "beam", "parents", "edges"} <= set(keywords)
    assert strategy_parameters({**keywords, "beta": 3}, covary.UDS()) == (keywords, {"beta": 3})
    for entry in all_strategies().values():
        for name, allowed in entry.cls.allowed().items():
            assert shown[name].default is None, "the strategy has its own default"
            assert allowed.help in unwrapped(inspect.getdoc(entry.cls))


STRATEGIES_AND_PARAMETERS = [
    ("4s", {"edges": 5}, covary.FourS(edges=5)),
    ("4s", {"edges": 2, "max_size": 3}, covary.FourS(max_size=3, edges=2)),
    ("beam", {"beam": 2}, covary.Beam(beam=2)),
    ("beam", {"beam": 2, "parents": "one"}, covary.Beam(beam=2, parents="one")),
    ("exhaustive", {"max_size": 3}, covary.Exhaustive(max_size=3)),
]


@pytest.mark.parametrize(("name", "parameters", "strategy"), STRATEGIES_AND_PARAMETERS)
def test_strategy_parameters_in_all_interfaces(covary_command, csv, name, parameters, strategy):
    expected = covary.search(csv, strategy=strategy)
    assert covary.search(csv, strategy=name, **parameters) == expected
    assert covary.search(csv, strategy=type(strategy)(), **parameters) == expected
    written = [
        text
        for key, value in parameters.items()
        for text in (f"--{key.replace('_', '-')}", str(value))
    ]
    code, out, _ = covary_command("search", csv, "--strategy", name, *written, "--json")
    assert code == 0
    assert json.loads(out) == json.loads(expected.to_json())


def test_strategy_parameters_change_the_result(table):
    def scored(**keywords):
        return covary.search(table, **keywords).scored

    assert scored(strategy="4s", edges=2) < scored(strategy="4s", edges=20)
    few = scored(beam=2, every=0)
    assert few < scored(beam=2, parents="one", every=0) < scored(beam=50, every=0)
    assert few < scored(beam=2, every=21) < scored(beam=2, every=35)


# ---------------------------------------------------------------- names


def test_options_and_measure_parameters_have_different_names():
    """A keyword of `covary.search` must belong to one place only.

    The exception is ``seed``: `find_seeded` passes it to a randomised measure given by name.
    """
    of_measures = {name for entry in all_measures().values() for name in entry.parameters}
    of_strategies = {name for entry in all_strategies().values() for name in entry.parameters}
    of_functions = {
        name
        for function in (covary.search, covary.test, covary.matrix, covary.explain, covary.score)
        for name, each in inspect.signature(function).parameters.items()
        if each.kind is not inspect.Parameter.VAR_KEYWORD
    }
    assert of_functions >= {name for cls in FUNCTIONS for name in cls.allowed()}
    assert (of_functions | of_strategies) & of_measures == {"seed"}
    assert set(SearchOptions.allowed()) & of_strategies == set()


def test_the_seed_of_a_search_is_that_of_a_randomised_measure_given_by_name(table):
    assert find_seeded("hics", 5).seed == 5
    assert find_seeded(covary.HiCS(seed=2), 5).seed == 2
    found = covary.search(table[:, :3], measure="hics", max_size=2, seed=5)
    given = covary.search(table[:, :3], measure=covary.HiCS(seed=5), max_size=2, seed=5)
    assert found.parameters["measure_parameters"]["seed"] == 5
    assert found == given


def test_no_command_has_two_options_of_one_name():
    context = click.Context(main_command)
    for name in main_command.list_commands(context):
        command = main_command.get_command(context, name)
        flags = [flag for each in command.get_params(context) for flag in each.opts]
        assert len(set(flags)) == len(flags), name


def test_options_are_frozen():
    with pytest.raises(AttributeError):
        SearchOptions().top = 3
    assert issubclass(SearchOptions, Options)
    assert issubclass(covary.Beam, Options)


# ------------------------------------------------------------ keywords go where they belong


@pytest.mark.parametrize(
    ("keyword", "meant"),
    [
        *[("beem", "beam"), ("parent", "parents"), ("permutatons", "permutations")],
        *[("edge", "edges"), ("nominals", "nominal"), ("orderd", "ordered")],
    ],
)
def test_a_misspelt_keyword_of_a_search_names_the_nearest(table, keyword, meant):
    with pytest.raises(ParameterError, match=f"search has no parameter '{keyword}'.*'{meant}'"):
        covary.search(table, **{keyword: 5})


def test_the_name_of_the_var_keyword_is_not_a_suggestion(table):
    with pytest.raises(ParameterError, match="no parameter 'parameter'") as caught:
        covary.search(table, parameter=1)
    assert "'parameters'" not in str(caught.value).partition("its parameters are")[0]


def test_a_parameter_of_the_measure_is_not_taken_by_a_strategy():
    @dataclass(frozen=True)
    class WithBeam:
        beam: int = 1

    assert strategy_parameters({"beam": 7, "edges": 3}, WithBeam()) == ({"edges": 3}, {"beam": 7})


def test_strategy_parameters_of_the_estimator_take_precedence(table):
    fitted = covary.SubspaceSearch(strategy_params={"max_size": 3, "beam": 7}).fit(table)
    found = fitted.result_.parameters["strategy_parameters"]
    assert found == {"max_size": 3, "beam": 7, "parents": None, "every": None}


def test_strategies_agree_about_the_parameters_that_they_share():
    """The command line has one option for all of them."""
    shared = {}
    for entry in all_strategies().values():
        for name, allowed in entry.cls.allowed().items():
            shared.setdefault(name, set()).add(allowed._replace(optional=False))
    assert all(len(each) == 1 for each in shared.values()), shared


def test_a_strategy_without_declared_options_still_works(table):
    """As in the first release: a dataclass with plain fields."""

    @dataclass(frozen=True)
    class FirstPairs(covary.Exhaustive):
        first: int = 3

        def batches(self, n_columns, fixed=0):
            yield from super().batches(min(self.first, n_columns), fixed)

    found = covary.search(table, strategy=FirstPairs(max_size=2), measure="spearman")
    assert found.strategy == "FirstPairs"
    assert found.scored == 3
    assert found.parameters["strategy_parameters"] == {"max_size": 2, "first": 3}
