"""A run that is killed leaves what a run leaves that nobody kills."""

import multiprocessing
import os
import signal
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from functools import partial

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


def found_in(folder):
    try:
        return {r.name: replace(r, seconds=0.0) for r in evidence.read(folder)[1]}
    except evidence.NoEvidenceError:
        return {}


def is_free(folder):
    """Whether nobody holds the folder: neither a run nor a process of its, which has its files."""
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
    pairs = engine.pairs([claim for claim in CLAIMS if not claim.unreadable][:12], engine.WITNESSES)
    for how, count in ((signal.SIGKILL, 4), (signal.SIGTERM, 8)):
        run = started(pairs, here)
        assert until(lambda count=count: len(found_in(here)) == count)
        assert not is_free(here)
        os.kill(run.pid, how)
        run.join()
        assert until(lambda: is_free(here))
        assert len(found_in(here)) == count
    gate.touch()
    for folder in (here, tmp_path / "whole"):
        started(pairs, folder).join()
    assert len(found_in(here)) == len(pairs)
    assert found_in(here) == found_in(tmp_path / "whole")
