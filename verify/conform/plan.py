"""Which cases and modes an examination consists of, and one of them carried out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from verify.conform.cases import (
    ALIKE,
    BLOCKS,
    BOTH,
    CHANNELS,
    EXPANDED_X,
    FAR,
    KINDS,
    LAYOUT,
    NEED_SCALE,
    NEED_SHIFT,
    NO_GAMMA,
    ONE_NUMBER,
    ORDINARY,
    PARAMETERS,
    PLAIN,
    SINGLE,
    SIZES,
    Case,
    Stratum,
    draw,
    drawn_part_of_eps,
    strata,
)
from verify.conform.examine import Bench, Outcome
from verify.conform.geometry import OF_LAST_AXIS, cube
from verify.conform.judge import Cell, judged
from verify.conform.modes import MODES, Mode, by_name
from verify.conform.oracle import Convention, Oracle

OF_SCALE = ("gamma", "hgamma", "tgamma", "egamma", "ehgamma")
OF_SHIFT = ("beta", "hbeta", "tbeta")
BY_SHAPE = (
    *("vmap parameters", "vmap all", "vmap all gradient"),
    *("step second", "evaluation second"),
    *("one at a time", "output changed"),
)
"""Examined where shapes or layouts are others, and not where only numbers are."""
OF_ROWS = ("rows of a wider array", "every second row", "transposed", "offset")
"""Layouts that a kernel for rows takes without a copy, or takes for rows."""
FIRST_ORDER = ("offset", ONE_NUMBER, "channels last x", "channels last g")
"""Layouts that are examined to the first derivative, where a kernel reads memory."""
HARD = ("mean/sd = 2^12", "tiny (2^-20)", "near constant", "NaN", "many channels")
"""Strata that are repeated on maps, where a layer takes rows as well."""
HARD_IN_BLOCKS = ("plain", "mean/sd = 2^12", "near constant", "tiny (2^-20)", "huge (2^20)", "NaN")
STORED_IN_BLOCKS = (
    *("non-contiguous", "rows of a wider array", "every second row", "transposed"),
    *("channels last", "one number"),
)
"""Strata and layouts that are repeated in blocks, and the modes in which they are examined."""
IN_BLOCKS = (
    *("forward", "gradient", "own gradient", "jvp", "own jvp", "recorded gradient"),
    *("without gradient", "running", "evaluation", "evaluation gradient"),
)
GRADIENTS = ("gradient", "own gradient", "recorded gradient")
"""Modes in which units of one entry are examined far from zero.

