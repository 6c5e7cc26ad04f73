r"""The backward pass of Batch Normalization, in three ways that take different work.

With :math:`g = \partial\mathcal L/\partial z`, :math:`z = \gamma\hat y + \beta`, those of Ioffe and
Szegedy (2015) through the variance and the mean, and the closed form

.. math:: \frac{\partial\mathcal L}{\partial y} = \frac\gamma\sigma\Big(
          g - \tfrac1N\langle 1, g\rangle - \hat y\,\tfrac1N\langle\hat y, g\rangle\Big),

whose two sums are the gradients in :math:`\beta` and :math:`\gamma`.  Arguments: ``g``, the inputs
``x`` and ``yhat``, (N, n); ``mean``, ``inverse`` = 1/sigma, ``cube``, its third power, and
``gamma``, (n,).  All return the gradients in x, gamma and beta.
"""

from typing import Any

from theory.lange2022.counted import Counted


def literal(
    g: Any, x: Any, yhat: Any, mean: Any, inverse: Any, cube: Any, gamma: Any
) -> tuple[Any, Any, Any]:
    """The formulas of Ioffe and Szegedy, what depends on the feature alone computed once."""
    N, in_yhat = x.shape[0], g * gamma
    in_variance = (in_yhat * (x - mean) * (-1 / 2) * cube).sum(0)
    in_mean = (in_yhat * -inverse).sum(0) + in_variance * (-2 * (x - mean)).sum(0) / N
    in_x = in_yhat * inverse + in_variance * (2 * (x - mean)) / N + in_mean / N
    return in_x, (g * yhat).sum(0), g.sum(0)


def termwise(
    g: Any, x: Any, yhat: Any, mean: Any, inverse: Any, cube: Any, gamma: Any
) -> tuple[Any, Any, Any]:
    """The same with all that stands in a term done for every example."""
    N, in_yhat = x.shape[0], g * gamma
    in_variance = (in_yhat * (x - mean) * (-1 / 2) * cube).sum(0)
    signed = 0 - repeated(inverse, x)
    in_mean = (in_yhat * signed).sum(0) + in_variance * (-2 * (x - mean) / N).sum(0)
    in_x = in_yhat * inverse + in_variance * (2 * (x - mean)) / N + repeated(in_mean, x) / N
    return in_x, (g * yhat).sum(0), g.sum(0)


def fused(
    g: Any, x: Any, yhat: Any, mean: Any, inverse: Any, cube: Any, gamma: Any
) -> tuple[Any, Any, Any]:
    """The closed form."""
    N, in_beta, in_gamma = x.shape[0], g.sum(0), (g * yhat).sum(0)
    in_x = (g - in_beta / N - yhat * (in_gamma / N)) * (gamma * inverse)
    return in_x, in_gamma, in_beta


def repeated(v: Any, x: Any) -> Any:
    """Return a feature's number once for every example."""
    return Counted(x.shape, v.work) if isinstance(v, Counted) else v + 0 * x
