r"""Theorem 4.1: the gradient's norm with and without Batch Normalization; its proof, (3) to (9).

The statement compares a network with Batch Normalization to an "identical non-BN network": "All the
layer parameters have exactly the same value in both networks" (Fig. 5).  Its proof ends with
"exploiting the fact that dLhat/dz = dL/dy": the gradient on the right is then g, the loss's at the
layer's output z.  The other reading, the gradient at y, where the network without the layer is, is
the entry ``two-networks``; the two are one if gamma = sigma and beta = mean.

Lines (6) to (8) divide by the norm of yhat and so take it for sqrt(m), which it is only at
eps = 0: in general its square is m (1 - eps/sigma^2).  The supplement's line (9), and with it its
theorem, divides by m's root once.
"""

from dataclasses import replace
from typing import Any

from array_api_compat import array_namespace

from theory.arithmetic import mean as mean_of
from theory.batchnorm import centre
from theory.claim import Claim, Form
from theory.language.expression import along, equal, gradient, named, number
from theory.language.letters import vector_of
from theory.language.operations import average, centred, dot, norm2, sqrt
from theory.santurkar2018.chosen import (
    bending_at_the_second,
    by_its_largest_entry,
    four_signs,
    shifted_away_from_a_minimum,
    with_hints,
)
from theory.santurkar2018.letters import EPS, SCALE, UNIT, VANILLA, H, gbar, unscaled
from theory.santurkar2018.texts import displayed, final, supplement
from theory.statement import PROVED, REFUTED, assume
from theory.unit import (
    L,
    beta,
    eps,
    g,
    gamma,
    grad,
    m,
    one,
    partial,
    sigma,
    u,
    variable,
    y,
    yhat,
    z,
)

EQUALITY = equal(norm2(grad), SCALE * (norm2(g) - dot(one, g) ** 2 / m - dot(g, yhat) ** 2 / m))
WITH_EPSILON = equal(
    norm2(grad),
    SCALE * (norm2(g) - dot(one, g) ** 2 / m - (1 + eps / sigma**2) * dot(g, yhat) ** 2 / m),
)
SLACK = eps * gamma**2 / (m * sigma**4) * dot(g, yhat) ** 2

SQUARE_ROOT = SCALE * (norm2(g) - dot(one, g) ** 2 / m - 1 / sqrt(m) * dot(g, yhat) ** 2)
THEOREM = [
    PRINTED := Claim(
        id="S-thm-4.1", title="The gradient's norm with and without the layer",
        locations=(
            final(169, "Sect. 4.2, Theorem 4.1", r"-\frac{1}{m}\left\langle{\nabla_{\bm{y_{j}}}"),
        ),
        says=norm2(grad) <= EQUALITY.claimed,
        expected=PROVED,
        because=SLACK,
        remark="An equality, line (9) of its proof.",
    ),
    SHARED := PRINTED.under(
        EPS, PROVED, remark="The slack is ϵ times a square; at ϵ = 0 it is an equality."
    ),
    PRINTED.under(UNIT, REFUTED, corrected_by=SHARED.id, remark=""),
    TWO_NETWORKS := replace(
        PRINTED, id="S-thm-4.1/two-networks",
        title="the norms of two networks' gradients, each at its own point",
        says=norm2(grad)
        <= SCALE * (norm2(VANILLA) - dot(one, VANILLA) ** 2 / m - dot(VANILLA, yhat) ** 2 / m),
        form=Form.READING, expected=REFUTED, corrected_by=PRINTED.id,
        attack=(shifted_away_from_a_minimum,),
        because=None,
        remark="The same weights put the two networks at different points of the loss, y and z.",
    ),
    TWO_NETWORKS.under(EPS, REFUTED, corrected_by=SHARED.id),
    SUPPLEMENT := Claim(
        id="S-thm-4.1-supp", title="The gradient's norm, with a square root",
        locations=(supplement(145, "App. C.2, Theorem 4.1", r"\frac{1}{\sqrt{m}}"),),
        says=norm2(grad) <= SQUARE_ROOT,
        expected=REFUTED, corrected_by=PRINTED.id, attack=(four_signs,),
        remark="The last version prints 1/m; the proof's line (9) carries the same difference.",
    ),
    SUPPLEMENT.sharpened(
        "how-much", title="by how much the supplement's square root is wrong",
        says=equal(norm2(grad) - SQUARE_ROOT, SCALE * (1 / sqrt(m) - 1 / m) * dot(g, yhat) ** 2),
        attack=(),
        remark="So the supplement's bound fails for every m from 2 on, unless γ ⟨g, ŷ⟩ is zero.",
    ),
    SUPPLEMENT_SHARED := SUPPLEMENT.under(EPS, REFUTED, corrected_by=SHARED.id),
    SUPPLEMENT.under(UNIT, REFUTED, corrected_by=SHARED.id),
]  # fmt: skip


def shifted_back(case: Any) -> Any:
    """Let beta be the mean."""
    return replace(case, beta=mean_of(case.y))


