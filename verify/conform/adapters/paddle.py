"""Paddle: reverse mode of its dynamic graph, which nests; forward mode is reverse mode twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import paddle

from verify.conform.adapters import AdapterError, Arrays, NotOffered

loaded_by = "paddle"


def adapter(device: str = "") -> Paddle:
    """Return Paddle's adapter for a device: "cpu", "gpu", "gpu:1"."""
    return Paddle(device or "cpu")


class Paddle:
    """Paddle's tensors and gradients on one device."""

    name = "paddle"
    version = paddle.__version__
    dtypes = ("float64", "float32", "bfloat16", "float16")

    def __init__(self, device: str):
        try:
            paddle.set_device(device)
        except (ValueError, RuntimeError) as error:
            reason = str(error).strip().splitlines()[-1]
            raise AdapterError(
                f"Paddle cannot use the device {device!r} here ({reason}); leave --device out for "
                "the CPU"
            ) from None

    def array(self, values: np.ndarray, dtype: str) -> paddle.Tensor:
        """Return a tensor of that dtype that gradients are asked in."""
        tensor = paddle.to_tensor(np.ascontiguousarray(values), dtype="float64").astype(dtype)
        tensor.stop_gradient = False
        return tensor

    def numpy(self, array: paddle.Tensor) -> np.ndarray:
        """Return the values in float64."""
        return np.array(array.detach().astype("float64").numpy())

    def dtype(self, array: paddle.Tensor) -> str:
        """Return the dtype without its module."""
        return str(array.dtype).rpartition(".")[2]

    def vjp(self, function: Callable[..., Any], inputs: Arrays, cotangent: Any) -> Arrays:
        """Return gradients that can be differentiated again."""
        # An input may be the cotangent as well; the tape tells them apart only by their nodes.
        at = [paddle.assign(x) for x in inputs]
        value = function(*at)
        parts = zip(_several(value), _several(cotangent), strict=True)
        pairs = [(part, slope) for part, slope in parts if not part.stop_gradient]
        if not pairs:
            return tuple(map(paddle.zeros_like, at))
        slopes = paddle.grad(
            [p for p, _ in pairs], at, [c for _, c in pairs], create_graph=True, allow_unused=True
        )
        return tuple(
            paddle.zeros_like(x) if s is None else s for x, s in zip(at, slopes, strict=True)
        )

    def jvp(self, function: Callable[..., Any], inputs: Arrays, tangents: Arrays) -> Any:
        """Refuse."""
        raise NotOffered("Paddle's jvp differentiates backward twice, and does not nest")

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function as a static graph."""
        return paddle.jit.to_static(function)

    def fill(self, array: paddle.Tensor, values: np.ndarray) -> None:
        """Overwrite the tensor's values."""
        with paddle.no_grad():
            paddle.assign(self.array(values, self.dtype(array)), array)


def _several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)
