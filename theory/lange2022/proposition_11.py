r"""Proposition 11: :math:`\kappa(\hat H^\top S\hat H) \le \kappa(\hat H)^2\kappa(S)`.

For a positive definite S it holds at any rank: :math:`s \le S \le t` gives
:math:`s\hat H^\top\hat H \le \hat H^\top S\hat H \le t\hat H^\top\hat H` with one null space.

For others it falls, and no constant helps: h = (d, 0, -1) with S = diag(1, 1, 0) and small d.  What
is right for :math:`S \ge 0` has the examples with :math:`s_j > 0` alone on the right: for a ReLU
layer the active ones.

*The proof* prints "=" for ">=" in its last line for the smallest eigenvalue: the smallest quotient
of S over the range of :math:`\hat H` may be larger, as for H = (0, 0)' and S = diag(2, 1), where
it is 3/2.
"""

from dataclasses import replace

import numpy as np

from theory.lange2022.chosen import layer_of
from theory.lange2022.texts import of_layers
from theory.language.arrays import column, first, kappa2, norm2, transpose
from theory.language.expression import Expression, Letter, Operation, Says, Sort, equal, named
from theory.language.letters import free
from theory.layer import (
    KAPPA_BEFORE,
    H,
    Hhat,
    curvature,
    diag_times,
    diagonal,
    dot,
    e,
    kappa,
    outer,
    q,
    smallest_entry,
    squares,
    tail,
    v,
)
from theory.statement import REFUTED, SUPPORTED, Form, assume

_V, _M = Sort.VECTOR, Sort.MATRIX
s = curvature
positive_part = Operation(
    "positive part", lambda s: s * (s > 0), "{0:atom}_+", gives=_V, takes=(_V,)
)
active_rows = Operation(
    "active rows", lambda s, F: F * (s > 0)[:, None], r"{1:atom}_{{{0} > 0}}", gives=_M,
    takes=(_V, _M),
)  # fmt: skip
"""A matrix with zeros for the rows whose number is not positive."""
S = named("S", diagonal(s))
S_PLUS = named("S", diagonal(positive_part(s)))
FULL = diagonal(q * e) + outer(s, s)


def hessian(S: Expression) -> Expression:
    r"""Return :math:`\kappa(\hat H^\top S\hat H)`."""
    return kappa(transpose(Hhat) @ S @ Hhat)


def bounded(S: Expression) -> Says:
    """Return the proposition for an S."""
    return hessian(S) <= KAPPA_BEFORE * kappa(S)


POSITIVE = assume(
    s > 0, impose=lambda layer: replace(layer, curvature=abs(layer.curvature) + 1),
    words=r"S = \operatorname{diag}(s) > 0",
)  # fmt: skip
NONSINGULAR = assume(
    squares(s) > 0,
    impose=lambda layer: replace(
        layer, curvature=np.where(layer.curvature == 0, -1, layer.curvature)
    ),
    words=r"S = \operatorname{diag}(s) \text{ is nonsingular}", printed=False,
)  # fmt: skip
ONE_INACTIVE = assume(
    equal(first(positive_part(s)) ** 2 + norm2(tail(positive_part(s)) - tail(e)), 0),
    impose=lambda layer: replace(
        layer, curvature=layer.curvature * 0 + 1 - 2 * (np.arange(len(layer.H)) == 0)
    ),
    words=r"S = \operatorname{diag}(\max\{s, 0\}) = \operatorname{diag}(0, 1, \dots, 1)",
    printed=False,
)

PRODUCT = named(r"\hat H^\top S\hat H", transpose(Hhat) @ diag_times(s, Hhat))

use = of_layers("Sect. 3.3, after Prop. 2", "L-prop-11", expected=REFUTED, form=Form.READING)

