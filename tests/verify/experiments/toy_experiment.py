"""A small experiment whose every step depends on all before it, for the tests of the frame."""

from dataclasses import replace

import torch

from verify.experiments import figures
from verify.experiments.experiment import Experiment, Observation, Setting

STEPS = 6


class Descent:
    """Noisy descent with momentum: it depends on a generator, vectors and what was measured."""

    def __init__(self, seed):
        self.name, self.steps, self.done = f"descent [noisy], seed {seed}", STEPS, 0
        self.generator = torch.Generator().manual_seed(seed)
        self.x, self.momentum = self.drawn(), torch.zeros(3)
        self.losses = []

    def drawn(self):
        return torch.randn(3, generator=self.generator)

    def step(self):
        at = self.x + self.drawn()
        self.momentum = 0.9 * self.momentum + 2 * at
        self.x = self.x - 0.1 * self.momentum
        self.losses.append(at.square().sum().item())
        self.done += 1

    def state_dict(self):
        own = {name: getattr(self, name) for name in ("done", "x", "momentum", "losses")}
        return {"own": own, "generator": self.generator.get_state()}

    def load_state_dict(self, state):
        vars(self).update(state["own"])
        self.generator.set_state(state["generator"])

    def numbers(self):
        return {"loss": self.losses, "mean": sum(self.losses) / len(self.losses), "none": None}


def draw(measured):
    losses = [numbers["loss"] for numbers in measured.values()]
    steps = list(range(1, len(losses[0]) + 1))
    title = f"Noisy descent, {len(losses)} seeds, n = 1 & <two>"
    figure, [axes] = figures.new(title, "Loss of each step.")
    figures.mean_and_range(axes, steps, losses, figures.STYLES["batch"])
    axes.set(xlabel="step", ylabel="loss (no unit)")
    return {"loss": figure}


def observe(measured):
    first, last = ([n["loss"][place] for n in measured.values()] for place in (0, -1))
    found = f"{sum(first):.3g} at first, {sum(last):.3g} at last"
    return [
        Observation("S-toy, Fig. 0", "the loss [falls]", "last < first", last < first, found),
        Observation("S-toy, Fig. 1", "it rises", "last > 1e9", max(last) > 1e9, found),
        Observation("S-toy, Fig. 2", "it generalises", "needs test data", None, "no test data"),
    ]


EXPERIMENT = Experiment(
    name="toy",
    title="Noisy descent",
    rows=("S-toy",),
    description="Three numbers fall.\n\nIn the paper there were more.",
    pieces=lambda setting: [Descent(seed) for seed in setting.seeds],
    figures=draw,
    observations=observe,
)
WITHOUT_FIGURES = replace(EXPERIMENT, figures=lambda measured: {})
SETTING = Setting("smoke", (0, 1))
