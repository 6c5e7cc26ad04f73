"""Evidence survives kills, tells damage from absence, and never loses what an earlier run found."""

import json
import os
import resource
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import inf, nan
from threading import Barrier

import numpy as np
import pytest

from verify import description, evidence, json_lines
from verify.description import describe_run
from verify.evidence import (
    FILE,
    SCHEMA,
    EvidenceError,
    NoEvidenceError,
    Record,
    Run,
    Writer,
    read,
)
from verify.results import EVERY_M, Proof

RUN = Run("smoke", 0, "numpy", "", "abcd", 1, {"python": "3.11"})


def today(claim, witness):
    return f"{claim} {witness}"


def marked(record):
    return replace(record, fingerprint=today(*record.name), commit=RUN.commit)


FIRST = marked(
    Record("S-1", "exact", instances=3, violated=1, worst_ratio=1.5, sizes={"2": "fails"})
)
SECOND = marked(Record("S-2", "abstract", proof=Proof((EVERY_M,))))
THIRD = marked(Record("S-3", "exact"))


def writer_of(folder, run=RUN, fingerprint=today):
    return Writer(folder, run, fingerprint)


@pytest.fixture
def killed(tmp_path):
    """The folder of a run that was killed after two records."""
    writer = writer_of(tmp_path)
    writer.add(FIRST)
    writer.add(SECOND)
    writer.close()
    return tmp_path


def lines(folder):
    return (folder / FILE).read_text().splitlines(keepends=True)


def rewrite(folder, content):
    (folder / FILE).write_text("".join(content))


def damage(folder):
    header, first, second, *_ = lines(folder)
    rewrite(folder, [header, first[:-9] + "\n", second])


def failing(*_arguments, **_options):
    raise FileNotFoundError


def test_what_was_written_is_read(killed):
    assert read(killed) == (RUN, [FIRST, SECOND])


def test_a_killed_run_is_resumed(killed):
    writer = writer_of(killed)
    assert list(writer.done.values()) == [FIRST, SECOND]
    writer.add(THIRD)
    assert read(killed)[1] == [FIRST, SECOND, THIRD]


def test_a_record_that_is_there_is_not_written_again(killed):
    writer_of(killed).add(replace(FIRST, seconds=9.0))
    assert read(killed)[1] == [FIRST, SECOND]


def test_what_has_another_fingerprint_is_neither_known_nor_lost(killed):
    writer = writer_of(killed, fingerprint=lambda claim, witness: "tomorrow")
    assert writer.done == {}
    writer.add(replace(FIRST, notes="again"))
    assert [r.notes for r in evidence.read_all(killed)[1]] == ["", "", "again"]
    assert [r.notes for r in read(killed)[1]] == ["again", ""]


def test_pruning_leaves_what_is_known_and_says_what_went(killed):
    def second_changed(claim, witness):
        return today(claim, witness) if claim == "S-1" else "changed"

    assert evidence.prune(killed, lambda run: second_changed) == (1, 1)
    assert read(killed) == (RUN, [FIRST])


def test_what_a_run_writes_just_before_pruning_is_kept(killed, monkeypatch):
    lock = evidence.FolderLock

    def just_before(folder):
        evidence.append(folder / FILE, THIRD)
        return lock(folder)

    monkeypatch.setattr(evidence, "FolderLock", just_before)
    assert evidence.prune(killed, lambda run: today) == (3, 0)
    assert read(killed) == (RUN, [FIRST, SECOND, THIRD])


def test_two_runs_do_not_write_in_one_folder(killed):
    writer = writer_of(killed)
    with pytest.raises(EvidenceError, match="another run writes its evidence in"):
        writer_of(killed)
    with pytest.raises(EvidenceError, match="another run writes its evidence in"):
        evidence.prune(killed, lambda run: today)
    writer.close()
    writer_of(killed).close()


def test_what_another_run_would_find_as_well_is_taken_over(killed, tmp_path):
    """And nothing else: the record of S-2 is of another seed."""

    def of_another_seed(claim, witness):
        return today(claim, witness) if claim == "S-1" else "another seed"

    other = tmp_path / "other"
    writer = Writer(other, replace(RUN, seed=1), of_another_seed, [killed])
    assert list(writer.done.values()) == [FIRST]
    writer.close()
    (killed / FILE).unlink()
    assert read(other) == (replace(RUN, seed=1), [FIRST])
    assert list(Writer(other, replace(RUN, seed=1), of_another_seed).done.values()) == [FIRST]


