"""The command line: what is printed where, and the exit status."""

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from last_records import read
from rich.console import Console
from typer.testing import CliRunner

from theory.claim import Relation, Verdict
from theory.language.operations import norm2
from theory.santurkar2018 import theorem_4_1
from theory.unit import g, grad
from verify import __main__ as command_line
from verify import conftest, engine
from verify.description import describe_run
from verify.evidence import FILE, Writer, append
from verify.options import Options
from verify.progress import prepare
from verify.record import Record
from verify.results import EVERY_M, Counterexample, Proof
from verify.settings import PROFILES, Settings
from verify.witnesses import trained
from verify.witnesses.table import WITNESSES

CHECKOUT = Path(command_line.__file__).parents[1]
SMOKE = Settings(PROFILES["smoke"])
ALL = "with readings, corrections and proofs"
RIGHT = theorem_4_1.SHARED
TURNED = replace(RIGHT.says, relation=Relation.AT_LEAST)
WRONG = replace(RIGHT, id="S-planted", result="S-planted", says=TURNED, because=None)
LOST = replace(RIGHT, id="S-lost", expected=Verdict.UNREADABLE, unreadable="a sign was lost")
FOUND = [
    Record(RIGHT.id, "abstract", proof=Proof((EVERY_M,))),
    Record(WRONG.id, "exact", 3, violated=1, counterexample=Counterexample({"m": 2}, {}, "1", "0")),
]


def run(*arguments):
    """Run the command; an error that is not caught is raised here."""
    return CliRunner().invoke(command_line.app, map(str, arguments), catch_exceptions=False)


def check(*arguments):
    return run("check", *arguments, "--profile", "smoke")


@pytest.fixture
def _three_claims(monkeypatch):
    monkeypatch.setattr(engine, "CLAIMS", [RIGHT, WRONG, LOST])


@pytest.fixture
def _quick(monkeypatch, _three_claims):
    """Two witnesses that need no network."""
    quick = [w for w in WITNESSES if w.name in ("abstract", "exact")]
    monkeypatch.setattr(engine, "WITNESSES", quick)


@pytest.fixture
def evidence(tmp_path):
    """A folder with evidence of two claims, of which most witnesses found nothing."""
    marks = engine.todays(SMOKE, [RIGHT, WRONG])
    writer = Writer(tmp_path, describe_run("smoke", 0, "numpy", ""), marks)
    silent = [Record(*pair.name) for pair in engine.pairs([RIGHT, WRONG], engine.WITNESSES)]
    for record in [*FOUND, *silent]:
        writer.add(record)
    writer.close()
    return tmp_path


def assert_refused(result, *words):
    """It ended with status 2, one line on standard error, and nothing else."""
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("verify: ")
    assert result.stderr.count("\n") == 1
    assert all(word in result.stderr for word in words), result.stderr


def test_a_ledger_without_evidence_has_every_claim_and_says_what_to_do(tmp_path):
    result = run("ledger", "--json", "--evidence", tmp_path)
    assert result.exit_code == 0
    again = f"name another folder, or run: python -m verify pytest --evidence {tmp_path}\n"
    assert result.stderr.endswith(again)
    entries = json.loads(result.stdout)
    assert [entry["id"] for entry in entries] == [claim.id for claim in engine.CLAIMS]
    assert {entry["verdict"] for entry in entries} <= {"not yet run", "unreadable"}


def test_where_nothing_was_examined_both_commands_that_examine_all_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = run("ledger").stderr
    assert told.endswith("or run: python -m verify pytest, or in a checkout: make verify\n")


