"""A whole examination: which cases and modes, the cells of each, the words of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from verify.conform import decide
from verify.conform.cases import LAYOUT, Case, Stratum, draw, strata
from verify.conform.conventions import Kept, compared, kept
from verify.conform.decide import DECIDING
from verify.conform.diagnosis import Observation, diagnosed
from verify.conform.examine import Bench, Outcome
from verify.conform.judge import Cell, judged
from verify.conform.modes import MODES, by_name
from verify.conform.oracle import Convention, Oracle
from verify.conform.probe import probe
from verify.conform.process import Facts, Order, Process, StartError
from verify.conform.report import Report
from verify.conform.words import FAILURES, Word

HALF = ("bfloat16", "float16")
"""Examined to the first derivative."""


@dataclass(frozen=True)
class Options:
    """What is examined."""

    family: str = "batch"
    dtypes: tuple[str, ...] = ("float32", "float64")
    modes: tuple[str, ...] = tuple(mode.name for mode in MODES)
    axes: tuple[str, ...] = ("NC",)
    layouts: tuple[str, ...] = ()
    seed: int = 0
    groups: int = 1
    convention: Convention = field(default_factory=Convention)
    eps: float | None = None
    """The layer's own eps, where it does not let one choose."""


@dataclass(frozen=True)
class Examination:
    """One case and the modes that are examined there."""

    stratum: Stratum
    dtype: str
    axes: str
    modes: tuple[str, ...]

    def token(self, options: Options) -> str:
        """Return the words that lead back to its numbers."""
        return f"{options.family}:{self.axes}:{options.seed}:{self.dtype}:{self.stratum.name}"


def plan(options: Options) -> list[Examination]:
    """Return the examinations in order, the most telling first."""
    places = [*strata(options.dtypes), *_of_layouts(options)]
    return [
        Examination(
            stratum,
            dtype,
            stratum.axes or options.axes[0],
            tuple(m for m in options.modes if by_name(m).order <= _order(stratum, dtype)),
        )
        for stratum in places
        for dtype in options.dtypes
        if dtype in stratum.dtypes
    ]


def _order(stratum: Stratum, dtype: str) -> int:
    return min(stratum.order, 1) if dtype in HALF else stratum.order


def _of_layouts(options: Options) -> Iterator[Stratum]:
    """Yield a stratum for each further layout of the axes and of memory."""
    for axes in options.axes[1:]:
        yield Stratum(axes, LAYOUT, 30, 4, axes=axes)
    for layout in options.layouts:
        maps = [axes for axes in options.axes if len(axes) == 4]
        if layout != "channels last" or maps:
            axes = maps[0] if maps else options.axes[0]
            yield Stratum(layout, LAYOUT, 30, 4, axes=axes, layout=layout)


def cells_of(
    examination: Examination, bench: Bench, options: Options
) -> tuple[Case, list[Outcome], list[Cell]]:
    """Run one examination; the exact answers are computed while the subject computes its own."""
    case = draw(
        examination.stratum,
        examination.dtype,
        options.family,
        examination.axes,
        options.seed,
        options.groups,
        options.eps,
    )
    replies = bench.outcomes(case, examination.modes)
    oracle = Oracle(
        case.inputs, case.eps, case.dtype, case.place, options.family != "rms", options.convention
    )
    token = examination.token(options)
    outcomes: list[Outcome] = []
    cells: list[Cell] = []
    for outcome in replies:
        outcomes.append(outcome)
        with np.errstate(all="ignore"):
            cells += judged(case, oracle, outcome, token)
    return case, outcomes, cells


def variables(examinations: Sequence[Examination]) -> dict[str, tuple[float, float]]:
    """Return mean/sd and m of the strata that are one of a series in it; nan for the others."""
    found = {}
    for stratum in {examination.stratum for examination in examinations}:
        is_offset = stratum.name.startswith("mean/sd")
        is_length = stratum.name.startswith("m = ") and stratum.together >= 7
        found[stratum.name] = (
            stratum.offset if is_offset else float("nan"),
            float(stratum.together) if is_length else float("nan"),
        )
    return found


