"""A run that is killed leaves what a run leaves that nobody kills."""

import multiprocessing
import os
import random
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
from verify.options import Options
from verify.record import Record
from verify.witnesses.witness import Witness

READABLE = [claim for claim in CLAIMS if not claim.unreadable][:12]
FORK = multiprocessing.get_context("fork")
in_proc = pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="processes are found in /proc"
)


def started(pairs, folder):
    """Start a run in a process of its own, which has imported everything."""
    process = FORK.Process(target=examine, args=(pairs, folder))
    process.start()
    return process


def examine(pairs, folder):
    options = Options("smoke", evidence=folder)
    writer = options.writer()
    with pool.examining(pairs, options.settings(), writer, processes) as futures:
        for future in as_completed(futures.values()):
            future.result()
    writer.close()


def processes():
    """Return processes like a run's own, which need not import everything anew."""
    return pool.Apart(2, partial(ProcessPoolExecutor, 1, FORK, pool._prepare_process))


def children_of(process):
    """Return the processes that a process, or one of its threads, has made and that live."""
    found = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(child) for child in task.read_text().split()]
    return [child for child in found if is_alive(child)]


def is_alive(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def found_in(folder):
    """Return what a folder of evidence says, without how long it took."""
    try:
        lines = evidence.read_all(folder)[1]
    except evidence.NoEvidenceError:
        return {}
    return {line.name: replace(line.record, seconds=0.0) for line in lines}


def is_free(folder):
    """Whether no run holds the folder."""
    try:
        evidence.FolderLock(folder).give_back()
    except evidence.EvidenceError:
        return False
    return True


def until(is_so):
    deadline = time.monotonic() + 60
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.01)
    return is_so()


@pytest.fixture
def gate(tmp_path):
    """What examinations wait for; after the test none waits any longer."""
    yield tmp_path / "gate"
    (tmp_path / "gate").touch()


@in_proc
def test_a_run_that_is_killed_goes_on_and_finds_what_another_finds(tmp_path, gate, monkeypatch):
    """Two processes get through half of their four statements each before the run is killed."""
    here = tmp_path / "killed"
    Options("smoke", evidence=tmp_path).writer().close()  # which imports much, once for all copies

    def waiting(claims, settings):
        for number, claim in enumerate(claims):
            while number == 2 and not gate.exists():
                time.sleep(0.01)
            yield Record(claim.id, "waiting", notes=claim.title)

    monkeypatch.setattr(engine, "WITNESSES", (Witness("waiting", bool, waiting, together=4),))
    pairs = engine.pairs(READABLE, engine.WITNESSES)
    for how, count in ((signal.SIGKILL, 4), (signal.SIGTERM, 8)):
        run = started(pairs, here)
        assert until(lambda count=count: len(found_in(here)) == count)
        assert not is_free(here)
        children = children_of(run.pid)
        os.kill(run.pid, how)
        run.join()
        assert is_free(here)
        assert until(lambda children=children: not any(map(is_alive, children)))
        assert len(found_in(here)) == count
    gate.touch()
    for folder in (here, tmp_path / "whole"):
        started(pairs, folder).join()
    assert len(found_in(here)) == len(pairs)
    assert found_in(here) == found_in(tmp_path / "whole")


@in_proc
def test_a_run_of_which_anything_is_killed_at_any_moment_loses_nothing(tmp_path):
    """The run itself, or one of its processes, which costs a run nothing."""
    rng, here, whole = random.Random(0), tmp_path / "killed", tmp_path / "whole"
    provers = [w for w in engine.WITNESSES if w.name in ("abstract", "polynomial")]
    pairs = engine.pairs(READABLE, provers)
    begun = time.monotonic()
    started(pairs, whole).join()
    longest = time.monotonic() - begun
    for _ in range(3):
        run = started(pairs, here)
        run.join(rng.uniform(0, longest / 4))
        known, victim = found_in(here).keys(), rng.choice([run.pid, *children_of(run.pid)])
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
        run.join()
        assert known <= found_in(here).keys()
    started(pairs, here).join()
    assert found_in(here) == found_in(whole)
