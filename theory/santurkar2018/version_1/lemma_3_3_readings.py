r"""Lemma 3.3 for any e > 0, as printed, and with eps > 0.

At e = 1 the right side is -6.  For every e the bound 3e holds, which the printed one exceeds where
e < 1/2.  With eps > 0 the statement falls, because |BN| is not one any more ((19) to (20)): labels
that W and W' fit exactly are smaller than one, and the layer takes Wx away from them.
"""

from dataclasses import replace
from typing import Any

from theory import batchnorm
from theory.arithmetic import norm_squared, sqrt
from theory.claim import (
    Claim,
    Hypothesis,
    Letters,
    Network,
    Reading,
    Relation,
    Sides,
    Verdict,
)
from theory.santurkar2018.version_1.lemma_3_3 import (
    ANY,
    PRINTED,
    ROW,
    attained,
    bound,
    labels,
    missed,
    nearest,
    prediction,
    printed_factor,
    three,
)


def any_error(network: Network, at: Letters) -> Sides:
    """The printed inequality for e the case's bound, without squares."""
    e = network.bound
    return Sides(sqrt(missed(network)), sqrt(at.m) * e * printed_factor(e))


def fit_exactly(case: Any) -> Any:
    """Let labels and output be what W' gives with the layer."""
    goal = batchnorm.normalize(case.other_direction, case.eps)
    return replace(case, y=goal, direction=goal)


EXACT_FIT = Hypothesis(
    r"BN(W'x) = \ell,\ Wx = \ell",
    lambda network, at: (
        norm_squared(labels(network) - attained(network))
        + norm_squared(labels(network) - prediction(network))
    ),
    Relation.EQUAL,
    impose=fit_exactly,
)


def what_eps_takes(network: Network, at: Letters) -> Sides:
    """The squared distance to labels that Wx fits exactly."""
    right = norm_squared(labels(network)) * (1 - 1 / at.sigma) ** 2
    return Sides(missed(network), right)


FITTED_EXACTLY = Hypothesis(
    r"Wx = \ell",
    lambda network, at: norm_squared(labels(network) - prediction(network)),
    Relation.EQUAL,
    impose=lambda case: replace(case, direction=case.y),
)

ANY_ERROR = Claim(
    id="S-v1-lemma-3.3/any-epsilon",
    row=ROW,
    locations=PRINTED.locations,
    statement=PRINTED.statement.rsplit(",", 1)[0],
    sides=any_error,
    relation=Relation.LESS_THAN,
    hypotheses=ANY,
    expected=Verdict.REFUTED,
    falsified_by="one unit's labels and two outputs that fit them, any e > 0",
)
SHARED = Claim(
    id="S-v1-lemma-3.3/eps",
    row=ROW,
    locations=PRINTED.locations,
    statement=PRINTED.statement,
    sides=bound(printed_factor, lambda network: network.bound / (30 * network.bound + 1)),
    relation=Relation.LESS_THAN,
    reading=Reading.SHARED_EPSILON,
    hypotheses=(EXACT_FIT,),
    expected=Verdict.REFUTED,
    falsified_by="eps > 0, and labels that W and W' fit exactly",
    remark="The labels are smaller than one, so that the layer takes Wx away from them.",
)

CLAIMS = [
    ANY_ERROR,
    SHARED,
    SHARED.corrected(
        sides=what_eps_takes,
        relation=Relation.EQUAL,
        hypotheses=(FITTED_EXACTLY,),
        statement=r"Wx = \ell \Rightarrow \|BN(Wx) - \ell\|^2 = \Big(1 - \frac1\sigma\Big)^2"
        r"\|\ell\|^2,\quad \sigma^2 = \|\ell\|^2 + \epsilon",
        falsified_by="one batch that is its own labels, and eps > 0",
        remark="What is lost whatever e is: nothing only where |l|^2 = 1 - eps.",
    ),
    ANY_ERROR.corrected(
        sides=bound(three, lambda network: network.bound),
        certificate=lambda network, at: nearest(network, at, ANY),
        statement=r"\|BN(W'x) - \ell\| < e,\ \|Wx - \ell\| < e \Rightarrow"
        r" \|BN(Wx) - \ell\| < 3e",
        remark="Slack: BN(W'x) against the point nearest to Wx, and two triangles.",
    ),
]
