r"""Algorithm 3: steps 4 and 5 are the preconditioning (23).

With :math:`v_p = \tilde\sigma(p)^2` and :math:`\mu(p)` the same for the k^2 entries of a channel,

.. math:: \frac1{q^2} P P^\top [G_b; G_w] = \Big[\tfrac1{q^2}G_b - \sum_{i,j,p}\mu(p)G'_w(i,j,p);\
          G'_w\Big], \qquad G'_w(i,j,p) = \frac{G_w(i,j,p) - \mu(p)G_b}{q^2 v_p}:

step 5 takes what step 4 has left, and step 4 the old :math:`G_b`.

With the statistics of the channels, (21) and (22), the columns of :math:`\hat{\mathcal H}P` are
neither centred nor of one norm, so Theorems 3 and 4 are about (19) and (20) only.
"""

from dataclasses import replace
from typing import Any

from array_api_compat import array_namespace

from theory import preconditioning
from theory.lange2022.equations_19_22 import column_means, mean, rows, variance
from theory.lange2022.texts import at
from theory.lange2022.unfolding import augmented, stacked
from theory.matrix_claim import Kind, Maps, MatrixClaim
from theory.statement import Relation, Sides, Verdict


def repeated(values: Any, k: int) -> Any:
    r""":math:`x \otimes e`: k^2 copies of each channel's number, ``(k^2 c,)``."""
    xp = array_namespace(values)
    return xp.reshape(xp.stack([values] * (k * k), axis=1), (-1,))


def regularized(maps: Maps) -> Any:
    r""":math:`\tilde\sigma(p)^2`, (22) plus a number."""
    return variance(maps.h) + maps.q


def by_matrices(maps: Maps) -> Any:
    r"""(23) with its matrices: :math:`\frac1{q^2}P P^\top[G_b; G_w]`, weights and bias for G."""
    k, v, mu = maps.w.shape[-1], regularized(maps), mean(maps.h)
    row, deviation = repeated(mu, k), repeated(v, k)
    xp, n = array_namespace(maps.h), row.shape[0]
    identity = xp.eye(n + 1, dtype=row.dtype)
    U = xp.concat([xp.concat([identity[0, :1], -row])[None, :], identity[1:, :]], axis=0)
    D_squared = identity * xp.concat([identity[0, :1] + 0 * row[:1], 1 / deviation])
    gradient = stacked(maps.w, maps.b)
    return U @ (D_squared @ (U.T @ gradient)) / (maps.q * maps.q)


def step_4(maps: Maps) -> Any:
    """The new gradient in the weights."""
    mu, v = mean(maps.h)[None, :, None, None], regularized(maps)[None, :, None, None]
    return (maps.w - mu * maps.b[:, None, None, None]) / v / (maps.q * maps.q)


def step_5(maps: Maps, weights: Any) -> Any:
    """The new gradient in the bias, with some gradient in the weights."""
    mu = mean(maps.h)[None, :, None, None]
    return maps.b / (maps.q * maps.q) - (mu * weights).sum((1, 2, 3))


def in_turn(maps: Maps) -> Sides:
    """Step 5 with what step 4 has left."""
    new = step_4(maps)
    return Sides(by_matrices(maps), stacked(new, step_5(maps, new)))


def at_once(maps: Maps) -> Sides:
    """Step 5 with the old gradient in the weights."""
    return Sides(by_matrices(maps), stacked(step_4(maps), step_5(maps, maps.w)))


def shipped(maps: Maps) -> Sides:
    """The shipped steps, on weights flattened and statistics repeated."""
    k, d = maps.w.shape[-1], maps.w.shape[0]
    xp = array_namespace(maps.w)
    bias, weights = preconditioning.preconditioned_gradient(
        maps.b,
        xp.reshape(maps.w, (d, -1)),
        repeated(mean(maps.h), k),
        repeated(regularized(maps), k),
        q_squared=maps.q * maps.q,
    )
    return Sides(by_matrices(maps), stacked(xp.reshape(weights, maps.w.shape), bias))


