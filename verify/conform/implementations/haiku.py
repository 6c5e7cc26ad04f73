"""Haiku: its modules, applied to given parameters."""

from __future__ import annotations

from typing import Any

import haiku as hk
import jax.numpy as jnp

from verify.conform.implementations.implementation import by_function, implementation


def batch_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module in training."""
    step = hk.transform_with_state(
        lambda y: hk.BatchNorm(True, True, 0.9, eps)(y, is_training=True)
    )
    zero = jnp.zeros((*[1] * (x.ndim - 1), len(gamma)), gamma.dtype)
    average = {"counter": jnp.zeros((), int), "hidden": zero, "average": zero}
    state = {"batch_norm/~/mean_ema": average, "batch_norm/~/var_ema": average}
    shape = zero.shape
    parameters = {"batch_norm": {"scale": gamma.reshape(shape), "offset": beta.reshape(shape)}}
    return step.apply(parameters, state, None, x)[0]


def layer_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module on the last axis."""
    step = hk.transform(lambda y: hk.LayerNorm(-1, gamma is not None, True, eps)(y))
    return step.apply({"layer_norm": {"scale": gamma, "offset": beta}}, None, x)


def rms_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module on the last axis; it has no beta."""
    step = hk.transform(lambda y: hk.RMSNorm(-1, eps)(y))
    z = step.apply({"rms_norm": {"scale": gamma}}, None, x)
    return z if beta is None else z + beta


def group_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module with two groups."""
    step = hk.transform(lambda y: hk.GroupNorm(2, eps=eps)(y))
    return step.apply({"group_norm": {"scale": gamma, "offset": beta}}, None, x)


def instance_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module."""
    step = hk.transform(lambda y: hk.InstanceNorm(True, True, eps=eps)(y))
    return step.apply({"instance_norm": {"scale": gamma, "offset": beta}}, None, x)


def _haiku(name: str, layer: Any, **parts: Any) -> Any:
    return implementation(name, layer, distribution="dm-haiku", **parts)


MAPS = {"layouts": ("NLC", "NHWC")}
ADAPTER = "jax"
IMPLEMENTATIONS = by_function(
    _haiku("haiku.BatchNorm", batch_norm, layouts=("NC", "NLC", "NHWC")),
    _haiku("haiku.LayerNorm", layer_norm, family="layer", may_lack_gamma=True),
    _haiku("haiku.RMSNorm", rms_norm, family="rms"),
    _haiku("haiku.GroupNorm", group_norm, family="group", groups=2, **MAPS),
    _haiku("haiku.InstanceNorm", instance_norm, family="instance", **MAPS),
)
