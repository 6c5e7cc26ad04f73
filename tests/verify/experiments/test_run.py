"""Running an experiment: the same numbers from any point at which it was killed; checkpoints."""

import json
import multiprocessing
import signal
from dataclasses import replace

import pytest
import torch
from toy_experiment import EXPERIMENT, SETTING, STEPS, WITHOUT_FIGURES, Descent

from verify.experiments import evidence, run
from verify.experiments.checkpoints import Checkpoint, Checkpoints, identity
from verify.experiments.experiment import Setting
from verify.subjects.cache import write_tensors

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


# Checkpoints: whole or not at all, and of this run only

RUN = {"experiment": "toy", "source": "abc", "torch": "2.6"}
STATE = {"done": 3, "x": torch.arange(3.0), "parts": [(1, None), {"a": 0.5}]}
KEPT = Checkpoint(STATE, {}, 1.5)


@pytest.fixture
def checkpoints(tmp_path):
    """One run's checkpoints, of the piece "a, b"."""
    made = Checkpoints(tmp_path, RUN)
    made.keep("a, b", KEPT)
    return made


def test_a_checkpoint_comes_back_by_the_name_of_its_piece(tmp_path, checkpoints):
    found = Checkpoints(tmp_path, RUN).load("a, b")
    assert found.seconds == 1.5
    assert found.state["parts"] == STATE["parts"]
    assert torch.equal(found.state["x"], STATE["x"])
    assert Checkpoints(tmp_path, RUN).load("a b") is None


@pytest.mark.parametrize(
    ("left", "says"),
    [
        (json.dumps({**RUN, "source": "def"}), "its source was def, now abc$"),
        ('{"experiment": "toy"}', "its source was not said, now abc; its torch"),
        ("[]", "its run.json is damaged"),
        ("", "its run.json is damaged"),
        (None, "there is no run.json in it"),
    ],
)
def test_another_run_is_not_resumed_and_the_difference_is_said(tmp_path, checkpoints, left, says):
    (tmp_path / "run.json").unlink()
    if left is not None:
        (tmp_path / "run.json").write_text(left)
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.warns(UserWarning, match=f"not resumed: {says}"):
        assert Checkpoints(tmp_path, RUN).load("a, b") is None
    assert (tmp_path / "thesis.tex").read_text() == "mine"


def cut_off(checkpoints, file, share):
    whole = file.read_bytes()
    file.write_bytes(whole[: int(share * len(whole))])


def of_another_piece(checkpoints, file):
    checkpoints.keep("other", KEPT)
    checkpoints.file("other").rename(file)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda c, file: cut_off(c, file, 0.0), r"cannot be read .*delete it"),
        (lambda c, file: cut_off(c, file, 0.99), r"cannot be read .*delete it"),
        (lambda c, file: write_tensors(file, torch.ones(2)), "is of another run; delete it"),
        (lambda c, file: write_tensors(file, {"piece": "a, b"}), "is of another run; delete it"),
        (of_another_piece, "is of another piece; delete it"),
    ],
)
def test_a_file_that_is_damaged_or_foreign_starts_afresh_after_a_warning(checkpoints, spoil, says):
    spoil(checkpoints, checkpoints.file("a, b"))
    with pytest.warns(UserWarning, match=f"{says}, or let it be: a, b starts afresh"):
        assert checkpoints.load("a, b") is None
    checkpoints.keep("a, b", KEPT)
    assert checkpoints.load("a, b").seconds == 1.5


@pytest.mark.parametrize("wrong", [{1, 2}, object(), torch.float32])
def test_a_state_that_could_not_be_read_again_is_refused_where_it_stands(tmp_path, wrong):
    checkpoints, name = Checkpoints(tmp_path, RUN), type(wrong).__name__
    with pytest.raises(TypeError, match=rf"state\['parts'\]\[1\] is of type {name}"):
        checkpoints.keep("a", Checkpoint({"parts": [0, wrong]}, {}, 0.0))
    assert checkpoints.load("a") is None


def test_identity_holds_all_of_the_setting():
    setting = Setting("smoke", (0, 1), None, "cpu")
    found = identity(EXPERIMENT, setting, run.describe(setting))
    assert json.loads(json.dumps(found)) == found
    assert found["seeds"] == "(0, 1)"
    assert {"profile", "seeds", "data", "device", "source", "torch", "threads"} < found.keys()


def test_data_that_came_or_changed_are_another_run(tmp_path):
    def found():
        setting = Setting("smoke", data=tmp_path)
        return identity(EXPERIMENT, setting, run.describe(setting))

    states = [found()]
    (tmp_path / "train" / "n01").mkdir(parents=True)
    states.append(found())
    (tmp_path / "train" / "n01" / "a.jpeg").write_bytes(b"an image")
    states.append(found())
    (tmp_path / "cifar-10-batches-bin").mkdir()
    (tmp_path / "cifar-10-batches-bin" / "test_batch.bin").write_bytes(b"half")
    states.append(found())
    (tmp_path / "cifar-10-batches-bin" / "test_batch.bin").write_bytes(b"whole")
    states.append(found())
    assert len({state["state of the data"] for state in states}) == len(states)
    (tmp_path / "evidence").mkdir()
    (tmp_path / "train.tar").symlink_to(tmp_path / "nowhere")
    assert found() == states[-1]
