"""Small classifiers for the tests: separable images of four pixels."""

import torch
from torch import nn

from theory.nn.networks.dense import dense
from verify.datasets.dataset import Images
from verify.experiments.classifier_training import Recipe, normalization_of

SHAPE = (1, 2, 2)


def images(n, seed=0):
    """Images whose brighter half is their label."""
    inputs = torch.rand(n, *SHAPE, generator=torch.Generator().manual_seed(seed))
    labels = (inputs[:, 0, 0].sum(1) > inputs[:, 0, 1].sum(1)).long()
    return Images(inputs, labels)


def recipe(method="none", **changed):
    def build(draws: torch.Generator) -> nn.Module:
        return dense(SHAPE, 2, (6,), normalization=normalization_of(method, 10), generator=draws)

    given = {"train": images(24), "test": images(10, 1), "batch": 4, "epochs": 2}
    return Recipe(build, method, learning_rate=0.1, **(given | changed))


def run(piece, steps=None):
    for _ in range(piece.steps if steps is None else steps):
        piece.step()
    return piece
