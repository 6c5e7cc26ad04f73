"""What a run on this machine is of: the code, the versions of what computes, the device."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

from verify.evidence import Run
from verify.fingerprint import of_everything, versions

ATTEMPTS = 5
"""How often git is asked while a signal ends it, which says nothing of the commit."""


def describe_run(profile: str, seed: int, backend: str, device: str, threads: int = 1) -> Run:
    """Return the description of a run on this machine.

    Args:
        profile: how hard it looks.
        seed: where its random cases start.
        backend: of its arrays.
        device: of the backend.
        threads: how many each process computes with.
    """
    return Run(
        profile=profile,
        seed=seed,
        backend=backend,
        device=device,
        commit=_commit(),
        threads=threads,
        versions=versions(),
        source=of_everything(),
        gpu=_gpu(backend),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _gpu(backend: str) -> str:
    """Name the GPU of CuPy, the one backend whose default device is one."""
    if backend != "cupy":
        return f"not run: the backend was {backend}"
    import cupy

    return str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())


def _commit() -> str:
    """Return the commit, with "-dirty" where files differ from it; "unknown" if git cannot tell.

    What kills processes at random kills git too, the sooner the more the machine has to do.
    """
    try:
        answers = (_git_says() for _ in range(ATTEMPTS))
        return next((said for said in answers if said is not None), "") or "unknown"
    except OSError:  # git is not installed
        return "unknown"


def _git_says() -> str | None:
    """Return what git answers: nothing where there is no repository, None if a signal ended it."""
    root = Path(__file__).resolve().parent.parent
    asked = subprocess.run(
        ["git", "-C", root, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
        capture_output=True,
        text=True,
        check=False,
    )
    return None if asked.returncode < 0 else asked.stdout.strip()
