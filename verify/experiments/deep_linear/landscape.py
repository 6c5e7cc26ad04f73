"""What the paper sees of the deep linear network's landscape and covariate shift.

Source: Santurkar et al. 2018: sect. 2.2, 3.2, Fig. 3b, 8, 9, 12; the first version's sect. 3.3 for
the standard deviation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from statistics import median

from verify.experiments.experiment import Measured, Observation
from verify.experiments.landscape.observations import (
    CHANGE,
    LOSS_RANGE,
    RANDOM_RANGE,
    RANGE_BEYOND,
    SMOOTHNESS,
    cosines,
    lp_smoother,
    more_shift,
    smoother,
    smoothness_nearby,
)
from verify.experiments.readings import having, share

RATES = {"training": "1e-6", "slow": "1e-7"}
"""The learning rate of each kind of training."""


def of_the_landscape(measured: Measured) -> Iterable[Observation]:
    """Yield what the paper sees of covariate shift, landscape and deviations."""
    yield _little_shift_without(measured)
    yield _uncorrelated_with(measured)
    yield more_shift(
        measured,
        "batch",
        "S-def-ICS, Fig. 3b, 6b",
        "models with Batch Normalization have similar, or even worse, covariate shift",
        kind="training",
    )
    yield from _landscape(measured)
    yield _deviation(measured)
    yield from lp_smoother(measured, "S-lp, Fig. 12d", kind="training")


def _little_shift_without(measured: Measured) -> Observation:
    by_kind = {kind: cosines(measured, "none", kind=kind) for kind in RATES}
    shares = {k: share([x > 0.95 for x in found]) for k, found in by_kind.items() if found}
    return Observation(
        "S-def-ICS, sect. 2.2, Fig. 3b",
        "the standard network experiences almost no internal covariate shift for the entirety of "
        "training",
        "at learning rate 1e-6 the cosine of G and G' without normalisation is above 0.95 at no "
        "fewer than 95% of shown layers and measured steps",
        shares["training"] >= 0.95 if "training" in shares else None,
        "; ".join(
            f"at learning rate {RATES[kind]}: median {median(by_kind[kind]):.3g}, above 0.95 at "
            f"{above:.0%}"
            for kind, above in shares.items()
        ),
    )


def _uncorrelated_with(measured: Measured) -> Observation:
    by_kind = {kind: cosines(measured, "batch", kind=kind) for kind in RATES}
    sizes = {kind: median(map(abs, found)) for kind, found in by_kind.items() if found}
    return Observation(
        "S-def-ICS, sect. 2.2, Fig. 3b",
        "for Batch Normalization it appears that G and G' are almost uncorrelated",
        "at learning rate 1e-6 the median size of the cosine of G and G' is below 0.2",
        sizes["training"] < 0.2 if "training" in sizes else None,
        "; ".join(
            f"at learning rate {RATES[kind]}: median size {size:.3g}, median "
            f"{median(by_kind[kind]):.3g}"
            for kind, size in sizes.items()
        ),
    )


def _landscape(measured: Measured) -> Iterable[Observation]:
    clear = "there is a clear improvement with Batch Normalization: "
    cases = (
        (LOSS_RANGE, "S-landscape, Fig. 9a", clear + "the variation of the loss"),
        (CHANGE, "S-landscape, Fig. 9b, 10b", clear + "the predictiveness of the gradient"),
        (
            RANGE_BEYOND,
            "S-fig, caption of Fig. 9",
            "Batch Normalization continues to provide smoothing for even larger distances, here "
            "30 to 300 learning rates",
        ),
        (
            RANDOM_RANGE,
            "S-fig, sect. 3.2, last paragraph",
            "the loss behaves in a similar way in random directions",
        ),
    )
    for quantity, source, statement in cases:
        yield smoother(measured, quantity, "batch", source, statement, kind="training")
    seen = smoother(
        measured,
        SMOOTHNESS,
        "batch",
        "S-landscape, Fig. 9c",
        clear + "the effective smoothness",
        kind="training",
    )
    nearby = {n: smoothness_nearby(measured, n, kind="training") for n in ("none", "batch")}
    yield replace(
        seen,
        found=f"{seen.found}; over the smallest step alone, in 1/learning rate, median "
        f"{nearby['none']:.3g} without and {nearby['batch']:.3g} with (descent is stable below 2)",
    )


def _deviation(measured: Measured) -> Observation:
    medians = {
        name: median(
            deviation
            for numbers in having(measured, normalization=name, kind="training")
            for value in numbers["deviations"]["values"]
            for deviation in value.values()
        )
        for name in ("none", "batch")
        if having(measured, normalization=name, kind="training")
    }
    return Observation(
        "S-v1, sect. 3.3 (S-fig, Fig. 8)",
        "sigma(y_j) is consistently large, around 5",
        "the median standard deviation of a layer's outputs before normalisation, over layers and "
        "measured steps, is between 2.5 and 10 in the standard network",
        2.5 <= medians["none"] <= 10 if "none" in medians else None,
        ", ".join(f"{name}: {middle:.3g}" for name, middle in medians.items()),
    )
