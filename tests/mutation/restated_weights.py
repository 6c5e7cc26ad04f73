"""What is said of gradients and curvature in the weights, restated in matrices of NumPy.

h is the gradient in y, and the inputs are X = lambda u e1'/|u| or the columns u and v.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from paper_numbers import Array, Numbers, Sides
from restated_minima import same


def square(a: Array) -> float:
    """The squared norm."""
    return a @ a


def scale(n: Numbers) -> float:
    """The square of gamma over sigma."""
    return (n.gamma / n.sigma) ** 2


def largest(n: Numbers, a: Array) -> float:
    """The maximum of |X'a|^2."""
    return n.bound**2 * square(a)


def printed(n: Numbers, power: int, mean: float) -> Sides:
    """Theorem 4.4 with a power of g_j and a mean."""
    right = largest(n, n.g) ** power - n.m * mean**2 - n.bound**2 * (n.g @ n.yhat) ** 2
    return largest(n, n.gradient), scale(n) * right


def right_side(n: Numbers, g: Array, coefficient: float) -> float:
    """The corrected right side with a coefficient of its last term."""
    right = square(g) - g.sum() ** 2 / n.m - coefficient * (g @ n.yhat) ** 2
    return scale(n) * n.bound**2 * right


def corrected(n: Numbers, coefficient: float) -> Sides:
    """Theorem 4.4 and line (17)."""
    return largest(n, n.gradient), right_side(n, n.g, coefficient)


def each_input(n: Numbers) -> Sides:
    """Theorem 4.4 at one X."""
    return at_input(n, n.gradient), right_side(n, n.g, 1 / n.m)


def two_networks(n: Numbers) -> Sides:
    """Theorem 4.4 with the gradient of the other network."""
    return largest(n, n.gradient), right_side(n, n.gradient_of_loss(n.y), 1 / n.m)


def inputs_move(n: Numbers) -> Sides:
    """The gradient at X = [y, u], and its bound at [v, 0]."""
    h = n.gradient
    return (n.y @ h) ** 2 + (n.u @ h) ** 2, square(n.v) * square(n.gradient_at(n.v))


def at_input(n: Numbers, a: Array) -> float:
    """The value of |X'a|^2."""
    return (n.bound * (n.u @ a)) ** 2 / square(n.u)


def line_10_any(n: Numbers) -> Sides:
    """Equation (10) for any matrix of rank one."""
    left = 2 * (n.y @ n.u) * (n.y @ n.v) - (n.u @ n.v) * square(n.y)
    return left**2, square(n.u) * square(n.v) * square(n.y) ** 2


def betahat(n: Numbers) -> float:
    """The left side of Theorem C.1."""
    bent = n.u @ n.hessian @ n.u
    return n.bound**4 * (n.u @ n.gradient) ** 2 * bent / square(n.u) ** 2


def smoothness(n: Numbers, kappa: Callable[[Numbers], float]) -> Sides:
    """Theorem C.1 where the maximum on the right is that of H = I."""
    return betahat(n), scale(n) * n.bound**4 * (n.g @ n.H @ n.g - kappa(n))


def difference(n: Numbers) -> float:
    """What the theorem's name for kappa says literally."""
    return n.g @ n.H @ n.g - n.gradient @ n.hessian @ n.gradient / scale(n)


KAPPAS: dict[str, Callable[[Numbers], float]] = {
    "kappa": lambda n: (n.g @ n.yhat) * square(n.gradient) / (n.m * n.gamma),
    "first-display": lambda n: n.gamma / (n.m * n.sigma**2) * (n.g @ n.yhat) * square(n.gradient),
    "weights": lambda n: n.g.sum() ** 2 / n.m + n.bound**2 * (n.g @ n.yhat) ** 2,
    "difference": difference,
}


def cross_factor(n: Numbers) -> Sides:
    """The last term's factor, and what bounds it."""
    v = n.u * (n.u @ n.gradient) / square(n.u)
    along = n.gradient @ v
    return (n.yhat @ v) ** 2, n.m * (along - along**2 / square(n.gradient))


