r"""Which layers normalise, what each takes together, and its affine part.

All of them divide by :math:`\sigma = \sqrt{v + \epsilon}` over sets of m entries, the *units* here:
a channel of Batch Normalization over the batch; the features of one position (layer, RMS), a
channel of one example (instance), a group of channels of one example (group).  Batch Normalization
has one :math:`\gamma` for each unit.  The others multiply entry by entry after the division; there
a statement on a unit is about the output before that, with :math:`\gamma = 1`.

A layer of another class says what it is by an attribute, ``normalizes = "rms"`` or ``"layer"``:
it divides the entries of the last axis, and multiplies them by its ``weight``, or one more than
that, and adds its ``bias`` if it has one.  It is examined as the layer of ``torch.nn`` that does
the same, once its own output has said that it does.

A subclass with a ``forward`` of its own is examined as the class of ``torch.nn`` that it comes
from, and its output is compared as well, up to
:func:`verify.tolerance.measured.error_of_output`.  An output that is its class's along another
axis, as of layer normalisation over the channels of maps, says which axis its units lie on.

Index convention: rearranged, a batch is ``(before, unit, after)``: a unit's entries are on the
first and the last axis, of which one may have the length one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.instancenorm import _InstanceNorm

from verify.audit.errors import AuditError
from verify.audit.subclasses import replaced
from verify.tolerance import measured

AXES = (0, 2)
"""Of the entries of a unit, in a batch that is rearranged."""
KINDS = (_BatchNorm, _InstanceNorm, nn.LayerNorm, nn.GroupNorm, nn.RMSNorm)
DECLARED = {"rms": nn.RMSNorm, "layer": nn.LayerNorm}
"""What a class may say of itself."""
EPS = ("eps", "epsilon", "variance_epsilon")
"""The attributes that hold it, in classes of others."""
ALIKE = 2.0**-15
"""Outputs that are the same, over the largest: such layers compute in float32 whatever they are
given."""
EQUAL = 2.0**-40
"""Outputs that differ by less are both computed in float64."""


def is_normalization(module: nn.Module) -> bool:
    """Whether a module is a normalisation layer that can be examined.

    >>> is_normalization(nn.InstanceNorm2d(3)), is_normalization(nn.ReLU())
    (True, False)
    """
    return isinstance(module, KINDS) or hasattr(module, "normalizes")


def kept_in_evaluation(model: nn.Module) -> list[str]:
    """Return the names of layers that are in evaluation amid others in training."""
    frozen = [name for name, module in model.named_modules() if _uses_running(module)]
    return frozen if model.training else []


def thawed(model: nn.Module, kept: Sequence[str]) -> list[str]:
    """Return notes on layers that were in evaluation amid others, and are in training now.

    One that stays there, by a ``train`` of its own, is told of in its row.
    """
    now = [name for name in kept if not _uses_running(model.get_submodule(name))]
    if not now:
        return []
    return [
        f"{', '.join(now)}: in evaluation mode as given; examined in training mode, by the"
        " batch's own statistics"
    ]


@dataclass(frozen=True)
class Normalization:
    """One layer on one batch: how entries are taken together, and its numbers."""

    module: nn.Module
    kind: str
    """The name of its class."""
    shape: tuple[int, ...]
    """Of what it is given."""
    eps: float
    is_centred: bool
    arranged: tuple[int, int, int]
    words: tuple[str, ...]
    """What the parts of a unit's number are called."""
    parts: tuple[int, ...]
    """How many there are of each."""
    is_frozen: bool
    """Whether it divides by running statistics, not by the batch's."""
    weight: Tensor | None = None
    """What it multiplies by in this call, which need not be the module's own afterwards."""
    bias: Tensor | None = None
    roundoff: float = 0.0
    """That of its own computation is this at least, whatever precision it is given."""
    axis: int = -1
    """The last one that has entries of a unit, in layer and RMS normalisation."""
    is_another: bool = False
    """Whether its output is another than its class's, so that no statement is about it."""

    @property
    def m(self) -> int:
        """Entries of a unit."""
        before, _, after = self.arranged
        return before * after

    @property
    def by_batch(self) -> bool:
        """Whether a unit has its entries from the whole batch, and one scale."""
        return isinstance(self.module, _BatchNorm)

    @property
    def takes_offsets(self) -> bool:
        """Whether what is added to a whole channel makes no difference to the output."""
        by_channel = self.by_batch or isinstance(self.module, _InstanceNorm)
        return by_channel and self.is_told_of

    @property
    def is_told_of(self) -> bool:
        """Whether statements are about it: it divides by the batch's statistics, as its class."""
        return not (self.is_frozen or self.is_another)

    @property
    def fits(self) -> bool:
        """Whether the layer has the sizes of what it is given."""
        module: Any = self.module
        if isinstance(module, nn.LayerNorm | nn.RMSNorm):
            sizes = tuple(module.normalized_shape)
            return self.axis != -1 or self.shape[-len(sizes) :] == sizes
        is_group = isinstance(module, nn.GroupNorm)
        channels: int = module.num_channels if is_group else module.num_features
        return channels == self.shape[0 if _is_one(module, self.shape) else 1]

    def rearranged(self, batch: Tensor) -> Tensor:
        """Return a batch as (before, unit, after)."""
        return batch.movedim(self.axis, -1).reshape(self.arranged)

    def put_back(self, arranged: Tensor) -> Tensor:
        """Return what was rearranged, in the shape of a batch."""
        others = [*self.shape]
        length = others.pop(self.axis)
        return arranged.reshape(*others, length).movedim(-1, self.axis)

    def scales(self) -> Tensor | None:
        """Return the scale of each unit in float64, ``(unit,)``; None if there is none of it."""
        return _double(self.weight) if self.by_batch else None

    def steepest(self) -> Tensor | None:
        """Return the largest scale of each unit, ``(unit,)`` or ``(1,)``; None if there is none."""
        if self.weight is None:
            return None
        scales = self.weight.double()
        if self.by_batch:
            return scales.abs()
        if isinstance(self.module, nn.LayerNorm | nn.RMSNorm):
            return scales.abs().amax().reshape(1)
        by_unit = scales.abs().reshape(self.parts[1], -1).amax(1)
        return by_unit.repeat(self.parts[0])

    def before_affine(self, gradient: Tensor) -> Tensor:
        """Return the gradient in what is multiplied entry by entry; that of a unit's output.

        The product is taken in float64, where it cannot underflow.
        """
        if self.by_batch or self.weight is None:
            return gradient
        return gradient.double() * self.spread(self.weight)

    def spread(self, parameter: Tensor) -> Tensor:
        """Return a weight or bias as it meets the entries of a batch."""
        if isinstance(self.module, nn.LayerNorm | nn.RMSNorm):
            return parameter.reshape(*parameter.shape, *[1] * (-1 - self.axis))
        pixels = len(self.shape) - (1 if _is_one(self.module, self.shape) else 2)
        return parameter.reshape(-1, *[1] * pixels)

    def name_of(self, unit: int) -> str:
        """Return a unit's name."""
        found = []
        for word, count in zip(reversed(self.words), reversed(self.parts), strict=True):
            unit, place = divmod(unit, count)
            found.append(f"{word} {place}")
        return ", ".join(reversed(found))


