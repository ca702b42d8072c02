"""The timer of all benchmarks, and the progress messages."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

MESSAGE_INTERVAL_SECONDS = 2.0


class Timing(NamedTuple):
    """The shortest time of a call, and the number of calls."""

    seconds: float
    repeats: int


def best_time(
    call: Callable[[], Any],
    budget: float = 0.5,
    min_repeats: int = 3,
    patience: float = float("inf"),
) -> Timing:
    """Return the shortest time of a call that is repeated until the time budget is used.

    The minimum is the time with the least disturbance by other processes. The budget does not
    include the first call, which may compile kernels.

    Parameters
    ----------
    call : the function to time
    budget : seconds to spend
    min_repeats : minimum number of calls after the first, even if the budget is used
    patience : if the first call takes longer than this number of seconds, it is the only call
    """
    times = [_seconds(call)]
    used = 0.0
    while times[0] <= patience and (used < budget or len(times) <= min_repeats):
        times.append(_seconds(call))
        used += times[-1]
    return Timing(min(times), len(times))


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


class Progress:
    """Print every two seconds, on standard error, what is being timed.

    Examples
    --------
    >>> with Progress("calls") as progress:
    ...     progress("4000 x 20")
    """

    def __init__(self, section: str) -> None:
        self.section = section
        self.current = ""
        self.start = time.perf_counter()
        self._finished = threading.Event()
        self._printer = threading.Thread(target=self._print_messages, daemon=True)

    def __call__(self, current: str) -> None:
        """Set the description of what is being timed."""
        self.current = current

    def __enter__(self) -> Progress:
        self._printer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._finished.set()
        self._printer.join()
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    @property
    def seconds(self) -> float:
        """Seconds since the section began."""
        return time.perf_counter() - self.start

    def _print_messages(self) -> None:
        printed = ""
        while not self._finished.wait(MESSAGE_INTERVAL_SECONDS):
            text = f"{self.section}: {self.current} ({self.seconds:.0f} s)"
            if sys.stderr.isatty():
                print("\r\033[K" + text, end="", file=sys.stderr, flush=True)
            elif self.current != printed:
                printed = self.current
                print(text, file=sys.stderr, flush=True)
