"""The right answers: the closed forms in ball arithmetic, and their running error.

One class holds the formulas; what flows through it decides what comes out: balls, for the exact
answer to the subject's own rounded inputs, or numbers with a running error, for what the literal
two-pass algorithm may lose.  Matrices have the shape (together, unit), see
:mod:`verify.conform.geometry`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, ctx

from theory import batchnorm, family, running
from theory.arithmetic import inner
from theory.arithmetic import mean as average
from theory.arithmetic.running_error import Precision, Rounded
from verify.conform.geometry import Geometry
from verify.conform.modes import MOMENTUM

SINGLE = 2.0**-24
"""Half-precision numbers are added up in single precision, by every framework's own reductions."""
PRECISIONS = {
    "float64": Precision(2.0**-53, 2.0**-1022, np.finfo(np.float64).max),
    "float32": Precision(2.0**-24, 2.0**-126, float(np.finfo(np.float32).max)),
    "bfloat16": Precision(2.0**-8, 2.0**-126, 2.0**128 * (1 - 2.0**-8), SINGLE),
    # A layer takes its statistics in single precision: a variance may be beyond the half range.
    "float16": Precision(2.0**-11, 2.0**-14, float(np.finfo(np.float32).max), SINGLE),
}
BITS, MOST_BITS = 256, 2048
"""Precision of the balls, doubled until their radius is nothing beside the rounding."""
MANY = 2**16
"""Entries that are too many for balls: a wider precision answers, with its own error as doubt."""


@dataclass(frozen=True)
class Convention:
    """What libraries differ in: the running statistics."""

    weight: float = MOMENTUM
    """What the batch counts for in an update with the momentum that is examined."""
    is_unbiased: bool = True
    """Whether the running variance is of m - 1."""


