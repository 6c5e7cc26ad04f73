r"""Theorem 4: what centring and scaling do to the condition number.

.. math:: \kappa(\hat H U) \le \kappa(\hat H), \qquad
          \kappa(\hat G) \le \sqrt{n + 1}\,\min_{D_0}\kappa(\hat H U D_0)

Squares of condition numbers are compared, so that the matrices stay rational.  The steps are
proved here and in :mod:`theory.lange2022.lemma_a1`; the variational principle that leads from
quadratic forms to eigenvalues, and with it the theorem at every size, by Coq's kernel.

*Centring.*  With :math:`A = \hat H^\top\hat H`, :math:`U^\top A U` is the block diagonal of N and
C.  So every quotient of it is a mean of N, which is A's own quotient at the first unit vector, and
one of C; and C's lie between A's, at :math:`(0, x)` above and at :math:`(-\mu_H^\top x, x)`, a
vector no shorter than x, below.  That needs full column rank, which the theorem assumes.  The
paper's :math:`\kappa` is over the nonzero singular values, and its experiments have 60 rows and 101
columns; there

.. math:: \kappa(\hat H U) \le \sqrt{1 + \|\mu_0\|^2}\, \kappa(\hat H),

with :math:`\mu_0` the projection of :math:`\mu_H` on the null space of :math:`H - e\mu_H^\top`, and
no smaller factor will do.  The null space of A is that of C, mapped by
:math:`y \mapsto n(y) = (-\mu_H^\top y, y)`: where x is orthogonal to y, every (t, x) keeps,
orthogonally to n(y), at least the length of x; and the first unit vector keeps the part
:math:`\|y\|^2/\|n(y)\|^2` of its squared length, which is least at :math:`\mu_0`.

*When it is strict.*  The largest eigenvalue drops.  Where it is N, the quotient of
:math:`(1, \mu_H)` exceeds N by :math:`(N\|\mu_H\|^2 + \|H\mu_H\|^2)/(1 + \|\mu_H\|^2)`; where it is
C's, that of :math:`(0, x)` exceeds x's by :math:`N(\mu_H^\top x)^2/\|x\|^2`, and one principal
component that is not orthogonal to the mean suffices.  In the same way the smallest eigenvalue
rises if the mean is not orthogonal to the *last* component, or if it is N: the text's condition is
one of four, and :math:`\mu_H \ne 0` follows from it.  The converse, which the text does not claim,
falls.  For up to two features the inequality is strict if and only if :math:`\mu_H \ne 0`; for
three it need not be: with centred columns (2, 2, -2, -2), (1, -1, 1, -1), (1, -1, -1, 1)/2 and the
mean (0, 1, 0) both condition numbers are 4.

The full answer, for :math:`\mu_H \ne 0` and the extreme eigenvalues :math:`\beta \ge \gamma` of C:
the condition number stays as it is if and only if :math:`\beta > N > \gamma`, the mean is
orthogonal to both extreme eigenspaces, and

.. math:: N\beta\,\mu_H^\top(\beta - C)^+\mu_H \le \beta - N, \qquad
          N\gamma\,\mu_H^\top(C - \gamma)^+\mu_H \le N - \gamma,

because A is at most :math:`\beta` if and only if the Schur complement of :math:`\beta - N` in
:math:`\beta - A` is not negative, and likewise below.

*Scaling.*  It holds for every nonsingular diagonal :math:`D_0`, at any rank as long as no variance
is zero: if :math:`a \le D_0 B D_0 \le b` on its range, :math:`B = U^\top\hat H^\top\hat H U`, then
every :math:`d_i^2 B_{ii} \le b`, and dividing the diagonal out costs the smallest eigenvalue no
more than the factor b.  The factor of the squares is what the largest eigenvalue of the scaled
matrix can be.  That matrix is :math:`\hat G^\top\hat G/N = \operatorname{diag}(1, R)` with the
features' correlations R, whose trace is n; so the factor is :math:`\lambda_{\max}(R) \le n`: the
bias column is free.  At full rank :math:`\lambda_{\min}(R) \le 1 \le \lambda_{\max}(R)`, so that
:math:`\kappa(\hat G) = \kappa(G)`.  With n copies of one feature, and the paper's :math:`\kappa`,
the factor n is attained.  At full rank it nearly is.  Let the centred inputs be :math:`\pm e_i` and
:math:`k - 1` orthogonal contrasts of k features, all of one large square T, the first of which has
a small part s of each other feature.  Then :math:`\kappa(\hat H U)^2` is about T.  The ones of the
k features meet no contrast, and the diagonal there is :math:`1 + (1 - \tfrac1k)T`, one over which
is an eigenvalue of R.  The other features all go with the first contrast, so that
:math:`\lambda_{\max}(R)` is about :math:`n - k + \tfrac k{k - 1}`.  For :math:`T \gg s^2 \gg 1`
normalization costs :math:`n + 2 - k - \tfrac nk`, at :math:`k = \sqrt n` one more than the square
of :math:`\sqrt n - 1`.

*The sharp factor* at full rank.  Let :math:`aD_0^{-2} \le R \le bD_0^{-2} =: W`, :math:`b/a` the
square of the condition number, and y the unit eigenvector of :math:`\nu = \lambda_{\min}(R)`.
Then :math:`\nu \ge \tfrac ab\, y^\top Wy`, and the factor is at most
:math:`\lambda_{\max}(R)/y^\top Wy`.  With :math:`R = \nu + (1 - \nu)R'` and
:math:`W = \nu + (1 - \nu)W'` that is at most :math:`\mu/f`, :math:`\mu = \lambda_{\max}(R')`
and :math:`f = y^\top W'y`, or one; :math:`R'y = 0`.  Let
:math:`M = W'^{-1/2}R'W'^{-1/2} \le 1`, :math:`t_i = M_{ii}`, :math:`\beta = W'^{1/2}y/\sqrt f`, and
:math:`\alpha_i = \sqrt{t_i}\,\langle p_i, u\rangle` for :math:`R'_{ij} = \langle p_i, p_j\rangle`
and the principal direction u.  Then :math:`|\beta| = 1`, :math:`\alpha \perp \beta`,
:math:`|\alpha| \le 1`, :math:`\alpha_i^2 \le t_i \le 1 - \beta_i^2` and

.. math:: \frac\mu f = \sum_i \beta_i^2 t_i \sum_i \frac{\alpha_i^2}{t_i},

convex in each t, so that every t is at an end of its interval.  Where both vectors are zero
wherever t is at the lower end, as at the maxima that were found, all of that is attained in the
limit, by a projection for M.  With :math:`w_i = \beta_i^2`, :math:`r_i = \alpha_i^2/t_i \le 1`,
:math:`P = \sum_i w_it_i` and :math:`Q = \sum_i r_i` it is PQ, and for every s

.. math:: (2s - 1)^2(1 - r_i) + 4s^2t_ir_i \ge 4s^2w_i\big(s^2t_i - (s - 1)^2\big),

which is linear in :math:`r_i`, and by :math:`w_i \le 1 - t_i` a square at either end.  Added up,
with :math:`\sum_i t_ir_i \le 1`, it bounds PQ by :math:`(\sqrt n - 1)^2 + \tfrac54` for
:math:`s = \sqrt n`; as above, :math:`(\sqrt n - 1)^2 + 1` is attained in the limit where n is a
square.  For up to five features PQ is at most n/2: by s = 8/3 where :math:`P \ge \tfrac58`, and
else by the two largest :math:`t_i`, since the others are less than n - Q.  The factor itself was
searched, not proved: in full up to nine features, and up to 44 where both vectors are zero at the t
of the one kind.  It is n/2 for two to five features, then 3.022, 3.685, 4.349, and at most 1/40
more than :math:`n + 2 - k - n/k` for k next to :math:`\sqrt n`.

*Both.*  That :math:`\kappa(\hat G) \le \kappa(\hat H)` ("improves the conditioning") the theorem
does not say.  Up to two features it is so at full rank, because the scaling is then optimal; with
three it can fail, even for centred ones, by a factor of at most :math:`\sqrt{\lambda_{\max}(R)}`.

*Property A*, after the theorem, is that the features fall into two blocks of mutually uncorrelated
ones.  Then no diagonal matrix does better than D; the certificate is a step of
:mod:`theory.lange2022.lemma_a1`.  Without full rank, and with the paper's :math:`\kappa`, two
copies of one feature refute it.

*The chain* :math:`\kappa(\hat H U) \le \kappa(\hat G)\kappa(D)` holds at any rank, because
:math:`\kappa(AB) \le \kappa(A)\kappa(B)` does for a nonsingular B.  D contains the bias's 1, so
that :math:`\kappa(D)` depends on the unit in which the features are measured.

*The Hessian* :math:`M = \hat H^\top S\hat H` has an S of squares :math:`s_j^2` here, of any rank.
"By as much as :math:`\kappa(D)^2`" is possible, and is a bound over the *centred* Hessian
:math:`U^\top M U`; over M itself it is none, the right one being :math:`\kappa(P)^2`.

*The rate* r is the Hessian's, and nothing follows for it.  Two examples of one feature, H = (2,
-1/2) with S = diag(1, 4)/5, have M = I, and BNP makes :math:`\kappa` 4, and r 3/5 from 0.

*The paper's proof*, (28) to (32), at a generic z = (t, x).  All its lines hold, with the strictness
that the text claims, but for the number of an equation.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import ceil, log2, sqrt
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from theory.arithmetic.constants import numbers
from theory.arithmetic.operations import none_zero
from theory.lange2022.algorithm_1 import SPREAD
from theory.lange2022.chosen import layer_of
from theory.lange2022.texts import at, of_layers, sharper_forms
from theory.language.arrays import (
    column,
    first,
    kappa2,
    largest,
    norm2,
    smallest,
    smallest_square,
    transpose,
)
from theory.language.expression import (
    Binding,
    Expression,
    Letter,
    Operation,
    Primitive,
    Sort,
    equal,
    named,
    number,
)
from theory.language.letters import free, matrix_of, number_of, vector_of
from theory.language.operations import sqrt as root
from theory.layer import (
    HU,
    KAPPA_BEFORE,
    KAPPA_CENTRED,
    KAPPA_NORMALIZED,
    KAPPA_SCALED,
    C,
    H,
    Hhat,
    I,
    N,
    U,
    along_first,
    along_last,
    augmented_variances,
    beside,
    bottom_resolvent,
    centring,
    column_squares,
    curvature,
    d0,
    diag_times,
    dot,
    e,
    eps_1,
    eps_2,
    features,
    form,
    frobenius2,
    kappa2_nonsingular,
    kappa2_scaled,
    largest_scaled,
    last,
    last_column,
    means,
    mu,
    n,
    null_part,
    ones,
    outer,
    reciprocal,
    squares,
    stacked,
    t,
    tail,
    top_resolvent,
    unit,
    variances,
    z,
)
from theory.layer import x as x_of_z
from theory.statement import PROVED, REFUTED, SUPPORTED, Form, Hypothesis, assume

GRAM = named("C", transpose(C) @ C)
r""":math:`(H - e\mu_H^\top)^\top(H - e\mu_H^\top)`, N - 1 times the sample covariance."""
TOP_VECTOR = r"\text{eigenvector } x_{\max} \text{ of } \lambda_{\max}(C)"
BOTTOM_VECTOR = r"\text{eigenvector } x_{\min} \text{ of } \lambda_{\min}(C)"

CORRELATION = named(
    r"\lambda_{\max}(R)", largest_scaled(transpose(C) @ C, reciprocal(column_squares(C)))
)
"""The largest eigenvalue of the features' correlations."""
NULL_MEAN = named(r"\mu_0", null_part(C, means))
"""The part of the mean in the null space of the centred inputs."""
RECENTRED = beside(e, H - outer(e, mu))
SHEAR = named(r"U_{\mu - \mu_H}", centring(mu - means))

