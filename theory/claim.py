r"""A statement of a paper as a value: where it stands, what it says, when, and its two sides.

A claim says nothing of how it is examined.  Its ``sides`` is a function of a :class:`Network`,
which offers derivatives of the network with Batch Normalization as primitives compute them, and
of :class:`Letters`, the paper's symbols in closed form; it returns both sides and judges nothing.
The same function serves every arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from theory import batchnorm


class Relation(StrEnum):
    """How the actual side relates to the claimed one, or a hypothesis's quantity to zero."""

    EQUAL = "="
    AT_MOST = "<="
    AT_LEAST = ">="
    LESS_THAN = "<"
    MORE_THAN = ">"


class Form(StrEnum):
    """What a claim is to the paper."""

    PRINTED = "printed"
    CORRECTED = "corrected"
    SHARPENED = "sharpened"


class Verdict(StrEnum):
    """What the evidence says of a claim, computed by ``verify`` and only expected here."""

    PROVED = "proved"
    REFUTED = "refuted"
    SUPPORTED = "supported"
    UNREADABLE = "unreadable"
    UNDECIDED = "undecided"
    NOT_RUN = "not yet run"


class Sides(NamedTuple):
    """The two sides of a statement: what the network does, and what the paper says of it."""

    actual: Any
    claimed: Any


class Case(Protocol):
    """One instance as a hypothesis may change it: a dataclass with these fields."""

    y: Any
    gamma: Any
    beta: Any
    eps: Any
    direction: Any

    def with_isotropic_loss(self, linear: Any, curvature: Any) -> Case:
        r"""Return the case with the loss :math:`\langle a, z\rangle + h\|z\|^2/2`."""
        ...

    def with_relu_network_loss(self) -> Case:
        """Return the case with a convex loss of a network with a piecewise-linear layer."""
        ...

    def with_later_batchnorm_loss(self) -> Case:
        """Return the case with a convex loss of a network with a later normalisation."""
        ...


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


class Letters(NamedTuple):
    """The paper's letters in closed form; what sigma and yhat mean is the reading's choice."""

    m: Any
    gamma: Any
    beta: Any
    sigma: Any
    yhat: Any
    g: Any
    one: Any
    H: Callable[[Any], Any]


class Reading(StrEnum):
    r"""What :math:`\sigma` and :math:`\hat y` stand for.

    The papers have no :math:`\epsilon`; every implementation has one.
    """

    NO_EPSILON = "eps = 0"
    SHARED_EPSILON = "eps > 0, sigma = sqrt(variance + eps), yhat = (y - mean)/sigma"
    UNIT_VARIANCE = "eps > 0, sigma = sqrt(variance + eps), yhat = (y - mean)/sqrt(variance)"

    @property
    def suffix(self) -> str:
        """What the reading adds to a claim's identifier."""
        return {"NO_EPSILON": "", "SHARED_EPSILON": "/eps", "UNIT_VARIANCE": "/eps-unit"}[self.name]

    @property
    def has_epsilon(self) -> bool:
        """Whether the reading speaks of eps > 0."""
        return self is not Reading.NO_EPSILON

    def letters(self, network: Network) -> Letters:
        """Return the paper's letters for a network in this reading."""
        y, eps = network.y, network.eps
        yhat = batchnorm.normalize(y, 0 if self is Reading.UNIT_VARIANCE else eps)
        return Letters(
            m=network.m,
            gamma=network.gamma,
            beta=network.beta,
            sigma=batchnorm.standard_deviation(y, eps),
            yhat=yhat,
            g=network.g,
            one=0 * yhat + 1,
            H=lambda u: hessian_of_loss(network, u),
        )


def hessian_of_loss(network: Network, u: Any) -> Any:
    r"""The loss's own Hessian at the layer's output applied to u: :math:`H u`."""
    return network.derivative(lambda z: network.gradient(network.loss, z), network.z, u)


def gradient_in_y(network: Network) -> Any:
    r""":math:`\partial\hat L/\partial y`, by differentiation of the network."""
    return network.gradient(network.normalized_loss, network.y)


def hessian_in_y(network: Network, u: Any) -> Any:
    r""":math:`\frac{\partial^2\hat L}{\partial y^2} u`, by differentiation of the network."""
    return network.derivative(lambda y: network.gradient(network.normalized_loss, y), network.y, u)


@dataclass(frozen=True)
class Hypothesis:
    """A condition of a statement, as the sign of a quantity."""

    statement: str
    quantity: Callable[[Network, Letters], Any]
    sign: Relation = Relation.AT_LEAST
    """How the quantity relates to zero."""
    impose: Callable[[Any], Any] | None = None
    """Change a case so that the condition holds; without it a case is only checked.

    The abstract witness imposes it on its case where a claim has no certificate, so there it
    must lose no generality.
    """
    printed: bool = True
    """Whether the text states it; False for a hypothesis that the text leaves out."""


@dataclass(frozen=True)
class Location:
    """Where a statement stands: text, line, place in the paper, and a few words verbatim."""

    text: str
    line: int
    place: str
    quote: str


class Term(NamedTuple):
    """A summand of a certificate: a weight times factors that cannot be negative.

    A factor is a scalar (its square counts), a vector (its squared norm counts) or a
    :class:`Hypothesis` (its quantity counts).  The weight is visibly non-negative, unless a
    factor is a quantity that a hypothesis says is zero.
    """

    weight: Any
    factors: tuple[Any, ...]


@dataclass(frozen=True)
class Claim:
    """One statement in one printing and one reading, or a correction of it."""

    id: str
    row: str
    locations: tuple[Location, ...]
    statement: str
    sides: Callable[[Network, Letters], Sides]
    relation: Relation
    expected: Verdict
    reading: Reading = Reading.NO_EPSILON
    form: Form = Form.PRINTED
    of: str | None = None
    hypotheses: tuple[Hypothesis, ...] = ()
    certificate: Callable[[Network, Letters], list[Term]] | None = None
    """Terms that add up to claimed - actual: the proof of an inequality."""
    order: int = 1
    """How often the actual side differentiates the network."""
    corrected_by: str | None = None
    """The identifier of the right statement, where it is not a claim made of this one."""
    unreadable: str = ""
    """What the conversion of the text lost, where the formula cannot be what was printed."""
    falsified_by: str = ""
    """What would falsify the statement, in words."""
    remark: str = ""

    def under(self, reading: Reading, expected: Verdict, **changes: Any) -> Claim:
        """Return the same statement in another reading."""
        return replace(
            self, id=self.id + reading.suffix, reading=reading, expected=expected, **changes
        )

    def corrected(self, name: str = "corrected", /, **changes: Any) -> Claim:
        """Return a corrected statement, tied to this one."""
        settled = {"form": Form.CORRECTED, "of": self.id, "expected": Verdict.PROVED}
        return replace(self, **{**settled, "id": f"{self.id}/{name}", **changes})

    def sharpened(self, name: str = "sharpened", /, **changes: Any) -> Claim:
        """Return a sharper statement, tied to this one."""
        return self.corrected(name, **{"form": Form.SHARPENED, **changes})

    def evaluate(self, network: Network) -> Sides:
        """Return both sides for one network."""
        return self.sides(network, self.reading.letters(network))