def form(n: Numbers, factor: float, q: Array) -> Sides:
    """Equations (56) and (57) for X = [u]."""
    bent = n.u @ n.hessian @ n.u
    return (n.u @ n.gradient) ** 2 * bent, factor * (n.u @ q) ** 2 * bent


def maximum(n: Numbers, q: Array) -> Sides:
    """Equation (58)."""
    return betahat(n), n.bound**4 * (q @ n.hessian @ q)


WEIGHTS: dict[str, Callable[[Numbers], Sides]] = {
    "S-thm-4.4": lambda n: printed(n, 2, n.g.mean()),
    "S-thm-4.4/scaled-mean": lambda n: printed(n, 2, n.bound * n.g.mean()),
    "S-thm-4.4/itself": lambda n: printed(n, 2, largest(n, n.g)),
    "S-thm-4.4/not-squared": lambda n: printed(n, 1, n.g.mean()),
    "S-thm-4.4/not-squared/scaled-mean": lambda n: printed(n, 1, n.bound * n.g.mean()),
    "S-thm-4.4/corrected": lambda n: corrected(n, 1 / n.m),
    "S-thm-4.4/equality": lambda n: corrected(n, (1 + n.eps / n.sigma**2) / n.m),
    "S-thm-4.4/each-input": each_input,
    "S-thm-4.4/two-networks": two_networks,
    "S-thm-4.4/inputs-move": inputs_move,
    "S-eq-10": lambda n: ((n.y @ n.u) * (n.y @ n.v), (n.u @ n.v) * square(n.y)),
    "S-eq-10/corrected": lambda n: ((n.y @ n.u) ** 2, square(n.u) * square(n.y)),
    "S-eq-10/sharpened": line_10_any,
    "S-eq-10-remark": lambda n: (n.y @ n.u, n.bound * square(n.y)),
    "S-eq-10-remark/tight": same(lambda n: n.bound * square(n.y)),
    **dict.fromkeys(("S-eq-11", "S-eq-12", "S-eq-13"), same(lambda n: n.u @ n.gradient)),
    "S-eq-14": same(lambda n: (n.u + 2 * n.v) @ n.gradient),
    "S-eq-14/bias": same(lambda n: n.one @ n.gradient),
    "S-eq-15": same(lambda n: (n.u @ n.gradient) ** 2 + (n.v @ n.gradient) ** 2),
    "S-eq-16": lambda n: (at_input(n, n.gradient), largest(n, n.gradient)),
    "S-eq-16/equality": same(lambda n: largest(n, n.gradient)),
    "S-eq-17": lambda n: corrected(n, n.m**-0.5),
    "S-eq-18": lambda n: (largest(n, n.gradient), largest(n, n.g)),
    "S-eq-18/corrected": lambda n: (at_input(n, n.g), largest(n, n.g)),
    "S-eq-18/attained": same(lambda n: largest(n, n.g)),
    **{
        f"S-thm-C1/{name}{suffix}": partial(smoothness, kappa=kappa)
        for name, kappa in KAPPAS.items()
        for suffix in ("", "/at-most", "/linear/at-most")
    },
    "S-thm-C1/kappa/corrected": same(betahat),
    "S-thm-C1/kappa/sharpened": cross_factor,
    "S-eq-52": same(lambda n: n.u @ n.H @ n.v),
    "S-eq-53": same(lambda n: n.u @ n.hessian @ n.v),
    "S-eq-54": same(lambda n: (n.u + 2 * n.v) @ n.hessian @ (n.u + 2 * n.v)),
    "S-eq-56": lambda n: form(n, 1, n.gradient),
    "S-eq-57": lambda n: form(n, 1, n.off_yhat @ n.g),
    "S-eq-57/scaled": lambda n: form(n, scale(n), n.off_yhat @ n.g),
    "S-eq-57/corrected": lambda n: form(n, scale(n), n.off_yhat @ n.centred),
    "S-eq-58": lambda n: maximum(n, n.off_yhat @ n.g),
    "S-eq-58/scaled": lambda n: maximum(n, n.gradient),
    "S-eq-58/corrected": same(betahat),
    "S-eq-58/scaled/no-eigenvector": lambda n: (
        n.yhat @ n.hessian @ n.gradient, -square(n.gradient) / n.sigma
    ),
}  # fmt: skip
