r"""The learning rates of Lange, Helfrich and Ye 2022, App. B, Tables 2 and 3.

They are for MNIST and CIFAR-10.  For another data set or batch size the nearest row is taken.
"""

from __future__ import annotations

Row = dict[str, float]
"""Learning rates by method; a method that has N/A is not there."""

DENSE_MNIST: dict[int, Row] = {60: {"none": 1e-1, "batch": 5e-1, "bnp": 5e-1, "layer": 1e-1}}
"""Table 2, fully connected on MNIST, by batch size."""

DENSE_CIFAR10: dict[int, Row] = {
    60: {"none": 1e-2, "batch": 5e-1, "bnp": 1e-1, "layer": 5e-1},
    6: {"none": 5e-3, "batch": 5e-2, "bnp": 5e-2, "batch-renormalization": 5e-2, "layer": 5e-2},
    1: {"none": 5e-4, "bnp": 1e-1, "layer": 1e-2},
}
"""Table 2, fully connected on CIFAR-10, by batch size."""

CONVOLUTIONAL_CIFAR10: dict[int, Row] = {
    128: {"none": 1e-1, "batch": 1e-1, "bnp": 1e-1, "four-things": 5e-3},
    2: {
        "none": 1e-3,
        "batch": 1e-3,
        "bnp": 1e-2,
        "batch-renormalization": 1e-2,
        "four-things": 1e-4,
    },
    1: {"none": 1e-3, "bnp": 1e-1, "four-things": 1e-3},
}
"""Table 3, the 5-layer CNN on CIFAR-10; the vanilla network's at 128 is for Adam, and so are all of
BN with 4 things."""

TABLES: dict[tuple[str, str], dict[int, Row]] = {
    ("dense", "digits"): {**DENSE_CIFAR10, **DENSE_MNIST},
    ("dense", "MNIST"): {**DENSE_CIFAR10, **DENSE_MNIST},
    ("dense", "CIFAR-10"): DENSE_CIFAR10,
    ("convolutional", "digits"): CONVOLUTIONAL_CIFAR10,
    ("convolutional", "MNIST"): CONVOLUTIONAL_CIFAR10,
    ("convolutional", "CIFAR-10"): CONVOLUTIONAL_CIFAR10,
}
"""By network and data; digits are nearest to MNIST, of which there is one row."""


def printed(network: str, data: str, batch: int, method: str) -> float | None:
    """Return the learning rate of the row whose batch size is nearest, None where it has none.

    Sizes are compared by their ratio; of two that are as near the smaller one is taken.

    >>> printed("dense", "digits", 2, "bnp")  # of 6 and 1 the nearer is 1
    0.1
    >>> printed("convolutional", "CIFAR-10", 60, "bnp"), printed("dense", "CIFAR-10", 60, "bnp")
    (0.1, 0.1)
    >>> printed("convolutional", "CIFAR-10", 1, "batch") is None
    True
    """
    rows = TABLES[network, data]
    nearest = min(rows, key=lambda size: (max(size / batch, batch / size), size))
    return rows[nearest].get(method)
