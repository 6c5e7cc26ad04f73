"""The figures of the experiment ``vgg``: Fig. 1, 2, 3a, 4, 6a, 7, 10a, 11, 13a and 14 of the paper.

Source: Santurkar et al. 2018.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from verify.experiments import figures as drawing
from verify.experiments.experiment import Measured
from verify.experiments.landscape import figures as landscape_figures
from verify.experiments.landscape.figures import STYLES, curves
from verify.experiments.readings import having, moment_changes, of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EVERY = ("none", "batch", "noisy-batch", "l1", "l2", "linf")
NOISE = "noise alone"
LAYERS = ("stage2.layer1", "stage4.layer1", "stage5.layer2")
MAIN = {"learning_rate": 0.1}
LARGER = {"learning_rate": 0.5}
LOSS = "cross-entropy (nats)"
STEP = "step + 1 (no unit)"


def figures(measured: Measured) -> Mapping[str, Figure]:
    """Return the figures by file name."""
    about = _about(measured)
    return {
        "training": _training(measured, about),
        "accuracy": _accuracy(measured, about),
        "moments": _moments(measured, about),
        "activations": landscape_figures.histograms(
            measured,
            EVERY,
            LAYERS,
            title=f"Activations of a channel after normalisation, {about}",
            caption="Fig. 1c, 2, 14: distribution over images, rows and columns at steps of "
            "training, first seed; each scaled to one height.",
            **MAIN,
        ),
        "covariate-shift": landscape_figures.shifts(
            measured,
            ("none", "batch"),
            LAYERS,
            about,
            "Fig. 3a, 6a",
            "nats",
            **MAIN,
        ),
        **landscape_figures.ranges(
            measured,
            EVERY,
            about,
            ("Fig. 4a, 11b", "Fig. 4b, 11c", "Sect. 3.2"),
            "1/2 to 4",
            {"loss_variation": LOSS, "gradient_predictiveness": "|change of g| (nats)"},
            **MAIN,
        ),
        "smoothness": _smoothness(measured, about),
        "predictiveness-by-distance": landscape_figures.by_distance(
            measured, ("none", "batch"), about, "Fig. 10a", **MAIN
        ),
    }


def _seeds(measured: Measured) -> list[int]:
    return sorted({numbers["seed"] for numbers in measured.values()})


def _about(measured: Measured) -> str:
    one = next(iter(measured.values()))
    told = drawing.of_seeds(_seeds(measured))
    return f"VGG on {one['data']}, batches of {one['batch_size']}, {told}"


def _training(measured: Measured, about: str) -> Figure:
    figure, panels = drawing.new(
        f"Training loss, {about}",
        "Fig. 1a, 2, 11a, 13a: of each step's batch"
        f"{drawing.over_seeds(_seeds(measured), drawing.MEAN_AND_RANGE)}.",
        columns=2,
    )
    curves(panels[0], measured, (*EVERY, NOISE), "loss", of(), **MAIN)
    curves(panels[1], measured, ("none", "batch"), "loss", of(), **LARGER)
    for axes, rate in zip(panels, (MAIN, LARGER), strict=True):
        axes.set(yscale="log", xlabel=STEP, ylabel=LOSS)
        axes.set_title(f"learning rate {rate['learning_rate']:g}")
    drawing.legend_below(figure, columns=3)
    return figure


def _accuracy(measured: Measured, about: str) -> Figure:
    figure, panels = drawing.new(
        f"Accuracy, {about}",
        "Fig. 1a, 1b, 13a: of each step's batch in training mode, and of images kept back in "
        f"evaluation mode{drawing.over_seeds(_seeds(measured), drawing.MEAN_AND_RANGE)}.",
        columns=2,
        rows=2,
    )
    places = iter(panels)
    for rate, names in ((MAIN, (*EVERY, NOISE)), (LARGER, ("none", "batch"))):
        for kind, words in (("batch", "training batches"), ("test", "test images")):
            axes = next(places)
            curves(axes, measured, names, "accuracy", of(kind), **rate)
            axes.set(xlabel=STEP, ylabel="share recognised (no unit)", ylim=(0, 1.02))
            axes.set_title(f"{words}, learning rate {rate['learning_rate']:g}", fontsize="small")
    drawing.legend_below(figure, columns=3)
    return figure


def _moments(measured: Measured, about: str) -> Figure:
    figure, panels = drawing.new(
        f"Change of an activation's moments from a step to the next, {about}",
        "Fig. 7: after normalisation; mean over four channels of a layer"
        f"{drawing.over_seeds(_seeds(measured), ', then mean and range over seeds')}.",
        rows=2,
        columns=len(LAYERS),
    )
    places = iter(panels)
    for moment in ("means", "variances"):
        for layer in LAYERS:
            axes = next(places)
            for name in EVERY:
                found = [
                    moment_changes(numbers, layer, moment)
                    for numbers in having(measured, normalization=name, **MAIN)
                ]
                steps = sorted(set.intersection(*map(set, found))) if found else []
                if steps:
                    series = [[one[step] for step in steps] for one in found]
                    at = [step + 1 for step in steps]
                    drawing.mean_and_range(axes, at, series, STYLES[name])
            axes.set(xscale="log", yscale="log", xlabel=STEP, title=layer)
            axes.set_ylabel(f"|change of the {moment[:-1]}| (no unit)")
    drawing.legend_below(figure, columns=3)
    return figure


def _smoothness(measured: Measured, about: str) -> Figure:
    figure, (axes,) = drawing.new(
        f"Effective smoothness, {about}",
        "Fig. 4c, 11d: largest change of the gradient over the distance moved along it, at 1/2 to "
        "4 learning rates.",
    )
    curves(axes, measured, EVERY, "landscape", of("effective_smoothness"), **MAIN)
    axes.set(xscale="log", yscale="log", xlabel=STEP, ylabel="effective smoothness (nats)")
    axes.legend(fontsize="small")
    return figure
