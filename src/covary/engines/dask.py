"""Run tasks on a Dask cluster: an address, a client, or one made for the occasion."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import current_process
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

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
# How often one task may be lost before the workers are given up.
TRIES = 5


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
            with _place_for_others():
                yield _DaskSession(self.where, shared, self.n_jobs)


class _DaskSession(Session):
    def __init__(self, client: Client, shared: Any, n_jobs: int | None) -> None:
        from distributed import CancelledError, KilledWorker
        from distributed.comm.core import CommClosedError

        self.lost = (CancelledError, KilledWorker, CommClosedError)
        self.client = client
        self.shared = shared
        n_threads = self._threads()
        super().__init__(min(n_jobs, n_threads) if n_jobs is not None else n_threads)
        self.held = self._scatter()

    def _threads(self) -> int:
        try:
            self.client.wait_for_workers(1, timeout=CONNECT_SECONDS)
            return sum(self.client.nthreads().values()) or 1
        except (OSError, TimeoutError):
            raise errors.no_dask_workers(self._address()) from None

    def _scatter(self) -> Any:
        try:
            # Not hashed: what is sent twice is wanted twice. In a list, as tuples are taken apart.
            return self.client.scatter([self.shared], broadcast=True, hash=False)[0]
        except (OSError, TimeoutError):
            raise errors.lost_scheduler(self._address()) from None

    def submit(self, task: Task, items: Any) -> Any:
        return self.client.submit(timed, task, self.held, items, pure=False)

    def recover(self, error: BaseException, times: int) -> None:
        """Send again what all tasks share: the workers that held it may be gone."""
        if self.client.status != "running":
            raise errors.lost_scheduler(self._address()) from None
        if times > TRIES:
            raise errors.lost_workers(error) from None
        self._threads()
        self.held = self._scatter()

    def _address(self) -> str:
        return str(getattr(self.client.scheduler, "address", "of the cluster"))


@contextmanager
def _local_client(n_jobs: int | None) -> Iterator[Client]:
    distributed = _distributed()
    import dask.config

    if current_process().daemon:
        raise errors.no_processes("this is a worker process itself")
    with ExitStack() as opened:
        folder = opened.enter_context(
            TemporaryDirectory(prefix="covary-", ignore_cleanup_errors=True)
        )
        opened.enter_context(dask.config.set({"temporary-directory": folder}))
        opened.enter_context(_main_hidden())
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
        except RuntimeError as error:
            raise errors.no_local_cluster(error) from None
        yield opened.enter_context(distributed.Client(cluster, set_as_default=False))


@contextmanager
def _main_hidden() -> Iterator[None]:
    """Keep the workers, also those that are started again, from running the user's script.

    They would import it as multiprocessing does, though no task needs it: what is defined there
    goes to them by value.
    """
    main = sys.modules["__main__"]
    names = ("__file__", "__spec__")
    hidden: dict[str, Any] = {name: vars(main)[name] for name in names if name in vars(main)}
    vars(main).pop("__file__", None)
    main.__spec__ = None
    try:
        yield
    finally:
        vars(main).update(hidden)


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    distributed = _distributed()
    with _quiet():
        _refuse_other_servers(address)
        try:
            client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError) as error:
            raise errors.no_scheduler(address, error) from None
        with client:
            yield client


def _refuse_other_servers(address: str) -> None:
    """Refuse an address at which no scheduler answers, before a client waits for it forever."""
    try:
        with ThreadPoolExecutor(1) as thread:  # there may be an event loop in this one
            kind = thread.submit(asyncio.run, _kind_of_server(address)).result()
    except (OSError, TimeoutError, ValueError, TypeError, MemoryError, ImportError) as error:
        raise errors.no_scheduler(address, str(error) or type(error).__name__) from None
    if kind != "Scheduler":
        raise errors.no_scheduler(address, f"it is the address of a {kind}")


async def _kind_of_server(address: str) -> str:
    from distributed import Security
    from distributed.core import rpc

    security = Security().get_connection_args("client")
    server = rpc(address, timeout=CONNECT_SECONDS, connection_args=security)
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            return str((await server.identity())["type"])
    finally:
        await server.close_rpc()


def _refuse_unusable(client: Client) -> None:
    if client.asynchronous:
        raise errors.asynchronous_client()
    if client.status != "running":
        raise errors.closed_client()


@contextmanager
def _place_for_others() -> Iterator[None]:
    """Inside a Dask task, give back its thread: it may be the only one there is."""
    from distributed import rejoin, secede
    from distributed.threadpoolexecutor import thread_state

    if not getattr(thread_state, "proceed", False):
        yield
        return
    secede()
    try:
        yield
    finally:
        rejoin()


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
