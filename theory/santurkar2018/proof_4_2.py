r"""The proof of Theorem 4.2, every other displayed step: equations (19) to (51).

Operators are applied to a generic direction u.  The steps hold at eps = 0.  With eps > 0,
(28) and (29) fall, since gamma/sigma = gamma sqrt(m) (c'c + m eps)^(-1/2) for the centred batch c,
and so do (48) to (51), which use (44) and (45).  (21) is a column times a column: it has to be read
as (23) and (32) have it, [...] times the transpose of the derivative; the printed order gives the
transpose of the right matrix, and a Hessian that is not symmetric.
"""

from dataclasses import replace
from typing import Any

from theory.arithmetic import inner, mean, norm_squared, sqrt
from theory.batchnorm import centre
from theory.claim import (
    Claim,
    Letters,
    Location,
    Network,
    Reading,
    Relation,
    Sides,
    Verdict,
    gradient_in_y,
    hessian_in_y,
)
from theory.santurkar2018 import theorem_4_2, theorem_4_2_relative_norms
from theory.santurkar2018.projection_identities import off_yhat
from theory.santurkar2018.texts import final, supplement

PROOF = "App. C.2, proof of Theorem 4.2, eq. "


def left(network: Network) -> Any:
    """The Hessian of the network with the layer, applied to u."""
    return hessian_in_y(network, network.direction)


def bracket(network: Network, yhat: Any, z: Any) -> Any:
    r""":math:`mg - m\mu_g - \hat y\langle g, \hat y\rangle` at an output z of the layer."""
    g = network.gradient(network.loss, z)
    return network.m * (g - mean(g)) - yhat * inner(g, yhat)


def of_z(network: Network, z: Any) -> Any:
    """The layer's normalised batch as a function of its output."""
    return (z - network.beta) / network.gamma


def line_19(network: Network, at: Letters) -> Sides:
    """Fact C.1, differentiated."""

    def first(y: Any) -> Any:
        scale = network.gamma / (network.m * network.standard_deviation(y))
        return scale * bracket(network, network.normalize(y), network.forward(y))

    return Sides(left(network), network.derivative(first, network.y, network.direction))


def _through_z(network: Network) -> Any:
    """The derivative of the bracket through z, and z's along u."""
    moved = network.derivative(network.forward, network.y, network.direction)
    return network.derivative(lambda z: bracket(network, of_z(network, z), z), network.z, moved)


def _slope(network: Network) -> Any:
    """The gradient of gamma/sigma."""
    return network.gradient(lambda y: network.gamma / network.standard_deviation(y), network.y)


def line_21(network: Network, at: Letters) -> Sides:
    """The product rule."""
    fixed = bracket(network, at.yhat, network.z) / at.m
    first = at.gamma / (at.m * at.sigma) * _through_z(network)
    return Sides(left(network), first + fixed * inner(_slope(network), network.direction))


def line_21_in_order(network: Network, at: Letters) -> Sides:
    """The second term in the printed order."""
    fixed = bracket(network, at.yhat, network.z) / at.m
    first = at.gamma / (at.m * at.sigma) * _through_z(network)
    return Sides(left(network), first + _slope(network) * inner(fixed, network.direction))


def line_23(network: Network, at: Letters) -> Sides:
    """The three parts of the bracket apart."""
    moved = network.derivative(network.forward, network.y, network.direction)

    def along(z: Any) -> Any:
        yhat = of_z(network, z)
        return yhat * inner(yhat, network.gradient(network.loss, z)) / network.m

    def average(z: Any) -> Any:
        return 0 * z + mean(network.gradient(network.loss, z))

    parts = (
        at.H(moved)
        - network.derivative(average, network.z, moved)
        - network.derivative(along, network.z, moved)
    )
    fixed = centre(at.g) - at.yhat * inner(at.g, at.yhat) / at.m
    return Sides(
        left(network),
        at.gamma / at.sigma * parts + fixed * inner(_slope(network), network.direction),
    )


