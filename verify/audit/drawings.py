"""The figures of a report, in the style of the site's: bound against actual, and layer by layer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from math import isfinite

from verify.audit.report import StatementRow
from verify.site.axes import Axis, linear_axis, magnitude_axis
from verify.site.chart import Chart, Line, Mark, svg

Place = tuple[float, float, float, float]
LOWER = (">=", ">")
SHIFT = 0.024
"""Of an axis, by which a line is to the right of the one before."""
MARKED = 8
"""Layers whose number is written below an axis, at most."""


class Drawings:
    """Charts of one page, each with identifiers of its own."""

    def __init__(self) -> None:
        self._numbers = count()

    def draw(self, chart: Chart) -> str:
        """Return a chart as an element of a page."""
        number = next(self._numbers)
        text = re.sub(r'( id="|url\(#)(t|d|dot|cross)\b', rf"\g<1>\g<2>{number}", svg(chart))
        text = text.replace('aria-labelledby="t d"', f'aria-labelledby="t{number} d{number}"')
        # The page has the style once.
        return re.sub(r"<style>.*?</style>", "", text, count=1, flags=re.S).strip()

    def by_layer(self, title: str, label: str, series: Mapping[str, Sequence[float | None]]) -> str:
        """Return numbers of every layer as lines, one number each; empty if there are none."""
        lines = [
            Line(name, _each((i, v) for i, v in enumerate(values)))
            for name, values in series.items()
        ]
        lines = [line for line in lines if line.places]
        if not lines:
            return ""
        size = max(len(values) for values in series.values())
        values = [place[1] for line in lines for place in line.places]
        described = "; ".join(
            f"{line.name} from {min(p[1] for p in line.places):.3g} to"
            f" {max(p[1] for p in line.places):.3g}"
            for line in lines
        )
        chart = Chart(
            title=title,
            description=described,
            x=layers_axis(size, len(lines)),
            y=magnitude_axis(values, label),
            lines=lines,
        )
        return self.draw(chart)

    def over_steps(
        self, title: str, label: str, series: Mapping[str, Sequence[tuple[int, float]]]
    ) -> str:
        """Return numbers against the steps of a training, a line for each name."""
        lines = [Line(name, _each(places)) for name, places in series.items()]
        lines = [line for line in lines if line.places]
        if not lines:
            return ""
        steps = sorted({round(place[0]) for line in lines for place in line.places})
        chart = Chart(
            title=f"{title} over the training",
            description=f"{len(lines)} lines, from step {steps[0]} to {steps[-1]}.",
            x=_axis(steps[0], steps[-1], len(lines), "step", _marked(steps)),
            y=magnitude_axis([place[1] for line in lines for place in line.places], label),
            lines=lines,
        )
        return self.draw(chart)

    def bound(self, row: StatementRow) -> str:
        """Return actual against claimed."""
        values = [v for p in row.points for v in (p.actual, p.claimed)]
        wrong = "" if row.relation == "=" else "below" if row.relation in LOWER else "above"
        chart = Chart(
            title=f"{row.statement}: actual against claimed",
            description=f"{len(row.points)} of {row.instances} instances,"
            f" {row.violated} violating.",
            x=magnitude_axis(values, "claimed"),
            y=magnitude_axis(values, "actual"),
            marks=[Mark(p.claimed, p.actual, p.violated) for p in row.points],
            diagonal=True,
            wrong=wrong,
        )
        return self.draw(chart)

    def slack(self, row: StatementRow) -> str:
        """Return the slack of each layer: the median, from least to largest."""
        order = [layer.layer for layer in row.layers]
        found = {layer.layer: layer.slack for layer in row.layers if layer.slack is not None}
        places = tuple(
            (i, found[name][1], found[name][0], found[name][2])
            for i, name in enumerate(order)
            if name in found
        )
        if not places:
            return ""
        values = [v for place in places for v in place[1:]]
        is_equality = row.relation == "="
        chart = Chart(
            title=f"{row.statement}: {'relative error' if is_equality else 'slack'} by layer",
            description=f"{len(places)} layers, from {min(values):.3g} to {max(values):.3g}.",
            x=layers_axis(len(order), 1),
            y=magnitude_axis([*values, 1.0], "relative error")
            if is_equality
            else _slack_axis(values),
            lines=[Line("median, least and largest", places)],
            level=None if is_equality else 0.0,
        )
        return self.draw(chart)


def layers_axis(size: int, lines: int) -> Axis:
    """Return the axis of layers, in the model's order."""
    ticks = range(0, size, max(1, -(-size // MARKED)))
    return _axis(0, size - 1, lines, "layer, in the order of the model", ticks)


def _axis(first: float, last: float, lines: int, label: str, ticks: Sequence[float]) -> Axis:
    """Return a linear axis with room for the lines, each of which is drawn to the right."""
    room = max(last - first, 1)
    return linear_axis(first - 0.04 * room, last + (0.03 + SHIFT * lines) * room, label, ticks)


def _slack_axis(values: Sequence[float]) -> Axis:
    is_low = min(values) < -1e-3
    ticks = (-1, -0.5, 0, 0.5, 1) if is_low else (0, 0.25, 0.5, 0.75, 1)
    return linear_axis(-1.0 if is_low else -0.1, 1.15, "slack", ticks)  # room for the names


def _marked(steps: Sequence[int]) -> list[int]:
    """Return some of the steps, the first and the last among them where they are apart."""
    stride = max(1, -(-(len(steps) - 1) // (MARKED // 2)))
    return list(steps[::stride])


def _each(numbers: Iterable[tuple[int, float | None]]) -> tuple[Place, ...]:
    return tuple((x, y, y, y) for x, y in numbers if y is not None and isfinite(y))
