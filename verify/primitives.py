r"""The network's own Batch Normalization, written literally.

This is what is differentiated to get the actual side of a statement.  It imports nothing of
``theory``: a mistake made there cannot be made here by the same line.  One unit, a batch of m
entries; ``sqrt`` is the square root of whatever arithmetic the batch is in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def standard_deviation(y: Any, m: Any, eps: Any, sqrt: Callable[[Any], Any]) -> Any:
    r""":math:`\sqrt{\tfrac1m \sum_k (y_k - \mu)^2 + \epsilon}` with the biased variance."""
    deviation = y - y.sum() / m
    return sqrt((deviation @ deviation) / m + eps)


def normalize(y: Any, m: Any, eps: Any, sqrt: Callable[[Any], Any]) -> Any:
    """The batch less its mean, over its standard deviation."""
    return (y - y.sum() / m) / standard_deviation(y, m, eps, sqrt)


def forward(y: Any, m: Any, gamma: Any, beta: Any, eps: Any, sqrt: Callable[[Any], Any]) -> Any:
    """The layer: scale and shift of the normalised batch."""
    return gamma * normalize(y, m, eps, sqrt) + beta
