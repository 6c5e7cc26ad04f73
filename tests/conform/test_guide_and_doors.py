"""The guide's code runs; the command and the pytest plugin say what they should."""

from __future__ import annotations

import contextlib
import io
import json
import multiprocessing
import os
import re
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest
from typer.testing import CliRunner

from theory.nn.compilers import can_compile
from verify.__main__ import app
from verify.conform import process
from verify.conform.process import Order
from verify.conform.report import not_offered
from verify.conform.run import Wanted, reproduced, run

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guides" / "conform.md"
WRONG = """
import os
import time

import torch


def layer(x, gamma, beta, eps):
    centred = x - x.mean(0)
    return gamma * centred / torch.sqrt((centred**2).mean(0).detach() + eps) + beta


def raises(x, gamma, beta, eps):
    raise ValueError("no such thing")


def ends(x, gamma, beta, eps):
    if len(x) == 7:
        os._exit(3)
    return right(x, gamma, beta, eps)


def right(x, gamma, beta, eps):
    centred = x - x.mean(0)
    return gamma * centred / torch.sqrt((centred**2).mean(0) + eps) + beta


def hangs_at_seven(x, gamma, beta, eps):
    time.sleep(1000 if len(x) == 7 else 0)
    return right(x, gamma, beta, eps)


def slow_on_rows(x, gamma, beta, eps):
    time.sleep(5.0 if x.ndim == 2 else 0.0)
    axes = tuple(axis for axis in range(x.ndim) if axis != 1)
    centred = x - x.mean(axes, keepdim=True)
    sigma = torch.sqrt((centred**2).mean(axes, keepdim=True) + eps)
    shape = (1, -1, *[1] * (x.ndim - 2))
    return gamma.reshape(shape) * centred / sigma + beta.reshape(shape)


def hangs(x, gamma, beta, eps):
    time.sleep(1000)


def dense(x, gamma, beta, eps):
    return right(x, torch.as_strided(gamma, gamma.shape, (1,), gamma.storage_offset()), beta, eps)


def changes(x, gamma, beta, eps):
    x.add_(1)
    return dense(x, gamma, beta, eps).double()


def flat(x, gamma, beta, eps):
    z = dense(x, gamma, beta, eps)
    return z.flatten() if len(x) == 23 else z
"""
WITHOUT_TORCH = """
import pathlib
import time

import numpy as np


def forward(x, gamma, beta, eps):
    centred = x - x.mean(0)
    return gamma * centred / np.sqrt((centred**2).mean(0) + eps) + beta


def backward(g, x, gamma, beta, eps):
    centred = x - x.mean(0)
    sigma = np.sqrt((centred**2).mean(0) + eps)
    return gamma / sigma * (g - g.mean(0)), (g * centred / sigma).sum(0), g.sum(0)


def held(x, gamma, beta, eps):
    while list(pathlib.Path().rglob("unfinished.pickle")) and not pathlib.Path("go on").exists():
        time.sleep(0.05)
    return forward(x, gamma, beta, eps)
"""
"""For Pythons that start anew, which take seconds to import PyTorch."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with layers, in which commands are given."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.py").write_text(WRONG)
    (tmp_path / "plain.py").write_text(WITHOUT_TORCH)
    return tmp_path


class Copy(multiprocessing.get_context("fork").Process):
    """A copy of this process that serves, in place of a Python that has to import PyTorch."""

    def __init__(self, _command, **_):
        super().__init__()
        (self.orders, there), (back, self.replies) = os.pipe(), os.pipe()
        self.stdin, self.stdout = os.fdopen(there, "wb"), os.fdopen(back, "rb")
        self.start()
        os.close(self.orders)
        os.close(self.replies)

    def run(self):
        os.dup2(self.orders, 0)
        os.dup2(self.replies, 1)
        process.serve()

    def wait(self):
        self.join()
        return self.exitcode


@pytest.fixture
def _in_a_copy(monkeypatch):
    """Examine a layer in a copy of this process; other tests give it a Python of its own."""
    monkeypatch.setattr(process, "subprocess", SimpleNamespace(Popen=Copy, PIPE=None))


def conform(*arguments):
    """Give the command in this process, which examines the layer in another unless told not to."""
    return CliRunner().invoke(app, ["conform", *arguments])


def with_plugin(*arguments, folder):
    """Run pytest in a folder with the plugin, as a person does."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "verify.conform.plugin", "-q", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.usefixtures("in_this_process")
def test_the_guides_layer_conforms_with_the_guides_adapter(folder):
    for name, text in re.findall(r"```python\n# (\w+\.py)\n(.*?)```", GUIDE.read_text(), re.S):
        (folder / name).write_text(text)
    found = conform("my_layer.py:layer", "--adapter", "my_adapter.py", "--cases", "plain", "--json")
    report = json.loads(found.stdout)
    assert (found.exit_code, report["verdict"]) == (0, "conforms"), found.stderr
    assert report["framework"].startswith("torch.func")
    offered = {cell["mode"] for cell in report["cells"] if cell["word"] == "right"}
    assert offered >= {"forward", "gradient", "jvp", "second rr", "second ff", "third"}
    assert set(report["cells"][0]) >= {"mode", "output", "stratum", "units", "word", "token"}


