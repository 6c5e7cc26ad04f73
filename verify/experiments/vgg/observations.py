"""What the paper sees of the VGG network's training, and whether it was seen.

The landscape is in :mod:`verify.experiments.vgg.landscape`, the distributions of activations in
:mod:`verify.experiments.vgg.stability`.

Source: Santurkar et al. 2018: sect. 2, 2.1 and 3.3, Fig. 1, 2 and 13a, App. A.1 and A.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from statistics import fmean

from verify.experiments.experiment import Measured, Numbers, Observation
from verify.experiments.readings import having, listed, losses, pairs
from verify.experiments.vgg.landscape import of_the_landscape
from verify.experiments.vgg.stability import of_stability

LEARNT = 1.0
"""A network has learnt once a loss, averaged over five that follow each other, is below this; the
loss of guessing among ten classes is 2.3 nats."""

MAIN = {"learning_rate": 0.1}
LARGER = {"learning_rate": 0.5}
FULL = {"digits": 400, "CIFAR-10": 1500}
"""From how many steps on something is said of what training reaches."""


def observations(measured: Measured) -> Sequence[Observation]:
    """Return what the paper sees on the VGG network."""
    return [
        _trains_faster(measured),
        _generalises_better(measured),
        _papers_accuracies(measured),
        _larger_rate(measured),
        *_noisy(measured),
        _noise_alone(measured),
        *of_stability(measured),
        *of_the_landscape(measured),
        _lp_comparable(measured),
    ]


def steps_to_learn(numbers: Numbers) -> float:
    """Return the first step from which five losses in a row are below 1 on average, or infinity."""
    at = losses(numbers)
    values, steps = list(at.values()), list(at)
    for start in range(len(values) - 4):
        if fmean(values[start : start + 5]) < LEARNT:
            return steps[start]
    return inf


def accuracy_in_test(numbers: Numbers) -> float:
    """Return the share of test images recognised at the end; zero where training diverged."""
    diverged = numbers["diverged"] is not None
    return 0.0 if diverged else float(numbers["accuracy"]["values"][-1]["test"])


def accuracy_in_training(numbers: Numbers) -> float:
    """Return the share of its batch recognised in training mode, over the last five looks."""
    late = numbers["accuracy"]["values"][-5:]
    return 0.0 if numbers["diverged"] is not None else fmean(value["batch"] for value in late)


def _trains_faster(measured: Measured) -> Observation:
    found = _both(measured, steps_to_learn, "none", "batch", MAIN)
    return Observation(
        "S-VGG, sect. 2, Fig. 1a",
        "a drastic improvement in optimization with Batch Normalization",
        f"the loss falls below {LEARNT:g} in at most half as many steps, for every seed",
        _if_full(measured, all(b <= a / 2 for a, b in found)),
        "steps without and with: " + listed(found),
    )


def _generalises_better(measured: Measured) -> Observation:
    found = _both(measured, accuracy_in_test, "none", "batch", MAIN)
    return Observation(
        "S-VGG, sect. 2, Fig. 1b",
        "a drastic improvement in generalization with Batch Normalization",
        "the test error with it is at most two thirds of that without, for every seed",
        _if_full(measured, all(1 - b <= 2 / 3 * (1 - a) for a, b in found)),
        "test accuracy without and with: " + listed(found),
    )


def _papers_accuracies(measured: Measured) -> Observation:
    found = _both(measured, accuracy_in_test, "none", "batch", MAIN)
    can_tell = all(n["data"] == "CIFAR-10" and n["steps"] >= 15_000 for n in measured.values())
    return Observation(
        "S-VGG, App. A.1",
        "test accuracy of 83% with Batch Normalization and 80% without",
        "both are met within two points, on CIFAR-10 after 15,000 steps",
        all(abs(a - 0.80) < 0.02 and abs(b - 0.83) < 0.02 for a, b in found) if can_tell else None,
        f"on {next(iter(measured.values()))['data']}, without and with: " + listed(found),
    )


def _larger_rate(measured: Measured) -> Observation:
    found = _both(measured, accuracy_in_test, "none", "batch", LARGER)
    return Observation(
        "S-fig, sect. 3.1, Fig. 1, 10",
        "Batch Normalization enables a broader range of, and thus larger, learning rates",
        "at learning rate 0.5 the test accuracy without is below half of that with, for every seed",
        _if_full(measured, all(a < b / 2 for a, b in found)),
        "test accuracy at 0.5 without and with: " + listed(found),
    )


def _noisy(measured: Measured) -> Iterable[Observation]:
    steps = _both(measured, steps_to_learn, "batch", "noisy-batch", MAIN)
    reached = _both(measured, accuracy_in_training, "batch", "noisy-batch", MAIN)
    evaluated = _both(measured, accuracy_in_test, "batch", "noisy-batch", MAIN)
    standard = _both(measured, steps_to_learn, "none", "noisy-batch", MAIN)
    yield Observation(
        "S-alg-1, sect. 2.1, Fig. 2",
        "the performance difference between Batch Normalization and the noisy one is almost "
        "non-existent",
        "the accuracies on training batches differ by at most five points at the end, and the "
        f"steps to a loss below {LEARNT:g} by a factor of at most two, for every seed",
        _if_full(
            measured,
            all(abs(a - b) <= 0.05 for a, b in reached)
            and all(max(a, b) <= 2 * max(min(a, b), 1) for a, b in steps),
        ),
        f"plain and noisy: accuracy {listed(reached)}; steps {listed(steps)}; test accuracy in "
        f"evaluation mode, without the noise, {listed(evaluated)}",
    )
    yield Observation(
        "S-alg-1, sect. 2.1, Fig. 2",
        "the noisy network performs much better than the standard one",
        f"its loss falls below {LEARNT:g} in at most half as many steps, for every seed",
        _if_full(measured, all(noisy <= none / 2 for none, noisy in standard)),
        "steps of the standard and of the noisy network: " + listed(standard),
    )


def _noise_alone(measured: Measured) -> Observation:
    found = [
        (accuracy_in_training(n), list(losses(n).values())[-1])
        for n in having(measured, normalization="noise alone")
    ]
    return Observation(
        "S-alg-1, S-fig, sect. 2.1",
        "adding the same noise to the standard network prevents it from training entirely",
        "at the end it recognises less than a fifth of its batches, for every seed",
        _if_full(measured, all(accuracy < 0.2 for accuracy, _ in found)),
        "share of its batches recognised and loss at the end: " + listed(found),
    )


def _lp_comparable(measured: Measured) -> Observation:
    found = {
        name: _both(measured, accuracy_in_test, "batch", name, MAIN)
        for name in ("l1", "l2", "linf")
    }
    return Observation(
        "S-lp, sect. 3.3, Fig. 11a, 13a",
        "all l_p normalisations perform comparably or even better than Batch Normalization",
        "the test accuracy of each is at most two points below, for every seed",
        _if_full(measured, all(b >= a - 0.02 for two in found.values() for a, b in two)),
        "test accuracy of Batch Normalization and of it: "
        + "; ".join(f"{name} {listed(two)}" for name, two in found.items()),
    )


def _both(
    measured: Measured,
    read: Callable[[Numbers], float],
    one: str,
    other: str,
    facts: Mapping[str, float],
) -> list[tuple[float, float]]:
    """Return a number of one network and of the other, for each seed."""
    return [(read(a), read(b)) for a, b in pairs(measured, one, other, **facts)]


def _if_full(measured: Measured, appeared: bool) -> bool | None:
    """Return what was seen if the trainings were long enough to see it."""
    is_full = all(n["steps"] >= FULL[n["data"]] for n in measured.values())
    return appeared if measured and is_full else None
