"""How the user declares columns, and data together with such declarations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from covary.options import Options, option
from covary.validation import label_text


@dataclass(frozen=True)
class TableOptions(Options):
    """Options of all functions and commands that read a table."""

    nominal: Any = option(
        None,
        "Columns whose values are names without an order, such as postal codes. Columns of text "
        "need not be named.",
        kind="columns",
    )
    ordered: Any = option(
        None,
        "Order of the values of columns of text, such as size=S,M,L.",
        kind="orders",
    )
    dates: Any = option(
        None,
        "What dates are used as: the point in time, or calendar columns such as 'date (hour)'. By "
        "default the time, and those calendar columns on whose scale the dates vary.",
        kind="several choices",
        choices=("time", "hour", "weekday", "month"),
    )
    missing: str = option(
        "values",
        "What a missing cell of an explaining column is for the default measure. 'values': its "
        "row does not count for this column, so that only values explain something. 'level': a "
        "value of its own, so that it may also matter which cells are missing. Other measures "
        "have their own treatment.",
        choices=("values", "level"),
    )

    def to_facts(self) -> dict[str, Any]:
        """Return the options as JSON types."""
        ordered = {
            str(name): [label_text(label) for label in order]
            for name, order in (self.ordered or {}).items()
        }
        nominal = [str(name) for name in self.nominal or ()]
        dates = None if self.dates is None else list(self.dates)
        declared = {"nominal": nominal or None, "ordered": ordered or None, "dates": dates}
        return {**declared, "missing": self.missing}

    @classmethod
    def former_defaults(cls) -> dict[str, Any]:
        """Return what options were in effect before they existed."""
        return {**cls.defaults(), "missing": "level"}


NO_OPTIONS = TableOptions()


class Declared(NamedTuple):
    """Data of any kind, and how its columns are declared."""

    data: Any
    options: TableOptions


def declare(data: Any, options: TableOptions) -> Any:
    """Return data with declarations; the data itself if there are none."""
    return data if options == NO_OPTIONS else Declared(data, options)


def undeclared(data: Any) -> Any:
    """Return data without declarations."""
    return data.data if isinstance(data, Declared) else data