FULL_COLUMN_RANK = assume(smallest_square(Hhat) > 0, words=r"\hat H \text{ has full column rank}")
MEAN_NONZERO = assume(norm2(means) > 0)
NONSINGULAR = assume(squares(d0) > 0, printed=False, words=r"D_0 \text{ is nonsingular}")
UP_TO_TWO = assume(n <= 2, printed=False)
AT_LEAST_TWO = assume(n >= 2)

# Centring.

centring_part = of_layers("Sect. 3.3, Theorem 4", "L-thm-4a", expected=SUPPORTED)

CENTRING = [
    CENTRED := centring_part(
        "", 199, r"has full column rank. We have", "centring improves the condition number",
        kappa2(Hhat @ U) <= KAPPA_BEFORE, hypotheses=(FULL_COLUMN_RANK,),
        also=(
            *at(
                201, "Sect. 3.3, Theorem 4, first display",
                r"\kappa(\widehat{H}U)\leq\kappa(\widehat{H}).",
            ),
            *at(640, "App. A, proof of Theorem 4", "This gives us the desired result that"),
        ),
    ),
    ANY_RANK := centring_part(
        "/any-rank", 35, "is the smallest nonzero singular value of",
        "centring without full column rank", CENTRED.says, place="Sect. 1, notation",
        expected=REFUTED, form=Form.BOUNDARY,
        remark="The theorem assumes full column rank; the definition of κ and the experiment of"
        " sect. 5.1, with 60 examples and 100 features, do not. For H = (2, 1; -2, 1), κ² is 2"
        " before and 4 after.",
    ),
    ANY_RANK.corrected(
        says=KAPPA_CENTRED <= (1 + norm2(NULL_MEAN)) * KAPPA_BEFORE, expected=SUPPORTED,
        remark="μ₀ is the projection of the mean on the null space of the centred inputs."
        " Equality at H = (5/4, 3/4; -5/4, 3/4).",
    ),
    OTHER_MEANS := centring_part(
        "/running-mean", 242, "or some averages of them", "centring by a running mean",
        kappa2(RECENTRED) <= KAPPA_BEFORE, place="Sect. 3.3, after Algorithm 2",
        hypotheses=(FULL_COLUMN_RANK,), expected=REFUTED, form=Form.BOUNDARY,
        remark="The text allows running means and claims the theorem for the batch's own only.",
    ),
    OTHER_MEANS.corrected(
        says=kappa2(RECENTRED) <= kappa2(SHEAR) * KAPPA_BEFORE, expected=SUPPORTED,
    ),
    OTHER_MEANS.sharpened(
        "shear", title="two centrings one after the other", says=equal(RECENTRED, HU @ SHEAR),
        hypotheses=(),
    ),
]  # fmt: skip


