"""A chart as SVG, with its text as text.

The picture follows the colour scheme of the page that shows it.  What differs in meaning differs
in shape and in colour, and the colours (Okabe and Ito's) are told apart by colour-blind readers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import NamedTuple

from verify.site.axes import Axis
from verify.site.numbers import tightly

WIDTH, HEIGHT = 420, 360
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 16, 50
APART = 86
"""From one name of a line to the next, above the frame."""
STYLE = """
text{font:12px system-ui,sans-serif;fill:#444}
.frame{fill:none;stroke:#b9b9b9}.grid{stroke:#e9e9e9}.guide{stroke:#8a8a8a;stroke-dasharray:5 4}
@media(prefers-color-scheme:dark){text{fill:#cfcfcf}.frame{stroke:#5c5c5c}.grid{stroke:#2e2e2e}
.guide{stroke:#8f8f8f}}
"""
OF_MARKS = """\
.wrong{fill:#d55e00;opacity:.07}.note{fill:#6b6b6b}marker{overflow:visible}
.holds{stroke:#0072b2;stroke-opacity:.55;stroke-width:6.4;stroke-linecap:round}
.violated{stroke:#d55e00;stroke-width:1.8;fill:none}
@media(prefers-color-scheme:dark){.wrong{opacity:.13}.note{fill:#a8a8a8}
.holds{stroke:#56b4e9}.violated{stroke:#ff8a3d}}
"""
OF_LINES = """\
.line{fill:none;stroke-width:1.8}.dot{fill:#fff}.c0{stroke:#0072b2}.c1{stroke:#d55e00}
.c2{stroke:#009e73}.c3{stroke:#cc79a7}.c4{stroke:#997700}.c5{stroke:#56b4e9}
@media(prefers-color-scheme:dark){.dot{fill:#131416}.c0{stroke:#56b4e9}.c1{stroke:#ff8a3d}
.c2{stroke:#2fc79b}.c4{stroke:#e6c229}}
"""
"""Styles that a picture has where it has what they are for."""
DOT = '<marker id="dot"><path class="holds" d="M0 0h0"/></marker>'
CROSS = '<marker id="cross"><path class="violated" d="M-4-4l8 8m0-8l-8 8"/></marker>'


class Mark(NamedTuple):
    """One instance: its place in data, and whether it violates the statement."""

    x: float
    y: float
    violated: bool = False
    shift: float = 0.0
    """Pixels to the right, so that equal values do not hide each other."""


class Line(NamedTuple):
    """A named series of places with a lowest and a highest value at each."""

    name: str
    places: tuple[tuple[float, float, float, float], ...]
    """x, y, lowest y, highest y."""


@dataclass(frozen=True)
class Chart:
    """What a chart shows."""

    title: str
    description: str
    x: Axis
    y: Axis
    marks: Sequence[Mark] = ()
    lines: Sequence[Line] = ()
    diagonal: bool = False
    wrong: str = ""
    """Which side of the diagonal would refute: "above", "below" or none."""
    level: float | None = None
    """A value of y at which a line is drawn."""


def svg(chart: Chart) -> str:
    """Return the chart as an SVG document."""
    body = [
        _grid(chart),
        *_ticks(chart),
        *_guides(chart),
        *_marks(chart),
        *(part for i, line in enumerate(chart.lines) for part in _line(chart, i, line)),
        f'<rect class="frame" x="{LEFT}" y="{TOP}" width="{_inner_width()}"'
        f' height="{_inner_height()}"/>',
        _text(LEFT + _inner_width() / 2, HEIGHT - 10, chart.x.label),
        f'<g transform="rotate(-90 14 {TOP + _inner_height() / 2:g})">'
        f"{_text(14, TOP + _inner_height() / 2 + 4, chart.y.label)}</g>",
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"'
        f' viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="t d" text-anchor="middle">'
        f'<title id="t">{escape(chart.title)}</title>'
        f'<desc id="d">{escape(chart.description)}</desc>'
        f"<style>{_style(chart)}</style>{''.join(body)}</svg>\n"
    )


def _style(chart: Chart) -> str:
    of_marks = OF_MARKS if chart.marks or chart.wrong else ""
    return STYLE + of_marks + (OF_LINES if chart.lines else "")


def _inner_width() -> int:
    return WIDTH - LEFT - RIGHT


def _inner_height() -> int:
    return HEIGHT - TOP - BOTTOM


def _across(place: float) -> float:
    return round(LEFT + place * _inner_width(), 1)


def _down(place: float) -> float:
    return round(TOP + (1 - place) * _inner_height(), 1)


def _text(x: float, y: float, text: str, anchor: str = "", kind: str = "") -> str:
    """A text, in the middle where nothing else is said."""
    named = {"text-anchor": anchor, "class": kind}
    attributes = "".join(f' {name}="{value}"' for name, value in named.items() if value)
    return f'<text x="{x:g}" y="{y:g}"{attributes}>{escape(text)}</text>'


def _grid(chart: Chart) -> str:
    across = [f"M{_across(p):g} {TOP}V{HEIGHT - BOTTOM}" for p, _ in chart.x.ticks]
    up = [f"M{LEFT} {_down(p):g}H{WIDTH - RIGHT}" for p, _ in chart.y.ticks]
    return f'<path class="grid" d="{"".join((*across, *up))}"/>'


def _ticks(chart: Chart) -> list[str]:
    across = [_text(_across(p), HEIGHT - BOTTOM + 17, text) for p, text in chart.x.ticks]
    up = [_text(LEFT - 7, _down(p) + 4, text) for p, text in chart.y.ticks]
    return [*across, f'<g text-anchor="end">{"".join(up)}</g>']


def _guides(chart: Chart) -> list[str]:
    guides = []
    left, right, top, bottom = LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM
    if chart.wrong:
        corner = f"{left} {top}" if chart.wrong == "above" else f"{right} {bottom}"
        guides.append(f'<path class="wrong" d="M{left} {bottom}L{corner}L{right} {top}Z"/>')
        x, y, anchor = (left + 9, top + 18, "start") if chart.wrong == "above" else (
            right - 9, bottom - 10, "end")  # fmt: skip
        guides.append(_text(x, y, "would refute", anchor, "note"))
    if chart.diagonal:
        guides.append(f'<path class="guide" d="M{left} {bottom}L{right} {top}"/>')
    if chart.level is not None:
        at = _down(chart.y.place(chart.level))
        guides.append(f'<path class="guide" d="M{left} {at:g}H{right}"/>')
    return guides


def _marks(chart: Chart) -> Iterator[str]:
    """Dots, which are darker where they lie on each other, then crosses: each kind in one path."""
    for violated, marker, name in ((False, DOT, "dot"), (True, CROSS, "cross")):
        if places := [_place(chart, mark) for mark in chart.marks if mark.violated is violated]:
            at_each = f'marker-start="url(#{name})" marker-mid="url(#{name})"'
            yield f'{marker}<path fill="none" {at_each} d="{_through(places)}"/>'


def _through(places: Sequence[tuple[float, float]]) -> str:
    """Return a path whose vertices, except for the last, are the places, by steps in tenths.

    What has one vertex alone is drawn by some browsers and not by others.

    >>> _through([(309.9, 16.0), (316.9, 16.0), (311.9, 15.5)])
    'M309.9 16l7 0-5-.5h0'
    """
    tenths = [(round(10 * x), round(10 * y)) for x, y in places]
    steps = [
        (b - a) / 10 for before, here in pairwise(tenths) for a, b in zip(before, here, strict=True)
    ]
    x, y = places[0]
    return f"M{x:g} {y:g}{'l' * bool(steps)}{tightly(steps)}h0"


def _place(chart: Chart, mark: Mark) -> tuple[float, float]:
    return _across(chart.x.place(mark.x)) + mark.shift, _down(chart.y.place(mark.y))


def _line(chart: Chart, index: int, line: Line) -> list[str]:
    """A line through the middle values, a whisker from lowest to highest, a name above all."""
    shift = 7 * index
    at = [
        (_across(chart.x.place(x)) + shift, *(_down(chart.y.place(v)) for v in values))
        for x, *values in line.places
    ]
    colour = f"line c{index % 6}"
    segments = "".join(f"M{a[0]:g} {a[1]:g}L{b[0]:g} {b[1]:g}" for a, b in pairwise(at))
    whiskers = "".join(f"M{x:g} {low:g}V{high:g}" for x, _, low, high in at)
    dots = (f'<circle class="{colour} dot" cx="{x:g}" cy="{y:g}" r="4"/>' for x, y, *_ in at)
    left = LEFT + index * min(APART, _inner_width() / len(chart.lines))
    legend = (
        f'<path class="{colour}" d="M{left:g} {TOP - 8}h18"/>'
        f"{_text(left + 23, TOP - 4, line.name, 'start')}"
    )
    return [f'<path class="{colour}" d="{segments}{whiskers}"/>', *dots, legend]
