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
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest
from typer.testing import CliRunner

from verify.__main__ import app
from verify.conform import journal, plugin, process
from verify.conform import run as run_
from verify.conform.adapters import find
from verify.conform.journal import Journal
from verify.conform.judge import DTYPE, INPUTS, STATE
from verify.conform.modes import MODES, by_name
from verify.conform.process import Order
from verify.conform.report import not_offered
from verify.conform.reproduction import script
from verify.conform.run import Wanted, judge, prepare, reproduced, run
from verify.conform.subject import Subject
from verify.conform.words import ENDED, GIVEN_UP

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guides" / "conform.md"
WRONG = """
import os
import pathlib
import time
from functools import partial
from types import SimpleNamespace

import torch


def hang(seconds):
    pathlib.Path("hangs").touch()
    time.sleep(seconds)


def layer(x, gamma, beta, eps):
    centred = x - x.mean(0)
    return gamma * centred / torch.sqrt((centred**2).mean(0).detach() + eps) + beta


def raises(x, gamma, beta, eps):
    raise ValueError("no such thing")


def ends(x, gamma, beta, eps):
    if len(x) == 7 and torch.is_grad_enabled():
        os._exit(3)
    return right(x, gamma, beta, eps)


def right(x, gamma, beta, eps):
    centred = x - x.mean(0)
    return gamma * centred / torch.sqrt((centred**2).mean(0) + eps) + beta


def not_for_seven(x, gamma, beta, eps):
    if len(x) == 7:
        raise ValueError("give more samples")
    return right(x, gamma, beta, eps)


def hangs_at_seven(x, gamma, beta, eps):
    if len(x) == 7:
        hang(1000)
    return right(x, gamma, beta, eps)


def in_two_groups(x, gamma, beta, eps):
    return torch.nn.functional.group_norm(x, 2, gamma, beta, eps)


three_groups = torch.nn.GroupNorm(3, 9)


def eps_first(eps, x, gamma, beta):
    return right(x, gamma, beta, eps)


with_eps_first = partial(partial(eps_first), 1e-5)


def bare_layer(x, gamma, beta, eps):
    assert gamma is beta is None
    return right(x, 1.0, 0.0, eps)


def bare_step(x, gamma, beta, mean, variance, momentum, eps):
    z = bare_layer(x, gamma, beta, eps)
    return z, mean.lerp(x.mean(0), momentum), variance.lerp(x.var(0), momentum)


def bare_evaluation(x, gamma, beta, mean, variance, eps):
    assert gamma is beta is None
    return (x - mean) / torch.sqrt(variance + eps)


bare = SimpleNamespace(layer=bare_layer, train=bare_step, evaluate=bare_evaluation)


def slow_on_rows(x, gamma, beta, eps):
    if x.ndim == 2:
        hang(5)
    axes = tuple(axis for axis in range(x.ndim) if axis != 1)
    centred = x - x.mean(axes, keepdim=True)
    sigma = torch.sqrt((centred**2).mean(axes, keepdim=True) + eps)
    shape = (1, -1, *[1] * (x.ndim - 2))
    return gamma.reshape(shape) * centred / sigma + beta.reshape(shape)


def handing_on(kind):
    class HandsOn(kind):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)

    return HandsOn


hands_on_layer = handing_on(torch.nn.LayerNorm)
hands_on_rms = handing_on(torch.nn.RMSNorm)
hands_on_group = handing_on(torch.nn.GroupNorm)
hands_on_batch = handing_on(torch.nn.BatchNorm1d)


def without_beta(x, gamma, eps):
    return right(x, gamma, 0.0, eps)


def without_gamma(x, eps):
    return right(x, 1.0, 0.0, eps)


def unlike_any(x, gamma, beta):
    return beta + 0 * gamma * x


def detached_rms(x, epsilon, gamma):
    return gamma * x / torch.sqrt((x * x).mean(-1, keepdim=True).detach() + epsilon)


def hangs(x, gamma, beta, eps):
    time.sleep(1000)


def dense(x, gamma, beta, eps):
    return right(x, torch.as_strided(gamma, gamma.shape, (1,), gamma.storage_offset()), beta, eps)


def changes(x, gamma, beta, eps):
    x.add_(1)
    return dense(x, gamma, beta, eps).double()


def flat(x, gamma, beta, eps):
    z = dense(x, gamma, beta, eps)
    return z.flatten() if x.shape == (30, 5) else z
"""
WITHOUT_TORCH = """
import pathlib
import time

import numpy as np

if pathlib.Path("beside.py").exists():
    import beside


def forward(x, gamma, beta, eps):
    centred = x - x.mean(0)
    return gamma * centred / np.sqrt((centred**2).mean(0) + eps) + beta


def backward(g, x, gamma, beta, eps):
    centred = x - x.mean(0)
    sigma = np.sqrt((centred**2).mean(0) + eps)
    return gamma / sigma * (g - g.mean(0)), (g * centred / sigma).sum(0), g.sum(0)


def doubled(x, gamma, beta, eps):
    return 2 * forward(x, gamma, beta, eps)


def held(x, gamma, beta, eps):
    with pathlib.Path("calls").open("a") as calls:
        print(*x.shape, x.dtype, file=calls)
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


class Told(process.Connection):
    """An end of a pipe that waits until a layer says that it hangs, on however busy a machine."""

    def poll(self, timeout=0.0):
        enough = time.monotonic() + 30
        while not Path("hangs").exists() and time.monotonic() < enough:
            if super().poll(0.01):
                return True
        Path("hangs").unlink()
        return False


@pytest.fixture
def _told_of_hanging(_in_a_copy, monkeypatch):
    """Wait for a layer in a copy of this process by what it says, not by the clock."""
    monkeypatch.setattr(process, "Connection", Told)


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


def test_the_guide_says_what_every_mode_and_output_is():
    _, named = GUIDE.read_text().split("\n| mode | what is computed |\n")
    of_modes, of_outputs, *_ = named.split("\n\n")
    assert re.findall(r"^\| `(.*?)` \|", of_modes, re.M) == [mode.name for mode in MODES]
    firsts = [line.split("|")[1] for line in of_outputs.splitlines()]
    told = {word for first in firsts for word in re.findall("`(.*?)`", first)}
    outputs = [output.replace("first ", "first, ") for mode in MODES for output in mode.answers]
    said = {part for output in outputs for part in output.split(", ")}
    assert told == {*said, INPUTS, DTYPE, STATE}


@pytest.mark.usefixtures("in_this_process")
def test_a_folder_that_cannot_be_written_gets_a_sentence_and_status_2(folder):
    (folder / "file").touch()
    asked = ("plain.py", "--cases", "plain", "--axes", "NC", "--modes", "forward")
    found = conform(*asked, "--folder", "file")
    assert found.exit_code == 2
    assert re.search("file.* cannot be written .*; name another place by --folder", found.stderr)


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


@pytest.mark.usefixtures("in_this_process")
def test_a_script_runs_in_a_python_of_its_own(folder):
    conform("plain.py:doubled", "--cases", "plain", "--modes", "forward", "--axes", "NC")
    (script,) = (folder / "evidence").rglob("forward-z.py")
    shown = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert re.match(r"found \[.*\]\nexact \[", shown.stdout), shown.stderr


SAMPLE_VARIANCE = """\
import torch

