"""The figures of the experiment ``resnet``: the first step, and training as in Fig. 6 and 7."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from verify.experiments import figures as frame
from verify.experiments.experiment import Measured
from verify.grouping import grouped

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figures(measured: Measured) -> Mapping[str, Figure]:
    """Return the figure of the first step and, for each network trained for epochs, another."""
    drawn = {"first_step": first_step(measured)}
    for number, network in enumerate(networks(measured), start=1):
        runs = by_method(measured, network)
        if all(len(run["test_accuracy"]) > 1 for some in runs.values() for run in some):
            drawn[f"training_{number}"] = training(network, runs)
    return drawn


def networks(measured: Measured) -> list[str]:
    """Return the names of the networks, in order."""
    return list(dict.fromkeys(numbers["network"] for numbers in measured.values()))


def by_method(measured: Measured, network: str) -> dict[str, list[Any]]:
    """Return the runs of a network, one for each seed, by method."""
    runs = (numbers for numbers in measured.values() if numbers["network"] == network)
    return grouped(runs, lambda numbers: numbers["method"])


def first_step(measured: Measured) -> Figure:
    """The loss of the first batch before and after the first step, of every network and method."""
    names = networks(measured)
    seeds = len({numbers["seed"] for numbers in measured.values()})
    data = ", ".join(dict.fromkeys(numbers["data"] for numbers in measured.values()))
    figure, every = frame.grid(
        f"The first step on {data}, {seeds} seed{'s' * (seeds > 1)}",
        "Cross-entropy of the first batch in training mode, before the first step of training "
        "(open) and after it (filled), at the recipe's first learning rate.  One mark a seed.",
        count=len(names),
        columns=2,
    )
    for axes, network in zip(every, names, strict=True):
        runs = by_method(measured, network)
        for place, (method, some) in enumerate(runs.items()):
            style = frame.STYLES[method]
            for filled, when in ((False, "before"), (True, "after")):
                values = [run["first_step"].get(when) for run in some]
                known = [value for value in values if value is not None]
                axes.plot(
                    [place + 0.3 * filled] * len(known),
                    known,
                    linestyle="none",
                    marker=style.marker,
                    color=style.colour,
                    markerfacecolor=style.colour if filled else "white",
                    label=style.label if filled else None,
                )
        (batch,) = {run["batch"] for some in runs.values() for run in some}
        axes.set(title=f"{network}\nn = {batch} images", ylabel="cross-entropy (nats)")
        axes.set(xticks=[], xlabel="method (no unit)", xlim=(-0.5, len(runs)))
    frame.legend_below(figure, columns=2)
    return figure


def training(network: str, runs: Mapping[str, list[Any]]) -> Figure:
    """Training loss and test accuracy by epoch, the mean and the range over seeds."""
    longest = max(runs.values(), key=len)
    seeds = len(longest)
    data = next(iter(runs.values()))[0]["data"]
    figure, (losses, accuracies) = frame.new(
        f"{network} on {data}, {seeds} seed{'s' * (seeds > 1)}",
        "Mean training loss of each epoch and share of test images that are recognised after it"
        f"{frame.over_seeds(longest, frame.LINES_AND_AREAS)}.",
        columns=2,
    )
    for method, some in runs.items():
        for axes, what in ((losses, "training_loss"), (accuracies, "test_accuracy")):
            series = [run[what] for run in some]
            epochs = range(1, len(series[0]) + 1)
            frame.mean_and_range(axes, list(epochs), series, frame.STYLES[method])
    losses.set(xlabel="epoch", ylabel="training loss (nats)", yscale="log")
    accuracies.set(xlabel="epoch", ylabel="test accuracy (no unit)")
    frame.legend_below(figure, columns=4)
    return figure
