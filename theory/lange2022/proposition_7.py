r"""Sect. 3.4 and Proposition 7: post-activation BN is a vanilla layer, and its step one of BNP.

.. math:: W\,\frac{h - \mu_H}{\sigma_H} + b = \hat W h + \hat b, \qquad
          \hat W = W\operatorname{diag}(1/\sigma_H), \quad \hat b = b - W\,(\mu_H/\sigma_H),

an identity for any means and positive deviations.  (The text prints
:math:`W\operatorname{diag}(\mu_H/\sigma_H)`, a p x n matrix, in the proposition and its proof.)
So :math:`[\hat b^\top; \hat W^\top] = P\,[b^\top; W^\top]`, and with the statistics held fixed
gradient descent in :math:`W, b` is the iteration (8) in :math:`\hat W, \hat b`.

BNP is preconditioned by (1/q)P, :math:`q^2 = \max\{n/N, 1\}`: the steps agree at one learning rate
if q = 1, and else at :math:`\alpha_{BNP} = q^2\alpha_{BN}`, another one for each layer.  They agree
under the statistics of the batch before the step, those of BNP being the same as those of BN.

*Through the statistics.*  Those of a layer's inputs depend on the layers below only, so nothing
changes for the layer's own weights.  For the layers below it does: where the frozen gradient in an
input column is :math:`g/\sigma`, the one that passes through is

.. math:: \frac1\sigma\Big(g - \bar g\,1 - \tfrac1N\hat y\langle\hat y, g\rangle\Big),

nothing for N = 2.  There ``H, W, b`` are the layer below and its outputs, without activation, are
normalized; the loss is that of the normalized outputs.

*Re-scaling and re-centring* are an over-parametrisation,

.. math:: W(\gamma v + \beta) + b = \hat W v + \hat b, \qquad
          \hat W = W\operatorname{diag}(\gamma), \quad \hat b = W\beta + b,

for whatever v, normalized or not; conversely :math:`\gamma = 1, \beta = 0` give every
:math:`\hat W, \hat b`.  A step of gradient descent in :math:`W, b, \gamma, \beta` moves the hats,
to first order in the learning rate, by

.. math:: -\alpha\Big(\nabla_{\hat W}\mathcal L\operatorname{diag}(\gamma)^2
          + \nabla_{\hat b}\mathcal L\,(\beta\gamma)^\top
          + W\operatorname{diag}(\operatorname{diag}(W^\top\nabla_{\hat W}\mathcal L))\Big), \qquad
          -\alpha\Big((1 + \|\beta\|^2)\,I + W W^\top\Big)\nabla_{\hat b}\mathcal L
          - \alpha\,\nabla_{\hat W}\mathcal L\,(\gamma\beta)

in place of :math:`-\alpha\nabla_{\hat W}\mathcal L` and :math:`-\alpha\nabla_{\hat b}\mathcal L`.
"""

from theory.lange2022.algorithm_1 import SPREAD
from theory.lange2022.chosen import layer_of
from theory.lange2022.proposition_5 import Q_SQUARED
from theory.lange2022.texts import at, of_layers
from theory.lange2022.theorem_3 import G_OTHER, P_OTHER
from theory.language.arrays import norm2, transpose
from theory.language.expression import (
    Binding,
    Expression,
    Letter,
    Operation,
    Sort,
    along,
    equal,
    gradient,
    named,
    number,
)
from theory.layer import (
    B01,
    C,
    G,
    H,
    Hhat,
    L,
    N,
    P,
    U,
    W,
    above,
    alpha,
    b,
    beta,
    column_products,
    deviation,
    deviations,
    e,
    entrywise,
    gamma,
    mean,
    means,
    mu,
    n,
    outer,
    outputs,
    over_diag,
    q,
    ratio,
    sigma,
    squares,
    times_diag,
    variance,
)
from theory.statement import REFUTED, Form, assume

