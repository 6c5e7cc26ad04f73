r"""Cases to be checked with a pencil, where the search for counterexamples looks first.

The batch is :math:`c = (-1, 0, 1)`, of mean zero and variance 2/3; :math:`w = (1, -2, 1)` is
orthogonal to the ones and to c.  Where there is an epsilon it is 1/3, so that sigma is one.  Or it
is (-1, -1, 1, 1) or a multiple, with the epsilon that doubles sigma.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from theory import batchnorm
from theory.arithmetic.exact import number, rational_array
from theory.statement import REFUTED, Statement

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
    r"""Give the layer beta = 1 and the loss a minimum at y.

    The loss is :math:`\langle w, z - y\rangle^2/2`, here with :math:`w = (1, -2, 2)`.
    """
    moved, w = centred_batch(case, shift=1), rational_array((1, -2, 2))
    return moved.with_quadratic_loss(-(w @ moved.y) * w, np.outer(w, w))


def bending_at_the_second(case: Any) -> Any:
    r"""Give the layer beta = 1 and the loss a slope that varies with the second output alone."""
    moved = replace(centred_batch(case, shift=1), direction=rational_array((0, 1, 0)))
    return moved.with_ridged_loss(rational_array((0, 1, 0)))


def beyond_the_layer(case: Any) -> Any:
    """Give the loss its minimum at twice the batch, beyond the layer's output."""
    given = centred_batch(case, scale=0)
    return replace(given, direction=2 * given.y)


SIGNS = (-1, -1, 1, 1)
NOTHING, FIRST, SECOND, THIRD = (0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0)


def signs_with(
    slope: tuple[int, ...] = NOTHING,
    first: tuple[int, ...] = FIRST,
    second: tuple[int, ...] = FIRST,
    scale: int = 1,
) -> Hint:
    """Return a hint: a batch of four signs, its own normalisation, and a linear loss."""

    def hint(case: Any) -> Any:
        given = replace(
            case,
            y=scale * rational_array(SIGNS),
            eps=number(3 * scale**2) if case.eps else case.eps,
            gamma=number(1),
            beta=number(0),
            direction=rational_array(first),
            other_direction=rational_array(second),
            bound=number(1),
        )
        return given.with_isotropic_loss(rational_array(slope), 0)

    return hint


four_signs = signs_with(SIGNS, NOTHING, NOTHING)
"""A batch of four signs, whose root of m is 2, and a linear loss along it."""
ONE_INPUT = (
    signs_with(),
    signs_with(FIRST),
    signs_with(second=SECOND),
    signs_with(FIRST, second=SECOND),
    signs_with(scale=2),
    signs_with(FIRST, first=THIRD),
    signs_with((1, -1, 0, 0)),
)
"""Where nothing more particular is chosen: an input that is one for one example."""


NEARLY_ACROSS = tuple(
    signs_with(slope, (3, -1, -1, -1), scale=2) for slope in ((0, 2, -1, 0), (0, 30, -29, 0))
)
"""An input of mean zero that the loss's gradient is nearly orthogonal to, but not to the batch."""
UNLIKE = signs_with(SECOND, scale=2)
"""An input and a linear loss that share no example: orthogonal, but not without their means."""


ROOT_FREE = tuple(
    signs_with(first=first, second=(1, 1, -1, -1), scale=scale)
    for first in ((5, -1, -1, -3), (1, 1, -1, -1), (1, -1, 1, -1))
    for scale in (1, 2)
)
"""Inputs of mean zero and norm 6 or 2, where a statement divides by norms."""


def with_hints(claims: Sequence[Statement], hints: tuple[Hint, ...] = ONE_INPUT) -> list[Statement]:
    """Return claims; what is expected to fall has these hints, if it has none of its own."""
    return [
        replace(claim, attack=hints) if claim.expected is REFUTED and not claim.attack else claim
        for claim in claims
    ]


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


def opposite(case: Any) -> Any:
    """Give the batch (1, -1), an input along the ones and three times the batch as the slope."""
    y, one = rational_array((1, -1)), rational_array((1, 1))
    numbers = {"eps": number(3), "gamma": number(2), "beta": number(0), "bound": number(1)}
    return replace(case, y=y, direction=one, other_direction=3 * y, **numbers)


def by_its_largest_entry(case: Any) -> Any:
    """Give the batch (3, -1, -2) and a direction that has nothing at its largest entry."""
    given = replace(centred_batch(case), gamma=number(1))
    return replace(given, y=rational_array((3, -1, -2)), direction=rational_array((0, 1, -1)))


def leaning(case: Any) -> Any:
    """Give the first of two inputs the weight 2, and add it to the second."""
    lean = signs_with((13, -7, 7, -13), SIGNS, (0, -2, 2, 0), scale=2)
    return replace(lean(case), bound=number(2))


ONE_UNLIKE = (3, -1, -1, -1)
leaning_towards_one = signs_with(ONE_UNLIKE, ONE_UNLIKE, ONE_UNLIKE)
"""A linear loss and directions that are one vector, a third of whose square is along the batch."""


def curved_alike(case: Any) -> Any:
    """Give both directions one vector across the batch, and the loss a Hessian that is 2 I."""
    across = (1, -1, 1, -1)
    given = replace(signs_with(first=across, second=across)(case), bound=number(2))
    return given.with_isotropic_loss(0 * given.y, 2)


def steep_at_the_output(case: Any) -> Any:
    r"""Give an input x across the batch y, and a loss with the gradient -7x at yhat and x at y.

    The loss is :math:`\langle x, z\rangle(\langle y, z\rangle - 15)`; y has the deviation 2.
    """
    y, x = rational_array((-2, -2, 2, 2)), rational_array((1, -1, 0, 0))
    given = replace(case, y=y, gamma=number(1), beta=number(0), bound=number(1))
    given = replace(given, direction=x, other_direction=0 * x)
    return given.with_quadratic_loss(-15 * x, np.outer(x, y) + np.outer(y, x))
