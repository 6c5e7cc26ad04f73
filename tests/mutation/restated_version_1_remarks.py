"""The first version's remarks on gradients and the proof of its Theorem C.4, restated in NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from paper_numbers import Numbers, Sides
from restated_minima import same
from restated_version_1 import (
    bracket,
    correlation,
    gradient,
    mean_zero,
    moved,
    norm,
    off_mean,
    products,
    squared,
)
from restated_weights import square


def parts(n: Numbers) -> tuple[float, float, float, float]:
    """The numbers p, a, S and alpha/m of the proof, for the input less its mean."""
    x, h = off_mean(n.u), gradient(n)
    return h @ x, h @ n.yhat, h @ h, x @ n.yhat / n.m


def spread(n: Numbers) -> float:
    """The standard deviation of the input."""
    return np.std(n.u)


def left(n: Numbers) -> float:
    """Sigma squared times the square of the gradient in the weight."""
    return n.sigma**2 * squared(n)


def expanded(n: Numbers) -> float:
    """The right side of (13)."""
    p, a, _, share = parts(n)
    return (p - share * a) ** 2


def by_absolute_value(n: Numbers) -> float:
    """The right side of (15)."""
    p, a, _, share = parts(n)
    return (abs(p) + abs(share * a)) ** 2


def line_16(n: Numbers, share: float) -> Sides:
    """The step from (15) for alpha/m, or its absolute value, in the middle."""
    p, a, S, alpha = parts(n)
    right = p**2 + 2 * share * S * n.m * spread(n) + (alpha * a) ** 2
    return by_absolute_value(n), right


def line_17(n: Numbers, power: float) -> Sides:
    """The end, for a power of alpha next to the root of c."""
    p, _, S, share = parts(n)
    alpha = abs(n.m * share)
    root_c = abs(p) / norm(off_mean(n.u)) / S**0.5
    return left(n), p**2 + 2 * root_c * alpha**power * S * spread(n) + alpha**2 / n.m * S


def line_9(n: Numbers, m: float) -> Sides:
    """Equation (9), with or without m."""
    p = n.u @ gradient(n)
    return p**2, m * p**2 / square(n.u) * np.var(n.u)


def gain(n: Numbers) -> Sides:
    """Line 477."""
    vanilla = (n.u @ gradient(n)) ** 2
    return vanilla - squared(n), vanilla / (1 + n.bound)


def oblique(n: Numbers) -> Sides:
    """The gradient in one weight by those without the layer."""
    x, y, h = off_mean(n.u), off_mean(n.y), gradient(n)
    theta = 1 - n.eps / n.sigma**2
    return n.u @ n.gradient, (x @ h - theta * (x @ y) * (y @ h) / square(y)) / n.sigma


def all_weights(n: Numbers) -> Sides:
    """The squares of both weights' gradients, at sigma squared 101/100."""
    h = gradient(n)
    inside = (n.u @ n.gradient) ** 2 + (n.v @ n.gradient) ** 2
    return 100 * n.sigma**2 * inside, 101 * ((n.u @ h) ** 2 + (n.v @ h) ** 2)


def wide_margin(n: Numbers) -> float:
    """The sharp condition."""
    p, length = products(n.u, gradient(n))
    return 4 * n.sigma**2 * p**2 - (length + p) ** 2


def no_gradient(n: Numbers) -> Sides:
    """The square of the gradient without the layer, and zero."""
    return (n.u @ gradient(n)) ** 2, 0.0


def one_weight(n: Numbers) -> Sides:
    """The gradients in one weight."""
    return squared(n), (n.u @ gradient(n)) ** 2


def correlated(n: Numbers) -> float:
    """The numerator of the correlation coefficient."""
    return off_mean(n.u) @ gradient(n)


EXPANDED = {f"S-v1-eq-{number}": lambda n: (left(n), expanded(n)) for number in (13, 14)}
REMARKS_VERSION_1: dict[str, Callable[[Numbers], Sides]] = {
    **EXPANDED,
    "S-v1-eq-8": same(lambda n: n.u @ gradient(n)),
    "S-v1-eq-9": lambda n: line_9(n, 1),
    "S-v1-eq-9/corrected": lambda n: line_9(n, n.m),
    "S-v1-line-469": lambda n: line_9(n, n.m),
    "S-v1-eq-10": same(lambda n: n.u @ n.gradient),
    "S-v1-eq-11": lambda n: (n.u @ n.gradient, gradient(n) @ bracket(n, n.u) / n.sigma),
    "S-v1-eq-12": lambda n: (n.sigma**2 * square(gradient(n)), n.m * expanded(n)),
    "S-v1-eq-15": lambda n: (left(n), by_absolute_value(n)),
    "S-v1-eq-16": lambda n: line_16(n, parts(n)[3]),
    "S-v1-eq-16/corrected": lambda n: line_16(n, abs(parts(n)[3])),
    "S-v1-eq-17": lambda n: line_17(n, 0.5),
    "S-v1-eq-17/corrected": lambda n: line_17(n, 1),
    "S-v1-line-477": gain,
    "S-v1-remark-resnet/as-used": lambda n: ((n.y @ n.yhat) ** 2, n.m**2 * np.var(n.y)),
    "S-v1-remark-resnet/as-defined": lambda n: (square(n.y) ** 2, n.m**2 * np.var(n.y)),
    "S-v1-remark-resnet/correlation": lambda n: (
        correlation(n.y, n.y) ** 2, n.m**2 * np.var(n.y)
    ),
    "S-v1-remark-resnet/any-pair": lambda n: ((n.u @ n.yhat) ** 2, n.m**2 * np.var(n.u)),
    "S-v1-remark-resnet/any-pair/bound": lambda n: ((n.u @ n.yhat) ** 2, n.m**2 * np.var(n.u)),
    "S-v1-remark-resnet/as-used/no-sensitivity": lambda n: (square(moved(n, n.y)), 0.0),
    "S-v1-remark-resnet/reduction": lambda n: (square(moved(n, n.u)), square(n.u)),
    "S-v1-remark-always/zero-cosine": no_gradient,
    "S-v1-remark-always/zero-correlation": no_gradient,
    "S-v1-remark-always/zero-correlation-any-mean": no_gradient,
    "S-v1-remark-always/one-weight": one_weight,
    "S-v1-remark-always/one-weight/corrected": one_weight,
    "S-v1-remark-always/all-weights": all_weights,
    "S-v1-remark-always/all-weights/oblique": oblique,
    "S-v1-remark-always/output": lambda n: (square(n.gradient), square(gradient(n))),
}  # fmt: skip
REMARKS_VERSION_1_QUANTITIES: dict[str, Callable[[Numbers], tuple[float, ...]]] = {
    "S-v1-eq-17": lambda n: (*mean_zero(n), n.u @ n.yhat),
    "S-v1-remark-resnet/reduction": lambda n: (n.sigma**2 - 1,),
    "S-v1-remark-always/zero-cosine": lambda n: (n.u @ gradient(n),),
    "S-v1-remark-always/zero-correlation": lambda n: (correlated(n), n.u.sum()),
    "S-v1-remark-always/zero-correlation-any-mean": lambda n: (correlated(n),),
    "S-v1-remark-always/one-weight": lambda n: (*mean_zero(n), n.sigma**2 - 1),
    "S-v1-remark-always/one-weight/corrected": lambda n: (wide_margin(n),),
    "S-v1-remark-always/all-weights": lambda n: (
        *mean_zero(n), square(n.y - n.bound * n.u)
    ),
}  # fmt: skip
