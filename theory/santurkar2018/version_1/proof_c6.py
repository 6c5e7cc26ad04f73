r"""The proof of Theorem C.6, line by line: equations (34) to (64), and the lines after them.

- :mod:`~theory.santurkar2018.version_1.proof_c6_first_term`: (34) to (42), for one unit.
- :mod:`~theory.santurkar2018.version_1.proof_c6_second_term`: (45) to (56).
- :mod:`~theory.santurkar2018.version_1.equation_58`: (43), (51) and (58);
  :mod:`~theory.santurkar2018.version_1.equation_61`: (61) and line 666.
- :mod:`~theory.santurkar2018.version_1.equation_59`, and for (57), (63), (64)
  :mod:`~theory.santurkar2018.version_1.proof_c6_bounds`;
  :mod:`~theory.santurkar2018.version_1.proof_c6_vanilla`: lines 686 to 694.
- :mod:`~theory.santurkar2018.version_1.proof_c6_two_units` and
  :mod:`~theory.santurkar2018.version_1.proof_c6_two_units_vanilla`: the case of two units, (36) to
  (44) for them and lines 625 to 722.

Lines 698 to 702 and 726 to 728 are the theorem again.  (38), (47), (49), (52) hold no formula of
their own; (60), (62) and lines 584, 621 and 673 are definitions.  Line 673, for every q, asks one
number d to fit m equations; Hessians of rank one meet it, and H = I where the entries of x have
one absolute value.  Summed over q it is :math:`\|Hx_i\|^2 = d_{ij}\|H\|_F^2\|x_i\|^2`.

Inputs have mean zero; :math:`\alpha = \langle x, \hat y\rangle`, as the proof uses it.
"""

from typing import Any

from theory.claim import Claim, Relation, Verdict
from theory.santurkar2018.texts import version_1
from theory.santurkar2018.version_1.weights import MEAN_ZERO

FIRST_TERM = (
    r"\Big\langle\frac{\partial}{\partial W_{kl}}\frac{\partial L}{\partial\hat y_j},"
    r" \frac{\partial\hat y_j}{\partial W_{ij}}\Big\rangle"
)
SECOND_TERM = (
    r"\Big\langle\frac{\partial}{\partial W_{kl}}\frac{\partial\hat y_j}{\partial W_{ij}},"
    r" \frac{\partial L}{\partial\hat y_j}\Big\rangle"
)
ENTRY = r"\frac{\partial^2\hat L}{\partial W_{ij}\partial W_{kl}}"


def equation(name: str, line: int, quote: str, sides: Any, statement: str, **fields: Any) -> Claim:
    """Return an equation of the proof as a claim, proved unless said otherwise."""
    number = name.split("/")[0]
    return _at(f"S-v1-eq-{name}", f"eq. ({number})", line, quote, sides, statement, fields)


def display(name: str, line: int, quote: str, sides: Any, statement: str, **fields: Any) -> Claim:
    """Return a display without a number as a claim, proved unless said otherwise."""
    return _at(f"S-v1-line-{name}", "display", line, quote, sides, statement, fields)


def _at(
    name: str, word: str, line: int, quote: str, sides: Any, statement: str, fields: dict[str, Any]
) -> Claim:
    settled = {
        "relation": Relation.EQUAL,
        "expected": Verdict.PROVED,
        "hypotheses": (MEAN_ZERO,),
        "falsified_by": "one batch, two inputs of mean zero and a loss",
        **fields,
    }
    return Claim(
        id=name,
        row="S-v1-steps",
        locations=(version_1(line, f"App. C, proof of Theorem C.6, {word}", quote),),
        statement=statement,
        sides=sides,
        order=2,
        **settled,
    )
