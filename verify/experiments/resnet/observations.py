r"""What paper L observes of residual networks, and whether it was seen.

Accuracies are shares of the test images, without unit, means over seeds; an epoch is one of the
list of accuracies, which begins after the first.

Source: Lange, Helfrich and Ye 2022, sect. 5, "Residual Networks", Fig. 6 and 7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from verify.experiments.experiment import Measured, Observation
from verify.experiments.resnet.figures import by_method
from verify.experiments.resnet.recipes import EVERY_FAMILY, TRAINED_HERE

Runs = Mapping[str, list[Any]]
"""The runs of one network, one for each seed, by method."""

Accuracies = Mapping[str, Sequence[float]]
"""The test accuracy after each epoch, by method."""

COMPARABLE = 0.01
"""Final accuracies that differ by no more are comparable, and by up to three times that, slight."""

SIGNIFICANT = 0.005
"""More than this is significant."""

PARAMETERS = {
    "ResNet-110": (54, 1.65, 1.75),
    "pre-activation ResNet-110": (54, 1.65, 1.75),
    "ResNet-18": (8, 11.6, 11.8),
}
"""Blocks, and from how many to how many million parameters."""


@dataclass(frozen=True)
class Seen:
    """Something that the paper says of the curves of a network.

    Args:
        statement: what it says.
        criterion: what is looked at.
        of: the methods that it is about.
        judge: from accuracies and the number of epochs before the first decay to whether it
            appeared, and the numbers.
    """

    statement: str
    criterion: str
    of: tuple[str, ...]
    judge: Callable[[Accuracies, int], tuple[bool, str]]


def converges_faster(method: str) -> Callable[[Accuracies, int], tuple[bool, str]]:
    """Judge the mean accuracy before the first decay against that of BN."""

    def judge(accuracies: Accuracies, decay: int) -> tuple[bool, str]:
        means = {name: fmean(accuracies[name][:decay]) for name in (method, "batch")}
        return means[method] > means["batch"], _numbers(means)

    return judge


def ends_within(low: float, high: float) -> Callable[[Accuracies, int], tuple[bool, str]]:
    """Judge by how much BNP+GN ends below BN."""

    def judge(accuracies: Accuracies, _: int) -> tuple[bool, str]:
        last = {name: accuracies[name][-1] for name in ("group+bnp", "batch")}
        return low <= last["batch"] - last["group+bnp"] <= high, _numbers(last)

    return judge


def both_outperform_group(accuracies: Accuracies, _: int) -> tuple[bool, str]:
    """Judge BN's and BNP+GN's last accuracy against GN's."""
    last = {name: accuracies[name][-1] for name in ("batch", "group+bnp", "group")}
    worse = min(last["batch"], last["group+bnp"])
    return worse > last["group"] + SIGNIFICANT, _numbers(last)


def gains_less_at_decay(accuracies: Accuracies, decay: int) -> tuple[bool, str]:
    """Judge what BNP alone gains from the first decay on against what BN gains."""
    gains = _gains(accuracies, decay, "bnp", "batch")
    return gains["bnp"] < gains["batch"] / 2, _numbers(gains)


def gains_more_at_decay(accuracies: Accuracies, decay: int) -> tuple[bool, str]:
    """Judge what BNP+GN gains from the first decay on against what BNP alone gains."""
    gains = _gains(accuracies, decay, "bnp", "group+bnp")
    return gains["group+bnp"] >= 2 * gains["bnp"], _numbers(gains)


def _gains(accuracies: Accuracies, decay: int, *methods: str) -> dict[str, float]:
    return {name: accuracies[name][-1] - accuracies[name][decay - 1] for name in methods}


