"""What is said of curves: seen, not seen, and not to be told."""

import pytest

from verify.experiments.resnet import figures as resnet_figures
from verify.experiments.resnet.observations import FIGURES, observations
from verify.experiments.resnet.recipes import EVERY_FAMILY

NETWORK = "ResNet-110"
EARLY = {"batch": 0.70, "group": 0.60, "bnp": 0.75, "group+bnp": 0.80}
LATE = {"batch": 0.93, "group": 0.85, "bnp": 0.80, "group+bnp": 0.93}


def measured(early=EARLY, late=LATE, epochs=130, network=NETWORK, **changed):
    family = EVERY_FAMILY[network]
    decay = family.decays[0]
    return {
        f"{network}, {method}, seed {seed}": {
            "network": network,
            "method": method,
            "seed": seed,
            "data": family.data,
            "batch": 128,
            "parameters": 1_727_962,
            "first_step": {"rate": 0.01, "before": 3.0, "after": 2.5},
            "training_loss": [2.0 / (1 + epoch) for epoch in range(epochs)],
            "test_accuracy": [
                (early if epoch < decay else late)[method] + 0.001 * seed for epoch in range(epochs)
            ],
            **changed,
        }
        for method in family.recipes
        for seed in (0, 1)
    }


def said(measured, words):
    (found,) = [o for o in observations(measured) if words in o.statement and
                o.statement.startswith(NETWORK)]  # fmt: skip
    return found


def test_curves_like_the_paper_s_are_recognised():
    found = [o for o in observations(measured()) if o.statement.startswith(NETWORK)]
    assert [o.appeared for o in found] == [True] * 7
    # Means over seeds, of constant curves.
    faster = said(measured(), "BNP+GN converges faster")
    assert faster.found == "group+bnp 0.800, batch 0.700"
    assert faster.source == "L-fig-6-7, Fig. 6, left"


@pytest.mark.parametrize(
    ("words", "early", "late"),
    [
        ("BNP+GN converges faster", {"group+bnp": 0.69}, {}),
        ("comparable to BN", {}, {"group+bnp": 0.90}),
        ("comparable to BN", {}, {"group+bnp": 0.96}),
        ("outperform GN", {}, {"group": 0.929}),
        ("can not take advantage", {}, {"bnp": 0.93}),
        ("benefit much more", {}, {"group+bnp": 0.85}),
        ("BNP converges faster than BN", {"bnp": 0.69}, {}),
    ],
)
def test_other_curves_are_not(words, early, late):
    assert said(measured(EARLY | early, LATE | late), words).appeared is False


def test_slightly_lower_is_lower_and_slight():
    network = "pre-activation ResNet-110"
    for last, appeared in ((0.92, True), (0.94, False), (0.85, False)):
        found = observations(measured(late=LATE | {"group+bnp": last}, epochs=230, network=network))
        (lower,) = [
            o for o in found if o.statement.startswith(network) and "slightly lower" in o.statement
        ]
        assert lower.appeared is appeared


def test_too_few_epochs_or_other_images_cannot_tell():
    for given in (measured(epochs=120), measured(data="digits"), measured(epochs=0)):
        found = said(given, "BNP+GN converges faster")
        assert found.appeared is None
        assert found.found.startswith("more than 120 epochs are needed; group+bnp was trained for")
    assert all(o.appeared is None for o in observations({}))


def test_a_network_of_another_size_or_a_step_to_infinity_is_not_the_paper_s():
    size = "has 54 residual blocks"
    assert said(measured(), size).appeared is True
    assert said(measured(parameters=1_000_000), size).appeared is False
    infinite = {"rate": 0.1, "before": 3.0, "after": None}
    assert said(measured(first_step=infinite), size).appeared is False
    assert "3 to what is not finite" in said(measured(first_step=infinite), size).found
    assert "loss not finite" in said(measured(first_step={}), size).found


def test_every_observation_is_of_one_of_the_paper_s_figures():
    assert FIGURES.keys() == EVERY_FAMILY.keys()
    found = observations({})
    assert len(found) == 3 + 6 + 6 + 3 + 6
    assert all(o.criterion.endswith(".") and o.source.startswith("L-fig-6-7") for o in found)


def test_figures_are_drawn_of_the_first_step_and_of_epochs():
    assert set(resnet_figures.figures(measured(epochs=1))) == {"first_step"}
    drawn = resnet_figures.figures(measured())
    assert set(drawn) == {"first_step", "training_1"}
    for figure in drawn.values():
        assert "2 seeds" in figure.get_suptitle()
        for axes in figure.axes:
            assert axes.get_xlabel()
            assert axes.get_ylabel().endswith(")")
    labels = drawn["training_1"].axes[1].get_legend_handles_labels()[1]
    assert len(labels) == 4


def test_a_diverged_run_is_drawn_too():
    gone = measured(epochs=3, first_step={}, training_loss=[None] * 3)
    assert set(resnet_figures.figures(gone)) == {"first_step", "training_1"}
