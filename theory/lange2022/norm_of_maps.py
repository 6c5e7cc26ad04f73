r"""Sect. 4: the factor q of a convolution layer, and the norm that it is to estimate.

The estimate :math:`\max\{\sqrt{k^2 c}, \sqrt N (rs)^{1/4}\}` over q is :math:`\sqrt N`.  It does
not bound the norm up to any constant: the column e of :math:`\hat{\mathcal H}P` alone has the norm
:math:`\sqrt{N r s}`, which is :math:`(rs)^{1/4}` times the estimate for large maps.

Whether layers become comparable depends on the loss as much.  A loss that sums over the pixels
gives the bias the entry :math:`rs f''`, one of their mean gives :math:`f''`; over
:math:`q^2 = \sqrt{rs}` they are :math:`\sqrt{rs} f''` and :math:`f''/\sqrt{rs}`: so q is the
geometric mean of two extremes, and a heuristic.
"""

from dataclasses import replace
from typing import Any

from array_api_compat import array_namespace

from theory import preconditioning
from theory.arithmetic.spectra import eigenvalues
from theory.lange2022.equations_19_22 import rows
from theory.lange2022.proposition_9 import first
from theory.lange2022.texts import at
from theory.lange2022.unfolding import augmented, convolution, unstacked
from theory.matrix_claim import Kind, Maps, MatrixClaim
from theory.statement import Form, Hypothesis, Relation, Sides, Verdict


def q_squared(maps: Maps) -> Any:
    """The printed q^2, in the arithmetic of the numbers."""
    (N, c, r, s), k = maps.h.shape, maps.w.shape[-1]
    zero = 0 * maps.q
    return max((zero + k * k * c) / N, maps.sqrt(zero + r * s))


def estimate_squared(maps: Maps) -> Any:
    """The square of the printed norm estimate."""
    (N, c, r, s), k = maps.h.shape, maps.w.shape[-1]
    zero = 0 * maps.q
    return max(zero + k * k * c, N * maps.sqrt(zero + r * s))


def variances(maps: Maps) -> Any:
    """The exact variances of the columns."""
    return preconditioning.variances(augmented(maps.h, maps.w.shape[-1])[:, 1:])


def norm_squared(maps: Maps) -> Any:
    """The square of the spectral norm of the normalized matrix, exact statistics."""
    matrix = augmented(maps.h, maps.w.shape[-1])
    centred = matrix @ preconditioning.centring(preconditioning.means(matrix[:, 1:]))
    spread = variances(maps)
    if bool((spread == 0).any()):
        raise ZeroDivisionError("a column is constant, so it cannot be normalized")
    squares = array_namespace(matrix).concat([matrix[0, :1], 1 / spread])
    return eigenvalues(centred.T @ centred, squares)[-1]


def scaled_estimate(maps: Maps) -> Sides:
    """The square of the estimate over q, and N."""
    return Sides(estimate_squared(maps) / q_squared(maps), maps.h.shape[0] + 0 * maps.q)


def bounded(maps: Maps) -> Sides:
    """The norm and the estimate, squared."""
    return Sides(norm_squared(maps), estimate_squared(maps))


def at_least_rows(maps: Maps) -> Sides:
    """The norm squared and N r s."""
    return Sides(norm_squared(maps), rows(maps.h) + 0 * maps.q)


def first_column(maps: Maps) -> Sides:
    """What the normalized matrix makes of the first unit vector, squared, with any statistics."""
    matrix = augmented(maps.h, maps.w.shape[-1])
    mean = preconditioning.means(matrix[:, 1:])
    P = preconditioning.preconditioner(mean, 0 * mean + maps.q)
    column = (matrix @ P)[:, 0]
    return Sides((column * column).sum(), rows(maps.h) + 0 * maps.q)


def bias_entry(maps: Maps, *, pooled: bool) -> Any:
    """The Hessian's entry of the bias: the mean over examples of half of squares of outputs."""
    pixels = maps.h.shape[2] * maps.h.shape[3]

    def loss(A: Any) -> Any:
        channel = A[:, 0, :, :]
        if pooled:
            mean = channel.sum((1, 2)) / pixels
            return (mean * mean).sum() / (2 * A.shape[0])
        return (channel * channel).sum() / (2 * A.shape[0])

    xp, x, k = array_namespace(maps.h), first(maps), maps.w.shape[-1]
    bias = xp.concat([0 * x[:1] + 1, 0 * x[1:]])

    def of_parameters(z: Any) -> Any:
        return loss(convolution(maps.h, *unstacked(z, k)))

    return maps.derivative(lambda z: maps.derivative(of_parameters, z, bias), x, bias)


