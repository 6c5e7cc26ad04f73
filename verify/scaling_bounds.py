r"""Bounds on how well any diagonal scaling conditions a positive definite matrix, and their proofs.

.. math:: \kappa_{\min} = \min_{D_0} \kappa(B^{1/2} D_0), \qquad D_0 \text{ diagonal, nonsingular}

The bounds are on the square, :math:`\kappa(B^{1/2} D_0)^2`, which is the condition number of
:math:`D_0 B D_0`.

*From above*, any :math:`D_0` gives one.  *From below*, any two matrices V and W do whose rows
obey :math:`|W_i| \le |V_i|`: with :math:`X = D_0^{-2}`, scaled so that :math:`X \le B \le tX` for
:math:`t = \kappa(B^{1/2} D_0)^2`,

.. math:: \langle B, WW^\top\rangle \le t\,\langle X, WW^\top\rangle = t\sum_i x_i |W_i|^2
          \le t\sum_i x_i |V_i|^2 = t\,\langle X, VV^\top\rangle \le t\,\langle B, VV^\top\rangle .

Both hold up to rounding, whoever found D0, V and W.

Index convention: B is (n, n), D0 is given by its diagonal (n,), V and W have n rows.

Source: Boyd, El Ghaoui, Feron and Balakrishnan 1994, sect. 3.1, for the minimum as a matrix
inequality, whose dual V and W are.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def upper_bound(B: Any, D0: Any) -> float:
    r"""Return :math:`\kappa(B^{1/2} D_0)^2`, from eigenvalues in floats.

    >>> upper_bound(np.array([[2.0, 2.0], [2.0, 8.0]]), np.array([2.0, 1.0])).__round__(12)
    3.0
    """
    values = np.linalg.eigvalsh(D0[:, None] * B * D0)
    return float(values[-1] / values[0])


def lower_bound(B: Any, V: Any, W: Any) -> Any:
    r"""Return what V and W prove that the square is at least, in floats or in exact numbers.

    .. math:: \min_{W_i \ne 0} \frac{|V_i|^2}{|W_i|^2}\cdot
              \frac{\langle B, WW^\top\rangle}{\langle B, VV^\top\rangle}

    No V and W prove too much: W is scaled so that no row of it is longer than V's.

    >>> B = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> float(lower_bound(B, np.array([[1.0], [-1.0]]), np.array([[1.0], [1.0]])))
    3.0

    Raises:
        ValueError: W is zero.
    """
    of_V, of_W = (V * V).sum(axis=1), (W * W).sum(axis=1)
    factors = [v / w for v, w in zip(of_V, of_W, strict=True) if w > 0]
    if not factors:
        raise ValueError("W is zero, which proves nothing; expected a row that is not zero")
    return min(factors) * (W * (B @ W)).sum() / (V * (B @ V)).sum()
