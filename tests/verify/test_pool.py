"""Several processes find what one finds, and nothing twice."""

import json
from dataclasses import replace

import pytest

from theory.santurkar2018 import CLAIMS
from verify import engine, pool
from verify.evidence import Record, Run, Writer, read
from verify.pool import examining, name_of
from verify.witnesses.table import WITNESSES
from verify.witnesses.witness import PROFILES, Settings

SETTINGS = Settings(PROFILES["smoke"])
ABSTRACT = [witness for witness in WITNESSES if witness.name == "abstract"]
PAIRS = engine.pairs(CLAIMS[:3], ABSTRACT)
RUN = Run("smoke", 0, "numpy", "", "0123", "abcd", 1, {})


@pytest.fixture
def writer(tmp_path):
    return Writer(tmp_path, RUN)


def without_time(records):
    """The records as they are written, by name."""
    return {(r.claim, r.witness): json.dumps([r.proof, r.notes]) for r in records}


def test_processes_find_what_one_process_finds_and_write_it(writer, tmp_path):
    found = list(pool.examine_all(PAIRS, SETTINGS, writer))
    assert without_time(found) == without_time(engine.examine(PAIRS, SETTINGS))
    assert without_time(read(tmp_path)[1]) == without_time(found)
    assert all(record.seconds > 0 for record in found)


def test_what_a_killed_run_found_is_not_examined_again(writer, monkeypatch):
    known = [Record(*name_of(pair), notes="known") for pair in PAIRS]
    for record in known:
        writer.add(record)
    monkeypatch.setattr(pool, "_examine", None)
    with examining(PAIRS, SETTINGS, writer) as futures:
        assert [future.result() for future in futures.values()] == known


def test_nothing_to_examine_starts_no_process():
    with examining([], SETTINGS) as futures:
        assert futures == {}


def test_an_error_in_a_process_is_raised_here():
    """A claim that the process does not find: it looks claims up by name."""
    (pair, *_) = PAIRS
    stray = engine.Pair(replace(pair.claim, id="S-stray"), pair.witness)
    with examining([stray], SETTINGS) as futures, pytest.raises(StopIteration):
        futures[name_of(stray)].result()
