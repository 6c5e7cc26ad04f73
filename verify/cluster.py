r"""Workers elsewhere: an executor of :mod:`concurrent.futures` on a cluster of Dask.

``local`` starts workers on this machine, an address is that of a running scheduler.  Each
worker computes with one thread, as the processes of :mod:`verify.pool` do, so that the numbers are
the same everywhere.  A worker that dies costs what it was at, which Dask gives to another one; what
takes several workers with it is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from verify.pool import cores, processes
from verify.workers import Workers

LOCAL = "local"
PATIENCE = 30
"""Seconds in which a scheduler has to answer."""


class ClusterError(RuntimeError):
    """A cluster cannot be used."""


@contextmanager
def workers(address: str | None = None) -> Iterator[Workers]:
    """Yield the workers at an address; without one, a process for each core of this machine.

    Args:
        address: of a scheduler of Dask; "local" for workers on this machine, one a core, and
            "local:4" for four.

    Raises:
        ClusterError: Dask is not installed, no scheduler answers there, or there is no worker.
    """
    if address is None:
        yield Workers(processes, cores)
        return
    distributed = _distributed()
    with ExitStack() as stack:
        kind, _, count = address.partition(":")
        if kind == LOCAL and count.isdecimal() and not int(count):
            raise ClusterError(
                f"{address!r} has no worker; expected 'local', or 'local:4' for four"
            )
        if kind == LOCAL and (not count or count.isdecimal()):
            size = {"n_workers": int(count or cores()), "threads_per_worker": 1}
            local = distributed.LocalCluster(**size, dashboard_address=":0")
            scheduler = stack.enter_context(local)
        else:
            scheduler = address
        try:
            client = stack.enter_context(distributed.Client(scheduler, timeout=PATIENCE))
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"no scheduler of Dask answers at {address!r} ({error}); expected 'local' or an "
                "address such as tcp://10.0.0.1:8786, which 'dask scheduler' prints"
            ) from None
        client.register_plugin(_one_thread(distributed))
        yield Workers(
            partial(executor, client),
            lambda: sum(client.nthreads().values()),
            client.dashboard_link,
        )


def executor(client: Any) -> Executor:
    """Return an executor on the cluster of a client, which stays when the executor is shut down."""
    from distributed.cfexecutor import ClientExecutor

    make: Any = ClientExecutor  # Dask gives it no types
    return _Executor(make(client, pure=False))


class _Executor(Executor):
    """What Dask has, with the errors and the ways to end of the standard library."""

    def __init__(self, inner: Any):
        self.inner = inner

    def submit(self, function: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        """Submit a call."""
        future: Future[Any] = Future()
        self.inner.submit(function, *args, **named).add_done_callback(partial(_pass_on, future))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End; what has not begun is finished first, or cancelled."""
        self.inner.shutdown(wait=wait and not cancel_futures)


def _pass_on(to: Future[Any], done: Future[Any]) -> None:
    from distributed.scheduler import KilledWorker

    if done.cancelled():
        to.cancel()
    elif isinstance(error := done.exception(), KilledWorker):
        to.set_exception(BrokenProcessPool(str(error)))
    elif error is not None:
        to.set_exception(error)
    else:
        to.set_result(done.result())


def _one_thread(distributed: Any) -> Any:
    class OneThread(distributed.WorkerPlugin):  # type: ignore[misc]
        """Lets a worker compute with one thread, whenever it joins."""

        def setup(self, worker: Any) -> None:
            import torch

            torch.set_num_threads(1)

    return OneThread()


def _distributed() -> Any:
    try:
        import distributed
    except ModuleNotFoundError as error:
        raise ClusterError(
            f"Dask cannot be imported ({error}); expected an installed one: "
            "pip install 'batchnorm-theory[cluster]'"
        ) from None
    return distributed
