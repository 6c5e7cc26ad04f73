r"""The finite-difference witness: derivatives by SciPy, with an error estimate of their own.

``scipy.differentiate`` halves the step of a central difference of order eight until two estimates
agree; their difference is the error estimate.  First derivatives are differences of the function;
a second derivative is the difference of a first one by complex steps.

It starts with a quarter of the distance over which what is differentiated can be singular: for
the layer :math:`\sqrt{m}\,\sigma`, where the complex variance vanishes first, for the loss one.
Which of the two a function is, only the error estimate tells.  A power of two, it is added to the
batch without rounding.

SciPy's estimate may miss rounding by chance, so that is added: the point is rounded by a part u of
its norm, which moves the function by its slope times that, the value by a part u of its own, or
by the relative error of the derivatives in it, and both are divided by the smallest step.

The largest relative error of a case's derivatives is added to what rounding explains.  A case
where it is above :data:`~verify.witnesses.complex_step.LARGEST_ERROR` decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
from scipy.differentiate import jacobian

from theory.claim import Claim
from theory.language.expression import Expression
from theory.language.values import Values
from verify import primitives, tolerance
from verify.arrays import ArrayNetwork, Evaluation, evaluate
from verify.backends import Backend
from verify.batched import Batched, NotBatchedError
from verify.cases.case import Case
from verify.evidence import Record
from verify.network import Calculus
from verify.settings import Settings
from verify.tolerance import Array
from verify.witnesses import complex_step
from verify.witnesses.instances import Instances
from verify.witnesses.records import record

AIM = 1e-11
"""Relative error at which SciPy may stop; rounding often stops it earlier."""
ENOUGH = 1e-9
"""Relative error at which no other first step is tried."""
HALVINGS = 6
FINER = 2
"""SciPy's formula of order eight takes four steps, of which the smallest is an eighth; each
iteration halves it."""
WEIGHTS = 2
"""Sum of the magnitudes of the weights of a central difference of order eight, at most."""


def difference(
    f: Callable[[Array], Array],
    x: Array,
    directions: Array,
    step: float,
    precision: float = tolerance.UNIT_ROUNDOFF,
    value: Array | None = None,
) -> tuple[Array, Array]:
    """Return the derivatives of f at x along the columns of directions, and their errors.

    Both have a row for each entry of f's value and a column for each direction.

    Args:
        f: a function of points, one a row, that returns a number or a row for each.
        x: the point, one-dimensional.
        directions: of shape (length of x, number of directions).
        step: the first and largest step.
        precision: the relative error of f's values.
        value: f's value at x, where it is known.

    >>> slopes, errors = difference(lambda x: (x * x).sum(1), np.array([1.0, 2.0]), np.eye(2), 0.25)
    >>> slopes, bool(np.all(errors < 1e-12))
    (array([[2., 4.]]), True)
    """
    # A constant, taken off, would only leave its rounding in the weighted sums.
    origin = np.ravel(f(x[None, :]) if value is None else value)
    is_finite = np.isfinite(origin).all()

    def moved(steps: Array) -> Array:
        if is_finite and not steps.any():  # SciPy's first question
            return np.zeros((len(origin), *steps.shape[1:]))
        points = x + steps.reshape(len(steps), -1).T @ directions.T
        values = f(points).reshape(len(points), -1) - origin
        return values.T.reshape(len(origin), *steps.shape[1:])

    with np.errstate(all="ignore"):  # what is not finite has no error estimate either
        found = jacobian(
            moved,
            np.zeros(directions.shape[1]),
            tolerances={"rtol": AIM},
            maxiter=HALVINGS,
            initial_step=step,
        )
    nearest = step / 2.0 ** (found.nit + FINER)
    of_point = tolerance.UNIT_ROUNDOFF * np.abs(found.df) * np.linalg.norm(x)
    rounding = WEIGHTS * (of_point + precision * np.abs(origin)[:, None]) / nearest
    # Where a function is constant its values round alike.
    return found.df, found.error + np.where(found.df == 0, 0, rounding)


def relative(error: Array, slopes: Array) -> float:
    """Return the norm of the error over that of the derivatives, one where it is not known."""
    size, of = np.linalg.norm(error), np.linalg.norm(slopes)
    if size == 0:
        return 0.0
    return float(size / of) if size < of else 1.0


class Differences:
    """Finite differences in an array library, which remember their largest relative error.

    Args:
        backend: where the functions run.
        scales: distances over which they may vary, see :mod:`verify.witnesses.finite_differences`.
    """

    def __init__(self, backend: Backend, scales: Sequence[float]):
        self.backend = backend
        self.steps = [2.0 ** np.floor(np.log2(scale / 4)) for scale in scales]
        self.relative_error = 0.0
        self._is_differencing = False
        self._errors: dict[int, tuple[Any, float]] = {}

    def gradient(self, f: Callable[[Any], Any], x: Any) -> Any:
        """Return the gradient of a scalar function at x, of the shape of x."""
        slopes, error = self._differences(f, x, np.eye(x.shape[0]))
        return self._met(self.backend.asarray(slopes[0]), error)

    def derivative(self, f: Callable[[Any], Any], x: Any, u: Any) -> Any:
        """Return the derivative of f at x along u, of the shape of f's value.

        Inside of a difference it is a complex step, since a difference of differences magnifies
        their errors.
        """
        if self._is_differencing:
            with suppress(complex_step.NestedError):
                return complex_step.derivative(f, x, u)
        along = self.backend.to_numpy(u)
        length = np.linalg.norm(along) or 1.0
        slopes, error = self._differences(f, x, (along / length)[:, None])
        return self._met(self.backend.asarray(length * slopes.reshape(f(x).shape)), error)

    @contextmanager
    def apart(self) -> Iterator[Differences]:
        """Remember the largest error of what is done inside only there, in what is yielded."""
        before, self.relative_error = self.relative_error, 0.0
        inside = copy(self)
        try:
            yield inside
        finally:
            inside.relative_error, self.relative_error = self.relative_error, before

    def values(self, f: Callable[[Any], Any], points: Array) -> Array:
        """Return what a function is at each row of points."""
        every = (f(self.backend.asarray(point)) for point in points)
        return np.array([np.ravel(self.backend.to_numpy(value)) for value in every])

    def metered(self, compute: Callable[[], Any]) -> tuple[Any, float]:
        """Return what is computed, and the largest relative error of the derivatives in it."""
        with self.apart() as apart:
            value = compute()
        return value, apart.relative_error

    def error_of(self, value: Any) -> float:
        """Return the error of a derivative that was returned, zero of anything else."""
        return self._errors.get(id(value), (value, 0.0))[1]

    def met(self, relative_error: float) -> None:
        """Remember an error."""
        self.relative_error = max(self.relative_error, relative_error)

    def _met(self, derivative: Any, relative_error: float) -> Any:
        self.met(relative_error)
        self._errors[id(derivative)] = derivative, relative_error
        return derivative

    def _differences(
        self, f: Callable[[Any], Any], x: Any, directions: Array
    ) -> tuple[Array, float]:
        outer, self._is_differencing = self._is_differencing, True
        try:
            return self._best(f, x, directions)
        finally:
            self._is_differencing = outer

    def _best(self, f: Callable[[Any], Any], x: Any, directions: Array) -> tuple[Array, float]:
        point = self.backend.to_numpy(x)
        value, inside = self.metered(lambda: self.values(f, point[None, :]))
        self.met(inside)
        precision = max(inside, tolerance.UNIT_ROUNDOFF)
        tried = []
        for step in self.steps:
            slopes, error = difference(
                partial(self.values, f), point, directions, step, precision, value
            )
            tried.append((relative(error, slopes), slopes))
            if tried[-1][0] <= ENOUGH:
                break
        least, best = min(tried, key=itemgetter(0))
        return best, least


class DifferencesAtOnce(Differences):
    """The same, of functions that are evaluated at all points in one call, wherever they can be."""

    def values(self, f: Callable[[Any], Any], points: Array) -> Array:
        """Return what a function is at each row of points."""
        try:
            found = f(Batched(self.backend.asarray(points), 1))
        except TypeError:  # a library may refuse to let its arrays meet such values
            return super().values(f, points)
        if isinstance(found, Batched):
            return self.backend.to_numpy(found.array).reshape(len(points), -1)
        return np.tile(np.ravel(self.backend.to_numpy(found)), (len(points), 1))

    def _differences(
        self, f: Callable[[Any], Any], x: Any, directions: Array
    ) -> tuple[Array, float]:
        if isinstance(x, Batched):
            raise NotBatchedError("a difference is taken at one point")
        return super()._differences(f, x, directions)


class MeteredValues(Values):
    """Values by finite differences, each with the largest error of the derivatives in it."""

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.errors: dict[Expression, float] = {}

    def __getitem__(self, expression: Expression) -> Any:
        """Return the value of an expression; its derivatives' errors count as met."""
        meter = self.subject.calculus.meter
        if expression not in self.errors:
            with meter.apart() as apart:
                super().__getitem__(expression)
            self.errors[expression] = apart.relative_error
        meter.met(self.errors[expression])
        return super().__getitem__(expression)

    def _compute(self, expression: Expression) -> Any:
        """Return a value; a letter may be a derivative that was known before."""
        value = super()._compute(expression)
        self.subject.calculus.meter.met(self.subject.calculus.meter.error_of(value))
        return value


