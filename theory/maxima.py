r"""Maxima over all inputs X of spectral norm at most :math:`\lambda`, the rest held fixed.

X is m x d, one row an example; a, g and h are vectors of the batch, A a symmetric operator on it.
Statements on gradients in the weights ask for the maximum of :math:`\|X^\top a\|^2` and of
:math:`a^\top XX^\top A XX^\top a` over :math:`\|X\| \le \lambda`.  Both depend on X through
:math:`v = XX^\top a/\lambda^2` alone.

**Lemma.**  For every d >= 1,
:math:`\{XX^\top a : \|X\| \le \lambda\} = \{\lambda^2 v : \|v\|^2 \le \langle v, a\rangle\}`,
a ball of diameter :math:`\|a\|` with 0 and a on its boundary.

*Proof.*  Let :math:`B = XX^\top/\lambda^2`, so that :math:`0 \le B \le I`.  Then
:math:`\|Ba\|^2 = a^\top B^2 a \le a^\top B a`.  Conversely, let :math:`v \ne 0` be in the ball;
:math:`X = \lambda v e_1^\top/\sqrt{\langle v, a\rangle}` has :math:`XX^\top a = \lambda^2 v` and
norm :math:`\lambda\|v\|/\sqrt{\langle v, a\rangle} \le \lambda`.

A maximum of :math:`\|X^\top a\|^2 = \lambda^2\langle v, a\rangle` is therefore at v = a, and equals
:math:`\lambda^2\|a\|^2`.  That of :math:`v^\top A v` lies on the boundary: if it lay inside, then
:math:`A \le 0` and it is zero, which v = 0 attains too.  For m >= 2 a point of the boundary is
:math:`u\langle u, a\rangle/\|u\|^2`, that is :math:`X = \lambda u e_1^\top/\|u\|`.  (For m = 1 the
boundary is 0 and a, and no u gives 0.)  So for m >= 2 a bound on either maximum holds if and only
if it holds for :math:`X = \lambda u e_1^\top/\|u\|` with every u, which is how the claims state it.

If the batch y = Xw itself is to stay what it is, the first maximum is the same for d >= 2 and
:math:`\|y\| \le \lambda\|w\|` (:func:`keeping_batch`).

>>> import numpy as np
>>> largest_gradient(np.array([3.0, 4.0]), 2.0)
array([100.])
>>> round(largest_quadratic(np.zeros((2, 2)), np.array([3.0, 4.0])).value, 12)
0.0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.arithmetic import inner, norm_squared

Array = NDArray[np.float64]


def largest_gradient(a: Any, bound: Any) -> Any:
    r""":math:`\max_{\|X\| \le \lambda}\|X^\top a\|^2 = \lambda^2\|a\|^2`."""
    return bound**2 * norm_squared(a)


def gradient_along(a: Any, u: Any, bound: Any) -> Any:
    r""":math:`\|X^\top a\|^2` at :math:`X = \lambda u e_1^\top/\|u\|`; largest for u = a."""
    return bound**2 * inner(u, a) ** 2 / norm_squared(u)


def quadratic_along(a: Any, form: Callable[[Any], Any], u: Any, bound: Any) -> Any:
    r""":math:`a^\top XX^\top A XX^\top a` at :math:`X = \lambda u e_1^\top/\|u\|`.

    ``form`` is the function :math:`u \mapsto u^\top A u`.
    """
    return bound**4 * inner(u, a) ** 2 * form(u) / norm_squared(u) ** 2


class Maximum(NamedTuple):
    """A maximum, where it is attained, and a bound from above that proves it."""

    value: float
    v: Array
    bound: float
    r""":math:`\nu\langle v, a\rangle/2`, not below the maximum (:func:`largest_quadratic`)."""
    residual: float
    """How far v is from the equation of a stationary point, relative to the size of A and a."""


def largest_quadratic(A: Array, a: Array) -> Maximum:
    r"""Return :math:`M(A, a) = \max\{v^\top A v : \|v\|^2 \le \langle v, a\rangle\}`.

    For :math:`\nu \ge \max(0, \lambda_{\max}(A))` every v of the ball has
    :math:`v^\top A v \le v^\top A v + \nu(\langle v, a\rangle - \|v\|^2)`, a concave function of v
    whose maximum, at :math:`(\nu I - A)v = \nu a/2`, is :math:`\nu\langle v, a\rangle/2`.  If that
    v lies on the boundary of the ball, the two agree and v is a maximiser.

    >>> found = largest_quadratic(np.diag([1.0, -1.0]), np.array([0.0, 1.0]))
    >>> round(found.value, 12), found.v.round(12) + 0
    (0.125, array([0.4330127, 0.25     ]))
    """
    values, basis = np.linalg.eigh(A)
    b, radius = basis.T @ a, float(np.linalg.norm(a)) / 2
    top = values[-1]
    if top <= 0 or radius == 0:
        return Maximum(0.0, np.zeros_like(a), 0.0, 0.0)
    w = _on_sphere(values, values * b / 2, radius)
    v = basis @ (b / 2 + w)
    nu = float(_multiplier(values, values * b / 2, radius))
    residual = np.linalg.norm(nu * v - A @ v - nu * a / 2) / (np.abs(values).max() * radius)
    return Maximum(float(v @ A @ v), v, nu * float(v @ a) / 2, float(residual))


def _multiplier(values: Array, slope: Array, radius: float) -> float:
    r"""Return the least :math:`\nu \ge \lambda_{\max}` with :math:`|w(\nu)| \le` radius."""
    low = float(values[-1])
    high = low + float(np.linalg.norm(slope)) / radius
    if np.linalg.norm(_w(low, values, slope)) <= radius:
        return low
    for _ in range(200):
        middle = (low + high) / 2
        if np.linalg.norm(_w(middle, values, slope)) > radius:
            low = middle
        else:
            high = middle
    return high


def _w(nu: float, values: Array, slope: Array) -> Array:
    """Solve (nu - A) w = slope; infinite in a direction without a solution."""
    gap = nu - values
    size = np.abs(values).max()
    flat, still = gap <= 1e-15 * size, np.abs(slope) <= 1e-14 * max(np.abs(slope).max(), 1e-300)
    return np.where(flat, np.where(still, 0.0, np.inf), slope / np.where(flat, 1.0, gap))


def _on_sphere(values: Array, slope: Array, radius: float) -> Array:
    """Return the maximiser of w'Aw + 2 <slope, w> on the sphere: no less than inside, as A > 0."""
    w = _w(_multiplier(values, slope, radius), values, slope)
    missing = radius**2 - float(w @ w)
    if missing > 1e-12 * radius**2:  # the top direction is free: go along it to the sphere
        w[-1] += np.sqrt(missing)
    return w


