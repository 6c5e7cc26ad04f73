r"""The proof of Theorem 4.2, the projection identities: equations (43) to (47).

With eps > 0 the vector yhat has squared norm m (1 - eps/sigma^2), and the operator
I - M/m - yhat yhat'/m is no projection any more.
"""

from typing import Any

from theory.arithmetic import inner, mean, norm_squared
from theory.batchnorm import centre
from theory.claim import Claim, Letters, Network, Reading, Relation, Sides, Verdict, gradient_in_y
from theory.santurkar2018.hessian import project
from theory.santurkar2018.texts import final, supplement

PROOF = "App. C.2, proof of Theorem 4.2, eq. "


def off_yhat(at: Letters, u: Any) -> Any:
    r""":math:`(I - \tfrac1m\hat y\hat y^\top) u`."""
    return u - at.yhat * inner(at.yhat, u) / at.m


def excess(at: Letters) -> Any:
    r""":math:`1 - \|\hat y\|^2/m = \epsilon/\sigma^2`."""
    return 1 - norm_squared(at.yhat) / at.m


def line_43(network: Network, at: Letters) -> Sides:
    """The centred gradient has no mean."""
    centred = at.g - at.one * (mean(at.g))
    return Sides(at.one * inner(at.one, centred), 0 * at.one)


def line_44(network: Network, at: Letters) -> Sides:
    """The projection is idempotent."""
    u = network.direction
    return Sides(project(at, project(at, u)), project(at, u))


def line_44_corrected(network: Network, at: Letters) -> Sides:
    """What eps leaves of idempotence."""
    u = network.direction
    left = excess(at) * at.yhat * inner(at.yhat, u) / at.m
    return Sides(project(at, project(at, u)), project(at, u) - left)


def line_45(network: Network, at: Letters) -> Sides:
    """The projection annihilates yhat."""
    return Sides(off_yhat(at, at.yhat), 0 * at.yhat)


def line_45_corrected(network: Network, at: Letters) -> Sides:
    """What eps leaves of yhat."""
    return Sides(off_yhat(at, at.yhat), excess(at) * at.yhat)


def line_46(network: Network, at: Letters) -> Sides:
    """Taking off yhat keeps the mean at zero."""
    off = off_yhat(at, centre(at.g))
    return Sides(off - at.one * inner(at.one, off) / at.m, off)


def line_47(network: Network, at: Letters) -> Sides:
    """The gradient once more."""
    return Sides(gradient_in_y(network), at.gamma / at.sigma * off_yhat(at, centre(at.g)))


def _line(number: int, lines: tuple[int, int], quotes: tuple[str, str], **fields: Any) -> Claim:
    return Claim(
        id=f"S-eq-{number}",
        row="S-eq-43-47",
        locations=(
            final(lines[0], f"{PROOF}({number})", quotes[0]),
            supplement(lines[1], f"{PROOF}({number})", quotes[1]),
        ),
        relation=Relation.EQUAL,
        expected=Verdict.PROVED,
        **fields,
    )


_OFF = r"\big(I - \tfrac1m\hat y\hat y^\top\big)"
_PROJECTION = r"\big(I - \tfrac1m M - \tfrac1m\hat y\hat y^\top\big)"

FORTY_THREE = _line(
    43, (514, 315), (r"\bm{M}\overline{\bm{\hat{g}_{j}}}", r"M\overline{\hat{g}_j}"),
    statement=r"M\bar g = 0", sides=line_43,
)  # fmt: skip
FORTY_FOUR = _line(
    44, (515, 317), (r"\left(I-\frac{1}{m}\bm{M}", r"\left(I - \frac{1}{m}\boldsymbol{M}"),
    statement=_PROJECTION + "^2 = " + _PROJECTION, sides=line_44,
)  # fmt: skip
FORTY_FIVE = _line(
    45, (516, 320), (r"=\bm{0}", r"= \mathbf{0}"),
    statement=r"\hat y^\top" + _OFF + " = 0", sides=line_45,
)  # fmt: skip
FORTY_SIX = _line(
    46, (517, 323), (r"\overline{\bm{\hat{g}_{j}}}", r"\overline{\hat{\boldsymbol{g}}_{j}}"),
    statement=r"\big(I - \tfrac1m M\big)" + _OFF + r"\bar g = " + _OFF + r"\bar g", sides=line_46,
)  # fmt: skip
FORTY_SEVEN = _line(
    47, (521, 328), (r"\frac{\gamma}{\sigma}\overline", r"\frac{\gamma}{\sigma} \overline"),
    statement=r"\frac{\partial\hat L}{\partial y} = \frac\gamma\sigma\bar g^\top" + _OFF,
    sides=line_47,
)  # fmt: skip


def _readings(claim: Claim, shared: Verdict, unit: Verdict, **changes: Any) -> list[Claim]:
    right = f"{claim.id}/eps" if unit is Verdict.REFUTED else None
    return [
        claim,
        claim.under(Reading.SHARED_EPSILON, shared),
        claim.under(Reading.UNIT_VARIANCE, unit, corrected_by=right),
    ]


HOLDS, FALLS = Verdict.PROVED, Verdict.REFUTED
CLAIMS = [
    *_readings(FORTY_THREE, HOLDS, HOLDS),
    *_readings(FORTY_FOUR, FALLS, HOLDS),
    *_readings(FORTY_FIVE, FALLS, HOLDS),
    *_readings(FORTY_SIX, HOLDS, HOLDS),
    *_readings(FORTY_SEVEN, HOLDS, FALLS),
    FORTY_FOUR.under(Reading.SHARED_EPSILON, FALLS).corrected(
        sides=line_44_corrected,
        statement=_PROJECTION + "^2 = " + _PROJECTION
        + r" - \tfrac{\epsilon}{m\sigma^2}\hat y\hat y^\top",
    ),
    FORTY_FIVE.under(Reading.SHARED_EPSILON, FALLS).corrected(
        sides=line_45_corrected,
        statement=r"\hat y^\top" + _OFF + r" = \tfrac{\epsilon}{\sigma^2}\hat y^\top",
    ),
]  # fmt: skip
