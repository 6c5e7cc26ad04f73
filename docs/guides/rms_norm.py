r"""Four statements of Zhang and Sennrich 2019 on RMSNorm, adjudicated from outside.

The batch y of the language is any vector: here the summed inputs a of a layer, and m, their
number, is the paper's n.  The formulas are those of the paper's equations (6), (9) and (10); the
sentence is quoted.
"""

from dataclasses import replace

from theory.arithmetic import mean
from theory.claim import Claim, Paper, Verdict
from theory.language.expression import Expression, along, equal, named
from theory.language.letters import number_of
from theory.language.operations import absolute, dot, norm2, sqrt
from theory.statement import assume
from theory.unit import m, normalize, one, u, variable, y

PAPER = Paper(
    "zhang2019",
    "Zhang and Sennrich 2019",
    "B. Zhang and R. Sennrich, *Root Mean Square Layer Normalization*, 2019",
)
alpha = number_of("alpha", r"\alpha", "gamma")
delta = number_of("delta", r"\delta", "gamma")


def rms(a: Expression) -> Expression:
    """Return the root mean square."""
    return named(r"\mathrm{{RMS}}({0})", sqrt(norm2(a) / m), a)


def rms_norm(a: Expression) -> Expression:
    """Return what the layer gives, with a gain of one."""
    return named(r"\mathrm{{RMSNorm}}({0})", a / rms(a), a)


def jacobian(a: Expression) -> Expression:
    """Return the derivative of the layer at a, along u: the matrix R times u."""
    return named(r"R({0})\, {1:atom}", along(rms_norm(variable), variable, u, at=a), a, u)


LINEAR = Claim(
    id="zhang2019-eq-6",
    title="The root mean square of a multiple",
    locations=(PAPER.at("Sect. 4.1, eq. (6)"),),
    says=equal(rms(alpha * y), alpha * rms(y)),
    expected=Verdict.REFUTED,
    remark="Right for the positive factors that a scale suggests; a root mean square has no sign.",
)
ZERO_MEAN = assume(
    equal(dot(one, y), 0), impose=lambda case: replace(case, y=case.y - mean(case.y))
)
SAME = Claim(
    id="zhang2019-zero-mean",
    title="RMSNorm of summed inputs of mean zero",
    locations=(
        PAPER.at(
            "Sect. 4",
            "When the mean of summed inputs is zero, RMSNorm is exactly equal to LayerNorm.",
        ),
    ),
    says=equal(rms_norm(y), normalize(y)),
    hypotheses=(ZERO_MEAN,),
    expected=Verdict.PROVED,
)
GRADIENT = Claim(
    id="zhang2019-eq-9",
    title="The Jacobian of the layer",
    locations=(PAPER.at("Sect. 4.2, eq. (9)"),),
    says=equal(jacobian(y), 1 / rms(y) * (u - dot(y, u) / (m * rms(y) ** 2) * y)),
    expected=Verdict.PROVED,
)
SCALED = Claim(
    id="zhang2019-eq-10",
    title="The Jacobian at a multiple",
    locations=(PAPER.at("Sect. 4.2, eq. (10)"),),
    says=equal(jacobian(delta * y), 1 / delta * jacobian(y)),
    expected=Verdict.REFUTED,
    remark="As (6), from which it follows: right for a positive factor.",
)

CLAIMS = [
    LINEAR,
    LINEAR.corrected(says=equal(rms(alpha * y), absolute(alpha) * rms(y))),
    SAME,
    GRADIENT,
    SCALED,
    SCALED.corrected(says=equal(jacobian(delta * y), 1 / absolute(delta) * jacobian(y))),
]