# When it is strict.


def with_mean_along_last(layer: Any) -> Any:
    """Make the first two features orthogonal, the first the only one that has a mean."""
    N, H = layer.H.shape[0], layer.H
    first, *others = (N * H - H.sum(0)).T
    if not others:
        return layer
    second = others[0] * (first @ first) - first * (first @ others[0])
    moved = first + abs(layer.mean[0]) + 1
    return replace(layer, H=np.stack([moved, second, *(0 * np.array(others[1:]))], axis=1))


IMAGE = GRAM @ means
ALONG_LAST = (
    UP_TO_TWO,
    assume(
        equal(first(IMAGE) * last(means), last(IMAGE) * first(means)),
        impose=with_mean_along_last, words=r"C\mu_H \parallel \mu_H", printed=False,
    ),
    assume(
        2 * form(C, means) < frobenius2(C) * norm2(means),
        words=r"\mu_H^\top C\mu_H < \tfrac12\operatorname{tr}(C)\,\|\mu_H\|^2,"
        rf"\text{{ so that }} \mu_H \perp \text{{ the }} {TOP_VECTOR}", printed=False,
    ),
)  # fmt: skip


def against_size(extreme: int, sign: int) -> Callable[[Any], Any]:
    """Return what scales the inputs by a power of two, so that an eigenvalue of C passes N."""

    def imposed(layer: Any) -> Any:
        H = np.asarray(layer.H, dtype=float)
        value = np.linalg.eigvalsh((H - H.mean(0)).T @ (H - H.mean(0)))[extreme]
        if not value > 0:
            return layer
        doublings = max(0, ceil(sign * log2(len(H) / value) / 2))
        factor = Fraction(2) ** (sign * doublings)
        return replace(layer, H=layer.H * (factor if layer.H.dtype == object else float(factor)))

    return imposed


strictness = of_layers("Sect. 3.3, Theorem 4", "L-thm-4b", expected=SUPPORTED)
STRICT = strictness(
    "", 203, "This inequality is strict if", "when centring is a strict improvement",
    KAPPA_CENTRED < KAPPA_BEFORE,
    hypotheses=(
        FULL_COLUMN_RANK, MEAN_NONZERO,
        assume(
            along_first(GRAM, means) > 0,
            words=rf"\mu_H^\top x_{{\max}} \ne 0 \text{{ for an }} {TOP_VECTOR}",
        ),
    ),
)  # fmt: skip


def also_strict(name: str, title: str, *hypotheses: Hypothesis, remark: str = "") -> Any:
    """Return the theorem under another condition."""
    hypotheses = FULL_COLUMN_RANK, MEAN_NONZERO, *hypotheses
    return STRICT.sharpened(
        name, title=title, hypotheses=hypotheses, expected=SUPPORTED, remark=remark
    )


STRICTNESS = [
    STRICT,
    replace(
        STRICT, id="L-thm-4b/only-if", title="whether the condition for a strict improvement is"
        " needed",
        says=KAPPA_CENTRED >= KAPPA_BEFORE, hypotheses=(FULL_COLUMN_RANK, *ALONG_LAST),
        expected=REFUTED, form=Form.BOUNDARY, corrected_by="L-thm-4b/two-features",
        remark="The text says 'if', not 'only if'; this reads it as an equivalence.",
    ),
    also_strict("two-features", "strict improvement of up to two features", UP_TO_TWO),
    also_strict(
        "last-component", "a mean that is not orthogonal to the last component",
        assume(
            along_last(GRAM, means) > 0,
            words=rf"\mu_H^\top x_{{\min}} \ne 0 \text{{ for an }} {BOTTOM_VECTOR}", printed=False,
        ),
    ),
    also_strict("N-largest", "strict improvement where N is the largest eigenvalue",
                assume(largest(GRAM) <= N, against_size(-1, -1), printed=False)),
    also_strict("N-smallest", "strict improvement where N is the smallest eigenvalue",
                assume(smallest(GRAM) >= N, against_size(0, 1), printed=False)),
]  # fmt: skip


def in_blocks(sizes: Callable[[int], tuple[int, ...]]) -> Callable[[Any], Any]:
    """Return what makes the features of each block orthogonal, and takes the means off."""

    def imposed(layer: Any) -> Any:
        H = layer.H * Fraction(1) if layer.H.dtype == object else layer.H
        columns = list((H - H.sum(0) / len(H)).T)
        start = 0
        for size in sizes(len(columns)):
            for j in range(start, start + size):
                for i in range(start, j):
                    square = columns[i] @ columns[i]
                    if square != 0:
                        columns[j] = columns[j] - columns[i] * (columns[i] @ columns[j] / square)
            start += size
        return replace(layer, H=array_namespace(H).stack(columns, axis=1))

    return imposed


uncorrelated = in_blocks(lambda n: (n,))
"""Makes all features orthogonal, and takes the means off."""


