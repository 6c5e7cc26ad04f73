r"""Sect. 3.2 and Theorem 1: ReLU units, scaled.

The scaling of sect. 3.2 names the rows of :math:`W^{(\ell-1)}` and not its bias: with one, as (1)
has, the output is invariant only if the bias is scaled with the row.

"Continuous third derivatives" fails at the kinks, where even the first derivative jumps.  Off them
the signs do not change along the manifold, and the loss is as smooth as its last layer.
"""

from dataclasses import replace
from typing import Any

from theory.lange2022.texts import at
from theory.matrix_claim import Descent, Kind, MatrixClaim
from theory.statement import Relation, Sides, Verdict


def relu(z: Any) -> Any:
    """The positive part of a number."""
    return z if z > 0 else 0 * z


def output(descent: Descent, scale: Any, bias_scale: Any) -> Any:
    """One ReLU unit, its incoming weights, bias and outgoing weight scaled."""
    weights, x, b = descent.theta, descent.direction, descent.P[0, 0]
    return relu(scale * (weights @ x) + bias_scale * b) / scale


def row_only(descent: Descent) -> Sides:
    """The unit with its row scaled, and as it was."""
    return Sides(output(descent, 1 + descent.step, 1), output(descent, 1, 1))


def row_and_bias(descent: Descent) -> Sides:
    """The unit with its row and its bias scaled."""
    scale = 1 + descent.step
    return Sides(output(descent, scale, scale), output(descent, 1, 1))


def open_unit(descent: Descent) -> Sides:
    """The same for a unit that is open, or closed: a factor of 1 or 0, here any number."""
    gate, scale = descent.P[-1, -1], 1 + descent.step
    product, b = descent.theta @ descent.direction, descent.P[0, 0]
    return Sides(gate * (scale * product + scale * b) / scale, gate * (product + b))


def at_kink(descent: Descent) -> Sides:
    """The loss (a relu(b) - 1)^2/2 for b at 0: its slopes to the right and to the left."""
    a = descent.theta[0]
    zero = 0 * a

    def right(b: Any) -> Any:
        return (a * b - 1) ** 2 / 2

    def left(b: Any) -> Any:
        return (a * (0 * b) - 1) ** 2 / 2

    one = zero + 1
    return Sides(descent.derivative(right, zero, one), descent.derivative(left, zero, one))


INVARIANCE = MatrixClaim(
    id="L-thm-1/invariance",
    row="L-thm-1",
    locations=at(116, "Sect. 3.2", "the network output is invariant under simultaneous scaling"),
    statement=r"\tfrac1\alpha\operatorname{relu}(\alpha\,w^\top x + b)"
    r" = \operatorname{relu}(w^\top x + b)",
    sides=row_only,
    subject=Kind.DESCENT,
    relation=Relation.EQUAL,
    expected=Verdict.REFUTED,
    falsified_by="one unit with a bias whose output changes",
    remark="Network (1) has biases: x = w = b = 1 and alpha = 2 give 3/2 against 2.",
)

KINK = replace(
    INVARIANCE,
    id="L-thm-1/kink",
    locations=at(130, "Sect. 3.2, Theorem 1", "with continuous third order derivatives"),
    statement=r"\partial_b L(0^+) = \partial_b L(0^-),\quad"
    r" L = \tfrac12(a\operatorname{relu}(b) - 1)^2",
    sides=at_kink,
    corrected_by="L-thm-1/invariance/open",
    falsified_by="one ReLU network whose loss has two slopes",
    remark="The hypothesis, for a ReLU network: it fails where a pre-activation of the batch is 0.",
)

CLAIMS = [
    INVARIANCE,
    INVARIANCE.corrected(
        sides=row_and_bias, expected=Verdict.SUPPORTED, remark="",
        statement=INVARIANCE.statement.replace("+ b)", r"+ \alpha b)", 1),
    ),
    INVARIANCE.corrected(
        "open", sides=open_unit, remark="Off the kinks, where the unit stays open or closed.",
        statement=r"\tfrac g\alpha(\alpha\,w^\top x + \alpha b) = g\,(w^\top x + b)",
    ),
    KINK,
]  # fmt: skip
