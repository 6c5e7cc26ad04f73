r"""The experiment ``resnet``: the residual networks of Lange, Helfrich and Ye 2022, sect. 5.

ResNet-110 on CIFAR-10, its pre-activation version on CIFAR-100 and ResNet-18 on ImageNet, each
with Batch Normalization, with Group Normalization, with BNP alone and with BNP on a network with
Group Normalization (BNP+GN), by the recipes of :mod:`verify.experiments.resnet.recipes`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from torch import nn

from theory.nn.networks.resnet import preactivation_resnet, resnet, resnet18
from verify.datasets.dataset import DataError
from verify.datasets.presence import is_there
from verify.experiments.experiment import Experiment, Piece, Setting
from verify.experiments.resnet import figures as resnet_figures
from verify.experiments.resnet import observations as resnet_observations
from verify.experiments.resnet.data import Source, source
from verify.experiments.resnet.recipes import (
    EVERY_FAMILY,
    FAMILIES,
    NORMALIZATIONS,
    TRAINED_HERE,
    Family,
)
from verify.experiments.resnet.theorems import examined
from verify.experiments.resnet.training import Examination, ResNetTraining, Training
from verify.wording import plural


@dataclass(frozen=True, eq=False)
class Subject:
    """A network of one size.

    Args:
        name: of this size.
        family: the paper's network, by whose recipes it is trained.
        make: returns the network; takes shape, classes, normalization, group_size, scale and
            generator.
        shape: of an image, (channel, height, width).
        batch: images in a batch.
        group_size: channels to a group.
    """

    name: str
    family: Family
    make: Callable[..., nn.Module]
    shape: tuple[int, int, int]
    batch: int
    group_size: int
    least_seeds: int = 1
    """It is trained from so many seeds, or more if they are asked for."""

    def source(self, folder: Path | None, device: str) -> Source:
        """Return the images that it is trained on.

        Raises:
            DataError: a data set is there, and damaged, or smaller than a batch.
        """
        family = self.family
        found = source(family.data, self.shape, family.classes, folder, device)
        if len(found) < self.batch:
            raise DataError(
                f"{folder} has {plural(len(found), 'image')} of {family.data} to train on;"
                f" {self.name} takes {self.batch} in a batch: give as many or more"
            )
        return found

    def training(
        self,
        method: str,
        images: Callable[[], Source],
        device: str,
        examination: Examination | None = None,
    ) -> Training:
        """Return how a method trains it."""
        make = partial(
            self.make,
            self.shape,
            self.family.classes,
            normalization=NORMALIZATIONS[method],
            group_size=self.group_size,
            scale=self.family.recipes[method].scale,
        )
        return Training(
            network=self.name,
            method=method,
            family=self.family,
            model=lambda generator: make(generator=generator),
            source=images,
            batch=self.batch,
            device=device,
            examination=examination,
        )


def _of_the_paper(name: str, make: Callable[..., nn.Module]) -> Subject:
    family = FAMILIES[name]
    return Subject(name, family, make, family.shape, family.batch, family.group_size)


SUBJECTS = (
    _of_the_paper("ResNet-110", resnet),
    _of_the_paper("pre-activation ResNet-110", preactivation_resnet),
    _of_the_paper("ResNet-18", resnet18),
)
"""At the paper's sizes."""

TRAINED = Subject(
    TRAINED_HERE,
    EVERY_FAMILY[TRAINED_HERE],
    partial(resnet, blocks=1),
    EVERY_FAMILY[TRAINED_HERE].shape,
    EVERY_FAMILY[TRAINED_HERE].batch,
    EVERY_FAMILY[TRAINED_HERE].group_size,
    least_seeds=3,
)
"""Small enough for all of its epochs, whatever the machine."""

