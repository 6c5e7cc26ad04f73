"""Right normalisation layers of unusual make: none may be called wrong, whatever the seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import other_signatures as others
import torch
from channels import affine, batch_axes, batch_size, mean, per_channel
from numpy_layers import (
    chained_backward,
    exact_sums_forward,
    plain_forward,
    projections_backward,
    projections_forward,
)
from own_backward import (
    OwnBackward,
    Recomputing,
    gradient_in_beta,
    gradient_in_gamma,
    gradient_in_x,
    layer_with,
    standardize,
    wrong_in_x,
)
from own_forward_mode import BothModes, tangent
from own_forward_mode import layer_with as layer_with_both_modes
from remembering import Remembering
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from verify.conform.modes import MODES


@dataclass(frozen=True)
class Right:
    """A right layer: its name, what conform is pointed at, and options that it needs."""

    name: str
    layer: Any
    asked: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    """Modes that PyTorch itself gets wrong for a layer of this make; see :data:`FUSED`."""

    @property
    def family(self) -> str:
        """The family that it is examined as."""
        return self.asked.get("family", "batch")

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes in which it is right."""
        return tuple(mode.name for mode in MODES if mode.name not in self.without)


Layer = Callable[[Tensor, Tensor, Tensor, float], Tensor]


def from_moments(moments: Callable[[Tensor], tuple[Tensor, Tensor]]) -> Layer:
    """The layer that normalises by these mean and biased variance of rows ``(m, channel)``."""

    def layer(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
        centre, variance = moments(x.movedim(1, -1).reshape(-1, x.shape[1]))
        sigma = torch.sqrt(per_channel(variance, x) + eps)
        return affine((x - per_channel(centre, x)) / sigma, gamma, beta)

    return layer


def welford(rows: Tensor, lanes: int = 64) -> tuple[Tensor, Tensor]:
    """Welford's update, of 64 lanes at once, and Chan's merge of the lanes."""
    if len(rows) < 2 * lanes:
        lanes = 1
    whole = len(rows) // lanes * lanes
    centre, squares = torch.zeros_like(rows[:lanes]), torch.zeros_like(rows[:lanes])
    for count, row in enumerate(rows[:whole].reshape(-1, lanes, rows.shape[1]), start=1):
        step = row - centre
        centre = centre + step / count
        squares = squares + step * (row - centre)
    merged = merge_lanes(whole // lanes, centre, squares)
    return finish(merge(merged, lane_of_rest(rows[whole:])) if whole < len(rows) else merged)


Moments = tuple[int, Tensor, Tensor]


def merge(one: Moments, other: Moments) -> Moments:
    """Chan, Golub and LeVeque: size, mean and sum of squares of two parts together."""
    (m, centre, squares), (n, centre_2, squares_2) = one, other
    apart = centre_2 - centre
    return (
        m + n,
        centre + apart * (n / (m + n)),
        squares + squares_2 + apart**2 * (m * n / (m + n)),
    )


def merge_lanes(count: int, centre: Tensor, squares: Tensor) -> Moments:
    """Merge lanes of equal size by halves."""
    while len(centre) > 1:
        half = len(centre) // 2
        count, centre, squares = merge(
            (count, centre[:half], squares[:half]), (count, centre[half:], squares[half:])
        )
    return count, centre[0], squares[0]


def lane_of_rest(rows: Tensor) -> Moments:
    """What is left over, in two passes."""
    centre = rows.mean(0)
    return len(rows), centre, ((rows - centre) ** 2).sum(0)


def finish(moments: Moments) -> tuple[Tensor, Tensor]:
    """Mean and biased variance."""
    count, centre, squares = moments
    return centre, squares / count


def by_halves(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Chan's merge of the two halves, all the way down to blocks of 64."""

    def moments(part: Tensor) -> Moments:
        if len(part) <= max(64, len(rows) // 64):
            return lane_of_rest(part)
        half = len(part) // 2
        return merge(moments(part[:half]), moments(part[half:]))

    return finish(moments(rows))


def shifted_one_pass(rows: Tensor) -> tuple[Tensor, Tensor]:
    """One pass about a value near the mean: the median of three samples."""
    probes = rows[torch.tensor([0, len(rows) // 2, -1])]
    shift = probes.detach().median(0).values
    apart = rows - shift
    centre = apart.mean(0)
    return shift + centre, ((apart**2).mean(0) - centre**2).clamp_min(0)


def corrected_two_pass(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Two passes, less what the rounded mean is off."""
    centre = rows.mean(0)
    apart = rows - centre
    left = apart.mean(0)
    return centre + left, (apart**2).mean(0) - left**2


def einsum_form(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Sums as contractions."""
    flat = x.flatten(2) if x.ndim > 2 else x.unsqueeze(-1)
    m = batch_size(x)
    ones = torch.ones_like(flat[:, 0])
    c = flat - torch.einsum("ncs,ns->c", flat, ones)[:, None] / m
    sigma = torch.sqrt(torch.einsum("ncs,ncs->c", c, c) / m + eps)
    z = torch.einsum("c,ncs->ncs", gamma / sigma, c) + beta[:, None]
    return z.reshape(x.shape)


def channel_by_channel(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """One channel's layer, mapped over the channels."""

    def one(y: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
        c = y - y.mean()
        return scale * c / torch.sqrt((c * c).mean() + eps) + shift

    return torch.vmap(one, in_dims=(1, 0, 0), out_dims=1)(x, gamma, beta)


def folded_affine(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """One multiplication and one addition an entry, after the centring."""
    c = x - mean(x)
    return torch.addcmul(
        per_channel(beta, x), c, per_channel(gamma, x) * torch.rsqrt(mean(c**2) + eps)
    )


def affine_of_the_input(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """a x + (beta - a mean): loses to a large mean what the mean's own rounding loses."""
    centre = mean(x)
    slope = per_channel(gamma, x) / torch.sqrt(mean((x - centre) ** 2) + eps)
    return slope * x + (per_channel(beta, x) - slope * centre)


def by_vector_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Divide by the length of (c, root of m eps), scaled by a power of two."""
    c = x - mean(x)
    m = batch_size(x)
    largest = c.detach().abs().amax(batch_axes(x), keepdim=True).clamp_min(eps**0.5)
    scale = torch.exp2(torch.floor(torch.log2(largest)))
    scale = torch.where(torch.isfinite(scale), scale, torch.ones_like(scale))
    small = c / scale
    length = torch.sqrt((small**2).sum(batch_axes(x), keepdim=True) + m * (eps**0.5 / scale) ** 2)
    return affine(small * m**0.5 / length, gamma, beta)


def double_precision_inside(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Compute in float64, round once."""
    return affine(standardize(x.double(), eps)[0], gamma.double(), beta.double()).to(x.dtype)


def recomputing(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Save the input only, and compute all of it again in the backward."""
    return checkpoint(
        lambda *a: affine(standardize(a[0], eps)[0], *a[1:]), x, gamma, beta, use_reentrant=False
    )


@wrong_in_x
def gradient_as_a_difference(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Gamma / sigma times the residual of g's regression on 1 and yhat: the right rule."""
    centred = g - mean(g)
    return gamma / sigma * (centred - yhat * mean(yhat * centred))


class RecomputingOnce(Remembering):
    """Recomputes the normalisation in the backward; remembers in the forward only."""

    def train_on(self, x: Tensor) -> Tensor:
        """Remember outside of what is computed again."""
        if self.track_running_stats:
            variance, centre = torch.var_mean(x.detach(), batch_axes(x), correction=0)
            self.remember(x, centre, variance)
        return recomputing(x, self.weight, self.bias, self.eps)


def sorted_sums(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Sums from the least entry to the largest; the gradient goes through the order."""
    centre = torch.sort(rows, dim=0).values.mean(0)
    return centre, torch.sort((rows - centre) ** 2, dim=0).values.mean(0)


def differences_of_pairs(rows: Tensor, most: int = 64) -> tuple[Tensor, Tensor]:
    """Half the mean square of the differences of all pairs, where there are few."""
    if len(rows) > most:
        return in_pieces(rows)
    return rows.mean(0), ((rows[:, None] - rows) ** 2).mean((0, 1)) / 2


def in_pieces(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Two passes in pieces of other lengths."""
    centre = torch.stack([part.sum(0) for part in rows.split(17)]).sum(0) / len(rows)
    squares = [((part - centre) ** 2).sum(0) for part in rows.split(1300)]
    return centre, torch.stack(squares).sum(0) / len(rows)


def scaled_by_the_largest(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """No square leaves the range: the batch is divided by its largest deviation first."""
    centred = x - mean(x)
    largest = centred.detach().abs().amax(batch_axes(x), keepdim=True).clamp(min=eps**0.5)
    part = centred / largest
    return affine(part / torch.sqrt(mean(part**2) + eps / largest / largest), gamma, beta)


def fused(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """PyTorch's own, whose gradient on a CPU reads gamma's memory without its stride."""
    dense = gamma.contiguous()
    return torch.nn.functional.batch_norm(x, None, None, dense, beta, True, 0.0, eps)


def layer_as_transposed_batch(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Layer normalisation: batch normalisation of the transposed rows."""
    rows = x.reshape(-1, x.shape[-1]).T
    ones = torch.ones(rows.shape[1], dtype=x.dtype)
    yhat = layer_with_both_modes()(rows, ones, torch.zeros_like(ones), eps)
    return gamma * yhat.T.reshape(x.shape) + beta


def rms_by_length(x: Tensor, gamma: Tensor, beta: Tensor | None, eps: float) -> Tensor:
    """RMS normalisation: root of D times the row over its length."""
    squares = torch.einsum("...d,...d->...", x, x)[..., None]
    z = gamma * (x * torch.rsqrt(squares / x.shape[-1] + eps))
    return z if beta is None else z + beta


def one_after_the_other(rows: np.ndarray) -> np.ndarray:
    """Sum over axis 0 with one accumulator, which NumPy's own sum does not do."""
    return np.add.accumulate(rows, axis=0)[-1]


class AddedOneByOne(torch.autograd.Function):
    """The sum of each channel, added one by one in the type of the summands."""

    generate_vmap_rule = False

    @staticmethod
    def forward(ctx: object, x: Tensor) -> Tensor:
        """Accumulate."""
        ctx.shape = x.shape
        wide = torch.promote_types(x.dtype, torch.float32)
        rows = x.detach().movedim(1, -1).reshape(-1, x.shape[1]).to(wide).numpy()
        return per_channel(torch.from_numpy(one_after_the_other(rows)), x).to(x.dtype)

    @staticmethod
    def backward(ctx: object, g: Tensor) -> Tensor:
        """Give every summand the sum's cotangent."""
        return g.expand(ctx.shape)


def added_one_by_one(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Add up with a single accumulator, as Welford's recurrence does: its error grows with m."""
    m = batch_size(x)
    c = x - AddedOneByOne.apply(x) / m
    return affine(c / torch.sqrt(AddedOneByOne.apply(c**2) / m + eps), gamma, beta)


FOLDED = ("evaluation", "evaluation without gradient")
"""PyTorch 2.13 evaluates by γx/σ + (β - γμ/σ) on a CPU, which loses digits near a large mean."""
FUSED = ("second rf", "second ff", "third")
"""PyTorch 2.13 keeps the fused layer's statistics constant in these."""


def by_centring_matrix(rows: Tensor) -> tuple[Tensor, Tensor]:
    """The mean as a product with a row of ones, and the variance as a product of a matrix."""
    ones = rows.new_full((1, len(rows)), 1 / len(rows))
    start = rows[:1].detach()
    centre = ones @ (rows - start) + start
    return centre[0], ones[0] @ (rows - centre) ** 2


def compensated(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Means whose rounding is added up as well, and taken away at the end."""
    centre = rows.mean(0)
    centre = centre + (rows - centre).mean(0)
    left = rows - centre
    return centre, (left**2).mean(0) - left.mean(0) ** 2


def unbiased_scaled_back(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """The library's unbiased variance, times (m - 1)/m, where there is one."""
    m = batch_size(x)
    if m == 1:
        return affine(x - x, gamma, beta)
    variance, centre = torch.var_mean(x, batch_axes(x), keepdim=True, correction=1)
    return affine((x - centre) / torch.sqrt(variance * ((m - 1) / m) + eps), gamma, beta)


def in_logarithms(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Sigma as the exponential of half a logarithm, made right by a Newton step."""
    c = x - mean(x)
    guarded = mean(c**2) + eps
    start = torch.exp(-0.5 * torch.log(guarded))
    inverse = start * (1.5 - 0.5 * guarded * start * start)
    return affine(c * inverse, gamma, beta)


def in_place_on_its_own_copy(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Every step in place, on a copy."""
    z = x.clone()
    z.sub_(mean(x))
    sigma = torch.sqrt(mean(z.clone().square_()) + eps)
    z = z.div_(sigma)
    return z.clone().mul_(per_channel(gamma, x)).add_(per_channel(beta, x))


class OnceDifferentiable(Recomputing):
    """The layer whose backward says that it has no derivative."""

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Apply the right rules to what is no part of a graph."""
        x, gamma = ctx.saved_tensors
        at = (*standardize(x, ctx.eps), per_channel(gamma, x), g)
        return gradient_in_x(*at), gradient_in_gamma(*at), gradient_in_beta(*at), None


class OnceBothModes(BothModes):
    """The same with a jvp, which may be differentiated."""

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Apply the right rules to what is no part of a graph."""
        return OwnBackward.backward(ctx, g)


def once_differentiable(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Refuse a second derivative."""
    return OnceDifferentiable.apply(x, gamma, beta, eps)


def once_differentiable_part(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Refuse that of x through yhat, and scale outside."""
    ones = torch.ones_like(gamma)
    return affine(OnceDifferentiable.apply(x, ones, 0 * ones, eps), gamma, beta)


def once_differentiable_with_jvp(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Refuse that of the gradient, and not of the tangent."""
    rules = gradient_in_x, gradient_in_gamma, gradient_in_beta, tangent
    return OnceBothModes.apply(x, gamma, beta, eps, rules)


class ScaleOfMaps(torch.nn.Module):
    """A layer of maps whose parameters are maps of one place."""

    def __init__(self, channels: int, eps: float = 1e-5):
        super().__init__()
        self.eps = eps
        self.weight = torch.nn.Parameter(torch.ones(1, channels, 1, 1))
        self.bias = torch.nn.Parameter(torch.zeros(1, channels, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise, and broadcast."""
        if x.ndim != len("NCHW"):
            raise ValueError("expected x of four axes")
        return self.weight * standardize(x, self.eps)[0] + self.bias


def eps_in_float32(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Hold eps as a float32, as the interfaces of some frameworks do."""
    return folded_affine(x, gamma, beta, float(np.float32(eps)))


RMS = {"family": "rms"}
RIGHT = (
    Right("Welford in lanes", from_moments(welford)),
    Right("Chan's merge by halves", from_moments(by_halves)),
    Right("one pass about a sample", from_moments(shifted_one_pass)),
    Right("corrected two passes", from_moments(corrected_two_pass)),
    Right("contractions", einsum_form),
    Right("one channel, mapped", channel_by_channel),
    Right("folded affine", folded_affine),
    Right("folded affine of the input", affine_of_the_input),
    Right("length of a vector, scaled", by_vector_norm),
    Right("one accumulator", added_one_by_one, without=("vmap", "vmap gradient")),
    Right("float64 inside", double_precision_inside),
    Right("recomputing", recomputing),
    Right("own backward, differentiable", layer_with()),
    Right("own backward by regression", gradient_as_a_difference),
    Right("own jvp and own backward", layer_with_both_modes()),
    Right("sorted_sums", from_moments(sorted_sums)),
    Right("differences_of_pairs", from_moments(differences_of_pairs)),
    Right("in_pieces", from_moments(in_pieces)),
    Right("scaled_by_the_largest", scaled_by_the_largest),
    Right("product with ones", from_moments(by_centring_matrix)),
    Right("compensated sums", from_moments(compensated)),
    Right("unbiased and scaled back", unbiased_scaled_back),
    Right("logarithms and a Newton step", in_logarithms),
    Right("in place on its own copy", in_place_on_its_own_copy),
    Right("fused", fused, without=FUSED),
    Right(
        "numpy, projections",
        SimpleNamespace(forward=projections_forward, backward=projections_backward),
    ),
    Right("numpy, node by node", SimpleNamespace(forward=plain_forward, backward=chained_backward)),
    Right(
        "numpy, exact sums", SimpleNamespace(forward=exact_sums_forward, backward=chained_backward)
    ),
    Right("class with running statistics", Remembering, {"like": "torch"}),
    Right("class with parameters of four axes", ScaleOfMaps),
    Right("class that recomputes", RecomputingOnce, {"like": "torch"}),
    Right(
        "torch.nn.BatchNorm2d", torch.nn.BatchNorm2d, {"like": "torch"}, without=(*FUSED, *FOLDED)
    ),
    Right("layer by transposition", layer_as_transposed_batch, {"family": "layer"}),
    Right("RMS by length", rms_by_length, RMS),
    Right("RMS without beta", others.rms, RMS),
    Right("RMS without beta and eps", others.rms_of_its_own_eps, RMS),
    Right("numpy, RMS without beta", others.numpy_rms, RMS),
    Right("eps before the parameters", others.eps_second),
    Right("arguments the other way round", others.beta_first),
    Right("numpy, an eps of its own", others.numpy_own_eps),
    Right("gamma and beta that may be left out", others.parameters_optional),
    Right("eps in float32", eps_in_float32, {"eps_is_single": True}),
)
