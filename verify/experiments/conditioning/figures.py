"""The figures of the experiment ``conditioning``: the three parts of paper L's Figure 8."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10
from typing import TYPE_CHECKING

from verify.experiments import figures as frame
from verify.experiments.experiment import Measured, Numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAMPLES = {"batch": "the step's batch of 60", "many": "240 images"}
"""On what condition numbers are measured, by the name of the meter."""

WORDS = {"none": "vanilla", "bnp": "BNP"}
DRAWN = {
    "hessian": frame.Style(frame.COLOURS["black"], "o", "the Hessian"),
    "centred": frame.Style(frame.COLOURS["orange"], "v", "centred by U"),
    "preconditioned": frame.Style(frame.COLOURS["blue"], "*", "preconditioned by P = UD"),
    "guarded": frame.Style(
        frame.COLOURS["sky blue"], "D", r"the same with $\tilde\sigma$ of Algorithm 2"
    ),
}
SCALINGS = {
    "scaling": frame.Style(frame.COLOURS["vermilion"], "s", r"$\kappa(D)$"),
    "guarded_scaling": frame.Style(
        frame.COLOURS["reddish purple"], "^", r"$\kappa(D)$ with $\tilde\sigma$ of Algorithm 2"
    ),
}


def figures(measured: Measured) -> Mapping[str, Figure]:
    """Return training, condition numbers, and what they fall by against kappa(D) squared."""
    return {
        "training": training(measured),
        **{
            f"condition_numbers_{sample}": condition_numbers(measured, sample) for sample in SAMPLES
        },
        "reduction": reduction(measured),
    }


def of(measured: Measured, method: str) -> list[Numbers]:
    """Return the trainings by a method, one for each seed."""
    return [numbers for numbers in measured.values() if numbers["method"] == method]


def values(numbers: Numbers, sample: str, name: str) -> list[float | None]:
    """Return what was measured under a name, step by step."""
    return [value[name] for value in numbers[sample]["values"]]


def reductions(numbers: Numbers, sample: str) -> list[tuple[float, float]]:
    """Return at each step kappa(D) squared, and what the condition number falls by."""
    names = ("scaling", "hessian", "preconditioned")
    steps = zip(*(values(numbers, sample, name) for name in names), strict=True)
    return [
        (D**2, plain / after)
        for D, plain, after in steps
        if D is not None and plain is not None and after is not None
    ]


def training(measured: Measured) -> Figure:
    """Loss and accuracy by epoch: Figure 8, left."""
    figure, (losses, accuracies) = frame.new(
        f"2 x 100 network {_described(measured)}",
        "Mean training loss of each epoch, and share of test images that are recognised after it"
        f"{frame.over_seeds(_seeds(measured), frame.LINES_AND_AREAS)}.",
        columns=2,
    )
    for method in WORDS:
        for axes, what in ((losses, "losses"), (accuracies, "accuracies")):
            some = of(measured, method)
            epochs = list(range(1, some[0]["epochs"] + 1))
            series = [_filled(numbers[what], len(epochs)) for numbers in some]
            frame.mean_and_range(axes, epochs, series, frame.STYLES[method])
    losses.set(xlabel="epoch", ylabel="training loss (nats)", yscale="log")
    accuracies.set(xlabel="epoch", ylabel="test accuracy (no unit)")
    accuracies.legend(fontsize="small")
    return figure


def condition_numbers(measured: Measured, sample: str) -> Figure:
    """Condition numbers by step: Figure 8, centre and right, of both trainings."""
    figure, axes = frame.new(
        f"First output unit of the 2 x 100 network {_described(measured)}",
        f"Condition numbers on {SAMPLES[sample]}, by step of training, as powers of ten: of the "
        "Hessian in the unit's bias and weights, over the eigenvalues that are not zero (above), "
        "and of the scaling D (below)."
        + frame.over_seeds(
            _seeds(measured), "  Lines are means of the exponents over seeds, areas their range."
        ),
        rows=2,
        columns=2,
    )
    for column, (method, words) in enumerate(WORDS.items()):
        for row, drawn in enumerate((DRAWN, SCALINGS)):
            one = axes[2 * row + column]
            some = of(measured, method)
            steps = max((numbers[sample]["steps"] for numbers in some), key=len)
            for name, style in drawn.items():
                exponents = [_exponents(values(numbers, sample, name)) for numbers in some]
                series = [_filled(each, len(steps)) for each in exponents]
                frame.mean_and_range(one, steps, series, style)
            one.set(title=f"{words}, on {SAMPLES[sample]}", xlabel="step")
            one.set(ylabel=r"$\log_{10}\kappa$ (no unit)")
            one.legend(fontsize="x-small")
    return figure


def reduction(measured: Measured) -> Figure:
    """What the condition number falls by, against the square of kappa(D)."""
    figure, axes = frame.new(
        f"What preconditioning takes from the condition number {_described(measured)}",
        "Each mark is a step: the condition number of the Hessian over that of the preconditioned "
        r"one, against $\kappa(D)^2$.  On the line they are equal.",
        columns=2,
    )
    for one, (sample, words) in zip(axes, SAMPLES.items(), strict=True):
        ends = [0.0, 1.0]
        for method in WORDS:
            style = frame.STYLES[method]
            pairs = [p for numbers in of(measured, method) for p in reductions(numbers, sample)]
            x, y = (_exponents([pair[i] for pair in pairs]) for i in range(2))
            one.plot(x, y, linestyle="none", marker=style.marker, markersize=4,  # type: ignore[arg-type]
                     color=style.colour, alpha=0.6, label=WORDS[method])  # fmt: skip
            ends[1] = max([ends[1], *(number for number in [*x, *y] if number is not None)])
        one.plot(ends, ends, color="#767676", linewidth=1, label=r"$\kappa(D)^2$")
        one.set(title=f"on {words}", xlabel=r"$\log_{10}\kappa(D)^2$ (no unit)")
        one.set(ylabel=r"$\log_{10}$ of the fall of $\kappa$ (no unit)")
        one.legend(fontsize="x-small")
    return figure


def _exponents(numbers: Sequence[float | None]) -> list[float | None]:
    return [None if number is None else log10(number) for number in numbers]


def _filled(series: Sequence[float | None], length: int) -> list[float | None]:
    """What diverged has no more values."""
    return [*series, *[None] * (length - len(series))]


def _described(measured: Measured) -> str:
    """The data, n and the seeds."""
    one, *_ = of(measured, "none")
    return f"on {one['data']}, n = {one['images']}, {frame.of_seeds(_seeds(measured))}"


def _seeds(measured: Measured) -> list[int]:
    return [numbers["seed"] for numbers in of(measured, "none")]
