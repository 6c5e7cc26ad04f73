"""Several processes find what one finds, and nothing twice."""

import errno
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from theory.santurkar2018 import CLAIMS
from verify import engine, json_lines, pool
from verify.evidence import Record, Run, Writer, read
from verify.pool import examining
from verify.settings import PROFILES, Settings
from verify.witnesses.table import WITNESSES
from verify.witnesses.witness import Witness

SETTINGS = Settings(PROFILES["smoke"])
ABSTRACT = [witness for witness in WITNESSES if witness.name == "abstract"]
PAIRS = engine.pairs(CLAIMS[:3], ABSTRACT)
RUN = Run("smoke", 0, "numpy", "", "abcd", 1, {})


@pytest.fixture
def writer(tmp_path):
    return Writer(tmp_path, RUN, engine.todays(SETTINGS))


def without_time(records):
    """The records as they are written, by name."""
    return {(r.claim, r.witness): repr([r.proof, r.notes]) for r in records}


def test_processes_find_what_one_process_finds_and_write_it(writer, tmp_path):
    found = list(pool.examine_all(PAIRS, SETTINGS, writer))
    assert without_time(found) == without_time(engine.examine(PAIRS, SETTINGS))
    assert without_time(read(tmp_path)[1]) == without_time(found)
    assert all(record.seconds > 0 for record in found)


def test_what_a_killed_run_found_is_not_examined_again(writer, monkeypatch):
    known = [Record(*pair.name, notes="known") for pair in PAIRS]
    for record in known:
        writer.add(record)
    known = list(writer.done.values())
    monkeypatch.setattr(pool, "examine_named", None)
    with examining(PAIRS, SETTINGS, writer) as futures:
        assert [future.result() for future in futures.values()] == known


def test_nothing_to_examine_starts_no_process():
    with examining([], SETTINGS) as futures:
        assert futures == {}


def test_an_error_in_a_process_is_raised_here():
    """A claim that the process does not find: it looks claims up by name."""
    (pair, *_) = PAIRS
    stray = engine.Pair(replace(pair.claim, id="S-stray"), pair.witness)
    with examining([stray], SETTINGS) as futures, pytest.raises(KeyError):
        futures[stray.name].result()


def test_an_executor_that_cannot_start_is_an_error_of_what_waits_for_it():
    def interrupted():
        raise EOFError("the server of processes is gone")

    with examining(PAIRS, SETTINGS, executor=interrupted) as futures:
        for future in futures.values():
            with pytest.raises(EOFError, match="the server of processes is gone"):
                future.result(timeout=10)


def killing(claims, settings):
    """End the process that examines the first claim, the first time."""
    for claim in claims:
        if claim is PAIRS[0].claim and not Path(settings.backend).exists():
            Path(settings.backend).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        yield Record(claim.id, "killing")


def test_a_process_that_is_killed_costs_what_it_was_at(monkeypatch, tmp_path):
    witness = Witness("killing", lambda claim: True, killing)
    monkeypatch.setattr(engine, "WITNESSES", (witness,))
    pairs = engine.pairs(CLAIMS[:3], [witness])
    forked = partial(ProcessPoolExecutor, 2, multiprocessing.get_context("fork"))
    settings = replace(SETTINGS, backend=str(tmp_path / "killed"))
    with examining(pairs, settings, executor=forked) as futures:
        found = [future.result(timeout=60).claim for future in futures.values()]
    assert found == [claim.id for claim in CLAIMS[:3]]
    assert (tmp_path / "killed").exists()


def always_killing(claims, settings):
    """End the process that examines the second claim, however often."""
    for claim in claims:
        if claim is CLAIMS[1]:
            os.kill(os.getpid(), signal.SIGKILL)
        yield Record(claim.id, "killing")


def test_what_always_ends_its_process_fails_alone(monkeypatch):
    witness = Witness("killing", lambda claim: True, always_killing, 8)
    monkeypatch.setattr(engine, "WITNESSES", (witness,))
    pairs = engine.pairs(CLAIMS[:20], [witness])
    forked = partial(ProcessPoolExecutor, 2, multiprocessing.get_context("fork"))
    with examining(pairs, SETTINGS, executor=forked) as futures:
        failed = {name for name, future in futures.items() if future.exception(timeout=60)}
    assert failed == {(CLAIMS[1].id, "killing")}


def test_threads_serve_as_well_as_processes():
    with examining(PAIRS, SETTINGS, executor=ThreadPoolExecutor) as futures:
        found = [future.result() for future in futures.values()]
    assert without_time(found) == without_time(engine.examine(PAIRS, SETTINGS))


def test_a_folder_that_cannot_be_written_stops_the_run(writer, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(json_lines, "append", full)
    with examining(PAIRS, SETTINGS, writer, ThreadPoolExecutor) as futures:
        failures = [future.exception() for future in futures.values() if not future.cancelled()]
    assert failures
    assert all("No space left on device" in str(failure) for failure in failures)


ORPHANED = """
import sys, time
from verify import engine, json_lines, pool
from verify.settings import PROFILES, Settings
from verify.witnesses.witness import Witness
pairs = [p for p in engine.pairs(engine.CLAIMS[:40], engine.WITNESSES) if p.witness.name == "exact"]
with pool.examining(pairs, Settings(PROFILES["default"])) as futures:
    next(iter(futures.values())).result()
    print("begun", flush=True)
    time.sleep(600)
"""


def children_of(pid):
    listed = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    direct = [int(line) for line in listed.stdout.split()]
    return direct + [pid for child in direct for pid in children_of(child)]


def is_alive(pid):
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


@pytest.mark.skipif(shutil.which("pgrep") is None, reason="pgrep is missing (Debian: procps)")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_no_process_outlives_a_run_that_is_ended(how):
    command = [sys.executable, "-c", ORPHANED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == "begun\n"
        descendants = children_of(run.pid)
        assert descendants
        run.send_signal(how)
    deadline = time.monotonic() + 20
    while any(map(is_alive, descendants)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(is_alive, descendants))
