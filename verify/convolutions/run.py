"""One layer after another, those that were examined before left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module

from verify import fingerprint, threads
from verify.backends import Backend
from verify.convolutions import meter
from verify.convolutions.findings import Finding, Keeper
from verify.description import describe_run
from verify.evidence import Run
from verify.options import Options
from verify.subjects import convolutions as cases

EXAMINATION = "verify.convolutions.examination"
"""What examines a layer, with PyTorch, which takes seconds to import."""


def describe(options: Options) -> Run:
    """Return the description of a run, with the GPU's name where the arrays are on one.

    Its source is what examines a layer: a change elsewhere makes no finding old.
    """
    run = replace(
        describe_run(
            options.profile, options.seed, options.backend, options.device, threads.count()
        ),
        source=fingerprint.of_module(EXAMINATION),
    )
    backend = Backend(options.backend, options.device)
    return replace(run, gpu=meter.machine(backend)) if meter.is_on_gpu(backend) else run


def batch_of(options: Options) -> int:
    """Return how many examples a profile takes, where its arrays are."""
    is_on_gpu = meter.is_on_gpu(Backend(options.backend, options.device))
    if options.profile == "deep" and is_on_gpu:
        return cases.BATCH_ON_GPU
    return cases.BATCHES[options.profile]


def examine_all(options: Options, run: Run, keeper: Keeper | None = None) -> Iterator[Finding]:
    """Yield what is found at each layer of a profile, or was found before.

    Args:
        options: checked.
        run: their description.
        keeper: keeps what is found as it is found; what it has is not examined again.
    """
    for shape in cases.SHAPES[options.profile]:
        if keeper is not None and shape in keeper.done:
            yield keeper.done[shape]
            continue
        finding = import_module(EXAMINATION).examine(shape, batch_of(options), run)
        if keeper is not None:
            keeper.add(finding)
        yield finding