class SampleVariance(torch.nn.Module):
    def __init__(self, channels, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = torch.nn.Parameter(torch.ones(channels))
        self.bias = torch.nn.Parameter(torch.zeros(channels))

    def forward(self, x):
        return self.weight * (x - x.mean(0)) / (x.var(0) + self.eps).sqrt() + self.bias
"""


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    ("file", "target"),
    [
        ("classes.py", "classes.py"),
        ("own_layers/__init__.py", "own_layers"),
        ("site-packages/theirs/layers_of_theirs.py", "site-packages/theirs/layers_of_theirs.py"),
    ],
    ids=["a file", "a package that is not installed", "a file of one that is"],
)
def test_a_script_finds_the_module_of_a_class(folder, file, target):
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(SAMPLE_VARIANCE)
    asked = ("--cases", "plain", "--modes", "forward", "--axes", "NC")
    assert conform(f"{target}:SampleVariance", *asked).exit_code == 1
    (script,) = (folder / "evidence").rglob("forward-z.py")
    module = Path(target).stem
    with mock.patch.dict(sys.modules), mock.patch.object(sys, "path", without(folder)):
        sys.modules.pop(module)
        assert error_shown_by(script) > 0.01


def without(folder):
    return [place for place in sys.path if place and not place.startswith(str(folder))]


@pytest.mark.usefixtures("in_this_process")
def test_a_script_of_each_second_derivative_shows_its_error(folder):
    conform("wrong.py:layer", "--cases", "plain", "--modes", "second rr", "--axes", "NC")
    scripts = [*(folder / "evidence").rglob("second-rr-*.py")]
    assert {"second-rr-x.py", "second-rr-x-g-constant.py"} <= {script.name for script in scripts}
    assert all(error_shown_by(script) > 0.01 for script in scripts)


@pytest.mark.usefixtures("in_this_process")
def test_a_class_that_hands_on_its_arguments_is_given_those_of_its_family(folder):
    for family in ("layer", "rms", "group", "batch"):
        asked = ("--family", family, "--cases", "plain", "--modes", "forward", "--axes", "NC")
        assert conform(f"wrong.py:hands_on_{family}", *asked).exit_code == 0


@pytest.mark.usefixtures("in_this_process")
def test_a_script_calls_a_layer_with_the_arguments_that_it_takes(folder):
    asked = ("--family", "rms", "--cases", "plain", "--modes", "gradient", "--axes", "NC")
    found = conform("wrong.py:detached_rms", *asked)
    assert (found.exit_code, "nan" in found.stdout) == (1, False)
    (script,) = (folder / "evidence").rglob("gradient-x.py")
    assert error_shown_by(script) > 0.01


CRASHES = """
import numpy as np


def forward(x, gamma, beta, eps):
    centred = x - x.mean(0)
    return gamma * centred / np.sqrt((centred**2).mean(0) + eps) + beta


def backward(g, x, gamma, beta, eps):
    return (g * gama).sum(0)
"""
CRASHES_AT_SEVEN = f"""{CRASHES}

def backward(g, x, gamma, beta, eps):
    if len(x) == 7:
        raise ValueError("give more samples")
    centred = x - x.mean(0)
    sigma = np.sqrt((centred**2).mean(0) + eps)
    yhat, rest = centred / sigma, g - g.mean(0)
    rest = rest - yhat * (yhat * rest).mean(0)
    return gamma / sigma * rest, (g * yhat).sum(0), g.sum(0)
"""
AT_SEVEN = "conforms: where it runs, which own gradient does not at eps beside variance (ValueError"
NEITHER = "the output conforms; no derivative was examined"


@pytest.mark.parametrize(
    ("target", "modes", "status", "said"),
    [
        ("crashes.py", "", 1, "raises: own gradient (NameError: name 'gama' is not defined"),
        ("crashes.py", "gradient", 1, "(crashes.py, line 11))"),
        ("seven.py", "", 0, AT_SEVEN),
        ("crashes.py:forward", "", 2, NEITHER),
        ("crashes.py:forward", "gradient", 2, "could not run: nothing of what was asked for"),
        ("crashes.py:forward", "forward", 0, "crashes.py:forward: conforms"),
        ("plain.py", "gradient,forward", 1, "the variance is held constant"),
        ("wrong.py:right", "gradient", 0, "wrong.py:right: conforms"),
        ("wrong.py:right", "gradient,own jvp", 2, "not all that was asked for: own jvp was not"),
    ],
)
@pytest.mark.usefixtures("in_this_process")
def test_a_derivative_that_was_not_examined_does_not_conform(folder, target, modes, status, said):
    (folder / "crashes.py").write_text(CRASHES)
    (folder / "seven.py").write_text(CRASHES_AT_SEVEN)
    asked = ("--modes", modes) if modes else ()
    found = conform(target, "--cases", "plain", "--axes", "NC", *asked)
    assert (found.exit_code, said in " ".join(found.stdout.split())) == (status, True), found.stdout


@pytest.mark.parametrize(
    ("dtype", "said"),
    [
        ("float64", "stays below 32"),
        ("float16", "stays below 4"),
        ("float32,float16", "stays below 32 in float32, 4 in float16"),
    ],
)
@pytest.mark.usefixtures("in_this_process")
def test_a_report_says_which_limit_it_holds_a_layer_to(folder, dtype, said):
    asked = ("--cases", "plain", "--axes", "NC", "--modes", "forward", "--dtype", dtype)
    assert said in " ".join(conform("wrong.py:right", *asked).stdout.split())


CHANNELS_LAST_OF_ROWS = {"stored": ("channels last",), "axes": ("NC",)}
NO_LAYOUT = "no case is left that is all of --layout channels last (there are non-contiguous, exp"
NO_STRATUM = "no case is left that is all of strata m = 9 (there are plain, eps beside variance, m"
BACKWARDS = {"axes": ("CN",)}
HARD = {"kinds": ("hard",)}


@pytest.mark.parametrize(
    ("target", "wanted", "said"),
    [
        ("raises", {}, "no such thing"),
        ("layer", {"modes": ("fourth",)}, "choose of forward"),
        ("layer", {"dtypes": ("float128",)}, "choose of float64"),
        ("layer", HARD, "--cases 'hard' is unknown; choose of plain"),
        ("layer", {"like": "nobody"}, "--like 'nobody' is unknown; choose of torch"),
        ("layer", BACKWARDS, "--axes 'CN' is unknown for batch; choose of NC"),
        ("layer", {"stored": ("upside down",)}, "choose of channels last"),
        ("layer", CHANNELS_LAST_OF_ROWS, NO_LAYOUT),
        ("layer", {"strata": ("m = 9",), "axes": ("NC",)}, NO_STRATUM),
        ("layers", {}, "did you mean 'layer'?"),
        ("without_beta", {}, "without beta; an RMS normalisation is"),
        ("without_gamma", {}, "expected x, gamma, beta and eps, by these names"),
        ("unlike_any", {}, "eps cannot be found from its output"),
        ("layer", {"seed": -1}, "--seed -1 is negative"),
        *(
            ("layer", {"limit": limit}, f"--limit {limit:g} is out of range")
            for limit in (0.0, -1.0, float("nan"), float("inf"))
        ),
    ],
)
@pytest.mark.usefixtures("in_this_process")
def test_what_cannot_be_run_gets_a_sentence(folder, target, wanted, said):
    report = run(Order(f"wrong.py:{target}"), Wanted(**wanted))
    assert report.verdict == "could not run"
    assert said in report.reason


@pytest.mark.usefixtures("_in_a_copy")
def test_what_does_not_return_gets_a_sentence(folder):
    report = run(Order("wrong.py:hangs"), Wanted(limit=0.2, axes=("NC",)))
    assert report.verdict == "could not run"
    assert "did not return within 0.2 s" in report.reason


@pytest.mark.usefixtures("_in_a_copy")
def test_a_limit_allows_a_process_more_to_start_as_well(folder, monkeypatch):
    monkeypatch.setattr(process, "START", 0.0)
    report = run(Order("wrong.py:missing"), Wanted(limit=60.0))
    assert "has no 'missing'" in report.reason


@pytest.mark.usefixtures("in_this_process")
def test_an_unknown_family_gets_a_sentence():
    report = judge(Subject("any", max), find("numpy"), "crowd")
    assert (report.verdict, report.reason) == (
        "could not run",
        "--family 'crowd' is unknown; choose of batch, layer, group, instance, rms",
    )


@pytest.mark.usefixtures("in_this_process")
def test_an_output_of_another_shape_is_wrong_and_not_looked_into(folder):
    wanted = Wanted(modes=("forward",), strata=("plain",), axes=("NC",))
    report = run(Order("wrong.py:flat"), wanted)
    assert {cell.reason for cell in report.failures} == {"has shape (150,), expected (30, 5)"}
    assert not report.diagnosis


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
def test_a_function_is_examined_with_the_groups_asked_for(folder):
    for groups, verdict in ((2, "conforms"), (1, "does not conform")):
        order = Order("wrong.py:in_two_groups", family="group", groups=groups)
        wanted = Wanted(modes=("forward",), strata=("plain",), axes=("NCL",))
        assert run(order, wanted).verdict == verdict


@pytest.mark.usefixtures("in_this_process")
def test_who_forgot_the_groups_or_the_family_is_told_what_to_type(folder):
    plain = Wanted(modes=("forward",), strata=("plain",), axes=("NCL",))
    report = run(Order("wrong.py:in_two_groups", family="group"), plain)
    assert report.conventions["groups"].endswith("type --groups 2")
    assert report.diagnosis[0].guess.endswith("other --groups")
    report = run(Order("wrong.py:in_two_groups", family="group", groups=2), plain)
    assert report.conventions["groups"] == "2"
    report = run(Order("wrong.py:in_two_groups", groups=2), plain)
    assert "add --family group" in report.reason
    report = run(Order("torch.nn:GroupNorm"), plain)
    assert report.reason.endswith("for another one give --family")


@pytest.mark.usefixtures("in_this_process")
def test_a_class_is_made_with_the_groups_asked_for():
    wanted = Wanted(modes=("forward", "gradient"), kinds=("plain",))
    report = run(Order("torch.nn:GroupNorm", family="group", groups=2), wanted)
    assert report.verdict == "conforms"


@pytest.mark.usefixtures("in_this_process")
def test_a_group_norm_keeps_its_groups_and_no_others_are_taken(folder):
    wanted = Wanted(modes=("forward",), strata=("plain",))
    for groups, said in ((1, ""), (3, ""), (2, "has num_groups = 3 of its own, not 2")):
        report = run(Order("wrong.py:three_groups", family="group", groups=groups), wanted)
        assert report.verdict == ("could not run" if said else "conforms")
        assert said in report.reason


@pytest.mark.parametrize("groups", [0, -2])
@pytest.mark.usefixtures("in_this_process")
def test_fewer_groups_than_one_get_a_sentence(folder, groups):
    report = run(Order("wrong.py:in_two_groups", family="group", groups=groups), Wanted())
    assert report.reason == f"--groups {groups} is none; expected 1 or more"


@pytest.mark.parametrize("option", ["--dtype", "--modes", "--cases", "--axes", "--layout"])
def test_an_option_of_commas_alone_gets_a_sentence_and_status_2(option):
    found = conform("wrong.py:layer", option, ",")
    assert (found.exit_code, f"{option} ',' names nothing" in found.stderr) == (2, True)


@pytest.mark.usefixtures("in_this_process")
def test_a_token_is_given_back_with_the_same_checks():
    found = conform("wrong.py:layer", "--seed", "-1", "--reproduce", "any")
    assert (found.exit_code, "--seed -1 is negative" in found.stderr) == (2, True)


@pytest.mark.usefixtures("in_this_process")
def test_a_partial_function_is_of_its_functions_framework(folder):
    found, adapter = process.opened(Order("wrong.py:with_eps_first"))
    assert (adapter.name, found.fixed_eps is not None) == ("torch", True)


@pytest.mark.parametrize("target", ["torch.nn:BatchNorm1d", "wrong.py:bare"])
@pytest.mark.usefixtures("in_this_process", "folder")
def test_a_layer_without_gamma_and_beta_is_examined_in_x_alone(target):
    modes = ("forward", "gradient", "second rr", "running", "evaluation gradient")
    wanted = Wanted(modes=modes, strata=("plain", "non-contiguous parameters"))
    report = run(Order(target, is_affine=False), wanted)
    assert report.verdict == "conforms"
    assert {(cell.mode, cell.output) for cell in report.cells if cell.units is not None} == {
        *(("forward", "z"), ("gradient", "x"), ("second rr", "x"), ("second rr", "g")),
        *(("second rr", output) for output in ("x, apart", "g, apart", "x, g constant")),
        ("evaluation gradient", "x"),
        *(("running", name) for name in by_name("running").answers),
    }
    assert {cell.stratum for cell in report.cells} == {"plain"}


@pytest.mark.usefixtures("in_this_process", "folder")
def test_a_layer_without_gamma_and_beta_is_not_examined_at_theirs():
    kinds = ("plain", "channels", "inf and NaN")
    wanted = Wanted(modes=("forward",), axes=("NC",), dtypes=("float32",), kinds=kinds)
    report = run(Order("wrong.py:bare", is_affine=False), wanted)
    assert report.verdict == "conforms"
    at = {cell.stratum for cell in report.cells}
    assert {"plain", "NaN", "NaN in the cotangent"} < at
    assert not at & {"NaN in gamma", "NaN in beta", "gamma zero", "gamma and beta of all sizes"}


KERNELS = """
import torch


class Rows(torch.nn.LayerNorm):
    '''Right of rows; of series it normalises the wrong axis.'''

    def forward(self, x):
        if x.ndim == 2:
            return super().forward(x)
        turned = x.transpose(1, 2)
        z = torch.nn.functional.layer_norm(turned, turned.shape[2:], eps=self.eps)
        return z.transpose(1, 2) * self.weight + self.bias


class Residual(torch.nn.Module):
    '''Its eps has another name, and it returns what it was given besides.'''

    def __init__(self, size, variance_epsilon=1e-6):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(size))
        self.variance_epsilon = variance_epsilon

    def forward(self, x):
        return torch.nn.functional.rms_norm(x, x.shape[-1:], self.weight, self.variance_epsilon), x


