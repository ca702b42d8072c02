"""Columns sorted once, and data that estimators derive from them."""

from covary.prepare.derived import Derived, Moves, Need, keep_missing, move_entries, move_orders
from covary.prepare.prepared import Prepared, Roles, prepare, prepare_with_roles
from covary.prepare.ranks import Ranks

__all__ = [
    "Derived",
    "Moves",
    "Need",
    "Prepared",
    "Ranks",
    "Roles",
    "keep_missing",
    "move_entries",
    "move_orders",
    "prepare",
    "prepare_with_roles",
]
