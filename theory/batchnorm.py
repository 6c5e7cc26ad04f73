r"""Batch Normalization and its derivatives, for any arithmetic.

For one unit with batch :math:`y \in \mathbb{R}^m`, mean :math:`\mu`, biased variance
:math:`v`, and :math:`\sigma = \sqrt{v + \epsilon}`, :math:`\epsilon \ge 0`,

.. math:: \hat y = (y - \mu) / \sigma, \qquad z = \gamma \hat y + \beta.

Index convention: the axes named by ``axis`` are the batch (0 for a dense layer of shape
``(batch, unit)``; ``(0, 2, 3)`` for maps of shape ``(batch, channel, height, width)``); every
other axis runs over units that do not interact.  ``gamma`` and ``beta`` are numbers, or arrays
that broadcast against the batch (shape ``(unit,)``, respectively ``(1, channel, 1, 1)``).

The formulas are total and unguarded, so that they compile and vectorise; :mod:`theory` exports
each of them behind a check of its input.

Source: Ioffe and Szegedy 2015 for the layer; Santurkar et al. 2018, App. C, for the derivatives.
"""

from __future__ import annotations

from typing import Any

from theory.arithmetic import Axes, combination, inner, mean, size, sqrt, summed


def centre(y: Any, axis: Axes = 0) -> Any:
    r"""The batch less its mean, :math:`c = y - \mu 1`; same shape as ``y``."""
    return y - mean(y, axis)


def variance(y: Any, axis: Axes = 0) -> Any:
    r"""Biased variance :math:`v = \langle c, c\rangle / m`; batch axes kept with length one."""
    c = centre(y, axis)
    return inner(c, c, axis) / size(y, axis)


def standard_deviation(y: Any, eps: Any = 0, axis: Axes = 0) -> Any:
    r""":math:`\sigma = \sqrt{v + \epsilon}`; batch axes kept with length one."""
    return sqrt(variance(y, axis) + eps)


def standardize(y: Any, eps: Any = 0, axis: Axes = 0) -> tuple[Any, Any]:
    r"""The pair :math:`\hat y, \sigma`: one centring for both."""
    c = centre(y, axis)
    sigma = sqrt(inner(c, c, axis) / size(y, axis) + eps)
    return c / sigma, sigma


def normalize(y: Any, eps: Any = 0, axis: Axes = 0) -> Any:
    r""":math:`\hat y = (y - \mu) / \sqrt{v + \epsilon}`; same shape as ``y``."""
    return standardize(y, eps, axis)[0]


def forward(y: Any, gamma: Any = 1, beta: Any = 0, eps: Any = 0, axis: Axes = 0) -> Any:
    r"""The layer, :math:`z = \gamma \hat y + \beta`; same shape as ``y``."""
    return gamma * normalize(y, eps, axis) + beta


def jvp(y: Any, u: Any, gamma: Any = 1, eps: Any = 0, axis: Axes = 0) -> Any:
    r"""The layer's Jacobian applied to a direction, :math:`\frac{\partial z}{\partial y} u`.

    .. math:: \frac{\gamma}{\sigma}\Big(u - \bar u\,1 - \tfrac1m \hat y \langle\hat y, u\rangle\Big)

    Source: Santurkar et al. 2018, Fact C.2, eq. (1) and (2).
    """
    return _jvp(*standardize(y, eps, axis), u, gamma, axis)


def _jvp(yhat: Any, sigma: Any, u: Any, gamma: Any, axis: Axes) -> Any:
    # The computed yhat has a mean of its own, of size u*|mean|/sigma: let it meet no offset in u.
    u = centre(u, axis)
    return gamma / sigma * (u - yhat * (inner(yhat, u, axis) / size(yhat, axis)))


