r"""A statement about one unit's batch: functions of a network and of the paper's letters.

A claim says nothing of how it is examined.  Its ``sides`` are a function of a :class:`Unit`: a
:class:`Network`, which offers derivatives of the network with Batch Normalization as primitives
compute them, with the paper's symbols in closed form; it returns both sides and judges nothing.
The same function serves every arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Protocol, cast

from theory import batchnorm
from theory.language.expression import Says, derivatives_in
from theory.statement import (
    Form,
    Hypothesis,
    Location,
    NoLetterError,
    Paper,
    Reading,
    Relation,
    Sides,
    Statement,
    Term,
    Verdict,
)

__all__ = [
    "Claim",
    "Form",
    "Hypothesis",
    "Location",
    "Network",
    "Paper",
    "Reading",
    "Relation",
    "Sides",
    "Term",
    "Unit",
    "Verdict",
]


class Network(Protocol):
    r"""One unit of a network with Batch Normalization, as a statement may see it.

    :math:`L` is the loss as a function of the layer's output, :math:`\hat L(y) = L(z(y))`.
    Everything is built from primitives that share no function with the closed forms, and
    differentiated by the witness that offers it.
    """

    y: Any
    """The batch, a vector of length m."""
    gamma: Any
    beta: Any
    eps: Any
    m: Any
    direction: Any
    """A generic direction in batch space: what an operator is applied to, or the i-th input."""
    other_direction: Any
    """A second one, such as the k-th input."""
    bound: Any
    r"""A positive number: the bound :math:`\lambda` on the spectral norm of the inputs."""
    later_normalizations: Any
    """How many layers of Batch Normalization follow in the network."""
    z: Any
    """The layer's output."""
    g: Any
    r""":math:`\partial L/\partial z` at the layer's output."""

    def loss(self, z: Any) -> Any:
        """Return L, the loss as a function of what it is given for the layer's output."""
        ...

    def normalized_loss(self, y: Any) -> Any:
        r"""Return :math:`\hat L`, the loss as a function of the batch before the layer."""
        ...

    def forward(self, y: Any) -> Any:
        """Return the layer's output for a batch."""
        ...

    def normalize(self, y: Any) -> Any:
        r"""Return :math:`(y - \mu)/\sqrt{v + \epsilon}`."""
        ...

    def standard_deviation(self, y: Any) -> Any:
        r"""Return :math:`\sqrt{v + \epsilon}`."""
        ...

    def gradient(self, f: Callable[[Any], Any], x: Any) -> Any:
        """Return the gradient of a scalar function at x."""
        ...

    def derivative(self, f: Callable[[Any], Any], x: Any, u: Any) -> Any:
        """Return the derivative of a function, scalar or vector, at x along u."""
        ...

    def differential(self, f: Callable[[Any], Any], x: Any) -> Callable[[Any], Any]:
        """Return the derivative at x as a function of the direction."""
        ...


class Unit:
    """A network as a statement reads it: with the paper's letters in closed form, which come first.

    What sigma and yhat mean is the reading's choice.
    """

    def __init__(self, network: Network, reading: Reading):
        y, eps = network.y, network.eps
        self.network = network
        self.sigma = batchnorm.standard_deviation(y, eps)
        self.yhat = batchnorm.normalize(y, 0 if reading is Reading.UNIT_VARIANCE else eps)
        self.one = 0 * self.yhat + 1

    def H(self, u: Any) -> Any:
        r"""Return :math:`H u`, the loss's own Hessian at the layer's output applied to u."""
        slope = partial(self.network.gradient, self.network.loss)
        return self.network.derivative(slope, self.network.z, u)

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(self.network, name)
        except AttributeError as error:
            raise NoLetterError(f"a unit has no {name}", name=name, obj=self) from error


@dataclass(frozen=True, kw_only=True)
class Claim(Statement):
    """A statement about one unit of a network with Batch Normalization."""

    @cached_property
    def order(self) -> int:
        """How often its sides differentiate the network, at least once."""
        sides = self.spoken.actual, self.spoken.claimed
        return max(1, *map(derivatives_in, sides))

    def under(self, reading: Reading, expected: Verdict, **changes: Any) -> Claim:
        """Return the same statement in another reading; what has epsilon is not what is printed."""
        form = Form.READING if self.form in (Form.PRINTED, Form.STEP) else self.form
        settled = {"id": self.id + reading.suffix, "reading": reading, "form": form}
        return replace(self, **{**settled, "expected": expected, **changes})

    def with_epsilon(
        self, expected: Verdict, unit: Verdict | None = None, right: Says | str | None = None
    ) -> list[Claim]:
        """Return the statement at eps = 0 and in the readings of eps.

        A remark on what holds is not one on what does not, nor the other way.

        Args:
            expected: of the reading with one epsilon, in sigma and in yhat.
            unit: of the reading with a yhat of variance one; None if it is not examined.
            right: the statement that holds with one epsilon, where this one does not, or the
                identifier of the claim that says it.
        """
        named = right if isinstance(right, str) else None
        shared = self.under(Reading.SHARED_EPSILON, expected, corrected_by=named)
        found = [self, shared]
        if isinstance(right, Says):
            found.append(shared.corrected(says=right))
        if unit is not None:
            corrected_by = (named or found[-1].id) if unit is Verdict.REFUTED else None
            found.insert(2, self.under(Reading.UNIT_VARIANCE, unit, corrected_by=corrected_by))
        return [c if c.expected is self.expected else replace(c, remark="") for c in found]

    def read(self, subject: Network) -> Unit:
        """Return a network with the paper's letters in this claim's reading, computed once."""
        known = vars(subject).setdefault("units", {})
        has_unit_variance = self.reading is Reading.UNIT_VARIANCE  # others differ in eps itself
        if has_unit_variance not in known:
            known[has_unit_variance] = Unit(subject, self.reading)
        return cast(Unit, known[has_unit_variance])
