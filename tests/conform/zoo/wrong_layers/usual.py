"""The usual faults of kernels, in every family that can have them, and the cause that is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from torch import Tensor

from wrong_layers.fault import Fault

GROUPS = 2


@dataclass(frozen=True)
class Family:
    """A member of the family: what is averaged, and where the parameters are."""

    name: str

    @property
    def is_centred(self) -> bool:
        """Whether the mean is subtracted."""
        return self.name != "rms"

    @property
    def is_of_rows(self) -> bool:
        """Whether the last axis is normalised."""
        return self.name in ("layer", "rms")

    def average(self, t: Tensor) -> Tensor:
        """Return the averages of what is normalised together, where they broadcast."""
        if self.name == "group":
            of_groups = t.reshape(len(t), GROUPS, -1).mean(-1, keepdim=True)
            return of_groups.expand(len(t), GROUPS, t[0].numel() // GROUPS).reshape(t.shape)
        axes = {"batch": (0, *range(2, t.ndim)), "instance": tuple(range(2, t.ndim))}
        return t.mean(axes.get(self.name, (-1,)), keepdim=True)

    def together(self, t: Tensor) -> int:
        """Return how many entries are normalised together."""
        sizes = {"batch": (len(t), *t.shape[2:]), "instance": t.shape[2:], "group": t.shape[1:]}
        m = prod(sizes.get(self.name, t.shape[-1:]))
        return m // GROUPS if self.name == "group" else m

    def at_entries(self, parameter: Tensor, t: Tensor) -> Tensor:
        """Return a parameter where it broadcasts."""
        return parameter if self.is_of_rows else parameter.reshape(1, -1, *[1] * (t.ndim - 2))

    def summed(self, t: Tensor) -> Tensor:
        """Return the sums over the entries that share a parameter."""
        return t.sum(tuple(a for a in range(t.ndim) if a != (t.ndim - 1 if self.is_of_rows else 1)))

    def centred(self, t: Tensor) -> Tensor:
        """Return the entries less their average, where the family subtracts it."""
        return t - self.average(t) if self.is_centred else t


@dataclass(frozen=True)
class Point:
    """Where a rule for gradients is applied."""

    family: Family
    x: Tensor
    gamma: Tensor
    g: Tensor
    eps: float

    @property
    def square(self) -> Tensor:
        """The variance or the mean square."""
        return self.family.average(self.family.centred(self.x) ** 2)

    @property
    def sigma(self) -> Tensor:
        """The root."""
        return torch.sqrt(self.square + self.eps)

    @property
    def yhat(self) -> Tensor:
        """The standardized entries."""
        return self.family.centred(self.x) / self.sigma

    @property
    def pulled(self) -> Tensor:
        """The cotangent of yhat."""
        return self.family.at_entries(self.gamma, self.x) * self.g


Forward = Callable[[Family, Tensor, float], Tensor]
"""(family, x, eps) -> yhat"""
Rules = Callable[[Point], tuple[Tensor, Tensor, Tensor]]


def in_x(p: Point, yhat: Tensor, sigma: Tensor) -> Tensor:
    """Return the gradient in x by these yhat and sigma."""
    return (p.family.centred(p.pulled) - yhat * p.family.average(yhat * p.pulled)) / sigma


def rules(
    p: Point, x: Tensor | None = None, gamma: Tensor | None = None, beta: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the right gradients, but for those that are given."""
    return (
        in_x(p, p.yhat, p.sigma) if x is None else x,
        p.family.summed(p.g * p.yhat) if gamma is None else gamma,
        p.family.summed(p.g) if beta is None else beta,
    )