def apart(layer: Any) -> Any:
    """Make centred features orthogonal, the first large, the last small, a small mean between."""
    count, n = layer.H.shape
    layer = uncorrelated(layer)
    sizes = [float(s) for s in (layer.H * layer.H).sum(0)]
    if n < 3 or min(sizes) <= 0:
        return layer
    top, bottom = 4 * max(*sizes[1:], count), min(*sizes[:-1], count) / 4
    factors = [Fraction(ceil(sqrt(top / sizes[0]))), *[Fraction(1)] * (n - 2)]
    factors.append(Fraction(1, ceil(sqrt(sizes[-1] / bottom))))
    beta, gamma = (sizes[i] * float(factors[i]) ** 2 for i in (0, -1))
    limits = (
        (beta - count) * (beta - sizes[1]) / (count * beta),
        (count - gamma) * (sizes[1] - gamma) / (count * gamma),
    )
    mean = Fraction(1, ceil(1 / sqrt(min(limits))))
    columns = [layer.H[:, j] * factor for j, factor in enumerate(factors)]
    columns[1] = columns[1] + mean
    return replace(layer, H=np.stack(columns, axis=1))


BETA, GAMMA = named(r"\beta", largest(GRAM)), named(r"\gamma", smallest(GRAM))
ABOVE = named(r"\mu_H^\top(\beta - C)^+\mu_H", top_resolvent(GRAM, means))
BELOW = named(r"\mu_H^\top(C - \gamma)^+\mu_H", bottom_resolvent(GRAM, means))
PERPENDICULAR = tuple(
    assume(part <= 0, words=rf"\mu_H \perp \text{{ every }} {vector}", printed=False)
    for part, vector in (
        (along_first(GRAM, means), TOP_VECTOR), (along_last(GRAM, means), BOTTOM_VECTOR)
    )
)  # fmt: skip
ours = partial(assume, printed=False)
IS_ABOVE, NOT_ABOVE = ours(N * BETA * ABOVE > BETA - N), ours(N * BETA * ABOVE <= BETA - N)
IS_BELOW, NOT_BELOW = ours(N * GAMMA * BELOW > N - GAMMA), ours(N * GAMMA * BELOW <= N - GAMMA)
IN_SHORT = "β stands for βI, γ for γI, and + for the pseudo-inverse."
STRICTNESS += [
    also_strict("above", "a mean that moves the largest eigenvalue", IS_ABOVE, remark=IN_SHORT),
    also_strict("below", "a mean that moves the smallest eigenvalue", IS_BELOW, remark=IN_SHORT),
    STRICT.sharpened(
        "equality", title="when centring changes nothing",
        says=equal(KAPPA_CENTRED, KAPPA_BEFORE), expected=SUPPORTED,
        hypotheses=(
            FULL_COLUMN_RANK, replace(MEAN_NONZERO, impose=apart), *PERPENDICULAR,
            NOT_ABOVE, NOT_BELOW,
        ),
        remark="In every other case, the mean not being zero, one of four entries says that the"
        " inequality is strict: L-thm-4b, L-thm-4b/last-component, L-thm-4b/above or"
        f" L-thm-4b/below. {IN_SHORT}",
    ),
]  # fmt: skip


# Scaling.


def bias_alone(layer: Any) -> Any:
    """Let D_0 be diag(d, 0, ..., 0)."""
    return replace(layer, scaling=layer.scaling * (np.arange(len(layer.scaling)) == 0))


def one_feature(layer: Any) -> Any:
    """Make every feature a copy of the first."""
    return replace(layer, H=layer.H[:, [0] * layer.H.shape[1]])


SINGULAR = assume(
    equal(tail(d0), 0), impose=bias_alone, words=r"D_0 = \operatorname{diag}(d, 0, \dots, 0)"
)
COPIES = assume(
    equal(H - outer(column(H), ones), 0), impose=one_feature,
    words=r"\text{all features are copies of one}", printed=False,
)  # fmt: skip
KAPPA_FEATURES = named(r"\kappa(G)^2", kappa2_scaled(C, reciprocal(variances)))
KAPPA_COPIES = named(
    r"\kappa\big(\hat H U\operatorname{diag}(1, 1/(\sqrt n\,\sigma_H))\big)^2",
    kappa2_scaled(HU, stacked(unit, 1 / n * reciprocal(variances))),
)


def contrasting(n: int, k: int, size: float, small: int) -> list[list[int]]:
    r"""Return centred inputs: :math:`\pm e_i`, and orthogonal contrasts of the first k features.

    Args:
        n: how many features.
        k: how many of them are contrasted.
        size: of each contrast, about.
        small: the part of every other feature in the first one.
    """
    contrasts = np.zeros((k - 1, n), dtype=int)
    for j in range(1, k):
        t = round(size / sqrt(j * (j + 1)))
        contrasts[j - 1, :j], contrasts[j - 1, j] = t, -j * t
    contrasts[:1, k:] = small
    half = np.concatenate([np.identity(n, dtype=int), contrasts])
    rows: list[list[int]] = np.concatenate([half, -half]).tolist()
    return rows


def near_root(n: int) -> int:
    """Return how many of n features are to be contrasted, so that scaling conditions them badly."""
    return min(n, max(2, round(sqrt(n))))


def nearly_attaining(features: Any) -> Any:
    """Return, for as many features, the inputs at which the theorem's factor is nearly attained."""
    n = features.shape[0]
    small = 2 * ceil(sqrt(n))
    rows = contrasting(n, near_root(n), 4 * n * small, small)
    one = 0 * features[0] + 1
    return one * numbers(rows, features)


k = number_of(
    "k", "k", lambda layer: near_root(layer.H.shape[1]),
    r"k = \min\{n, \max\{2, \operatorname{round}\sqrt n\}\}",
)  # fmt: skip
A = matrix_of(
    "A", "A", lambda layer: nearly_attaining(layer.H.sum(0)),
    r"A = \big[\pm e_i,\ \pm(t_1(e_1 - e_2) + s\textstyle\sum_{i > k} e_i),\ "
    r"\pm t_j(e_1 + \dots + e_j - j e_{j+1})_{1 < j < k}\big]^\top,\ "
    r"s = 2\lceil\sqrt n\rceil,\ "
    r"t_j = \operatorname{round}\tfrac{4ns}{\sqrt{j(j + 1)}}",
)  # fmt: skip

