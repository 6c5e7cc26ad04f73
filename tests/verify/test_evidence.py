"""Evidence survives kills, tells damage from absence, and never loses what an earlier run found."""

import json
import os
import re
import resource
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import inf, nan
from threading import Barrier, Thread

import numpy as np
import pytest
from last_records import read

from verify import description, evidence, json_lines
from verify.description import describe_run
from verify.evidence import FILE, SCHEMA, EvidenceError, NoEvidenceError, Run, Writer
from verify.record import Record
from verify.results import EVERY_M, Proof

RUN = Run("smoke", 0, "numpy", "", "abcd", 1, {"python": "3.11"})


def today(claim, witness):
    return f"{claim} {witness}"


def after_a_change_of_the_second(claim, witness):
    return today(claim, witness) if claim == "S-1" else "changed"


def marked(record):
    return replace(record, fingerprint=today(*record.name), commit=RUN.commit)


FIRST = marked(
    Record("S-1", "exact", instances=3, violated=1, worst_ratio=1.5, sizes={"2": "fails"})
)
SECOND = marked(Record("S-2", "abstract", proof=Proof((EVERY_M,))))
THIRD = marked(Record("S-3", "exact"))


def writer_of(folder, fingerprint=today, others=()):
    return Writer(folder, RUN, fingerprint, others)


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


def every_record(folder, asked=None):
    return [line.record for line in evidence.read_all(folder, asked)[1]]


def rewrite(folder, content):
    (folder / FILE).write_text("".join(content))


def failing(*_arguments, **_options):
    raise FileNotFoundError


# A run, and another one after it


def test_a_killed_run_is_resumed_and_nothing_is_written_twice(killed):
    assert read(killed) == (RUN, [FIRST, SECOND])
    writer = writer_of(killed)
    assert list(writer.done.values()) == [FIRST, SECOND]
    writer.add(replace(FIRST, seconds=9.0))
    writer.add(THIRD)
    assert read(killed)[1] == [FIRST, SECOND, THIRD]


def test_what_has_another_fingerprint_is_neither_known_nor_lost(killed):
    writer = writer_of(killed, lambda claim, witness: "tomorrow")
    assert writer.done == {}
    writer.add(replace(FIRST, notes="again"))
    assert [r.notes for r in every_record(killed)] == ["", "", "again"]
    assert [r.notes for r in read(killed)[1]] == ["again", ""]


def test_of_statements_that_are_asked_for_the_others_are_not_read_and_damage_is_told(killed):
    assert every_record(killed, {"S-2", "S-9"}) == [SECOND]
    rewrite(killed, [lines(killed)[0], "damaged\n", *lines(killed)[1:]])
    with pytest.raises(EvidenceError, match="line 2 is damaged"):
        evidence.read_all(killed, {"S-2"})


def test_pruning_leaves_what_is_known_and_says_what_went(killed):
    assert evidence.prune(killed, lambda run: after_a_change_of_the_second) == (1, 1)
    assert read(killed) == (RUN, [FIRST])


def test_pruning_leaves_what_others_examined(killed):
    nothing = lambda claim, witness: ""  # noqa: E731
    assert evidence.prune(killed, lambda run: nothing, lambda claim: claim == "S-1") == (1, 1)
    assert read(killed) == (RUN, [SECOND])


def test_what_a_run_writes_just_before_pruning_is_kept(killed, monkeypatch):
    lock = evidence.FolderLock

    def just_before(folder):
        evidence.append(folder / FILE, THIRD)
        return lock(folder)

    monkeypatch.setattr(evidence, "FolderLock", just_before)
    assert evidence.prune(killed, lambda run: today) == (3, 0)


def test_two_runs_do_not_write_in_one_folder(killed):
    writer = writer_of(killed)
    said = f"another run writes its evidence in {killed}; wait for it, or name another folder"
    for another in (writer_of, lambda folder: evidence.prune(folder, lambda run: today)):
        with pytest.raises(EvidenceError, match=re.escape(said)):
            another(killed)
    writer.close()
    writer_of(killed).close()


def test_a_folder_is_given_back_by_any_thread_or_once_nobody_can(tmp_path):
    held = evidence.FolderLock(tmp_path)
    thread = Thread(target=held.give_back)
    thread.start()
    thread.join()
    forgotten = evidence.FolderLock(tmp_path)
    held.give_back()  # again, which takes it from nobody
    with pytest.raises(EvidenceError, match="another run"):
        evidence.FolderLock(tmp_path)
    del forgotten
    evidence.FolderLock(tmp_path).give_back()


def test_what_another_run_would_find_as_well_is_taken_over_once_and_nothing_else(killed, tmp_path):
    other = tmp_path / "other"
    for _ in range(2):
        writer = writer_of(other, after_a_change_of_the_second, [killed])
        assert list(writer.done.values()) == [FIRST]
        writer.close()
    assert every_record(other) == [FIRST]
    with pytest.raises(NoEvidenceError, match=r"no evidence in .*nowhere"):
        writer_of(tmp_path / "here", today, [tmp_path / "nowhere"])
    assert not (tmp_path / "here").exists()


def test_threads_add_at_once(tmp_path):
    writer = writer_of(tmp_path)
    threads, each = 8, 20
    start = Barrier(threads)

    def add(thread):
        start.wait()
        for number in range(each):
            writer.add(Record(f"S-{number}", f"witness {thread // 2}", notes="x" * 5000))

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(add, range(threads)))
    names = [record.name for record in read(tmp_path)[1]]
    assert len(names) == len(set(names)) == each * threads // 2


# Kills, full disks and damage


