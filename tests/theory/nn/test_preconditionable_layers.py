"""Which layers of a model can be preconditioned, and what is said of the others."""

import pytest
import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

from theory.nn.preconditionable_layers import preconditionable


def tied(share_weight=True, share_bias=True, bias=True):
    a, b = nn.Linear(3, 3, bias=bias), nn.Linear(3, 3, bias=bias)
    if share_weight:
        b.weight = a.weight
    if share_bias and bias:
        b.bias = a.bias
    return nn.Sequential(a, b)


def test_all_linear_and_convolution_layers_and_no_others():
    model = nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(2, 2), nn.LayerNorm(2)
    )
    assert list(preconditionable(model)) == ["0", "3"]
    assert list(preconditionable(model[3])) == ["Linear"]


def test_a_module_met_twice_counts_once():
    layer = nn.Linear(3, 3)
    model = nn.Sequential(layer, layer)
    assert list(preconditionable(model)) == ["0"]
    assert list(preconditionable(model, [layer, layer])) == ["0"]


def test_shared_weights_are_one():
    assert list(preconditionable(tied())) == ["0 and 1"]
    assert list(preconditionable(tied(bias=False))) == ["0 and 1"]
    assert list(preconditionable(tied(False, False))) == ["0", "1"]


@pytest.mark.parametrize(("weight", "bias"), [(True, False), (False, True)])
def test_half_shared_layers_have_no_formula(weight, bias):
    with pytest.raises(ValueError, match="0 and 1 share a weight or a bias, but not both"):
        preconditionable(tied(weight, bias))


def test_a_weight_shared_with_an_embedding_has_no_formula():
    model = nn.ModuleDict({"embedding": nn.Embedding(5, 3), "head": nn.Linear(3, 5)})
    model["head"].weight = model["embedding"].weight
    with pytest.raises(ValueError, match="embedding and head share"):
        preconditionable(model)
    model["other"] = nn.Linear(3, 3)
    assert list(preconditionable(model, [model["other"]])) == ["other"]


def test_a_weight_shared_with_a_layer_that_is_left_out_has_no_formula():
    model = tied()
    with pytest.raises(ValueError, match="not all of them are to be preconditioned"):
        preconditionable(model, [model[0]])


@pytest.mark.parametrize(
    ("model", "layers", "error", "message"),
    [
        (nn.ReLU(), None, ValueError, "no layer to precondition; expected nn.Linear"),
        (nn.Linear(1, 1), [nn.Linear(1, 1)], ValueError, "is no part of the model"),
        (nn.Sequential(nn.LazyLinear(2)), None, ValueError, "a lazy one to be initialised"),
        (
            nn.Sequential(weight_norm(nn.Linear(2, 2))),
            None,
            ValueError,
            "0 has no weight of its own: one that is parametrized is to be left out",
        ),
        (nn.Linear(1, 1, dtype=torch.complex64), None, TypeError, "torch.complex64"),
    ],
)
def test_other_layers_are_refused(model, layers, error, message):
    with pytest.raises(error, match=message):
        preconditionable(model, layers)


def test_other_kinds_are_refused():
    model = nn.Sequential(nn.Conv1d(1, 1, 1))
    with pytest.raises(TypeError, match=r"0 is a Conv1d; expected nn\.Linear or nn\.Conv2d"):
        preconditionable(model, model)
