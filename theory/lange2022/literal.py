r"""A dense layer and its statistics written out: what the actual sides are made of.

Nothing here shares a function with :mod:`theory.preconditioning` or :mod:`theory.batchnorm`.
Index convention: N examples (rows), n inputs and p outputs.
"""

from typing import Any

from array_api_compat import array_namespace

from theory.matrix_claim import Layer
from theory.statement import Hypothesis, Relation


def means(H: Any) -> Any:
    """Return the mean of each column, (n,)."""
    return H.sum(0) / H.shape[0]


def variances(H: Any) -> Any:
    """Return the biased variance of each column, (n,)."""
    deviations = H - means(H)
    return (deviations * deviations).sum(0) / H.shape[0]


def outputs(H: Any, W: Any, b: Any) -> Any:
    """Return Wh + b of every example, (N, p)."""
    return H @ W.T + b


def parameters(W: Any, b: Any) -> Any:
    r"""Return :math:`[b^\top; W^\top]`, (n + 1, p)."""
    return array_namespace(W).concat([b[None, :], W.T], axis=0)


def transformed(z: Any, mean: Any, deviation: Any) -> Any:
    r"""Return Pz for a vector (n + 1,) or columns (n + 1, p), entry by entry.

    The weights are divided by the deviations, and the bias gives up what the means then add.
    """
    columns = z.reshape(z.shape[0], -1)
    weights = columns[1:, :] / deviation[:, None]
    bias = columns[:1, :] - (weights * mean[:, None]).sum(0)[None, :]
    return array_namespace(z).concat([bias, weights], axis=0).reshape(z.shape)


def _variances_of_inputs(layer: Layer) -> Any:
    return variances(layer.H)


SPREAD = Hypothesis(r"\sigma_H > 0", _variances_of_inputs, Relation.MORE_THAN, printed=False)
"""No feature is constant on the batch; so N >= 2."""
