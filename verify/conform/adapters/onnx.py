"""ONNX: NumPy arrays through the standard's reference evaluator; inference has no derivatives."""

from __future__ import annotations

import onnx

from verify.conform.adapters import AdapterError
from verify.conform.adapters.numpy import NumPy

loaded_by = "onnx"


def adapter(device: str = "") -> Onnx:
    """Return the adapter of the reference evaluator."""
    if device not in ("", "cpu"):
        raise AdapterError(f"the reference evaluator has no device {device!r}; leave --device out")
    return Onnx()


class Onnx(NumPy):
    """NumPy's arrays, under ONNX's name and version."""

    name = "onnx"
    version = onnx.__version__
