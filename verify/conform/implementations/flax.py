"""Flax: its nnx modules, and linen's batch normalisation."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from flax import linen, nnx

from verify.conform.implementations.implementation import by_function, implementation


def batch_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module in training, with its defaults."""
    layer = nnx.BatchNorm(
        len(gamma), epsilon=eps, dtype=x.dtype, param_dtype=x.dtype, rngs=nnx.Rngs(0)
    )
    layer.scale[...], layer.bias[...] = gamma, beta
    return layer(x)


def batch_norm_step(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, momentum: float, eps: float
) -> tuple[Any, Any, Any]:
    """Call the module in training, and read what it remembers."""
    layer = nnx.BatchNorm(
        len(gamma),
        epsilon=eps,
        momentum=momentum,
        dtype=x.dtype,
        param_dtype=x.dtype,
        rngs=nnx.Rngs(0),
    )
    layer.scale[...], layer.bias[...] = gamma, beta
    layer.mean[...], layer.var[...] = mean, variance
    z = layer(x)
    return z, layer.mean[...], layer.var[...]


def batch_norm_evaluated(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, eps: float
) -> Any:
    """Call the module in evaluation."""
    layer = nnx.BatchNorm(
        len(gamma),
        epsilon=eps,
        use_running_average=True,
        dtype=x.dtype,
        param_dtype=x.dtype,
        rngs=nnx.Rngs(0),
    )
    layer.scale[...], layer.bias[...] = gamma, beta
    layer.mean[...], layer.var[...] = mean, variance
    return layer(x)


def batch_norm_slow_variance(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module in training, with the variance in two passes."""
    layer = nnx.BatchNorm(
        len(gamma),
        epsilon=eps,
        use_fast_variance=False,
        dtype=x.dtype,
        param_dtype=x.dtype,
        rngs=nnx.Rngs(0),
    )
    layer.scale[...], layer.bias[...] = gamma, beta
    return layer(x)


def linen_batch_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call linen's module in training, with its defaults."""
    layer = linen.BatchNorm(use_running_average=False, epsilon=eps, use_scale=gamma is not None)
    zero, one = jnp.zeros_like(beta), jnp.ones_like(beta)
    variables = {
        "params": {"scale": gamma, "bias": beta},
        "batch_stats": {"mean": zero, "var": one},
    }
    return layer.apply(variables, x, mutable=["batch_stats"])[0]


def layer_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module, with its defaults."""
    layer = nnx.LayerNorm(
        len(beta),
        epsilon=eps,
        use_scale=gamma is not None,
        dtype=x.dtype,
        param_dtype=x.dtype,
        rngs=nnx.Rngs(0),
    )
    layer.bias[...] = beta
    if gamma is not None:
        layer.scale[...] = gamma
    return layer(x)


def layer_norm_slow_variance(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module, with the variance in two passes."""
    layer = nnx.LayerNorm(
        len(gamma),
        epsilon=eps,
        use_fast_variance=False,
        dtype=x.dtype,
        param_dtype=x.dtype,
        rngs=nnx.Rngs(0),
    )
    layer.scale[...], layer.bias[...] = gamma, beta
    return layer(x)


def rms_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module; it has no beta."""
    layer = nnx.RMSNorm(
        len(gamma), epsilon=eps, dtype=x.dtype, param_dtype=x.dtype, rngs=nnx.Rngs(0)
    )
    layer.scale[...] = gamma
    return layer(x) if beta is None else layer(x) + beta


def group_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module with two groups."""
    layer = nnx.GroupNorm(
        len(gamma), num_groups=2, epsilon=eps, dtype=x.dtype, param_dtype=x.dtype, rngs=nnx.Rngs(0)
    )
    layer.scale[...], layer.bias[...] = gamma, beta
    return layer(x)


def instance_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module."""
    layer = nnx.InstanceNorm(
        len(gamma), epsilon=eps, dtype=x.dtype, param_dtype=x.dtype, rngs=nnx.Rngs(0)
    )
    layer.scale[...], layer.bias[...] = gamma, beta
    return layer(x)


def _flax(name: str, layer: Any, **parts: Any) -> Any:
    return implementation(name, layer, distribution="flax", like="flax", **parts)


LAST = {"layouts": ("NC", "NLC", "NHWC")}
ADAPTER = "jax"
IMPLEMENTATIONS = by_function(
    _flax(
        "flax.nnx.BatchNorm",
        batch_norm,
        train=batch_norm_step,
        evaluate=batch_norm_evaluated,
        **LAST,
    ),
    _flax("flax.nnx.BatchNorm, use_fast_variance=False", batch_norm_slow_variance, **LAST),
    _flax("flax.linen.BatchNorm", linen_batch_norm, may_lack_gamma=True, **LAST),
    _flax("flax.nnx.LayerNorm", layer_norm, family="layer", may_lack_gamma=True),
    _flax("flax.nnx.LayerNorm, use_fast_variance=False", layer_norm_slow_variance, family="layer"),
    _flax("flax.nnx.RMSNorm", rms_norm, family="rms"),
    _flax("flax.nnx.GroupNorm", group_norm, family="group", groups=2, layouts=("NLC", "NHWC")),
    _flax("flax.nnx.InstanceNorm", instance_norm, family="instance", layouts=("NLC", "NHWC")),
)
