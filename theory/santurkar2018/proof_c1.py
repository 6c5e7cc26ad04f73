r"""The proof of Theorem C.1: equations (52) to (58).

(57) puts the gradient of (47) in without its factor gamma/sigma, squared here, and without the bar
over g; the mean of g is no matter at X = lambda I, but at any other X it is: with y = (-1, 0, 1),
gamma = sigma, g = (1, 1, 1), H = I and X = (1, 0, 0)' the sides are 0 and 1/6.

(58) takes X = lambda I for the maximiser.  The maximum of v'Av over |v|^2 <= <v, a> is at v = a
only if a is an eigenvector of A.  At eps = 0, <yhat, Hh h> = -|h|^2/sigma and <yhat, h> = 0, so it
is not, for any loss and any h that is not zero: (58) is false wherever it says something.
(55) holds no formula in either text.
"""

from typing import Any

from theory import batchnorm
from theory.arithmetic import inner, norm_squared
from theory.batchnorm import centre
from theory.claim import (
    Claim,
    Letters,
    Network,
    Reading,
    Relation,
    Sides,
    Verdict,
    gradient_in_y,
    hessian_in_y,
)
from theory.maxima import quadratic_along
from theory.santurkar2018.projection_identities import off_yhat
from theory.santurkar2018.texts import final, supplement
from theory.santurkar2018.theorem_c1 import bending, beta_hat

PROOF = "App. C.2, proof of Theorem C.1, eq. "


def twice(network: Network, f: Any, x: Any, a: Any, b: Any) -> Any:
    """The second derivative of f at x along a and b."""
    return network.derivative(lambda x: network.derivative(f, x, a), x, b)


def shipped(network: Network, at: Letters, u: Any) -> Any:
    """The closed form of the Hessian of Lhat in y, applied to u."""
    return batchnorm.hvp(network.y, at.g, at.H, u, at.gamma, network.eps)


def line_52(network: Network, at: Letters) -> Sides:
    """Two weights of the normal network."""
    u, v = network.direction, network.other_direction
    return Sides(twice(network, network.loss, network.z, u, v), inner(u, at.H(v)))


def line_53(network: Network, at: Letters) -> Sides:
    """Two weights of the network with the layer."""
    u, v = network.direction, network.other_direction
    left = twice(network, network.normalized_loss, network.y, u, v)
    return Sides(left, inner(u, hessian_in_y(network, v)))


def line_54(network: Network, at: Letters) -> Sides:
    """X = [u, v]: the block's form along the weights (1, 2), the Hessian in closed form."""
    u, v = network.direction, network.other_direction
    both = u + 2 * v
    left = twice(network, network.normalized_loss, network.y, both, both)
    Hu, Hv = shipped(network, at, u), shipped(network, at, v)
    return Sides(left, inner(u, Hu) + 4 * inner(u, Hv) + 4 * inner(v, Hv))


def line_56(network: Network, at: Letters) -> Sides:
    """The definition, X = [u]: with one weight both factors are numbers."""
    u = network.direction
    slope = network.derivative(network.normalized_loss, network.y, u)
    bent = twice(network, network.normalized_loss, network.y, u, u)
    h = gradient_in_y(network)
    return Sides(slope * bent * slope, inner(h, u) ** 2 * inner(u, hessian_in_y(network, u)))


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


def line_58(network: Network, at: Letters) -> Sides:
    """As printed, for one X."""
    q = off_yhat(at, at.g)
    return Sides(beta_hat(network), network.bound**4 * bending(network, q))


def line_58_scaled(network: Network, at: Letters) -> Sides:
    """With (57) corrected: lambda^4 times the form along the gradient in y."""
    h = gradient_in_y(network)
    return Sides(beta_hat(network), network.bound**4 * bending(network, h))


def line_58_corrected(network: Network, at: Letters) -> Sides:
    """Beta at each X of rank one, in closed form."""
    h = batchnorm.gradient(network.y, at.g, at.gamma, network.eps)

    def form(u: Any) -> Any:
        return inner(u, shipped(network, at, u))

    right = quadratic_along(h, form, network.direction, network.bound)
    return Sides(beta_hat(network), right)


def no_eigenvector(network: Network, at: Letters) -> Sides:
    """The part along yhat of the Hessian applied to the gradient."""
    h = gradient_in_y(network)
    return Sides(inner(at.yhat, hessian_in_y(network, h)), -norm_squared(h) / at.sigma)


Places = tuple[tuple[int, str], tuple[int, str]]


def _line(number: int, places: Places, statement: str, sides: Any, **fields: Any) -> Claim:
    (line, quote), (supplement_line, supplement_quote) = places
    settled = {"relation": Relation.EQUAL, "expected": Verdict.PROVED}
    return Claim(
        id=f"S-eq-{number}",
        row="S-steps" if number == 56 else "S-eq-52-58",
        locations=(
            final(line, f"{PROOF}({number})", quote),
            supplement(supplement_line, f"{PROOF}({number})", supplement_quote),
        ),
        statement=statement,
        sides=sides,
        order=2,
        **{**settled, **fields},
    )


