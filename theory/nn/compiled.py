r"""The formulas of :mod:`theory.batchnorm`, compiled by PyTorch: the same functions, in few passes.

A formula is a dozen operations, each of which reads and writes arrays as large as the batch; a
compiler makes one loop of those that can share one.  What is compiled is the function whose
identities are proved, not another that was written for speed: a generated kernel in C++ on a CPU,
in Triton on a GPU.

The first call with arguments of new shapes takes seconds.  A C++ compiler is needed on a CPU, and
Triton on a GPU; what is missing is named by PyTorch.  The formulas are unguarded: zero variance
gives NaN, or signs made of the mean's rounding, and half precision is not widened, so that more
than 65504 examples in float16, or sums or squares beyond that, give zeros or NaN where
:mod:`theory` computes in float32.  The function ``hessian_of_loss`` is compiled with the rest, so
let it be made of PyTorch's operations alone.

Index convention and shapes are those of :mod:`theory.batchnorm`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch

from theory import batchnorm

OPTIONS: dict[str, Any] = {"realize_reads_threshold": 8}
"""What reads up to so many arrays is computed again where it is needed, not kept in memory.

By itself the compiler keeps what reads more than four, such as H J u with its coefficients.
"""


def _when_called(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Return a formula that is compiled when it is called: the compiler takes seconds to load."""
    made: list[Callable[..., Any]] = []

    @wraps(formula)
    def compiled(*arguments: Any, **named: Any) -> Any:
        if not made:
            made.append(torch.compile(formula, options=OPTIONS))
        return made[0](*arguments, **named)

    return compiled


forward = _when_called(batchnorm.forward)
jvp = _when_called(batchnorm.jvp)
gradient = _when_called(batchnorm.gradient)
hvp = _when_called(batchnorm.hvp)
curvature = _when_called(batchnorm.curvature)