A right forward may take gamma mean/sigma from gamma x/sigma, and lose what it may there.
"""
ROWS, OF_A_ROW = 2**16 + 2**10 + 1, 4
"""Rows whose number takes more than sixteen bits, enough of them to be seen in an average."""
IN_ROWS = ("forward", "gradient", "own gradient")
"""Modes in which so many rows are examined."""
HIDDEN = (768, 1024, 4096)
"""Sizes of rows that are in use."""
ROW, MAP = len("NCL"), len("NCHW")
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
    may_lack_gamma: bool = False
    """Whether the layer may be called with beta and without gamma."""
    eps_is_single: bool = False
    """Whether every eps is a float32."""

    @property
    def is_centred(self) -> bool:
        """Whether the mean is subtracted."""
        return self.family != "rms"

    def leaves_out(self, cell: Cell, stratum: Stratum) -> bool:
        """Whether a cell is about a parameter that the layer does not have, or is not given."""
        answer = by_name(cell.mode).answers.get(cell.output)
        has_scale = self.is_affine and stratum.change != NO_GAMMA
        without_scale = not has_scale and answer in OF_SCALE
        return without_scale or (answer in OF_SHIFT and not (self.is_affine and self.has_shift))

    def oracle(self, case: Case) -> Oracle:
        """Return the answers at a case."""
        inputs = case.near_zero() if self.is_centred else case.inputs
        return Oracle(inputs, case.eps, case.dtype, case.place, self.is_centred, self.convention)


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
        eps = self.stratum.eps if options.eps is None else options.eps
        return draw(
            self.stratum,
            self.dtype,
            options.family,
            self.axes,
            options.seed,
            options.groups,
            float(np.float32(eps)) if options.eps_is_single else eps,
            options.is_affine,
            options.has_shift,
        )


def plan(options: Options) -> list[Examination]:
    """Return the examinations in order, the most telling first."""
    everywhere = strata(options.dtypes, options.seed)
    laid_out = *_of_layouts(options), *_of_memory(options), *_of_one_array(options)
    in_blocks = _of_blocks(everywhere, options)
    places = [*everywhere, *_of_shapes(everywhere, options), *laid_out, *in_blocks]
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
    stored, has_shift = stratum.stored_as, options.is_affine and options.has_shift
    return (
        stratum.kind in options.kinds
        and stratum.name in (options.strata or (stratum.name,))
        and stored in (options.stored or (stored,))
        and (options.is_affine or stratum.change not in NEED_SCALE)
        and (has_shift or stratum.change not in NEED_SHIFT)
        and ((has_shift and options.may_lack_gamma) or stratum.change != NO_GAMMA)
    )


def _is_examined(mode: Mode, stratum: Stratum, dtype: str) -> bool:
    highest = min(stratum.order, 1) if dtype in HALF else stratum.order
    if (stratum.together, stratum.units) == BLOCKS:
        return mode.name in IN_BLOCKS
    if stratum.name == FAR:
        return mode.name in GRADIENTS
    if ROWS in (stratum.together, stratum.units):
        return mode.name in IN_ROWS
    is_telling = mode.name not in BY_SHAPE or stratum.kind in (PLAIN, CHANNELS, LAYOUT)
    return mode.order <= highest and is_telling


def _maps(options: Options) -> list[str]:
    return [axes for axes in options.axes if len(axes) == MAP]


def _of_shapes(everywhere: Sequence[Stratum], options: Options) -> Iterator[Stratum]:
    """Yield on maps what else only rows have of the telling numbers, and sizes in use."""
    maps = _maps(options)
    if maps and maps[0] != options.axes[0]:
        for stratum in everywhere:
            if stratum.name in HARD:
                yield replace(stratum, name=f"{stratum.name}, {maps[0]}", axes=maps[0], order=1)
    for axes in maps[:1]:
        plane = 57 * 65
        yield Stratum("one plane", SIZES, plane, 2, axes=axes, single="N", order=1)
    is_of_rows = options.family in OF_LAST_AXIS
    if options.axes[0] == "NC":
        yield from _many_rows(options)
    for axes in (axes for axes in options.axes if len(axes) == ROW):
        together, units = (16, 13 * 77) if is_of_rows else (71 * 73, 16)
        yield Stratum(f"{axes}, long", SIZES, together, units, axes=axes, order=1)
    if is_of_rows:
        for together in HIDDEN:
            yield Stratum(f"m = {together}", SIZES, together, 3, order=1)


def _many_rows(options: Options) -> Iterator[Stratum]:
    """Yield a case of more rows than sixteen bits count; a row in the wrong place is no rounding.

    An example that an average leaves out is seen in double precision.  There are more rows than
    numbers of half precision between a power of two and the next: a sum over them that is added up
    in half precision stands still, see :data:`~verify.conform.cases.ALIKE`.
    """
    eps = drawn_part_of_eps(options.seed) * 0.125
    rows = Stratum(f"{ROWS} rows", SIZES, OF_A_ROW, ROWS, eps=eps, order=1, dtypes=SINGLE)
    if options.family in OF_LAST_AXIS:
        yield replace(rows, change=ALIKE, dtypes=(*SINGLE, *HALF))
    elif options.family == "group":
        yield replace(rows, change=ALIKE, dtypes=HALF)
    elif options.family == "batch":
        yield replace(rows, together=ROWS, units=OF_A_ROW, dtypes=BOTH)


def _of_layouts(options: Options) -> Iterator[Stratum]:
    """Yield the strata of further axes."""
    for axes in options.axes[1:]:
        yield _laid_out(axes, axes)
    for axes in options.axes:
        if len(axes) > len("NC"):
            name, sizes = f"{axes}, all lengths equal", cube(options.family, axes)
            yield Stratum(name, LAYOUT, *sizes, axes=axes)
    for axes in _maps(options):
        for letter in "NHW":
            yield Stratum(f"{axes}, {letter} = 1", LAYOUT, ORDINARY, 4, axes=axes, single=letter)


def _of_memory(options: Options) -> Iterator[Stratum]:
    """Yield the strata whose arrays are stored otherwise."""
    first, maps = options.axes[0], _maps(options)
    widest = (*maps, first)[0]
    for layout in options.layouts:
        if layout != "channels last":
            yield _laid_out(layout, first if layout in OF_ROWS else widest, layout)
    if "channels last" in options.layouts:
        for axes in maps[:1]:
            yield _laid_out("channels last", axes, "channels last")
        for axes in (axes for axes in options.axes if len(axes) > MAP):
            yield _laid_out(f"channels last, {axes}", axes, "channels last")
    if "transposed" in options.layouts and options.family in OF_LAST_AXIS:
        for axes in options.axes[1:]:
            yield _laid_out(f"transposed, {axes}", axes, "transposed")
    if "non-contiguous" in options.layouts:
        yield Stratum("non-contiguous, N = C", LAYOUT, 8, 8, axes=first, layout="non-contiguous")
        if options.is_affine:
            yield _laid_out(PARAMETERS, first, PARAMETERS)


def _of_blocks(everywhere: Sequence[Stratum], options: Options) -> Iterator[Stratum]:
    """Yield what is hard about numbers and memory, where arrays are large."""
    for stratum in everywhere:
        if stratum.name in HARD_IN_BLOCKS:
            yield _in_blocks(stratum)
    for stratum in _of_memory(options):
        if stratum.name in STORED_IN_BLOCKS:
            yield _in_blocks(stratum)


def _in_blocks(stratum: Stratum) -> Stratum:
    together, units = BLOCKS
    name = f"{stratum.name}, {together} by {units}"
    kind = SIZES if stratum.kind == PLAIN else stratum.kind
    return replace(stratum, name=name, kind=kind, together=together, units=units, order=1)


def _of_one_array(options: Options) -> Iterator[Stratum]:
    """Yield the strata where x alone is stored otherwise, or the cotangent."""
    maps = _maps(options)
    if "transposed" in options.layouts:
        dense = "channels last" if maps and "channels last" in options.layouts else "transposed"
        for layout in (f"{dense} x", f"{dense} g"):
            yield _laid_out(layout, (*maps, options.axes[0])[0], layout)
    if "expanded" in options.layouts:
        # A batch of equal rows is constant.
        rows = [axes for axes in options.axes[:2] if options.family != "batch"]
        for axes in dict.fromkeys([*rows, *maps]):
            yield _laid_out(f"{EXPANDED_X}, {axes}", axes, EXPANDED_X)


def _laid_out(name: str, axes: str, layout: str = "") -> Stratum:
    """Return a stratum whose axes all have lengths of their own."""
    together, units = (120, 6) if len(axes) > MAP else (ORDINARY, 4)
    order = 1 if layout in FIRST_ORDER else 2 if layout else 3
    return Stratum(name, LAYOUT, together, units, axes=axes, layout=layout, order=order)


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
            found = [cell for cell in judged_ if not options.leaves_out(cell, case.stratum)]
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