class ClosedForms:
    r"""Every output of a layer and of its derivatives at one point, in one arithmetic.

    The scalar that is differentiated is :math:`\langle g, z(x, \gamma, \beta)\rangle`, along
    directions :math:`(u, a, b)` and :math:`(w, a', b')` in :math:`(x, \gamma, \beta)`.
    """

    def __init__(
        self,
        at: Mapping[str, Any],
        eps: Any,
        is_centred: bool,
        sharing: np.ndarray,
        convention: Convention,
    ):
        self._at, self._eps, self._is_centred, self._sharing = at, eps, is_centred, sharing
        self._convention = convention

    def _centred(self, vector: Any) -> Any:
        return batchnorm.centre(vector) if self._is_centred else vector

    def _on_channels(self, a: Any, b: Any) -> Any:
        return inner(a.take(self._sharing), b.take(self._sharing))

    @cached_property
    def _standard(self) -> tuple[Any, Any]:
        return family.standardize(self._centred(self._at["x"]), self._eps)

    @property
    def yhat(self) -> Any:
        """The standardized entries."""
        return self._standard[0]

    @property
    def sigma(self) -> Any:
        """The root of the mean square and eps."""
        return self._standard[1]

    @cached_property
    def _pulled(self) -> Any:
        return self._centred(self._at["gamma"] * self._at["g"])

    @cached_property
    def _turned(self) -> Any:
        return self._centred(self._at["a"] * self._at["g"])

    @cached_property
    def _u(self) -> Any:
        return self._centred(self._at["u"])

    @cached_property
    def _w(self) -> Any:
        return self._centred(self._at["w"])

    def _first(self, u: Any) -> Any:
        return family.first(*self._standard, u)

    def _second(self, u: Any, v: Any) -> Any:
        return family.second(*self._standard, u, v)

    @cached_property
    def _moved(self) -> Any:
        return self._first(self._u)

    @cached_property
    def z(self) -> Any:
        """The layer."""
        return self._at["gamma"] * self.yhat + self._at["beta"]

    @cached_property
    def x(self) -> Any:
        """Gradient in x."""
        return self._first(self._pulled)

    @cached_property
    def gamma(self) -> Any:
        """Gradient in gamma."""
        return self._on_channels(self._at["g"], self.yhat)

    @cached_property
    def beta(self) -> Any:
        """Gradient in beta."""
        return batchnorm.gradient_beta(self._at["g"].take(self._sharing))

    @cached_property
    def dz(self) -> Any:
        """Derivative of the layer along (u, a, b)."""
        return self._at["gamma"] * self._moved + self._at["a"] * self.yhat + self._at["b"]

    @cached_property
    def ddz(self) -> Any:
        """Second derivative of the layer along (u, a, b) and (w, a', b')."""
        bent = self._at["gamma"] * self._second(self._u, self._w)
        return bent + self._at["a"] * self._first(self._w) + self._at["c"] * self._moved

    @cached_property
    def hx(self) -> Any:
        """Derivative of the gradient in x along (u, a, b)."""
        return self._second(self._u, self._pulled) + self._first(self._turned)

    @cached_property
    def hgamma(self) -> Any:
        """Derivative of the gradient in gamma along (u, a, b)."""
        return self._on_channels(self._at["g"], self._moved)

    @property
    def hbeta(self) -> Any:
        """Derivative of the gradient in beta along (u, a, b), and in beta of any gradient: zero.

        A backward that takes yhat from the output, (z - beta)/gamma, loses there to rounding what
        it loses in gamma.
        """
        return self.hgamma - self.hgamma

    @cached_property
    def tx(self) -> Any:
        """Second derivative of the gradient in x along (u, a, b), twice."""
        return self._thirds(self._pulled) + 2 * self._second(self._u, self._turned)

    def _thirds(self, along: Any) -> Any:
        return family.third(*self._standard, self._u, self._u, along)

    @cached_property
    def tgamma(self) -> Any:
        """Second derivative of the gradient in gamma along (u, a, b), twice."""
        return self._on_channels(self._at["g"], self._second(self._u, self._u))

    @property
    def tbeta(self) -> Any:
        """Second derivative of the gradient in beta, zero likewise."""
        return self.tgamma - self.tgamma

    def _after(self, steps: tuple[str, ...]) -> tuple[Any, Any]:
        """Return the running mean and variance after steps on these batches."""
        mean, variance = self._at["mean"][:1], self._at["variance"][:1]
        weight = self._convention.weight
        for name in steps:
            batch, count = self._at[name], len(self._at[name])
            of_batch = batchnorm.variance(batch)
            if self._convention.is_unbiased:
                of_batch = of_batch * count / (count - 1)
            mean = running.update(mean, average(batch), weight)
            variance = running.update(variance, of_batch, weight)
        return mean, variance

    @cached_property
    def _state(self) -> tuple[Any, Any]:
        return self._after(("x",))

    @cached_property
    def _later(self) -> tuple[Any, Any]:
        return self._after(("x", "g", "x"))

    @property
    def mean(self) -> Any:
        """The running mean after one step."""
        return self._state[0]

    @property
    def variance(self) -> Any:
        """The running variance after one step."""
        return self._state[1]

    @property
    def mean3(self) -> Any:
        """The running mean after three steps, the second on another batch."""
        return self._later[0]

    @property
    def variance3(self) -> Any:
        """The running variance after three steps."""
        return self._later[1]

    @cached_property
    def ez(self) -> Any:
        """The layer in evaluation."""
        at = self._at
        return running.forward(
            at["x"], at["mean"], at["variance"], at["gamma"], at["beta"], self._eps
        )

    @cached_property
    def ex(self) -> Any:
        """Gradient in x of the layer in evaluation."""
        return running.gradient(self._at["g"], self._at["variance"], self._at["gamma"], self._eps)

    @cached_property
    def egamma(self) -> Any:
        """Gradient in gamma of the layer in evaluation."""
        return self._on_channels(self._at["g"], self._evaluated)

    @property
    def _evaluated(self) -> Any:
        at = self._at
        return running.forward(at["x"], at["mean"], at["variance"], eps=self._eps)

    @cached_property
    def edz(self) -> Any:
        """Derivative of the layer in evaluation along (u, a, b)."""
        at = self._at
        moved = running.gradient(at["u"], at["variance"], at["gamma"], self._eps)
        return moved + at["a"] * self._evaluated + at["b"]

    @cached_property
    def ehx(self) -> Any:
        """Derivative of its gradient in x along (u, a, b)."""
        return running.gradient(self._at["g"], self._at["variance"], self._at["a"], self._eps)

    @cached_property
    def ehgamma(self) -> Any:
        """Derivative of its gradient in gamma along (u, a, b)."""
        at = self._at
        moved = running.gradient(at["u"], at["variance"], eps=self._eps)
        return self._on_channels(at["g"], moved)


ENTRIES = ("x", "g", "u", "w")
"""Inputs of the layer's shape; the others are one number a channel."""
PER_CHANNEL = ("gamma", "beta", "a", "b", "c", "mean", "variance")


@dataclass(frozen=True)
class Answer:
    """An exact output, and the running error of the literal algorithm, in shape and place alike.

    The output is the unevaluated sum of two floats, more than twice as precise as a double where
    it comes of balls.
    """

    high: np.ndarray
    low: np.ndarray
    error: np.ndarray
    doubt: np.ndarray | float = 0.0
    """How far the exact output may be from the sum."""

    def distance(self, output: np.ndarray) -> np.ndarray:
        """Return |output - exact|, or the least that it may be where the answer is in doubt."""
        away = np.abs((output - self.high) - self.low)
        return np.where(away < self.doubt, 0.0, away - self.doubt)


