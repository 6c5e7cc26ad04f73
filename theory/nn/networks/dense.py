r"""The fully connected networks of paper L: three, or two, hidden layers of 100 units.

Layer l is :math:`h^{(l)} = g(W^{(l)} \mathcal B(h^{(l-1)}) + b^{(l)})` with the rectifier for g.
The normalisation :math:`\mathcal B` comes after the activation, on each hidden variable; the
network's input is not normalised.

Index convention: images ``(batch, channel, height, width)`` are flattened to ``(batch, unit)``.

Source: Lange, Helfrich and Ye 2022, eq. (2), sect. 5 ("three hidden layers of size 100 each and an
output layer of size 10", "normalization is applied post-activation") and App. B ("Glorot Uniform
... with the biases initialized as zero").  Whether LN and Batch Renormalization have that place
too is not said; they do here.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import nn

from theory.nn.networks.images import Images
from theory.nn.networks.initialization import glorot
from theory.nn.normalization import normalization as normalization_layer


def dense(
    shape: tuple[int, int, int],
    classes: int = 10,
    hidden: Sequence[int] = (100, 100, 100),
    *,
    normalization: str = "none",
    generator: torch.Generator | None = None,
) -> nn.Sequential:
    """Return the network, freshly drawn, with normalisation after each activation.

    Its children are ``images``, ``flatten``, then ``layer1``, ``layer2``, ... of children
    ``linear``, ``activation`` and ``normalization``, and ``output``, a linear layer.

    Args:
        shape: of an image, (channel, height, width).
        classes: number of outputs.
        hidden: the units of each hidden layer; ``(100, 100)`` in paper L, sect. 5.1.
        normalization: a name of :data:`theory.nn.normalization.NORMALIZATIONS`.
        generator: where the weights are drawn from; None for PyTorch's global one.

    Raises:
        ValueError: a size below 1, or no normalisation is called so.

    >>> network = dense((1, 28, 28))
    >>> sum(p.numel() for p in network.parameters())  # 784*100 + 2 * 100*100 + 100*10, biases
    99710
    """
    return _dense(shape, classes, hidden, ("linear", "activation", "normalization"),
                  normalization, generator)  # fmt: skip


def pre_activation_dense(
    shape: tuple[int, int, int],
    classes: int = 10,
    hidden: Sequence[int] = (100, 100, 100),
    *,
    normalization: str = "none",
    generator: torch.Generator | None = None,
) -> nn.Sequential:
    """Return the network of :func:`dense` with normalisation before each activation.

    Source: Ioffe and Szegedy 2015; paper L, sect. 2, "pre-activation BN".
    """
    return _dense(shape, classes, hidden, ("linear", "normalization", "activation"),
                  normalization, generator)  # fmt: skip


def _dense(
    shape: tuple[int, int, int],
    classes: int,
    hidden: Sequence[int],
    order: tuple[str, str, str],
    normalization: str,
    generator: torch.Generator | None,
) -> nn.Sequential:
    if classes < 1 or any(units < 1 for units in hidden):
        raise ValueError(f"hidden = {tuple(hidden)} and classes = {classes}; expected 1 or more")
    channels, height, width = shape
    children: OrderedDict[str, nn.Module] = OrderedDict()
    children["images"] = Images(*shape)
    children["flatten"] = nn.Flatten()
    sizes = (channels * height * width, *hidden)
    for number, (before, after) in enumerate(pairwise(sizes), start=1):
        parts: dict[str, nn.Module] = {
            "linear": nn.Linear(before, after),
            "activation": nn.ReLU(),
            "normalization": normalization_layer(normalization, after, rank=2),
        }
        ordered = OrderedDict((part, parts[part]) for part in order)
        children[f"layer{number}"] = nn.Sequential(ordered)
    children["output"] = nn.Linear(sizes[-1], classes)
    network = nn.Sequential(children)
    glorot(network, generator)
    return network
