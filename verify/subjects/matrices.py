"""Subjects with numbers: what statements about matrices are functions of, in every arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from array_api_compat import array_namespace

from theory import layer, maps
from theory.arithmetic.spectra import squared_singular_values
from theory.language.letters import FREE
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import values_of
from verify.results import Size
from verify.subjects.calculus import EXACT, Calculus, Differentiating
from verify.subjects.losses import OF_MATRICES, bend
from verify.subjects.subject import Subject
from verify.subjects.unit_lattice import shown

OF_SIZE = layer.N, layer.n, layer.p, maps.N, maps.c, maps.r, maps.s, maps.k
"""The letters of sizes."""


@dataclass(frozen=True, kw_only=True)
class Numbers(Subject, Differentiating):
    """Arrays of one arithmetic, and how to differentiate there."""

    kind: ClassVar[Kind]
    """What statements know it by."""
    free: Any
    """Real numbers that nothing else is made of, (:data:`theory.language.letters.FREE`,)."""
    calculus: Calculus = EXACT

    @property
    def like(self) -> Any:
        """A number of its arithmetic."""
        return getattr(self, next(name for name in ("q", "step") if name in self.names()))

    def converted(self, convert: Callable[[Any], Any], calculus: Calculus) -> Self:
        """Return the same subject with every number converted."""
        return replace(self.with_numbers(convert, self.names()), calculus=calculus)


@dataclass(frozen=True, kw_only=True)
class Layer(Numbers):
    """A dense layer (:mod:`theory.layer`): a polynomial and a ridge as its loss."""

    kind = Kind.LAYER
    truths = ("couples",)
    positive = ("deviation", "step", "q")
    H: Any
    W: Any
    b: Any
    gamma: Any
    beta: Any
    mean: Any
    deviation: Any
    curvature: Any
    direction: Any
    scaling: Any
    step: Any
    q: Any
    couples: Any
    linear: Any
    """The loss's coefficients of every output, (N, p)."""
    quadratic: Any
    """Those of the products of one example's outputs, (N, p, p)."""
    fourth: Any
    """Those of the fourth powers, (N, p)."""
    ridge: Any
    """Those of each example's outputs in a ridge function, (N, p)."""
    centre: Any
    """The outputs around which the loss is a polynomial and a ridge, (N, p)."""

    @property
    def size(self) -> Size:
        """Examples, inputs and outputs."""
        return {"N": self.H.shape[0], "n": self.H.shape[1], "p": self.W.shape[0]}

    def loss(self, A: Any) -> Any:
        """Return the mean of the examples' losses; coupled, of what is left of the mean."""
        count = A.shape[0]
        seen = A - self.couples * A.sum(0) / count - self.centre
        products = seen[:, :, None] * seen[:, None, :]
        total = (self.linear * seen).sum() + (self.quadratic * products).sum() / 2
        total = total + bend((self.ridge * seen).sum(1)).sum()
        return (total + (self.fourth * seen * seen * seen * seen).sum()) / count


@dataclass(frozen=True, kw_only=True)
class Maps(Numbers):
    """A convolution layer (:mod:`theory.maps`), with a loss of the same kind."""

    kind = Kind.MAPS
    positive = ("q",)
    h: Any
    w: Any
    b: Any
    direction: Any
    q: Any
    linear: Any
    """The loss's coefficients of every output, (N, d, r, s)."""
    fourth: Any
    """Those of the fourth powers, likewise."""
    pooled: Any
    """Those of the square of an example's weighted sum, so that pixels interact, (N,)."""
    ridge: Any
    """Those of each example's outputs in a ridge function, (N, d, r, s)."""
    centre: Any
    """The outputs around which the loss is a polynomial and a ridge, (N, d, r, s)."""

    @property
    def size(self) -> Size:
        """Examples, channels, rows, columns, outputs and kernel."""
        (N, c, r, s), (d, _, k, _) = self.h.shape, self.w.shape
        return {"N": N, "c": c, "r": r, "s": s, "d": d, "k": k}

    def loss(self, A: Any) -> Any:
        """Return the mean of the examples' losses."""
        count, seen = A.shape[0], A - self.centre
        weighted = (self.linear * seen).reshape(count, -1).sum(1)
        total = weighted.sum() + (self.pooled * weighted * weighted).sum()
        total = total + bend((self.ridge * seen).reshape(count, -1).sum(1)).sum()
        return (total + (self.fourth * seen * seen * seen * seen).sum()) / count


