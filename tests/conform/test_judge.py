"""What the judge says, and of what; the zoo has right and wrong layers of every make."""

from __future__ import annotations

from types import SimpleNamespace

import layers
import pytest
import torch

from verify.conform import adapters
from verify.conform.report import by_row, worst
from verify.conform.run import Wanted, judge
from verify.conform.subject import Subject, framework_of, subject
from verify.conform.words import FAILURES, Word

TORCH, NUMPY = adapters.find("torch"), adapters.find("numpy")
QUICK = ("plain", "mean/sd", "constant", "layout")
FIRST = ("forward", "gradient", "second rr", "third")


def examined(layer, modes=FIRST, kinds=QUICK, seed=0, **options):
    return judge(
        Subject("a layer", layer, **options),
        TORCH,
        wanted=Wanted(modes=modes, seed=seed, kinds=kinds),
    )


@pytest.mark.parametrize("layer", layers.WRONG, ids=lambda layer: layer.__name__)
def test_wrong_layers_are_found_and_named(layer):
    mode, output, word, guess = layers.WRONG[layer]
    report = examined(layer)
    assert report.verdict == "does not conform"
    words = {c.word for c in report.cells if (c.mode, c.output) == (mode, output)}
    assert word in words
    guesses = [f.guess for f in report.diagnosis if (f.mode, f.output) == (mode, output)]
    assert any(guess in found for found in [*guesses, ""])


def test_a_layer_that_remembers_is_wrong_in_the_second_call():
    report = examined(layers.remembering, ("forward", "repeated"), ("plain",))
    assert {c.mode for c in report.failures} >= {"repeated"}


def test_right_outputs_of_a_wrong_layer_stay_right():
    report = examined(layers.variance_detached)
    rows = by_row(report.cells)
    assert worst(rows["forward", "z"]).word is Word.RIGHT
    assert worst(rows["gradient", "gamma"]).word is Word.RIGHT


def test_inaccuracy_says_how_it_grows():
    report = examined(layers.one_pass, ("forward",), ("plain", "mean/sd"))
    reasons = {c.reason for c in report.cells if c.word is Word.INACCURATE}
    assert any("(mean/sd)^" in reason for reason in reasons)
    assert not any(c.word is Word.WRONG for c in report.cells)


def test_wrong_needs_two_precisions_or_an_error_that_no_rounding_makes():
    report = judge(
        Subject("a layer", layers.one_pass),
        TORCH,
        wanted=Wanted(dtypes=("float32",), modes=("forward",), kinds=("plain", "mean/sd")),
    )
    assert {c.word for c in report.failures} <= {Word.INACCURATE, Word.NOT_FINITE}


def test_half_precision_is_never_wrong_by_size():
    report = judge(
        Subject("a layer", layers.two_pass),
        TORCH,
        wanted=Wanted(dtypes=("float16",), modes=("forward",), kinds=("plain", "scale")),
    )
    assert Word.WRONG not in {c.word for c in report.cells}


def test_numpy_forward_and_backward_with_a_cache():
    pair = SimpleNamespace(forward=layers.numpy_forward, backward=layers.numpy_backward)
    report = judge(subject(pair, "a pair", NUMPY), NUMPY, wanted=Wanted(kinds=QUICK))
    assert report.verdict == "conforms"
    pair.backward = layers.numpy_wrong_backward
    report = judge(subject(pair, "a pair", NUMPY), NUMPY, wanted=Wanted(kinds=QUICK))
    assert {(c.mode, c.output) for c in report.failures} == {("own gradient", "beta")}
    assert report.diagnosis[0].guess == "1/m times too large"


@pytest.mark.parametrize(
    ("family", "cls"),
    [
        ("layer", torch.nn.LayerNorm),
        ("rms", torch.nn.RMSNorm),
        ("group", torch.nn.GroupNorm),
        ("instance", torch.nn.InstanceNorm2d),
    ],
)
def test_the_family_is_the_same_oracle(family, cls):
    found = subject(cls, cls.__name__, TORCH, family)
    if family == "group":
        found = subject(cls(2, 4), "two groups", TORCH, family)
    report = judge(
        found, TORCH, family, Wanted(modes=("forward", "gradient", "second rr"), kinds=QUICK)
    )
    assert [(c.mode, c.output, c.stratum, c.units) for c in report.failures] == []


def test_running_statistics_and_evaluation_of_a_module():
    found = subject(torch.nn.BatchNorm1d, "BatchNorm1d", TORCH)
    modes = ("running", "recomputed", "evaluation", "evaluation gradient")
    report = judge(found, TORCH, wanted=Wanted(modes=modes, kinds=("plain", "sizes")))
    assert report.verdict == "conforms"
    assert report.conventions["running statistics"].startswith("momentum weighs the batch")
    report = judge(found, TORCH, wanted=Wanted("keras", modes=modes, kinds=("plain",)))
    assert {c.word for c in report.failures} == {Word.OTHER_CONVENTION}


class Twice(torch.nn.BatchNorm1d):
    """Updates its statistics twice."""

    def forward(self, x):
        super().forward(x)
        return super().forward(x)


class Moving(torch.nn.BatchNorm1d):
    """Moves its statistics in evaluation."""

    def forward(self, x):
        with torch.no_grad():
            if self.track_running_stats:
                self.running_mean += 1e-3
        return super().forward(x)


@pytest.mark.parametrize(("cls", "mode"), [(Twice, "running"), (Moving, "evaluation")])
def test_statistics_that_move_when_they_should_not_are_found(cls, mode):
    found = subject(cls, cls.__name__, TORCH)
    report = judge(found, TORCH, wanted=Wanted(modes=("forward", mode), kinds=("plain",)))
    assert mode in {c.mode for c in report.failures}


def test_a_layer_with_an_eps_of_its_own_is_examined_at_that_eps():
    own = subject(lambda x, gamma, beta: layers.two_pass(x, gamma, beta, 1e-5), "own eps", TORCH)
    report = judge(own, TORCH, wanted=Wanted(modes=("forward",), kinds=("plain", "constant")))
    assert report.verdict == "conforms"
    assert report.conventions["eps"] == "1e-05"


def test_the_framework_is_guessed_from_the_imports():
    assert framework_of(layers.two_pass) == "torch"
    assert framework_of(torch.nn.BatchNorm2d) == "torch"
    assert framework_of(lambda x, gamma, beta, eps: x) == "torch"  # this file's imports
    assert framework_of(SimpleNamespace(forward=max)) == "numpy"


def test_every_failure_has_a_word_of_its_own():
    assert len(set(FAILURES)) == len(FAILURES) == len(Word) - 3
