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
:math:`\|y\| \le \lambda\|w\|`.  *Proof.*  Write :math:`X = yw^\top/\|w\|^2 + Z`, Zw = 0;
:math:`\|X\| \le \lambda` means :math:`ZZ^\top \le Q = \lambda^2 I - yy^\top/\|w\|^2`, and
:math:`\|X^\top a\|^2 = \langle y, a\rangle^2/\|w\|^2 + \|Z^\top a\|^2 \le \lambda^2\|a\|^2`,
attained by :math:`Z = Qa v^\top/\sqrt{a^\top Q a}` with a unit v orthogonal to w.

>>> import numpy as np
>>> largest_gradient(np.array([3.0, 4.0]), 2.0)
array([100.])
"""

from __future__ import annotations

from typing import Any

from theory.arithmetic import norm_squared


def largest_gradient(a: Any, bound: Any) -> Any:
    r""":math:`\max_{\|X\| \le \lambda}\|X^\top a\|^2 = \lambda^2\|a\|^2`."""
    return bound**2 * norm_squared(a)
