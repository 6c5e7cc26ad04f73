r"""Algorithm 2 and (15): steps 4 and 5 are the product with :math:`PP^\top/q^2`.

With :math:`P = UD`, for one output's gradients :math:`G_b` and :math:`G_w`,

.. math:: PP^\top\begin{bmatrix}G_b\\ G_w\end{bmatrix}
          = \begin{bmatrix}G_b - \mu^\top v\\ v\end{bmatrix}, \qquad
          v = \operatorname{diag}(\tilde\sigma^2)^{-1}(G_w - \mu G_b):

step 4 takes the old :math:`G_b` and step 5 the new :math:`G_w`, as their order says.  The layer's
numbers W and b stand for any gradients in those steps.

(The gradient in W is printed with the size n x n_{l-1} above the algorithm, for n_l x n_{l-1}.)
"""

from theory.lange2022.texts import of_layers
from theory.lange2022.theorem_3 import P_OTHER, REGULARIZED
from theory.language.arrays import maximum, transpose
from theory.language.expression import Expression, Letter, Sort, equal, gradient, named
from theory.layer import (
    Hhat,
    L,
    W,
    above,
    alpha,
    b,
    diag_times,
    eps_1,
    eps_2,
    largest_entry,
    mu,
    ones,
    outer,
    over_diag,
    q,
    sigma,
    squares,
    variances,
)
from theory.statement import REFUTED, SUPPORTED, Form

_M = Sort.MATRIX
G_w = Letter("G_w", "G_w", _M, lambda layer: layer.W)
G_b = Letter("G_b", "G_b", Sort.VECTOR, lambda layer: layer.b)
"""Gradients, any numbers."""
P = P_OTHER
PRODUCT = 1 / q**2 * (P @ (transpose(P) @ above(G_b, transpose(G_w))))
STEP_4 = named("G_w'", 1 / q**2 * over_diag(G_w - outer(G_b, mu), squares(sigma)))
"""The new gradient in the weights."""
IN_PLACE = named("G_w''", over_diag(G_w - outer(G_b, mu), q**2 * squares(sigma)))
"""The same with 1/q^2 in the variances."""


def after(used: Expression, weights: Expression) -> Expression:
    """Return what step 5 makes of the gradients, by the weights' that it uses."""
    return above(1 / q**2 * G_b - used @ mu, transpose(weights))


Z, B = Letter("Z", "Z", _M), Letter("B", "B", _M)
PARAMETERS = above(b, transpose(W))
UNDONE = named("z", above(q * (b + W @ mu), q * diag_times(sigma, transpose(W))))
r"""The z with :math:`\frac1q P z = [b^\top; W^\top]`, entry by entry."""
IN_Z = named(r"\nabla_z\mathcal L", gradient(L(Hhat @ (1 / q * (P @ Z))), Z, at=UNDONE))
IN_PARAMETERS = named(
    r"\nabla_{[b^\top; W^\top]}\mathcal L", gradient(L(Hhat @ B), B, at=PARAMETERS)
)

section = of_layers("Sect. 3.3, Algorithm 2", "L-eq-15")
QUOTE = "Steps 4 and 5 implement the gradient transformation in"

CLAIMS = [
    SEQUENTIAL := section(
        "", 242, QUOTE, "steps 4 and 5 of Algorithm 2, one after the other",
        equal(after(STEP_4, STEP_4), PRODUCT),
    ),
    SEQUENTIAL.sharpened(
        "in-place", title="steps 4 and 5 of Algorithm 2 with 1/q² in the variances",
        says=equal(after(STEP_4, STEP_4), after(IN_PLACE, IN_PLACE)),
        remark="With 1/q² in the variances there is one multiplication fewer for each weight.",
    ),
    section(
        "/simultaneous", 242, QUOTE, "steps 4 and 5 of Algorithm 2, at once",
        equal(after(G_w, STEP_4), PRODUCT),
        expected=REFUTED, corrected_by="L-eq-15", form=Form.BOUNDARY,
        remark="The bias's step uses the weights' gradient after its own step, as the arrows say.",
    ),
    section(
        "/descent", 227, r"\alpha\frac{1}{q^{2}}PP^{T}", "descent in the preconditioned parameters",
        equal(
            1 / q * (P @ (UNDONE - alpha * IN_Z)),
            PARAMETERS - alpha / q**2 * (P @ (transpose(P) @ IN_PARAMETERS)),
        ),
    ),
    section(
        "/guards", 242, "to prevent division by a number smaller than",
        "what the regularized variances are at least",
        REGULARIZED >= maximum(eps_1 * largest_entry(variances), eps_2) * ones,
        expected=SUPPORTED,
        remark="The regularized variance is a sum of three terms, none negative, of which two stand"
        " on the right.",
    ),
]  # fmt: skip
