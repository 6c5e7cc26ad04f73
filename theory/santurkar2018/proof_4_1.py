r"""The proof of Theorem 4.1, line by line: equations (4) to (9).

Lines (6) to (8) divide by the norm of yhat and so take it for sqrt(m), which it is only at
eps = 0.  In general its square is m (1 - eps/sigma^2), and the corrected lines carry it.
"""

from dataclasses import replace
from typing import Any

from theory.arithmetic import inner, norm_squared, sqrt
from theory.batchnorm import centre
from theory.claim import Claim, Letters, Network, Reading, Relation, Sides, Verdict, gradient_in_y
from theory.santurkar2018.texts import final, supplement


def along_yhat(at: Letters, g: Any) -> Any:
    r"""The projection of g on yhat: :math:`\hat y\langle g, \hat y\rangle/\|\hat y\|^2`."""
    return at.yhat * inner(g, at.yhat) / norm_squared(at.yhat)


def excess(at: Letters) -> Any:
    r"""How far yhat is from norm sqrt(m): :math:`1 - \|\hat y\|^2/m = \epsilon/\sigma^2`."""
    return 1 - norm_squared(at.yhat) / at.m


def line_4(network: Network, at: Letters) -> Sides:
    """Fact C.1 as vectors."""
    printed = at.m * at.g - at.one * inner(at.one, at.g) - at.yhat * inner(at.g, at.yhat)
    return Sides(gradient_in_y(network), at.gamma / (at.m * at.sigma) * printed)


def line_5(network: Network, at: Letters) -> Sides:
    """The gradient centred."""
    g = centre(at.g)
    return Sides(
        gradient_in_y(network),
        at.gamma / at.sigma * (g - at.yhat * inner(g, at.yhat) / at.m),
    )


def line_6(network: Network, at: Letters) -> Sides:
    """A projection off the direction of yhat."""
    g = centre(at.g)
    return Sides(gradient_in_y(network), at.gamma / at.sigma * (g - along_yhat(at, g)))


def line_6_corrected(network: Network, at: Letters) -> Sides:
    """Only a part of the projection, once eps is positive."""
    g, part = centre(at.g), 1 - excess(at)
    return Sides(
        gradient_in_y(network),
        at.gamma / at.sigma * (g - part * along_yhat(at, g)),
    )


def line_7(network: Network, at: Letters) -> Sides:
    """The squared norm of line (6)."""
    g = centre(at.g)
    return Sides(
        norm_squared(gradient_in_y(network)),
        at.gamma**2 / at.sigma**2 * norm_squared(g - along_yhat(at, g)),
    )


def line_8(network: Network, at: Letters) -> Sides:
    """Pythagoras."""
    g = centre(at.g)
    return Sides(
        norm_squared(gradient_in_y(network)),
        at.gamma**2 / at.sigma**2 * (norm_squared(g) - norm_squared(along_yhat(at, g))),
    )


def line_8_corrected(network: Network, at: Letters) -> Sides:
    """Pythagoras with what eps leaves along yhat."""
    g, kept = centre(at.g), excess(at) ** 2
    return Sides(
        norm_squared(gradient_in_y(network)),
        at.gamma**2
        / at.sigma**2
        * (norm_squared(g) - (1 - kept) * norm_squared(along_yhat(at, g))),
    )


def line_9(network: Network, at: Letters) -> Sides:
    """The right side of Theorem 4.1, as an equality."""
    return Sides(
        norm_squared(gradient_in_y(network)),
        at.gamma**2
        / at.sigma**2
        * (norm_squared(at.g) - inner(at.one, at.g) ** 2 / at.m - inner(at.g, at.yhat) ** 2 / at.m),
    )


def line_9_supplement(network: Network, at: Letters) -> Sides:
    """The same with the square root that the supplement prints."""
    return Sides(
        norm_squared(gradient_in_y(network)),
        at.gamma**2
        / at.sigma**2
        * (
            norm_squared(at.g)
            - inner(at.one, at.g) ** 2 / at.m
            - inner(at.g, at.yhat) ** 2 / sqrt(at.m)
        ),
    )