def channel_means(maps: Maps) -> Sides:
    """The columns' sums after the centring of (23), which should vanish."""
    matrix, k = augmented(maps.h, maps.w.shape[-1])[:, 1:], maps.w.shape[-1]
    centred = matrix - repeated(mean(maps.h), k)
    return Sides(centred.sum(0), 0 * centred.sum(0))


def exact_means(maps: Maps) -> Sides:
    """The same with the means of the columns, (19)."""
    matrix, k = augmented(maps.h, maps.w.shape[-1])[:, 1:], maps.w.shape[-1]
    xp = array_namespace(matrix)
    means = xp.reshape(xp.permute_dims(column_means(maps.h, k), (0, 2, 1)), (-1,))
    centred = matrix - means
    return Sides(centred.sum(0), 0 * centred.sum(0))


def off_centre(maps: Maps) -> Sides:
    """What the columns' sums are instead: N r s times the error that Proposition 10 bounds."""
    h, k = maps.h, maps.w.shape[-1]
    errors = column_means(h, k) - mean(h)[:, None, None]
    columns = array_namespace(h).permute_dims(errors, (0, 2, 1))
    left = channel_means(maps).actual
    return Sides(left, rows(h) * array_namespace(h).reshape(columns, (-1,)))


STEPS = MatrixClaim(
    id="L-alg-3",
    row="L-alg-3",
    locations=(
        *at(391, "Sect. 4, above Algorithm 3", "with the matrix multiplications by"),
        *at(400, "Sect. 4, Algorithm 3, step 4", "4. Update"),
        *at(401, "Sect. 4, Algorithm 3, step 5", "5. Update"),
    ),
    statement=r"\frac1{q^2}PP^\top\begin{bmatrix}G_b\\ G_w\end{bmatrix} ="
    r" \begin{bmatrix}\frac1{q^2}G_b - \sum\mu(p)G'_w\\ G'_w\end{bmatrix},"
    r"\quad G'_w = \frac{G_w - \mu(p)G_b}{q^2\tilde\sigma(p)^2}",
    sides=in_turn,
    subject=Kind.MAPS,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    falsified_by="one gradient that Algorithm 3 changes otherwise than (23)",
    remark="Step 5 takes the new gradient in the weights, step 4 the old one in the bias.",
)

AT_ONCE = replace(
    STEPS,
    id="L-alg-3/at-once",
    sides=at_once,
    statement=STEPS.statement.replace(r"\mu(p)G'_w\\", r"\mu(p)G_w\\"),
    expected=Verdict.REFUTED,
    corrected_by=STEPS.id,
    falsified_by="one gradient for which both steps, taken with the old gradients, are not (23)",
    remark="The arrows can be read so; the text is right if the steps are taken in turn.",
)

CENTRED = replace(
    STEPS,
    id="L-alg-3/centred",
    locations=at(353, "Sect. 4, below Prop. 9", "has the same property as"),
    statement=r"e^\top(\mathcal H - e\,\mu^\top\otimes e^\top) = 0,\quad \mu \text{ of (21)}",
    sides=channel_means,
    expected=Verdict.REFUTED,
    falsified_by="one batch of maps where a column of the normalized matrix is not centred",
    remark="The property that Theorem 3 gives; said of (19) it is right, P of (23) has (21).",
)

CLAIMS = [
    STEPS,
    STEPS.sharpened(
        "shipped", sides=shipped, remark="",
        statement=r"\frac1{q^2}PP^\top[G_b; G_w] = \text{preconditioned\_gradient}"
        r"(G_b, G_w, \mu\otimes e, \tilde\sigma^2\otimes e, q^2)",
    ),
    AT_ONCE,
    CENTRED,
    CENTRED.corrected(
        sides=exact_means, remark="",
        statement=r"e^\top(\mathcal H - e\mu_H^\top) = 0,\quad \mu_H \text{ of (19)}",
    ),
    CENTRED.sharpened(
        "error", sides=off_centre, remark="L-prop-10 bounds the right side.",
        statement=r"e^\top(\mathcal H - e\,\mu^\top\otimes e^\top)_{tap} ="
        r" N r s\,(\mu_H(t, a, p) - \mu(p))",
    ),
]  # fmt: skip
