"""The loss as a function of the parameters, the parts' activations, and a model left as it was."""

import pytest
import torch
from torch import nn

from theory.nn.bnp import BNP
from theory.nn.measures.activations import activations, by_unit
from theory.nn.measures.objective import Objective
from theory.nn.noisy_batch_normalization import ActivationNoise

BATCH = tuple(torch.randn(6, n, generator=torch.Generator().manual_seed(n)) for n in (3, 2))


def squares(outputs, targets):
    return ((outputs - targets) ** 2).sum()


def network(*more):
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2), *more)


def everything(model):
    return (
        *(tensor.clone() for tensor in model.state_dict().values()),
        torch.get_rng_state(),
        torch.tensor([m.training for m in model.modules()]),
        torch.tensor([p.grad is None for p in model.parameters()]),
    )


@pytest.mark.parametrize("training", [True, False])
def test_the_model_stays_as_it_was_and_its_noise_is_that_of_the_next_step(training):
    noise = ActivationNoise(2, generator=torch.Generator().manual_seed(5))
    model = network(nn.Dropout(0.5), noise).train(training)
    bnp, before = BNP(model), everything(model)
    objective = Objective(model, *BATCH, squares)
    first, again = (objective.gradient(objective.point) for _ in range(2))
    torch.testing.assert_close(first, again, rtol=0, atol=0)
    noisy = activations(model, BATCH[0], {"noise": noise})["noise"]
    torch.testing.assert_close(everything(model), before, rtol=0, atol=0)
    assert [int(each.rows) for each in bnp.preconditioners.values()] == [0, 0]  # a hook's own
    torch.testing.assert_close(noisy, model(BATCH[0]).detach())  # that of the next step
    nn.init.zeros_(model[0].weight)  # later training
    torch.testing.assert_close(objective.gradient(objective.point), first, rtol=0, atol=0)


@pytest.mark.parametrize("training", [True, False])
def test_the_gradient_is_that_of_backward(training):
    model, batch = network().double().train(training), [each.double() for each in BATCH]
    objective = Objective(model, *batch, squares)
    value, gradient = objective.gradient(objective.point + 0.25)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.25
    loss = squares(model(batch[0]), batch[1])
    loss.backward()
    torch.testing.assert_close(value, loss.detach())
    flat = torch.cat([p.grad.flatten() for p in model.parameters()])
    torch.testing.assert_close(gradient, flat)


def test_a_gradient_is_taken_where_none_is_recorded():
    objective = Objective(network(), *BATCH, squares)
    expected = objective.gradient(objective.point)
    with torch.no_grad():
        torch.testing.assert_close(objective.gradient(objective.point), expected, rtol=0, atol=0)


def test_a_model_of_single_precision_is_taken_in_double():
    model = network()
    single = Objective(model, *BATCH, squares)
    double = Objective(model.double(), *(each.double() for each in BATCH), squares)
    found, expected = (each.gradient(each.point) for each in (single, double))
    torch.testing.assert_close(found, expected, rtol=0, atol=0)


def test_frozen_and_tied_parameters():
    first, second = nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False)
    second.weight = first.weight
    last = nn.Linear(3, 2).requires_grad_(False)
    model, batch = nn.Sequential(first, second, last).double(), [each.double() for each in BATCH]
    objective = Objective(model, *batch, squares)
    assert objective.point.shape == (9,)
    _, gradient = objective.gradient(objective.point)
    squares(model(batch[0]), batch[1]).backward()
    torch.testing.assert_close(gradient, first.weight.grad.flatten())


def test_a_part_is_where_its_parameters_lie():
    model = network()
    objective = Objective(model, *BATCH, squares)
    assert objective.point[objective.part(model[1])].tolist() == [1.0] * 4 + [0.0] * 4
    assert torch.equal(objective.point[objective.part(model)], objective.point)
    for foreign in (nn.Linear(3, 4), nn.ReLU()):
        with pytest.raises(ValueError, match=r"has no trainable parameter, or one that is not"):
            objective.part(foreign)


def test_what_is_refused():
    with pytest.raises(ValueError, match="no parameter that requires a gradient"):
        Objective(nn.ReLU(), *BATCH, squares)
    mixed = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2).double())
    with pytest.raises(ValueError, match=r"several kinds.*float64.*model.to"):
        Objective(mixed, *BATCH, squares)
    for loss, size, message in (
        (lambda outputs, targets: (outputs - targets)[0], 8, r"shape \(2,\).*returns a scalar"),
        (lambda outputs, targets: outputs.detach().sum(), 8, "depends on the parameters"),
        (squares, 3, r"shape \(3,\); give \(8,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            Objective(nn.Linear(3, 2), *BATCH, loss).gradient(torch.zeros(size))


def test_activations_are_what_the_parts_put_out_in_the_models_own_mode():
    model, x = network(nn.ReLU(inplace=True)), BATCH[0]
    parts = {"y": model[0], "z": model[1], "out": model[2]}
    found = activations(model, x, parts)
    y = model[0](x).detach()
    expected = (y - y.mean(0)) / (y.var(0, correction=0) + model[1].eps).sqrt()
    torch.testing.assert_close(found["y"], y)
    torch.testing.assert_close(found["z"], expected)
    assert (found["out"] < 0).any(), "the ReLU in place came after"
    found = activations(model.eval(), x, parts)
    torch.testing.assert_close(found["z"], y / (1 + model[1].eps) ** 0.5)


def test_units_are_the_second_axis():
    maps = torch.arange(24.0).reshape(2, 3, 2, 2)
    assert torch.equal(by_unit(maps)[:, 1], maps[:, 1].flatten())
    assert torch.equal(by_unit(maps[:, :, 0, 0]), maps[:, :, 0, 0])


def test_activations_of_no_part_are_refused():
    class Partly(nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, x):
            return self.used(x)

    partly = Partly()
    for layer, message in ((nn.Linear(2, 2), "u: not part of"), (partly.unused, "u: not called")):
        with pytest.raises(ValueError, match=message):
            activations(partly, torch.ones(1, 2), {"u": layer})


def test_what_is_no_tensor_has_no_activations():
    model = nn.Sequential(nn.LSTM(2, 3))
    with pytest.raises(TypeError, match="lstm puts out a tuple; expected a tensor: name a part"):
        activations(model, torch.ones(4, 2), {"lstm": model[0]})
    with pytest.raises(TypeError, match="inputs is a list; expected a tensor"):
        activations(model, [[1.0, 2.0]], {"lstm": model[0]})
    with pytest.raises(
        ValueError, match=r"activation of shape \(3,\); expected \(batch, unit\) or"
    ):
        by_unit(torch.ones(3))


def test_what_a_loss_takes_may_be_no_tensor():
    objective = Objective(network(), BATCH[0], None, lambda outputs, _: outputs.sum())
    assert objective.gradient(objective.point)[1].shape == objective.point.shape


def test_a_loss_of_numbers_that_float64_does_not_meet_is_named():
    weights = torch.ones(2, 1)
    objective = Objective(network(), *BATCH, lambda outputs, _: (outputs @ weights).sum())
    with pytest.raises(TypeError, match=r"measured in float64, .* cast them to it"):
        objective.gradient(objective.point)
