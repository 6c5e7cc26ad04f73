"""One layer of a convolutional network: every statement, with its costs."""

from __future__ import annotations

import time
from math import sqrt
from typing import Any

from theory import convolution
from verify.backends import Backend
from verify.convolutions import (
    conditioning,
    gramian,
    hessian,
    meter,
    network,
    preconditioner,
    statistics,
)
from verify.convolutions.arrays import ArrayLayer
from verify.convolutions.checks import Check
from verify.convolutions.conditioning import Spectrum
from verify.convolutions.findings import Finding
from verify.convolutions.meter import Meter
from verify.convolutions.statistics import Statistics
from verify.evidence import Run
from verify.subjects import convolutions as cases
from verify.subjects.convolutions import Shape


def examine(shape: Shape, batch: int, run: Run) -> Finding:
    """Return what is found at one layer."""
    backend = Backend(run.backend, run.device)
    watch, start = Meter(backend), time.perf_counter()
    with backend.current():
        with watch("input"):
            layer = cases.layer(shape, batch, run.seed)
            there = ArrayLayer.of(layer, backend)
        checks = hessian.examine(layer, there, run.seed, watch)
        with watch("statistics"):
            found = statistics.measure(there)
        device = network.torch_device(backend)
        checks += statistics.examine(layer, found, device)
        with watch("Gram matrix"):
            gram = convolution.gram(there.maps, **shape.geometry)
        checks.append(gramian.examine(layer, there, gram))
        with watch("condition numbers"):
            more, conditions = _conditioning(gram, found, there)
    numbers = {**statistics.numbers(found), **conditions}
    machine, seconds = meter.machine(backend), time.perf_counter() - start
    return Finding(shape, batch, run, machine, (*checks, *more), numbers, watch.costs, seconds)


def _conditioning(
    gram: Any, found: Statistics, layer: ArrayLayer
) -> tuple[list[Check], dict[str, float]]:
    """Return the checks of Theorem 4 and of its matrices, and the condition numbers."""
    exact = preconditioner.with_columns(gram, found, layer)
    approximate = preconditioner.with_channels(gram, found, layer)
    checks = preconditioner.examine(exact, approximate, found, layer)
    matrices = {
        "kappa": gram,
        "kappa centred": preconditioner.centred(gram, found, layer),
        "kappa preconditioned": exact,
        "kappa with channels": approximate,
    }
    spectra = {name: conditioning.spectrum(matrix, layer) for name, matrix in matrices.items()}
    plain, centred, normalized, _ = spectra.values()
    checks.append(conditioning.centring(plain, centred))
    checks += conditioning.scaling(centred, normalized, layer.rows)
    numbers = {name: found.condition for name, found in spectra.items()}
    numbers["kappa resolved to"] = 1 / sqrt(plain.floor)
    numbers["norm over estimate"] = _norm_over_estimate(normalized, layer)
    return checks, numbers


def _norm_over_estimate(normalized: Spectrum, layer: ArrayLayer) -> float:
    r"""Return the norm of the preconditioned matrix over the paper's estimate of it.

    The estimate is :math:`\max(\sqrt{k^2 c}, \sqrt N (rs)^{1/4})`.
    """
    batch, size = layer.maps.shape[0], layer.shape.output_size
    estimate = max(sqrt(layer.shape.columns - 1), sqrt(batch) * sqrt(size))
    return sqrt(normalized.largest) / estimate
