"""The measure `uds-chance`: UDS corrected for chance."""

from covary.measures.uds_chance.uds_chance import UDSChance

__all__ = ["UDSChance"]
