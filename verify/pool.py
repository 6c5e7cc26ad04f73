"""Several processes examine pairs of claim and witness at once."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context

from verify import engine
from verify.engine import Pair
from verify.evidence import Record, Writer
from verify.witnesses.witness import Settings

Name = tuple[str, str]
"""A claim's identifier and a witness's name."""


def name_of(pair: Pair) -> Name:
    """Return the pair's name."""
    return pair.claim.id, pair.witness.name


@contextmanager
def examining(
    pairs: Iterable[Pair], settings: Settings, writer: Writer | None = None
) -> Iterator[dict[Name, Future[Record]]]:
    """Start to examine every pair; yield the futures of their records, by name.

    What the writer's folder holds already is not examined again; what is found is written as it
    is found.  Leaving the context cancels what has not begun.
    """
    known = {} if writer is None else dict(writer.done)
    with ProcessPoolExecutor(_workers(), get_context("spawn"), _quiet) as pool:
        futures: dict[Name, Future[Record]] = {}
        for pair in pairs:
            name = name_of(pair)
            if name in known:
                futures[name] = _settled(known[name])
                continue
            futures[name] = pool.submit(_examine, *name, settings)
            if writer is not None:
                futures[name].add_done_callback(lambda future: _write(writer, future))
        try:
            yield futures
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def examine_all(
    pairs: Iterable[Pair], settings: Settings, writer: Writer | None = None
) -> Iterator[Record]:
    """Yield the records of all pairs as they are found."""
    with examining(pairs, settings, writer) as futures:
        for future in as_completed(futures.values()):
            yield future.result()


def _examine(claim: str, witness: str, settings: Settings) -> Record:
    """Examine one pair in a process of its own, where claims are found by name."""
    from verify.witnesses.table import WITNESSES

    start = time.perf_counter()
    chosen = next(c for c in engine.CLAIMS if c.id == claim)
    found = next(w for w in WITNESSES if w.name == witness and w.applies(chosen)).examine(
        chosen, settings
    )
    return replace(found, seconds=time.perf_counter() - start)


def _workers() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def _quiet() -> None:
    """Leave the interrupt to the parent, and use one thread: the processes fill the cores."""
    import signal

    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)


def _settled(record: Record) -> Future[Record]:
    future: Future[Record] = Future()
    future.set_result(record)
    return future


def _write(writer: Writer, future: Future[Record]) -> None:
    if not future.cancelled() and future.exception() is None:
        writer.add(future.result())
