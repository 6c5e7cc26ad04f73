"""The command that runs an experiment: what it prints, its files, its exit status."""

import json
from concurrent.futures import Future
from functools import partial

import pytest
import torch
import typer
from toy_experiment import EXPERIMENT, SETTING, STEPS, WITHOUT_FIGURES, Descent
from typer.testing import CliRunner

from verify import experiments
from verify.commands import experiment as command
from verify.datasets.dataset import DataError
from verify.evidence import FolderLock
from verify.experiments import evidence, run


@pytest.fixture
def call(monkeypatch, tmp_path):
    """Call the command with the toy experiment as the only one; evidence goes to ``tmp_path``."""

    def called(*arguments, toy=WITHOUT_FIGURES):
        monkeypatch.setattr(command, "names", lambda: ["toy"])
        monkeypatch.setattr(
            command, "find", lambda name: toy if name == "toy" else experiments.find(name)
        )
        app = typer.Typer()
        app.command()(command.experiment)
        given = [*map(str, arguments), "--evidence", str(tmp_path)]
        return CliRunner().invoke(app, given, catch_exceptions=False)

    return called


def test_an_experiment_is_told_in_words_with_files_and_drawn_again_without_running(
    call, tmp_path, monkeypatch
):
    result = call("toy", "--profile", "smoke", "--seeds", 3, toy=EXPERIMENT)
    assert result.exit_code == 0
    for words in (
        "Noisy descent: smoke, 3 seeds, no data folder, cpu",
        "S-toy, Fig. 0",
        "the loss [falls]",
        "not observed",
        "cannot tell",
        "at last",
        "1 observed, 1 not observed, 1 cannot tell",
    ):
        assert words in result.stdout
    folder = tmp_path / "experiments" / "toy"
    for name in ("numbers.json", "loss.svg", "loss.png"):
        assert str(folder / name) in result.stdout.splitlines()
    assert evidence.read(folder).seeds == (0, 1, 2)
    drawn = (folder / "loss.svg").read_bytes()
    (folder / "loss.svg").unlink()
    monkeypatch.setattr(Descent, "step", lambda self: pytest.fail("it ran"))
    again = call("toy", "--redraw", toy=EXPERIMENT)
    assert again.exit_code == 0
    assert "smoke, 3 seeds" in again.stdout
    assert (folder / "loss.svg").read_bytes() == drawn


@pytest.mark.parametrize("change", [{"pieces": {"seed 0": {}}}, {"pieces": {}}, {"name": "dln"}])
def test_numbers_that_cannot_be_drawn_today_are_one_line_and_stay(call, tmp_path, change):
    call("toy", "--profile", "smoke")
    path = evidence.folder_of(tmp_path, "toy") / "numbers.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    before = path.read_text()
    refused = call("toy", "--redraw")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "numbers.json are not what toy measures today" in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert path.read_text() == before


def seen(claim, violated):
    counts = {"instances": 3, "violated": violated, "undecided": 0, "vacuous": 1}
    return {"layer": "1", "claim": claim, **counts, "worst_ratio": 1.5 if violated else 0.5}


@pytest.mark.parametrize(
    ("claim", "violated", "status", "words"),
    [
        ("S-thm-4.1", 0, 0, "proved"),
        ("S-thm-4.2a/eps", 2, 0, "refuted"),
        ("S-thm-4.1", 2, 1, "unexpected"),
    ],
)
def test_statements_along_the_run_are_told_and_decide_the_exit_status(
    call, monkeypatch, claim, violated, status, words
):
    checkpoints = [{"step": 1, "theorems": [seen(claim, 0)]}, {"theorems": [seen(claim, violated)]}]
    numbers = {"loss": [2.0, 1.0], "checkpoints": checkpoints}
    monkeypatch.setattr(Descent, "numbers", lambda self: numbers)
    result = call("toy")
    assert result.exit_code == status
    (line,) = [line for line in result.stdout.splitlines() if claim in line.split()]
    assert words in line
    assert line.split()[-5:-1] == ["6", str(violated), "0", "2"]


@pytest.mark.parametrize("columns", ["80", "119", "120", "160"])
def test_no_terminal_cuts_a_statement_a_number_or_a_place(call, monkeypatch, tmp_path, columns):
    claim = "S-thm-4.4/not-squared/scaled-mean"
    numbers = {"loss": [2.0, 1.0], "theorems": [seen(claim, 2)]}
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(Descent, "numbers", lambda self: numbers)
    lines = call("toy").stdout.splitlines()
    assert max(len(line) for line in lines if str(tmp_path) not in line) <= int(columns)
    (row,) = [number for number, line in enumerate(lines) if claim in line.split()]
    found = " ".join(lines[row : row + 3])
    assert all(number in found for number in ("refuted", "3", "2", "0", "1", "1.5"))
    told = " ".join(lines)
    assert "…" not in told
    for words in ("S-toy, Fig. 0", "not observed", "instances", "vacuous", "ratio"):
        assert words in told


