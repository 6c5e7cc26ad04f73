r"""The experiment ``dln``: the deep linear network of Santurkar et al. 2018, App. A.1.

25 layers of 10 by 10 without bias, Glorot initialisation, 1000 inputs from a standard Gaussian
distribution, targets A x with the entries of A standard Gaussian, full-batch gradient descent for
10,000 steps at learning rate 1e-6.  The paper's loss, an l_2 loss written for one x, is read as
its sum over the batch: with its mean the same learning rate is a thousandth of it, and is among
the learning rates that are tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from theory.nn.measures.landscape import DEEP_LINEAR_RANGE, step_sizes
from theory.nn.networks.deep_linear import deep_linear
from verify.experiments.batches import FullBatch
from verify.experiments.deep_linear import figures as deep_linear_figures
from verify.experiments.deep_linear import observations as deep_linear_observations
from verify.experiments.deep_linear.figures import LEARNING_RATE
from verify.experiments.experiment import Experiment, Piece, Setting
from verify.experiments.metered_training import (
    Meter,
    MeteredTraining,
    Recipe,
    generator,
    geometric,
    spread,
)
from verify.experiments.meters import (
    covariate_shifts,
    deviations,
    histograms,
    landscape,
    random_landscape,
    theorems,
)

DEPTH, WIDTH, INPUTS = 25, 10, 1000
NORMALIZATIONS = ("none", "batch", "l1", "l2", "linf")
SLOW = 1e-7
"""A second learning rate, at which the covariate shift is looked at besides."""

SHOWN = ("layer5", "layer10", "layer15", "layer20", "layer25")
"""The layers whose shift and whose activations are kept."""

EXAMINED = ("layer5", "layer20")
"""The layers at whose Batch Normalization statements are examined."""

EXAMPLES, UNITS = 32, 2
"""How many inputs, and how many units of a layer, make an examination."""

LEARNING_RATES = (1e-9, 1e-8, 1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 1e-3)
"""What is tried besides; 1e-9 is 1e-6 for a loss that is a mean over the 1000 inputs."""

BEYOND = (DEEP_LINEAR_RANGE[1], 10 * DEEP_LINEAR_RANGE[1])
"""Step sizes past the paper's, in learning rates."""


@dataclass(frozen=True)
class Profile:
    """How much is run."""

    steps: int
    """Of each training; the paper's is 10,000."""
    measured: int
    """At about how many steps the landscape and the shift are measured."""
    step_sizes: int
    """At how many step sizes."""
    tried: int
    """Steps at each of the learning rates that are tried."""


PROFILES = {
    "smoke": Profile(steps=100, measured=3, step_sizes=4, tried=30),
    "default": Profile(steps=10_000, measured=24, step_sizes=8, tried=500),
    "deep": Profile(steps=10_000, measured=80, step_sizes=20, tried=10_000),
}


def pieces(setting: Setting) -> Sequence[Piece]:
    """Return one training for each normalisation and seed, two that are slow, and short ones."""
    profile = PROFILES[setting.profile]
    trainings = [
        _training(normalization, seed, profile, setting.device)
        for seed in setting.seeds
        for normalization in NORMALIZATIONS
    ]
    seed = setting.seeds[0]
    slow = [_slow(n, seed, profile, setting.device) for n in ("none", "batch")]
    tries = [
        _trial(normalization, rate, seed, profile.tried, setting.device)
        for normalization in ("none", "batch")
        for rate in LEARNING_RATES
    ]
    return [*trainings, *slow, *tries]


def data(seed: int) -> tuple[Tensor, Tensor]:
    """Return inputs x and targets A x, both of shape (1000, 10)."""
    draws = generator(seed, "deep linear data")
    inputs = torch.randn(INPUTS, WIDTH, generator=draws)
    matrix = torch.randn(WIDTH, WIDTH, generator=draws)
    return inputs, inputs @ matrix.T


def sum_of_squares(outputs: Tensor, targets: Tensor) -> Tensor:
    r"""Return :math:`\sum_b \lVert f(x_b) - A x_b \rVert_2^2`."""
    return (outputs - targets).square().sum()


def layers(model: nn.Module) -> Mapping[str, nn.Module]:
    """Return the layers, each with its normalisation."""
    return dict(model.named_children())


def linear_maps(model: nn.Module) -> Mapping[str, nn.Module]:
    """Return the linear maps alone: what they put out is y, before normalisation."""
    return {name: layer.get_submodule("linear") for name, layer in model.named_children()}


