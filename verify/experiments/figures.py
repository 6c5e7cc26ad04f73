r"""How the experiments' figures look, and how they are kept.

One colour and one marker for each normalisation, the same in every figure, from the palette of
M. Okabe and K. Ito, "Color Universal Design" (2008), which readers with any colour vision tell
apart.  Figures are made without pyplot; the same numbers give the same bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

import matplotlib
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.markers import TICKDOWN, TICKLEFT, MarkerStyle
from matplotlib.ticker import NullLocator

from verify.experiments.experiment import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

COLOURS = {
    "black": "#000000",
    "orange": "#e69f00",
    "sky blue": "#56b4e9",
    "bluish green": "#009e73",
    "yellow": "#f0e442",
    "blue": "#0072b2",
    "vermilion": "#d55e00",
    "reddish purple": "#cc79a7",
}
"""The palette; yellow is for areas, not for lines on white."""

MARKERS_ON_A_LINE = 8
DOTS_PER_INCH = 150
SAVED = {
    "svg.hashsalt": "batchnorm-theory",
    "svg.fonttype": "none",
    "font.sans-serif": ["DejaVu Sans", "Verdana"],  # each word of an SVG document names them
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
}


class Style(NamedTuple):
    """How a series is drawn."""

    colour: str
    marker: str
    label: str
    """What it is called in a legend."""


STYLES = {
    "none": Style(COLOURS["black"], "o", "no normalisation"),
    "batch": Style(COLOURS["vermilion"], "s", "batch normalisation"),
    "noisy-batch": Style(COLOURS["reddish purple"], "^", "noisy batch normalisation"),
    "l1": Style(COLOURS["orange"], "v", r"$\ell_1$ normalisation"),
    "l2": Style(COLOURS["sky blue"], "D", r"$\ell_2$ normalisation"),
    "linf": Style(COLOURS["bluish green"], "P", r"$\ell_\infty$ normalisation"),
    "batch-renormalization": Style(COLOURS["sky blue"], "X", "batch renormalisation"),
    "layer": Style(COLOURS["orange"], "<", "layer normalisation"),
    "group": Style(COLOURS["reddish purple"], ">", "group normalisation"),
    "four-things": Style(COLOURS["bluish green"], "d", "BN with 4 things"),
    "bnp": Style(COLOURS["blue"], "*", "BNP"),
    "group+bnp": Style(COLOURS["bluish green"], "h", "group normalisation and BNP"),
}
"""By the name of the normalisation, or of the method that takes its place."""


def new(title: str, caption: str, rows: int = 1, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """Return an empty figure and its axes, row by row.

    Args:
        title: what is shown, with n and the seeds; stands in the figure.
        caption: how to read it, and from what run; stands below it on its page.
        rows: of axes.
        columns: of axes.

    >>> figure, axes = new("Loss, 3 seeds", "Mean and range.", columns=2)
    >>> len(axes), figure.get_suptitle()
    (2, 'Loss, 3 seeds')
    """
    size = (6.4, 4.4) if rows == columns == 1 else (4.2 * columns, 3.4 * rows + 0.4)
    figure = Figure(figsize=size, facecolor="white")
    figure.suptitle(title, fontsize="medium")
    figure.set_label(caption)
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def grid(title: str, caption: str, count: int, columns: int) -> tuple[Figure, list[Axes]]:
    """Return an empty figure with so many axes, filled row by row, in so many columns at most.

    >>> figure, axes = grid("Loss by batch size", "Of one seed.", count=3, columns=2)
    >>> len(axes), len(figure.axes)
    (3, 3)
    """
    columns = min(max(count, 1), columns)
    figure, axes = new(title, caption, rows=-(-count // columns) or 1, columns=columns)
    for unused in axes[count:]:
        unused.remove()
    return figure, axes[:count]


def legend_below(figure: Figure, columns: int) -> None:
    """Name each series once, below all axes, where it hides nothing."""
    named = {
        label: handle
        for axes in figure.axes
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=columns)


def of_seeds(seeds: Collection[int]) -> str:
    """Return which seeds a figure is of.

    >>> of_seeds([0]), of_seeds([0, 1])
    ('seed 0', 'seeds 0, 1')
    """
    return f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}"


MEAN_AND_RANGE = "; mean and range over seeds"
LINES_AND_AREAS = "; lines are means over seeds, areas their range"
"""What captions say of several seeds, by :func:`over_seeds`."""


def over_seeds(seeds: Collection[object], said: str) -> str:
    """Return what a caption says of several seeds; nothing of one.

    >>> over_seeds([0, 1], ", over seeds"), over_seeds([0], ", over seeds")
    (', over seeds', '')
    """
    return said if len(seeds) > 1 else ""


def mean_and_range(
    axes: Axes, x: Sequence[float], series: Sequence[Sequence[float | None]], style: Style
) -> None:
    """Draw the mean over seeds as a line, and their range as an area around it.

    Args:
        axes: to draw on.
        x: where the values stand.
        series: the values of each seed; where one has none (None) there is no mean, and the line
            is broken, for a mean over those that did not diverge would flatter.
        style: colour, marker and name.

    Raises:
        ValueError: there is no seed, or a series is not as long as x.

    """
    if not series or any(len(values) != len(x) for values in series):
        lengths = [len(values) for values in series]
        raise ValueError(f"series of lengths {lengths} at {len(x)} places; give one value each")
    at_each = list(zip(*series, strict=True))
    known = [[v for v in values if v is not None] for values in at_each]
    is_whole = [len(k) == len(series) for k in known]
    middle = [fmean(k) if whole else float("nan") for k, whole in zip(known, is_whole, strict=True)]
    low, high = ([f(k) if k else float("nan") for k in known] for f in (min, max))
    _line(axes, x, middle, style)
    if len(series) > 1:
        axes.fill_between(x, low, high, color=style.colour, alpha=0.2, linewidth=0)


def between(
    axes: Axes,
    x: Sequence[float],
    low: Sequence[float | None],
    high: Sequence[float | None],
    style: Style,
) -> None:
    """Draw an area from the lowest to the highest value, such as a loss along its gradient."""
    bottom, top = ([float("nan") if v is None else v for v in values] for values in (low, high))
    axes.fill_between(
        x, bottom, top, color=style.colour, alpha=0.35, linewidth=0.8, label=style.label
    )


def save(figure: Figure, folder: Path, name: str) -> Picture:
    """Write a figure as SVG, its text as text, and as PNG."""
    picture = save_as_svg(figure, folder, name)
    with matplotlib.rc_context(SAVED):  # type: ignore[arg-type]
        figure.savefig(
            folder / f"{name}.png",
            metadata={"Title": picture.title},
            dpi=DOTS_PER_INCH,
            format="png",
        )
    return picture


def save_as_svg(figure: Figure, folder: Path, name: str) -> Picture:
    """Write a figure as SVG, its text as text."""
    title = figure.get_suptitle() or name
    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(SAVED):  # type: ignore[arg-type]
        draw_quickly(figure)
        ConstrainedLayoutEngine().execute(figure)  # a figure that has one is drawn twice
        figure.savefig(
            folder / f"{name}.svg", metadata={"Date": None, "Title": title}, format="svg"
        )
    return Picture(name, title, str(figure.get_label()))


def draw_quickly(figure: Figure) -> None:
    """Prepare a figure so that it looks the same, and is drawn in half the time.

    A tick is five objects, which are measured again and again: minor ticks without a label are
    drawn as one series for each axis.  Where titles go needs no search, for no tick is above.
    """
    plain = [found for axes in figure.axes for found in _plain_minor_ticks(axes)]
    for axis, ticks in plain:
        axis.set_minor_locator(NullLocator())
        axis.axes.add_artist(ticks)
    for axes in figure.axes:
        axes.set_title(axes.get_title(), fontsize=axes.title.get_fontsize(), y=1.0)


def _plain_minor_ticks(axes: Axes) -> Iterator[tuple[Axis, Line2D]]:
    """Yield the axes that have minor ticks without labels, below or at the left, and these."""
    for axis, side in ((axes.xaxis, "bottom"), (axes.yaxis, "left")):
        low, high = sorted(axis.get_view_interval())
        places = [place for place in axis.get_minorticklocs() if low <= place <= high]
        labels = axis.get_minor_formatter().format_ticks(places)
        if places and not any(labels) and axis.get_ticks_position() == side:
            yield axis, _below(axes, places) if side == "bottom" else _at_the_left(axes, places)


def _below(axes: Axes, places: Sequence[float]) -> Line2D:
    where = axes.get_xaxis_transform()
    ticks = Line2D(places, [0.0] * len(places), marker=MarkerStyle(TICKDOWN), transform=where)
    return _as_ticks(ticks, axes.xaxis)


def _at_the_left(axes: Axes, places: Sequence[float]) -> Line2D:
    where = axes.get_yaxis_transform()
    ticks = Line2D([0.0] * len(places), places, marker=MarkerStyle(TICKLEFT), transform=where)
    return _as_ticks(ticks, axes.yaxis)


def _as_ticks(series: Line2D, axis: Axis) -> Line2D:
    """Let a series look as the minor ticks of an axis do."""
    look = matplotlib.rcParams
    series.set(linestyle="none", color=look["xtick.color"], markersize=look["xtick.minor.size"])
    series.set(markeredgewidth=look["xtick.minor.width"], zorder=axis.get_zorder())
    series.set(clip_on=False, in_layout=False)
    return series


def _line(axes: Axes, x: Sequence[float], y: Sequence[float], style: Style) -> None:
    axes.plot(
        x,
        y,
        color=style.colour,
        marker=style.marker,
        markevery=max(1, len(x) // MARKERS_ON_A_LINE),
        markersize=5,
        linewidth=1.4,
        label=style.label,
    )
