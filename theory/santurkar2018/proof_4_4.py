r"""The proof of Theorem 4.4: equations (10) to (18).

(10) takes the largest eigenvalue of any square M for max x'Mx over |x| = 1, which is right for
symmetric M (it is used for XX' alone).  For M = uv' with <u, v> >= 0 the eigenvalue is <u, v>, the
maximum (<u, v> + |u||v|)/2.  (17) prints 1/sqrt(m), in both texts, where (9) and Theorem 4.1
of the last version have 1/m: with g = (1, 0), y = (1, -1) and gamma = lambda = 1 it says
0 <= 1/2 - 1/sqrt(2).
(18) prints the gradient of Lhat where its words speak of the normal network.

Weights: W_ij takes input x_i (the vectors u and v of batch space) to unit j.
"""

from typing import Any

from theory.arithmetic import inner, norm_squared, sqrt
from theory.claim import (
    Claim,
    Hypothesis,
    Letters,
    Network,
    Reading,
    Relation,
    Sides,
    Term,
    Verdict,
    gradient_in_y,
)
from theory.maxima import gradient_along, largest_gradient
from theory.santurkar2018 import theorem_4_4
from theory.santurkar2018.texts import final, supplement

PROOF = "App. C.2, proof of Theorem 4.4, eq. "


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


def in_weight(network: Network, u: Any) -> Any:
    """The derivative in the weight of an input u."""
    return network.derivative(network.normalized_loss, network.y, u)


def line_11(network: Network, at: Letters) -> Sides:
    """The chain rule over the batch."""
    u = network.direction
    moved = network.derivative(lambda y: y, network.y, u)
    return Sides(in_weight(network, u), inner(gradient_in_y(network), moved))


def line_13(network: Network, at: Letters) -> Sides:
    """The sum over the batch as an inner product."""
    return Sides(
        in_weight(network, network.direction), inner(gradient_in_y(network), network.direction)
    )


def line_14(network: Network, at: Letters) -> Sides:
    """Two weights at once, X = [u, v]; along the first and twice the second."""
    u, v = network.direction, network.other_direction
    h = gradient_in_y(network)
    return Sides(in_weight(network, u + 2 * v), inner(u, h) + 2 * inner(v, h))


def bias(network: Network, at: Letters) -> Sides:
    """The derivative in a bias of the layer."""
    left = in_weight(network, at.one)
    return Sides(left, 0 * left)


def line_15(network: Network, at: Letters) -> Sides:
    """The squared norm, X = [u, v]."""
    u, v = network.direction, network.other_direction
    h = gradient_in_y(network)
    left = in_weight(network, u) ** 2 + in_weight(network, v) ** 2
    return Sides(left, inner(h, u * inner(u, h) + v * inner(v, h)))


def line_16(network: Network, at: Letters) -> Sides:
    """One X of rank one."""
    u, n = network.direction, norm_squared(network.direction)
    return Sides(
        network.bound**2 * in_weight(network, u) ** 2 / n,
        largest_gradient(gradient_in_y(network), network.bound),
    )


def off_input(network: Network, at: Letters) -> list[Term]:
    """What of the gradient is orthogonal to X."""
    h, u = gradient_in_y(network), network.direction
    return [Term(network.bound**2, (h - u * (inner(u, h) / norm_squared(u)),))]


def line_16_attained(network: Network, at: Letters) -> Sides:
    """X = lambda h e1'/|h|."""
    h = gradient_in_y(network)
    left = network.bound**2 * in_weight(network, h) ** 2 / norm_squared(h)
    return Sides(left, largest_gradient(h, network.bound))


def line_17(network: Network, at: Letters) -> Sides:
    """The coefficient 1/sqrt(m)."""
    right = theorem_4_4.right_side(network, at, at.g, 1 / sqrt(at.m))
    return Sides(theorem_4_4.largest_hat(network), right)


def line_18(network: Network, at: Letters) -> Sides:
    """As printed, with the gradient of Lhat on the left."""
    return Sides(theorem_4_4.largest_hat(network), largest_gradient(at.g, network.bound))


def line_18_each(network: Network, at: Letters) -> Sides:
    """The normal network at one X of rank one."""
    slope = network.derivative(network.loss, network.z, network.direction)
    left = network.bound**2 * slope**2 / norm_squared(network.direction)
    return Sides(left, largest_gradient(at.g, network.bound))


def off_input_18(network: Network, at: Letters) -> list[Term]:
    """What of g is orthogonal to X."""
    u = network.direction
    return [Term(network.bound**2, (at.g - u * (inner(u, at.g) / norm_squared(u)),))]


