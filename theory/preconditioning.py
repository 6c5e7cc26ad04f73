r"""Batch Normalization Preconditioning of a dense layer (BNP), for any arithmetic.

A layer :math:`a = W h + b` on a batch H is, for each output, :math:`\hat H\hat w` with

.. math:: \hat H = [e, H], \qquad \hat w = [b; w], \qquad
          P = U D, \quad
          U = \begin{bmatrix}1 & -\mu^\top\\ 0 & I\end{bmatrix}, \quad
          D = \begin{bmatrix}1 & 0\\ 0 & \operatorname{diag}(\sigma)\end{bmatrix}^{-1} .

Gradient descent preconditioned by :math:`P P^\top` is gradient descent in :math:`P^{-1}\hat w`,
whose Hessian is made of the normalized :math:`\hat G = \hat H P` in place of :math:`\hat H`.

Index convention: N examples (rows), n inputs, p outputs; e is the vector of N ones.  Shapes:
inputs ``H (N, n)``; ``mean``, ``deviation``, ``variance (n,)``; weights ``W (p, n)``, bias
``b (p,)``.

The formulas are total and unguarded, for arrays of floats of any library and for NumPy arrays of
exact or symbolic numbers; :mod:`theory.bnp` has each of them behind a check of its input.

Source: Lange, Helfrich and Ye 2022, sect. 3.3 and 3.4; equations are numbered as there.

>>> import numpy as np
>>> H = np.array([[1.0, 0.0], [3.0, 4.0]])  # means 2 and 2, deviations 1 and 2
>>> P = preconditioner(means(H), standard_deviations(H))
>>> P
array([[ 1. , -2. , -1. ],
       [ 0. ,  1. ,  0. ],
       [ 0. ,  0. ,  0.5]])
>>> augmented(H) @ P
array([[ 1., -1., -1.],
       [ 1.,  1.,  1.]])
"""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace, device

from theory import batchnorm
from theory.arithmetic import mean as mean_over_batch
from theory.arithmetic import products, sqrt
from theory.arithmetic.extremes import largest_of


def augmented(H: Any) -> Any:
    r"""Return :math:`\hat H = [e, H]`, ``(N, n + 1)``; Prop. 2."""
    xp = array_namespace(H)
    return xp.concat([xp.ones((H.shape[0], 1), dtype=H.dtype, device=device(H)), H], axis=1)


def means(H: Any) -> Any:
    r"""Return :math:`\mu_H = H^\top e / N`, ``(n,)``; eq. (13)."""
    return mean_over_batch(H)[0, :]


def variances(H: Any) -> Any:
    r"""Return :math:`\sigma_H^2`, the mean squares of :math:`H - e\mu_H^\top`, ``(n,)``."""
    return batchnorm.variance(H)[0, :]


def standard_deviations(H: Any, eps: Any = 0) -> Any:
    r"""Return :math:`\sqrt{\sigma_H^2 + \epsilon}`, ``(n,)``."""
    return sqrt(variances(H) + eps)


def centring(mean: Any) -> Any:
    r"""Return U, so that :math:`\hat H U = [e, H - e\mu^\top]`, ``(n + 1, n + 1)``; eq. (12)."""
    xp = array_namespace(mean)
    identity = xp.eye(mean.shape[0] + 1, dtype=mean.dtype, device=device(mean))
    return xp.concat([xp.concat([identity[0, :1], -mean])[None, :], identity[1:, :]], axis=0)


def scaling(deviation: Any) -> Any:
    r"""Return D, diagonal with entries 1 and :math:`1/\sigma_j`, ``(n + 1, n + 1)``; eq. (12)."""
    xp = array_namespace(deviation)
    entries = _scales(deviation)
    return xp.eye(entries.shape[0], dtype=entries.dtype, device=device(entries)) * entries


def preconditioner(mean: Any, deviation: Any) -> Any:
    r"""Return :math:`P = U D`, ``(n + 1, n + 1)``; eq. (12), with other statistics eq. (15)."""
    return centring(mean) * _scales(deviation)


def features(H: Any, mean: Any, deviation: Any) -> Any:
    r"""Return :math:`G = (H - e\mu^\top)\operatorname{diag}(\sigma)^{-1}`, ``(N, n)``."""
    return (H - mean) / deviation


def normalized(H: Any, mean: Any, deviation: Any) -> Any:
    r"""Return :math:`\hat G = [e, G] = \hat H P`, ``(N, n + 1)``; Theorem 3, eq. (14)."""
    return augmented(features(H, mean, deviation))