class Oracle:
    """The answers at one case, computed when they are asked for.

    Args:
        inputs: the subject's own rounded inputs, as float64: x, g, u, w of the layer's shape;
            gamma, beta, a, b, c (the second direction's part in gamma) of shape (channel,).
        eps: what is added under the root.
        dtype: the subject's.
        place: which entries belong together.
        is_centred: false for RMS normalisation.
    """

    def __init__(
        self,
        inputs: Mapping[str, np.ndarray],
        eps: float,
        dtype: str,
        place: Geometry,
        is_centred: bool = True,
        convention: Convention = Convention(),
    ):
        self.precision = PRECISIONS[dtype]
        self._place = place
        at = {name: place.matrix(inputs[name]) for name in ENTRIES}
        spread = _in_one_row if place.is_by_unit else place.spread
        at |= {name: spread(inputs[name]) for name in PER_CHANNEL}
        self._matrices, self._eps, self._is_centred = at, eps, is_centred
        self._convention = convention
        self._exact: dict[int, ClosedForms] = {}
        self._answers: dict[str, Answer] = {}
        rounded = {name: self.precision.exactly(matrix) for name, matrix in at.items()}
        # An eps of the layer's own may be rounded to its dtype, or not.
        doubt = np.abs(eps - rounded_to(eps, dtype))
        own = Rounded(np.asarray(eps), np.asarray(doubt), self.precision)
        self.rounded = ClosedForms(rounded, own, is_centred, place.parameters, convention)

    def balls(self, bits: int) -> ClosedForms:
        """Return the closed forms in balls of that precision."""
        if bits not in self._exact:
            with ctx.workprec(bits):
                at = _Balls(self._matrices)
                sharing = self._place.parameters
                self._exact[bits] = ClosedForms(
                    at, arb(self._eps), self._is_centred, sharing, self._convention
                )
        return self._exact[bits]

    @cached_property
    def condition(self) -> np.ndarray:
        """How much of the statistics rounding may take: a number for each unit.

        The error of yhat, which is of order one, and the relative error of sigma.
        """
        with np.errstate(all="ignore"):
            yhat, sigma = self.rounded.yhat, self.rounded.sigma
            worst = np.max(yhat.error, axis=0)
            return np.fmax(worst, (sigma.error / sigma.value)[0])

    @cached_property
    def worst_condition(self) -> float:
        """The largest condition of a unit that has one."""
        return float(np.nanmax(self.condition, initial=0.0))

    def answer(self, output: str) -> Answer:
        """Return an output in the shape (together, unit), respectively (1, channel)."""
        if output not in self._answers:
            with np.errstate(all="ignore"):
                error = getattr(self.rounded, output).error
                if self._place.statistics.size > MANY:
                    self._answers[output] = self._wider(output, error)
                else:
                    self._answers[output] = self._certain(output, error, BITS)
        return self._answers[output]

    @cached_property
    def _wide(self) -> ClosedForms:
        """The closed forms in the next wider precision, with its own running error."""
        is_double = self.precision == PRECISIONS["float64"]
        wider: type[np.floating[Any]] = np.longdouble if is_double else np.float64
        limits = np.finfo(wider)
        precision = Precision(float(limits.eps) / 2, float(limits.tiny), float(limits.max))

        def exactly(values: Any) -> Rounded:
            wide = np.asarray(values, dtype=wider)
            return Rounded(wide, np.zeros_like(wide), precision)

        at = {name: exactly(matrix) for name, matrix in self._matrices.items()}
        return ClosedForms(
            at, exactly(self._eps), self._is_centred, self._place.parameters, self._convention
        )

    def _wider(self, output: str, error: np.ndarray) -> Answer:
        """Return the answer in the next wider precision; where there is none, double again."""
        wide = getattr(self._wide, output)
        high = wide.value.astype(np.float64)
        low = (wide.value - high).astype(np.float64)
        return Answer(high, low, error, wide.error.astype(np.float64))

    def _certain(self, output: str, error: np.ndarray, bits: int) -> Answer:
        """Return the answer in balls that are small beside the error."""
        with ctx.workprec(bits):
            parts = np.frompyfunc(_parts, 1, 3)(getattr(self.balls(bits), output))
        high, low, radius = (part.astype(np.float64) for part in parts)
        is_large = np.any(radius > np.ldexp(error, -20))
        if is_large and bits < MOST_BITS:
            return self._certain(output, error, 2 * bits)
        return Answer(high, low, error)


def rounded_to(values: Any, dtype: str) -> Any:
    """Return float64 values rounded to a dtype, to nearest and ties to even.

    >>> rounded_to(np.array([1 + 2.0**-8, 1 + 3 * 2.0**-8]), "bfloat16")
    array([1.      , 1.015625])
    """
    values = np.asarray(values, dtype=np.float64)
    if dtype != "bfloat16":
        with np.errstate(over="ignore", under="ignore"):
            return values.astype(dtype).astype(np.float64)
    mantissa, exponent = np.frexp(values)
    bits = np.minimum(8, 8 + exponent - 1 + 126)
    return np.ldexp(np.rint(np.ldexp(mantissa, bits)), exponent - bits)


class _Balls(dict[str, np.ndarray]):
    """Matrices in balls, made when they are asked for."""

    def __init__(self, matrices: Mapping[str, np.ndarray]):
        super().__init__()
        self._matrices = matrices

    def __missing__(self, name: str) -> np.ndarray:
        self[name] = np.frompyfunc(arb, 1, 1)(self._matrices[name].astype(object))
        return self[name]


def _in_one_row(values: np.ndarray) -> np.ndarray:
    return values[None]


def _parts(ball: arb) -> tuple[float, float, float]:
    """Return a ball's midpoint as the sum of two floats, and its radius."""
    high = float(ball)
    return high, float(ball - high), float(ball.rad())
