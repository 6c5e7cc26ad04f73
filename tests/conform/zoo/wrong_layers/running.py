"""Faults in the running statistics: how they move, when, and what evaluation makes of them."""

from __future__ import annotations

import math

import torch
from channels import affine, batch_axes, batch_size, per_channel
from own_backward import layer_with
from remembering import Remembering
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from wrong_layers.fault import LAYOUTS, Fault


class BiasedRunningVariance(Remembering):
    """Remembers the biased variance, where torch's convention is the unbiased one."""

    def remember(self, x: Tensor, mean: Tensor, variance: Tensor) -> None:
        """Forget m / (m - 1)."""
        self.running_mean.lerp_(mean, self.momentum)
        self.running_var.lerp_(variance, self.momentum)


class BiasedWhereMany(Remembering):
    """Remembers the biased variance of more than 64 entries, where it makes little difference."""

    def remember(self, x: Tensor, mean: Tensor, variance: Tensor) -> None:
        """Correct where it is small."""
        m = batch_size(x)
        correction = m / max(m - 1, 1) if m <= 64 else 1.0
        self.running_mean.lerp_(mean, self.momentum)
        self.running_var.lerp_(variance * correction, self.momentum)


class CorrectionCountsSamples(Remembering):
    """Corrects the variance by N / (N - 1), N the samples, whatever height and width are."""

    def remember(self, x: Tensor, mean: Tensor, variance: Tensor) -> None:
        """Count the samples only."""
        self.running_mean.lerp_(mean, self.momentum)
        self.running_var.lerp_(variance * len(x) / max(len(x) - 1, 1), self.momentum)


class FirstStepBiased(Remembering):
    """Remembers the biased variance at its first step, the unbiased one later."""

    def remember(self, x: Tensor, mean: Tensor, variance: Tensor) -> None:
        """Begin without the correction."""
        m = batch_size(x)
        correction = m / max(m - 1, 1) if self.num_batches_tracked else 1.0
        self.num_batches_tracked += 1
        self.running_mean.lerp_(mean, self.momentum)
        self.running_var.lerp_(variance * correction, self.momentum)


class MomentumReversed(Remembering):
    """Keeps the share that momentum should replace."""

    def remember(self, x: Tensor, mean: Tensor, variance: Tensor) -> None:
        """Weigh the old by momentum."""
        m = batch_size(x)
        self.running_mean.lerp_(mean, 1 - self.momentum)
        self.running_var.lerp_(variance * m / max(m - 1, 1), 1 - self.momentum)


class VarianceMovesTwiceAsFast(Remembering):
    """Moves the variance by twice the momentum."""

    def remember(self, x: Tensor, mean: Tensor, variance: Tensor) -> None:
        """Apply the momentum to the variance twice."""
        m = batch_size(x)
        self.running_mean.lerp_(mean, self.momentum)
        for _ in range(2):
            self.running_var.lerp_(variance * m / max(m - 1, 1), self.momentum)


class RemembersTheDeviation(Remembering):
    """Averages the standard deviation, and squares it in evaluation."""

    def remember(self, x: Tensor, mean: Tensor, variance: Tensor) -> None:
        """Average the root."""
        m = batch_size(x)
        deviation = torch.sqrt(variance * m / max(m - 1, 1))
        self.running_mean.lerp_(mean, self.momentum)
        self.running_var.copy_(self.running_var.sqrt().lerp_(deviation, self.momentum) ** 2)


class RemembersTheNormalised(Remembering):
    """Remembers the statistics of its output in place of its input's."""

    def train_on(self, x: Tensor) -> Tensor:
        """Remember what comes out."""
        z = layer_with()(x, self.weight, self.bias, self.eps)
        if self.track_running_stats:
            with torch.no_grad():
                variance, mean = torch.var_mean(z, batch_axes(z), correction=0)
                self.remember(z, mean, variance)
        return z


class VarianceAboutTheRunningMean(Remembering):
    """Takes the remembered variance about the mean that was just remembered."""

    def remember(self, x: Tensor, mean: Tensor, variance: Tensor) -> None:
        """Add the square of how far the running mean is."""
        m = batch_size(x)
        self.running_mean.lerp_(mean, self.momentum)
        about = variance + (mean - self.running_mean) ** 2
        self.running_var.lerp_(about * m / max(m - 1, 1), self.momentum)