BOUNDS = [
    PRINTED := of_layers("App. A, Prop. 11", "L-prop-11")(
        "", 724, "symmetric positive definite matrix and", "the condition number of the Hessian",
        bounded(S), hypotheses=(POSITIVE,), expected=SUPPORTED,
        remark="κ is over the nonzero singular values.",
    ),
    PRINTED.sharpened(
        "full", title="the condition number of the Hessian, for an S that is not"
        " diagonal", says=bounded(FULL), hypotheses=(),
        expected=SUPPORTED, remark=PRINTED.remark,
    ),
    of_layers("App. A, above Prop. 11", "L-prop-11")(
        "/product", 722, "does not hold for rectangular matrices",
        "the condition number of a product of rectangular matrices",
        kappa2(PRODUCT) <= kappa2(Hhat) * kappa2(diag_times(s, Hhat)),
        form=Form.BOUNDARY, expected=REFUTED, corrected_by="L-prop-11",
        remark="As the text says, κ(AB) ≤ κ(A)κ(B) does not hold in general: here A is Ĥ"
        " transposed, and B is SĤ.",
    ),
    AS_USED := use(
        "/semidefinite", 163, "(see Proposition 11 in Appendix)",
        "the Hessian where an example does not count", bounded(S_PLUS), hypotheses=(ONE_INACTIVE,),
        attack=(layer_of([[-3], [1], [2]], curvature=[-1, 1, 1]),),
        remark="Section 3.3 uses the proposition for the S of a network, where an example may have"
        " no curvature, such as one at which a ReLU is dead. The entries of s₊ are max{sⱼ, 0}.",
    ),
    AS_USED.corrected(
        says=hessian(diagonal(positive_part(s)))
        <= kappa2(active_rows(s, Hhat)) * kappa(diagonal(positive_part(s))),
        hypotheses=(), expected=SUPPORTED,
        remark="The entries of s₊ are max{sⱼ, 0}, and Ĥ with the index s > 0 keeps the rows with sⱼ"
        " > 0. For a ReLU layer these are the active examples.",
    ),
    use(
        "/indefinite", 163, "(see Proposition 11 in Appendix)",
        "the Hessian of a loss that is not convex", bounded(S), hypotheses=(NONSINGULAR,),
        corrected_by="L-prop-11", attack=(layer_of([[-1], [0], [1]], curvature=[1, -1, 1]),),
        remark="Section 3.3 uses the proposition for any loss, also one that is not convex.",
    ),
]  # fmt: skip

h = named("h", column(H))
y = Hhat @ v
r = replace(curvature, name="r", latex="r")
level = Letter("lambda", r"\lambda", Sort.NUMBER, free(0))
S_ABOVE, S_BELOW = level * e + squares(r), level * e - squares(r)

step = of_layers("App. A, proof of Prop. 11", "L-steps", "L-proof-prop-11", form=Form.STEP)
PROOF = [
    step(
        "/largest-quotient", 731, r"\lambda_{max}(S)\lambda_{max}(\widehat{H}",
        "the largest quotient of S over the columns",
        dot(y, diag_times(S_BELOW, y)) <= level * norm2(y), because=norm2(diag_times(r, y)),
        remark="Each entry of S is λ less a square, so S is at most λ.",
    ),
    LINE_739 := step(
        "/smallest-quotient", 739, r"=\lambda_{min}(S)\lambda^{*}_{min}",
        "the smallest quotient of S over the columns",
        equal(dot(h, diag_times(s, h)), smallest_entry(s) * norm2(h)), hypotheses=(POSITIVE,),
        expected=REFUTED,
        remark="With one column h for Ĥ, whose multiples all have the same quotient of S. The"
        " inequality that the proof needs is right.",
    ),
    LINE_739.corrected(
        says=dot(y, diag_times(S_ABOVE, y)) >= level * norm2(y),
        because=norm2(diag_times(r, y)), hypotheses=(),
        remark="Each entry of S is λ plus a square, so S is at least λ.",
    ),
]  # fmt: skip

CLAIMS = [*BOUNDS, *PROOF]