@pytest.mark.usefixtures("_three_claims")
def test_a_ledger_shows_the_evidence_and_fails_where_it_is_not_as_expected(evidence, monkeypatch):
    result = run("ledger", "--evidence", evidence)
    assert result.exit_code == 1
    assert result.stderr.startswith("verify: looked at by the profile smoke only: 2 statements")
    assert "refuted (expected proved)" in result.stdout
    assert result.stdout.splitlines()[-1] == (
        f"{ALL} 3: 1 proved, 1 refuted, 1 unreadable; not as expected: S-planted"
    )
    monkeypatch.setattr(engine, "CLAIMS", [RIGHT, replace(WRONG, expected=Verdict.REFUTED)])
    assert run("ledger", "--evidence", evidence).exit_code == 0


@pytest.mark.usefixtures("_quick")
def test_the_command_that_is_named_examines_the_one_statement_that_was_asked_for(tmp_path):
    for said in ("no evidence in", "changed since examined: 1 statement, S-thm-4.1/eps;"):
        asked = run("show", RIGHT.id, "--evidence", tmp_path)
        assert (asked.exit_code, "not yet run" in asked.stdout) == (0, True)
        assert said in asked.stderr
        program, again = asked.stderr.strip().split("run: ")[-1].split(" verify ")
        assert (program, again) == ("python -m", f"check {RIGHT.id} --evidence {tmp_path}")
        Writer(tmp_path, describe_run("smoke", 0, "numpy", ""), lambda *_: "old").add(FOUND[0])
    assert run(*shlex.split(again), "--profile", "smoke").exit_code == 0
    told = run("show", RIGHT.id, "--evidence", tmp_path).stderr
    assert told.startswith("verify: looked at by the profile smoke only: 1 statement")


