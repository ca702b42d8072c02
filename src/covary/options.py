"""Options of an operation: declared once, used by Python, command line, estimator and run file.

An option is a field of a frozen dataclass that derives from `Options`. The field carries its help
text and the values that it allows::

    @dataclass(frozen=True)
    class SearchOptions(Options):
        top: int = option(100, "Number of sets to return.", minimum=1)

The class validates itself. `accepts` adds the options to the signature and the docstring of a
function, and `covary.cli.options` makes command line options of them.
"""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, NamedTuple, TypeVar

import numpy as np

from covary import errors
from covary.validation import (
    check_choices,
    check_columns,
    check_fraction,
    check_orders,
    check_whole_number,
)

F = TypeVar("F", bound=Callable[..., Any])

# The line of a docstring that `accepts` replaces.
PLACEHOLDER = "<options>"


class Allowed(NamedTuple):
    """The values that an option allows, its help text, and its short command line flag.

    Parameters
    ----------
    kind : "whole number", "fraction", "flag", "choice", "several choices", "column", "columns" or
        "orders" (lists of values by column)
    help : one or more sentences
    minimum : of a whole number
    choices : of a choice
    optional : whether None is allowed
    flag : the short flag, such as "-n"
    """

    kind: str
    help: str
    minimum: int = 0
    choices: tuple[str, ...] = ()
    optional: bool = False
    flag: str = ""

    def check(self, name: str, value: Any) -> Any:
        """Return a valid value; raise an error otherwise."""
        if value is None and self.optional:
            return None
        if self.kind == "whole number":
            return check_whole_number(name, value, self.minimum)
        if self.kind == "fraction":
            return check_fraction(name, value)
        if self.kind == "choice" and value not in self.choices:
            allowed = " or ".join(map(repr, self.choices))
            raise errors.invalid_parameter(name, allowed, value)
        if self.kind == "several choices":
            return check_choices(name, value, self.choices)
        if self.kind == "columns":
            return check_columns(name, value) or None
        if self.kind == "orders":
            return check_orders(name, value) or None
        if self.kind == "flag":
            if not isinstance(value, (Integral, np.bool_)):
                raise errors.invalid_parameter(name, "True or False", value)
            return bool(value)
        return value

    @property
    def type_name(self) -> str:
        """The type as a docstring names it."""
        names = {
            "whole number": "int",
            "fraction": "float",
            "flag": "bool",
            "column": "name",
            "columns": "list of names",
            "orders": "dict of lists",
        }
        if self.kind == "several choices":
            text = "list of " + ", ".join(f'"{each}"' for each in self.choices)
        else:
            text = names.get(self.kind) or " or ".join(f'"{each}"' for each in self.choices)
        return f"{text}, optional" if self.optional else text


def option(
    default: Any,
    help: str,
    *,
    kind: str = "whole number",
    minimum: int = 0,
    choices: Iterable[str] = (),
    flag: str = "",
) -> Any:
    """Return a dataclass field that is an option; None is allowed if it is the default."""
    choices = tuple(choices)
    kind = "choice" if choices and kind == "whole number" else kind
    allowed = Allowed(kind, help, minimum, choices, default is None, flag)
    return field(default=default, metadata={"allowed": allowed})


@dataclass(frozen=True)
class Options:
    """Base class of options: checks every value when it is made."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # The dataclass decorator runs later: until then, options are attributes of the class.
        fields = {n: each for n, each in vars(cls).items() if isinstance(each, dataclasses.Field)}
        options = {n: each.metadata.get("allowed") for n, each in fields.items()}
        document(cls, {n: allowed for n, allowed in options.items() if allowed is not None})

    def __post_init__(self) -> None:
        for name, allowed in self.allowed().items():
            object.__setattr__(self, name, allowed.check(name, getattr(self, name)))

    @classmethod
    def allowed(cls) -> dict[str, Allowed]:
        """Return what each option allows, by name."""
        return {
            each.name: each.metadata["allowed"]
            for each in dataclasses.fields(cls)
            if "allowed" in each.metadata
        }

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the default of each option, by name."""
        return {each.name: each.default for each in dataclasses.fields(cls)}

    @classmethod
    def split(cls, keywords: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the keywords that are options, and all others."""
        names = cls.defaults()
        mine = {name: value for name, value in keywords.items() if name in names}
        return mine, {name: value for name, value in keywords.items() if name not in names}

    def to_dict(self) -> dict[str, Any]:
        """Return all options by name."""
        return {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}


def accepts(
    options: type[Options],
    *,
    without: Iterable[str] = (),
    more_keywords: bool = True,
    **defaults: Any,
) -> Callable[[F], F]:
    """Return a decorator that adds options to the signature and docstring of a function.

    The function receives them in its ``**keywords``, and only those that the caller gave.

    Parameters
    ----------
    without : options that the function does not have
    more_keywords : whether the function takes other keywords, too
    **defaults : defaults that differ from those of the options
    """
    allowed = {name: each for name, each in options.allowed().items() if name not in set(without)}

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        added = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=defaults.get(name, options.defaults()[name]),
            )
            for name in allowed
        ]
        var_keyword = inspect.Parameter.VAR_KEYWORD
        named = [p for p in signature.parameters.values() if p.kind is not var_keyword]
        rest = [p for p in signature.parameters.values() if p.kind is var_keyword]
        rest = rest if more_keywords else []
        function.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*named, *added, *rest]
        )
        document(function, allowed)
        return function

    return decorate


def document(documented: Any, allowed: Mapping[str, Allowed]) -> None:
    """Replace the placeholder line of a docstring by the descriptions of options."""
    lines = []
    for line in (documented.__doc__ or "").split("\n"):
        if line.strip() != PLACEHOLDER:
            lines.append(line)
            continue
        indent = line[: line.index(PLACEHOLDER)]
        for name, each in allowed.items():
            lines.append(f"{indent}{name} : {each.type_name}")
            lines += textwrap.wrap(
                each.help, 99, initial_indent=f"{indent}    ", subsequent_indent=f"{indent}    "
            )
    documented.__doc__ = "\n".join(lines)