_V, _M = Sort.VECTOR, Sort.MATRIX
X, Y, B = Letter("X", "X", _M), Letter("y", "y", _V), Letter("B", "B", _M)
"""Variables of derivatives."""
columns_of = Operation(
    "columns", lambda A: A.shape[1] if len(A.shape) == 2 else 1,
    r"\text{{the number of columns of }} {0:product}", binds=Binding.OPERATOR,
)  # fmt: skip


def parameters(weights: Expression, bias: Expression) -> Expression:
    r"""Return :math:`[b^\top; W^\top]`."""
    return above(bias, transpose(weights))


def own(weights: Expression, bias: Expression) -> Expression:
    """Return the vanilla layer's parameters, those of a layer of normalized inputs given."""
    scaled = over_diag(weights, deviations)
    return named(r"\hat B({0},\ {1})", parameters(scaled, bias - scaled @ means), weights, bias)


def of_others(weights: Expression, bias: Expression) -> Expression:
    """Return the same with any statistics."""
    scaled = over_diag(weights, sigma)
    name = r"\hat B_{{\mu,\tilde\sigma}}({0},\ {1})"
    return named(name, parameters(scaled, bias - scaled @ mu), weights, bias)


WHAT, BHAT = over_diag(W, deviations), b - W @ ratio(means, deviations)
VANILLA = equal(outputs(W, b, G), outputs(WHAT, BHAT))
proposition = of_layers("Sect. 3.4, Prop. 7", "L-prop-7")

LAYER = [
    BIAS := proposition(
        "", 264, r"b^{(\ell)}-W^{(\ell)}\text{diag}\left(\frac{\mu_{H}}{\sigma_{H}}\right)",
        "the vanilla layer's bias as printed, a vector less a matrix",
        equal(columns_of(times_diag(W, ratio(mu, sigma))), columns_of(b)), expected=REFUTED,
        in_words="What is said is that the two can be subtracted.",
        remark="Printed is b - W diag(μ/σ). For that to be a vector W diag(μ/σ) has to have one"
        " column, like b; it has one for each input.",
    ),
    BIAS.corrected(
        title="Batch Normalization as a vanilla layer", says=VANILLA, hypotheses=(SPREAD,),
        in_words="",
    ),
    BIAS.sharpened(
        "any-statistics", title="normalization by any statistics as a vanilla layer",
        says=equal(outputs(W, b, G_OTHER), outputs(over_diag(W, sigma), b - W @ ratio(mu, sigma))),
        remark="An epsilon in σ changes nothing, if it is the same on both sides.", in_words="",
    ),
]  # fmt: skip


def moved(normalized: Expression) -> tuple[Expression, Expression]:
    """Return weights and bias after a step of descent in a layer of normalized inputs."""
    in_W = gradient(L(outputs(X, b, normalized)), X, at=W)
    in_b = gradient(L(outputs(W, Y, normalized)), Y, at=b)
    return (
        W - alpha * named(r"\nabla_W\mathcal L", in_W),
        b - alpha * named(r"\nabla_b\mathcal L", in_b),
    )


def after_bnp(start: Expression, P: Expression, rate: Expression) -> Expression:
    """Return the vanilla layer's parameters after a step of BNP."""
    slope = named(r"\nabla_{\hat B}\mathcal L", gradient(L(Hhat @ B), B, at=start))
    return start - rate * (P @ (transpose(P) @ slope))


OWN, OTHERS = own(W, b), of_others(W, b)
BN_STEP, BN_STEP_OTHERS = own(*moved(G)), of_others(*moved(G_OTHER))
QUOTE = "is equivalent to one step of BNP training of the vanilla network"

