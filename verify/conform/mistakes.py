r"""Layers that people write by mistake, and the gradients that they write for a right one.

Each is plain array code that is analytic in x, gamma and beta, so that its derivatives are taken
by complex steps.  They are guesses to be compared with an output, never the judge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from verify.conform.oracle import rounded_to
from verify.conform.vectors import Vectors

Array = np.ndarray
Layer = Callable[[Array, Array, Array, float], Array]
BLOCKS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""Entries that kernels take at once."""
STEP = 1e-150
"""Of a complex step: its square vanishes."""


@dataclass(frozen=True)
class Mistake:
    """A wrong layer, in the shape (together, unit), and its name in words."""

    guess: str
    layer: Layer
    is_of_rows: bool = False
    """Whether it depends on the entries' order, which only a batch of rows makes plain."""


def _centred(x: Array) -> Array:
    return x - x.mean(axis=0)


def _mean_square(c: Array) -> Array:
    return np.mean(c * c, axis=0)


def _with_root(root: Callable[[Array, int, float], Array]) -> Layer:
    """Return the layer that divides by some function of variance, m and eps."""

    def layer(x: Array, gamma: Array, beta: Array, eps: float) -> Array:
        c = _centred(x)
        return gamma * c / root(_mean_square(c), len(x), eps) + beta

    return layer


def _with_scale(scale: Callable[[Array], Array]) -> Layer:
    """Return the layer that scales by some function of gamma."""
    return lambda x, gamma, beta, eps: _right(x, scale(gamma), beta, eps)


def _right(x: Array, gamma: Array, beta: Array, eps: float) -> Array:
    c = _centred(x)
    return gamma * c / np.sqrt(_mean_square(c) + eps) + beta


def _of_part(part: Callable[[Array], Array]) -> Layer:
    """Return the layer with the statistics of a part of the batch."""

    def layer(x: Array, gamma: Array, beta: Array, eps: float) -> Array:
        taken = part(x)
        c = taken - taken.mean(axis=0)
        return gamma * (x - taken.mean(axis=0)) / np.sqrt(_mean_square(c) + eps) + beta

    return layer


