r"""The proof of Theorem C.1, equation (58): where the quadratic form is largest.

(58) takes X = lambda I for the maximiser.  The maximum of v'Av over |v|^2 <= <v, a> is at v = a
only if a is an eigenvector of A.  At eps = 0, <yhat, Hh h> = -|h|^2/sigma and <yhat, h> = 0, so it
is not, for any loss and any h that is not zero: (58) is false wherever it says something.
"""

from typing import Any

from theory import batchnorm
from theory.arithmetic import inner, norm_squared
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
from theory.santurkar2018.equations import displayed
from theory.santurkar2018.projection_identities import off_yhat
from theory.santurkar2018.proof_c1_hessian import shipped
from theory.santurkar2018.second_derivative import bending
from theory.santurkar2018.theorem_c1 import beta_hat

_line = displayed("App. C.2, proof of Theorem C.1", "S-eq-52-58", order=2)


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


_HESSIAN = r"\frac{\partial^2\hat L}{\partial y\partial y}"
_OFF = r"\big(I - \tfrac1m\hat y\hat y^\top\big)"

FIFTY_EIGHT = _line(
    {58: ((555, r"\max_{\left|\left|{X}\right|\right|\leq\lambda}\beta"),
          (377, r"\max_{||X|| \le \lambda} \beta"))},
    r"\max_{\|X\| \le \lambda}\beta = \lambda^4 g^\top" + _OFF + _HESSIAN + _OFF + "g", line_58,
    relation=Relation.AT_MOST, expected=Verdict.REFUTED, corrected_by="S-eq-58/corrected",
    falsified_by="one X = lambda u e1'/|u| with a larger beta; g, H, sigma and yhat fixed",
)  # fmt: skip

SCALED_58 = Claim(**{
    **vars(FIFTY_EIGHT), "id": "S-eq-58/scaled", "sides": line_58_scaled,
    "statement": r"\max_{\|X\| \le \lambda}\beta = \lambda^4 h^\top" + _HESSIAN + "h",
    "remark": "(57) corrected: the maximum is still not at X = lambda I.",
})  # fmt: skip

_EPS, _UNIT = Reading.SHARED_EPSILON, Reading.UNIT_VARIANCE

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

SHARED_58 = FIFTY_EIGHT.under(_EPS, Verdict.REFUTED, corrected_by="S-eq-58/eps/corrected")

CLAIMS = [
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
