r"""Lemma 3.3, in the appendix C.5: weights that fit the labels still fit them with the layer.

One unit, y = Wx and W'x any batches of mean zero, labels l of mean zero.  The norm that makes
BN(Wx) of norm one is the root of the mean square.  The statement: if |BN(W'x) - l| < e for some
W' and |Wx - l| < e, then :math:`|BN(Wx) - l| < 3e\frac{1 + e}{1 - 2e}`.

- It needs e < 1/2 (used silently at (31)) and eps = 0:
  :mod:`~theory.santurkar2018.version_1.lemma_3_3_readings`.
- With e < 1/2 it holds, and the factor (1 + e)/(1 - 2e) is superfluous.  BN(y) is the point
  nearest to y among those of mean zero and norm one, and BN(W'x) is another, so that
  :math:`|BN(y) - l| \le |BN(W'x) - y| + |y - l| < 3e`.  The Euclidean norm does as well.
- For one unit there is a sharp bound, :math:`\sqrt2 e` to first order:
  :mod:`~theory.santurkar2018.version_1.lemma_3_3_sharp`.
- If the loss is the squared norm: :mod:`~theory.santurkar2018.version_1.lemma_3_3_squared`.

All e in (0, 1/2) are :math:`(1 - t^2)/2` with :math:`t = 1/(1 + \lambda)`, lambda the case's bound.
Sides are squares, times m; the labels are the case's direction, W'x its second one.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from theory import batchnorm
from theory.arithmetic import norm_squared
from theory.batchnorm import centre, variance
from theory.claim import (
    Claim,
    Hypothesis,
    Letters,
    Network,
    Relation,
    Sides,
    Term,
    Verdict,
)
from theory.santurkar2018.texts import version_1

ROW = "S-v1-lemma-3.3"


def root(network: Network) -> Any:
    r"""Return :math:`t = \sqrt{1 - 2e}`."""
    return 1 / (1 + network.bound)


def error(network: Network) -> Any:
    """Return e."""
    return (1 - root(network) ** 2) / 2


def labels(network: Network) -> Any:
    """Return l, of mean zero."""
    return centre(network.direction)


def prediction(network: Network) -> Any:
    """Return Wx, of mean zero."""
    return centre(network.y)


def normalized(network: Network) -> Any:
    """Return BN(Wx)."""
    return network.normalize(network.y)


def attained(network: Network) -> Any:
    """Return BN(W'x)."""
    return network.normalize(network.other_direction)


def missed(network: Network) -> Any:
    """Return the squared distance of BN(Wx) to the labels."""
    return norm_squared(normalized(network) - labels(network))


def within(
    name: str, point: Any, radius: Any, is_mean: bool = True, impose: Any = None
) -> Hypothesis:
    """Return that a point is closer to the labels than a radius, in the root mean square."""

    def margin(network: Network, at: Letters) -> Any:
        size = at.m if is_mean else 1
        return size * radius(network) ** 2 - norm_squared(point(network) - labels(network))

    return Hypothesis(rf"\|{name} - \ell\| < e", margin, Relation.MORE_THAN, impose)


def brought_near(radius: Any, is_mean: bool) -> Callable[[Any], Any]:
    """Return how to put the labels within e of BN(W'x), and Wx within e of the labels."""

    def step(x: Any, case: Any) -> Any:
        square = variance(x) if is_mean else norm_squared(centre(x))
        return centre(x) * (2 * radius(case) / (1 + square))

    def impose(case: Any) -> Any:
        goal = batchnorm.normalize(case.other_direction, case.eps)
        near = goal + step(case.direction, case)
        return replace(case, direction=near, y=near + step(case.y, case))

    return impose


def conditions(radius: Any, is_mean: bool = True) -> tuple[Hypothesis, Hypothesis]:
    """Return that W' fits the labels with the layer, and W without it."""
    return (
        within("BN(W'x)", attained, radius, is_mean, brought_near(radius, is_mean)),
        within("Wx", prediction, radius, is_mean),
    )


def bound(factor: Any, radius: Any = error, is_mean: bool = True) -> Any:
    """Return sides with the bound a factor, which may depend on e, times e."""

    def sides(network: Network, at: Letters) -> Sides:
        e = radius(network)
        return Sides(missed(network), (at.m if is_mean else 1) * (factor(e) * e) ** 2)

    return sides


def printed_factor(e: Any) -> Any:
    """Return 3(1 + e)/(1 - 2e)."""
    return 3 * (1 + e) / (1 - 2 * e)


def three(e: Any) -> Any:
    """Return 3."""
    return 3


def nearest(network: Network, at: Letters, both: tuple[Hypothesis, Hypothesis]) -> list[Term]:
    """Return terms for 9 e^2 less the squared distance; BN(Wx) is nearest to Wx."""
    y, l = prediction(network), labels(network)
    z, other = normalized(network), attained(network)
    return [
        Term(3, (both[0],)),
        Term(6, (both[1],)),
        Term(3 * at.sigma / 2, (z - other,)),
        Term(6, ((other + y) / 2 - l,)),
        Term(2, ((z - 3 * y + 2 * l) / 2,)),
    ]


def slack(
    both: tuple[Hypothesis, Hypothesis], factor: Any, is_mean: bool = True
) -> Callable[[Network, Letters], list[Term]]:
    """Return the certificate of a factor that is at least 3."""

    def terms(network: Network, at: Letters) -> list[Term]:
        e, size = error(network), at.m if is_mean else 1
        return [*nearest(network, at, both), Term(size * e**2 * (factor(e) ** 2 - 9), ())]

    return terms


CONDITIONS = conditions(error)
EUCLIDEAN = conditions(error, is_mean=False)
ANY = conditions(lambda network: network.bound)

PRINTED = Claim(
    id="S-v1-lemma-3.3",
    row=ROW,
    locations=(
        version_1(
            175, "Sect. 3.3, Lemma 3.3", r"\left(\frac{1+\varepsilon}{1-2\varepsilon}\right)"
        ),
        version_1(485, "App. C, Lemma C.5", r"\left(\frac{1+\varepsilon}{1-2\varepsilon}\right)"),
    ),
    statement=r"\|BN(W'x) - \ell\| < e,\ \|Wx - \ell\| < e \Rightarrow"
    r" \|BN(Wx) - \ell\| < 3e\,\frac{1 + e}{1 - 2e},\quad"
    r" \|v\|^2 = \tfrac1m\textstyle\sum_b v_b^2,\ e < \tfrac12",
    sides=bound(printed_factor),
    relation=Relation.LESS_THAN,
    hypotheses=CONDITIONS,
    certificate=slack(CONDITIONS, printed_factor),
    expected=Verdict.PROVED,
    falsified_by="one unit's labels and two outputs that fit them, e < 1/2",
    remark="Slack: the factor (1 + e)/(1 - 2e), and the 3, which for one unit is sqrt(2) to"
    " first order.",
)
NORM = Claim(
    id="S-v1-lemma-3.3/euclidean",
    row=ROW,
    locations=PRINTED.locations,
    statement=PRINTED.statement.split(r",\quad")[0] + r",\quad \|v\|^2 = \textstyle\sum_b v_b^2",
    sides=bound(printed_factor, is_mean=False),
    relation=Relation.LESS_THAN,
    hypotheses=EUCLIDEAN,
    certificate=slack(EUCLIDEAN, printed_factor, is_mean=False),
    expected=Verdict.PROVED,
    falsified_by="one unit's labels and two outputs that fit them, e < 1/2",
    remark="The proof's |BN(Wx)| = 1 is false in this norm; the statement is not.",
)

CLAIMS = [PRINTED, NORM]
