r"""What the text says after Theorem 4.2 of its first condition: when H is positive semi-definite.

"The Hessian is positive semi-definite (PSD) if the loss is locally convex which is true for the
case of deep networks with piecewise-linear activation functions and a convex loss at the final
layer."  Three readings:

- ``psd``: at a point where no piecewise-linear unit is at its kink, and with no normalisation
  after this layer, the network is affine nearby and H = A'DA with D the convex loss's Hessian;
- ``kink``: "locally convex" at every point, kinks included; the loss is then convex on every
  segment;
- ``later-batchnorm``: a later layer may be a Batch Normalization, as in the networks that the
  paper trains.  Its own bending then counts, eq. (42), and no convexity of the loss outweighs it.
"""

from theory.arithmetic import inner
from theory.claim import Claim, Hypothesis, Letters, Network, Relation, Sides, Verdict
from theory.santurkar2018.texts import final


def sides(network: Network, at: Letters) -> Sides:
    """The quadratic form of H in a generic direction."""
    u = network.direction
    curvature = inner(u, at.H(u))
    return Sides(curvature, 0 * curvature)


def midpoint(network: Network, at: Letters) -> Sides:
    """Convexity on a segment around the layer's output, without derivatives."""
    step = network.other_direction
    ends = network.loss(network.z + step) + network.loss(network.z - step)
    return Sides(network.loss(network.z), ends / 2)


PIECEWISE_LINEAR = Hypothesis(
    "the layers after this one are piecewise linear, without a normalisation; the loss is convex",
    lambda network, at: network.later_normalizations,
    Relation.EQUAL,
    impose=lambda case: case.with_relu_network_loss(),
)
WITH_NORMALIZATION = Hypothesis(
    "a later layer is a Batch Normalization, the loss is convex",
    lambda network, at: network.later_normalizations,
    Relation.MORE_THAN,
    impose=lambda case: case.with_later_batchnorm_loss(),
)

PSD = Claim(
    id="S-thm-4.2-discussion/psd",
    row="S-thm-4.2-discussion",
    locations=(
        final(185, "Sect. 4.2, after Theorem 4.2", "piecewise-linear activation functions"),
    ),
    statement=r"u^\top H u \ge 0",
    sides=sides,
    relation=Relation.AT_LEAST,
    hypotheses=(PIECEWISE_LINEAR,),
    expected=Verdict.SUPPORTED,
    order=2,
    falsified_by="such a network, away from its kinks, and a direction u with u'Hu < 0",
    remark="There H = A'DA, with A the Jacobian of the later layers and D the loss's Hessian.",
)
KINK = Claim(
    id="S-thm-4.2-discussion/kink",
    row="S-thm-4.2-discussion",
    locations=PSD.locations,
    statement=r"L(z) \le \tfrac12 L(z + h) + \tfrac12 L(z - h)",
    sides=midpoint,
    relation=Relation.AT_MOST,
    hypotheses=(PIECEWISE_LINEAR,),
    expected=Verdict.REFUTED,
    corrected_by=PSD.id,
    falsified_by="such a network and a segment on which the loss is not convex: somewhere on it,"
    " it is not locally convex",
    remark="A piecewise-linear unit may bend downwards; convexity holds between its kinks.",
)
LATER_BATCHNORM = Claim(
    id="S-thm-4.2-discussion/later-batchnorm",
    row="S-thm-4.2-discussion",
    locations=PSD.locations,
    statement=r"u^\top H u \ge 0",
    sides=sides,
    relation=Relation.AT_LEAST,
    hypotheses=(WITH_NORMALIZATION,),
    expected=Verdict.REFUTED,
    corrected_by=PSD.id,
    order=2,
    falsified_by="a convex loss of a normalised z, and a direction u with u'Hu < 0",
)

CLAIMS = [PSD, KINK, LATER_BATCHNORM]
