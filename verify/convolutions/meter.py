r"""Time and peak memory of a piece of work, on the machine that does it.

Peak memory is what the piece held at once beyond what there was before: of the process on a CPU,
as Linux counts it, of the device's allocator on a GPU.
"""

from __future__ import annotations

import ctypes
import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from verify import threads
from verify.backends import Backend

PROCESS = Path("/proc/self")


@dataclass(frozen=True)
class Cost:
    """What a piece of work took."""

    seconds: float
    peak_bytes: int | None
    """None where the system does not say."""


@dataclass
class Meter:
    """Costs of named pieces of work, on one backend."""

    backend: Backend
    costs: dict[str, Cost] = field(default_factory=dict)

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Measure what is done in this context."""
        peak = _peak_of(self.backend)
        start = time.perf_counter()
        yield
        _wait_for(self.backend)
        self.costs[name] = Cost(time.perf_counter() - start, peak())


def machine(backend: Backend) -> str:
    """Name the device that the arrays are on, and the number of threads on a CPU."""
    if backend.name == "cupy":
        import cupy

        with backend.current():
            index = cupy.cuda.runtime.getDevice()
            return str(cupy.cuda.runtime.getDeviceProperties(index)["name"].decode())
    if backend.device.startswith("cuda"):
        import torch

        return str(torch.cuda.get_device_name(backend.device))
    return f"{_processor()}, {threads.count()} threads"


def is_on_gpu(backend: Backend) -> bool:
    """Whether the arrays are on a GPU."""
    return backend.name == "cupy" or backend.device.startswith("cuda")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def _peak_of(backend: Backend) -> Callable[[], int | None]:
    """Begin to watch; return what tells the peak."""
    if backend.name == "cupy":
        return _cupy_peak()
    if backend.device.startswith("cuda"):
        import torch

        torch.cuda.reset_peak_memory_stats(backend.device)
        before = torch.cuda.memory_allocated(backend.device)
        return lambda: torch.cuda.max_memory_allocated(backend.device) - before
    return _process_peak()


def _cupy_peak() -> Callable[[], int]:
    import cupy

    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    before = pool.used_bytes()
    return lambda: int(pool.total_bytes() - before)


def _process_peak() -> Callable[[], int | None]:
    if sys.platform != "linux":
        return lambda: None
    try:
        ctypes.CDLL(None).malloc_trim(0)  # what was freed goes back, so that using it again counts
        (PROCESS / "clear_refs").write_text("5")  # the peak is now what is held
    except (AttributeError, OSError):
        return lambda: None
    before = _status("VmRSS")
    return lambda: _status("VmHWM") - before


def _status(name: str) -> int:
    lines = (PROCESS / "status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith(name)))


def _wait_for(backend: Backend) -> None:
    if backend.name == "cupy":
        import cupy

        cupy.cuda.Device().synchronize()
    elif backend.device.startswith("cuda"):
        import torch

        torch.cuda.synchronize(backend.device)
