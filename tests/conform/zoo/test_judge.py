"""What the judge says of a layer beside its verdict, and of what is no planted fault of the zoo."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from examining import examined, said, up_to
from numpy_layers import projections_backward, projections_forward
from other_signatures import parameters_optional
from right_layers import added_one_by_one
from torch.nn.functional import batch_norm
from wrong_layers.fault import LAYOUTS
from wrong_layers.first_derivatives import variance_detached
from wrong_layers.forward import one_pass_variance_not_clamped as one_pass
from wrong_layers.memory import right
from wrong_layers.strangers import kernel_where_a_derivative_is_recorded

from verify.conform import adapters
from verify.conform.cases import NO_GAMMA, SIZES, Stratum, draw
from verify.conform.examine import Here
from verify.conform.judge import judged
from verify.conform.oracle import Oracle
from verify.conform.report import by_row, worst
from verify.conform.run import Wanted, judge
from verify.conform.subject import framework_of, subject
from verify.conform.words import FAILURES, Word

LARGE_MEAN = ("mean/sd = 2^8", "mean/sd = 2^18", "mean/sd = 2^27")
QUICK = ("plain", "eps beside variance", "constant", *LARGE_MEAN)
SERIES = ("plain", "mean/sd = 2^4", "mean/sd = 2^8", "mean/sd = 2^12")
TORCH = adapters.find("torch")


def first_half(x, gamma, beta, eps):
    part = x[: max(len(x) // 2, 1)]
    sigma = torch.sqrt(part.var(0, unbiased=False) + eps)
    return gamma * (x - part.mean(0)) / sigma + beta


_seen: dict[int, torch.Tensor] = {}


def remembering(x, gamma, beta, eps):
    """Keeps the mean of a tensor by its identity."""
    mean = _seen.setdefault(x.data_ptr(), x.mean(0).detach().clone())
    if mean.shape != x.shape[1:] or mean.dtype != x.dtype:
        mean = _seen[x.data_ptr()] = x.mean(0).detach().clone()
    c = x - x.mean(0)
    return gamma * (x - mean) / torch.sqrt((c * c).mean(0) + eps) + beta


def fused(x, gamma, beta, eps):
    return batch_norm(x, None, None, gamma, beta, True, 0.0, eps)


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


class Replacing(torch.nn.BatchNorm1d):
    """Puts other statistics in place of its own after an evaluation."""

    def forward(self, x):
        z = super().forward(x)
        if self.track_running_stats and not self.training:
            self.running_var = self.running_var + 1e-3
        return z


@pytest.mark.parametrize(
    ("layer", "mode", "output", "word", "guess"),
    [
        (first_half, "forward", "z", "wrong", "statistics of the first half"),
        (fused, "third", "x", "wrong", ""),
        (remembering, "repeated", "z", "wrong", ""),
        (Twice, "running", "mean", "wrong", ""),
        (Moving, "evaluation", "inputs", "overwrites", ""),
        (Replacing, "evaluation", "inputs", "overwrites", ""),
    ],
)
def test_wrong_layers_are_found_and_named(layer, mode, output, word, guess):
    report = examined(layer, layer.__name__, {}, up_to(mode), QUICK)
    assert report.verdict == "does not conform"
    assert (mode, output, word) in {(c.mode, c.output, str(c.word)) for c in report.failures}
    guesses = {f.guess for f in report.diagnosis if (f.mode, f.output) == (mode, output)}
    assert guess in {*guesses, ""}


def doubles_its_input(x, gamma, beta, eps):
    with torch.no_grad():
        x.mul_(2)
    return right(x, gamma, beta, eps)


def test_what_an_overwritten_input_makes_of_an_output_is_not_looked_into():
    report = examined(doubles_its_input, "", {}, ("forward",), ("plain",))
    assert {(c.output, str(c.word)) for c in report.failures} == {
        ("inputs", "overwrites"),
        ("z", "wrong"),
    }
    assert not report.diagnosis


def test_what_goes_through_a_wrong_recorded_gradient_is_not_looked_into():
    """Nothing is guessed of memory, of vmap or of what the inputs need."""
    report = examined(kernel_where_a_derivative_is_recorded, "", {}, (), ("plain", "m = 3"))
    first = "another backward where a further derivative is recorded (create_graph=True)"
    assert {found.guess for found in report.diagnosis} == {first}, said(report)
    assert "gradient" not in {cell.mode for cell in report.failures}


def test_a_mode_that_was_not_looked_into_is_not_said_to_be_right():
    report = examined(
        kernel_where_a_derivative_is_recorded, "", {}, ("recorded gradient",), ("plain",)
    )
    assert [found.output for found in report.diagnosis] == ["x"]
    assert "held constant" in report.diagnosis[0].guess
    assert "right" not in report.diagnosis[0].sentence


def test_right_outputs_of_a_wrong_layer_stay_right():
    rows = by_row(examined(variance_detached, "", {}, ("forward", "gradient"), QUICK).cells)
    assert worst(rows["forward", "z"]).word is Word.RIGHT
    assert worst(rows["gradient", "gamma"]).word is Word.RIGHT


def test_inaccuracy_says_how_it_grows():
    report = examined(one_pass, "one pass", {}, ("forward",), SERIES)
    reasons = {c.reason for c in report.cells if c.word is Word.INACCURATE}
    assert any("(mean/sd)^" in reason for reason in reasons)
    assert not any(c.word is Word.WRONG for c in report.cells)


def test_wrong_needs_two_precisions_or_an_error_that_no_rounding_makes():
    report = examined(one_pass, "one pass", {"dtypes": ("float32",)}, ("forward",), SERIES)
    assert {c.word for c in report.failures} <= {Word.INACCURATE, Word.NOT_FINITE}


def test_one_accumulator_is_right_at_the_largest_size_that_is_examined():
    case = draw(Stratum("longest", SIZES, 2**16, 1), "float32", "batch", "NC")
    found = Here(subject(added_one_by_one, "one by one", TORCH), TORCH)
    (outcome,) = found.outcomes(case, ["forward"])
    oracle = Oracle(case.inputs, case.eps, case.dtype, case.place)
    (z,) = (c for c in judged(case, oracle, outcome, "") if c.output == "z")
    assert z.word is Word.RIGHT


def test_half_precision_is_never_wrong_by_size():
    at = ("plain", "outlier", "variance beyond the range", "subnormal")
    report = examined(right, "right", {"dtypes": ("float16",)}, ("forward",), at)
    assert Word.WRONG not in {c.word for c in report.cells}


def test_a_wrong_backward_with_a_cache_fails_alone():
    def backward(g, cache):
        dx, dgamma, dbeta = projections_backward(g, cache)
        return dx, dgamma, dbeta / len(g)

    pair = SimpleNamespace(forward=projections_forward, backward=backward)
    report = examined(pair, "a pair", {}, (), QUICK)
    outputs = "beta", "beta, in flight", "first beta"
    assert {(c.mode, c.output) for c in report.failures} == {("own gradient", o) for o in outputs}
    assert report.diagnosis[0].guess == "averaged instead of summed"


@pytest.mark.parametrize(
    ("family", "layer"),
    [
        ("layer", torch.nn.LayerNorm),
        ("rms", torch.nn.RMSNorm),
        ("group", torch.nn.GroupNorm(2, 4)),
        ("instance", torch.nn.InstanceNorm2d),
    ],
)
def test_the_family_is_the_same_oracle(family, layer):
    asked = {"family": family, "groups": 2 if family == "group" else 1}
    modes = "forward", "gradient", "second rr"
    report = examined(layer, family, asked, modes, (*QUICK, *LAYOUTS))
    assert report.verdict == "conforms", said(report)


def test_running_statistics_and_evaluation_of_a_module():
    modes = (
        *("running", "recomputed"),
        *("evaluation", "evaluation gradient", "evaluation second", "untracked evaluation"),
    )
    at = ("plain", "m = 1", "m = 2", "m = 3", "m = 1000")
    report = examined(torch.nn.BatchNorm1d, "BatchNorm1d", {}, modes, at)
    assert report.verdict == "conforms"
    assert report.conventions["running statistics"].startswith("momentum weighs the batch")
    found = subject(torch.nn.BatchNorm1d, "BatchNorm1d", TORCH)
    report = judge(found, TORCH, wanted=Wanted("keras", modes=modes, strata=("plain",)))
    assert {c.word for c in report.failures} == {Word.OTHER_CONVENTION}


def unmoved(x, gamma, beta, mean, variance, momentum, eps):
    return right(x, gamma, beta, eps), mean.clone(), variance.clone()


def test_statistics_that_keep_no_convention_are_held_against_the_one_declared():
    still = SimpleNamespace(forward=right, train=unmoved)
    report = examined(still, "still", {"like": "keras"}, ("running",), ("plain",))
    assert report.conventions["running statistics"] == (
        "momentum weighs the old value, variance of m (declared as keras's)"
    )
    guesses = {f.guess for f in report.diagnosis if f.output in ("mean", "variance")}
    assert guesses == {"it is not moved"}


class Drawn(torch.nn.BatchNorm1d):
    """Draws its parameters, as many layers do."""

    def reset_parameters(self):
        super().reset_parameters()
        if self.affine:
            torch.nn.init.normal_(self.weight)


def test_a_module_whose_parameters_are_drawn_conforms():
    report = examined(Drawn, "drawn", {}, ("forward", "evaluation"), ("plain",))
    assert report.verdict == "conforms", said(report)


def test_a_layer_with_an_eps_of_its_own_is_examined_at_that_eps():
    def own(x, gamma, beta):
        return right(x, gamma, beta, 1e-5)

    report = examined(own, "own eps", {}, ("forward",), ("plain", "constant", "m = 2^16"))
    assert report.verdict == "conforms"
    assert report.conventions["eps"] == "1e-05"
    report = examined(
        torch.nn.BatchNorm1d(4, eps=1e-3), "of class", {}, ("forward",), ("constant",)
    )
    assert (report.verdict, report.conventions["eps"]) == ("conforms", "0.001")


def test_only_a_layer_whose_gamma_may_be_none_is_examined_with_beta_alone():
    modes, at = ("forward", "gradient"), ("plain", NO_GAMMA)
    needed = examined(right, "gamma needed", {}, modes, at)
    assert {cell.stratum for cell in needed.cells} == {"plain"}
    left_out = examined(parameters_optional, "gamma optional", {}, modes, at)
    found = [cell for cell in left_out.cells if cell.stratum == NO_GAMMA and cell.units is not None]
    assert {cell.word for cell in found} == {Word.RIGHT}
    assert {(cell.mode, cell.output) for cell in found} == {
        *(("forward", "z"), ("gradient", "x"), ("gradient", "beta")),
    }


class OneScaleForAll(torch.nn.Module):
    def __init__(self, channels, eps=1e-5):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        return self.weight * x


def test_a_module_with_parameters_of_another_number_gets_a_sentence():
    report = examined(OneScaleForAll, "one scale", {}, ("forward",), ("plain",))
    assert report.verdict == "could not run"
    said = "the parameter weight of shape (1,); expected one number for each of 4 channels"
    assert said in report.reason


def single_only(x, gamma, beta, eps):
    if x.dtype != torch.float32:
        raise TypeError("expected float32")
    return right(x, gamma, beta, eps)


def test_a_layer_of_one_dtype_is_told_which_to_ask_for():
    report = examined(single_only, "single", {}, ("forward",), ("plain",))
    assert report.verdict == "could not run"
    assert report.reason == "TypeError: expected float32; it takes float32: give --dtype float32"
    only = examined(single_only, "single", {"dtypes": ("float32",)}, ("forward",), ("plain",))
    assert only.verdict == "conforms"


def test_the_framework_is_guessed_from_the_imports():
    assert framework_of(right) == "torch"
    assert framework_of(torch.nn.BatchNorm2d) == "torch"
    assert framework_of(lambda x, gamma, beta, eps: x) == "torch"  # this file's imports
    assert framework_of(SimpleNamespace(forward=right)) == "torch"
    assert framework_of(SimpleNamespace(forward=max)) == "numpy"


def test_every_failure_has_a_word_of_its_own():
    assert len(set(FAILURES)) == len(FAILURES) == len(Word) - 3
