r"""The proof of Theorem 4.2, the product rule: equations (19) to (23).

Operators are applied to a generic direction u.  (21) is a column times a column: it has to be read
as (23) and (32) have it, [...] times the transpose of the derivative; the printed order gives the
transpose of the right matrix, and a Hessian that is not symmetric.
"""

from dataclasses import replace
from typing import Any

from theory.arithmetic import inner, mean
from theory.batchnorm import centre
from theory.claim import Letters, Network, Reading, Sides, Verdict, hessian_in_y
from theory.santurkar2018.equations import displayed
from theory.santurkar2018.proof_4_2_parts import of_z, part_along, slope

_line = displayed(
    "App. C.2, proof of Theorem 4.2",
    "S-steps",
    order=2,
    falsified_by="a batch, a loss and a direction",
)


def bracket(network: Network, yhat: Any, z: Any) -> Any:
    r""":math:`mg - m\mu_g - \hat y\langle g, \hat y\rangle` at an output z of the layer."""
    g = network.gradient(network.loss, z)
    return network.m * (g - mean(g)) - yhat * inner(g, yhat)


def line_19(network: Network, at: Letters) -> Sides:
    """Fact C.1, differentiated."""

    def first(y: Any) -> Any:
        scale = network.gamma / (network.m * network.standard_deviation(y))
        return scale * bracket(network, network.normalize(y), network.forward(y))

    return Sides(
        hessian_in_y(network, network.direction),
        network.derivative(first, network.y, network.direction),
    )


def _through_z(network: Network) -> Any:
    """The derivative of the bracket through z, and z's along u."""
    moved = network.derivative(network.forward, network.y, network.direction)
    return network.derivative(lambda z: bracket(network, of_z(network, z), z), network.z, moved)


def line_21(network: Network, at: Letters) -> Sides:
    """The product rule."""
    fixed = bracket(network, at.yhat, network.z) / at.m
    first = at.gamma / (at.m * at.sigma) * _through_z(network)
    return Sides(
        hessian_in_y(network, network.direction),
        first + fixed * inner(slope(network), network.direction),
    )


def line_21_in_order(network: Network, at: Letters) -> Sides:
    """The second term in the printed order."""
    fixed = bracket(network, at.yhat, network.z) / at.m
    first = at.gamma / (at.m * at.sigma) * _through_z(network)
    return Sides(
        hessian_in_y(network, network.direction),
        first + slope(network) * inner(fixed, network.direction),
    )


def line_23(network: Network, at: Letters) -> Sides:
    """The three parts of the bracket apart."""
    moved = network.derivative(network.forward, network.y, network.direction)

    def average(z: Any) -> Any:
        return at.one * mean(network.gradient(network.loss, z))

    parts = (
        at.H(moved)
        - network.derivative(average, network.z, moved)
        - part_along(network, moved) / at.m
    )
    fixed = centre(at.g) - at.yhat * inner(at.g, at.yhat) / at.m
    return Sides(
        hessian_in_y(network, network.direction),
        at.gamma / at.sigma * parts + fixed * inner(slope(network), network.direction),
    )


_HESSIAN = r"\frac{\partial^2\hat L}{\partial y\partial y}"
_BRACKET = r"m g - m\mu_g - \hat y\langle g, \hat y\rangle"

NINETEEN = _line(
    {19: ((470, r"{\hat{y}_{j}}^{(b)}\left\langle{\bm{\hat{g}_{j}}}"),
          (240, r"\hat{y}_j^{(b)} \left\langle"))},
    _HESSIAN + r" = \frac{\partial}{\partial y}\Big(\frac{\gamma}{m\sigma}\big(" + _BRACKET
    + r"\big)\Big)", line_19,
    remark="Both texts print the entry yhat^(b) for the vector yhat, which (20) has.",
)  # fmt: skip

TWENTY_ONE = _line(
    {20: ((472, r"\right)\cdot\frac{\partial\bm{z_{q}}}{\partial\bm{y_{j}}} (20)"),
          (245, r"\cdot \frac{\partial z_q}{\partial y_j}")),
     21: ((473, r"\left(\frac{\gamma}{m\sigma_{j}}\right)\right)\cdot\left("),
          (248, r"\left(\frac{\gamma}{m\sigma_i} \right) \right) \cdot"))},
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
    {22: ((475, r"\bm{H}_{{jj}}-\frac{\partial\bm{\mu_{("),
          (253, r"\boldsymbol{H}_{jj} - \frac{\partial \boldsymbol{\mu}")),
     23: ((476, r"\left(\frac{\gamma}{\sigma_{j}}\right)\right) (23)"),
          (256, r"\left(\frac{\gamma}{\sigma_{j}} \right) \right)"))},
    _HESSIAN + r" = \frac\gamma\sigma\Big(H - \frac{\partial\mu_g}{\partial z} - \frac{\partial}"
    r"{\partial z}\big(\tfrac1m\hat y\langle g, \hat y\rangle\big)\Big)\frac{\partial z}"
    r"{\partial y} + \big(g - \mu_g - \tfrac1m\hat y\langle g, \hat y\rangle\big)"
    r"\Big(\frac{\partial}{\partial y}\frac\gamma\sigma\Big)", line_23,
)  # fmt: skip

_EPS = Reading.SHARED_EPSILON

CLAIMS = [
    NINETEEN,
    NINETEEN.under(_EPS, Verdict.PROVED),
    TWENTY_ONE,
    TWENTY_ONE.under(_EPS, Verdict.PROVED),
    IN_ORDER,
    IN_ORDER.under(_EPS, Verdict.REFUTED, corrected_by=f"{TWENTY_ONE.id}/eps"),
    TWENTY_THREE,
    TWENTY_THREE.under(_EPS, Verdict.PROVED),
]