def line_9_corrected(network: Network, at: Letters) -> Sides:
    """The equality with eps."""
    return Sides(
        norm_squared(gradient_in_y(network)),
        at.gamma**2
        / at.sigma**2
        * (
            norm_squared(at.g)
            - inner(at.one, at.g) ** 2 / at.m
            - (1 + excess(at)) * inner(at.g, at.yhat) ** 2 / at.m
        ),
    )


_SCALE = r"\frac{\gamma^2}{\sigma^2}"
_MEAN = r"\frac1m\langle\mathbf 1, g\rangle^2"


def _line(number: int, lines: tuple[int, int], quotes: tuple[str, str], **fields: Any) -> Claim:
    """One displayed line, which both texts print alike."""
    place = f"App. C.2, proof of Theorem 4.1, eq. ({number})"
    return Claim(
        id=f"S-eq-{number}",
        row="S-eq-4-9",
        locations=(
            final(lines[0], place, quotes[0]),
            supplement(lines[1], place, quotes[1]),
        ),
        relation=Relation.EQUAL,
        expected=Verdict.PROVED,
        **fields,
    )


FOUR = _line(
    4, (403, 153), (r"-\bm{\hat{y}_{j}}\left\langle", r"1\left\langle 1,"), sides=line_4,
    statement=r"\frac{\partial\hat L}{\partial y} = \frac{\gamma}{m\sigma}"
    r"\big(m g - \mathbf 1\langle\mathbf 1, g\rangle - \hat y\langle g, \hat y\rangle\big)",
)  # fmt: skip
FIVE = _line(
    5, (407, 158), (r"\bm{1}\mu_{g}", r"\mathbf{1}\mu_g"), sides=line_5,
    statement=r"\frac{\partial\hat L}{\partial y} = \frac\gamma\sigma\big((g - \mathbf 1\mu_g)"
    r" - \frac1m\hat y\langle g - \mathbf 1\mu_g, \hat y\rangle\big)",
)  # fmt: skip
SIX = _line(
    6, (408, 161), (r"\frac{\bm{\hat{y}_{j}}}{\left|\left|", r"\frac{\hat{\mathbf{y}}_j}"),
    sides=line_6,
    statement=r"\frac{\partial\hat L}{\partial y} = \frac\gamma\sigma\Big((g - \mathbf 1\mu_g)"
    r" - \frac{\hat y}{\|\hat y\|}\big\langle g - \mathbf 1\mu_g,"
    r" \frac{\hat y}{\|\hat y\|}\big\rangle\Big)",
)  # fmt: skip
SEVEN = _line(
    7, (409, 164), (r"\frac{\gamma^{2}}{\sigma^{2}}", r"\frac{\gamma^{2}}{\sigma^{2}}"),
    sides=line_7,
    statement=r"\Big\|\frac{\partial\hat L}{\partial y}\Big\|^2 = " + _SCALE
    + r"\Big\|(g - \mathbf 1\mu_g) - \frac{\hat y}{\|\hat y\|}\big\langle g - \mathbf 1\mu_g,"
    r" \frac{\hat y}{\|\hat y\|}\big\rangle\Big\|^2",
)  # fmt: skip
EIGHT = _line(
    8, (410, 167), (r"\frac{\gamma^{2}}{\sigma^{2}}", r"\frac{\gamma^2}{\sigma^2}"), sides=line_8,
    statement=r"\Big\|\frac{\partial\hat L}{\partial y}\Big\|^2 = " + _SCALE
    + r"\Big(\|g - \mathbf 1\mu_g\|^2 - \big\langle g - \mathbf 1\mu_g,"
    r" \frac{\hat y}{\|\hat y\|}\big\rangle^2\Big)",
)  # fmt: skip
NINE = Claim(
    id="S-eq-9",
    row="S-eq-4-9",
    locations=(final(411, "App. C.2, proof of Theorem 4.1, eq. (9)", r"-\frac{1}{m}\left\langle"),),
    statement=r"\Big\|\frac{\partial\hat L}{\partial y}\Big\|^2 = "
    + _SCALE
    + r"\Big(\|g\|^2 - "
    + _MEAN
    + r" - \frac1m\langle g, \hat y\rangle^2\Big)",
    sides=line_9,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
)
NINE_SUPPLEMENT = Claim(
    id="S-eq-9-supp",
    row="S-eq-4-9",
    locations=(supplement(170, "App. C.2, proof of Theorem 4.1, eq. (9)", r"\frac{1}{\sqrt{m}}"),),
    statement=r"\Big\|\frac{\partial\hat L}{\partial y}\Big\|^2 = "
    + _SCALE
    + r"\Big(\|g\|^2 - "
    + _MEAN
    + r" - \frac1{\sqrt m}\langle g, \hat y\rangle^2\Big)",
    sides=line_9_supplement,
    relation=Relation.EQUAL,
    expected=Verdict.REFUTED,
    remark="Here the supplement differs from the last version, which prints 1/m.",
)

