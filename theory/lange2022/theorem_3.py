r"""Theorem 3: the preconditioned Hessian is :math:`\hat G^\top S\hat G`, and (14).

.. math:: \hat H P = [e, H - e\mu_H^\top]\,D = [e, G], \qquad
          \nabla_z^2\mathcal L = P^\top\hat H^\top S\hat H P

are identities for any means and any positive deviations, as Algorithm 2 takes them.  That the
columns of G have mean zero and variance one holds for the batch's own, and D needs that no feature
is constant on the batch, as one is whose ReLU never fires, and each if N = 1.  With other means
:math:`\mu` and deviations :math:`\tilde\sigma` the columns of G have the means
:math:`(\mu_H - \mu)/\tilde\sigma` and the variances :math:`\sigma_H^2/\tilde\sigma^2`.
"""

from typing import Any

from array_api_compat import array_namespace

from theory import preconditioning
from theory.lange2022.literal import SPREAD, means, transformed, variances
from theory.lange2022.proposition_2 import (
    PER_EXAMPLE,
    curvatures,
    loss_of_unit,
    output_of_unit,
    second_derivative,
)
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Relation, Sides, Term, Verdict


def preconditioned(layer: Layer, mean: Any, deviation: Any) -> Sides:
    """The Hessian in z, applied to the generic vector."""
    loss, z = loss_of_unit(layer), layer.scaling
    actual = second_derivative(
        layer,
        lambda z: loss(output_of_unit(layer, transformed(z, mean, deviation))),
        z,
        layer.direction,
    )
    features = preconditioning.features(layer.H, mean, deviation)
    S = curvatures(layer, output_of_unit(layer, transformed(z, mean, deviation)))
    return Sides(actual, preconditioning.unit_hessian(features, S) @ layer.direction)


def own(layer: Layer) -> Sides:
    """With the batch's own statistics."""
    return preconditioned(layer, means(layer.H), layer.sqrt(variances(layer.H)))


def others(layer: Layer) -> Sides:
    """With any statistics."""
    return preconditioned(layer, layer.mean, layer.deviation)


def rows(layer: Layer) -> Sides:
    """Equation (14), row by row."""
    xp, N = array_namespace(layer.H), layer.H.shape[0]
    mean, deviation = means(layer.H), layer.sqrt(variances(layer.H))
    found = xp.stack([(layer.H[j, :] - mean) / deviation for j in range(N)])
    ones = xp.stack([0 * layer.q + 1 for _ in range(N)])[:, None]
    P = preconditioning.preconditioner(
        preconditioning.means(layer.H), preconditioning.standard_deviations(layer.H)
    )
    return Sides(xp.concat([ones, found], axis=1), preconditioning.augmented(layer.H) @ P)


def moments(layer: Layer, mean: Any, deviation: Any) -> Any:
    """Return the means and the variances of the columns of G, (2, n)."""
    G = preconditioning.features(layer.H, mean, deviation)
    return array_namespace(G).stack([means(G), variances(G)])


def own_moments(layer: Layer) -> Sides:
    """Mean zero and variance one."""
    deviation = preconditioning.standard_deviations(layer.H)
    found = moments(layer, preconditioning.means(layer.H), deviation)
    nothing = 0 * layer.deviation
    return Sides(found, array_namespace(found).stack([nothing, nothing + 1]))


def others_moments(layer: Layer) -> Sides:
    """Mean zero and variance one with other statistics."""
    nothing = 0 * layer.deviation
    found = moments(layer, layer.mean, layer.deviation)
    return Sides(found, array_namespace(found).stack([nothing, nothing + 1]))


def others_moments_corrected(layer: Layer) -> Sides:
    """What they are with other statistics."""
    found = moments(layer, layer.mean, layer.deviation)
    mean = (means(layer.H) - layer.mean) / layer.deviation
    variance = variances(layer.H) / (layer.deviation * layer.deviation)
    return Sides(found, array_namespace(found).stack([mean, variance]))


def denominator(layer: Layer) -> Sides:
    """The first feature's variance."""
    return Sides(variances(layer.H)[0], 0)


def denominator_guarded(layer: Layer) -> Sides:
    """The same with epsilon = q."""
    return Sides(variances(layer.H)[0] + layer.q, 0)