def test_what_is_finished_is_not_run_again_unless_fresh_or_another_setting(call, monkeypatch):
    call("toy", "--profile", "smoke")
    steps, step = [], Descent.step
    monkeypatch.setattr(Descent, "step", lambda self: (steps.append(0), step(self)))
    assert call("toy", "--profile", "smoke").exit_code == 0
    assert steps == []
    assert call("toy", "--profile", "smoke", "--fresh").exit_code == 0
    assert len(steps) == STEPS
    other = call("toy", "--profile", "deep")
    assert "is not resumed: its profile was smoke, now deep\n" in other.stderr
    assert len(steps) == 2 * STEPS


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (KeyboardInterrupt, 130, "goes on from the last checkpoint"),
        (DataError("the file is truncated"), 2, "verify: the file is truncated\n"),
    ],
)
def test_a_run_that_is_broken_off_says_why_or_how_to_go_on(call, monkeypatch, error, status, says):
    def broken(self):
        raise error

    monkeypatch.setattr(Descent, "step", broken)
    result = call("toy")
    assert result.exit_code == status
    assert says in result.stderr
    assert "Traceback" not in result.output


def test_the_experiments_are_listed(call):
    result = call("--list")
    assert result.exit_code == 0
    assert "Noisy descent" in result.stdout
    assert "S-toy" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], ["'nonsense'", "choose one of"]),
        ([], ["no experiment is named", "choose one of"]),
        (["toy", "--profile", "huge"], ["'huge'", "smoke, default, deep"]),
        (["toy", "--data", "/nonexistent/folder"], ["/nonexistent/folder is no folder"]),
        (["toy", "--seeds", "0"], ["--seeds 0", "at least 1"]),
        (["toy", "--epochs", "3"], ["--epochs 3", "for resnet", "(--data)"]),
        (["toy", "--device", "quantum"], ["--device quantum is not to be had here"]),
        (["toy", "--device", "meta"], ["--device meta is not to be had here"]),
        (["toy", "--device", "cuda:99"], ["--device cuda:99 is not to be had here"]),
        (["dln", "--data", "."], ["--data .", "dln takes no data; leave it out"]),
        (["cost", "--data", "."], ["--data .", "cost takes no data; leave it out"]),
        (["toy", "--redraw"], ["numbers.json cannot be read", "verify experiment toy --evidence"]),
    ],
)
def test_bad_input_is_one_line_and_status_2(call, arguments, words):
    result = call(*arguments)
    line, end = result.stderr.split("\n", 1)
    assert (result.exit_code, result.stdout, end) == (2, "", "")
    assert line.startswith("verify: ")
    assert all(word in line for word in words)


def test_one_run_at_a_time_writes_in_a_folder(call, tmp_path):
    folder = evidence.folder_of(tmp_path, "toy")
    folder.mkdir(parents=True)
    held = FolderLock(folder)
    refused = call("toy", "--profile", "smoke")
    assert refused.exit_code == 2
    assert f"another run writes its evidence in {folder}" in refused.stderr
    assert not (folder / "checkpoints").exists()
    held.give_back()
    assert call("toy", "--profile", "smoke").exit_code == 0
    assert call("toy", "--profile", "smoke").exit_code == 0


def test_pieces_of_an_experiment_are_run_elsewhere_and_kept(tmp_path, monkeypatch):
    toy = WITHOUT_FIGURES
    whole = run.run(toy, SETTING, tmp_path / "here")
    monkeypatch.setattr(run, "find", lambda name: toy)
    ended, broken, there = [], list(whole.pieces)[:1], tmp_path / "there"

    def at_once(calls, address):
        for call in calls:
            ended.append(call.name)
            future = Future()
            if call.name in broken:
                future.set_exception(MemoryError(call.name))
            else:
                future.set_result(call.function(*call.arguments))
            yield call, future

    monkeypatch.setattr(command, "ended", at_once)
    threads, told = torch.get_num_threads(), []
    finish = partial(command._finish_pieces, toy, SETTING, there, "local", False)
    try:
        with pytest.raises(MemoryError):
            finish()
        kept = run.checkpoints_of(toy, SETTING, there)
        assert [name for name in whole.pieces if kept.load(name) is not None] == ended[1:]
        broken.clear()
        ended.clear()
        finish()
        result = run.run(toy, SETTING, there, progress=lambda *one: told.append(one))
    finally:
        torch.set_num_threads(threads)
    assert result.pieces == whole.pieces
    assert ended == list(whole.pieces)
    assert told == []
