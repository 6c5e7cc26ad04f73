r"""The complex-step witness: first derivatives to roundoff, in any array library.

For a function that is analytic near the real axis and real on it,

.. math:: \partial_u f(x) = \operatorname{Im} f(x + i h u)/h + O(h^2),

where nothing cancels, so that h may be so small that the error term is below roundoff.  A step
inside a step would need a second imaginary unit: claims of the second order are outside.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import prod
from typing import Any

from array_api_compat import array_namespace

from verify.backends import Backend
from verify.batched import Batched, NotBatchedError
from verify.operators import Operand
from verify.subjects.calculus import Calculus
from verify.subjects.unit import Case
from verify.witnesses import libraries
from verify.witnesses.arrays import ArrayNetwork

STEP = 2.0**-500
"""A power of two, so that nothing is lost in dividing by it; its square is a normal number."""


class NestedError(ValueError):
    """A complex step was asked for inside another."""


def is_real(x: Any) -> bool:
    """Whether no complex step has made an array complex."""
    return bool(x.dtype != array_namespace(x).complex128)


def real(x: Any) -> Any:
    """Return an array that is real.

    Raises:
        NestedError: it is complex, as it is inside another complex step.
    """
    if not is_real(x):
        raise NestedError(
            "complex steps do not nest; use finite differences for a derivative of a derivative"
        )
    return x


def derivative(f: Callable[[Any], Any], x: Any, u: Any) -> Any:
    """Return the derivative of f at x along u, an array of the shape of f's value.

    Args:
        f: a function of an array, made of analytic operations without conjugation.
        x: a real array.
        u: the direction, of the shape of x.

    Raises:
        NestedError: x is complex, as it is inside another complex step.

    >>> import numpy as np
    >>> x, u = np.array([3.0, 4.0]), np.array([0.0, 1.0])
    >>> derivative(lambda x: (x @ x) * x, x, u)
    array([24., 57.])
    """
    xp = array_namespace(real(x))
    value = f(_as_complex(x) + _as_complex(u) * (STEP * 1j))
    return xp.imag(value) / STEP


def _as_complex(x: Any) -> Any:
    xp = array_namespace(x)
    return xp.astype(x, xp.complex128)


def gradient(f: Callable[[Any], Any], x: Any) -> Any:
    """Return the gradient of a scalar function at x, of the shape of x.

    Raises:
        NestedError: x is complex, as it is inside another complex step.

    >>> import numpy as np
    >>> gradient(lambda x: x @ x, np.array([1.0, 2.0]))
    array([2., 4.])
    """
    if isinstance(x, Batched):
        return _in_one_call(f, x)
    if isinstance(x, Operand):
        with suppress(NotBatchedError):
            return _in_one_call(f, x)
    xp, size = array_namespace(x), prod(x.shape)
    basis = xp.reshape(xp.eye(size, dtype=x.dtype, device=x.device), (size, *x.shape))
    slopes = [xp.reshape(derivative(f, x, basis[k, ...]), ()) for k in range(size)]
    return xp.reshape(xp.stack(slopes), x.shape)


def _in_one_call(f: Callable[[Any], Any], x: Operand) -> Operand:
    """Return the gradient at x, or at many values of it, by one call of f at all steps together."""
    xp, size = array_namespace(x.array), prod(x.shape)
    points = xp.expand_dims(real(x).array, axis=x.counts)
    basis = xp.reshape(xp.eye(size, dtype=x.dtype, device=x.device), (size, *x.shape))
    value = f(Batched(_as_complex(points) + _as_complex(basis) * (STEP * 1j), x.counts + 1))
    if getattr(value, "counts", 0) <= x.counts:
        return x.like(xp.zeros_like(x.array))
    return x.like(xp.reshape(xp.imag(value.array) / STEP, x.array.shape))


def network(backend: Backend, case: Case, order: int) -> ArrayNetwork:
    """Return the network of a case, whose derivatives do not nest: of claims of order one."""
    return ArrayNetwork(case, backend, Calculus(Operand.sqrt, gradient, derivative))


examine_all = partial(libraries.examine_all, network)
examine = partial(libraries.examine, network, "complex step")
"""Random batches in the chosen array library, differentiated by complex steps."""
