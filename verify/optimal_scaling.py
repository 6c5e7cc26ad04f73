r"""The best diagonal scaling of a positive definite matrix, and a proof of how good it is.

.. math:: \kappa_{\min} = \min_{D_0} \kappa(B^{1/2} D_0), \qquad D_0 \text{ diagonal, nonsingular}

With :math:`X = D_0^{-2}` the minimum is a semidefinite programme: :math:`sB \le X \le B` for a
diagonal X and the largest s, which is :math:`1/\kappa_{\min}^2`.  Its dual solution proves that no
scaling does better (:mod:`verify.scaling_bounds`).  What the solver returns is not trusted: kappa
and the lower bound are computed from D0, V and W alone.

Source: Boyd, El Ghaoui, Feron and Balakrishnan 1994, sect. 3.1.  What is compared with the
minimum: Lange, Helfrich and Ye 2022, Theorem 4 and Lemma A1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from theory.packages import missing
from verify.scaling_bounds import lower_bound, upper_bound
from verify.tolerance import Array

ACCURACY = 1e-10
"""Of the solver, where the programme is scaled so that everything in it has size one."""


@dataclass(frozen=True)
class OptimalScaling:
    """A scaling, and two matrices that prove how far it may be from the best."""

    D0: Array
    """The scaling's diagonal, positive, (n,)."""
    V: Array
    W: Array
    kappa: float
    r""":math:`\kappa(B^{1/2} D_0)`: the minimum is at most that."""
    lower_bound: float
    """The minimum is at least that, by V and W."""

    @property
    def gap(self) -> float:
        """By how much the scaling may be worse than the best, relatively."""
        return self.kappa / self.lower_bound - 1


def optimal_scaling(B: Any) -> OptimalScaling:
    r"""Return the :math:`D_0` that makes :math:`\kappa(B^{1/2} D_0)` least, and the proof.

    Args:
        B: symmetric positive definite, (n, n); meant for n up to 30.

    Raises:
        ModuleNotFoundError: the solver is not installed; the message says how to install it.
        ValueError: B is not symmetric positive definite.
        RuntimeError: the solver stopped without a solution.

    Two columns are best scaled to equal norms, and their correlation is 1/2 here:

    >>> found = optimal_scaling([[2.0, 10.0], [10.0, 200.0]])
    >>> round(found.kappa**2, 6), found.gap < 1e-6
    (3.0, True)
    >>> float(found.D0[0] / found.D0[1]).__round__(6)
    10.0
    """
    B = np.asarray(B, dtype=float)
    norms = _norms(B)
    R = B / norms[:, None] / norms
    x, V, W = _solve(R)
    D0 = 1 / (norms * np.sqrt(x))
    V, W = V / norms[:, None], W / norms[:, None]
    return OptimalScaling(
        D0, V, W, kappa=upper_bound(B, D0) ** 0.5, lower_bound=float(lower_bound(B, V, W)) ** 0.5
    )


def _norms(B: Array) -> Array:
    """Return the norms of the columns of B^(1/2)."""
    given = f"B of shape {B.shape}"
    if B.ndim != 2 or B.shape[0] != B.shape[1] or not np.array_equal(B, B.T):
        raise ValueError(f"{given} is not symmetric; expected exactly that: pass (B + B.T) / 2")
    if not np.all(np.diagonal(B) > 0):
        raise ValueError(f"{given} has a diagonal entry that is not positive; leave it out")
    norms = np.sqrt(np.diagonal(B))
    smallest = np.linalg.eigvalsh(B / norms[:, None] / norms)[0]
    if not smallest > len(B) * np.finfo(float).eps:
        raise ValueError(
            f"{given} is not positive definite to working precision: scaled to unit diagonal, its "
            f"smallest eigenvalue is {smallest:.1e}; expected independent columns"
        )
    return norms


def _solve(R: Array) -> tuple[Array, Array, Array]:
    """Return X and the dual's V and W, for a matrix of unit diagonal.

    The programme is in z = kX and k s, with k the condition number of R, and its second inequality
    is taken between L^-1 and L^-T, where R = L L': all numbers in it are then of size one.
    """
    try:
        import clarabel
    except ModuleNotFoundError as error:
        raise missing(error, "optimal") from error
    n, inverse = len(R), np.linalg.inv(np.linalg.cholesky(R))
    units = [-np.outer(e, e) for e in np.eye(n)]
    inner = [np.outer(column, column) / np.linalg.cond(R) for column in inverse.T]
    constraints = np.concatenate([_vectors([R, *units]), _vectors([np.zeros((n, n)), *inner])])
    limits = np.concatenate([_vectors([np.zeros((n, n))]), _vectors([np.eye(n)])])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = ACCURACY
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix((n + 1, n + 1)),
        -np.eye(n + 1)[0],
        sparse.csc_matrix(constraints),
        limits[:, 0],
        [clarabel.PSDTriangleConeT(n)] * 2,
        settings,
    ).solve()
    z = np.array(solution.x)[1:]
    # Whatever the status: where R is nearly the identity the last steps make no progress, and how
    # good z is, the bounds tell.
    if not np.all(np.isfinite(z) & (z > 0)):
        raise RuntimeError(f"the solver stopped with {solution.status} and left no solution")
    W, V = (_factor(half, n) for half in np.split(np.array(solution.z), 2))
    return z, *_matched(inverse.T @ V, W)


def _vectors(matrices: list[Array]) -> Array:
    """Return symmetric matrices as the solver has them: inner products are kept, a column each."""
    rows, columns = np.tril_indices(len(matrices[0]))
    weights = np.where(rows == columns, 1.0, 2**0.5)
    return np.stack([weights * matrix[rows, columns] for matrix in matrices], axis=1)


def _factor(vector: Array, n: int) -> Array:
    """Return F with F F' the positive part of the matrix that a vector stands for."""
    matrix = np.zeros((n, n))
    matrix[np.tril_indices(n)] = vector / 2**0.5
    np.fill_diagonal(matrix, np.diagonal(matrix) * 2**0.5)
    values, vectors = np.linalg.eigh(matrix)  # which looks at the lower triangle
    return vectors * np.sqrt(np.maximum(values, 0))


def _matched(V: Array, W: Array) -> tuple[Array, Array]:
    """Return V with its rows as long as those of W."""
    of_V, of_W = np.linalg.norm(V, axis=1), np.linalg.norm(W, axis=1)
    return V * np.divide(of_W, of_V, out=np.zeros_like(of_V), where=of_V > 0)[:, None], W