class Unsaved(torch.nn.BatchNorm1d):
    '''Its statistics are in no state, and lie in the shape (1, channel).'''

    def __init__(self, *sizes, **given):
        super().__init__(*sizes, **given)
        if self.running_mean is not None:
            for name in ("running_mean", "running_var"):
                statistic = getattr(self, name)[None]
                self.register_buffer(name, statistic, persistent=False)

    def forward(self, x):
        if self.training or self.running_mean is None:
            return torch.nn.functional.batch_norm(x, None, None, self.weight, self.bias, True)
        sigma = torch.sqrt(self.running_var + self.eps)
        return self.weight * (x - self.running_mean) / sigma + self.bias


without_eps = torch.nn.RMSNorm(8)


def of_eights(x, gamma, beta, eps):
    if x.shape[1] % 8:
        raise ValueError("expected a multiple of eight channels")
    centred = x - x.mean(0)
    return gamma * centred / torch.sqrt((centred**2).mean(0) + eps) + beta
"""


@pytest.fixture
def kernels(folder):
    (folder / "kernels.py").write_text(KERNELS)


@pytest.mark.usefixtures("in_this_process", "kernels")
def test_axes_that_are_declared_are_examined_and_others_are_named():
    order = Order("kernels.py:Rows", family="layer")
    wanted = Wanted(modes=("forward",), strata=("plain", "NLC", "NLC, long"))
    found = run(order, wanted)
    assert (found.verdict, found.conventions["axes"]) == ("conforms", "NC")
    assert found.conventions["axes not examined"].startswith("NLC (it runs there")
    declared = run(order, replace(wanted, axes=("NC", "NLC")))
    assert declared.verdict == "does not conform"
    assert {cell.stratum for cell in declared.failures} >= {"NLC", "NLC, long"}


@pytest.mark.usefixtures("in_this_process", "kernels")
def test_axes_that_are_declared_and_not_taken_get_a_sentence():
    report = run(Order("kernels.py:of_eights"), Wanted(modes=("forward",), axes=("NC", "NCHW")))
    assert report.verdict == "could not run"
    assert "declare by --axes only what it takes, of these NC" in report.reason


@pytest.mark.usefixtures("in_this_process", "kernels")
def test_a_kernel_of_whole_vectors_is_examined_where_it_runs():
    whole = ("512 channels", "plain, 1024 by 128")
    wanted = Wanted(modes=("forward", "gradient", "jvp"), strata=("plain", *whole))
    report = run(Order("kernels.py:of_eights"), wanted)
    assert report.verdict == "conforms", report.reason
    assert "expected a multiple of eight channels" in report.why
    assert {cell.stratum for cell in report.cells if cell.word == "right"} == {*whole}


@pytest.mark.parametrize("target", ["kernels.py:Residual", "torch.nn:RMSNorm"])
@pytest.mark.usefixtures("in_this_process", "kernels")
def test_an_eps_of_another_name_and_a_second_output_are_taken(target):
    strata = ("plain", "eps beside variance", "tiny (2^-20)")
    wanted = Wanted(modes=("forward", "gradient"), strata=strata)
    report = run(Order(target, family="rms"), wanted)
    assert (report.verdict, set(strata)) == ("conforms", {cell.stratum for cell in report.cells})


@pytest.mark.usefixtures("in_this_process", "kernels")
def test_statistics_of_another_shape_that_no_state_holds_are_taken():
    modes, axes = ("evaluation", "evaluation gradient"), ("NC",)
    report = run(Order("kernels.py:Unsaved"), Wanted(modes=modes, axes=axes, strata=("plain",)))
    assert report.verdict == "conforms", report.reason


@pytest.mark.usefixtures("in_this_process", "kernels")
def test_an_object_whose_eps_is_that_of_each_dtype_is_examined():
    order = Order("kernels.py:without_eps", family="rms")
    report = run(order, Wanted(modes=("forward", "gradient"), strata=("plain", "m = 7")))
    assert report.verdict == "conforms", report.reason


@pytest.mark.usefixtures("in_this_process", "kernels")
def test_a_script_takes_the_first_of_what_a_module_returns(folder):
    order = Order("kernels.py:Residual", family="rms")
    wanted = Wanted(modes=("forward",), axes=("NC",), dtypes=("float32",))
    with run_.Process(order, wanted.limit) as bench:
        options = prepare(bench, bench.facts, "rms", wanted).options
        # What is right has a script for who asks for it alone.
        found = script(bench, options, bench.facts, "rms:NC:0:float32:plain:forward:z")
    shown = folder / "scripts" / "shown.py"
    shown.parent.mkdir()
    shown.write_text(found)
    assert error_shown_by(shown) < 1e-6


@pytest.mark.parametrize("order", ["compiled.py:layer", "compiled.py:in_part"])
@pytest.mark.usefixtures("in_this_process")
def test_a_tangent_that_the_compiler_drops_is_not_offered(folder, order):
    (folder / "compiled.py").write_text(COMPILED)
    wanted = Wanted(modes=("forward", "jvp"), strata=("plain",), axes=("NC",), dtypes=("float32",))
    report = run(Order(order), wanted)
    tangents = [cell for cell in report.cells if cell.mode == "jvp"]
    assert {str(cell.word) for cell in tangents} == {"not offered"}
    assert tangents[0].reason.startswith("could not be examined in forward mode, because")
    assert not report.failures


@pytest.mark.usefixtures("in_this_process")
def test_a_tangent_that_a_layer_drops_is_wrong_where_another_is_compiled(folder):
    (folder / "compiled.py").write_text(COMPILED)
    wanted = Wanted(modes=("forward", "jvp"), strata=("plain",), axes=("NC",), dtypes=("float32",))
    report = run(Order("compiled.py:detached"), wanted)
    assert ("jvp", "wrong") in {(cell.mode, str(cell.word)) for cell in report.failures}


COMPILED = """
import torch

