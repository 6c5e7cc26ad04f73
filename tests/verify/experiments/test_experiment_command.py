"""The command that runs an experiment: what it prints, its files, its exit status."""

from concurrent.futures import Future
from functools import partial

import pytest
import torch
import toy_experiment
import typer
from toy_experiment import STEPS, Descent
from typer.testing import CliRunner

from verify import experiments
from verify.commands import experiment as command
from verify.datasets.dataset import DataError
from verify.experiments import evidence, run


@pytest.fixture
def call(monkeypatch, tmp_path):
    """Call the command with the toy experiment as the only one; evidence goes to ``tmp_path``."""
    monkeypatch.setattr(command, "names", lambda: ["toy"])
    find = experiments.find
    monkeypatch.setattr(
        command, "find", lambda name: toy_experiment.EXPERIMENT if name == "toy" else find(name)
    )
    app = typer.Typer()
    app.command()(command.experiment)
    return lambda *arguments: CliRunner().invoke(
        app, [*map(str, arguments), "--evidence", str(tmp_path)], catch_exceptions=False
    )


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


def test_an_experiment_is_run_and_told_in_words_with_numbers_and_files(call, tmp_path):
    result = call("toy", "--profile", "smoke", "--seeds", 2)
    assert result.exit_code == 0
    for words in (
        "Noisy descent: smoke, 2 seeds, no data folder, cpu",
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
        assert (folder / name).stat().st_size > 0
    assert evidence.read(folder).seeds == (0, 1)


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
    numbers = Descent.numbers
    checkpoints = [{"step": 1, "theorems": [seen(claim, 0)]}, {"theorems": [seen(claim, violated)]}]
    monkeypatch.setattr(
        Descent, "numbers", lambda self: {**numbers(self), "checkpoints": checkpoints}
    )
    result = call("toy")
    assert result.exit_code == status
    (line,) = [line for line in result.stdout.splitlines() if claim in line.split()]
    assert words in line
    assert line.split()[-5:-1] == ["6", str(violated), "0", "2"]


def test_a_changed_setting_is_said_in_one_line(call):
    call("toy", "--profile", "smoke")
    result = call("toy", "--profile", "deep")
    assert result.exit_code == 0
    assert "is not resumed: its profile was smoke, now deep\n" in result.stderr


def test_numbers_are_drawn_again_without_running(call, tmp_path, monkeypatch):
    call("toy", "--profile", "smoke", "--seeds", 3)
    picture = tmp_path / "experiments" / "toy" / "loss.svg"
    drawn = picture.read_bytes()
    picture.unlink()
    monkeypatch.setattr(Descent, "step", lambda self: pytest.fail("it ran"))
    result = call("toy", "--redraw")
    assert result.exit_code == 0
    assert "smoke, 3 seeds" in result.stdout
    assert picture.read_bytes() == drawn


def test_nothing_to_draw_is_said(call):
    assert complains(call("toy", "--redraw"), "numbers.json cannot be read")


def test_fresh_begins_anew(call, monkeypatch):
    call("toy")
    steps, step = [], Descent.step
    monkeypatch.setattr(Descent, "step", lambda self: (steps.append(0), step(self)))
    assert call("toy").exit_code == 0
    assert steps == []
    assert call("toy", "--fresh").exit_code == 0
    assert len(steps) == STEPS


def test_ctrl_c_says_how_to_go_on(call, monkeypatch):
    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Descent, "step", interrupted)
    result = call("toy")
    assert result.exit_code == 130
    assert "goes on from the last checkpoint" in result.stderr


def test_the_experiments_are_listed(call):
    result = call("--list")
    assert result.exit_code == 0
    assert "Noisy descent" in result.stdout
    assert "S-toy" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], ["'nonsense'", "choose one of"]),
        ([], ["choose one of"]),
        (["toy", "--profile", "huge"], ["'huge'", "smoke, default, deep"]),
        (["toy", "--data", "/nonexistent/folder"], ["/nonexistent/folder is no folder"]),
        (["toy", "--seeds", "0"], ["--seeds 0", "at least 1"]),
        (["toy", "--epochs", "3"], ["--epochs 3", "(resnet)", "(--data)"]),
        (["toy", "--device", "quantum"], ["--device quantum is not to be had here"]),
        (["toy", "--device", "meta"], ["--device meta is not to be had here"]),
        (["toy", "--device", "cuda:99"], ["--device cuda:99 is not to be had here"]),
    ],
)
def test_bad_input_is_one_line_and_status_2(call, arguments, words):
    assert complains(call(*arguments), *words)


def test_data_that_cannot_be_read_are_one_line_and_status_2(call, monkeypatch, tmp_path):
    def refuse(self):
        raise DataError("train-images-idx3-ubyte is truncated")

    monkeypatch.setattr(Descent, "step", refuse)
    result = call("toy", "--data", tmp_path)
    assert result.exit_code == 2
    assert "verify: train-images-idx3-ubyte is truncated\n" in result.stderr
    assert "Traceback" not in result.output


def test_pieces_of_an_experiment_are_run_elsewhere_and_kept(tmp_path, monkeypatch):
    whole = run.run(toy_experiment.EXPERIMENT, toy_experiment.SETTING, tmp_path / "here")
    monkeypatch.setattr(run, "find", lambda name: toy_experiment.EXPERIMENT)
    ended, broken = [], list(whole.pieces)[:1]

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
    toy, there, threads = toy_experiment, tmp_path / "there", torch.get_num_threads()
    finish = partial(command._finish_pieces, toy.EXPERIMENT, toy.SETTING, there, "local", False)
    try:
        with pytest.raises(MemoryError):
            finish()
        kept = run.checkpoints_of(toy.EXPERIMENT, toy.SETTING, there)
        assert [name for name in whole.pieces if kept.load(name) is not None] == ended[1:]
        broken.clear()
        ended.clear()
        finish()
        told = []
        result = run.run(toy.EXPERIMENT, toy.SETTING, there, progress=lambda *o: told.append(o))
    finally:
        torch.set_num_threads(threads)
    assert result.pieces == whole.pieces
    assert ended == list(whole.pieces)
    assert told == []
