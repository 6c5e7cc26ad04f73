r"""Statements about matrices in any array library: first derivatives by complex steps.

A derivative of a derivative is a finite difference of complex steps.  How much rounding moves the
sides is measured in PyTorch's random arithmetic, as in :mod:`verify.witnesses.matrices.floats`: it
belongs to the formulas, and every library rounds in the same unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from theory.matrix_claim import MatrixClaim
from verify.backends import Backend
from verify.operators import NotAnalyticError, Operand
from verify.record import Record
from verify.settings import Settings
from verify.subjects.calculus import Calculus
from verify.subjects.matrices import Numbers
from verify.subjects.matrix_strata import of_different_sizes
from verify.witnesses import complex_step
from verify.witnesses.evaluations import Evaluation
from verify.witnesses.finite_differences import Differences, MeteredValues
from verify.witnesses.instances import Instances
from verify.witnesses.matrices import floats
from verify.witnesses.records import recorded


class Copies(floats.Copies):
    """Subjects in an array library; how rounding moves their copies is measured in PyTorch."""

    def __init__(self, subjects: Sequence[Numbers], seed: int, backend: Backend):
        super().__init__(subjects, seed)
        self.backend = backend
        self.there = [
            subject.converted(lambda value: Operand(backend.asarray(value)), _calculus(backend))
            for subject in subjects
        ]

    def evaluated(self, claim: MatrixClaim) -> list[Evaluation | None]:
        """Return what a claim is at each subject in the library, None where it is not defined."""
        return [_evaluated_at(subject, claim, self.backend) for subject in self.there]

    def evaluated_together(
        self, claims: Sequence[MatrixClaim]
    ) -> dict[str, list[Evaluation | None]]:
        """Return what claims are at each subject in the library, one by one."""
        return {claim.id: self.evaluated(claim) for claim in claims}


def _evaluated_at(subject: Numbers, claim: MatrixClaim, backend: Backend) -> Evaluation | None:
    """Return what a claim is in the library, None where it divides by zero."""
    metered, to_numpy = subject.calculus.meter.metered, partial(_to_numpy, backend)
    with np.errstate(all="ignore"):  # a side that is not finite decides nothing
        try:
            found, error = metered(lambda: floats.evaluate(claim, subject, to_numpy))
        except ZeroDivisionError:
            return None
        errors = [metered(partial(h.quantity, subject))[1] for h in claim.hypotheses]
    return found._replace(error=np.array([error]), errors=tuple(np.array([own]) for own in errors))


def examine(claims: Sequence[MatrixClaim], settings: Settings) -> Iterator[Record]:
    """Examine a few random subjects of every stratum in the chosen library."""
    backend = Backend(settings.backend, settings.device)
    count, seed = settings.budget.differences, settings.seed
    for alike in floats.of_one_kind(claims):
        found = floats.examine_until_decided(
            alike,
            of_different_sizes(alike[0].subject, seed, count),
            seed,
            partial(examine_together, backend=backend, seed=seed),
        )
        yield from recorded(alike, "array library", found)


def examine_together(
    claims: Sequence[MatrixClaim], subjects: Iterable[Numbers], backend: Backend, seed: int = 0
) -> dict[str, list[Instances]]:
    """Examine claims at subjects; those that change them alike share all work."""
    with backend.current():
        return floats.examine_at(claims, subjects, lambda stack: Copies(stack, seed, backend))


def _to_numpy(backend: Backend, side: Any) -> np.ndarray:
    return backend.to_numpy(side.array) if isinstance(side, Operand) else np.asarray(side, float)


def _calculus(backend: Backend) -> Calculus:
    differences = Differences(backend, (1.0,))

    def derivative(f: Callable[[Any], Any], x: Operand, u: Operand) -> Any:
        """Move x along u."""
        differences.refuse_fewer(x)
        point, xp = complex_step.real(x), array_namespace(x)
        moved = xp.astype(u, xp.float64) + 0 * point
        with suppress(complex_step.NestedError, NotAnalyticError), differences.stepping():
            return complex_step.derivative(f, point, moved)
        return differences.derivative(f, point, moved)

    gradient = differences.innermost_gradient
    return Calculus(Operand.sqrt, gradient, derivative, MeteredValues, differences)
