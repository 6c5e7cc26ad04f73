"""All comparisons, with one thread and with two; writes docs/measured/benchmarks.json.

    make bench

The site's page of benchmarks is made of that file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from pathlib import Path

import bench_convolution
import bench_formulas
import torch
from comparison import Comparison

from verify.description import describe_run

PAGE = Path("docs/measured/benchmarks.json")
THREADS = (1, 2)


def comparisons() -> Iterator[Comparison]:
    """Yield everything that is compared."""
    for threads in THREADS:
        torch.set_num_threads(threads)
        yield from chain(
            bench_formulas.comparisons("cpu", torch.float32, rounds=10),
            bench_convolution.comparisons("cpu", torch.float32, rounds=5),
        )


def main() -> None:
    """Compare, print, and write the page's file."""
    found = []
    for comparison in comparisons():
        print("\n".join(comparison.lines()), flush=True)
        found.append(asdict(comparison))
    run = asdict(describe_run("default", 0, "torch", "cpu"))
    kept = {name: run[name] for name in ("commit", "versions", "started")}
    PAGE.write_text(json.dumps(kept | {"comparisons": found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
