"""How the experiments' figures look, and that the same numbers give the same files."""

import xml.etree.ElementTree as ElementTree

import matplotlib
import numpy as np
import pytest
import toy_experiment
from matplotlib.backends.backend_agg import FigureCanvasAgg

from verify.experiments import figures
from verify.experiments.figures import STYLES

NAN = float("nan")


def drawn():
    losses = {"loss": [3.0, 2.0, 1.5]}
    return toy_experiment.draw({"a": losses, "b": losses})["loss"]


def test_the_same_numbers_give_the_same_bytes_with_text_as_text_and_no_date(tmp_path):
    with matplotlib.rc_context({"svg.hashsalt": "other", "svg.fonttype": "path"}):
        figures.save(drawn(), tmp_path / "a", "loss")
    picture = figures.save(drawn(), tmp_path / "b", "loss")
    for kind in ("svg", "png"):
        first, second = ((tmp_path / f / f"loss.{kind}").read_bytes() for f in "ab")
        assert first == second
    assert picture.name == "loss"
    assert picture.title == "Noisy descent, 2 seeds, n = 1 & <two>"
    assert picture.caption == "Loss of each step."
    svg = (tmp_path / "b" / "loss.svg").read_text()
    assert "<dc:date>" not in svg
    texts = [element.text for element in ElementTree.fromstring(svg).iter() if element.text]
    assert any("loss (no unit)" in text for text in texts)


@pytest.mark.parametrize(
    "names",
    [
        ("none", "batch", "noisy-batch", "l1", "l2", "linf"),
        ("none", "batch", "batch-renormalization", "layer", "bnp"),
        ("batch", "group", "group+bnp"),
    ],
)
def test_what_is_drawn_together_has_colours_that_are_told_apart_on_white(names):
    colours = {STYLES[name].colour for name in names}
    assert len(colours) == len(names)
    assert colours < set(figures.COLOURS.values()) - {figures.COLOURS["yellow"]}
    for what in ("marker", "label"):
        assert len({getattr(style, what) for style in STYLES.values()}) == len(STYLES)


def axes_with(*series):
    _, [axes] = figures.new("t", "c")
    figures.mean_and_range(axes, [1, 2], series, STYLES["l1"])
    return axes


def test_the_mean_and_the_range_are_drawn_where_every_seed_has_a_value():
    axes = axes_with([1.0, 2.0], [3.0, 6.0])
    assert axes.lines[0].get_ydata().tolist() == [2.0, 4.0]
    corners = axes.collections[0].get_paths()[0].vertices.tolist()
    assert all(corner in corners for corner in ([1.0, 1.0], [1.0, 3.0], [2.0, 2.0], [2.0, 6.0]))
    diverged = axes_with([1.0, 2.0], [3.0, None])
    np.testing.assert_array_equal(diverged.lines[0].get_ydata(), [2.0, NAN])
    assert not axes_with([1.0, 2.0]).collections, "one seed has no range"


@pytest.mark.parametrize("series", [[], [[1.0]], [[1.0, 2.0], [1.0]]])
def test_series_of_another_length_are_refused(series):
    with pytest.raises(ValueError, match="at 2 places"):
        axes_with(*series)


def test_an_area_has_gaps_where_nothing_is_known():
    _, [axes] = figures.new("t", "c")
    figures.between(axes, [1, 2, 3, 4], [0, 0, None, 0], [1, 2, None, 3], STYLES["batch"])
    heights = np.concatenate([p.vertices[:, 1] for p in axes.collections[0].get_paths()])
    assert np.nanmax(heights) == 3


def logarithmic(low, high):
    figure, [axes] = figures.new("t", "c")
    axes.plot([low, high], [low, high])
    axes.set(title="above", xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
    return figure, axes


@pytest.mark.parametrize(("low", "high", "has_labels"), [(1e-3, 1e2, False), (2.0, 9.0, True)])
def test_drawn_quickly_a_figure_has_the_same_pixels(low, high, has_labels):
    pixels = []
    for is_quick in (False, True):
        figure, axes = logarithmic(low, high)
        if is_quick:
            figures.draw_quickly(figure)
        assert bool(axes.get_xticklabels(minor=True)) is (has_labels or not is_quick)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        pixels.append(np.asarray(canvas.buffer_rgba()))
    assert np.array_equal(*pixels)
