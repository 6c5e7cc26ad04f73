r"""The Gram matrix of a convolution, against unfold and matmul.

Hhat' Hhat from the correlations of the maps, without the unfolded matrix (on a GPU from chunks of
it), against what one would write: ``torch.nn.functional.unfold``, the rows of all examples one
below the other, one product; and against the same one example at a time, which needs little memory.

    python benchmarks/bench_convolution.py --threads 1 --rounds 5 2>/dev/null

More threads want cores of their own: each of some hundred short products waits for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from comparison import Comparison, Contender, compared, run
from torch.nn.functional import unfold

from theory import convolution
from theory.convolution.gramian import gram

SIZES = [(16, 64, 56, 3), (64, 128, 14, 3), (64, 256, 14, 3), (32, 512, 7, 3), (16, 32, 28, 7)]
"""Examples, channels, rows and columns, kernel."""


def unfolded(h: torch.Tensor, k: int) -> torch.Tensor:
    """Return Hhat' Hhat from the unfolded batch."""
    columns = unfold(h, k, padding=k // 2)
    matrix = columns.permute(0, 2, 1).reshape(-1, columns.shape[1])
    del columns
    return bordered(matrix.T @ matrix, matrix.sum(0), matrix.shape[0])


def unfolded_one_by_one(h: torch.Tensor, k: int) -> torch.Tensor:
    """Return Hhat' Hhat from each example unfolded, in turn."""
    size = h.shape[1] * k * k
    total, sums, rows = h.new_zeros(size, size), h.new_zeros(size), 0
    for example in h:
        columns = unfold(example[None], k, padding=k // 2)[0]
        total.addmm_(columns, columns.T)
        sums += columns.sum(1)
        rows += columns.shape[1]
    return bordered(total, sums, rows)


def bordered(inner: torch.Tensor, sums: torch.Tensor, rows: int) -> torch.Tensor:
    """Return the matrix with the row and the column of the bias."""
    result = inner.new_empty(inner.shape[0] + 1, inner.shape[0] + 1)
    result[0, 0], result[0, 1:], result[1:, 0], result[1:, 1:] = rows, sums, sums, inner
    return result


def contenders(h: torch.Tensor, k: int) -> dict[str, Contender]:
    """Return who computes the Gram matrix."""
    return {
        "correlations" if h.is_cpu else "unfold in chunks": lambda: gram(h, k),
        "checked": lambda: convolution.gram(h, k),
        "unfold": lambda: unfolded(h, k),
        "unfold, one by one": lambda: unfolded_one_by_one(h, k),
    }


def comparisons(device: str, dtype: torch.dtype, rounds: int) -> Iterator[Comparison]:
    """Yield the Gram matrix at every size."""
    for count, c, r, k in SIZES:
        generator = torch.Generator().manual_seed(0)
        h = torch.randn(count, c, r, r, generator=generator).to(device, dtype)
        job = (
            f"Gram matrix of a {k} x {k} convolution, {(count, c, r, r)}, "
            f"{str(dtype).removeprefix('torch.')}, {device}"
        )
        exact = unfolded_one_by_one(h.double(), k)
        yield compared(job, contenders(h, k), exact, rounds)


if __name__ == "__main__":
    run(comparisons, __doc__, rounds=5)
