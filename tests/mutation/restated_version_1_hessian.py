"""The first version's statements on one unit's Hessian and their proofs, restated in NumPy.

The i-th input is u, the k-th is v.  The loss of yhat has the gradient gamma g and the Hessian
gamma^2 H; d^2 yhat is differentiated by torch.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from paper_numbers import Array, Numbers, Sides
from restated_minima import same
from restated_version_1 import bracket, gradient, mean_zero, moved, norm, off_mean
from restated_weights import square

Tensor = torch.Tensor


def entry(n: Numbers) -> float:
    """The entry of the Hessian."""
    return n.u @ n.hessian @ n.v


def K(n: Numbers) -> Array:
    """The Hessian of the loss of yhat."""
    return n.gamma**2 * n.H


def alphas(n: Numbers) -> tuple[float, float, float]:
    """The numbers a_i, a_k and a."""
    return n.u @ n.yhat, n.v @ n.yhat, gradient(n) @ n.yhat


def X(n: Numbers, x: Array, x_k: Array) -> float:
    """X by the brackets."""
    return bracket(n, x) @ K(n) @ bracket(n, x_k)


def beta(n: Numbers) -> float:
    """The inner product of both inputs over m."""
    return n.u @ n.v / n.m


def first_term(n: Numbers) -> float:
    """The first term of (35)."""
    return moved(n, n.u) @ K(n) @ moved(n, n.v)


def second_term(n: Numbers) -> float:
    """The second term of (35): what the first leaves of the entry."""
    return entry(n) - first_term(n)


def line_43(n: Numbers) -> float:
    """The right side of (43)."""
    a_i, a_k, a = alphas(n)
    return (X(n, n.u, n.v) - a * (beta(n) - a_i * a_k / n.m**2)) / n.sigma**2


def line_55(n: Numbers) -> float:
    """The right side of (55), and of (46) to (54)."""
    a_i, a_k, a = alphas(n)
    rest = a * (beta(n) - 2 * a_i * a_k / n.m**2) + a_i * (n.v @ gradient(n)) / n.m
    return -rest / n.sigma**2


def explained(n: Numbers) -> float:
    """The right side of (46), differentiated, with eps."""
    h = gradient(n)
    inside = (n.yhat @ h) * (n.u @ moved(n, n.v)) + (n.u @ n.yhat) * (moved(n, n.v) @ h)
    return -inside / n.m / n.sigma


def lost(n: Numbers) -> float:
    """What (45) loses."""
    return -(n.v @ n.yhat) * (gradient(n) @ bracket(n, n.u)) / n.m / n.sigma**2


def corrected(n: Numbers) -> Sides:
    """What holds of the entry."""
    x, x_k, h = off_mean(n.u), off_mean(n.v), off_mean(gradient(n))
    a_i, a_k, a = alphas(n)
    rest = (x @ x_k / n.m - 3 * a_i * a_k / n.m**2) * a + (a_i * (x_k @ h) + a_k * (x @ h)) / n.m
    return entry(n), (X(n, x, x_k) - rest) / n.sigma**2


def loss_gradient_at(n: Numbers, yhat: Tensor) -> Tensor:
    """The gradient of the loss of yhat at any yhat."""
    return n.gamma * torch.func.grad(n.L)(n.gamma * yhat + n.beta)


def by_outputs(n: Numbers) -> Array:
    """The gradient of dL/dW_kj as a function of yhat."""
    v, mu = torch.as_tensor(n.v), n.y.mean()

    def slope(yhat: Tensor) -> Tensor:
        change = torch.func.jvp(n.normalize, (n.sigma * yhat + mu,), (v,))[1]
        return loss_gradient_at(n, yhat) @ change

    return n.dense(slope, n.yhat)


def inside(n: Numbers) -> Array:
    """The gradient of the sum inside (40)."""
    v = torch.as_tensor(n.v)
    return n.dense(lambda s: loss_gradient_at(n, s) @ (v - s * (v @ s) / n.m), n.yhat)


def line_41(n: Numbers, share: float = 0) -> Sides:
    """Equation (41), and a share of what it loses."""
    a_k, a, x = n.v @ n.yhat, gradient(n) @ n.yhat, bracket(n, n.u)
    right = X(n, n.u, n.v) - a * (n.v @ x) / n.m - share * a_k * (gradient(n) @ x) / n.m
    return inside(n) @ x / n.sigma**2, right / n.sigma**2


def parts(n: Numbers) -> tuple[float, ...]:
    """The entry times sigma^2, |X|, both deviations, a, b_i and b_k, for centred inputs."""
    x, x_k, h = off_mean(n.u), off_mean(n.v), gradient(n)
    whole = n.sigma**2 * (x @ n.hessian @ x_k)
    deviations = norm(x) / n.m**0.5, norm(x_k) / n.m**0.5
    return whole, abs(X(n, x, x_k)), *deviations, h @ n.yhat, x @ h, x_k @ h


def line_59(n: Numbers) -> Sides:
    """Equation (59)."""
    whole, size, s, s_k, a, _, b_k = parts(n)
    return abs(whole), size + 5 * s * s_k * a + s * b_k


def line_59_absolute(n: Numbers) -> Sides:
    """The same with absolute values."""
    whole, size, s, s_k, a, _, b_k = parts(n)
    return abs(whole), size + 5 * s * s_k * abs(a) + s * abs(b_k)


def line_59_corrected(n: Numbers) -> Sides:
    """With the last summand."""
    whole, *_, s_k, _, b, _ = parts(n)
    return whole, line_59_absolute(n)[1] + s_k * abs(b)


def bounded(n: Numbers, x: Array, x_k: Array, multiple: float) -> Sides:
    """Equation (61)."""
    x, x_k = off_mean(x), off_mean(x_k)
    left = n.sigma**2 * (x @ n.hessian @ x_k) - X(n, x, x_k)
    return left**2, multiple * square(x) * square(x_k) * square(gradient(n))


def lengths(n: Numbers) -> float:
    """The product of both inputs' lengths."""
    return norm(off_mean(n.u)) * norm(off_mean(n.v))


