r"""The proof of Theorem 4.4, equation (10): the maximum of a quadratic form.

(10) takes the largest eigenvalue of any square M for max x'Mx over |x| = 1, which is right for
symmetric M (it is used for XX' alone).  For M = uv' with <u, v> >= 0 the eigenvalue is <u, v>, the
maximum (<u, v> + |u||v|)/2.
"""

from dataclasses import replace

from theory.arithmetic import inner, norm_squared
from theory.claim import Hypothesis, Letters, Network, Relation, Sides, Term, Verdict
from theory.santurkar2018.equations import displayed

_line = displayed("App. C.2, proof of Theorem 4.4", "S-eq-10-18")


def line_10(network: Network, at: Letters) -> Sides:
    """X'Mx for M = uv' and x = y, to the largest eigenvalue."""
    u, v, y = network.direction, network.other_direction, network.y
    return Sides(inner(y, u) * inner(y, v), inner(u, v) * norm_squared(y))


def line_10_symmetric(network: Network, at: Letters) -> Sides:
    """The same for M = uu'."""
    u, y = network.direction, network.y
    return Sides(inner(y, u) ** 2, norm_squared(u) * norm_squared(y))


def cauchy_schwarz(network: Network, at: Letters) -> list[Term]:
    """What of y is orthogonal to u."""
    u, y = network.direction, network.y
    return [Term(1, (u, y - u * (inner(u, y) / norm_squared(u))))]


def line_10_any(network: Network, at: Letters) -> Sides:
    """For M = uv': the eigenvalue of (M + M')/2, rearranged and squared."""
    u, v, y = network.direction, network.other_direction, network.y
    left = (2 * inner(y, u) * inner(y, v) - inner(u, v) * norm_squared(y)) ** 2
    return Sides(left, norm_squared(u) * norm_squared(v) * norm_squared(y) ** 2)


def reflected(network: Network, at: Letters) -> list[Term]:
    """What of u, reflected at y, is orthogonal to v."""
    u, v, y = network.direction, network.other_direction, network.y
    mirror = 2 * inner(y, u) * y - norm_squared(y) * u
    return [Term(1, (v, mirror - v * (inner(v, mirror) / norm_squared(v))))]


def remark_10(network: Network, at: Letters) -> Sides:
    """V'Xv for v = y and Xv = u."""
    y = network.y
    return Sides(inner(y, network.direction), network.bound * norm_squared(y))


BOUNDED = Hypothesis(
    r"\|Xv\| \le \lambda\|v\|",
    lambda network, at: (
        network.bound**2 * norm_squared(network.y) - norm_squared(network.direction)
    ),
)


def from_bound(network: Network, at: Letters) -> list[Term]:
    """A square, and the hypothesis."""
    weight = 1 / (2 * network.bound)
    return [
        Term(weight, (network.bound * network.y - network.direction,)),
        Term(weight, (BOUNDED,)),
    ]


def remark_10_tight(network: Network, at: Letters) -> Sides:
    """V'Xv for X = lambda I."""
    y = network.y
    return Sides(inner(y, network.bound * y), network.bound * norm_squared(y))


EIGENVALUE = Hypothesis(
    r"\lambda_0(uv^\top) = \langle u, v\rangle, \text{ as } \langle u, v\rangle \ge 0",
    lambda network, at: inner(network.direction, network.other_direction),
)

TEN = _line(
    {10: ((423, r"||x||_{2}=1}x^{\top}Mx"), (181, r"||x||_2 = 1} x^\top M x"))},
    r"\max_{\|x\| = 1}x^\top Mx = \lambda_0(M),\quad M = uv^\top \in \mathbb R^{d\times d}",
    line_10, relation=Relation.AT_MOST, expected=Verdict.REFUTED,
    hypotheses=(EIGENVALUE,),
    falsified_by="M = uv' and x with x'Mx above the largest eigenvalue",
)  # fmt: skip

REMARK = replace(_line(
    {10: ((425, "making this bound tight"), (183, "making this bound tight"))},
    r"\|X\| \le \lambda \implies v^\top Xv \le \lambda\|v\|^2", remark_10,
    relation=Relation.AT_MOST, hypotheses=(BOUNDED,), certificate=from_bound,
    falsified_by="a square X of norm at most lambda and a v",
    remark="By Cauchy and Schwarz; (10) gives it for symmetric X only.",
), id="S-eq-10-remark")  # fmt: skip

CLAIMS = [
    TEN,
    TEN.corrected(
        hypotheses=(), sides=line_10_symmetric, certificate=cauchy_schwarz,
        statement=r"\max_{\|x\| = 1}x^\top Mx = \lambda_0(M),\quad M = uu^\top",
    ),
    TEN.sharpened(
        hypotheses=(), sides=line_10_any, certificate=reflected,
        statement=r"\max_{\|x\| = 1}x^\top Mx = \lambda_0\big(\tfrac12(M + M^\top)\big)"
        r" = \tfrac12(\langle u, v\rangle + \|u\|\|v\|),\quad M = uv^\top",
    ),
    REMARK,
    replace(
        REMARK, id=f"{REMARK.id}/tight", sides=remark_10_tight, relation=Relation.EQUAL,
        hypotheses=(), certificate=None,
        statement=r"X = \lambda I \implies v^\top Xv = \lambda\|v\|^2",
        remark="X is m x d in the proof, and lambda I is not; X = lambda [I 0] has this XX' if"
        " d >= m, and for d < m a rank-one X serves each v.",
    ),
]  # fmt: skip
