"""Landscapes of known shape, and landscapes measured wrongly."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from torch import nn

from theory.nn.measures.landscape import (
    DEEP_LINEAR_RANGE,
    Landscape,
    along_gradient,
    along_random_direction,
    step_sizes,
)

SIZES = (0.01, 0.1, 0.3)


class Point(nn.Module):
    """A model whose output is its parameters."""

    def __init__(self, *x):
        super().__init__()
        self.x = nn.Parameter(torch.tensor(x, dtype=torch.float64))

    def forward(self, _):
        return self.x


H = torch.tensor([[2.0, -1.0, 0.0], [-1.0, 5.0, 2.0], [0.0, 2.0, -3.0]], dtype=torch.float64)
B = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)
X = (1.0, -2.0, 0.7)


def quadratic(x, _):
    return x @ H @ x / 2 + B @ x


def quartic(x, _):
    return (x**4).sum() / 4


def measured(loss=quadratic, x=X, sizes=SIZES):
    return along_gradient(Point(*x), torch.zeros(1), torch.zeros(1), loss, sizes)


def check(found: Landscape):
    """Compare with the closed form of the quadratic: the gradient changes by eta H g."""
    x = torch.tensor(X, dtype=torch.float64)
    g = H @ x + B
    for eta, loss, change in zip(SIZES, found.losses, found.gradient_changes, strict=True):
        expected = quadratic(x, None) - eta * g @ g + eta**2 * (g @ H @ g) / 2
        assert loss == pytest.approx(float(expected), rel=1e-12)
        assert change == pytest.approx(eta * float(torch.linalg.norm(H @ g)), rel=1e-12)
    smoothness = float(torch.linalg.norm(H @ g) / torch.linalg.norm(g))
    assert found.effective_smoothness == pytest.approx(smoothness, rel=1e-12)
    assert found.loss_variation == (min(found.losses), max(found.losses))
    assert found.gradient_norm == pytest.approx(float(torch.linalg.norm(g)), rel=1e-12)


def test_the_quadratic_has_its_curvature_along_the_gradient():
    check(measured())


def squared(landscape):
    return replace(landscape, gradient_changes=tuple(c**2 for c in landscape.gradient_changes))


def distance_without_the_gradient(landscape):
    return replace(landscape, distances=landscape.step_sizes)


def uphill(_):
    found = measured(lambda x, t: -quadratic(x, t))
    return replace(found, losses=tuple(-loss for loss in found.losses))


def change_of_the_norm(landscape):
    x = torch.tensor(X, dtype=torch.float64)
    g = H @ x + B
    norms = [float((g - eta * H @ g).norm() - g.norm()) for eta in SIZES]
    return replace(landscape, gradient_changes=tuple(map(abs, norms)))


@pytest.mark.parametrize(
    "wrong", [squared, distance_without_the_gradient, uphill, change_of_the_norm]
)
def test_wrong_measures_are_noticed(wrong):
    with pytest.raises(AssertionError):
        check(wrong(measured()))


def test_smoothness_is_the_largest_ratio_not_the_last_nor_the_ratio_of_the_largest():
    # x^4/4 at 1: the gradient is (1 - eta)^3 there, a change of 1 - (1 - eta)^3 at distance eta.
    found = measured(quartic, x=(1.0,), sizes=(0.01, 0.5, 1.0))
    assert found.gradient_changes == pytest.approx((1 - 0.99**3, 1 - 0.5**3, 1.0))
    assert found.effective_smoothness == pytest.approx((1 - 0.99**3) / 0.01)
    assert found.gradient_predictiveness == pytest.approx((1 - 0.99**3, 1.0))
    assert found.loss_variation == pytest.approx((0.0, 0.99**4 / 4))
    assert found.loss == 0.25


def test_a_random_direction_is_as_long_as_the_gradient_and_drawn_from_the_generator():
    def along(seed):
        generator = torch.Generator().manual_seed(seed)
        nothing = torch.zeros(1)
        return along_random_direction(Point(*X), nothing, nothing, quadratic, SIZES, generator)

    found = along(3)
    assert found == along(3) != along(4)
    assert found.distances == pytest.approx(measured().distances)
    r = torch.randn(3, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    assert found.effective_smoothness == pytest.approx(float((H @ r).norm() / r.norm()))


def test_what_overflows_is_infinite():
    found = measured(quartic, x=(1.0,), sizes=(1.0, 1e200))
    assert found.losses == (0.0, float("inf"))
    assert found.gradient_changes == (1.0, float("inf"))
    assert found.effective_smoothness == float("inf")


def test_what_is_refused():
    for sizes in ((), (0.0, 1.0), (2.0, 1.0), (1.0, 1.0)):
        with pytest.raises(ValueError, match="positive, finite and increasing"):
            measured(sizes=sizes)
    with pytest.raises(ValueError, match=r"gradient's norm 0\.0.*not zero"):
        measured(quartic, x=(0.0,))
    with pytest.raises(ValueError, match=r"loss is inf.*finite"):
        measured(quartic, x=(1e200,))
    with pytest.raises(ValueError, match="0 < least < largest"):
        step_sizes(0.1, (4.0, 0.5))


def test_the_papers_range():
    sizes = step_sizes(1e-6, DEEP_LINEAR_RANGE, 5)
    assert (sizes[0], sizes[-1]) == pytest.approx((1e-8, 3e-5))
    ratios = [b / a for a, b in pairwise(sizes)]
    assert ratios == pytest.approx([ratios[0]] * 4)
