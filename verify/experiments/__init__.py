"""The papers' experiments: each a value that says what is run, drawn and looked for."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from verify.experiments.experiment import Experiment

EXPERIMENTS = {
    "dln": "deep_linear",
    "vgg": "vgg",
    "conditioning": "conditioning",
    "small-batch": "small_batch",
    "cost": "cost",
    "resnet": "resnet",
}
"""The package of each experiment by name."""


class UnknownExperimentError(ValueError):
    """There is no experiment of that name; the message says which there are."""


def names() -> list[str]:
    """Return the names of the experiments, without importing them."""
    return [name for name, module in EXPERIMENTS.items() if find_spec(f"{__name__}.{module}")]


def module_of(name: str) -> str:
    """Return the module of an experiment by name, without importing it.

    Raises:
        UnknownExperimentError: there is none.
    """
    if name not in names():
        raise UnknownExperimentError(
            f"no experiment is called {name!r}; choose one of {', '.join(names())}"
        )
    return f"{__name__}.{EXPERIMENTS[name]}.experiment"


def find(name: str) -> Experiment:
    """Return an experiment by name, importing nothing but its module.

    Raises:
        UnknownExperimentError: there is none.
    """
    experiment: Experiment = import_module(module_of(name)).EXPERIMENT
    return experiment
