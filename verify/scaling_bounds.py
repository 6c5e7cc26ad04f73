r"""Bounds on how well any diagonal scaling conditions a positive definite matrix, and their proofs.

.. math:: \kappa_{\min} = \min_{D_0} \kappa(B^{1/2} D_0), \qquad D_0 \text{ diagonal, nonsingular}

The bounds are on the square, :math:`\kappa(B^{1/2} D_0)^2`, which is the condition number of
:math:`D_0 B D_0`.

*From above*, any :math:`D_0` gives one.  *From below*, any two matrices V and W do whose rows
obey :math:`|W_i| \le |V_i|`: with :math:`X = D_0^{-2}`, scaled so that :math:`X \le B \le tX` for
:math:`t = \kappa(B^{1/2} D_0)^2`,

.. math:: \langle B, WW^\top\rangle \le t\,\langle X, WW^\top\rangle = t\sum_i x_i |W_i|^2
          \le t\sum_i x_i |V_i|^2 = t\,\langle X, VV^\top\rangle \le t\,\langle B, VV^\top\rangle .

The certified bounds are rational numbers and hold for certain, whoever found D0, V and W; a float
is the rational number that it stores.

Index convention: B is (n, n), D0 is given by its diagonal (n,), V and W have n rows.

Source: Boyd, El Ghaoui, Feron and Balakrishnan 1994, sect. 3.1, for the minimum as a matrix
inequality, whose dual V and W are.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from theory.arithmetic.exact import rational_array

MARGINS = tuple(2.0**-bits for bits in (44, 36, 28, 20))
"""Relative errors allowed to computed eigenvalues; the first one that can be proved is taken."""


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


def certified_upper_bound(B: Any, D0: Any) -> Fraction:
    r"""Return a number that :math:`\kappa(B^{1/2} D_0)^2` is at most, for certain.

    It is b/a with :math:`A = D_0 B D_0` and both :math:`A - aI` and :math:`bI - A` positive
    definite, for a and b next to the computed eigenvalues.

    Raises:
        ValueError: B is not symmetric; or nothing can be proved, as for a B that is not positive
            definite, or so ill-conditioned that its computed eigenvalues are off by 1e-6.
    """
    scales = rational_array(D0)
    A = scales[:, None] * _symmetric(B) * scales
    values, identity = np.linalg.eigvalsh(A.astype(float)), np.eye(len(A), dtype=object)
    for margin in MARGINS if values[0] > 0 else ():
        a, b = (Fraction(float(x)) for x in (values[0] * (1 - margin), values[-1] * (1 + margin)))
        if is_positive_definite(A - a * identity) and is_positive_definite(b * identity - A):
            return b / a
    raise ValueError(
        f"no bound is proved near the computed eigenvalues {values[0]:g} and {values[-1]:g} of "
        "D0 B D0; expected a positive definite B that is not too ill-conditioned for floats"
    )


def certified_lower_bound(B: Any, V: Any, W: Any) -> Fraction:
    r"""Return :func:`lower_bound` exactly: no :math:`\kappa(B^{1/2} D_0)^2` is below it.

    Raises:
        ValueError: B is not symmetric positive definite; W is zero.
    """
    exact = _symmetric(B)
    if not is_positive_definite(exact):
        raise ValueError("B is not positive definite; expected one that is, or no scaling is best")
    bound = lower_bound(exact, rational_array(V), rational_array(W)).p
    return Fraction(int(bound.p), int(bound.q))


def is_positive_definite(A: Any) -> bool:
    """Return whether a symmetric matrix of rational numbers is: all pivots (LDL') positive.

    >>> is_positive_definite([[1, 2], [2, 5]]), is_positive_definite([[1, 2], [2, 4]])
    (True, False)
    """
    A = rational_array(A)
    while len(A):
        if not A[0, 0] > 0:
            return False
        A = A[1:, 1:] - A[1:, :1] * (A[:1, 1:] / A[0, 0])
    return True


def _symmetric(B: Any) -> Any:
    exact = rational_array(B)
    if exact.ndim != 2 or exact.shape[0] != exact.shape[1] or np.any(exact != exact.T):
        raise ValueError(
            f"B of shape {exact.shape} is not symmetric; expected a symmetric matrix, exactly so: "
            "pass (B + B.T) / 2"
        )
    return exact
