"""Training by several processes, on the CPU: the steps of one process, and its command."""

import json
import multiprocessing
import os
from dataclasses import replace

import pytest
import torch
from torch.distributed import TCPStore
from typer import Typer
from typer.testing import CliRunner

from verify.experiments.resnet.distributed import KNOWN, main, processes, training
from verify.experiments.resnet.experiment import Subject

FORK = multiprocessing.get_context("fork")


NAME = "ResNet-8 in colour"


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Batches of eight: two to train on, and ten images to test."""
    monkeypatch.setitem(KNOWN, NAME, replace(KNOWN[NAME], batch=8))
    source = KNOWN[NAME].source(None, "cpu")
    parts = source.data
    source.data = type(parts)(parts.train.first(17), parts.test.first(10), parts.classes)
    monkeypatch.setattr(Subject, "source", lambda self, data, device: source)


def state_after_two_steps(process):
    """In double precision, so that the order of sums is all that differs."""
    piece = training(NAME, "group+bnp", None, 1, 0, "cpu", process)
    piece.model.double()
    piece.source.mean = piece.source.mean.double()  # which makes what is shown double
    piece.step()
    piece.step()
    return {**piece.model.state_dict(), "losses": torch.tensor(piece.losses)}


def second(environment):
    """Take the second process's part."""
    os.environ.update(environment)
    with processes("cpu") as (rank, count, _):
        state_after_two_steps((rank, count))


def test_two_processes_take_the_steps_of_one(monkeypatch):
    # As torchrun has it: a store that is there already, on whatever port was free.
    store = TCPStore("localhost", 0, is_master=True, wait_for_workers=False)
    shared = {
        "WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": str(store.port),
        "TORCHELASTIC_USE_AGENT_STORE": "True",
    }  # fmt: skip
    other = FORK.Process(target=second, args=(shared | {"RANK": "1", "LOCAL_RANK": "1"},))
    other.start()
    for name, value in (shared | {"RANK": "0", "LOCAL_RANK": "0"}).items():
        monkeypatch.setenv(name, value)
    try:
        with processes("cpu") as (rank, count, _):
            found = state_after_two_steps((rank, count))
    finally:
        other.join(timeout=120)
        assert other.exitcode == 0
    for name, expected in state_after_two_steps((0, 1)).items():
        torch.testing.assert_close(found[name], expected, rtol=1e-12, atol=1e-12, msg=name)


def invoke(*arguments):
    app = Typer()
    app.command()(main)
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_the_command_trains_an_epoch_and_goes_on_from_its_checkpoint(tmp_path):
    one = (NAME, "group", "--folder", tmp_path)
    first, second = (invoke(*one, "--epochs", epochs) for epochs in (1, 2))
    assert first.exit_code == 0, first.output
    assert "epoch 1: training loss" in first.output
    assert "epoch 1" not in second.output
    assert "epoch 2: training loss" in second.output
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    assert numbers["steps"] == 4
    assert len(numbers["test_accuracy"]) == 2


def test_what_is_not_known_or_cannot_be_shared_is_told():
    assert invoke("ResNet-9", "batch").exit_code == invoke("ResNet-18", "bnp").exit_code == 2
    with pytest.raises(ValueError, match="5 processes cannot share batches of 8 images evenly"):
        training(NAME, "batch", None, 1, 0, "cpu", (0, 5))
