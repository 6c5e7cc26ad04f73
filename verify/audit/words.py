"""What is to be said of a layer, in words, with how far it is beyond what does not matter.

Of a layer of which nothing is beyond its threshold, what is nearest to one is said.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from math import inf, log10

from verify.audit.report import Finding, MapRow, NormalizationRow, Report, Spread
from verify.audit.rows import decades

Say = Callable[[float, str], Finding]
HEALTHY = "No layer is beyond a threshold. Nearest to one:"
WRONG = 16.0
"""How grave a wrong gradient is: more than anything else."""
MASKED = -2.5
"""How grave it is, at least, that some examples or positions get no gradient: it is not."""
LOST = 3.0
"""Decimal digits that a variance in one pass may lose before something is said."""
STEEP = 10.0
"""A factor of the gradient."""
FEW = 8
"""Entries of a unit."""
LITTLE = 0.1
"""Of the gradient that a layer leaves."""
GAIN = 1e4
"""Of preconditioning, in the bound on the Hessian's condition number."""
MOST = 12.0
"""Decades, of a condition number that is not resolved."""


def findings(
    report_rows: list[NormalizationRow], maps: list[MapRow], in_evaluation: Collection[str] = ()
) -> list[Finding]:
    """Return what is to be said of every layer, the gravest first.

    Args:
        report_rows: of normalisations.
        maps: of linear layers and convolutions.
        in_evaluation: normalisations that apply constants as the model was given.
    """
    of_layers = [list(_of_normalization(row)) for row in report_rows]
    of_layers += [list(_of_map(row, in_evaluation)) for row in maps]
    found = [f for said in of_layers for f in _grave_or_nearest(said)]
    return sorted(found, key=lambda f: -f.severity)


def lines(report: Report) -> list[str]:
    """Return the worst layers in words, a line each; first, if so, that none is in trouble."""
    said = [f"{name}: {'; '.join(sentences)}." for name, sentences in report.worst(3)]
    return said if any(f.is_grave for f in report.findings) else [HEALTHY, *said]


def _grave_or_nearest(said: list[Finding]) -> list[Finding]:
    if grave := [finding for finding in said if finding.is_grave]:
        return grave
    nearest = sorted(said, key=lambda f: -f.severity)[:1]
    return [Finding(f.layer, f.severity, f"{f.sentence}, which is no trouble") for f in nearest]


def _of_normalization(row: NormalizationRow) -> Iterator[Finding]:
    def say(severity: float, sentence: str) -> Finding:
        return Finding(row.layer, round(severity, 3), sentence)

    if row.is_frozen:
        yield say(
            0.1, "it divides by running statistics even in training mode; no statement is about it"
        )
    else:
        yield from _of_precision(row, say)
    if row.is_wrong and row.off_gradient is not None:
        share = f"{row.off_gradient.worst:.2g} of (gamma/sigma)|g| ({row.off_gradient.unit})"
        said = f"it gives back another gradient than its output's, off by {share}"
        why = "a hook of yours changes it" if row.is_hooked else "python -m verify conform"
        yield say(WRONG, f"{said}: {why}")
    if row.is_frozen or row.is_another:
        return
    if row.overflown:
        yield say(
            WRONG,
            f"the squares of {row.overflown} of {row.units} units add up to more than the network's"
            " numbers hold, so that nothing is left of them; scale what it is given",
        )
    yield from _of_sizes(row, say)
    yield from _of_running_statistics(row, say)
    if (steep := _worst(row.lipschitz)) > 0:
        yield say(
            log10(steep / STEEP),
            f"it multiplies gradients by up to gamma/sigma = {steep:.3g} ({row.lipschitz.unit})",
        )
    left = row.left_of_gradient.median
    if left is not None and left < inf and not row.overflown:
        yield say(
            log10(LITTLE / max(left, 1e-6)),
            f"it leaves {left:.2g} of its gradient in the median unit, the rest being along the"
            " ones and yhat",
        )


