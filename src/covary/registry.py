"""One kind of registry for measures, strategies and engines.

A class registers itself in its own file. A registry imports every file of its package when it is
first asked, so that no list of members is maintained anywhere.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from covary import errors

# The public name of the measure that is used by default.
DEFAULT_MEASURE = "uds-chance"

T = TypeVar("T")
C = TypeVar("C", bound=type)


@dataclass(frozen=True)
class Entry(Generic[T]):
    """A registered class.

    Parameters
    ----------
    name : the public name
    cls : the class
    summary : one line of description
    fixed : the parameter values that the name implies
    """

    name: str
    cls: type[T]
    summary: str
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the class with their defaults."""
        parameters = inspect.signature(self.cls).parameters.values()
        return {each.name: self.fixed.get(each.name, each.default) for each in parameters}

    def make(self, parameters: Mapping[str, Any] | None = None) -> T:
        """Return an instance with these parameters."""
        return self.cls(**{**self.fixed, **(parameters or {})})


class Registry(Generic[T]):
    """The named classes of one kind.

    Parameters
    ----------
    kind : what the members are, such as "measure"
    package : the package whose files register them
    """

    def __init__(self, kind: str, package: str) -> None:
        self.kind = kind
        self.package = package
        self._entries: dict[str, Entry[T]] = {}
        self._complete = False

    def register(self, name: str, summary: str, **fixed: Any) -> Callable[[C], C]:
        """Return a class decorator that registers a class under a public name.

        ``fixed`` are parameter values that the name implies.
        """

        def add(cls: C) -> C:
            before = self._entries.get(name)
            if before is not None and before.cls.__qualname__ != cls.__qualname__:
                raise ValueError(f"the {self.kind} {name!r} is registered already")
            self._entries[name] = Entry(name, cls, summary, fixed)
            return cls

        return add

    def entries(self) -> dict[str, Entry[T]]:
        """Return every registered class by its public name."""
        if not self._complete:
            package = importlib.import_module(self.package)
            for module in pkgutil.walk_packages(package.__path__, f"{self.package}."):
                importlib.import_module(module.name)
            self._complete = True
        return dict(sorted(self._entries.items()))

    def classes(self) -> dict[str, type[T]]:
        """Return the registered classes by class name."""
        return {entry.cls.__name__: entry.cls for entry in self.entries().values()}

    def name_of(self, instance: T) -> str:
        """Return the registered name that fits the parameters of an instance best."""
        entries = [e for e in self.entries().values() if e.cls is type(instance)]
        fitting = [
            entry
            for entry in entries
            if all(getattr(instance, name) == value for name, value in entry.fixed.items())
        ]
        if not fitting:
            return type(instance).__name__
        return max(fitting, key=lambda entry: len(entry.fixed)).name

    def entry(self, name: object) -> Entry[T]:
        """Return the class of a public name; raise an error that lists the names if none fits."""
        entries = self.entries()
        wanted = name.strip().lower().replace("_", "-") if isinstance(name, str) else None
        if wanted not in entries:
            raise errors.unknown_name(self.kind, name, list(entries))
        return entries[wanted]

    def check_parameters(self, name: str, cls: type[T], parameters: Mapping[str, Any]) -> None:
        """Raise an error if the class does not have one of these parameters."""
        known = list(inspect.signature(cls).parameters)
        for each in parameters:
            if each not in known:
                others = [e.name for e in self.entries().values() if each in e.parameters]
                raise errors.unknown_parameter(self.kind, name, each, known, others)
