"""A run that is killed, in each way that kills, leaves what a run leaves that nobody kills."""

import multiprocessing
import os
import signal
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from theory.santurkar2018 import CLAIMS
from verify import engine, evidence, pool
from verify.evidence import Record
from verify.options import Options
from verify.witnesses.witness import Witness

FORK = multiprocessing.get_context("fork")


def examine(pairs, folder):
    """Examine pairs in two processes that need not import everything anew."""
    executor = partial(pool.Apart, 2, partial(ProcessPoolExecutor, 1, FORK, pool._prepare_process))
    options = Options("smoke", evidence=folder)
    writer = options.writer()
    with pool.examining(pairs, options.settings(), writer, executor) as futures:
        for future in as_completed(futures.values()):
            future.result()
    writer.close()


def started(pairs, folder):
    process = FORK.Process(target=examine, args=(pairs, folder))
    process.start()
    return process


def children_of(process):
    """The processes that a process, or one of its threads, has made and that live."""
    found = []
    for children in Path(f"/proc/{process.pid}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(child) for child in children.read_text().split()]
    return [child for child in found if is_alive(child)]


def is_alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def found_in(folder):
    try:
        return {r.name: replace(r, seconds=0.0) for r in evidence.read(folder)[1]}
    except evidence.NoEvidenceError:
        return {}


def until(is_so):
    deadline = time.monotonic() + 60
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.01)
    return is_so()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are found in /proc")
def test_a_run_that_is_killed_leaves_what_one_leaves_that_is_not(tmp_path, monkeypatch):
    """Each task gets through half of its four statements; what is left of one is two tasks."""
    gate, here = tmp_path / "gate", tmp_path / "killed"
    Options("smoke", evidence=tmp_path).writer().close()  # which imports much, once for all copies

    def waiting(claims, settings):
        for number, claim in enumerate(claims):
            while number == 2 and not gate.exists():
                time.sleep(0.01)
            yield Record(claim.id, "waiting", notes=claim.title)

    monkeypatch.setattr(engine, "WITNESSES", (Witness("waiting", bool, waiting, together=4),))
    pairs = engine.pairs([claim for claim in CLAIMS if not claim.unreadable][:12], engine.WITNESSES)
    for what, how, count in [
        ("the run", signal.SIGKILL, 4),
        ("the run", signal.SIGTERM, 8),
        ("a process", signal.SIGKILL, 10),
    ]:
        run = started(pairs, here)
        assert until(lambda count=count: len(found_in(here)) == count)
        known, ending = found_in(here), children_of(run)
        assert ending
        os.kill(run.pid if what == "the run" else ending[0], how)
        run.join()
        assert (run.exitcode == 0) == (what == "a process")
        assert until(lambda ending=ending: not any(map(is_alive, ending)))
        assert known.items() <= found_in(here).items()
    gate.touch()
    started(pairs, tmp_path / "whole").join()
    assert len(found_in(here)) == len(pairs)
    assert found_in(here) == found_in(tmp_path / "whole")