def test_a_kill_at_any_byte_costs_at_most_one_record(killed):
    whole = (killed / FILE).read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    cuts = [*range(whole.index(b"\n"), last, 40), *range(last - 1, last + 3), len(whole) - 1]
    for cut in cuts:
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
    assert lines(killed) == before
    writer.add(THIRD)
    assert read(killed)[1] == [FIRST, SECOND, THIRD]


def test_a_crash_while_a_file_is_rewritten_leaves_the_old_one(killed, monkeypatch):
    before = lines(killed)
    monkeypatch.setattr(json_lines.Path, "replace", failing)
    with pytest.raises(EvidenceError, match="name another folder"):
        evidence.prune(killed, lambda run: today)
    assert lines(killed) == before


ANOTHER_FORM = [
    {"claim": None},
    {"surprise": 1},
    {"proof": {"slack": "0"}},
    {"counterexample": {"size": {"m": "2"}, "numbers": {}, "actual": "1", "claimed": "0"}},
]


@pytest.mark.parametrize("changed", ANOTHER_FORM, ids=lambda changed: next(iter(changed)))
def test_a_record_of_another_form_is_refused(killed, changed):
    header, first, second = lines(killed)
    rewrite(killed, [header, json.dumps({**json.loads(first), **changed}) + "\n", second])
    with pytest.raises(
        EvidenceError, match=f"{FILE}(, line 2 is damaged| has a line of another form)"
    ):
        read(killed)


def test_what_is_outdated_may_have_any_form(killed):
    header, first, second = lines(killed)
    rewrite(killed, [header, first, json.dumps({**json.loads(second), "surprise": 1}) + "\n"])
    assert list(writer_of(killed, after_a_change_of_the_second).done.values()) == [FIRST]


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ({}, "does not begin with a run; name another folder"),
        ({"kind": "record"}, "does not begin with a run; name another folder"),
        ({"kind": "run"}, f"is of schema None, and .* {SCHEMA}; name another folder, or delete"),
        ({"kind": "run", "schema": SCHEMA - 1}, "is of schema 2, .*; name another folder, or del"),
        ({"kind": "run", "schema": SCHEMA + 1}, "(?!.*delete).* newer version .*: install that"),
    ],
    ids=str,
)
def test_a_file_of_another_schema_is_refused(killed, header, said):
    rewrite(killed, [json.dumps(header) + "\n", *lines(killed)[1:]])
    with pytest.raises(EvidenceError, match=f"{FILE} {said}"):
        read(killed)


def test_what_cannot_be_read_is_named(killed, tmp_path):
    header, first, second = lines(killed)
    rewrite(killed, [header, first[:-9] + "\n", second])
    with pytest.raises(EvidenceError, match=rf"{FILE}, line 2 is damaged; delete the line"):
        read(killed)
    with pytest.raises(NoEvidenceError, match=r"no evidence in .*nowhere; name another folder"):
        read(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / FILE).touch()
    with pytest.raises(NoEvidenceError, match=r"no evidence in .*empty"):
        read(tmp_path / "empty")
    (tmp_path / "folder" / FILE).mkdir(parents=True)
    with pytest.raises(EvidenceError, match=rf"{FILE} cannot be read \(Is a directory\); name"):
        read(tmp_path / "folder")
    with pytest.raises(EvidenceError, match=rf"kept in .* \(Is a directory: .*{FILE}\); name"):
        writer_of(tmp_path / "folder")


def test_a_folder_that_cannot_be_written_is_named(killed):
    (killed / "file").touch()
    for folder in (killed / "file", killed / "file" / "folder"):
        with pytest.raises(EvidenceError, match=r"cannot be kept in .*file.*; name another folder"):
            writer_of(folder)
    writer = writer_of(killed)
    shutil.rmtree(killed)
    with pytest.raises(EvidenceError, match="No such file or directory"):
        writer.add(THIRD)


# What is written


@pytest.mark.parametrize("value", [nan, inf, -inf])
def test_what_is_not_finite_is_never_written(tmp_path, value):
    writer, kept = writer_of(tmp_path), Record("S-1", "exact", worst_ratio=0.5)
    writer.add(kept)
    for wrong in ({"worst_ratio": value}, {"points": [{"actual": value}]}, {"seconds": value}):
        with pytest.raises(ValueError, match="not JSON compliant"):
            writer.add(Record("S-2", "exact", **wrong))
    assert read(tmp_path)[1] == [marked(kept)]


def test_numbers_of_numpy_are_written_as_numbers(tmp_path):
    points = [{"actual": np.float64(0.5), "m": np.int64(3), "violated": np.bool_(True)}]
    writer_of(tmp_path).add(Record("S-1", "exact", worst_ratio=np.float64(1.5), points=points))
    [found] = read(tmp_path)[1]
    assert (found.worst_ratio, found.points) == (1.5, [{"actual": 0.5, "m": 3, "violated": True}])


def test_the_description_of_a_run_names_what_computed(monkeypatch):
    monkeypatch.setattr(description.subprocess, "run", failing)
    run = describe_run("smoke", 3, "torch", "cpu")
    assert (run.profile, run.seed, run.backend, run.device) == ("smoke", 3, "torch", "cpu")
    assert {"python", "numpy", "torch", "scikit-learn", "array-api-strict"} <= set(run.versions)
    assert (run.schema, run.commit) == (SCHEMA, "unknown")  # without git


@pytest.mark.parametrize(("kills", "expected"), [(2, "abcd"), (99, "unknown")])
def test_git_is_asked_again_if_a_signal_ended_it(kills, expected, tmp_path, monkeypatch):
    git = tmp_path / "git"
    git.write_text(
        f'#!/bin/sh\necho >> "$0.asked"\n'
        f'[ "$(wc -l < "$0.asked")" -gt {kills} ] || kill -KILL $$\necho abcd\n'
    )
    git.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert describe_run("smoke", 0, "numpy", "").commit == expected
