"""Several processes examine statements at once.

Any executor of :mod:`concurrent.futures` will do; by default there is one process a core, each a
copy of one that has imported everything, and each breaks alone.  What a process finds it writes as
it is found: one that is killed costs the statement that it was at, or those whose derivatives it
was computing together.  They are examined again, in halves, so that what always ends its process
is alone at last.  When the parent ends, however it ends, the processes end too.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from multiprocessing import connection, forkserver, resource_tracker
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock, Thread, local
from typing import Any

from verify import engine, evidence
from verify.engine import Pair, Task
from verify.evidence import EvidenceError, Writer
from verify.record import Name, Record
from verify.settings import Settings
from verify.witnesses.table import WITNESSES
from verify.witnesses.witness import Later

Futures = dict[Name, Future[Record]]
TRIES = 3
"""How often what breaks a process of its own is tried before it is given up."""


def processes() -> Executor:
    """Return one process a core."""
    start_importing()
    context = multiprocessing.get_context("forkserver")
    return Apart(cores(), partial(ProcessPoolExecutor, 1, context, _prepare_process))


def start_importing() -> None:
    """Start the process that imports everything for the others, and do not wait for it.

    Ctrl-C goes to it as well, and would end it with a traceback while it imports.
    """
    forkserver.set_forkserver_preload(imported())
    resource_tracker.ensure_running()  # which unblocks what is blocked below
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Apart(Executor):
    """Executors of one process each, so that what breaks one leaves the others at work.

    Args:
        count: how many.
        make: makes one.
    """

    def __init__(self, count: int, make: Callable[[], Executor]):
        self._make, self._threads, self._own = make, ThreadPoolExecutor(count), local()
        self._made: list[Executor] = []
        self._starting = Lock()
        self._is_ended = False

    def submit(self, function: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        """Submit a call; its error is that its process broke, if it did."""
        return self._threads.submit(self._call, function, args, named)

    def _call(self, function: Callable[..., Any], args: Any, named: Any) -> Any:
        executor: Executor | None = getattr(self._own, "executor", None)
        try:
            with self._starting:  # a process that is forked meanwhile would keep another's pipes
                if self._is_ended:
                    raise BrokenProcessPool("nothing more is begun")
                if executor is None:
                    self._own.executor = executor = self._make()
                    self._made.append(executor)
                begun = executor.submit(function, *args, **named)
            return begun.result()
        except BrokenProcessPool:
            self._own.executor = None
            raise

    def end(self) -> None:
        """End the processes, whatever they are at, and begin nothing more."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._starting:
            self._is_ended = True
            for executor in self._made:
                for process in list((getattr(executor, "_processes", None) or {}).values()):
                    process.terminate()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End; what has not begun is finished first, or cancelled."""
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        for executor in self._made:
            executor.shutdown(wait)


@contextmanager
def examining(
    pairs: Sequence[Pair],
    settings: Settings,
    writer: Writer | None = None,
    executor: Callable[[], Executor] = processes,
) -> Iterator[Futures]:
    """Start to examine every pair; yield the futures of their records, by name.

    What the writer knows already is not examined again; what is found is written as it is found.
    Leaving the context cancels what has not begun, and ends the processes that are at work.
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
    # What takes long comes first, so that no process waits for another at the end.
    tasks = sorted(engine.tasks(waiting), key=_length, reverse=True)
    thread = Thread(target=run.examine, args=(tasks,), daemon=True)
    thread.start()
    try:
        yield futures
    finally:
        run.stopped.set()
        thread.join()


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
                self._fail(task.names, error)

    def _examine(self, tasks: list[Task]) -> None:
        """Examine tasks; what is left of those that break a process in halves, at last alone."""
        alone: list[Task] = []
        while tasks and not self.stopped.is_set():
            lost = self._attempt(tasks)
            at_work, others = lost[: cores() + 1], lost[cores() + 1 :]
            alone += [task for task in at_work if len(task.claims) == 1]
            tasks = [*others, *chain(*map(_halves, at_work))]
        for task in alone:
            self._insist(task)
        for future in self.futures.values():
            future.cancel()

    def _insist(self, task: Task) -> None:
        for _ in range(TRIES):
            if self.stopped.is_set() or not self._attempt([task]):
                return
        self._fail(task.names, BrokenProcessPool(f"{task.names} ended {TRIES} processes"))

    def _attempt(self, tasks: list[Task]) -> list[Task]:
        """Return what is left of the tasks that were lost with a process, in their order."""
        with TemporaryDirectory() as folder, self.executor() as executor:
            asked = [_Asked(task, Path(folder) / f"{n}.jsonl") for n, task in enumerate(tasks)]
            begun = {
                executor.submit(examine_named, *named(one.task), self.settings, one.path): one
                for one in asked
            }
            waiting = set(begun)
            while waiting and not self.stopped.is_set():
                done, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
                for future in done:
                    self._settle(begun[future], future)
                for future in filter(Future.running, waiting):
                    self._pass_on(begun[future].found())
            if self.stopped.is_set() and isinstance(executor, Apart):
                executor.end()
            executor.shutdown(wait=True, cancel_futures=True)
        return [left for one in asked if one.is_lost and (left := self._left(one.task))]

    def _pass_on(self, records: Iterable[Record]) -> None:
        """Pass on what was found, once; what cannot be written ends the run for all that waits."""
        for record in records:
            if self.futures[record.name].done():
                continue
            try:
                if self.writer is not None:
                    self.writer.add(record)
                self.futures[record.name].set_result(record)
            except EvidenceError as failure:
                self.stopped.set()
                self._fail(self.futures, failure)
                return

    def _settle(self, asked: _Asked, done: Future[list[Record]]) -> None:
        """Pass on what a task found: as it returned it, or, if it did not, as it wrote it."""
        error = done.exception()
        if error is None:
            self._pass_on(done.result())
            return
        self._pass_on(asked.found())
        if isinstance(error, BrokenProcessPool):
            asked.is_lost = True
        else:
            self._fail(asked.task.names, error)

    def _left(self, task: Task) -> Task | None:
        """Return the statements of a task of which nothing was found."""
        claims = tuple(
            claim
            for claim, name in zip(task.claims, task.names, strict=True)
            if not self.futures[name].done()
        )
        return Task(task.witness, claims) if claims else None

    def _fail(self, names: Iterable[Name], error: BaseException) -> None:
        for name in names:
            if not self.futures[name].done():
                self.futures[name].set_exception(error)


