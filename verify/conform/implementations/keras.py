"""Keras: its layers without state of their own, on whichever backend it runs."""

from __future__ import annotations

from typing import Any

import keras

from verify.conform.implementations.implementation import by_function, implementation


def batch_normalization(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the layer in training."""
    layer = keras.layers.BatchNormalization(
        epsilon=eps, scale=gamma is not None, dtype=keras.backend.standardize_dtype(x.dtype)
    )
    layer.build(x.shape)
    remembered = [keras.ops.zeros_like(beta), keras.ops.ones_like(beta)]
    parameters = [beta] if gamma is None else [gamma, beta]
    return layer.stateless_call(parameters, remembered, x, training=True)[0]


def batch_normalization_step(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, momentum: float, eps: float
) -> tuple[Any, Any, Any]:
    """Call the layer in training, and read what it remembers."""
    layer = keras.layers.BatchNormalization(
        momentum=momentum, epsilon=eps, dtype=keras.backend.standardize_dtype(x.dtype)
    )
    layer.build(x.shape)
    z, (mean, variance) = layer.stateless_call([gamma, beta], [mean, variance], x, training=True)
    return z, mean, variance


def batch_normalization_evaluated(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, eps: float
) -> Any:
    """Call the layer in evaluation."""
    layer = keras.layers.BatchNormalization(
        epsilon=eps, dtype=keras.backend.standardize_dtype(x.dtype)
    )
    layer.build(x.shape)
    return layer.stateless_call([gamma, beta], [mean, variance], x, training=False)[0]


def layer_normalization(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the layer."""
    layer = keras.layers.LayerNormalization(
        epsilon=eps, scale=gamma is not None, dtype=keras.backend.standardize_dtype(x.dtype)
    )
    layer.build(x.shape)
    parameters = [beta] if gamma is None else [gamma, beta]
    return layer.stateless_call(parameters, [], x)[0]


def group_normalization(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the layer with two groups."""
    layer = keras.layers.GroupNormalization(
        2, epsilon=eps, dtype=keras.backend.standardize_dtype(x.dtype)
    )
    layer.build(x.shape)
    return layer.stateless_call([gamma, beta], [], x)[0]


def rms_normalization(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the layer; it has no beta."""
    layer = keras.layers.RMSNormalization(
        epsilon=eps, dtype=keras.backend.standardize_dtype(x.dtype)
    )
    layer.build(x.shape)
    z = layer.stateless_call([gamma], [], x)[0]
    return z if beta is None else z + beta


def _keras(name: str, layer: Any, **parts: Any) -> Any:
    return implementation(name, layer, distribution="keras", like="keras", **parts)


LAST = {"layouts": ("NC", "NLC", "NHWC")}
ADAPTER = "keras"
IMPLEMENTATIONS = by_function(
    _keras(
        "keras.layers.BatchNormalization",
        batch_normalization,
        train=batch_normalization_step,
        evaluate=batch_normalization_evaluated,
        may_lack_gamma=True,
        **LAST,
    ),
    _keras(
        "keras.layers.LayerNormalization", layer_normalization, family="layer", may_lack_gamma=True
    ),
    _keras(
        "keras.layers.GroupNormalization",
        group_normalization,
        family="group",
        groups=2,
        layouts=("NLC", "NHWC"),
    ),
    _keras("keras.layers.RMSNormalization", rms_normalization, family="rms"),
)
