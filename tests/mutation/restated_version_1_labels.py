"""The first version's Lemma 3.3 and its proof, restated in NumPy.

The labels are u and the other output is v, both less their means; norms are sums of squares.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from paper_numbers import Array, Numbers, Sides
from restated_version_1 import norm, off_mean
from restated_weights import square


def root(n: Numbers) -> float:
    """The root of one less 2e."""
    return 1 / (1 + n.bound)


def error(n: Numbers) -> float:
    """The e below one half."""
    return (1 - root(n) ** 2) / 2


def printed(e: float) -> float:
    """The factor of e."""
    return 3 * (1 + e) / (1 - 2 * e)


def normalized(n: Numbers, y: Array) -> Array:
    """BN(y)."""
    return n.normalize(torch.as_tensor(y)).numpy()


def missed(n: Numbers, share: float = 1) -> float:
    """The squared distance of BN(Wx) to a share of the labels."""
    return square(normalized(n, n.y) - share * off_mean(n.u))


def conditions(n: Numbers, bound: float, share: float = 1, scale: float = 1) -> tuple[float, float]:
    """By how much both points are closer than a bound of the square."""
    l = share * off_mean(n.u)
    points = normalized(n, n.v), scale * off_mean(n.y)
    near, fitted = (bound - square(point - l) for point in points)
    return near, fitted


def lemma(n: Numbers) -> Sides:
    """As printed; where eps > 0 for an e of another range."""
    e = n.bound / (30 * n.bound + 1) if n.eps else error(n)
    return missed(n), n.m * (printed(e) * e) ** 2


def any_error(n: Numbers) -> Sides:
    """For any e."""
    return missed(n) ** 0.5, n.m**0.5 * n.bound * printed(n.bound)


def quarter(n: Numbers) -> float:
    """An e between a quarter and a half."""
    return 1 / 4 + 1 / (100 * n.bound)


def exact_fit(n: Numbers) -> float:
    """How far both points are from the labels."""
    return -sum(conditions(n, 0))


def line_30(n: Numbers) -> Sides:
    """Equation (30)."""
    l = off_mean(n.u)
    right = norm(off_mean(n.y) - l) + abs(1 - n.sigma) * norm(l)
    return missed(n) ** 0.5, right / n.sigma


def end(n: Numbers) -> float:
    """The right side of (31)."""
    e = error(n)
    return (3 * e + 2 * e**2) / (1 - 2 * e)


def line_31(n: Numbers) -> Sides:
    """Equation (31)."""
    return missed(n), n.m * end(n) ** 2


def line_24(n: Numbers) -> Sides:
    """Equation (24)."""
    return (n.sigma + error(n)) ** 2, square(off_mean(n.u)) / n.m


def near(n: Numbers, point: Array) -> Sides:
    """Equations (19) and (26)."""
    return square(point) / n.m, (norm(off_mean(n.u)) / n.m**0.5 + error(n)) ** 2


def of_size(n: Numbers, x: Array, reach: float) -> Sides:
    """A mean square, and the square of one and a multiple of e."""
    return square(off_mean(x)) / n.m, (1 + reach * error(n)) ** 2


def squares(sides: Sides) -> Sides:
    """The squares of both sides."""
    return sides[0] ** 2, sides[1] ** 2


LABELS: dict[str, Callable[[Numbers], Sides]] = {
    "S-v1-lemma-3.3": lemma,
    "S-v1-lemma-3.3/euclidean": lambda n: (missed(n), (printed(error(n)) * error(n)) ** 2),
    "S-v1-lemma-3.3/any-epsilon": any_error,
    "S-v1-lemma-3.3/any-epsilon/corrected": lambda n: (missed(n), 9 * n.m * n.bound**2),
    "S-v1-lemma-3.3/corrected": lambda n: (
        missed(n), square(off_mean(n.u)) * (1 - 1 / n.sigma) ** 2
    ),
    "S-v1-lemma-3.3/sharpened": lambda n: (
        missed(n), n.m * (1 + (1 - error(n)) ** 2 - 2 * root(n))
    ),
    "S-v1-lemma-3.3/squared": lambda n: (
        missed(n, 1 / 2), n.m * printed(quarter(n)) * quarter(n)
    ),
    "S-v1-lemma-3.3/squared/corrected": lambda n: (
        missed(n), n.m * printed(error(n) ** 2) * error(n) ** 2
    ),
    "S-v1-lemma-3.3/squared/nine": lambda n: (missed(n), 9 * n.m * n.bound**2),
    "S-v1-eq-19": lambda n: near(n, normalized(n, n.v)),
    "S-v1-eq-20": lambda n: of_size(n, n.u, -1),
    "S-v1-eq-21": lambda n: of_size(n, n.u, 1),
    "S-v1-eq-24": line_24,
    "S-v1-eq-25": lambda n: ((n.sigma + error(n)) ** 2, (1 - error(n)) ** 2),
    "S-v1-eq-26": lambda n: near(n, off_mean(n.y)),
    "S-v1-eq-27": lambda n: of_size(n, n.y, 2),
    "S-v1-eq-28": lambda n: (
        normalized(n, n.y), n.m**0.5 * off_mean(n.y) / norm(off_mean(n.y))
    ),
    "S-v1-eq-28/euclidean": lambda n: (normalized(n, n.y), off_mean(n.y) / norm(off_mean(n.y))),
    "S-v1-eq-29": lambda n: (
        missed(n), square(off_mean(n.y) / n.sigma - off_mean(n.u))
    ),
    "S-v1-eq-30": line_30,
    "S-v1-eq-30/repaired": line_30,
    "S-v1-eq-30/repaired/corrected": lambda n: squares(line_30(n)),
    "S-v1-eq-31": line_31,
    "S-v1-eq-31/corrected": line_31,
    "S-v1-eq-32": lambda n: (end(n), end(n)),
    "S-v1-eq-33": lambda n: (end(n), printed(error(n)) * error(n)),
}  # fmt: skip
LABELS_QUANTITIES: dict[str, Callable[[Numbers], tuple[float, ...]]] = {
    "S-v1-lemma-3.3": lambda n: (
        (exact_fit(n),) if n.eps else conditions(n, n.m * error(n) ** 2)
    ),
    "S-v1-lemma-3.3/euclidean": lambda n: conditions(n, error(n) ** 2),
    "S-v1-lemma-3.3/any-epsilon": lambda n: conditions(n, n.m * n.bound**2),
    "S-v1-lemma-3.3/corrected": lambda n: (square(off_mean(n.u) - off_mean(n.y)),),
    "S-v1-lemma-3.3/squared": lambda n: (
        off_mean(n.v) @ n.v / n.m, *conditions(n, n.m * quarter(n), 1 / 2, 1 / 1000)
    ),
}  # fmt: skip
