"""Calls handed to workers, wherever these are: as many ahead as keep them busy.

What other code would find is no evidence: a worker that runs another version of the suite, or of
the packages that compute, refuses.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Any, TypeVar

from verify import fingerprint
from verify.pool import TRIES
from verify.workers import Call, Workers

AHEAD = 4
"""So many units wait for each that is worked at."""
Unit = TypeVar("Unit")
Found = TypeVar("Found")


class OtherVersionError(RuntimeError):
    """A worker runs another version of the suite, or of what computes."""


def spread(
    units: Iterable[Unit],
    submit: Callable[[Executor, Unit], Future[Found]],
    again: Callable[[Unit], Sequence[Unit]],
    workers: Workers,
) -> Iterator[tuple[Unit, Future[Found]]]:
    """Yield units as they end, with what came of them.

    Args:
        units: what is to be worked at.
        submit: hands one to an executor.
        again: what is tried in place of one that broke a process; nothing to give it up.
        workers: who works.

    Raises:
        OtherVersionError: a worker runs another version.
    """
    waiting = iter(units)
    while (first := next(waiting, None)) is not None:
        lost: list[Unit] = []
        waiting = chain([first], waiting)
        for unit, done in _attempt(waiting, submit, workers):
            error = done.exception()
            if isinstance(error, OtherVersionError):
                raise error
            if isinstance(error, BrokenProcessPool) and (instead := again(unit)):
                lost += instead
            else:
                yield unit, done
        waiting = chain(lost, waiting)


def spread_calls(calls: Iterable[Call], workers: Workers) -> Iterator[tuple[Call, Future[Any]]]:
    """Yield calls as they end, with what came of them; see :func:`spread`."""
    return spread(calls, _submitted, _once_more, workers)


def _submitted(executor: Executor, call: Call) -> Future[Any]:
    return executor.submit(called, this_version(), call.function, call.arguments)


def _once_more(call: Call) -> list[Call]:
    return [replace(call, tries=call.tries + 1)] if call.tries + 1 < TRIES else []


def called(version: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Return what a function returns, wherever this is called.

    Raises:
        OtherVersionError: this is not the version that was asked for.
    """
    if version != this_version():
        host = platform.node() or "a machine without a name"
        raise OtherVersionError(
            f"a worker on {host} runs another version of the suite or of the packages that "
            f"compute, {this_version()}; expected {version}: install there what is installed here"
        )
    return function(*arguments)


@cache
def this_version() -> str:
    """Return what tells versions of the suite, and of the packages that compute, apart."""
    packages = ", ".join(f"{name} {version}" for name, version in fingerprint.versions().items())
    return f"{fingerprint.of_everything()} ({packages})"


def _attempt(
    waiting: Iterator[Unit],
    submit: Callable[[Executor, Unit], Future[Found]],
    workers: Workers,
) -> Iterator[tuple[Unit, Future[Found]]]:
    """Yield units with what came of them, until there are no more or the executor is broken."""
    begun: dict[Future[Found], Unit] = {}
    executor, is_broken = workers.executor(), False
    try:
        while not is_broken and (unit := next(waiting, None)) is not None:
            begun[_or_broken(submit, executor, unit)] = unit
            if len(begun) >= AHEAD * max(1, workers.width()):
                for done in wait(begun, return_when=FIRST_COMPLETED).done:
                    is_broken |= isinstance(done.exception(), BrokenProcessPool)
                    yield begun.pop(done), done
        while begun:
            for done in wait(begun, return_when=FIRST_COMPLETED).done:
                yield begun.pop(done), done
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _or_broken(
    submit: Callable[[Executor, Unit], Future[Found]], executor: Executor, unit: Unit
) -> Future[Found]:
    try:
        return submit(executor, unit)
    except BrokenProcessPool as error:
        future: Future[Found] = Future()
        future.set_exception(error)
        return future
