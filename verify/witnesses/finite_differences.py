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
where it is above :data:`~verify.witnesses.evaluations.LARGEST_ERROR` decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from functools import partial
from math import prod
from typing import Any

import numpy as np
from scipy.differentiate import jacobian

from theory.arithmetic import sqrt
from theory.language.expression import Expression
from theory.language.values import Values
from verify import primitives, tolerance
from verify.backends import Backend
from verify.batched import Batched, NotBatchedError
from verify.operators import Operand, bare
from verify.subjects.calculus import Calculus
from verify.subjects.unit import Case
from verify.tolerance import Array
from verify.witnesses import complex_step, libraries
from verify.witnesses.arrays import ArrayNetwork, flat

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
    step: Any,
    precision: Any = tolerance.UNIT_ROUNDOFF,
    value: Array | None = None,
) -> tuple[Array, Array]:
    """Return the derivatives of f at x along the columns of directions, and their errors.

    Both have a row for each entry of f's value and a column for each direction.  First axes of all
    arguments may count cases, of which each has its own steps and errors.

    Args:
        f: a function of points, one a row, that returns a number or a row for each.
        x: the point, one-dimensional for one case.
        directions: of shape (length of x, number of directions) for one case.
        step: the first and largest step.
        precision: the relative error of f's values.
        value: f's value at x, where it is known.

    >>> slopes, errors = difference(lambda x: (x * x).sum(1), np.array([1.0, 2.0]), np.eye(2), 0.25)
    >>> slopes, bool(np.all(errors < 1e-12))
    (array([[2., 4.]]), True)
    """
    cases, number = x.shape[:-1], directions.shape[-1]
    # A constant, taken off, would only leave its rounding in the weighted sums.
    origin = np.reshape(f(x[..., None, :]) if value is None else value, (*cases, -1))
    rows = origin.shape[-1]

    def moved(steps: Array) -> Array:
        if not steps.any():  # SciPy's first question
            return np.broadcast_to(
                np.moveaxis(origin - origin, -1, 0)[:, None], (rows, number, *cases)
            )
        # Row by row, as the origin is: libraries add up in another order where strides differ.
        along = np.einsum("ij...s,...ki->...jsk", steps, directions, order="C")
        points = x[..., None, :] + along.reshape(*cases, -1, x.shape[-1])
        values = f(points).reshape(*cases, number, -1, rows) - origin[..., None, None, :]
        return np.einsum("...jsr->rj...s", values)

    with np.errstate(all="ignore"):  # what is not finite has no error estimate either
        found = jacobian(
            moved,
            np.zeros((number, *cases)),
            tolerances={"rtol": AIM},
            maxiter=HALVINGS,
            initial_step=step,
        )
    slopes, error, halvings = (
        np.moveaxis(of, (0, 1), (-2, -1)) for of in (found.df, found.error, found.nit)
    )
    nearest = _of_each(step) / 2.0 ** (halvings + FINER)
    of_point = tolerance.UNIT_ROUNDOFF * np.abs(slopes) * _of_each(np.linalg.norm(x, axis=-1))
    of_value = _of_each(precision) * np.abs(origin)[..., None]
    # Where a function is constant its values round alike.
    return slopes, error + np.where(slopes == 0, 0, WEIGHTS * (of_point + of_value) / nearest)


def _of_each(number: Any) -> Array:
    """Return a number for each case, with axes for what has a matrix for each case."""
    return np.asarray(number)[..., None, None]


def relative(error: Array, slopes: Array) -> Array:
    """Return the norm of the error over that of the derivatives, one where it is not known.

    Both are matrices, or one for each case.
    """
    size, of = (np.linalg.norm(matrices, axis=(-2, -1)) for matrices in (error, slopes))
    with np.errstate(all="ignore"):
        return np.where(size == 0, 0.0, np.where(size < of, size / of, 1.0))


