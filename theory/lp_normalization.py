r"""Normalization by the average :math:`\ell_p` norm, and its derivatives, for any arithmetic.

For one unit with batch :math:`y \in \mathbb{R}^m`, mean :math:`\mu` and centred batch
:math:`c = y - \mu 1`,

.. math:: z = \gamma \frac{c}{s_p} + \beta, \qquad
          s_p = \Big(\frac1m \sum_b |y_b|^p + \epsilon\Big)^{1/p}, \qquad
          s_\infty = \max_b |y_b| + \epsilon .

Index convention: as in :mod:`theory.batchnorm`.  The exponent p is a number of at least 1, or
infinity.  The formulas are total and unguarded; :mod:`theory.lp` has each of them behind a check
of its input.

Source: Santurkar et al. 2018, sect. 3.3 (first version, sect. 3.4), in one sentence: "schemes that
fix the first order moment of the activations, as BatchNorm does, and then normalizes them by the
average of their l_p-norm (before shifting the mean), for p = 1, 2, inf".  No formula is printed,
and the sentence leaves open

- *what the norm is of*.  Read here: of the activations as they come, which is what "before shifting
  the mean" says.  Were it of the centred ones, p = 2 would be Batch Normalization, although the
  paper compares the two and goes on: "does not guarantee anymore any control over the distribution
  moments".  That other reading is this layer applied to :math:`c`.
- *what the average is*.  Read here: the power mean, which of one absolute value is that value, for
  every p.  A norm divided by m is the same times :math:`m^{1/p - 1}`, hence the same layer with
  another :math:`\gamma`.

For p = 2 the layer has the values of Batch Normalization with :math:`\mu^2 + \epsilon` for its
epsilon; not its derivatives, as :math:`\mu` moves with the batch.

Kinks: :math:`|y_b|` has no derivative at 0 and a maximum none at a tie.  There the derivatives
below take 0 for the sign of 0, and the mean over the entries that attain the maximum; both are
elements of Clarke's generalised derivative, and what automatic differentiation takes.

>>> import numpy as np
>>> y = np.array([0.0, 0.0, 4.0, 4.0])  # of mean 2; average 2, maximum 4
>>> normalize(y, 1), normalize(y, float("inf"))
(array([-1., -1.,  1.,  1.]), array([-0.5, -0.5,  0.5,  0.5]))
"""

from __future__ import annotations

from math import inf
from typing import Any

from array_api_compat import array_namespace

from theory import scaling
from theory.arithmetic import Axes, inner, mean, size, sqrt
from theory.arithmetic.unbounded import constant
from theory.batchnorm import centre


def power_mean(y: Any, p: float, eps: Any = 0, axis: Axes = 0) -> Any:
    r"""The average norm :math:`s_p`; batch axes kept with length one."""
    xp = array_namespace(y)
    if p == inf:
        return xp.max(xp.abs(y), axis=axis, keepdims=True) + eps
    return _root(mean(xp.abs(y) ** p, axis) + eps, p)


def shares(y: Any, p: float, eps: Any = 0, axis: Axes = 0) -> tuple[Any, Any, Any]:
    r"""Return :math:`y / t`, :math:`\epsilon / t^p` and t, of which no power overflows.

    The layer is that of the first two, and :math:`s_p` is t times theirs.  t is the largest entry
    of each unit, or the root of eps if that is larger, and off PyTorch's tape, so that derivatives
    pass; the largest share is one, and those whose powers vanish add nothing.

    >>> import numpy as np
    >>> shares(np.array([1e200, -2e200]), 3)[0]
    array([ 0.5, -1. ])
    """
    xp = array_namespace(y)
    t = scaling.largest(constant(y), axis)
    # An array: PyTorch divides a number by an array by way of the inverse, which may overflow.
    root = xp.zeros_like(t) + (constant(eps) if p == inf else constant(eps) ** (1 / p))
    t = xp.maximum(t, root)
    t = xp.where(t > 0, t, xp.ones_like(t))
    power = 1 / t if p == inf else t**-p
    is_finite = power <= xp.finfo(t.dtype).max
    share = root / t if p == inf else (root / t) ** p  # which is finite where that power is not
    return y / t, xp.where(is_finite, eps * xp.where(is_finite, power, 0 * t), share), t


def normalize(y: Any, p: float, eps: Any = 0, axis: Axes = 0) -> Any:
    r""":math:`c / s_p`; same shape as ``y``."""
    return centre(y, axis) / power_mean(y, p, eps, axis)


def forward(y: Any, p: float, gamma: Any = 1, beta: Any = 0, eps: Any = 0, axis: Axes = 0) -> Any:
    r"""The layer, :math:`z = \gamma c / s_p + \beta`; same shape as ``y``."""
    return gamma * normalize(y, p, eps, axis) + beta