@pytest.mark.parametrize("columns", ["80", "120"])
def test_a_statement_is_as_wide_as_the_terminal(columns, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    lines = run("show", "S-eq-34-37", "S-thm-4.1", "--evidence", tmp_path).stdout.splitlines()
    assert max(map(len, lines)) in range(int(columns) - 8, int(columns) + 1)
    assert any(line.startswith("      - ") for line in lines)


def test_no_terminal_is_too_narrow_for_a_statement(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1")
    assert "not yet run" in run("show", "S-thm-4.1", "--evidence", tmp_path).stdout


@pytest.mark.usefixtures("_three_claims")
@pytest.mark.parametrize(
    ("columns", "widths"),
    [("80", range(70, 81)), ("120", range(110, 121)), (None, range(121, conftest.WIDTH + 1))],
)
def test_the_tests_end_with_a_ledger_as_wide_as_the_terminal(
    columns, widths, tmp_path, monkeypatch
):
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    writer = Writer(
        tmp_path / "deep" / "folder", describe_run("smoke", 0, "numpy", ""), lambda *_: "today"
    )
    for pair in engine.pairs([WRONG], WITNESSES):
        writer.add(Record(*pair.name))
    *table, last = summary(writer)
    assert max(map(len, table)) in widths
    assert any("S-planted" in line for line in table)
    assert last == f"evidence: {writer.path}"


@pytest.mark.usefixtures("_three_claims")
def test_that_much_old_evidence_is_kept_is_told_with_what_removes_it(tmp_path):
    ran = describe_run("smoke", 0, "numpy", "")
    Writer(tmp_path, ran, lambda *_: "yesterday").close()
    for _ in range(1 + conftest.MANY):
        append(tmp_path / FILE, Record("S-planted", "exact", fingerprint="old"))
    writer = Writer(tmp_path, ran, lambda *_: "today")
    writer.add(Record("S-planted", "exact"))
    told = "11 records of other code or settings are kept there besides; python -m verify prune"
    assert summary(writer)[-1].startswith(told)


def summary(writer):
    file = io.StringIO()
    config = SimpleNamespace(stash={conftest.OPTIONS: Options(), conftest.WRITER: writer})
    conftest.pytest_terminal_summary(SimpleNamespace(_tw=SimpleNamespace(_file=file)), config)
    return file.getvalue().splitlines()


@pytest.mark.parametrize("command", ["ledger", "page"])
def test_evidence_that_cannot_be_read_is_named(evidence, command):
    lines = (evidence / FILE).read_text().splitlines()
    lines[1] = lines[1][:-9]
    (evidence / FILE).write_text("\n".join(lines) + "\n")
    assert_refused(run(command, "--evidence", evidence), FILE, "line 2 is damaged")


def test_the_site_is_written_in_a_checkout_and_nowhere_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_refused(run("page"), "docs/conf.py", "checkout", "--claims")
    assert list(tmp_path.iterdir()) == []


def test_where_the_papers_site_goes_is_not_asked(tmp_path):
    assert_refused(run("page", "--to", tmp_path / "site"), "--to", "--claims")


@pytest.mark.usefixtures("_quick")
def test_a_verdict_is_said_as_soon_as_it_is_known_and_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = check(RIGHT.id, WRONG.id, "--json")
    said = [line.split(" s  ")[1] for line in result.stderr.splitlines() if " s  " in line]
    assert said == [f"{RIGHT.id}: proved (abstract; 1 to go)", f"{WRONG.id}: refuted (exact)"]
    right, wrong = json.loads(result.stdout)
    assert (right["id"], right["verdict"], right["scope"]) == (RIGHT.id, "proved", "every m")
    assert (wrong["id"], wrong["verdict"], wrong["scope"]) == (WRONG.id, "refuted", "m = 2")
    assert right["witnesses"].keys() == {"abstract", "exact"}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("_quick")
def test_a_check_says_what_those_that_are_named_say_and_where_they_fail(monkeypatch):
    wrong = replace(theorem_4_1.PRINTED, id="S-wrong", says=norm2(grad) > norm2(g), because=None)
    monkeypatch.setattr(engine, "CLAIMS", [wrong, replace(wrong, id="S-wrong/other")])
    told = check("S-wrong").stdout
    in_text = "S-wrong\n\n  norm2(gradient(Lhat(y), y)) > norm2(g)\n"
    assert told.startswith(f"{in_text}  \\|\\nabla_y\\hat L\\|^2 > \\|g\\|^2\nwhere\n")
    said, table = told.split("The ledger")
    assert "fails at\n  m = 2\n  y = (" in said
    assert ("S-wrong/other" in said, "S-wrong/other" in table) == (False, True)


@pytest.mark.usefixtures("_quick")
def test_a_check_keeps_its_evidence_and_fails_where_a_verdict_is_not_as_expected(tmp_path):
    kept = ("--evidence", tmp_path / "kept")
    result = check(RIGHT.id, LOST.id, *kept)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == f"{ALL} 2: 1 proved, 1 unreadable"
    assert [record.claim for record in read(tmp_path / "kept")[1]] == [RIGHT.id] * 2
    result = check(*kept)
    assert result.exit_code == 1
    assert "S-planted: m = 2; y = (1, 0)" in result.stdout
    assert result.stdout.splitlines()[-1].endswith("; not as expected: S-planted")
    assert "not as expected: S-planted" in run("ledger", *kept).stdout


def test_a_bar_shows_how_far_training_is(monkeypatch):
    networks = [p for p in engine.pairs([RIGHT], WITNESSES) if p.witness.name == "trained"]

    def training(settings, tell):
        for done in (1, 3):
            tell("training dense", done, 10)

    monkeypatch.setattr(trained, "prepare", training)
    console = Console(file=io.StringIO(), width=80)
    prepare(networks, SMOKE, console)
    assert re.match(r"training dense .* 30%", console.file.getvalue())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["S-thm-9"], "no statement is called S-thm-9; to list all, run: python"),
        (["--profile", "quick"], "choose one of smoke, default"),
        (["--device", "abacus"], "abacus"),
    ],
)
def test_a_check_of_what_there_is_not_is_refused(words, said):
    assert_refused(run("check", *words), said)


