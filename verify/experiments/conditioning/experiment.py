r"""The experiment ``conditioning``: Figure 8 of paper L.

The 2 x 100 network, vanilla and with BNP, in batches of 60 by plain stochastic gradient descent at
the paper's learning rates (App. B, Table 2).  On the way, for the first unit of the output layer:
the condition numbers of the Hessian in its bias and weights, of the centred one, of the
preconditioned one, and of D.  Once for the batch of the step, as in the paper, where no more than
60 of 101 eigenvalues differ from zero; and once for 240 images, where the matrix of the inputs can
have full column rank, as Theorem 4 wants it.

Source: Lange, Helfrich and Ye 2022, sect. 5.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from theory import preconditioning
from theory.nn.measures.conditioning import condition_number, condition_numbers, unit_of
from theory.nn.networks.dense import dense
from verify.datasets.dataset import Images
from verify.experiments import theorems
from verify.experiments.classifier_training import ClassifierTraining, Recipe, normalization_of
from verify.experiments.conditioning import figures as conditioning_figures
from verify.experiments.conditioning import observations as conditioning_observations
from verify.experiments.conditioning.random_batches import RandomBatches
from verify.experiments.examined import KEY
from verify.experiments.experiment import Experiment, Piece, Setting
from verify.experiments.metered_training import Meter, Moment
from verify.experiments.small_batch.experiment import load
from verify.experiments.small_batch.learning_rates import printed

HIDDEN = (100, 100)
BATCH = 60
METHODS = ("none", "bnp")
MANY = 240
OUTPUT, UNIT = "output", 0
"""The layer and the unit of which the Hessian is taken."""


@dataclass(frozen=True)
class Profile:
    """How much is run."""

    images: int
    epochs: int
    measured: int
    """At so many steps, evenly spaced; no more than there are."""
    examined_images: int
    """On so many statements are examined, before the first and the last step."""
    random_batches: int
    """Of each size and law, without any training."""


PROFILES = {
    "smoke": Profile(images=480, epochs=3, measured=12, examined_images=120, random_batches=40),
    "default": Profile(
        images=10**9, epochs=20, measured=120, examined_images=256, random_batches=2000
    ),
    "deep": Profile(
        images=10**9, epochs=50, measured=1200, examined_images=256, random_batches=20_000
    ),
}


class ConditionedTraining(ClassifierTraining):
    """A training with a name and its facts, as a piece of this experiment."""

    def __init__(self, recipe: Recipe, seed: int, data: str, profile: Profile) -> None:
        self.name, self.steps = f"{recipe.method}, seed {seed}", recipe.steps
        self.data = data
        examined = recipe.train.first(profile.examined_images)
        many = recipe.train.first(MANY).to(recipe.device)
        steps = frozenset(range(0, recipe.steps, max(recipe.steps // profile.measured, 1)))
        meters = {
            "batch": Meter(steps, lambda at: measured(at, at.inputs, at.targets)),
            "many": Meter(steps, lambda at: measured(at, many.inputs, many.labels)),
            KEY: Meter(frozenset({0, recipe.steps - 1}), lambda at: _examined(at.model, examined)),
        }
        super().__init__(recipe, seed, meters)

    def numbers(self) -> dict[str, Any]:
        """Return what was measured so far, and of what."""
        recipe = self.recipe
        facts = {"method": recipe.method, "data": self.data}
        sizes = {"images": len(recipe.train), "epochs": recipe.epochs}
        return {**facts, **sizes, **super().numbers()}


def pieces(setting: Setting) -> Sequence[Piece]:
    """Return one training for each seed and method, and random batches."""
    profile, name, data = PROFILES[setting.profile], *load(setting)
    train = data.train.first(profile.images)
    test = data.test.first(len(train)) if setting.profile == "smoke" else data.test
    _, channels, height, width = train.inputs.shape

    def recipe(method: str) -> Recipe:
        def build(draws: torch.Generator) -> nn.Module:
            normalization = normalization_of(method, BATCH)
            return dense(
                (channels, height, width), data.classes, HIDDEN,
                normalization=normalization, generator=draws,
            )  # fmt: skip

        rate = printed("dense", name, BATCH, method)
        assert rate is not None
        return Recipe(build, method, train, test, BATCH, rate, profile.epochs, setting.device)

    trainings = [
        ConditionedTraining(recipe(method), seed, name, profile)
        for seed in setting.seeds
        for method in METHODS
    ]
    return [*trainings, RandomBatches(profile.random_batches)]


def measured(at: Moment, inputs: Tensor, labels: Tensor) -> dict[str, Any]:
    r"""Return the condition numbers of the unit on some images.

    Besides those by the batch's deviations, "guarded" and "guarded_scaling" are those of P and D
    with :math:`\tilde\sigma` of Algorithm 2, step 3, from the batch.
    """
    layer = at.model.get_submodule(OUTPUT)
    assert isinstance(layer, nn.Linear)
    H, S = unit_of(at.model, inputs, labels, at.loss, layer, UNIT)
    variances = preconditioning.variances(H)
    deviation = preconditioning.regularized_variance(variances).sqrt()
    guarded = preconditioning.normalized(H, preconditioning.means(H), deviation)
    return {
        **condition_numbers(H, S)._asdict(),
        "guarded": condition_number(guarded, S)[0],
        "guarded_scaling": _scaling(deviation),
        "largest_deviation": float(variances.max().sqrt()),
    }


def _scaling(deviation: Tensor) -> float:
    scales = torch.cat([torch.ones_like(deviation[:1]), 1 / deviation])
    return float(scales.max() / scales.min())


def _examined(model: nn.Module, batch: Images) -> list[dict[str, Any]]:
    layers = {OUTPUT: model.get_submodule(OUTPUT)}
    return theorems.examine(model, batch.inputs, batch.labels, cross_entropy, layers, 1, seed=0)


EXPERIMENT = Experiment(
    name="conditioning",
    title="Condition numbers of a unit's Hessian through training, vanilla and BNP",
    rows=("L-fig-8", "L-prop-2", "L-thm-3", "L-thm-4-remarks"),
    description=(
        "The 2 x 100 network, vanilla and with BNP, in batches of 60, by plain stochastic gradient "
        "descent at the learning rates of paper L, Table 2 (for MNIST where the data are the "
        "digits, which the paper does not use). Measured in float64, for the first output unit: "
        "condition numbers of the Hessian in its bias and weights, of the centred and of the "
        "preconditioned one, and of D, on the step's batch as in Figure 8 and on 240 training "
        "images; with the deviations of the images, and with those guarded by eps_1 and eps_2. "
        "The step's batch has N = 60 examples and its matrix n + 1 = 101 columns: Theorem 4, which "
        "wants full column rank, does not apply to the paper's own figure, whose condition numbers "
        "are over the at most 60 nonzero singular values; there centring can make them worse. How "
        "often it does is counted along the training, and on random batches, wide and tall. "
        "Default: 20 epochs of the digits, or of CIFAR-10 or else MNIST where a folder has it, at "
        "154 steps; deep: 50 epochs, 1200 steps; smoke: 3 epochs of 480 digits, 12 steps."
    ),
    pieces=pieces,
    figures=conditioning_figures.figures,
    observations=conditioning_observations.observations,
    seeds=3,
)