_EXCESS = r"\frac{\epsilon}{\sigma^2}"
CORRECTIONS = {
    "S-eq-6": (
        line_6_corrected,
        r"\frac{\partial\hat L}{\partial y} = \frac\gamma\sigma\Big((g - \mathbf 1\mu_g) - \big(1 -"
        + _EXCESS + r"\big)\frac{\hat y}{\|\hat y\|}\big\langle g - \mathbf 1\mu_g,"
        r" \frac{\hat y}{\|\hat y\|}\big\rangle\Big)",
    ),
    "S-eq-8": (
        line_8_corrected,
        r"\Big\|\frac{\partial\hat L}{\partial y}\Big\|^2 = " + _SCALE
        + r"\Big(\|g - \mathbf 1\mu_g\|^2 - \big(1 - \tfrac{\epsilon^2}{\sigma^4}\big)\big\langle"
        r" g - \mathbf 1\mu_g, \frac{\hat y}{\|\hat y\|}\big\rangle^2\Big)",
    ),
    "S-eq-9": (
        line_9_corrected,
        r"\Big\|\frac{\partial\hat L}{\partial y}\Big\|^2 = " + _SCALE + r"\Big(\|g\|^2 - " + _MEAN
        + r" - \big(1 + " + _EXCESS + r"\big)\frac1m\langle g, \hat y\rangle^2\Big)",
    ),
}  # fmt: skip
CORRECTIONS["S-eq-7"] = CORRECTIONS["S-eq-8"]
CORRECTIONS["S-eq-9-supp"] = CORRECTIONS["S-eq-9"]


def _readings(claim: Claim) -> list[Claim]:
    """The line at eps = 0 and in both readings of eps, and what is right where it falls."""
    unit = claim.under(Reading.UNIT_VARIANCE, Verdict.REFUTED, corrected_by=f"{claim.id}/eps")
    if claim.id not in CORRECTIONS:
        return [claim, claim.under(Reading.SHARED_EPSILON, Verdict.PROVED), unit]
    right, statement = CORRECTIONS[claim.id]
    shared = claim.under(Reading.SHARED_EPSILON, Verdict.REFUTED)
    corrected = shared.corrected(sides=right, statement=statement, remark="")
    return [claim, shared, replace(unit, corrected_by=corrected.id), corrected]


CLAIMS = [
    reading
    for claim in (FOUR, FIVE, SIX, SEVEN, EIGHT, NINE, NINE_SUPPLEMENT)
    for reading in _readings(claim)
] + [NINE_SUPPLEMENT.corrected(sides=line_9, statement=NINE.statement, remark="")]
