import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from theory.nn.measures.landscape import step_sizes
from verify.datasets.dataset import Images
from verify.experiments import meters
from verify.experiments.evidence import as_json
from verify.experiments.metered_training import Moment


def squares(outputs, targets):
    return ((outputs - targets) ** 2).sum() / 2


@pytest.fixture
def moment():
    generator = torch.Generator().manual_seed(2)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    for parameter in model.parameters():
        nn.init.normal_(parameter, generator=generator)
    x, y = torch.randn(6, 3, generator=generator), torch.randn(6, 2, generator=generator)
    return Moment(5, model, x, y, squares, 0.1, generator)


def parts(model):
    return dict(model.named_children())


def test_shifts_are_of_the_layers_shown_and_of_all_layers_updates(moment):
    found = meters.covariate_shifts(parts, frozenset({"2"}))(moment)
    assert set(found) == {"2"}
    assert found["2"]["difference"] > 0
    alone = meters.covariate_shifts(lambda m: {"2": m[2]}, frozenset({"2"}))(moment)
    assert alone["2"]["difference"] == 0


def test_landscapes_are_in_learning_rates(moment):
    found = meters.landscape((0.5, 2.0), 3)(moment)
    assert found["gradient_predictiveness"] == [
        min(found["gradient_changes"]),
        max(found["gradient_changes"]),
    ]
    assert found["loss_variation"] == [min(found["losses"]), max(found["losses"])]
    distances = [size * found["gradient_norm"] for size in step_sizes(0.1, (0.5, 2.0), 3)]
    ratios = [c / d for c, d in zip(found["gradient_changes"], distances, strict=True)]
    assert found["effective_smoothness"] == pytest.approx(max(ratios))
    as_json(found)


def test_in_double_a_small_change_of_the_gradient_is_not_rounding(moment):
    times = (1e-8, 2e-8)
    at = replace(moment, inputs=1000 * moment.inputs)
    rough = meters.landscape(times, 2)(at)["gradient_changes"]
    fine = meters.in_double(meters.landscape(times, 2))(at)["gradient_changes"]
    assert fine[1] == pytest.approx(2 * fine[0], rel=1e-3)
    assert rough[1] != pytest.approx(2 * rough[0], rel=1e-3)
    assert next(at.model.parameters()).dtype == torch.float32


def test_random_directions_come_from_the_moments_generator(moment):
    measure = meters.random_landscape((0.5, 2.0), 2)
    state = moment.generator.get_state()
    first, second = measure(moment), measure(moment)
    moment.generator.set_state(state)
    assert first == measure(moment) != second


def test_moments_are_over_the_batch_and_biased(moment):
    y = moment.model[0](moment.inputs).detach().double()
    found = meters.moments(lambda m: {"y": m[0]}, units=2)(moment)["y"]
    assert found["means"] == pytest.approx(y.mean(0)[:2].tolist())
    assert found["variances"] == pytest.approx(((y - y.mean(0)) ** 2).mean(0)[:2].tolist())
    deviation = meters.deviations(lambda m: {"y": m[0]})(moment)["y"]
    spreads = sorted(((y - y.mean(0)) ** 2).mean(0).sqrt().tolist())
    assert deviation == pytest.approx(spreads[1])  # PyTorch's median is the lower of two


def test_a_histogram_shares_out_the_batch(moment):
    found = meters.histograms(lambda m: {"y": m[0]}, unit=1)(moment)["y"]
    y = moment.model[0](moment.inputs)[:, 1].detach()
    assert (found["low"], found["high"]) == (float(y.min()), float(y.max()))
    assert sum(found["shares"]) == pytest.approx(1)
    width = (found["high"] - found["low"]) / meters.BINS
    middles = [found["low"] + (bin_ + 0.5) * width for bin_ in range(meters.BINS)]
    mean = sum(m * s for m, s in zip(middles, found["shares"], strict=True))
    assert mean == pytest.approx(float(y.mean()), abs=width / 2)


def test_a_unit_that_is_constant_has_a_histogram_too(moment):
    nn.init.zeros_(moment.model[0].weight)
    found = meters.histograms(lambda m: {"y": m[0]}, unit=1)(moment)["y"]
    assert sum(found["shares"]) == pytest.approx(1)
    assert found["low"] <= float(moment.model[0].bias[1].detach()) <= found["high"]


def test_accuracy_is_of_the_batch_in_training_and_of_the_test_in_evaluation():
    model = nn.Sequential(nn.BatchNorm1d(2))
    inputs = torch.tensor([[3.0, 0.0], [1.0, 5.0]])
    test = Images(
        torch.tensor([[0.2, 0.1]] * 3 + [[0.1, 0.2]]).reshape(4, 2, 1, 1), torch.zeros(4).long()
    )

    class Flat(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = model

        def forward(self, x):
            return self.norm(x.flatten(1))

    at = Moment(0, Flat(), inputs, torch.tensor([0, 1]), squares, 0.1, torch.Generator())
    assert meters.accuracy(test)(at) == {"batch": 1.0, "test": 0.75}
    assert at.model.training
    assert torch.equal(model[0].running_mean, torch.zeros(2))


def test_nothing_that_is_measured_is_silently_not_a_number(moment):
    for found in (
        meters.landscape((0.5, 2.0), 3)(moment),
        meters.covariate_shifts(parts, frozenset(parts(moment.model)))(moment),
    ):
        assert all(not math.isnan(x) for x in _leaves(found))


def _leaves(value):
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in _leaves(part)]
    if isinstance(value, list):
        return [leaf for part in value for leaf in _leaves(part)]
    return [] if value is None else [value]
