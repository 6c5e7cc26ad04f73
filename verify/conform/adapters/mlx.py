"""MLX: transformations of functions, which nest; float64 is the CPU's only."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import mlx.core as mx
import numpy as np

from verify.conform.adapters import AdapterError, Arrays

loaded_by = "mlx"


def adapter(device: str = "") -> Mlx:
    """Return MLX's adapter for a device: "cpu" or "gpu"."""
    return Mlx(device or "cpu")


class Mlx:
    """MLX's arrays and derivatives on one device."""

    name = "mlx"
    version = version("mlx")
    refusals = (r"Not implemented|[Cc]annot (vmap|differentiate)",)

    def __init__(self, device: str):
        if device not in ("cpu", "gpu"):
            raise AdapterError(f"MLX has the devices 'cpu' and 'gpu', not {device!r}")
        if device == "gpu" and not mx.is_available(mx.gpu):
            raise AdapterError("MLX has no GPU here; leave --device out for the CPU")
        mx.set_default_device(getattr(mx, device))
        halves = ("float32", "bfloat16", "float16")
        self.dtypes = halves if device == "gpu" else ("float64", *halves)

    def array(self, values: np.ndarray, dtype: str) -> mx.array:
        """Return an array of that dtype, with memory of its own."""
        narrow = values if dtype == "float64" else values.astype(np.float32)
        return mx.array(narrow, dtype=getattr(mx, dtype))

    def numpy(self, array: mx.array) -> np.ndarray:
        """Return the values in float64."""
        exact = array if array.dtype == mx.float64 else array.astype(mx.float32)
        return np.array(exact, dtype=np.float64)

    def dtype(self, array: mx.array) -> str:
        """Return the dtype without its module."""
        return str(array.dtype).rpartition(".")[2]

    def vjp(self, function: Callable[..., Any], inputs: Arrays, cotangent: Any) -> Arrays:
        """Return the gradients."""
        return tuple(mx.vjp(_listing(function), list(inputs), _several(cotangent))[1])

    def jvp(self, function: Callable[..., Any], inputs: Arrays, tangents: Arrays) -> Any:
        """Return the tangent of the value."""
        structure: list[bool] = []

        def listed(*at: mx.array) -> list[mx.array]:
            value = function(*at)
            structure.append(isinstance(value, tuple))
            return _several(value)

        slopes = mx.jvp(listed, list(inputs), list(tangents))[1]
        return tuple(slopes) if structure[-1] else slopes[0]

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function compiled."""
        return mx.compile(function)

    def vmap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function over a new first axis of its arguments."""
        return mx.vmap(function)

    def fill(self, array: mx.array, values: np.ndarray) -> None:
        """Overwrite the array's values."""
        array[...] = self.array(values, self.dtype(array))


def _several(value: Any) -> list[mx.array]:
    return list(value) if isinstance(value, tuple) else [value]


def _listing(function: Callable[..., Any]) -> Callable[..., list[mx.array]]:
    return lambda *at: _several(function(*at))