def _of_blocks(block: int) -> Layer:
    return _of_part(lambda x: x[: max(len(x) // block, 1) * block])


def _halves(x: Array) -> list[Array]:
    half = max(len(x) // 2, 1)
    return [x[:half], x[half:]]


def _merged(parts: Callable[[Array], list[Array]]) -> Layer:
    """Return the layer whose variance is the mean of that of its parts."""

    def layer(x: Array, gamma: Array, beta: Array, eps: float) -> Array:
        squares = sum(np.sum(_centred(part) ** 2, axis=0) for part in parts(x) if len(part))
        return gamma * _centred(x) / np.sqrt(squares / len(x) + eps) + beta

    return layer


def _in_blocks(block: int) -> Callable[[Array], list[Array]]:
    return lambda x: [x[start : start + block] for start in range(0, len(x), block)]


def _of_everything(x: Array, gamma: Array, beta: Array, eps: float) -> Array:
    c = x - x.mean()
    return gamma * c / np.sqrt(np.mean(c * c) + eps) + beta


def _rms(
    root: Callable[[Array, int, float], Array] = lambda s, _, e: np.sqrt(s + e),
    scale: Callable[[Array], Array] = lambda gamma: gamma,
) -> Layer:
    """Return the layer that divides by some function of the mean square, m and eps."""

    def layer(x: Array, gamma: Array, beta: Array, eps: float) -> Array:
        return scale(gamma) * x / root(_mean_square(x), len(x), eps) + beta

    return layer


def _largest(a: Array, b: float) -> Array:
    return np.where(np.real(a) > b, a, b)


def _of_all_units(x: Array, gamma: Array, beta: Array, eps: float) -> Array:
    return gamma * x / np.sqrt(np.mean(x * x) + eps) + beta


Root = Callable[[Array, int, float], Array]


def _roots(square: str) -> tuple[tuple[str, Root], ...]:
    """Return what is divided by, by mistake, by what a report calls the square under the root."""
    narrower = ("single precision", "float32"), ("float16", "float16"), ("bfloat16", "bfloat16")
    return (
        (f"m - 1 for m in {square}", lambda s, m, e: np.sqrt(_corrected(s, m) + e)),
        (f"the square of {square} and eps for its root", lambda s, _, e: (s + e) ** 2),
        ("multiplied by the root, not divided", lambda s, _, e: 1 / np.sqrt(s + e)),
        (
            "an eps below 1.001e-5 is raised to it",
            lambda s, _, e: np.sqrt(s + max(e, 1.001e-5)),
        ),
        *((f"eps is rounded to {name}", _with_eps_in(dtype)) for name, dtype in narrower),
    )


def _with_eps_in(dtype: str) -> Root:
    return lambda s, _, e: np.sqrt(s + float(rounded_to(e, dtype)))


Evaluated = Callable[[Array, Array, Array, float], Array]
"""(x, mean, variance, eps) -> yhat"""


def _by(root: Callable[[Array, int, float], Array]) -> Evaluated:
    return lambda x, mean, variance, eps: (x - mean) / root(variance, len(x), eps)


EVALUATIONS: tuple[tuple[str, Evaluated], ...] = (
    ("eps is missing", _by(lambda v, _, e: np.sqrt(v))),
    ("eps outside of the root", _by(lambda v, _, e: np.sqrt(v) + e)),
    ("eps is counted twice", _by(lambda v, _, e: np.sqrt(v + 2 * e))),
    ("the running variance for its root", _by(lambda v, _, e: v + e)),
    ("the running variance is taken for a deviation", _by(lambda v, _, e: np.sqrt(v * v + e))),
    ("m/(m - 1) once more", _by(lambda v, m, e: np.sqrt(v * m / max(m - 1, 1) + e))),
    ("(m - 1)/m", _by(lambda v, m, e: np.sqrt(v * (m - 1) / m + e))),
    (
        "the batch's statistics, as in training",
        lambda x, mean, variance, eps: _centred(x) / np.sqrt(_mean_square(_centred(x)) + eps),
    ),
    (
        "the batch's mean",
        lambda x, mean, variance, eps: _centred(x) / np.sqrt(variance + eps),
    ),
    (
        "the batch's variance",
        lambda x, mean, variance, eps: (x - mean) / np.sqrt(_mean_square(_centred(x)) + eps),
    ),
    ("the mean is not subtracted", lambda x, mean, variance, eps: x / np.sqrt(variance + eps)),
)
"""What evaluations do by mistake."""

Remembered = Callable[[Array, Array, Array, float], Array]
"""(x, running mean after the step, gamma, eps) -> what the step moves the variance towards"""


def _corrected(variance: Array, m: int) -> Array:
    return variance * m / max(m - 1, 1)


VARIANCES: tuple[tuple[str, Remembered], ...] = (
    ("eps is in it", lambda x, _, __, e: _corrected(_mean_square(_centred(x)) + e, len(x))),
    ("eps is in it", lambda x, _, __, e: _corrected(_mean_square(_centred(x)), len(x)) + e),
    ("squares about zero", lambda x, _, __, e: _corrected(_mean_square(x), len(x))),
    ("squares about zero", lambda x, _, __, e: _mean_square(x)),
    (
        "squares about the running mean",
        lambda x, mean, _, e: _corrected(_mean_square(x - mean), len(x)),
    ),
    ("the deviation", lambda x, _, __, e: np.sqrt(_corrected(_mean_square(_centred(x)), len(x)))),
    ("the variance of all channels", lambda x, _, __, e: np.var(x, ddof=1) * np.ones(x.shape[1])),
    ("m for m - 1 in the variance", lambda x, _, __, e: _mean_square(_centred(x))),
    (
        "m - 1 for m in the variance",
        lambda x, _, __, e: _corrected(_mean_square(_centred(x)), len(x)),
    ),
)
"""What running variances move towards by mistake."""

MEANS: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("the last sample", lambda x: x[-1]),
    ("the first sample", lambda x: x[0]),
    ("the mean without the last sample", lambda x: x[:-1].mean(axis=0) if len(x) > 1 else x[0]),
    ("the mean of all channels", lambda x: np.full(x.shape[1], x.mean())),
    ("the sum", lambda x: x.sum(axis=0)),
    ("the median", lambda x: np.median(x, axis=0)),
)
"""What running means move towards by mistake."""

MISTAKES = (
    Mistake(
        "m - 1 for m in the variance", _with_root(lambda v, m, e: np.sqrt(v * m / (m - 1) + e))
    ),
    Mistake("eps outside of the root", _with_root(lambda v, _, e: np.sqrt(v) + e)),
    Mistake(
        "eps both inside and outside of the root", _with_root(lambda v, _, e: np.sqrt(v + e) + e)
    ),
    Mistake("eps is missing", _with_root(lambda v, _, e: np.sqrt(v))),
    Mistake(
        "m - 1 for m in the variance, and eps outside of the root",
        _with_root(lambda v, m, e: np.sqrt(v * m / (m - 1)) + e),
    ),
    Mistake(
        "m - 1 for m in the variance, and eps is missing",
        _with_root(lambda v, m, _: np.sqrt(v * m / (m - 1))),
    ),
    Mistake("eps is squared", _with_root(lambda v, _, e: np.sqrt(v + e * e))),
    Mistake("eps is counted twice", _with_root(lambda v, _, e: np.sqrt(v + 2 * e))),
    Mistake("the root of eps for eps", _with_root(lambda v, _, e: np.sqrt(v + np.sqrt(e)))),
    Mistake(
        "max(variance, eps) for variance + eps", _with_root(lambda v, _, e: np.sqrt(_largest(v, e)))
    ),
    Mistake(
        "max(sigma, eps) for the root of variance + eps",
        _with_root(lambda v, _, e: _largest(np.sqrt(v), e)),
    ),
    Mistake(
        "eps is added to the centred entries",
        lambda x, gamma, beta, eps: (
            gamma * (_centred(x) + eps) / np.sqrt(_mean_square(_centred(x) + eps) + eps) + beta
        ),
    ),
    Mistake("eps is 1e-5 whatever is asked for", _with_root(lambda v, _, e: np.sqrt(v + 1e-5))),
    Mistake("eps is 1e-3 whatever is asked for", _with_root(lambda v, _, e: np.sqrt(v + 1e-3))),
    Mistake("the variance for its root", _with_root(lambda v, _, e: v + e)),
    Mistake("the sum of squares for their mean", _with_root(lambda v, m, e: np.sqrt(v * m + e))),
    Mistake(
        "m + 1 for m in the variance", _with_root(lambda v, m, e: np.sqrt(v * m / (m + 1) + e))
    ),
    Mistake("|gamma| for gamma", _with_scale(lambda gamma: np.sign(np.real(gamma)) * gamma)),
    Mistake("gamma cut off at zero", _with_scale(lambda gamma: _largest(gamma, 0.0))),
    Mistake("1 + gamma for gamma", _with_scale(lambda gamma: 1 + gamma)),
    Mistake("gamma is missing", _with_scale(np.ones_like)),
    Mistake(
        "gamma + eps for gamma",
        lambda x, gamma, beta, eps: _right(x, gamma + eps, beta, eps),
    ),
    Mistake("gamma squared for gamma", _with_scale(lambda gamma: gamma * gamma)),
    Mistake("-gamma for gamma", _with_scale(lambda gamma: -gamma)),
    Mistake("beta is missing", lambda x, gamma, beta, eps: _right(x, gamma, 0 * beta, eps)),
    Mistake(
        "gamma and beta are missing",
        lambda x, gamma, beta, eps: _right(x, 0 * gamma + 1, 0 * beta, eps),
    ),
    Mistake("-beta for beta", lambda x, gamma, beta, eps: _right(x, gamma, -beta, eps)),
    Mistake("gamma and beta exchanged", lambda x, gamma, beta, eps: _right(x, beta, gamma, eps)),
    Mistake(
        "gamma scales beta too", lambda x, gamma, beta, eps: _right(x, gamma, gamma * beta, eps)
    ),
    Mistake(
        "the mean is not subtracted",
        lambda x, gamma, beta, eps: gamma * x / np.sqrt(_mean_square(_centred(x)) + eps) + beta,
    ),
    Mistake(
        "RMS normalisation: the mean is left in the variance and in x",
        lambda x, gamma, beta, eps: gamma * x / np.sqrt(_mean_square(x) + eps) + beta,
    ),
    Mistake(
        "the mean is left in the variance",
        lambda x, gamma, beta, eps: gamma * _centred(x) / np.sqrt(_mean_square(x) + eps) + beta,
    ),
    *(Mistake(guess, _with_root(root)) for guess, root in _roots("the variance")),
    Mistake("the last entry counts twice", _of_part(lambda x: np.concatenate([x, x[-1:]])), True),
    Mistake(
        "statistics without the last entry", _of_part(lambda x: x[:-1] if len(x) > 1 else x), True
    ),
    Mistake(
        "statistics without the first entry", _of_part(lambda x: x[1:] if len(x) > 1 else x), True
    ),
    Mistake("statistics of the first half", _of_part(lambda x: _halves(x)[0]), True),
    *(
        Mistake(f"statistics of whole blocks of {block} entries", _of_blocks(block), True)
        for block in BLOCKS
    ),
    Mistake("two halves are merged without the distance of their means", _merged(_halves), True),
    *(
        Mistake(
            f"blocks of {block} entries are merged without the distance of their means",
            _merged(_in_blocks(block)),
            True,
        )
        for block in BLOCKS
    ),
    Mistake("statistics of all channels", _of_everything),
    Mistake("x is not normalised", lambda x, gamma, beta, eps: gamma * x + beta),
    Mistake("x is returned as it is", lambda x, gamma, beta, eps: x),
)
"""Of a layer that subtracts its mean."""

RIGHT, RMS_RIGHT = _right, _rms()
"""What the mistakes are mistakes of."""
RMS_MISTAKES = (
    Mistake("the mean is subtracted, as in layer normalisation", _right),
    Mistake(
        "the mean is subtracted",
        lambda x, gamma, beta, eps: gamma * _centred(x) / np.sqrt(_mean_square(x) + eps) + beta,
    ),
    Mistake(
        "the variance for the mean square",
        lambda x, gamma, beta, eps: gamma * x / np.sqrt(_mean_square(_centred(x)) + eps) + beta,
    ),
    Mistake("eps outside of the root", _rms(lambda s, _, e: np.sqrt(s) + e)),
    Mistake("eps both inside and outside of the root", _rms(lambda s, _, e: np.sqrt(s + e) + e)),
    Mistake("eps is missing", _rms(lambda s, _, __: np.sqrt(s))),
    Mistake("eps is squared", _rms(lambda s, _, e: np.sqrt(s + e * e))),
    Mistake("eps is counted twice", _rms(lambda s, _, e: np.sqrt(s + 2 * e))),
    Mistake(
        "max(mean square, eps) for mean square + eps", _rms(lambda s, _, e: np.sqrt(_largest(s, e)))
    ),
    Mistake("the mean square for its root", _rms(lambda s, _, e: s + e)),
    Mistake("the sum of squares for their mean", _rms(lambda s, m, e: np.sqrt(s * m + e))),
    Mistake("m - 1 for m in the mean square", _rms(lambda s, m, e: np.sqrt(s * m / (m - 1) + e))),
    *(Mistake(guess, _rms(root)) for guess, root in _roots("the mean square")),
    Mistake("the mean square of all units", _of_all_units),
    Mistake("1 + gamma for gamma", _rms(scale=lambda gamma: 1 + gamma)),
    Mistake("gamma is missing", _rms(scale=np.ones_like)),
    Mistake("gamma squared for gamma", _rms(scale=lambda gamma: gamma * gamma)),
)
"""Of one that does not."""


Gradient = Callable[[Vectors], Array]
"""In x in the shape of the matrix, in a parameter as the summands of its sum."""


def _by_root(root: Root) -> Gradient:
    """Return the gradient in x of a backward that has another root than the forward."""

    def gradient(v: Vectors) -> Array:
        sigma = root(v.variance, v.m, v.eps)
        yhat = v.centred / sigma
        return (v.bar(v.pulled) - yhat * np.mean(yhat * v.pulled, axis=0)) / sigma

    return gradient


def _along(part: Gradient) -> Gradient:
    """Return the gradient in x whose term along yhat is another."""
    return lambda v: (v.bar(v.pulled) - part(v)) / v.sigma


def _projected(v: Vectors) -> Array:
    return v.bar(v.pulled) - v.yhat * v.along(v.pulled)


SLOPES: tuple[tuple[str, Gradient], ...] = (
    (
        "the backward's root: m - 1 for m in the square",
        _by_root(lambda s, m, e: np.sqrt(s * m / (m - 1) + e)),
    ),
    *((f"the backward's root: {guess}", _by_root(root)) for guess, root in _roots("the square")),
    ("eps is missing in the backward", _by_root(lambda s, _, e: np.sqrt(s))),
    ("eps outside of the root in the backward", _by_root(lambda s, _, e: np.sqrt(s) + e)),
    (
        "gamma is multiplied after the projections, as if it were one number a unit",
        lambda v: v.at["gamma"] * (v.bar(v.at["g"]) - v.yhat * v.along(v.at["g"])) / v.sigma,
    ),
    ("gamma is missing in <ŷ, γg>", _along(lambda v: v.yhat * v.along(v.at["g"]))),
    (
        "gamma is twice in <ŷ, γg>",
        _along(lambda v: v.yhat * v.along(v.at["gamma"] * v.pulled)),
    ),
    ("gamma is twice in ŷ <ŷ, γg>", _along(lambda v: v.at["gamma"] * v.yhat * v.along(v.pulled))),
    (
        "gamma is missing in mean(γg)",
        lambda v: (v.pulled - v.mean(v.at["g"]) - v.yhat * v.along(v.pulled)) / v.sigma,
    ),
    (
        "x less its mean stands for ŷ, without sigma",
        _along(lambda v: v.centred * np.mean(v.centred * v.pulled, axis=0)),
    ),
    (
        "x stands for ŷ, without its mean and sigma",
        _along(lambda v: v.at["x"] * np.mean(v.at["x"] * v.pulled, axis=0)),
    ),
    ("divided by sigma twice", lambda v: _projected(v) / v.sigma**2),
    ("not divided by sigma", _projected),
)
"""Gradients in x that people write for a right layer."""
SUMMANDS: dict[str, tuple[tuple[str, Gradient], ...]] = {
    "gamma": (
        ("x stands for ŷ, without its mean and sigma", lambda v: v.at["g"] * v.at["x"]),
        ("x less its mean stands for ŷ, without sigma", lambda v: v.at["g"] * v.centred),
        ("the output stands for ŷ", lambda v: v.at["g"] * (v.at["gamma"] * v.yhat + v.at["beta"])),
        ("γg stands for g", lambda v: v.pulled * v.yhat),
    ),
    "beta": (
        ("γg stands for g", lambda v: v.pulled),
        ("γg/σ stands for g, as in the gradient of the mean", lambda v: v.pulled / v.sigma),
    ),
}
"""What is added up, by mistake, for the gradient in a parameter."""
