r"""One learning rate for all layers (line 217).

"We need :math:`\alpha < 2/\|\nabla^2 L\|` for the Hessians of all layers": that is necessary, since
the layers' Hessians are blocks on the diagonal of the whole one.  It is not sufficient: with
Hess = (1, 1; 1, 1), whose blocks are 1, and alpha = 3/2 the error (1, 1) is multiplied by -2.  With
the sum of the blocks' norms in place of the largest it is, because for a positive semi-definite
matrix the norm is at most that sum.  Here every block is one number.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from array_api_compat import array_namespace

from theory.arithmetic.spectra import eigenvalues
from theory.lange2022.texts import at
from theory.matrix_claim import Descent, Kind, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Term, Verdict


def blocks(descent: Descent) -> Any:
    """The diagonal entries."""
    return array_namespace(descent.hessian).linalg.diagonal(descent.hessian)


def whole(descent: Descent) -> Sides:
    """The learning rate times the norm of the whole, and two."""
    largest = descent.step * eigenvalues(descent.hessian)[-1]
    return Sides(largest, 2 + 0 * largest)


def each(descent: Descent) -> Sides:
    """The learning rate times the blocks, and two."""
    found = descent.step * blocks(descent)
    return Sides(found, 2 + 0 * found)


def form(descent: Descent) -> Sides:
    """The quadratic form of the whole."""
    x = descent.direction
    return Sides(descent.step * (x @ (descent.hessian @ x)), 2 * (x @ x))


def across(descent: Descent) -> Any:
    """What the trace exceeds the form by: the forms of the vectors (x_j, -x_i)."""
    x, M = descent.direction, descent.hessian
    pairs = ((i, j) for i in range(len(x)) for j in range(i))
    terms = (
        x[j] * x[j] * M[i, i] + x[i] * x[i] * M[j, j] - 2 * x[i] * x[j] * M[i, j] for i, j in pairs
    )
    return sum(terms, start=0 * x[0])


def form_slack(descent: Descent) -> list[Term]:
    """What the condition leaves at every entry, and the forms."""
    return [Term(1, (entry, BY_SUM)) for entry in descent.direction] + [
        Term(descent.step, (NON_NEGATIVE,))
    ]


def steep(descent: Any) -> Any:
    """Let the learning rate be 3/2 over the largest block."""
    largest = max(blocks(descent))
    return replace(descent, step=Fraction(3, 2) / (largest if largest > 0 else 1))


BY_EACH = Hypothesis(
    r"\alpha\,\|\nabla^2_\ell L\| < 2 \text{ for every layer}",
    lambda descent: 2 - descent.step * blocks(descent),
    Relation.MORE_THAN,
    impose=steep,
)
BY_WHOLE = Hypothesis(
    r"\alpha\,\|\nabla^2 L\| < 2",
    lambda descent: 2 - descent.step * eigenvalues(descent.hessian)[-1],
    Relation.MORE_THAN,
)
BY_SUM = Hypothesis(
    r"\alpha\textstyle\sum_\ell\|\nabla^2_\ell L\| < 2",
    lambda descent: 2 - descent.step * blocks(descent).sum(),
    Relation.MORE_THAN,
)
NON_NEGATIVE = Hypothesis(r"\nabla^2 L \ge 0", across)

SUFFICIENT = MatrixClaim(
    id="L-steps/217",
    row="L-steps",
    locations=at(217, "Sect. 3.3, before Prop. 5", "for the Hessians of all layers"),
    statement=r"\alpha\,\|\nabla^2 L\| < 2",
    sides=whole,
    subject=Kind.DESCENT,
    relation=Relation.LESS_THAN,
    hypotheses=(BY_EACH,),
    expected=Verdict.REFUTED,
    corrected_by="L-steps/217/corrected",
    falsified_by="one Hessian with couplings between layers",
    remark="The reading in which the condition on all layers suffices; the learning rate is 3/2 "
    "over the largest block.",
)

CLAIMS = [
    replace(
        SUFFICIENT,
        id="L-steps/217-necessary",
        statement=r"\alpha\,\|\nabla^2_\ell L\| < 2 \text{ for every layer}",
        sides=each,
        hypotheses=(BY_WHOLE,),
        expected=Verdict.SUPPORTED,
        corrected_by=None,
        falsified_by="one Hessian of which a block has a larger norm",
        remark="The reading in which the condition is needed.",
    ),
    SUFFICIENT,
    SUFFICIENT.corrected(
        statement=r"\alpha\,x^\top\nabla^2 L\,x \le 2\,\|x\|^2"
        r" \quad\text{if } \alpha\textstyle\sum_\ell\|\nabla^2_\ell L\| < 2",
        sides=form,
        relation=Relation.AT_MOST,
        hypotheses=(BY_SUM, NON_NEGATIVE),
        certificate=form_slack,
        corrected_by=None,
        falsified_by="one positive semi-definite matrix",
        remark="Strict for x other than zero: the condition's slack times its square.",
    ),
]
