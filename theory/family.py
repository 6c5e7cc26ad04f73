r"""The family of normalisations, and their derivatives to the third order, for any arithmetic.

All of them divide by a root mean square,

.. math:: n(c) = \hat y = c/\sigma, \qquad \sigma = \sqrt{\langle c, c\rangle/m + \epsilon}.

RMS normalisation is n itself.  Batch, layer, group and instance normalisation are
:math:`n \circ P` with the centring P, over different axes of the same array.  P is linear and
symmetric, and n maps centred vectors to centred ones, so that their derivatives are those of n at
centred arguments: :func:`theory.batchnorm.jvp` is :math:`\gamma` times :func:`first` there, and
:func:`theory.batchnorm.curvature` is :math:`-\gamma` times :func:`second`.

Since :math:`n = m \nabla\sigma`, each derivative of n is symmetric in all of its arguments **and**
in the vector that it is multiplied by: :math:`\langle w, D^k n[u, v, \dots]\rangle` may be
differentiated in reverse by exchanging w for an argument.  With
:math:`\alpha_u = \langle\hat y, u\rangle/m`, :math:`s_{uv} = \langle u, v\rangle/m`:

.. math::
   \sigma\,Dn[u] &= u - \alpha_u\hat y, \\
   \sigma^2 D^2n[u, v] &= (3\alpha_u\alpha_v - s_{uv})\hat y - \alpha_v u - \alpha_u v, \\
   \sigma^3 D^3n[u, v, w] &= \big(3(\alpha_u s_{vw} + \alpha_v s_{uw} + \alpha_w s_{uv})
       - 15\alpha_u\alpha_v\alpha_w\big)\hat y \\
       &\quad + (3\alpha_v\alpha_w - s_{vw})u + (3\alpha_u\alpha_w - s_{uw})v
       + (3\alpha_u\alpha_v - s_{uv})w.

Index convention: ``axis`` names the axes that are normalised together, of m entries; every other
axis runs over units that do not interact.

Source: Ba, Kiros and Hinton 2016 (layer); Ulyanov et al. 2016 (instance); Wu and He 2018 (group);
Zhang and Sennrich 2019 (RMS); the derivatives by Taylor's formula for :math:`c\,q^{-1/2}` with
:math:`q = \langle c, c\rangle/m + \epsilon`.

>>> import numpy as np
>>> y = np.array([1.0, 1.0, 1.0, 1.0])
>>> yhat, sigma = standardize(y, eps=3.0)
>>> yhat, sigma
(array([0.5, 0.5, 0.5, 0.5]), array([2.]))
>>> first(yhat, sigma, np.array([1.0, 0.0, 0.0, 0.0]))
array([ 0.46875, -0.03125, -0.03125, -0.03125])
"""

from __future__ import annotations

from typing import Any

from theory.arithmetic import Axes, inner, size, sqrt


def standardize(c: Any, eps: Any = 0, axis: Axes = 0) -> tuple[Any, Any]:
    r"""The pair :math:`n(c) = c/\sigma` and :math:`\sigma`."""
    sigma = sqrt(_product(c, c, axis) + eps)
    return c / sigma, sigma


def first(yhat: Any, sigma: Any, u: Any, axis: Axes = 0) -> Any:
    r"""The first derivative :math:`Dn[u]`; same shape as ``u``."""
    return (u - yhat * _product(yhat, u, axis)) / sigma


def second(yhat: Any, sigma: Any, u: Any, v: Any, axis: Axes = 0) -> Any:
    r"""The second derivative :math:`D^2n[u, v]`; same shape as ``u``."""
    on_u, on_v = _product(yhat, u, axis), _product(yhat, v, axis)
    along = 3 * on_u * on_v - _product(u, v, axis)
    return (yhat * along - u * on_v - v * on_u) / (sigma * sigma)


def third(yhat: Any, sigma: Any, u: Any, v: Any, w: Any, axis: Axes = 0) -> Any:
    r"""The third derivative :math:`D^3n[u, v, w]`; same shape as ``u``."""
    on_u, on_v, on_w = (_product(yhat, a, axis) for a in (u, v, w))
    uv, uw, vw = _product(u, v, axis), _product(u, w, axis), _product(v, w, axis)
    along = 3 * (on_u * vw + on_v * uw + on_w * uv) - 15 * on_u * on_v * on_w
    across = u * (3 * on_v * on_w - vw) + v * (3 * on_u * on_w - uw) + w * (3 * on_u * on_v - uv)
    return (yhat * along + across) / (sigma * sigma * sigma)


def _product(a: Any, b: Any, axis: Axes) -> Any:
    return inner(a, b, axis) / size(a, axis)