def shown_layers(model: nn.Module) -> Mapping[str, nn.Module]:
    """Return the layers whose activations are kept."""
    return {name: layer for name, layer in model.named_children() if name in SHOWN}


def examined_layers(model: nn.Module) -> Mapping[str, nn.Module]:
    """Return the layers of Batch Normalization at which statements are examined."""
    return {name: model.get_submodule(f"{name}.normalization") for name in EXAMINED}


def _training(normalization: str, seed: int, profile: Profile, device: str) -> MeteredTraining:
    often = spread(profile.steps, profile.measured)
    seldom = geometric(profile.steps, min(profile.measured, 8))
    twice = frozenset({profile.steps // 10, profile.steps - 1})
    number = profile.step_sizes
    meters = {
        "shift": Meter(often, covariate_shifts(layers, frozenset(SHOWN))),
        "landscape": Meter(often, landscape(DEEP_LINEAR_RANGE, number)),
        "random": Meter(often, random_landscape(DEEP_LINEAR_RANGE, number)),
        "beyond": Meter(often, landscape(BEYOND, 3)),
        "deviations": Meter(often, deviations(linear_maps)),
        "histograms": Meter(seldom, histograms(shown_layers, unit=0)),
    }
    if normalization == "batch":
        examination = theorems(examined_layers, EXAMPLES, UNITS, seed)
        meters["theorems"] = Meter(twice, examination)
    return MeteredTraining(
        f"{normalization}, seed {seed}",
        {
            "kind": "training",
            "normalization": normalization,
            "seed": seed,
            "times": list(step_sizes(1.0, DEEP_LINEAR_RANGE, number)),
        },
        _recipe(normalization, seed, LEARNING_RATE, profile.steps, device),
        meters,
        loss_at=spread(profile.steps, 300),
        seed=seed,
    )


def _slow(normalization: str, seed: int, profile: Profile, device: str) -> MeteredTraining:
    shift = covariate_shifts(layers, frozenset(SHOWN))
    return MeteredTraining(
        f"{normalization} at learning rate {SLOW:g}, seed {seed}, shift",
        {"kind": "slow", "normalization": normalization, "seed": seed},
        _recipe(normalization, seed, SLOW, profile.steps, device),
        {"shift": Meter(spread(profile.steps, profile.measured), shift)},
        loss_at=spread(profile.steps, 300),
        seed=seed,
    )


def _trial(normalization: str, rate: float, seed: int, steps: int, device: str) -> MeteredTraining:
    return MeteredTraining(
        f"{normalization} at learning rate {rate:g}, seed {seed}",
        {"kind": "trial", "normalization": normalization, "seed": seed, "learning_rate": rate},
        _recipe(normalization, seed, rate, steps, device),
        {},
        loss_at=geometric(steps, 20),
        seed=seed,
    )


def _recipe(normalization: str, seed: int, rate: float, steps: int, device: str) -> Recipe:
    def model() -> nn.Module:
        draws = generator(seed, "deep linear weights")
        return deep_linear(DEPTH, WIDTH, normalization=normalization, generator=draws).to(device)

    def batches() -> FullBatch:
        inputs, targets = data(seed)
        return FullBatch(inputs.to(device), targets.to(device))

    return Recipe(model, batches, sum_of_squares, rate, steps)


EXPERIMENT = Experiment(
    name="dln",
    title="The deep linear network: training, covariate shift and landscape by normalisation",
    rows=("S-DLN", "S-def-ICS", "S-landscape", "S-lp", "S-fig"),
    takes_data=False,
    description=(
        "25 linear layers of 10 by 10 without bias, normalised after each layer but the last, "
        "fitted to A x from 1000 Gaussian inputs x by full-batch gradient descent at learning rate "
        "1e-6 on the sum of squares, from Glorot's initialisation, in float32. Beside it a slower "
        "training at 1e-7 and trials of other learning rates. Measured on the way, in the "
        "parameters and in float64: internal covariate shift, the landscape along the gradient at "
        "1/100 to 30 learning rates, beyond, and along random directions. Default and deep: the "
        "paper's 10,000 steps, measured at about 24 and 80 of them; smoke: 100 steps."
    ),
    pieces=pieces,
    figures=deep_linear_figures.figures,
    observations=deep_linear_observations.observations,
)