STEPS = [
    STEP := proposition(
        "/step", 264, QUOTE, "a step of Batch Normalization as one of BNP",
        equal(BN_STEP, after_bnp(OWN, P, alpha)), hypotheses=(SPREAD,),
        remark="q = 1, as it is if the layer has at most as many inputs as the batch has examples.",
    ),
    STEP.sharpened(
        "any-statistics", title="a step of a layer with any statistics, held fixed",
        says=equal(BN_STEP_OTHERS, after_bnp(OTHERS, P_OTHER, alpha)), hypotheses=(),
    ),
    WITH_Q := proposition(
        "/step-with-q", 264, QUOTE, "a step of a layer with more inputs than examples",
        equal(BN_STEP, after_bnp(OWN, P, 1 / Q_SQUARED * alpha)),
        hypotheses=(SPREAD, assume(n > N, printed=False)), expected=REFUTED,
        attack=(layer_of([[1, 1, 1], [-1, -1, -1]], [[0, 0, 0]], linear=[[2], [0]]),),
        remark="BNP preconditions by (1/q)P, as is said below Prop. 5. Here N = 2 and n = 3, so q²"
        " = 3/2.",
    ),
    WITH_Q.corrected(
        says=equal(BN_STEP_OTHERS, after_bnp(OTHERS, P_OTHER, q**2 * alpha / q**2)),
        hypotheses=(),
        remark="With q²α for the learning rate of BNP, for any q and any statistics that are held"
        " fixed. As q is the layer's, no one learning rate serves layers of different q.",
    ),
    proposition(
        "/step-by-running-averages", 242, "or some averages of them",
        "a step of BNP by running averages",
        equal(BN_STEP, after_bnp(OWN, P_OTHER, alpha)), hypotheses=(SPREAD,),
        place="Sect. 3.3, after Algorithm 2",
        expected=REFUTED, form=Form.BOUNDARY, corrected_by="L-prop-7/step/any-statistics",
    ),
]  # fmt: skip

BELOW = outputs(W, b)
"""The outputs of the layer below."""
FIXED = over_diag(outputs(X, b) - outer(e, mean(BELOW)), deviation(BELOW))
SLOPE = named("g", gradient(L(X), X, at=B01(BELOW)))
PASSING = named(
    r"\nabla_W\mathcal L(\mathcal B_{0,1}(H W^\top + e b^\top))",
    gradient(L(B01(outputs(X, b))), X, at=W),
)
FROZEN = named(
    r"\nabla_W\mathcal L(\mathcal B_{0,1}(H W^\top + e b^\top))\big|_{\text{statistics fixed}}",
    gradient(L(FIXED), X, at=W),
)
YHAT = named(r"\hat Y", B01(BELOW))
PROJECTED = SLOPE - outer(e, mean(SLOPE)) - 1 / N * times_diag(YHAT, column_products(YHAT, SLOPE))
STATISTICS = [
    THROUGH := proposition(
        "/through-statistics", 268, "passing gradients through the mini-batch",
        "gradients through the statistics", equal(PASSING, FROZEN),
        place="Sect. 3.4, after Prop. 7", hypotheses=(assume(variance(BELOW) > 0, printed=False),),
        expected=REFUTED, form=Form.BOUNDARY,
        remark="The text does not claim it: it leaves the case out of Prop. 7. For the weights of"
        " the layer itself both gradients are the same, since the statistics do not depend on"
        " them.",
    ),
    THROUGH.corrected(says=equal(PASSING, transpose(over_diag(PROJECTED, deviation(BELOW))) @ H)),
]  # fmt: skip

step = of_layers(
    "App. A, proof of Prop. 7", "L-steps", "L-proof-prop-7", form=Form.STEP, hypotheses=(SPREAD,)
)
NORMALIZED = outputs(W, b, B01(H))
what, bhat = named(r"\hat W", WHAT), named(r"\hat b", BHAT)
OF_CORRECTED = "With b̂ of L-prop-7/corrected: the text has W diag(μ/σ) for W(μ/σ) here as well."
PROOF = [
    step(
        "/eq-33", 673, r"\left(h^{(\ell-1)}-\mu_{H}\right)+b^{(\ell)}",
        "the normalization as a product",
        equal(NORMALIZED, outputs(over_diag(W, deviations), b, C)),
    ),
    step(
        "/eq-34", 674, r"\left(\widehat{W}h^{(\ell-1)}+\widehat{b}\right). (34)",
        "the vanilla layer",
        equal(NORMALIZED, outputs(what, bhat)),
        remark=OF_CORRECTED,
    ),
    step(
        "/by-U", 678, r"=U\begin{bmatrix}b^{(\ell)^{T}}\\ \widehat{W}^{T}\end{bmatrix}",
        "the vanilla parameters by U", equal(parameters(what, bhat), U @ parameters(what, b)),
        remark=OF_CORRECTED,
    ),
    step(
        "/by-P", 678, r"=P\begin{bmatrix}b^{(\ell)^{T}}\\ W^{(\ell)^{T}}\end{bmatrix}",
        "the vanilla parameters by P", equal(parameters(what, bhat), P @ parameters(W, b)),
        remark=OF_CORRECTED,
    ),
]  # fmt: skip


