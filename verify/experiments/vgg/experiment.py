r"""The experiment ``vgg``: the VGG network of Santurkar et al. 2018, App. A.1.

Plain stochastic gradient descent at learning rate 0.1, batches of 128, 15,000 steps, Glorot
initialisation, no augmentation, on CIFAR-10.  Without that, on the digits enlarged to 32 by 32,
with fewer layers, narrower, for fewer steps.  The paper does not name the momentum (none here),
the variant of VGG (11 layers with weights here, 16 where the paper's size is asked for), nor the
learning rates of Fig. 1 (0.1 and 0.5 here).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from torch import nn
from torch.nn.functional import cross_entropy

from theory.nn.measures.landscape import VGG_RANGE, step_sizes
from theory.nn.networks.vgg import vgg
from theory.nn.noisy_batch_normalization import ActivationNoise
from verify.datasets import cifar, digits
from verify.datasets.dataset import Dataset
from verify.experiments.batches import ShuffledBatches
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
    accuracy,
    covariate_shifts,
    histograms,
    landscape,
    moments,
    random_landscape,
    theorems,
)
from verify.experiments.vgg import figures as vgg_figures
from verify.experiments.vgg import observations as vgg_observations

NORMALIZATIONS = ("none", "batch", "noisy-batch", "l1", "l2", "linf")
LEARNING_RATE = 0.1
LARGER_RATE = 0.5
NOISE = "noise alone"
"""The standard network with the noise of the noisy one."""

SIDE = 32
SHOWN = ("stage2.layer1", "stage4.layer1", "stage5.layer2")
"""The layers whose shift, moments and histograms are kept."""

EXAMINED = ("stage4.layer2", "stage5.layer2")
"""The layers at whose Batch Normalization statements are examined."""

EXAMPLES, UNITS = 4, 2
"""How many images, and how many units of a layer, make an examination."""


@dataclass(frozen=True)
class Size:
    """How large the networks are, and how much is run."""

    depth: int
    width: int
    batch: int
    steps: int
    measured: int
    """At about how many steps the landscape and the shift are measured."""
    step_sizes: int


ON_DIGITS = {
    "smoke": Size(depth=11, width=4, batch=32, steps=8, measured=2, step_sizes=2),
    "default": Size(depth=11, width=8, batch=64, steps=400, measured=12, step_sizes=6),
    "deep": Size(depth=16, width=16, batch=128, steps=2000, measured=40, step_sizes=10),
}
ON_CIFAR = {
    "smoke": ON_DIGITS["smoke"],
    "default": Size(depth=11, width=16, batch=128, steps=1500, measured=15, step_sizes=6),
    "deep": Size(depth=16, width=64, batch=128, steps=15_000, measured=60, step_sizes=10),
}


@dataclass(frozen=True)
class Task:
    """One training: which network, on what, how."""

    normalization: str
    """A normalisation's name, or :data:`NOISE`."""
    learning_rate: float
    seed: int
    setting: Setting

    @property
    def size(self) -> Size:
        """How large it is."""
        sizes = ON_DIGITS if self.setting.data is None else ON_CIFAR
        return sizes[self.setting.profile]

    @property
    def data(self) -> Dataset:
        """What it is trained and tested on."""
        return load(self.setting.data)

    def model(self) -> nn.Module:
        """Return the network, freshly drawn; the same weights for every normalisation."""
        draws = generator(self.seed, "vgg weights")
        channels, height, width = self.data.train.inputs.shape[1:]
        name = "none" if self.normalization == NOISE else self.normalization
        network = vgg(
            (channels, height, width),
            self.data.classes,
            self.size.depth,
            self.size.width,
            normalization=name,
            generator=draws,
        )
        if self.normalization == NOISE:
            for layer in convolutional_layers(network).values():
                convolution = layer.get_submodule("convolution")
                assert isinstance(convolution, nn.Conv2d)
                noise = ActivationNoise(convolution.out_channels, generator=draws)
                layer.normalization = noise
        return network.to(self.setting.device)

    def batches(self) -> ShuffledBatches:
        """Return the batches, the same for every normalisation."""
        train = self.data.train.to(self.setting.device)
        order = generator(self.seed, "vgg batches")
        return ShuffledBatches(train.inputs, train.labels, self.size.batch, order)


def pieces(setting: Setting) -> Sequence[Piece]:
    """Return a training for each normalisation and seed, two at a larger rate, one of noise."""
    rows = [
        *((name, LEARNING_RATE) for name in NORMALIZATIONS),
        *((name, LARGER_RATE) for name in ("none", "batch")),
        (NOISE, LEARNING_RATE),
    ]
    return [
        _training(Task(name, rate, seed, setting)) for seed in setting.seeds for name, rate in rows
    ]