def _part_along(network: Network, u: Any) -> Any:
    def along(z: Any) -> Any:
        yhat = of_z(network, z)
        return yhat * inner(yhat, network.gradient(network.loss, z))

    return network.derivative(along, network.z, u)


def line_25(network: Network, at: Letters) -> Sides:
    """The derivative in z through yhat."""
    u = network.direction

    def along(yhat: Any) -> Any:
        z = network.gamma * yhat + network.beta
        return yhat * inner(yhat, network.gradient(network.loss, z))

    claimed = network.derivative(along, network.normalize(network.y), u) / network.gamma
    return Sides(_part_along(network, u), claimed)


def line_26(network: Network, at: Letters) -> Sides:
    """The product rule."""
    u = network.direction
    own = u * inner(at.g, at.yhat) / at.gamma
    rest = at.yhat * inner(at.yhat, at.H(u)) + at.yhat * inner(at.g, u) / at.gamma
    return Sides(_part_along(network, u), own + rest)


def line_28(network: Network, at: Letters) -> Sides:
    """The standard deviation through the norm of the centred batch."""

    def printed(y: Any) -> Any:
        return network.gamma * sqrt(at.m) / sqrt(norm_squared(centre(y)))

    return Sides(_slope(network), network.gradient(printed, network.y))


def line_29(network: Network, at: Letters) -> Sides:
    """The power, differentiated."""
    c = centre(network.y)
    n = norm_squared(c)
    return Sides(_slope(network), -at.gamma * sqrt(at.m) / (2 * n * sqrt(n)) * (2 * c))


def line_29_corrected(network: Network, at: Letters) -> Sides:
    """The same with eps."""
    c = centre(network.y)
    n = norm_squared(c) + at.m * network.eps
    return Sides(_slope(network), -at.gamma * sqrt(at.m) / (2 * n * sqrt(n)) * (2 * c))


def factor(at: Letters, u: Any) -> Any:
    """The bracket of (31), a matrix, applied to a vector."""
    yhat_g, w = inner(at.g, at.yhat), at.H(u)
    by_yhat = at.yhat * (inner(at.yhat, w) + inner(at.g, u) / at.gamma)
    return at.m * w - at.one * inner(at.one, w) - u * (yhat_g / at.gamma) - by_yhat


def line_37(network: Network, at: Letters) -> Any:
    """What (32) and (37) subtract, applied to u."""
    fixed = centre(at.g) - at.yhat * inner(at.g, at.yhat) / at.m
    return at.gamma / (at.m * at.sigma**2) * fixed * inner(at.yhat, network.direction)


def line_32(network: Network, at: Letters) -> Sides:
    """The terms put in, dz/dy left as it is."""
    moved = network.derivative(network.forward, network.y, network.direction)
    scale = at.gamma / (at.m * at.sigma)
    return Sides(left(network), factor(at, moved) * scale - line_37(network, at))


def lines_34_37(network: Network, at: Letters) -> Sides:
    """Fact C.2 put in: one line for each of its three terms."""
    u, scale = network.direction, at.gamma**2 / (at.m * at.sigma**2)
    line_34 = factor(at, u)
    line_35 = factor(at, at.one * inner(at.one, u)) / at.m
    line_36 = factor(at, at.yhat * inner(at.yhat, u)) / at.m
    return Sides(left(network), (line_34 - line_35 - line_36) * scale - line_37(network, at))


def lines_38_40(network: Network, at: Letters) -> Sides:
    """The terms collected."""
    u, one, yhat, m = network.direction, at.one, at.yhat, at.m
    w, w_one, w_yhat = at.H(u), at.H(one * inner(one, u)), at.H(yhat * inner(yhat, u))
    line_38 = m * w - one * inner(one, w) - yhat * inner(yhat, w) - w_one
    line_39 = one * inner(one, w_one) + yhat * inner(yhat, w_one) + one * inner(one, w_yhat)
    loss_part = line_38 - w_yhat + (line_39 + yhat * inner(yhat, w_yhat)) / m
    c, yhat_g = centre(u), inner(at.g, yhat)
    line_40 = (
        centre(at.g) * inner(yhat, u)
        - yhat * (3 * yhat_g * inner(yhat, u) / m)
        + c * yhat_g
        + yhat * inner(at.g, c)
    )
    scale = at.gamma / (m * at.sigma**2)
    return Sides(left(network), loss_part * (at.gamma * scale) - line_40 * scale)


