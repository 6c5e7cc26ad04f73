r"""A case in an array library: its network, and values there as NumPy arrays.

The closed forms run on the library's own arrays, which need no more than the standard offers.
Primitives and losses are written with a few operators more, and those are supplied here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from verify.backends import Backend
from verify.batched import Batched, laid_out
from verify.cases.case import Case
from verify.cases.losses import Loss
from verify.network import Calculus, PrimitiveNetwork
from verify.operators import Operand
from verify.tolerance import Array


class _Summable:
    """A batch as the primitives want it: it can sum itself, which a standard array cannot."""

    def __init__(self, array: Any, xp: Any):
        self.array, self.xp = array, xp

    def sum(self) -> Any:
        """Return the sum of the entries."""
        return self.xp.sum(self.array)

    def __sub__(self, other: Any) -> Any:
        return self.array - other


class ArrayNetwork(PrimitiveNetwork):
    """The network of one case, or of many at once, in an array library.

    Args:
        case: NumPy arrays, or many at once; what a claim wants of it is already imposed.
        backend: the library and the device.
        calculus: how to differentiate there.
    """

    def __init__(self, case: Case, backend: Backend, calculus: Calculus):
        def number(value: Any) -> Any:
            there = in_library(backend, value)
            return array_namespace(there).reshape(there, ())

        self.backend = backend
        self.counts = case.y.array.shape[:1] if isinstance(case.y, Batched) else ()
        super().__init__(
            y=in_library(backend, case.y),
            m=len(case.y),
            gamma=number(case.gamma),
            beta=number(case.beta),
            eps=number(case.eps),
            direction=in_library(backend, case.direction),
            loss=loss_in(backend, case.loss),
            calculus=calculus,
            other_direction=in_library(backend, case.other_direction),
            bound=number(case.bound),
            later_normalizations=number(case.later_normalizations),
        )

    def standard_deviation(self, y: Any) -> Any:
        """Return the primitive standard deviation."""
        return super().standard_deviation(self._summable(y))

    def normalize(self, y: Any) -> Any:
        """Return the primitive normalised batch."""
        return super().normalize(self._summable(y))

    def forward(self, y: Any) -> Any:
        """Return the primitive layer's output."""
        return super().forward(self._summable(y))

    def _summable(self, y: Any) -> Any:
        return y if isinstance(y, Batched) else _Summable(y, self.backend.namespace)


def in_library(backend: Backend, numbers: Any) -> Any:
    """Return numbers of NumPy as an array of the library; many at once stay so."""
    if isinstance(numbers, Batched):
        return Batched(backend.asarray(numbers.array), numbers.counts)
    return backend.asarray(numbers)


def flat(backend: Backend, value: Any, counts: tuple[int, ...]) -> Array:
    """Return a value of the library in NumPy, its entries in a row for each of so many cases."""
    axes = getattr(value, "ndim", 0)
    array = backend.to_numpy(laid_out(value, len(counts), axes))
    shape = array.shape[array.ndim - axes :]
    return np.broadcast_to(array, (*counts, *shape)).reshape(*counts, -1)


def loss_in(backend: Backend, loss: Loss) -> Callable[[Any], Any]:
    """Return a loss as a function of arrays of a library, real or complex."""
    there = (in_library(backend, p) for p in loss.parameters)
    parameters = tuple(p if isinstance(p, Batched) else Operand(p) for p in there)
    converted = replace(loss, parameters=parameters)

    def softplus(x: Operand) -> Operand:
        found = backend.softplus(x.array)
        return Batched(found, x.counts) if isinstance(x, Batched) else Operand(found)

    def value(z: Any) -> Any:
        return converted(z, softplus) if isinstance(z, Batched) else at_one(z)

    def at_one(z: Any) -> Any:
        return converted(Operand(z), softplus).array

    return value
