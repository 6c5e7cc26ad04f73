"""One outcome against the oracle: units of error, and a first word for each output."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from verify.conform.cases import HOLDS, Case
from verify.conform.examine import Outcome
from verify.conform.modes import by_name
from verify.conform.oracle import Oracle, rounded_to
from verify.conform.words import JUDGED, LIMIT, Word

ENTRYWISE = frozenset({"z", "x", "dz", "ddz", "hx", "tx", "ez", "ex", "edz", "ehx"})
"""Closed forms of the layer's shape; the others are one number a channel."""
NEVER_FINITE = frozenset({"z", "gamma", "hgamma", "tgamma", "egamma"}) | ENTRYWISE - {"ex", "ehx"}
"""Closed forms that an entry that is not finite makes so, at one of its channel's entries."""
OF_COTANGENT = frozenset({"x", "gamma", "beta", "ex", "egamma"})
"""Closed forms that a cotangent which is not finite makes so; it is a batch of running, too."""
OF_GAMMA = frozenset({"z", "x", "dz", "ez", "ex", "edz"})
OF_BETA = frozenset({"z", "ez"})
"""Closed forms that gamma makes so, and beta."""
REACHED = {
    "x": (None, NEVER_FINITE),
    "g": (OF_COTANGENT | {"mean3", "variance3"}, OF_COTANGENT),
    "gamma": (OF_GAMMA, OF_GAMMA),
    # A backward may take yhat from the output.
    "beta": (None, OF_BETA),
}
"""By the array that holds it: the closed forms that such an entry reaches, and those that it makes
so at one of its channel's entries; None: all of them."""
KEPT = ("variance", "variance3")
"""Closed forms that have no value for a batch of one entry, where they are of m - 1."""
REMEMBERED = "m - 1 is zero, and NaN is remembered for ever"
"""Of a running variance after a batch of one entry."""
INPUTS, DTYPE, STATE = "inputs", "dtype", "state"
"""No numbers: whether the inputs are as before, what dtype came out, what the statistics keep."""


@dataclass(frozen=True)
class Cell:
    """One output of one mode at one case."""

    mode: str
    output: str
    dtype: str
    stratum: str
    kind: str
    """The stratum's kind."""
    word: Word
    units: float | None = None
    """Largest |output - exact| / (u * bound); None where nothing was measured."""
    reason: str = ""
    token: str = ""
    condition: float = 0.0
    """How much of the statistics rounding may take."""
    is_crash: bool = False
    """Whether the reason is an error, and no refusal."""


def judged(case: Case, oracle: Oracle, outcome: Outcome, token: str) -> Iterator[Cell]:
    """Yield a cell for each output; one that fails by its size is *wrong* until it is compared."""
    mode = by_name(outcome.mode)

    def cell(output: str, word: Word, reason: str = "", units: float | None = None) -> Cell:
        named = f"{token}:{mode.name}:{output}"
        return Cell(
            mode.name,
            output,
            case.dtype,
            case.stratum.name,
            case.stratum.kind,
            word,
            units,
            reason,
            named,
            oracle.worst_condition,
        )

    if outcome.reason:
        for output in mode.answers:
            missing = cell(output, Word.NOT_OFFERED, outcome.reason)
            yield replace(missing, is_crash=outcome.is_crash)
        return
    changed, shared = ", ".join(outcome.overwritten), ", ".join(outcome.shared)
    said = [f"changes {changed}"] * bool(changed)
    said += [f"the output is memory of {shared}: who writes to one changes both"] * bool(shared)
    yield cell(INPUTS, *((Word.OVERWRITES, "; ".join(said)) if said else (Word.RIGHT,)))
    other = {name: dtype for name, dtype in outcome.dtypes.items() if dtype != case.dtype}
    others = ", ".join(f"{name} is {dtype}" for name, dtype in other.items())
    yield cell(
        DTYPE, *((Word.WRONG, f"{others} for {case.dtype} inputs") if other else (Word.RIGHT,))
    )
    if mode.state:
        kept = " and ".join(outcome.recorded)
        graph = f"{kept} carry the graph of their batch: the memory of every step is kept"
        yield cell(STATE, *((Word.WRONG, graph) if kept else (Word.RIGHT,)))
    for output, answer in mode.answers.items():
        if output in outcome.outputs:
            yield cell(output, *_word(case, oracle, answer, outcome.outputs[output]))
        else:
            yield cell(output, Word.NOT_OFFERED, "returns None")


def _word(
    case: Case, oracle: Oracle, answer: str, output: np.ndarray
) -> tuple[Word, str, float | None]:
    is_entrywise = answer in ENTRYWISE
    expected = case.place.shape if is_entrywise else (case.place.channels,)
    if output.shape != expected:
        return Word.WRONG, f"has shape {output.shape}, expected {expected}", None
    matrix = case.place.matrix(output) if is_entrywise else output[None]
    closed = oracle.answer(answer)
    holder, _ = HOLDS.get(case.stratum.change, ("x", 0.0))
    reached, never_finite = REACHED[holder]
    touched, condition = case.touched, oracle.condition
    if reached is not None and answer not in reached:
        touched = np.zeros_like(touched)
    if not is_entrywise:
        unit_of = case.place.parameters % len(touched)
        touched, condition = touched[unit_of].any(axis=0), condition[unit_of].max(axis=0)
    is_finite = touched.any() and np.all(np.isfinite(matrix[:, touched]))
    if is_finite and answer in never_finite:
        return Word.WRONG, "hides an entry that is not finite: its channel comes out finite", None
    bound = np.fmax(closed.error, closed.error.mean(axis=0))
    fits = np.isfinite(bound) & np.isfinite(rounded_to(closed.high, case.dtype))
    has_bound = np.all(fits, axis=0) & ~touched
    if not np.all(np.isfinite(matrix[:, has_bound])):
        return Word.NOT_FINITE, _not_finite(matrix[:, has_bound]), None
    if answer in KEPT and case.together == 1 and not np.all(np.isfinite(matrix[:, ~touched])):
        return Word.NOT_FINITE, REMEMBERED, None
    is_judged = has_bound & (condition <= JUDGED[case.dtype])
    if not is_judged.any():
        return Word.NOT_JUDGED, _why_not(has_bound, touched, condition), None
    units = float(np.max((closed.distance(matrix) / bound)[:, is_judged]))
    return (Word.RIGHT if units <= LIMIT[case.dtype] else Word.WRONG), "", units


def _not_finite(matrix: np.ndarray) -> str:
    kinds = [(np.isnan(matrix), "NaN"), (np.isinf(matrix), "infinite")]
    counts = [f"{int(found.sum())} {name}" for found, name in kinds if found.any()]
    return f"{' and '.join(counts)} of {matrix.size} entries"


def _why_not(has_bound: np.ndarray, touched: np.ndarray, condition: np.ndarray) -> str:
    if touched.all():
        return "every unit holds an entry that is not finite"
    if not has_bound.any():
        return "the two-pass algorithm itself leaves the range of the dtype"
    worst = float(np.min(condition[has_bound]))
    return f"rounding may take {worst:.1%} of the statistics"