def test_what_is_there_is_not_taken_over_again(killed, tmp_path):
    for _ in range(2):
        Writer(tmp_path / "other", RUN, today, [killed]).close()
    assert len(lines(tmp_path / "other")) == 4


def test_a_folder_to_take_over_from_that_has_no_evidence_is_refused(tmp_path):
    with pytest.raises(NoEvidenceError, match=r"no evidence in .*nowhere"):
        Writer(tmp_path / "here", RUN, today, [tmp_path / "nowhere"])
    assert not (tmp_path / "here").exists()


@pytest.mark.parametrize("torn", ['{"kind": "rec', '{"kind": "record", "claim": "é', "{", "[1]\n"])
def test_a_torn_last_line_is_left_out_and_mended(killed, torn):
    rewrite(killed, [*lines(killed), torn])
    assert read(killed)[1] == [FIRST, SECOND]
    writer_of(killed).add(THIRD)
    assert read(killed)[1] == [FIRST, SECOND, THIRD]


def test_a_last_line_without_its_end_is_whole(killed):
    rewrite(killed, ["".join(lines(killed)).removesuffix("\n")])
    writer_of(killed).add(THIRD)
    assert read(killed)[1] == [FIRST, SECOND, THIRD]


def test_a_kill_at_any_byte_costs_at_most_one_record(killed):
    whole = (killed / FILE).read_bytes()
    header = whole.index(b"\n")
    for cut in range(header, len(whole)):
        (killed / FILE).write_bytes(whole[:cut])
        writer = writer_of(killed)
        complete = whole[: cut + 1].count(b"\n") - 1
        assert list(writer.done.values()) == [FIRST, SECOND][:complete]
        writer.add(FIRST)
        writer.add(SECOND)
        writer.close()
        assert read(killed)[1] == [FIRST, SECOND]


def test_a_full_disk_leaves_what_was_written_whole(killed):
    writer, before = writer_of(killed), lines(killed)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((killed / FILE).stat().st_size + 20, limit[1]))
    try:
        with pytest.raises(EvidenceError, match=r"cannot be kept in .*name another folder"):
            writer.add(THIRD)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, previous)
    assert lines(killed)[: len(before)] == before
    assert read(killed)[1] == [FIRST, SECOND]
    writer.add(THIRD)
    assert read(killed)[1] == [FIRST, SECOND, THIRD]


def test_a_damaged_middle_line_is_named(killed):
    damage(killed)
    with pytest.raises(EvidenceError, match=rf"{FILE}, line 2 is damaged; delete the line"):
        read(killed)


@pytest.mark.parametrize(
    "header",
    [
        "{}",
        '{"kind": "record", "claim": "S-1", "witness": "exact"}',
        json.dumps({"kind": "run", "schema": SCHEMA + 1}),
    ],
    ids=["empty", "a record", "another schema"],
)
def test_a_file_of_another_schema_is_refused(killed, header):
    rewrite(killed, [header + "\n", *lines(killed)[1:]])
    with pytest.raises(EvidenceError, match=f"{FILE} does not begin with a run of schema {SCHEMA}"):
        read(killed)


