"""Liger-Kernel: its Triton kernels as they are released, compiled for a GPU."""

from __future__ import annotations

from typing import Any

from liger_kernel.ops.group_norm import LigerGroupNormFunction
from liger_kernel.ops.layer_norm import LigerLayerNormFunction
from liger_kernel.ops.rms_norm import LigerRMSNormFunction
from torch import Tensor

from verify.conform.implementations.implementation import by_function, implementation


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Any:
    """Normalise the last axis."""
    return LigerLayerNormFunction.apply(x, gamma, beta, eps)


def rms_norm(x: Tensor, gamma: Tensor, beta: Any, eps: float) -> Any:
    """Normalise the last axis by its root mean square; there is no beta."""
    z = LigerRMSNormFunction.apply(x, gamma, eps, 0.0, "llama", False)
    return z if beta is None else z + beta


def group_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Any:
    """Normalise two groups of channels."""
    return LigerGroupNormFunction.apply(x, gamma, beta, len(gamma), 2, eps)


def _liger(name: str, layer: Any, family: str, **parts: Any) -> Any:
    return implementation(
        f"liger_kernel {name}",
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