@dataclass(frozen=True, kw_only=True)
class Descent(Numbers):
    """A loss to be minimised (:mod:`theory.descent`), a polynomial and a ridge."""

    kind = Kind.DESCENT
    positive = ("step",)
    theta: Any
    direction: Any
    factor: Any
    """What the Hessian is the square of, F'F, (rank, d)."""
    P: Any
    step: Any
    linear: Any
    """The loss's coefficients of the point's entries, (d,)."""
    fourth: Any
    """Those of their fourth powers, (d,)."""
    ridge: Any
    """Those of the entries in a ridge function, (d,)."""
    centre: Any
    """The point around which the loss is a polynomial and a ridge, (d,)."""

    @property
    def size(self) -> Size:
        """The dimension."""
        return {"d": self.theta.shape[0]}

    @property
    def namespace(self) -> Any:
        """Of the arrays, by the Array API standard."""
        return array_namespace(self.theta)

    @property
    def hessian(self) -> Any:
        """The symmetric matrix F'F."""
        return self.factor.T @ self.factor

    def out_of_range(self) -> dict[str, str]:
        """Return the numbers that no instance has; its preconditioner is nonsingular."""
        is_singular = squared_singular_values(self.P)[0] == 0
        singular = {"P": "singular, which has an inverse"} if is_singular else {}
        return super().out_of_range() | singular

    def loss(self, theta: Any) -> Any:
        """Return a polynomial with linear, quadratic and fourth powers, and a ridge function."""
        seen = theta - self.centre
        image, squares = self.factor @ seen, seen * seen
        total = self.linear @ seen + image @ image / 2 + (self.fourth * squares) @ squares
        return total + bend(self.ridge @ seen)


Shapes = dict[str, tuple[int, ...]]


def of_layers(N: int, n: int, p: int) -> Shapes:
    """Return the shapes of the numbers of a layer, by their names."""
    return {
        "H": (N, n), "W": (p, n), "b": (p,), "gamma": (n,), "beta": (n,), "mean": (n,),
        "deviation": (n,), "curvature": (N,), "direction": (n + 1,), "scaling": (n + 1,),
        "step": (), "q": (), "couples": (), "linear": (N, p), "quadratic": (N, p, p),
        "fourth": (N, p), "ridge": (N, p), "centre": (N, p), "free": (FREE,),
    }  # fmt: skip


def of_maps(N: int, c: int, r: int, s: int, d: int, k: int) -> Shapes:
    """Return the shapes of the numbers of a convolution layer."""
    outputs = N, d, r, s
    return {
        "h": (N, c, r, s), "w": (d, c, k, k), "b": (d,), "direction": (k * k * c + 1,), "q": (),
        "linear": outputs, "fourth": outputs, "pooled": (N,), "ridge": outputs, "centre": outputs,
        "free": (FREE,),
    }  # fmt: skip


def of_descents(d: int) -> Shapes:
    """Return the shapes of the numbers of a descent."""
    vectors = dict.fromkeys(("linear", "fourth", "ridge", "centre"), (d,))
    matrices = {"factor": (d, d), "P": (d, d), "step": ()}
    return {"theta": (d,), "direction": (d,), **matrices, **vectors, "free": (FREE,)}


SUBJECTS: dict[Kind, type[Numbers]] = {one.kind: one for one in (Layer, Maps, Descent)}
SHAPES: dict[Kind, Callable[..., Shapes]] = {
    Kind.LAYER: of_layers,
    Kind.MAPS: of_maps,
    Kind.DESCENT: of_descents,
}
"""Of a size: (N, n, p) of layers, (N, c, r, s, d, k) of maps and (d,) of descents."""


def may_be_met(claim: MatrixClaim, subject: Numbers) -> bool:
    """Whether no hypothesis fails by a subject's size alone: nothing is proved of no subject."""
    values = values_of(subject)
    return all(
        says.relation.compare(values[says.actual], values[says.claimed])
        for says in (h.says for h in claim.hypotheses)
        if says.letters and all(x in OF_SIZE and isinstance(values[x], int) for x in says.letters)
    )


class Watched:
    """A subject that remembers which of its numbers were looked at."""

    def __init__(self, subject: Numbers):
        self._subject, self.seen = subject, set[str]()

    def __getattr__(self, name: str) -> Any:
        self.seen.add(name)
        return getattr(self._subject, name)


def written(subject: Numbers, seen: set[str]) -> dict[str, Any]:
    """Return the numbers that were looked at, as nested lists of strings."""
    needed = seen | (BEHIND_LOSS if "loss" in seen else set())
    needed |= {"factor"} if "hessian" in seen else set()
    names = [name for name in subject.names() if name in needed]
    return {name: shown(getattr(subject, name)) for name in names}


BEHIND_LOSS = OF_MATRICES | {"couples"}
