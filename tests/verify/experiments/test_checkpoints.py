"""Checkpoints: whole or not at all, and of this run only."""

import json

import pytest
import torch
from toy_experiment import EXPERIMENT

from verify.cache import write_tensors
from verify.experiments.checkpoints import Checkpoint, Checkpoints, identity
from verify.experiments.evidence import describe
from verify.experiments.experiment import Setting

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
    found = identity(EXPERIMENT, setting, describe(setting))
    assert json.loads(json.dumps(found)) == found
    assert found["seeds"] == "(0, 1)"
    assert {"profile", "seeds", "data", "device", "source", "torch", "threads"} < found.keys()
