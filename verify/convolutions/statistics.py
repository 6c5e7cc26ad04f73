r"""Means and variances of the columns, and of the channels that stand for them.

Source: Lange, Helfrich and Ye 2022, eq. (19)-(22) and Prop. 10.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theory import convolution
from verify.convolutions import border, network
from verify.convolutions.arrays import ArrayLayer
from verify.convolutions.checks import Check, at_most, close
from verify.subjects.convolutions import Layer
from verify.tolerance import Array, Outcome

MOMENTS = "L-eq-19-22"
BOUND = "L-prop-10"


@dataclass(frozen=True)
class Statistics:
    """Means and variances in NumPy: of columns ``(channel, k, k)``, of channels ``(channel,)``."""

    means: Array
    variances: Array
    channel_means: Array
    channel_variances: Array
    largest: Array
    """max |h| of each channel."""


def measure(layer: ArrayLayer) -> Statistics:
    """Return the statistics by the closed forms of :mod:`theory.convolution`."""
    h, geometry, to_numpy = layer.maps, layer.shape.geometry, layer.backend.to_numpy
    xp, axes = layer.backend.namespace, (0, 2, 3)
    means = to_numpy(convolution.column_means(h, 1))
    variances = to_numpy(convolution.column_variances(h, 1))
    largest = xp.maximum(xp.max(h, axis=axes), -xp.min(h, axis=axes))
    return Statistics(
        to_numpy(convolution.column_means(h, **geometry)),
        to_numpy(convolution.column_variances(h, **geometry)),
        means[:, 0, 0],
        variances[:, 0, 0],
        to_numpy(largest),
    )


def examine(layer: Layer, found: Statistics, device: str = "cpu") -> list[Check]:
    """Return the checks of (19), (20) and Prop. 10, printed and sharpened."""
    return [*_moments(layer, found, device), *_means(layer, found), _variances(layer, found)]


def numbers(found: Statistics) -> dict[str, float]:
    """Return how far the channels' statistics are from the columns', at the worst entry."""
    deviations = np.sqrt(found.channel_variances)[:, None, None]
    means = np.abs(found.means - found.channel_means[:, None, None]) / deviations
    ratio = np.sqrt(found.variances) / deviations
    return {
        "mean apart, over sigma": float(np.max(means)),
        "least sigma ratio": float(np.min(ratio)),
        "largest sigma ratio": float(np.max(ratio)),
    }


def _moments(layer: Layer, found: Statistics, device: str) -> list[Check]:
    """Compare with the network's convolution, relative to the root mean square."""
    rows = layer.shape.rows(len(layer.maps))
    means, squares = network.column_moments(layer, device)
    first = close(means, found.means, np.sqrt(squares), rows)
    second = close(squares - means**2, found.variances, squares, rows)
    return [
        Check(MOMENTS, "means of the columns", *first),
        Check(MOMENTS, "variances of the columns", *second),
    ]


def _means(layer: Layer, found: Statistics) -> list[Check]:
    shape, largest = layer.shape, found.largest[:, None, None]
    actual = np.abs(found.means - found.channel_means[:, None, None])
    terms = len(layer.maps) * shape.size**2
    printed = at_most(actual, border.printed_factor(shape) * largest, largest, terms)
    sharpened = at_most(actual, border.theta(shape) * largest, largest, terms)
    if shape.stride > 1:  # the paper's convolution has stride 1
        printed = (*printed[:2], Outcome.VACUOUS)
    return [
        Check(BOUND, "mean, as printed", *printed),
        Check(BOUND, "mean, sharpened", *sharpened),
    ]


def _variances(layer: Layer, found: Statistics) -> Check:
    squares = found.largest[:, None, None] ** 2
    change = found.variances - found.channel_variances[:, None, None]
    less, more = border.variance_bounds(layer.shape)
    actual, bound = np.abs(change), np.where(change < 0, less, more) * squares
    terms = len(layer.maps) * layer.shape.size**2
    return Check(BOUND, "variance, ours", *at_most(actual, bound, squares, terms))
