"""Checkpoints: whole or not at all, and of this run only."""

import json

import pytest
import torch
from toy_experiment import EXPERIMENT

from verify.cache import write_tensors
from verify.evidence import EvidenceError
from verify.experiments.checkpoints import Checkpoint, Checkpoints, identity
from verify.experiments.evidence import describe
from verify.experiments.experiment import Setting

RUN = {"experiment": "toy", "source": "abc", "torch": "2.6"}
STATE = {"done": 3, "x": torch.arange(3.0), "parts": [(1, None), {"a": 0.5}]}
KEPT = Checkpoint(STATE, {}, 1.5)


def test_a_checkpoint_comes_back(tmp_path):
    Checkpoints(tmp_path, RUN).keep("a, b", KEPT)
    found = Checkpoints(tmp_path, RUN).load("a, b")
    assert found.seconds == 1.5
    assert found.state["parts"] == STATE["parts"]
    assert torch.equal(found.state["x"], STATE["x"])
    assert Checkpoints(tmp_path, RUN).load("a b") is None


def test_pieces_of_like_names_have_files_of_their_own(tmp_path):
    checkpoints = Checkpoints(tmp_path, RUN)
    assert checkpoints.file("a, b") != checkpoints.file("a b")


@pytest.mark.parametrize("key", RUN)
def test_another_run_is_not_resumed_and_the_difference_is_said(tmp_path, key):
    Checkpoints(tmp_path, RUN).keep("a", KEPT)
    with pytest.warns(UserWarning, match=f"its {key} was {RUN[key]}, now another$"):
        later = Checkpoints(tmp_path, {**RUN, key: "another"})
    assert later.load("a") is None


@pytest.mark.parametrize("left", [None, "", "[]", '{"experiment": "toy"}'])
def test_a_folder_that_does_not_say_its_run_is_not_resumed(tmp_path, left):
    earlier = Checkpoints(tmp_path, RUN)
    earlier.keep("a", KEPT)
    (tmp_path / "run.json").unlink()
    if left is not None:
        (tmp_path / "run.json").write_text(left)
    with pytest.warns(UserWarning, match="not resumed"):
        assert Checkpoints(tmp_path, RUN).load("a") is None


@pytest.mark.parametrize("keep", [0.0, 0.5, 0.99])
def test_a_file_that_was_cut_off_starts_afresh_after_a_warning(tmp_path, keep):
    checkpoints = Checkpoints(tmp_path, RUN)
    checkpoints.keep("a", KEPT)
    whole = checkpoints.file("a").read_bytes()
    checkpoints.file("a").write_bytes(whole[: int(keep * len(whole))])
    with pytest.warns(UserWarning, match="a starts afresh"):
        assert checkpoints.load("a") is None
    checkpoints.keep("a", KEPT)
    assert checkpoints.load("a").seconds == 1.5


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (torch.ones(2), "another run"),
        ({"run": "0" * 64, "piece": "a", "state": {}}, "another run"),
        ({"piece": "a"}, "another run"),
    ],
)
def test_a_foreign_file_starts_afresh_after_a_warning(tmp_path, content, says):
    checkpoints = Checkpoints(tmp_path, RUN)
    write_tensors(checkpoints.file("a"), content)
    with pytest.warns(UserWarning, match=says):
        assert checkpoints.load("a") is None


def test_a_file_of_another_piece_starts_afresh_after_a_warning(tmp_path):
    checkpoints = Checkpoints(tmp_path, RUN)
    checkpoints.keep("b", KEPT)
    checkpoints.file("b").rename(checkpoints.file("a"))
    with pytest.warns(UserWarning, match="another piece"):
        assert checkpoints.load("a") is None


@pytest.mark.parametrize("wrong", [{1, 2}, object(), torch.float32, 1j])
def test_a_state_that_could_not_be_read_again_is_refused_where_it_stands(tmp_path, wrong):
    checkpoints = Checkpoints(tmp_path, RUN)
    with pytest.raises(
        TypeError, match=rf"state\['parts'\]\[1\] is of type {type(wrong).__name__}"
    ):
        checkpoints.keep("a", Checkpoint({"parts": [0, wrong]}, {}, 0.0))
    assert checkpoints.load("a") is None


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(EvidenceError, match="name another folder"):
        Checkpoints(tmp_path / "file" / "below", RUN)


def test_files_of_others_are_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    Checkpoints(tmp_path, RUN).keep("a", KEPT)
    with pytest.warns(UserWarning, match="not resumed"):
        Checkpoints(tmp_path, {**RUN, "source": "other"})
    assert (tmp_path / "thesis.tex").read_text() == "mine"


def test_identity_holds_all_of_the_setting():
    setting = Setting("smoke", (0, 1), None, "cpu")
    found = identity(EXPERIMENT, setting, describe(setting))
    assert json.loads(json.dumps(found)) == found
    assert found["seeds"] == "(0, 1)"
    assert {"profile", "seeds", "data", "device", "source", "torch", "threads"} < found.keys()
