r"""Convolutions by weights that nothing depends on: linear maps, of which nothing more is derived.

The second derivative of PyTorch's own convolution computes the gradient in its weight as well,
whoever asks: a third convolution beside the two that a Hessian-vector product in activations needs.
Here a convolution is :math:`x \mapsto Ax`, its gradient :math:`g \mapsto A^\top g`, and the
derivative of that A again, by the same kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

CONVOLUTIONS = (torch.conv1d, torch.conv2d, torch.conv3d)
Settings = tuple[Any, ...]
"""Stride, padding, dilation, whether transposed, output padding, groups."""


class WeightsNeededError(Exception):
    """A gradient in weights is taken within the pass, as by a network that learns to learn."""


class ConstantWeights(TorchFunctionMode):
    """Within it convolutions by leaves of the graph are differentiated in their inputs alone.

    >>> x, kernel = torch.ones(1, 1, 3, requires_grad=True), torch.tensor([[[1.0, 2.0]]])
    >>> with ConstantWeights():
    ...     torch.conv1d(x, kernel.requires_grad_()).sum().backward()
    >>> x.grad.tolist(), kernel.grad
    ([[[1.0, 3.0, 2.0]]], None)

    Raises:
        WeightsNeededError: torch.autograd.grad is called for a gradient in such weights.
    """

    def __init__(self) -> None:
        super().__init__()
        self._constant: list[Any] = []

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run a function; a convolution that is a linear map as one."""
        named = kwargs or {}
        if func in CONVOLUTIONS:
            found = _linear(*args, **named)
            if found is not None:
                given = dict(zip(("input", "weight", "bias"), args, strict=False)) | named
                self._constant += [given["weight"], given.get("bias")]
                return found
        elif func is torch.autograd.grad:
            asked = args[1] if len(args) > 1 else named["inputs"]
            if any(one is constant for one in tree_leaves(asked) for constant in self._constant):
                raise WeightsNeededError
        return func(*args, **named)


def _linear(
    input: Tensor,  # noqa: A002 - the names are those of torch.conv2d
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor | None:
    """Return the convolution, None where it is to be left to PyTorch."""
    axes = weight.ndim - 2
    is_plain = (
        type(input) is Tensor
        and torch._C._functorch.maybe_current_level() is None
        and input.ndim == weight.ndim
        and input.dtype == weight.dtype
        and not isinstance(padding, str)
        and not torch.is_autocast_enabled(input.device.type)
        and weight.is_leaf
        and (bias is None or bias.is_leaf)
    )
    if not is_plain:
        return None
    each = [[n] * axes if isinstance(n, int) else [*n] for n in (stride, padding, dilation)]
    given = [n * axes if len(n) == 1 else n for n in each]
    settings = (*given, False, [0] * axes, groups)
    found: Tensor = _Convolution.apply(input, weight.detach(), bias, settings)  # type: ignore[no-untyped-call]
    return found


class _Convolution(Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, settings: Settings
    ) -> Tensor:
        ctx.weight, ctx.shape, ctx.settings = weight, x.shape, settings
        constant = None if bias is None else bias.detach()
        return torch.ops.aten.convolution(x, weight, constant, *settings)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None]:
        (g,) = gradients
        return _Adjoint.apply(g, ctx.weight, ctx.shape, ctx.settings), None, None, None  # type: ignore[no-untyped-call]


class _Adjoint(Function):
    @staticmethod
    def forward(
        ctx: Any, g: Tensor, weight: Tensor, shape: torch.Size, settings: Settings
    ) -> Tensor:
        ctx.weight, ctx.settings = weight, settings
        like = g.new_empty(1).expand(shape)  # of which nothing but the shape is looked at
        mask = [True, False, False]
        found = torch.ops.aten.convolution_backward(g, like, weight, None, *settings, mask)
        return found[0]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None]:
        (x,) = gradients
        return _Convolution.apply(x, ctx.weight, None, ctx.settings), None, None, None  # type: ignore[no-untyped-call]
