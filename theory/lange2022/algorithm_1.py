r"""Algorithm 1: Batch Normalization before and after the weights.

The steps of the algorithm are (2) with an epsilon.  Its output is printed as a function of an A,
which occurs nowhere else; it is left out.  Normalizing after the weights, "pre-activation", is
another network: it is post-activation with the weights
:math:`\operatorname{diag}(1/\sigma_{HW^\top})\,W\operatorname{diag}(\sigma_H)`, whose rows have
forgotten their lengths.
"""

from typing import Any

from theory import batchnorm
from theory.lange2022.literal import SPREAD, means, variances
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Hypothesis, Reading, Relation, Sides, Verdict


def algorithm(layer: Layer) -> Sides:
    """The three steps and the output, with epsilon = q, against (2)."""
    examples = [layer.H[i, :] for i in range(layer.H.shape[0])]
    mean = sum(examples[1:], examples[0]) / len(examples)
    squares = [(h - mean) * (h - mean) for h in examples]
    variance = sum(squares[1:], squares[0]) / len(examples)
    actual = layer.gamma * ((layer.H - mean) / layer.sqrt(variance + layer.q)) + layer.beta
    return Sides(actual, batchnorm.forward(layer.H, layer.gamma, layer.beta, layer.q))


def pre_activation(layer: Layer) -> Sides:
    """Normalizing before and after the weights, without re-scaling and bias."""
    after = normalized(layer, layer.H) @ layer.W.T
    return Sides(normalized(layer, layer.H @ layer.W.T), after)


def pre_activation_rescaled(layer: Layer) -> Sides:
    """After the weights as before other weights, each row divided by its output's deviation."""
    outputs = layer.H @ layer.W.T
    before, after = layer.sqrt(variances(layer.H)), layer.sqrt(variances(outputs))
    weights = layer.W * before / after[:, None]
    return Sides(normalized(layer, outputs), batchnorm.normalize(layer.H) @ weights.T)


def normalized(layer: Layer, A: Any) -> Any:
    """Batch Normalization without epsilon, re-scaling and re-centring."""
    return (A - means(A)) / layer.sqrt(variances(A))


OUTPUTS_SPREAD = Hypothesis(
    r"\sigma_{HW^\top} > 0",
    lambda layer: variances(layer.H @ layer.W.T),
    Relation.MORE_THAN,
    printed=False,
)


def claim(
    name: str, line: int, quote: str, statement: str, sides: Any, **other: Any
) -> MatrixClaim:
    """Return an equation of this section."""
    settled: dict[str, Any] = {"expected": Verdict.PROVED, "relation": Relation.EQUAL}
    return MatrixClaim(
        id="L-alg-1" + name, row="L-alg-1", statement=statement, sides=sides, subject=Kind.LAYER,
        locations=at(line, "Sect. 2, Batch Normalization", quote), **settled | other,
    )  # fmt: skip


STEPS = claim(
    "", 55, r"(Centering and scaling)",
    r"\text{steps 1 to 3 and the output: }\gamma\,\frac{h-\mu_H}{\sqrt{\sigma_H^2+\epsilon}}+\beta",
    algorithm, reading=Reading.SHARED_EPSILON,
    remark="(2) has no epsilon; line 49 says that its denominator has one in practice.",
)  # fmt: skip

PRE_ACTIVATION = claim(
    "/pre-activation", 49, "Note that BN can be implemented as",
    r"\mathcal B_{0,1}(W h) = W\mathcal B_{0,1}(h)", pre_activation,
    hypotheses=(SPREAD, OUTPUTS_SPREAD), expected=Verdict.REFUTED,
    falsified_by="one batch and W for which the two networks differ; the words may also be read as"
    " naming another form of the method, and then they are a definition",
)  # fmt: skip

CLAIMS = [
    STEPS,
    PRE_ACTIVATION,
    PRE_ACTIVATION.corrected(
        sides=pre_activation_rescaled, falsified_by="",
        statement=r"\mathcal B_{0,1}(Wh) = \tilde W\mathcal B_{0,1}(h),\quad"
        r" \tilde W = \operatorname{diag}(1/\sigma_{HW^\top})W\operatorname{diag}(\sigma_H)",
    ),
]  # fmt: skip
