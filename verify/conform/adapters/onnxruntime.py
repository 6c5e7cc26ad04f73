"""ONNX Runtime: NumPy arrays through its CPU provider; inference has no derivatives."""

from __future__ import annotations

import onnxruntime

from verify.conform.adapters import AdapterError
from verify.conform.adapters.numpy import NumPy

loaded_by = "onnxruntime"


def adapter(device: str = "") -> OnnxRuntime:
    """Return the adapter of the CPU provider."""
    if device not in ("", "cpu"):
        raise AdapterError(f"this adapter runs on the CPU, not on {device!r}; leave --device out")
    return OnnxRuntime()


class OnnxRuntime(NumPy):
    """NumPy's arrays, under ONNX Runtime's name and version."""

    name = "onnxruntime"
    version = onnxruntime.__version__
