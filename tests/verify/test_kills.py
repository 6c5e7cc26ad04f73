"""A run that is killed leaves what a run leaves that nobody kills."""

import os
import signal
import time
from pathlib import Path

import pytest
from kills import (
    Outcome,
    _differing,
    _is_alive,
    cheap_pairs,
    children_of,
    found_in,
    kill,
    started,
)

from theory.santurkar2018 import CLAIMS
from verify import engine, evidence
from verify.options import Options
from verify.record import Record
from verify.witnesses.witness import Witness


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
        children = children_of(run.pid)
        os.kill(run.pid, how)
        run.join()
        assert is_free(here)
        assert until(lambda children=children: not any(map(_is_alive, children)))
        assert len(found_in(here)) == count
    gate.touch()
    for folder in (here, tmp_path / "whole"):
        started(pairs, folder).join()
    assert len(found_in(here)) == len(pairs)
    assert found_in(here) == found_in(tmp_path / "whole")


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are found in /proc")
def test_a_run_that_is_killed_at_random_moments_leaves_what_one_leaves_that_is_not(tmp_path):
    outcome = kill(3, cheap_pairs(20), tmp_path)
    assert outcome.kills.total() == 3
    assert outcome.is_well, str(outcome)


def test_what_kills_spoil_is_seen():
    assert not Outcome().is_well
    assert not Outcome(runs=1, lost=1).is_well
    assert not Outcome(runs=1, orphans=1).is_well
    assert not Outcome(runs=1, differing={("S-1", "exact")}).is_well
    assert Outcome(runs=1).is_well


def test_of_what_is_measured_only_the_counts_may_depend_on_other_statements():
    proved, measured = ("S-1", "abstract"), ("S-1", "autograd")
    found = {proved: {"violated": 1}, measured: {"violated": 1, "instances": 5}}
    assert _differing(found, {**found, proved: {"violated": 2}}) == {(*proved, "violated")}
    assert not _differing(found, {**found, measured: {"violated": 2, "instances": 5}})
    changed = {**found, measured: {"violated": 1, "instances": 4}}
    assert _differing(found, changed) == {(*measured, "instances")}
    assert _differing(found, {proved: found[proved]}) == {(*measured, "instances")}
