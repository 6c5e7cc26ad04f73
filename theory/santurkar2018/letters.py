r"""The letters and operators that the last version's statements share, besides the unit's own.

An operator on batch space is applied to what follows it: :math:`M x = 1\langle 1, x\rangle`.
"""

from dataclasses import replace
from typing import Any

from theory import batchnorm, unit
from theory.claim import Reading
from theory.language.expression import Expression, along, gradient, named
from theory.language.operations import centred, dot, norm2
from theory.statement import assume
from theory.unit import BN, L, g, gamma, grad, m, one, sigma, u, variable, y, yhat

EPS, UNIT = Reading.SHARED_EPSILON, Reading.UNIT_VARIANCE
SCALE = gamma**2 / sigma**2
GRAD = named(r"(\nabla_y\hat L)", grad.body)  # type: ignore[attr-defined]
"""The gradient in y, by differentiation of the network; in parentheses, to be transposed."""
PARTIAL = named(r"\left(\frac{\partial\hat L}{\partial y}\right)", grad.body)  # type: ignore[attr-defined]
"""The same."""
VANILLA = named(r"\nabla L(y)", gradient(L(y), y))
"""The gradient of the network without the layer, at its own point."""
ALONG = dot(g, yhat)
gbar = centred(g)
SLOPING = assume(norm2(grad) > 0, printed=False)
"""What divides by the gradient asks for it; at eps = 0 that of two examples is zero."""
MOVED = named(r"\frac{\partial z}{\partial y} u", along(BN(variable), variable, u, at=y))


def H(x: Expression) -> Expression:
    r"""Return :math:`Hx`, the loss's own Hessian at the layer's output applied to a vector."""
    return named("H {0:product}", unit.H(x), x)


def M(x: Expression) -> Expression:
    r"""Return :math:`Mx = 1\langle 1, x\rangle`."""
    return named("M {0:product}", one * dot(one, x), x)


def YY(x: Expression) -> Expression:
    r"""Return :math:`\hat y\hat y^\top x`."""
    return named(r"\hat y\hat y^\top {0:product}", yhat * dot(yhat, x), x)


def off_yhat(x: Expression) -> Expression:
    r"""Return :math:`(I - \frac1m\hat y\hat y^\top)x`."""
    display = r"\left(I - \frac{{1}}{{m}}\hat y\hat y^\top\right) {0:product}"
    return named(display, x - YY(x) / m, x)


def off_mean(x: Expression) -> Expression:
    r"""Return :math:`(I - \frac1m M)x`."""
    return named(r"\left(I - \frac{{1}}{{m}} M\right) {0:product}", x - M(x) / m, x)


def project(x: Expression) -> Expression:
    r"""Return :math:`(I - \frac1m M - \frac1m\hat y\hat y^\top)x`."""
    display = r"\left(I - \frac{{1}}{{m}} M - \frac{{1}}{{m}}\hat y\hat y^\top\right) {0:product}"
    return named(display, x - M(x) / m - YY(x) / m, x)


def quadratic(x: Expression) -> Expression:
    r"""Return :math:`x^\top H x`."""
    return named(r"{0:atom}^\top H {0:atom}", dot(x, unit.H(x)), x)


def hessian(x: Expression) -> Expression:
    r"""Return :math:`\frac{\partial\hat L}{\partial y\partial y}x` as it is printed."""
    display = r"\frac{{\partial\hat L}}{{\partial y\partial y}} {0:atom}"
    return named(display, along(gradient(unit.Lhat(variable), variable), variable, x, at=y), x)


def hessian_form(x: Expression) -> Expression:
    r"""Return :math:`x^\top\frac{\partial\hat L}{\partial y\partial y}x`, by differentiation."""
    display = r"{0:atom}^\top\frac{{\partial\hat L}}{{\partial y\partial y}} {0:atom}"
    return named(display, dot(x, hessian(x)), x)


def unscaled(case: Any) -> Any:
    r"""Give the case :math:`\gamma = \sigma`."""
    return replace(case, gamma=batchnorm.standard_deviation(case.y, case.eps))


def contracting(case: Any) -> Any:
    r"""Give the case the scale :math:`\gamma = \sigma^2/(1 + \sigma^2) \le \sigma`."""
    v = batchnorm.variance(case.y) + case.eps
    return replace(case, gamma=v / (1 + v))


NOT_LONGER = assume(gamma**2 <= sigma**2, impose=contracting, printed=False)
"""The layer does not lengthen its batch."""