scaling_part = of_layers("Sect. 3.3, Theorem 4, second display", "L-thm-4c", expected=SUPPORTED)
SCALED = scaling_part(
    "", 205, r"D_{0}\mbox{ is diagonal}", "scaling is nearly optimal",
    KAPPA_NORMALIZED <= (n + 1) * KAPPA_SCALED, hypotheses=(FULL_COLUMN_RANK, NONSINGULAR),
    also=at(570, "App. A, Theorem 4", r"D_{0}\mbox{ is diagonal}"),
    remark="The text has the minimum over D₀; here it is a bound for each D₀.",
)  # fmt: skip
sharper_scaling = sharper_forms(
    SCALED, expected=SUPPORTED, remark=SCALED.remark, hypotheses=(SPREAD, NONSINGULAR)
)
SCALING = [
    SCALED,
    replace(
        SCALED, id="L-thm-4c/zeros", title="scaling is nearly optimal, for a scaling with zeros",
        hypotheses=(FULL_COLUMN_RANK, SINGULAR), expected=REFUTED, form=Form.READING,
        corrected_by=SCALED.id,
        remark="'D₀ is diagonal', as it stands: κ over the nonzero singular values is then one. The"
        " proof, van der Sluis's, has nonsingular D₀.",
    ),
    sharper_scaling(
        "sqrt-n", "the factor of scaling without the bias",
        says=KAPPA_NORMALIZED <= n * KAPPA_SCALED
    ),
    sharper_scaling(
        "by-correlation", "the factor of scaling by the features' correlations",
        says=KAPPA_NORMALIZED <= CORRELATION * KAPPA_SCALED,
    ),
    HALF := sharper_scaling(
        "half-n", "half the factor of scaling at full rank",
        says=2 * KAPPA_NORMALIZED <= n * KAPPA_SCALED,
        hypotheses=(FULL_COLUMN_RANK, NONSINGULAR, replace(AT_LEAST_TWO, printed=False)),
        expected=REFUTED, form=Form.BOUNDARY, amends=None,
        corrected_by="L-thm-4c/half-n/five-features", attack=(layer_of(contrasting(8, 3, 38, 4)),),
        remark="It fails from six features on, where the sharp factor is 3.022. The counterexample"
        " has eight, with κ(ĤU)² = 1539: their correlations R have an eigenvalue of at most 1/999,"
        " by the sum of the first three features, and one of at least 6.18, by the first contrast.",
    ),
    sharper_scaling(
        "half-n/five-features", "half the factor of scaling for up to five features",
        says=HALF.says, hypotheses=(*HALF.hypotheses, assume(n <= 5, printed=False)),
        remark="No smaller factor will do.",
    ),
    sharper_scaling(
        "near-root", "the factor of scaling at full rank, for any number of features",
        says=KAPPA_NORMALIZED <= ((root(features) - 1) ** 2 + number(5) / 4) * KAPPA_SCALED,
        hypotheses=(FULL_COLUMN_RANK, NONSINGULAR),
        remark="Where n is a square, no factor below (√n - 1)² + 1 will do: it is attained in the"
        " limit.",
    ),
    sharper_scaling(
        "sharp", "the factor of scaling at full rank, at most 1/40 too large",
        says=KAPPA_NORMALIZED <= (n + 2 - k - n / k + 1 / number(40)) * KAPPA_SCALED,
        hypotheses=(FULL_COLUMN_RANK, NONSINGULAR),
        remark="A maximum over two unit vectors, which was found by search; with 1/4 in place of"
        " 1/40 and √n in place of k it is proved: L-thm-4c/near-root. Without 1/40 it is attained"
        " in the limit (L-thm-4c/nearly-tight), so no factor below that will do; for two to"
        " five features that is n/2: L-thm-4c/half-n/five-features.",
    ),
    sharper_scaling(
        "nearly-tight", "how nearly the factor of scaling is attained at full rank",
        says=kappa2_scaled(A, reciprocal(column_squares(A))) >= (n + 1 - k - n / k) * kappa2(A),
        hypotheses=(replace(AT_LEAST_TWO, printed=False),),
        remark="Inputs of full rank and of mean zero, so that the column of ones costs nothing. The"
        " ratio of the squares tends to n + 2 - k - n/k, the factor of L-thm-4c/sharp without its"
        " 1/40, as s and the 4 in tⱼ grow. For n ≤ 3 it says little.",
    ),
    sharper_scaling(
        "free-bias", "the column of ones costs nothing after centring",
        says=KAPPA_NORMALIZED <= KAPPA_FEATURES,
        hypotheses=(FULL_COLUMN_RANK,),
        remark="The other inequality holds whatever columns are left out, so it is an equality.",
    ),
    sharper_scaling(
        "tight", "the factor √n of scaling is attained", says=KAPPA_NORMALIZED >= n * KAPPA_COPIES,
        hypotheses=(COPIES, SPREAD),
        remark="For n copies of one feature: without full rank the factor √n cannot be improved.",
    ),
]  # fmt: skip


def sums_of_earlier(layer: Any) -> Any:
    """Give every feature an example of its own, add up the earlier ones, and take the means off."""
    own = 2 * np.identity(max(layer.H.shape), dtype=np.int64)
    sums = (layer.H + own[: layer.H.shape[0], : layer.H.shape[1]]).cumsum(1)
    return replace(layer, H=sums - sums.sum(0) * Fraction(1, len(sums)))


CENTRED_SUMS = assume(equal(means, 0), impose=sums_of_earlier, printed=False)
IMPROVEMENT = [
    IMPROVES := scaling_part(
        "/improves", 191, "improves the conditioning of", "whether normalization always improves",
        KAPPA_NORMALIZED <= KAPPA_BEFORE, place="Sect. 3.3, before Theorem 4",
        also=at(
            195, "Sect. 3.3, before Theorem 4", "also improves the condition number in general"
        ),
        hypotheses=(FULL_COLUMN_RANK, CENTRED_SUMS), expected=REFUTED, form=Form.BOUNDARY,
        remark="A reading of 'improves ... in general' that the theorem does not claim. The"
        " features are centred, and each is a new column added to the one before it.",
    ),
    IMPROVES.corrected(
        says=KAPPA_NORMALIZED <= CORRELATION * KAPPA_BEFORE, hypotheses=(FULL_COLUMN_RANK,),
        expected=SUPPORTED, form=Form.SHARPENED, remark="By Theorem 4, with its sharper factor.",
    ),
    IMPROVES.sharpened(
        "two-features", title="normalization of up to two features",
        hypotheses=(FULL_COLUMN_RANK, UP_TO_TWO), expected=SUPPORTED,
    ),
]  # fmt: skip

# The remarks after it.

KAPPA_D = named(r"\kappa(D)^2", kappa2_nonsingular(I, reciprocal(augmented_variances)))

SPREAD_BY_RANK = replace(SPREAD, printed=True)
"""What the remarks on the theorem need of its full column rank."""
LESS = "Of the theorem's full column rank no more is needed than that no feature is constant."