IDENTITY_LAYER = assume(
    equal(norm2(z - y), 0), impose=lambda case: shifted_back(unscaled(case)), printed=False,
    words=r"\gamma = \sigma,\ \beta = \mu",
)  # fmt: skip
"""The layer gives back its batch; of one that is not constant the words say the same."""
GIVES_BACK = (
    assume(equal(gamma, sigma), unscaled, printed=False),
    assume(equal(beta, average(y)), shifted_back, printed=False),
)
"""The same of a batch that may be constant, which any scale gives back."""

NEXT_PROOF = "App. C.2, proof of Theorem 4.2"
LAST_LINE = [
    IDENTIFICATION := Claim(
        id="S-thm-4.1-identification", title="The loss's gradients in two networks are one",
        locations=(
            final(413, "App. C.2, end of the proof of Theorem 4.1", "Exploiting the fact that"),
            final(464, f"{NEXT_PROOF}, its setup", r"\bm{\hat{g}_{j}}=\frac{\partial\widehat"),
            supplement(
                173, "App. C.2, end of the proof of Theorem 4.1", "Exploiting the fact that"
            ),
            supplement(234, f"{NEXT_PROOF}, its setup", r"rac{\partial \mathcal{L}}{\partial"),
        ),
        says=equal(g, VANILLA),
        expected=REFUTED, attack=(shifted_away_from_a_minimum,),
    ),
    IDENTIFICATION_SHARED := IDENTIFICATION.under(EPS, REFUTED),
    IDENTIFICATION.corrected(hypotheses=(IDENTITY_LAYER,)),
    IDENTIFICATION_SHARED.corrected(hypotheses=GIVES_BACK),
    OF_HESSIANS := Claim(
        id="S-thm-4.2-identification", title="The loss's Hessians in two networks are one",
        locations=(
            final(460, f"{NEXT_PROOF}, its setup", r"H_{jk}:=\frac{\partial\widehat{\mathcal{L}}}"),
            supplement(230, f"{NEXT_PROOF}, its setup", r"H_{jk} := \frac{\partial \widehat"),
        ),
        says=equal(H(u), along(gradient(L(variable), variable), variable, u, at=y)),
        expected=REFUTED, attack=(bending_at_the_second,),
        remark="It is true of a quadratic loss, whose Hessian is the same everywhere.",
    ),
    OF_HESSIANS_SHARED := OF_HESSIANS.under(EPS, REFUTED),
    OF_HESSIANS.corrected(hypotheses=(IDENTITY_LAYER,)),
    OF_HESSIANS_SHARED.corrected(hypotheses=GIVES_BACK),
]  # fmt: skip

# Another norm for the deviation: with s the norm of the centred batch and n its gradient there,
# s = <n, c>, and c/<n, c> has the derivatives of c/s.

n = vector_of("n", "n", "other_direction")
"""The gradient of the norm; of the largest entry: plus or minus one there, zero elsewhere."""
LARGEST = dot(n, centred(y))
BY_LARGEST = named(
    r"\nabla_y\langle u, c/s\rangle",
    gradient(dot(u, centred(variable) / dot(n, centred(variable))), variable, at=y),
)


def by_the_largest_entry(case: Any) -> Any:
    """Let n be one where the centred batch is largest, with its sign, and zero elsewhere."""
    len(case.y)  # which a batch of symbolic length refuses
    c = centre(case.y)
    squares, xp = c * c, array_namespace(c)
    attained = squares == xp.max(squares, axis=0, keepdims=True)
    return replace(case, other_direction=xp.where(c > 0, attained * 1, attained * -1) + 0 * c)


ENTRY = assume(equal(norm2(n), 1), impose=by_the_largest_entry, printed=False)
ALONE = assume(equal(dot(n, one) ** 2, 1), printed=False)
NO_LARGER = assume(
    norm2(centred(y)) <= m * LARGEST**2, printed=False,
    words=r"s = \langle n, c\rangle = \max_b|c_b|,\ c = \overline y",
)  # fmt: skip
YS = centred(y) / LARGEST
"""The normalised batch."""
NBAR, UBAR = centred(n), centred(u)
OFF_N = NBAR - YS / norm2(YS)
OFF_U = UBAR - YS * (dot(YS, u) / norm2(YS))
PER_S = 1 / LARGEST**2
OTHER_NORMS = [
    OTHER_NORM := Claim(
        id="S-thm-4.1/largest-entry", title="the gradient with the largest entry for the deviation",
        locations=(final(142, "Sect. 3.3", "(before shifting the mean)"),),
        says=norm2(BY_LARGEST) <= norm2(u) / LARGEST**2,
        hypotheses=(ENTRY, ALONE, NO_LARGER), form=Form.BOUNDARY, expected=REFUTED,
        attack=(by_its_largest_entry,),
        remark="The paper tries the largest entry for the deviation; s is here that of the centred"
        " batch c, and n the gradient of that norm at c. Theorem 4.1 has this form for the root"
        " mean square: there n is a multiple of ŷ, and the layer's derivative an orthogonal"
        " projection divided by s, as for no other norm of centred batches but its multiples.",
    ),
    OTHER_NORM.corrected(
        title="the gradient with the largest entry for the deviation: what holds",
        says=norm2(BY_LARGEST) <= (m - 1) / LARGEST**2 * norm2(u),
        because=(m - 1) / m * PER_S * dot(one, u) ** 2
        + (m - 1) / m * PER_S**2 * NO_LARGER.slack * norm2(UBAR)
        + PER_S * norm2(YS) * dot(NBAR, u) ** 2
        + PER_S * norm2(YS) * norm2(OFF_N)
        * norm2(OFF_U - OFF_N * (dot(OFF_N, OFF_U) / norm2(OFF_N)))
        + PER_S * norm2(YS) * norm2(UBAR) * ENTRY.slack
        - PER_S / m * norm2(YS) * norm2(UBAR) * ALONE.slack,
        remark="From m = 3 on the norm of the derivative is ‖c‖/s² times that of n less its mean."
        " For even m and batches of entries near s and -s it is near √(m - 1)/s: 7.9/s for m = 64.",
    ),
]  # fmt: skip

