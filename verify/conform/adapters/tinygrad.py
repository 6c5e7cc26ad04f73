"""tinygrad: gradients of the lazy graph, which are graphs again; no forward mode."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
from tinygrad import Tensor, dtypes

from verify.conform.adapters import AdapterError, Arrays, NotOffered

loaded_by = "tinygrad"


def adapter(device: str = "") -> Tinygrad:
    """Return tinygrad's adapter for a device: "CPU", "CUDA", "METAL"."""
    return Tinygrad((device or "CPU").upper())


class Tinygrad:
    """tinygrad's tensors and gradients on one device."""

    name = "tinygrad"
    version = version("tinygrad")
    refusals = (r"failed to compute gradient",)

    def __init__(self, device: str):
        self.device = device
        try:
            self._add_one("float32")
        except Exception as error:  # whatever the compiler or the driver says
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            raise AdapterError(
                f"tinygrad cannot use the device {device!r} here ({reason}); its CPU needs clang "
                "on the path, or its name in the variable CC"
            ) from error
        names = ("float64", "float32", "bfloat16", "float16")
        self.dtypes = tuple(name for name in names if self._computes(name))

    def _add_one(self, dtype: str) -> None:
        (self.array(np.ones(3), dtype) + 1).realize()

    def _computes(self, dtype: str) -> bool:
        try:
            self._add_one(dtype)
        except Exception:  # as above
            return False
        return True

    def array(self, values: np.ndarray, dtype: str) -> Tensor:
        """Return a realized tensor of that dtype."""
        wide = Tensor(np.ascontiguousarray(values), device=self.device)
        return wide.cast(getattr(dtypes, dtype)).contiguous().realize()

    def numpy(self, array: Tensor) -> np.ndarray:
        """Return the values in float64."""
        return np.array(array.cast(dtypes.float64).numpy())

    def dtype(self, array: Tensor) -> str:
        """Return the dtype's plain name."""
        plain = {getattr(dtypes, name): name for name in self.dtypes}
        return plain.get(array.dtype, array.dtype.name)

    def vjp(self, function: Callable[..., Any], inputs: Arrays, cotangent: Any) -> Arrays:
        """Return the gradients, not yet computed."""
        # A cotangent may be one of the inputs; the graph tells them apart only by their nodes.
        at = [x * 1 for x in inputs]
        value = function(*at)
        if isinstance(value, tuple):
            paired = zip(value, cotangent, strict=True)
            value, cotangent = sum((v * c).sum() for v, c in paired), None
        return tuple(value.gradient(*at, gradient=cotangent))

    def vjp_again(
        self, function: Callable[..., Any], inputs: Arrays, cotangents: Arrays
    ) -> list[Arrays]:
        """Return the gradients of one graph for each cotangent."""
        at = [x * 1 for x in inputs]
        value = function(*at)
        return [
            tuple(slope.realize() for slope in value.gradient(*at, gradient=g)) for g in cotangents
        ]

    def jvp(self, function: Callable[..., Any], inputs: Arrays, tangents: Arrays) -> Any:
        """Refuse."""
        raise NotOffered("tinygrad has no forward mode")