class GuardedRunningVariance(Remembering):
    """Remembers the variance with eps in it, and adds eps again in evaluation."""

    def remember(self, x: Tensor, mean: Tensor, variance: Tensor) -> None:
        """Remember sigma squared."""
        super().remember(x, mean, variance + self.eps)


class MovesInEvaluation(Remembering):
    """Goes on moving its statistics in evaluation."""

    def evaluate(self, x: Tensor) -> Tensor:
        """Remember the batch, then normalise by what was remembered before."""
        z = super().evaluate(x)
        variance, mean = torch.var_mean(x.detach(), batch_axes(x), correction=0)
        self.running_mean.copy_(self.running_mean.lerp(mean, self.momentum))
        self.running_var.copy_(self.running_var.lerp(variance, self.momentum))
        return z


class MovesTwiceUnderRecomputation(Remembering):
    """Recomputes its forward in the backward, and remembers the batch again."""

    def train_on(self, x: Tensor) -> Tensor:
        """Checkpoint all of the step."""
        return checkpoint(super().train_on, x, use_reentrant=False)


class RemembersWithGradient(Remembering):
    """Keeps the graph of every batch that it remembers."""

    def train_on(self, x: Tensor) -> Tensor:
        """Remember without detaching."""
        variance, mean = torch.var_mean(x, batch_axes(x), correction=0)
        m = batch_size(x)
        if self.track_running_stats:
            self.running_mean = self.running_mean.lerp(mean, self.momentum)
            self.running_var = self.running_var.lerp(variance * m / max(m - 1, 1), self.momentum)
        yhat = (x - per_channel(mean, x)) / torch.sqrt(per_channel(variance, x) + self.eps)
        return affine(yhat, self.weight, self.bias)


class EvaluatesWithoutEps(Remembering):
    """Divides by the root of the running variance alone."""

    def evaluate(self, x: Tensor) -> Tensor:
        """Forget eps."""
        sigma = torch.sqrt(per_channel(self.running_var, x))
        return affine((x - per_channel(self.running_mean, x)) / sigma, self.weight, self.bias)


class EvaluatesByTheBatch(Remembering):
    """Normalises by the batch in evaluation too."""

    def evaluate(self, x: Tensor) -> Tensor:
        """Do as in training, and remember nothing."""
        return layer_with()(x, self.weight, self.bias, self.eps)


class EvaluationGradientOfTraining(Remembering):
    """Evaluates rightly, with the gradient of the training step."""

    def evaluate(self, x: Tensor) -> Tensor:
        """Return evaluation's value on training's graph."""
        value = super().evaluate(x.detach())
        trained = layer_with()(x, self.weight, self.bias, self.eps)
        return trained + (value - trained).detach()


class UntrackedAsMade(Remembering):
    """Takes the mean for zero and the variance for one where it keeps neither."""

    def evaluate(self, x: Tensor) -> Tensor:
        """Do as a layer that has seen nothing yet."""
        if self.running_var is None:
            return affine(x / math.sqrt(1 + self.eps), self.weight, self.bias)
        return super().evaluate(x)


class UntrackedGradientOfEvaluation(Remembering):
    """Leaves the batch's statistics out of the gradient where it keeps none of its own."""

    def evaluate(self, x: Tensor) -> Tensor:
        """Evaluate by the batch's statistics as if they were remembered."""
        if self.running_var is None:
            variance, mean = torch.var_mean(x.detach(), batch_axes(x), correction=0)
            sigma = torch.sqrt(per_channel(variance, x) + self.eps)
            return affine((x - per_channel(mean, x)) / sigma, self.weight, self.bias)
        return super().evaluate(x)


class TrainsByWhatItRemembers(Remembering):
    """Normalises the batch by the statistics as they are after the step."""

    def train_on(self, x: Tensor) -> Tensor:
        """Remember first, then evaluate."""
        if not self.track_running_stats:
            return super().train_on(x)
        variance, mean = torch.var_mean(x.detach(), batch_axes(x), correction=0)
        self.remember(x, mean, variance)
        return self.evaluate(x)


class StandsStillWhereNothingIsRecorded(Remembering):
    """Remembers nothing where no gradient is recorded, lest a recomputed pass remembers twice."""

    def train_on(self, x: Tensor) -> Tensor:
        """Ask whether gradients are recorded."""
        if torch.is_grad_enabled():
            return super().train_on(x)
        return layer_with()(x, self.weight, self.bias, self.eps)


