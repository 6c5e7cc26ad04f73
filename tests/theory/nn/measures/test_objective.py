import pytest
import torch
from torch import nn

from theory.nn.bnp import BNP
from theory.nn.measures.activations import activations
from theory.nn.measures.objective import Objective


class Noise(nn.Module):
    """Adds numbers from a generator of its own, and counts its calls in a buffer."""

    def __init__(self):
        super().__init__()
        self.generator = torch.Generator().manual_seed(5)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        return x + torch.randn(x.shape, generator=self.generator)


def squares(outputs, targets):
    return ((outputs - targets) ** 2).sum()


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(1)
    return torch.randn(6, 3, generator=generator), torch.randn(6, 2, generator=generator)


def everything(model):
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    own = [m.generator.get_state() for m in model.modules() if isinstance(m, Noise)]
    gradients = [p.grad for p in model.parameters()]
    modes = [m.training for m in model.modules()]
    return state, own, gradients, modes, torch.get_rng_state()


@pytest.mark.parametrize("training", [True, False])
def test_the_gradient_is_autograds_and_the_model_stays_as_it_was(batch, training):
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2), Noise())
    model.insert(3, nn.Dropout(0.5))
    model[1].running_mean += 0.3
    model.train(training)
    before = everything(model)
    objective = Objective(model, *batch, squares)
    first = objective.gradient(objective.point)
    again = objective.gradient(objective.point)
    after = everything(model)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert all(
        torch.equal(a, b) for a, b in zip(before[0].values(), after[0].values(), strict=True)
    )
    assert torch.equal(before[1][0], after[1][0])
    assert after[2] == before[2] == [None] * 6
    assert after[3] == before[3]
    assert torch.equal(before[4], after[4])


@pytest.mark.parametrize("training", [True, False])
def test_the_gradient_is_that_of_backward(batch, training):
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)).train(training)
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


def test_it_is_not_reached_by_later_training(batch):
    model = nn.Linear(3, 2)
    objective = Objective(model, *batch, squares)
    before = objective.gradient(objective.point)
    nn.init.zeros_(model.weight)
    after = objective.gradient(objective.point)
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))


def test_frozen_and_tied_parameters(batch):
    first, second = nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False)
    second.weight = first.weight
    last = nn.Linear(3, 2).requires_grad_(False)
    objective = Objective(nn.Sequential(first, second, last), *batch, squares)
    assert objective.point.shape == (9,)
    _, gradient = objective.gradient(objective.point)
    squares(last(second(first(batch[0]))), batch[1]).backward()
    torch.testing.assert_close(gradient, first.weight.grad.flatten())


def test_a_part_is_where_its_parameters_lie(batch):
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    objective = Objective(model, *batch, squares)
    assert torch.equal(objective.point[objective.part(model[1])], torch.tensor([1.0] * 4 + [0] * 4))
    assert torch.equal(objective.point[objective.part(model)], objective.point)
    with pytest.raises(ValueError, match="Linear has no trainable parameter, or one that is not"):
        objective.part(nn.Linear(3, 4))
    with pytest.raises(ValueError, match="ReLU has no trainable parameter"):
        objective.part(nn.ReLU())


def test_what_is_refused(batch):
    model = nn.Linear(3, 2)
    with pytest.raises(ValueError, match="no parameter that requires a gradient"):
        Objective(nn.ReLU(), *batch, squares)
    mixed = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2).double())
    with pytest.raises(ValueError, match=r"several kinds.*float64.*model.to"):
        Objective(mixed, *batch, squares)
    vector = Objective(model, *batch, lambda outputs, targets: (outputs - targets)[0])
    with pytest.raises(ValueError, match=r"shape \(2,\).*returns a scalar"):
        vector.gradient(vector.point)
    detached = Objective(model, *batch, lambda outputs, targets: outputs.detach().sum())
    with pytest.raises(ValueError, match="depends on the parameters"):
        detached.gradient(detached.point)
    with pytest.raises(ValueError, match=r"shape \(3,\); give \(8,\)"):
        vector.gradient(torch.zeros(3))


def test_hooks_that_keep_statistics_keep_those_of_training_alone(batch):
    def preconditioned(measures):
        model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
        for parameter in model.parameters():
            nn.init.normal_(parameter, generator=torch.Generator().manual_seed(4))
        bnp = BNP(model)
        squares(model(batch[0]), batch[1]).backward()
        if measures:
            objective = Objective(model, 5 * batch[0], batch[1], squares)
            objective.gradient(objective.point)
            activations(model, 5 * batch[0], {"first": model[0]})
        bnp.precondition()
        return model[0].weight.grad

    torch.testing.assert_close(preconditioned(True), preconditioned(False), rtol=0, atol=0)
