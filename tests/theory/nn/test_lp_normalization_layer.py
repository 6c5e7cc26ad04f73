"""The l_p layer for PyTorch: its outputs, gradients, running statistics and refusals."""

from math import inf

import numpy as np
import pytest
import torch

from theory import lp_normalization
from theory.nn.lp_normalization import LpNormalization

SHAPES = {"units": (5, 3), "maps": (2, 3, 2, 2)}
ROUNDOFF = 2.0**-53


def drawn(layout, p):
    """A layer with a re-scaling of its own, a batch with a mean, and a cotangent; float64."""
    generator = torch.Generator().manual_seed(1)
    y, g = (torch.randn(SHAPES[layout], generator=generator).double() for _ in range(2))
    layer = LpNormalization(3, p, eps=0.01).double()
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([-0.5, 2.0, 1.5]))
        layer.bias.copy_(torch.tensor([0.3, -1.0, 0.2]))
    return layer, y + 0.7, g


def units_first(y):
    return y.movedim(1, 0).flatten(1).numpy()


@pytest.mark.parametrize("p", [1, 2, inf])
@pytest.mark.parametrize("layout", SHAPES)
def test_outputs_and_gradients_are_the_closed_forms(layout, p):
    layer, y, g = drawn(layout, p)
    y.requires_grad_()
    z = layer(y)
    z.backward(g)
    axes = (0, *range(2, y.ndim))
    per_unit = [-1 if axis == 1 else 1 for axis in range(y.ndim)]
    gamma, beta = (a.detach().numpy().reshape(per_unit) for a in (layer.weight, layer.bias))
    batch, cotangent = y.detach().numpy(), g.numpy()
    expected = {
        "output": (z, lp_normalization.forward(batch, p, gamma, beta, 0.01, axes)),
        "y": (y.grad, lp_normalization.gradient(batch, cotangent, p, gamma, 0.01, axes)),
        "gamma": (
            layer.weight.grad,
            lp_normalization.gradient_gamma(batch, cotangent, p, 0.01, axes).ravel(),
        ),
        "beta": (layer.bias.grad, cotangent.sum(axis=axes)),
    }
    for name, (actual, closed) in expected.items():
        # Sums of at most eight terms of size below 32.
        np.testing.assert_allclose(
            actual.detach(), closed, rtol=0, atol=8 * 32 * 8 * ROUNDOFF, err_msg=name
        )


@pytest.mark.parametrize("p", [1, 2, inf])
def test_first_and_second_derivatives_pass_difference_quotients(p):
    layer, y, _ = drawn("units", p)
    y.requires_grad_()
    assert torch.autograd.gradcheck(layer, y, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(layer, y)


def test_a_layer_with_its_gradient_cut_is_seen():
    """Were the norm a constant, the difference quotients would say so."""

    class Cut(LpNormalization):
        def _statistics(self, y):
            middle, norm = super()._statistics(y)
            return middle, norm.detach()

    y = drawn("units", 1)[1].requires_grad_()
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(Cut(3, 1).double(), y)


@pytest.mark.parametrize("p", [1, 2, inf])
@pytest.mark.parametrize("layout", SHAPES)
def test_running_statistics_are_averages_of_the_batches_and_evaluation_uses_them(layout, p):
    layer, y, _ = drawn(layout, p)
    middle, norm = np.zeros(3), np.ones(3)
    for batch in (y, 3 * y - 1):
        layer(batch)
        rows = units_first(batch)
        power = np.abs(rows).max(1) if p == inf else (np.abs(rows) ** p).mean(1)
        own = power + 0.01 if p == inf else (power + 0.01) ** (1 / p)
        middle, norm = 0.9 * middle + 0.1 * rows.mean(1), 0.9 * norm + 0.1 * own
    np.testing.assert_allclose(layer.running_mean, middle, rtol=16 * ROUNDOFF)
    np.testing.assert_allclose(layer.running_norm, norm, rtol=16 * ROUNDOFF)
    layer.eval()
    gamma, beta = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    rows = (units_first(y).T - middle) / norm * gamma + beta
    np.testing.assert_allclose(units_first(layer(y).detach()).T, rows, atol=64 * ROUNDOFF)
    np.testing.assert_array_equal(layer.running_mean, layer.train().running_mean)


def test_evaluation_changes_no_statistics_and_takes_a_single_image():
    layer = LpNormalization(3, 1).eval()
    before = {key: value.clone() for key, value in layer.state_dict().items()}
    y = torch.tensor([[1.0, -2.0, 3.0]])
    torch.testing.assert_close(layer(y), y, rtol=0, atol=0)
    assert all(torch.equal(before[key], value) for key, value in layer.state_dict().items())


def test_half_precision_meets_parameters_of_single_precision():
    layer = LpNormalization(3, 2)
    y = drawn("units", 2)[1]
    assert layer(y.to(torch.bfloat16)).dtype == torch.float32
    assert layer.running_norm.dtype == torch.float32


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (
            torch.ones(1, 3),
            ValueError,
            "so 1 entries for each unit; expected at least 2",
        ),
        (torch.ones(4, 2), ValueError, r"\(4, 2\); expected 3 units on axis 1"),
        (torch.ones(3), ValueError, r"\(3,\); expected 3 units"),
        (torch.ones(0, 3), ValueError, "so 0 entries for each unit"),
        (torch.ones(4, 3, dtype=torch.int64), TypeError, r"dtype torch\.int64; expected floats"),
    ],
)
def test_wrong_input_is_told_what_to_do(y, error, message):
    with pytest.raises(error, match="LpNormalization was given y of shape .*" + message):
        LpNormalization(3, 1)(y)


def test_an_exponent_below_1_is_refused():
    with pytest.raises(ValueError, match=r"p = 0\.5; expected an exponent >= 1"):
        LpNormalization(3, 0.5)


def test_a_constant_unit_has_the_output_beta():
    layer = LpNormalization(1, inf, eps=0.0)
    np.testing.assert_array_equal(layer(torch.full((4, 1), -2.0)).detach(), np.zeros((4, 1)))
