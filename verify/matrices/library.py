r"""Statements about matrices in any array library: first derivatives by complex steps.

A derivative of a gradient is a finite difference of complex steps.  How much rounding moves the
sides is measured in PyTorch's random arithmetic, as in :mod:`verify.matrices.floats`: it belongs
to the formulas, and every library rounds in the same unit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from theory.matrix_claim import MatrixClaim
from verify.backends import Backend
from verify.evidence import Record
from verify.matrices import floats
from verify.matrices.arrays import Array, bare
from verify.matrices.exact import imposed
from verify.matrices.strata import random_subjects
from verify.matrices.subjects import Numbers
from verify.network import Calculus
from verify.settings import Settings
from verify.witnesses import complex_step
from verify.witnesses.finite_differences import Differences
from verify.witnesses.instances import Instances
from verify.witnesses.records import record


def examine_random(claim: MatrixClaim, settings: Settings) -> Record:
    """Examine a few random subjects of every stratum in the chosen library."""
    backend = Backend(settings.backend, settings.device)
    count, seed = settings.budget.differences, settings.seed
    with backend.current():
        found = [
            examine(claim, s, backend, seed) for s in random_subjects(claim.subject, seed, count)
        ]
    return record(claim, "array library", found)


def examine(claim: MatrixClaim, subject: Numbers, backend: Backend, seed: int = 0) -> Instances:
    """Examine one subject; a side that cannot be evaluated there makes it vacuous."""
    subject = imposed(claim, subject)
    differences = Differences(backend, (1.0,))

    def evaluation() -> tuple[floats.Evaluation, float]:
        there = subject.converted(
            lambda value: Array(backend.asarray(value)), _calculus(backend, differences)
        )
        found = floats.evaluate(claim, there, lambda side: _to_numpy(backend, side))
        return found, differences.relative_error

    return floats.judged(claim, floats.Copies(subject, seed), evaluation)


def _to_numpy(backend: Backend, side: Any) -> np.ndarray:
    return backend.to_numpy(side.array) if isinstance(side, Array) else np.asarray(side, float)


def _calculus(backend: Backend, differences: Differences) -> Calculus:
    def gradient(f: Callable[[Any], Any], x: Array) -> Array:
        """Differentiate along every entry."""
        shape = x.array.shape
        flat = backend.namespace.reshape(x.array, (-1,))
        slopes = complex_step.gradient(
            lambda point: bare(f(Array(backend.namespace.reshape(point, shape)))), flat
        )
        return Array(backend.namespace.reshape(slopes, shape))

    def derivative(f: Callable[[Any], Any], x: Array, u: Array) -> Array:
        """Move x along u."""
        shape = x.array.shape
        xp = backend.namespace

        def flat(point: Any) -> Any:
            return bare(f(Array(xp.reshape(point, shape))))

        moved = xp.reshape(xp.astype(u.array, xp.float64) + 0 * x.array, (-1,))
        return Array(differences.derivative(flat, xp.reshape(x.array, (-1,)), moved))

    return Calculus(lambda x: Array(backend.sqrt(bare(x))), gradient, derivative)
