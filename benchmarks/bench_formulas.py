"""Time and peak memory of the closed-form gradient and Hessian, against torch autograd.

Each contender starts from the batch and ends with the derivative: autograd runs the layer
forward, through the fused operator or through primitives, then backward (twice for the Hessian
applied to a direction); the closed form needs no forward pass; "checked" is the public entry
point, which looks at its input first.  All of them run in turns, in one process, on the same
batch, so that the ratios mean something where the milliseconds do not.  Peak memory is what a
contender holds at once beyond its input, from the profiler's record of allocations.

    python benchmarks/bench_formulas.py --device cpu --dtype float32 --rounds 20 2>/dev/null

(The profiler may write its own log to the error stream.)
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import torch
from torch.nn.functional import batch_norm
from torch.profiler import profile

import theory
from theory import batchnorm

SIZES = {(32, 64, 56, 56): (0, 2, 3), (256, 64, 14, 14): (0, 2, 3), (4096, 512): (0,)}
EPS = 1e-5
Contender = Callable[[], torch.Tensor]


class Batch(NamedTuple):
    """A batch, its upstream gradient, a direction, the loss's diagonal Hessian, and gamma."""

    y: torch.Tensor
    g: torch.Tensor
    u: torch.Tensor
    h: torch.Tensor
    gamma: torch.Tensor
    axis: tuple[int, ...]


def draw(shape: tuple[int, ...], axis: tuple[int, ...], device: str, dtype: torch.dtype) -> Batch:
    """Return a batch of normal entries, the same on every run."""
    generator = torch.Generator().manual_seed(0)
    units = [1 if i in axis else n for i, n in enumerate(shape)]
    shapes = [shape] * 4 + [tuple(units)]
    y, g, u, h, gamma = (torch.randn(s, generator=generator).to(device, dtype) for s in shapes)
    return Batch(y, g, u, h, gamma, axis)


def fused(y: torch.Tensor, b: Batch) -> torch.Tensor:
    """Apply the layer as one operator."""
    return batch_norm(y, None, None, b.gamma.flatten(), training=True, eps=EPS)


def primitive(y: torch.Tensor, b: Batch) -> torch.Tensor:
    """Apply the layer as its definition."""
    spread = torch.var(y, b.axis, correction=0, keepdim=True)
    return b.gamma * (y - torch.mean(y, b.axis, keepdim=True)) / torch.sqrt(spread + EPS)


def gradient_by_autograd(layer: Any, b: Batch) -> torch.Tensor:
    """Forward and backward."""
    y = b.y.detach().requires_grad_()
    return torch.autograd.grad(layer(y, b), y, b.g)[0]


def hvp_by_autograd(layer: Any, b: Batch) -> torch.Tensor:
    """Forward, backward, and backward through both, for the loss <g, z> + <z, h z>/2."""
    y = b.y.detach().requires_grad_()
    z = layer(y, b)
    loss = (b.g * z + b.h * z * z / 2).sum()
    (gradient,) = torch.autograd.grad(loss, y, create_graph=True)
    return torch.autograd.grad(gradient, y, b.u)[0]


def hvp_with_forward(b: Batch) -> torch.Tensor:
    """Forward for the loss's gradient g + h z, then the closed form."""
    z = batchnorm.forward(b.y, b.gamma, 0, EPS, b.axis)
    return batchnorm.hvp(b.y, b.g + b.h * z, lambda w: b.h * w, b.u, b.gamma, EPS, b.axis)


def contenders(b: Batch) -> dict[str, dict[str, Contender]]:
    """Return, for each derivative, who computes it.

    The closed form is given the loss's gradient at z, as after a backward pass.
    """
    upstream = b.g + b.h * batchnorm.forward(b.y, b.gamma, 0, EPS, b.axis)
    return {
        "gradient": {
            "closed form": lambda: batchnorm.gradient(b.y, b.g, b.gamma, EPS, b.axis),
            "checked": lambda: theory.gradient(b.y, b.g, b.gamma, EPS, b.axis),
            "autograd, fused": lambda: gradient_by_autograd(fused, b),
            "autograd, primitives": lambda: gradient_by_autograd(primitive, b),
        },
        "hvp": {
            "closed form": lambda: batchnorm.hvp(
                b.y, upstream, lambda w: b.h * w, b.u, b.gamma, EPS, b.axis
            ),
            "checked": lambda: theory.hvp(
                b.y, upstream, lambda w: b.h * w, b.u, b.gamma, EPS, b.axis
            ),
            "closed, with forward": lambda: hvp_with_forward(b),
            "autograd, fused": lambda: hvp_by_autograd(fused, b),
            "autograd, primitives": lambda: hvp_by_autograd(primitive, b),
        },
    }


def seconds(run: Contender) -> float:
    """Return the wall time of one run, the device's work included."""
    start = time.perf_counter()
    result = run()
    if result.is_cuda:
        torch.cuda.synchronize()
    return time.perf_counter() - start


def peak_bytes(run: Contender) -> int:
    """Return the most that a run held at once beyond its input, on the device of its result."""
    with profile(profile_memory=True) as record:
        result = run()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        record.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    on_host = 0
    changes = [
        (event["ts"], event["args"]["Bytes"])
        for event in events
        if event.get("name") == "[memory]"
        and (event["args"]["Device Type"] == on_host) != result.is_cuda
    ]
    held = most = 0
    for _, change in sorted(changes, key=lambda c: c[0]):
        held += change
        most = max(most, held)
    return most


def report(derivative: str, b: Batch, runs: dict[str, Contender], rounds: int) -> None:
    """Print time and memory of each contender, and their ratios to the closed form."""
    reference = runs["closed form"]()
    for run in runs.values():
        run()
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(seconds(run))
    memory = {name: peak_bytes(run) for name, run in runs.items()}
    base_time, base_memory = median(times["closed form"]), memory["closed form"]
    print(f"\n{derivative}, {tuple(b.y.shape)}, {b.y.dtype}, {b.y.device}, median of {rounds}")
    print(f"{'':22}{'ms':>9}{'ratio':>8}{'MB':>9}{'ratio':>8}   relative difference")
    for name, run in runs.items():
        middle, held = median(times[name]), memory[name]
        apart = torch.linalg.norm(run() - reference) / torch.linalg.norm(reference)
        print(
            f"{name:22}{1e3 * middle:9.3f}{middle / base_time:8.2f}"
            f"{held / 1e6:9.2f}{held / base_memory:8.2f}   {float(apart):.1e}"
        )


def main() -> None:
    """Read the options and run every size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32", choices=["float32", "float64"])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    for shape, axis in SIZES.items():
        b = draw(shape, axis, options.device, getattr(torch, options.dtype))
        for derivative, runs in contenders(b).items():
            report(derivative, b, runs, options.rounds)


if __name__ == "__main__":
    main()
