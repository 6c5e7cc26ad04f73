"""The first version's Theorems 3.4 and C.6 and the ends of their proofs, restated in NumPy.

The loss of one functional is t + t^2/2000 of t = <g, yhat>; two units have the outputs y and g.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from paper_numbers import Array, Numbers, Sides
from restated_minima import same
from restated_version_1 import bracket, kept, mean_zero, moved, norm, off_mean
from restated_version_1_hessian import K, entry
from restated_weights import square


def with_layer(n: Numbers, x_k: Array) -> float:
    """The entry with the layer for the loss of one functional."""
    a = torch.as_tensor(n.g)

    def loss(y: torch.Tensor) -> torch.Tensor:
        t = a @ n.normalize(y)
        return t + t**2 / 2000

    return n.u @ n.second(loss, n.y) @ x_k


def without_layer(n: Numbers, x_k: Array) -> float:
    """The entry without it."""
    return (n.g @ n.u) * (n.g @ x_k) / 1000


def root(n: Numbers, x: Array) -> float:
    """The root of d."""
    return abs(n.g @ x) / norm(n.g) / norm(x)


def size(n: Numbers) -> float:
    """The norm of the gradient of the loss of one functional."""
    return abs(1 + n.g @ n.normalize(torch.as_tensor(n.y)).numpy() / 1000) * norm(n.g)


def margin(n: Numbers, x_k: Array, factor: float) -> float:
    """The condition of Theorem C.6, multiplied by its denominator."""
    d, d_k = root(n, n.u), root(n, x_k)
    return n.sigma**2 * d * d_k * kept(n) - (1 + d) * (1 + d_k) - factor * size(n)


def theorem_c6(n: Numbers, x_k: Array) -> Sides:
    """Theorem C.6 for the loss of one functional."""
    return abs(with_layer(n, x_k)), kept(n) * abs(without_layer(n, x_k))


def given_constants(n: Numbers) -> Sides:
    """Theorem 3.4 with the constants of line 532."""
    factor = (1 + root(n, n.u)) * (1 + root(n, n.v)) + 6 * size(n)
    return abs(with_layer(n, n.v)), factor / n.sigma**2 * abs(without_layer(n, n.v))


def any_epsilon(n: Numbers) -> Sides:
    """Theorem C.6 for i = k and an epsilon of its own."""
    d = root(n, n.u) ** 2
    return d * abs(with_layer(n, n.u)), (d - n.bound) * abs(without_layer(n, n.u))


def any_epsilon_margin(n: Numbers) -> float:
    """Its condition."""
    d = root(n, n.u)
    return n.sigma**2 - ((1 + d) ** 2 + 3 * size(n)) / (d**2 - n.bound)


def spectral(matrix: Array) -> float:
    """The spectral norm."""
    return np.abs(np.linalg.eigvalsh(matrix)).max()


def matrices(n: Numbers) -> tuple[Array, Array]:
    """The Hessians in both weights, with and without the layer."""
    inputs = np.stack([n.u, n.v], axis=1)
    return inputs.T @ n.hessian @ inputs, inputs.T @ K(n) @ inputs


def flipped(n: Numbers) -> tuple[Array, Array]:
    """The Hessians of the remark's losses, the first at sigma squared 101/100."""
    w, x = bracket(n, n.v), np.stack([n.u, n.v], axis=1)
    kappa = 2 * n.m * square(w) / (n.v @ n.yhat) ** 2
    H = n.I - (1 + kappa) / n.m * np.outer(n.yhat, n.yhat)
    moves = n.slope @ x
    return 100 / 101 * n.sigma**2 * moves.T @ H @ moves, x.T @ H @ x


def margins(pair: tuple[Array, Array]) -> tuple[float, ...]:
    """By how much the squares of the entries are smaller."""
    first, second = pair
    smaller = second**2 - first**2
    return smaller[0, 0], smaller[0, 1], smaller[1, 1]


def forms(n: Numbers) -> Sides:
    """The form along (1, lambda), and that of the absolute values."""
    w, (first, second) = np.array([1, n.bound]), matrices(n)
    return w @ first @ w, w @ np.abs(second) @ w


def root_of_two(n: Numbers) -> Sides:
    """The latter's square, and its bound."""
    _, second = matrices(n)
    return forms(n)[1] ** 2, 2 * ((1 + n.bound**2) * spectral(second)) ** 2


def across(n: Numbers) -> float:
    """The first hypothesis of the remark on the spectral norm."""
    return n.u.sum() ** 2 + (n.u @ n.yhat) ** 2 + n.v.sum() ** 2


class Second:
    """The second unit, whose output is g."""

    def __init__(self, n: Numbers):
        z = torch.as_tensor(n.g)
        self.yhat, self.slope = n.normalize(z).numpy(), n.dense(n.normalize, n.g)
        self.sigma = np.sqrt(np.var(n.g) + n.eps)
        self.x_k = off_mean(n.v)
        self.bracket = self.x_k - self.yhat * (self.x_k @ self.yhat) / n.m


def joint(n: Numbers) -> float:
    """The entry for two units."""
    return moved(n, off_mean(n.u)) @ K(n) @ Second(n).slope @ n.v