def squares_and_epsilon(layer: Layer) -> list[Term]:
    """The squared deviations, and epsilon."""
    deviations = layer.H[:, 0] - means(layer.H)[0]
    return [Term(layer.q**0 / layer.H.shape[0], (deviations,)), Term(layer.q, ())]


def regularized(layer: Layer) -> Sides:
    """The variances of G with the batch's means and Algorithm 2's sigma, eps_1 and eps_2 free."""
    variance = preconditioning.regularized_variance(variances(layer.H), layer.step, layer.q)
    return Sides(variances(layer.H) / variance, 1 / (1 + layer.step))


def claim(
    name: str, line: int, quote: str, statement: str, sides: Any, **other: Any
) -> MatrixClaim:
    """Return an equation about the normalized features."""
    settled: dict[str, Any] = {"expected": Verdict.PROVED, "relation": Relation.EQUAL}
    return MatrixClaim(
        id="L-thm-3" + name, row="L-thm-3", statement=statement, sides=sides, subject=Kind.LAYER,
        locations=at(line, "Sect. 3.3, Theorem 3", quote), **settled | other,
    )  # fmt: skip


HESSIAN = claim(
    "", 183, r"\widehat{G}^{T}S\widehat{G}.",
    r"\nabla_z^2\mathcal L = \hat G^\top S\hat G", own, hypotheses=(PER_EXAMPLE, SPREAD),
)  # fmt: skip

ROWS = claim(
    "/eq-14", 187, r":=\widehat{H}P. (14)",
    r"\hat H P = [e, G],\quad g_j = (h_j - \mu_H)/\sigma_H", rows, hypotheses=(SPREAD,),
)  # fmt: skip

MOMENTS = claim(
    "/normalized", 189, "normalized to have zero mean and unit variance",
    r"\tfrac1N\sum_j g_j = 0,\quad \tfrac1N\sum_j g_j^2 = 1", own_moments, hypotheses=(SPREAD,),
)  # fmt: skip

DEFINED = claim(
    "/every-batch", 189, r"({h}_{j}^{(\ell-1)}-\mu_{H})/\sigma_{H}",
    r"\sigma_H^2 > 0", denominator, relation=Relation.MORE_THAN, expected=Verdict.REFUTED,
    falsified_by="one batch with a constant feature, so that D does not exist: any with N = 1",
    remark="No hypothesis on the batch is stated.",
)  # fmt: skip

OTHERS = claim(
    "/other-statistics", 242, "or some averages of them",
    r"\tfrac1N\sum_j g_j = 0,\ \tfrac1N\sum_j(g_j - \bar g)^2 = 1,\quad"
    r" g_j = (h_j - \mu)/\tilde\sigma", others_moments, expected=Verdict.REFUTED,
    falsified_by="one batch whose features, normalized by the running statistics of Algorithm 2,"
    " have another mean or variance",
)  # fmt: skip

CLAIMS = [
    HESSIAN,
    HESSIAN.sharpened(
        "any-statistics", sides=others, hypotheses=(PER_EXAMPLE,),
        statement=HESSIAN.statement + r",\quad \hat G = [e, (H - e\mu^\top)"
        r"\operatorname{diag}(\tilde\sigma)^{-1}]\text{, any }\mu,\ \tilde\sigma > 0",
    ),
    ROWS,
    MOMENTS,
    DEFINED,
    DEFINED.corrected(
        sides=denominator_guarded, certificate=squares_and_epsilon, falsified_by="",
        statement=r"\sigma_H^2 + \epsilon > 0", remark="",
    ),
    OTHERS,
    OTHERS.corrected(
        sides=others_moments_corrected, falsified_by="",
        statement=r"\tfrac1N\sum_j g_j = \frac{\mu_H - \mu}{\tilde\sigma},\ "
        r"\tfrac1N\sum_j(g_j - \bar g)^2 = \frac{\sigma_H^2}{\tilde\sigma^2}",
    ),
    OTHERS.sharpened(
        "regularized", sides=regularized, relation=Relation.LESS_THAN, falsified_by="",
        statement=r"\tfrac1N\sum_j(g_j - \bar g)^2 < \frac1{1+\epsilon_1},\quad \tilde\sigma^2 ="
        r" \sigma_H^2 + \epsilon_1\max\sigma_H^2 + \epsilon_2", expected=Verdict.SUPPORTED,
        remark="Algorithm 2 keeps the variances below one: its largest is at least each of them.",
    ),
]  # fmt: skip
