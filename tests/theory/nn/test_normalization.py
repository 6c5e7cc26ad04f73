"""Normalisations by name, and what layers refuse: constants out of range, and no batches."""

from functools import partial
from math import inf, nan

import pytest
import torch
from torch import nn

from theory.nn import layout
from theory.nn.batch_group_normalization import BatchGroupNormalization
from theory.nn.batch_renormalization import BatchRenormalization
from theory.nn.lp_normalization import LpNormalization
from theory.nn.moving_statistics import MovingStatistics
from theory.nn.noisy_batch_normalization import ActivationNoise, NoisyBatchNormalization
from theory.nn.normalization import (
    NORMALIZATIONS,
    decay_groups,
    normalization,
    normalization_layers,
)
from theory.nn.post_activation import PostActivation

KINDS = {
    ("none", 4): nn.Identity,
    ("batch", 2): nn.BatchNorm1d,
    ("batch", 4): nn.BatchNorm2d,
    ("noisy-batch", 2): NoisyBatchNormalization,
    ("batch-renormalization", 4): BatchRenormalization,
}


@pytest.mark.parametrize(("rank", "shape"), [(2, (5, 8)), (4, (3, 8, 2, 2))])
@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_every_layer_keeps_the_shape_and_is_found_in_a_model(name, rank, shape):
    layer = normalization(name, 8, rank)
    assert type(layer) is KINDS.get((name, rank), type(layer))
    assert layer(torch.randn(shape)).shape == shape
    found = normalization_layers(nn.Sequential(nn.Linear(4, 8), layer, nn.ReLU()))
    if name == "none":
        assert found == {}
        return
    assert layer.weight.shape == layer.bias.shape == (8,)
    assert layer.eps > 0
    expected = {"1.batch_norm": layer.batch_norm} if name == "noisy-batch" else {"1": layer}
    assert found == expected


def test_layers_have_the_constants_of_their_names():
    assert [normalization(name, 3, 2).p for name in ("l1", "l2", "linf")] == [1, 2, inf]
    assert normalization("batch-renormalization", 3, 4).eps == 1e-5
    assert normalization("layer", 8, 2).normalized_shape == (8,)
    assert normalization("layer", 8, 4).num_groups == 1
    assert normalization("group", 8, 2).num_groups == 2
    assert normalization("group", 8, 4, group_size=2).num_groups == 4
    ghost, group = normalization("ghost-batch", 8, 4), normalization("batch-group", 8, 4)
    assert (ghost.examples, ghost.channels, ghost.share) == (16, 1, 0.1)
    assert (group.examples, group.channels, group.share) == (None, 4, 0.1)
    assert normalization("batch-group", 8, 4, group_size=2).channels == 2


def test_a_noisy_layer_is_seeded_by_the_generator():
    y = torch.randn(5, 8)
    first, second = (
        normalization("noisy-batch", 8, 2, generator=torch.Generator().manual_seed(5))(y)
        for _ in range(2)
    )
    assert torch.equal(first, second)


def test_weight_decay_is_of_gamma_and_beta_alone():
    model = nn.Sequential(
        nn.Linear(2, 4), BatchGroupNormalization(4), normalization("noisy-batch", 4, 2)
    )
    own, others = decay_groups(model, rescaling=0.5, weights=0.1)
    assert (own["weight_decay"], others["weight_decay"]) == (0.5, 0.1)
    assert own["params"] == [model[1].weight, model[1].bias, model[2].weight, model[2].bias]
    assert others["params"] == [model[0].weight, model[0].bias]


