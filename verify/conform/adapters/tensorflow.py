"""TensorFlow: gradient tapes and forward accumulators, which nest.

Tensors never change, so that none is filled, shared or changed on a tape, and all are stored
densely.  Nothing is recorded outside of a tape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from verify.conform.adapters import AdapterError, Arrays

loaded_by = "tensorflow"


def adapter(device: str = "") -> TensorFlow:
    """Return TensorFlow's adapter for a device: "cpu", "gpu", "gpu:1"."""
    return TensorFlow(device or "cpu")


class TensorFlow:
    """TensorFlow's tensors and derivatives on one device."""

    name = "tensorflow"
    version = tf.__version__
    dtypes = ("float64", "float32", "bfloat16", "float16")
    refusals = (r"[Nn]o gradient defined|gradient registry has no entry",)

    def __init__(self, device: str):
        kind, _, number = device.partition(":")
        offered = tf.config.list_logical_devices(kind.upper())
        index = int(number or 0)
        if index >= len(offered):
            names = ", ".join(d.name for d in tf.config.list_logical_devices())
            raise AdapterError(
                f"TensorFlow has no device {device!r} here, only {names}; leave --device out for "
                "the CPU"
            )
        self.device = offered[index].name

    def array(self, values: np.ndarray, dtype: str) -> tf.Tensor:
        """Return a tensor of that dtype on the device."""
        with tf.device(self.device):
            return tf.cast(tf.constant(values, dtype=tf.float64), dtype)

    def numpy(self, array: tf.Tensor) -> np.ndarray:
        """Return the values in float64."""
        return np.array(tf.cast(array, tf.float64))

    def dtype(self, array: tf.Tensor) -> str:
        """Return the dtype's name."""
        return str(array.dtype.name)

    def vjp(self, function: Callable[..., Any], inputs: Arrays, cotangent: Any) -> Arrays:
        """Return the gradients; an outer tape or accumulator sees how they were computed."""
        # A cotangent may be one of the inputs; a tape tells them apart only by their tensors.
        at = tuple(map(tf.identity, inputs))
        with tf.GradientTape() as tape:
            tape.watch(at)
            value = function(*at)
        slopes = tape.gradient(
            value,
            at,
            output_gradients=cotangent,
            unconnected_gradients=tf.UnconnectedGradients.ZERO,
        )
        return tuple(map(tf.convert_to_tensor, slopes))

    def vjp_again(
        self, function: Callable[..., Any], inputs: Arrays, cotangents: Arrays
    ) -> list[Arrays]:
        """Return the gradients of a persistent tape that is asked more than once."""
        at = tuple(map(tf.identity, inputs))
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(at)
            value = function(*at)
        slopes = [tape.gradient(value, at, g, tf.UnconnectedGradients.ZERO) for g in cotangents]
        return [tuple(map(tf.convert_to_tensor, each)) for each in slopes]

    def jvp(self, function: Callable[..., Any], inputs: Arrays, tangents: Arrays) -> Any:
        """Return the tangent of the value."""
        at = tuple(map(tf.identity, inputs))
        with tf.autodiff.ForwardAccumulator(at, tangents) as accumulator:
            value = function(*at)
        return accumulator.jvp(value, unconnected_gradients=tf.UnconnectedGradients.ZERO)

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function as a graph compiled by XLA."""
        return tf.function(function, autograph=False, jit_compile=True)

    def vmap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function over a new first axis of its arguments."""
        return lambda *arrays: tf.vectorized_map(lambda these: function(*these), arrays)

    def state(self) -> dict[str, Any]:
        """Return what a layer must leave as it was, by what it is called."""
        return {
            "the random state": tf.random.get_global_generator().state.numpy(),
            "whether functions run eagerly": tf.config.functions_run_eagerly(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Put it back."""
        tf.random.get_global_generator().state.assign(state["the random state"])
        tf.config.run_functions_eagerly(state["whether functions run eagerly"])
