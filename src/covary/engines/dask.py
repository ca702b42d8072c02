"""Run tasks on a Dask cluster: at an address, of a client, or a temporary one."""

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
from covary.engines.base import ENGINES, Engine, Session, Task, number_of_workers, run_timed
from covary.engines.interrupts import processes_ignore_interrupts

if TYPE_CHECKING:
    from distributed import Client

# The first part of an address of a Dask scheduler.
SCHEMES = ("tcp", "tls", "ws", "wss", "ucx", "inproc")
CONNECT_SECONDS = 10
# The number of failures of one chunk after which the session ends.
MAX_FAILURES = 5


@ENGINES.register("dask", "workers of a Dask cluster")
class Dask(Engine):
    """Run tasks on the workers of a Dask cluster.

    Parameters
    ----------
    where : the address of a scheduler, a ``distributed.Client``, or None for a cluster on this
        machine that exists as long as the session
    n_jobs : the number of workers to start. For an existing cluster, the number of threads to
        use at the same time (all if None).
    """

    def __init__(self, where: str | Client | None = None, n_jobs: int | None = None) -> None:
        self.where = where
        self.n_jobs = number_of_workers(n_jobs) if where is None or n_jobs is not None else None

    @classmethod
    def at(cls, place: Any, n_jobs: int | None) -> Engine | None:
        is_address = isinstance(place, str) and place.partition("://")[0] in SCHEMES
        # By name, because importing distributed takes long.
        is_client = type(place).__module__ == "distributed.client"
        return cls(place, n_jobs) if is_address or is_client else None

    @contextmanager
    def session(self, shared: Any) -> Iterator[Session]:
        if self.where is None:
            with _local_cluster(self.n_jobs) as client:
                yield _DaskSession(client, shared, self.n_jobs)
        elif isinstance(self.where, str):
            with _connect(self.where) as client:
                yield _DaskSession(client, shared, self.n_jobs)
        else:
            _check_client(self.where)
            with _thread_released():
                yield _DaskSession(self.where, shared, self.n_jobs)


class _DaskSession(Session):
    def __init__(self, client: Client, shared: Any, n_jobs: int | None) -> None:
        from distributed import CancelledError, KilledWorker
        from distributed.comm.core import CommClosedError

        self.retryable = (CancelledError, KilledWorker, CommClosedError)
        self.client = client
        self.shared = shared
        n_threads = self._count_threads()
        super().__init__(min(n_jobs, n_threads) if n_jobs is not None else n_threads)
        self.shared_future = self._send_shared()

    def _count_threads(self) -> int:
        try:
            self.client.wait_for_workers(1, timeout=CONNECT_SECONDS)
            return sum(self.client.nthreads().values()) or 1
        except (OSError, TimeoutError):
            raise errors.no_dask_workers(self._address()) from None

    def _send_shared(self) -> Any:
        try:
            # Without a hash, so that sending again after a failure makes a new copy.
            # In a list, because Dask sends the parts of a tuple one by one.
            return self.client.scatter([self.shared], broadcast=True, hash=False)[0]
        except (OSError, TimeoutError):
            raise errors.lost_scheduler(self._address()) from None

    def submit(self, task: Task, items: Any) -> Any:
        return self.client.submit(run_timed, task, self.shared_future, items, pure=False)

    def recover(self, error: BaseException, failures: int) -> None:
        """Send the shared argument again, because the workers that held it may have died."""
        if self.client.status != "running":
            raise errors.lost_scheduler(self._address()) from None
        if failures > MAX_FAILURES:
            raise errors.lost_workers(error) from None
        self._count_threads()
        self.shared_future = self._send_shared()

    def _address(self) -> str:
        return str(getattr(self.client.scheduler, "address", "of the cluster"))


@contextmanager
def _local_cluster(n_jobs: int | None) -> Iterator[Client]:
    distributed = _import_distributed()
    import dask.config

    if current_process().daemon:
        raise errors.no_processes("this is a worker process itself")
    with ExitStack() as contexts:
        folder = contexts.enter_context(
            TemporaryDirectory(prefix="covary-", ignore_cleanup_errors=True)
        )
        contexts.enter_context(dask.config.set({"temporary-directory": folder}))
        contexts.enter_context(_main_script_hidden())
        try:
            with processes_ignore_interrupts():
                cluster = contexts.enter_context(
                    distributed.LocalCluster(
                        n_workers=n_jobs,
                        threads_per_worker=1,
                        dashboard_address="127.0.0.1:0",
                        silence_logs=logging.CRITICAL,
                    )
                )
        except RuntimeError as error:
            raise errors.no_local_cluster(error) from None
        # Ctrl-C while data are sent breaks internal tasks of the cluster, which asyncio would
        # print. Errors of our own tasks come back through their futures.
        cluster.loop.asyncio_loop.set_exception_handler(lambda loop, context: None)
        yield contexts.enter_context(distributed.Client(cluster, set_as_default=False))


@contextmanager
def _main_script_hidden() -> Iterator[None]:
    """Prevent workers from running the user's script when they start or restart.

    They would import it, as multiprocessing does. No task needs this: objects that the script
    defines are sent by value.
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
def _connect(address: str) -> Iterator[Client]:
    distributed = _import_distributed()
    with _dask_log_silenced():
        _check_is_scheduler(address)
        try:
            client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError) as error:
            raise errors.no_scheduler(address, error) from None
        with client:
            yield client


def _check_is_scheduler(address: str) -> None:
    """Raise an error if no scheduler answers at an address. A client would wait forever."""
    try:
        with ThreadPoolExecutor(1) as thread:  # this thread may have an event loop
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


def _check_client(client: Client) -> None:
    if client.asynchronous:
        raise errors.asynchronous_client()
    if client.status != "running":
        raise errors.closed_client()


@contextmanager
def _thread_released() -> Iterator[None]:
    """Inside a Dask task, release its thread, which may be the only one of the cluster."""
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
def _dask_log_silenced() -> Iterator[None]:
    """Silence the log of Dask about lost connections. covary raises an error instead."""
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


def _import_distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise errors.not_installed("distributed", "the Dask engine", "covary[dask]") from None
    return distributed