def correlations(H: Any) -> Any:
    r"""Return the correlation matrix R of the columns of H, ``(n, n)``.

    .. math:: R_{ij} = \frac{C_{ij}}{C_{ii}}\sqrt{\frac{C_{ii}}{C_{jj}}}, \qquad
              C = (H - e\mu_H^\top)^\top (H - e\mu_H^\top)

    With the batch's own statistics :math:`\hat G^\top\hat G = N \operatorname{diag}(1, R)`.
    """
    centred = batchnorm.centre(H)
    C = products(centred, centred)
    squares = array_namespace(H).linalg.diagonal(C)
    # One root for each entry: exact numbers allow no two roots in one sum.
    return C / squares[:, None] * sqrt(squares[:, None] / squares)


def unit_hessian(H: Any, curvature: Any) -> Any:
    r"""Return :math:`\hat H^\top S \hat H`, the Hessian in one output's bias and weights.

    Args:
        H: inputs, ``(N, n)``.
        curvature: S, the Hessian of the loss in that output of every example: a matrix
            ``(N, N)``; the diagonal alone ``(N,)``, which is :math:`L''/N` for a mean of losses
            L of single examples; or the function :math:`V \mapsto S V` of ``(N, n + 1)``.

    Returns:
        A matrix ``(n + 1, n + 1)``, the bias first.

    Source: Prop. 2.
    """
    Hhat = augmented(H)
    if callable(curvature):
        return products(Hhat, curvature(Hhat))
    if curvature.ndim == 1:
        return products(Hhat, curvature[:, None] * Hhat)
    return products(Hhat, curvature @ Hhat)


def preconditioned_gradient(
    grad_b: Any, grad_W: Any, mean: Any, variance: Any, *, q_squared: Any = 1
) -> tuple[Any, Any]:
    r"""Return the gradients in b and W as Algorithm 2 changes them: steps 4 and 5, in this order.

    .. math:: G_W \leftarrow \tfrac{1}{q^2} (G_W - G_b\mu^\top)
              \operatorname{diag}(\tilde\sigma^2)^{-1},
              \qquad G_b \leftarrow \tfrac{1}{q^2} G_b - G_W\mu,

    step 5 with the new :math:`G_W`: together :math:`\tfrac{1}{q^2} P P^\top [G_b; G_W^\top]`.

    Args:
        grad_b: ``(p,)``.
        grad_W: ``(p, n)``.
        mean: :math:`\mu`, of the batch or running, ``(n,)``.
        variance: :math:`\tilde\sigma^2`, as from :func:`regularized_variance`, ``(n,)``.
        q_squared: :math:`q^2`, as from :func:`scale_factor`.

    Source: eq. (15) and Algorithm 2.
    """
    # 1/q^2 goes into the variance: n multiplications in place of p n.
    grad_W = (grad_W - grad_b[:, None] * mean) / (q_squared * variance)
    return grad_b / q_squared - grad_W @ mean, grad_W


def regularized_variance(variance: Any, eps_1: Any = 1e-2, eps_2: Any = 1e-4) -> Any:
    r"""Return :math:`\tilde\sigma^2 = \sigma^2 + \epsilon_1\max\sigma^2 + \epsilon_2`, ``(n,)``.

    Step 3 of Algorithm 2.  Symbols have no maximum.
    """
    return variance + (eps_1 * largest_of(variance) + eps_2)


def running(old: Any, new: Any, rho: Any = 0.99) -> Any:
    r"""Return :math:`\rho\,\text{old} + (1 - \rho)\,\text{new}`, step 2 of Algorithm 2."""
    return rho * old + (1 - rho) * new


def scale_factor(N: Any, n: Any) -> Any:
    r"""Return :math:`q^2 = \max\{n/N, 1\}`, step 3 of Algorithm 2; exact for fractions.

    Of two ints it is a float.
    """
    return max(n / N, 1)


def folded(W: Any, b: Any, gamma: Any, beta: Any, mean: Any, deviation: Any) -> tuple[Any, Any]:
    r"""Return the weights and bias of the vanilla layer that equals one on normalized inputs.

    .. math:: W\Big(\gamma\,\frac{h - \mu}{\sigma} + \beta\Big) + b = \hat W h + \hat b, \qquad
              \hat W = W \operatorname{diag}\Big(\frac\gamma\sigma\Big), \quad
              \hat b = b + W\Big(\beta - \frac{\gamma\mu}{\sigma}\Big)

    ``gamma`` and ``beta`` are numbers, or arrays ``(n,)``.

    Source: sect. 3.4 and Prop. 7, where W times the vector :math:`\mu/\sigma` is printed as W
    times a diagonal matrix.
    """
    scale = gamma / deviation
    return W * scale, b + W @ (beta - scale * mean)


def _scales(deviation: Any) -> Any:
    """Return the diagonal of D, ``(n + 1,)``."""
    xp = array_namespace(deviation)
    return xp.concat([xp.ones(1, dtype=deviation.dtype, device=device(deviation)), 1 / deviation])
