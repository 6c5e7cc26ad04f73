r"""Gradient descent: the letters and functions of statements about steps towards a minimizer.

Eigenvalues are letters of their own where a statement is about any two numbers, and operations of
a matrix where it is about that matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from theory.arithmetic.constants import identity
from theory.language.arrays import absolute, dot, largest, maximum, smallest
from theory.language.expression import (
    Expression,
    Letter,
    Primitive,
    Sort,
    along,
    as_expression,
    gradient,
    named,
)
from theory.language.letters import matrix_of, number_of, vector_of

_N, _V = Sort.NUMBER, Sort.VECTOR


def trace_of(matrix: Any) -> Any:
    """Return the sum of a matrix's diagonal."""
    return sum(matrix[i, i] for i in range(matrix.shape[0]))


def definite(descent: Any) -> Any:
    """Return a positive definite matrix: any is one, as what is added may be as small as wanted."""
    return descent.hessian + 1 / (1 + 4 * descent.free[0] ** 2) * _identity(descent)


def _identity(descent: Any) -> Any:
    return identity(descent.theta.shape[0], descent.theta)


def lowest(descent: Any) -> Any:
    """Return a number that is not negative, lambda_min."""
    return descent.free[3] ** 2


def highest(descent: Any) -> Any:
    """Return a number that is not smaller, lambda_max: a trace and a square more."""
    return lowest(descent) + trace_of(descent.hessian) + descent.free[4] ** 2


theta = vector_of("theta", r"\theta")
"""A point, (d,)."""
theta_star = vector_of("theta_star", r"\theta^*", "theta")
x = vector_of("x", "x", "direction")
v = vector_of("v", "v", "direction")
zero = vector_of("0", "0", lambda descent: 0 * descent.theta)
alpha = number_of("alpha", r"\alpha", "step", r"\alpha > 0")
low = number_of("lambda_min", r"\lambda_{\min}", lowest, r"\lambda_{\min} \ge 0")
high = number_of("lambda_max", r"\lambda_{\max}", highest, r"\lambda_{\max} \ge \lambda_{\min}")

I = matrix_of("I", "I", _identity)
P = matrix_of("P", "P", domain=r"P \text{ nonsingular}")
H = matrix_of("H", "H", "hessian", r"H \succeq 0")
H_definite = matrix_of("H", "H", definite, r"H \succ 0")
H_above = matrix_of(
    "H", "H", lambda descent: descent.hessian + lowest(descent) * _identity(descent),
    r"H \succeq \lambda_{\min} I",
)  # fmt: skip


def learning_rate(value: Callable[[Any], Any]) -> Letter:
    r"""Return a letter for a learning rate that is scaled with the Hessian."""
    return number_of("alpha", r"\alpha", value, r"\alpha > 0")


L = Primitive(
    "L",
    lambda descent, theta: descent.loss(theta),
    r"\mathcal L({0})",
    takes=(_V,),
    reads=("loss",),
)
"""The loss to be minimised, smooth."""
variable = Letter("t", "t", _V)
"""The variable of a derivative."""

pair = Primitive(
    "pair",
    lambda descent, a, b: descent.namespace.stack([a, b]),
    r"\left({0}, {1}\right)",
    gives=_V,
    takes=(_N, _N),
    reads=(),
)


@cache
def _list_of(count: int) -> Primitive:
    rows = r"\\ ".join(f"{{{place}}}" for place in range(count))
    return Primitive(
        f"list of {count}",
        lambda descent, *numbers: descent.namespace.stack(list(numbers)),
        rf"\begin{{{{bmatrix}}}} {rows}\end{{{{bmatrix}}}}",
        gives=_V,
        takes=(_N,) * count,
        reads=(),
    )


def listed(*numbers: Expression) -> Expression:
    """Return numbers as a vector."""
    return _list_of(len(numbers))(*numbers)


def rate(step: Expression, matrix: Expression) -> Expression:
    r"""Return :math:`\max\{|1 - \alpha\lambda_{\min}|, |1 - \alpha\lambda_{\max}|\}`."""
    ends = (absolute(1 - step * end(matrix)) for end in (smallest, largest))
    return maximum(*ends)


def slope(point: Expression) -> Expression:
    r"""Return :math:`\nabla\mathcal L` at a point."""
    return gradient(L(variable), variable, at=point)


def L_star(point: Expression) -> Expression:
    r"""Return :math:`\mathcal L` less its slope at :math:`\theta^*`, there a critical point."""
    return named(r"\mathcal L_*({0})", L(point) - dot(slope(theta_star), point), point)


def slope_star(point: Expression) -> Expression:
    r"""Return :math:`\nabla\mathcal L_*` at a point."""
    return named(r"\nabla\mathcal L_*({0})", gradient(L_star(variable), variable, at=point), point)


def curved_star(point: Expression, direction: Expression) -> Expression:
    r"""Return :math:`\nabla^2\mathcal L_*` at a point, times a direction."""
    moved = along(gradient(L_star(variable), variable), variable, direction, at=point)
    return named(r"\nabla^2\mathcal L_*({0}) {1:atom}", moved, point, direction)


def iterates(
    name: str, start: Expression, step: Callable[[Expression], Expression], count: int
) -> list[Expression]:
    """Return a start and what so many steps make of it, each by its number."""
    found = [as_expression(start)]
    for k in range(1, count + 1):
        found.append(named(f"{name}_{{{k}}}", step(found[-1])))
    return found
