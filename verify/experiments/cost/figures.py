"""The figures of the experiment ``cost``: time of an epoch by method, and ratios beside Table 1."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import TYPE_CHECKING

from verify.experiments import figures as frame
from verify.experiments.experiment import Measured, Numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLES = {
    "none": frame.STYLES["none"],
    "batch": frame.STYLES["batch"],
    "bnp": frame.STYLES["bnp"],
    "bnp, hidden": frame.Style(frame.COLOURS["sky blue"], "D", "BNP of all layers but the first"),
    "bnp, compiled": frame.Style(frame.COLOURS["orange"], "^", "BNP, compiled"),
}

PRINTED_SECONDS = {
    "batch": {16: 16.08, 256: 10.81, 512: 10.67},
    "bnp": {16: 16.69, 256: 10.70, 512: 10.57},
}
"""Table 1: seconds of an epoch by batch size."""

PRINTED = {
    batch: seconds / PRINTED_SECONDS["batch"][batch]
    for batch, seconds in PRINTED_SECONDS["bnp"].items()
}
"""Table 1: an epoch with BNP over one with BN, by batch size."""


def ratios(numbers: Numbers, method: str) -> list[float]:
    """Return the time of an epoch over that of BN, round by round.

    >>> ratios({"seconds": {"bnp": [3.0, 1.0], "batch": [2.0, 2.0]}}, "bnp")
    [1.5, 0.5]
    """
    pairs = zip(numbers["seconds"][method], numbers["seconds"]["batch"], strict=True)
    return [seconds / of_bn for seconds, of_bn in pairs]


def figures(measured: Measured) -> Mapping[str, Figure]:
    """Return the times and the ratios."""
    return {"epochs": epochs(measured), "ratios": over_bn(measured)}


def epochs(measured: Measured) -> Figure:
    """The time of each epoch, by method, for each batch size."""
    some = list(measured.values())
    figure, axes = frame.new(
        f"Time of an epoch of the 2 x 100 network, {_described(some[0])}",
        "Seconds of each epoch, the methods by turns; times differ between runs.",
        columns=len(some),
    )
    for one, numbers in zip(axes, some, strict=True):
        for method, seconds in numbers["seconds"].items():
            style = STYLES[method]
            one.plot(range(1, len(seconds) + 1), seconds, color=style.colour, marker=style.marker,
                     markersize=4, linewidth=1, label=style.label)  # fmt: skip
        one.set(title=f"batch {numbers['batch']}", xlabel="round", ylabel="time (s)")
        one.set(ylim=(0, None))
    frame.legend_below(figure, columns=4)
    return figure


def over_bn(measured: Measured) -> Figure:
    """The ratio to BN by batch size: medians, quartiles, and Table 1."""
    some = list(measured.values())
    figure, (axes,) = frame.new(
        f"Time of an epoch over that with BN, {_described(some[0])}",
        "Medians over rounds of the time of an epoch over BN's in the same round, bars from the "
        "first to the third quartile; beside them the paper's Table 1, on a V100.",
    )
    for shift, method in enumerate(m for m in STYLES if m in some[0]["seconds"] and m != "batch"):
        style = STYLES[method]
        spread = [quartiles(ratios(numbers, method)) for numbers in some]
        middle = [q[1] for q in spread]
        bars = [[q[1] - q[0] for q in spread], [q[2] - q[1] for q in spread]]
        places = [place + 0.12 * (shift - 1.5) for place in range(len(some))]
        axes.errorbar(places, middle, yerr=bars, color=style.colour, marker=style.marker,
                      linestyle="none", capsize=3, label=style.label)  # fmt: skip
    printed = [PRINTED[numbers["batch"]] for numbers in some]
    axes.plot(range(len(some)), printed, color=frame.COLOURS["vermilion"], marker="x",
              markersize=9, linestyle="none", label="BNP, Table 1")  # fmt: skip
    axes.axhline(1, color="#767676", linewidth=1)
    axes.set_xticks(range(len(some)), [str(numbers["batch"]) for numbers in some])
    axes.set(xlabel="batch size", ylabel="time over BN's (no unit)")
    axes.legend(fontsize="x-small")
    return figure


def quartiles(values: list[float]) -> tuple[float, float, float]:
    """Return the quartiles of at least one number, as medians of the halves.

    >>> quartiles([1.0, 2.0, 3.0, 4.0, 5.0])
    (1.5, 3.0, 4.5)
    """
    ordered = sorted(values)
    half = len(ordered) // 2
    low, high = ordered[:half] or ordered, ordered[-half:] or ordered
    return median(low), median(ordered), median(high)


def _described(numbers: Numbers) -> str:
    rounds = len(numbers["seconds"]["batch"])
    return f"{numbers['images']} images, {rounds} rounds, {numbers['device']}"
