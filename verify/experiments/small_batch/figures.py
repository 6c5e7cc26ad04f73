"""The figures of the experiment ``small-batch``: training by batch size, and the rates tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from matplotlib.ticker import MaxNLocator

from verify.experiments import figures as frame
from verify.experiments.experiment import Measured, Numbers
from verify.experiments.small_batch.readings import curves, trainings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figures(measured: Measured) -> Mapping[str, Figure]:
    """Return for each network its training, and the learning rates that were tried."""
    drawn = {}
    for network in dict.fromkeys(numbers["network"] for numbers in measured.values()):
        drawn[f"{network}_training"] = training(measured, network)
        drawn[f"{network}_rates"] = rates(measured, network)
    return drawn


def training(measured: Measured, network: str) -> Figure:
    """Test accuracy and training loss by epoch, for each batch size; mean and range over seeds."""
    batches, seeds = _batches(measured, network), _of(measured, network)["runs"]
    figure, axes = frame.new(
        f"{_described(measured, network)}: training by batch size",
        "Share of test images that are recognised after each epoch (left) and mean training loss "
        "of the epoch (right)"
        f"{frame.over_seeds(seeds, frame.LINES_AND_AREAS)}.  Each "
        "method has the learning rate that did best on training images kept back.  A broken line "
        "diverged.",
        rows=len(batches),
        columns=2,
    )
    for batch, left, right in zip(batches, axes[::2], axes[1::2], strict=True):
        for method, numbers in trainings(measured, network, batch).items():
            epochs = list(range(1, numbers["epochs"] + 1))
            style = frame.STYLES[method]
            frame.mean_and_range(left, epochs, curves(numbers, "accuracies"), style)
            frame.mean_and_range(right, epochs, curves(numbers, "losses"), style)
        left.set(ylabel="test accuracy (no unit)", ylim=(-0.02, 1.02))
        right.set(ylabel="training loss (nats)", yscale="log")
        for one in (left, right):
            one.set(title=f"batch {batch}", xlabel="epoch")
            one.xaxis.set_major_locator(MaxNLocator(integer=True))
    frame.legend_below(figure, columns=3)
    return figure


def rates(measured: Measured, network: str) -> Figure:
    """The accuracy on training images kept back by learning rate, for each batch size."""
    batches = _batches(measured, network)
    figure, axes = frame.grid(
        f"{_described(measured, network, is_trial=True)}: learning rates that were tried",
        "Share of training images kept back that are recognised after a short training, by "
        "learning rate; a trial that diverged counts as zero.  The ring is the paper's rate.",
        count=len(batches),
        columns=2,
    )
    for one, batch in zip(axes, batches, strict=True):
        for method, numbers in trainings(measured, network, batch).items():
            style = frame.STYLES[method]
            found = {t["learning_rate"]: _accuracy(t) for t in numbers["trials"]}
            one.plot(*zip(*sorted(found.items()), strict=True), color=style.colour,
                     marker=style.marker, markersize=4, label=style.label)  # fmt: skip
            if numbers["paper"] in found:
                place = numbers["paper"]
                one.plot(place, found[place], marker="o", markersize=11, color=style.colour,
                         fillstyle="none")  # fmt: skip
        one.set(title=f"batch {batch}", xlabel="learning rate (no unit)", xscale="log")
        one.set(ylabel="accuracy (no unit)", ylim=(-0.02, 1.02))
    frame.legend_below(figure, columns=3)
    return figure


def _accuracy(trial: Mapping[str, list[float] | None]) -> float:
    kept = trial["accuracies"]
    return 0.0 if trial["diverged"] is not None or not kept else kept[-1]


def _batches(measured: Measured, network: str) -> list[int]:
    found = {n["batch"] for n in measured.values() if n["network"] == network and "runs" in n}
    return sorted(found, reverse=True)


def _of(measured: Measured, network: str) -> Numbers:
    return next(n for n in measured.values() if n["network"] == network and "runs" in n)


def _described(measured: Measured, network: str, *, is_trial: bool = False) -> str:
    """The network, the data, n and the seeds."""
    some = _of(measured, network)
    seeds = [run["seed"] for run in some["runs"]]
    seeds = seeds[:1] if is_trial else seeds
    told = frame.of_seeds(seeds)
    words = {"dense": "3 x 100 network", "convolutional": "5-layer CNN"}[network]
    return f"{words} on {some['data']}, n = {some['images']}, {told}"
