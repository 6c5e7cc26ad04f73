"""The released layers of one library, examined one after the other, each in a process of its own.

    python -m verify.conform.survey flax

(of Keras, ``keras-jax`` and so on by its backends) writes ``docs/measured/flax.jsonl``: a line for
each implementation, with the word and the largest units of each mode, output, dtype and kind of
case; on a GPU, ``--device gpu`` as JAX calls it, ``docs/measured/flax-gpu.jsonl``.  What today's
code examined with the same version is not examined again, so that a run that was stopped goes on;
a line stays until the layer has been, and where it could not run.
"""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from verify import json_lines
from verify.conform.cases import EPS, strata
from verify.conform.examiner import examiner, is_todays
from verify.conform.implementations.implementation import Implementation
from verify.conform.judge import Cell
from verify.conform.process import Order
from verify.conform.report import Report, by_row, versions, worst
from verify.conform.run import Wanted, run
from verify.conform.words import FAILURES, Word

SCHEMA = 1
MEASURED = Path("docs/measured")
SMALLEST = 2.0**-126
"""The smallest normal float32."""


def main(
    library: Annotated[
        str, typer.Argument(help="A file of verify/conform/implementations; of Keras, keras-jax.")
    ],
    folder: Annotated[Path, typer.Option(help="Where the file is written.")] = MEASURED,
    family: Annotated[str, typer.Option(help="Of this family only.")] = "",
    kinds: Annotated[str, typer.Option(help="Of cases; several are separated by commas.")] = "",
    seed: Annotated[int, typer.Option(help="Draws other numbers.")] = 0,
    device: Annotated[str, typer.Option(help="As the framework calls it; else its CPU.")] = "",
    fresh: Annotated[bool, typer.Option("--fresh", help="Examine all again.")] = False,
) -> None:
    """Examine the layers of a library, as it is installed here."""
    name, _, backend = library.partition("-")
    if backend:
        os.environ["KERAS_BACKEND"] = backend
    module = importlib.import_module(f"verify.conform.implementations.{name}")
    path = folder / f"{'-'.join(filter(None, (library, device)))}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    lines = {line["target"]: line for line in json_lines.read(path)} if path.exists() else {}
    adapters = tuple(filter(None, (module.ADAPTER, backend)))  # Keras's uses its backend's
    # Before anything is examined, since files may change meanwhile.
    by = {"adapters": list(adapters), "examiner": examiner(module.__name__, adapters)}
    if device:
        # This process and a layer's share the GPU, of which JAX's first would take most.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        by |= {"device": device, "accelerator": _accelerator(module.ADAPTER, device)}
    console = Console()
    layers = {
        f"{module.__name__}:IMPLEMENTATIONS.{key}.subject": found
        for key, found in vars(module.IMPLEMENTATIONS).items()
    }
    for target, found in layers.items():
        is_known = not fresh and target in lines and _is_current(lines[target])
        if is_known or family not in ("", found.family):
            continue
        wanted = Wanted(dtypes=found.dtypes, kinds=tuple(filter(None, kinds.split(","))), seed=seed)
        order = Order(target, module.ADAPTER, device, family=found.family)
        began = time.monotonic()
        with Progress(console=console, transient=True) as bar:
            report = run(order, wanted, _telling(bar, found.subject.name))
        if found.subject.eps_is_single:
            report = replace(report, cells=tuple(c for c in report.cells if _has_eps(c)))
        seconds = time.monotonic() - began
        line = summary(found, target, report, seconds) | by
        if line["rows"] or not lines.get(target, line)["rows"]:
            lines[target] = line
        json_lines.write(path, [lines[each] for each in layers if each in lines])
        console.print(f"{found.subject.name}: {report.verdict} {report.reason}", highlight=False)


def _has_eps(cell: Cell) -> bool:
    """Whether a float32 holds the eps of a cell's input."""
    eps = {stratum.name: stratum.eps for stratum in strata((cell.dtype,))}
    return eps.get(cell.stratum, EPS) >= SMALLEST