def error_shown_by(script):
    """Run a script as if on its own: it finds the layer itself, and nothing of this suite."""
    text = script.read_text()
    assert len(text.splitlines()) <= 10
    assert not re.search(r"\b(import|from) verify", text)
    sys.modules.pop("wrong", None)
    here = [place for place in sys.path if place not in ("", str(script.parent))]
    shown = io.StringIO()
    with mock.patch.object(sys, "path", here), contextlib.redirect_stdout(shown):
        runpy.run_path(str(script))
    found, exact = (json.loads(line.split(" ", 1)[1]) for line in shown.getvalue().splitlines())
    return max(abs(a - b) for a, b in zip(found, exact, strict=True))


@pytest.mark.usefixtures("in_this_process")
def test_a_failure_is_named_reproduced_and_written_as_a_script(folder):
    asked = ("--cases", "plain", "--modes", "forward,gradient")
    found = conform("wrong.py:layer", *asked)
    assert found.exit_code == 1
    assert "the variance is held constant (detached)" in " ".join(found.stdout.split())
    token = re.search(r"--reproduce '([^']+)'", found.stdout).group(1)
    again = conform("wrong.py:layer", *asked, "--reproduce", token)
    assert again.stdout.startswith("wrong, ")
    (script,) = (folder / "evidence").rglob("gradient-x.py")
    assert error_shown_by(script) > 0.01


CHANNELS_LAST_OF_ROWS = {"stored": ("channels last",), "axes": ("NC",)}


@pytest.mark.parametrize(
    ("where", "target", "wanted", "said"),
    [
        ("in_this_process", "raises", {}, "no such thing"),
        ("in_this_process", "layer", {"modes": ("fourth",)}, "choose of forward"),
        ("in_this_process", "layer", {"dtypes": ("float128",)}, "choose of float64"),
        ("in_this_process", "layer", {"stored": ("upside down",)}, "choose of channels last"),
        ("in_this_process", "layer", CHANNELS_LAST_OF_ROWS, "no case is left"),
        ("in_this_process", "layers", {}, "did you mean 'layer'?"),
        ("_in_a_copy", "hangs", {"limit": 0.2, "axes": ("NC",)}, "did not return within 0.2 s"),
        ("_in_a_copy", "missing", {}, "has no 'missing'"),
    ],
)
def test_what_cannot_be_run_gets_a_sentence(folder, request, where, target, wanted, said):
    request.getfixturevalue(where)
    report = run(Order(f"wrong.py:{target}"), Wanted(**wanted))
    assert report.verdict == "could not run"
    assert said in report.reason


FIRST = "4 right so far, 1 not, first gradient x at plain; plain"
"""Gradients in gamma and beta, inputs and dtype are right; the gradient in x is not."""


@pytest.mark.usefixtures("in_this_process")
def test_the_progress_says_what_is_examined_how_much_is_done_and_what_fails_so_far(folder):
    told = []
    wanted = Wanted(modes=("gradient",), kinds=("plain",), axes=("NC",))
    run(Order("wrong.py:layer"), wanted, lambda *progress: told.append(progress))
    assert told[:2] == [("0 right so far; plain", 0, 4), (FIRST, 0, 4)]
    assert list(dict.fromkeys((done, total) for _, done, total in told)) == [
        (n, 4) for n in range(4)
    ]
    assert told[-1][0].endswith("first gradient x at plain; eps beside variance")


@pytest.mark.usefixtures("in_this_process")
def test_a_class_is_made_with_the_groups_asked_for():
    wanted = Wanted(modes=("forward", "gradient"), kinds=("plain",))
    report = run(Order("torch.nn:GroupNorm", family="group", groups=2), wanted)
    assert report.verdict == "conforms"


@pytest.mark.usefixtures("in_this_process")
def test_a_layout_is_asked_for(folder):
    wanted = Wanted(modes=("forward",), axes=("NC",), stored=("non-contiguous",))
    report = run(Order("wrong.py:layer"), wanted)
    strata = {cell.stratum for cell in report.cells}
    assert strata == {"non-contiguous", "non-contiguous, N = C", "non-contiguous parameters"}


@pytest.mark.usefixtures("_in_a_copy")
def test_a_layer_that_ends_its_process_at_some_size_does_not_conform(folder):
    wanted = Wanted(modes=("forward",), kinds=("plain",), axes=("NC",))
    report = run(Order("wrong.py:ends"), wanted)
    assert report.verdict == "does not conform"
    assert any("ended with status 3" in line.plain for line in not_offered(report))


@pytest.mark.usefixtures("_in_a_copy")
def test_a_layer_that_hangs_at_some_size_is_not_said_to_conform(folder):
    asked = ("--modes", "forward", "--cases", "plain", "--axes", "NC", "--limit", "1")
    found = conform("wrong.py:hangs_at_seven", *asked)
    said = " ".join(found.stdout.split())
    assert found.exit_code == 2
    assert "could not run: right where it returned, but did not return within 1 s" in said
    assert "(at eps beside variance)" in said
    assert "--limit allows more" in said


