"""Time and error of normalising a batch, next to the same with the array library's own sums.

The error is the largest of an entry, in units of u times the condition number 1 + |mean|/sigma;
the time is that of the processor, both forms in turns in one process, the least of the rounds.

    python benchmarks/bench_statistics.py --rounds 20
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from array_api_compat import array_namespace

from theory import batchnorm
from theory.arithmetic import operations

Axes = int | tuple[int, ...]
MEAN = 1000.0
CASES: dict[str, tuple[tuple[int, ...], Axes]] = {
    "one unit": ((4_000_000,), 0),
    "few units": ((1_000_000, 8), 0),
    "some units": ((100_000, 64), 0),
    "many units": ((4096, 512), 0),
    "a small batch": ((256, 16), 0),
    "maps": ((32, 64, 56, 56), (0, 2, 3)),
    "small maps": ((256, 64, 14, 14), (0, 2, 3)),
    "tiny maps": ((8, 16, 4, 4), (0, 2, 3)),
    "few tiny maps": ((4, 3, 2, 2), (0, 2, 3)),
    "many tiny maps": ((64, 512, 2, 2), (0, 2, 3)),
}


def naive_total(a: Any, axis: Axes) -> Any:
    """Sum as the library does."""
    return array_namespace(a).sum(a, axis=axis, keepdims=True)


def naive(y: Any, axis: Axes) -> Any:
    """Apply the same formula with the library's own sums."""
    with patch.object(operations, "total", naive_total):
        return batchnorm.normalize(y, 0, axis)


def exact(y: np.ndarray, axis: Axes) -> np.ndarray:
    """Normalise what is left of the mean, in the widest format."""
    near = y.astype(np.longdouble) - MEAN
    near -= np.mean(near, axis, keepdims=True)
    return near / np.std(near, axis, keepdims=True)


def layouts(y: np.ndarray) -> dict[str, np.ndarray]:
    """Return the batch in the order of C, and with the units outermost or innermost."""
    if y.ndim == 1:
        return {"": y}
    if y.ndim == 2:
        return {"": y, "Fortran": np.asfortranarray(y)}
    last = np.ascontiguousarray(np.moveaxis(y, 1, -1))
    return {"": y, "channels last": np.moveaxis(last, -1, 1)}


def least_seconds(runs: list[Callable[[], Any]], rounds: int) -> list[float]:
    """Return the least processor time of each, run in turns."""
    least = [float("inf")] * len(runs)
    for _ in range(rounds):
        for i, run in enumerate(runs):
            start = time.thread_time()
            run()
            least[i] = min(least[i], time.thread_time() - start)
    return least


def report(name: str, y: np.ndarray, axis: Axes, rounds: int) -> None:
    """Print a line for each library and layout of a batch."""
    right, u = exact(y, axis), float(np.finfo(y.dtype).eps) / 2
    for layout, laid_out in layouts(y).items():
        for library, given in (("numpy", laid_out), ("torch", torch.as_tensor(laid_out))):
            runs = [lambda b=given: naive(b, axis), lambda b=given: batchnorm.normalize(b, 0, axis)]
            before, after = least_seconds(runs, rounds)
            errors = [float(np.max(np.abs(np.asarray(r()) - right))) / (u * MEAN) for r in runs]
            print(
                f"{library:6} {y.dtype!s:8} {f'{name} {y.shape} {layout}':48}"
                f"{after / before:6.2f} of the time; error {errors[0]:10.1f} -> {errors[1]:.1f}"
            )


def main() -> None:
    """Read the options and run every case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    for dtype in (np.float32, np.float64):
        for name, (shape, axis) in CASES.items():
            drawn = MEAN + np.random.default_rng(0).standard_normal(shape)
            report(name, drawn.astype(dtype), axis, rounds)


if __name__ == "__main__":
    main()
