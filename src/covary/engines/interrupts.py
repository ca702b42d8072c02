"""Ctrl-C at safe moments only."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.resource_tracker import ensure_running


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Defer Ctrl-C until the end of a block, which must be short.

    Python can raise KeyboardInterrupt after a lock is acquired and before the ``with`` statement
    can release it. All other threads would then wait for this lock forever.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    received: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if received:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def processes_ignore_interrupts() -> Iterator[None]:
    """Defer Ctrl-C while worker processes start, and block it in these processes.

    A terminal sends Ctrl-C to every process. Only this process must react to it.
    """
    if threading.current_thread() is not threading.main_thread() or os.name == "nt":
        yield
        return
    ensure_running()  # the resource tracker of Python would unblock the signal when it starts
    with interrupts_deferred():
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
