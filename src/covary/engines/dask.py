"""Run tasks on a Dask cluster: an address, a client, or one made for the occasion."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.resource_tracker import ensure_running
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from covary import errors
from covary.engines.base import (
    Engine,
    Session,
    Task,
    count_of_workers,
    interrupts_held_back,
    timed,
)

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 10
# How often in a row what all tasks share is sent again before the workers are given up.
TRIES = 10


class Dask(Engine):
    """An engine of the workers of a Dask cluster.

    Parameters
    ----------
    where : the address of a scheduler, a ``distributed.Client``, or None for a cluster on this
        machine that lasts as long as the session
    n_jobs : how many workers to start; of a cluster that is there, how many threads to use at
        once (all if None)
    """

    def __init__(self, where: str | Client | None = None, n_jobs: int | None = None) -> None:
        self.where = where
        self.n_jobs = count_of_workers(n_jobs) if where is None or n_jobs is not None else None

    @contextmanager
    def session(self, shared: Any) -> Iterator[Session]:
        if self.where is None:
            with _local_client(self.n_jobs) as client:
                yield _DaskSession(client, shared, self.n_jobs)
        elif isinstance(self.where, str):
            with _connected(self.where) as client:
                yield _DaskSession(client, shared, self.n_jobs)
        else:
            _refuse_unusable(self.where)
            yield _DaskSession(self.where, shared, self.n_jobs)


class _DaskSession(Session):
    def __init__(self, client: Client, shared: Any, n_jobs: int | None) -> None:
        from distributed import CancelledError, KilledWorker
        from distributed.comm.core import CommClosedError

        self.lost = (CancelledError, KilledWorker, CommClosedError)
        self.client = client
        self.shared = shared
        self.tries = 0
        self.held_for: dict[Any, Any] = {}
        n_threads = self._threads()
        super().__init__(min(n_jobs, n_threads) if n_jobs is not None else n_threads)
        self.held = self._scatter()

    def _threads(self) -> int:
        try:
            self.client.wait_for_workers(1, timeout=CONNECT_SECONDS)
            return sum(self.client.nthreads().values()) or 1  # type: ignore[no-untyped-call]
        except (OSError, TimeoutError):
            raise errors.no_dask_workers(self._address()) from None

    def _scatter(self) -> Any:
        try:
            # Not hashed: what is sent twice is wanted twice.
            return self.client.scatter(  # type: ignore[no-untyped-call]
                self.shared, broadcast=True, hash=False
            )
        except (OSError, TimeoutError):
            raise errors.lost_scheduler(self._address()) from None

    def submit(self, task: Task, items: Any) -> Any:
        future = self.client.submit(timed, task, self.held, items, pure=False)
        self.held_for[future] = self.held
        return future

    def succeeded(self, future: Any) -> None:
        del self.held_for[future]
        self.tries = 0

    def recover(self, future: Any, error: BaseException) -> None:
        """Send again what all tasks share: the workers that held it may be gone."""
        if self.client.status != "running":
            raise errors.lost_scheduler(self._address()) from None
        if self.held_for.pop(future) is not self.held:
            return  # another task was lost with it, and that is done already
        self.tries += 1
        if self.tries > TRIES:
            raise errors.lost_workers(error) from None
        self._threads()
        self.held = self._scatter()

    def _address(self) -> str:
        return str(getattr(self.client.scheduler, "address", "of the cluster"))


@contextmanager
def _local_client(n_jobs: int | None) -> Iterator[Client]:
    distributed = _distributed()
    ensure_running()  # or it would let interrupts through again
    with ExitStack() as opened:
        try:
            with interrupts_held_back():
                cluster = opened.enter_context(
                    distributed.LocalCluster(
                        n_workers=n_jobs,
                        threads_per_worker=1,
                        dashboard_address="127.0.0.1:0",
                        silence_logs=logging.CRITICAL,
                    )
                )
        except (RuntimeError, AssertionError) as error:
            raise errors.no_local_cluster(error) from None
        yield opened.enter_context(distributed.Client(cluster, set_as_default=False))


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    distributed = _distributed()
    _refuse_silence(address)
    with _quiet():
        try:
            client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError, TypeError, RuntimeError, ImportError) as error:
            raise errors.no_scheduler(address, error) from None
        with client:
            yield client


def _refuse_silence(address: str) -> None:
    """Refuse an address at which no scheduler greets us: Dask would wait for it forever."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise errors.no_scheduler(address, error) from None
    if parts.scheme != "tcp":  # others do not greet first
        return
    if not parts.hostname or not port:
        raise errors.no_scheduler(address, "it has no host or no port")
    try:
        with socket.create_connection((parts.hostname, port), CONNECT_SECONDS) as connection:
            if not connection.recv(1):
                raise errors.no_scheduler(address, "what is there hangs up")
    except TimeoutError:
        raise errors.no_scheduler(address, "nothing there answers") from None
    except OSError as error:
        raise errors.no_scheduler(address, error.strerror or error) from None


def _refuse_unusable(client: Client) -> None:
    if client.asynchronous:
        raise errors.asynchronous_client()
    if client.status != "running":
        raise errors.closed_client()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what Dask logs about a lost connection from the terminal; covary says it."""
    handlers = {
        handler
        for name in (
            "distributed",
            "distributed.client",
            "distributed.core",
            "distributed.batched",
        )
        for handler in logging.getLogger(name).handlers
    }
    levels = {handler: handler.level for handler in handlers}
    try:
        for handler in levels:
            handler.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for handler, level in levels.items():
            handler.setLevel(level)


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise errors.not_installed("distributed", "the Dask engine", "covary[dask]") from None
    return distributed
