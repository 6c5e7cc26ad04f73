"""The tables of App. B, number by number, and which row is nearest."""

import pytest

from verify.experiments.small_batch.learning_rates import (
    CONVOLUTIONAL_CIFAR10,
    DENSE_CIFAR10,
    DENSE_MNIST,
    printed,
)

NAMES = ("none", "batch", "bnp", "batch-renormalization", "layer")


def row(*rates):
    return {name: rate for name, rate in zip(NAMES, rates, strict=True) if rate is not None}


def test_table_2():
    assert DENSE_MNIST[60] == row(1e-1, 5e-1, 5e-1, None, 1e-1)
    assert DENSE_CIFAR10[60] == row(1e-2, 5e-1, 1e-1, None, 5e-1)
    assert DENSE_CIFAR10[6] == row(5e-3, 5e-2, 5e-2, 5e-2, 5e-2)
    assert DENSE_CIFAR10[1] == row(5e-4, None, 1e-1, None, 1e-2)


def test_table_3():
    assert CONVOLUTIONAL_CIFAR10[128] == row(1e-1, 1e-1, 1e-1, None, None) | {"four-things": 5e-3}
    assert CONVOLUTIONAL_CIFAR10[2] == row(1e-3, 1e-3, 1e-2, 1e-2, None) | {"four-things": 1e-4}
    assert CONVOLUTIONAL_CIFAR10[1] == row(1e-3, None, 1e-1, None, None) | {"four-things": 1e-3}


@pytest.mark.parametrize(
    ("batch", "rate"), [(60, 1e-1), (128, 1e-1), (6, 1e-2), (4, 1e-2), (2, 1e-2), (1, 1e-1)]
)
def test_the_nearest_row(batch, rate):
    assert printed("convolutional", "cifar10", batch, "bnp") == rate  # 6 is nearer to 2 than to 128


def test_digits_are_nearest_to_mnist():
    assert printed("dense", "digits", 60, "bnp") == 0.5
    assert printed("dense", "cifar10", 60, "bnp") == 0.1
    assert printed("dense", "digits", 6, "bnp") == 0.05
