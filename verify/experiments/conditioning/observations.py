r"""What paper L sees in its Figure 8, and whether it was seen.

Which D the figure shows is not said.  With the guards of Algorithm 2, step 3,

.. math:: \epsilon_1 s + \epsilon_2 \le \tilde\sigma_j^2 \le (1 + \epsilon_1) s + \epsilon_2,
          \qquad s = \max\sigma^2,

:math:`\kappa(D)` is at most 100 where s < 0.99, and at most :math:`\sqrt{101}` or
:math:`1.01\sqrt s` where it is larger: :math:`10^5` would need deviations of :math:`10^5`.

Source: Lange, Helfrich and Ye 2022, sect. 5.1, "Condition Number Analysis".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median

from verify.experiments.conditioning.figures import SAMPLES, WORDS, of, reductions, values
from verify.experiments.conditioning.random_batches import METHOD
from verify.experiments.experiment import Measured, Observation
from verify.experiments.readings import share

SIGNIFICANT = 10.0
"""A fall by more than this factor."""

ROUGHLY = 10.0
"""Factors that differ by less are roughly the same."""

MOST = 0.75
"""Of the steps."""

RANGE = (1e2, 1e5)
"""Of kappa(D) in the figure."""

SCALINGS = {
    "scaling": "the batch's deviations",
    "guarded_scaling": "deviations guarded as in Algorithm 2, step 3",
}
"""What D is made of, by the name under which its condition number is kept."""

LEAST_EPOCHS, LEAST_SEEDS = 5, 3
"""Fewer cannot tell which of two trainings converges faster."""


def observations(measured: Measured) -> Sequence[Observation]:
    """Return what the paper sees in the figure, and whether it appeared."""
    return [
        *(_falls(measured, sample) for sample in SAMPLES),
        *(_by_the_square(measured, sample) for sample in SAMPLES),
        *(_centring(measured, sample) for sample in SAMPLES),
        _centring_at_random(measured),
        *(_in_range(measured, name, words) for name, words in SCALINGS.items()),
        _faster(measured),
    ]


def _falls(measured: Measured, sample: str) -> Observation:
    found = {
        method: [fall for n in of(measured, method) for _, fall in reductions(n, sample)]
        for method in WORDS
    }
    return _of_steps(
        "L-fig-8, centre",
        "The preconditioning significantly reduces the condition number of the Hessian.",
        f"On {SAMPLES[sample]}: it falls by a factor above {SIGNIFICANT:g}",
        found,
        lambda fall: fall > SIGNIFICANT,
    )


def _by_the_square(measured: Measured, sample: str) -> Observation:
    found = {
        method: [fall / D for n in of(measured, method) for D, fall in reductions(n, sample)]
        for method in WORDS
    }
    return _of_steps(
        "L-fig-8, centre and right",
        "The BNP transformation reduces the condition number by roughly kappa(D)^2.",
        f"On {SAMPLES[sample]}: what it falls by, over kappa(D)^2, is between {1 / ROUGHLY:g} and "
        f"{ROUGHLY:g}",
        found,
        lambda ratio: 1 / ROUGHLY <= ratio <= ROUGHLY,
    )


def _centring(measured: Measured, sample: str) -> Observation:
    found = {
        method: [
            after / before
            for n in of(measured, method)
            for before, after in zip(
                values(n, sample, "hessian"), values(n, sample, "centred"), strict=True
            )
            if before and after
        ]
        for method in WORDS
    }
    return _of_steps(
        "L-thm-4, with the Hessian's curvature",
        "Centring improves the condition number.",
        f"On {SAMPLES[sample]}: the centred Hessian's, over the Hessian's, is at most 1",
        found,
        lambda quotient: quotient <= 1,
    )


def _centring_at_random(measured: Measured) -> Observation:
    (numbers,) = of(measured, METHOD)
    told = "; ".join(
        f"{one['law']}, N = {one['N']}, n = {one['n']}: worse in {one['worse']} of "
        f"{numbers['count']}, by a factor of {one['largest']:.3g} at most"
        for one in numbers["found"]
    )
    return Observation(
        "L-thm-4",
        "Centring improves the condition number of a matrix of full column rank.",
        "On random batches with N > n: none gets worse. With N <= n, as in Figure 8, the theorem "
        "does not apply.",
        not any(one["worse"] for one in numbers["found"] if one["N"] > one["n"]),
        told,
    )


def _in_range(measured: Measured, name: str, words: str) -> Observation:
    low, high = RANGE
    found = {
        method: [v for n in of(measured, method) for v in values(n, "batch", name) if v is not None]
        for method in WORDS
    }
    return _of_steps(
        "L-fig-8, right",
        "The condition number of D is in the range 10^2 - 10^5.",
        f"D by {words}, on {SAMPLES['batch']}: so",
        found,
        lambda kappa: low <= kappa <= high,
    )


def _of_steps(
    source: str,
    statement: str,
    criterion: str,
    found: Mapping[str, Sequence[float]],
    holds: Callable[[float], bool],
) -> Observation:
    """Return whether something holds at most steps of all trainings."""
    every = [holds(value) for some in found.values() for value in some]
    told = "; ".join(
        f"{WORDS[method]}: {share(list(map(holds, some))):.0%} of {len(some)}, {_spread(some)}"
        for method, some in found.items()
    )
    criterion = f"{criterion}, at no fewer than {MOST:.0%} of the steps."
    return Observation(source, statement, criterion, share(every) >= MOST if every else None, told)


def _faster(measured: Measured) -> Observation:
    found = {
        method: {what: [fmean(n[what]) for n in of(measured, method) if n[what]] for what in WHAT}
        for method in WORDS
    }
    some = [numbers for method in WORDS for numbers in of(measured, method)]
    can_tell = (
        min(len(of(measured, method)) for method in WORDS) >= LEAST_SEEDS
        and min(numbers["epochs"] for numbers in some) >= LEAST_EPOCHS
    )
    told = "; ".join(
        f"{WORDS[method]} {words} {fmean(found[method][what]):.3f}"
        for method in WORDS
        for what, words in WHAT.items()
        if found[method][what]
    )
    is_faster = all(found[method][what] for method in WORDS for what in WHAT) and (
        fmean(found["bnp"]["losses"]) < fmean(found["none"]["losses"])
        and fmean(found["bnp"]["accuracies"]) > fmean(found["none"]["accuracies"])
    )
    return Observation(
        source="L-fig-8, left",
        statement="Test accuracy and training loss confirm accelerated convergence by BNP.",
        criterion="As means over epochs and seeds, the loss of BNP is below that of the vanilla "
        "network and its accuracy above.",
        appeared=is_faster if can_tell else None,
        found=told if can_tell else f"{told} (needs {LEAST_SEEDS} seeds, {LEAST_EPOCHS} epochs)",
    )


WHAT = {"losses": "loss", "accuracies": "accuracy"}


def _spread(found: Sequence[float]) -> str:
    if not found:
        return "nothing measured"
    return f"{min(found):.2g} to {max(found):.2g}, median {median(found):.2g}"
