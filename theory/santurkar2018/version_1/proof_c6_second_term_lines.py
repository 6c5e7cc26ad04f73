"""Equations (45) to (58) as claims; their sides are those of ``proof_c6_second_term``."""

from theory.claim import (
    Reading,
    Verdict,
)
from theory.santurkar2018.version_1 import proof_c6_second_term as proof
from theory.santurkar2018.version_1.proof_c6 import SECOND_TERM, equation

_G = r"\frac{\partial L}{\partial\hat y_j}"
_A = r"\langle g, \hat y\rangle"
_BRACKET = (
    r"\frac1\sigma\Big\langle\frac{\partial}{\partial W_{kj}}\Big("
    r"x_i - \frac{\alpha_{ij}}m\hat y_j\Big), " + _G + r"\Big\rangle"
)
_EXPLAINED = (
    r"-\frac1\sigma\Big\langle\frac{\partial}{\partial W_{kj}}"
    r"\Big(\frac{\alpha_{ij}}m\hat y_j\Big), " + _G + r"\Big\rangle"
)
_PRODUCT = (
    r"-\frac1{m\sigma}\Big\langle\hat y_j\frac{\partial\alpha_{ij}}{\partial W_{kj}}"
    r" + \alpha_{ij}\frac{\partial\hat y_j}{\partial W_{kj}}, " + _G + r"\Big\rangle"
)
_LOST = r" - \frac{\alpha_{kj}}{m\sigma^2}\Big\langle g, x_i - \frac{\alpha_{ij}}m\hat y\Big\rangle"
FORTY_FIVE = equation(
    "45", 597, r"\frac{1}{\sigma_{j}} \sum_{b=1}^{m}", proof.line_45, f"{SECOND_TERM} = {_BRACKET}",
    expected=Verdict.REFUTED,
)  # fmt: skip
FORTY_SIX = equation(
    "46", 600, r"\left( \frac{\alpha_{ij}}{m} y_j^{(b)} \right)", proof.line_46,
    f"{_BRACKET} = {_EXPLAINED}",
)  # fmt: skip
FORTY_EIGHT = equation(
    "48", 607, r"\alpha_{ij} \frac{\partial y_j^{(b)}}{\partial W_{kl}}", proof.line_48,
    f"{_EXPLAINED} = {_PRODUCT}",
)  # fmt: skip
FIFTY = equation(
    "50", 614, r"\left( x_k^{(b)} - \frac{\alpha_{kj}}{m} y_j^{(b)} \right)", proof.line_50,
    r"\frac{\partial\alpha_{ij}}{\partial W_{kj}} ="
    r" \frac1\sigma\Big\langle x_i, x_k - \frac{\alpha_{kj}}m\hat y_j\Big\rangle",
)  # fmt: skip
FIFTY_THREE = equation(
    "53", 630, r"\alpha_{ij} \frac{\partial \hat{y}_{j}^{(b)}}{\partial W_{kl}}", proof.line_53,
    f"{SECOND_TERM} = {_PRODUCT}", expected=Verdict.REFUTED,
)  # fmt: skip
FIFTY_FOUR = equation(
    "54", 634, r"m\beta_{ik} - \frac{\alpha_{ij}\alpha_{kj}}{m}", proof.line_54,
    _PRODUCT + r" = -\frac1{m\sigma^2}\Big(" + _A + r"\Big[m\beta_{ik}"
    r" - \frac{\alpha_{ij}\alpha_{kj}}m\Big] + \alpha_{ij}\Big\langle"
    r" x_k - \frac{\alpha_{kj}}m\hat y_j, g\Big\rangle\Big)",
)  # fmt: skip
FIFTY_FIVE = equation(
    "55", 637, r"\frac{2\alpha_{ij}\alpha_{kj}}{m^2 \sigma_{zj}^2}", proof.line_55,
    _PRODUCT + r" = -\frac{\beta_{ik}}{\sigma^2}" + _A
    + r" + \frac{2\alpha_{ij}\alpha_{kj}}{m^2\sigma^2}" + _A
    + r" - \frac{\alpha_{ij}}{m\sigma^2}\langle x_k, g\rangle",
)  # fmt: skip
FIFTY_SIX = equation(
    "56", 642, r"m \beta_{ik} + \left( \frac{\alpha_{ij} \alpha_{kj}}{m^2} \right)", proof.line_56,
    r"\frac1{\sigma^2}\Big(X - \frac1m" + _A + r"\langle x_i, x_k\rangle"
    r" + \frac{\alpha_{ij}\alpha_{kj}}{m^2}" + _A + r"\Big) = \frac1{\sigma^2}\Big(X - \frac1m"
    + _A + r"\,m\beta_{ik} + \frac{\alpha_{ij}\alpha_{kj}}{m^2}" + _A + r"\Big)",
)  # fmt: skip
SUM = equation(
    "58/sum", 651, r"2\beta_{ik} - 3 \frac{\alpha_{ij}", proof.line_58,
    "(55) + (56) = (58)", remark="What is added is wrong: see S-v1-eq-58.",
)  # fmt: skip
_WITH_EPSILON = (FORTY_SIX, FORTY_EIGHT, FIFTY, FIFTY_FOUR, FIFTY_FIVE)
CLAIMS = [
    FORTY_FIVE,
    FORTY_FIVE.corrected(sides=proof.line_45_corrected, statement=FORTY_FIVE.statement + _LOST),
    FORTY_SIX,
    FORTY_EIGHT,
    FIFTY,
    FIFTY_THREE,
    FIFTY_THREE.corrected(sides=proof.line_53_corrected, statement=FIFTY_THREE.statement + _LOST),
    FIFTY_FOUR,
    FIFTY_FIVE,
    *(line.under(Reading.SHARED_EPSILON, Verdict.PROVED) for line in _WITH_EPSILON),
    FIFTY_SIX,
    SUM,
]