def apart(maps: Maps) -> Sides:
    """The entry for a loss that sums over the pixels, and that of their mean."""
    pixels = maps.h.shape[2] * maps.h.shape[3]
    return Sides(bias_entry(maps, pooled=False), pixels * bias_entry(maps, pooled=True))


def between(maps: Maps) -> Sides:
    """The product of both entries over q^2 = sqrt(r s) each."""
    root = maps.sqrt(maps.h.shape[2] * maps.h.shape[3] + 0 * maps.q)
    product = bias_entry(maps, pooled=False) / root * (bias_entry(maps, pooled=True) / root)
    return Sides(product, 1 + 0 * maps.q)


VARIES = Hypothesis(
    r"\sigma_H > 0",
    lambda maps: variances(maps),
    Relation.MORE_THAN,
)

SCALED = MatrixClaim(
    id="L-q-conv",
    row="L-q-conv",
    locations=at(385, "Sect. 4, below Prop. 10", r"q^{2}=\text{max}"),
    statement=r"\frac1{q^2}\max\{k^2 c,\ N\sqrt{rs}\} = N,\quad q^2 = \max\{k^2 c/N,\ \sqrt{rs}\}",
    sides=scaled_estimate,
    subject=Kind.MAPS,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    falsified_by="one N, k, c, r and s where the scaled estimate is not the square root of N",
)

ESTIMATE = replace(
    SCALED,
    id="L-q-conv/estimate",
    locations=at(385, "Sect. 4, below Prop. 10", "We therefore suggest to use"),
    statement=r"\|\hat{\mathcal H}P\|^2 \le \max\{k^2 c,\ N\sqrt{rs}\}",
    sides=bounded,
    relation=Relation.AT_MOST,
    hypotheses=(VARIES,),
    expected=Verdict.REFUTED,
    falsified_by="one batch of maps whose normalized matrix has a larger norm",
    remark="'Estimate' read as a bound; no constant helps, since the column e has the norm"
    " sqrt(N r s).  So the rejected max{sqrt(k^2 c), sqrt(N r s)} has the right size.",
)

CLAIMS = [
    SCALED,
    ESTIMATE,
    ESTIMATE.corrected(
        sides=at_least_rows, relation=Relation.AT_LEAST, expected=Verdict.SUPPORTED, remark="",
        statement=r"\|\hat{\mathcal H}P\|^2 \ge N r s",
        falsified_by="one batch of maps whose normalized matrix has a smaller norm",
    ),
    ESTIMATE.corrected(
        "first-column", sides=first_column, relation=Relation.EQUAL, hypotheses=(), remark="",
        statement=r"\|\hat{\mathcal H}P e_1\|^2 = N r s",
        falsified_by="one batch of maps and one P = UD where the column e is not kept",
    ),
    replace(
        SCALED, id="L-q-conv/apart", sides=apart,
        locations=at(385, "Sect. 4, below Prop. 10", "to have comparable norms"),
        form=Form.SHARPENED, of=SCALED.id,
        statement=r"\frac{\partial^2}{\partial b^2}\frac1{2N}\sum_j\sum_{u,v} a^{(j)}(u,v)^2"
        r" = rs\,\frac{\partial^2}{\partial b^2}\frac1{2N}\sum_j"
        r"\Big(\frac1{rs}\sum_{u,v} a^{(j)}(u,v)\Big)^2",
        falsified_by="one convolution where the two losses are not r s apart",
        remark="The same layer, two losses: no factor of sizes alone makes both comparable.",
    ),
    replace(
        SCALED, id="L-q-conv/geometric-mean", sides=between,
        locations=at(385, "Sect. 4, below Prop. 10", "heuristic based estimate works well"),
        form=Form.SHARPENED, of=SCALED.id,
        statement=r"\Big(\frac1{\sqrt{rs}}\frac{\partial^2\mathcal L_1}{\partial b^2}\Big)"
        r"\Big(\frac1{\sqrt{rs}}\frac{\partial^2\mathcal L_2}{\partial b^2}\Big) = 1,"
        r"\quad \mathcal L_1, \mathcal L_2 \text{ as in L-q-conv/apart}",
        falsified_by="one convolution where the product is another",
        remark="q^2 = sqrt(r s) is the geometric mean of what the two losses ask for.",
    ),
]  # fmt: skip