OWN_PROOF = "App. C.2, proof of Theorem 4.1"
equation = displayed(OWN_PROOF, "S-eq-4-9", title="The gradient, line by line")
KEPT, LOST = number(1) - eps / sigma**2, number(1) - eps**2 / sigma**4

PROOF = [
    *equation(
        {3: ((399, r"-{\hat{y}_{j}}^{(b)}\sum_{k=1}^{m}"),
             (149, r"- \hat{y}_j^{(b)} \sum_{k=1}^m"))},
        equal(partial, gamma / (m * sigma) * (m * g - dot(one, g) * one - dot(g, yhat) * yhat)),
        result="S-steps",
    ).with_epsilon(PROVED, REFUTED),
    *equation(
        {4: ((403, r"-\bm{\hat{y}_{j}}\left\langle"), (153, r"1\left\langle 1,"))},
        equal(partial, gamma / (m * sigma) * (m * g - one * dot(one, g) - yhat * dot(g, yhat))),
    ).with_epsilon(PROVED, REFUTED),
    *equation(
        {5: ((407, r"\bm{1}\mu_{g}"), (158, r"\mathbf{1}\mu_g"))},
        equal(partial, gamma / sigma * (gbar - 1 / m * yhat * dot(gbar, yhat))),
    ).with_epsilon(PROVED, REFUTED),
    *equation(
        {6: ((408, r"\frac{\bm{\hat{y}_{j}}}{\left|\left|"), (161, r"\frac{\hat{\mathbf{y}}_j}"))},
        equal(partial, gamma / sigma * (gbar - yhat * dot(gbar, yhat) / norm2(yhat))),
    ).with_epsilon(
        REFUTED, REFUTED,
        equal(partial, gamma / sigma * (gbar - KEPT * yhat * dot(gbar, yhat) / norm2(yhat))),
    ),
    *equation(
        {7: ((409, r"\frac{\gamma^{2}}{\sigma^{2}}"), (164, r"\frac{\gamma^{2}}{\sigma^{2}}"))},
        equal(norm2(partial), SCALE * norm2(gbar - yhat * dot(gbar, yhat) / norm2(yhat))),
    ).with_epsilon(
        REFUTED, REFUTED,
        equal(norm2(partial), SCALE * (norm2(gbar) - LOST * dot(gbar, yhat) ** 2 / norm2(yhat))),
    ),
    *equation(
        {8: ((410, r"\frac{\gamma^{2}}{\sigma^{2}}"), (167, r"\frac{\gamma^2}{\sigma^2}"))},
        equal(norm2(partial), SCALE * (norm2(gbar) - dot(gbar, yhat) ** 2 / norm2(yhat))),
    ).with_epsilon(REFUTED, REFUTED, "S-eq-7/eps/corrected"),
    *equation({9: ((411, r"-\frac{1}{m}\left\langle"), None)}, EQUALITY).with_epsilon(
        REFUTED, REFUTED, WITH_EPSILON
    ),
    *Claim(
        id="S-eq-9-supp", title="The gradient's norm, with a square root",
        locations=(supplement(170, f"{OWN_PROOF}, eq. (9)", r"\frac{1}{\sqrt{m}}"),),
        says=equal(norm2(partial), SQUARE_ROOT),
        result="S-eq-4-9", form=Form.STEP, expected=REFUTED, corrected_by="S-eq-9",
        attack=(four_signs,),
        remark="Here the supplement differs from the last version, which prints 1/m.",
    ).with_epsilon(REFUTED, REFUTED, "S-eq-9/eps/corrected"),
]  # fmt: skip

CLAIMS = with_hints([*THEOREM, *LAST_LINE, *OTHER_NORMS, *PROOF])
