r"""A case in an array library: its network, and values there as NumPy arrays.

Primitives and losses are written with a few operators more than a standard array has:
:mod:`verify.operators` supplies them, for one case and for many at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from verify.backends import Backend
from verify.batched import Batched
from verify.operators import Operand, laid_out
from verify.subjects.calculus import Calculus
from verify.subjects.losses import Loss
from verify.subjects.network import PrimitiveNetwork
from verify.subjects.unit import Case
from verify.tolerance import Array


class ArrayNetwork(PrimitiveNetwork):
    """The network of one case, or of many at once, in an array library.

    Args:
        case: NumPy arrays, or many at once; what a claim wants of it is already imposed.
        backend: the library and the device.
        calculus: how to differentiate there.
    """

    def __init__(self, case: Case, backend: Backend, calculus: Calculus):
        self.backend = backend
        there = case.with_numbers(partial(in_library, backend), case.names())
        super().__init__(there, len(case.y), loss_in(backend, case.loss), calculus)


def in_library(backend: Backend, numbers: Any) -> Operand:
    """Return numbers of NumPy as an array of the library; many at once stay so."""
    if isinstance(numbers, Batched):
        return numbers.like(backend.asarray(numbers.array))
    return Operand(backend.asarray(numbers))


def flat(backend: Backend, value: Any, counts: tuple[int, ...]) -> Array:
    """Return a value of the library in NumPy, its entries in a row for each of so many cases."""
    axes = getattr(value, "ndim", 0)
    array = backend.to_numpy(laid_out(value, len(counts), axes))
    shape = array.shape[array.ndim - axes :]
    return np.broadcast_to(array, (*counts, *shape)).reshape(*counts, -1)


def loss_in(backend: Backend, loss: Loss) -> Callable[[Any], Any]:
    """Return a loss as a function of arrays of a library, real or complex."""
    there = replace(loss, parameters=tuple(in_library(backend, p) for p in loss.parameters))
    return partial(there, softplus=lambda x: x.like(backend.softplus(x.array)))
