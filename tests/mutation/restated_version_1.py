"""The first version's theorems on one weight and their proofs, restated in matrices of NumPy.

The i-th input is u, the k-th is v.  The loss of yhat has the gradient gamma g and the Hessian
gamma^2 H; alpha is given as a number, since the text gives it three meanings.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from paper_numbers import Array, Numbers, Sides
from restated_minima import same
from restated_weights import square

Number = Callable[[Numbers], float]


def off_mean(a: Array) -> Array:
    """A batch less its mean."""
    return a - a.mean()


def norm(a: Array) -> float:
    """The Euclidean norm."""
    return np.sqrt(a @ a)


def correlation(a: Array, b: Array) -> float:
    """The correlation coefficient of two batches."""
    return off_mean(a) @ off_mean(b) / norm(off_mean(a)) / norm(off_mean(b))


def gradient(n: Numbers) -> Array:
    """The gradient of the loss of yhat."""
    return n.gamma * n.g


def moved(n: Numbers, x: Array) -> Array:
    """The derivative of yhat by a weight."""
    return n.slope @ x


def bracket(n: Numbers, x: Array) -> Array:
    """What Fact C.2 divides by sigma."""
    return x - n.yhat * (x @ n.yhat) / n.m


def mean_zero(n: Numbers) -> tuple[float]:
    """The quantity of the hypothesis that inputs have mean zero."""
    return (n.u.sum() ** 2 + n.v.sum() ** 2,)


ALPHAS: dict[str, Number] = {
    "as-used": lambda n: n.u @ n.yhat,
    "as-defined": lambda n: n.u @ n.y,
    "correlation": lambda n: correlation(n.u, n.y),
    "any-mean": lambda n: n.u @ n.yhat,
}


def fact_c2(n: Numbers, alpha: Number) -> Sides:
    """Equation (2)."""
    return moved(n, n.u), (n.u - n.yhat * alpha(n) / n.m) / n.sigma


def theorem_3_1(n: Numbers, alpha: Number) -> Sides:
    """Theorem 3.1."""
    return square(moved(n, n.u)), (square(n.u) - alpha(n) ** 2 / n.m) / n.sigma**2


def theorem_c3(n: Numbers, alpha: Number) -> Sides:
    """Theorem C.3, second half."""
    return square(moved(n, n.u)), (n.m * np.var(n.u) - alpha(n) ** 2) / n.sigma**2


def theorem_3_1_corrected(n: Numbers) -> Sides:
    """With the mean of x and with eps."""
    lost = (1 + n.eps / n.sigma**2) * (n.u @ n.yhat) ** 2 / n.m
    return square(moved(n, n.u)), (square(off_mean(n.u)) - lost) / n.sigma**2


def unexplained(n: Numbers) -> Sides:
    """What y does not explain of x."""
    x, y = off_mean(n.u), off_mean(n.y)
    right = square(x) - (x @ y) ** 2 / square(y)
    return square(moved(n, n.u)), right / n.sigma**2


def proof_c3(n: Numbers, right: Number) -> Sides:
    """A line of the proof of Theorem C.3."""
    return square(moved(n, n.u)), right(n)


def line_4(n: Numbers, alpha: Number) -> float:
    """The right side of (4)."""
    return square((n.m * n.u - n.yhat * alpha(n)) / n.m / n.sigma)


def line_6(n: Numbers) -> float:
    """The right side of (6) and (7)."""
    return (n.m * np.var(n.u) - ALPHAS["as-used"](n) ** 2 / n.m) / n.sigma**2


def line_5(n: Numbers) -> float:
    """The right side of (5)."""
    a = n.u @ n.yhat
    return (square(n.u) - 2 * a**2 / n.m + a**2 * square(n.yhat) / n.m**2) / n.sigma**2


def vanilla_gradient(n: Numbers) -> Array:
    """The gradient of the network without the layer, at y."""
    return n.gamma * n.gradient_of_loss(n.gamma * n.y + n.beta)


def squared(n: Numbers) -> float:
    """The square of the gradient in the weight."""
    return (n.u @ n.gradient) ** 2


def products(x: Array, g: Array) -> tuple[float, float]:
    """The numbers |<x, g>| and |x||g|."""
    return abs(x @ g), norm(x) * norm(g)


def theorem_3_2(n: Numbers, x: Array, g: Array, share: float = 1) -> Sides:
    """Theorem 3.2 for c the square of a cosine."""
    return squared(n), sum(products(x, g)) ** 2 / n.sigma**2 / share


def pearson_any_mean(n: Numbers) -> Sides:
    """Theorem 3.2 for c the square of the correlation coefficient."""
    h = gradient(n)
    factor = (1 / abs(correlation(n.u, h)) + 1) ** 2 / n.sigma**2
    return squared(n), factor * (n.u @ h) ** 2


def cosine(n: Numbers) -> Sides:
    """Theorem 3.2 for c the cosine."""
    p, length = products(n.u, gradient(n))
    return squared(n), ((length / p) ** 0.5 + 1) ** 2 / n.sigma**2 * p**2


def kept(n: Numbers) -> float:
    """One less epsilon/c."""
    return 1 - 1 / (1 + n.bound)


def theorem_c4(n: Numbers) -> Sides:
    """Theorem C.4."""
    return squared(n), kept(n) * (n.u @ gradient(n)) ** 2


def margin(n: Numbers, share: float = 1) -> tuple[float]:
    """The condition of Theorem C.4, times |x|^2|g|^2."""
    p, length = products(n.u, gradient(n))
    return (share * n.sigma**2 * kept(n) * p**2 - (length + p) ** 2,)


def any_epsilon(n: Numbers) -> Sides:
    """Theorem C.4 for an epsilon of its own."""
    p, length = products(n.u, gradient(n))
    return squared(n), (1 - n.bound * length**2 / p**2) * p**2


def any_epsilon_margin(n: Numbers) -> tuple[float]:
    """Its condition."""
    p, length = products(n.u, gradient(n))
    return (n.sigma**2 - (1 + p / length) ** 2 / (p**2 / length**2 - n.bound),)


def cosine_margin(n: Numbers) -> tuple[float]:
    """The condition for the cosine."""
    p, length = products(n.u, gradient(n))
    return (n.sigma**2 * p - (length**0.5 + p**0.5) ** 2,)


def c4_two_networks(n: Numbers) -> Sides:
    """Theorem C.4 for the loss less a linear function, with c = 1."""
    linear = vanilla_gradient(n) - n.u
    left = (n.u @ n.gradient - linear @ moved(n, n.u)) ** 2
    return left, 4 / n.sigma**2 * square(n.u) ** 2


MEANINGS = {
    f"{name}/{alpha}": partial(sides, alpha=ALPHAS[alpha])
    for name, sides in {
        "S-v1-fact-C2-eq-2": fact_c2,
        "S-v1-thm-3.1": theorem_3_1,
        "S-v1-thm-C3": theorem_c3,
    }.items()
    for alpha in ALPHAS
    if (name, alpha) != ("S-v1-thm-C3", "any-mean")
}
VERSION_1: dict[str, Callable[[Numbers], Sides]] = {
    **MEANINGS,
    "S-v1-fact-C2-eq-2/any-mean/corrected": lambda n: (
        moved(n, n.u), (bracket(n, n.u) - n.u.mean()) / n.sigma
    ),
    "S-v1-thm-3.1/as-used/corrected": theorem_3_1_corrected,
    "S-v1-thm-3.1/as-used/reduction": unexplained,
    "S-v1-thm-C3/as-used/corrected": theorem_3_1_corrected,
    "S-v1-thm-C3-vanilla": lambda n: (square(n.u), n.m * np.var(n.u)),
    "S-v1-thm-C3-vanilla/any-mean": lambda n: (square(n.u), n.m * np.var(n.u)),
    "S-v1-thm-C3-vanilla/any-mean/corrected": same(lambda n: square(n.u)),
    "S-v1-eq-3": partial(proof_c3, right=lambda n: n.m * np.var(n.u)),
    "S-v1-eq-3/corrected": lambda n: (square(n.u), n.m * np.var(n.u)),
    "S-v1-eq-4": partial(proof_c3, right=partial(line_4, alpha=ALPHAS["as-used"])),
    "S-v1-eq-4/as-defined": partial(proof_c3, right=partial(line_4, alpha=ALPHAS["as-defined"])),
    "S-v1-eq-5": partial(proof_c3, right=line_5),
    "S-v1-eq-6": partial(proof_c3, right=line_6),
    "S-v1-eq-7": partial(proof_c3, right=line_6),
    "S-v1-thm-3.2/square": lambda n: theorem_3_2(n, n.u, gradient(n)),
    "S-v1-thm-3.2/square/sharpened": lambda n: theorem_3_2(n, n.u, gradient(n), 4),
    "S-v1-thm-3.2/square-pearson": lambda n: theorem_3_2(n, off_mean(n.u), off_mean(gradient(n))),
    "S-v1-thm-3.2/square-pearson-any-mean": pearson_any_mean,
    "S-v1-thm-3.2/cosine": cosine,
    "S-v1-thm-3.2/two-networks": lambda n: theorem_3_2(n, n.u, vanilla_gradient(n)),
    "S-v1-thm-C4/square": theorem_c4,
    "S-v1-thm-C4/square/sharpened": theorem_c4,
    "S-v1-thm-C4/any-epsilon": any_epsilon,
    "S-v1-thm-C4/cosine": cosine,
    "S-v1-thm-C4/two-networks": c4_two_networks,
}  # fmt: skip
VERSION_1_QUANTITIES: dict[str, Callable[[Numbers], tuple[float, ...]]] = {
    "S-v1-thm-3.1/as-used": mean_zero,
    "S-v1-thm-3.2/cosine": lambda n: ((n.u @ gradient(n)) ** 2,),
    "S-v1-thm-3.2/two-networks": lambda n: ((n.u @ vanilla_gradient(n)) ** 2,),
    "S-v1-thm-C4/square": margin,
    "S-v1-thm-C4/square/sharpened": partial(margin, share=4),
    "S-v1-thm-C4/any-epsilon": any_epsilon_margin,
    "S-v1-thm-C4/cosine": cosine_margin,
    "S-v1-thm-C4/two-networks": lambda n: (n.sigma**2 - 4,),
}
