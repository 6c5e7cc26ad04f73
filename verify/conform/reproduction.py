"""One cell again: its numbers beside the exact ones, and a script for the layer's own authors.

A script needs nothing but the framework and NumPy.  It holds the numbers of one unit where that
unit alone shows the failure, and of the whole case otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template

import numpy as np

from verify.conform.cases import NO_GAMMA, Case
from verify.conform.examine import Bench, stored_so
from verify.conform.geometry import Geometry
from verify.conform.judge import DTYPE, ENTRYWISE, INPUTS, STATE, Cell, judged
from verify.conform.modes import MOMENTUM, by_name
from verify.conform.oracle import ENTRIES, Answer
from verify.conform.plan import Examination, Options, found_again
from verify.conform.process import Facts
from verify.conform.words import FAILURES

LARGEST = 5000
"""Entries of a case that a script may hold."""


@dataclass(frozen=True)
class Again:
    """A cell that was examined again."""

    case: Case
    cell: Cell
    found: np.ndarray | None
    answer: Answer | None
    """In the shape of the layer, or one number a channel; None where a cell is no number."""

    @property
    def has_numbers(self) -> bool:
        """Whether what was found can be put beside the exact numbers."""
        return self.found is not None and self.cell.units is not None


def again(bench: Bench, options: Options, token: str) -> Again:
    """Return the cell that a token leads to, examined again.

    Raises:
        ValueError: the token leads nowhere, or the mode has no such output here.
    """
    examination, mode, output = found_again(token, options)
    case = examination.case(options)
    return _examined(bench, options, examination, case, mode, output)


def _examined(
    bench: Bench, options: Options, examination: Examination, case: Case, mode: str, output: str
) -> Again:
    outcome = next(iter(bench.outcomes(case, [mode])))
    oracle = options.oracle(case)
    with np.errstate(all="ignore"):
        cells = judged(case, oracle, outcome, examination.token(options))
        found = {cell.output: cell for cell in cells}
    if output in (INPUTS, DTYPE, STATE):
        return Again(case, found[output], None, None)
    if output not in outcome.outputs:
        raise ValueError(
            f"{mode} gives no output {output!r} here"
            + (f": {outcome.reason}" if outcome.reason else "")
        )
    return Again(
        case, found[output], outcome.outputs[output], oracle.answer(by_name(mode).answers[output])
    )


def lines(one: Again) -> Iterator[str]:
    """Yield what was found beside what is right, at the entry that is worst."""
    cell, case = one.cell, one.case
    size = "" if cell.units is None else f", {cell.units:.3g} units"
    yield f"{cell.word}{size}{f' ({cell.reason})' if cell.reason else ''}"
    yield f"mode {cell.mode}, output {cell.output}, {cell.dtype}, {cell.stratum}"
    if one.found is None or one.answer is None or not one.has_numbers:
        return
    is_entrywise = by_name(cell.mode).answers[cell.output] in ENTRYWISE
    matrix = case.place.matrix(one.found) if is_entrywise else one.found[None]
    exact = one.answer.high
    with np.errstate(all="ignore"):
        away = np.abs(matrix - exact) / one.answer.error
    worst = np.unravel_index(np.argmax(np.where(np.isnan(away), np.inf, away)), away.shape)
    entry, unit = map(int, worst)
    yield f"shape {case.place.shape}, eps {case.eps:g}; entry {entry} of unit {unit}"
    yield f"found {float(matrix[worst])!r}"
    yield f"exact {float(exact[worst])!r}"
    yield f"may be off by {one.answer.error[worst]:.3g} after two passes"


def of_unit(case: Case, unit: int) -> Case:
    """Return the case of one unit alone, for units that share no parameter."""
    place = case.place
    channel = np.arange(place.statistics.shape[0])[:, None]
    inputs = {
        name: place.matrix(values)[:, [unit]].reshape(_alone(case))
        if name in ENTRIES
        else values[[unit]]
        for name, values in case.inputs.items()
    }
    alone = Geometry(_alone(case), channel, channel)
    return replace(case, place=alone, inputs=inputs, touched=case.touched[[unit]])


def _alone(case: Case) -> tuple[int, ...]:
    lengths = zip(case.axes, case.place.shape, strict=True)
    return tuple(1 if axis == "C" else length for axis, length in lengths)


def script(bench: Bench, options: Options, about: Facts, token: str) -> str:
    """Return a script of at most ten lines that shows a failing cell.

    Raises:
        ValueError: the token leads nowhere.
    """
    one = again(bench, options, token)
    examination, mode, output = found_again(token, options)
    if options.family == "batch" and one.cell.word in FAILURES:
        for unit in range(one.case.place.channels):
            alone = of_unit(one.case, unit)
            smaller = _examined(bench, options, examination, alone, mode, output)
            if smaller.cell.word in FAILURES:
                one = smaller
                break
    if one.answer is None:
        raise ValueError("no number fails; the sentence says what does")
    if one.case.place.statistics.size > LARGEST:
        raise ValueError(f"the case has {one.case.place.statistics.size} entries; read its numbers")
    return "\n".join(_script(one, about)) + "\n"


def _script(one: Again, about: Facts) -> Iterator[str]:
    assert one.answer is not None
    mode, case = by_name(one.cell.mode), one.case
    names = [name for name in case.inputs if re.search(rf"\b{name}\b", about.code[mode.name])]
    yield f"# {one.cell.mode}, {one.cell.output}: {about.name}, {about.framework} {about.version}"
    yield about.imports.format(dtype=case.dtype)
    yield Template(about.script).safe_substitute(
        channels=case.place.channels, eps=repr(case.eps), dtype=case.dtype
    )
    if case.stratum.change == NO_GAMMA:
        yield "with_gamma = layer; layer = lambda x, _, beta, eps: with_gamma(x, None, beta, eps)"
    listed = ", ".join(_literal(case.inputs[name]) for name in names)
    yield f"{', '.join(names)} = map(array, ({listed},))"
    layout = case.stratum.layout
    if stored := [name for name in names if layout and name in stored_so(layout)]:
        how = about.stored.get(case.stratum.stored_as, "")
        yield f"{', '.join(stored)}, = map({how or 'lambda t: t'}, ({', '.join(stored)},))"
    yield f"eps, momentum = {case.eps!r}, {MOMENTUM!r}"
    yield about.code[mode.name]
    found = list(mode.answers).index(one.cell.output)
    yield f'print("found", numpy(found[{found}]).ravel().tolist())'
    exact = one.answer.high
    if by_name(one.cell.mode).answers[one.cell.output] in ENTRYWISE:
        in_place = np.empty(exact.size)
        in_place[case.place.statistics] = exact
        exact = in_place
    yield f'print("exact", {exact.ravel().tolist()})'


def _literal(values: np.ndarray) -> str:
    return (
        np.array2string(
            values,
            separator=",",
            threshold=values.size + 1,
            max_line_width=10**9,
            floatmode="unique",
        )
        .replace("\n", "")
        .replace(" ", "")
        .replace("nan", "float('nan')")
        .replace("inf", "float('inf')")
    )


def written(
    bench: Bench, options: Options, about: Facts, rows: Mapping[tuple[str, str], str], folder: Path
) -> dict[str, str]:
    """Write a script for each failing mode and output; return its path by its token."""
    paths = {}
    for (mode, output), token in rows.items():
        if mode not in about.code:
            continue
        try:
            text = script(bench, options, about, token)
        except ValueError:  # a case too large for a script
            continue
        path = folder / f"{re.sub(r'[^a-z0-9]+', '-', f'{mode} {output}')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        paths[token] = str(path)
    return paths
