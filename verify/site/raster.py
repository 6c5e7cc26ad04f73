"""A chart with very many points as PNG, drawn by matplotlib."""

from __future__ import annotations

import io

from verify.site.axes import Axis
from verify.site.chart import HEIGHT, WIDTH, Chart

MOST_IN_SVG = 5000
"""With more points than this a picture is lighter as pixels."""
BLUE, VERMILION, GREY = "#0072b2", "#d55e00", "#808080"


def png(chart: Chart) -> bytes:
    """Return the chart's marks as a PNG, with colours that are readable on light and dark."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH / 100, HEIGHT / 100), dpi=200, layout="constrained")
    figure.patch.set_alpha(0)
    axes = figure.add_subplot()
    axes.patch.set_alpha(0)
    for violated, colour, marker in ((False, BLUE, "o"), (True, VERMILION, "x")):
        chosen = [mark for mark in chart.marks if mark.violated is violated]
        axes.scatter(
            [chart.x.place(mark.x) + mark.shift / WIDTH for mark in chosen],
            [chart.y.place(mark.y) for mark in chosen],
            s=6,
            c=colour,
            marker=marker,
            alpha=0.5,
            linewidths=0.6,
        )
    if chart.diagonal:
        axes.plot([0, 1], [0, 1], "--", color=GREY, linewidth=0.8)
    if chart.level is not None:
        axes.axhline(chart.y.place(chart.level), linestyle="--", color=GREY, linewidth=0.8)
    axes.set_xticks(*_ticks(chart.x))
    axes.set_yticks(*_ticks(chart.y))
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.set_xlabel(chart.x.label, color=GREY)
    axes.set_ylabel(chart.y.label, color=GREY)
    axes.tick_params(colors=GREY, labelsize=7)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", metadata={"Title": chart.title})
    return stream.getvalue()


def _ticks(axis: Axis) -> tuple[list[float], list[str]]:
    return [place for place, _ in axis.ticks], [text for _, text in axis.ticks]