OTHERS = {
    "BatchNorm3d": lambda: nn.BatchNorm3d(3),
    "SyncBatchNorm": lambda: nn.SyncBatchNorm(3),
    "InstanceNorm1d": lambda: nn.InstanceNorm1d(3, affine=True),
    "InstanceNorm2d": lambda: nn.InstanceNorm2d(3, affine=True),
    "InstanceNorm3d": lambda: nn.InstanceNorm3d(3, affine=True),
    "RMSNorm": lambda: nn.RMSNorm(3),
    "PostActivation": lambda: PostActivation(nn.Linear(3, 2)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_layers_that_have_no_name_here_are_found_with_their_gamma_and_beta(name):
    model = nn.Sequential(OTHERS[name]())
    assert list(normalization_layers(model)) == ["0"]
    own, others = decay_groups(model, rescaling=0.0)
    assert own["params"] == list(model[0].parameters(recurse=False))
    behind = model[0].layer.parameters() if name == "PostActivation" else ()
    assert others["params"] == list(behind)


lp, group = partial(LpNormalization, 3), partial(BatchGroupNormalization, 6)
behind = partial(PostActivation, nn.Linear(3, 2))
CONSTANTS = {
    "p NaN": (lambda: lp(nan), r"p = nan; expected an exponent >= 1"),
    "eps negative": (lambda: lp(2, eps=-1), "eps = -1; expected a number >= 0"),
    "eps infinite": (lambda: lp(2, eps=inf), "eps = inf"),
    "momentum above 1": (lambda: lp(2, momentum=1.5), r"momentum = 1\.5; .*\[0, 1"),
    "no features": (lambda: LpNormalization(0, p=2), "features = 0; expected how many units"),
    "features a fraction": (lambda: BatchRenormalization(2.5), r"features = 2\.5"),
    "eps zero": (lambda: behind(eps=0), "eps = 0; expected a number > 0"),
    "eps of averages infinite": (lambda: MovingStatistics(3, eps=inf), "eps = inf"),
    "rho 1": (lambda: BatchRenormalization(3, rho=1), r"rho = 1; expected a number in \[0, 1\)"),
    "channels that fill no groups": (
        lambda: group(channels=4),
        "features = 6 cannot be parted into groups of channels = 4",
    ),
    "groups of no features": (
        lambda: BatchGroupNormalization(0),
        "features = 0; expected how many",
    ),
    "negative features": (lambda: BatchGroupNormalization(-2), "features = -2; expected how"),
    "features no integer": (lambda: BatchGroupNormalization(2.0), r"features = 2\.0; expected how"),
    "channels no integer": (lambda: group(channels=1.0), r"channels = 1\.0; expected how many"),
    "half an example": (lambda: group(2.5), r"examples = 2\.5; expected at least 1, or None"),
    "eps of groups infinite": (lambda: group(eps=inf), "eps = inf; expected a number > 0"),
    "no examples": (lambda: group(0), "examples = 0; expected at least 1, or None"),
    "eps of groups zero": (lambda: group(eps=0.0), r"eps = 0\.0; expected a number > 0"),
    "rho of groups 1": (lambda: group(rho=1.0), r"rho = 1\.0; expected a number in \[0, 1\)"),
    "share above 1": (lambda: group(share=1.5), r"share = 1\.5; .* the example's"),
    "noise negative": (
        lambda: ActivationNoise(3, n_mu=-1.0),
        r"n_mu = -1\.0; expected a finite number >= 0",
    ),
    "noise NaN": (lambda: ActivationNoise(3, n_mu=nan), "n_mu = nan; expected a finite number"),
    "noise infinite": (lambda: ActivationNoise(3, r_sigma=inf), "r_sigma = inf; expected a finite"),
    "small factors": (
        lambda: ActivationNoise(3, n_sigma=0.5),
        r"n_sigma = 0\.5; expected a finite number >= 1",
    ),
    "noise of no units": (lambda: ActivationNoise(0), "features = 0"),
    "rank of a noisy layer": (
        lambda: NoisyBatchNormalization(3, 3),
        "rank = 3; expected 2 .* or 4",
    ),
    "no such name": (
        lambda: normalization("instance", 8, 2),
        "no normalisation is called 'instance'; choose one of none, batch",
    ),
    "features of a name": (lambda: normalization("batch", 0, 2), "features = 0; expected how many"),
    "rank": (
        lambda: normalization("batch", 8, 3),
        r"rank = 3; expected 2, for batches \(batch, unit\), or 4",
    ),
    "group size": (
        lambda: normalization("group", 10, 4),
        "features = 10 cannot be parted into groups of group_size = 4",
    ),
}


NUMBERS = {
    "eps": [lambda eps: LpNormalization(3, 2, eps=eps), BatchRenormalization, group],
    "momentum": [lambda momentum: LpNormalization(3, 2, momentum=momentum)],
    "rho": [group, lambda rho: PostActivation(nn.Linear(3, 2), rho=rho)],
    "share": [group],
    "n_mu": [partial(ActivationNoise, 3)],
    "r_sigma": [partial(ActivationNoise, 3)],
}


@pytest.mark.parametrize("value", [None, "1", True, torch.tensor(0.5)], ids=repr)
@pytest.mark.parametrize("name", NUMBERS)
def test_what_is_no_number_is_named(name, value):
    for make in NUMBERS[name]:
        made = partial(make, 3) if make is BatchRenormalization else make
        with pytest.raises(TypeError, match=f"{name} is a .*; expected "):
            made(**{name: value})


def test_what_post_activation_cannot_stand_before_is_named():
    with pytest.raises(TypeError, match="layer is a Flatten; expected "):
        PostActivation(nn.Flatten())


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_out_of_range(name):
    make, message = CONSTANTS[name]
    with pytest.raises(ValueError, match=message):
        make()


def test_the_ends_of_the_ranges_are_allowed():
    LpNormalization(1, p=inf, eps=0, momentum=1)
    MovingStatistics(1, eps=1e-30, rho=0)
    BatchGroupNormalization(2, examples=1, channels=2, eps=1e-30, rho=0, share=1)
    ActivationNoise(1, n_mu=0, n_sigma=1, r_mu=0, r_sigma=0)


ONE = r"shape \(1, 3\), so 1 entry for each unit; expected at least 2"
BATCHES = {
    "one example": (lp(1), torch.ones(1, 3), "LpNormalization was given y of " + ONE),
    "no example": (lp(1), torch.ones(0, 3), "so 0 entries for each unit"),
    "other units": (lp(1), torch.ones(4, 2), r"\(4, 2\); expected 3 units on axis 1"),
    "no batch": (lp(1), torch.ones(3), r"\(3,\); expected 3 units"),
    "integers": (lp(1), torch.ones(4, 3, dtype=torch.int64), r"dtype torch\.int64; expected float"),
    "other units in evaluation": (behind().eval(), torch.ones(4, 2), "expected 3 units"),
    "one, before a layer": (behind(), torch.ones(1, 3), ONE),
    "one, renormalized": (
        BatchRenormalization(3),
        torch.ones(1, 3),
        "^BatchRenormalization was given y of " + ONE,
    ),
    "other units, behind": (behind().eval(), torch.ones(4, 2), "^PostActivation was given h of sh"),
    "ghosts of one entry": (
        group(1),
        torch.ones(7, 6),
        r"y of shape \(7, 6\), of which a ghost batch has 1 entry for each group; expected",
    ),
    "noise of other units": (
        ActivationNoise(3),
        torch.ones(3, 2),
        r"ActivationNoise was given a of shape \(3, 2\)",
    ),
}


@pytest.mark.parametrize("name", BATCHES)
def test_what_is_no_batch_is_refused(name):
    layer, y, message = BATCHES[name]
    with pytest.raises(TypeError if name == "integers" else ValueError, match=message):
        layer(y)


def test_what_is_no_number_and_no_tensor_is_named():
    with pytest.raises(TypeError, match="p is a str; expected an exponent >= 1"):
        LpNormalization(2, "2")
    for layer in (lp(2), group(), behind(), BatchRenormalization(3)):
        with pytest.raises(TypeError, match="was given a list; expected a tensor"):
            layer([[1.0, 2.0, 3.0]])


def test_evaluation_is_advised_where_it_takes_smaller_batches():
    with pytest.raises(ValueError, match=r"give a larger batch$"):
        layout.check_batch(torch.zeros(0, 2), 2, "a layer")
    with pytest.raises(ValueError, match=r"give a larger batch, or call eval\(\)"):
        layout.check_batch(torch.zeros(1, 2), 2, "a layer", least=2)