def test_a_proof_of_what_there_is_not_is_refused_before_anything_is_compiled(monkeypatch):
    monkeypatch.setattr("verify.kernel.coq.find", None)
    said = "no statement begins with S-thm-9; to list all, run: python -m verify ledger"
    assert_refused(run("prove", "S-thm-4", "S-thm-9"), said)


@pytest.mark.parametrize("option", ["--evidence", "--builds"])
def test_a_proof_is_refused_a_folder_that_cannot_be_written(option, tmp_path, monkeypatch):
    monkeypatch.setattr("verify.kernel.coq.find", lambda: None)
    (tmp_path / "file").touch()
    folders = {"--evidence": tmp_path, "--builds": tmp_path, option: tmp_path / "file"}
    asked = run("prove", "S-thm-4.1", *(word for pair in folders.items() for word in pair))
    assert asked.exit_code == 2
    assert re.search("cannot be kept in .*file .*; name another folder$", asked.stderr.rstrip())


NOTES = """
from theory.claim import Claim, Paper, Verdict
from theory.language.expression import equal
from theory.language.operations import dot
from theory.unit import grad, one

CENTRED = Claim(
    id="notes-centred",
    title="The gradient is centred",
    locations=(Paper("notes", "Notes", "A. Reader").at("Sect. 1"),),
    says=equal(dot(one, grad), 0),
    expected=Verdict.PROVED,
)
CLAIMS = [CENTRED]
"""


class AcceptingCoq:
    """Stands in for Coq, which accepts every file."""

    version = "none"

    def needs(self, root, files):
        return {file: [] for file in files}

    def compile(self, root, file, limit):
        (root / file).with_suffix(".vo").touch()
        return subprocess.CompletedProcess([], 0, "Closed under the global context\n", "")


