"""OpenVINO: NumPy arrays through its CPU plugin; inference has no derivatives."""

from __future__ import annotations

from importlib.metadata import version

from verify.conform.adapters import AdapterError
from verify.conform.adapters.numpy import NumPy

loaded_by = "openvino"


def adapter(device: str = "") -> OpenVino:
    """Return the adapter of the CPU plugin."""
    if device not in ("", "cpu"):
        raise AdapterError(f"this adapter runs on the CPU, not on {device!r}; leave --device out")
    return OpenVino()


class OpenVino(NumPy):
    """NumPy's arrays, under OpenVINO's name and version."""

    name = "openvino"
    version = version("openvino")
