"""The schedules, weight decays and scales of paper L, App. B, one by one."""

import pytest

from verify.experiments.resnet.recipes import FAMILIES, NORMALIZATIONS, PRECONDITIONED

EPOCH = 390


def rates(network, method, steps):
    family = FAMILIES[network]
    return [family.learning_rate(method, step, EPOCH) for step in steps]


@pytest.mark.parametrize("network", ["ResNet-110", "pre-activation ResNet-110"])
def test_bn_jumps_from_0_01_to_0_1_after_400_iterations(network):
    """ "initial learning rate 0.01 increasing to 0.1 after 400 iterations"."""
    assert rates(network, "batch", [0, 399, 400, 5000]) == [0.01, 0.01, 0.1, 0.1]


@pytest.mark.parametrize("method", ["group", "group+bnp"])
def test_gn_and_bnp_gn_warm_up_linearly_over_an_epoch(method):
    found = rates("ResNet-110", method, [0, EPOCH // 2, EPOCH])
    assert found == pytest.approx([0.01, 0.055, 0.1], rel=1e-15)


@pytest.mark.parametrize(
    ("network", "decays"),
    [
        ("ResNet-110", (80, 120)),
        ("pre-activation ResNet-110", (150, 220)),
        ("ResNet-18", (30, 60, 90)),
    ],
)
def test_the_rate_is_divided_by_10_at_each_decay(network, decays):
    for number, decay in enumerate(decays):
        before, after = rates(network, "batch", [decay * EPOCH - 1, decay * EPOCH])
        assert before == pytest.approx(0.1 / 10**number)
        assert after == pytest.approx(0.01 / 10**number)
    assert FAMILIES[network].epochs > decays[-1]


def test_table_3():
    table = {
        ("ResNet-110", "bnp"): 0.1,
        ("pre-activation ResNet-110", "bnp"): 0.01,
    }
    for network, family in FAMILIES.items():
        for method, recipe in family.recipes.items():
            assert recipe.learning_rate == table.get((network, method), 0.1)
    assert "bnp" not in FAMILIES["ResNet-18"].recipes, "N/A in the table"


def test_a_rate_of_0_01_is_not_warmed_up_beyond_itself():
    assert rates("pre-activation ResNet-110", "bnp", [0, 399, 400, 5000]) == [0.01] * 4


def test_weight_decay_scale_and_group_size():
    both = {name: family.recipes["group+bnp"] for name, family in FAMILIES.items()}
    assert [recipe.weight_decay for recipe in both.values()] == [1.5e-4, 2e-4, 8.5e-4]
    assert [recipe.scale for recipe in both.values()] == [0.1, 0.4, 1.0]
    assert [family.group_size for family in FAMILIES.values()] == [4, 4, 32]
    assert [family.batch for family in FAMILIES.values()] == [128, 128, 256]
    assert {f.recipes["batch"].weight_decay for f in FAMILIES.values()} == {1e-4}


def test_bnp_is_a_part_of_the_methods_that_say_so():
    assert set(PRECONDITIONED) == {method for method in NORMALIZATIONS if "bnp" in method}
    assert NORMALIZATIONS["bnp"] == "none"
    assert NORMALIZATIONS["group+bnp"] == "group"
