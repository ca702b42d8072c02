"""What an experiment is: trials that do not depend on each other, and what they show together."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

if TYPE_CHECKING:
    from covary.measures import Measure

# The methods that every experiment compares, ours first.
METHODS = (
    "uds-chance",
    "uds",
    "uds-unregularized",
    "cmi",
    "mac",
    "hics",
    "mcde",
    "total-correlation",
)
# Where a method is not taken with its default parameters: without, `cmi` depends on units.
PARAMETERS: Mapping[str, Mapping[str, Any]] = {"cmi": {"scale": "range"}}
SEED = 20160505

Trial = tuple[Any, ...]
Result = dict[str, Any]
Spec = dict[str, Any]


class Sheet(NamedTuple):
    """Figures in rows and columns, with what they are.

    Parameters
    ----------
    title : what the figures are
    heads : of the columns
    rows : of words and numbers; None is a dash
    digits : after the point
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Any]]
    digits: int = 2

    def shown(self) -> list[list[str]]:
        """Return the cells as text."""
        return [[_shown(cell, self.digits) for cell in row] for row in self.rows]

    def numeric(self) -> list[bool]:
        """Return which columns are of numbers."""
        return [
            all(isinstance(row[at], int | float | None) for row in self.rows)
            for at in range(len(self.heads))
        ]


def _shown(cell: Any, digits: int) -> str:
    if cell is None:
        return "-"
    return f"{cell:.{digits}f}" if isinstance(cell, float) else str(cell)


class Findings(NamedTuple):
    """What the trials of an experiment show.

    Parameters
    ----------
    sentences : how it compares with the paper, and where it differs, why we think so
    sheets : the figures
    picture : of them, as Vega-Lite has it
    notes : how it was done
    """

    sentences: Sequence[str]
    sheets: Sequence[Sheet]
    picture: Spec
    notes: Sequence[str] = ()


class Results:
    """What trials gave, by trial."""

    def __init__(self, known: Mapping[str, Result]) -> None:
        self._known = known

    def __getitem__(self, trial: Trial) -> Result:
        return self._known[key_of(trial)]


def key_of(trial: Trial) -> str:
    """Return a trial as text, the same before and after it was in a file."""
    return json.dumps(trial)


def measure_of(method: str, seed: int = 0) -> Measure:
    """Return the measure that a method is, with the parameters and the seed that it is given.

    Examples
    --------
    >>> measure_of("cmi")
    CMI(scale='range')

    """
    from covary.measures import find_seeded

    return find_seeded(method, seed, **PARAMETERS.get(method, {}))


def in_order(figures: Mapping[str, float], *, highest_first: bool = True) -> str:
    """Return figures by method in words, in their order.

    Examples
    --------
    >>> in_order({"cmi": 0.204, "mac": 0.3, "uds": 0.2})
    '`mac` 0.30, `cmi` 0.20, `uds` 0.20'

    """
    sign = -1 if highest_first else 1
    ordered = sorted(figures, key=lambda name: sign * round(figures[name], 2))
    return ", ".join(f"`{name}` {figures[name]:.2f}" for name in ordered)


def listed(names: Sequence[str]) -> str:
    """Return names of methods in words.

    Examples
    --------
    >>> listed(["cmi", "mac"]), listed([])
    ('`cmi`, `mac`', 'none')

    """
    return ", ".join(f"`{name}`" for name in names) or "none"


@dataclass(frozen=True)
class Experiment(ABC):
    """A table or figure of the paper.

    Parameters
    ----------
    quick : whether a few small trials will do, to see that it works
    data : the folder with real tables, if it is not to be the cache or the network
    seed : of all that is drawn
    """

    name: ClassVar[str]
    title: ClassVar[str]
    # Experiments of one pool share their trials: what one has done, another need not do again.
    pool: ClassVar[str]
    # Whether trials take turns, as those do that measure time.
    alone: ClassVar[bool] = False

    quick: bool = False
    data: Path | None = None
    seed: int = SEED

    @property
    def tables(self) -> tuple[str, ...]:
        """The real tables that it takes, as `covary.datasets` calls them."""
        return ()

    @abstractmethod
    def trials(self) -> list[Trial]:
        """Return what is to be done; every trial is plain numbers and words, in lists or not."""

    @abstractmethod
    def run(self, trial: Trial) -> Result:
        """Return what a trial gives; the same trial gives the same, whoever runs it."""

    @abstractmethod
    def findings(self, results: Results) -> Findings:
        """Return what the results of all trials show."""
