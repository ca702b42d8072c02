"""Names that measures had in the first release. They still work, with a warning."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from covary.measures.base import Measure

RENAMED = {
    "most_columns": "max_columns",
    "most_rows": "max_rows",
    "leaves_out_rows": "drops_incomplete_rows",
    "of_itself": "self_score",
    "any_scorer": "scorer",
    "target_scorer": "scorer",
    "score_target": "score_set",
    "evidence_set": "evidence_sets",
    "make_ready": "needs",
    "of_pair": "score_pair",
    "of_target": "score_pair_with_target",
}


def former_attribute(measure: Measure, name: str) -> Any:
    """Return what a former name of an attribute or method stood for."""
    if name not in RENAMED or not hasattr(type(measure), RENAMED[name]):
        raise AttributeError(f"{type(measure).__name__!r} object has no attribute {name!r}")
    message = f"{name} of a measure is now {RENAMED[name]}"
    warnings.warn(message, DeprecationWarning, stacklevel=3)
    if name == "evidence_set":
        return lambda prepared, columns: float(measure.evidence_sets(prepared, [columns])[0])
    if name == "make_ready":
        return lambda prepared: prepared.precompute(measure.needs())
    return getattr(measure, RENAMED[name])


def check_definitions(cls: type) -> None:
    """Raise an error if a measure defines a method under its former name."""
    for name in RENAMED:
        if name in vars(cls):
            raise TypeError(
                f"{cls.__name__} defines {name}, which is now {RENAMED[name]}: rename it"
            )
