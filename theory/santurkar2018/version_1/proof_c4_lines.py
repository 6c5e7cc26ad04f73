"""The lines of the proof of Theorem C.4 as claims; their sides are those of ``proof_c4``."""

from typing import Any

from theory.claim import Claim, Reading, Relation, Verdict
from theory.santurkar2018.texts import version_1
from theory.santurkar2018.version_1 import proof_c4, theorem_c4
from theory.santurkar2018.version_1.weights import MEAN_ZERO

_SQUARE = r"\sigma^2\Big(\frac{\partial\hat L}{\partial W_{ij}}\Big)^2"
_REST = r"2\frac{\alpha}{m}pa + \frac{\alpha^2}{m^2}a^2"


def _line(name: str, line: int, quote: str, sides: Any, statement: str, **fields: Any) -> Claim:
    settled = {
        "expected": Verdict.PROVED,
        "relation": Relation.EQUAL,
        "hypotheses": (MEAN_ZERO,),
        "falsified_by": "one batch, one input of mean zero and one loss",
        **fields,
    }
    word = "line" if name in ("469", "477") else "eq."
    return Claim(
        id=f"S-v1-{word.rstrip('.')}-{name}",
        row="S-v1-steps",
        locations=(version_1(line, f"App. C, proof of Theorem C.4, {word} {name}", quote),),
        statement=statement,
        sides=sides,
        **settled,
    )


EIGHT = _line(
    "8", 429, r"\frac{\partial G}{\partial z_j^{(b)}} x_i^{(b)}", proof_c4.line_8,
    r"\frac{\partial L}{\partial W_{ij}} = \langle g, x_i\rangle",
)  # fmt: skip
NINE = _line(
    "9", 435, r"= c \sigma_{x_i}^2 \sum_{b=1}^m", proof_c4.line_9,
    r"c\,\|g\|^2\|x_i\|^2 = c\,\sigma(x_i)^2\|g\|^2", expected=Verdict.REFUTED,
)  # fmt: skip
TEN = _line(
    "10", 439, r"\sum_{b=1}^{m} \frac{\partial G}{\partial \hat{y}_{i}^{(b)}}", proof_c4.line_10,
    r"\frac{\partial\hat L}{\partial W_{ij}} ="
    r" \Big\langle g, \frac{\partial\hat y}{\partial W_{ij}}\Big\rangle",
)  # fmt: skip
ELEVEN = _line(
    "11", 441, r"\left( x_{i}^{(b)} - \frac{\alpha_{ij}}{m} \hat{y}_{j}^{(b)} \right)",
    proof_c4.line_11,
    r"\frac{\partial\hat L}{\partial W_{ij}} ="
    r" \frac1\sigma\Big\langle g, x_i - \frac{\alpha}m\hat y\Big\rangle",
)  # fmt: skip
TWELVE = _line(
    "12", 443, r"\sigma_j^2 \left(\frac{\partial \mathcal{L}}{\partial \hat{y}_j^{(b)}}\right)^2",
    proof_c4.line_12,
    r"\sum_b\sigma^2\Big(\frac{\partial\hat L}{\partial\hat y^{(b)}}\Big)^2 = m\Big(p^2 - "
    + _REST + r"\Big)", expected=Verdict.REFUTED, corrected_by="S-v1-eq-13",
)  # fmt: skip
THIRTEEN = _line(
    "13", 453, r"\frac{\alpha_{ij}^{2}}{m^{2}}", proof_c4.line_13, _SQUARE + " = p^2 - " + _REST
)
FOURTEEN = _line(
    "14", 456, r"cS_{j}m\sigma_{xi}^{2}", proof_c4.line_14,
    _SQUARE + r" = cSm\sigma(x_i)^2 - " + _REST,
)  # fmt: skip
FIFTEEN = _line(
    "15", 459, r"\leq cS_{j}m\sigma_{xi}^{2} + 2\left|\frac{\alpha_{ij}}{m}", proof_c4.line_15,
    _SQUARE + r" \le p^2 + 2\Big|\frac{\alpha}m pa\Big| + \frac{\alpha^2}{m^2}a^2",
    relation=Relation.AT_MOST, certificate=proof_c4.slack_15,
    remark="Slack: the middle term where it is negative.",
)  # fmt: skip
SIXTEEN = _line(
    "16", 463, r"2\frac{\alpha_{ij}}{m}S_j(m\sigma_{xi})", proof_c4.line_16,
    r"p^2 + 2\Big|\frac{\alpha}m pa\Big| + \frac{\alpha^2}{m^2}a^2 \le"
    r" p^2 + 2\frac{\alpha}{m}S m\sigma(x_i) + \frac{\alpha^2}{m^2}a^2",
    relation=Relation.AT_MOST, expected=Verdict.REFUTED,
)  # fmt: skip
SEVENTEEN = _line(
    "17", 465, r"2\sqrt{c\alpha_{ij}}S_j\sigma_{xi}", proof_c4.line_17,
    _SQUARE + r" \le p^2 + 2\sqrt{c\alpha}S\sigma(x_i) + \frac{\alpha^2}m S",
    relation=Relation.AT_MOST, hypotheses=(MEAN_ZERO, proof_c4.POSITIVE_ALPHA),
    expected=Verdict.REFUTED,
    remark="The conversion may have drawn the root over alpha; nothing else in the text shows it.",
)  # fmt: skip
VANILLA = _line(
    "469", 469, r"mc\sigma_{x_i}^2 S_j", proof_c4.line_469,
    r"\Big(\frac{\partial L}{\partial W_{ij}}\Big)^2 = mc\,\sigma(x_i)^2 S",
)  # fmt: skip
GAIN = _line(
    "477", 477, r"\frac{\epsilon}{c} \cdot", proof_c4.line_477,
    r"\Big(\frac{\partial L}{\partial W_{ij}}\Big)^2 - \Big(\frac{\partial\hat L}{\partial W_{ij}}"
    r"\Big)^2 \ge \frac\varepsilon c\Big(\frac{\partial L}{\partial W_{ij}}\Big)^2",
    relation=Relation.AT_LEAST, hypotheses=(theorem_c4.SQUARE_CONDITION,),
    certificate=theorem_c4.square_slack, remark="Slack: that of Theorem C.4.",
)  # fmt: skip

CLAIMS = [
    EIGHT,
    NINE,
    NINE.corrected(sides=proof_c4.line_469, statement=VANILLA.statement),
    TEN,
    ELEVEN,
    ELEVEN.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    TWELVE,
    THIRTEEN,
    THIRTEEN.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    FOURTEEN,
    FOURTEEN.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    FIFTEEN,
    SIXTEEN,
    SIXTEEN.corrected(
        sides=proof_c4.line_16_corrected,
        certificate=proof_c4.slack_16,
        statement=SIXTEEN.statement.replace(r"2\frac{\alpha}{m}S", r"2\frac{|\alpha|}{m}S"),
        remark="Slack: |p| and |a| against their bounds.",
    ),
    SEVENTEEN,
    SEVENTEEN.corrected(
        sides=proof_c4.line_17_corrected,
        hypotheses=(MEAN_ZERO,),
        certificate=proof_c4.slack_17,
        statement=SEVENTEEN.statement.replace(r"\sqrt{c\alpha}", r"\sqrt c\,|\alpha|"),
        remark="Slack: the middle term's sign, and |a| against its bound.",
    ),
    VANILLA,
    GAIN,
]
