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
def _import_little(monkeypatch):
    """Processes import what these witnesses need; the list of everything serves clusters' tests."""
    monkeypatch.setattr(pool, "imported", lambda: ["torch", "verify.witnesses.abstract"])


@pytest.fixture
def writer(tmp_path):
    return Writer(tmp_path, RUN, engine.todays(SETTINGS))


def without_time(records):
    """The records as they are written, by name."""
    return {(r.claim, r.witness): repr([r.proof, r.notes]) for r in records}


@pytest.mark.usefixtures("_import_little")
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


@pytest.mark.usefixtures("_import_little")
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


def forked():
    """Processes that break alone, as a run's own, which need not import everything anew."""
    one = partial(ProcessPoolExecutor, 1, multiprocessing.get_context("fork"))
    return pool.Apart(2, one)


def noting(claims, settings):
    """Note each claim in a file when it is examined; end the process at the fifth, once."""
    folder = Path(settings.backend)
    for number, claim in enumerate(claims):
        here = folder / claim.id.replace("/", " ")
        is_first = not here.exists()
        with here.open("a") as file:
            file.write("examined\n")
        if is_first and claim is CLAIMS[4]:
            assert number == 4
            os.kill(os.getpid(), signal.SIGKILL)
        yield Record(claim.id, "killing")


def test_a_killed_process_costs_the_one_statement_that_it_was_at(monkeypatch, tmp_path):
    """What it had found before is kept, and what it had not begun is not begun twice."""
    witness = Witness("killing", lambda claim: True, noting, 16)
    monkeypatch.setattr(engine, "WITNESSES", (witness,))
    pairs = engine.pairs(CLAIMS[:16], [witness])
    settings = replace(SETTINGS, backend=str(tmp_path))
    with examining(pairs, settings, executor=forked) as futures:
        found = [future.result(timeout=60).claim for future in futures.values()]
    assert found == [claim.id for claim in CLAIMS[:16]]
    times = {
        c.id: len((tmp_path / c.id.replace("/", " ")).read_text().split()) for c in CLAIMS[:16]
    }
    assert times == {claim.id: 1 + (claim is CLAIMS[4]) for claim in CLAIMS[:16]}


def waiting_for_a_kill(claims, settings):
    """End the process of the first task once the second is at work, which then ends as well."""
    begun, killed = Path(settings.backend, "begun"), Path(settings.backend, "killed")
    for claim in claims:
        if claim is CLAIMS[0] and not killed.exists():
            while not begun.exists():
                time.sleep(0.01)
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if claim is CLAIMS[1]:
            with begun.open("a") as file:
                file.write("begun\n")
            while not killed.exists():
                time.sleep(0.01)
            time.sleep(1)
        yield Record(claim.id, "killing")


def test_a_killed_process_leaves_the_others_at_work(monkeypatch, tmp_path):
    witness = Witness("killing", lambda claim: True, waiting_for_a_kill, 1)
    monkeypatch.setattr(engine, "WITNESSES", (witness,))
    settings = replace(SETTINGS, backend=str(tmp_path))
    with examining(engine.pairs(CLAIMS[:3], [witness]), settings, executor=forked) as futures:
        assert all(future.result(timeout=60) for future in futures.values())
    assert (tmp_path / "begun").read_text() == "begun\n"


def slow_at_last(claims, settings):
    """Yield a record, and the next one only once somebody has seen the first."""
    for claim in claims:
        while claim is CLAIMS[1] and not Path(settings.backend).exists():
            time.sleep(0.01)
        yield Record(claim.id, "killing")


def test_a_record_comes_before_its_task_is_through(monkeypatch, tmp_path):
    witness = Witness("killing", lambda claim: True, slow_at_last, 2)
    monkeypatch.setattr(engine, "WITNESSES", (witness,))
    settings = replace(SETTINGS, backend=str(tmp_path / "seen"))
    with examining(engine.pairs(CLAIMS[:2], [witness]), settings, executor=forked) as futures:
        first, second = futures.values()
        assert first.result(timeout=60)
        assert not second.done()
        (tmp_path / "seen").touch()
        assert second.result(timeout=60)


def always_killing(claims, settings):
    """End the process that examines the second claim, however often."""
    for claim in claims:
        if claim is CLAIMS[1]:
            os.kill(os.getpid(), signal.SIGKILL)
        yield Record(claim.id, "killing")


@pytest.mark.parametrize("is_apart", [True, False])
def test_what_always_ends_its_process_fails_alone(monkeypatch, is_apart):
    together = partial(ProcessPoolExecutor, 2, multiprocessing.get_context("fork"))
    witness = Witness("killing", lambda claim: True, always_killing, 8)
    monkeypatch.setattr(engine, "WITNESSES", (witness,))
    pairs = engine.pairs(CLAIMS[:20], [witness])
    with examining(pairs, SETTINGS, executor=forked if is_apart else together) as futures:
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
    several = engine.pairs(CLAIMS[:20], ABSTRACT)
    with examining(several, SETTINGS, writer, partial(ThreadPoolExecutor, 1)) as futures:
        failures = [future.exception() for future in futures.values()]
    assert len(failures) > 1
    assert all("No space left on device" in str(failure) for failure in failures)


ORPHANED = """
import sys, time
from verify import engine, json_lines, pool
from verify.settings import PROFILES, Settings
from verify.witnesses.witness import Witness
pool.imported = lambda: ["torch", "verify.witnesses.abstract"]  # what these pairs need
witnesses = [w for w in engine.WITNESSES if w.name == "abstract"]
pairs = engine.pairs(engine.CLAIMS[:40], witnesses)
with pool.examining(pairs, Settings(PROFILES["smoke"])) as futures:
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