def test_of_others_no_more_is_proved_than_they_need_and_no_theorem_of_ours_is_told(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("verify.kernel.coq.find", AcceptingCoq)
    notes, builds = tmp_path / "notes_to_prove.py", tmp_path / "builds"
    notes.write_text(NOTES)
    found = run("prove", notes, "--evidence", tmp_path / "evidence", "--builds", builds)
    assert found.exit_code == 0
    told = [line.split()[0] for line in found.stdout.splitlines()]
    assert told[:2] == ["theorem", "notes-centred"]
    assert "\n1 of 1 exported statements checked; " in found.stdout
    assert "by hand" not in found.stdout
    compiled = {path.relative_to(builds).as_posix() for path in builds.rglob("*.v")}
    assert {"Tactics.v", "exported/notes_centred.v"} < compiled
    assert not any(file.startswith(("santurkar2018", "lange2022")) for file in compiled)


def test_less_than_no_worker_is_refused():
    assert run("prove", "--workers", "-1").exit_code == 2


@pytest.mark.parametrize("status", pytest.ExitCode)
def test_what_pytest_refuses_is_bad_input_here_too(status, monkeypatch):
    refused = pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED
    monkeypatch.setattr(subprocess, "run", lambda words, **_: SimpleNamespace(returncode=status))
    assert run("pytest").exit_code == (2 if status in refused else status)


def test_the_statements_run_as_tests_by_a_command():
    assert outcome("pytest", "-k", "no_such_test", "--collect-only").returncode == 2


@pytest.mark.parametrize("asked", ["verify", "verify/test_claims.py::test_claim[S-eq-30]", "."])
def test_processes_of_which_each_would_examine_some_statements_are_refused(asked):
    with pytest.raises(pytest.UsageError, match="leave -n out"):
        conftest.pytest_configure(in_two_processes(asked))


def test_other_tests_may_run_in_several_processes():
    conftest.pytest_configure(in_two_processes("verify/commands", "tests"))


def in_two_processes(*asked):
    """Return what pytest is asked for: tests, in two processes."""
    given = {"numprocesses": 2, "profile": "smoke", "backend": "numpy", "device": "", "seed": 0}
    given |= {"take_over": (), "claims": "", "evidence": None, "cache": None}
    return SimpleNamespace(
        addinivalue_line=print,
        getoption=lambda name, default=None: given.get(name, default),
        args=asked,
        invocation_params=SimpleNamespace(dir=CHECKOUT),
        stash={},
    )


@pytest.mark.parametrize(
    "command", sorted({c.name for c in command_line.app.registered_commands} - {"pytest"})
)
def test_help_breaks_a_line_only_where_a_terminal_ends(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    told = run(command, "--help").stdout.partition("╭")[0]
    assert "[[" not in told
    for first, second in pairwise(line.strip() for line in told.splitlines()):
        if first and second:
            assert len(f" {first} {second.split()[0]} ") > 80, first


@pytest.mark.usefixtures("_quick")
def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").touch()
    assert_refused(check(RIGHT.id, "--evidence", tmp_path / "file"), "name another folder")


@pytest.mark.usefixtures("_three_claims")
def test_one_instance_is_reproduced_and_a_bad_token_refused():
    result = run("reproduce", "random:large offset:0:5")
    assert result.exit_code == 0
    assert run("reproduce", "random:large", "offset:0:5").stdout == result.stdout
    header, *lines = result.stdout.splitlines()
    assert header.startswith("random:large offset:0:5: m = 8, gamma = ")
    assert [line.split()[0] for line in lines] == [RIGHT.id, WRONG.id]
    assert_refused(run("reproduce", "random:generic:0:x"), "random:generic:0:x")


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize(("keeps", "said"), [(True, "goes on"), (False, "without --evidence")])
def test_ctrl_c_says_what_is_kept(keeps, said, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "examine", interrupted)
    result = check(RIGHT.id, *(("--evidence", tmp_path) if keeps else ()))
    assert (result.exit_code, result.stdout) == (130, "")
    assert re.search(rf"^verify: stopped; .*{said}", result.stderr, re.MULTILINE)


def outcome(*words, **environment):
    """Run the command in a process of its own, whose output goes where `stdout` says."""
    stdout = environment.pop("stdout", subprocess.PIPE)
    return subprocess.run(
        [sys.executable, "-m", "verify", *map(str, words)],
        cwd=CHECKOUT,
        env=os.environ | environment,
        stdout=stdout,
        stderr=subprocess.PIPE,
        check=False,
    )


def without_readers(*command):
    """Run a command whose output nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer) as unread:
        return subprocess.run(
            command, cwd=CHECKOUT, stdout=unread, stderr=subprocess.PIPE, check=False
        )


@pytest.mark.parametrize("words", [["papers"], ["--help"]])
def test_who_stops_reading_gets_no_traceback_and_no_verdict(words):
    ended = without_readers(sys.executable, "-m", "verify", *words)
    assert (ended.returncode, b"Traceback" in ended.stderr) == (128 + signal.SIGPIPE, False)


def test_who_stops_reading_is_told_from_a_verdict_where_a_system_has_no_such_signal():
    program = """
import signal, sys
del signal.SIGPIPE
from verify.__main__ import main
sys.argv = ["verify", "--help"]
main()
"""
    ended = without_readers(sys.executable, "-c", program)
    assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
def test_an_output_without_room_is_bad_input():
    with Path("/dev/full").open("w") as full:
        ended = outcome("--help", stdout=full)
    assert ended.returncode == 2
    assert ended.stderr == b"verify: the output cannot be written: No space left on device\n"


def test_an_output_that_takes_no_letters_of_mathematics_gets_their_numbers(tmp_path):
    ended = outcome("ledger", "--evidence", tmp_path, PYTHONIOENCODING="ascii")
    assert (ended.returncode, rb"\u" in ended.stdout) == (0, True)


def test_without_a_command_the_help_is_shown():
    shown = run().output
    for command in ("ledger", "check", "page", "reproduce"):
        assert command in shown
