r"""A statement about matrices of numbers: a layer with its inputs, maps, or a descent.

Its ``sides`` are a function of a subject, one of the three protocols here.  A subject has numbers,
all of one arithmetic, and differentiates functions of them as the witness that offers it does;
whatever a statement says of derivatives is about functions that it writes down literally.  As in
:mod:`theory.claim`, the sides judge nothing, and serve every arithmetic.

Index convention: N examples, n inputs and p outputs of a layer; maps are (N, channel, row, column).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from theory.statement import Statement


class Subject(Protocol):
    """What every subject has and can do."""

    free: Any
    """Real numbers that nothing else is made of, (:data:`theory.language.letters.FREE`,)."""

    def sqrt(self, x: Any) -> Any:
        """Return the square root of a number or of every entry of an array."""
        ...

    def gradient(self, f: Callable[[Any], Any], x: Any) -> Any:
        """Return the gradient of a scalar function at an array x, of x's shape."""
        ...

    def derivative(self, f: Callable[[Any], Any], x: Any, u: Any) -> Any:
        """Return the derivative of a function, scalar or array, at an array x along u; nests."""
        ...

    def differential(self, f: Callable[[Any], Any], x: Any) -> Callable[[Any], Any]:
        """Return the derivative at x as a function of the direction."""
        ...


class Layer(Subject, Protocol):
    """A dense layer on a batch, and what else a statement about it mentions."""

    H: Any
    r"""Inputs, (N, n)."""
    W: Any
    """Weights, (p, n)."""
    b: Any
    """Bias, (p,)."""
    gamma: Any
    """Scale of a Batch Normalization of the inputs, (n,)."""
    beta: Any
    """Its shift, (n,)."""
    mean: Any
    """Means other than the batch's own, such as running ones, (n,)."""
    deviation: Any
    """Standard deviations other than the batch's own, positive, (n,)."""
    curvature: Any
    r"""Numbers of either sign for each example, such as :math:`L''`, (N,)."""
    direction: Any
    """A generic vector of (bias, weights) of one output, (n + 1,)."""
    scaling: Any
    """The diagonal of a nonsingular diagonal matrix, (n + 1,)."""
    step: Any
    """A learning rate, positive."""
    q: Any
    """A positive number."""
    couples: Any
    """1 where the loss of an example depends on other examples, as below a later BN; else 0."""

    def loss(self, A: Any) -> Any:
        """Return the loss as a function of the layer's output a = Wh + b, (N, p)."""
        ...


class Maps(Subject, Protocol):
    """A convolution layer on a batch of maps."""

    h: Any
    """Inputs, (N, c, r, s)."""
    w: Any
    """Weights, (d, c, k, k) with an odd k."""
    b: Any
    """Bias, (d,)."""
    direction: Any
    """A generic vector of (bias, kernel) of one output channel, (k^2 c + 1,)."""
    q: Any
    """A positive number."""

    def loss(self, A: Any) -> Any:
        """Return a loss of the outputs, (N, d, r, s)."""
        ...


class Descent(Subject, Protocol):
    """A function to be minimised, and steps of gradient descent."""

    theta: Any
    """A point, (d,)."""
    direction: Any
    """A generic vector, (d,)."""
    hessian: Any
    """A symmetric positive semi-definite matrix, (d, d)."""
    P: Any
    """A nonsingular matrix, (d, d)."""
    step: Any
    """A learning rate, positive."""
    namespace: Any
    """Of its arrays, by the Array API standard."""

    def loss(self, theta: Any) -> Any:
        """Return the loss at a point."""
        ...


class Kind(StrEnum):
    """The protocols, by name."""

    LAYER = "layer"
    MAPS = "maps"
    DESCENT = "descent"

    @property
    def sizes(self) -> str:
        """The letters of its sizes."""
        return {"LAYER": "Nnp", "MAPS": "Ncrsdk", "DESCENT": "d"}[self.name]


@dataclass(frozen=True, kw_only=True)
class MatrixClaim(Statement):
    """A statement about matrices of numbers."""

    subject: Kind
    """What the sides are a function of."""
    sizes: Mapping[str, str] | None = field(default=None, hash=False)
    """Of its letters for sizes which of the subject's sizes each is, in the order in which they are
    told, such as ``{"n": "d"}`` where it has n for the dimension d; the subject's if left out."""

    def __post_init__(self) -> None:
        """Refuse a subject that is none, and sizes that it does not have.

        Raises:
            ValueError: it is no :class:`Kind`, nor its name; a size is none of its, or is named
                twice.
        """
        object.__setattr__(self, "subject", Kind(self.subject))
        super().__post_init__()
        told = [*(self.sizes or {}).values()]
        if wrong := [s for s in told if s not in self.subject.sizes or told.count(s) > 1]:
            own = ", ".join(self.subject.sizes)
            raise ValueError(
                f"{self.id}: sizes= has {wrong[0]!r}, and a {self.subject} has the sizes {own},"
                f' each once; write the statement\'s letters before them, as {{"M": "{own[0]}"}}'
            )
