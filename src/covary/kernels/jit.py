"""How every kernel is compiled, and a word to the user when compiling takes long."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from numba import njit, types
from numba.core import event

# Signatures are explicit so that a kernel is compiled once, for one set of types, and never
# again because an argument happened to be writable: writable arrays convert to read-only ones.
FLOATS = types.Array(types.float64, 1, "C", readonly=True)
CODES = types.Array(types.uint8, 1, "C", readonly=True)
ROWS = types.Array(types.uint32, 1, "C", readonly=True)
WHOLES = types.Array(types.int64, 1, "C", readonly=True)
SETS = types.Array(types.int32, 2, "C", readonly=True)

NOTICE_AFTER_SECONDS = 2.0


_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}


def part(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function as a part of the kernels that call it, and only with them.

    A kernel takes some time to load even when it is cached; a part takes none.
    """
    compiled: Callable[..., Any] = njit(**_OPTIONS)(function)
    return compiled


def kernel(signature: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function for one signature, without the interpreter lock, cached on disk.

    A product and a sum may be fused into one rounding; nothing else is reordered.
    """

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            return njit(signature, cache=True, **_OPTIONS)(function)
        except RuntimeError:  # no place on this machine can be written to
            _notice.kept = False
            return njit(signature, **_OPTIONS)(function)

    return compiled


class _CompilationNotice(event.Listener):
    """Tell once on standard error that kernels are being compiled, if it takes long."""

    def __init__(self) -> None:
        self.compiling = 0
        self.kept = True
        self.timer: threading.Timer | None = None

    def on_start(self, event: event.Event) -> None:
        self.compiling += _is_ours(event)
        if self.timer is None and self.compiling:
            self.timer = threading.Timer(NOTICE_AFTER_SECONDS, self.say)
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, event: event.Event) -> None:
        self.compiling -= _is_ours(event)

    def say(self) -> None:
        if self.compiling and sys.stderr is not None:
            once = ", once" if self.kept else " (set NUMBA_CACHE_DIR to a folder to keep them)"
            print(
                f"covary: compiling its kernels for this machine{once}: about half a minute ...",
                file=sys.stderr,
                flush=True,
            )


def _is_ours(event: event.Event) -> bool:
    """Return whether it is one of covary's kernels that is compiled, not another library's."""
    dispatcher = (event.data or {}).get("dispatcher")
    return getattr(dispatcher, "__module__", "").startswith("covary.")


_notice = _CompilationNotice()
event.register("numba:compile", _notice)