class FoldedForEver(Remembering):
    """Folds scale and shift at its first evaluation, and again only after a step of training."""

    folded: tuple[Tensor, Tensor] | None = None

    def train(self, mode: bool = True) -> FoldedForEver:
        """Forget what was folded, which loading a state does not."""
        self.folded = None if mode else self.folded
        return super().train(mode)

    def evaluate(self, x: Tensor) -> Tensor:
        """Evaluate by what was folded, where nothing is recorded."""
        if self.running_var is None or torch.is_grad_enabled():
            return super().evaluate(x)
        if self.folded is None:
            scale = self.weight / torch.sqrt(self.running_var + self.eps)
            self.folded = scale, self.bias - self.running_mean * scale
        return affine(x, *self.folded)


class FoldsInEvaluation(Remembering):
    """Evaluates by one scale and one shift, which cancel where the mean is large."""

    def evaluate(self, x: Tensor) -> Tensor:
        """Multiply and add."""
        if self.running_var is None:
            return self.train_on(x)
        scale = self.weight / torch.sqrt(self.running_var + self.eps)
        return affine(x, scale, self.bias - self.running_mean * scale)


TORCH, UNTRACKED = {"like": "torch"}, "untracked evaluation"
FAULTS = (
    Fault(
        BiasedRunningVariance,
        "variance of m; torch: .* variance of m - 1",
        "running",
        "other convention",
        TORCH,
        thread="https://github.com/tenstorrent/tt-metal/issues/55438",
    ),
    Fault(
        FoldsInEvaluation,
        r"grows like \(mean/sd\).*, as γx/σ",
        "evaluation",
        "inaccurate",
        TORCH,
        at=("mean/sd = 2^4", "mean/sd = 2^8", "mean/sd = 2^12", "mean/sd = 2^18"),
    ),
    Fault(BiasedWhereMany, r"m for m - 1", "running", asked=TORCH, at=("m = 1025", "m = 4097")),
    Fault(CorrectionCountsSamples, r"variance", "running", asked=TORCH, at=LAYOUTS),
    Fault(FirstStepBiased, r"variance of m;", "running", "other convention", TORCH),
    Fault(MomentumReversed, r"momentum weighs the old", "running", "other convention", TORCH),
    Fault(VarianceMovesTwiceAsFast, r"v_r has the factor", "running", asked=TORCH),
    Fault(RemembersTheDeviation, r"variance", "running", asked=TORCH),
    Fault(RemembersTheNormalised, r"running, mean", "running", asked=TORCH),
    Fault(VarianceAboutTheRunningMean, r"variance", "running", asked=TORCH),
    Fault(
        GuardedRunningVariance,
        "eps is in it",
        "running",
        asked=TORCH,
        thread="https://github.com/chainer/chainer/pull/4505",
    ),
    Fault(MovesInEvaluation, r"changes mean, variance", "evaluation", "overwrites", TORCH),
    Fault(
        MovesTwiceUnderRecomputation,
        "it is moved twice",
        "recomputed",
        asked=TORCH,
        thread="https://github.com/pytorch/pytorch/issues/96136",
    ),
    Fault(RemembersWithGradient, r"carry the graph", "recomputed", asked=TORCH),
    Fault(
        EvaluatesWithoutEps,
        "eps is missing",
        "evaluation",
        asked=TORCH,
        thread="https://github.com/chainer/chainer/issues/855",
    ),
    Fault(EvaluatesByTheBatch, "as in training", "evaluation", asked=TORCH),
    Fault(
        EvaluationGradientOfTraining,
        "the gradient of training",
        "evaluation gradient",
        asked=TORCH,
        thread="https://github.com/FluxML/NNlib.jl/pull/757",
    ),
    Fault(UntrackedAsMade, "no running statistics are kept", UNTRACKED, asked=TORCH),
    Fault(UntrackedGradientOfEvaluation, f"{UNTRACKED}, x", UNTRACKED, asked=TORCH),
    Fault(
        StandsStillWhereNothingIsRecorded,
        "another step of training where no gradient is recorded",
        "running without gradient",
        asked=TORCH,
        thread="https://github.com/facebookresearch/fairscale/issues/1035",
    ),
    Fault(FoldedForEver, "another path", "evaluation without gradient", asked=TORCH),
    Fault(TrainsByWhatItRemembers, r"running, z", "running", asked=TORCH),
)