def line_18_attained(network: Network, at: Letters) -> Sides:
    """The normal network at X = lambda g e1'/|g|."""
    slope = network.derivative(network.loss, network.z, at.g)
    left = gradient_along(at.g, at.g, network.bound) * (slope / norm_squared(at.g)) ** 2
    return Sides(left, largest_gradient(at.g, network.bound))


_EPS, _UNIT = Reading.SHARED_EPSILON, Reading.UNIT_VARIANCE
Places = tuple[tuple[int, str], tuple[int, str]]


def _line(number: int, places: Places, statement: str, sides: Any, **fields: Any) -> Claim:
    (line, quote), (supplement_line, supplement_quote) = places
    settled = {"relation": Relation.EQUAL, "expected": Verdict.PROVED}
    return Claim(
        id=f"S-eq-{number}",
        row="S-eq-10-18" if number not in (11, 12, 13) else "S-steps",
        locations=(
            final(line, f"{PROOF}({number})", quote),
            supplement(supplement_line, f"{PROOF}({number})", supplement_quote),
        ),
        statement=statement,
        sides=sides,
        **{**settled, **fields},
    )


_CHAIN = "a batch, a loss and an input whose derivative in the weight differs"
TEN = _line(
    10, ((423, r"||x||_{2}=1}x^{\top}Mx"), (181, r"||x||_2 = 1} x^\top M x")),
    r"\max_{\|x\| = 1}x^\top Mx = \lambda_0(M),\quad M = uv^\top \in \mathbb R^{d\times d}",
    line_10, relation=Relation.AT_MOST, expected=Verdict.REFUTED,
    hypotheses=(Hypothesis(
        r"\lambda_0(uv^\top) = \langle u, v\rangle, \text{ as } \langle u, v\rangle \ge 0",
        lambda network, at: inner(network.direction, network.other_direction),
    ),),
    falsified_by="M = uv' and x with x'Mx above the largest eigenvalue",
)  # fmt: skip
REMARK = _line(
    10, ((425, "making this bound tight"), (183, "making this bound tight")),
    r"\|X\| \le \lambda \implies v^\top Xv \le \lambda\|v\|^2", remark_10,
    relation=Relation.AT_MOST, hypotheses=(BOUNDED,), certificate=from_bound,
    falsified_by="a square X of norm at most lambda and a v",
    remark="By Cauchy and Schwarz; (10) gives it for symmetric X only.",
)  # fmt: skip
ELEVEN = _line(
    11, ((429, r"{\partial W_{ij}} (11)"), (187, r"\frac{\partial y_{j}^{(b)}}{\partial W_{ij}}")),
    r"\frac{\partial\hat L}{\partial W_{ij}} = \sum_b\frac{\partial\hat L}{\partial y_j^{(b)}}"
    r"\frac{\partial y_j^{(b)}}{\partial W_{ij}}", line_11, falsified_by=_CHAIN,
)  # fmt: skip
TWELVE = _line(
    12, ((430, r"{x_{i}}^{(b)} (12)"), (190, r"x_i^{(b)}")),
    r"\frac{\partial\hat L}{\partial W_{ij}} = \sum_b\frac{\partial\hat L}{\partial y_j^{(b)}}"
    r"x_i^{(b)}", line_13, falsified_by=_CHAIN,
)  # fmt: skip
THIRTEEN = _line(
    13, ((431, r"{\bm{x_{i}}}\right\rangle (13)"), (193, r"x_i \right\rangle \tag{13}")),
    r"\frac{\partial\hat L}{\partial W_{ij}} = \Big\langle\frac{\partial\hat L}{\partial y_j},"
    r" x_i\Big\rangle", line_13, falsified_by=_CHAIN,
)  # fmt: skip
FOURTEEN = _line(
    14, ((432, r"=\bm{X}^{\top}\left("), (195, r"\boldsymbol{X}^{\top} \left(")),
    r"\frac{\partial\hat L}{\partial W_{\cdot j}} = X^\top\frac{\partial\hat L}{\partial y_j}",
    line_14, falsified_by=_CHAIN,
)  # fmt: skip
FIFTEEN = _line(
    15, ((436, r"\bm{XX^{\top}}\left("), (199, r"X X^{\top} \left(")),
    r"\|\nabla_{W_{\cdot j}}\hat L\|^2 = h^\top XX^\top h", line_15, falsified_by=_CHAIN,
)  # fmt: skip
SIXTEEN = _line(
    16, ((440, r"\leq\lambda^{2}\left("), (203, r"\leq \lambda^{2} \left(")),
    r"\max_{\|X\| \le \lambda}\|\nabla_W\hat L\|^2 \le \lambda^2\|h\|^2", line_16,
    relation=Relation.AT_MOST, certificate=off_input,
    falsified_by="one X = lambda u e1'/|u| with a larger gradient; h fixed while X varies",
    remark="The slack is what of h is orthogonal to X; it vanishes for u = h, so <= is =.",
)  # fmt: skip
SEVENTEEN = _line(
    17, ((444, r"-\frac{1}{\sqrt{m}}\left\langle{"), (207, r"\frac{\lambda^2 \gamma^2}{\sigma^2}")),
    r"\hat g_j \le \frac{\lambda^2\gamma^2}{\sigma^2}\Big(\|\nabla_y L\|^2"
    r" - \frac1m\langle\mathbf 1, \nabla_y L\rangle^2"
    r" - \frac1{\sqrt m}\langle\nabla_y L, \hat y\rangle^2\Big)", line_17,
    relation=Relation.AT_MOST, expected=Verdict.REFUTED,
    falsified_by="one batch, loss and lambda; g, sigma and yhat fixed while X varies",
    remark="Both texts print the root here; in the last version (9) and Theorem 4.1 have 1/m.",
)  # fmt: skip
EIGHTEEN = _line(
    18, ((448, r"g_{j}:=\max_{||X||_{2}<\lambda}"), (211, r"g_{j} := \max_{||X||_{2} < \lambda}")),
    r"\max_{\|X\| < \lambda}\|\nabla_W\hat L\|^2 = \lambda^2\|\nabla_y L\|^2", line_18,
    expected=Verdict.REFUTED,
    falsified_by="one batch, loss and lambda; g, sigma and yhat fixed while X varies",
    remark="Both texts print Lhat on the left; the words 'in the normal network' speak of L.",
)  # fmt: skip


