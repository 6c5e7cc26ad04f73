r"""Proposition 2: the Hessian in one unit's bias and weights is :math:`\hat H^\top S\hat H`.

With :math:`a = \hat H\hat w` linear in the parameters, for any loss of the batch's outputs,

.. math:: \nabla^2_{\hat w}\mathcal L = \hat H^\top T\hat H, \qquad
          T = \frac{\partial^2\mathcal L}{\partial a^2}, \quad N \times N.

Where the loss is a mean of losses of single examples, T is the diagonal S of the text: in vanilla
networks, with LN or GN, with frozen statistics.  A later layer of Batch Normalization, before or
after the activation, makes the examples interact as a rule, and then no diagonal will do where
:math:`\hat H` is square and nonsingular: T e is what S e must be there, for
:math:`\hat H^\top(S - T)\hat H e_1 = \hat H^\top(S e - T e)`.  So S is diag(T e) here, which is
right for a mean of losses and there the only candidate otherwise.  A normalization of a itself
sends e to zero, so T e = 0 and S = 0, although the Hessian is not zero as a rule; the centring
alone does that.

At a kink of ReLU there is no :math:`L''`.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

from theory.lange2022.texts import of_layers
from theory.language.arrays import transpose
from theory.language.expression import (
    Binding,
    Expression,
    Operation,
    Sort,
    along,
    equal,
    gradient,
    named,
)
from theory.layer import L1, Hhat, a, couples, curvatures, diag_times, v, w, what
from theory.statement import REFUTED, Form, assume

OUTPUT = Hhat @ what
"""The unit's outputs."""


def S(vector: Expression, at: Expression = OUTPUT) -> Expression:
    r"""Return :math:`S` times a vector, the unit's outputs being given."""
    return named(r"S {0:product}", diag_times(curvatures(at), vector), vector)


def T(vector: Expression) -> Expression:
    r"""Return :math:`\frac{\partial^2\mathcal L}{\partial a^2}` times a vector."""
    second = along(gradient(L1(a), a), a, vector, at=OUTPUT)
    return named(r"\frac{{\partial^2\mathcal L}}{{\partial a^2}} {0:product}", second, vector)


HESSIAN = named(r"\nabla^2_{\hat w}\mathcal L\,v", along(gradient(L1(Hhat @ w), w), w, v, at=what))


def as_they_are(interact: int) -> Callable[[Any], Any]:
    """Return what settles whether examples interact where it is open, as it is for a letter."""

    def settled(layer: Any) -> Any:
        if layer.couples in (0, 1):
            return layer
        return dataclasses.replace(layer, couples=layer.couples * 0 + interact)

    return settled


PER_EXAMPLE = assume(
    equal(couples, 0), impose=as_they_are(0),
    words=r"\mathcal L \text{ is a mean of losses of single examples}",
)  # fmt: skip
COUPLED = assume(
    couples > 0, impose=as_they_are(1),
    words=r"\text{a later layer takes the mean over the batch away}", printed=False,
)  # fmt: skip


slopes = named(r"\left(\tfrac1N L'(\hat w^\top\hat h)\right)", gradient(L1(a), a, at=OUTPUT))
examples_weighted = Operation(
    "sum over examples", lambda c, A: A.T @ c, r"\sum_j {0:atom}_j {1:atom}_j",
    gives=Sort.VECTOR, takes=(Sort.VECTOR, Sort.MATRIX), binds=Binding.OPERATOR,
)  # fmt: skip

CLAIMS = [
    PRINTED := of_layers("Sect. 3.3, Prop. 2", "L-prop-2")(
        "", 161, "with all off-diagonal elements of",
        "the Hessian in one unit's parameters",
        equal(HESSIAN, transpose(Hhat) @ S(Hhat @ v)), hypotheses=(PER_EXAMPLE,),
        remark="L is another function for every example, which the text leaves unsaid: it depends"
        " on the example's label and on the other units.",
    ),
    LATER_NORMALIZATION := dataclasses.replace(
        PRINTED, id="L-prop-2/later-BN", title="the Hessian below a later Batch Normalization",
        hypotheses=(COUPLED,), expected=REFUTED, form=Form.BOUNDARY,
        remark="The text speaks of the vanilla network (1); networks with Batch Normalization in"
        " later layers, to which section 5 compares, are not of that kind.",
    ),
    LATER_NORMALIZATION.corrected(
        says=equal(HESSIAN, transpose(Hhat) @ T(Hhat @ v)), hypotheses=(),
        remark="For any loss of the batch's outputs.",
    ),
    GRADIENT := of_layers("App. A, proof of Prop. 2, eq. (27)", "L-steps", "L-proof-prop-2")(
        "/gradient", 549, r"\widehat{h_{j}}. (27)", "the gradient in one unit's parameters",
        equal(
            named(r"\nabla_{\hat w}\mathcal L", gradient(L1(Hhat @ w), w, at=what)),
            examples_weighted(slopes, named(r"\hat h", Hhat)),
        ),
        form=Form.STEP,
        remark="The next display differentiates once more: L-prop-2.",
    ),
]  # fmt: skip
