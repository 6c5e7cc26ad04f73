"""What wants a GPU, one after the other; writes docs/measured/gpu.json and evidence/gpu.

    make gpu

Without CUDA it says so in one line.  TF32 is off.  What fails is kept with its output, and the
others go on.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from verify.description import describe_run
from verify.pool import cores

FOLDER = Path("evidence/gpu")
PAGE = Path("docs/measured/gpu.json")
COMPARISONS = FOLDER / "benchmarks.json"
OUTPUT = 20_000
"""Characters of a step's output that are kept, the last ones."""
CONVOLUTIONS = "convolutions of ResNet-18 and VGG-16 in CuPy"
STEPS = {
    "gradient, Hessian and Gram matrix against PyTorch's own, float32": (
        f"benchmarks/bench.py --device cuda --page {COMPARISONS}"
    ),
    "BNP's epoch over BN's": f"-m verify experiment cost --device cuda --evidence {FOLDER}",
    "PyTorch's own layer": (
        f"-m verify conform torch.nn:BatchNorm2d --device cuda --folder {FOLDER}"
    ),
    "an audit of ResNet-18": (
        "-m verify audit benchmarks/residual_network.py:make_model "
        "--data benchmarks/residual_network.py:batches --budget 120 --device cuda "
        f"--html {FOLDER}/audit.html"
    ),
    "statements in CuPy": f"-m pytest verify -q --backend cupy --evidence {FOLDER}",
    CONVOLUTIONS: f"-m verify convolutions --backend cupy --profile deep --evidence {FOLDER}",
}


def main() -> int:
    """Run every step, and write what came of it."""
    if not torch.cuda.is_available():
        print(f"make gpu: not run, torch {torch.__version__} finds no CUDA device here")
        return 0
    if find_spec("cupy") is None:
        print("make gpu: CuPy is missing: .venv/bin/pip install -c constraints.txt -e '.[cupy]'")
        return 2
    FOLDER.mkdir(parents=True, exist_ok=True)
    COMPARISONS.unlink(missing_ok=True)  # an earlier run's
    run = asdict(describe_run("deep", 0, "cupy", "cuda"))
    found = {name: run[name] for name in ("commit", "versions", "started")}
    found |= {"device": torch.cuda.get_device_name(), "steps": []}
    for what, arguments in STEPS.items():
        found["steps"].append(step(what, arguments))
        if COMPARISONS.exists():
            found["comparisons"] = json.loads(COMPARISONS.read_text())["comparisons"]
        PAGE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return int(any(one["status"] for one in found["steps"]))


def step(what: str, arguments: str) -> dict[str, Any]:
    """Run one command with this Python; return its status, its time and its output."""
    print(f"{what}: python {arguments}", flush=True)
    # Eigenvalues of the convolutions' matrices are computed on the CPU.
    threads = cores() if what == CONVOLUTIONS else 1
    began = time.monotonic()
    ended = subprocess.run(
        [sys.executable, *shlex.split(arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={**os.environ, "NVIDIA_TF32_OVERRIDE": "0", "OMP_NUM_THREADS": str(threads)},
    )
    output = without_places(ended.stdout)[-OUTPUT:]
    print(output)
    return {
        "what": what,
        "command": f"python {arguments}",
        "status": ended.returncode,
        "seconds": time.monotonic() - began,
        "output": output,
    }


def without_places(text: str) -> str:
    """Return a text without the folders of the project and of this Python."""
    for folder in (Path.cwd(), sys.prefix):
        text = text.replace(f"{folder}/", "")
    return text


if __name__ == "__main__":
    sys.exit(main())