def normalised(x, eps):
    c = x - x.mean(0)
    return c / torch.sqrt((c * c).mean(0) + eps)

compiled = torch.compile(normalised)

@torch.compile
def layer(x, gamma, beta, eps):
    return gamma * normalised(x, eps) + beta

def in_part(x, gamma, beta, eps):
    return gamma * compiled(x, eps) + beta

def detached(x, gamma, beta, eps):
    compiled(x.detach(), eps)
    return gamma * normalised(x.detach(), eps) + beta
"""


@pytest.mark.usefixtures("in_this_process")
def test_a_layout_is_asked_for(folder):
    wanted = Wanted(modes=("forward",), axes=("NC",), stored=("non-contiguous",))
    report = run(Order("wrong.py:layer"), wanted)
    strata = {cell.stratum for cell in report.cells}
    large, parameters = "non-contiguous, 1024 by 128", "non-contiguous parameters"
    assert strata == {"non-contiguous", "non-contiguous, N = C", parameters, large}


@pytest.mark.usefixtures("_in_a_copy")
def test_a_layer_that_ends_its_process_at_some_size_does_not_conform(folder):
    modes, strata = ("forward", "without gradient"), ("plain", "eps beside variance", "m = 7")
    report = run(Order("wrong.py:ends"), Wanted(modes=modes, strata=strata, axes=("NC",)))
    assert report.verdict == "does not conform"
    assert any("ended with status 3" in line.plain for line in not_offered(report))
    z = [cell for cell in report.cells if cell.output == "z"]
    assert [cell.word for cell in z if cell.mode == "without gradient"] == ["right"] * 6
    reasons = [cell.reason for cell in z if cell.mode == "forward"]
    said = [next((w for w in (ENDED, GIVEN_UP) if why.startswith(w)), "") for why in reasons]
    assert said == ["", "", ENDED, ENDED, GIVEN_UP, GIVEN_UP]


@pytest.mark.usefixtures("_told_of_hanging")
def test_a_layer_that_hangs_at_some_size_is_not_said_to_conform(folder):
    asked = ("--modes", "forward", "--cases", "plain", "--axes", "NC", "--limit", "1")
    found = conform("wrong.py:hangs_at_seven", *asked)
    said = " ".join(found.stdout.split())
    assert found.exit_code == 2
    assert "could not run: right where it returned, but did not return within 1 s" in said
    assert "(at eps beside variance)" in said
    assert "--limit allows more" in said


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
        while child.poll() is None and "30 5 float64" not in calls(folder):  # the second case
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=300)
    assert child.returncode == 130
    assert "the same command goes on" in said
    assert list(folder.rglob("unfinished.pickle"))
    (folder / "go on").touch()
    assert conform(*asked).exit_code == 0
    assert not list(folder.rglob("unfinished.pickle"))
    assert calls(folder).count(FIRST_CALL) == 1


FIRST_CALL = "30 5 float32"
"""Of the first case."""


def calls(folder):
    """Return what the layer that keeps a list was called with."""
    listed = folder / "calls"
    return listed.read_text().splitlines() if listed.exists() else []


def change(file):
    """Add a line to a file, which need not exist."""
    with file.open("a") as text:
        text.write("# changed\n")


ORDER = Order("plain.py:held")
FIRST_CASE = Wanted(modes=("forward",), strata=("plain",), axes=("NC",))


@pytest.mark.parametrize(
    ("where", "changed", "order", "wanted", "times"),
    [
        ("in_this_process", "", ORDER, FIRST_CASE, 1),
        ("in_this_process", "judge/judge.py", ORDER, FIRST_CASE, 2),
        ("in_this_process", "a version", ORDER, FIRST_CASE, 2),
        ("in_this_process", "", replace(ORDER, adapter="numpy"), FIRST_CASE, 2),
        ("in_this_process", "", ORDER, replace(FIRST_CASE, like="keras"), 2),
        ("_in_a_copy", "plain.py", ORDER, FIRST_CASE, 2),
    ],
)
def test_a_run_goes_on_where_it_was_unless_what_it_depends_on_has_changed(
    folder, monkeypatch, request, where, changed, order, wanted, times
):
    request.getfixturevalue(where)
    (folder / "judge").mkdir()
    monkeypatch.setattr(journal, "JUDGE", (folder / "judge",))
    (folder / "go on").touch()

    def stop(_, done, __):
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(ORDER, FIRST_CASE, stop, folder)
    if changed == "a version":
        monkeypatch.setattr(run_, "versions", lambda: changed)
    elif changed:
        change(folder / changed)
    assert run(order, wanted, folder=folder).verdict == "conforms"
    assert calls(folder).count(FIRST_CALL) == times


@pytest.mark.usefixtures("in_this_process")
def test_what_a_layer_imports_of_its_author_is_part_of_it(folder):
    change(folder / "beside.py")
    found, _ = process.opened(Order("plain.py:forward"))
    before = process._of_loaded(found)
    assert process._of_loaded(found) == before
    change(folder / "beside.py")
    assert process._of_loaded(found) != before


def test_an_installed_layer_is_known_by_its_file(folder, monkeypatch):
    installed = folder / "site-packages"
    installed.mkdir()
    (installed / "layers.py").write_text("def layer(x, gamma, beta, eps):\n    return x\n")
    monkeypatch.setattr(sys, "path", [*sys.path])
    found, _ = process.opened(Order("site-packages/layers.py:layer"))
    before = process._of_loaded(found)
    change(installed / "layers.py")
    assert process._of_loaded(found) != before
    del sys.modules["layers"]


def journal_of(folder, results):
    """Return the bytes of a journal of these results."""
    begun = Journal(folder, "a key")
    for token, result in results.items():
        begun.add(token, result)
    return (folder / "unfinished.pickle").read_bytes()


def test_a_result_that_is_half_written_is_written_again(tmp_path):
    torn = journal_of(tmp_path, {"one": 1, "two": list(range(1000))})[:-100]
    (tmp_path / "unfinished.pickle").write_bytes(torn)
    assert Journal(tmp_path, "a key").kept == {"one": 1}
    whole = journal_of(tmp_path / "whole", {"one": 1, "two": 2, "three": 3})
    assert journal_of(tmp_path, {"two": 2, "three": 3}) == whole


@pytest.mark.usefixtures("_told_of_hanging")
def test_a_late_reply_answers_no_later_question(folder):
    wanted = Wanted(modes=("forward",), kinds=("plain",), limit=2.0)
    report = run(Order("wrong.py:slow_on_rows"), wanted)
    assert report.verdict == "conforms", report.reason
    assert report.conventions["axes"].startswith("NCL")


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
    assert "6 failed" in found.stdout
    assert "known.txt:3: nothing fails that this line excuses" in found.stdout


ENDING = """
import os