def rescaled(gamma: Expression, beta: Expression, inputs: Expression = H) -> Expression:
    """Return inputs re-scaled and re-centred."""
    return times_diag(inputs, gamma) + outer(e, beta)


HATS = times_diag(W, gamma), W @ beta + b
tau = Letter("tau", r"\tau")
"""The learning rate, the variable of a derivative."""
IN_W = gradient(L(outputs(X, b, rescaled(gamma, beta))), X, at=W)
IN_B = gradient(L(outputs(W, Y, rescaled(gamma, beta))), Y, at=b)
IN_GAMMA = gradient(L(outputs(W, b, rescaled(Y, beta))), Y, at=gamma)
IN_BETA = gradient(L(outputs(W, b, rescaled(gamma, Y))), Y, at=beta)
MOVED = parameters(
    times_diag(W - tau * IN_W, gamma - tau * IN_GAMMA),
    (W - tau * IN_W) @ (beta - tau * IN_BETA) + (b - tau * IN_B),
)
SPEED = named(
    r"\frac{d}{d\tau}\begin{bmatrix}\hat b^\top\\ \hat W^\top\end{bmatrix}\Big|_{\tau=0}",
    along(MOVED, tau, number(1), at=number(0)),
)
IN_WHAT = named(r"\nabla_{\hat W}\mathcal L", gradient(L(outputs(X, HATS[1])), X, at=HATS[0]))
IN_BHAT = named(r"\nabla_{\hat b}\mathcal L", gradient(L(outputs(HATS[0], Y)), Y, at=HATS[1]))

section = of_layers("Sect. 3.4", "L-overparam")
OVERPARAMETRISATION = [
    EQUIVALENT := section(
        "", 256, r"\widehat{b}=W^{(\ell)}\beta+b^{(\ell)}",
        "a layer without re-scaling and re-centring",
        equal(outputs(W, b, rescaled(gamma, beta)), outputs(*HATS)),
    ),
    EQUIVALENT.sharpened(
        "normalized", title="a layer without normalization, re-scaling and re-centring",
        says=equal(
            outputs(W, b, rescaled(gamma, beta, over_diag(H - outer(e, mu), sigma))),
            outputs(
                times_diag(W, ratio(gamma, sigma)),
                b + W @ (beta - ratio(entrywise(gamma, mu), sigma)),
            ),
        ),
    ),
    EQUIVALENT.sharpened(
        "descent", title="how descent in all four parameters differs",
        says=equal(
            SPEED,
            -parameters(
                times_diag(IN_WHAT, squares(gamma))
                + outer(IN_BHAT, entrywise(beta, gamma))
                + times_diag(W, column_products(W, IN_WHAT)),
                (1 + norm2(beta)) * IN_BHAT
                + W @ (transpose(W) @ IN_BHAT)
                + IN_WHAT @ entrywise(gamma, beta),
            ),
        ),
        remark="How different the iterations are, to first order in the learning rate τ.",
        locations=at(256, "Sect. 3.4", "their training iterations through gradient descent"),
    ),
]  # fmt: skip

CLAIMS = [*OVERPARAMETRISATION, *LAYER, *STEPS, *STATISTICS, *PROOF]
