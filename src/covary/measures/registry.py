"""The registered measures, by public name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from covary.registry import Registry

if TYPE_CHECKING:
    from covary.measures.base import Measure

MEASURES: Registry[Measure] = Registry("measure", "covary.measures")
register = MEASURES.register
