"""BNP of layers that are out of the ordinary: each has a clear answer."""

from copy import deepcopy

import pytest
import torch
from bnp_training import X, alike, dense, drawn, redrawn, step
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

from theory.nn import batch_statistics
from theory.nn.bnp import BNP
from theory.nn.preconditionable_layers import preconditionable


class Twice(nn.Module):
    """A layer that is called twice, or once with both batches."""

    def __init__(self, is_once):
        super().__init__()
        self.layer, self.is_once = redrawn(nn.Linear(4, 3)), is_once

    def forward(self, x):
        if not self.is_once:
            return self.layer(x) + self.layer(input=x.flip(1))
        both = self.layer(torch.cat([x, x.flip(1)]))
        return both[: len(x)] + both[len(x) :]


def tied(share_weight=True, share_bias=True, bias=True):
    """Two layers of one weight and one bias, or of less."""
    a, b = (redrawn(nn.Linear(4, 4, bias=bias)) for _ in range(2))
    if share_weight:
        b.weight = a.weight
    if share_bias:
        b.bias = a.bias
    return nn.Sequential(a, nn.Tanh(), b)


def called_twice():
    layer = redrawn(nn.Linear(4, 4))
    return nn.Sequential(layer, nn.Tanh(), layer)


def linear():
    return redrawn(nn.Sequential(nn.Linear(4, 2)))


def convolution():
    return redrawn(nn.Sequential(nn.Conv2d(2, 3, 3)))


SEQUENCE, IMAGE = drawn(3, 5, 4), drawn(2, 6, 6)
ALIKE = {
    "gradients that are accumulated": (dense, [X[:2], X[2:3], X[3:]], dense, [X]),
    "a layer that is called twice": (lambda: Twice(False), [X], lambda: Twice(True), [X]),
    "a shared weight": (tied, [X], called_twice, [X]),
    "a sequence": (linear, [SEQUENCE], linear, [SEQUENCE.reshape(15, 4)]),
    "one image": (convolution, [IMAGE], convolution, [IMAGE[None]]),
    "an empty batch": (dense, [X, X[:0]], dense, [X]),
}


@pytest.mark.parametrize("name", ALIKE)
def test_all_that_a_weight_meets_is_one_batch(name):
    build, batches, other, as_one = ALIKE[name]
    model, literal = build(), other()
    alike(step(model, BNP(model), *batches), step(literal, BNP(literal), *as_one))


def test_a_frozen_bias_is_as_none_and_a_frozen_weight_leaves_the_bias_over_q():
    with_bias, without = dense(), dense(bias=False)
    for layer, other in ((with_bias[0], without[0]), (with_bias[2], without[2])):
        layer.bias.requires_grad_(False).zero_()
        other.weight.data = layer.weight.data.clone()
    found = step(with_bias, BNP(with_bias), X)
    assert found[1] is None
    alike([found[0], found[2]], step(without, BNP(without), X))

    model = dense()
    model[0].weight.requires_grad_(False)
    plain = torch.autograd.grad(model(X[:2]).square().sum(), model[0].bias)[0]
    _, bias, *_ = step(model, BNP(model), X[:2])
    torch.testing.assert_close(bias, plain / 2)  # q^2 = 4 / 2


