r"""Lemma 3.3 for one unit, sharp: :math:`|BN(Wx) - l|^2 < 1 + (1 - e)^2 - 2\sqrt{1 - 2e}`.

The bound is :math:`\sqrt2 e` to first order.  The proof bounds :math:`\langle BN(y), l\rangle`
from below by the second condition, and the first gives :math:`1 - e \le |l| \le 1 + e`.
"""

from typing import Any

from theory.claim import (
    Letters,
    Network,
    Sides,
    Term,
)
from theory.santurkar2018.version_1.lemma_3_3 import (
    CONDITIONS,
    PRINTED,
    attained,
    error,
    labels,
    missed,
    root,
)


def sharp_square(network: Network) -> Any:
    """Return the sharp bound's square."""
    e = error(network)
    return e**2 + (1 - root(network)) ** 2


def sharp(network: Network, at: Letters) -> Sides:
    """One unit's sharp bound."""
    return Sides(missed(network), at.m * sharp_square(network))


def sharp_slack(network: Network, at: Letters) -> list[Term]:
    r"""Return terms for the sharp bound.

    The slack is linear in :math:`|\ell|^2`, and a square at both ends of the interval
    :math:`[(1 - e)^2, (1 + e)^2]` where the first condition keeps it.
    """
    t, e, s = root(network), error(network), at.sigma
    l, other = labels(network), attained(network)
    weight = 1 / ((2 - 2 * t**2) * e * s)
    upper, rest = s - (1 + t - t**2), (1 - t) ** 3 * (1 + t)
    attainable, fitted = CONDITIONS
    return [
        Term(1 / s, (fitted,)),
        Term(weight, (l - other * (1 - e), upper)),
        Term(weight * rest, (l - other * (1 - e),)),
        Term(weight * (1 - e), (attainable, upper)),
        Term(weight * rest * (1 - e), (attainable,)),
        Term(weight, (l - other * (1 + e), s - t)),
        Term(weight * (1 + e), (attainable, s - t)),
    ]


CLAIMS = [
    PRINTED.sharpened(
        sides=sharp,
        certificate=sharp_slack,
        statement=r"\|BN(W'x) - \ell\| < e,\ \|Wx - \ell\| < e \Rightarrow"
        r" \|BN(Wx) - \ell\|^2 < 1 + (1 - e)^2 - 2\sqrt{1 - 2e},\quad e < \tfrac12",
        remark="For one unit; approached for m >= 3.",
    ),
]
