"""The measure `uds-chance`: UDS corrected for chance."""
