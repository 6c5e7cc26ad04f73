"""The remarks after Theorems 4.1 and 4.2, and steps of the latter's proof, restated in NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from paper_numbers import Array, Numbers, Sides
from restated_minima import same
from restated_weights import scale, square


def two_networks(n: Numbers) -> Sides:
    """The gradients of two networks."""
    return square(n.gradient), square(n.gradient_of_loss(n.y))


def convex(n: Numbers) -> Sides:
    """The second-order term of the loss <v, z - y>^2/2 + <u, z> along its own gradient."""
    fixed, u, v = (torch.as_tensor(a) for a in (n.y, n.u, n.v))

    def hat(y: torch.Tensor) -> torch.Tensor:
        z = n.layer(y)
        return (v @ (z - fixed)) ** 2 / 2 + u @ z

    h = n.dense(hat, n.y)
    return h @ n.second(hat, n.y) @ h, (n.u @ n.v) ** 2


def change(n: Numbers) -> float:
    """The squared change of the gradient along itself."""
    return square(n.hessian @ n.gradient)


def fixed_part(n: Numbers) -> Array:
    """What the product rule leaves as it is."""
    return n.centred - n.yhat * (n.g @ n.yhat) / n.m


def printed_order(n: Numbers) -> Sides:
    """Equation (21) with its second term transposed."""
    first = n.hessian + n.gamma / (n.m * n.sigma**2) * np.outer(fixed_part(n), n.yhat)
    second = n.gamma / (n.m * n.sigma**2) * np.outer(n.yhat, fixed_part(n))
    return n.hessian @ n.u, (first - second) @ n.u


def slope(n: Numbers) -> Array:
    """The gradient of gamma over sigma."""
    return -n.gamma / (n.m * n.sigma**3) * (n.y - n.y.mean())


def power(n: Numbers, eps: float) -> Sides:
    """Equations (28) and (29)."""
    return slope(n), -n.gamma / (n.m * (np.var(n.y) + eps) ** 1.5) * (n.y - n.y.mean())


def along_gradient(n: Numbers) -> Sides:
    """Equations (48) and (49)."""
    q = n.off_yhat @ n.centred
    bent = n.gamma**3 / (n.m * n.sigma**4) * (n.centred @ q) * (n.g @ n.yhat)
    return n.gradient @ n.hessian @ n.gradient, scale(n) ** 2 * (q @ n.H @ q) - bent


REMARKS: dict[str, Callable[[Numbers], Sides]] = {
    "S-remark-growth/sum": same(lambda n: n.g.sum() ** 2),
    "S-remark-growth/middle-term": lambda n: (n.g.sum() ** 2 / n.m, n.g.sum() ** 2),
    "S-remark-growth/middle-term/corrected": same(lambda n: n.g.sum() ** 2 / n.m),
    "S-remark-growth/middle-term/sharpened": lambda n: (n.g.sum() ** 2 / n.m, square(n.g)),
    "S-remark-growth/mean-loss": lambda n: (n.g.mean() ** 2, n.g.sum() ** 2),
    "S-remark-growth/mean-loss/corrected": same(lambda n: n.g.mean() ** 2),
    "S-remark-growth/positive": lambda n: (n.g.sum() ** 2, 0.0),
    "S-remark-growth/last-term": lambda n: ((n.g @ n.yhat) ** 2, 0.0),
    "S-remark-growth/last-term/corrected": same(lambda n: (n.g @ n.yhat) ** 2),
    "S-remark-growth/lipschitz": lambda n: (square(n.gradient), square(n.g)),
    "S-remark-growth/lipschitz/corrected": lambda n: (square(n.gradient), square(n.g)),
    "S-remark-growth/two-networks": two_networks,
    "S-remark-growth/global": lambda n: (
        square(n.gradient), n.gamma**2 / n.eps * square(n.centred)
    ),
    "S-remark-predictive/smoothness": convex,
    "S-remark-predictive/smoothness/corrected": lambda n: (
        n.gradient @ n.hessian @ n.gradient, n.g @ n.H @ n.g
    ),
    "S-remark-predictive/gradient": lambda n: (change(n), square(n.H @ n.g)),
    "S-remark-predictive/gradient/sharpened": lambda n: (
        change(n), square(n.gradient) ** 2 / (n.m * n.sigma**2)
    ),
    "S-eq-20-21/printed-order": printed_order,
    "S-eq-28": lambda n: power(n, 0),
    "S-eq-28/corrected": lambda n: power(n, n.eps),
    "S-eq-29": lambda n: power(n, 0),
    "S-eq-29/corrected": lambda n: power(n, n.eps),
    "S-eq-48-49": along_gradient,
}  # fmt: skip