@dataclass
class _Asked:
    """A task that is handed out, and the file to which its records are written as found."""

    task: Task
    path: Path
    is_lost: bool = False
    read: int = 0

    def found(self) -> list[Record]:
        """Return the records that were written whole since this was called last."""
        written = evidence.records_in(self.path, self.read)
        self.read += len(written)
        return written


def _length(task: Task) -> tuple[int, int]:
    """Return what orders tasks by their time, nearly: first those that share what they compute."""
    return task.witness.together, len(task.claims)


def _halves(task: Task) -> list[Task]:
    """Return a task in two, or nothing of one that is about one statement."""
    middle = len(task.claims) // 2
    parts = (task.claims[:middle], task.claims[middle:]) if middle else ()
    return [Task(task.witness, part) for part in parts]


def named(task: Task) -> tuple[str, list[str]]:
    """Return a task by the names that another process knows."""
    return task.witness.name, [claim.id for claim in task.claims]


def examine_named(
    witness: str, claims: Sequence[str], settings: Settings, path: Path | None = None
) -> list[Record]:
    """Examine statements in a process of its own, where they are found by name.

    What is found is written to a file as well, as it is found: it outlives the process.
    """
    by_name = {claim.id: claim for claim in engine.statements(settings.claims)}
    chosen = tuple(by_name[name] for name in claims)
    found = next(w for w in engine.WITNESSES if w.name == witness and w.applies(chosen[0]))
    records = []
    for record in engine.examine_task(Task(found, chosen), settings):
        records.append(record)
        if path is not None:
            with suppress(OSError):  # then it is returned, if the process lives
                evidence.append(path, record)
    return records


def imported() -> list[str]:
    """Return what takes seconds to import, and every process needs: one imports it for all."""
    witnesses = [w.examine.args for w in WITNESSES if isinstance(w.examine, partial)]
    modules = [each.module for each in chain(*witnesses) if isinstance(each, Later)]
    # The last are for PyTorch's first derivative, and for the data of the trained networks.
    return ["verify.engine", *modules, "torch._dynamo", "sklearn.datasets"]


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def _prepare_process() -> None:
    """Leave the interrupt to the parent, end with it, and use one thread."""
    import gc

    import torch

    gc.freeze()  # what was imported is never garbage
    gc.set_threshold(50_000, 20, 100)  # most of what is made is a small number in use
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
