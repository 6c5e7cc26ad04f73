r"""The proof of Theorem 4.4, equations (16) to (18): the maximum over the inputs.

(17) prints 1/sqrt(m), in both texts, where (9) and Theorem 4.1 of the last version have 1/m: with
g = (1, 0), y = (1, -1) and gamma = lambda = 1 it says 0 <= 1/2 - 1/sqrt(2).  (18) prints the
gradient of Lhat where its words speak of the normal network.
"""

from theory.arithmetic import inner, norm_squared, sqrt
from theory.claim import Letters, Network, Reading, Relation, Sides, Term, Verdict, gradient_in_y
from theory.maxima import largest_gradient
from theory.santurkar2018 import theorem_4_4
from theory.santurkar2018.equations import displayed
from theory.santurkar2018.proof_4_4_chain_rule import in_weight

_line = displayed("App. C.2, proof of Theorem 4.4", "S-eq-10-18")


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
    left = network.bound**2 * slope**2 / norm_squared(at.g)
    return Sides(left, largest_gradient(at.g, network.bound))


_EPS, _UNIT = Reading.SHARED_EPSILON, Reading.UNIT_VARIANCE

SIXTEEN = _line(
    {16: ((440, r"\leq\lambda^{2}\left("), (203, r"\leq \lambda^{2} \left("))},
    r"\max_{\|X\| \le \lambda}\|\nabla_W\hat L\|^2 \le \lambda^2\|h\|^2", line_16,
    relation=Relation.AT_MOST, certificate=off_input,
    falsified_by="one X = lambda u e1'/|u| with a larger gradient; h fixed while X varies",
    remark="The slack is what of h is orthogonal to X; it vanishes for u = h, so <= is =.",
)  # fmt: skip

SEVENTEEN = _line(
    {17: ((444, r"-\frac{1}{\sqrt{m}}\left\langle{"),
          (207, r"\frac{\lambda^2 \gamma^2}{\sigma^2}"))},
    r"\hat g_j \le \frac{\lambda^2\gamma^2}{\sigma^2}\Big(\|\nabla_y L\|^2"
    r" - \frac1m\langle\mathbf 1, \nabla_y L\rangle^2"
    r" - \frac1{\sqrt m}\langle\nabla_y L, \hat y\rangle^2\Big)", line_17,
    relation=Relation.AT_MOST, expected=Verdict.REFUTED,
    falsified_by="one batch, loss and lambda; g, sigma and yhat fixed while X varies",
    remark="Both texts print the root here; in the last version (9) and Theorem 4.1 have 1/m.",
)  # fmt: skip

EIGHTEEN = _line(
    {18: ((448, r"g_{j}:=\max_{||X||_{2}<\lambda}"),
          (211, r"g_{j} := \max_{||X||_{2} < \lambda}"))},
    r"\max_{\|X\| < \lambda}\|\nabla_W\hat L\|^2 = \lambda^2\|\nabla_y L\|^2", line_18,
    expected=Verdict.REFUTED,
    falsified_by="one batch, loss and lambda; g, sigma and yhat fixed while X varies",
    remark="Both texts print Lhat on the left; the words 'in the normal network' speak of L.",
)  # fmt: skip

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
    SIXTEEN,
    SIXTEEN.under(_EPS, Verdict.PROVED),
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
