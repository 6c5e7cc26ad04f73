r"""Batch Normalization in evaluation mode: running statistics, so an affine map.

With a running mean :math:`\mu_r` and variance :math:`v_r` that do not depend on the batch,
:math:`z = \gamma (y - \mu_r)/\sqrt{v_r + \epsilon} + \beta` is affine in each entry: its Jacobian
is a multiple of the identity and it has no curvature of its own.
"""

from __future__ import annotations

from typing import Any

from theory.arithmetic import sqrt


def update(statistic: Any, of_batch: Any, weight: Any) -> Any:
    r"""One step of a running statistic, :math:`(1 - \rho) s + \rho s_B`; shapes as given.

    The weight :math:`\rho` of the batch is PyTorch's momentum, and one minus Keras's.
    """
    return (1 - weight) * statistic + weight * of_batch


def forward(
    y: Any, running_mean: Any, running_variance: Any, gamma: Any = 1, beta: Any = 0, eps: Any = 0
) -> Any:
    r""":math:`z = \gamma (y - \mu_r)/\sqrt{v_r + \epsilon} + \beta`; same shape as ``y``."""
    return gamma * (y - running_mean) / sqrt(running_variance + eps) + beta


def gradient(g: Any, running_variance: Any, gamma: Any = 1, eps: Any = 0) -> Any:
    r""":math:`\partial L/\partial y = \gamma g/\sqrt{v_r + \epsilon}`; same shape as ``g``."""
    return gamma / sqrt(running_variance + eps) * g


def hvp(hessian_of_loss: Any, u: Any, running_variance: Any, gamma: Any = 1, eps: Any = 0) -> Any:
    r""":math:`\frac{\gamma^2}{v_r + \epsilon} H u`; ``hessian_of_loss`` is :math:`w \mapsto Hw`."""
    slope = gamma / sqrt(running_variance + eps)
    return slope * hessian_of_loss(slope * u)
