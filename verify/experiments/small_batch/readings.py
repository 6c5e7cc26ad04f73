"""Reading what the experiment ``small-batch`` measured: means over seeds, by method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from verify.experiments.experiment import Measured, Numbers

Series = Sequence[float | None]


def trainings(measured: Measured, network: str, batch: int) -> dict[str, Numbers]:
    """Return the pieces of a network and batch size by method."""
    return {
        numbers["method"]: numbers
        for numbers in measured.values()
        if "runs" in numbers and (numbers["network"], numbers["batch"]) == (network, batch)
    }


def curves(numbers: Numbers, what: str) -> list[Series]:
    """Return ``"losses"`` or ``"accuracies"`` of each seed, None after it diverged.

    >>> runs = [{"losses": [2.0, 1.0]}, {"losses": [3.0]}]
    >>> curves({"epochs": 2, "runs": runs}, "losses")
    [[2.0, 1.0], [3.0, None]]
    """
    epochs = numbers["epochs"]
    series = [list(run[what]) for run in numbers["runs"]]
    return [some + [None] * (epochs - len(some)) for some in series]


def last(numbers: Numbers) -> list[float]:
    """Return the test accuracy of each seed after its last epoch, zero where it diverged."""
    return [some[-1] or 0.0 for some in curves(numbers, "accuracies")]


def average(numbers: Numbers) -> list[float]:
    """Return the test accuracy of each seed as a mean over epochs: higher if it rises sooner."""
    return [fmean(value or 0.0 for value in some) for some in curves(numbers, "accuracies")]


def means(of_methods: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return the mean over seeds by method.

    >>> means({"bnp": [0.5, 1.0]})
    {'bnp': 0.75}
    """
    return {method: fmean(values) for method, values in of_methods.items()}
