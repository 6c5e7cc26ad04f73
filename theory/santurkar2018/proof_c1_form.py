r"""The proof of Theorem C.1, equations (56) and (57): the quadratic form along the gradient.

(57) puts the gradient of (47) in without its factor gamma/sigma, squared here, and without the bar
over g; the mean of g is no matter at X = lambda I, but at any other X it is: with y = (-1, 0, 1),
gamma = sigma, g = (1, 1, 1), H = I and X = (1, 0, 0)' the sides are 0 and 1/6.
"""

from typing import Any

from theory.arithmetic import inner
from theory.batchnorm import centre
from theory.claim import (
    Claim,
    Letters,
    Network,
    Reading,
    Sides,
    Verdict,
    gradient_in_y,
    hessian_in_y,
)
from theory.santurkar2018.equations import displayed
from theory.santurkar2018.projection_identities import off_yhat
from theory.santurkar2018.second_derivative import bending

_line = displayed("App. C.2, proof of Theorem C.1", "S-eq-52-58", order=2)


def line_56(network: Network, at: Letters) -> Sides:
    """The definition, X = [u]: with one weight both factors are numbers."""
    u = network.direction
    slope = network.derivative(network.normalized_loss, network.y, u)
    h = gradient_in_y(network)
    return Sides(
        slope * bending(network, u) * slope, inner(h, u) ** 2 * inner(u, hessian_in_y(network, u))
    )


def beta(network: Network, q: Any) -> Any:
    """Q'XX' Hh XX'q for X = [u]."""
    u = network.direction
    return inner(u, q) ** 2 * bending(network, u)


def line_57(network: Network, at: Letters) -> Sides:
    """As printed, X = [u]."""
    return Sides(line_56(network, at).actual, beta(network, off_yhat(at, at.g)))


def line_57_scaled(network: Network, at: Letters) -> Sides:
    """With gamma/sigma restored."""
    right = at.gamma**2 / at.sigma**2 * beta(network, off_yhat(at, at.g))
    return Sides(line_56(network, at).actual, right)


def line_57_corrected(network: Network, at: Letters) -> Sides:
    """With the bar over g as well."""
    right = at.gamma**2 / at.sigma**2 * beta(network, off_yhat(at, centre(at.g)))
    return Sides(line_56(network, at).actual, right)


_HESSIAN = r"\frac{\partial^2\hat L}{\partial y\partial y}"
_OFF = r"\big(I - \tfrac1m\hat y\hat y^\top\big)"
_W = r"\frac{\partial^2\hat L}{\partial W_{\cdot j}\partial W_{\cdot j}}"

FIFTY_SIX = _line(
    {56: ((550, r":=\left(\frac{\partial\widehat{\mathcal{L}}}"), (369, r"\beta := \left("))},
    r"\beta := (\nabla_W\hat L)^\top"
    + _W
    + r"(\nabla_W\hat L) = h^\top XX^\top"
    + _HESSIAN
    + r"XX^\top h",
    line_56,
    row="S-steps",
    falsified_by="a batch, a loss and two inputs whose second derivative differs",
)

FIFTY_SEVEN = _line(
    {57: ((551, r"=\bm{\hat{g}_{j}}^{\top}\left(\bm{I}-\frac{1}{m}"),
          (372, r"= \hat{\boldsymbol{g}}_{j}^{\top} \left(\boldsymbol{I} - \frac{1}{m}"))},
    r"\beta = g^\top" + _OFF + "XX^\\top" + _HESSIAN + "XX^\\top" + _OFF + "g", line_57,
    expected=Verdict.REFUTED, falsified_by="a batch, a loss and one input X = [u]",
)  # fmt: skip

SCALED_57 = Claim(**{
    **vars(FIFTY_SEVEN), "id": "S-eq-57/scaled", "sides": line_57_scaled,
    "statement": FIFTY_SEVEN.statement.replace("= g", r"= \frac{\gamma^2}{\sigma^2}g", 1),
    "corrected_by": "S-eq-57/corrected",
    "remark": "gamma/sigma restored, but g without the bar that (47) has.",
})  # fmt: skip

_EPS, _UNIT = Reading.SHARED_EPSILON, Reading.UNIT_VARIANCE

RIGHT_57 = {
    "sides": line_57_corrected,
    "statement": r"\beta = \frac{\gamma^2}{\sigma^2}\bar g^\top"
    + _OFF
    + "XX^\\top"
    + _HESSIAN
    + "XX^\\top"
    + _OFF
    + r"\bar g",
}

SHARED_57 = FIFTY_SEVEN.under(_EPS, Verdict.REFUTED)

CLAIMS = [
    FIFTY_SIX,
    FIFTY_SIX.under(_EPS, Verdict.PROVED),
    FIFTY_SEVEN,
    SCALED_57,
    SHARED_57,
    FIFTY_SEVEN.under(_UNIT, Verdict.REFUTED, corrected_by=f"{SHARED_57.id}/corrected"),
    FIFTY_SEVEN.corrected(**RIGHT_57),
    SHARED_57.corrected(**RIGHT_57),
]
