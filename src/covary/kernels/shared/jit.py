"""How kernels are compiled, and the array types of their signatures."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any

from numba import njit, types
from numba.core import event
from numba.extending import typeof_impl


def read_only(dtype: Any, n_dimensions: int = 1) -> Any:
    """Return the numba type of a contiguous array that a kernel does not change."""
    return types.Array(dtype, n_dimensions, "C", readonly=True)


# Signatures are explicit, so that each kernel is compiled once. Arguments are read-only types
# because numba converts writable arrays to read-only ones without compiling again.
FLOATS = read_only(types.float64)
FLOATS_2D = read_only(types.float64, 2)
INTEGERS = read_only(types.int64)
UNSIGNED = read_only(types.uint64)
CODES = read_only(types.uint8)
CODES_2D = read_only(types.uint8, 2)
ROWS = read_only(types.uint32)
ROWS_2D = read_only(types.uint32, 2)
COLUMN_SETS = read_only(types.int32, 2)

NOTICE_AFTER_SECONDS = 2.0

# "contract" allows a product and a sum to be rounded once. No other reordering is allowed.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}


def subkernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is compiled together with the kernels that call it.

    Each kernel takes time to load from the cache. A subkernel does not.
    """
    compiled: Callable[..., Any] = njit(**_OPTIONS)(function)
    return compiled


class Kernel:
    """A function that is compiled for one signature when it is first called, and cached on disk.

    The compiled function releases the interpreter lock. Other kernels can call it.

    Parameters
    ----------
    function : the function
    signature : the types of its result and its arguments
    """

    def __init__(self, function: Callable[..., Any], signature: Any) -> None:
        self.__module__, self.__doc__ = function.__module__, function.__doc__
        self.__name__, self.__wrapped__ = function.__name__, function
        self._function, self._signature = function, signature
        self._lock = threading.Lock()

    def __call__(self, *arguments: Any) -> Any:
        return self.compiled(*arguments)

    @cached_property
    def compiled(self) -> Any:
        """The compiled function, or the one that the disk has."""
        with self._lock:
            if "compiled" in self.__dict__:  # another thread compiled it meanwhile
                return self.__dict__["compiled"]
            try:
                return njit(self._signature, cache=True, **_OPTIONS)(self._function)
            except RuntimeError:  # numba found no writable folder for its cache
                _notice.cached = False
                return njit(self._signature, **_OPTIONS)(self._function)


@typeof_impl.register(Kernel)
def _type_of_kernel(kernel: Kernel, context: Any) -> Any:
    """Return the type of a kernel that another one calls."""
    return types.Dispatcher(kernel.compiled)


def kernel(signature: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """Return a decorator that makes a function a kernel."""
    return lambda function: Kernel(function, signature)


class _CompilationNotice(event.Listener):
    """Print one message to standard error if the compilation of kernels takes long."""

    def __init__(self) -> None:
        self.n_compiling = 0
        self.cached = True
        self.timer: threading.Timer | None = None

    def on_start(self, event: event.Event) -> None:
        self.n_compiling += _is_kernel_of_covary(event)
        if self.timer is None and self.n_compiling:
            self.timer = threading.Timer(NOTICE_AFTER_SECONDS, self.show)
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, event: event.Event) -> None:
        self.n_compiling -= _is_kernel_of_covary(event)

    def show(self) -> None:
        if self.n_compiling and sys.stderr is not None:
            hint = ", once" if self.cached else " (set NUMBA_CACHE_DIR to a folder to keep them)"
            print(
                f"covary: compiling its kernels for this machine{hint}: up to half a minute ...",
                file=sys.stderr,
                flush=True,
            )


def _is_kernel_of_covary(event: event.Event) -> bool:
    """Return whether numba compiles a kernel of covary, not one of another library."""
    dispatcher = (event.data or {}).get("dispatcher")
    return getattr(dispatcher, "__module__", "").startswith("covary.")


_notice = _CompilationNotice()
event.register("numba:compile", _notice)