FASTER = Seen(
    "The test accuracy for BNP+GN converges faster than BN prior to the first learning rate decay.",
    "Mean accuracy over the epochs before the first decay: BNP+GN above BN.",
    ("group+bnp", "batch"),
    converges_faster("group+bnp"),
)
COMPARABLE_AT_END = Seen(
    "It is comparable to BN after the decay.",
    f"Last accuracy: BNP+GN within {COMPARABLE} of BN.",
    ("group+bnp", "batch"),
    ends_within(-COMPARABLE, COMPARABLE),
)
SLIGHTLY_LOWER_AT_END = Seen(
    "It is slightly lower than BN after the decay.",
    f"Last accuracy: BNP+GN below BN, by no more than {3 * COMPARABLE}.",
    ("group+bnp", "batch"),
    ends_within(0, 3 * COMPARABLE),
)
OUTPERFORM = Seen(
    "Both BNP+GN and BN outperform GN significantly.",
    f"Last accuracy: both more than {SIGNIFICANT} above GN.",
    ("batch", "group+bnp", "group"),
    both_outperform_group,
)
GAINS_LESS = Seen(
    "BNP directly applied to ResNet can not take advantage of the learning rate decay nearly to "
    "the same degree as BN.",
    "Last accuracy less that before the first decay: of BNP alone, less than half of BN's.",
    ("bnp", "batch"),
    gains_less_at_decay,
)
GAINS_MORE = Seen(
    "BNP+GN is found to benefit much more significantly from the learning rate decay than BNP.",
    "Last accuracy less that before the first decay: of BNP+GN, at least twice that of BNP alone.",
    ("bnp", "group+bnp"),
    gains_more_at_decay,
)
BNP_FASTER = Seen(
    "BNP converges faster than BN before the learning rate decay.",
    "Mean accuracy over the epochs before the first decay: BNP alone above BN.",
    ("bnp", "batch"),
    converges_faster("bnp"),
)
FIGURES = {
    "ResNet-110": (
        "Fig. 6, left", (FASTER, COMPARABLE_AT_END, OUTPERFORM, GAINS_LESS, GAINS_MORE, BNP_FASTER)
    ),
    "pre-activation ResNet-110": (
        "Fig. 6, right",
        (FASTER, SLIGHTLY_LOWER_AT_END, OUTPERFORM, GAINS_LESS, GAINS_MORE, BNP_FASTER),
    ),
    "ResNet-18": ("Fig. 7", (FASTER, SLIGHTLY_LOWER_AT_END, OUTPERFORM)),
    TRAINED_HERE: (
        "Fig. 6, at a size that fits here",
        (FASTER, COMPARABLE_AT_END, OUTPERFORM, GAINS_LESS, GAINS_MORE, BNP_FASTER),
    ),
}  # fmt: skip
"""The figure of each network, and what is said of it."""


def observations(measured: Measured) -> Sequence[Observation]:
    """Return what the paper observes of each network, and whether it appeared."""
    found: list[Observation] = []
    for network, (figure, statements) in FIGURES.items():
        runs = by_method(measured, network)
        if network in PARAMETERS:
            found.append(_of_size(network, runs))
        found += [_of_training(network, figure, seen, runs) for seen in statements]
    return found


def _of_training(network: str, figure: str, seen: Seen, runs: Runs) -> Observation:
    family = EVERY_FAMILY[network]
    missing = [
        f"{name} was trained for {min((len(_curve(run)) for run in runs.get(name, [])), default=0)}"
        for name in seen.of
        if any(len(_curve(run)) <= family.decays[-1] for run in runs.get(name, [{}]))
    ]
    appeared: bool | None = None
    if missing:
        numbers = f"more than {family.decays[-1]} epochs are needed; {', '.join(missing)}"
    else:
        accuracies = {
            name: [fmean(each) for each in zip(*map(_curve, runs[name]), strict=True)]
            for name in seen.of
        }
        appeared, numbers = seen.judge(accuracies, family.decays[0])
    source = f"L-fig-6-7, {figure}"
    return Observation(source, f"{network}: {seen.statement}", seen.criterion, appeared, numbers)


def _curve(run: Mapping[str, Any]) -> Sequence[float]:
    """The accuracies of a run on the data that its recipe is for; of any other there are none."""
    family = EVERY_FAMILY.get(run.get("network", ""))
    is_of_its_data = family is not None and run["data"] == family.data
    curve: Sequence[float] = run["test_accuracy"] if is_of_its_data else []
    return curve


def _of_size(network: str, runs: Runs) -> Observation:
    blocks, low, high = PARAMETERS[network]
    sizes = {name: some[0]["parameters"] / 1e6 for name, some in runs.items()}
    steps = [run["first_step"] for some in runs.values() for run in some]
    is_finite = all(step.get("after") is not None for step in steps)
    appeared = is_finite and all(low < size < high for size in sizes.values()) if runs else None
    losses = "; ".join(
        f"{name} {sizes[name]:.2f}, loss {_text(some[0]['first_step'])}"
        for name, some in runs.items()
    )
    return Observation(
        source="L-fig-6-7, sect. 5",
        statement=f"{network} has {blocks} residual blocks of two 3 by 3 convolutions each.",
        criterion=f"Between {low} and {high} million parameters, and a step to a finite loss.",
        appeared=appeared,
        found=f"million parameters: {losses}" if runs else "only smaller networks were trained",
    )


def _text(step: Mapping[str, float | None]) -> str:
    before, after = step.get("before"), step.get("after")
    if before is None:
        return "not finite"
    return f"{before:.3g} to {'what is not finite' if after is None else f'{after:.3g}'}"


def _numbers(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in values.items())
