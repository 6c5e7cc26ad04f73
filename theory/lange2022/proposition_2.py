r"""Proposition 2: the Hessian in one unit's bias and weights is :math:`\hat H^\top S\hat H`.

With :math:`a = \hat H\hat w` linear in the parameters, for any loss of the batch's outputs,

.. math:: \nabla^2_{\hat w}\mathcal L = \hat H^\top T\hat H, \qquad
          T = \frac{\partial^2\mathcal L}{\partial a^2}, \quad N \times N.

Where the loss is a mean of losses of single examples, T is the diagonal S of the text: in vanilla
networks, with LN or GN, with frozen statistics.  A later layer of Batch Normalization, before or
after the activation, makes the examples interact, and then no diagonal will do: T e is what S e
must be where :math:`\hat H` is square and nonsingular, for :math:`\hat H^\top(S - T)\hat H e_1 =
\hat H^\top(S e - T e)`.  So S is computed here as diag(T e), which is right for a mean of losses
and the only candidate otherwise.  Normalization sends e to zero, so T e = 0 and S = 0, although
the Hessian is not zero; the centring alone does that.

At a kink of ReLU there is no :math:`L''`.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

from array_api_compat import array_namespace

from theory import preconditioning
from theory.lange2022.literal import outputs
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Verdict


def loss_of_unit(layer: Layer) -> Callable[[Any], Any]:
    """Return the loss as a function of the first unit's outputs, (N,)."""
    others = outputs(layer.H, layer.W[1:, :], layer.b[1:])
    xp = array_namespace(layer.H)
    return lambda a: layer.loss(xp.concat([a[:, None], others], axis=1))


def unit(layer: Layer) -> Any:
    """Return the first unit's bias and weights, (n + 1,)."""
    return array_namespace(layer.W).concat([layer.b[:1], layer.W[0, :]], axis=0)


def output_of_unit(layer: Layer, w: Any) -> Any:
    """Return the first unit's outputs, (N,)."""
    return w[0] + layer.H @ w[1:]


def second_derivative(layer: Layer, f: Callable[[Any], Any], x: Any, u: Any) -> Any:
    """Return the Hessian of f at x, applied to u."""
    return layer.derivative(lambda x: layer.gradient(f, x), x, u)


def hessian(layer: Layer) -> Any:
    """Return the Hessian in the unit's parameters, applied to the generic vector."""
    loss = loss_of_unit(layer)
    return second_derivative(
        layer, lambda w: loss(output_of_unit(layer, w)), unit(layer), layer.direction
    )


def curvatures(layer: Layer, a: Any) -> Any:
    """Return T e, the diagonal of S, (N,), where the unit's outputs are a."""
    return second_derivative(layer, loss_of_unit(layer), a, 0 * a + 1)


def printed(layer: Layer) -> Sides:
    """A diagonal S."""
    S = curvatures(layer, output_of_unit(layer, unit(layer)))
    return Sides(hessian(layer), preconditioning.unit_hessian(layer.H, S) @ layer.direction)


def with_full_matrix(layer: Layer) -> Sides:
    """T, entries for every two examples, as an operator."""
    a = output_of_unit(layer, unit(layer))
    augmented = preconditioning.augmented(layer.H)
    image = second_derivative(layer, loss_of_unit(layer), a, augmented @ layer.direction)
    return Sides(hessian(layer), augmented.T @ image)


def as_they_are(couples: int) -> Callable[[Layer], Layer]:
    """Return what settles whether examples interact where it is open, as it is for a letter."""

    def settled(layer: Any) -> Any:
        is_known = layer.couples in (0, 1)
        return (
            layer if is_known else dataclasses.replace(layer, couples=layer.couples * 0 + couples)
        )

    return settled


PER_EXAMPLE = Hypothesis(
    r"\mathcal L \text{ is a mean of losses of single examples}",
    lambda layer: layer.couples,
    Relation.EQUAL,
    impose=as_they_are(0),
)

COUPLED = Hypothesis(
    r"\text{a later layer takes the mean over the batch away}",
    lambda layer: layer.couples,
    Relation.MORE_THAN,
    impose=as_they_are(1),
)

PRINTED = MatrixClaim(
    id="L-prop-2",
    row="L-prop-2",
    locations=at(161, "Sect. 3.3, Prop. 2", "with all off-diagonal elements of"),
    statement=r"\nabla^2_{\hat w}\mathcal L = \hat H^\top S\hat H,"
    r"\quad S = \tfrac1N\operatorname{diag}(L'')",
    sides=printed,
    subject=Kind.LAYER,
    relation=Relation.EQUAL,
    hypotheses=(PER_EXAMPLE,),
    expected=Verdict.PROVED,
    remark="L is another function for every example, which the text leaves unsaid: it depends on"
    " the example's label and on the other units.",
)

LATER_NORMALIZATION = dataclasses.replace(
    PRINTED,
    id="L-prop-2/later-BN",
    hypotheses=(COUPLED,),
    expected=Verdict.REFUTED,
    falsified_by="one batch whose Hessian no diagonal S gives: N = n + 1, H-hat nonsingular",
    remark="The text speaks of the vanilla network (1); networks with Batch Normalization in later"
    " layers, to which section 5 compares, are not of that kind.",
)

CLAIMS = [
    PRINTED,
    LATER_NORMALIZATION,
    LATER_NORMALIZATION.corrected(
        sides=with_full_matrix, hypotheses=(), falsified_by="",
        statement=r"\nabla^2_{\hat w}\mathcal L = \hat H^\top T\hat H,"
        r"\quad T = \partial^2\mathcal L/\partial a^2",
        remark="For any loss of the batch's outputs.",
    ),
]  # fmt: skip
