r"""Why scaling to unit columns is nearly optimal: quadratic forms at a generic vector.

Let F have columns :math:`f_i`, E divide each by its norm, and :math:`D_0` be nonsingular.

- above: :math:`\|F E x\|^2 \le n \|x\|^2`, whatever F is, since a sum of n vectors squared is at
  most n times the sum of the squares;
- below: where :math:`D_0 F^\top F D_0 \ge a` at the vector :math:`D_0^{-1} y`, and the diagonal
  of that matrix is at most b there, :math:`b \|F y\|^2 \ge a \sum_i \|f_i\|^2 y_i^2`; with
  :math:`y = E x` the right side is :math:`a \|x\|^2`.

So :math:`\lambda_{\max} \le n` and :math:`\lambda_{\min} \ge a/b`: the lemma, with a and b the
extreme eigenvalues of :math:`D_0 F^\top F D_0`, whose diagonal lies between them.

Nothing is better than what vectors of equal entries show: for :math:`|y_i| = |z_i|`,

.. math:: a D_0^{-2} \le F^\top F \le b D_0^{-2} \text{ implies }
          b\, y^\top F^\top F y \ge a\, z^\top F^\top F z

at those two vectors.  Under Property A the extreme eigenvectors of the scaled matrix are such,
which makes the scaling optimal.
"""

from typing import Any

from array_api_compat import array_namespace

from theory.lange2022.spectral import form
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Term, Verdict


def features(layer: Layer) -> Any:
    """The part of the generic vector that goes with the columns of H."""
    return layer.direction[1:]


def pieces(layer: Layer) -> Any:
    """The columns times the vector's entries."""
    return layer.H * features(layer)


def above(layer: Layer) -> Sides:
    """A sum of vectors, squared, against the sum of their squares."""
    F, n = pieces(layer), layer.H.shape[1]
    return Sides(form(layer.H, features(layer)), n * (F * F).sum())


def above_slack(layer: Layer) -> list[Term]:
    """The squares of the differences."""
    F, n = pieces(layer), layer.H.shape[1]
    return [Term(1, (F[:, i] - F[:, j],)) for i in range(n) for j in range(i)]


def in_scaling(layer: Layer, y: Any) -> Any:
    r""":math:`\|D_0^{-1} y\|^2`."""
    quotient = y / layer.scaling[1:]
    return (quotient * quotient).sum()


def lowest(layer: Layer) -> Any:
    """The number a, any positive one."""
    return layer.step / layer.q


def highest(layer: Layer) -> Any:
    """The number b, any positive one: as large as it must be where q is the step."""
    squares = (layer.H * layer.H).sum() * (layer.scaling * layer.scaling).sum()
    return layer.q / layer.step * squares


def below(layer: Layer) -> Sides:
    """The lower bound."""
    F, y = pieces(layer), features(layer)
    return Sides(highest(layer) * form(layer.H, y), lowest(layer) * (F * F).sum())


def below_slack(layer: Layer) -> list[Term]:
    """Both hypotheses, weighted."""
    return [Term(highest(layer), (AT_LEAST_A,)), Term(lowest(layer), (DIAGONAL_AT_MOST_B,))]


def flipped(layer: Layer) -> Any:
    """The generic vector with its first entry's sign changed."""
    y = features(layer)
    return array_namespace(y).concat([-y[:1], y[1:]])


def two_vectors(layer: Layer) -> Sides:
    """A vector against the one with a sign changed, by the same diagonal matrix."""
    high, low = form(layer.H, flipped(layer)), form(layer.H, features(layer))
    return Sides(highest(layer) * low, lowest(layer) * high)


def two_vectors_slack(layer: Layer) -> list[Term]:
    """Both hypotheses, weighted."""
    return [Term(highest(layer), (AT_LEAST_A,)), Term(lowest(layer), (AT_MOST_B,))]


AT_LEAST_A = Hypothesis(
    r"\|F y\|^2 \ge a\,\|D_0^{-1}y\|^2",
    lambda layer: (
        form(layer.H, features(layer)) - lowest(layer) * in_scaling(layer, features(layer))
    ),
)
AT_MOST_B = Hypothesis(
    r"\|F z\|^2 \le b\,\|D_0^{-1}z\|^2",
    lambda layer: (
        highest(layer) * in_scaling(layer, flipped(layer)) - form(layer.H, flipped(layer))
    ),
)
DIAGONAL_AT_MOST_B = Hypothesis(
    r"\textstyle\sum_i \|f_i\|^2 y_i^2 \le b\,\|D_0^{-1}y\|^2",
    lambda layer: (
        highest(layer) * in_scaling(layer, features(layer)) - (pieces(layer) * pieces(layer)).sum()
    ),
)

ABOVE = MatrixClaim(
    id="L-lemma-A1/step-above",
    row="L-lemma-A1",
    locations=at(562, "App. A, Lemma A1", r"\kappa(AD)\leq\sqrt{n}\min"),
    statement=r"\|F y\|^2 \le n\textstyle\sum_i \|f_i\|^2 y_i^2",
    sides=above,
    subject=Kind.LAYER,
    relation=Relation.AT_MOST,
    certificate=above_slack,
    expected=Verdict.PROVED,
    falsified_by="one matrix and vector",
    remark="A step of a proof that the paper cites.",
)


def step(name: str, row: str, statement: str, **changes: Any) -> MatrixClaim:
    """Return another step."""
    tied = {"id": f"{row}/step-{name}", "row": row, "of": row, "statement": statement}
    return ABOVE.sharpened(**{**tied, "relation": Relation.AT_LEAST, **changes})


CLAIMS = [
    ABOVE.sharpened(id=ABOVE.id, of="L-lemma-A1"),
    step(
        "below",
        "L-lemma-A1",
        r"b\,\|F y\|^2 \ge a\textstyle\sum_i \|f_i\|^2 y_i^2",
        sides=below,
        hypotheses=(AT_LEAST_A, DIAGONAL_AT_MOST_B),
        certificate=below_slack,
    ),
    step(
        "property-A",
        "L-thm-4-remarks",
        r"b\,\|F y\|^2 \ge a\,\|F z\|^2,\quad z = (-y_1, y_2, \dots, y_n)",
        locations=at(207, "Sect. 3.3, after Theorem 4", "so-called Property A"),
        sides=two_vectors,
        hypotheses=(AT_LEAST_A, AT_MOST_B),
        certificate=two_vectors_slack,
        of="L-thm-4-remarks/property-A",
        remark="The dual certificate that makes the scaling by D optimal under Property A.",
    ),
]