@pytest.mark.skipif(not can_compile("cpu"), reason="no C++ compiler: install one, such as g++")
def test_a_compiled_layer_is_examined_with_its_gradients(folder):
    wanted = Wanted(
        dtypes=("float64",), modes=("forward", "gradient"), strata=("plain",), axes=("NC",),
        limit=300,
    )  # fmt: skip
    report = run(Order("wrong.py:right", is_compiled=True), wanted)
    assert report.verdict == "conforms"
    assert not list(not_offered(report))


@pytest.fixture
def _interruptible():
    """Let what is started hear an interrupt; what a shell began in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_a_run_that_was_interrupted_goes_on(folder):
    asked = ("plain.py:held", "--axes", "NC", "--cases", "plain", "--modes", "forward", "--json")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    begun = [sys.executable, "-m", "verify.commands.conform", *asked]
    with subprocess.Popen(begun, env=environment, stderr=subprocess.PIPE, text=True) as child:
        while child.poll() is None and not list(folder.rglob("unfinished.pickle")):
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=300)
    assert child.returncode == 130
    assert "the same command goes on" in said
    assert list(folder.rglob("unfinished.pickle"))
    (folder / "go on").touch()
    assert conform(*asked).exit_code == 0
    assert not list(folder.rglob("unfinished.pickle"))


@pytest.mark.usefixtures("_in_a_copy")
def test_a_late_reply_answers_no_later_question(folder):
    wanted = Wanted(modes=("forward",), kinds=("plain",), axes=("NC", "NCL"), limit=2.0)
    report = run(Order("wrong.py:slow_on_rows"), wanted)
    assert (report.verdict, report.conventions["axes"]) == ("conforms", "NCL"), report.reason


@pytest.mark.usefixtures("in_this_process")
def test_a_device_that_is_not_there_gets_a_sentence_and_status_2(folder):
    found = conform("wrong.py:layer", "--device", "cuda:99")
    assert found.exit_code == 2
    assert "cannot use the device" in " ".join(found.stdout.split())


def test_the_plugin_knows_failures_and_reports_stale_lines(folder):
    (folder / "known.txt").write_text(
        "# wrong\nown gradient | x | float32 | *: detached\nforward | z | * | *: nothing\n"
    )
    asked = ("--conform", "plain.py", "--conform-modes", "forward,own gradient")
    known = ("--conform-cases", "plain", "--conform-known", "known.txt")
    found = with_plugin(*asked, *known, folder=folder)
    assert found.returncode == 1
    assert "the variance is held constant" in found.stdout
    assert "1 xfailed" in found.stdout
    assert "2 failed" in found.stdout
    assert "known.txt:3: nothing fails that this line excuses" in found.stdout


def test_the_plugin_does_nothing_without_its_option(tmp_path):
    (tmp_path / "test_own.py").write_text("def test_own():\n    pass\n")
    found = with_plugin(folder=tmp_path)
    assert "1 passed" in found.stdout


KINDS_OF_TOKENS = {
    "dense:forward:z": "right",
    "dense:second rr:x": "right",
    "dense:gradient:beta": "right",
    "changes:forward:inputs": "overwrites (changes x)",
    "changes:forward:dtype": "wrong (z is float64 for float32 inputs)",
    "flat:forward:z": "wrong (has shape (",
}


@pytest.mark.parametrize("kind", KINDS_OF_TOKENS)
@pytest.mark.parametrize("stratum", ["plain", "non-contiguous parameters", "NaN"])
@pytest.mark.usefixtures("in_this_process")
def test_every_kind_of_token_leads_back(folder, kind, stratum):
    name, mode, output = kind.split(":")
    token = f"batch:NC:0:float32:{stratum}:{mode}:{output}"
    said = list(reproduced(Order(f"wrong.py:{name}"), Wanted(axes=("NC",)), token))
    assert said[1] == f"mode {mode}, output {output}, float32, {stratum}"
    if stratum == "plain":
        assert said[0].startswith(KINDS_OF_TOKENS[kind])


@pytest.mark.parametrize(
    "token", ["", "batch:NC:0:float32:plain", "batch:NC:0:float32:elsewhere:forward:z"]
)
@pytest.mark.usefixtures("in_this_process")
def test_a_token_of_nowhere_gets_a_sentence(folder, token):
    with pytest.raises(ValueError, match="give a token that it printed"):
        list(reproduced(Order("wrong.py:dense"), Wanted(axes=("NC",)), token))


@pytest.mark.usefixtures("in_this_process")
def test_a_script_stores_its_arrays_as_the_case_does(folder):
    token = "batch:NC:0:float64:non-contiguous parameters:forward:z"
    said = list(reproduced(Order("wrong.py:dense"), Wanted(axes=("NC",)), token))
    script = folder / "script.py"
    script.write_text(said[-1])
    assert error_shown_by(script) > 0.01