class Differences:
    """Finite differences in an array library, which remember their largest relative error.

    Where x is many points at once, what is remembered is an error for each.

    Args:
        backend: where the functions run.
        scales: distances over which they may vary, see :mod:`verify.witnesses.finite_differences`.
    """

    def __init__(self, backend: Backend, scales: Sequence[Any]):
        self.backend = backend
        self.steps = [2.0 ** np.floor(np.log2(scale / 4)) for scale in scales]
        self.relative_error: Any = 0.0
        self._is_differencing = False
        self._is_stepping = False
        self._together = 0
        self._errors: dict[int, tuple[Any, Any]] = {}

    def gradient(self, f: Callable[[Any], Any], x: Any) -> Any:
        """Return the gradient of a scalar function at x, of the shape of x."""
        slopes, error, _ = self._differences(f, x, np.eye(prod(x.shape)))
        return self._met(self._like(x, slopes[..., 0, :], x.shape), error)

    def innermost_gradient(self, f: Callable[[Any], Any], x: Any) -> Any:
        """Return the gradient by complex steps; of what has a gradient in it, by differences."""
        self.refuse_fewer(x)
        with suppress(complex_step.NestedError), self.stepping():
            return complex_step.gradient(f, x)
        self.refuse_a_step()
        return self.gradient(f, x)

    def derivative(self, f: Callable[[Any], Any], x: Any, u: Any) -> Any:
        """Return the derivative of f at x along u, of the shape of f's value.

        Inside of a difference it is a complex step, since a difference of differences magnifies
        their errors.
        """
        self.refuse_fewer(x)
        if self._is_differencing:
            with suppress(complex_step.NestedError), self.stepping():
                return complex_step.derivative(f, x, u)
        self.refuse_a_step()
        along = flat(self.backend, u, x.counted)
        length = np.linalg.norm(along, axis=-1, keepdims=True)
        length = np.where(length == 0, 1.0, length)
        slopes, error, shape = self._differences(f, x, (along / length)[..., None])
        return self._met(self._like(x, length * slopes[..., 0], shape), error)

    @contextmanager
    def stepping(self) -> Iterator[None]:
        """Take a complex step, in which no other derivative is taken.

        Even at a real point a function may hang on what is complex.

        Raises:
            NestedError: one is being taken.
        """
        self.refuse_a_step()
        self._is_stepping = True
        try:
            yield
        finally:
            self._is_stepping = False

    def refuse_fewer(self, x: Any) -> None:
        """Refuse a point that is fewer values than what its function may hang on.

        Raises:
            NotBatchedError: it is.
        """
        if len(x.counted) < self._together:
            raise NotBatchedError("a derivative is taken at one point for many others")

    def refuse_a_step(self) -> None:
        """Refuse a derivative where a complex step is being taken.

        Raises:
            NestedError: one is.
        """
        if self._is_stepping:
            raise complex_step.NestedError("a derivative is taken inside of a complex step")

    @contextmanager
    def apart(self) -> Iterator[Differences]:
        """Remember the largest error of what is done inside only there, in what is yielded."""
        before, self.relative_error = self.relative_error, 0.0
        inside = copy(self)
        try:
            yield inside
        finally:
            inside.relative_error, self.relative_error = self.relative_error, before

    def values(self, f: Callable[[Any], Any], shape: tuple[int, ...], points: Array) -> Array:
        """Return what a function is at each row of points, in one call if it can be."""
        counted = points.shape[:-1]
        together = self.backend.asarray(points.reshape(*counted, *shape))
        outer, self._together = self._together, len(counted)
        try:
            return flat(self.backend, f(Batched(together, len(counted))), counted)
        except NotBatchedError:
            if len(counted) > 1:  # cases that were to be evaluated together
                raise
        finally:
            self._together = outer
        every = (f(Operand(together[k, ...])) for k in range(len(points)))
        return np.array([flat(self.backend, value, ()) for value in every])

    def metered(self, compute: Callable[[], Any]) -> tuple[Any, Any]:
        """Return what is computed, and the largest relative error of the derivatives in it."""
        with self.apart() as apart:
            value = compute()
        return value, apart.relative_error

    def error_of(self, value: Any) -> Any:
        """Return the error of a derivative that was returned, zero of anything else."""
        return self._errors.get(id(value), (value, 0.0))[1]

    def met(self, relative_error: Any) -> None:
        """Remember an error."""
        self.relative_error = np.maximum(self.relative_error, relative_error)

    def _met(self, derivative: Any, relative_error: Any) -> Any:
        self.met(relative_error)
        self._errors[id(derivative)] = derivative, relative_error
        return derivative

    def _like(self, x: Any, entries: Array, shape: tuple[int, ...]) -> Any:
        """Return numbers of a shape in the library, many at once if x is so."""
        return x.like(self.backend.asarray(entries.reshape((*x.counted, *shape))))

    def _differences(
        self, f: Callable[[Any], Any], x: Any, directions: Array
    ) -> tuple[Array, Array, tuple[int, ...]]:
        """Return the derivatives along directions, their relative error and the value's shape."""
        if self._is_differencing and isinstance(x, Batched):
            raise NotBatchedError("a difference is taken at one point of each case")
        outer, self._is_differencing = self._is_differencing, True
        try:
            value, inside = self.metered(lambda: f(x))
            self.met(inside)
            origin = flat(self.backend, value, x.counted)
            found = self._best(f, x, directions, origin, inside)
            return *found, getattr(value, "shape", ())
        finally:
            self._is_differencing = outer

    def _best(
        self, f: Callable[[Any], Any], x: Any, directions: Array, origin: Array, inside: Any
    ) -> tuple[Array, Array]:
        """Return the derivatives by the first steps that are best for each case."""
        point = flat(self.backend, x, x.counted)
        precision = np.maximum(inside, tolerance.UNIT_ROUNDOFF)
        best, least = np.array(np.nan), np.array(np.inf)
        for step in self.steps:
            if np.all(least <= ENOUGH):
                break
            slopes, errors = difference(
                partial(self.values, f, x.shape), point, directions, step, precision, origin
            )
            error = relative(errors, slopes)
            is_better = (least > ENOUGH) & (error < least)
            best = np.where(_of_each(is_better), slopes, best)
            least = np.where(is_better, error, least)
        return best, least


class MeteredValues(Values):
    """Values by finite differences, each with the largest error of the derivatives in it."""

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.errors: dict[Expression, Any] = {}

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


def network(backend: Backend, case: Case, order: int) -> ArrayNetwork:
    """Return the network of a case, or of many at once, for claims of an order of derivatives."""
    m = len(case.y)
    sigma = np.squeeze(bare(primitives.standard_deviation(case.y, m, case.eps, sqrt)))
    differences = Differences(backend, (np.sqrt(m) * sigma, 1.0))
    gradient = differences.gradient if order == 1 else differences.innermost_gradient
    calculus = Calculus(Operand.sqrt, gradient, differences.derivative, MeteredValues, differences)
    return ArrayNetwork(case, backend, calculus)


examine_all = partial(libraries.examine_all, network)
examine = partial(libraries.examine, network, "finite differences")
"""Random batches in the chosen array library, differentiated by finite differences."""
