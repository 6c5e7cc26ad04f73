"""Several processes examine statements at once.

Any executor of :mod:`concurrent.futures` will do; by default there is one process a core, each a
copy of one that has imported everything.  A process that is killed costs what it was at: that is
examined again.  When the parent ends, however it ends, the processes end too.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ProcessPoolExecutor,
    as_completed,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import connection
from threading import Event, Thread

from verify import engine
from verify.engine import Pair, Task
from verify.evidence import EvidenceError, Name, Record, Writer
from verify.settings import Settings
from verify.witnesses.table import WITNESSES
from verify.witnesses.witness import Later

Futures = dict[Name, Future[Record]]
TRIES = 3
"""How often what breaks a process of its own is tried before it is given up."""


def processes() -> Executor:
    """Return one process a core."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["verify.engine", *_modules()])
    return ProcessPoolExecutor(cores(), context, _prepare_process)


@contextmanager
def examining(
    pairs: Sequence[Pair],
    settings: Settings,
    writer: Writer | None = None,
    executor: Callable[[], Executor] = processes,
) -> Iterator[Futures]:
    """Start to examine every pair; yield the futures of their records, by name.

    What the writer knows already is not examined again; what is found is written as it is found.
    Leaving the context cancels what has not begun.
    """
    futures: Futures = {pair.name: Future() for pair in pairs}
    waiting = engine.unknown(pairs, writer)
    if writer is not None:
        for pair in pairs:
            if pair.name in writer.done:
                futures[pair.name].set_result(writer.done[pair.name])
    if not waiting:
        yield futures
        return
    run = _Examination(futures, settings, writer, executor)
    thread = Thread(target=run.examine, args=(engine.tasks(waiting),), daemon=True)
    thread.start()
    try:
        yield futures
    finally:
        run.stopped.set()
        thread.join()


def examine_all(
    pairs: Sequence[Pair], settings: Settings, writer: Writer | None = None
) -> Iterator[Record]:
    """Yield the records of all pairs as they are found."""
    with examining(pairs, settings, writer) as futures:
        for future in as_completed(futures.values()):
            yield future.result()


class _Examination:
    """Hands tasks to an executor, and what comes back to the futures and the writer."""

    def __init__(
        self,
        futures: Futures,
        settings: Settings,
        writer: Writer | None,
        executor: Callable[[], Executor],
    ):
        self.futures, self.settings, self.writer = futures, settings, writer
        self.executor, self.stopped = executor, Event()

    def examine(self, tasks: list[Task]) -> None:
        """Examine tasks; what keeps processes from being started fails all that waits for them."""
        try:
            self._examine(tasks)
        except Exception as error:
            for task in tasks:
                self._fail(task, error)

    def _examine(self, tasks: list[Task]) -> None:
        """Examine tasks, as often as processes break; at last each alone that breaks its own."""
        while tasks and not self.stopped.is_set():
            lost = self._attempt(tasks)
            if len(lost) == len(tasks):
                break
            at_work, others = lost[: cores() + 1], lost[cores() + 1 :]
            tasks = [*others, *_one_by_one(at_work)]
        for task in _one_by_one(tasks):
            self._insist(task)
        for future in self.futures.values():
            future.cancel()

    def _insist(self, task: Task) -> None:
        for _ in range(TRIES):
            if self.stopped.is_set() or not self._attempt([task]):
                return
        self._fail(task, BrokenProcessPool(f"{task.names} ended {TRIES} processes"))

    def _attempt(self, tasks: list[Task]) -> list[Task]:
        """Return the tasks that were lost with a process, those that it was at first."""
        lost = set()
        with self.executor() as executor:
            begun = {
                executor.submit(examine_named, *_named(task), self.settings): number
                for number, task in enumerate(tasks)
            }
            waiting = set(begun)
            while waiting and not self.stopped.is_set():
                done, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
                lost |= {begun[f] for f in done if not self._settle(tasks[begun[f]], f)}
            executor.shutdown(wait=True, cancel_futures=True)
        return [tasks[number] for number in sorted(lost)]

    def _settle(self, task: Task, done: Future[list[Record]]) -> bool:
        """Pass on what a task found; return whether it was not lost."""
        error = done.exception()
        if isinstance(error, BrokenProcessPool):
            return False
        if error is not None:
            self._fail(task, error)
            return True
        for record in done.result():
            try:
                if self.writer is not None:
                    self.writer.add(record)
                self.futures[record.name].set_result(record)
            except EvidenceError as failure:
                self._fail(task, failure)
                self.stopped.set()
        return True

    def _fail(self, task: Task, error: BaseException) -> None:
        for name in task.names:
            if not self.futures[name].done():
                self.futures[name].set_exception(error)


def _one_by_one(tasks: Iterable[Task]) -> list[Task]:
    """Return tasks of one statement each."""
    return [Task(task.witness, (claim,)) for task in tasks for claim in task.claims]


def _named(task: Task) -> tuple[str, list[str]]:
    return task.witness.name, [claim.id for claim in task.claims]


def examine_named(witness: str, claims: Sequence[str], settings: Settings) -> list[Record]:
    """Examine statements in a process of its own, where they are found by name."""
    by_name = {claim.id: claim for claim in engine.statements(settings.claims)}
    chosen = tuple(by_name[name] for name in claims)
    found = next(w for w in engine.WITNESSES if w.name == witness and w.applies(chosen[0]))
    return list(engine.examine_task(Task(found, chosen), settings))


def _modules() -> Iterator[str]:
    """Yield the modules of the witnesses, which take seconds to import."""
    for witness in WITNESSES:
        arguments = witness.examine.args if isinstance(witness.examine, partial) else ()
        yield from (a.module for a in arguments if isinstance(a, Later))


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def _prepare_process() -> None:
    """Leave the interrupt to the parent, end with it, and use one thread."""
    import signal

    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
