"""Several processes find what one finds, and nothing twice."""

import errno
import multiprocessing
import os
import signal
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from last_records import read

from theory.santurkar2018 import CLAIMS
from verify import engine, json_lines, pool
from verify.evidence import Run, Writer
from verify.pool import examining
from verify.record import Record
from verify.settings import PROFILES, Settings
from verify.witnesses.table import WITNESSES
from verify.witnesses.witness import Witness

SETTINGS = Settings(PROFILES["smoke"])
ABSTRACT = [witness for witness in WITNESSES if witness.name == "abstract"]
PAIRS = engine.pairs(CLAIMS[:3], ABSTRACT)
RUN = Run("smoke", 0, "numpy", "", "abcd", 1, {})
FORK = multiprocessing.get_context("fork")


@pytest.fixture
def writer(tmp_path):
    return Writer(tmp_path, RUN, engine.todays(SETTINGS))


def without_time(records):
    """The records as they are written, by name."""
    return {(r.claim, r.witness): repr([r.proof, r.notes]) for r in records}


def test_processes_find_what_one_process_finds_and_write_it(writer, tmp_path, monkeypatch):
    """An error in a process, such as a claim that it does not find by its name, is raised here."""
    monkeypatch.setattr(pool, "imported", lambda: ["torch", "verify.witnesses.abstract"])
    with examining(PAIRS, SETTINGS, writer) as futures:
        found = [future.result() for future in futures.values()]
    assert without_time(found) == without_time(engine.examine(PAIRS, SETTINGS))
    assert without_time(read(tmp_path)[1]) == without_time(found)
    assert all(record.seconds > 0 for record in found)
    stray = engine.Pair(replace(PAIRS[0].claim, id="S-stray"), PAIRS[0].witness)
    with examining([stray], SETTINGS) as futures, pytest.raises(KeyError):
        futures[stray.name].result()


def interrupted():
    raise EOFError("the server of processes is gone")


def test_what_is_known_starts_no_process_and_one_that_cannot_start_is_told(writer):
    known = [Record(*pair.name, notes="known") for pair in PAIRS]
    for record in known:
        writer.add(record)
    with examining(PAIRS, SETTINGS, writer, interrupted) as futures:
        assert [future.result() for future in futures.values()] == list(writer.done.values())
    with examining(PAIRS, SETTINGS, executor=interrupted) as futures:
        for future in futures.values():
            with pytest.raises(EOFError, match="the server of processes is gone"):
                future.result(timeout=10)


def test_a_folder_that_cannot_be_written_stops_the_run(writer, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(json_lines, "append", full)
    several = engine.pairs(CLAIMS[:20], ABSTRACT)
    with examining(several, SETTINGS, writer, partial(ThreadPoolExecutor, 1)) as futures:
        failures = [future.exception() for future in futures.values()]
    assert len(failures) > 1
    assert all("No space left on device" in str(failure) for failure in failures)


# ---- processes that are killed ----


def together():
    """Processes that all break where one does."""
    return ProcessPoolExecutor(2, FORK)


def apart():
    """Processes that break alone, as a run's own, which need not import everything anew."""
    return pool.Apart(2, partial(ProcessPoolExecutor, 1, FORK))


@pytest.fixture
def examined(monkeypatch, tmp_path):
    """Examine the first claims by a function of claim and folder, so many in a task."""

    def run(act, count, at_once, executor=apart):
        def examine(claims, settings):
            for claim in claims:
                act(claim, Path(settings.backend))
                yield Record(claim.id, "killing")

        witness = Witness("killing", lambda claim: True, examine, at_once)
        monkeypatch.setattr(engine, "WITNESSES", (witness,))
        settings = replace(SETTINGS, backend=str(tmp_path))
        return examining(engine.pairs(CLAIMS[:count], [witness]), settings, executor=executor)

    return run


def end_process():
    os.kill(os.getpid(), signal.SIGKILL)


def wait_for(path):
    while not path.exists():
        time.sleep(0.01)


@pytest.mark.parametrize("executor", [apart, together])
def test_a_killed_process_costs_the_one_statement_that_it_was_at(examined, executor, tmp_path):
    """What it had found before is kept, and what it had not begun is not begun twice."""

    def noting(claim, folder):
        here = folder / claim.id.replace("/", " ")
        is_first = not here.exists()
        with here.open("a") as file:
            file.write("examined\n")
        if is_first and claim is CLAIMS[4]:
            end_process()

    with examined(noting, 16, 16, executor) as futures:
        found = [future.result(timeout=60).claim for future in futures.values()]
    assert found == [claim.id for claim in CLAIMS[:16]]
    times = {path.name: len(path.read_text().split()) for path in tmp_path.iterdir()}
    assert times == {c.id.replace("/", " "): 1 + (c is CLAIMS[4]) for c in CLAIMS[:16]}


@pytest.mark.parametrize("executor", [apart, together])
def test_what_always_ends_its_process_fails_alone(examined, executor):
    def act(claim, folder):
        if claim is CLAIMS[1]:
            end_process()

    with examined(act, 20, 8, executor) as futures:
        failed = {name for name, future in futures.items() if future.exception(timeout=60)}
    assert failed == {(CLAIMS[1].id, "killing")}


def test_a_killed_process_leaves_the_others_at_work(examined, tmp_path):
    """The first task ends its process once the second is at work, which then ends as well."""

    def act(claim, folder):
        begun, killed = folder / "begun", folder / "killed"
        if claim is CLAIMS[0] and not killed.exists():
            wait_for(begun)
            killed.touch()
            end_process()
        if claim is CLAIMS[1]:
            with begun.open("a") as file:
                file.write("begun\n")
            wait_for(killed)
            time.sleep(1)

    with examined(act, 3, 1) as futures:
        assert all(future.result(timeout=60) for future in futures.values())
    assert (tmp_path / "begun").read_text() == "begun\n"


def test_a_record_comes_before_its_task_is_through(examined, tmp_path):
    def act(claim, folder):
        if claim is CLAIMS[1]:
            wait_for(folder / "seen")

    with examined(act, 2, 2) as futures:
        first, second = futures.values()
        assert first.result(timeout=60)
        assert not second.done()
        (tmp_path / "seen").touch()
        assert second.result(timeout=60)


def test_who_leaves_waits_for_nothing_that_is_at_work(examined, tmp_path):
    def act(claim, folder):
        (folder / "begun").touch()
        time.sleep(60)
        (folder / "ended").touch()

    with examined(act, 8, 1) as futures:
        wait_for(tmp_path / "begun")
    assert not (tmp_path / "ended").exists()
    assert not any(future.done() and not future.cancelled() for future in futures.values())


def test_an_interrupt_leaves_the_process_that_imports_alone(monkeypatch):
    """It gets what the terminal's whole group gets, at a time when Python would print where."""
    blocked = []
    monkeypatch.setattr(
        pool.forkserver,
        "ensure_running",
        lambda: blocked.append(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    )
    pool.start_importing()
    assert signal.SIGINT in blocked[0]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