_SECOND = "a batch, a loss and two inputs whose second derivative differs"
_HESSIAN = r"\frac{\partial^2\hat L}{\partial y\partial y}"
_W = r"\frac{\partial^2\hat L}{\partial W_{\cdot j}\partial W_{\cdot j}}"
LINES = [
    _line(52, ((544, r"\frac{\partial\mathcal{L}}{\partial W_{ij}\partial W_{kj}}"),
               (357, r"\boldsymbol{x}_{i}^{\top} \frac{\partial \mathcal{L}}")),
          r"\frac{\partial^2 L}{\partial W_{ij}\partial W_{kj}} = x_i^\top H x_k", line_52,
          falsified_by=_SECOND, remark="The text writes dL for a second derivative throughout."),
    _line(53, ((545, r"\frac{\partial\widehat{\mathcal{L}}}{\partial W_{ij}\partial W_{kj}}"),
               (360, r"\boldsymbol{x}_{i}^{\top} \frac{\partial \widehat{\mathcal{L}}}")),
          r"\frac{\partial^2\hat L}{\partial W_{ij}\partial W_{kj}} = x_i^\top" + _HESSIAN + "x_k",
          line_53, falsified_by=_SECOND),
    _line(54, ((546, r"=\bm{X}^{\top}\frac{\partial\widehat{\mathcal{L}}}"),
               (363, r"= X^{\top} \frac{\partial \widehat{\mathcal{L}}}")),
          _W + r" = X^\top" + _HESSIAN + "X", line_54, falsified_by=_SECOND),
    _line(56, ((550, r":=\left(\frac{\partial\widehat{\mathcal{L}}}"), (369, r"\beta := \left(")),
          r"\beta := (\nabla_W\hat L)^\top" + _W + r"(\nabla_W\hat L) = h^\top XX^\top" + _HESSIAN
          + r"XX^\top h", line_56, falsified_by=_SECOND),
]  # fmt: skip
_OFF = r"\big(I - \tfrac1m\hat y\hat y^\top\big)"
FIFTY_SEVEN = _line(
    57, ((551, r"=\bm{\hat{g}_{j}}^{\top}\left(\bm{I}-\frac{1}{m}"),
         (372, r"= \hat{\boldsymbol{g}}_{j}^{\top} \left(\boldsymbol{I} - \frac{1}{m}")),
    r"\beta = g^\top" + _OFF + "XX^\\top" + _HESSIAN + "XX^\\top" + _OFF + "g", line_57,
    expected=Verdict.REFUTED, falsified_by="a batch, a loss and one input X = [u]",
)  # fmt: skip
FIFTY_EIGHT = _line(
    58, ((555, r"\max_{\left|\left|{X}\right|\right|\leq\lambda}\beta"),
         (377, r"\max_{||X|| \le \lambda} \beta")),
    r"\max_{\|X\| \le \lambda}\beta = \lambda^4 g^\top" + _OFF + _HESSIAN + _OFF + "g", line_58,
    relation=Relation.AT_MOST, expected=Verdict.REFUTED, corrected_by="S-eq-58/corrected",
    falsified_by="one X = lambda u e1'/|u| with a larger beta; g, H, sigma and yhat fixed",
)  # fmt: skip
SCALED_57 = Claim(**{
    **vars(FIFTY_SEVEN), "id": "S-eq-57/scaled", "sides": line_57_scaled,
    "statement": FIFTY_SEVEN.statement.replace("= g", r"= \frac{\gamma^2}{\sigma^2}g", 1),
    "corrected_by": "S-eq-57/corrected",
    "remark": "gamma/sigma restored, but g without the bar that (47) has.",
})  # fmt: skip
SCALED_58 = Claim(**{
    **vars(FIFTY_EIGHT), "id": "S-eq-58/scaled", "sides": line_58_scaled,
    "statement": r"\max_{\|X\| \le \lambda}\beta = \lambda^4 h^\top" + _HESSIAN + "h",
    "remark": "(57) corrected: the maximum is still not at X = lambda I.",
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
RIGHT_58 = {
    "sides": line_58_corrected,
    "relation": Relation.EQUAL,
    "corrected_by": None,
    "statement": r"\beta = \frac{\lambda^4\langle u, h\rangle^2}{\|u\|^4}u^\top"
    + _HESSIAN
    + r"u,\quad X = \lambda u e_1^\top/\|u\|,\ \text{ with } h,\ "
    + _HESSIAN
    + r"\text{ in closed form}",
}
SHARED_57 = FIFTY_SEVEN.under(_EPS, Verdict.REFUTED)
SHARED_58 = FIFTY_EIGHT.under(_EPS, Verdict.REFUTED, corrected_by="S-eq-58/eps/corrected")

CLAIMS = [
    *(c for line in LINES for c in (line, line.under(_EPS, Verdict.PROVED))),
    FIFTY_SEVEN,
    SCALED_57,
    SHARED_57,
    FIFTY_SEVEN.under(_UNIT, Verdict.REFUTED, corrected_by=f"{SHARED_57.id}/corrected"),
    FIFTY_SEVEN.corrected(**RIGHT_57),
    SHARED_57.corrected(**RIGHT_57),
    FIFTY_EIGHT,
    SCALED_58,
    SHARED_58,
    SCALED_58.under(_EPS, Verdict.REFUTED, corrected_by="S-eq-58/eps/corrected"),
    FIFTY_EIGHT.under(_UNIT, Verdict.REFUTED, corrected_by="S-eq-58/eps/corrected"),
    FIFTY_EIGHT.corrected(**RIGHT_58),
    SHARED_58.corrected(**RIGHT_58),
    SCALED_58.sharpened(
        "no-eigenvector",
        sides=no_eigenvector,
        relation=Relation.EQUAL,
        corrected_by=None,
        statement=r"\langle\hat y, " + _HESSIAN + r"h\rangle = -\|h\|^2/\sigma,\ "
        r"\langle\hat y, h\rangle = 0",
    ),
]
