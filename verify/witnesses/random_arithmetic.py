r"""Arithmetic with random rounding: what intermediate roundings do to a computation.

Inside the context every PyTorch operation that rounds has its result multiplied entrywise by
:math:`1 + \delta\xi` with :math:`\xi` uniform in [-1, 1] (Monte Carlo arithmetic; Parker 1997).
The change of the final result over :math:`\delta` measures the condition of the computation as it
is carried out, cancellation inside it included, also where the exact answer is zero.
"""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

EXACT = frozenset(
    [
        "abs", "arange", "bitwise_and", "cat", "clone", "copy", "detach", "eq", "expand",
        "eye", "fill", "full", "full_like", "ge", "gt", "index", "le", "lt", "ne", "neg",
        "new_full", "new_zeros", "ones", "ones_like", "rand", "relu", "scalar_tensor",
        "select_backward", "sign", "slice_backward", "stack", "threshold_backward",
        "unsqueeze", "where", "zero", "zeros", "zeros_like", "_to_copy",
    ]
)  # fmt: skip
"""Operations that round nothing."""


LEAST = 18
"""Of at least so many random numbers, as a power of two, an operation takes a stretch."""


class RandomArithmetic(TorchDispatchMode):
    """Perturb the result of every rounding operation by a relative ``step`` at most."""

    def __init__(self, step: float, seed: int):
        super().__init__()  # type: ignore[no-untyped-call]
        self.step = step
        self.random = Random(seed).random

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Nothing is compiled here; PyTorch's guard against it costs as much as an operation.
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run the operation, then perturb what it returns."""
        result = func(*args, **kwargs) if kwargs else func(*args)
        if (rounds := _ROUNDS.get(id(func))) is None:
            rounds = _ROUNDS[id(func)] = _may_round(func)
        if not rounds or not isinstance(result, torch.Tensor):
            return result
        if not result.is_floating_point() or result._is_zerotensor():
            return result
        entries = result.numel()
        noise, length = _noise(max(LEAST, (4 * entries).bit_length()), result.device)
        start = int(self.random() * (length - entries))
        drawn = noise.as_strided(result.shape, result.stride(), start)
        return result.addcmul_(result, drawn, value=self.step)


@cache
def _noise(bits: int, device: torch.device) -> tuple[torch.Tensor, int]:
    """Return numbers uniform in [-1, 1], of which every operation takes a stretch of its own.

    To draw them anew for each would take longer than the operations do.
    """
    drawn = torch.empty(2**bits, dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    return drawn.uniform_(-1, 1, generator=generator).to(device), len(drawn)


_ROUNDS: dict[int, bool] = {}
"""By an operation's identity, as to hash it takes as long as to run it; none is ever deleted."""


def _may_round(func: Any) -> bool:
    """Whether an operation computes something, and not exactly."""
    name = func._schema.name.split("::")[1].rstrip("_")
    return name not in EXACT and all(r.alias_info is None for r in func._schema.returns)
