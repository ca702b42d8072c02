"""Run tasks in the calling thread, without an engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from covary.engines.base import RunTasks, Task


def run_here(shared: Any) -> RunTasks:
    """Return a function that runs tasks in this thread, one item after the other.

    It is called like `Session.run`.

    Examples
    --------
    >>> run = run_here(10)
    >>> list(run(lambda shared, items: [shared * item for item in items], [1, 2]))
    [(0, [10]), (1, [20])]

    """

    def run(task: Task, items: Any) -> Iterator[tuple[int, Any]]:
        for at in range(len(items)):
            yield at, _run_interruptible(task, shared, items[at : at + 1])

    return run


def _run_interruptible(task: Task, shared: Any, items: Any) -> Any:
    """Return the results of a task; raise KeyboardInterrupt if Ctrl-C stops a kernel.

    A compiled kernel turns the interrupt into a SystemError.
    """
    try:
        return task(shared, items)
    except SystemError as error:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            cause = cause.__cause__
        raise
