"""Running an experiment: the same numbers twice, and from any point at which it was killed."""

import json
import multiprocessing
import signal
from dataclasses import replace

import pytest
import torch
from toy_experiment import EXPERIMENT, SETTING, STEPS, WITHOUT_FIGURES, Descent

from verify.evidence import EvidenceError
from verify.experiments import evidence, run
from verify.experiments.experiment import Setting

FORK = multiprocessing.get_context("fork")


class KilledError(Exception):
    pass


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """What a run that nobody stops finds."""
    return run.run(WITHOUT_FIGURES, SETTING, tmp_path_factory.mktemp("whole"))


def killed_at(step):
    def tell(piece, done, total):
        if done == step:
            raise KilledError

    return tell


def test_two_runs_with_one_seed_give_the_same_numbers_and_figures(whole, tmp_path):
    again = run.run(WITHOUT_FIGURES, SETTING, tmp_path)
    assert again.pieces == whole.pieces
    assert again.observations == whole.observations
    first, second = (run.run(EXPERIMENT, SETTING, tmp_path / name) for name in "ab")
    assert first.pieces == second.pieces
    for name in ("loss.svg", "loss.png"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_another_seed_gives_other_numbers(whole):
    losses = [numbers["loss"] for numbers in whole.pieces.values()]
    assert losses[0] != losses[1]


def test_a_run_uses_no_global_randomness(tmp_path):
    state = torch.get_rng_state()
    run.run(WITHOUT_FIGURES, SETTING, tmp_path)
    assert torch.equal(state, torch.get_rng_state())


@pytest.mark.parametrize("seconds", [0.0, 1e9], ids=["every step", "only at a piece's end"])
@pytest.mark.parametrize("step", range(2 * STEPS + 1))
def test_a_run_stopped_at_any_step_and_resumed_equals_one_that_was_not(
    whole, tmp_path, step, seconds
):
    with pytest.raises(KilledError):
        run.run(WITHOUT_FIGURES, SETTING, tmp_path, seconds=seconds, progress=killed_at(step))
    told = []
    resumed = run.run(
        WITHOUT_FIGURES, SETTING, tmp_path, seconds=seconds, progress=lambda *one: told.append(one)
    )
    assert resumed.pieces == whole.pieces
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


def test_a_finished_piece_is_not_run_again_unless_asked(whole, tmp_path, monkeypatch):
    run.run(WITHOUT_FIGURES, SETTING, tmp_path)
    steps = []
    step = Descent.step
    monkeypatch.setattr(Descent, "step", lambda self: (steps.append(self.name), step(self)))
    assert run.run(WITHOUT_FIGURES, SETTING, tmp_path).pieces == whole.pieces
    assert steps == []
    assert run.run(WITHOUT_FIGURES, SETTING, tmp_path, fresh=True).pieces == whole.pieces
    assert len(steps) == 2 * STEPS


def test_another_setting_starts_afresh_and_says_so(tmp_path):
    run.run(WITHOUT_FIGURES, SETTING, tmp_path)
    with pytest.warns(UserWarning, match=r"not resumed: its profile was smoke, now deep"):
        run.run(WITHOUT_FIGURES, replace(SETTING, profile="deep"), tmp_path)


def test_progress_is_told_from_first_to_last(tmp_path):
    told = []
    run.run(WITHOUT_FIGURES, SETTING, tmp_path, progress=lambda *one: told.append(one))
    assert [done for _, done, _ in told] == [*range(STEPS + 1), *range(STEPS, 2 * STEPS + 1)]
    assert {total for _, _, total in told} == {2 * STEPS}
    assert told[0][0] == "descent [noisy], seed 0"


def test_the_file_of_numbers_is_json_and_comes_back(whole, tmp_path):
    made = run.run(EXPERIMENT, SETTING, tmp_path)
    assert evidence.read(tmp_path) == made
    text = (tmp_path / evidence.FILE).read_text()
    assert json.loads(text)["run"]["profile"] == "smoke"
    assert str(tmp_path) not in text


def test_a_piece_that_diverges_has_null_and_no_nan(tmp_path):
    class Diverging(Descent):
        def numbers(self):
            return {"loss": [1.0, float("inf"), float("nan")] * 2}

    one = replace(
        WITHOUT_FIGURES,
        pieces=lambda setting: [Diverging(0)],
        observations=lambda m: [],
    )
    made = run.run(one, Setting("smoke"), tmp_path)
    assert made.pieces["descent [noisy], seed 0"]["loss"] == [1.0, None, None] * 2
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


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(EvidenceError, match="name another folder"):
        run.run(WITHOUT_FIGURES, SETTING, tmp_path / "file")
