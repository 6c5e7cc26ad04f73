r"""Theorem 3: the preconditioned Hessian is :math:`\hat G^\top S\hat G`, (14), and what follows.

.. math:: \hat H P = [e, H - e\mu_H^\top]\,D = [e, G], \qquad
          \nabla_z^2\mathcal L = P^\top\hat H^\top S\hat H P

are identities for any means and any positive deviations, as Algorithm 2 takes them.  That the
columns of G have mean zero and variance one holds for the batch's own, and D needs that no feature
is constant on the batch, as one is whose ReLU never fires, and each if N = 1.  With other means
:math:`\mu` and deviations :math:`\tilde\sigma` the columns of G have the means
:math:`(\mu_H - \mu)/\tilde\sigma` and the variances :math:`\sigma_H^2/\tilde\sigma^2`.

In the text between Theorems 3 and 4, :math:`\sqrt N\sigma_H` are the norms of the columns of
:math:`H - e\mu_H^\top`, so that D gives each the norm :math:`\sqrt N`.
"""

from dataclasses import replace

from theory import preconditioning
from theory.lange2022.algorithm_1 import SPREAD
from theory.lange2022.proposition_2 import PER_EXAMPLE, S
from theory.lange2022.texts import of_layers
from theory.language.arrays import column, first, norm2, transpose
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
from theory.layer import (
    L1,
    C,
    G,
    Ghat,
    H,
    Hhat,
    N,
    P,
    U,
    beside,
    centring,
    column_squares,
    d0,
    deviations,
    e,
    eps,
    eps_1,
    eps_2,
    mean,
    means,
    mu,
    ones,
    outer,
    over_diag,
    pair,
    ratio,
    scaling,
    sigma,
    squares,
    v,
    variance,
    variances,
    w,
    zeros,
)
from theory.statement import REFUTED, SUPPORTED, Form

_V = Sort.VECTOR
z = replace(d0, name="z", latex="z")
"""The preconditioned parameters of one output, the bias first."""
G_OTHER = named(r"G_{\mu,\tilde\sigma}", over_diag(H - outer(e, mu), sigma))
GHAT_OTHER = named(r"\hat G_{\mu,\tilde\sigma}", beside(e, G_OTHER))
P_OTHER = named(r"P_{\mu,\tilde\sigma}", centring(mu) @ scaling(sigma))
regularized = Operation(
    "regularized variance", preconditioning.regularized_variance,
    r"{0} + {1:product} \max {0:power} + {2}", gives=_V, takes=(_V, Sort.NUMBER, Sort.NUMBER),
    binds=Binding.SUM,
)  # fmt: skip
REGULARIZED = named(r"\tilde\sigma^2", regularized(variances, eps_1, eps_2))


def preconditioned(P: Expression) -> Expression:
    """Return the Hessian in the preconditioned parameters, applied to any vector."""
    second = along(gradient(L1(Hhat @ (P @ w)), w), w, v, at=z)
    return named(r"\nabla_z^2\mathcal L\,v", second)


section_3_3 = of_layers("Sect. 3.3, Theorem 3", "L-thm-3")


THEOREM = [
    HESSIAN := section_3_3(
        "", 183, r"\widehat{G}^{T}S\widehat{G}.", "the Hessian after preconditioning",
        equal(preconditioned(P), transpose(Ghat) @ S(Ghat @ v, at=Hhat @ (P @ z))),
        hypotheses=(PER_EXAMPLE, SPREAD),
    ),
    HESSIAN.sharpened(
        "any-statistics", title="the Hessian after preconditioning by any statistics",
        says=equal(
            preconditioned(P_OTHER),
            transpose(GHAT_OTHER) @ S(GHAT_OTHER @ v, at=Hhat @ (P_OTHER @ z)),
        ),
        hypotheses=(PER_EXAMPLE,),
    ),
    section_3_3(
        "/eq-14", 187, r":=\widehat{H}P. (14)", "the normalized inputs",
        equal(beside(e, over_diag(C, deviations)), Hhat @ P), hypotheses=(SPREAD,),
    ),
    section_3_3(
        "/normalized", 189, "normalized to have zero mean and unit variance",
        "mean and variance of the normalized inputs",
        equal(pair(mean(G), variance(G)), pair(zeros, ones)), hypotheses=(SPREAD,),
    ),
    DEFINED := section_3_3(
        "/every-batch", 189, r"({h}_{j}^{(\ell-1)}-\mu_{H})/\sigma_{H}",
        "whether there is a deviation to divide by",
        first(variances) > 0, expected=REFUTED, form=Form.READING,
        remark="No hypothesis on the batch is stated: read as of every batch.",
    ),
    DEFINED.corrected(says=first(variances) + eps > 0, because=1 / N * norm2(column(C)) + eps),
    OTHERS := section_3_3(
        "/other-statistics", 242, "or some averages of them",
        "normalization by running statistics",
        equal(pair(mean(G_OTHER), variance(G_OTHER)), pair(zeros, ones)),
        place="Sect. 3.3, after Algorithm 2", expected=REFUTED, form=Form.BOUNDARY,
    ),
    OTHERS.corrected(
        says=equal(
            pair(mean(G_OTHER), variance(G_OTHER)),
            pair(ratio(means - mu, sigma), ratio(variances, squares(sigma))),
        ),
    ),
    OTHERS.sharpened(
        "regularized", title="normalization by the regularized variances",
        says=ratio(variances, REGULARIZED) < 1 / (1 + eps_1) * ones,
        expected=SUPPORTED,
        remark="So inputs normalized by their own regularized variances have variances below one."
        " Algorithm 2 regularizes the running variances: by those, variances may exceed one.",
    ),
]  # fmt: skip

step = of_layers("Sect. 3.3, before Theorem 4", "L-steps", "L-before-thm-4", form=Form.STEP)


STEPS = [
    step(
        "/product-with-U", 193, r"\widehat{H}U=\left[e,\;H-e\mu_{H}^{T}\right]",
        "the inputs times U", equal(Hhat @ U, beside(e, C)),
    ),
    step(
        "/orthogonal", 193, r"(H-e\mu_{H}^{T})^{T}e=0",
        "centred columns are orthogonal to the ones", equal(transpose(C) @ e, 0),
    ),
    MULTIPLIED := step(
        "/column-norms", 195, r"H-e\mu_{H}^{T} scaled by", "the norms of the centred columns",
        equal(N * column_squares(C), variances), form=Form.READING, expected=REFUTED,
        remark="'Scaled by √N' read as multiplied; divided is meant, as the next sentence"
        " shows.",
    ),
    MULTIPLIED.corrected(says=equal(1 / N * column_squares(C), variances), remark=""),
    step(
        "/normalized-norms", 195, "to have the same norm of", "the norms of the normalized columns",
        equal(column_squares(G), N * ones), hypotheses=(SPREAD,),
    ),
]  # fmt: skip

CLAIMS = [*THEOREM, *STEPS]
