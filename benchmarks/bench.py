"""All comparisons, on a CPU with one thread and with two; writes docs/measured/benchmarks.json.

    make bench

The site's page of benchmarks is made of that file.  ``--device cuda`` compares on a GPU.
"""

from __future__ import annotations

import argparse
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


def comparisons(device: str) -> Iterator[Comparison]:
    """Yield everything that is compared."""
    for threads in (1, 2) if device == "cpu" else (1,):
        torch.set_num_threads(threads)
        rounds = 10 if device == "cpu" else 50
        yield from chain(
            bench_formulas.comparisons(device, torch.float32, rounds),
            bench_convolution.comparisons(device, torch.float32, rounds // 2),
        )


def main() -> None:
    """Compare, print, and write the page's file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    found = []
    for comparison in comparisons(options.device):
        print("\n".join(comparison.lines()), flush=True)
        found.append(asdict(comparison))
    run = asdict(describe_run("default", 0, "torch", options.device))
    kept = {name: run[name] for name in ("commit", "versions", "started")}
    text = json.dumps(kept | {"comparisons": found}, indent=1)
    options.page.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
