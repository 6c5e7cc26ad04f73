"""The guide's code runs; the command says what it should."""

import json
import re
import runpy
import sys
import types
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from verify import engine
from verify.__main__ import app
from verify.audit import auditing
from verify.backends import devices

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guides" / "audit.md"
BLOCKS = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.S)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with the files of the guide, and work there."""
    for block in BLOCKS:
        if named := re.match(r"# (\w+\.py)\n", block):
            (tmp_path / named.group(1)).write_text(block)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("my_network", "wrong", "raising"):
        sys.modules.pop(name, None)


def command(*arguments):
    return CliRunner().invoke(app, ["audit", *arguments])


@pytest.mark.parametrize("block", [block for block in BLOCKS if not block.startswith("# ")])
def test_the_guides_code_runs(block, folder, capsys):
    (folder / "run.py").write_text(block)
    found = runpy.run_path(str(folder / "run.py"))
    if "report" in found:
        assert (folder / "audit.html").stat().st_size > 0
        assert "κ(Ĥ)" in capsys.readouterr().out
        assert "0" in [name for name, _ in found["worst"]]
        assert len(found["kappa"]) == 3
    else:
        assert [m.step for m in found["auditor"].history.moments] == [0, 2, 4]
        assert (folder / "training.html").stat().st_size > 0


def test_the_guides_callback_audits_a_training(folder, monkeypatch):
    """Lightning is not needed: its trainer calls these hooks with these arguments."""
    stand_in = types.ModuleType("lightning.pytorch")
    stand_in.Callback = object
    monkeypatch.setitem(sys.modules, "lightning", types.ModuleType("lightning"))
    monkeypatch.setitem(sys.modules, "lightning.pytorch", stand_in)
    made = runpy.run_path(str(folder / "my_network.py"))
    callback = runpy.run_path(str(folder / "lightning_audit.py"))["Audit"](
        torch.nn.functional.cross_entropy, every=2
    )
    model, data = made["make_model"](), made["batches"]()
    callback.on_fit_start(None, model)
    for number in range(3):
        callback.on_train_batch_start(None, model, next(data), number)
    callback.on_fit_end(None, model)
    assert [m.step for m in callback.auditor.history.moments] == [0, 2]
    assert (folder / "training.html").stat().st_size > 0


def test_the_command_prints_writes_and_ends_with_zero(folder):
    found = command(
        *("my_network.py:make_model", "--data", "my_network.py:batches", "--batches", "1"),
        *("--html", "audit.html", "--entries", "0"),
    )
    assert found.exit_code == 0, found.stderr
    assert "its bias does nothing: layer 1 takes it away" in " ".join(found.stdout.split())
    assert "S-thm-4.1/eps" in found.stdout
    assert (folder / "audit.html").read_text().startswith("<!doctype html>")


def test_the_command_looks_into_as_many_layers_as_it_is_told(folder, monkeypatch):
    looking = "L-thm-3/eq-14"
    few = [claim for claim in engine.CLAIMS if claim.id in (looking, "L-thm-4a", "L-thm-4c")]
    monkeypatch.setattr(auditing, "_claims", lambda: few)
    (folder / "wrong.py").write_text(WRONG)

    def looked_into(entries):
        found = command("wrong.py:wrong", "--data", "wrong.py:pair", "--json", "--entries", entries)
        (row,) = (r for r in json.loads(found.stdout)["statements"] if r["statement"] == looking)
        return [layer["layer"] for layer in row["layers"]]

    assert looked_into("1") == ["0"]
    assert looked_into("2") == ["0", "2"]


def test_json_is_one_object_of_what_was_asked(folder):
    model = runpy.run_path(str(folder / "my_network.py"))["make_model"]()
    with torch.no_grad():
        model[1].weight.fill_(3.0)
    torch.save({"state_dict": model.state_dict()}, folder / "trained.pt")
    found = command(
        *("my_network:make_model", "--data", "my_network:batches", "--json", "--batches", "1"),
        *("--checkpoint", "trained.pt", "--layers", "1,7", "--device", list(devices("torch"))[-1]),
        *("--budget", "1000"),
        *("--entries", "0", "--costly", "2"),
    )
    assert found.exit_code == 0, found.stderr
    report = json.loads(found.stdout)
    assert [row["layer"] for row in report["normalizations"]] == ["1"]
    assert [row["layer"] for row in report["maps"]] == ["7"]
    assert report["normalizations"][0]["lipschitz"]["worst"] > 5
    assert report["schema"] == 2


WRONG = """
import torch
from torch import nn


