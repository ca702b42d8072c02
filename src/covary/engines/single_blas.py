"""One thread for linear algebra: workers that all use every core slow each other down."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_lock = threading.Lock()
_users = 0
_limited: Any = None


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Let linear algebra use one thread, in the whole process, until all users have left."""
    global _users, _limited
    with _lock:
        if _users == 0:
            _limited = _controller().limit(limits=1, user_api="blas")
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _limited.restore_original_limits()


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
