r"""The proof of Lemma C.5, line by line: the sides of equations (18) to (33).

(18) and (23) are the conditions; (22) is empty.  Norms are root mean squares, y is Wx, BN(W'x) the
attained point, l the labels, e is in (0, 1/2).  (19) to (27) and (33) hold, with sums of squares
for proofs; (20) needs :math:`|BN| = 1`, that is eps = 0.  (28) needs the root mean square: the
Euclidean norm of y is :math:`\sqrt m\,\sigma`.  (30) has lost a delimiter and prints "=" for "at
most", as does (31).
"""

from collections.abc import Callable
from typing import Any

from theory.arithmetic import norm_squared, sqrt
from theory.claim import Hypothesis, Letters, Network, Sides, Term
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
from theory.santurkar2018.version_1.weights import length

ATTAINED, FITTED = CONDITIONS
Function = Callable[[Network, Letters], Any]


def size(at: Letters, x: Any) -> Any:
    """Return the root mean square."""
    return length(x) / sqrt(at.m)


def mean_square(point: Callable[[Network], Any], bound: Callable[[Any], Any]) -> Function:
    """Return the mean square of a point, and the square of a function of e."""

    def sides(network: Network, at: Letters) -> Sides:
        return Sides(norm_squared(point(network)) / at.m, bound(error(network)) ** 2)

    return sides


def labels_slack(sign: int) -> Callable[[Network, Letters], list[Term]]:
    """Return terms for |l| > 1 - e (sign -1) or |l| < 1 + e (sign 1)."""

    def terms(network: Network, at: Letters) -> list[Term]:
        e, l = error(network), labels(network)
        near = 1 + sign * e
        return [
            Term(1 / (e * at.m), (l - attained(network) * near,)),
            Term(near / (e * at.m), (ATTAINED,)),
        ]

    return terms


def output_slack(network: Network, at: Letters) -> list[Term]:
    """Return terms for (|y| + e)^2 > |l|^2; the norm of y is sigma."""
    e, y, s = error(network), prediction(network), at.sigma
    off = labels(network) - y
    return [
        Term((1 + s / e) / at.m, (FITTED,)),
        Term(e / (s * at.m), (y - off * (s / e),)),
    ]


def lower_slack(network: Network, at: Letters) -> list[Term]:
    """Return terms for (|y| + e)^2 > (1 - e)^2, by |l| > 1 - e."""
    return [*output_slack(network, at), *labels_slack(-1)(network, at)]


def upper_slack(network: Network, at: Letters) -> list[Term]:
    """Return terms for |y| < 1 + 2e, by |l| < 1 + e."""
    l = labels(network)
    off, share = prediction(network) - l, error(network) / (1 + error(network))
    return [
        *(Term((1 + share) * t.weight, t.factors) for t in labels_slack(1)(network, at)),
        Term((1 + 1 / share) / at.m, (FITTED,)),
        Term(share / at.m, (l - off / share,)),
    ]


def lower(network: Network, at: Letters) -> Sides:
    """(25), as (|y| + e)^2 > (1 - e)^2."""
    return Sides((at.sigma + error(network)) ** 2, (1 - error(network)) ** 2)


def line_24(network: Network, at: Letters) -> Sides:
    """(24), as (|y| + e)^2 > |l|^2."""
    return Sides((at.sigma + error(network)) ** 2, norm_squared(labels(network)) / at.m)


def near_labels(point: Callable[[Network], Any]) -> Function:
    """(19) and (26), as |p|^2 < (|l| + e)^2 for a point p that fits the labels."""

    def sides(network: Network, at: Letters) -> Sides:
        right = size(at, labels(network)) + error(network)
        return Sides(norm_squared(point(network)) / at.m, right**2)

    return sides


def near_labels_slack(
    point: Callable[[Network], Any], fitted: Hypothesis
) -> Callable[[Network, Letters], list[Term]]:
    """Return the terms of (24) with the point and l exchanged."""

    def terms(network: Network, at: Letters) -> list[Term]:
        e, l = error(network), labels(network)
        r, off = size(at, l), point(network) - l
        return [
            Term(1 / at.m, (fitted,)),
            Term(1 / (e * at.m), (sqrt(r), fitted)),
            Term(e / at.m, (1 / sqrt(r), l - off * (r / e))),
        ]

    return terms


def line_28(network: Network, at: Letters) -> Sides:
    """BN(Wx) is Wx over its norm, as vectors."""
    y = prediction(network)
    return Sides(normalized(network), y / size(at, y))


def line_28_euclidean(network: Network, at: Letters) -> Sides:
    """The same with the Euclidean norm."""
    y = prediction(network)
    return Sides(normalized(network), y / length(y))


def line_29(network: Network, at: Letters) -> Sides:
    """The norm taken out, as squares."""
    y, s = prediction(network), at.sigma
    return Sides(missed(network), norm_squared(y - labels(network) * s) / s**2)


def line_30(network: Network, at: Letters) -> Sides:
    """With the delimiter that the terms suggest, and |1 - |y|| |l|."""
    y, l, s = prediction(network), labels(network), at.sigma
    right = length(y - l) + length(l * (1 - s))
    return Sides(length(normalized(network) - l), right / s)


def line_30_squares(network: Network, at: Letters) -> Sides:
    """The same as squares."""
    actual, claimed = line_30(network, at)
    return Sides(actual**2, claimed**2)


def line_30_slack(network: Network, at: Letters) -> list[Term]:
    """The triangle's defect."""
    l, s = labels(network), at.sigma
    p, q = (prediction(network) - l) / s, l * ((1 - s) / s)
    return [Term(1, (1 / sqrt(length(p) * length(q)), p * length(q) - q * length(p)))]


def final_bound(network: Network) -> Any:
    """Return the right side of (31)."""
    e = error(network)
    return (e + 2 * e * (1 + e)) / (1 - 2 * e)


def line_31(network: Network, at: Letters) -> Sides:
    """The bounds put in."""
    return Sides(missed(network), at.m * final_bound(network) ** 2)


def line_31_slack(network: Network, at: Letters) -> list[Term]:
    """The 3e of the lemma's short proof, and what (31) is larger."""
    left = final_bound(network) ** 2 - 9 * error(network) ** 2
    return [*nearest(network, at, CONDITIONS), Term(at.m * left, ())]


def line_32(network: Network, at: Letters) -> Sides:
    """Arithmetic."""
    e = error(network)
    return Sides(final_bound(network), (3 * e + 2 * e**2) / (1 - 2 * e))


def line_33(network: Network, at: Letters) -> Sides:
    """The last step."""
    e = error(network)
    return Sides((3 * e + 2 * e**2) / (1 - 2 * e), 3 * e * (1 + e) / (1 - 2 * e))


def line_33_slack(network: Network, at: Letters) -> list[Term]:
    """Return e^2/(1 - 2e)."""
    e = error(network)
    return [Term(e**2 / (1 - 2 * e), ())]
