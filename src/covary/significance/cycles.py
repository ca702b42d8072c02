"""Common cycles: two series with the same period look related at every shift by a period."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from covary.array_types import Floats

# Fewer cycles cannot be distinguished from drift, and fewer rows are not examined.
MIN_CYCLES = 4
MIN_ROWS = 48
# The power at the frequency of a cycle, divided by the median of its neighbourhood. Without a
# cycle, power is exponentially distributed, and such a ratio is very unlikely.
LEAST_RATIO = 40.0
# The share of all power at this frequency and those next to it.
LEAST_SHARE = 0.05


def common_period(columns: Mapping[str, Floats]) -> tuple[list[str], float]:
    """Return the columns that share a cycle, and its period in rows; none if there is no cycle.

    Parameters
    ----------
    columns : by name, the ranks of a series without missing cells; all of the same length
    """
    by_bin: dict[int, list[str]] = {}
    n = 0
    for name, ranks in columns.items():
        n = ranks.size
        for each in _bins_of_cycles(ranks):
            by_bin.setdefault(each, []).append(name)
    # The frequency of a cycle may lie between two bins.
    near = {at: [*by_bin[at], *by_bin.get(at + 1, [])] for at in by_bin}
    at, names = max(near.items(), key=lambda each: len(set(each[1])), default=(0, []))
    found = list(dict.fromkeys(names))
    return (found, n / at) if len(found) >= 2 else ([], 0.0)


def _bins_of_cycles(ranks: Floats) -> list[int]:
    """Return the frequencies, in cycles per series, at which a series has a cycle."""
    n = ranks.size
    if n < MIN_ROWS or np.ptp(ranks) == 0.0:
        return []
    power = np.abs(np.fft.rfft(ranks - ranks.mean())) ** 2
    total = float(power[1:].sum())
    found = []
    for at in np.argsort(-power[1:])[:10] + 1:
        low, high = max(int(at / 1.5), 2), max(int(at * 1.5), at + 6)
        around = np.delete(np.arange(low, min(high + 1, power.size)), at - low)
        around = around[np.abs(around - at) > 1]
        if at < MIN_CYCLES or around.size < 3:
            continue
        share = float(power[max(at - 1, 1) : at + 2].sum()) / total
        if share > LEAST_SHARE and power[at] > LEAST_RATIO * np.median(power[around]):
            found.append(int(at))
    return found
