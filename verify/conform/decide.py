"""From sizes to words: wrong or inaccurate, by two precisions; how an inaccuracy grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from verify.conform.judge import Cell
from verify.conform.oracle import PRECISIONS
from verify.conform.words import DOES_NOT_SHRINK, LARGE_ALONE, Word

Key = tuple[str, str, str, str]
"""Mode, output, stratum, dtype."""
DECIDING = ("float64", "float32")
OF_OFFSET, FOLDED = "mean/sd", ", as γx/σ + (β - γμ/σ) for γ(x - μ)/σ + β does"


def decided(cells: Sequence[Cell], variables: Mapping[str, tuple[float, float]]) -> list[Cell]:
    """Return the cells with the words *wrong* and *inaccurate* decided, and growth described.

    Args:
        cells: what :func:`verify.conform.judge.judged` yields, for all cases.
        variables: for each stratum mean/sd and m, as far as it is one of a series; else nan.
    """
    found = {(c.mode, c.output, c.stratum, c.dtype): c for c in cells}
    wrong = {key for key, cell in found.items() if _is_large(cell) and _does_not_shrink(key, found)}
    wrong_elsewhere = {
        (mode, output, found[key].kind) for key in wrong for mode, output, *_ in [key]
    }
    growth = {
        series: _growth([c for c in cells if (c.mode, c.output, c.dtype) == series], variables)
        for series in {(c.mode, c.output, c.dtype) for c in cells if _is_large(c)}
    }

    def word(cell: Cell) -> Cell:
        if not _is_large(cell):
            return cell
        key = (cell.mode, cell.output, cell.stratum)
        pair = {(*key, dtype) for dtype in DECIDING}
        if pair & wrong:
            return cell
        has_partner = any(
            k in found and found[k].units is not None for k in pair - {(*key, cell.dtype)}
        )
        if not has_partner and (cell.mode, cell.output, cell.kind) in wrong_elsewhere:
            return cell
        how = growth[cell.mode, cell.output, cell.dtype]
        is_folded = cell.mode.startswith("evaluation") and OF_OFFSET in how
        return replace(cell, word=Word.INACCURATE, reason=f"{how}{FOLDED if is_folded else ''}")

    return [word(cell) for cell in cells]


def crashed(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells, with the word *raises* for a mode that ends in an error at every case.

    So it is for what ends in the same error in other modes.
    """
    others = {cell.mode for cell in cells if not cell.is_crash}
    errors = {cell.reason for cell in cells if cell.mode not in others}

    def word(cell: Cell) -> Cell:
        # Where an error may be a refusal, its place in the layer's code is not told.
        same = (error for error in errors if cell.reason and error.startswith(cell.reason))
        error = next(same, "")
        return replace(cell, word=Word.RAISES, reason=error) if error else cell

    return [word(cell) for cell in cells]


def _is_large(cell: Cell) -> bool:
    return cell.word is Word.WRONG and cell.units is not None


def _does_not_shrink(key: Key, found: Mapping[Key, Cell]) -> bool:
    """Whether a large error is no matter of rounding."""
    *place, dtype = key
    if dtype not in DECIDING:
        return False
    units = found[key].units or 0.0
    partner = found.get((*place, "float32" if dtype == "float64" else "float64"))  # type: ignore[arg-type]
    if partner is None or partner.units is None:
        return _is_beyond_rounding(found[key])
    is_rounding = dtype == "float32" and not _is_beyond_rounding(found[key])
    return not is_rounding and units > DOES_NOT_SHRINK * max(partner.units, 1.0)


def _is_beyond_rounding(cell: Cell) -> bool:
    """Whether an error is too large for rounding, at a case where rounding takes little."""
    is_easy = cell.condition < LARGE_ALONE * PRECISIONS[cell.dtype].unit
    return is_easy and (cell.units or 0.0) > LARGE_ALONE


def _growth(cells: Sequence[Cell], variables: Mapping[str, tuple[float, float]]) -> str:
    """Say how the units grow with mean/sd and with m, where a power fits."""
    sentences = []
    for index, name in enumerate((OF_OFFSET, "m")):
        points = sorted(
            (variables[c.stratum][index], c.units)
            for c in cells
            if c.units is not None and c.units > 1 and np.isfinite(variables[c.stratum][index])
        )
        # Beyond the largest error nothing is left to lose.
        last = max(range(len(points)), key=lambda k: points[k][1], default=0)
        if last >= 2:
            value, units = np.log2(np.array(points[: last + 1], dtype=float)).T
            exponent = float(np.polyfit(value, units, 1)[0])
            if exponent > 0.2:
                sentences.append(f"({name})^{exponent:.1f}")
    said = " and ".join(sentences)
    return f"grows like {said} beyond rounding" if said else "rounds more than two passes do"
