r"""Theorem 4.4, what moves with the inputs: one X, everything with X, or two networks.

The corrected form of :mod:`theory.santurkar2018.theorem_4_4` holds at each X (``each-input``).
Where everything moves with X (``inputs-move``: y = XW, W = (1, 0), X = [y, u], the right side at
X0 = [v, 0] of norm lambda = |v|), no bound can hold: the gradient does not change when X is
scaled, so that lambda bounds nothing, and grows without limit in u.
"""

from dataclasses import replace

from theory.arithmetic import inner, norm_squared
from theory.claim import Letters, Network, Reading, Sides, Term, Verdict, gradient_in_y
from theory.maxima import gradient_along
from theory.santurkar2018.theorem_4_4 import (
    CORRECTED_SHARED,
    LAST,
    PRINTED,
    RIGHT,
    largest_hat,
    reading,
    right_side,
    slack,
)


def for_each_input(network: Network, at: Letters) -> Sides:
    """The gradient at one X of rank one, to the corrected right side."""
    left = gradient_along(gradient_in_y(network), network.direction, network.bound)
    return Sides(left, right_side(network, at, at.g, 1 / at.m))


def off_input(network: Network, at: Letters) -> list[Term]:
    """What of the gradient is orthogonal to that X."""
    h, u = gradient_in_y(network), network.direction
    off = h - u * (inner(u, h) / norm_squared(u))
    return [Term(network.bound**2, (off,)), *slack(network, at)]


def two_networks(network: Network, at: Letters) -> Sides:
    """The corrected right side, with the gradient at y, where the network without the layer is."""
    g = network.gradient(network.loss, network.y)
    return Sides(largest_hat(network), right_side(network, at, g, 1 / at.m))


def inputs_move(network: Network, at: Letters) -> Sides:
    r"""The gradient at X = [y, u] and the corrected bound at [v, 0], which is |v|^2 |h(v)|^2."""
    v = network.other_direction
    h, reference = gradient_in_y(network), network.gradient(network.normalized_loss, v)
    left = inner(network.y, h) ** 2 + inner(network.direction, h) ** 2
    return Sides(left, norm_squared(v) * norm_squared(reference))


MOVING = replace(
    reading("inputs-move", inputs_move, r"\sup_{y = XW,\ \|X\| \le \lambda}\|\nabla_W\hat L\|^2"
             r" \le \frac{\gamma^2}{\sigma_0^2}\Big(" + RIGHT + r"\frac{\lambda^2}m" + LAST
             + r"\text{ at any } X_0"),
    corrected_by="S-thm-4.4/each-input",
    falsified_by="one X = [y, u] and one X0 = [v, 0], W = (1, 0), lambda = |v|",
)  # fmt: skip

EACH = replace(
    PRINTED,
    id="S-thm-4.4/each-input",
    sides=for_each_input,
    certificate=off_input,
    expected=Verdict.PROVED,
    corrected_by=None,
    statement=r"\|X^\top h\|^2 \le \frac{\gamma^2}{\sigma^2}\Big(\lambda^2\|g\|^2"
    r" - \lambda^2 m\mu_g^2 - \frac{\lambda^2}m\langle g, \hat y\rangle^2\Big),"
    r"\ X = \lambda u e_1^\top/\|u\|",
    falsified_by="one batch, loss and X; sigma and yhat on the right are those of the same X",
    remark="The slack is what of the gradient is orthogonal to X.",
)

TWO = replace(
    reading("two-networks", two_networks, CORRECTED_SHARED.statement),
    falsified_by="the corrected form with dL/dy taken at y, where the network without BN is",
)

CLAIMS = [
    EACH,
    EACH.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    EACH.under(Reading.UNIT_VARIANCE, Verdict.REFUTED, certificate=None,
               corrected_by="S-thm-4.4/each-input/eps"),
    MOVING,
    MOVING.under(Reading.SHARED_EPSILON, Verdict.REFUTED, corrected_by="S-thm-4.4/each-input/eps"),
    TWO,
    TWO.under(Reading.SHARED_EPSILON, Verdict.REFUTED, corrected_by=CORRECTED_SHARED.id),
]  # fmt: skip
