r"""Theorem 4.1: the gradient's norm with and without Batch Normalization.

The statement compares a network with Batch Normalization to one without it "with all layer
parameters the same".  Its proof ends with "exploiting the fact that dLhat/dz = dL/dy": the
gradient on the right is then the loss's at the layer's output z.  The other reading, the gradient
of the network without the layer at its own output y, is the entry ``two-networks``.
"""

from typing import Any

from theory.arithmetic import inner, norm_squared
from theory.claim import (
    Claim,
    Letters,
    Network,
    Reading,
    Relation,
    Sides,
    Term,
    Verdict,
    gradient_in_y,
)
from theory.santurkar2018 import proof_4_1
from theory.santurkar2018.texts import final


def sides(network: Network, at: Letters) -> Sides:
    """The gradient on the right is taken at the layer's output z."""
    return bound(network, at, at.g)


def two_networks(network: Network, at: Letters) -> Sides:
    """The gradient on the right is taken at y, where the network without the layer is."""
    return bound(network, at, network.gradient(network.loss, network.y))


def bound(network: Network, at: Letters, g: Any) -> Sides:
    """The printed inequality for a gradient g."""
    return Sides(
        norm_squared(gradient_in_y(network)),
        at.gamma**2
        / at.sigma**2
        * (norm_squared(g) - inner(at.one, g) ** 2 / at.m - inner(g, at.yhat) ** 2 / at.m),
    )


def slack(network: Network, at: Letters) -> list[Term]:
    """Epsilon times a square."""
    return [
        Term(network.eps * at.gamma**2 / (at.m * at.sigma**4), (inner(at.g, at.yhat),)),
    ]


PRINTED = Claim(
    id="S-thm-4.1",
    row="S-thm-4.1",
    locations=(
        final(169, "Sect. 4.2, Theorem 4.1", r"-\frac{1}{m}\left\langle{\nabla_{\bm{y_{j}}}"),
    ),
    statement=r"\|\nabla_y\hat L\|^2 \le \frac{\gamma^2}{\sigma^2}\Big(\|\nabla_y L\|^2"
    r" - \frac1m\langle\mathbf 1, \nabla_y L\rangle^2"
    r" - \frac1m\langle\nabla_y L, \hat y\rangle^2\Big)",
    sides=sides,
    relation=Relation.AT_MOST,
    certificate=slack,
    expected=Verdict.PROVED,
    falsified_by="one batch and loss, the loss's gradient at the layer's output on the right",
)
SHARED = PRINTED.under(Reading.SHARED_EPSILON, Verdict.PROVED)
TWO_NETWORKS = Claim(
    id="S-thm-4.1/two-networks",
    row="S-thm-4.1",
    locations=PRINTED.locations,
    statement=PRINTED.statement,
    sides=two_networks,
    relation=Relation.AT_MOST,
    expected=Verdict.REFUTED,
    corrected_by=PRINTED.id,
    falsified_by="one batch and loss, the loss's gradient at y itself on the right",
    remark="The same weights put the two networks at different points of the loss, y and z.",
)

CLAIMS = [
    PRINTED,
    SHARED,
    PRINTED.under(Reading.UNIT_VARIANCE, Verdict.REFUTED, corrected_by=SHARED.id),
    TWO_NETWORKS,
    TWO_NETWORKS.under(Reading.SHARED_EPSILON, Verdict.REFUTED, corrected_by=SHARED.id),
    PRINTED.sharpened(
        "equality",
        relation=Relation.EQUAL,
        certificate=None,
        statement=PRINTED.statement.replace(r"\le", "="),
    ),
    SHARED.sharpened(
        "equality",
        sides=proof_4_1.line_9_corrected,
        relation=Relation.EQUAL,
        certificate=None,
        statement=proof_4_1.CORRECTIONS["S-eq-9"][1],
    ),
]