class Ruled(torch.autograd.Function):
    """The layer, differentiated by rules."""

    generate_vmap_rule = True

    @staticmethod
    def forward(
        x: Tensor, gamma: Tensor, beta: Tensor, eps: float, family: Family, given: Rules
    ) -> Tensor:
        """Normalise rightly."""
        yhat = Point(family, x, gamma, x, eps).yhat
        return family.at_entries(gamma, x) * yhat + family.at_entries(beta, x)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        """Save the inputs."""
        x, gamma, _, ctx.eps, ctx.family, ctx.given = inputs
        ctx.save_for_backward(x, gamma)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Apply the rules."""
        x, gamma = ctx.saved_tensors
        return *ctx.given(Point(ctx.family, x, gamma, g, ctx.eps)), None, None, None


def checked(family: Family, x: Tensor) -> None:
    """Refuse arrays that the family does not take."""
    if family.name == "instance" and x.ndim < len("NCL"):
        raise ValueError("expected places")
    if family.name == "group" and x.shape[1] % GROUPS:
        raise ValueError("expected channels in pairs")


def with_forward(family: Family, forward: Forward) -> Callable[..., Tensor]:
    """Return the layer that normalises so."""

    def layer(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
        checked(family, x)
        return family.at_entries(gamma, x) * forward(family, x, eps) + family.at_entries(beta, x)

    return layer


def with_rules(family: Family, given: Rules) -> Callable[..., Tensor]:
    """Return the right layer with these gradients."""

    def layer(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
        checked(family, x)
        return Ruled.apply(x, gamma, beta, eps, family, given)  # type: ignore[no-any-return]  # apply is untyped

    return layer


def by_root(root: Callable[[Tensor, int, float], Tensor]) -> Forward:
    """Return the normalisation by some function of the square, m and eps."""

    def forward(family: Family, x: Tensor, eps: float) -> Tensor:
        c = family.centred(x)
        return c / root(family.average(c**2), family.together(x), eps)

    return forward


def mean_held(family: Family, x: Tensor, eps: float) -> Tensor:
    """Detach the mean."""
    c = x - family.average(x).detach()
    return c / torch.sqrt(family.average(c**2) + eps)


def square_held(family: Family, x: Tensor, eps: float) -> Tensor:
    """Detach sigma."""
    c = family.centred(x)
    return c / torch.sqrt(family.average(c**2) + eps).detach()


def both_doubled(family: Family, x: Tensor, eps: float) -> Tensor:
    """Count the batch twice and divide once."""
    square = 2 * family.average(family.centred(x) ** 2)
    return (x - 2 * family.average(x)) / torch.sqrt(square + eps)


def last_twice(family: Family, x: Tensor, eps: float) -> Tensor:
    """Count the last sample twice."""
    longer = torch.cat([x, x[-1:]])
    square = family.average(family.centred(longer) ** 2)
    return (x - family.average(longer)) / torch.sqrt(square + eps)


FORWARDS: tuple[tuple[str, Forward, str], ...] = (
    ("unbiased", by_root(lambda s, m, e: torch.sqrt(s * m / (m - 1) + e)), "m - 1 for m"),
    ("eps_outside", by_root(lambda s, _, e: torch.sqrt(s) + e), "eps outside of the root"),
    ("clamped", by_root(lambda s, _, e: torch.sqrt(s.clamp_min(e))), r"max\(.*, eps\)"),
    ("squared", by_root(lambda s, _, e: (s + e) ** 2), "the square of .* for its root"),
    ("multiplied", by_root(lambda s, _, e: (s + e) ** -0.5), "multiplied by the root"),
    ("counted_twice", by_root(lambda s, _, e: torch.sqrt(2 * s + e)), "is multiplied by 2"),
    ("square_held", square_held, "(variance|mean square) is held constant"),
)
OF_CENTRED: tuple[tuple[str, Forward, str], ...] = (
    ("mean_held", mean_held, "the mean is held constant"),
    ("both_doubled", both_doubled, "mean is multiplied by 2, and the variance by 2"),
)
NO_YHAT, NEXT = "held constant .detached., or left out", "first derivative is made of"
GRADIENTS: tuple[tuple[str, Rules, str], ...] = (
    (
        "yhat_term_missing",
        lambda p: rules(p, x=p.family.centred(p.pulled) / p.sigma),
        f"(variance|mean square) is {NO_YHAT}",
    ),
    (
        "inner_gamma_missing",
        lambda p: rules(
            p,
            x=(p.family.centred(p.pulled) - p.yhat * p.family.average(p.yhat * p.g)) / p.sigma,
        ),
        "gamma is missing in <ŷ, γg>",
    ),
    ("divided_twice", lambda p: rules(p, x=in_x(p, p.yhat, p.sigma) / p.sigma), "sigma"),
    (
        "centred_for_yhat",
        lambda p: rules(
            p,
            x=(
                p.family.centred(p.pulled)
                - p.yhat * p.sigma**2 * p.family.average(p.yhat * p.pulled)
            )
            / p.sigma,
        ),
        "stands for ŷ",
    ),
    (
        "eps_missing_in_backward",
        lambda p: rules(p, x=in_x(p, p.yhat * p.sigma / p.square.sqrt(), p.square.sqrt())),
        "eps is missing",
    ),
    (
        "unbiased_in_backward",
        lambda p: rules(p, x=in_x(p, p.family.centred(p.x) / unbiased(p), unbiased(p))),
        "the backward's root: m - 1 for m",
    ),
    (
        "gamma_of_the_first_sample",
        lambda p: rules(p, gamma=p.family.summed((p.g * p.yhat)[:1])),
        "the sum is of the first of the samples",
    ),
    (
        "gamma_without_the_last_sample",
        lambda p: rules(p, gamma=p.family.summed((p.g * p.yhat)[: max(len(p.x) - 1, 1)])),
        "the sum is without the last of the samples",
    ),
    (
        "gamma_averaged",
        lambda p: rules(p, gamma=p.family.summed(p.g * p.yhat) * len(p.gamma) / p.x.numel()),
        "averaged instead of summed",
    ),
    (
        "beta_averaged",
        lambda p: rules(p, beta=p.family.summed(p.g) * len(p.gamma) / p.x.numel()),
        "averaged instead of summed",
    ),
    (
        "gamma_without_sigma",
        lambda p: rules(p, gamma=p.family.summed(p.g * p.yhat * p.sigma)),
        "stands for ŷ|the sum has sigma times",
    ),
    (
        "beta_of_the_pulled",
        lambda p: rules(p, beta=p.family.summed(p.pulled)),
        "γg stands for g",
    ),
)
GRADIENTS_OF_CENTRED: tuple[tuple[str, Rules, str], ...] = (
    (
        "mean_term_missing",
        lambda p: rules(p, x=(p.pulled - p.yhat * p.family.average(p.yhat * p.pulled)) / p.sigma),
        f"the mean is {NO_YHAT}",
    ),
)
SECOND: tuple[tuple[str, Rules, str], ...] = (
    (
        "sigma_held",
        lambda p: rules(p, x=in_x(p, p.yhat, p.sigma.detach())),
        NEXT,
    ),
    (
        "product_held",
        lambda p: rules(
            p,
            x=(p.family.centred(p.pulled) - p.yhat * p.family.average(p.yhat * p.pulled).detach())
            / p.sigma,
        ),
        NEXT,
    ),
    (
        "gamma_held",
        lambda p: rules(
            p, x=in_x(Point(p.family, p.x, p.gamma.detach(), p.g, p.eps), p.yhat, p.sigma)
        ),
        NEXT,
    ),
)


def unbiased(p: Point) -> Tensor:
    """Return the root of the unbiased square and eps."""
    m = p.family.together(p.x)
    return torch.sqrt(p.square * m / (m - 1) + p.eps)


FAMILIES = tuple(Family(name) for name in ("batch", "layer", "group", "instance", "rms"))


TELLING = ("near constant", "many channels")
"""Strata without which some causes cannot be told apart."""


def faults(family: Family) -> Iterator[Fault]:
    """Yield the faults of a family."""
    asked = {"family": family.name} | ({"groups": GROUPS} if family.name == "group" else {})

    def named(name: str, layer: Callable[..., Tensor]) -> Callable[..., Tensor]:
        layer.__name__ = f"usual_{family.name}_{name}"
        return layer

    for name, forward, says in (*FORWARDS, *(OF_CENTRED if family.is_centred else ())):
        mode = "gradient" if "held" in name else "forward"
        layer = named(name, with_forward(family, forward))
        yield Fault(layer, says, mode, asked=asked, at=TELLING)
    of_gradient = (*GRADIENTS, *(GRADIENTS_OF_CENTRED if family.is_centred else ()))
    for given, mode in ((of_gradient, "gradient"), (SECOND, "second rr")):
        for name, rule, says in given:
            layer = named(name, with_rules(family, rule))
            yield Fault(layer, says, mode, asked=asked, at=TELLING)


FAULTS = (
    *(fault for family in FAMILIES for fault in faults(family)),
    Fault(with_forward(FAMILIES[0], last_twice), "the last entry counts twice", "forward"),
)
FAULTS[-1].layer.__name__ = "usual_batch_last_twice"