def slopes(y: Any, p: float, eps: Any = 0, axis: Axes = 0) -> Any:
    r"""The derivative of the average norm, times m; same shape as ``y``.

    .. math:: d_b = m \frac{\partial s_p}{\partial y_b}
              = \operatorname{sign}(y_b) \Big(\frac{|y_b|}{s_p}\Big)^{p - 1}
              = \operatorname{sign}(y_b) \frac{|y_b|^{p - 1} s_p}{s_p^p},

    of which the last does not raise the rounding of a root to a power; for p infinite the sign
    times m over the number of entries that attain the maximum there, and 0 elsewhere.

    >>> import numpy as np
    >>> slopes(np.array([-3.0, 0.0, 2.0]), 1), slopes(np.array([-3.0, 0.0, 2.0]), float("inf"))
    (array([-1.,  0.,  1.]), array([-3.,  0.,  0.]))
    """
    xp = array_namespace(y)
    sign = _sign(y)
    if p == inf:
        attained = xp.abs(y) == xp.max(xp.abs(y), axis=axis, keepdims=True)
        share = xp.astype(attained, y.dtype)
        return sign * share / mean(share, axis)
    power = mean(xp.abs(y) ** p, axis) + eps
    return sign * xp.abs(y) ** (p - 1) * (_root(power, p) / power)


def slopes_of_any_size(y: Any, p: float, eps: Any = 0, axis: Axes = 0) -> Any:
    r"""The same of floats, where entries are so far below t that :math:`y / t` vanishes.

    >>> import numpy as np
    >>> slopes_of_any_size(np.array([1e-200, -1e200]), 1)
    array([ 1., -1.])
    """
    if p == inf:
        return slopes(y, p, eps, axis)
    xp = array_namespace(y)
    share, eps, t = shares(y, p, eps, axis)
    power = mean(xp.abs(share) ** p, axis) + eps
    # Whichever of the two powers leaves the range no sooner than their quotient.
    size = xp.abs(y) ** (p - 1) / t ** (p - 1) if p < 2 else xp.abs(share) ** (p - 1)
    return _sign(y) * size * (_root(power, p) / power)


def jvp(y: Any, u: Any, p: float, gamma: Any = 1, eps: Any = 0, axis: Axes = 0) -> Any:
    r"""The layer's Jacobian applied to a direction, :math:`\frac{\partial z}{\partial y} u`.

    .. math:: \frac{\gamma}{s_p}\Big(u - \bar u\,1 - \frac{c}{m s_p} \langle d, u\rangle\Big)

    with :math:`d` of :func:`slopes`.
    """
    return jvp_along(slopes(y, p, eps, axis), y, u, p, gamma, eps, axis)


def jvp_along(
    d: Any, y: Any, u: Any, p: float, gamma: Any = 1, eps: Any = 0, axis: Axes = 0
) -> Any:
    """The same, by slopes that are known: those of the batch times any number."""
    scale = power_mean(y, p, eps, axis)
    along = inner(d, u, axis) / size(y, axis)
    return gamma / scale * (centre(u, axis) - centre(y, axis) / scale * along)


def gradient(y: Any, g: Any, p: float, gamma: Any = 1, eps: Any = 0, axis: Axes = 0) -> Any:
    r"""Gradient of :math:`L(z(y))` in ``y``, for :math:`g = \partial L/\partial z`.

    .. math:: \frac{\gamma}{s_p}\Big(g - \bar g\,1 - \frac{d}{m s_p} \langle c, g\rangle\Big)

    The Jacobian is symmetric where d and c are parallel or one of them is zero, as for p = 2 and a
    mean of zero, and not in general.
    """
    return gradient_along(slopes(y, p, eps, axis), y, g, p, gamma, eps, axis)


def gradient_along(
    d: Any, y: Any, g: Any, p: float, gamma: Any = 1, eps: Any = 0, axis: Axes = 0
) -> Any:
    """The same, by slopes that are known."""
    scale = power_mean(y, p, eps, axis)
    g = centre(g, axis)
    along = inner(centre(y, axis) / scale, g, axis) / size(y, axis)
    return gamma / scale * (g - d * along)


def gradient_gamma(y: Any, g: Any, p: float, eps: Any = 0, axis: Axes = 0) -> Any:
    r""":math:`\partial L/\partial\gamma = \langle g, c / s_p\rangle`; batch axes kept.

    That in :math:`\beta` is :func:`theory.batchnorm.gradient_beta`.
    """
    return inner(g, normalize(y, p, eps, axis), axis)


def _sign(y: Any) -> Any:
    # Not the library's sign, which looks for NaN in PyTorch's arrays and fails in torch.vmap.
    xp = array_namespace(y)
    return xp.astype(y > 0, y.dtype) - xp.astype(y < 0, y.dtype)


def _root(x: Any, p: float) -> Any:
    # Exact numbers stay exact where they can.
    if p == 1:
        return x
    return sqrt(x) if p == 2 else x ** (1 / p)
