"""JAX's own functions; layers are its libraries' business."""

from __future__ import annotations

from typing import Any

import jax

from verify.conform.implementations.implementation import by_function, implementation


def standardize(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Standardize along the batch."""
    return gamma * jax.nn.standardize(x, axis=0, epsilon=eps) + beta


def standardize_last(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Standardize along the last axis."""
    return gamma * jax.nn.standardize(x, axis=-1, epsilon=eps) + beta


ADAPTER = "jax"
IMPLEMENTATIONS = by_function(
    implementation("jax.nn.standardize", standardize, distribution="jax", layouts=("NC",)),
    implementation(
        "jax.nn.standardize, axis=-1", standardize_last, family="layer", distribution="jax"
    ),
)
