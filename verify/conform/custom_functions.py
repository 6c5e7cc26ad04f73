"""What PyTorch makes zero of a custom autograd.Function without a word, and who is met by it."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch.autograd.function import Function, once_differentiable

from verify.conform.adapters import NotOffered

ONCE = once_differentiable(lambda *_: None).__code__
"""The code that stands before a backward that is marked."""


def refuse_another_derivative(value: Any) -> None:
    """Refuse where a gradient of the value is to be differentiated and a backward forbids it.

    What such a backward returns is cut off from its inputs.

    Raises:
        NotOffered: the value was computed by a function that is marked once_differentiable.
    """
    for function in _functions(value):
        if getattr(function.backward, "__code__", None) is ONCE:
            raise NotOffered(f"{function.__name__} is marked once_differentiable")


def refuse_forward_over_forward(value: Any) -> None:
    """Refuse where a value was computed by a function with a jvp, if PyTorch loses its second.

    Raises:
        NotOffered: it does.
    """
    if any(function.jvp is not Function.jvp for function in _functions(value)) and _loses_second():
        raise NotOffered(
            "PyTorch returns zero for forward over forward of a custom Function, x**3 among them"
        )


def _functions(value: Any) -> set[type[Function]]:
    """Return the custom functions that a value was computed by."""
    parts = value if isinstance(value, tuple) else (value,)
    left = [part.grad_fn for part in parts if isinstance(part, torch.Tensor)]
    seen, found = set(), set()
    while left:
        node = left.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        left += [before for before, _ in node.next_functions]
        if (function := getattr(node, "_forward_cls", None)) is not None:
            found.add(function)
    return found


class _Cube(Function):
    """x**3, whose second derivative at 1 is 6."""

    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: torch.Tensor) -> None:
        ctx.save_for_forward(*inputs)

    @staticmethod
    def jvp(ctx: Any, *tangents: torch.Tensor) -> torch.Tensor:
        (x,), (u,) = ctx.saved_tensors, tangents
        return 3 * x * x * u


@cache
def _loses_second() -> bool:
    one = torch.ones(())

    def slope(x: torch.Tensor) -> torch.Tensor:
        return torch.func.jvp(_Cube.apply, (x,), (one,))[1]

    return float(torch.func.jvp(slope, (one,), (one,))[1]) == 0
