"""JAX: transformations of functions, which nest as they are; float64 is switched on.

Arrays never change, so that none is filled, shared or changed on a tape; what a layer can do to
its input is to donate it, after which it cannot be read.  Random numbers come of keys: no state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from verify.conform.adapters import AdapterError, Arrays

loaded_by = "jax"
SETTINGS = {
    "whether float64 is enabled": "jax_enable_x64",
    "the precision of products": "jax_default_matmul_precision",
}
"""JAX's settings that change what others compute."""
REFUSALS = (
    r"forward-mode (autodiff|differentiation) \(jvp\) to a custom_vjp",
    r"[Rr]everse-mode differentiation does not work",
    r"[Tt]race[dr]",
)
"""What JAX says where it lacks a mode, or where a layer leaves it and cannot be traced."""


def adapter(device: str = "") -> Jax:
    """Return JAX's adapter for a platform: "cpu", "gpu", "tpu"."""
    return Jax(device or "cpu")


class Jax:
    """JAX's arrays and derivatives on the first device of a platform."""

    name = "jax"
    version = jax.__version__
    dtypes = ("float64", "float32", "bfloat16", "float16")
    refusals = REFUSALS

    def __init__(self, platform: str):
        jax.config.update("jax_enable_x64", True)
        try:
            self.device = jax.devices(platform)[0]
        except RuntimeError as error:
            reason = str(error).strip().splitlines()[0]
            raise AdapterError(
                f"JAX has no device of the platform {platform!r} here ({reason}); leave --device "
                "out for the CPU"
            ) from None

    def array(self, values: np.ndarray, dtype: str) -> jax.Array:
        """Return an array of that dtype on the device."""
        return jax.device_put(jnp.asarray(values, dtype=dtype), self.device)

    def numpy(self, array: jax.Array) -> np.ndarray:
        """Return the values in float64."""
        return np.array(array, dtype=np.float64)

    def dtype(self, array: jax.Array) -> str:
        """Return the dtype's name."""
        return str(array.dtype)

    def vjp(self, function: Callable[..., Any], inputs: Arrays, cotangent: Any) -> Arrays:
        """Return the gradients."""
        return tuple(jax.vjp(function, *inputs)[1](cotangent))

    def vjp_again(
        self, function: Callable[..., Any], inputs: Arrays, cotangents: Arrays
    ) -> list[Arrays]:
        """Return what the function that goes back gives for each cotangent."""
        _, back = jax.vjp(function, *inputs)
        return [tuple(back(g)) for g in cotangents]

    def jvp(self, function: Callable[..., Any], inputs: Arrays, tangents: Arrays) -> Any:
        """Return the tangent of the value."""
        return jax.jvp(function, inputs, tangents)[1]

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function compiled by XLA."""
        return jax.jit(function)

    def vmap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function over a new first axis of its arguments."""
        return jax.vmap(function)

    def state(self) -> dict[str, Any]:
        """Return what a layer must leave as it was, by what it is called."""
        return {said: getattr(jax.config, name) for said, name in SETTINGS.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Put it back."""
        for said, name in SETTINGS.items():
            jax.config.update(name, state[said])