def _of_sizes(row: NormalizationRow, say: Say) -> Iterator[Finding]:
    """Yield what is to be said of how many entries are taken together, and of units at the edge."""
    if row.m == 1:
        kept = "does not depend on it" if row.is_centred else "depends on its sign alone"
        yield say(8, f"one entry is normalised at a time, so that its output {kept}")
    elif row.m < FEW:
        said = f"only {row.m} entries are normalised together"
        if row.unbiased is not None:
            said += f"; the running variance is {row.unbiased:.2f} times what it divides by"
        yield say(log10(FEW / row.m), said)
    if row.zero_gamma:
        yield say(0.5, f"gamma = 0 at {row.zero_gamma} of its channels or features")
    constant = (
        "do not vary on the batch: their output is beta"
        if row.is_centred
        else "are zero on the batch, and so is their output"
    )
    # A loss on some of the words, or on one, reaches no others: that is no fault of a layer.
    of_dead = 0.5 if row.by_batch or row.dead == row.units else MASKED
    for count, least, what in ((row.constant, 2, constant), (row.dead, of_dead, "get no gradient")):
        if count:
            yield say(least + 2 * count / row.units, f"{count} of {row.units} units {what}")


def _of_running_statistics(row: NormalizationRow, say: Say) -> Iterator[Finding]:
    if (drift := _worst(row.drift_of_mean)) > 1 and row.drift_of_mean is not None:
        yield say(
            0.5 + log10(drift),
            f"its running mean is {drift:.2g} sigma off the batch's ({row.drift_of_mean.unit})",
        )
    if row.calls > 1 and row.drift_of_mean is not None:
        yield say(1.0, f"it runs {row.calls} times a pass: running statistics are updated as often")


def _of_precision(row: NormalizationRow, say: Say) -> Iterator[Finding]:
    least = row.variance_over_eps.worst
    if least is not None and 0 < least < 1:  # of those that do not vary another sentence tells
        yield say(
            min(decades(1 / max(least, 1e-6)), 6) / 3 + 0.2,
            f"epsilon outweighs the variance by {1 / least:.3g} ({row.variance_over_eps.unit})",
        )
    lost = _worst(row.digits_lost)
    if 0 < lost < inf:
        yield say(
            (min(lost, 16) - LOST) / 2,
            f"means are {_worst(row.mean_over_deviation):.2g} deviations from zero: a variance in"
            f" one pass loses {lost:.1f} decimal digits, of the 7 of float32"
            f" ({row.digits_lost.unit})",
        )
    if row.beyond_half:
        yield say(
            0.5 + row.beyond_half / row.units,
            f"float16 cannot hold the variance, 1/sigma^3 or an entry of {row.beyond_half} of"
            f" {row.units} units",
        )


def _of_map(row: MapRow, in_evaluation: Collection[str]) -> Iterator[Finding]:
    if row.gain == inf:
        yield Finding(
            row.layer,
            MOST,
            "the condition number of its inputs is beyond what float64 resolves, about 10^12, and"
            f" {row.kappa_normalized:.3g} if preconditioned",
        )
    elif row.gain is not None and row.gain > 0:
        yield Finding(
            row.layer,
            round(log10(row.gain / GAIN) / 2, 3),
            f"the condition number of its inputs is {row.kappa:.3g}, {row.kappa_normalized:.3g} if"
            f" preconditioned{_of_directions(row)}: the bound on its Hessian's is divided by"
            f" {row.gain:.2g}",
        )
    if row.useless_bias:
        after = f" layer {row.normalized_by}" if row.normalized_by else " what comes after"
        if row.normalized_by in in_evaluation:
            said = f"its bias would do nothing in training mode:{after} is in evaluation mode"
        else:
            said = f"its bias does nothing:{after} takes it away"
        yield Finding(row.layer, 0.2, said)


def _of_directions(row: MapRow) -> str:
    """Return over how many directions a condition number is, where some are roundings, or none."""
    if row.rank is None or row.rank >= min(row.rows, row.columns - (row.constant or 0)):
        return ""
    return f", over the {row.rank} of {row.columns} directions that are more than roundings"


def _worst(spread: Spread | None) -> float:
    return 0.0 if spread is None or spread.worst is None else spread.worst
