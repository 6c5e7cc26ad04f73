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


renormalization, ghosts = partial(BatchRenormalization, 3), partial(BatchGroupNormalization, 6)
lp, behind = partial(LpNormalization, 3, 2), partial(PostActivation, nn.Linear(3, 2))
averages, noise = partial(MovingStatistics, 3), partial(ActivationNoise, 3)
BELOW_1, SHARE, POSITIVE = "a number in \\[0, 1\\)", ".*\\[0, 1\\]", "a number > 0"
EPS = r"a number >= 0, added to the norm's power"
CONSTANTS = [
    (partial(LpNormalization, 3), "p", nan, "an exponent >= 1"),
    (lp, "eps", -1, EPS),
    (lp, "eps", inf, EPS),
    (lp, "momentum", 1.5, SHARE),
    (behind, "eps", 0, POSITIVE),
    (behind, "rho", 1.0, BELOW_1),
    (averages, "eps", inf, POSITIVE),
    (renormalization, "eps", 0.0, POSITIVE),
    (renormalization, "rho", 1, BELOW_1),
    (ghosts, "eps", inf, POSITIVE),
    (ghosts, "eps", 0.0, POSITIVE),
    (ghosts, "rho", 1.0, BELOW_1),
    (ghosts, "share", 1.5, ".* the example's"),
    (noise, "n_mu", -1.0, "a finite number >= 0"),
    (noise, "n_mu", nan, "a finite number"),
    (noise, "r_sigma", inf, "a finite number"),
    (noise, "n_sigma", 0.5, "a finite number >= 1"),
]
"""A layer, a number, a value that is out of its range, and what is expected."""
COUNTS = [
    (partial(LpNormalization, p=2), "features", 0, "how many units"),
    (BatchRenormalization, "features", 2.5, "how many"),
    (BatchGroupNormalization, "features", 0, "how many"),
    (BatchGroupNormalization, "features", -2, "how many"),
    (BatchGroupNormalization, "features", 2.0, "how many"),
    (ActivationNoise, "features", 0, "how many"),
    (partial(normalization, "batch", rank=2), "features", 0, "how many"),
    (ghosts, "channels", 1.0, "how many"),
    (ghosts, "examples", 2.5, "at least 1, or None"),
    (ghosts, "examples", 0, "at least 1, or None"),
    (partial(NoisyBatchNormalization, 3), "rank", 3, "2 .* or 4"),
    (partial(normalization, "batch", 8), "rank", 3, r"2, for batches \(batch, unit\), or 4"),
]
"""Likewise for whole numbers."""


@pytest.mark.parametrize(("make", "name", "value", "expected"), CONSTANTS + COUNTS)
def test_constants_out_of_range(make, name, value, expected):
    with pytest.raises(ValueError, match=rf"{name} = {value}; expected {expected}"):
        make(**{name: value})


@pytest.mark.parametrize("value", [None, "1", True, torch.tensor(0.5)], ids=repr)
@pytest.mark.parametrize(("make", "name"), dict.fromkeys(row[:2] for row in CONSTANTS))
def test_what_is_no_number_is_named(make, name, value):
    with pytest.raises(TypeError, match=f"{name} is a .*; expected "):
        make(**{name: value})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (partial(ghosts, channels=4), "features = 6 .* into groups of channels = 4"),
        (
            partial(normalization, "group", 10, 4),
            "features = 10 cannot be parted into groups of group_size = 4",
        ),
        (
            partial(normalization, "instance", 8, 2),
            "no normalisation is called 'instance'; choose one of none, batch",
        ),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_post_activation_cannot_stand_before_is_named():
    with pytest.raises(TypeError, match="layer is a Flatten; expected "):
        PostActivation(nn.Flatten())


def test_the_ends_of_the_ranges_are_allowed():
    LpNormalization(1, p=inf, eps=0, momentum=1)
    MovingStatistics(1, eps=1e-30, rho=0)
    BatchGroupNormalization(2, examples=1, channels=2, eps=1e-30, rho=0, share=1)
    ActivationNoise(1, n_mu=0, n_sigma=1, r_mu=0, r_sigma=0)


ONE = r"shape \(1, 3\), so 1 entry for each unit; expected at least 2"
BATCHES = [
    (lp(), (1, 3), "LpNormalization was given y of " + ONE),
    (lp(), (0, 3), "so 0 entries for each unit"),
    (lp(), (4, 2), r"\(4, 2\); expected 3 units on axis 1"),
    (lp(), (3,), r"\(3,\); expected 3 units"),
    (behind().eval(), (4, 2), "^PostActivation was given h of .* expected 3 units"),
    (behind(), (1, 3), ONE),
    (renormalization(), (1, 3), "^BatchRenormalization was given y of " + ONE),
    (
        ghosts(1),
        (7, 6),
        r"y of shape \(7, 6\), of which a ghost batch has 1 entry for each group; expected",
    ),
    (noise(), (3, 2), r"ActivationNoise was given a of shape \(3, 2\)"),
]


@pytest.mark.parametrize(("layer", "shape", "message"), BATCHES)
def test_what_is_no_batch_is_refused(layer, shape, message):
    with pytest.raises(ValueError, match=message):
        layer(torch.ones(shape))


def test_integers_are_refused():
    with pytest.raises(TypeError, match=r"dtype torch\.int64; expected float"):
        lp()(torch.ones(4, 3, dtype=torch.int64))


@pytest.mark.parametrize("layer", [lp(), ghosts(), behind(), renormalization()])
def test_what_is_no_tensor_is_named(layer):
    with pytest.raises(TypeError, match="was given a list; expected a tensor"):
        layer([[1.0, 2.0, 3.0]])


def test_evaluation_is_advised_where_it_takes_smaller_batches():
    with pytest.raises(ValueError, match=r"give a larger batch$"):
        layout.check_batch(torch.zeros(0, 2), 2, "a layer")
    with pytest.raises(ValueError, match=r"give a larger batch, or call eval\(\)"):
        layout.check_batch(torch.zeros(1, 2), 2, "a layer", least=2)
