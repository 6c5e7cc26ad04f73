r"""One learning rate for all layers (sect. 3.3, before Prop. 5).

"We need :math:`\alpha < 2/\|\nabla^2 L\|` for the Hessians of all layers": that is necessary, since
the layers' Hessians are blocks on the diagonal of the whole one.  It is not sufficient: with
Hess = (1, 1; 1, 1), whose blocks are 1, and alpha = 3/2 the error (1, 1) is multiplied by -2.  With
the sum of the blocks' norms in place of the largest it is, because for a positive semi-definite
matrix the norm is at most that sum.  Here every block is one number, and the whole is
:math:`F^\top F`.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from array_api_compat import array_namespace

from theory.descent import trace_of
from theory.lange2022.texts import of_layers
from theory.language.arrays import largest, norm2
from theory.language.expression import Operation, Sort
from theory.language.letters import matrix_of, vector_of
from theory.layer import alpha, dot, frobenius2, lagrange, total
from theory.matrix_claim import Kind
from theory.statement import REFUTED, SUPPORTED, Form, assume

HESSIAN = matrix_of("M", r"\nabla^2 L", "hessian", r"\nabla^2 L \succeq 0")
F = matrix_of("F", "F", "factor")
x = vector_of("x", "x", "direction")
one = vector_of("1", r"\mathbf 1", lambda descent: 0 * descent.direction + 1)
blocks = Operation(
    "blocks", lambda M: array_namespace(M).linalg.diagonal(M),
    r"\big(\|({0})_\ell\|\big)_\ell", gives=Sort.VECTOR,
    takes=(Sort.MATRIX,),
)  # fmt: skip
"""The norms of the blocks on the diagonal, each of one number."""


def steep(descent: Any) -> Any:
    """Let the learning rate be 3/2 over the largest block."""
    diagonal = array_namespace(descent.hessian).linalg.diagonal(descent.hessian)
    block = max(diagonal)
    return replace(descent, step=Fraction(3, 2) / (block if block > 0 else 1))


def gentle(descent: Any) -> Any:
    """Let the learning rate be less than 2 over the trace, at least the largest eigenvalue.

    From any learning rate s it is 2/trace times s/(1 + s).
    """
    trace = trace_of(descent.hessian)
    s = descent.step
    return replace(descent, step=2 * s / ((1 + s) * (trace if trace > 0 else 1)))


EVERY_LAYER = alpha * blocks(HESSIAN) < 2 * one
BY_EACH = assume(
    EVERY_LAYER, impose=steep, words=r"\alpha\,\|\nabla^2_\ell L\| < 2 \text{ for every layer}"
)
WHOLE = alpha * largest(HESSIAN) < 2
BY_WHOLE = assume(WHOLE, impose=gentle)
BY_SUM = assume(alpha * total(blocks(HESSIAN)) < 2, printed=False)

line = of_layers(
    "Sect. 3.3, before Prop. 5",
    "L-steps",
    "L-before-prop-5",
    subject=Kind.DESCENT,
    form=Form.READING,
)
QUOTE = "for the Hessians of all layers"


CLAIMS = [
    line(
        "/one-rate-needs", 217, QUOTE, "what one learning rate for all layers needs", EVERY_LAYER,
        hypotheses=(BY_WHOLE,), expected=SUPPORTED,
        remark="The reading in which the condition is needed. Measured for layers of one parameter;"
        " Coq proves it for layers of any number.",
    ),
    SUFFICIENT := line(
        "/one-rate-suffices", 217, QUOTE, "whether one learning rate for all layers suffices",
        WHOLE,
        hypotheses=(BY_EACH,), expected=REFUTED,
        remark="The text says 'need', which is proved: L-before-prop-5/one-rate-needs. Here the"
        " condition on all layers is read as one that suffices; the learning rate is 3/2 over the"
        " largest block.",
    ),
    SUFFICIENT.corrected(
        says=alpha * dot(x, HESSIAN @ x) <= 2 * norm2(x), hypotheses=(BY_SUM,),
        because=norm2(x) * BY_SUM.slack + alpha * frobenius2(lagrange(F, x)),
        remark="Strict for x ≠ 0: the slack is that of the condition times ‖x‖².",
    ),
]  # fmt: skip