SMALL_SUBJECTS = (
    Subject(
        "ResNet-8 in colour", FAMILIES["ResNet-110"], partial(resnet, blocks=1), (3, 32, 32), 96, 4
    ),
    Subject(
        "pre-activation ResNet-8",
        FAMILIES["pre-activation ResNet-110"],
        partial(preactivation_resnet, blocks=1),
        (3, 32, 32),
        96,
        4,
    ),
    Subject(
        "ResNet-18, an eighth as wide",
        FAMILIES["ResNet-18"],
        partial(resnet18, width=8),
        (3, 64, 64),
        96,
        8,
    ),
)
"""Of the same families, for the profile "smoke"."""


def pieces(setting: Setting) -> Sequence[Piece]:
    """Return one training for each network, method and seed.

    Raises:
        DataError: the user's folder has none of the data sets, or a damaged one.
    """
    made: list[Piece] = []
    check_data(setting.data)
    for subject in SMALL_SUBJECTS if setting.profile == "smoke" else (*SUBJECTS, TRAINED):
        images = cache(partial(subject.source, setting.data, setting.device))
        steps = _steps(subject, images, setting)
        seeds = setting.seeds
        if len(seeds) < subject.least_seeds:
            seeds = tuple(range(seeds[0], seeds[0] + subject.least_seeds))
        for seed in seeds:
            for method in subject.family.recipes:
                examination = examined if seed == seeds[0] else None
                training = subject.training(method, images, setting.device, examination)
                made.append(ResNetTraining(training, seed, steps))
    return made


def check_data(folder: Path | None) -> None:
    """Warn of data sets that the user's folder has not; raise a DataError if it has none."""
    if folder is None:
        return
    missing = [f.data for f in FAMILIES.values() if not is_there(f.data, folder)]
    if len(missing) == len(FAMILIES):
        raise DataError(f"{folder} has none of {', '.join(missing)}; name the folder that has one")
    if missing:
        warnings.warn(
            f"{folder} has no {', no '.join(missing)}; what is trained on that takes one step on "
            "the embedded digits",
            stacklevel=2,
        )


def _steps(subject: Subject, images: Callable[[], Source], setting: Setting) -> int:
    """The epochs asked for, or in the profile "deep" the paper's, of the user's data; else one."""
    if subject is TRAINED:
        return subject.family.epochs * (len(images()) // subject.batch)
    paper = subject.family.epochs if setting.profile == "deep" else 0
    epochs = paper if setting.epochs is None else setting.epochs
    if epochs == 0 or not images().is_given:
        return 1
    return epochs * (len(images()) // subject.batch)


DESCRIPTION = """\
Each of ResNet-110, its pre-activation version and ResNet-18 is drawn and trained with Batch
Normalization, Group Normalization, BNP alone and BNP+GN by the paper's recipe: momentum 0.9, its
learning rates, warm-up, weight decay, batch and group sizes, scale of the weights and augmentation.
The paper does not try BNP alone on ResNet-18.

Smoke: one step of small networks of the same families (8 layers; ResNet-18 an eighth as wide).

Default: one real step of every network and method at the paper's sizes, batches included, on the
user's CIFAR-10, CIFAR-100 and ImageNet where they are given, else on the embedded digits, enlarged,
without augmentation.  One step says that every method runs at that size, and nothing of how fast it
converges: what the paper observes cannot be told from it.

And, as deep, a residual network of 8 layers, trained to its end from three seeds at least by the
recipe of ResNet-110 with a quarter of its epochs (40; the learning rate falls at 20 and 30), on the
embedded digits with noise of deviation 0.4 of the range of intensities, enlarged to 16 by 16: that
is hard enough for a decay of the learning rate to show, and small enough for a processor.

Deep: with data, all of the paper's epochs, which take a GPU; without, as default.  With data, the
option epochs asks for another number of epochs in any profile.  On several GPUs torchrun starts the
module verify.experiments.resnet.distributed.
"""


EXPERIMENT = Experiment(
    name="resnet",
    title="Residual networks with BN, GN, BNP and BNP+GN",
    rows=("L-fig-6-7",),
    description=DESCRIPTION,
    pieces=pieces,
    figures=resnet_figures.figures,
    observations=resnet_observations.observations,
    takes_epochs=True,
)
