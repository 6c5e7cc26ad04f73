"""Equinox: its modules, which see one example at a time."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax

from verify.conform.implementations.implementation import by_function, implementation


def batch_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module in training, in the mode that it recommends."""
    layer, state = eqx.nn.make_with_state(eqx.nn.BatchNorm)(
        len(gamma), "batch", eps=eps, dtype=gamma.dtype, mode="batch"
    )
    layer = eqx.tree_at(lambda found: (found.weight, found.bias), layer, (gamma, beta))
    return jax.vmap(layer, axis_name="batch", in_axes=(0, None), out_axes=(0, None))(x, state)[0]


def layer_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module on each row."""
    layer = eqx.nn.LayerNorm(len(beta), eps=eps, use_weight=gamma is not None, dtype=beta.dtype)
    layer = eqx.tree_at(lambda found: found.bias, layer, beta)
    if gamma is not None:
        layer = eqx.tree_at(lambda found: found.weight, layer, gamma)
    return jax.vmap(layer)(x)


def rms_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module on each row."""
    layer = eqx.nn.RMSNorm(len(gamma), eps=eps, use_bias=beta is not None, dtype=gamma.dtype)
    layer = eqx.tree_at(lambda found: found.weight, layer, gamma)
    if beta is not None:
        layer = eqx.tree_at(lambda found: found.bias, layer, beta)
    return jax.vmap(layer)(x)


def group_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module with two groups."""
    layer = eqx.nn.GroupNorm(2, len(gamma), eps=eps, dtype=gamma.dtype)
    layer = eqx.tree_at(lambda found: (found.weight, found.bias), layer, (gamma, beta))
    return jax.vmap(layer)(x)


def _equinox(name: str, layer: Any, **parts: Any) -> Any:
    return implementation(name, layer, distribution="equinox", **parts)


ADAPTER = "jax"
IMPLEMENTATIONS = by_function(
    _equinox('equinox.nn.BatchNorm, mode="batch"', batch_norm, layouts=("NC", "NCL", "NCHW")),
    _equinox(
        "equinox.nn.LayerNorm", layer_norm, family="layer", layouts=("NC",), may_lack_gamma=True
    ),
    _equinox("equinox.nn.RMSNorm", rms_norm, family="rms", layouts=("NC",)),
    _equinox("equinox.nn.GroupNorm", group_norm, family="group", groups=2, layouts=("NCL", "NCHW")),
)
