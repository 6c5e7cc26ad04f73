"""One instance of one unit: a batch, the layer's parameters and a loss, or any loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NoReturn, TypeVar

import numpy as np

from theory.claim import Claim
from theory.statement import Statement
from verify.grouping import grouped
from verify.subjects.losses import Loss, isotropic, later_batchnorm, quadratic, relu_network, ridged

Said = TypeVar("Said", bound=Statement)
Change = Callable[[Any], Any]


@dataclass(frozen=True)
class Case:
    """Numbers of one arithmetic: NumPy float64 arrays, or object arrays of exact numbers."""

    y: Any
    gamma: Any
    beta: Any
    eps: Any
    loss: Loss
    direction: Any
    other_direction: Any
    bound: Any = 1
    later_normalizations: int = 0
    stratum: str = ""
    token: str = ""

    def with_isotropic_loss(self, linear: Any, curvature: Any) -> Case:
        r"""Return the case with the loss :math:`\langle a, z\rangle + h\|z\|^2/2`."""
        return self._with_loss(Loss(isotropic, (linear, curvature)))

    def with_quadratic_loss(self, linear: Any, matrix: Any) -> Case:
        r"""Return the case with the loss :math:`\langle a, z\rangle + \langle z, Bz\rangle/2`."""
        return self._with_loss(Loss(quadratic, (linear, matrix)))

    def with_ridged_loss(self, ridge: Any) -> Case:
        r"""Return the case with the loss :math:`(t + t^2)/(1 + t^2), t = \langle c, z\rangle`."""
        return self._with_loss(Loss(ridged, (0 * ridge, np.outer(ridge, 0 * ridge), ridge)))

    def with_relu_network_loss(self) -> Case:
        """Return the case with a convex loss of a network with one piecewise-linear layer.

        The network's weights are the case's directions, its targets more than the squares of the
        batch, so that errors are often negative, where a ReLU bends the loss downwards.
        """
        weights = (self.direction, self.other_direction, self.gamma, self.y * self.y + 1)
        return self._with_loss(Loss(relu_network, weights))

    def with_later_batchnorm_loss(self) -> Case:
        """Return the case with a convex loss of a network whose next layer is a normalisation.

        The targets are the case's direction.
        """
        return self._with_loss(Loss(later_batchnorm, (self.direction,)), later_normalizations=1)

    def _with_loss(self, loss: Loss, later_normalizations: int = 0) -> Case:
        return replace(self, loss=loss, later_normalizations=later_normalizations)


class LosesGeneralityError(ValueError):
    """A hypothesis asked the generic case for a special loss: a proof for one loss is no proof."""


@dataclass(frozen=True)
class GenericCase:
    """A case whose loss stands for every one: hypotheses may replace its numbers alone."""

    y: Any
    gamma: Any
    beta: Any
    eps: Any
    direction: Any
    other_direction: Any
    bound: Any
    later_normalizations: int = 0

    def _refused(self, *numbers: Any) -> NoReturn:
        """Refuse to have a special loss."""
        raise LosesGeneralityError("the loss is a special case")

    with_isotropic_loss = with_quadratic_loss = with_ridged_loss = _refused
    with_relu_network_loss = with_later_batchnorm_loss = _refused


NUMBERS = tuple(field.name for field in fields(GenericCase))
REAL = tuple(name for name in NUMBERS if name != "later_normalizations")
"""Those that are real numbers, or vectors of them."""
VECTORS = ("y", "direction", "other_direction")
"""Those of which a case has one for each entry of the batch."""


def numbers(case: Any) -> dict[str, Any]:
    """Return the numbers of a case by their names, as a network takes them."""
    return {name: getattr(case, name) for name in NUMBERS}


def adapted(case: Case, claim: Claim) -> Case:
    """Return the case as a claim wants it: eps as its reading has it, hypotheses imposed."""
    if not claim.reading.has_epsilon:
        case = replace(case, eps=0 * case.eps)
    with np.errstate(all="ignore"):  # where sigma is zero nothing can be imposed
        return changed(case, imposed_by(claim))


def imposed_by(claim: Statement) -> tuple[Change, ...]:
    """Return the changes of a case, or of another subject, that a claim's hypotheses impose."""
    return tuple(h.impose for h in claim.hypotheses if h.impose is not None)


def unimposed(claim: Said) -> Said:
    """Return a statement whose hypotheses a subject meets by itself, or does not."""
    hypotheses = tuple(replace(hypothesis, impose=None) for hypothesis in claim.hypotheses)
    return replace(claim, hypotheses=hypotheses)


def changed(subject: Any, changes: Iterable[Change]) -> Any:
    """Return a subject with changes made in turn."""
    for change in changes:
        subject = change(subject)
    return subject


def imposing_alike(claims: Sequence[Said]) -> list[list[Said]]:
    """Return groups of claims whose hypotheses change every case, or subject, in the same way."""
    return list(grouped(claims, imposed_by).values())
