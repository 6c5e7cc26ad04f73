r"""Finite differences on the trained networks, whose ReLUs have kinks.

For each unit the batch is moved along a normal direction u, by a step h in units of its standard
deviation, and half of it:

.. math:: D(h) = \frac{f(y + hu) - f(y - hu)}{2h}, \qquad R = \frac{4 D(h/2) - D(h)}{3}

For the gradient f is the loss, and R is compared to the claimed side's inner product with u.  For
the Hessian f is the gradient, and R is compared to the claimed side itself.  What :math:`D(h/2)`
and R differ by bounds the error of the step; random arithmetic measures that of rounding, which
is divided by the step (:mod:`verify.tolerance`).

Where a ReLU's input changes its sign between y - hu and y + hu, a kink lies inside the
difference, which then says nothing of the derivative at y: the instance is undecided, and the
record says how many are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from theory.claim import Claim, Unit
from theory.language.expression import Letter, Sort, equal
from theory.statement import values_of
from verify import primitives, tolerance
from verify.record import Record
from verify.settings import Settings
from verify.tolerance import Array, Outcome
from verify.witnesses import autograd
from verify.witnesses.evaluations import Evaluation, rounding_of
from verify.witnesses.instances import Instances
from verify.witnesses.records import record
from verify.witnesses.stacks import Stack
from verify.witnesses.table import SHIPPED
from verify.witnesses.trained import Units, every_unit

WITNESS = "finite differences (trained)"

STEP = 2.0**-13
"""In standard deviations: with a larger one, more kinks; with a smaller one, more rounding."""

LARGEST_ERROR = 1e-4
"""A difference whose relative error may be larger decides nothing; most are good to 1e-7."""


def examine(claims: Sequence[Claim], settings: Settings) -> Iterator[Record]:
    """Examine claims at every unit of every layer of every network, at the budget's stages."""
    every = [(units, has_kinks(units)) for units in every_unit(settings)]
    crossed = sum(int(kinks.sum()) for _, kinks in every)
    for claim in claims:
        found = record(claim, WITNESS, [examine_units(claim, *at) for at in every])
        notes = f"kinks inside the difference: {crossed} of {found.instances}"
        yield replace(found, notes=notes)


def examine_units(claim: Claim, units: Units, kinks: Array) -> Instances:
    """Examine a claim at some units of one layer, given where kinks are in the way.

    Raises:
        ValueError: the claim's actual side is neither the gradient in y nor the Hessian along the
            direction.
    """
    if claim.id not in SHIPPED:
        raise ValueError(f"{claim.id} is not examined by differences; only {', '.join(SHIPPED)}")
    stack, loss = instances(units), units.layer.loss_of_unit
    ((base, *samples),) = autograd.measure([_by_differences(claim)], stack, loss, units.seed)
    (actual, claimed), half = _parted(base)
    allowed = tolerance.tolerance(
        rounding_of((actual, claimed), [_parted(sample)[0] for sample in samples]),
        stack.y.shape[1],
        _relative(tolerance.norm(actual - half), tolerance.norm(actual)),
        tolerance.norm(actual) + tolerance.norm(claimed),
    )
    return Instances(
        outcomes=_judge(actual, claimed, allowed, kinks),
        ratios=tolerance.ratio(actual, claimed, claim.relation, allowed),
        actual=tolerance.norm(actual),
        claimed=tolerance.norm(claimed),
        tokens=units.tokens,
        strata=[units.stratum] * len(units.tokens),
        m=stack.y.shape[1],
    )


def instances(units: Units) -> Stack:
    """Return the units with normal directions: an input of the layer leaves most images alone."""
    stack = units.stack(has_epsilon=True)
    rng = np.random.default_rng([units.seed, *units.stratum.encode()])
    drawn = torch.from_numpy(rng.normal(size=units.layer.y.T.shape))
    return replace(stack, direction=drawn[units.numbers])


def has_kinks(units: Units) -> Array:
    """Return for each unit whether a ReLU's input changes its sign inside the difference."""

    def one(case: Stack) -> Tensor:
        (unit,) = case.arguments
        layer = (len(case.y), case.gamma, case.beta, case.eps, torch.sqrt)
        h = STEP * primitives.standard_deviation(case.y, len(case.y), case.eps, torch.sqrt)

        def pattern(steps: float) -> Tensor:
            z = primitives.forward(case.y + steps * h * case.direction, *layer)
            return units.layer.activation_pattern(z, unit)

        here = pattern(0)
        return torch.stack([(pattern(s) != here).any() for s in (-1, -0.5, 0.5, 1)]).any()

    return np.asarray(instances(units).at_each(one).numpy())


def _by_differences(claim: Claim) -> Claim:
    """The claim with differences for its actual side: extrapolated, and of half the step."""

    def claimed(unit: Unit) -> Any:
        value = values_of(unit)[claim.spoken.claimed]
        return value @ unit.direction if claim.order == 1 else value

    def differences(unit: Unit) -> Any:
        return torch.stack(_extrapolated(unit, claim.order))

    sides = (Letter(f.__name__, "", Sort.VECTOR, f) for f in (differences, claimed))
    return replace(claim, says=equal(*sides), because=None)


def _parted(found: Evaluation) -> tuple[tuple[Array, Array], Array]:
    """Return the sides at the extrapolated difference, and the difference of half the step."""
    width = found.actual.shape[1] // 2
    return (found.actual[:, :width], found.claimed[:, :width]), found.actual[:, width:]


def _extrapolated(unit: Unit, order: int) -> tuple[Any, Any]:
    """Return the extrapolated difference, and that of half the step."""
    y, u = unit.y, unit.direction
    h = STEP * unit.standard_deviation(y)

    def f(y: Any) -> Any:
        loss = unit.normalized_loss
        return loss(y) if order == 1 else unit.gradient(loss, y)

    whole, half = ((f(y + k * u) - f(y - k * u)) / (2 * k) for k in (h, h / 2))
    return (4 * half - whole) / 3, half


def _relative(error: Array, size: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return error / size


def _judge(actual: Array, claimed: Array, allowed: Array, kinks: Array) -> list[Outcome]:
    """Return the outcomes; a difference has fewer digits than :func:`tolerance.judge` asks for."""
    apart = tolerance.norm(actual - claimed) > allowed
    size = np.maximum(tolerance.norm(actual), tolerance.norm(claimed))
    sharp = allowed <= LARGEST_ERROR * size
    outcomes = np.where(apart, Outcome.VIOLATED, np.where(sharp, Outcome.HOLDS, Outcome.UNDECIDED))
    return [Outcome(o) for o in np.where(kinks, Outcome.UNDECIDED, outcomes)]
