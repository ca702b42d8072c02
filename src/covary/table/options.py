"""How the user declares columns, and data together with such declarations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from covary import errors
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
    time: Any = option(
        None,
        "Column by which the rows are ordered, such as a date, or 'row' for their order in the "
        "table. Neighbouring rows may then be similar, as in a time series: p-values come from "
        "shifts in time instead of permutations.",
        kind="column",
    )
    difference: bool = option(
        False,
        "Use the changes of numbers from row to row instead of their values, for series that "
        "drift. Needs a time.",
        kind="flag",
    )
    lags: int = option(
        0,
        "Let columns explain the target with up to this many rows of delay. Needs a time and a "
        "target.",
    )
    groups: Any = option(
        None,
        "Column that says which rows belong together, such as the patient of repeated "
        "measurements. With a time, each group is a series of its own.",
        kind="column",
    )
    permute: str = option(
        "within",
        "What p-values exchange if there are groups. 'within': rows of the same group; numbers "
        "are compared with the mean of their group, so that only dependence beyond the group "
        "counts. 'between': whole groups of equal size.",
        choices=("within", "between"),
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
        return {**declared, **self.rows_to_facts(), "missing": self.missing}

    def rows_to_facts(self) -> dict[str, Any]:
        """Return the options about dependent rows as JSON types."""
        named = {name: getattr(self, name) for name in ("time", "groups")}
        return {
            **{name: None if each is None else str(each) for name, each in named.items()},
            "difference": self.difference,
            "lags": self.lags,
            "permute": self.permute,
        }

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("time", "groups"):
            value = getattr(self, name)
            if hasattr(value, "__len__") and not isinstance(value, (str, tuple)):
                raise errors.not_a_column_name(name, value)
        if self.difference not in (True, False):
            raise errors.invalid_parameter("difference", "True or False", self.difference)
        for name, used in (("difference", self.difference), ("lags", self.lags > 0)):
            if used and self.time is None:
                raise errors.needs_time(name)
        if self.permute == "between" and self.groups is None:
            raise errors.needs_groups()
        if self.permute == "between" and self.time is not None:
            raise errors.time_and_between()

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
