"""What the paper sees of the stability of the VGG network's activations.

The change of an activation's mean and variance from a step to the next, after normalisation.

Source: Santurkar et al. 2018: sect. 2, 2.1 and 3.3, Fig. 1c, 2, 7 and 14.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from verify.experiments.experiment import Measured, Numbers, Observation
from verify.experiments.readings import listed, moment_changes, pairs

MAIN = {"learning_rate": 0.1}
LAYERS = ("stage2.layer1", "stage4.layer1", "stage5.layer2")


def of_stability(measured: Measured) -> Iterable[Observation]:
    """Yield what the paper sees of the activations' distributions."""
    yield _stability_alike(measured)
    yield _less_stable(
        measured,
        "noisy-batch",
        "noisy",
        "S-alg-1, sect. 2.1, Fig. 7",
        "the noisy network has less stable distributions than even the standard network",
    )
    for name in ("l1", "l2", "linf"):
        yield _less_stable(
            measured,
            name,
            name,
            "S-lp, sect. 3.3, Fig. 14",
            f"{name} normalisation leads to larger distributional shift than the standard network",
        )


def change_of_moments(numbers: Numbers) -> tuple[float, float]:
    """Return the median change of mean and of variance over the layers shown and all steps."""
    mean, variance = (
        median(
            change for layer in LAYERS for change in moment_changes(numbers, layer, moment).values()
        )
        for moment in ("means", "variances")
    )
    return mean, variance


def _stability_alike(measured: Measured) -> Observation:
    found = _ratios_of_changes(measured, "none", "batch")
    return Observation(
        "S-fig, sect. 2, Fig. 1c, 7",
        "the difference in distributional stability (change in the mean and variance) with and "
        "without Batch Normalization seems to be marginal",
        "the median change from a step to the next with it is between half and twice that "
        "without, for the mean and for the variance",
        all(0.5 <= ratio <= 2 for pair in found for ratio in pair) if found else None,
        "with over without, of the mean and of the variance: " + listed(found),
    )


def _less_stable(
    measured: Measured, normalization: str, words: str, source: str, statement: str
) -> Observation:
    found = _ratios_of_changes(measured, "none", normalization)
    return Observation(
        source,
        statement,
        "its median change of mean and of variance from a step to the next is larger",
        all(ratio > 1 for pair in found for ratio in pair) if found else None,
        f"{words} over standard, of the mean and of the variance: {listed(found)}",
    )


def _ratios_of_changes(measured: Measured, one: str, other: str) -> list[tuple[float, float]]:
    """Return the other's changes over the one's, of mean and variance, for each seed."""
    found = []
    for first, second in pairs(measured, one, other, **MAIN):
        below, above = change_of_moments(first), change_of_moments(second)
        found.append((above[0] / below[0], above[1] / below[1]))
    return found