def _renamed(claim: Claim, suffix: str, sides: Any, **changes: Any) -> Claim:
    return Claim(**{**vars(claim), "id": claim.id + suffix, "sides": sides, **changes})


def _both(claim: Claim) -> list[Claim]:
    return [claim, claim.under(_EPS, claim.expected)]


RIGHT_17 = SEVENTEEN.statement.replace(r"\sqrt m", "m")
SHARED_17 = SEVENTEEN.under(_EPS, Verdict.REFUTED)
SHARED_18 = EIGHTEEN.under(_EPS, Verdict.REFUTED)
EACH_18 = {
    "sides": line_18_each,
    "relation": Relation.AT_MOST,
    "certificate": off_input_18,
    "statement": r"\|X^\top\nabla_y L\|^2 \le \lambda^2\|\nabla_y L\|^2",
    "remark": "",
}
ATTAINED_18 = {
    "sides": line_18_attained,
    "statement": r"\|X^\top\nabla_y L\|^2 = \lambda^2\|\nabla_y L\|^2,"
    r"\ X = \lambda g e_1^\top/\|g\|",
    "remark": "",
}
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
    _renamed(REMARK, "-remark", remark_10),
    _renamed(
        REMARK, "-remark/tight", remark_10_tight, relation=Relation.EQUAL, hypotheses=(),
        certificate=None, statement=r"X = \lambda I \implies v^\top Xv = \lambda\|v\|^2",
        remark="X is m x d in the proof, and lambda I is not; X = lambda [I 0] has this XX' if"
        " d >= m, and for d < m a rank-one X serves each v.",
    ),
    *(c for line in (ELEVEN, TWELVE, THIRTEEN, FOURTEEN, FIFTEEN, SIXTEEN) for c in _both(line)),
    *_both(_renamed(
        FOURTEEN, "/bias", bias, statement=r"\frac{\partial\hat L}{\partial b_j} = 0",
        falsified_by="a derivative in a bias that is not zero",
    )),
    SIXTEEN.sharpened(
        "equality", sides=line_16_attained, relation=Relation.EQUAL, certificate=None, remark="",
        statement=r"\|X^\top h\|^2 = \lambda^2\|h\|^2,\ X = \lambda h e_1^\top/\|h\|",
    ),
    SEVENTEEN,
    SHARED_17,
    SEVENTEEN.under(_UNIT, Verdict.REFUTED, corrected_by=f"{SHARED_17.id}/corrected"),
    SEVENTEEN.corrected(
        sides=theorem_4_4.corrected, relation=Relation.EQUAL, remark="",
        statement=RIGHT_17.replace(r"\le", "="),
    ),
    SHARED_17.corrected(
        sides=theorem_4_4.corrected, certificate=theorem_4_4.slack, remark="", statement=RIGHT_17,
    ),
    EIGHTEEN,
    SHARED_18,
    EIGHTEEN.corrected(**EACH_18),
    EIGHTEEN.sharpened("attained", **ATTAINED_18),
    SHARED_18.corrected(**EACH_18),
    SHARED_18.sharpened("attained", **ATTAINED_18),
]  # fmt: skip
