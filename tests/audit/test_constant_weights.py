"""Convolutions as linear maps: the same numbers as PyTorch's own, to every order."""

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from verify.audit.constant_weights import ConstantWeights, WeightsNeededError

LAYERS = {
    "strided": (nn.Conv2d(3, 4, 3, stride=2, padding=1), (2, 3, 7, 6)),
    "dilated, no bias": (nn.Conv2d(3, 4, 3, dilation=2, bias=False), (2, 3, 8, 9)),
    "depthwise": (nn.Conv2d(4, 8, (3, 1), groups=4, padding=(1, 0)), (2, 4, 5, 5)),
    "one axis": (nn.Conv1d(3, 2, 4, stride=3, padding=2), (2, 3, 11)),
    "three axes": (nn.Conv3d(2, 2, 2), (2, 2, 3, 4, 5)),
    "same": (nn.Conv2d(3, 4, 3, padding="same"), (2, 3, 6, 6)),
    "reflected": (nn.Conv2d(3, 4, 3, padding=1, padding_mode="reflect"), (2, 3, 6, 6)),
    "one example": (nn.Conv2d(3, 4, 3), (3, 6, 6)),
}


def derivatives(layer, x, u):
    """Return the output, a gradient in the input, and that of a product with it."""
    z = layer(x)
    (g,) = torch.autograd.grad(z.tanh().sum(), x, create_graph=True)
    (h,) = torch.autograd.grad((g * u).sum(), x)
    return z, g, h


@pytest.mark.parametrize("name", LAYERS)
def test_every_derivative_in_the_input_is_that_of_the_convolution(name):
    torch.manual_seed(0)
    layer, shape = LAYERS[name]
    layer = layer.double()
    x, u = torch.randn(shape).double().requires_grad_(), torch.randn(shape).double()
    expected = derivatives(layer, x, u)
    with ConstantWeights():
        found = derivatives(layer, x, u)
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


def test_weights_that_depend_on_the_inputs_are_left_to_pytorch():
    torch.manual_seed(0)
    x = torch.randn(1, 2, 5).double().requires_grad_()

    def gradient():
        kernel = x[:, :, :3].reshape(2, 1, 3)
        z = nn.functional.conv1d(x, kernel, groups=2)
        return torch.autograd.grad(z.square().sum(), x)[0]

    expected = gradient()
    with ConstantWeights():
        torch.testing.assert_close(gradient(), expected)


class Counting(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.convolutions = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.convolutions += "convolution" in str(func)
        return func(*args, **(kwargs or {}))


def test_a_product_with_the_hessian_takes_two_convolutions_for_each_layer():
    layer = nn.Conv2d(2, 2, 3)
    x = torch.randn(1, 2, 5, 5, requires_grad=True)
    with ConstantWeights():
        (g,) = torch.autograd.grad(layer(x).tanh().sum(), x, create_graph=True)
    with Counting() as counted:
        torch.autograd.grad((g * torch.randn_like(x)).sum(), x)
    assert counted.convolutions == 2


def test_a_gradient_in_weights_is_refused_and_one_in_inputs_is_not():
    layer, x = nn.Conv2d(2, 2, 3), torch.randn(1, 2, 5, 5, requires_grad=True)
    with ConstantWeights():
        loss = layer(x).tanh().sum()
        torch.autograd.grad(loss, x, retain_graph=True)
        for parameter in layer.parameters():
            with pytest.raises(WeightsNeededError):
                torch.autograd.grad(loss, [x, parameter], allow_unused=True)
