r"""The proof of Theorem 4.2, the terms of the Hessian: equations (24), (27), (30) and (33)."""

from typing import Any

from theory.arithmetic import inner, mean
from theory.claim import Claim, Letters, Network, Reading, Relation, Sides, Verdict
from theory.santurkar2018.texts import final, supplement

PROOF = "App. C.2, proof of Theorem 4.2, eq. "


def mean_of_gradient(network: Network, at: Letters) -> Sides:
    """Equation (24), applied to a direction."""
    u = network.direction

    def averaged(z: Any) -> Any:
        g = network.gradient(network.loss, z)
        return 0 * z + mean(g)

    return Sides(network.derivative(averaged, network.z, u), at.one * inner(at.one, at.H(u)) / at.m)


def part_along_yhat(network: Network, at: Letters) -> Sides:
    """Equation (27), applied to a direction; yhat = (z - beta)/gamma as a function of z."""
    u = network.direction

    def along(z: Any) -> Any:
        yhat = (z - network.beta) / network.gamma
        return yhat * (yhat @ network.gradient(network.loss, z))

    printed = (
        u * inner(at.g, at.yhat) / at.gamma
        + at.yhat * inner(at.yhat, at.H(u))
        + at.yhat * inner(at.g, u) / at.gamma
    )
    return Sides(network.derivative(along, network.z, u), printed)


def scale(network: Network, at: Letters) -> Sides:
    """Equation (30), a gradient of a scalar."""
    return Sides(
        network.gradient(lambda y: network.gamma / network.standard_deviation(y), network.y),
        -at.gamma / (at.m * at.sigma**2) * at.yhat,
    )


def jacobian(network: Network, at: Letters) -> Sides:
    """Equation (33), applied to a direction."""
    u = network.direction
    printed = u - at.one * inner(at.one, u) / at.m - at.yhat * inner(at.yhat, u) / at.m
    return Sides(network.derivative(network.forward, network.y, u), at.gamma / at.sigma * printed)


def _term(number: int, lines: tuple[int, int], quotes: tuple[str, str], **fields: Any) -> Claim:
    return Claim(
        id=f"S-eq-{number}",
        row="S-eq-24-33",
        locations=(
            final(lines[0], f"{PROOF}({number})", quotes[0]),
            supplement(lines[1], f"{PROOF}({number})", quotes[1]),
        ),
        relation=Relation.EQUAL,
        expected=Verdict.PROVED,
        **fields,
    )


TWENTY_FOUR = _term(
    24, (480, 261), (r"=\frac{1}{m}\bm{1}", r"\frac{1}{m} \mathbf{1} \cdot \mathbf{1}^{\top}"),
    statement=r"\frac{\partial\mu_{(g)}\mathbf 1}{\partial z} = \frac1m\mathbf 1\mathbf 1^\top H",
    sides=mean_of_gradient, order=2,
)  # fmt: skip
TWENTY_SEVEN = _term(
    27, (483, 270), (r"+\frac{1}{\gamma}\bm{\hat{y}}_{j}", r"\frac{1}{\gamma} \boldsymbol{I}"),
    statement=r"\frac{\partial}{\partial z}\big(\hat y\langle\hat y, g\rangle\big) ="
    r" \frac1\gamma I\langle g, \hat y\rangle + \hat y\hat y^\top H"
    r" + \frac1\gamma\hat y g^\top I",
    sides=part_along_yhat, order=2,
    remark="At gamma = 0 both sides are undefined.",
)  # fmt: skip
THIRTY = _term(
    30, (486, 279), (r"=-\frac{\gamma}{m\sigma^{2}}", r"= -\frac{\gamma}{m\sigma^2}"),
    statement=r"\frac{\partial}{\partial y}\Big(\frac\gamma\sigma\Big) ="
    r" -\frac{\gamma}{m\sigma^2}\hat y",
    sides=scale,
)  # fmt: skip
THIRTY_THREE = _term(
    33, (495, 291), (r"\left(\bm{I}-\frac{1}{m}\bm{1}", r"\left(\boldsymbol{I} - \frac{1}{m}"),
    statement=r"\frac{\partial z}{\partial y} = \frac\gamma\sigma\Big(I"
    r" - \frac1m\mathbf 1\mathbf 1^\top - \frac1m\hat y\hat y^\top\Big)",
    sides=jacobian,
)  # fmt: skip


def _readings(claim: Claim, unit: Verdict) -> list[Claim]:
    shared = claim.under(Reading.SHARED_EPSILON, Verdict.PROVED)
    right = shared.id if unit is Verdict.REFUTED else None
    return [claim, shared, claim.under(Reading.UNIT_VARIANCE, unit, corrected_by=right)]


CLAIMS = [
    *_readings(TWENTY_FOUR, Verdict.PROVED),
    *_readings(TWENTY_SEVEN, Verdict.REFUTED),
    *_readings(THIRTY, Verdict.REFUTED),
    *_readings(THIRTY_THREE, Verdict.REFUTED),
]
