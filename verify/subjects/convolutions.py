r"""The convolutions of ResNet-18 and VGG-16 at 224 x 224, and what a trained network feeds them.

Index convention as in :mod:`theory.convolution.windows`: maps ``(batch, channel, r, s)``.  Two
layers of a network are one shape here if they differ in nothing that a formula sees.  No shape
has a bias of its own, or another padding than (k - 1)/2.

Source: He et al. 2016, table 1; Simonyan and Zisserman 2015, table 1, column D.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from theory.convolution.windows import Geometry
from verify.tolerance import Array

DIRECTIONS = 2
"""Random directions in (bias, kernel) for each layer."""
IMAGE = 3
"""The channels of an image, which no layer has rectified."""


@dataclass(frozen=True)
class Shape:
    """One convolution: from ``channels`` maps of ``size`` x ``size`` to ``outputs`` maps."""

    network: str
    layer: str
    channels: int
    outputs: int
    kernel: int
    stride: int
    size: int

    @property
    def name(self) -> str:
        """The network and the layer."""
        return f"{self.network} {self.layer}"

    @property
    def padding(self) -> int:
        """Zeros on each side of the maps."""
        return self.kernel // 2

    @property
    def geometry(self) -> dict[str, Any]:
        """What the functions of :mod:`theory.convolution` are told besides the maps."""
        return {"kernel": self.kernel, "stride": self.stride}

    @property
    def output_size(self) -> int:
        """Return r' = s'.

        >>> Shape("resnet-18", "conv1", 3, 64, 7, 2, 224).output_size
        112
        """
        return Geometry(**self.geometry).output(self.size)

    @property
    def columns(self) -> int:
        """Return k^2 c + 1, of the unfolded matrix.

        >>> Shape("resnet-18", "layer4", 512, 512, 3, 1, 7).columns
        4609
        """
        return self.kernel**2 * self.channels + 1

    def rows(self, batch: int) -> int:
        """Return N r' s', of the unfolded matrix."""
        return batch * self.output_size**2


def _shapes(network: str, rows: list[tuple[str, int, int, int, int, int]]) -> list[Shape]:
    return [Shape(network, *row) for row in rows]


RESNET_18 = _shapes(
    "resnet-18",
    [
        ("conv1", 3, 64, 7, 2, 224),
        ("layer1", 64, 64, 3, 1, 56),
        ("layer2.0.conv1", 64, 128, 3, 2, 56),
        ("layer2.0.downsample", 64, 128, 1, 2, 56),
        ("layer2", 128, 128, 3, 1, 28),
        ("layer3.0.conv1", 128, 256, 3, 2, 28),
        ("layer3.0.downsample", 128, 256, 1, 2, 28),
        ("layer3", 256, 256, 3, 1, 14),
        ("layer4.0.conv1", 256, 512, 3, 2, 14),
        ("layer4.0.downsample", 256, 512, 1, 2, 14),
        ("layer4", 512, 512, 3, 1, 7),
    ],
)
"""Every distinct one; ``layer1`` stands for all the others of that stage."""

VGG_16 = _shapes(
    "vgg-16",
    [
        ("conv1_1", 3, 64, 3, 1, 224),
        ("conv1_2", 64, 64, 3, 1, 224),
        ("conv2_1", 64, 128, 3, 1, 112),
        ("conv2_2", 128, 128, 3, 1, 112),
        ("conv3_1", 128, 256, 3, 1, 56),
        ("conv3_2", 256, 256, 3, 1, 56),
        ("conv4_1", 256, 512, 3, 1, 28),
        ("conv4_2", 512, 512, 3, 1, 28),
        ("conv5_1", 512, 512, 3, 1, 14),
    ],
)

SMALL = _shapes(
    "small",
    [
        ("stem", 3, 4, 7, 2, 28),
        ("stage", 4, 4, 3, 1, 14),
        ("next stage", 4, 8, 3, 2, 14),
        ("projection", 4, 8, 1, 2, 14),
        ("more columns than rows", 12, 12, 3, 1, 7),
    ],
)
"""The same kernels, and a last stage whose unfolded matrix has no full column rank."""

_MIDDLE = ("conv1", "layer1", "layer2.0.conv1", "layer2.0.downsample", "conv2_1")
SHAPES = {
    "smoke": SMALL,
    "default": [*SMALL, *(shape for shape in RESNET_18 + VGG_16 if shape.layer in _MIDDLE)],
    "deep": RESNET_18 + VGG_16,
}
BATCHES = {"smoke": 2, "default": 2, "deep": 32}
BATCH_ON_GPU = 256
"""Of the deep profile, where the arrays are on a GPU."""


@dataclass(frozen=True)
class Layer:
    """One output channel of a convolution, its input, and directions in its parameters."""

    shape: Shape
    maps: Array
    """(batch, channel, size, size)"""
    weights: Array
    """(1, channel, k, k)"""
    bias: Array
    """(1,)"""
    direction_weights: Array
    """(direction, channel, k, k)"""
    direction_biases: Array
    """(direction,)"""
    scales: Array
    """(channel,), of the maps; the parameters' own are the reciprocals."""


def layer(shape: Shape, batch: int, seed: int) -> Layer:
    """Return a layer at random; the maps of a small batch are the first of a large one."""
    draw = _generator(shape, seed, 0)
    decades = 0 if shape.channels == IMAGE else 1
    scales = 10 ** draw.uniform(-decades, decades, shape.channels)
    normal = draw.normal(size=(1 + DIRECTIONS, shape.channels, shape.kernel, shape.kernel))
    kernels = normal / scales[:, None, None] / np.sqrt(shape.columns)
    biases = draw.normal(size=1 + DIRECTIONS)
    maps = np.empty((batch, shape.channels, shape.size, shape.size))
    shared, offsets = draw.normal(size=shape.channels), draw.uniform(0, 0.75, shape.channels)

    def fill(number: int) -> None:
        example = maps[number]
        example[...] = _field(shape, shared, _generator(shape, seed, 1 + number))
        example += offsets[:, None, None]
        if shape.channels != IMAGE:
            np.maximum(example, 0, out=example)
        example *= scales[:, None, None]

    with ThreadPoolExecutor() as threads:  # the lock is free while NumPy draws
        list(threads.map(fill, range(batch)))
    return Layer(shape, maps, kernels[:1], biases[:1], kernels[1:], biases[1:], scales)


def _field(shape: Shape, shared: Array, draw: np.random.Generator) -> Array:
    """Return a normal field (channel, size, size), correlated over pixels and channels."""
    from scipy.ndimage import gaussian_filter  # slow to import, and a listing needs it not

    noise = draw.normal(size=(1 + shape.channels, shape.size, shape.size))
    smooth = gaussian_filter(noise, (0, 1, 1), mode="wrap", truncate=3)
    smooth *= 2 * np.sqrt(np.pi)  # unit variance again
    common = 0.6 * shared[:, None, None] * smooth[0]
    return common + 0.6 * smooth[1:] + 0.3 * noise[1:]


def _generator(shape: Shape, seed: int, part: int) -> np.random.Generator:
    numbers = (shape.channels, shape.outputs, shape.kernel, shape.stride, shape.size)
    return np.random.default_rng([seed, *numbers, part])