def gradient(y: Any, g: Any, gamma: Any = 1, eps: Any = 0, axis: Axes = 0) -> Any:
    r"""Gradient of :math:`L(z(y))` in ``y``, for :math:`g = \partial L/\partial z`.

    .. math:: \frac{\gamma}{m\sigma}
              \Big(m g - \langle 1, g\rangle 1 - \hat y\langle\hat y, g\rangle\Big)

    The Jacobian is symmetric, so this is :func:`jvp` with ``g`` for the direction.

    Source: Santurkar et al. 2018, Fact C.1.
    """
    return jvp(y, g, gamma, eps, axis)


def hvp(
    y: Any, g: Any, hessian_of_loss: Any, u: Any, gamma: Any = 1, eps: Any = 0, axis: Axes = 0
) -> Any:
    r"""Hessian of :math:`L(z(y))` in ``y``, applied to a direction ``u``.

    .. math:: J H J u - \frac{\gamma}{m\sigma^2}\Big(\bar g\langle\hat y, u\rangle
              + \hat y\langle\bar g, u\rangle + \langle\hat y, g\rangle\bar u
              - \tfrac3m\hat y\langle\hat y, g\rangle\langle\hat y, u\rangle\Big)

    with :math:`J` the Jacobian, a bar for centring, :math:`g` the gradient and :math:`H` the
    Hessian of the loss in ``z``; ``hessian_of_loss`` is the function :math:`w \mapsto H w`.

    Source: Santurkar et al. 2018, eq. (41)-(42).
    """
    # The same in few passes over memory: everything is a combination of g, u, w = H J u and the
    # centred batch c, with the coefficients of their regressions on c.  Products are of what is
    # centred, lest the means of two of them, or what rounding left of one, be multiplied.
    m, c = size(y, axis), centre(y, axis)
    mean_u, mean_g = mean(u, axis), mean(g, axis)

    def of_centred(c: Any, g: Any, u: Any) -> tuple[Any, ...]:
        g, u = g - mean_g, u - mean_u
        return inner(c, c, axis), inner(c, u, axis), inner(c, g, axis), inner(g, u, axis)

    squares, with_u, with_g, covariance = summed(of_centred, c, g, u, axis=axis)
    squares = squares + m * eps
    scale, on_u, on_g = gamma / sqrt(squares / m), with_u / squares, with_g / squares
    w = hessian_of_loss(combination(scale, u - mean_u, (-on_u, c)))
    mean_w = mean(w, axis)
    (with_w,) = summed(lambda c, w: (inner(c, w - mean_w, axis),), c, w, axis=axis)
    on_c = 3 * on_g * on_u - (with_w + covariance) / squares
    constant = mean_w - on_u * mean_g - on_g * mean_u
    return combination(scale, w - constant, (-on_u, g), (-on_g, u), (on_c, c))


def curvature(y: Any, g: Any, u: Any, gamma: Any = 1, eps: Any = 0, axis: Axes = 0) -> Any:
    r"""What the layer's own bending takes from the Hessian, applied to a direction ``u``.

    .. math:: -\sum_b g_b \frac{\partial^2 z_b}{\partial y^2} u

    Source: Santurkar et al. 2018, eq. (42).
    """
    return _curvature(*standardize(y, eps, axis), g, u, gamma, axis)


def _curvature(yhat: Any, sigma: Any, g: Any, u: Any, gamma: Any, axis: Axes) -> Any:
    m = size(yhat, axis)
    g, u = centre(g, axis), centre(u, axis)
    along_g, along_u = inner(yhat, g, axis) / m, inner(yhat, u, axis) / m
    bent = yhat * (inner(g, u, axis) / m - 3 * along_g * along_u) + g * along_u + u * along_g
    return gamma / sigma**2 * bent


def gradient_gamma(y: Any, g: Any, eps: Any = 0, axis: Axes = 0) -> Any:
    r""":math:`\partial L/\partial\gamma = \langle g, \hat y\rangle`; batch axes kept."""
    return inner(g, normalize(y, eps, axis), axis)


def gradient_beta(g: Any, axis: Axes = 0) -> Any:
    r""":math:`\partial L/\partial\beta = \langle g, 1\rangle`; batch axes kept."""
    return mean(g, axis) * size(g, axis)
