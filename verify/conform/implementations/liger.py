"""Liger-Kernel: its Triton kernels, run on a CPU by Triton's interpreter.

The kernels compute in single precision.  They are the released ones but for two things that exist
on a GPU alone: the device library's ``rsqrt`` is Triton's own, and a number has ``to``.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from torch import Tensor

from verify.conform.implementations.implementation import by_function, implementation


def interpreted(kernels: str) -> Any:
    """Import kernels for the interpreter, to which Triton looks as it is imported."""
    os.environ["TRITON_INTERPRET"] = "1"
    math = import_module("triton.language.math")
    vars(import_module("triton.language.extra.libdevice"))["rsqrt"] = lambda x: math.rsqrt(x)
    return import_module(f"liger_kernel.ops.{kernels}")


def number(value: float) -> float:
    """Return a number that a kernel may convert: on a GPU it is a tensor, here a float."""
    return type("Number", (float,), {"to": lambda self, dtype: self})(value)


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Any:
    """Normalise the last axis."""
    kernels = interpreted("layer_norm")
    return kernels.LigerLayerNormFunction.apply(x, gamma, beta, number(eps))


def rms_norm(x: Tensor, gamma: Tensor, beta: Any, eps: float) -> Any:
    """Normalise the last axis by its root mean square; there is no beta."""
    kernels = interpreted("rms_norm")
    z = kernels.LigerRMSNormFunction.apply(x, gamma, number(eps), number(0), "llama", False)
    return z if beta is None else z + beta


def group_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Any:
    """Normalise two groups of channels."""
    kernels = interpreted("group_norm")
    return kernels.LigerGroupNormFunction.apply(x, gamma, beta, len(gamma), 2, number(eps))


def _liger(name: str, layer: Any, family: str, **parts: Any) -> Any:
    return implementation(
        f"liger_kernel {name}, interpreted",
        layer,
        family=family,
        distribution="liger-kernel",
        dtypes=("float32",),
        like="torch",
        **parts,
    )


ADAPTER = "torch"
IMPLEMENTATIONS = by_function(
    _liger("LigerLayerNormFunction", layer_norm, "layer"),
    _liger("LigerRMSNormFunction", rms_norm, "rms"),
    _liger("LigerGroupNormFunction", group_norm, "group", groups=2, layouts=("NCL",)),
)
