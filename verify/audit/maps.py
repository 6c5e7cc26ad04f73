r"""Linear and convolution layers: how they take a batch, and their gradients.

A layer is :math:`a = \hat H\hat w` for each output, with :math:`\hat H = [e, H]` of one row for
each position and one column for each entry of the kernel; groups have a matrix each.

Index convention: a dense layer's features are on the last axis, channels on axis 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from verify.audit.subclasses import replaced
from verify.tolerance import factor

KINDS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)


def is_map(module: nn.Module) -> bool:
    """Whether a module is a linear or convolution layer that can be examined.

    >>> is_map(nn.Linear(2, 1)), is_map(nn.ReLU())
    (True, False)
    """
    return isinstance(module, KINDS) and module.weight.numel() > 0


def empty(model: nn.Module) -> list[str]:
    """Return notes on linear and convolution layers that have no weights."""
    return [
        f"{name or type(module).__name__}: it has no weights"
        for name, module in model.named_modules()
        if isinstance(module, KINDS) and not is_map(module)
    ]


def overridden(module: nn.Module) -> type[nn.Module] | None:
    """Return the class of ``torch.nn`` whose computation a layer has replaced, None if none."""
    return replaced(module, KINDS, "forward", "_conv_forward")


@torch.no_grad()
def is_other(
    module: nn.Module, inputs: Tensor, output: Tensor, weight: Tensor | None = None
) -> bool:
    """Whether a layer's output is another than its class's, by more than rounding explains.

    Args:
        module: the layer.
        inputs: what it was given.
        output: what it gave back.
        weight: what it multiplied by; None for the weight that it has.

    >>> class Scaled(nn.Linear):
    ...     def forward(self, x):
    ...         return 2 * super().forward(x)
    >>> layer, x = Scaled(3, 4), torch.ones(5, 3)
    >>> is_other(layer, x, layer(x)), is_other(layer, x, layer(x) / 2)
    (True, False)
    """
    own, bias = (getattr(module, name) for name in ("weight", "bias"))
    weight = own if weight is None else weight
    of_sizes = (inputs.abs(), weight.abs(), None if bias is None else bias.abs())
    try:
        if isinstance(module, nn.Linear):
            expected, sizes = linear(inputs, weight, bias), linear(*of_sizes)
        else:
            apply = _class_of(module)._conv_forward
            expected, sizes = apply(module, inputs, weight, bias), apply(module, *of_sizes)
    except RuntimeError:  # it takes inputs of other sizes
        return True
    if expected.shape != output.shape:
        return True
    coarsest = max((torch.finfo(each.dtype) for each in (expected, output)), key=lambda i: i.eps)
    allowed = factor(weight[0].numel() + 1) * coarsest.eps / 2 * sizes
    return bool(((expected - output).abs() > allowed).any())


def _class_of(module: nn.Module) -> Any:
    return next(kind for kind in KINDS if isinstance(module, kind))


class Rows(NamedTuple):
    """The gradient in a layer's outputs, of each output, in float64, ``(out,)``."""

    positions: int
    sums: Tensor
    squares: Tensor
    roundoff: float


class Gradients(NamedTuple):
    """What a layer's gradients tell."""

    cosine: float | None
    """Of the weights and their gradient, all outputs taken together; None if none reaches them."""
    bias_share: float
    r""":math:`\max_j |\sum_i g_{ij}| / \sqrt{\sum_i g_{ij}^2}` over the root of the rows: how much
    of the gradient a bias would see, or sees by all of its uses."""
    roundoff: float
    rows: int
    sizes: Tensor
    """The norm of the gradient in each output, ``(out,)``."""


def channel_axis(module: nn.Module, output: Tensor) -> int:
    """Return the axis of a layer's outputs, of which each has a bias of its own."""
    behind = 0 if isinstance(module, nn.Linear) else len(_kernel(module))
    return output.ndim - 1 - behind


def rows_of(module: nn.Module, g: Tensor) -> Rows:
    """Return the sums of a gradient in a layer's output."""
    axis = channel_axis(module, g)
    others = tuple(i for i in range(g.ndim) if i != axis)
    given = g if others else g[None]
    sums = given.sum(others or 0, dtype=torch.float64)
    squares = torch.linalg.vector_norm(given, dim=others or 0, dtype=torch.float64).square()
    return Rows(g.numel() // g.shape[axis], sums, squares, torch.finfo(g.dtype).eps / 2)


def gradients_of(
    rows: Sequence[Rows], cosine: float | None = None, of_bias: Tensor | None = None
) -> Gradients:
    """Return what the gradients of a layer's calls tell, and that in its bias."""
    count = sum(r.positions for r in rows)
    sums, squares = sum(r.sums for r in rows), sum(r.squares for r in rows)
    assert isinstance(sums, Tensor)
    assert isinstance(squares, Tensor)
    seen = sums.abs() if of_bias is None else torch.maximum(sums.abs(), of_bias.abs().double())
    shares = torch.where(squares > 0, seen / (squares * count).sqrt(), 0.0)
    return Gradients(
        cosine,
        bias_share=shares.max().item(),
        roundoff=rows[0].roundoff,
        rows=count,
        sizes=squares.sqrt(),
    )


def cosine_of(weight: Tensor, gradient: Tensor | None) -> float | None:
    """Return the cosine of a layer's weights and their gradient, None where none reaches them."""
    if gradient is None:
        return None
    # The products are rounded as the network's own numbers are; only their sums could lose more.
    w, g = weight.detach(), gradient
    product = (w * g).sum(dtype=torch.float64)
    of_w, of_g = (torch.linalg.vector_norm(v, dtype=torch.float64) for v in (w, g))
    return (product / (of_w * of_g)).item() if of_w * of_g > 0 else 0.0


def _kernel(module: nn.Module) -> tuple[int, ...]:
    kernel = module.kernel_size
    assert isinstance(kernel, tuple)
    return kernel
