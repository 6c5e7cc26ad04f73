"""Axes of a chart: where a value goes, and which values are marked."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from verify.site.numbers import SUPERSCRIPTS

SMALL = 0.05
"""The share of smallest nonzero values that an axis may show as zero."""


@dataclass(frozen=True)
class Axis:
    """A label, marked values with their text, and each value's place from 0 to 1."""

    label: str
    ticks: tuple[tuple[float, str], ...]
    place: Callable[[float], float]


def magnitude_axis(values: Sequence[float], label: str) -> Axis:
    """Return a logarithmic axis; symmetric about zero if there are negative values."""
    sizes = sorted(abs(v) for v in values if v and math.isfinite(v)) or [0.1, 1.0]
    top = _decade(sizes[-1], up=True)
    bottom = min(_decade(sizes[int(SMALL * len(sizes))], up=False), top - 1)
    if any(v < 0 for v in values):
        return _symmetric(bottom, top, label)
    return _logarithmic(bottom, top, label, has_zero=any(abs(v) < 10.0**bottom for v in values))


def linear_axis(low: float, high: float, label: str, ticks: Sequence[float]) -> Axis:
    """Return a linear axis; values beyond its ends are drawn at the ends."""

    def place(value: float) -> float:
        return (min(max(value, low), high) - low) / (high - low)

    return Axis(label, tuple((place(t), f"{t:g}".replace("-", "−")) for t in ticks), place)


def size_axis(sizes: Sequence[int], label: str) -> Axis:
    """Return a logarithmic axis of sizes, with the sizes that occur marked."""
    low, high = math.log(min(sizes)), math.log(max(sizes))

    def place(value: float) -> float:
        return 0.5 if low == high else 0.06 + 0.88 * (math.log(value) - low) / (high - low)

    marked = _apart([(place(s), f"{s}") for s in sorted(set(sizes))], 0.07)
    return Axis(label, marked, place)


def category_axis(names: Sequence[str], label: str) -> Axis:
    """Return an axis of names; a value is a name's index."""

    def place(value: float) -> float:
        return (value + 0.5) / len(names)

    return Axis(label, tuple((place(i), name) for i, name in enumerate(names)), place)


def _logarithmic(bottom: int, top: int, label: str, has_zero: bool) -> Axis:
    start = bottom - (0.08 * (top - bottom) if has_zero else 0.0)

    def place(value: float) -> float:
        if value < 10.0**bottom:
            return 0.0 if has_zero else (math.log10(value) - start) / (top - start)
        return min((math.log10(value) - start) / (top - start), 1.0)

    marked = [(place(10.0**k), power(k)) for k in range(bottom, top + 1)]
    zero = [(0.0, "0")] if has_zero else []
    return Axis(label, tuple(zero) + _apart(marked, 0.13), place)


def _symmetric(bottom: int, top: int, label: str) -> Axis:
    half = top - bottom + 1

    def place(value: float) -> float:
        size = max(math.log10(abs(value)) - bottom + 1, 0.0) if value else 0.0
        return 0.5 + math.copysign(min(size / half, 1.0), value) / 2

    step = max(1, -(-(top - bottom) // 3))
    powers = range(top, bottom - 1, -step)
    below = [(place(-(10.0**k)), "−" + power(k)) for k in powers]
    above = [(place(10.0**k), power(k)) for k in reversed(powers)]
    kept = [*reversed(_apart([(0.5, "0"), *_mirrored(below)], 0.1)[1:])]
    left = tuple((1 - p, text) for p, text in kept)
    return Axis(label, (*left, *_apart([(0.5, "0"), *above], 0.1)), place)


def _mirrored(ticks: list[tuple[float, str]]) -> list[tuple[float, str]]:
    return [(1 - p, text) for p, text in reversed(ticks)]


def power(exponent: int) -> str:
    """Return a power of ten as text.

    >>> power(-3)
    '10⁻³'
    """
    return {0: "1", 1: "10"}.get(exponent, "10" + str(exponent).translate(SUPERSCRIPTS))


def _decade(value: float, up: bool) -> int:
    return int((math.ceil if up else math.floor)(math.log10(value)))


def _apart(ticks: list[tuple[float, str]], distance: float) -> tuple[tuple[float, str], ...]:
    """Return the ticks that are far enough from the one kept before."""
    kept: list[tuple[float, str]] = []
    for tick in ticks:
        if not kept or tick[0] - kept[-1][0] >= distance:
            kept.append(tick)
    return tuple(kept)
