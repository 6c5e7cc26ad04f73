"""The command line: what is printed where, and the exit status."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from theory.claim import Relation, Verdict
from theory.santurkar2018 import theorem_4_1
from verify import __main__ as command_line
from verify import backends, engine
from verify.description import describe_run
from verify.evidence import FILE, Record, Writer, read
from verify.results import EVERY_M, Counterexample, Proof
from verify.settings import PROFILES, Settings
from verify.witnesses.table import WITNESSES

ALL = "with readings, corrections and proofs"
RIGHT = replace(theorem_4_1.SHARED, says=None, because=None)
WRONG = replace(RIGHT, id="S-planted", row="S-planted", relation=Relation.AT_LEAST)
LOST = replace(RIGHT, id="S-lost", expected=Verdict.UNREADABLE, unreadable="a sign was lost")
KEYS = {
    *("id", "paper", "location", "form", "of", "statement", "hypotheses", "relation"),
    *("expected", "verdict", "scope", "witnesses", "counterexample"),
}
FOUND = [
    Record(RIGHT.id, "abstract", proof=Proof((EVERY_M,))),
    Record(WRONG.id, "exact", 3, violated=1, counterexample=Counterexample({"m": 2}, {}, "1", "0")),
]


@pytest.fixture(scope="session")
def cache(shared):
    """All files of tests share one cache of networks that are trained in full."""
    return shared / "networks"


@pytest.fixture
def run():
    """Run the command; an error that is not caught is raised here."""

    def run(*arguments):
        return CliRunner().invoke(command_line.app, map(str, arguments), catch_exceptions=False)

    return run


@pytest.fixture
def _three_claims(monkeypatch):
    monkeypatch.setattr(engine, "CLAIMS", [RIGHT, WRONG, LOST])


@pytest.fixture
def _quick_witnesses(monkeypatch):
    quick = [w for w in WITNESSES if w.name in ("abstract", "exact")]
    monkeypatch.setattr(engine, "WITNESSES", quick)
    monkeypatch.setattr("verify.progress.prepare", lambda pairs, settings, console: None)


def silent(claims):
    """Records of all witnesses of statements, which found nothing."""
    return [Record(*pair.name) for pair in engine.pairs(claims, engine.WITNESSES)]


@pytest.fixture
def evidence(tmp_path):
    """A folder with evidence of two claims."""
    settings = Settings(PROFILES["smoke"], 0)
    marks = engine.todays(settings, [RIGHT, WRONG])
    writer = Writer(tmp_path, describe_run("smoke", 0, "numpy", ""), marks)
    for record in [*FOUND, *silent([RIGHT, WRONG])]:
        writer.add(record)
    writer.close()
    return tmp_path


def complains(result, *words):
    """Whether it ended with status 2, one line on standard error, and nothing else."""
    line, end = result.stderr.split("\n", 1)
    return (
        result.exit_code == 2
        and result.stdout == ""
        and line.startswith("verify: ")
        and not end
        and all(word in line for word in words)
    )


def test_a_ledger_without_evidence_has_every_claim_and_says_what_to_do(run, tmp_path):
    result = run("ledger", "--evidence", tmp_path)
    assert result.exit_code == 0
    assert "run 'make verify', or name another folder" in result.stderr
    unreadable = sum(bool(claim.unreadable) for claim in engine.CLAIMS)
    not_run = len(engine.CLAIMS) - unreadable
    last = f"{ALL} {len(engine.CLAIMS)}: {unreadable} unreadable, {not_run} not yet run"
    assert result.stdout.splitlines()[-1] == last


def test_a_ledger_for_a_program_without_evidence(run, tmp_path):
    result = run("ledger", "--json", "--evidence", tmp_path)
    assert result.exit_code == 0
    entries = json.loads(result.stdout)
    assert [entry["id"] for entry in entries] == [claim.id for claim in engine.CLAIMS]
    assert all(entry.keys() >= KEYS for entry in entries)
    assert {entry["verdict"] for entry in entries} <= {"not yet run", "unreadable"}


@pytest.mark.usefixtures("_three_claims")
def test_a_ledger_shows_the_evidence_and_fails_where_it_is_not_as_expected(run, evidence):
    result = run("ledger", "--evidence", evidence)
    assert result.exit_code == 1
    assert result.stderr == ""
    assert "refuted (expected proved)" in result.stdout
    assert result.stdout.splitlines()[-1] == (
        f"{ALL} 3: 1 proved, 1 refuted, 1 unreadable; not as expected: S-planted"
    )


def test_a_ledger_as_expected_succeeds(run, evidence, monkeypatch):
    monkeypatch.setattr(engine, "CLAIMS", [RIGHT, replace(WRONG, expected=Verdict.REFUTED)])
    result = run("ledger", "--json", "--evidence", evidence)
    assert result.exit_code == 0
    assert [e["verdict"] for e in json.loads(result.stdout)] == ["proved", "refuted"]


@pytest.mark.parametrize("command", ["ledger", "page"])
def test_corrupt_evidence_is_named(run, evidence, command):
    lines = (evidence / FILE).read_text().splitlines()
    lines[1] = lines[1][:-9]
    (evidence / FILE).write_text("\n".join(lines) + "\n")
    assert complains(run(command, "--evidence", evidence), FILE, "line 2 is damaged")


def test_evidence_of_another_schema_is_named(run, evidence):
    (evidence / FILE).write_text('{"kind": "run", "schema": 0}\n')
    assert complains(run("ledger", "--evidence", evidence), FILE, "schema")


@pytest.mark.usefixtures("_three_claims")
def test_one_claim_is_checked_by_every_witness(run, cache):
    result = run("check", RIGHT.id, "--profile", "smoke", "--json", "--cache", cache)
    assert result.exit_code == 0
    (entry,) = json.loads(result.stdout)
    assert entry.keys() >= KEYS
    assert (entry["id"], entry["verdict"], entry["scope"]) == (RIGHT.id, "proved", "every m")
    assert entry["witnesses"].keys() == {w.name for w in WITNESSES if w.applies(RIGHT)}
    for found in entry["witnesses"].values():
        assert found["passed"]
        assert found.keys() >= {"instances", "vacuous", "worst_ratio"}
        assert found["worst_ratio"] is None or found["worst_ratio"] <= 1 + 1e-9
    assert sum(found["instances"] for found in entry["witnesses"].values()) > 100


@pytest.mark.usefixtures("_three_claims", "_quick_witnesses")
def test_a_wrong_claim_makes_a_check_fail(run):
    result = run("check", WRONG.id, "--profile", "smoke")
    assert result.exit_code == 1
    assert "refuted (expected proved)" in result.stdout
    assert "S-planted: m = 2; y = (1, 0)" in result.stdout
    assert result.stdout.splitlines()[-1] == (f"{ALL} 1: 1 refuted; not as expected: S-planted")


@pytest.mark.usefixtures("_three_claims", "_quick_witnesses")
def test_a_verdict_is_said_as_soon_as_it_is_known(run):
    result = run("check", RIGHT.id, WRONG.id, "--profile", "smoke", "--json")
    said = [line.split(" s  ")[1] for line in result.stderr.splitlines() if " s  " in line]
    assert said == [f"{RIGHT.id}: proved (abstract; 1 to go)", f"{WRONG.id}: refuted (exact)"]
    assert len(json.loads(result.stdout)) == 2


@pytest.mark.usefixtures("_three_claims", "_quick_witnesses")
def test_a_right_claim_and_an_unreadable_one_make_none_fail(run):
    result = run("check", RIGHT.id, LOST.id, "--profile", "smoke")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == f"{ALL} 2: 1 proved, 1 unreadable"


@pytest.mark.usefixtures("_three_claims", "_quick_witnesses")
def test_a_check_keeps_its_evidence_where_it_is_told_to(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("check", RIGHT.id, "--profile", "smoke")
    assert list(tmp_path.iterdir()) == []
    run("check", RIGHT.id, "--profile", "smoke", "--evidence", "kept")
    assert [record.claim for record in read(tmp_path / "kept")[1]] == [RIGHT.id] * 2
    result = run("check", "--profile", "smoke", "--evidence", "kept")
    assert result.exit_code == 1
    assert "not as expected: S-planted" in run("ledger", "--evidence", "kept").stdout


def test_an_unknown_claim_is_refused(run):
    assert complains(
        run("check", "S-thm-9"), "no statement is called S-thm-9; there are: S-thm-4.1"
    )


def test_an_unknown_profile_is_refused(run):
    assert complains(run("check", RIGHT.id, "--profile", "quick"), "choose one of smoke, default")


def test_an_unknown_backend_is_refused(run):
    assert complains(run("check", RIGHT.id, "--backend", "jax"), "no backend 'jax'; choose one of")


def test_a_backend_that_is_not_installed_is_refused(run, monkeypatch):
    monkeypatch.setattr(backends, "find_spec", lambda name: None)
    backends.devices.cache_clear()
    assert complains(run("check", "--backend", "cupy"), "pip install cupy-cuda12x")
    backends.devices.cache_clear()


def test_an_unknown_device_is_refused(run):
    assert complains(run("check", RIGHT.id, "--device", "abacus"), "abacus")


def test_a_seed_out_of_range_is_refused(run):
    assert complains(run("check", RIGHT.id, "--seed", "-1"), "the seed is -1; choose one from 0")


@pytest.mark.usefixtures("_quick_witnesses")
def test_a_folder_that_cannot_be_written_is_refused(run, tmp_path):
    (tmp_path / "file").touch()
    result = run("check", RIGHT.id, "--profile", "smoke", "--evidence", tmp_path / "file")
    assert complains(result, "name another folder")


@pytest.mark.parametrize(
    "token", ["nonsense", "random:nowhere:0:0", "random:generic:0:x", "trained:dense:trained:0:9:0"]
)
def test_a_bad_token_is_refused(run, token, cache):
    assert complains(run("reproduce", token, "--cache", cache), token)


@pytest.mark.usefixtures("_three_claims")
def test_one_instance_is_reproduced(run):
    result = run("reproduce", "random:large offset:0:5")
    assert result.exit_code == 0
    header, *lines = result.stdout.splitlines()
    assert header.startswith("random:large offset:0:5: m = 8, gamma = ")
    assert [line.split()[0] for line in lines] == [RIGHT.id, WRONG.id]


def test_without_a_command_the_help_is_shown(run):
    shown = run("--help").stdout
    for command in ("ledger", "check", "page", "reproduce"):
        assert command in shown