def _is_current(line: dict[str, Any]) -> bool:
    """Whether a line was measured with what is installed now, by today's code."""
    is_installed = line["schema"] == SCHEMA and line["version"] == version(line["library"])
    return is_installed and is_todays(line)


def _accelerator(adapter: str, device: str) -> str:
    """Return what a framework's device is called by its maker, if the framework tells."""
    if adapter == "jax":
        return str(importlib.import_module("jax").devices(device)[0].device_kind)
    if adapter == "torch" and device.startswith("cuda"):
        return str(importlib.import_module("torch").cuda.get_device_name(device))
    return device


def _telling(bar: Progress, name: str) -> Any:
    task = bar.add_task(name, total=None)

    def tell(description: str, done: int, total: int) -> None:
        bar.update(task, description=f"{name}: {description}", completed=done, total=total)

    return tell


def summary(found: Implementation, target: str, report: Report, seconds: float) -> dict[str, Any]:
    """Return what a page needs of a report: each row's gravest cell of a dtype and kind."""
    return {
        "schema": SCHEMA,
        "name": found.subject.name,
        "family": found.family,
        "target": target,
        "library": found.distribution,
        "version": version(found.distribution),
        "framework": report.framework,
        "versions": versions(),
        "measured": datetime.now(UTC).date().isoformat(),
        "threads": list(found.threads),
        "script": found.subject.script,
        "verdict": report.verdict,
        "reason": report.reason,
        "conventions": dict(report.conventions),
        "diagnosis": [asdict(finding) for finding in report.diagnosis],
        "seconds": round(seconds, 1),
        "not_offered": not_offered(report),
        "not_run": not_run(report),
        "kinds": list(dict.fromkeys(cell.kind for cell in report.cells)),
        "rows": [
            _row(mode, output, cells)
            for (mode, output), cells in by_row(report.cells).items()
            if any(cell.word is not Word.NOT_OFFERED for cell in cells)
        ],
    }


def not_offered(report: Report) -> dict[str, str]:
    """Return the modes that are not to be had at all, and why."""
    rows = by_row(report.cells)
    return {
        mode: cells[0].reason
        for (mode, _), cells in rows.items()
        if all(cell.word is Word.NOT_OFFERED for cell in cells)
    }


def not_run(report: Report) -> list[dict[str, Any]]:
    """Return the modes that run, but not at every case: at which they do not, by the reason."""
    found: dict[str, dict[str, dict[str, None]]] = {}
    for (mode, _), cells in by_row(report.cells).items():
        missing = [cell for cell in cells if cell.word is Word.NOT_OFFERED]
        for cell in missing if len(missing) < len(cells) else ():
            where = found.setdefault(cell.reason, {"modes": {}, "inputs": {}})
            where["modes"][mode] = where["inputs"][cell.stratum] = None
    return [
        {"reason": reason, **{name: [*of] for name, of in where.items()}}
        for reason, where in found.items()
    ]


def _row(mode: str, output: str, cells: Sequence[Cell]) -> dict[str, Any]:
    """Return the gravest cell of each dtype and kind, and where the gravest of all is."""
    grouped: dict[str, dict[str, list[Cell]]] = {}
    for cell in cells:
        grouped.setdefault(cell.dtype, {}).setdefault(cell.kind, []).append(cell)
    found = {
        dtype: {kind: _entry(worst(same)) for kind, same in kinds.items()}
        for dtype, kinds in grouped.items()
    }
    said = {"mode": mode, "output": output, "cells": found}
    first = worst(cells)
    return said if first.word not in FAILURES else {**said, "worst": _failure(first)}


def _entry(cell: Cell) -> float | list[Any]:
    """Return the units of a right cell, or the word and the units."""
    units = [] if cell.units is None else [float(f"{cell.units:.3g}")]
    return units[0] if units and cell.word is Word.RIGHT else [str(cell.word), *units]


def _failure(cell: Cell) -> dict[str, str]:
    return {
        "word": str(cell.word),
        "dtype": cell.dtype,
        "input": cell.stratum,
        "reason": cell.reason,
        "token": cell.token,
    }


if __name__ == "__main__":
    typer.run(main)
