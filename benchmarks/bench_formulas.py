r"""The closed-form gradient and Hessian of Batch Normalization, against PyTorch's autograd.

Each contender starts from the batch and ends with the derivative: autograd runs the layer
forward, through the fused operator or through primitives, then backward (twice for the Hessian
applied to a direction); the closed form needs no forward pass; "checked" is the public entry
point, which looks at its input first; "compiled" is :mod:`theory.nn.compiled`, where a compiler is
found.  "each array once" reads every input and writes the result once, which is the least that
memory allows; of four inputs it is their sum, compiled, where a compiler is found, and else three
passes.  A GPU is given larger batches besides, which fill it.

    KINETO_LOG_LEVEL=99 python benchmarks/bench_formulas.py --device cpu --dtype float32 --rounds 20

(The variable silences PyTorch's profiler.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from comparison import Comparison, Contender, compared, run
from torch.nn.functional import batch_norm

import theory
from theory import batchnorm
from theory.nn import compiled
from theory.nn.compilers import can_compile

SIZES = {(32, 64, 56, 56): (0, 2, 3), (256, 64, 14, 14): (0, 2, 3), (4096, 512): (0,)}
ON_GPU = {(256, 64, 56, 56): (0, 2, 3), (2048, 64, 14, 14): (0, 2, 3), (65536, 512): (0,)}
EPS = 1e-5
ONCE = "each array once"


class Batch(NamedTuple):
    """A batch, its upstream gradient, a direction, the loss's diagonal Hessian, and gamma."""

    y: torch.Tensor
    g: torch.Tensor
    u: torch.Tensor
    h: torch.Tensor
    gamma: torch.Tensor
    axis: tuple[int, ...]


def draw(shape: tuple[int, ...], axis: tuple[int, ...], device: str, dtype: torch.dtype) -> Batch:
    """Return a batch of normal entries, the same on every run."""
    generator = torch.Generator().manual_seed(0)
    units = [1 if i in axis else n for i, n in enumerate(shape)]
    shapes = [shape] * 4 + [tuple(units)]
    y, g, u, h, gamma = (torch.randn(s, generator=generator).to(device, dtype) for s in shapes)
    return Batch(y, g, u, h, gamma, axis)


def fused(y: torch.Tensor, b: Batch) -> torch.Tensor:
    """Apply the layer as one operator."""
    return batch_norm(y, None, None, b.gamma.flatten(), training=True, eps=EPS)


def primitive(y: torch.Tensor, b: Batch) -> torch.Tensor:
    """Apply the layer as its definition."""
    spread = torch.var(y, b.axis, correction=0, keepdim=True)
    return b.gamma * (y - torch.mean(y, b.axis, keepdim=True)) / torch.sqrt(spread + EPS)


def gradient_by_autograd(layer: Any, b: Batch) -> torch.Tensor:
    """Forward and backward."""
    y = b.y.detach().requires_grad_()
    return torch.autograd.grad(layer(y, b), y, b.g)[0]


def hvp_by_autograd(layer: Any, b: Batch) -> torch.Tensor:
    """Forward, backward, and backward through both, for the loss <g, z> + <z, h z>/2."""
    y = b.y.detach().requires_grad_()
    z = layer(y, b)
    loss = (b.g * z + b.h * z * z / 2).sum()
    (gradient,) = torch.autograd.grad(loss, y, create_graph=True)
    return torch.autograd.grad(gradient, y, b.u)[0]


def hvp_with_forward(b: Batch) -> torch.Tensor:
    """Forward for the loss's gradient g + h z, then the closed form."""
    z = batchnorm.forward(b.y, b.gamma, 0, EPS, b.axis)
    return batchnorm.hvp(b.y, b.g + b.h * z, lambda w: b.h * w, b.u, b.gamma, EPS, b.axis)


def gradients(b: Batch) -> dict[str, Contender]:
    """Return who computes the gradient of <g, z> in the batch."""
    arguments = b.y, b.g, b.gamma, EPS, b.axis
    return {
        "closed form": lambda: batchnorm.gradient(*arguments),
        "checked": lambda: theory.gradient(*arguments),
        **({"compiled": lambda: compiled.gradient(*arguments)} if can_compile(b.y.device) else {}),
        "autograd, fused": lambda: gradient_by_autograd(fused, b),
        "autograd, primitives": lambda: gradient_by_autograd(primitive, b),
        ONCE: lambda: b.y + b.g,
    }


def hessian_vector_products(b: Batch) -> dict[str, Contender]:
    """Return who applies the Hessian of <g, z> + <z, h z>/2 in the batch to a direction.

    The closed form is given the loss's gradient at z, as after a backward pass.
    """
    total = sum_of_four(b.y.device)
    upstream = b.g + b.h * batchnorm.forward(b.y, b.gamma, 0, EPS, b.axis)
    arguments = b.y, upstream, lambda w: b.h * w, b.u, b.gamma, EPS, b.axis
    return {
        "closed form": lambda: batchnorm.hvp(*arguments),
        "checked": lambda: theory.hvp(*arguments),
        "closed, with forward": lambda: hvp_with_forward(b),
        **({"compiled": lambda: compiled.hvp(*arguments)} if can_compile(b.y.device) else {}),
        "autograd, fused": lambda: hvp_by_autograd(fused, b),
        "autograd, primitives": lambda: hvp_by_autograd(primitive, b),
        ONCE: lambda: total(b.y, b.g, b.u, b.h),
    }


def sum_of_four(device: torch.device) -> Callable[..., torch.Tensor]:
    """Return what adds four arrays, in one pass where it can be compiled."""
    if can_compile(device):
        return torch.compile(lambda p, q, r, s: p + q + r + s)
    return lambda p, q, r, s: torch.add(p, q).add_(r).add_(s)


def widened(b: Batch) -> Batch:
    """Return the batch in double precision."""
    return Batch(*(part.double() for part in b[:-1]), b.axis)


def comparisons(device: str, dtype: torch.dtype, rounds: int) -> Iterator[Comparison]:
    """Yield the gradient and the Hessian applied to a direction, at every size."""
    for shape, axis in (SIZES | ON_GPU if device.startswith("cuda") else SIZES).items():
        b = draw(shape, axis, device, dtype)
        words = f"{shape}, {str(dtype).removeprefix('torch.')}, {device}"
        for job, made in (
            ("gradient", gradients),
            ("Hessian applied to a direction", hessian_vector_products),
        ):
            exact = made(widened(b))["closed form"]()
            yield compared(f"{job}, {words}", made(b), exact, rounds, others=(ONCE,))


if __name__ == "__main__":
    run(comparisons, __doc__, rounds=20)
