r"""Exact proofs of how well a diagonal scaling conditions a matrix, for what a solver reports.

The certified bounds are rational numbers and hold for certain, whoever found D0, V and W; a float
is the rational number that it stores.
"""

from fractions import Fraction

import numpy as np

from theory.arithmetic.exact import rational_array
from verify.scaling_bounds import lower_bound

MARGINS = tuple(2.0**-bits for bits in (44, 36, 28, 20))
"""Relative errors allowed to computed eigenvalues; the first one that can be proved is taken."""
SLACK = 2.0**-40
"""A reported square may differ from the proved one by that, relatively, times n kappa^2."""


def confirm(B, found):
    """Raise an error unless what is reported is what D0, V and W prove, exactly.

    Raises:
        ValueError: kappa is smaller, or the lower bound larger, than what can be proved.
    """
    above, below = certified_upper_bound(B, found.D0), certified_lower_bound(B, found.V, found.W)
    slack = Fraction(SLACK * len(found.D0) * found.kappa**2)
    for name, reported, proved, sign in (
        ("kappa", found.kappa, above, 1),
        ("lower_bound", found.lower_bound, below, -1),
    ):
        if sign * (proved - Fraction(reported) ** 2) > slack * proved:
            raise ValueError(
                f"{name} = {reported!r} is reported, but what is proved is {float(proved) ** 0.5!r}"
            )


def certified_upper_bound(B, D0):
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


def certified_lower_bound(B, V, W):
    r"""Return :func:`lower_bound` exactly: no :math:`\kappa(B^{1/2} D_0)^2` is below it.

    Raises:
        ValueError: B is not symmetric positive definite; W is zero.
    """
    exact = _symmetric(B)
    if not is_positive_definite(exact):
        raise ValueError("B is not positive definite; expected one that is, or no scaling is best")
    bound = lower_bound(exact, rational_array(V), rational_array(W)).p
    return Fraction(int(bound.p), int(bound.q))


def is_positive_definite(A):
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


def _symmetric(B):
    exact = rational_array(B)
    if exact.ndim != 2 or exact.shape[0] != exact.shape[1] or np.any(exact != exact.T):
        raise ValueError(
            f"B of shape {exact.shape} is not symmetric; expected a symmetric matrix, exactly so: "
            "pass (B + B.T) / 2"
        )
    return exact
