"""Landscapes of known shape, and landscapes measured wrongly."""

from dataclasses import replace
from math import inf, nan

import pytest
import torch
from torch import nn

from theory.nn.measures.landscape import (
    along_gradient,
    along_random_direction,
    step_sizes,
)

SIZES = (0.01, 0.1, 0.3)
H = torch.tensor([[2.0, -1.0, 0.0], [-1.0, 5.0, 2.0], [0.0, 2.0, -3.0]], dtype=torch.float64)
B = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)
X = (1.0, -2.0, 0.7)


class Point(nn.Module):
    """A model whose output is its parameters."""

    def __init__(self, *x):
        super().__init__()
        self.x = nn.Parameter(torch.tensor(x, dtype=torch.float64))

    def forward(self, _):
        return self.x


def quadratic(x, _):
    return x @ H @ x / 2 + B @ x


def quartic(x, _):
    return (x**4).sum() / 4


def measured(loss=quadratic, x=X, sizes=SIZES, along=along_gradient, **options):
    return along(Point(*x), torch.zeros(1), torch.zeros(1), loss, sizes, **options)


def check(found):
    """Compare with the closed form of the quadratic: the gradient changes by eta H g."""
    x = torch.tensor(X, dtype=torch.float64)
    g = H @ x + B
    losses = [float(quadratic(x, 0) - eta * g @ g + eta**2 * (g @ H @ g) / 2) for eta in SIZES]
    assert found.losses == pytest.approx(losses, rel=1e-12)
    assert found.loss_variation == (min(found.losses), max(found.losses))
    changes = [eta * float((H @ g).norm()) for eta in SIZES]
    assert found.gradient_changes == pytest.approx(changes, rel=1e-12)
    assert found.effective_smoothness == pytest.approx(float((H @ g).norm() / g.norm()), rel=1e-12)
    assert found.gradient_norm == pytest.approx(float(g.norm()), rel=1e-12)


def test_the_quadratic_has_its_curvature_along_the_gradient():
    check(measured())


def test_a_wrong_measure_is_noticed():
    found = measured()
    with pytest.raises(AssertionError):
        check(replace(found, gradient_changes=tuple(c**2 for c in found.gradient_changes)))


def test_smoothness_is_the_largest_ratio_not_the_last_nor_the_ratio_of_the_largest():
    # x^4/4 at 1: the gradient is (1 - eta)^3 there, a change of 1 - (1 - eta)^3 at distance eta.
    found = measured(quartic, x=(1.0,), sizes=(0.01, 0.5, 1.0))
    assert found.gradient_changes == pytest.approx((1 - 0.99**3, 1 - 0.5**3, 1.0))
    assert found.effective_smoothness == pytest.approx((1 - 0.99**3) / 0.01)
    assert found.gradient_predictiveness == pytest.approx((1 - 0.99**3, 1.0))
    assert found.loss_variation == pytest.approx((0.0, 0.99**4 / 4))
    assert found.loss == 0.25


def test_a_random_direction_is_as_long_as_the_gradient_and_drawn_from_the_generator():
    found, again, other = (
        measured(along=along_random_direction, generator=torch.Generator().manual_seed(seed))
        for seed in (3, 3, 4)
    )
    assert found == again != other
    assert found.distances == pytest.approx(measured().distances)
    r = torch.randn(3, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    assert found.effective_smoothness == pytest.approx(float((H @ r).norm() / r.norm()))


def test_what_overflows_is_infinite():
    found = measured(quartic, x=(1.0,), sizes=(1.0, 1e200))
    assert found.losses == (0.0, inf)
    assert found.gradient_changes == (1.0, inf)
    assert found.effective_smoothness == inf


WALKS = [(), (0.0, 1.0), (0.2, 0.1), (1.0, 1.0), (0.1, nan), (0.1, inf)]
REFUSED = [
    *[(lambda sizes=sizes: measured(sizes=sizes), "positive, finite and incr") for sizes in WALKS],
    (lambda: measured(quartic, x=(0.0,)), r"gradient's norm 0\.0.*not zero"),
    (lambda: measured(quartic, x=(1e200,)), r"loss is inf.*finite"),
    (lambda: step_sizes(nan, (0.5, 4)), "learning_rate = nan"),
    (lambda: step_sizes(inf, (0.5, 4)), "learning_rate = inf"),
    (lambda: step_sizes(0.1, (0.5, inf)), "choose a positive rate"),
    (lambda: step_sizes(0.1, (4.0, 0.5)), "0 < least < largest"),
    (lambda: step_sizes(0.1, (0.5, 4), 1), "at least two"),
]


@pytest.mark.parametrize(("measure", "message"), REFUSED)
def test_what_is_refused(measure, message):
    with pytest.raises(ValueError, match=message):
        measure()