class Detached(nn.BatchNorm1d):
    def forward(self, y):
        centred = y - y.mean(0)
        return self.weight * centred / (centred.square().mean(0).detach() + self.eps).sqrt()


wrong = nn.Sequential(nn.Linear(3, 4), Detached(4), nn.Linear(4, 2))
nothing = nn.ReLU()
pair = torch.randn(16, 3), torch.randint(2, (16,))
number = 3
text = lambda: "a model"
"""


TALKING = """
import torch
from torch import nn


class Talking(nn.Sequential):
    def forward(self, x):
        print("here I am")
        return super().forward(x)


model = Talking(nn.Linear(3, 2))
pair = [torch.randn(16, 3), torch.randint(2, (16,))]


def leaving():
    raise SystemExit(0)
"""


def test_what_a_model_prints_is_no_part_of_json(folder):
    (folder / "raising.py").write_text(TALKING)
    asked = ("raising.py:model", "--data", "raising.py:pair", "--budget", "0")
    found = command(*asked, "--json", "--loss", "torch.nn:CrossEntropyLoss")
    assert found.exit_code == 0, found.stderr
    assert json.loads(found.stdout)["model"] == "Talking"
    assert "here I am" in found.stderr


def test_data_that_leave_the_interpreter_end_with_two(folder):
    (folder / "raising.py").write_text(TALKING)
    found = command("raising.py:model", "--data", "raising.py:leaving")
    assert found.exit_code == 2
    assert "raising.py:leaving raised SystemExit: 0" in found.stderr


@pytest.mark.parametrize(
    ("asked", "made"),
    [
        ("page", "page.html"),
        ("run-0.5", "run-0.5.html"),
        ("pages", "pages/audit.html"),
        (".", "audit.html"),
    ],
)
def test_a_page_is_called_as_it_was_asked_for_and_a_folder_gets_one(folder, asked, made):
    (folder / "raising.py").write_text(TALKING)
    (folder / "pages").mkdir()
    given = ("raising.py:model", "--data", "raising.py:pair", "--budget", "0")
    assert command(*given, "--html", asked).exit_code == 0
    assert (folder / made).stat().st_size > 0


def test_a_layer_that_breaks_a_theorem_ends_with_one(folder):
    (folder / "wrong.py").write_text(WRONG)
    found = command("wrong.py:wrong", "--data", "wrong.py:pair", "--entries", "0")
    assert found.exit_code == 1, found.stderr
    assert "is right and fails here" in " ".join(found.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("wrong.py:missing", "--data", "wrong.py:pair"), "has no 'missing'"),
        (("wrong.py:text", "--data", "wrong.py:pair"), "expected a torch.nn.Module"),
        (
            ("wrong.py", "--data", "wrong.py:pair"),
            "wrong.py names a whole file; expected wrong.py:NAME, a torch.nn.Module, or what makes "
            "one; NAME may be wrong, nothing, text",
        ),
        (
            ("wrong", "--data", "wrong:pair"),
            "wrong names a whole module; expected wrong:NAME, a torch.nn.Module, or what makes one",
        ),
        (
            ("wrong.py:wrong", "--data", "wrong.py"),
            "expected wrong.py:NAME, pairs (inputs, targets), or what makes them; NAME may be pair",
        ),
        (
            ("wrong.py:wrong", "--data", "wrong.py:pair", "--loss", "wrong.py"),
            "a function of (outputs, targets); nothing in that file is one",
        ),
        (("no.py", "--data", "wrong.py:pair"), "there is no file no.py; give path/to/file.py:name"),
        (("wrong.py:wrong", "--data", "wrong.py:number"), "expected pairs (inputs, targets)"),
        (("wrong.py:nothing", "--data", "wrong.py:pair"), "no normalisation, linear or"),
        (
            ("wrong.py:wrong", "--data", "wrong.py:pair", "--checkpoint", "no.pt"),
            "no.pt cannot be read (No",
        ),
        (("wrong.py:wrong", "--data", "wrong.py:pair", "--batches", "0"), "'--batches'"),
        (("wrong.py:wrong", "--data", "wrong.py:pair", "--device", "cuda:99"), "cuda:99"),
        (("wrong.py:wrong", "--data", "wrong.py:pair", "--layers", "x"), "among those called x"),
        (
            ("wrong.py:wrong", "--data", "wrong.py:pair", "--budget", "-1"),
            "budget = -1.0; expected",
        ),
        (
            ("wrong.py:wrong", "--data", "wrong.py:pair", "--budget", "nan"),
            "budget = nan; expected",
        ),
    ],
)
def test_what_cannot_be_audited_ends_with_two_and_a_sentence(folder, arguments, said):
    (folder / "wrong.py").write_text(WRONG)
    found = command(*arguments)
    assert found.exit_code == 2, found.stderr
    assert said in " ".join(found.stderr.split())
    assert "Traceback" not in found.stderr


def test_a_page_that_cannot_be_written_takes_nothing_from_the_report(folder):
    (folder / "audit.html").mkdir()
    asked = ("my_network:make_model", "--data", "my_network:batches", "--budget", "0")
    found = command(*asked, "--batches", "1", "--html", "audit.html")
    assert found.exit_code == 2
    assert "statements apply" in " ".join(found.stdout.split())
    said = "audit.html cannot be written (Is a directory); name another place by --html"
    assert said in found.stderr


def test_a_page_without_a_folder_is_refused_before_the_audit(folder):
    (folder / "file").touch()
    asked = ("my_network:make_model", "--data", "my_network:batches", "--budget", "0")
    found = command(*asked, "--html", "file/audit.html")
    assert (found.exit_code, found.stdout) == (2, "")
    assert "file is no folder, and audit.html would be written there" in found.stderr


RAISING = """
import torch
from torch import nn

