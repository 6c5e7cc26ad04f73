r"""The proof of Theorem 4.2, the derivatives of its parts: equations (25), (26), (28) and (29).

Operators are applied to a generic direction u.  With eps > 0, (28) and (29) fall, since
gamma/sigma = gamma sqrt(m) (c'c + m eps)^(-1/2) for the centred batch c.
"""

from typing import Any

from theory.arithmetic import inner, norm_squared, sqrt
from theory.batchnorm import centre
from theory.claim import Claim, Letters, Network, Reading, Sides, Verdict
from theory.santurkar2018.equations import displayed

_line = displayed(
    "App. C.2, proof of Theorem 4.2",
    "S-steps",
    order=2,
    falsified_by="a batch, a loss and a direction",
)


def of_z(network: Network, z: Any) -> Any:
    """The layer's normalised batch as a function of its output."""
    return (z - network.beta) / network.gamma


def part_along(network: Network, u: Any) -> Any:
    r"""The derivative in z of :math:`\hat y\langle\hat y, g\rangle` along u."""

    def along(z: Any) -> Any:
        yhat = of_z(network, z)
        return yhat * inner(yhat, network.gradient(network.loss, z))

    return network.derivative(along, network.z, u)


def slope(network: Network) -> Any:
    """The gradient of gamma/sigma."""
    return network.gradient(lambda y: network.gamma / network.standard_deviation(y), network.y)


def line_25(network: Network, at: Letters) -> Sides:
    """The derivative in z through yhat."""
    u = network.direction

    def along(yhat: Any) -> Any:
        z = network.gamma * yhat + network.beta
        return yhat * inner(yhat, network.gradient(network.loss, z))

    claimed = network.derivative(along, network.normalize(network.y), u) / network.gamma
    return Sides(part_along(network, u), claimed)


def line_26(network: Network, at: Letters) -> Sides:
    """The product rule."""
    u = network.direction
    own = u * inner(at.g, at.yhat) / at.gamma
    rest = at.yhat * inner(at.yhat, at.H(u)) + at.yhat * inner(at.g, u) / at.gamma
    return Sides(part_along(network, u), own + rest)


def line_28(network: Network, at: Letters) -> Sides:
    """The standard deviation through the norm of the centred batch."""

    def printed(y: Any) -> Any:
        return network.gamma * sqrt(at.m) / sqrt(norm_squared(centre(y)))

    return Sides(slope(network), network.gradient(printed, network.y))


def line_29(network: Network, at: Letters) -> Sides:
    """The power, differentiated."""
    c = centre(network.y)
    n = norm_squared(c)
    return Sides(slope(network), -at.gamma * sqrt(at.m) / (2 * n * sqrt(n)) * (2 * c))


def line_29_corrected(network: Network, at: Letters) -> Sides:
    """The same with eps."""
    c = centre(network.y)
    n = norm_squared(c) + at.m * network.eps
    return Sides(slope(network), -at.gamma * sqrt(at.m) / (2 * n * sqrt(n)) * (2 * c))


TWENTY_FIVE = _line(
    {25: ((481, r"=\frac{1}{\gamma}\frac{\partial}{\partial\bm{\hat{y}}_{j}}"),
          (264, r"= \frac{1}{\gamma} \frac{\partial}{\partial \hat{\mathbf{y}}_{j}}"))},
    r"\frac{\partial}{\partial z}\big(\hat y\langle\hat y, g\rangle\big) = \frac1\gamma"
    r"\frac{\partial}{\partial\hat y}\big(\hat y\langle\hat y, g\rangle\big)", line_25,
    remark="At gamma = 0 both sides are undefined.",
)  # fmt: skip

TWENTY_SIX = _line(
    {26: ((482, r"+\bm{\hat{y}}_{j}\bm{\hat{y}}_{j}^{\top}\bm{H}_{{jj}}"),
          (267, r"\hat{\mathbf{y}}_j \hat{\mathbf{y}}_j^{\top} \mathbf{H}_{jj}"))},
    r"\frac{\partial}{\partial z}\big(\hat y\langle\hat y, g\rangle\big) = \frac1\gamma"
    r"\frac{\partial\hat y}{\partial\hat y}\langle g, \hat y\rangle + \hat y\hat y^\top H"
    r" + \frac1\gamma\hat y g^\top\frac{\partial\hat y}{\partial\hat y}", line_26,
    remark="At gamma = 0 both sides are undefined.",
)  # fmt: skip

_POWER = r"\frac{\partial}{\partial y}\Big(\frac\gamma\sigma\Big) = "

TWENTY_EIGHT = _line(
    {28: ((484, r"^{-\frac{1}{2}}"), (273, r"^{-\frac{1}{2}}"))},
    _POWER + r"\gamma\sqrt m\frac{\partial}{\partial y}\big((y - \mu)^\top(y - \mu)\big)^{-1/2}",
    line_28, order=1,
)  # fmt: skip

TWENTY_NINE = _line(
    {29: ((485, r"^{-\frac{3}{2}}"), (276, r"^{-\frac{3}{2}}"))},
    _POWER + r"-\tfrac12\gamma\sqrt m\big((y - \mu)^\top(y - \mu)\big)^{-3/2}(2(y - \mu))",
    line_29, order=1,
)  # fmt: skip

_EPS = Reading.SHARED_EPSILON


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
    TWENTY_FIVE,
    TWENTY_FIVE.under(_EPS, Verdict.PROVED),
    TWENTY_SIX,
    TWENTY_SIX.under(_EPS, Verdict.PROVED),
    TWENTY_SIX.under(Reading.UNIT_VARIANCE, Verdict.REFUTED, corrected_by=f"{TWENTY_SIX.id}/eps"),
    *_without_epsilon(TWENTY_EIGHT),
    *_without_epsilon(TWENTY_NINE),
]