def layer(x, gamma, beta, eps):
    if len(x) == 7:
        os._exit(0)
    centred = x - x.mean(0)
    return gamma * centred / ((centred**2).mean(0) + eps) ** 0.5 + beta
"""


def test_the_plugin_fails_where_a_layer_ends_its_process(folder):
    (folder / "ending.py").write_text(ENDING)
    asked = ("--conform", "ending.py:layer", "--conform-modes", "forward")
    found = with_plugin(*asked, "--conform-cases", "plain", folder=folder)
    assert found.returncode == 1
    assert "(its process ended" in " ".join(found.stdout.split())


@pytest.mark.usefixtures("in_this_process")
def test_the_plugin_takes_a_layer_that_does_not_run_at_some_size(folder):
    given = {"adapter": "", "family": "batch", "like": "", "modes": "forward", "cases": "plain"}
    options = {f"conform_{name}": value for name, value in given.items()}
    for layer, is_taken in (("not_for_seven", True), ("raises", False)):
        option = SimpleNamespace(conform=f"wrong.py:{layer}", **options)
        expected = contextlib.nullcontext() if is_taken else pytest.raises(pytest.UsageError)
        with expected:
            report = plugin._examined(SimpleNamespace(option=option))
            assert report.why == (
                "where it runs, which it does not at eps beside variance "
                "(ValueError: give more samples)"
            )


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
    "token", ["bogus", "batch:NC:0:float32:plain", "batch:NC:0:float32:elsewhere:forward:z"]
)
@pytest.mark.usefixtures("in_this_process")
def test_a_token_of_nowhere_gets_a_sentence(folder, token):
    with pytest.raises(ValueError, match=f"{token}' leads to no case .*; give a token that it"):
        list(reproduced(Order("wrong.py:dense"), Wanted(axes=("NC",)), token))


@pytest.mark.usefixtures("in_this_process")
def test_a_script_stores_its_arrays_as_the_case_does(folder):
    token = "batch:NC:0:float64:non-contiguous parameters:forward:z"
    said = list(reproduced(Order("wrong.py:dense"), Wanted(axes=("NC",)), token))
    script = folder / "script.py"
    script.write_text(said[-1])
    assert error_shown_by(script) > 0.01
