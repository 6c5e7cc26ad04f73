r"""Lemma 3.3 with the squared norm, the mean square, for the loss.

The conditions are then :math:`|BN(W'x) - l|^2 < e` and :math:`|Wx - l|^2 < e`.  Up to e = 1/4 the
statement follows from the sharp bound for the norm, at the root of e; above it falls, because Wx
may lie across the origin from the labels: W'x = (1, -1), l = (1, -1)/2, Wx = -(1, -1)/200,
e = 13/50 gives 9/4 on the left and 819/400 on the right.  What holds is 9e.

The search looks at e above 1/4, at labels u/2, half of BN(W'x), and at outputs y/1000.
"""

from dataclasses import replace
from typing import Any

from theory import batchnorm
from theory.arithmetic import norm_squared
from theory.batchnorm import variance
from theory.claim import Claim, Hypothesis, Letters, Network, Relation, Sides, Term, Verdict
from theory.santurkar2018.version_1 import lemma_3_3
from theory.santurkar2018.version_1.lemma_3_3 import (
    CONDITIONS,
    attained,
    error,
    labels,
    missed,
    nearest,
    normalized,
    prediction,
)
from theory.santurkar2018.version_1.lemma_3_3_sharp import sharp_slack, sharp_square


def printed_bound(e: Any) -> Any:
    """Return 3e(1 + e)/(1 - 2e)."""
    return 3 * e * (1 + e) / (1 - 2 * e)


def above_a_quarter(network: Network) -> Any:
    """Return e between 1/4 and 1/2."""
    return (25 * network.bound + 1) / (100 * network.bound)


def falls(network: Network, at: Letters) -> Sides:
    """The printed inequality for e above 1/4."""
    distance = norm_squared(normalized(network) - labels(network) / 2)
    return Sides(distance, at.m * printed_bound(above_a_quarter(network)))


def close(name: str, point: Any) -> Hypothesis:
    """Return that a point is close to the labels in the mean square."""

    def margin(network: Network, at: Letters) -> Any:
        distance = norm_squared(point(network) - labels(network) / 2)
        return at.m * above_a_quarter(network) - distance

    return Hypothesis(rf"\|{name} - \ell\|^2 < e", margin, Relation.MORE_THAN)


def half_of_attained(case: Any) -> Any:
    """Let the labels be half of what W' gives with the layer."""
    return replace(case, direction=batchnorm.normalize(case.other_direction, case.eps))


NOT_CONSTANT = Hypothesis(
    r"\sigma(W'x) > 0",
    lambda network, at: variance(network.other_direction),
    Relation.MORE_THAN,
    impose=half_of_attained,
    printed=False,
)


def holds(network: Network, at: Letters) -> Sides:
    """The printed inequality for the square of the other lemma's e, which is below 1/4."""
    return Sides(missed(network), at.m * printed_bound(error(network) ** 2))


def holds_slack(network: Network, at: Letters) -> list[Term]:
    """The sharp bound for the norm, and a polynomial without negative coefficients."""
    left = printed_bound(error(network) ** 2) - sharp_square(network)
    return [*sharp_slack(network, at), Term(at.m * left, ())]


def nine(network: Network, at: Letters) -> Sides:
    """Nine times e, written as the square of the case's bound."""
    return Sides(missed(network), 9 * at.m * network.bound**2)


_STATEMENT = (
    r"\|BN(W'x) - \ell\|^2 < e,\ \|Wx - \ell\|^2 < e \Rightarrow"
    r" \|BN(Wx) - \ell\|^2 < 3e\,\frac{1 + e}{1 - 2e},\quad e < \tfrac12"
)
SQUARED = Claim(
    id="S-v1-lemma-3.3/squared",
    row=lemma_3_3.ROW,
    locations=lemma_3_3.PRINTED.locations,
    statement=_STATEMENT,
    sides=falls,
    relation=Relation.LESS_THAN,
    hypotheses=(
        NOT_CONSTANT,
        close("BN(W'x)", attained),
        close("Wx", lambda network: prediction(network) / 1000),
    ),
    expected=Verdict.REFUTED,
    falsified_by="one unit's labels and two outputs that fit them, e < 1/2",
)

CLAIMS = [
    SQUARED,
    SQUARED.corrected(
        sides=holds,
        hypotheses=CONDITIONS,
        certificate=holds_slack,
        statement=_STATEMENT.replace(r"\tfrac12", r"\tfrac14"),
        remark="Slack: largest where e is close to 1/4, vanishing with e to first order in no"
        " case, since the sharp bound is 2e.",
    ),
    SQUARED.corrected(
        "nine",
        sides=nine,
        hypotheses=lemma_3_3.ANY,
        certificate=lambda network, at: nearest(network, at, lemma_3_3.ANY),
        statement=_STATEMENT.split(r"3e\,")[0] + "9e",
        remark="For every e > 0; e is the square of the case's bound.",
    ),
]