@cache
def load(folder: Path | None) -> Dataset:
    """Return CIFAR-10 from a folder, or else the digits enlarged to 32 by 32.

    Raises:
        DataError: the folder does not hold CIFAR-10.
    """
    if folder is not None:
        return cifar.load_cifar10(folder)
    small = digits.load()
    train, test = (
        replace(part, inputs=digits.enlarged(part.inputs, (1, SIDE, SIDE)))
        for part in (small.train, small.test)
    )
    return Dataset(train, test, small.classes)


def convolutional_layers(model: nn.Module) -> dict[str, nn.Module]:
    """Return the convolutions with what follows them, by name, in order."""
    return {
        f"{stage}.{name}": layer
        for stage, children in model.named_children()
        if stage.startswith("stage")
        for name, layer in children.named_children()
        if name.startswith("layer")
    }


def layers(model: nn.Module) -> Mapping[str, nn.Module]:
    """Return every layer with parameters, in order."""
    return {**convolutional_layers(model), "output": model.get_submodule("output")}


def normalized(names: Sequence[str]) -> Callable[[nn.Module], Mapping[str, nn.Module]]:
    """Return what finds the normalisations of some layers, whose outputs the next ReLU meets."""

    def find(model: nn.Module) -> Mapping[str, nn.Module]:
        return {name: model.get_submodule(f"{name}.normalization") for name in names}

    return find


def _training(task: Task) -> MeteredTraining:
    size = task.size
    often = spread(size.steps, size.measured)
    seldom = geometric(size.steps, min(size.measured, 7))
    in_pairs = frozenset(s + d for s in often for d in (0, 1) if s + d < size.steps)
    meters = {
        "accuracy": Meter(spread(size.steps, 2 * size.measured), accuracy(task.data.test)),
        "moments": Meter(in_pairs, moments(normalized(SHOWN), units=4)),
        "histograms": Meter(seldom, histograms(normalized(SHOWN), unit=0)),
    }
    if task.learning_rate == LEARNING_RATE and task.normalization != NOISE:
        meters |= {
            "shift": Meter(often, covariate_shifts(layers, frozenset(SHOWN))),
            "landscape": Meter(often, landscape(VGG_RANGE, size.step_sizes)),
            "random": Meter(often, random_landscape(VGG_RANGE, size.step_sizes)),
        }
    if task.learning_rate == LEARNING_RATE and task.normalization == "batch":
        examination = theorems(normalized(EXAMINED), EXAMPLES, UNITS, task.seed)
        meters["theorems"] = Meter(frozenset({0, size.steps - 1}), examination)
    return MeteredTraining(
        f"{task.normalization} at learning rate {task.learning_rate:g}, seed {task.seed}",
        {
            "normalization": task.normalization,
            "learning_rate": task.learning_rate,
            "seed": task.seed,
            "data": "digits" if task.setting.data is None else "CIFAR-10",
            "batch_size": size.batch,
            "times": list(step_sizes(1.0, VGG_RANGE, size.step_sizes)),
        },
        Recipe(task.model, task.batches, cross_entropy, task.learning_rate, size.steps),
        meters,
        loss_at=frozenset(range(0, size.steps, max(1, size.steps // 400))),
        seed=task.seed,
    )


EXPERIMENT = Experiment(
    name="vgg",
    title="VGG: training, distributional stability, covariate shift and landscape by normalisation",
    rows=("S-VGG", "S-def-ICS", "S-alg-1", "S-lp", "S-landscape", "S-fig"),
    description=(
        "A VGG network without normalisation, with Batch Normalization, with noise after it, and "
        "with l_p normalisation; plain SGD at learning rate 0.1, two networks at 0.5 besides, and "
        "the standard network with the noise alone. On CIFAR-10 where it is given: default, 11 "
        "layers of weights, 16 channels first, batches of 128, 1500 steps; deep, the paper's "
        "15,000 steps with 16 layers and 64 channels. Else on the digits enlarged to 32 by 32: "
        "default, 11 layers, 8 channels, batches of 64, 400 steps; deep, 16 layers, 16 channels, "
        "2000 steps; smoke, 4 channels and 8 steps. Measured in the parameters, on the step's own "
        "batch."
    ),
    pieces=pieces,
    figures=vgg_figures.figures,
    observations=vgg_observations.observations,
)
