"""Running an experiment: the same numbers twice, and from any point at which it was killed."""

import multiprocessing
import signal
from dataclasses import replace

import pytest
import torch
from toy_experiment import SETTING, STEPS, WITHOUT_FIGURES, Descent

from verify.experiments import evidence, run
from verify.experiments.experiment import Setting

FORK = multiprocessing.get_context("fork")


class KilledError(Exception):
    pass


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What a run that nobody stops finds."""
    return run.run(WITHOUT_FIGURES, SETTING, tmp_path_factory.mktemp("whole"))


def test_progress_is_told_from_first_to_last_and_nothing_is_drawn_globally(whole, tmp_path):
    told, state = [], torch.get_rng_state()
    made = run.run(WITHOUT_FIGURES, SETTING, tmp_path, progress=lambda *one: told.append(one))
    assert [done for _, done, _ in told] == [*range(STEPS + 1), *range(STEPS, 2 * STEPS + 1)]
    assert {total for _, _, total in told} == {2 * STEPS}
    assert told[0][0] == "descent [noisy], seed 0"
    assert torch.equal(state, torch.get_rng_state())
    assert (made.pieces, made.observations) == (whole.pieces, whole.observations)
    first, second = (numbers["loss"] for numbers in whole.pieces.values())
    assert first != second
    assert evidence.read(tmp_path) == made


@pytest.mark.parametrize(
    ("seconds", "step"), [(0.0, 0), (0.0, 4), (0.0, STEPS), (0.0, 2 * STEPS), (1e9, 4), (1e9, 9)]
)
def test_a_run_stopped_at_any_step_and_resumed_equals_one_that_was_not(
    whole, tmp_path, step, seconds
):
    def kill(piece, done, total):
        if done == step:
            raise KilledError

    def resume(progress):
        return run.run(WITHOUT_FIGURES, SETTING, tmp_path, seconds=seconds, progress=progress)

    with pytest.raises(KilledError):
        resume(kill)
    told = []
    assert resume(lambda *one: told.append(one)).pieces == whole.pieces
    lost = 1 if seconds == 0 else STEPS
    assert len(told) - 2 <= 2 * STEPS - step + lost


def run_step_by_step(folder, told):
    """Run, and go on after each step only when told to."""

    def progress(*step):
        told.send(step)
        told.recv()

    run.run(WITHOUT_FIGURES, SETTING, folder, seconds=0, progress=progress)


def test_a_process_that_is_killed_and_run_again_equals_one_that_was_not(whole, tmp_path):
    here, there = FORK.Pipe()
    process = FORK.Process(target=run_step_by_step, args=(tmp_path, there))
    process.start()
    there.close()
    for _ in range(STEPS + 3):  # into the second piece
        here.recv()
        here.send("go on")
    here.recv()
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert not (tmp_path / evidence.FILE).exists()
    told = []
    resumed = run.run(WITHOUT_FIGURES, SETTING, tmp_path, progress=lambda *one: told.append(one))
    assert resumed.pieces == whole.pieces
    assert told[0][1] > STEPS


def test_a_piece_that_diverges_has_null_and_no_nan(tmp_path, monkeypatch):
    losses = [1.0, float("inf"), float("nan"), 2.0]
    monkeypatch.setattr(Descent, "numbers", lambda self: {"loss": losses})
    made = run.run(WITHOUT_FIGURES, Setting("smoke"), tmp_path)
    assert made.pieces["descent [noisy], seed 0"]["loss"] == [1.0, None, None, 2.0]
    text = (tmp_path / evidence.FILE).read_text()
    assert "NaN" not in text
    assert "Infinity" not in text


def test_two_pieces_of_one_name_are_refused(tmp_path):
    double = replace(WITHOUT_FIGURES, pieces=lambda setting: [Descent(0), Descent(0)])
    with pytest.raises(ValueError, match="two pieces have one name"):
        run.run(double, SETTING, tmp_path)


def test_a_step_that_is_not_counted_is_an_error_not_an_endless_run(tmp_path, monkeypatch):
    monkeypatch.setattr(Descent, "step", lambda self: None)
    with pytest.raises(RuntimeError, match="was not counted"):
        run.run(WITHOUT_FIGURES, SETTING, tmp_path)
