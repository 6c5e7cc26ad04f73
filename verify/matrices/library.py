r"""Statements about matrices in any array library: first derivatives by complex steps.

A derivative of a derivative is a finite difference of complex steps.  How much rounding moves the
sides is measured in PyTorch's random arithmetic, as in :mod:`verify.matrices.floats`: it belongs
to the formulas, and every library rounds in the same unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from theory.matrix_claim import MatrixClaim
from theory.statement import Hypothesis
from verify.backends import Backend
from verify.evidence import Record
from verify.matrices import floats
from verify.matrices.subjects import Numbers
from verify.network import Calculus
from verify.operators import NotAnalyticError, Operand, bare
from verify.settings import Settings
from verify.witnesses import complex_step
from verify.witnesses.finite_differences import Differences, MeteredValues
from verify.witnesses.instances import Instances
from verify.witnesses.records import record


class Copies(floats.Copies):
    """A subject in an array library; how rounding moves its copies is measured in PyTorch."""

    def __init__(self, subject: Numbers, seed: int, backend: Backend):
        super().__init__(subject, seed)
        self.backend, self.differences = backend, Differences(backend, (1.0,))
        self.there = subject.converted(
            lambda value: Operand(backend.asarray(value)), _calculus(backend, self.differences)
        )

    def evaluated(self, claim: MatrixClaim) -> tuple[floats.Evaluation, float]:
        """Return what a claim is in the library, and its derivatives' largest relative error."""
        to_numpy = partial(_to_numpy, self.backend)
        return self.differences.metered(lambda: floats.evaluate(claim, self.there, to_numpy))

    def error_of(self, hypothesis: Hypothesis) -> float:
        """Return the largest relative error of the derivatives in a hypothesis."""
        return self.differences.metered(lambda: hypothesis.quantity(self.there))[1]


def examine_random(claims: Sequence[MatrixClaim], settings: Settings) -> Iterator[Record]:
    """Examine a few random subjects of every stratum in the chosen library."""
    backend = Backend(settings.backend, settings.device)
    count, seed = settings.budget.differences, settings.seed
    for alike in floats.of_one_kind(claims):
        found = floats.examine_until_decided(
            alike, seed, count, partial(examine_together, backend=backend, seed=seed)
        )
        for claim in alike:
            yield record(claim, "array library", found[claim.id])


def examine_together(
    claims: Sequence[MatrixClaim], subjects: Iterable[Numbers], backend: Backend, seed: int = 0
) -> dict[str, list[Instances]]:
    """Examine claims at subjects one by one; those that change it alike share all work."""
    with backend.current():
        return floats.examine_at(claims, subjects, lambda subject: Copies(subject, seed, backend))


def examine(claim: MatrixClaim, subject: Numbers, backend: Backend, seed: int = 0) -> Instances:
    """Examine one subject; a side that cannot be evaluated there makes it vacuous."""
    (found,) = examine_together([claim], [subject], backend, seed)[claim.id]
    return found


def _to_numpy(backend: Backend, side: Any) -> np.ndarray:
    return backend.to_numpy(side.array) if isinstance(side, Operand) else np.asarray(side, float)


def _calculus(backend: Backend, differences: Differences) -> Calculus:
    def gradient(f: Callable[[Any], Any], x: Operand) -> Operand:
        """Differentiate along every entry."""
        shape = x.array.shape
        flat = backend.namespace.reshape(x.array, (-1,))
        slopes = complex_step.gradient(
            lambda point: bare(f(Operand(backend.namespace.reshape(point, shape)))), flat
        )
        return Operand(backend.namespace.reshape(slopes, shape))

    def derivative(f: Callable[[Any], Any], x: Operand, u: Operand) -> Operand:
        """Move x along u."""
        shape = x.array.shape
        xp = backend.namespace

        def flat(point: Any) -> Any:
            return bare(f(Operand(xp.reshape(point, shape))))

        point = complex_step.real(xp.reshape(x.array, (-1,)))
        moved = xp.reshape(xp.astype(u.array, xp.float64) + 0 * x.array, (-1,))
        try:
            return Operand(complex_step.derivative(flat, point, moved))
        except (complex_step.NestedError, NotAnalyticError):
            return Operand(differences.derivative(flat, point, moved))

    def sqrt(x: Operand) -> Operand:
        return Operand(backend.sqrt(bare(x)))

    return Calculus(sqrt, gradient, derivative, MeteredValues, differences)
