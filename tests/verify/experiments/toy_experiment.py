"""A small experiment whose every step depends on all before it, for the tests of the frame."""

from dataclasses import replace

import torch

from verify.experiments import figures
from verify.experiments.experiment import Experiment, Observation, Setting

STEPS = 6


class Descent:
    """Noisy descent with momentum: it depends on a generator, a vector and what was measured."""

    def __init__(self, seed, steps=STEPS):
        self.name, self.steps, self.done = f"descent [noisy], seed {seed}", steps, 0
        self.generator = torch.Generator().manual_seed(seed)
        self.x = torch.randn(3, generator=self.generator, dtype=torch.float64).requires_grad_()
        self.optimizer = torch.optim.SGD([self.x], lr=0.1, momentum=0.9)
        self.losses = []

    def step(self):
        noise = torch.randn(3, generator=self.generator, dtype=torch.float64)
        loss = (self.x + noise).square().sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.losses.append(loss.item())
        self.done += 1

    def state_dict(self):
        return {
            "done": self.done,
            "generator": self.generator.get_state(),
            "x": self.x.detach(),
            "optimizer": self.optimizer.state_dict(),
            "losses": self.losses,
        }

    def load_state_dict(self, state):
        self.done, self.losses = state["done"], state["losses"]
        self.generator.set_state(state["generator"])
        self.x.data.copy_(state["x"])
        self.optimizer.load_state_dict(state["optimizer"])

    def numbers(self):
        return {"loss": self.losses, "mean": sum(self.losses) / len(self.losses), "none": None}


def pieces(setting):
    return [Descent(seed) for seed in setting.seeds]


def draw(measured):
    losses = [numbers["loss"] for numbers in measured.values()]
    steps = list(range(1, len(losses[0]) + 1))
    title = f"Noisy descent, {len(losses)} seeds, n = 1 & <two>"
    figure, [axes] = figures.new(title, "Loss of each step.")
    figures.mean_and_range(axes, steps, losses, figures.STYLES["batch"])
    axes.set(xlabel="step", ylabel="loss (no unit)")
    axes.legend()
    return {"loss": figure}


def observe(measured):
    last = [numbers["loss"][-1] for numbers in measured.values()]
    first = [numbers["loss"][0] for numbers in measured.values()]
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
    pieces=pieces,
    figures=draw,
    observations=observe,
)
WITHOUT_FIGURES = replace(EXPERIMENT, figures=lambda measured: {})
SETTING = Setting("smoke", (0, 1))
