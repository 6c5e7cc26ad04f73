"""Small classifiers for the tests, of images of four pixels; pieces run and killed."""

import io

import torch
from torch import nn

from theory.nn.networks.dense import dense
from verify.datasets.dataset import Images
from verify.experiments.classifier_training import Recipe, normalization_of
from verify.experiments.evidence import as_json

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


def run(piece, until=None):
    """Run a piece, or a training of a recipe, to its end or until so many steps are done."""
    last = piece.steps if hasattr(piece, "steps") else piece.recipe.steps
    while piece.done < (last if until is None else until):
        piece.step()
    return piece


def killed_at(step, make):
    """Return the numbers of a piece that is killed after a step, and taken up from a file."""
    killed, resumed, file = run(make(), step), make(), io.BytesIO()
    torch.save(killed.state_dict(), file)
    file.seek(0)
    resumed.load_state_dict(torch.load(file, weights_only=True))
    assert resumed.done == step
    return as_json(run(resumed).numbers())
