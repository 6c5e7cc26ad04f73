"""Contenders for one job, side by side: time and memory as ratios, errors against double precision.

They run in turns, in one process, on the same input.  A ratio of times is the median of the ratios
of neighbouring runs, so that it means something where milliseconds do not.  Peak memory is what a
contender holds at once beyond its input, its result included, from the profiler's record of
allocations.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import torch
from torch.profiler import profile

Contender = Callable[[], torch.Tensor]


@dataclass(frozen=True)
class Row:
    """What came of one contender, next to the first."""

    name: str
    milliseconds: float
    time: float
    """Over the first contender's."""
    megabytes: float
    error: float | None
    """Relative, in the Frobenius norm; None where the result is another one."""


@dataclass(frozen=True)
class Comparison:
    """Contenders for one job, the first of which is the one that the others are compared with."""

    job: str
    threads: int
    rows: tuple[Row, ...]

    def lines(self) -> list[str]:
        """Return a table for a terminal."""
        held = self.rows[0].megabytes
        return [
            f"\n{self.job}, {self.threads} threads",
            f"{'':26}{'ms':>9}{'ratio':>8}{'MB':>9}{'ratio':>8}   relative error",
            *(
                f"{row.name:26}{row.milliseconds:9.2f}{row.time:8.2f}{row.megabytes:9.2f}"
                f"{row.megabytes / held if held else 0:8.2f}   "
                + ("" if row.error is None else f"{row.error:.1e}")
                for row in self.rows
            ),
        ]


def compared(
    job: str,
    contenders: Mapping[str, Contender],
    exact: torch.Tensor,
    rounds: int,
    others: tuple[str, ...] = (),
) -> Comparison:
    """Return what came of contenders.

    Args:
        job: what they do, and to what.
        contenders: by name, the one first that the others are compared with.
        exact: the right result, in double precision.
        rounds: how often each runs.
        others: names of those that do another job, such as the least that memory allows.
    """
    for run in contenders.values():
        run()
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            times[name].append(seconds(run))
    first = times[next(iter(contenders))]
    rows = (
        Row(
            name,
            1e3 * median(times[name]),
            median(t / f for t, f in zip(times[name], first, strict=True)),
            peak_bytes(run) / 1e6,
            None if name in others else apart(run(), exact),
        )
        for name, run in contenders.items()
    )
    return Comparison(job, torch.get_num_threads(), tuple(rows))


def apart(actual: torch.Tensor, expected: torch.Tensor) -> float:
    """Return the relative difference in the Frobenius norm."""
    return float(torch.linalg.norm(actual.double() - expected) / torch.linalg.norm(expected))


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


def run(comparisons: Callable[..., Iterable[Comparison]], about: str, rounds: int) -> None:
    """Read the options of the command line, and print what is compared at every size."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32", choices=["float32", "float64"])
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    for found in comparisons(options.device, getattr(torch, options.dtype), options.rounds):
        print("\n".join(found.lines()), flush=True)
