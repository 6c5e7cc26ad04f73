r"""The network's own convolution under autograd: the actual side of every statement here.

It shares the case with :mod:`theory.convolution` and nothing else.  PyTorch on a CPU unfolds a
convolution in double precision, all examples at once; so the examples are convolved a few at a
time.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import conv2d

from verify.backends import Backend
from verify.convolutions.meter import is_on_gpu
from verify.subjects.convolutions import Layer, Shape
from verify.tolerance import Array

UNFOLDED = 2**24
"""Entries that may be unfolded at once."""


def torch_device(backend: Backend) -> str:
    """Return where PyTorch computes: on a GPU where the backend does, if PyTorch can."""
    if not (is_on_gpu(backend) and torch.cuda.is_available()):
        return "cpu"
    return backend.device or "cuda"


def convolve(h: Tensor, weights: Tensor, bias: Tensor, shape: Shape) -> Tensor:
    """Return the convolution's output, ``(batch, out, r', s')``."""
    most = max(1, UNFOLDED // (shape.columns * shape.output_size**2))
    parts = h.split(most)
    outputs = [conv2d(part, weights, bias, shape.stride, shape.padding) for part in parts]
    return torch.cat(outputs)


def hessian_products(
    layer: Layer, loss: Callable[[Tensor], Tensor], device: str = "cpu"
) -> tuple[Array, Array]:
    """Return Hessian-vector products of the loss in (kernel, bias) of one output channel.

    Args:
        layer: with D directions.
        loss: a function of the channel's output.
        device: PyTorch's.

    Returns:
        ``(D, channel, k, k)`` and ``(D,)``.
    """
    h, weights, bias = (tensor(x, device) for x in (layer.maps, layer.weights, layer.bias))
    parameters = (weights.requires_grad_(), bias.requires_grad_())
    value = loss(convolve(h, *parameters, layer.shape))
    gradients = torch.autograd.grad(value, parameters, create_graph=True)
    products = []
    for kernel, number in zip(layer.direction_weights, layer.direction_biases, strict=True):
        direction = (tensor(kernel[None], device), tensor(number[None], device))
        product = torch.autograd.grad(gradients, parameters, direction, retain_graph=True)
        products.append([part.detach().cpu() for part in product])
    kernels, biases = (torch.cat(parts) for parts in zip(*products, strict=True))
    return kernels.numpy(), biases.numpy()


def gram_products(layer: Layer, device: str = "cpu") -> tuple[Array, Array]:
    r"""Return :math:`\hat{\mathcal H}^\top\hat{\mathcal H}` applied to the directions.

    It is the gradient of half the squared norm of the convolution with them.
    """
    h, kernels, biases = (
        tensor(x, device) for x in (layer.maps, layer.direction_weights, layer.direction_biases)
    )
    parameters = (kernels.requires_grad_(), biases.requires_grad_())
    outputs = convolve(h, *parameters, layer.shape)
    products = torch.autograd.grad((outputs * outputs).sum() / 2, parameters)
    kernels, biases = (part.detach().cpu() for part in products)
    return kernels.numpy(), biases.numpy()


def column_moments(layer: Layer, device: str = "cpu") -> tuple[Array, Array]:
    r"""Return mean and mean square of each column of :math:`\mathcal H`, ``(channel, k, k)``.

    They are the gradients in the kernel of the mean output, for the maps and for their squares.
    """
    h, weights, bias = (tensor(x, device) for x in (layer.maps, layer.weights, layer.bias))
    weights.requires_grad_()

    def moments(maps: Tensor) -> Array:
        mean = convolve(maps, weights, bias, layer.shape).mean()
        (gradient,) = torch.autograd.grad(mean, weights)
        return gradient[0].cpu().numpy()

    return moments(h), moments(h * h)


def tensor(values: Array, device: str = "cpu") -> Tensor:
    """Return a NumPy array for PyTorch; on a CPU they share memory."""
    return torch.from_numpy(np.ascontiguousarray(values)).to(device)
