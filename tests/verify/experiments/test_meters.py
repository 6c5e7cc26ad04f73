from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.nn.functional import mse_loss

from theory.nn.measures.landscape import along_gradient, step_sizes
from verify.datasets.dataset import Images
from verify.experiments import meters
from verify.experiments.evidence import as_json
from verify.experiments.metered_training import Moment

KEPT = ("loss_variation", "gradient_predictiveness", "effective_smoothness")


@pytest.fixture
def moment():
    generator = torch.Generator().manual_seed(2)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    for parameter in model.parameters():
        nn.init.normal_(parameter, generator=generator)
    x, y = torch.randn(6, 3, generator=generator), torch.randn(6, 2, generator=generator)
    return Moment(5, model, x, y, mse_loss, 0.1, generator)


def first(model):
    return {"y": model[0]}


def test_shifts_are_of_the_layers_shown_and_of_all_layers_updates(moment):
    def parts(model):
        return dict(model.named_children())

    found = meters.covariate_shifts(parts, frozenset({"2"}))(moment)
    assert set(found) == {"2"}
    assert found["2"]["difference"] > 0
    alone = meters.covariate_shifts(lambda m: {"2": m[2]}, frozenset({"2"}))(moment)
    assert alone["2"]["difference"] == 0


def test_landscapes_are_in_learning_rates(moment):
    found = meters.landscape((0.5, 2.0), 3)(moment)
    sizes = step_sizes(0.1, (0.5, 2.0), 3)
    expected = along_gradient(moment.model, moment.inputs, moment.targets, mse_loss, sizes)
    assert found == as_json({name: getattr(expected, name) for name in found})
    assert set(found) == {*KEPT, "gradient_norm", "losses", "gradient_changes"}


def test_a_small_change_of_the_gradient_is_not_rounding(moment):
    at = replace(moment, inputs=1000 * moment.inputs)
    found = meters.landscape((1e-8, 2e-8), 2)(at)["gradient_changes"]
    assert found[1] == pytest.approx(2 * found[0], rel=1e-3)
    assert next(at.model.parameters()).dtype == torch.float32


def test_random_directions_come_from_the_moments_generator(moment):
    measure = meters.random_landscape((0.5, 2.0), 2)
    state = moment.generator.get_state()
    found, other = measure(moment), measure(moment)
    moment.generator.set_state(state)
    assert found == measure(moment) != other


def test_moments_are_over_the_batch_and_biased(moment):
    y = moment.model[0](moment.inputs).detach().double()
    variances = ((y - y.mean(0)) ** 2).mean(0)
    found = meters.moments(first, units=2)(moment)["y"]
    assert found["means"] == pytest.approx(y.mean(0)[:2].tolist())
    assert found["variances"] == pytest.approx(variances[:2].tolist())
    deviation = meters.deviations(first)(moment)["y"]
    # PyTorch's median is the lower of two.
    assert deviation == pytest.approx(sorted(variances.sqrt().tolist())[1])


@pytest.mark.parametrize("is_constant", [False, True])
def test_a_histogram_shares_out_the_batch(moment, is_constant):
    if is_constant:
        nn.init.zeros_(moment.model[0].weight)
    y = moment.model[0](moment.inputs)[:, 1].detach()
    found = meters.histograms(first, unit=1)(moment)["y"]
    low, high = found["low"], found["high"]
    assert (low, high) == (float(y.min()), float(y.max()))
    assert sum(found["shares"]) == pytest.approx(1)
    width = (high - low) / meters.BINS
    middles = [low + (bin_ + 0.5) * width for bin_ in range(meters.BINS)]
    mean = sum(m * s for m, s in zip(middles, found["shares"], strict=True))
    assert mean == pytest.approx(float(y.mean()), abs=width / 2 + 1e-6)


def test_accuracy_is_of_the_batch_in_training_and_of_the_test_in_evaluation():
    model = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(2))
    inputs = torch.tensor([[3.0, 0.0], [1.0, 5.0]])
    shown = torch.tensor([[0.2, 0.1]] * 3 + [[0.1, 0.2]]).reshape(4, 2, 1, 1)
    test = Images(shown, torch.zeros(4).long())
    at = Moment(0, model, inputs, torch.tensor([0, 1]), mse_loss, 0.1, torch.Generator())
    assert meters.accuracy(test)(at) == {"batch": 1.0, "test": 0.75}
    assert at.model.training
    assert torch.equal(model[1].running_mean, torch.zeros(2))