def inputs_attaining(v: Array, a: Array, bound: float, d: int) -> Array:
    r"""Return X, m x d, with :math:`XX^\top a = \lambda^2 v` for a v of the ball that is not 0."""
    X = np.zeros((len(v), d))
    X[:, 0] = bound * v / np.sqrt(v @ a)
    return X


def keeping_batch(y: Array, w: Array, a: Array, bound: float) -> Array:
    r"""Return the X with Xw = y, :math:`\|X\| \le \lambda` and :math:`\|X^\top a\| = \lambda\|a\|`.

    With d >= 2 and :math:`\|y\| \le \lambda\|w\|` write :math:`X = yw^\top/\|w\|^2 + Z`, Zw = 0;
    :math:`\|X\| \le \lambda` means :math:`ZZ^\top \le Q = \lambda^2 I - yy^\top/\|w\|^2`, and
    :math:`\|X^\top a\|^2 = \langle y, a\rangle^2/\|w\|^2 + \|Z^\top a\|^2 \le \lambda^2\|a\|^2`,
    attained by :math:`Z = Qa v^\top/\sqrt{a^\top Q a}` with a unit v orthogonal to w.
    """
    ww = w @ w
    Qa = bound**2 * a - y * (y @ a) / ww
    i = int(np.argmin(np.abs(w)))
    v = np.eye(len(w))[i] - w * w[i] / ww
    aQa = a @ Qa
    X: Array = np.outer(y, w) / ww
    return X if aQa <= 0 else X + np.outer(Qa, v) / np.sqrt(aQa) / np.linalg.norm(v)
