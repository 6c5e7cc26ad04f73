"""The lines of the proof of Lemma C.5 as claims; their sides are those of ``proof_c5``."""

from typing import Any

from theory.claim import Claim, Reading, Relation, Verdict
from theory.santurkar2018.texts import version_1
from theory.santurkar2018.version_1 import proof_c5
from theory.santurkar2018.version_1.lemma_3_3 import (
    CONDITIONS,
    attained,
    labels,
    prediction,
)
from theory.santurkar2018.version_1.proof_c5 import mean_square

_FITS = "labels, and outputs that fit them within e < 1/2"


def _line(name: str, line: int, quote: str, sides: Any, statement: str, **fields: Any) -> Claim:
    place = f"App. C, proof of Lemma C.5, eq. ({name.split('/')[0]})"
    settled = {
        "relation": Relation.EQUAL,
        "expected": Verdict.PROVED,
        "falsified_by": _FITS,
        **fields,
    }
    return Claim(
        id=f"S-v1-eq-{name}",
        row="S-v1-steps",
        locations=(version_1(line, place, quote),),
        statement=statement,
        sides=sides,
        **settled,
    )


def _below(name: str, line: int, quote: str, sides: Any, statement: str, slack: Any) -> Claim:
    return _line(
        name, line, quote, sides, statement,
        relation=Relation.LESS_THAN, hypotheses=CONDITIONS, certificate=slack,
        remark="Slack: the condition's, and the defect of the triangle.",
    )  # fmt: skip


def _above(name: str, line: int, quote: str, sides: Any, statement: str, slack: Any) -> Claim:
    return _line(
        name, line, quote, sides, statement,
        relation=Relation.MORE_THAN, hypotheses=CONDITIONS, certificate=slack,
        remark="Slack: the condition's, and the defect of the triangle.",
    )  # fmt: skip


