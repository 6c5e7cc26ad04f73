r"""Arithmetic with random rounding: what intermediate roundings do to a computation.

Inside the context every PyTorch operation that rounds has its result multiplied entrywise by
:math:`1 + \delta\xi` with :math:`\xi` uniform in [-1, 1] (Monte Carlo arithmetic; Parker 1997).
The change of the final result over :math:`\delta` measures the condition of the computation as it
is carried out, cancellation inside it included, also where the exact answer is zero.

What a decomposition returns is right of a matrix that is near in norm, whatever its small entries
are (Golub and Van Loan 2013, sect. 8.3).  So the matrix is perturbed before it, by a part of its
largest entry.
"""

from __future__ import annotations

from enum import Enum
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


DECOMPOSITIONS = ("_linalg_eigh", "_linalg_svd")


class Kind(Enum):
    """What an operation does to the numbers that it is given."""

    EXACT = "nothing is rounded"
    ROUNDS = "each entry of the result is rounded"
    DECOMPOSES = "the result is that of a matrix near by"


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
        if (kind := _KINDS.get(id(func))) is None:
            kind = _KINDS[id(func)] = _kind(func)
        if kind is Kind.DECOMPOSES:
            matrix, *others = args
            args = self._near(matrix), *others
        result = func(*args, **kwargs) if kwargs else func(*args)
        if kind is Kind.EXACT or not isinstance(result, torch.Tensor):
            return result
        if not result.is_floating_point() or result._is_zerotensor():
            return result
        return result.addcmul_(result, self._drawn(result), value=self.step)

    def _near(self, matrix: torch.Tensor) -> torch.Tensor:
        """Return a matrix, the last two axes of an array, moved by a part of its largest entry."""
        largest = matrix.abs().amax((-2, -1), keepdim=True)
        return torch.addcmul(matrix, largest, self._drawn(matrix), value=self.step)

    def _drawn(self, like: torch.Tensor) -> torch.Tensor:
        entries = like.numel()
        noise, length = _noise(max(LEAST, (4 * entries).bit_length()), like.device)
        start = int(self.random() * (length - entries))
        return noise.as_strided(like.shape, like.stride(), start)


@cache
def _noise(bits: int, device: torch.device) -> tuple[torch.Tensor, int]:
    """Return numbers uniform in [-1, 1], of which every operation takes a stretch of its own.

    To draw them anew for each would take longer than the operations do.
    """
    drawn = torch.empty(2**bits, dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    return drawn.uniform_(-1, 1, generator=generator).to(device), len(drawn)


_KINDS: dict[int, Kind] = {}
"""By an operation's identity, as to hash it takes as long as to run it; none is ever deleted."""


def _kind(func: Any) -> Kind:
    name = func._schema.name.split("::")[1].rstrip("_")
    if name in DECOMPOSITIONS:
        return Kind.DECOMPOSES
    is_exact = name in EXACT or any(r.alias_info is not None for r in func._schema.returns)
    return Kind.EXACT if is_exact else Kind.ROUNDS