def line_64(n: Numbers) -> Sides:
    """Equation (64)."""
    x, x_k = off_mean(n.u), off_mean(n.v)
    roots = (1 + norm(K(n) @ each) / n.bound / norm(each) for each in (x, x_k))
    first, second = roots
    left = n.sigma**2 * (moved(n, x) @ K(n) @ moved(n, x_k))
    return left, n.bound * norm(x) * norm(x_k) * first * second


def sharp(n: Numbers) -> float:
    """What the sharpened (64) says of X."""
    return n.bound * lengths(n) - X(n, off_mean(n.u), off_mean(n.v))


def reach(n: Numbers) -> float:
    """The norm of g times the constant of (61)."""
    return 2 / (3 * n.m) ** 0.5 * norm(gradient(n))


def bounded_norm(n: Numbers) -> float:
    """The hypothesis on the norm of H at the k-th bracket."""
    w = bracket(n, off_mean(n.v))
    return n.bound**2 * square(w) - square(K(n) @ w)


def rest(n: Numbers) -> float:
    """The entry times sigma^2, less X."""
    return n.sigma**2 * entry(n) - X(n, off_mean(n.u), off_mean(n.v))


HESSIAN: dict[str, Callable[[Numbers], Sides]] = {
    "S-v1-eq-34": same(entry),
    "S-v1-eq-35": same(entry),
    "S-v1-eq-36": lambda n: (first_term(n), by_outputs(n) @ moved(n, n.u)),
    "S-v1-eq-37": same(lambda n: n.v @ n.gradient),
    "S-v1-eq-39": lambda n: (
        by_outputs(n) @ moved(n, n.u), by_outputs(n) @ bracket(n, n.u) / n.sigma
    ),
    "S-v1-eq-40": lambda n: (
        by_outputs(n) @ bracket(n, n.u) / n.sigma, inside(n) @ bracket(n, n.u) / n.sigma**2
    ),
    "S-v1-eq-41": line_41,
    "S-v1-eq-41/corrected": lambda n: line_41(n, 1),
    "S-v1-eq-43": lambda n: (first_term(n), line_43(n)),
    "S-v1-eq-43/corrected": lambda n: (first_term(n), X(n, n.u, n.v) / n.sigma**2),
    "S-v1-eq-51/as-used": lambda n: (
        n.u @ moved(n, n.v), (n.u @ n.v - (n.u @ n.yhat) * (n.v @ n.yhat) / n.m) / n.sigma
    ),
    "S-v1-eq-51/as-defined": lambda n: (
        n.u @ n.v, (n.u @ n.v - (n.u @ n.y) * (n.v @ n.y) / n.m) / n.sigma
    ),
    **{
        name: lambda n: (entry(n), line_43(n) + line_55(n)) for name in ("S-v1-eq-58", "S-v1-eq-57")
    },
    "S-v1-eq-58/corrected": corrected,
    "S-v1-eq-58/symmetric": same(entry),
    "S-v1-eq-45": lambda n: (second_term(n), explained(n)),
    "S-v1-eq-45/corrected": lambda n: (second_term(n), explained(n) + lost(n)),
    "S-v1-eq-46": same(explained),
    "S-v1-eq-48": same(explained),
    "S-v1-eq-50": lambda n: (n.u @ moved(n, n.v), n.u @ bracket(n, n.v) / n.sigma),
    "S-v1-eq-53": lambda n: (second_term(n), explained(n)),
    "S-v1-eq-53/corrected": lambda n: (second_term(n), explained(n) + lost(n)),
    "S-v1-eq-54": lambda n: (explained(n), line_55(n)),
    "S-v1-eq-55": lambda n: (explained(n), line_55(n)),
    "S-v1-eq-56": same(line_43),
    "S-v1-eq-58/sum": same(lambda n: line_43(n) + line_55(n)),
    "S-v1-eq-59": line_59,
    "S-v1-eq-59/absolute": line_59_absolute,
    "S-v1-eq-59/corrected": line_59_corrected,
    "S-v1-eq-61": lambda n: bounded(n, n.u, n.v, 36),
    "S-v1-eq-61/three": lambda n: bounded(n, n.u, n.u, 9),
    "S-v1-eq-61/sharpened": lambda n: bounded(n, n.u, n.v, 4 / (3 * n.m)),
    "S-v1-eq-63": line_64,
    "S-v1-eq-64": line_64,
    "S-v1-eq-64/sharpened": lambda n: (line_64(n)[0] ** 2, (n.bound * lengths(n)) ** 2),
    "S-v1-thm-C6/corrected": lambda n: (
        n.sigma**2 * entry(n), (n.bound + reach(n)) * lengths(n)
    ),
}  # fmt: skip
HESSIAN_QUANTITIES: dict[str, Callable[[Numbers], tuple[float, ...]]] = {
    "S-v1-eq-36": mean_zero,
    "S-v1-eq-64": lambda n: (sharp(n),),
    "S-v1-eq-64/sharpened": lambda n: (bounded_norm(n),),
    "S-v1-thm-C6/corrected": lambda n: (sharp(n), reach(n) * lengths(n) - rest(n)),
}
