r"""Cases to be checked with a pencil, where the search for counterexamples looks first.

The batch is :math:`c = (-1, 0, 1)`, of mean zero and variance 2/3; :math:`w = (1, -2, 1)` is
orthogonal to the ones and to c.  Where there is an epsilon it is 1/3, so that sigma is one.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from theory import batchnorm
from theory.arithmetic.exact import number, rational_array

Hint = Callable[[Any], Any]

BATCH, ONES = (-1, 0, 1), (1, 1, 1)


def centred_batch(case: Any, scale: int = 1, shift: int = 0) -> Any:
    """Return the case with the batch c, gamma a multiple of sigma, and no directions but zero."""
    y, eps = rational_array(BATCH), number("1/3") if case.eps else case.eps
    return replace(
        case.with_isotropic_loss(0 * y, 0),
        y=y,
        eps=eps,
        gamma=scale * batchnorm.standard_deviation(y, eps),
        beta=number(shift),
        direction=0 * y,
        other_direction=0 * y,
        bound=number(1),
    )


def linear(*slope: int, scale: int = 1) -> Hint:
    """Return a hint: a linear loss."""
    return lambda case: centred_batch(case, scale).with_isotropic_loss(rational_array(slope), 0)


def shifted_away_from_a_minimum(case: Any) -> Any:
    r"""Give the layer beta = 1 and the loss a minimum at y: :math:`\langle w, z - y\rangle^2/2`."""
    moved, w = centred_batch(case, shift=1), rational_array((1, -2, 2))
    return moved.with_quadratic_loss(-(w @ moved.y) * w, np.outer(w, w))


def beyond_the_layer(case: Any) -> Any:
    """Give the loss its minimum at twice the batch, beyond the layer's output."""
    given = centred_batch(case, scale=0)
    return replace(given, direction=2 * given.y)


def four_signs(case: Any) -> Any:
    """Give a batch of four signs, whose root of m is 2, and a linear loss along it."""
    signs = rational_array((-1, -1, 1, 1))
    given = replace(case, y=signs, gamma=number(1), beta=number(0), bound=number(1))
    given = replace(given, direction=0 * signs, other_direction=0 * signs)
    return given.with_isotropic_loss(signs, 0)


def convex_along(*slope: int, scale: int = 1) -> Hint:
    """Return a hint for a statement that makes its loss of a direction and lambda: H is one."""
    return lambda case: replace(
        centred_batch(case, scale), direction=rational_array(slope), bound=number(2)
    )


def in_directions(first: tuple[int, ...], second: tuple[int, ...], scale: int = 1) -> Hint:
    """Return a hint for a statement of two directions that brings its own loss."""
    return lambda case: replace(
        centred_batch(case, scale),
        direction=rational_array(first),
        other_direction=rational_array(second),
    )


def by_its_largest_entry(case: Any) -> Any:
    """Give the batch (3, -1, -2) and a direction that has nothing at its largest entry."""
    given = replace(centred_batch(case), gamma=number(1))
    return replace(given, y=rational_array((3, -1, -2)), direction=rational_array((0, 1, -1)))


def steep_at_the_output(case: Any) -> Any:
    r"""Give an input x across the batch y, and a loss whose slope along x is -7 at yhat and 1 at y.

    The loss is :math:`\langle x, z\rangle(\langle y, z\rangle - 15)`; y has the deviation 2.
    """
    y, x = rational_array((-2, -2, 2, 2)), rational_array((1, -1, 0, 0))
    given = replace(case, y=y, gamma=number(1), beta=number(0), bound=number(1))
    given = replace(given, direction=x, other_direction=0 * x)
    return given.with_quadratic_loss(-15 * x, np.outer(x, y) + np.outer(y, x))