@pytest.mark.parametrize(
    "changed",
    [
        {"instances": "three"},
        {"instances": 1.5},
        {"claim": None},
        {"surprise": 1},
        {"sizes": ["2"]},
        {"proof": {"slack": "0"}},
        {"counterexample": {"numbers": {"y": [0, 1]}}},
        {"counterexample": {"size": {"m": "2"}, "numbers": {}, "actual": "1", "claimed": "0"}},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_record_of_another_form_is_refused(killed, changed):
    header, first, second, *_ = lines(killed)
    rewrite(killed, [header, json.dumps({**json.loads(first), **changed}) + "\n", second])
    with pytest.raises(EvidenceError, match=f"{FILE} has a line of another form"):
        read(killed)


def test_an_empty_folder_has_no_evidence(tmp_path):
    with pytest.raises(NoEvidenceError, match="run 'make verify', or name another folder"):
        read(tmp_path / "nowhere")


def test_evidence_that_is_a_folder_cannot_be_read(tmp_path):
    (tmp_path / FILE).mkdir()
    with pytest.raises(EvidenceError, match=f"{FILE} cannot be read: Is a directory"):
        read(tmp_path)


@pytest.mark.parametrize("value", [nan, inf, -inf])
def test_what_is_not_finite_is_never_written(tmp_path, value):
    writer = writer_of(tmp_path)
    point = {"actual": 1.0, "claimed": 2.0}
    writer.add(
        Record("S-1", "exact", worst_ratio=value, points=[{**point, "actual": value}, point])
    )
    assert read(tmp_path)[1] == [marked(Record("S-1", "exact", points=[point]))]


def test_a_number_that_json_has_no_word_for_is_refused(tmp_path):
    writer = writer_of(tmp_path)
    with pytest.raises(ValueError, match="not JSON compliant"):
        writer.add(Record("S-1", "exact", seconds=nan))
    assert read(tmp_path) == (RUN, [])


def test_numbers_of_numpy_are_written_as_numbers(tmp_path):
    writer = writer_of(tmp_path)
    points = [{"actual": np.float64(0.5), "m": np.int64(3), "violated": np.bool_(True)}]
    writer.add(Record("S-1", "exact", worst_ratio=np.float64(1.5), points=points))
    writer.close()
    [found] = read(tmp_path)[1]
    assert found.worst_ratio == 1.5
    assert found.points == [{"actual": 0.5, "m": 3, "violated": True}]


def test_threads_add_at_once(tmp_path):
    writer = writer_of(tmp_path)
    threads, each = 8, 40
    start = Barrier(threads)

    def add(thread):
        start.wait()
        for number in range(each):
            writer.add(Record(f"S-{number}", f"witness {thread // 2}", notes="x" * 5000))

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(add, range(threads)))
    names = [(r.claim, r.witness) for r in read(tmp_path)[1]]
    assert len(names) == len(set(names)) == each * threads // 2


@pytest.mark.parametrize("below", ["", "folder"])
def test_a_folder_that_cannot_be_written_is_named(tmp_path, below):
    (tmp_path / "file").touch()
    with pytest.raises(EvidenceError, match=r"cannot be kept in .*file.*; name another folder"):
        writer_of(tmp_path / "file" / below)


def test_a_folder_that_vanishes_is_named(killed):
    writer = writer_of(killed)
    shutil.rmtree(killed)
    with pytest.raises(EvidenceError, match="No such file or directory"):
        writer.add(THIRD)


def test_the_description_of_a_run_names_what_computed():
    run = describe_run("smoke", 3, "torch", "cpu")
    assert (run.profile, run.seed, run.backend, run.device) == ("smoke", 3, "torch", "cpu")
    assert {"python", "numpy", "torch", "scikit-learn", "array-api-strict"} <= set(run.versions)
    assert run.schema == SCHEMA


def test_without_git_the_run_says_so(monkeypatch):
    monkeypatch.setattr(description.subprocess, "run", failing)
    assert describe_run("smoke", 0, "numpy", "").commit == "unknown"


@pytest.mark.parametrize(("kills", "expected"), [(0, "abcd"), (2, "abcd"), (99, "unknown")])
def test_git_is_asked_again_if_a_signal_ended_it(kills, expected, tmp_path, monkeypatch):
    git = tmp_path / "git"
    git.write_text(
        f'#!/bin/sh\necho >> "$0.asked"\n'
        f'[ "$(wc -l < "$0.asked")" -gt {kills} ] || kill -KILL $$\necho abcd\n'
    )
    git.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert describe_run("smoke", 0, "numpy", "").commit == expected


def test_a_crash_while_a_file_is_rewritten_leaves_the_old_one(killed, monkeypatch):
    before = lines(killed)
    monkeypatch.setattr(json_lines.Path, "replace", failing)
    with pytest.raises(EvidenceError, match="name another folder"):
        evidence.prune(killed, lambda run: today)
    assert lines(killed) == before