def lines_48_49(network: Network, at: Letters) -> Sides:
    """The form along the gradient, by the identities."""
    w, off = gradient_in_y(network), off_yhat(at, centre(at.g))
    bent = at.gamma**3 / (at.m * at.sigma**4) * inner(centre(at.g), off) * inner(at.g, at.yhat)
    return Sides(
        inner(w, hessian_in_y(network, w)),
        at.gamma**4 / at.sigma**4 * inner(off, at.H(off)) - bent,
    )


Place = tuple[int, int, str, str]
"""Equation, line and quote of the last version, and line and quote of the supplement."""
_HESSIAN = r"\frac{\partial^2\hat L}{\partial y\partial y}"
_BRACKET = r"m g - m\mu_g - \hat y\langle g, \hat y\rangle"


def _line(name: str, places: list[Place], statement: str, sides: Any, **fields: Any) -> Claim:
    at: list[Location] = []
    for equation, line, quote, other in places:
        at.append(final(line, f"{PROOF}({equation})", quote))
        if other:
            number, words = other.split(" ", 1)
            at.append(supplement(int(number), f"{PROOF}({equation})", words))
    settled = {"relation": Relation.EQUAL, "expected": Verdict.PROVED, "order": 2}
    return Claim(
        id=f"S-eq-{name}",
        row="S-steps",
        locations=tuple(at),
        statement=statement,
        sides=sides,
        falsified_by="a batch, a loss and a direction",
        **{**settled, **fields},
    )


