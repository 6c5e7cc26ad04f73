r"""The proof of Theorem 4.2, the terms put in and collected: equations (31), (32), (34) to (40).

Operators are applied to a generic direction u.
"""

from typing import Any

from theory.arithmetic import inner
from theory.batchnorm import centre
from theory.claim import Claim, Letters, Network, Reading, Sides, Verdict, hessian_in_y
from theory.santurkar2018.equations import displayed, garbled

PROOF = "App. C.2, proof of Theorem 4.2"
_line = displayed(
    PROOF,
    "S-steps",
    order=2,
    falsified_by="a batch, a loss and a direction",
)


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
    return Sides(
        hessian_in_y(network, network.direction), factor(at, moved) * scale - line_37(network, at)
    )


def lines_34_37(network: Network, at: Letters) -> Sides:
    """Fact C.2 put in: one line for each of its three terms."""
    u, scale = network.direction, at.gamma**2 / (at.m * at.sigma**2)
    line_34 = factor(at, u)
    line_35 = factor(at, at.one * inner(at.one, u)) / at.m
    line_36 = factor(at, at.yhat * inner(at.yhat, u)) / at.m
    return Sides(
        hessian_in_y(network, network.direction),
        (line_34 - line_35 - line_36) * scale - line_37(network, at),
    )


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
    return Sides(
        hessian_in_y(network, network.direction), loss_part * (at.gamma * scale) - line_40 * scale
    )


_HESSIAN = r"\frac{\partial^2\hat L}{\partial y\partial y}"

_REST = (
    r" - \frac{\gamma}{m\sigma^2}\big(g - \mu_g - \tfrac1m\hat y\langle g, \hat y\rangle\big)"
    r"\hat y^\top"
)

_FACTOR = (
    r"\Big(mH - MH - \tfrac1\gamma I\langle g, \hat y\rangle - \hat y\hat y^\top H"
    r" - \tfrac1\gamma\hat y g^\top\Big)"
)

THIRTY_TWO = _line(
    {31: ((490, r"(m\bm{H}_{{jj}}-\bm{1}\cdot\bm{1}^{\top}\bm{H}_{{jj}}"),
          (283, r"- \mathbf{1} \cdot \mathbf{1}^{\top} \boldsymbol{H}_{jj}")),
     32: ((491, r"\right)\bm{\hat{y}}_{j}^{\top} (32)"),
          (286, r"\right) \hat{\boldsymbol{y}}_{j}^{\top}"))},
    _HESSIAN + r" = \frac{\gamma}{m\sigma}" + _FACTOR + r"\frac{\partial z}{\partial y}" + _REST,
    line_32,
)  # fmt: skip

THIRTY_SEVEN = _line(
    {34: ((499, r"m\bm{H}_{{jj}}-\bm{M}\bm{H}_{{jj}}-\frac{1}{\gamma}\bm{I}"),
          (295, r"m\boldsymbol{H}_{jj} - \boldsymbol{M}\boldsymbol{H}_{jj}")),
     35: ((500, r"-\frac{1}{m}\bm{M}\bm{H}_{{jj}}\bm{M}"),
          (297, r"- \frac{1}{m} \boldsymbol{M} \boldsymbol{H}_{jj} \boldsymbol{M}")),
     36: ((501, r"\bm{\hat{g}_{j}}^{\top}\bm{\hat{y}}_{j}\bm{\hat{y}}_{j}^{\top}"), None),
     37: ((502, r"\right)\bm{\hat{y}}_{j}^{\top} (37)"),
          (301, r"\hat{\boldsymbol{y}}_{j}^{\top} \tag{37}"))},
    _HESSIAN + r" = \frac{\gamma^2}{m\sigma^2}" + _FACTOR
    + r"\big(I - \tfrac1m M - \tfrac1m\hat y\hat y^\top\big)" + _REST, lines_34_37,
)  # fmt: skip

FORTY = _line(
    {38: ((506, r"\biggl{[}m\bm{H}_{{jj}}-\bm{M}\bm{H}_{{jj}}"), None),
     39: ((507, r"\biggr{]} (39)"), None),
     40: ((508, r"-\frac{3}{m}\bm{\hat{y}}_{j}\bm{\hat{y}}_{j}^{\top}"),
          (307, r"- \frac{3}{m}\hat{\boldsymbol{y}}_{j}\hat{\boldsymbol{y}}_{j}^{\top}"))},
    _HESSIAN + r" = \frac{\gamma^2}{m\sigma^2}\Big[mH - MH - \hat y\hat y^\top H - HM"
    r" + \tfrac1m MHM + \tfrac1m\hat y\hat y^\top HM - H\hat y\hat y^\top"
    r" + \tfrac1m MH\hat y\hat y^\top + \tfrac1m\hat y\hat y^\top H\hat y\hat y^\top\Big]"
    r" - \frac{\gamma}{m\sigma^2}\Big(g\hat y^\top - \mu_g\hat y^\top - \tfrac3m\hat y\hat y^\top"
    r"\langle g, \hat y\rangle + (\langle g, \hat y\rangle I + \hat y g^\top)"
    r"(I - \tfrac1m M)\Big)", lines_38_40,
)  # fmt: skip


def _with_epsilon(claim: Claim) -> list[Claim]:
    unit = claim.under(Reading.UNIT_VARIANCE, Verdict.REFUTED, corrected_by=f"{claim.id}/eps")
    return [claim, claim.under(Reading.SHARED_EPSILON, Verdict.PROVED), unit]


CLAIMS = [
    *_with_epsilon(THIRTY_TWO),
    *_with_epsilon(THIRTY_SEVEN),
    garbled(THIRTY_SEVEN, PROOF, 36, (299, r"\hat{\boldsymbol{y}}_{j} \right) \right) \tag{36}"),
            "The last term of (36) ends in the vector yhat, without its transpose: a vector"
            " among matrices"),
    *_with_epsilon(FORTY),
    garbled(FORTY, PROOF, 38, (305, r"m\boldsymbol{H}_{jj} - \boldsymbol{M}\boldsymbol{H}_{jj}"),
            "(38) and (39) have run together into one line with a term twice, two terms missing"
            " and a bracket closed twice"),
]  # fmt: skip
