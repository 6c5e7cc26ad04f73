"""Calls of a command that are worked at on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from verify import cluster
from verify.cluster import ClusterError
from verify.complaints import bad_input, complain
from verify.spread import OtherVersionError, spread_calls
from verify.workers import Call


@contextmanager
def _refusing() -> Iterator[None]:
    """End with a sentence where a cluster cannot be used."""
    try:
        yield
    except (ClusterError, OtherVersionError) as error:
        raise bad_input(error) from None


def ended(calls: Sequence[Call], address: str) -> Iterator[tuple[Call, Future[Any]]]:
    """Yield calls as they end, with what came of each."""
    with _refusing(), cluster.workers(address) as workers:
        if workers.dashboard:
            complain(f"dashboard: {workers.dashboard}")
        yield from spread_calls(calls, workers)


def outcomes(
    calls: Sequence[Call], address: str, tell: Callable[[int, int], Any]
) -> list[Future[Any]]:
    """Return what came of calls, in their order: what each returned, or raised.

    Args:
        calls: of different names.
        address: the cluster's, see :func:`verify.cluster.workers`.
        tell: is told how many have ended, and how many there are.
    """
    found: dict[str, Future[Any]] = {}
    for call, future in ended(calls, address):
        found[call.name] = future
        tell(len(found), len(calls))
    return [found[call.name] for call in calls]