NINETEEN = _below(
    "19", 491, r"||BN(W'x)||_2 - ||\ell||_2 < \varepsilon", proof_c5.near_labels(attained),
    r"\|BN(W'x)\|^2 < (\|\ell\| + e)^2",
    proof_c5.near_labels_slack(attained, proof_c5.ATTAINED),
)  # fmt: skip
TWENTY = _above(
    "20", 493, r"||\ell||_2 > 1 - \varepsilon", mean_square(labels, lambda e: 1 - e),
    r"\|\ell\|^2 > (1 - e)^2", proof_c5.labels_slack(-1),
)  # fmt: skip
TWENTY_ONE = _below(
    "21", 496, r"||\ell||_2 < 1 + \varepsilon", mean_square(labels, lambda e: 1 + e),
    r"\|\ell\|^2 < (1 + e)^2", proof_c5.labels_slack(1),
)  # fmt: skip
TWENTY_FOUR = _above(
    "24", 505, r"||Wx||_2 > ||\ell||_2 - \varepsilon", proof_c5.line_24,
    r"(\|Wx\| + e)^2 > \|\ell\|^2", proof_c5.output_slack,
)  # fmt: skip
TWENTY_FIVE = _above(
    "25", 507, r"> 1 - 2\varepsilon", proof_c5.lower,
    r"(\|Wx\| + e)^2 > (1 - e)^2", proof_c5.lower_slack,
)  # fmt: skip
TWENTY_SIX = _below(
    "26", 510, r"||Wx||_2 < ||\ell||_2 + \varepsilon", proof_c5.near_labels(prediction),
    r"\|Wx\|^2 < (\|\ell\| + e)^2",
    proof_c5.near_labels_slack(prediction, proof_c5.FITTED),
)  # fmt: skip
TWENTY_SEVEN = _below(
    "27", 512, r"||Wx||_2 < 1 + 2\varepsilon", mean_square(prediction, lambda e: 1 + 2 * e),
    r"\|Wx\|^2 < (1 + 2e)^2", proof_c5.upper_slack,
)  # fmt: skip
TWENTY_EIGHT = _line(
    "28", 516, r"\frac{Wx}{||Wx||_2}", proof_c5.line_28,
    r"BN(Wx) = \frac{Wx}{\|Wx\|},\quad \|v\|^2 = \tfrac1m\textstyle\sum_b v_b^2",
    falsified_by="one batch whose entries differ",
    remark="For one unit; the norm of several units together is another number.",
)  # fmt: skip
EUCLIDEAN = _line(
    "28/euclidean", 516, r"\frac{Wx}{||Wx||_2}", proof_c5.line_28_euclidean,
    r"BN(Wx) = \frac{Wx}{\|Wx\|},\quad \|v\|^2 = \textstyle\sum_b v_b^2",
    expected=Verdict.REFUTED, corrected_by=TWENTY_EIGHT.id,
    falsified_by="one batch whose entries differ",
)  # fmt: skip
TWENTY_NINE = _line(
    "29", 519, r"\frac{1}{||Wx||_2}||Wx - ||Wx||_2\ell||", proof_c5.line_29,
    r"\|BN(Wx) - \ell\|^2 = \frac{\big\|Wx - \|Wx\|\ell\big\|^2}{\|Wx\|^2}",
    falsified_by="one batch and labels",
)  # fmt: skip
THIRTY = _line(
    "30", 521, r"|1 - ||Wx||_2 ||\ell||_2)", proof_c5.line_30,
    r"\frac{1}{\|Wx\|}\big(\|Wx - \ell\| + |1 - \|Wx\|_2\|\ell\|_2\big)",
    expected=Verdict.UNREADABLE, falsified_by="",
    unreadable="A bar is opened before '1 - ' and not closed before the norm of l: whether l stands"
    " inside the absolute value cannot be told.",
)  # fmt: skip
_THIRTY = (
    r"\|BN(Wx) - \ell\| {} \frac{1}{\|Wx\|}\big(\|Wx - \ell\| + \big|1 - \|Wx\|\big|\|\ell\|\big)"
)
THIRTY_EQUAL = _line(
    "30/repaired", 521, r"|1 - ||Wx||_2 ||\ell||_2)", proof_c5.line_30,
    _THIRTY.replace("{}", "=", 1), expected=Verdict.REFUTED,
    falsified_by="one batch and labels, l outside the absolute value",
)  # fmt: skip
THIRTY_ONE = _line(
    "31", 524, r"\frac{1}{1-2\varepsilon}\left(\varepsilon+2\varepsilon(1+\varepsilon)\right)",
    proof_c5.line_31, r"\|BN(Wx) - \ell\|^2 = \Big(\frac{e + 2e(1 + e)}{1 - 2e}\Big)^2",
    hypotheses=CONDITIONS, expected=Verdict.REFUTED,
)  # fmt: skip
THIRTY_TWO = _line(
    "32", 526, r"\frac{3\varepsilon + 2\varepsilon^2}{1 - 2\varepsilon}", proof_c5.line_32,
    r"\frac{e + 2e(1 + e)}{1 - 2e} = \frac{3e + 2e^2}{1 - 2e}", falsified_by="one e < 1/2",
)  # fmt: skip
THIRTY_THREE = _line(
    "33", 528, r"<3\varepsilon\left(\frac{1+\varepsilon}{1-2\varepsilon}\right)", proof_c5.line_33,
    r"\frac{3e + 2e^2}{1 - 2e} < 3e\,\frac{1 + e}{1 - 2e}",
    relation=Relation.LESS_THAN, certificate=proof_c5.line_33_slack,
    falsified_by="one e < 1/2", remark="Slack: e^2/(1 - 2e).",
)  # fmt: skip
NINETEEN_SHARED = NINETEEN.under(Reading.SHARED_EPSILON, Verdict.PROVED)

CLAIMS = [
    NINETEEN,
    NINETEEN_SHARED,
    TWENTY,
    TWENTY.under(
        Reading.SHARED_EPSILON,
        Verdict.REFUTED,
        corrected_by=NINETEEN_SHARED.id,
        certificate=None,
        falsified_by="eps > 0, and labels that W' fits: the norm of BN(W'x) is below one",
        remark="",
    ),
    TWENTY_ONE,
    TWENTY_FOUR,
    TWENTY_FIVE,
    TWENTY_SIX,
    TWENTY_SEVEN,
    TWENTY_EIGHT,
    EUCLIDEAN,
    TWENTY_NINE,
    THIRTY,
    THIRTY_EQUAL,
    THIRTY_EQUAL.corrected(
        sides=proof_c5.line_30_squares,
        relation=Relation.AT_MOST,
        certificate=proof_c5.line_30_slack,
        statement=_THIRTY.replace("{}", r"\le", 1),
        remark="As squares; slack: the defect of the triangle.",
    ),
    THIRTY_ONE,
    THIRTY_ONE.corrected(
        relation=Relation.LESS_THAN,
        certificate=proof_c5.line_31_slack,
        statement=THIRTY_ONE.statement.replace("=", "<", 1),
        remark="Slack: what (31) exceeds 3e, and the short proof's of Lemma 3.3.",
    ),
    THIRTY_TWO,
    THIRTY_THREE,
]
