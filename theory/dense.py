r"""Jacobian, Hessian and projection as matrices: the operator forms applied to the identity.

Index convention: b and k run over the batch, the last axes over units that do not interact,

.. math:: \text{out}[b, k, \ldots] = \partial z_b / \partial y_k .

====================================  =============  ======================================
y                                     axis           matrices
====================================  =============  ======================================
``(m,)``                              ``0``          ``(m, m)``
``(m, unit)``                         ``0``          ``(m, m, unit)``
``(batch, channel, height, width)``   ``(0, 2, 3)``  ``(m, m, channel)``, m = batch*height*width
====================================  =============  ======================================

Several batch axes are flattened in the order in which they stand in ``y``, the last one fastest:
entry ``y[n, :, h, w]`` of a map is number ``b = (n*height + h)*width + w``.  A matrix takes
m*m numbers for each unit; the operators of :mod:`theory.batchnorm` need none of it.

Source: Santurkar et al. 2018, App. C.
"""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace, device, is_array_api_obj

from theory import batchnorm
from theory.arithmetic import Axes, inner, size


def project(y: Any, u: Any, eps: Any = 0, axis: Axes = 0) -> Any:
    r"""Apply P, the operator behind the Jacobian, to a direction; same shape as ``y``.

    .. math:: P u = u - \bar u\,1 - \tfrac1m \hat y\langle\hat y, u\rangle
              = \tfrac\sigma\gamma \frac{\partial z}{\partial y} u

    At eps = 0 it projects orthogonally onto the complement of 1 and of yhat; at eps > 0 it keeps
    the fraction eps/(variance + eps) of yhat, so it is no projection.

    Source: Santurkar et al. 2018, Fact C.2; P names the common factor of eq. (41).
    """
    yhat = batchnorm.normalize(y, eps, axis)
    return batchnorm.centre(u, axis) - yhat * inner(yhat, u, axis) / size(y, axis)


def projection(y: Any, eps: Any = 0, axis: Axes = 0) -> Any:
    r"""Return the symmetric matrix :math:`P = I - \tfrac1m 1 1^\top - \tfrac1m \hat y\hat y^\top`.

    A batch of two leaves nothing at eps = 0, since 1 and yhat span the plane:

    >>> import numpy as np
    >>> projection(np.array([1.0, 3.0]))
    array([[0., 0.],
           [0., 0.]])
    """
    columns = project(_columns(y, axis), _identity(y, axis), _per_unit(eps, y, axis))
    return _unflatten(columns, y, axis)


def jacobian(y: Any, gamma: Any = 1, eps: Any = 0, axis: Axes = 0) -> Any:
    r"""Return the Jacobian :math:`\frac{\partial z}{\partial y} = \frac\gamma\sigma P`, symmetric.

    Source: Santurkar et al. 2018, Fact C.2, eq. (1) and (2).

    >>> import numpy as np
    >>> 4 * jacobian(np.array([0.0, 0.0, 2.0, 2.0]))  # sigma = 1, yhat = (-1, -1, 1, 1)
    array([[ 2., -2.,  0.,  0.],
           [-2.,  2.,  0.,  0.],
           [ 0.,  0.,  2., -2.],
           [ 0.,  0., -2.,  2.]])
    """
    columns = batchnorm.jvp(
        _columns(y, axis),
        _identity(y, axis),
        _per_unit(gamma, y, axis),
        _per_unit(eps, y, axis),
    )
    return _unflatten(columns, y, axis)


def hessian(y: Any, g: Any, H: Any, gamma: Any = 1, eps: Any = 0, axis: Axes = 0) -> Any:
    r"""Hessian of :math:`L(z(y))` in ``y``, one matrix for each unit.

    .. math:: J H J - \frac{\gamma}{m\sigma^2}\Big(\bar g\hat y^\top + \hat y\bar g^\top
              + \langle\hat y, g\rangle(I - \tfrac1m 1 1^\top)
              - \tfrac3m\langle\hat y, g\rangle\hat y\hat y^\top\Big)

    with :math:`g = \partial L/\partial z`, of the shape of ``y``.  Matrices in, matrices out:
    ``H`` is the loss's Hessian in z as a symmetric matrix for each unit, of the shape of the
    result.  A loss that ties units together has blocks across units besides, J H J alone; for
    them, and for an H that is a function, there is :func:`theory.batchnorm.hvp`.

    Source: Santurkar et al. 2018, eq. (41)-(42).

    >>> import numpy as np
    >>> y, g = np.array([0.0, 0.0, 2.0, 2.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> hessian(y, g, np.zeros((4, 4)))  # g = yhat: the curvature is -P
    array([[-0.5,  0.5,  0. ,  0. ],
           [ 0.5, -0.5,  0. ,  0. ],
           [ 0. ,  0. , -0.5,  0.5],
           [ 0. ,  0. ,  0.5, -0.5]])
    """
    xp = array_namespace(y)
    m = size(y, axis)
    by_unit = xp.permute_dims(xp.reshape(H, (m, m, -1)), (2, 0, 1))

    def hessian_of_loss(w: Any) -> Any:
        return xp.permute_dims(by_unit @ xp.permute_dims(w, (2, 0, 1)), (1, 2, 0))

    columns = batchnorm.hvp(
        _columns(y, axis),
        _columns(g, axis),
        hessian_of_loss,
        _identity(y, axis),
        _per_unit(gamma, y, axis),
        _per_unit(eps, y, axis),
    )
    return _unflatten(columns, y, axis)


def _axes(y: Any, axis: Axes) -> list[int]:
    return sorted(i % y.ndim for i in ((axis,) if isinstance(axis, int) else axis))


def _flatten(y: Any, axis: Axes) -> Any:
    """Bring the batch axes to the front and flatten: (m, all units)."""
    xp = array_namespace(y)
    batch = _axes(y, axis)
    units = [i for i in range(y.ndim) if i not in batch]
    return xp.reshape(xp.permute_dims(y, (*batch, *units)), (size(y, axis), -1))


def _columns(y: Any, axis: Axes) -> Any:
    """Return the batch, constant along an axis k of columns: (m, 1, all units)."""
    return _flatten(y, axis)[:, None, :]


def _identity(y: Any, axis: Axes) -> Any:
    """Return the identity as directions, column k for entry k: (m, m, 1)."""
    return array_namespace(y).eye(size(y, axis), dtype=y.dtype, device=device(y))[:, :, None]


def _per_unit(value: Any, y: Any, axis: Axes) -> Any:
    """Return a number as it is, an array of one number for each unit as (1, 1, all units)."""
    if not is_array_api_obj(value):
        return value
    return _columns(array_namespace(y).broadcast_to(value, y.shape), axis)[:1, :, :]


def _unflatten(columns: Any, y: Any, axis: Axes) -> Any:
    """Give the units their axes back: (m, m, all units) to (m, m, ...)."""
    units = [n for i, n in enumerate(y.shape) if i not in _axes(y, axis)]
    return array_namespace(y).reshape(columns, (*columns.shape[:2], *units))
