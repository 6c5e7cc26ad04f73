r"""Fact C.1 of the first version: the gradient through Batch Normalization.

Unreadable.  The display is no equation, and ends in "- f", a scalar loss where a sum is due; add
a constant to f and only that term changes.  The last version has the lost tail,
:math:`-\hat y^{(b)}\sum_k\frac{\partial f}{\partial\hat y^{(k)}}\hat y^{(k)}`.
"""

from theory.claim import Claim, Reading, Relation, Verdict
from theory.santurkar2018 import fact_c1
from theory.santurkar2018.texts import version_1

PRINTED = Claim(
    id="S-v1-fact-C1",
    row="S-v1-fact-C1",
    locations=(version_1(380, "App. C, Fact C.1", r"\frac{\partial f}{\partial x^{(k)}} - f"),),
    statement=r"\frac{1}{m\sigma_x}\Big(m\frac{\partial f}{\partial x^{(b)}}"
    r" - \sum_k\frac{\partial f}{\partial x^{(k)}} - f\Big)",
    sides=fact_c1.sides,
    relation=Relation.EQUAL,
    expected=Verdict.UNREADABLE,
    unreadable="The display has no left side and ends in '- f', where a sum is due; its variables"
    " are not those of the text around it.",
)
REPAIRED = PRINTED.corrected(
    "repaired",
    statement=fact_c1.PRINTED.statement,
    unreadable="",
    falsified_by=fact_c1.PRINTED.falsified_by,
)

CLAIMS = [PRINTED, REPAIRED, REPAIRED.under(Reading.SHARED_EPSILON, Verdict.PROVED)]