NINETEEN = _line(
    "19", [(19, 470, r"{\hat{y}_{j}}^{(b)}\left\langle{\bm{\hat{g}_{j}}}",
            r"240 \hat{y}_j^{(b)} \left\langle")],
    _HESSIAN + r" = \frac{\partial}{\partial y}\Big(\frac{\gamma}{m\sigma}\big(" + _BRACKET
    + r"\big)\Big)", line_19,
    remark="Both texts print the entry yhat^(b) for the vector yhat, which (20) has.",
)  # fmt: skip
TWENTY_ONE = _line(
    "20-21", [(20, 472, r"\right)\cdot\frac{\partial\bm{z_{q}}}{\partial\bm{y_{j}}} (20)",
               r"245 \cdot \frac{\partial z_q}{\partial y_j}"),
              (21, 473, r"\left(\frac{\gamma}{m\sigma_{j}}\right)\right)\cdot\left(",
               r"248 \left(\frac{\gamma}{m\sigma_i} \right) \right) \cdot")],
    _HESSIAN + r" = \frac{\gamma}{m\sigma}\frac{\partial}{\partial z}\big(" + _BRACKET
    + r"\big)\frac{\partial z}{\partial y} + \big(" + _BRACKET
    + r"\big)\Big(\frac{\partial}{\partial y}\frac{\gamma}{m\sigma}\Big)^\top", line_21,
    remark="The column times column of (21), read as (23) and (32) write it; z_q is z_j.",
)  # fmt: skip
IN_ORDER = replace(
    TWENTY_ONE, id="S-eq-20-21/printed-order", sides=line_21_in_order, expected=Verdict.REFUTED,
    corrected_by=TWENTY_ONE.id, remark="Two columns, the first times the second transposed.",
    statement=_HESSIAN + r" = \frac{\gamma}{m\sigma}\frac{\partial}{\partial z}\big(" + _BRACKET
    + r"\big)\frac{\partial z}{\partial y} + \Big(\frac{\partial}{\partial y}\frac{\gamma}{m\sigma}"
    r"\Big)\big(" + _BRACKET + r"\big)^\top",
)  # fmt: skip
TWENTY_THREE = _line(
    "22-23", [(22, 475, r"\bm{H}_{{jj}}-\frac{\partial\bm{\mu_{(",
               r"253 \boldsymbol{H}_{jj} - \frac{\partial \boldsymbol{\mu}"),
              (23, 476, r"\left(\frac{\gamma}{\sigma_{j}}\right)\right) (23)",
               r"256 \left(\frac{\gamma}{\sigma_{j}} \right) \right)")],
    _HESSIAN + r" = \frac\gamma\sigma\Big(H - \frac{\partial\mu_g}{\partial z} - \frac{\partial}"
    r"{\partial z}\big(\tfrac1m\hat y\langle g, \hat y\rangle\big)\Big)\frac{\partial z}"
    r"{\partial y} + \big(g - \mu_g - \tfrac1m\hat y\langle g, \hat y\rangle\big)"
    r"\Big(\frac{\partial}{\partial y}\frac\gamma\sigma\Big)", line_23,
)  # fmt: skip
TWENTY_FIVE = _line(
    "25", [(25, 481, r"=\frac{1}{\gamma}\frac{\partial}{\partial\bm{\hat{y}}_{j}}",
            r"264 = \frac{1}{\gamma} \frac{\partial}{\partial \hat{\mathbf{y}}_{j}}")],
    r"\frac{\partial}{\partial z}\big(\hat y\langle\hat y, g\rangle\big) = \frac1\gamma"
    r"\frac{\partial}{\partial\hat y}\big(\hat y\langle\hat y, g\rangle\big)", line_25,
    remark="At gamma = 0 both sides are undefined.",
)  # fmt: skip
TWENTY_SIX = _line(
    "26", [(26, 482, r"+\bm{\hat{y}}_{j}\bm{\hat{y}}_{j}^{\top}\bm{H}_{{jj}}",
            r"267 \hat{\mathbf{y}}_j \hat{\mathbf{y}}_j^{\top} \mathbf{H}_{jj}")],
    r"\frac{\partial}{\partial z}\big(\hat y\langle\hat y, g\rangle\big) = \frac1\gamma"
    r"\frac{\partial\hat y}{\partial\hat y}\langle g, \hat y\rangle + \hat y\hat y^\top H"
    r" + \frac1\gamma\hat y g^\top\frac{\partial\hat y}{\partial\hat y}", line_26,
    remark="At gamma = 0 both sides are undefined.",
)  # fmt: skip
_POWER = r"\frac{\partial}{\partial y}\Big(\frac\gamma\sigma\Big) = "
TWENTY_EIGHT = _line(
    "28", [(28, 484, r"^{-\frac{1}{2}}", r"273 ^{-\frac{1}{2}}")],
    _POWER + r"\gamma\sqrt m\frac{\partial}{\partial y}\big((y - \mu)^\top(y - \mu)\big)^{-1/2}",
    line_28, order=1,
)  # fmt: skip
TWENTY_NINE = _line(
    "29", [(29, 485, r"^{-\frac{3}{2}}", r"276 ^{-\frac{3}{2}}")],
    _POWER + r"-\tfrac12\gamma\sqrt m\big((y - \mu)^\top(y - \mu)\big)^{-3/2}(2(y - \mu))",
    line_29, order=1,
)  # fmt: skip
_REST = (
    r" - \frac{\gamma}{m\sigma^2}\big(g - \mu_g - \tfrac1m\hat y\langle g, \hat y\rangle\big)"
    r"\hat y^\top"
)
_FACTOR = (
    r"\Big(mH - MH - \tfrac1\gamma I\langle g, \hat y\rangle - \hat y\hat y^\top H"
    r" - \tfrac1\gamma\hat y g^\top\Big)"
)
THIRTY_TWO = _line(
    "31-32", [(31, 490, r"(m\bm{H}_{{jj}}-\bm{1}\cdot\bm{1}^{\top}\bm{H}_{{jj}}",
               r"283 - \mathbf{1} \cdot \mathbf{1}^{\top} \boldsymbol{H}_{jj}"),
              (32, 491, r"\right)\bm{\hat{y}}_{j}^{\top} (32)",
               r"286 \right) \hat{\boldsymbol{y}}_{j}^{\top}")],
    _HESSIAN + r" = \frac{\gamma}{m\sigma}" + _FACTOR + r"\frac{\partial z}{\partial y}" + _REST,
    line_32,
)  # fmt: skip
THIRTY_SEVEN = _line(
    "34-37", [(34, 499, r"m\bm{H}_{{jj}}-\bm{M}\bm{H}_{{jj}}-\frac{1}{\gamma}\bm{I}",
               r"295 m\boldsymbol{H}_{jj} - \boldsymbol{M}\boldsymbol{H}_{jj}"),
              (35, 500, r"-\frac{1}{m}\bm{M}\bm{H}_{{jj}}\bm{M}",
               r"297 - \frac{1}{m} \boldsymbol{M} \boldsymbol{H}_{jj} \boldsymbol{M}"),
              (36, 501, r"\bm{\hat{g}_{j}}^{\top}\bm{\hat{y}}_{j}\bm{\hat{y}}_{j}^{\top}", ""),
              (37, 502, r"\right)\bm{\hat{y}}_{j}^{\top} (37)",
               r"301 \hat{\boldsymbol{y}}_{j}^{\top} \tag{37}")],
    _HESSIAN + r" = \frac{\gamma^2}{m\sigma^2}" + _FACTOR
    + r"\big(I - \tfrac1m M - \tfrac1m\hat y\hat y^\top\big)" + _REST, lines_34_37,
)  # fmt: skip
FORTY = _line(
    "38-40", [(38, 506, r"\biggl{[}m\bm{H}_{{jj}}-\bm{M}\bm{H}_{{jj}}", ""),
              (39, 507, r"\biggr{]} (39)", ""),
              (40, 508, r"-\frac{3}{m}\bm{\hat{y}}_{j}\bm{\hat{y}}_{j}^{\top}",
               r"307 - \frac{3}{m}\hat{\boldsymbol{y}}_{j}\hat{\boldsymbol{y}}_{j}^{\top}")],
    _HESSIAN + r" = \frac{\gamma^2}{m\sigma^2}\Big[mH - MH - \hat y\hat y^\top H - HM"
    r" + \tfrac1m MHM + \tfrac1m\hat y\hat y^\top HM - H\hat y\hat y^\top"
    r" + \tfrac1m MH\hat y\hat y^\top + \tfrac1m\hat y\hat y^\top H\hat y\hat y^\top\Big]"
    r" - \frac{\gamma}{m\sigma^2}\Big(g\hat y^\top - \mu_g\hat y^\top - \tfrac3m\hat y\hat y^\top"
    r"\langle g, \hat y\rangle + (\langle g, \hat y\rangle I + \hat y g^\top)"
    r"(I - \tfrac1m M)\Big)", lines_38_40,
)  # fmt: skip
FORTY_NINE = _line(
    "48-49", [(48, 525, r"=\frac{\gamma^{4}}{\sigma^{4}}\overline{", ""),
              (49, 526, r"\frac{\gamma^{3}}{m\sigma^{4}}\overline",
               r"336 -\frac{\gamma^3}{m\sigma^4} \overline")],
    r"w^\top" + _HESSIAN + r"w = \frac{\gamma^4}{\sigma^4}\bar g^\top Q H Q\bar g"
    r" - \frac{\gamma^3}{m\sigma^4}\bar g^\top Q\bar g\langle g, \hat y\rangle,"
    r"\quad Q = I - \tfrac1m\hat y\hat y^\top,\ w = \nabla_y\hat L", lines_48_49,
)  # fmt: skip
FIFTY = _line(
    "50", [(50, 527, r"-\frac{\gamma}{m\sigma^{2}}\left\langle",
            r"339 - \frac{\gamma}{m\sigma^2} \left\langle")],
    theorem_4_2.PRINTED.statement.replace(r"\le", "="), theorem_4_2.sides,
)  # fmt: skip
_FIFTY_ONE = (
    final(531, f"{PROOF}(51)", r"\bm{\hat{g}_{j}}^{\top}\bm{H}_{{jj}}\bm{\hat{g}_{j}}-\frac{1}"),
    supplement(344, f"{PROOF}(51)", r"\leq \frac{\gamma^2}{\sigma^2} \left["),
)
_EPS = Reading.SHARED_EPSILON
_EXACT = "S-thm-4.2a/eps/corrected"