@dataclass(frozen=True)
class Wanted:
    """What the caller asks for; what is empty is left to the subject."""

    like: str = ""
    """Whose conventions; empty: what the subject promises, else inferred."""

    dtypes: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    seed: int = 0
    limit: float = 20.0


Tell = Callable[[str, int, int], None]
"""Takes what is going on, how much is done, and of how much."""


def run(order: Order, wanted: Wanted, tell: Tell = lambda *_: None) -> Report:
    """Return the report on what an order names, examined in a process of its own."""
    try:
        with Process(order, wanted.limit) as bench:
            return examine(bench, bench.facts, order.family, wanted, tell)
    except StartError as error:
        return Report(order.target, reason=str(error))


def examine(bench: Bench, facts: Facts, family: str, wanted: Wanted, tell: Tell) -> Report:
    """Return the report on the subject of a bench.

    Raises:
        StartError: it cannot be run at all.
    """
    dtypes = wanted.dtypes or tuple(d for d in ("float32", "float64") if d in facts.dtypes)
    found = probe(bench, facts, family, max(dtypes))
    conventions = {"axes": ", ".join(found.axes)}
    if found.eps is not None:
        conventions["eps"] = f"{found.eps:g}"
    like = wanted.like or facts.like
    running = Kept(Convention())
    if facts.has_running:
        running = kept(bench, family, found.axes[0], max(dtypes), like, found.eps)
        conventions["running statistics"] = running.words()
    options = Options(
        family,
        dtypes,
        wanted.modes or tuple(mode.name for mode in MODES),
        found.axes,
        facts.layouts,
        wanted.seed,
        facts.groups,
        running.convention,
        found.eps,
    )
    examinations = plan(options)
    cells: list[Cell] = []
    observed: list[Observation] = []
    for done, examination in enumerate(examinations):
        bad = sum(cell.word in FAILURES for cell in cells)
        so_far = f"{len(cells) - bad} cells right or left out, {bad} not"
        tell(f"{so_far}; {examination.stratum.name}", done, len(examinations))
        case, outcomes, found_here = cells_of(examination, bench, options)
        cells += found_here
        observed += _observations(case, outcomes, found_here)
    decided = list(compared(decide.decided(cells, variables(examinations)), running))
    framework = f"{facts.framework} {facts.version}"
    diagnosis = diagnosed(_of_wrong(observed, decided), family != "rms")
    return Report(facts.name, framework, conventions, tuple(decided), tuple(diagnosis))


SMALL = 4000
"""Entries of a case that is kept for the diagnosis."""


def _observations(
    case: Case, outcomes: Sequence[Outcome], cells: Sequence[Cell]
) -> Iterator[Observation]:
    """Yield the outputs that fail, where they are small enough to be looked at."""
    failing = {(cell.mode, cell.output) for cell in cells if cell.word is Word.WRONG}
    for outcome in outcomes:
        for output, values in outcome.outputs.items():
            # What an overwritten input makes of an output says nothing about formulas.
            is_kept = (
                not outcome.overwritten
                and case.place.statistics.size <= SMALL
                and case.dtype in DECIDING
            )
            if (outcome.mode, output) in failing and is_kept:
                yield Observation(case, outcome.mode, output, values)


def _of_wrong(observed: Sequence[Observation], cells: Sequence[Cell]) -> list[Observation]:
    """Return the observations whose cell was decided to be wrong."""
    wrong = {
        (cell.mode, cell.output, cell.stratum, cell.dtype)
        for cell in cells
        if cell.word is Word.WRONG and cell.units is not None
    }
    return [
        seen
        for seen in observed
        if (seen.mode, seen.output, seen.case.stratum.name, seen.case.dtype) in wrong
    ]
