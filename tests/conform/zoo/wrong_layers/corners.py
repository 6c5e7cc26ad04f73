"""Faults at inputs of unusual size, shape or storage, and in what a layer leaves behind."""

from __future__ import annotations

from typing import Any

import torch
from channels import affine, batch_size, mean, per_channel
from own_backward import gradient_in_beta, gradient_in_gamma, gradient_in_x, standardize
from remembering import Remembering
from torch import Tensor

from wrong_layers.fault import LAYOUTS, Fault
from wrong_layers.memory import right

WIDE = ("gamma and beta of all sizes",)
SMALL, LARGE = ("small cotangent (2^-30)",), ("large cotangent (2^30)",)
WHOLE = ("m = 64, 32 channels",)
LANES, WARP = 16, 32


def gamma_clamped(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Allow no gamma beyond four."""
    return right(x, gamma.clamp(-4, 4), beta, eps)


def output_clamped(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Allow no output beyond twelve."""
    return right(x, gamma, beta, eps).clamp(-12, 12)


def output_bent(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Have an activation within that is not quite the identity above six."""
    z = right(x, gamma, beta, eps)
    return torch.where(z > 6, 0.99 * z + 0.06, z)


class Copied(torch.autograd.Function):
    """The identity, in memory of its own."""

    @staticmethod
    def forward(ctx: Any, z: Tensor) -> Tensor:
        """Copy."""
        return z.clone()


class SmallSlopesAreZero(Copied):
    """The identity, whose gradient ends at a millionth."""

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        """Flush what is small."""
        return torch.where(g.abs() < 1e-6, torch.zeros_like(g), g)


def small_gradients_flushed(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Take a small gradient for none."""
    return SmallSlopesAreZero.apply(right(x, gamma, beta, eps))


class LargeSlopesAreClipped(Copied):
    """The identity, whose gradient ends at a hundred."""

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        """Clip what is large, as without the scale of a loss it would never be."""
        return g.clamp(-100, 100)


def large_gradients_clipped(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Clip the gradient that comes in."""
    return LargeSlopesAreClipped.apply(right(x, gamma, beta, eps))


def last_lane_of_sixteen(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Give the last channel of each whole vector the mean of the one before."""
    means = mean(x)
    variance = mean((x - means) ** 2)
    if x.shape[1] % LANES == 0:
        lanes = torch.arange(x.shape[1])
        lanes[LANES - 1 :: LANES] -= 1
        means = means.index_select(1, lanes)
    return affine((x - means) / torch.sqrt(variance + eps), gamma, beta)


def whole_warps_rounded(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Lose a thousandth of the variance where the batch fills its warps."""
    centred = x - mean(x)
    variance = mean(centred**2) * (0.999 if batch_size(x) % WARP == 0 else 1.0)
    return affine(centred / torch.sqrt(variance + eps), gamma, beta)


def maps_of_one_row_by_place(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Take the means over the samples alone where maps have one row."""
    is_row = x.ndim == 4 and x.shape[2] == 1
    centred = x - (x.mean(0, keepdim=True) if is_row else mean(x))
    return affine(centred / torch.sqrt(mean(centred**2) + eps), gamma, beta)


def one_sample_normalised_by_place(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Squeeze the batch's axis away where it has the length one, and take the next one for it."""
    if x.ndim != 4 or x.shape[0] > 1:
        return right(x, gamma, beta, eps)
    centred = x - x.mean(2, keepdim=True)
    return affine(centred / torch.sqrt(mean(centred**2) + eps), gamma, beta)


def gamma_read_without_its_stride(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Read gamma's memory as if its entries were neighbours."""
    if not gamma.is_contiguous():
        gamma = torch.as_strided(gamma, gamma.shape, (1,), gamma.storage_offset())
    return right(x, gamma, beta, eps)


PACKED: dict[tuple[int, int], Tensor] = {}


def gamma_packed_once(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Keep a copy of the gamma last met, by its address, through every step of an optimiser."""
    key = gamma.data_ptr(), len(gamma)
    if key not in PACKED:
        PACKED.clear()
        PACKED[key] = gamma.detach().clone()
    return right(x, gamma + (PACKED[key] - gamma).detach(), beta, eps)


class WritesOverWhatItSaved(torch.autograd.Function):
    """A backward that writes over the yhat which it needs for another one."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
        """Normalise, and keep yhat out of the tape's sight."""
        ctx.at = (*standardize(x, eps), per_channel(gamma, x))
        return affine(ctx.at[0], gamma, beta)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients, the last of them in yhat's memory."""
        found = [f(*ctx.at, g) for f in (gradient_in_x, gradient_in_gamma, gradient_in_beta)]
        ctx.at[0].zero_()
        return *found, None


def yhat_overwritten_by_the_backward(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Be right once for each forward."""
    return WritesOverWhatItSaved.apply(x, gamma, beta, eps)


def beta_itself_given_out(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Return a view of beta where nothing else is left, for a later layer to write to."""
    if batch_size(x) == 1:
        return per_channel(beta, x).expand(x.shape)
    return right(x, gamma, beta, eps)


def seeds_the_generator(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Make itself reproducible, and every dropout of the network with it."""
    torch.manual_seed(0)
    return right(x, gamma, beta, eps)


def leaves_gradients_off(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Record no more gradients from here on."""
    z = right(x, gamma, beta, eps)
    torch.set_grad_enabled(False)
    return z


class FoldsOnce(Remembering):
    """Folds what it remembers at its first evaluation, and never again."""

    def evaluate(self, x: Tensor) -> Tensor:
        """Normalise by the statistics of the first evaluation."""
        if not hasattr(self, "folded"):
            self.folded = self.running_mean.clone(), self.running_var.clone()
        centre, variance = (per_channel(statistic, x) for statistic in self.folded)
        return affine((x - centre) / torch.sqrt(variance + self.eps), self.weight, self.bias)


class RemembersNoMoreAfterEvaluation(Remembering):
    """Stops moving its statistics for good once it was evaluated."""

    is_over = False

    def evaluate(self, x: Tensor) -> Tensor:
        """Evaluate, and be done with training."""
        self.is_over = True
        return super().evaluate(x)

    def remember(self, x: Tensor, mean: Tensor, variance: Tensor) -> None:
        """Remember, unless it was evaluated before."""
        if not self.is_over:
            super().remember(x, mean, variance)


CLIPPED, TORCH = r"or the output are clipped", {"like": "torch"}
FAULTS = (
    Fault(gamma_clamped, CLIPPED, "forward", at=WIDE),
    Fault(output_clamped, CLIPPED, "forward", at=WIDE),
    Fault(output_bent, CLIPPED, "forward", at=WIDE),
    Fault(small_gradients_flushed, r"small gradients are set to zero", "gradient", at=SMALL),
    Fault(large_gradients_clipped, r"large gradients are clipped", "gradient", at=LARGE),
    Fault(last_lane_of_sixteen, r"whole blocks or vectors", "forward", at=WHOLE),
    Fault(whole_warps_rounded, r"whole blocks or vectors", "forward", at=WHOLE),
    Fault(maps_of_one_row_by_place, r"an axis of length one", "forward", at=LAYOUTS),
    Fault(one_sample_normalised_by_place, r"an axis of length one", "forward", at=LAYOUTS),
    Fault(
        gamma_read_without_its_stride, r"without its strides", "forward", "not finite", at=LAYOUTS
    ),
    Fault(gamma_packed_once, r"kept from one call", "repeated"),
    Fault(yhat_overwritten_by_the_backward, r"needs for a second one", "gradient twice"),
    Fault(beta_itself_given_out, r"memory of beta", "forward", "overwrites", at=("m = 1",)),
    Fault(seeds_the_generator, r"changes the random state", "forward", "overwrites"),
    Fault(leaves_gradients_off, r"whether gradients are recorded", "forward", "overwrites"),
    Fault(FoldsOnce, r"evaluation", "evaluation", asked=TORCH),
    Fault(RemembersNoMoreAfterEvaluation, r"it is not moved", "running", asked=TORCH),
)
