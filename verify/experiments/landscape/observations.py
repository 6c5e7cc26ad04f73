"""What Santurkar et al. 2018 see of landscapes and of covariate shift, as criteria on trainings.

A measure of a network without normalisation is divided by that of one with it, at each step at
which both were measured, for each seed; above 1 the normalised network is the smoother one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from verify.experiments.experiment import Measured, Observation
from verify.experiments.readings import Reader, all_ratios, having, of, share

EARLY = 0.1
"""The first tenth of the steps are the early ones."""

MOST = 0.75
"""The share of steps that is called most of them."""


@dataclass(frozen=True)
class Quantity:
    """A measure of the landscape as one number."""

    words: str
    meter: str
    read: Reader


def _loss_range(value: Any) -> Any:
    low, high = value["loss_variation"]
    return None if high is None else high - low


LOSS_RANGE = Quantity("range of the loss along the gradient", "landscape", _loss_range)
RANDOM_RANGE = Quantity("range of the loss along a random direction", "random", _loss_range)
RANGE_BEYOND = Quantity("range of the loss at larger steps", "beyond", _loss_range)
CHANGE = Quantity("largest change of the gradient", "landscape", of("gradient_predictiveness", 1))
SMOOTHNESS = Quantity("effective smoothness", "landscape", of("effective_smoothness"))


def smoother(
    measured: Measured,
    quantity: Quantity,
    normalization: str,
    source: str,
    statement: str,
    **facts: Any,
) -> Observation:
    """Return whether a normalisation makes the landscape smoother than none at most steps."""
    found = all_ratios(measured, "none", normalization, quantity.meter, quantity.read, **facts)
    criterion = (
        f"the {quantity.words} without normalisation is above that with {normalization} at no "
        f"fewer than {MOST:.0%} of the measured steps"
    )
    if not found:
        return Observation(source, statement, criterion, None, "no step has both measured")
    appeared = share([ratio > 1 for _, ratio in found]) >= MOST
    last = max(numbers["steps"] for numbers in having(measured, **facts))
    return Observation(source, statement, criterion, appeared, ratios_in_words(found, last))


def lp_smoother(measured: Measured, source: str, **facts: Any) -> Iterator[Observation]:
    """Yield whether each of the other normalisations makes the landscape smoother than none."""
    for name in ("l1", "l2", "linf"):
        words = f"{name} normalisation improves the smoothness over standard training"
        yield smoother(measured, SMOOTHNESS, name, source, words, **facts)


def ratios_in_words(found: Sequence[tuple[int, float]], steps: int) -> str:
    """Return the median ratio of early steps, of all, and how many are above one.

    >>> ratios_in_words([(0, 0.5), (50, 2.0), (99, 8.0)], steps=100)
    'without over with: median 0.5 of 1 in the first tenth of training, 2 of all 3; above 1 at 67%'
    """
    early = [ratio for step, ratio in found if step <= EARLY * steps]
    every = [ratio for _, ratio in found]
    first = f"{median(early):.3g} of {len(early)} in the first tenth of training, " if early else ""
    above = share([ratio > 1 for ratio in every])
    return (
        f"without over with: median {first}{median(every):.3g} of all {len(every)}; "
        f"above 1 at {above:.0%}"
    )


def cosines(measured: Measured, normalization: str, **facts: Any) -> list[float]:
    """Return the cosines of G and G' of all layers but the first, steps and seeds."""
    return [
        shift["cosine"]
        for numbers in having(measured, normalization=normalization, **facts)
        for value in numbers["shift"]["values"]
        for shift in value.values()
        if shift["cosine"] is not None
    ]


def more_shift(
    measured: Measured, normalization: str, source: str, statement: str, **facts: Any
) -> Observation:
    """Return whether a normalisation's covariate shift is no less than without: lower cosines."""
    without, with_it = (cosines(measured, n, **facts) for n in ("none", normalization))
    criterion = (
        f"the median cosine of G and G' with {normalization} is no higher than without, over all "
        "layers shown and all measured steps"
    )
    if not without or not with_it:
        return Observation(source, statement, criterion, None, "not measured")
    middle = median(with_it), median(without)
    found = f"median cosine {middle[0]:.3g} with, {middle[1]:.3g} without"
    return Observation(source, statement, criterion, middle[0] <= middle[1], found)


def smoothness_nearby(measured: Measured, normalization: str, **facts: Any) -> float:
    r"""Return the effective smoothness over the smallest step alone, in 1/learning rate.

    .. math:: \lVert\nabla L(x - \tau\eta g) - g\rVert / (\tau \lVert g\rVert)

    with :math:`\tau\eta` the smallest step size; the median over steps and seeds.  Descent at rate
    :math:`\eta` on a parabola is stable below 2.
    """
    return median(
        value["gradient_changes"][0] / value["gradient_norm"] / numbers["times"][0]
        for numbers in having(measured, normalization=normalization, **facts)
        for value in numbers["landscape"]["values"]
        if value["gradient_changes"][0] is not None
    )
