"""Which cases and modes an examination consists of, and one of them carried out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from verify.conform.cases import (
    CHANNELS,
    KINDS,
    LAYOUT,
    PARAMETERS,
    PLAIN,
    Case,
    Stratum,
    draw,
    strata,
)
from verify.conform.examine import Bench, Outcome
from verify.conform.judge import Cell, judged
from verify.conform.modes import MODES, Mode, by_name
from verify.conform.oracle import Convention, Oracle

OF_SCALE = ("gamma", "hgamma", "tgamma", "egamma", "ehgamma")
OF_SHIFT = ("beta", "hbeta", "tbeta")
BY_SHAPE = (
    *("vmap parameters", "vmap all", "vmap all gradient"),
    *("step second", "evaluation second"),
)
"""Examined where shapes or layouts are others, and not where only numbers are."""
OF_ROWS = ("rows of a wider array", "every second row")
"""Layouts that a kernel for rows takes without a copy."""
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
    is_affine: bool = True
    has_shift: bool = True
    kinds: tuple[str, ...] = KINDS
    """The kinds of cases that are examined."""
    strata: tuple[str, ...] = ()
    """Only those of these names; none: all."""
    stored: tuple[str, ...] = ()
    """Only those that are stored in these ways; none: all."""

    @property
    def is_centred(self) -> bool:
        """Whether the mean is subtracted."""
        return self.family != "rms"

    def leaves_out(self, cell: Cell) -> bool:
        """Whether a cell is about a parameter that the layer does not have."""
        answer = by_name(cell.mode).answers.get(cell.output)
        without_scale = not self.is_affine and answer in OF_SCALE
        return without_scale or (answer in OF_SHIFT and not (self.is_affine and self.has_shift))

    def oracle(self, case: Case) -> Oracle:
        """Return the answers at a case."""
        return Oracle(
            case.inputs, case.eps, case.dtype, case.place, self.is_centred, self.convention
        )


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

    def case(self, options: Options) -> Case:
        """Return the numbers."""
        return draw(
            self.stratum,
            self.dtype,
            options.family,
            self.axes,
            options.seed,
            options.groups,
            options.eps,
            options.is_affine,
            options.has_shift,
        )


def plan(options: Options) -> list[Examination]:
    """Return the examinations in order, the most telling first."""
    places = [*strata(options.dtypes, options.seed), *_of_layouts(options)]
    planned = (
        Examination(
            stratum,
            dtype,
            stratum.axes or options.axes[0],
            tuple(m for m in options.modes if _is_examined(by_name(m), stratum, dtype)),
        )
        for stratum in places
        if _is_wanted(stratum, options)
        for dtype in options.dtypes
        if dtype in stratum.dtypes
    )
    return [examination for examination in planned if examination.modes]


def _is_wanted(stratum: Stratum, options: Options) -> bool:
    stored = stratum.stored_as
    return (
        stratum.kind in options.kinds
        and stratum.name in (options.strata or (stratum.name,))
        and stored in (options.stored or (stored,))
    )


def _is_examined(mode: Mode, stratum: Stratum, dtype: str) -> bool:
    highest = min(stratum.order, 1) if dtype in HALF else stratum.order
    is_telling = mode.name not in BY_SHAPE or stratum.kind in (PLAIN, CHANNELS, LAYOUT)
    return mode.order <= highest and is_telling


def _of_layouts(options: Options) -> Iterator[Stratum]:
    """Yield a stratum for each further layout of the axes and of memory."""
    for axes in options.axes[1:]:
        yield Stratum(axes, LAYOUT, 30, 4, axes=axes)
    maps = [axes for axes in options.axes if len(axes) == 4]
    for axes in maps:
        yield Stratum(f"{axes}, all lengths equal", LAYOUT, 64, 4, axes=axes)
        for letter in "NHW":
            yield Stratum(f"{axes}, {letter} = 1", LAYOUT, 30, 4, axes=axes, single=letter)
    first = options.axes[0]
    for layout in options.layouts:
        if layout != "channels last" or maps:
            axes = maps[0] if maps and layout not in OF_ROWS else first
            yield Stratum(layout, LAYOUT, 30, 4, axes=axes, layout=layout)
    if "non-contiguous" in options.layouts:
        yield Stratum("non-contiguous, N = C", LAYOUT, 8, 8, axes=first, layout="non-contiguous")
        if options.is_affine:
            yield Stratum(PARAMETERS, LAYOUT, 30, 4, axes=first, layout=PARAMETERS)
    if "expanded" in options.layouts:
        for axes in maps:
            yield Stratum(f"expanded x, {axes}", LAYOUT, 30, 4, axes=axes, layout="expanded x")


def cells_of(
    examination: Examination,
    bench: Bench,
    options: Options,
    heard: Callable[[Sequence[Cell]], None] = lambda _: None,
) -> tuple[Case, list[Outcome], list[Cell]]:
    """Run one examination; the exact answers are computed while the subject computes its own.

    Args:
        examination: which.
        bench: where the subject is.
        options: of the whole.
        heard: is given the cells of each mode as they are found.
    """
    case = examination.case(options)
    replies = bench.outcomes(case, examination.modes)
    oracle = options.oracle(case)
    token = examination.token(options)
    outcomes: list[Outcome] = []
    cells: list[Cell] = []
    for outcome in replies:
        outcomes.append(outcome)
        with np.errstate(all="ignore"):
            judged_ = judged(case, oracle, outcome, token)
            found = [cell for cell in judged_ if not options.leaves_out(cell)]
        heard(found)
        cells += found
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


def found_again(token: str, options: Options) -> tuple[Examination, str, str]:
    """Return the examination, the mode and the output that a token leads to.

    Raises:
        ValueError: it is no token of such a run.
    """
    by_token = {e.token(options): e for e in plan(options)}
    place, _, output = token.rpartition(":")
    place, _, mode = place.rpartition(":")
    if place not in by_token:
        raise ValueError(
            f"the token {token!r} leads to no case of this examination; give a token that it "
            "printed, with the same options"
        )
    return by_token[place], mode, output
