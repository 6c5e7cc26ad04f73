"""A checkpoint is restored; a file that is none gets a sentence, and none of its code runs."""

import os
import pickle
from pathlib import Path

import pytest
import torch
from torch import nn
from typer.testing import CliRunner

from verify.__main__ import app

MODEL = """
import torch
from torch import nn

network = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
pair = torch.randn(16, 3), torch.randint(2, (16,))
"""


class RunsCode:
    def __reduce__(self):
        return os.mkdir, ("was-run",)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "networks.py").write_text(MODEL)
    return tmp_path


def audited(checkpoint):
    words = ["audit", "networks.py:network", "--data", "networks.py:pair", "--entries", "0"]
    return CliRunner().invoke(app, [*words, "--checkpoint", checkpoint])


def state(**changes):
    network = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    return {**network.state_dict(), **changes}


@pytest.mark.parametrize(
    "saved",
    [
        state(),
        {"model_state_dict": state()},
        {f"module.{name}": value for name, value in state().items()},
    ],
    ids=["plain", "in a dictionary", "of DataParallel"],
)
def test_a_state_dict_is_restored_however_it_was_saved(folder, saved):
    torch.save(saved, "trained.pt")
    assert audited("trained.pt").exit_code == 0


@pytest.mark.parametrize(
    ("saved", "said"),
    [
        (lambda: torch.save([1, 2], "bad.pt"), "bad.pt is not of this model"),
        (lambda: torch.save({"0.weight": torch.ones(4, 3)}, "bad.pt"), "Missing key(s)"),
        (lambda: torch.save(state(other=torch.ones(1)), "bad.pt"), "Unexpected key(s)"),
        (lambda: torch.save(RunsCode(), "bad.pt"), "it could run code"),
        (lambda: Path("bad.pt").write_bytes(pickle.dumps(RunsCode())), "it could run code"),
        (lambda: Path("bad.pt").write_text("weights"), "bad.pt holds no state_dict"),
        (lambda: Path("bad.pt").touch(), "bad.pt holds no state_dict"),
    ],
    ids=["list", "too few", "too many", "code", "pickled code", "text", "empty"],
)
def test_what_is_no_checkpoint_of_the_model_gets_a_sentence(folder, saved, said):
    saved()
    found = audited("bad.pt")
    assert found.exit_code == 2
    assert said in " ".join(found.output.split())
    assert not (folder / "was-run").exists()