def test_layers_without_gradients_are_left_alone_and_frozen_ones_collect_nothing():
    class Unused(nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused, self.detached = dense(), nn.Linear(4, 2), nn.Linear(4, 2)
            self.frozen = nn.Linear(4, 2).requires_grad_(False)

        def forward(self, x):
            return self.used(x) + 0 * (self.detached(x) + self.frozen(x)).detach()

    model = Unused()
    bnp = BNP(model)
    found = step(model, bnp, X)
    alike(found[:4], step(plain := dense(), BNP(plain), X))
    assert found[4:] == [None] * 6
    assert bnp.state_dict()["detached.mean"].abs().min() > 0
    assert bnp.state_dict()["frozen.mean"].tolist() == [0.0] * 4


def test_layers_can_be_chosen_each_of_one_bnp_until_it_is_removed():
    model = dense()
    bnp = BNP(model, layers=[model[2]])
    found = step(model, bnp, X)
    model.zero_grad()
    model(X).square().sum().backward()
    torch.testing.assert_close(found[0], model[0].weight.grad)
    assert not torch.allclose(found[2], model[2].weight.grad)
    with pytest.raises(ValueError, match=r"2 has a BNP already.*remove\(\) of the other"):
        BNP(model)
    BNP(model, layers=[model[0]]).remove()
    for _ in range(2):
        bnp.remove()
    alike(step(model, BNP(model), X), step(other := dense(), BNP(other), X), 0.0)


def test_a_model_that_was_copied_with_a_bnp_can_have_its_own():
    model = dense()
    bnp = BNP(model)
    copied = deepcopy(model)
    with pytest.raises(ValueError, match=r"BNP\.release\(model\)"):
        BNP(copied)
    BNP.release(copied)
    alike(step(copied, BNP(copied), X), step(other := dense(), BNP(other), X), 0.0)
    alike(step(model, bnp, X), step(other := dense(), BNP(other), X), 0.0)


def test_layers_without_a_formula_are_named_once():
    model = nn.Sequential(
        nn.Conv2d(1, 2, 1), nn.ConvTranspose2d(2, 2, 1), nn.BatchNorm2d(2), nn.Flatten(2),
        nn.Conv1d(2, 2, 1), nn.Linear(4, 1), nn.LayerNorm(1),
    )  # fmt: skip
    with pytest.warns(
        UserWarning, match=r"no formula for 1 \(ConvTranspose2d\), 4 \(Conv1d\): their"
    ) as said:
        bnp = BNP(model)
    assert list(bnp.preconditioners) == ["0", "5"]
    step(model, bnp, drawn(3, 1, 2, 2))
    assert len(said) == 1
    bnp.remove()
    BNP(model, layers=[model[0], model[0]])  # chosen: nothing to say


def embedding_and_head():
    model = nn.ModuleDict({"embedding": nn.Embedding(5, 3), "head": nn.Linear(3, 5)})
    model["head"].weight = model["embedding"].weight
    model["other"] = nn.Linear(3, 3)
    return model


WITH_HEAD, WITHOUT_ONE = embedding_and_head(), tied()


@pytest.mark.parametrize(
    ("model", "layers", "names"),
    [
        (nn.Linear(4, 4), None, ["Linear"]),
        (called_twice(), None, ["0"]),
        (tied(), None, ["0 and 2"]),
        (tied(bias=False), None, ["0 and 2"]),
        (tied(False, False), None, ["0", "2"]),
        (WITH_HEAD, [WITH_HEAD["other"]], ["other"]),
    ],
)
def test_the_layers_of_each_weight_are_named(model, layers, names):
    assert list(preconditionable(model, layers)) == names


def hollow(inputs, outputs):
    """Return a model of one layer whose weight has no entries."""
    layer = nn.Linear(1, 1)
    layer.in_features, layer.out_features = inputs, outputs
    layer.weight = nn.Parameter(torch.empty(outputs, inputs))
    return nn.Sequential(layer)


KINDS = ("complex", "no model", "no list", "no modules", "another kind")
NO_FORMULA = {
    "half shared": (tied(True, False), None, "0 and 2 share a weight or a bias, but not both"),
    "the bias shared": (tied(False, True), None, "0 and 2 share a weight or a bias, but not both"),
    "shared with an embedding": (WITH_HEAD, None, "embedding and head share"),
    "shared with one left out": (
        WITHOUT_ONE,
        [WITHOUT_ONE[0]],
        "not all of them are to be preconditioned",
    ),
    "none": (nn.ReLU(), None, "no layer to precondition; expected nn.Linear"),
    "no part": (nn.Linear(1, 1), [nn.Linear(1, 1)], "is no part of the model"),
    "lazy": (nn.Sequential(nn.LazyLinear(2)), None, "a lazy one to be initialised"),
    "parametrized": (
        nn.Sequential(weight_norm(nn.Linear(2, 2))),
        None,
        "0 has no weight of its own",
    ),
    "complex": (nn.Linear(1, 1, dtype=torch.complex64), None, "torch.complex64"),
    "no model": (WITH_HEAD.parameters(), None, "model is a generator; expected a torch.nn"),
    "no list": (WITH_HEAD, WITH_HEAD["head"], "layers is a Linear; expected a list"),
    "no modules": (nn.Linear(1, 1), nn.Linear(1, 1).parameters(), "layers holds a Parameter"),
    "no inputs": (hollow(0, 2), None, r"the weight of 0 has shape \(2, 0\); expected inputs"),
    "no outputs": (hollow(2, 0), None, r"the weight of 0 has shape \(0, 2\); expected inputs"),
    "another kind": (model := nn.Sequential(nn.Conv1d(1, 1, 1)), model, r"0 is a Conv1d; expected"),
}


@pytest.mark.parametrize("name", NO_FORMULA)
def test_layers_without_a_formula_are_refused(name):
    model, layers, message = NO_FORMULA[name]
    with pytest.raises(TypeError if name in KINDS else ValueError, match=message):
        preconditionable(model, layers)


@pytest.mark.parametrize("rows", [64, 512, 513, 200_000])
def test_statistics_of_many_rows_far_from_zero_keep_their_digits(rows):
    x = torch.randn(rows, 3, generator=torch.Generator().manual_seed(rows)) + 1000
    found, exactly = batch_statistics.input_statistics(nn.Linear(3, 1), x), x.double()
    torch.testing.assert_close(found.mean.double(), exactly.mean(0), rtol=1e-6, atol=0)
    spread = exactly.var(0, correction=0)
    torch.testing.assert_close(found.variance.double(), spread, rtol=1e-5, atol=0)
