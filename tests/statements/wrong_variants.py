"""What a statement is worth where it is examined, and what its wrong variants are worth there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import torch

from theory.claim import Claim, Reading, letters_of
from theory.language.expression import Says
from theory.language.values import Values
from theory.language.variants import variants
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Statement, joined
from verify.cases.case import Case, adapted
from verify.cases.strata import random_cases
from verify.matrices import exact, floats
from verify.matrices.strata import draw
from verify.matrices.subjects import Layer, Numbers
from verify.witnesses.autograd import TorchNetwork
from verify.witnesses.stacks import loss_of, stacked

CLOSE = 1e-9
"""Relative; the cases are small integers and well-conditioned batches."""
MEANINGLESS = (ZeroDivisionError, RuntimeError, ValueError)
"""What a variant may be worth nothing by: a shape that does not fit, an index that is a half."""
_STEP = "theta* + v - theta* - alpha*"
_SLOPE = "gradient(L(t) - dot(gradient(L(t), t = theta*), t), t = theta*"
_KAPPA_IS_ONE = "there the condition number is one"
SAME: dict[str, dict[str, str]] = {
    "L-thm-4c/zeros": {"n + 1": _KAPPA_IS_ONE},
    "L-thm-4c/tight": {"n": _KAPPA_IS_ONE},
    "L-lemma-A1/zeros": {"n": _KAPPA_IS_ONE},
    "L-prop-11/semidefinite": {"squared condition number(beside(e, H))": _KAPPA_IS_ONE},
    "L-thm-1/softmax": {"dot((0, 1, 0), (-b, 0, a))**3": "the two are orthogonal"},
    "L-proof-thm-1/eq-24": {
        f"{_STEP}{_SLOPE} + v)": "the slope at theta* is zero",
        f"{_STEP}({_SLOPE} + v) + {_SLOPE}))": "the slope at theta* is zero",
    },
}
"""By identifier: variants that say the same, and why."""


def wrong(claim: Statement) -> Iterator[Says]:
    """Yield what a claim would say with one mistake on its claimed side."""
    says = claim.says
    for claimed in dict.fromkeys(variants(says.claimed)):
        if claimed != says.claimed:
            yield replace(says, claimed=claimed)


def is_noticed(claim: Statement, variant: Says) -> bool:
    """Whether a variant is worth something else where the claim's hypotheses are imposed.

    There an equation that holds would fail, a slack would not be its certificate, and the two
    numbers of a counterexample would be others.
    """
    return any(_differs(values, claim.says, variant) for values in instances(claim))


def is_refuted(claim: Statement, variant: Says) -> bool:
    """Whether a variant of an inequality is violated where the claim's hypotheses are imposed."""
    return any(not _holds(values, variant) for values in instances(claim))


def _differs(values: Values, says: Says, variant: Says) -> bool:
    try:
        return not _close(*(array_of(values.sides(s).claimed) for s in (says, variant)))
    except MEANINGLESS:
        return True


def _holds(values: Values, says: Says) -> bool:
    try:
        actual, claimed = np.broadcast_arrays(*map(array_of, values.sides(says)))
    except MEANINGLESS:
        return False
    slack = says.relation.slack(actual, claimed)
    return bool((slack >= -CLOSE * (abs(actual) + abs(claimed))).all())


def _close(a: np.ndarray, b: np.ndarray) -> bool:
    size = max(np.max(np.abs(a), initial=0), np.max(np.abs(b), initial=0), CLOSE)
    return bool(np.allclose(a, b, rtol=0, atol=CLOSE * size, equal_nan=True))


def array_of(value: Any) -> np.ndarray:
    return np.asarray(value.detach() if isinstance(value, torch.Tensor) else value, dtype=float)


@cache
def instances(claim: Statement) -> list[Values]:
    """Return the values of expressions at cases where the claim's hypotheses are imposed."""
    if isinstance(claim, MatrixClaim):
        return [Values(subject) for subject in _subjects(claim)]
    assert isinstance(claim, Claim)
    if not claim.hypotheses:
        return _free_instances(claim.reading)
    return [values_in(adapted(case, claim), claim.reading) for case in _cases()]


@cache
def _free_instances(reading: Reading) -> list[Values]:
    """Return the values without hypotheses, which all claims of a reading share."""
    any_claim = Claim(id="", locations=(), expected=None, reading=reading)
    return [values_in(adapted(case, any_claim), reading) for case in _cases()]


def values_in(case: Case, reading: Reading) -> Values:
    stack, loss = stacked([case]), loss_of([case])
    first = [tensor[0] for tensor in stack[:-1]]
    y, gamma, beta, eps, direction, other, bound, later = first
    arguments = [argument[0] for argument in stack.arguments]
    network = TorchNetwork(
        y, gamma, beta, eps, direction, lambda z: loss(z, *arguments), other, bound, later
    )
    return Values(joined(network, letters_of(network, reading)))


@cache
def _cases() -> tuple[Case, ...]:
    """Return generic batches, one of them with a negative gamma."""
    found = [c for c in random_cases(0, 2) if c.stratum in ("generic", "gamma<0")]
    return tuple(case for case in found if 3 <= len(case.y) <= 8)[:3]


def _subjects(claim: MatrixClaim) -> list[Numbers]:
    found = []
    for subject in _random(claim.subject):
        try:
            imposed = exact.imposed(claim, subject)
        except ZeroDivisionError:
            continue
        if not _is_rounding(subject, imposed):
            found.append(imposed.converted(floats.tensor, floats.CALCULUS))
    return found


def _is_rounding(subject: Numbers, imposed: Numbers) -> bool:
    """Whether a hypothesis leaves no more of a column than rounding, which differs by machine."""
    if not isinstance(subject, Layer):
        return False
    before, after = (np.linalg.norm(np.asarray(x.H, float), axis=0) for x in (subject, imposed))
    return before.shape == after.shape and bool(((after > 0) & (after < 1e-9 * before)).any())


@cache
def _random(kind: Kind) -> tuple[Numbers, ...]:
    strata = ("gaussian", "heavy tails") * 3
    return tuple(draw(kind, stratum, 4, number) for number, stratum in enumerate(strata))
