"""BNP of layers that are out of the ordinary: each has a clear answer."""

import pytest
import torch
from bnp_training import X, alike, dense, drawn, redrawn, step
from torch import nn

from theory.nn.bnp import BNP


def test_a_layer_called_twice_sees_both_batches_as_one():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = redrawn(nn.Linear(4, 3))

        def forward(self, x):
            return self.layer(x) + self.layer(x.flip(1))

    class Once(Twice):
        def forward(self, x):
            both = self.layer(torch.cat([x, x.flip(1)]))
            return both[: len(x)] + both[len(x) :]

    twice, once = Twice(), Once()
    alike(step(twice, BNP(twice), X), step(once, BNP(once), X))


def test_a_weight_shared_by_two_layers_is_one_layer_called_twice():
    class Shared(nn.Module):
        def __init__(self, tied):
            super().__init__()
            self.a = redrawn(nn.Linear(4, 4))
            self.b = nn.Linear(4, 4)
            if tied:
                self.b.weight, self.b.bias = self.a.weight, self.a.bias
            else:
                self.b = self.a

        def forward(self, x):
            return self.b(self.a(x).tanh())

    tied, same = Shared(True), Shared(False)
    bnp = BNP(tied)
    assert list(bnp.preconditioners) == ["a and b"]
    alike(step(tied, bnp, X), step(same, BNP(same), X))


def test_a_layer_without_bias_is_scaled_by_mean_squares():
    model = redrawn(nn.Sequential(nn.Linear(4, 2, bias=False)))
    (found,) = step(model, BNP(model, rho=0.0, eps_1=0.0, eps_2=0.0), X)
    (plain,) = torch.autograd.grad(model(X).square().sum(), model[0].weight)
    torch.testing.assert_close(found, plain / X.square().mean(0), rtol=1e-4, atol=1e-4)


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


def test_a_frozen_layer_is_left_alone_and_collects_nothing():
    model = dense()
    model[0].requires_grad_(False)
    bnp = BNP(model)
    found = step(model, bnp, X)
    assert found[0] is None
    assert found[1] is None
    assert bnp.state_dict()["0.mean"].tolist() == [0.0] * 4
    assert bnp.state_dict()["2.mean"].abs().min() > 0


def test_a_layer_without_gradients_is_left_alone():
    class Unused(nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused, self.detached = dense(), nn.Linear(4, 2), nn.Linear(4, 2)

        def forward(self, x):
            return self.used(x) + 0 * self.detached(x).detach()

    model = Unused()
    bnp = BNP(model)
    found = step(model, bnp, X)
    alike(found[:4], step(plain := dense(), BNP(plain), X))
    assert found[4:] == [None] * 4
    assert bnp.state_dict()["detached.mean"].abs().min() > 0


def test_groups_are_layers_of_their_own():
    images = drawn(3, 6, 5, 5, seed=3)
    together = redrawn(nn.Sequential(nn.Conv2d(6, 4, 3, groups=2)))
    single = nn.ModuleList([nn.Conv2d(3, 2, 3), nn.Conv2d(3, 2, 3)])
    found = step(together, BNP(together), images)
    for part, layer in enumerate(single):
        layer.weight.data = together[0].weight.data.chunk(2)[part].clone()
        layer.bias.data = together[0].bias.data.chunk(2)[part].clone()
        expected = step(layer, BNP(layer), images.chunk(2, dim=1)[part])
        alike([g.chunk(2)[part] for g in found], expected)


def test_a_kernel_as_large_as_the_map_is_a_dense_layer_of_the_channels():
    maps = drawn(4, 3, 2, 2, seed=4)
    conv = redrawn(nn.Sequential(nn.Conv2d(3, 5, 2)))
    bnp = BNP(conv)
    q2 = 12 / 4
    found = step(conv, bnp, maps)
    mean, variance = bnp.state_dict()["0.mean"], bnp.state_dict()["0.variance"]
    conv.zero_grad()
    conv(maps).square().sum().backward()
    guarded = variance + 0.01 * variance.max() + 1e-4
    W, b = conv[0].weight.grad, conv[0].bias.grad
    W = (W - b[:, None, None, None] * mean[:, None, None]) / guarded[:, None, None] / q2
    alike(found, [W, b / q2 - (W * mean[:, None, None]).sum((1, 2, 3))])


def test_unusual_inputs():
    sequence = redrawn(nn.Sequential(nn.Linear(4, 2)))
    rows = redrawn(nn.Sequential(nn.Linear(4, 2)))
    x = drawn(3, 5, 4)
    alike(step(sequence, BNP(sequence), x), step(rows, BNP(rows), x.reshape(15, 4)))
    conv = redrawn(nn.Sequential(nn.Conv2d(2, 3, 3)))
    other = redrawn(nn.Sequential(nn.Conv2d(2, 3, 3)))
    image = drawn(2, 6, 6)
    alike(step(conv, BNP(conv), image), step(other, BNP(other), image[None]))
    model = dense()
    bnp = BNP(model)
    model[0](input=X)
    model(X[:0])
    assert bnp.preconditioners["0"].rows == len(X)


def test_a_weight_used_without_its_layer_is_an_error():
    class Around(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 2)

        def forward(self, x):
            return nn.functional.linear(x, self.layer.weight, self.layer.bias)

    model = Around()
    with pytest.raises(RuntimeError, match="Leave a layer out by layers="):
        step(model, BNP(model), X)


def test_layers_can_be_chosen():
    model = dense()
    bnp = BNP(model, layers=[model[2]])
    assert list(bnp.preconditioners) == ["2"]
    found = step(model, bnp, X)
    model.zero_grad()
    model(X).square().sum().backward()
    torch.testing.assert_close(found[0], model[0].weight.grad)
    assert not torch.allclose(found[2], model[2].weight.grad)


def test_a_second_bnp_of_a_layer_is_an_error_until_the_first_is_removed():
    model = dense()
    first = BNP(model, layers=[model[0]])
    with pytest.raises(ValueError, match=r"0 has a BNP already.*remove\(\) of the other"):
        BNP(model)
    BNP(model, layers=[model[2]]).remove()
    first.remove()
    alike(step(model, BNP(model), X), step(other := dense(), BNP(other), X), 0.0)


def test_layers_without_a_formula_are_named_once():
    model = nn.Sequential(
        nn.Conv2d(1, 2, 1), nn.ConvTranspose2d(2, 2, 1), nn.BatchNorm2d(2), nn.Flatten(2),
        nn.Conv1d(2, 2, 1), nn.Linear(4, 1),
    )  # fmt: skip
    with pytest.warns(
        UserWarning, match=r"no formula for 1 \(ConvTranspose2d\), 4 \(Conv1d\): their"
    ) as said:
        bnp = BNP(model)
    step(model, bnp, drawn(3, 1, 2, 2))
    assert len(said) == 1
    bnp.remove()
    BNP(model, layers=[model[0]])  # chosen: nothing to say


def test_a_compiled_model_is_compiled_once_for_any_number_of_micro_batches():
    model = dense()
    bnp = BNP(model)
    parts = drawn(24, 4).split(2)
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    with torch._dynamo.config.patch(error_on_recompile=True):
        found = [step(compiled, bnp, *parts[:count]) for count in (1, 2, 12)]
    other = dense()
    bnp = BNP(other)
    for gradients, count in zip(found, (1, 2, 12), strict=True):
        alike(gradients, step(other, bnp, *parts[:count]))