def examine_cases(
    claim: Claim, cases: Sequence[Case], backend: Backend, seed: int = 0
) -> list[Instances]:
    """Examine cases of any length and loss, grouped by both."""
    return examine_all([claim], cases, backend, seed)[claim.id]


def examine_all(
    claims: Sequence[Claim], cases: Sequence[Case], backend: Backend, seed: int = 0
) -> dict[str, list[Instances]]:
    """Examine claims at the same cases."""

    def evaluate_case(alike: Sequence[Claim], case: Case) -> list[Evaluation]:
        metered = {order: _network(case, backend, order) for order in {c.order for c in alike}}
        return [_evaluate(claim, *metered[claim.order]) for claim in alike]

    return complex_step.case_by_case(claims, cases, backend, evaluate_case, seed)


def _evaluate(claim: Claim, network: ArrayNetwork, differences: Differences) -> Evaluation:
    return evaluate(claim, network, differences.metered, differences.error_of(network.g))


def _network(case: Case, backend: Backend, order: int) -> tuple[ArrayNetwork, Differences]:
    m = len(case.y)
    sigma = primitives.standard_deviation(case.y, m, np.squeeze(case.eps), np.sqrt)
    differences = DifferencesAtOnce(backend, (np.sqrt(m) * sigma, 1.0))
    gradient = differences.gradient if order == 1 else complex_step.gradient_at_once
    calculus = Calculus(backend.sqrt, gradient, differences.derivative, MeteredValues, differences)
    return ArrayNetwork(case, backend, calculus), differences


def examine_random(claims: Sequence[Claim], settings: Settings) -> Iterator[Record]:
    """Random batches in the chosen array library, differentiated by finite differences."""
    backend = Backend(settings.backend, settings.device)
    found = examine_all(claims, complex_step.few(settings), backend, settings.seed)
    for claim in claims:
        yield record(claim, "finite differences", found[claim.id])
