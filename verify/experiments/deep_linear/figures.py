"""The figures of the experiment ``dln``: Fig. 3b, 6b, 8, 9, 10b, 12 and 13b of the paper.

Source: Santurkar et al. 2018.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from verify.experiments import figures as drawing
from verify.experiments.experiment import Measured
from verify.experiments.landscape import figures as landscape_figures
from verify.experiments.landscape.figures import curves
from verify.experiments.readings import having, of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EVERY = ("none", "batch", "l1", "l2", "linf")
TWO = ("none", "batch")
LEARNING_RATE = 1e-6
TRAINING = {"kind": "training"}
LAYERS = ("layer5", "layer15", "layer25")
LOSS = "sum of squared errors (no unit)"
STEP = "step + 1 (no unit)"


def figures(measured: Measured) -> Mapping[str, Figure]:
    """Return the figures by file name."""
    about = _about(measured)
    return {
        "training": _training(measured, about),
        "covariate-shift": landscape_figures.shifts(
            measured, TWO, LAYERS, about, "Fig. 3b, 6b", "no unit", **TRAINING
        ),
        **landscape_figures.ranges(
            measured,
            EVERY,
            about,
            ("Fig. 9a, 12b", "Fig. 9b, 12c", "sect. 3.2"),
            "1/100 to 30",
            {"loss_variation": LOSS, "gradient_predictiveness": "|change of g|"},
            **TRAINING,
        ),
        "smoothness": _smoothness(measured, about),
        "predictiveness-by-distance": landscape_figures.by_distance(
            measured, TWO, about, "Fig. 10b", **TRAINING
        ),
        "activations": landscape_figures.histograms(
            measured,
            TWO,
            LAYERS,
            title=f"Activations of a unit of a layer, {about}",
            caption="Fig. 8: distribution over the 1000 inputs at steps of training, first seed; "
            "each scaled to one height.",
            **TRAINING,
        ),
        "deviations": _deviations(measured, about),
        "learning-rates": _learning_rates(measured),
    }


def _seeds(measured: Measured) -> list[int]:
    return sorted({numbers["seed"] for numbers in having(measured, **TRAINING)})


def _about(measured: Measured) -> str:
    return f"deep linear network, n = 1000, {drawing.of_seeds(_seeds(measured))}"


def _training(measured: Measured, about: str) -> Figure:
    figure, (axes,) = drawing.new(
        f"Training, {about}", "Fig. 12a, 13b: learning rate $10^{-6}$, full batch."
    )
    curves(axes, measured, EVERY, "loss", of(), **TRAINING)
    axes.set(xscale="log", yscale="log", xlabel=STEP, ylabel=LOSS)
    axes.legend()
    return figure


def _smoothness(measured: Measured, about: str) -> Figure:
    figure, (axes,) = drawing.new(
        f"Effective smoothness, {about}",
        "Fig. 9c, 12d: largest change of the gradient over the distance moved along it, at 1/100 "
        "to 30 learning rates; on a parabola descent is stable below 2 / learning rate.",
    )
    curves(axes, measured, EVERY, "landscape", of("effective_smoothness"), **TRAINING)
    axes.axhline(2 / LEARNING_RATE, color="grey", linestyle=":", label="2 / learning rate")
    axes.set(xscale="log", yscale="log", xlabel=STEP, ylabel="effective smoothness (no unit)")
    axes.legend()
    return figure


def _deviations(measured: Measured, about: str) -> Figure:
    figure, panels = drawing.new(
        f"Deviation of a layer's outputs before normalisation, {about}",
        "Fig. 8 and the first version's sect. 3.3: median over the units of a layer.",
        columns=len(LAYERS),
    )
    for axes, layer in zip(panels, LAYERS, strict=True):
        curves(axes, measured, EVERY, "deviations", of(layer), **TRAINING)
        axes.set(xscale="log", yscale="log", xlabel=STEP, title=layer)
        axes.set_ylabel("standard deviation (no unit)")
    panels[0].legend(fontsize="small")
    return figure


def _learning_rates(measured: Measured) -> Figure:
    seeds = sorted({numbers["seed"] for numbers in having(measured, kind="trial")})
    figure, (axes,) = drawing.new(
        f"Loss by learning rate, deep linear network, n = 1000, {drawing.of_seeds(seeds)}",
        "What is missing diverged.",
    )
    for name in TWO:
        trials = sorted(
            having(measured, kind="trial", normalization=name), key=lambda n: n["learning_rate"]
        )
        rates = [trial["learning_rate"] for trial in trials]
        ends = [None if t["diverged"] is not None else t["loss"]["values"][-1] for t in trials]
        if rates:
            drawing.mean_and_range(axes, rates, [ends], drawing.STYLES[name])
    axes.set(
        xscale="log", yscale="log", xlabel="learning rate (no unit)", ylabel=f"last loss, {LOSS}"
    )
    axes.legend()
    return figure
