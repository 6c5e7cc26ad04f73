"""Theorem 4 at the best diagonal matrix there is, which a semidefinite programme finds.

Whatever diagonal matrix other witnesses draw, this one takes the minimiser, whose optimality the
dual solution proves (:mod:`verify.optimal_scaling`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from theory.matrix_claim import Kind, MatrixClaim
from verify.optimal_scaling import OptimalScaling, optimal_scaling
from verify.record import Record
from verify.settings import Settings
from verify.subjects import matrix_strata
from verify.subjects.matrices import Layer
from verify.subjects.matrix_strata import random_subjects
from verify.witnesses.matrices import floats, trained
from verify.witnesses.records import recorded

WITNESS = "best scaling"
FEATURES = 20
"""Of a trained layer's features those with the largest variance: a programme for more is slow."""
SOLVER = "clarabel"


def examine(claims: Sequence[MatrixClaim], settings: Settings) -> Iterator[Record]:
    """Examine claims at the best scaling of random layers and of trained ones."""
    if find_spec(SOLVER) is None:
        yield from not_run(claims, WITNESS)
        return
    solved = [one for one in map(at_best, layers(settings)) if one is not None]
    gap = max(found.gap for _, found in solved)
    examined = floats.examine_together(claims, [layer for layer, _ in solved], settings.seed)
    for measured in recorded(claims, WITNESS, examined):
        yield replace(measured, notes=f"largest relative gap of the minima: {gap:.1e}")


def not_run(claims: Sequence[MatrixClaim], witness: str) -> Iterator[Record]:
    """Yield what is said of each claim where the solver is missing."""
    notes = f"not run: {SOLVER} is missing; pip install 'batchnorm-theory[optimal]'"
    yield from (Record(claim.id, witness, notes=notes) for claim in claims)


def layers(settings: Settings) -> Iterator[Layer]:
    """Yield random layers, and trained ones with their liveliest features."""
    budget, seed = settings.budget, settings.seed
    count = -(-budget.random // floats.MATRICES_SHARE)
    drawn = random_subjects(Kind.LAYER, seed, count)
    real = trained.every_subject(Kind.LAYER, budget.stages, seed, settings.cache)
    yield from (layer for layer in drawn if isinstance(layer, Layer))
    yield from (_liveliest(layer) for layer in real if isinstance(layer, Layer))


def _liveliest(layer: Layer) -> Layer:
    chosen = np.argsort(layer.H.var(axis=0))[-FEATURES:]
    bordered = np.append(0, chosen + 1)
    return replace(
        layer,
        H=layer.H[:, chosen],
        W=layer.W[:, chosen],
        gamma=layer.gamma[chosen],
        beta=layer.beta[chosen],
        mean=layer.mean[chosen],
        deviation=layer.deviation[chosen],
        direction=layer.direction[bordered],
        scaling=layer.scaling[bordered],
    )


def at_best(layer: Layer) -> tuple[Layer, OptimalScaling] | None:
    """Return a layer with the best scaling of its centred inputs and the ones, and that.

    None where these columns depend.
    """
    deviations = layer.H - layer.H.mean(axis=0)
    columns = np.column_stack([np.ones(len(deviations)), deviations])
    if np.linalg.matrix_rank(columns) < columns.shape[1]:
        return None
    found = optimal_scaling(columns.T @ columns)
    return replace(layer, scaling=found.D0, token=f"best:{layer.token}"), found


def rebuild(token: str, cache: Path | None) -> Layer:
    """Return the layer at its best scaling that a token names.

    Raises:
        ValueError: the token names none.
    """
    inner = token.removeprefix("best:")
    if inner.startswith("network:"):
        real = (s for s in trained.rebuild(inner, cache) if isinstance(s, Layer))
        named = [_liveliest(layer) for layer in real]
    else:
        named = [s for s in [matrix_strata.rebuild(inner)] if isinstance(s, Layer)]
    if not named:
        raise ValueError(f"{token!r} names no layer")
    if (found := at_best(named[0])) is None:
        raise ValueError(f"{token!r}: the columns of this layer depend, so it has no best scaling")
    return found[0]
