"""Time and peak memory of the Gram matrix of a convolution, against unfold and matmul.

Hhat' Hhat from the correlations of the maps, without the unfolded matrix, against what one would
write: ``torch.nn.functional.unfold``, the rows of all examples one below the other, one product;
and against the same one example at a time, which needs little memory.  They run in turns, in one
process, on the same maps, and the ratio is the median of the ratios of neighbouring runs.  The
error is relative, in the Frobenius norm, against double precision; peak memory is what a run
holds at once beyond its input, the result included.

    python benchmarks/bench_convolution.py --threads 1 --rounds 5 2>/dev/null

More threads want cores of their own: each of some hundred short products waits for all of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median

import torch
from bench_formulas import peak_bytes, seconds
from torch.nn.functional import unfold

from theory import convolution
from theory.convolution.gramian import gram

SIZES = [(16, 64, 56, 3), (64, 128, 14, 3), (64, 256, 14, 3), (16, 32, 28, 7)]
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


def apart(actual: torch.Tensor, expected: torch.Tensor) -> float:
    """Return the relative difference in the Frobenius norm."""
    return float(torch.linalg.norm(actual.double() - expected) / torch.linalg.norm(expected))


def report(size: tuple[int, int, int, int], options: argparse.Namespace) -> None:
    """Print time, memory and error of each contender, and their ratios to the closed form."""
    count, c, r, k = size
    generator = torch.Generator().manual_seed(0)
    h = torch.randn(count, c, r, r, generator=generator).to(options.device, options.dtype)
    runs: dict[str, Callable[[], torch.Tensor]] = {
        "correlations": lambda: gram(h, k),
        "checked": lambda: convolution.gram(h, k),
        "unfold": lambda: unfolded(h, k),
        "unfold, one by one": lambda: unfolded_one_by_one(h, k),
    }
    exact = unfolded_one_by_one(h.double(), k)
    errors = {name: apart(run(), exact) for name, run in runs.items()}
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(options.rounds):
        for name, run in runs.items():
            times[name].append(seconds(run))
    memory = {name: peak_bytes(run) for name, run in runs.items()}
    base = "correlations"
    print(f"\n{(count, c, r, r)}, kernel {k}, {h.dtype}, {h.device}, median of {options.rounds}")
    print(f"{'':22}{'ms':>9}{'ratio':>8}{'MB':>9}{'ratio':>8}   relative error")
    for name in runs:
        ratio = median(t / b for t, b in zip(times[name], times[base], strict=True))
        print(
            f"{name:22}{1e3 * median(times[name]):9.1f}{ratio:8.2f}{memory[name] / 1e6:9.2f}"
            f"{memory[name] / memory[base]:8.2f}   {errors[name]:.1e}",
            flush=True,
        )


def main() -> None:
    """Read the options and run every size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32", choices=["float32", "float64"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    options.dtype = getattr(torch, options.dtype)
    torch.set_num_threads(options.threads)
    for size in SIZES:
        report(size, options)


if __name__ == "__main__":
    main()
