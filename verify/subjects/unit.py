"""One instance of one unit: a batch, the layer's parameters and a loss, or any loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn, TypeVar

import numpy as np

from theory.claim import Claim
from theory.statement import Statement
from verify.grouping import grouped
from verify.results import Size
from verify.subjects.losses import Loss, isotropic, later_batchnorm, quadratic, relu_network, ridged
from verify.subjects.subject import Subject

Said = TypeVar("Said", bound=Statement)
Change = Callable[[Any], Any]


@dataclass(frozen=True, kw_only=True)
class Batch(Subject):
    """The batch of one unit and the layer's parameters: floats, exact numbers, balls or symbols."""

    truths = ("later_normalizations",)
    positive = ("eps", "bound")
    vectors: ClassVar[tuple[str, ...]] = ("y", "direction", "other_direction")
    """Those of which there is one for each entry of the batch."""
    y: Any
    gamma: Any
    beta: Any
    eps: Any
    direction: Any
    other_direction: Any
    bound: Any = 1
    later_normalizations: Any = 0

    @property
    def size(self) -> Size:
        """The length of the batch."""
        return {"m": len(self.y)}


@dataclass(frozen=True, kw_only=True)
class Case(Batch):
    """A batch and a loss of what the layer makes of it."""

    loss: Loss

    def converted(self, convert: Callable[[Any], Any]) -> Case:
        """Return the case with every number converted, and those of its loss."""
        found = self.with_numbers(convert, self.real())
        parameters = tuple(map(convert, self.loss.parameters))
        return replace(found, loss=replace(self.loss, parameters=parameters))

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


class GenericCase(Batch):
    """A case whose loss stands for every one: hypotheses may replace its numbers alone."""

    def _refused(self, *numbers: Any) -> NoReturn:
        """Refuse to have a special loss."""
        raise LosesGeneralityError("the loss is a special case")

    with_isotropic_loss = with_quadratic_loss = with_ridged_loss = _refused
    with_relu_network_loss = with_later_batchnorm_loss = _refused


def adapted(case: Case, claim: Claim) -> Case:
    """Return the case as a claim wants it: eps as its reading has it, hypotheses imposed."""
    if not claim.reading.has_epsilon:
        case = replace(case, eps=0 * case.eps)
    with np.errstate(all="ignore"):  # where sigma is zero nothing can be imposed
        found = changed(case, imposed_by(claim))
    arrays = [n for n, value in found.numbers().items() if n not in case.vectors and np.ndim(value)]
    return found.with_numbers(_single, arrays) if arrays else found


def _single(value: Any) -> Any:
    """Return the number that a hypothesis left in an array of its own."""
    return np.reshape(value, ())[()]


def imposed_by(claim: Statement) -> tuple[Change, ...]:
    """Return the changes of a case, or of another subject, that a claim's hypotheses impose."""
    return tuple(h.impose for h in claim.hypotheses if h.impose is not None)


def unimposed(claim: Said) -> Said:
    """Return a statement whose hypotheses a subject meets by itself, or does not."""
    hypotheses = tuple(replace(hypothesis, impose=None) for hypothesis in claim.hypotheses)
    return replace(claim, hypotheses=hypotheses)


def changed(subject: Any, changes: Iterable[Change]) -> Any:
    """Return a subject with changes made in turn; itself stays, whatever they do in place."""
    for change in changes:
        subject = change(subject.copied())
    return subject


def imposing_alike(claims: Sequence[Said]) -> list[list[Said]]:
    """Return groups of claims whose hypotheses change every case, or subject, in the same way."""
    return list(grouped(claims, imposed_by).values())
