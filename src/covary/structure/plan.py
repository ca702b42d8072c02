"""The plan of an overview: the table, the measure and the options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from covary.measures import Measure, find_measure
from covary.prepare import Prepared
from covary.registry import DEFAULT_MEASURE
from covary.runs import OVERVIEW, RunDescription
from covary.searching.plan import FORMER_OPTION_FACTS, option_facts, source_of, table_facts
from covary.significance.nulls import check_arrangements
from covary.structure.options import OverviewOptions


@dataclass(frozen=True)
class OverviewPlan:
    """Everything that defines an overview.

    Parameters
    ----------
    prepared, measure : the columns and the measure
    options : as given by the user
    source : the file of the table, if it is one
    """

    prepared: Prepared
    measure: Measure
    options: OverviewOptions
    source: str | None = None

    @property
    def columns(self) -> list[int]:
        """The columns that vary, without earlier values of other columns."""
        columns = self.prepared.table.columns
        return self.prepared.varying([at for at, each in enumerate(columns) if each.lag == 0])

    def parameters(self) -> dict[str, Any]:
        """Return all parameters by name, as JSON types."""
        return {**self.options.to_dict(), **option_facts(self.prepared)}

    def description(self) -> RunDescription:
        """Return what identifies this overview in a run file."""
        return RunDescription(
            parameters=self.parameters(),
            defaults=OverviewOptions.defaults() | FORMER_OPTION_FACTS,
            bounds=self.measure.bounds,
            kind=OVERVIEW,
            **table_facts(self.prepared, self.source),
        )


def plan_overview(
    data: Any, columns: Sequence[Any] | None, options: OverviewOptions
) -> OverviewPlan:
    """Return the plan of an overview of any data that `read_table` accepts."""
    measure = find_measure(DEFAULT_MEASURE)
    measure, prepared, roles = measure.with_roles(data, columns, None, None)
    measure.check(prepared, len(roles.tested))
    check_arrangements(prepared)
    return OverviewPlan(prepared, measure, options, source_of(data))
