r"""How Lange, Helfrich and Ye 2022 train their residual networks, as values.

Source: sect. 5, "Residual Networks", and App. B (Table 3).  Said there for all: momentum 0.9,
batches of 128 and of 256 (ResNet-18), learning rates divided by 10 at epochs 80 and 120
(CIFAR-10), 150 and 220 (CIFAR-100), 30, 60 and 90 (ImageNet).  Not said, and taken here:

- how many epochs there are in all: 164 (He et al. 2016a, 64,000 iterations), 300 (Han et al. 2016)
  and 100;
- by how much learning rates are divided on CIFAR: by 10, as in He et al. 2016a;
- the weight decay of GN and of BNP alone, and their warm-up on CIFAR where it is not said: 1e-4,
  and for BNP that of BN;
- which of "1 or 2 epochs" the linear warm-up takes: 1;
- the scale of the weights for BNP alone: that of BNP+GN, since at scale 1 the maps of a network
  without normalisation grow with every block; and of ResNet-18: 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MOMENTUM = 0.9
COLD = 0.01
"""The learning rate that a warm-up begins with."""

NORMALIZATIONS = {"batch": "batch", "group": "group", "bnp": "none", "group+bnp": "group"}
"""The network's normalisation, by the method: BNP is no part of the network."""

PRECONDITIONED = ("bnp", "group+bnp")
"""The methods of which BNP is a part."""


@dataclass(frozen=True)
class Recipe:
    """What differs between the methods.

    Args:
        learning_rate: after the warm-up and before the first decay.
        weight_decay: added to every gradient, times the weight.
        cold_steps: steps at the learning rate :data:`COLD` before it jumps.
        warm_up_epochs: in which it grows linearly from :data:`COLD`.
        scale: what the He-Normal weights are multiplied by.
    """

    learning_rate: float = 0.1
    weight_decay: float = 1e-4
    cold_steps: int = 0
    warm_up_epochs: float = 0
    scale: float = 1.0


@dataclass(frozen=True)
class Family:
    """A network with its data, and how each method trains it.

    Args:
        data: "cifar10", "cifar100" or "imagenet".
        shape: of an image, (channel, height, width).
        classes: number of labels.
        batch: images in a batch.
        decays: epochs at which the learning rate is divided by 10.
        epochs: in all.
        group_size: channels to a group in Group Normalization.
        recipes: by method; a method that paper L does not try has none.
    """

    data: str
    shape: tuple[int, int, int]
    classes: int
    batch: int
    decays: tuple[int, ...]
    epochs: int
    group_size: int
    recipes: Mapping[str, Recipe]

    def learning_rate(self, method: str, step: int, steps_per_epoch: int) -> float:
        """Return the learning rate of a step, counted from 0.

        >>> [FAMILIES["ResNet-110"].learning_rate("batch", step, 390) for step in (399, 400)]
        [0.01, 0.1]
        """
        recipe, epoch = self.recipes[method], step / steps_per_epoch
        if step < recipe.cold_steps:
            return min(COLD, recipe.learning_rate)
        if epoch < recipe.warm_up_epochs:
            return COLD + (recipe.learning_rate - COLD) * epoch / recipe.warm_up_epochs
        return recipe.learning_rate / 10 ** sum(epoch >= decay for decay in self.decays)


FAMILIES = {
    "ResNet-110": Family(
        data="cifar10",
        shape=(3, 32, 32),
        classes=10,
        batch=128,
        decays=(80, 120),
        epochs=164,
        group_size=4,
        recipes={
            "batch": Recipe(cold_steps=400),
            "group": Recipe(warm_up_epochs=1),
            "bnp": Recipe(cold_steps=400, scale=0.1),
            "group+bnp": Recipe(warm_up_epochs=1, weight_decay=1.5e-4, scale=0.1),
        },
    ),
    "pre-activation ResNet-110": Family(
        data="cifar100",
        shape=(3, 32, 32),
        classes=100,
        batch=128,
        decays=(150, 220),
        epochs=300,
        group_size=4,
        recipes={
            "batch": Recipe(cold_steps=400),
            "group": Recipe(warm_up_epochs=1),
            "bnp": Recipe(learning_rate=1e-2, cold_steps=400, scale=0.4),
            "group+bnp": Recipe(warm_up_epochs=1, weight_decay=2e-4, scale=0.4),
        },
    ),
    "ResNet-18": Family(
        data="imagenet",
        shape=(3, 224, 224),
        classes=1000,
        batch=256,
        decays=(30, 60, 90),
        epochs=100,
        group_size=32,
        recipes={
            "batch": Recipe(),
            "group": Recipe(),
            "group+bnp": Recipe(weight_decay=8.5e-4),
        },
    ),
}
"""By the name of the paper's network."""

NOISY_DIGITS = "digits with noise"
TRAINED_HERE = "ResNet-8"
"""The network that is trained to its end on a machine without a GPU."""

EVERY_FAMILY = {
    **FAMILIES,
    TRAINED_HERE: Family(
        data=NOISY_DIGITS,
        shape=(1, 16, 16),
        classes=10,
        batch=64,
        decays=(20, 30),
        epochs=40,
        group_size=4,
        recipes={
            "batch": Recipe(warm_up_epochs=1),
            "group": Recipe(warm_up_epochs=1),
            "bnp": Recipe(warm_up_epochs=1),
            "group+bnp": Recipe(warm_up_epochs=1, weight_decay=1.5e-4, scale=0.1),
        },
    ),
}
"""By the name of the network; what is trained here has the recipe of ResNet-110, with its epochs
divided by four, one epoch for every warm-up, and for BNP alone weights at scale 1: three blocks do
not make their maps grow."""
