"""The figures of experiments whose numbers came with the source, drawn once and kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from verify import experiments, fingerprint, pool
from verify.experiments import evidence
from verify.experiments.evidence import FILE, Result

DRAWN = Path("build/experiments")
"""Where the figures are kept."""
VIEW = "verify.experiments.run"
"""What draws figures and states observations; it takes seconds to import."""

Waiting = tuple[Result, Path]
"""Numbers, and the folder that their figures go to."""


def drawn(kept: Sequence[Result], measured: Path) -> Iterator[tuple[Result, Path]]:
    """Yield results with today's words and observations, and the folders of their figures.

    Where neither the numbers nor the code changed, nothing is drawn and no experiment imported.

    Args:
        kept: the results.
        measured: the folder of evidence that they were read from.
    """
    every = [(result, _folder(result, measured)) for result in kept]
    _draw([one for one in every if not (one[1] / FILE).exists()])
    for _, folder in every:
        yield evidence.read(folder), folder


def _folder(result: Result, measured: Path) -> Path:
    numbers = evidence.folder_of(measured, result.name) / FILE
    code = [fingerprint.of_module(each) for each in (experiments.module_of(result.name), VIEW)]
    digest = hashlib.sha256(numbers.read_bytes() + "".join(code).encode()).hexdigest()[:16]
    return DRAWN / f"{result.name}-{digest}"


def _draw(waiting: Iterable[Waiting]) -> None:
    """Draw the figures of results on all cores, those with most of them first."""
    ordered = sorted(waiting, key=lambda one: len(one[0].pictures), reverse=True)
    if ordered:
        context = get_context("forkserver")
        used = [experiments.module_of(result.name) for result, _ in ordered]
        context.set_forkserver_preload([VIEW, *used])
        with ProcessPoolExecutor(pool.cores(), context) as processes:
            list(processes.map(_view, ordered))


def _view(waiting: Waiting) -> None:
    from verify.experiments import run
    from verify.experiments.figures import save_as_svg

    result, folder = waiting
    run.view(experiments.find(result.name), result, folder, save_as_svg)
