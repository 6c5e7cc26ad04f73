"""Evidence survives kills, tells damage from absence, and never loses what an earlier run found."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import inf, nan
from threading import Barrier

import pytest

from verify import evidence, json_lines
from verify.evidence import (
    FILE,
    SCHEMA,
    EvidenceError,
    NoEvidenceError,
    Record,
    Run,
    Writer,
    describe_run,
    is_finished,
    read,
    source_digest,
)

RUN = Run("smoke", 0, "numpy", "", "0123", "abcd", 1, {"python": "3.11"})
FIRST = Record("S-1", "exact", instances=3, violated=1, worst_ratio=1.5, sizes={"2": "fails"})
SECOND = Record("S-2", "abstract", proof={"scope": "every m"})


@pytest.fixture
def killed(tmp_path):
    """The folder of a run that was killed after two records."""
    writer = Writer(tmp_path, RUN)
    writer.add(FIRST)
    writer.add(SECOND)
    return tmp_path


@pytest.fixture
def finished(killed):
    Writer(killed, RUN).finish(is_complete=True)
    return killed


def lines(folder):
    return (folder / FILE).read_text().splitlines(keepends=True)


def rewrite(folder, content):
    (folder / FILE).write_text("".join(content))


def another_run(folder):
    rewrite(folder, [lines(folder)[0].replace('"seed": 0', '"seed": 1'), *lines(folder)[1:]])


def a_finished_run(folder):
    rewrite(folder, [*lines(folder), '{"kind": "finished"}\n'])


def damage(folder):
    header, first, second = lines(folder)
    rewrite(folder, [header, first[:-9] + "\n", second])


def no_evidence(folder):
    rewrite(folder, ["once upon a time\n", "there was\n"])


def an_empty_file(folder):
    rewrite(folder, [])


def failing(*_arguments, **_options):
    raise FileNotFoundError


def test_what_was_written_is_read(killed):
    assert read(killed) == (RUN, [FIRST, SECOND])
    assert not is_finished(killed)


def test_a_killed_run_is_resumed(killed):
    writer = Writer(killed, RUN)
    assert list(writer.done.values()) == [FIRST, SECOND]
    third = Record("S-3", "exact")
    writer.add(third)
    assert read(killed)[1] == [FIRST, SECOND, third]


def test_a_record_that_is_there_is_not_written_again(killed):
    Writer(killed, RUN).add(replace(FIRST, seconds=9.0))
    assert read(killed)[1] == [FIRST, SECOND]


@pytest.mark.parametrize("torn", ['{"kind": "rec', '{"kind": "record", "claim": "é', "{", "[1]\n"])
def test_a_torn_last_line_is_left_out_and_mended(killed, torn):
    rewrite(killed, [*lines(killed), torn])
    assert read(killed)[1] == [FIRST, SECOND]
    writer = Writer(killed, RUN)
    writer.add(Record("S-3", "exact"))
    assert [record.claim for record in read(killed)[1]] == ["S-1", "S-2", "S-3"]


def test_a_last_line_without_its_end_is_whole(killed):
    rewrite(killed, ["".join(lines(killed)).removesuffix("\n")])
    Writer(killed, RUN).add(Record("S-3", "exact"))
    assert [record.claim for record in read(killed)[1]] == ["S-1", "S-2", "S-3"]


def test_a_kill_at_any_byte_costs_at_most_one_record(killed):
    whole = (killed / FILE).read_bytes()
    header = whole.index(b"\n")
    for cut in range(header, len(whole)):
        (killed / FILE).write_bytes(whole[:cut])
        writer = Writer(killed, RUN)
        complete = whole[: cut + 1].count(b"\n") - 1
        assert list(writer.done.values()) == [FIRST, SECOND][:complete]
        writer.add(FIRST)
        writer.add(SECOND)
        assert (killed / FILE).read_bytes() == whole


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
        {"counterexample": {"y": [0, 1]}},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_record_of_another_form_is_refused(killed, changed):
    header, first, second = lines(killed)
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
    writer = Writer(tmp_path, RUN)
    point = {"actual": 1.0, "claimed": 2.0}
    writer.add(
        Record("S-1", "exact", worst_ratio=value, points=[{**point, "actual": value}, point])
    )
    assert read(tmp_path)[1] == [Record("S-1", "exact", points=[point])]


def test_a_number_that_json_has_no_word_for_is_refused(tmp_path):
    writer = Writer(tmp_path, RUN)
    with pytest.raises(ValueError, match="not JSON compliant"):
        writer.add(Record("S-1", "exact", seconds=nan))
    assert read(tmp_path) == (RUN, [])


@pytest.mark.parametrize("leave", [another_run, a_finished_run, damage, no_evidence, an_empty_file])
def test_what_is_not_resumed_is_kept_under_another_name(killed, leave):
    leave(killed)
    left = lines(killed)
    assert Writer(killed, RUN).done == {}
    assert read(killed) == (RUN, [])
    assert (killed / "evidence.previous.jsonl").read_text() == "".join(left)


def test_nothing_that_was_kept_is_replaced(tmp_path):
    for seed in range(4):
        Writer(tmp_path, replace(RUN, seed=seed)).add(Record(f"S-{seed}", "exact"))
    kept = [tmp_path / f"evidence.previous{n}.jsonl" for n in ("", 1, 2)]
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / FILE, *kept])
    assert all(f'"S-{seed}"' in path.read_text() for seed, path in enumerate(kept))


def test_a_finished_run_is_in_the_order_of_its_names(tmp_path):
    writer = Writer(tmp_path, RUN)
    records = [Record(c, w) for c in ("S-2", "S-1") for w in ("exact", "abstract")]
    for record in records:
        writer.add(record)
    assert read(tmp_path)[1] == records
    writer.finish(is_complete=True)
    assert [(r.claim, r.witness) for r in read(tmp_path)[1]] == sorted(writer.done)
    assert is_finished(tmp_path)
    assert json.loads(lines(tmp_path)[-1]) == {"kind": "finished"}
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_a_run_of_some_statements_is_resumed_by_the_next(killed):
    Writer(killed, RUN).finish(is_complete=False)
    assert not is_finished(killed)
    assert len(Writer(killed, RUN).done) == 2


def test_two_equal_runs_leave_the_same_file(finished, tmp_path_factory):
    folder = tmp_path_factory.mktemp("again")
    writer = Writer(folder, RUN)
    writer.add(SECOND)
    writer.add(FIRST)
    writer.finish(is_complete=True)
    assert lines(folder) == lines(finished)


def test_threads_add_at_once(tmp_path):
    writer = Writer(tmp_path, RUN)
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
        Writer(tmp_path / "file" / below, RUN)


def test_a_folder_that_vanishes_is_named(killed):
    writer = Writer(killed, RUN)
    (killed / FILE).unlink()
    killed.rmdir()
    with pytest.raises(EvidenceError, match="No such file or directory"):
        writer.add(Record("S-3", "exact"))
    with pytest.raises(EvidenceError, match="name another folder"):
        writer.finish(is_complete=False)


def test_the_description_of_a_run_is_that_of_this_source():
    run = describe_run("smoke", 3, "torch", "cpu")
    assert (run.profile, run.seed, run.backend, run.device) == ("smoke", 3, "torch", "cpu")
    assert run.source == source_digest()
    assert run == describe_run("smoke", 3, "torch", "cpu")
    assert {"python", "numpy", "torch"} <= set(run.versions)
    assert run.schema == SCHEMA


def test_without_git_or_a_package_the_run_says_so(monkeypatch):
    monkeypatch.setattr(evidence.subprocess, "run", failing)
    monkeypatch.setattr(evidence, "PACKAGES", ("numpy", "no-such-package"))
    run = describe_run("smoke", 0, "numpy", "")
    assert run.commit == "unknown"
    assert set(run.versions) == {"python", "numpy"}


def test_a_crash_while_a_file_is_rewritten_leaves_the_old_one(killed, monkeypatch):
    before = lines(killed)
    writer = Writer(killed, RUN)
    monkeypatch.setattr(json_lines.Path, "replace", failing)
    with pytest.raises(EvidenceError, match="name another folder"):
        writer.finish(is_complete=True)
    assert lines(killed) == before
