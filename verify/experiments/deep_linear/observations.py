"""What the paper sees on the deep linear network, and whether it was seen.

Here is what concerns training; the landscape is in :mod:`verify.experiments.deep_linear.landscape`.

Source: Santurkar et al. 2018: sect. 2.2 and 3.3, Fig. 10b and 13b, App. A.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log
from statistics import fmean

from verify.experiments.deep_linear.landscape import of_the_landscape
from verify.experiments.experiment import Measured, Numbers, Observation
from verify.experiments.readings import final_loss, having, losses, pairs

PAPERS_STEPS = 10_000
COMPARABLE = 1.1
"""A loss up to a tenth higher is called comparable."""

LARGEST_STEP = 3.1e-5
"""The largest step size of the landscape, and a little for rounding."""

AS_A_MEAN = 1e-9
"""The paper's learning rate for a loss that is a mean over its 1000 inputs."""


def observations(measured: Measured) -> Sequence[Observation]:
    """Return what the paper sees on the deep linear network."""
    return [
        _trains(measured),
        _performs_better(measured),
        *of_the_landscape(measured),
        _lp_comparable(measured),
        _l1_better(measured),
        _learning_rates(measured),
        _range_is_valid(measured),
    ]


def _trains(measured: Measured) -> Observation:
    two = ("none", "batch")
    trainings = [n for n in having(measured, kind="training") if n["normalization"] in two]
    halved = all(final_loss(n) < first_loss(n) / 2 for n in trainings)
    changes = [_change_over_last_tenth(n) for n in trainings]
    as_a_mean = _first_and_last(having(measured, kind="trial", learning_rate=AS_A_MEAN))
    return Observation(
        "S-DLN, App. A.1",
        "gradient descent at learning rate 1e-6 trains the network, with and without Batch "
        "Normalization, and after 10,000 steps the loss plateaus",
        "the last loss is below half of the first, and the losses of the last tenth of the steps "
        "differ by less than 1%",
        _if_full(measured, halved and max(changes, default=1) < 0.01),
        f"with the loss a sum over the 1000 inputs {_first_and_last(trainings)}, changing by "
        f"{max(changes, default=1):.2%} at most over the last tenth; with the loss a mean, over "
        f"the steps of a trial, {as_a_mean}",
    )


def _performs_better(measured: Measured) -> Observation:
    found = list(_last_losses(measured, "none", "batch"))
    return Observation(
        "S-fig, sect. 2.2",
        "networks with Batch Normalization perform drastically better in terms of loss",
        "the last loss with it is below half of that without, for every seed",
        _if_full(measured, all(b < a / 2 for a, b in found)),
        "last loss without and with: " + "; ".join(f"{a:.5g} and {b:.5g}" for a, b in found),
    )


def _lp_comparable(measured: Measured) -> Observation:
    found = {name: list(_last_losses(measured, "batch", name)) for name in ("l1", "l2", "linf")}
    every = [(b, p) for of_norm in found.values() for b, p in of_norm]
    return Observation(
        "S-lp, Fig. 13b",
        "all l_p normalisations perform comparably or even better than Batch Normalization",
        "the last loss of each is at most 1.1 times that of Batch Normalization, for every seed",
        _if_full(measured, all(p <= COMPARABLE * b for b, p in every)),
        "last loss over Batch Normalization's: "
        + ", ".join(
            f"{name} " + " ".join(f"{p / b:.4g}" for b, p in of_norm)
            for name, of_norm in found.items()
        ),
    )


def _l1_better(measured: Measured) -> Observation:
    ahead = [
        fmean(log(losses(b)[step] / losses(one)[step]) for step in losses(one) if step > 0)
        for b, one in pairs(measured, "batch", "l1", kind="training")
        if one["diverged"] is None and b["diverged"] is None
    ]
    last = list(_last_losses(measured, "batch", "l1"))
    return Observation(
        "S-lp, S-fig, sect. 3.3",
        "for deep linear networks, l_1 normalisation performs even better than Batch Normalization",
        "its last loss is at least 1% lower, for every seed",
        _if_full(measured, all(one < 0.99 * b for b, one in last)),
        "last loss with Batch Normalization and with l_1: "
        + "; ".join(f"{b:.6g} and {one:.6g}" for b, one in last)
        + "; on the way, mean of log(loss of BN / loss of l_1) over the steps that were kept: "
        + ", ".join(f"{lead:.3g}" for lead in ahead),
    )


def _learning_rates(measured: Measured) -> Observation:
    working = {
        name: [
            n["learning_rate"]
            for n in having(measured, kind="trial", normalization=name)
            if final_loss(n) < first_loss(n) / 2
        ]
        for name in ("none", "batch")
    }
    widths = {name: max(rates) / min(rates) for name, rates in working.items() if rates}
    return Observation(
        "S-fig, caption of Fig. 10",
        "networks with Batch Normalization are largely robust to a broad range of learning rates",
        "the learning rates at which the loss falls below half of the first within a trial span a "
        "larger factor with Batch Normalization than without",
        widths.get("batch", 0) > widths.get("none", 0) if widths else None,
        "; ".join(
            f"{name}: {', '.join(f'{rate:g}' for rate in rates) or 'none of those tried'}"
            for name, rates in working.items()
        ),
    )


def _range_is_valid(measured: Measured) -> Observation:
    rates = {
        n["learning_rate"]: n["diverged"]
        for n in having(measured, kind="trial", normalization="none")
        if n["learning_rate"] <= LARGEST_STEP
    }
    return Observation(
        "S-landscape, App. A.2.2",
        "step sizes of 1/100 to 30 learning rates roughly reflect the range that is valid for "
        "standard training",
        "the standard network diverges at none of the learning rates tried up to 30 times 1e-6",
        all(diverged is None for diverged in rates.values()) if rates else None,
        "the standard network diverged at "
        + (
            ", ".join(f"{rate:g} (step {at})" for rate, at in rates.items() if at is not None)
            or "none of them"
        ),
    )


def first_loss(numbers: Numbers) -> float:
    """Return the loss before the first step."""
    return next(iter(losses(numbers).values()))


def _last_losses(measured: Measured, one: str, other: str) -> Iterable[tuple[float, float]]:
    for first, second in pairs(measured, one, other, kind="training"):
        yield final_loss(first), final_loss(second)


def _change_over_last_tenth(numbers: Numbers) -> float:
    late = [loss for step, loss in losses(numbers).items() if step >= 0.9 * numbers["steps"]]
    return max(late) / min(late) - 1 if late else 1


def _first_and_last(trainings: Sequence[Numbers]) -> str:
    return ", ".join(
        f"{n['normalization']} from {first_loss(n):.4g} to {final_loss(n):.4g}" for n in trainings
    )


def _if_full(measured: Measured, appeared: bool) -> bool | None:
    """Return what was seen if training was as long as the paper's."""
    trainings = having(measured, kind="training")
    is_full = bool(trainings) and all(n["steps"] >= PAPERS_STEPS for n in trainings)
    return appeared if is_full else None
