"""How everything here is timed, and how the wait is told."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

TELL_EVERY_SECONDS = 2.0


class Timing(NamedTuple):
    """The least time that a call took, and the number of calls it is the least of."""

    seconds: float
    repeats: int


def best_time(
    call: Callable[[], Any], budget: float = 0.5, least: int = 3, patience: float = float("inf")
) -> Timing:
    """Return the least time of a call, repeated until the time budget is used.

    The minimum is the time with the least disturbance. The first call may have to warm up, and is
    not charged to the budget.

    Parameters
    ----------
    call : what is timed
    budget : seconds to spend
    least : the least number of calls after the first, whatever the budget
    patience : if the first call takes longer than this many seconds, it is the only one
    """
    times = [_seconds(call)]
    used = 0.0
    while times[0] <= patience and (used < budget or len(times) <= least):
        times.append(_seconds(call))
        used += times[-1]
    return Timing(min(times), len(times))


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


class Progress:
    """Say on standard error what is being timed, every two seconds; nothing if it is quick.

    Examples
    --------
    >>> with Progress("calls") as progress:
    ...     progress("4000 x 20")
    """

    def __init__(self, section: str) -> None:
        self.section = section
        self.doing = ""
        self.begun = time.perf_counter()
        self._over = threading.Event()
        self._teller = threading.Thread(target=self._tell, daemon=True)

    def __call__(self, doing: str) -> None:
        """Note what is being timed from now on."""
        self.doing = doing

    def __enter__(self) -> Progress:
        self._teller.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._teller.join()
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    @property
    def seconds(self) -> float:
        """Seconds since the section began."""
        return time.perf_counter() - self.begun

    def _tell(self) -> None:
        told = ""
        while not self._over.wait(TELL_EVERY_SECONDS):
            text = f"{self.section}: {self.doing} ({self.seconds:.0f} s)"
            if sys.stderr.isatty():
                print("\r\033[K" + text, end="", file=sys.stderr, flush=True)
            elif self.doing != told:
                told = self.doing
                print(text, file=sys.stderr, flush=True)