model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
labels = torch.arange(16) % 2
pair = torch.randn(16, 3), labels
one = torch.randn(1, 3), labels[:1]
double = torch.randn(16, 3).double(), labels
wide = torch.randn(16, 5), labels
arrays = [(torch.randn(16, 3).numpy(), labels.numpy())]


class Dictionary(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = model

    def forward(self, x):
        return {"logits": self.layers(x)}


class Backward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        raise ArithmeticError("on the way back")


def dropped(outputs, labels):
    return nn.functional.cross_entropy(Backward.apply(outputs), labels)


def raising(*_):
    raise KeyError("a key\\nthat is missing")


def ending():
    yield pair
    raise OSError("the disk is gone")
"""


@pytest.mark.parametrize(
    ("model", "data", "loss", "said"),
    [
        ("model", "one", "", "the model raised ValueError: Expected more than 1 value per channel"),
        ("model", "double", "", "the model raised RuntimeError: mat1 and mat2 must have the same"),
        ("model", "wide", "", "the model raised RuntimeError: mat1 and mat2 shapes cannot be"),
        ("model", "arrays", "", "the model raised TypeError: linear(): argument 'input'"),
        ("Dictionary", "pair", "", "the loss raised TypeError: cross_entropy_loss(): argument"),
        ("model", "pair", "raising", "the loss raised KeyError: "),
        ("model", "pair", "dropped", "the backward pass raised ArithmeticError: on the way back"),
        ("raising", "pair", "", "raising.py:raising raised KeyError: "),
        ("model", "raising", "", "raising.py:raising raised KeyError: "),
        ("model", "ending", "", "raising.py:ending raised OSError: the disk is gone"),
    ],
)
def test_what_raises_is_named_in_one_sentence_and_ends_with_two(folder, model, data, loss, said):
    (folder / "raising.py").write_text(RAISING)
    given = [f"raising.py:{model}", "--data", f"raising.py:{data}"]
    found = command(*given, *(["--loss", f"raising.py:{loss}"] if loss else []))
    assert found.exit_code == 2, found.output
    assert said in found.stderr
    assert len(found.stderr.strip().splitlines()) == 1


def test_a_fault_of_the_audit_is_said_to_be_one_with_its_traceback(folder, monkeypatch):
    def faulty(*_):
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr("verify.commands.audit.audited", faulty)
    found = command("my_network.py:make_model", "--data", "my_network.py:batches")
    assert found.exit_code == 2
    assert "the audit itself raised ZeroDivisionError: of ours; please report it" in found.stderr
    assert "Traceback" in found.stderr