def joint_X(n: Numbers) -> float:
    """X for two units."""
    return bracket(n, off_mean(n.u)) @ K(n) @ Second(n).bracket


def joint_over_sigmas(n: Numbers) -> Sides:
    """The entry, and X over both sigmas."""
    return joint(n), joint_X(n) / n.sigma / Second(n).sigma


def scaled(n: Numbers) -> float:
    """The entry times both sigmas."""
    return joint(n) * n.sigma * Second(n).sigma


def lengths(n: Numbers) -> float:
    """The product of the lengths of the inputs less their means."""
    return norm(off_mean(n.u)) * norm(off_mean(n.v))


def line_714(n: Numbers) -> Sides:
    """Line 714."""
    first, second = (1 + norm(K(n) @ off_mean(x)) / n.bound / norm(off_mean(x)) for x in (n.u, n.v))
    return scaled(n), n.bound * lengths(n) * first * second


def line_722(n: Numbers) -> Sides:
    """Line 722."""
    product, sigmas = lengths(n) * n.m**0.5, n.sigma * Second(n).sigma
    return same(lambda n: product * (1 / n.m - (1 + n.m**-0.5) ** 2 / sigmas))(n)


def line_694(n: Numbers, share: float) -> Sides:
    """Line 694 with a share of 6G."""
    d, d_k, G, product = root(n, n.u), root(n, n.v), size(n), norm(n.u) * norm(n.v)
    H = square(n.g) / 1000
    top = (1 + d) * (1 + d_k)
    left = product * (H * d * d_k - (H * top + 6 * G) / n.sigma**2)
    return left, product * H * (d * d_k - (top + share * 6 * G) / n.sigma**2)


ENTRIES: dict[str, Callable[[Numbers], Sides]] = {
    "S-v1-thm-3.4/own-constants": same(entry),
    "S-v1-thm-3.4/any-constants": lambda n: (entry(n), 0.0),
    "S-v1-thm-3.4/given-constants": given_constants,
    "S-v1-thm-3.4/shrinks": lambda n: (abs(entry(n)), abs(n.u @ K(n) @ n.v)),
    "S-v1-thm-C6/same-weight": lambda n: theorem_c6(n, n.u),
    "S-v1-thm-C6/same-unit": lambda n: theorem_c6(n, n.v),
    "S-v1-thm-C6/two-units": lambda n: (
        abs(moved(n, n.u) @ moved(n, n.v)), kept(n) * abs(n.u @ n.v)
    ),
    "S-v1-thm-C6/any-epsilon": any_epsilon,
    "S-v1-remark-spectral": lambda n: tuple(spectral(each) for each in flipped(n)),
    "S-v1-remark-spectral/corrected": forms,
    "S-v1-remark-spectral/root-of-n": root_of_two,
    "S-v1-line-686": same(lambda n: n.u @ K(n) @ n.v),
    "S-v1-line-690": lambda n: (abs(n.u @ n.v), norm(n.u) * norm(n.v) / n.m**0.5),
    "S-v1-line-690/rank-one": same(lambda n: abs(without_layer(n, n.v))),
    "S-v1-line-694": lambda n: line_694(n, 1),
    "S-v1-line-694/corrected": lambda n: line_694(n, 1000 / square(n.g)),
    "S-v1-eq-36/two-units": same(joint),
    "S-v1-eq-42": joint_over_sigmas,
    "S-v1-eq-44": joint_over_sigmas,
    "S-v1-line-625": lambda n: (0.0, 0.0),
    "S-v1-line-710": joint_over_sigmas,
    "S-v1-line-714": line_714,
    "S-v1-line-714/sharpened": lambda n: (scaled(n) ** 2, (n.bound * lengths(n)) ** 2),
    "S-v1-line-718": lambda n: (abs(n.u @ n.v), norm(n.u) * norm(n.v) / n.m**0.5),
    "S-v1-line-718/corrected": same(lambda n: n.u @ n.v),
    "S-v1-line-722": line_722,
}  # fmt: skip
ENTRIES_QUANTITIES: dict[str, Callable[[Numbers], tuple[float, ...]]] = {
    "S-v1-thm-3.4/any-constants": lambda n: (*mean_zero(n), n.u @ K(n) @ n.v),
    "S-v1-thm-C6/same-weight": lambda n: (margin(n, n.u, 3),),
    "S-v1-thm-C6/same-unit": lambda n: (margin(n, n.v, 6),),
    "S-v1-thm-C6/two-units": lambda n: (n.sigma**2 * kept(n) - (n.m**0.5 + 1) ** 2,),
    "S-v1-thm-C6/any-epsilon": lambda n: (any_epsilon_margin(n),),
    "S-v1-remark-spectral": lambda n: (across(n), *margins(flipped(n))),
    "S-v1-remark-spectral/corrected": lambda n: margins(matrices(n)),
    "S-v1-line-714": lambda n: (n.bound * lengths(n) - joint_X(n),),
    "S-v1-line-714/sharpened": lambda n: (
        n.bound**2 * square(Second(n).bracket) - square(K(n) @ Second(n).bracket),
    ),
}
