"""What the paper sees of the VGG network's landscape and covariate shift.

Source: Santurkar et al. 2018: sect. 2.2 and 3.2, Fig. 3a, 4, 6a, 10a and 11, App. A.2.2.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import log10
from statistics import median

from verify.experiments.experiment import Measured, Observation
from verify.experiments.landscape.observations import (
    CHANGE,
    EARLY,
    LOSS_RANGE,
    RANDOM_RANGE,
    SMOOTHNESS,
    lp_smoother,
    more_shift,
    smoother,
)
from verify.experiments.readings import all_ratios

MAIN = {"learning_rate": 0.1}


def of_the_landscape(measured: Measured) -> Iterable[Observation]:
    """Yield what the paper sees of covariate shift and landscape."""
    yield more_shift(
        measured,
        "batch",
        "S-def-ICS, sect. 2.2, Fig. 3a",
        "networks with Batch Normalization often exhibit an increase in covariate shift",
        **MAIN,
    )
    clear = "there is a clear improvement with Batch Normalization: "
    cases = (
        (LOSS_RANGE, "S-landscape, Fig. 4a", clear + "the variation of the loss"),
        (CHANGE, "S-landscape, Fig. 4b, 10a", clear + "the predictiveness of the gradient"),
        (SMOOTHNESS, "S-landscape, Fig. 4c", clear + "the effective smoothness"),
        (
            RANDOM_RANGE,
            "S-fig, sect. 3.2, last paragraph",
            "the loss behaves in a similar way in random directions",
        ),
    )
    for quantity, source, statement in cases:
        yield smoother(measured, quantity, "batch", source, statement, **MAIN)
    yield _two_orders(measured)
    yield from lp_smoother(measured, "S-lp, Fig. 11d", **MAIN)


def _two_orders(measured: Measured) -> Observation:
    found = all_ratios(measured, "none", "batch", CHANGE.meter, CHANGE.read, **MAIN)
    steps = max((n["steps"] for n in measured.values()), default=0)
    early = [ratio for step, ratio in found if step <= EARLY * steps]
    middle = median(early) if early else None
    largest = max((ratio for _, ratio in found), default=None)
    return Observation(
        "S-fig, sect. 3.2, Fig. 4b",
        "a significant difference, close to two orders of magnitude, in gradient predictiveness, "
        "especially early in training",
        "the median ratio of the largest changes of the gradient, without over with, in the first "
        "tenth of the steps is at least 30",
        None if middle is None else middle >= 30,
        f"{middle:.3g}, or {log10(middle):.2g} orders of magnitude; largest ratio of all steps "
        f"{largest:.3g}"
        if middle and largest
        else "not measured",
    )