def _fifty_one(claim: Claim, name: str, **changes: Any) -> Claim:
    settled = {"id": f"S-eq-51/{name}", "row": "S-steps", "locations": _FIFTY_ONE}
    return replace(claim, **{**settled, **changes})


def _garbled(claim: Claim, line: int, equation: int, quote: str, lost: str) -> Claim:
    return replace(
        claim,
        id=f"S-eq-{equation}-supp",
        locations=(supplement(line, f"{PROOF}({equation})", quote),),
        expected=Verdict.UNREADABLE,
        corrected_by=claim.id,
        unreadable=lost + "; the last version prints it whole.",
    )


def _with_epsilon(claim: Claim) -> list[Claim]:
    unit = claim.under(Reading.UNIT_VARIANCE, Verdict.REFUTED, corrected_by=f"{claim.id}/eps")
    return [claim, claim.under(_EPS, Verdict.PROVED), unit]


def _without_epsilon(claim: Claim) -> list[Claim]:
    right = {
        "sides": line_29_corrected,
        "statement": TWENTY_NINE.statement.replace(
            r"\big((y - \mu)^\top(y - \mu)\big)", r"\big((y - \mu)^\top(y - \mu) + m\epsilon\big)"
        ),
    }
    shared = claim.under(_EPS, Verdict.REFUTED)
    return [claim, shared, shared.corrected(**right)]


