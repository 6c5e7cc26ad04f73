"""Figures of trainings by normalisation: loss, landscape, covariate shift, activations.

Each is drawn from what the meters of :mod:`verify.experiments.meters` measured.  What was infinite
is not drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from verify.experiments import figures
from verify.experiments.experiment import Measured, Numbers
from verify.experiments.figures import COLOURS, Style
from verify.experiments.readings import Reader, by_step, having, of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


STYLES = {
    **figures.STYLES,
    "noise alone": Style(COLOURS["blue"], "x", "noise without normalisation"),
}

IN_A_ROW = 3
"""So many panels stand beside each other, to be large enough on a page."""

CEILING = 1e3
"""How far above the largest of the least numbers a range is drawn."""

RANGES = {
    "landscape": ("landscape", "loss_variation", "Loss along the gradient"),
    "predictiveness": (
        "landscape",
        "gradient_predictiveness",
        "Change of the gradient along itself",
    ),
    "random-directions": ("random", "loss_variation", "Loss along a random direction"),
}
"""Of a least and a largest number by step: the meter, the quantity and the title of each figure."""


def curves(
    axes: Axes,
    measured: Measured,
    normalizations: Sequence[str],
    meter: str,
    read: Reader,
    **facts: object,
) -> None:
    """Draw one number by step for each normalisation: mean and range over the seeds."""
    for name in normalizations:
        series = [by_step(n, meter, read) for n in having(measured, normalization=name, **facts)]
        if series:
            steps = sorted(set().union(*series))
            values = [[_drawn(one.get(step, inf)) for step in steps] for one in series]
            figures.mean_and_range(axes, _one_based(steps), values, STYLES[name])


def ranges(
    measured: Measured,
    normalizations: Sequence[str],
    about: str,
    sources: Sequence[str],
    distances: str,
    labels: Mapping[str, str],
    **facts: object,
) -> dict[str, Figure]:
    """Return the figures of :data:`RANGES` by file name, a panel for each normalisation.

    Drawn is the first seed's, up to :data:`CEILING` times the largest least number; ``labels`` are
    the quantities'.
    """
    drawn = {}
    for (file, (meter, quantity, words)), source in zip(RANGES.items(), sources, strict=True):
        ends = {
            name: [by_step(numbers, meter, of(quantity, end)) for end in (0, 1)]
            for name in normalizations
            for numbers in having(measured, normalization=name, **facts)[:1]
        }
        top = CEILING * max((low for lows, _ in ends.values() for low in lows.values()), default=1)
        caption = (
            f"{source}: least to largest over steps of {distances} learning rates, first seed;"
        )
        caption += " cut off at a thousand times the largest least number."
        drawn[file], panels = figures.grid(f"{words}, {about}", caption, len(ends), IN_A_ROW)
        for axes, (name, (lows, highs)) in zip(panels, ends.items(), strict=True):
            low, high = ([min(number, top) for number in end.values()] for end in (lows, highs))
            figures.between(axes, _one_based(list(lows)), low, high, STYLES[name])
            axes.set(xscale="log", yscale="log", xlabel="step + 1 (no unit)")
            axes.set_ylabel(labels[quantity])
            axes.legend(fontsize="small")
        _share_y(panels)
    return drawn


def by_distance(
    measured: Measured, normalizations: Sequence[str], about: str, source: str, **facts: object
) -> Figure:
    """Return a figure of the gradient's change over the step size, at three measured steps."""
    trainings = [(name, having(measured, normalization=name, **facts)) for name in normalizations]
    steps = max((n["landscape"]["steps"] for _, found in trainings for n in found), key=len)
    places = sorted({0, len(steps) // 2, len(steps) - 1})
    figure, panels = figures.new(
        f"Change of the gradient by distance, {about}",
        rf"{source}: $\ell_2$ distance of the gradient from that at a step along it.",
        columns=len(places),
    )
    for axes, place in zip(panels, places, strict=True):
        for name, found in trainings:
            changes = [
                [_drawn(change) for change in n["landscape"]["values"][place]["gradient_changes"]]
                for n in found
                if len(n["landscape"]["steps"]) > place
            ]
            if changes:
                figures.mean_and_range(axes, found[0]["times"], changes, STYLES[name])
        axes.set_xscale("log", base=2)
        axes.set(yscale="log", xlabel="step size (learning rates)")
        axes.set(ylabel="|change of g| (no unit)", title=f"at step {steps[place]}")
    panels[0].legend(fontsize="small")
    return figure


def shifts(
    measured: Measured,
    normalizations: Sequence[str],
    layers: Sequence[str],
    about: str,
    source: str,
    unit: str,
    **facts: object,
) -> Figure:
    """Return a figure of the covariate shift: cosine above, difference below, a column a layer."""
    seeds = sorted({numbers["seed"] for numbers in having(measured, **facts)})
    figure, panels = figures.new(
        f"Internal covariate shift, {about}",
        f"{source}: gradients in a layer's weights before and after the layers before it are"
        f" updated{figures.over_seeds(seeds, figures.MEAN_AND_RANGE)}.",
        rows=2,
        columns=len(layers),
    )
    for layer, above, below in zip(
        layers, panels[: len(layers)], panels[len(layers) :], strict=True
    ):
        curves(above, measured, normalizations, "shift", of(layer, "cosine"), **facts)
        curves(below, measured, normalizations, "shift", of(layer, "difference"), **facts)
        above.set(xscale="log", ylim=(-1.05, 1.05), title=layer, ylabel="cosine of G and G'")
        below.set(xscale="log", yscale="log", xlabel="step + 1 (no unit)")
        below.set_ylabel(f"|G - G'| ({unit})")
    panels[0].legend(fontsize="small")
    return figure


def histograms(
    measured: Measured,
    normalizations: Sequence[str],
    layers: Sequence[str],
    *,
    title: str,
    caption: str,
    **facts: object,
) -> Figure:
    """Return a figure of one unit's distributions over training, a column for each layer.

    Drawn is the first seed's.
    """
    figure, panels = figures.new(title, caption, rows=len(normalizations), columns=len(layers))
    places = iter(panels)
    for name in normalizations:
        for layer in layers:
            axes = next(places)
            for numbers in having(measured, normalization=name, **facts)[:1]:
                _ridge(axes, numbers, layer, STYLES[name].colour)
            axes.set_title(f"{STYLES[name].label}, {layer}", fontsize="small")
            axes.set(xlabel="activation (no unit)", ylabel="step")
    return figure


def _ridge(axes: Axes, numbers: Numbers, layer: str, colour: str) -> None:
    """Draw one density above the other, later steps higher."""
    kept = numbers["histograms"]
    for height, histogram in enumerate(value[layer] for value in kept["values"]):
        edges = np.linspace(histogram["low"], histogram["high"], len(histogram["shares"]) + 1)
        shares = np.asarray(histogram["shares"])
        top = height + 0.9 * shares / shares.max()
        axes.stairs(top, edges, baseline=height, fill=True, color=colour, alpha=0.5)
    axes.set_yticks(range(len(kept["steps"])), [str(step) for step in kept["steps"]])


def _share_y(panels: Sequence[Axes]) -> None:
    limits = [axes.get_ylim() for axes in panels]
    for axes in panels:
        axes.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))


def _drawn(number: float | None) -> float | None:
    return None if number is None or number == inf else number


def _one_based(steps: Sequence[int]) -> list[float]:
    """Return the steps so that the first has a logarithm."""
    return [step + 1.0 for step in steps]
