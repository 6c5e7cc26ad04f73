r"""A case in an array library: its network, and a claim's two sides there as NumPy arrays.

The closed forms run on the library's own arrays, which need no more than the standard offers.
Primitives and losses are written with a few operators more, and those are supplied here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from theory.claim import Claim
from verify.backends import Backend
from verify.batched import Batched
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
    """The network of one case, in an array library.

    Args:
        case: NumPy arrays; what a claim wants of it is already imposed.
        backend: the library and the device.
        calculus: how to differentiate there.
    """

    def __init__(self, case: Case, backend: Backend, calculus: Calculus):
        def number(value: Any) -> Any:
            return backend.asarray(np.squeeze(value))

        self.backend = backend
        super().__init__(
            y=backend.asarray(case.y),
            m=len(case.y),
            gamma=number(case.gamma),
            beta=number(case.beta),
            eps=number(case.eps),
            direction=backend.asarray(case.direction),
            loss=loss_in(backend, case.loss),
            calculus=calculus,
            other_direction=backend.asarray(case.other_direction),
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


def loss_in(backend: Backend, loss: Loss) -> Callable[[Any], Any]:
    """Return a loss as a function of arrays of a library, real or complex."""
    parameters = tuple(Operand(backend.asarray(p)) for p in loss.parameters)
    in_library = replace(loss, parameters=parameters)

    def softplus(x: Operand) -> Operand:
        found = backend.softplus(x.array)
        return Batched(found, x.counts) if isinstance(x, Batched) else Operand(found)

    def value(z: Any) -> Any:
        return in_library(z, softplus) if isinstance(z, Batched) else at_one(z)

    def at_one(z: Any) -> Any:
        return in_library(Operand(z), softplus).array

    return value


class Evaluation(NamedTuple):
    """What a claim is for one case: both sides and the hypotheses' quantities, each flat."""

    actual: Array
    claimed: Array
    quantities: Array
    relative_error: Any
    """The largest of the derivatives in the sides."""
    relative_errors: Array
    """The same of those in each hypothesis."""


Metered = Callable[[Callable[[], Any]], tuple[Any, float]]
"""Returns what a function computes, and the largest relative error of the derivatives in it."""


def without_error(compute: Callable[[], Any]) -> tuple[Any, float]:
    """Compute where derivatives are exact but for rounding."""
    return compute(), 0.0


def evaluate(
    claim: Claim,
    network: ArrayNetwork,
    metered: Metered = without_error,
    error_of_gradient: float = 0.0,
) -> Evaluation:
    """Evaluate a claim in the network's library.

    Args:
        claim: of expressions, or of functions, which may use the loss's gradient unnoticed.
        network: of one case.
        metered: finds the errors of derivatives.
        error_of_gradient: of the loss's gradient, which is known before.
    """
    letters, to_numpy = claim.letters(network), network.backend.to_numpy
    sides, error = metered(lambda: claim.sides(network, letters))
    error = max(error, error_of_gradient) if claim.says is None else error
    actual, claimed = np.broadcast_arrays(*map(to_numpy, sides))
    found = [metered(partial(h.quantity, network, letters)) for h in claim.hypotheses]
    quantities = np.array([to_numpy(quantity).item() for quantity, _ in found])
    errors = np.array(
        [
            max(own, error_of_gradient) if h.says is None else own
            for h, (_, own) in zip(claim.hypotheses, found, strict=True)
        ]
    )
    return Evaluation(actual.ravel(), claimed.ravel(), quantities, error, errors)
