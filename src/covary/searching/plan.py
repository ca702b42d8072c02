"""The plan of a search: what is searched, with which measure, strategy and options."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from platform import python_version
from typing import Any

import numpy as np

from covary import errors
from covary.array_types import Columns, ColumnSets, Integers
from covary.measures import Measure
from covary.measures.shared.content_order import table_order_by_content
from covary.prepare import Prepared, Roles
from covary.runs import RunDescription
from covary.searching.candidates import Candidates
from covary.searching.options import SearchOptions
from covary.searching.strategies import Strategy
from covary.significance.nulls import check_arrangements, check_groups
from covary.table import Column, TableOptions, undeclared
from covary.version import __version__

# Scoring more sets would take weeks on any machine.
MAX_SETS = 10**12
# A beam search scores all sets of three if this takes about as long on a machine with two cores.
SECONDS_FOR_TRIPLES = 30.0

# The facts that older run files lack.
FORMER_OPTION_FACTS = {**TableOptions.former_defaults(), "row_groups": None}


@dataclass(frozen=True)
class SearchPlan:
    """Everything that defines a search; nothing changes while it runs.

    Parameters
    ----------
    prepared : the columns
    measure, strategy, options : as given by the user
    candidates : the sets to score; constant columns are left out
    source : the file of the table, if it is one
    given : the columns beyond which sets explain the target
    """

    prepared: Prepared
    measure: Measure
    strategy: Strategy
    options: SearchOptions
    candidates: Candidates
    source: str | None = None
    given: Columns = ()

    @property
    def target(self) -> int | None:
        """The position of the target, if there is one."""
        return self.candidates.target

    @property
    def places(self) -> Integers:
        """The place of each column among the candidates; 0 for columns outside of them."""
        places = np.zeros(len(self.prepared.names), np.int64)
        places[self.candidates.columns] = np.arange(len(self.candidates.columns))
        return places

    @property
    def undelayed(self) -> list[int]:
        """For each column, the first one that has values of the same column."""
        names = [column.undelayed for column in self.prepared.table.columns]
        first = {name: at for at, name in reversed(list(enumerate(names)))}
        return [first[name] for name in names]

    @property
    def n_columns(self) -> int:
        """The number of columns that a set may contain."""
        return len(self.candidates.columns) + self.candidates.n_fixed

    def parameters(self) -> dict[str, Any]:
        """Return all parameters that decide which sets the search finds, as JSON types."""
        names = self.prepared.names
        measure_parameters = _json_fields(self.measure)
        measure_parameters.pop("given", None)
        return {
            "measure": self.measure.name,
            "measure_parameters": measure_parameters,
            "strategy": self.strategy.name,
            "strategy_parameters": _json_fields(self.strategy),
            **self.options.search_facts(),
            **option_facts(self.prepared),
            "target": None if self.target is None else names[self.target],
            "given": [names[column] for column in self.given] or None,
        }

    def description(self) -> RunDescription:
        """Return what identifies this search in a run file."""
        return RunDescription(
            parameters=self.parameters(),
            defaults=SearchOptions.defaults() | FORMER_OPTION_FACTS,
            bounds=self.measure.bounds,
            **table_facts(self.prepared, self.source),
        )


def option_facts(prepared: Prepared) -> dict[str, Any]:
    """Return how the table was read, and which rows belong together, as JSON types."""
    dependent = prepared.table.dependent
    return {
        **prepared.table.options.to_facts(),
        "row_groups": None if dependent is None else dependent.fingerprint(),
    }


def table_facts(prepared: Prepared, source: str | None) -> dict[str, Any]:
    """Return what identifies a table in a run file, by the fields of `RunDescription`."""
    table = prepared.table
    return {
        "rows": prepared.n_rows,
        "columns": [(storable(each.name), _fingerprint(each)) for each in table.columns],
        "versions": {
            "covary": __version__,
            "python": python_version(),
            **{name: version(name) for name in ("numpy", "numba", "scipy", "scikit-learn")},
        },
        "source": source,
        "left_out": [(storable(name), storable(kind)) for name, kind in table.kinds_left_out()],
    }


def plan_search(
    data: Any,
    columns: Sequence[Any] | None,
    measure: Measure,
    strategy: Strategy,
    options: SearchOptions,
) -> SearchPlan:
    """Return the plan of a search of any data that `read_table` accepts."""
    measure, prepared, roles = measure.with_roles(data, columns, options.target, options.given)
    if options.permutations > 0 or options.sift:
        check_arrangements(prepared, given=roles.given)
        check_groups(prepared, given=roles.given, sift=options.sift)
    largest = len(roles.tested)
    if strategy.max_size is not None:
        largest = min(largest, strategy.max_size)
    measure.check(prepared, largest)
    candidates = Candidates(
        strategy,
        _candidate_columns(prepared, strategy, roles),
        roles.target,
        _affordable_triples(measure, prepared.n_rows, with_target=roles.target is not None),
    )
    if candidates.number is not None and candidates.number > MAX_SETS:
        raise errors.too_many_sets(candidates.number, MAX_SETS)
    return SearchPlan(
        prepared, measure, strategy, options, candidates, source_of(data), roles.given
    )


def source_of(data: Any) -> str | None:
    """Return the path of the table, if it is a file."""
    data = undeclared(data)
    return os.path.abspath(data) if isinstance(data, (str, os.PathLike)) else None


def _candidate_columns(prepared: Prepared, strategy: Strategy, roles: Roles) -> ColumnSets:
    """Return the columns that vary, without target and given ones; warn about the others.

    Their order depends only on their contents.
    """
    target = roles.target
    if target is not None and not strategy.takes_target:
        raise errors.strategy_without_target(strategy.name)
    if target is not None and prepared.entropies[target] == 0:
        raise errors.constant_target(prepared.names[target])
    varies = prepared.varies.copy()
    if not varies.all():
        errors.warn(errors.never_varies([prepared.names[c] for c in np.flatnonzero(~varies)]))
    varies[list(roles.given)] = False
    if target is not None:
        varies[target] = False
    ordered = table_order_by_content(prepared)
    return ordered[varies[ordered]].astype(np.int32)


def _affordable_triples(measure: Measure, n_rows: int, *, with_target: bool) -> int | None:
    """Return the number of sets of three that can be scored in `SECONDS_FOR_TRIPLES`."""
    seconds = measure.seconds_per_triple(n_rows, with_target=with_target)
    return None if seconds is None else int(SECONDS_FOR_TRIPLES / seconds)


def _json_fields(instance: Any) -> dict[str, Any]:
    """Return the parameters of a measure or a strategy as JSON types."""
    fields = dataclasses.fields(instance) if dataclasses.is_dataclass(instance) else ()
    values = {each.name: getattr(instance, each.name) for each in fields}
    converted: dict[str, Any] = json.loads(json.dumps(values, default=_json_value))
    return converted


def _json_value(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else repr(value)


def _fingerprint(column: Column) -> str:
    """Return a hash of a column; signs of zero and kinds of NaN do not matter."""
    plain = np.array(column.values, np.float64) + 0.0
    plain[np.isnan(plain)] = np.nan
    # Levels have other scores than ordered values with the same numbers.
    kind = b"nominal" if column.kind == "nominal" else b""
    return hashlib.blake2b(kind + plain.tobytes(), digest_size=16).hexdigest()


def storable(name: str) -> str:
    """Return a name as text that a database can store."""
    return name.encode(errors="backslashreplace").decode()
