"""What is measured on the way of a training, as meters return it: plain JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor, nn

from theory.nn.measures.activations import activations, by_unit
from theory.nn.measures.covariate_shift import covariate_shift
from theory.nn.measures.landscape import (
    Landscape,
    along_gradient,
    along_random_direction,
    step_sizes,
)
from verify.datasets.dataset import Images
from verify.experiments import classifier_training
from verify.experiments.metered_training import Moment

Layers = Callable[[nn.Module], Mapping[str, nn.Module]]
"""From a model to some of its parts by name, in the order in which they are met."""

BINS = 41
"""Of a histogram."""


def covariate_shifts(layers: Layers, shown: frozenset[str]) -> Callable[[Moment], Any]:
    """Return a measure of internal covariate shift, which keeps the layers that are shown."""

    def measure(at: Moment) -> Any:
        found = covariate_shift(
            at.model, at.inputs, at.targets, at.loss, layers(at.model), at.learning_rate
        )
        return {name: asdict(shift) for name, shift in found.items() if name in shown}

    return measure


def landscape(times: tuple[float, float], number: int) -> Callable[[Moment], Any]:
    """Return a measure of the landscape along the gradient, at so many step sizes.

    Args:
        times: least and largest step size, in learning rates.
        number: of step sizes.
    """

    def measure(at: Moment) -> Any:
        sizes = step_sizes(at.learning_rate, times, number)
        return _as_numbers(along_gradient(at.model, at.inputs, at.targets, at.loss, sizes))

    return measure


def random_landscape(times: tuple[float, float], number: int) -> Callable[[Moment], Any]:
    """Return the same along a random direction as long as the gradient, drawn anew each time."""

    def measure(at: Moment) -> Any:
        sizes = step_sizes(at.learning_rate, times, number)
        return _as_numbers(
            along_random_direction(at.model, at.inputs, at.targets, at.loss, sizes, at.generator)
        )

    return measure


def deviations(layers: Layers) -> Callable[[Moment], Any]:
    """Return a measure of each layer's standard deviation over the batch, the units' median."""

    def measure(at: Moment) -> Any:
        found = activations(at.model, at.inputs, layers(at.model))
        spread = {name: by_unit(a).double().std(0, correction=0) for name, a in found.items()}
        return {name: float(of_units.median()) for name, of_units in spread.items()}

    return measure


def moments(layers: Layers, units: int) -> Callable[[Moment], Any]:
    """Return a measure of the mean and the variance over the batch of each layer's first units."""

    def measure(at: Moment) -> Any:
        found = activations(at.model, at.inputs, layers(at.model))
        some = {name: by_unit(a)[:, :units].double() for name, a in found.items()}
        return {
            name: {"means": a.mean(0).tolist(), "variances": a.var(0, correction=0).tolist()}
            for name, a in some.items()
        }

    return measure


def accuracy(test: Images) -> Callable[[Moment], Any]:
    """Return a measure of the share of images recognised, in the batch and in a test.

    The step's batch is taken in training mode, the images kept back in evaluation mode.
    """

    def measure(at: Moment) -> Any:
        model = deepcopy(at.model)
        in_batch = classifier_training.recognised(model, at.inputs, at.targets) / len(at.targets)
        return {"batch": in_batch, "test": classifier_training.accuracy(model, test)}

    return measure


def histograms(layers: Layers, unit: int) -> Callable[[Moment], Any]:
    """Return a measure of the distribution over the batch of one unit of each layer."""

    def measure(at: Moment) -> Any:
        found = activations(at.model, at.inputs, layers(at.model))
        return {name: _histogram(by_unit(a)[:, unit]) for name, a in found.items()}

    return measure


def theorems(layers: Layers, examples: int, units: int, seed: int) -> Callable[[Moment], Any]:
    """Return an examination of the papers' statements at some layers of Batch Normalization.

    Args:
        layers: of the model, by name.
        examples: the first so many of the step's batch are the batch of the examination.
        units: how many units of a layer are examined.
        seed: of the units.
    """

    def measure(at: Moment) -> Any:
        from verify.experiments.theorems import examine

        batch = at.inputs[:examples], at.targets[:examples]
        return examine(at.model, *batch, at.loss, layers(at.model), units, seed)

    return measure


def _histogram(values: Tensor) -> dict[str, Any]:
    """Return bin edges from the least to the largest value, and the share of each bin."""
    low, high = float(values.min()), float(values.max())
    counts = torch.histc(values.float().cpu(), BINS, low, high)
    return {"low": low, "high": high, "shares": (counts / counts.sum()).tolist()}


def _as_numbers(found: Landscape) -> dict[str, Any]:
    return {
        "gradient_norm": found.gradient_norm,
        "losses": list(found.losses),
        "gradient_changes": list(found.gradient_changes),
        "loss_variation": list(found.loss_variation),
        "gradient_predictiveness": list(found.gradient_predictiveness),
        "effective_smoothness": found.effective_smoothness,
    }