remark = of_layers("Sect. 3.3, after Theorem 4", "L-thm-4-remarks", expected=SUPPORTED)


def _couplings(A: Any, block: Callable[[int, int], int]) -> Any:
    """Return the sum over the columns before each one, from where its block of n columns begins."""
    scaled = A.T @ A / none_zero((A * A).sum(0), "a column is zero, so it has no correlations")
    before = ((i, slice(block(i, len(scaled)), i)) for i in range(len(scaled)))
    return sum((scaled[i, j] @ scaled[j, i] for i, j in before), 0 * scaled[0, 0])


couplings = Operation(
    "couplings", lambda A: _couplings(A, lambda i, n: 0), r"\sum_{{i < j}} r_{{ij}}({0})^2",
    takes=(Sort.MATRIX,), binds=Binding.OPERATOR,
)  # fmt: skip
"""The sum of the squares of the correlations of centred columns."""
couplings_within = Operation(
    "couplings within blocks",
    lambda A: _couplings(A, lambda i, n: 0 if i < n - n // 2 else n - n // 2),
    r"\sum_{{i < j \text{{ in a block}}}} r_{{ij}}({0})^2", takes=(Sort.MATRIX,),
    binds=Binding.OPERATOR,
)  # fmt: skip
"""That of the first half of them, and that of the second."""
PROPERTY_A = assume(
    equal(couplings_within(C), 0), impose=in_blocks(lambda n: (n - n // 2, n // 2)),
    words=r"\text{Property A: two blocks, the features of each uncorrelated with one another}",
)  # fmt: skip
UNCORRELATED = assume(
    equal(couplings(C), 0), impose=uncorrelated, words=r"\text{all features are uncorrelated}",
)  # fmt: skip

BLOCKS = [
    OPTIMAL := remark(
        "/property-A", 207, "so-called Property A", "the scaling is optimal under Property A",
        KAPPA_NORMALIZED <= KAPPA_SCALED, hypotheses=(FULL_COLUMN_RANK, NONSINGULAR, PROPERTY_A),
        remark="'Not likely to hold in practice': with one feature or two it always holds.",
    ),
    replace(
        OPTIMAL, id="L-thm-4-remarks/property-A/any-rank",
        title="Property A without full column rank", hypotheses=(NONSINGULAR, PROPERTY_A, SPREAD),
        expected=REFUTED, form=Form.BOUNDARY, corrected_by=OPTIMAL.id,
        remark="κ is over the nonzero singular values, as the paper has it, and full rank is not"
        " assumed.",
    ),
    remark(
        "/tight", 213, "each of the inequalities above is tight",
        "the most that scaling can gain", KAPPA_CENTRED >= KAPPA_D,
        hypotheses=(replace(UNCORRELATED, printed=False, is_ours=True), SPREAD_BY_RANK),
        remark="With D₀ = D, when κ(ĤUD₀) = κ(Ĝ) = 1: the improvement may be as large as κ(D).",
    ),
]  # fmt: skip


def without_means(layer: Any) -> Any:
    """Take the means off."""
    return replace(layer, H=layer.H - layer.H.sum(0) * Fraction(1, layer.H.shape[0]))


NO_MEANS = assume(equal(means, 0), impose=without_means)
REMARKS = [
    remark(
        "/centred", 207, "the data is already centered", "centring changes nothing in centred data",
        equal(U, I), hypotheses=(NO_MEANS,), expected=PROVED,
    ),
    CHAIN := remark(
        "/chain", 211, r"\kappa(\widehat{H}UD)\kappa(D)",
        "the condition number of the centred inputs by that of D: the chain's first inequality",
        KAPPA_CENTRED <= KAPPA_NORMALIZED * KAPPA_D, hypotheses=(SPREAD_BY_RANK,),
        remark=LESS,
    ),
    replace(
        CHAIN, id="L-thm-4-remarks/chain-end", title="the condition number of the centred inputs by"
        " those of D and of any scaling: the whole chain",
        says=KAPPA_CENTRED <= KAPPA_D * (n + 1) * KAPPA_SCALED,
        hypotheses=(SPREAD_BY_RANK, NONSINGULAR),
    ),
]  # fmt: skip


def weighted(F: Expression) -> Expression:
    """Return a matrix with its rows multiplied by the roots of S."""
    return diag_times(curvature, F)


M = named(r"\kappa(\hat H^\top S\hat H)", kappa2(weighted(Hhat)))
M_CENTRED = named(r"\kappa(U^\top\hat H^\top S\hat H U)", kappa2(weighted(HU)))
M_NORMALIZED = named(
    r"\kappa(\hat G^\top S\hat G)", kappa2_scaled(weighted(HU), reciprocal(augmented_variances))
)
KAPPA_P = named(r"\kappa(P)^2", kappa2_nonsingular(U, reciprocal(augmented_variances)))
POSITIVE = assume(
    squares(curvature) > 0, impose=lambda layer: replace(layer, curvature=abs(layer.curvature) + 1),
    words=r"S = \operatorname{diag}(s_1^2, \dots, s_N^2) > 0",
)  # fmt: skip
LARGEST = Letter("max", r"\max\sigma_H^2", Sort.NUMBER, free(0))
"""A number for the largest variance."""
ADDED = eps_1 * LARGEST + eps_2
IS_LARGEST = assume(first(variances) <= LARGEST, printed=False)

HESSIAN = [
    BY_AS_MUCH := remark(
        "/by-as-much", 213, "by as much as", "the improvement of the Hessian's condition number",
        M <= KAPPA_D * M_NORMALIZED, hypotheses=(FULL_COLUMN_RANK, POSITIVE),
        expected=REFUTED, form=Form.READING,
        remark="'By as much as' as an upper bound; that the condition number of ĤU improves "
        "so much where S = I and the features are uncorrelated is L-thm-4-remarks/tight.",
    ),
    BY_AS_MUCH.corrected(
        "centred", says=M_CENTRED <= KAPPA_D * M_NORMALIZED, hypotheses=(SPREAD_BY_RANK,),
        title="the improvement of the centred Hessian", expected=SUPPORTED, remark=LESS,
    ),
    BY_AS_MUCH.corrected(
        "both", says=M <= KAPPA_P * M_NORMALIZED, hypotheses=(SPREAD_BY_RANK,),
        expected=SUPPORTED, remark=LESS,
    ),
    remark(
        "/by-as-much/as-implemented", 242, "to prevent division by a number",
        "how far the regularized variances differ",
        first(variances) + ADDED < (1 + 1 / eps_1) * (last(variances) + ADDED),
        place="Sect. 3.3, after Algorithm 2", hypotheses=(IS_LARGEST,),
        because=(1 + 1 / eps_1) / N * norm2(last_column(C)) + IS_LARGEST.slack + eps_2 / eps_1,
        expected=PROVED, form=Form.SHARPENED, amends=BY_AS_MUCH.id,
        remark="With ϵ₁ = 0.01 the squares of D's entries for features differ by a factor below"
        " 101, whatever the features' variances are.",
    ),
]  # fmt: skip

MEAN_S = named(r"\mu_s", 1 / norm2(curvature) * (transpose(H) @ squares(curvature)))
F_S = beside(e, H - outer(e, MEAN_S))
M_S = named(r"\kappa(U_s^\top\hat H^\top S\hat H U_s)", kappa2(weighted(F_S)))
M_S_NORMALIZED = named(
    r"\kappa(P_s^\top\hat H^\top S\hat H P_s)",
    kappa2_scaled(weighted(F_S), reciprocal(column_squares(weighted(F_S)))),
)
M_S_SCALED = named(
    r"\kappa(D_0 U_s^\top\hat H^\top S\hat H U_s D_0)", kappa2_scaled(weighted(F_S), squares(d0))
)
RATE = [
    REDUCED := remark(
        "/reduced-r", 215, "implies reduced", "whether the rate of descent improves",
        M_NORMALIZED <= M, hypotheses=(FULL_COLUMN_RANK, POSITIVE), expected=REFUTED,
        form=Form.READING,
        remark="r grows with the Hessian's condition number (L-eq-7-8/reduced); Theorem 4 is about"
        " the inputs' alone.",
    ),
    REDUCED.corrected(
        "weighted-mean", title="the rate of descent with a mean weighted by S", says=M_S <= M,
        expected=SUPPORTED,
        remark="The mean μₛ is weighted by S: the proof of Theorem 4 with the rows multiplied by"
        " the roots of S.",
    ),
    REDUCED.corrected(
        "weighted-variance", title="the rate of descent with variances weighted by S",
        says=M_S_NORMALIZED <= n * M_S_SCALED,
        hypotheses=(FULL_COLUMN_RANK, POSITIVE, NONSINGULAR), expected=SUPPORTED,
    ),
]  # fmt: skip

# The proof.

x = replace(x_of_z, domain="")
"""The same where no z is displayed."""
y = vector_of("y", "y", "mean")
"""Any vector, (n,)."""
MEAN_ALONG = dot(x, means)
SQUARE = form(H, x)
couple = Primitive(
    "couple", lambda layer, a, b: stacked.meaning(a, stacked.meaning(b, layer.direction[:0])),
    r"\left({0},\ {1}\right)", gives=Sort.VECTOR, takes=(Sort.NUMBER, Sort.NUMBER),
)  # fmt: skip
"""Two numbers as a vector."""


def lifted(vector: Expression) -> Expression:
    r"""Return :math:`(-\mu_H^\top x, x)`."""
    return stacked(-dot(means, vector), vector)


def after(t: Expression) -> Expression:
    """Return the right side of (28) at (t, x)."""
    return N * (t**2 - MEAN_ALONG**2) + SQUARE


def before(t: Expression) -> Expression:
    """Return that of (29), with the square completed."""
    return N * (t + MEAN_ALONG) ** 2 - N * MEAN_ALONG**2 + SQUARE


step = of_layers("App. A, proof of Theorem 4", "L-thm-4a", form=Form.SHARPENED, amends="L-thm-4a")
PRODUCT = 586, r"(H^{T}-\mu_{H}e^{T})(H-e\mu_{H}^{T})"
zx, ny = lifted(x), lifted(y)


def orthogonal(layer: Any) -> Any:
    """Take from y, times the square of x, what it has along x."""
    along = layer.direction[1:]
    return replace(layer, mean=along @ along * layer.mean - along @ layer.mean * along)


ORTHOGONAL = assume(equal(dot(x, y), 0), impose=orthogonal, printed=False)

CENTRING_STEPS = [
    step(
        "/step-blocks", *PRODUCT, "the quadratic form after centring",
        equal(form(HU, z), N * t**2 + form(C, x)), form=Form.STEP, amends=None,
    ),
    step(
        "/step-above", *PRODUCT, "the centred quotients from above",
        form(C, x) <= form(Hhat, stacked(0, x)), because=N * dot(means, x) ** 2,
    ),
    step(
        "/step-below", *PRODUCT, "the centred quotients from below",
        norm2(zx) * form(C, x) >= norm2(x) * form(Hhat, zx),
        because=dot(means, x) ** 2 * norm2(C @ x),
    ),
    step(
        "/step-null", *PRODUCT, "vectors of the null space after centring",
        equal(Hhat @ lifted(x), C @ x),
    ),
    step(
        "/step-null-only", *PRODUCT, "no other vectors of the null space after centring",
        equal(1 / N * dot(e, Hhat @ z), t + dot(means, x)),
        remark="With z = (t, x): where Ĥz = 0, t = -μᵀx, so that z comes from a vector x of the"
        " null space after centring, as in the step before.",
    ),
    step(
        "/step-any-rank-x", *PRODUCT, "what the null space leaves of a vector",
        norm2(zx) * norm2(ny) - dot(zx, ny) ** 2 >= norm2(x) * norm2(ny),
        hypotheses=(ORTHOGONAL,),
        because=dot(means, x) ** 2 * norm2(y)
        + (-2 * dot(means, x) * dot(means, y) - dot(x, y)) * ORTHOGONAL.slack,
    ),
    step(
        "/step-any-rank-bias", *PRODUCT, "what the null space leaves of the bias",
        equal(norm2(ny) - first(ny) ** 2, norm2(y)),
    ),
]  # fmt: skip

line = of_layers("App. A, proof of Theorem 4", "L-eq-28-32", form=Form.STEP)
r = 1 / (1 + norm2(means))

proof = of_layers("App. A, proof of Theorem 4", "L-eq-28-32", "L-proof-thm-4", form=Form.STEP)
EQUATIONS = [
    line(
        "/28", 594, r"N(t^{2}-(x^{T}\mu_{H})^{2})", "the quadratic form after centring, (28)",
        equal(form(HU, z), after(t)), place="App. A, proof of Theorem 4, (28)",
    ),
    line(
        "/29", 601, r"N(t^{2}+2tx^{T}\mu_{H})+x^{T}H^{T}Hx",
        "the quadratic form before centring, (29)",
        equal(form(Hhat, z), N * (t**2 + 2 * t * MEAN_ALONG) + SQUARE),
    ),
    proof(
        "/square-completed", 602, r"N(t+x^{T}\mu_{H})^{2}-N(x^{T}\mu_{H})^{2}",
        "the quadratic form before centring, completed",
        equal(form(Hhat, z), before(t)),
    ),
    line(
        "/30", 607, r"\leq\frac{N(1+2\mu_{H}^{T}\mu_{H})",
        "the largest eigenvalue, first case, (30)",
        N <= (N * (1 + 2 * norm2(means)) + form(H, means)) / (1 + norm2(means)),
        because=N * r**2 * norm2(means)
        + N * r**2 * norm2(means) * norm2(means)
        + r**2 * norm2(H @ means)
        + r**2 * norm2(H @ means) * norm2(means),
    ),
    line(
        "/30-strict", 611, "where the inequality (30) is strict if", "when (30) is strict",
        N * (1 + norm2(means)) < N * (1 + 2 * norm2(means)) + form(H, means),
        hypotheses=(MEAN_NONZERO,), because=N * MEAN_NONZERO.slack + norm2(H @ means),
    ),
    line(
        "/31", 615, r"-N(x_{\max}^{T}\mu_{H})^{2}+x_{\max}^{T}H^{T}Hx_{\max}",
        "the largest eigenvalue, second case, (31)",
        form(C, x) / norm2(x) <= form(H, x) / norm2(x), because=N / norm2(x) * MEAN_ALONG**2,
    ),
    line(
        "/31-strict", 619, "where the inequality (31) is strict if", "when (31) is strict",
        form(C, x) < form(H, x),
        hypotheses=(NOT_ORTHOGONAL := assume(MEAN_ALONG**2 > 0),),
        because=N * NOT_ORTHOGONAL.slack,
    ),
]  # fmt: skip

s = named("s", -t - MEAN_ALONG)
T_SQUARE, S_SQUARE = t**2 + norm2(x), s**2 + norm2(x)
OPPOSITE = assume(MEAN_ALONG <= 0)
NEAR = assume(MEAN_ALONG >= -(2 * t))
FAR = assume(MEAN_ALONG <= -(2 * t))


def second_case(part: Expression) -> Expression:
    """Return a part of the second case's last quotient: a square above, over both lengths."""
    image = norm2(Hhat @ stacked(s, x))
    return 1 / T_SQUARE * (1 / S_SQUARE) ** 2 * part * image * OPPOSITE.slack * FAR.slack


SMALLEST = [
    proof(
        "/number-of-the-equation", 621, "First, using (29), we have",
        "(29) named where (28) is meant",
        equal(form(HU, z), N * (t**2 + 2 * t * MEAN_ALONG) + SQUARE),
        expected=REFUTED, corrected_by="L-eq-28-32/28",
        remark="The number alone is wrong: the display that follows has the right side of (28).",
    ),
    line(
        "/32", 626, "holds since the function is not dependent on the sign of",
        "the signs of t and x, (32)",
        equal(
            couple(form(HU, stacked(-t, x)), form(HU, stacked(t, -x))),
            couple(form(HU, z), form(HU, z)),
        ),
    ),
    proof(
        "/smallest-first-case", 628,
        r"\frac{Nt^{2}-N(x^{T}\mu_{H})^{2}+x^{T}H^{T}Hx}{t^{2}+x^{T}x}\geq",
        "the smallest eigenvalue, first case",
        after(t) / T_SQUARE >= before(t) / T_SQUARE, hypotheses=(OPPOSITE, NEAR),
        because=N / T_SQUARE * OPPOSITE.slack * NEAR.slack,
    ),
    proof(
        "/smallest-second-case", 632, r"=\frac{N(s+x^{T}\mu_{H})^{2}",
        "the smallest eigenvalue, second case",
        equal(after(t), before(s)),
    ),
    proof(
        "/larger-denominator", 633, r"\geq\frac{N(s+x^{T}\mu_{H})^{2}",
        "the smallest eigenvalue, second case, the larger denominator",
        before(s) / T_SQUARE >= before(s) / S_SQUARE, hypotheses=(OPPOSITE, FAR),
        because=second_case(s**2) + second_case(norm2(x)),
        remark="The text does not say why the numerator is not negative: it is a square at (s, x).",
    ),
]  # fmt: skip

beta = Letter("beta", r"\beta", Sort.NUMBER, free(0))
gamma = Letter("gamma", r"\gamma", Sort.NUMBER, free(1))
"""Any numbers; the extreme eigenvalues of C are meant."""
ALONG_OF_Z = dot(x_of_z, means)
NOT_ABOVE_AT_Z, NOT_BELOW_AT_Z = (
    assume(says, printed=False)
    for says in (
        N * beta * ALONG_OF_Z**2 <= (beta - N) * (beta * norm2(x_of_z) - form(C, x_of_z)),
        N * gamma * ALONG_OF_Z**2 <= (N - gamma) * (form(C, x_of_z) - gamma * norm2(x_of_z)),
    )
)
strict = of_layers(
    "Sect. 3.3, Theorem 4", "L-thm-4b", form=Form.SHARPENED, amends="L-thm-4b/equality",
)  # fmt: skip
UNCHANGED = [
    strict(
        "/step-largest", 203, "This inequality is strict if",
        "when the largest eigenvalue stays",
        (beta - N) * (beta * norm2(z) - form(Hhat, z)) >= 0, hypotheses=(NOT_ABOVE_AT_Z,),
        because=((beta - N) * t - N * ALONG_OF_Z) ** 2 + NOT_ABOVE_AT_Z.slack,
        remark="The hypothesis at every x says that βI - C - Nβ/(β - N) μμᵀ is positive"
        " semi-definite, for β > N: a Schur complement.",
    ),
    strict(
        "/step-smallest", 203, "This inequality is strict if",
        "when the smallest eigenvalue stays",
        (N - gamma) * (form(Hhat, z) - gamma * norm2(z)) >= 0, hypotheses=(NOT_BELOW_AT_Z,),
        because=((N - gamma) * t + N * ALONG_OF_Z) ** 2 + NOT_BELOW_AT_Z.slack,
        remark="As for the largest, with the signs turned round.",
    ),
]  # fmt: skip

CLAIMS = [
    *IMPROVEMENT, *CENTRING, *STRICTNESS, *SCALING,
    *BLOCKS, *REMARKS, *HESSIAN, *RATE,
    *CENTRING_STEPS, *UNCHANGED, *EQUATIONS, *SMALLEST,
]  # fmt: skip