def of(module: nn.Module, y: Tensor) -> Normalization:
    """Return how a layer takes a batch.

    Raises:
        AuditError: it says what it is, and is not that; or the batch is empty.

    >>> found = of(nn.GroupNorm(2, 6), torch.zeros(5, 6, 4, 4))
    >>> found.m, found.name_of(3)
    (48, 'example 1, group 1')
    """
    kind, shape, size = type(module).__name__, tuple(y.shape), y.numel()
    if not size:
        raise AuditError(
            f"{kind} is given a batch of shape {shape}; expected one that is not empty"
        )
    roundoff = 0.0
    if not isinstance(module, KINDS):
        module, roundoff = _as_declared(module, y)
    eps: Any = getattr(module, "eps", None)
    if eps is None:
        eps = _eps_unasked(y.dtype, y.device)
    is_centred = not isinstance(module, nn.RMSNorm)
    if isinstance(module, nn.LayerNorm | nn.RMSNorm):
        m = prod(module.normalized_shape)
        positions = shape[: len(shape) - len(module.normalized_shape)] or (1,)
        words = ("example", "position", "place", "place")[: len(positions)]
        words += ("place",) * (len(positions) - len(words))
        arranged, parts = (1, size // m, m), positions
    elif isinstance(module, nn.GroupNorm):
        words, parts = ("example", "group"), (shape[0], module.num_groups)
        arranged = (1, prod(parts), size // prod(parts))
    elif isinstance(module, _InstanceNorm):
        parts = (1, shape[0]) if _is_one(module, shape) else shape[:2]
        words = ("example", "channel")
        arranged = (1, prod(parts), size // prod(parts))
    else:
        words, parts = ("channel",), shape[1:2]
        arranged = (shape[0], shape[1], size // (shape[0] * shape[1]))
    weight, bias = (_detached(module, name) for name in ("weight", "bias"))
    return Normalization(
        *(module, kind, shape, float(eps), is_centred, arranged, words, tuple(parts)),
        *(_uses_running(module), weight, bias, roundoff),
    )


@cache
def _eps_unasked(dtype: torch.dtype, device: torch.device) -> float:
    """Return what RMSNorm adds where it is given no eps: that of its sums, or of what it is given.

    Of half precision these differ, and which of them it is, by PyTorch's version; so it is tried.
    """
    own, of_sums = (torch.finfo(each).eps for each in (dtype, torch.float32))
    if own <= of_sums:
        return own
    # Squared this is 2 of_sums, and next to nothing of own.
    tried = torch.full((1,), 2.0**-11, dtype=dtype, device=device)
    return of_sums if nn.functional.rms_norm(tried, [1]).item() > 0.5 else own


def _uses_running(module: nn.Module) -> bool:
    """Whether a layer divides by running statistics, as it is set now."""
    return getattr(module, "running_mean", None) is not None and not module.training


def overridden(module: nn.Module) -> type[nn.Module] | None:
    """Return the class of ``torch.nn`` whose ``forward`` a layer has replaced, None if none."""
    return replaced(module, KINDS, "forward")


def least_of(precision: torch.finfo) -> float:
    """Return the smallest number above zero, which is not normal."""
    return float(precision.smallest_normal * precision.eps)


Statistics = tuple[Tensor, Tensor]
"""Of each channel the running mean and variance."""


@torch.no_grad()
def is_other(
    found: Normalization, y: Tensor, output: Tensor, kept: Statistics | None = None
) -> bool:
    """Whether a layer's output is another than its class's, by more than rounding explains.

    Args:
        found: how it takes its batch.
        y: what it was given.
        output: what it gave back.
        kept: its running statistics before that, by which a frozen layer divides.
    """
    if output.shape != y.shape or not found.fits:
        return True
    weight, bias = _double(found.weight), _double(found.bias)
    gamma = y.new_ones(()).double() if weight is None else found.spread(weight)
    beta = y.new_zeros(()).double() if bias is None else found.spread(bias)
    batch = found.rearranged(y.double())
    means, variances = _statistics(found, batch, kept)
    mean, variance = (found.put_back(each.expand_as(batch)) for each in (means, variances))
    sigma = (variance + found.eps).sqrt()
    yhat = (y.double() - mean) / sigma
    coarsest = max(torch.finfo(y.dtype), torch.finfo(output.dtype), key=lambda info: info.eps)
    of_dtype = {"roundoff": coarsest.eps / 2, "least": least_of(coarsest)}
    numbers = {"m": found.m, "mean": mean, "sigma": sigma, **of_dtype}
    allowed = measured.error_of_output(numbers, yhat, gamma, beta)
    return bool(((gamma * yhat + beta - output).abs() > allowed).any())


def _statistics(found: Normalization, batch: Tensor, kept: Statistics | None) -> Statistics:
    """Return the means and variances that a layer uses, as they meet a rearranged batch."""
    if not found.is_frozen:
        means = batch.mean(AXES, keepdim=True) * found.is_centred
        return means, (batch - means).square().mean(AXES, keepdim=True)
    if kept is None:
        return batch.new_zeros(()), batch.new_ones(())
    means, variances = (each.repeat(batch.shape[1] // len(each))[:, None] for each in kept)
    return means, variances


def as_given_back(
    found: Normalization, y: Tensor, output: Tensor, kept: Statistics | None = None
) -> Normalization | None:
    """Return how a layer takes its batch, as its output tells; None if it is another than that.

    >>> y = torch.rand(5, 3, 4, 4)
    >>> layer = nn.LayerNorm(3)
    >>> output = layer(y.movedim(1, -1)).movedim(-1, 1)
    >>> as_given_back(of(layer, y), y, output).axis, as_given_back(of(layer, y), y, 2 * output)
    (-3, None)
    """
    ways = found, *_along_other_axes(found)
    return next((way for way in ways if not is_other(way, y, output, kept)), None)


def _along_other_axes(found: Normalization) -> Iterator[Normalization]:
    """Yield layer or RMS normalisation of one axis along the others of its length."""
    sizes: Any = getattr(found.module, "normalized_shape", ())
    for axis in range(-2, -len(found.shape) - 1, -1):
        if tuple(sizes) == found.shape[axis:][:1]:
            parts = [*found.shape]
            del parts[axis]
            yield replace(found, axis=axis, parts=tuple(parts))


@torch.no_grad()
def _as_declared(module: nn.Module, y: Tensor) -> tuple[nn.Module, float]:
    """Return the layer of ``torch.nn`` that a layer says to be, in float64, and its roundoff.

    That is zero for a layer that computes in the precision of what it is given.
    """
    kind, name = str(module.normalizes), type(module).__name__
    if kind not in DECLARED:
        raise AuditError(f"{name} says normalizes = {kind!r}; expected 'rms' or 'layer'")
    eps = next((getattr(module, a) for a in EPS if hasattr(module, a)), None)
    if eps is None:
        raise AuditError(f"{name} has none of {', '.join(EPS)}; give it the attribute eps")
    weight, bias = (_double(_detached(module, name)) for name in ("weight", "bias"))
    given = y.detach().double()
    output = deepcopy(module).double().forward(given)
    for scale in (weight,) if weight is None else (weight, 1 + weight):
        layer: Any = DECLARED[kind](y.shape[-1:], eps, elementwise_affine=scale is not None)
        layer.double().to(y.device)
        if scale is not None:
            layer.weight.copy_(scale)
            if bias is not None and kind == "layer":
                layer.bias.copy_(bias)
        share = ((layer(given) - output).abs().max() / output.abs().max()).item()
        if share <= ALIKE:
            return layer, 0.0 if share <= EQUAL else measured.SINGLE
    raise AuditError(
        f"{name} says normalizes = {kind!r}, and its output is not that of torch.nn."
        f"{DECLARED[kind].__name__} with its eps = {eps} and its weight, over the last axis; take"
        " the attribute away, or examine the layer by python -m verify conform"
    )


def running(module: nn.Module) -> Statistics | None:
    """Return copies of the running mean and variance in float64, ``(channel,)``.

    None where there are none, or none yet.
    """
    mean, variance = (_double(_detached(module, f"running_{name}")) for name in ("mean", "var"))
    if (
        mean is None
        or variance is None
        or (bool((mean == 0).all()) and bool((variance == 1).all()))
    ):
        return None
    return mean, variance


def _detached(module: nn.Module, name: str) -> Tensor | None:
    value = getattr(module, name, None)
    return None if value is None else value.detach()


def _double(value: Tensor | None) -> Tensor | None:
    return None if value is None else value.double().clone()


def _is_one(module: nn.Module, shape: tuple[int, ...]) -> bool:
    """Whether Instance Normalization is given one example, without the batch's axis."""
    if not isinstance(module, _InstanceNorm):
        return False
    rank: Callable[[], int] = module._get_no_batch_dim
    return len(shape) == rank()
