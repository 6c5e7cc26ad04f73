r"""Why centring helps: the quadratic forms behind Theorem 4, at a generic vector z = (t, x).

:math:`z^\top U^\top A U z = N t^2 + x^\top C x`, so every quotient of :math:`U^\top A U` is a mean
of N, which is A's own quotient at the first unit vector, and one of C.  And C's lie between A's:

- above, :math:`x^\top C x \le (0, x)^\top A (0, x)`;
- below, :math:`x^\top C x = z^\top A z` at :math:`z = (-\mu_H^\top x, x)`, a longer vector than x.

That is the whole proof for full column rank; the paper's two cases for the smallest eigenvalue
(:mod:`theory.lange2022.equation_32`) are one line.

Without it, the null space of A is that of C, mapped by :math:`y \mapsto n(y) = (-\mu_H^\top y, y)`.
A vector z orthogonal to y keeps, orthogonally to n(y), at least the length of x; and the first unit
vector keeps the part :math:`\|y\|^2/\|n(y)\|^2` of its squared length, which is least for the
projection :math:`y = \mu_0` of the mean, :math:`1/(1 + \|\mu_0\|^2)`: the factor in the correction.
"""

from typing import Any

from theory.lange2022.spectral import augmented, centred, centred_and_ones, form, stacked
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Term, Verdict


def mean_along(layer: Layer, x: Any) -> Any:
    r""":math:`\mu_H^\top x`."""
    return layer.H.sum(0) @ x / layer.H.shape[0]


def weights(layer: Layer) -> Any:
    """The part x of the generic vector."""
    return layer.direction[1:]


def lifted(layer: Layer, x: Any) -> Any:
    r""":math:`(-\mu_H^\top x, x)`."""
    return stacked(-mean_along(layer, x), x)


def blocks(layer: Layer) -> Sides:
    """The block diagonal form."""
    z, x = layer.direction, weights(layer)
    claimed = layer.H.shape[0] * z[0] ** 2 + form(centred(layer.H), x)
    return Sides(form(centred_and_ones(layer.H), z), claimed)


def above(layer: Layer) -> Sides:
    """C against A's lower right block."""
    x = weights(layer)
    return Sides(form(centred(layer.H), x), form(augmented(layer.H), stacked(0, x)))


def above_slack(layer: Layer) -> list[Term]:
    """N times the square of the mean along x."""
    return [Term(layer.H.shape[0], (mean_along(layer, weights(layer)),))]


def below(layer: Layer) -> Sides:
    """The vector whose quotient is not larger, multiplied out."""
    x = weights(layer)
    z = lifted(layer, x)
    A = form(augmented(layer.H), z)
    return Sides((z @ z) * form(centred(layer.H), x), (x @ x) * A)


def below_slack(layer: Layer) -> list[Term]:
    """What z is longer by."""
    x = weights(layer)
    return [Term(1, (mean_along(layer, x), centred(layer.H) @ x))]


def null_vectors(layer: Layer) -> Sides:
    """A's images of the lifted vectors are C's."""
    x = weights(layer)
    return Sides(augmented(layer.H) @ lifted(layer, x), centred(layer.H) @ x)


def no_others(layer: Layer) -> Sides:
    """The mean of an image says how far a vector is from being a lifted one."""
    z = layer.direction
    image = augmented(layer.H) @ z
    return Sides(image.sum() / layer.H.shape[0], z[0] + mean_along(layer, z[1:]))


def kept(layer: Layer) -> Sides:
    """What of z is orthogonal to n(y), against x; multiplied by the square of n(y)."""
    x, y = weights(layer), layer.mean
    z, n = lifted(layer, x), lifted(layer, y)
    return Sides((z @ z) * (n @ n) - (z @ n) ** 2, (x @ x) * (n @ n))


def kept_slack(layer: Layer) -> list[Term]:
    """A square, and what vanishes because x is orthogonal to y."""
    x, y = weights(layer), layer.mean
    along = mean_along(layer, x)
    rest = -2 * along * mean_along(layer, y) - x @ y
    return [Term(1, (along, y)), Term(rest, (ORTHOGONAL,))]


def unit_kept(layer: Layer) -> Sides:
    """What of the first unit vector is orthogonal to n(y), times the square of n(y)."""
    n = lifted(layer, layer.mean)
    return Sides(n @ n - n[0] ** 2, layer.mean @ layer.mean)


ORTHOGONAL = Hypothesis(
    r"x^\top y = 0",
    lambda layer: layer.direction[1:] @ layer.mean,
    Relation.EQUAL,
)

STEP = MatrixClaim(
    id="L-thm-4a/step-blocks",
    row="L-thm-4a",
    locations=at(586, "App. A, proof of Theorem 4", r"(H^{T}-\mu_{H}e^{T})(H-e\mu_{H}^{T})"),
    statement=r"z^\top U^\top\hat H^\top\hat H U z = N t^2"
    r" + x^\top(H - e\mu_H^\top)^\top(H - e\mu_H^\top)x",
    sides=blocks,
    subject=Kind.LAYER,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    falsified_by="one batch and vector with another value",
)


def step(name: str, statement: str, **changes: Any) -> MatrixClaim:
    """Return another step, ours and not the paper's."""
    tied = {"id": f"L-thm-4a/step-{name}", "of": "L-thm-4a", "statement": statement}
    return STEP.sharpened(**{**tied, **changes})


CLAIMS = [
    STEP,
    step(
        "above",
        r"x^\top C x \le (0, x)^\top\hat H^\top\hat H(0, x)",
        sides=above,
        relation=Relation.AT_MOST,
        certificate=above_slack,
    ),
    step(
        "below",
        r"\|z\|^2\, x^\top C x \ge \|x\|^2\, z^\top\hat H^\top\hat H z,"
        r"\quad z = (-\mu_H^\top x, x)",
        sides=below,
        relation=Relation.AT_LEAST,
        certificate=below_slack,
    ),
    step("null", r"\hat H(-\mu_H^\top x, x) = (H - e\mu_H^\top)x", sides=null_vectors),
    step("null-only", r"\tfrac1N e^\top\hat H z = t + \mu_H^\top x", sides=no_others),
    step(
        "any-rank-x",
        r"\|z\|^2\|n\|^2 - (z^\top n)^2 \ge \|x\|^2\|n\|^2,"
        r"\quad z = (-\mu_H^\top x, x),\ n = (-\mu_H^\top y, y)",
        sides=kept,
        relation=Relation.AT_LEAST,
        hypotheses=(ORTHOGONAL,),
        certificate=kept_slack,
    ),
    step(
        "any-rank-bias",
        r"\|n\|^2 - (e_1^\top n)^2 = \|y\|^2,\quad n = (-\mu_H^\top y, y)",
        sides=unit_kept,
    ),
]
