r"""A classifier trained from several seeds, at a learning rate that was tried out before.

The trials are on the first four fifths of the training images, from the first seed; the rate is the
one whose accuracy on the last fifth is highest, at the least loss where several are, so that no
image for testing chooses it.  Then every seed trains on all training images at this rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from verify.datasets.dataset import Images
from verify.experiments.classifier_training import ClassifierTraining, Recipe
from verify.experiments.metered_training import Meter

VALIDATED = 5
"""One in so many training images is kept back in trials."""


@dataclass(frozen=True, eq=False)
class Plan:
    """What is tried and trained.

    Args:
        recipe: how to train; its learning rate is that of the paper, or of nothing.
        rates: what is tried, at least one.
        trial_epochs: the epochs of a trial.
        seeds: what is trained from, at least one.
        meters: of the training from the first seed.

    Raises:
        ValueError: nothing to try, or no seed.
    """

    recipe: Recipe
    rates: tuple[float, ...]
    trial_epochs: int
    seeds: tuple[int, ...]
    meters: Mapping[str, Meter] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.rates or not self.seeds:
            raise ValueError(
                f"rates = {self.rates} and seeds = {self.seeds}; give at least one of each"
            )

    @property
    def trial(self) -> Recipe:
        """How a trial is trained, at no rate yet."""
        images = self.recipe.train
        kept = len(images) - len(images) // VALIDATED
        validation = Images(images.inputs[kept:], images.labels[kept:])
        return replace(
            self.recipe, train=images.first(kept), test=validation, epochs=self.trial_epochs
        )


class TunedTraining:
    """A piece of an experiment: trials, then trainings.

    Args:
        name: unique in the experiment.
        facts: what tells this piece from the others, as JSON; kept with the numbers.
        plan: what is tried and trained.
    """

    def __init__(self, name: str, facts: Mapping[str, Any], plan: Plan) -> None:
        self.name, self.facts, self.plan = name, facts, plan
        trials, runs = len(plan.rates) * plan.trial.steps, len(plan.seeds) * plan.recipe.steps
        self.steps, self.done = trials + runs, 0
        self.finished: list[dict[str, Any]] = []
        self.current = self._next()

    @property
    def rate(self) -> float | None:
        """The learning rate that was chosen; None before all were tried."""
        trials = self.finished[: len(self.plan.rates)]
        if len(trials) < len(self.plan.rates):
            return None
        chosen: float = max(trials, key=_merit)["learning_rate"]
        return chosen

    def step(self) -> None:
        """Do one step of the training that is due."""
        current = self.current
        current.step()
        self.done += 1
        if current.done == current.recipe.steps:
            self.finished.append(current.numbers())
            if self.done < self.steps:
                self.current = self._next()

    def state_dict(self) -> dict[str, Any]:
        """Return all that the next step depends on, measurements included."""
        return {
            "done": self.done,
            "finished": self.finished,
            "current": self.current.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up where :meth:`state_dict` was taken."""
        self.done, self.finished = state["done"], state["finished"]
        self.current = self._next()
        self.current.load_state_dict(state["current"])

    def numbers(self) -> dict[str, Any]:
        """Return what was measured so far: the trials, the rate, and a run for each seed."""
        trials = len(self.plan.rates)
        return {
            **self.facts,
            "trials": self.finished[:trials],
            "rate": self.rate,
            "runs": self.finished[trials:],
        }

    def _next(self) -> ClassifierTraining:
        number, plan = len(self.finished), self.plan
        if number < len(plan.rates):
            recipe = replace(plan.trial, learning_rate=plan.rates[number])
            return ClassifierTraining(recipe, plan.seeds[0])
        assert self.rate is not None
        recipe = replace(plan.recipe, learning_rate=self.rate)
        place = number - len(plan.rates)
        return ClassifierTraining(recipe, plan.seeds[place], plan.meters if place == 0 else {})


def _merit(trial: Mapping[str, Any]) -> tuple[float, float]:
    """What makes a trial better than another: accuracy, then less loss; divergence is worst."""
    if trial["diverged"] is not None:
        return (-1.0, 0.0)
    return trial["accuracies"][-1], -trial["losses"][-1]