CLAIMS = [
    NINETEEN,
    NINETEEN.under(_EPS, Verdict.PROVED),
    *_with_epsilon(TWENTY_ONE)[:2],
    IN_ORDER,
    IN_ORDER.under(_EPS, Verdict.REFUTED, corrected_by=f"{TWENTY_ONE.id}/eps"),
    *_with_epsilon(TWENTY_THREE)[:2],
    TWENTY_FIVE,
    TWENTY_FIVE.under(_EPS, Verdict.PROVED),
    *_with_epsilon(TWENTY_SIX),
    *_without_epsilon(TWENTY_EIGHT),
    *_without_epsilon(TWENTY_NINE),
    *_with_epsilon(THIRTY_TWO),
    *_with_epsilon(THIRTY_SEVEN),
    _garbled(THIRTY_SEVEN, 299, 36, r"\hat{\boldsymbol{y}}_{j} \right) \right) \tag{36}",
             "The last term of (36) ends in the vector yhat, without its transpose: a vector"
             " among matrices"),
    *_with_epsilon(FORTY),
    _garbled(FORTY, 305, 38, r"m\boldsymbol{H}_{jj} - \boldsymbol{M}\boldsymbol{H}_{jj}",
             "(38) and (39) have run together into one line with a term twice, two terms missing"
             " and a bracket closed twice"),
    FORTY_NINE,
    FORTY_NINE.under(_EPS, Verdict.REFUTED, corrected_by=_EXACT),
    _garbled(FORTY_NINE, 333, 48, r"\frac{\gamma^4}{\sigma^4} \widehat{\boldsymbol{g_j}}^{\top}",
             "(48) has lost the bar over g, which (47) before it and (49) after it have"),
    FIFTY,
    FIFTY.under(_EPS, Verdict.REFUTED, corrected_by=_EXACT),
    _fifty_one(theorem_4_2_relative_norms.DIRECTLY, "direct"),
    _fifty_one(theorem_4_2_relative_norms.PRINTED, "ratio",
               corrected_by="S-thm-4.2b/ratio/corrected"),
    _fifty_one(theorem_4_2_relative_norms.IN_ORDER, "order",
               corrected_by="S-thm-4.2b/order/corrected"),
]  # fmt: skip
