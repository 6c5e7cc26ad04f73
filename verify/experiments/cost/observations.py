r"""What paper L sees in its Table 1, and whether it was seen.

A ratio is the time of an epoch with BNP over that with BN in the same round.

An epoch of n images in s steps takes about :math:`a + b s` seconds, a for what is done for each
image and b for what each step costs besides.  Table 1 itself is of this form to within 0.05 s,
with a = 10.5 s of BN and 10.3 s of BNP and b = 1.79 ms and 2.03 ms: its ratios are near 1 because
an epoch was mostly work on images, 0.2 ms for each, and a step of BNP cost 1.13 of one of BN.

Source: Lange, Helfrich and Ye 2022, sect. 5.1, "Computation Time Analysis", and after Prop. 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from statistics import linear_regression, median

from verify.experiments.cost.figures import PRINTED, PRINTED_SECONDS, quartiles, ratios
from verify.experiments.experiment import Measured, Observation

COMPARABLE = 0.1
"""Times that differ by no more than this share are comparable."""

BNP = {
    "bnp": "all layers",
    "bnp, hidden": "all layers but the first",
    "bnp, compiled": "all layers, compiled",
}
"""Of which layers BNP is."""

Spreads = Mapping[int, tuple[float, float, float]]
"""The quartiles of the ratio, by batch size."""

PRINTED_IMAGES = 50_000
"""Of an epoch of CIFAR-10."""


def observations(measured: Measured) -> Sequence[Observation]:
    """Return what the paper sees in the table, and whether it appeared."""
    return [
        observation
        for method, words in BNP.items()
        if all(method in numbers["seconds"] for numbers in measured.values())
        for observation in _of_method(
            words, _spreads(measured, method), _of_a_step(measured, method)
        )
    ]


def _spreads(measured: Measured, method: str) -> Spreads:
    return {n["batch"]: quartiles(ratios(n, method)) for n in measured.values()}


def per_step(seconds: Mapping[int, float], images: int) -> tuple[float, float]:
    """Return a and b of the line through the seconds of an epoch by batch size.

    >>> a, b = per_step({10: 3.0, 20: 2.5}, images=100)  # in 10 and in 5 steps
    >>> round(a, 9), round(b, 9)
    (2.0, 0.1)
    """
    b, a = linear_regression([ceil(images / batch) for batch in seconds], list(seconds.values()))
    return a, b


def _of_a_step(measured: Measured, method: str) -> str:
    """What a step costs beyond what an image costs, here and in Table 1."""
    some = list(measured.values())
    images = some[0]["images"]
    here = [
        per_step({n["batch"]: median(n["seconds"][name]) for n in some}, images)[1] * 1e3
        for name in (method, "batch")
    ]
    printed = [
        per_step(PRINTED_SECONDS[name], PRINTED_IMAGES)[1] * 1e3 for name in ("bnp", "batch")
    ]
    return (
        f"a step, beyond what an image costs: {here[0]:.2f} ms, of BN {here[1]:.2f} ms; in Table 1 "
        f"{printed[0]:.2f} and {printed[1]:.2f} ms"
    )


def _of_method(words: str, found: Spreads, of_a_step: str) -> Sequence[Observation]:
    small, *large = sorted(found)
    told = "; ".join(
        f"batch {batch}: {middle:.3f} ({low:.3f} to {high:.3f}), printed {PRINTED[batch]:.3f}"
        for batch, (low, middle, high) in found.items()
    )
    return [
        Observation(
            "L-table-1",
            "For smaller mini-batch size BN is faster than BNP.",
            f"BNP of {words}: the median ratio at batch {small} is above 1.",
            found[small][1] > 1,
            told,
        ),
        Observation(
            "L-table-1",
            "For larger mini-batch size BNP has a tiny improvement over BN.",
            f"BNP of {words}: the median ratios at batches {' and '.join(map(str, large))} are "
            f"below 1, by less than {COMPARABLE:g}.",
            all(1 - COMPARABLE < found[batch][1] < 1 for batch in large),
            told,
        ),
        Observation(
            "L-table-1",
            "Overall, the difference is small and the two methods are quite comparable.",
            f"BNP of {words}: every median ratio is within {COMPARABLE:g} of 1.",
            all(abs(middle - 1) <= COMPARABLE for _, middle, _ in found.values()),
            f"{told}; {of_a_step}",
        ),
    ]
