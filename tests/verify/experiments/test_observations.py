"""What experiments say they saw: all of it in numbers where it is, and not where it is not."""

from functools import partial
from math import inf

import made_up
import pytest
from made_up import accuracies, conditioning, cost, dln, meter, resnet, small_batch, training, vgg

from verify.experiments import find
from verify.experiments.classifier_training import FOUR_THINGS
from verify.experiments.cost.figures import PRINTED
from verify.experiments.landscape.observations import (
    SMOOTHNESS,
    cosines,
    more_shift,
    smoother,
    smoothness_nearby,
)
from verify.experiments.readings import all_ratios
from verify.experiments.vgg.experiment import NOISE, SHOWN

preactivation = partial(resnet, epochs=230, network="pre-activation ResNet-110")


def statements(name, numbers, *appeared):
    """Statements with their criteria, of which it is said that they appeared, or not, or None."""
    return [
        f"{seen.source}: {seen.statement} {seen.criterion}"
        for seen in find(name).observations(numbers)
        if seen.appeared in appeared
    ]


@pytest.mark.parametrize(
    ("name", "numbers", "count", "words"),
    [
        ("dln", dln(), 18, "none from 100 to 10, batch from 25 to 2.5"),
        ("vgg", vgg(), 21, "steps without and with: 5, 1"),
        ("small-batch", small_batch(), 15, "bnp 0.910 (0.910 to 0.910) at rate 0.1"),
        ("conditioning", conditioning(), 10, "vanilla: 100% of 6, 1e+04 to 1e+04"),
        ("cost", cost(PRINTED), 6, "1.038 (1.038 to 1.038), printed 1.038"),
        ("resnet", resnet(), 7, "group+bnp 0.800, batch 0.700"),
    ],
)
def test_all_that_the_papers_see_appears_in_numbers_where_it_is(name, numbers, count, words):
    assert len(statements(name, numbers, True)) == count
    assert statements(name, numbers, False) == []
    assert any(words in seen.found for seen in find(name).observations(numbers))


def flat(share):
    return {"accuracy": meter([0], [accuracies(share)])}


SLOW = {"loss": meter(range(20), [2.0] * 20)}
SAME = {layer: {"means": [0.0], "variances": [0.0]} for layer in SHOWN}
STILL = {"moments": meter(range(3), [SAME] * 3)}
LANDSCAPE = ("landscape", "random", "beyond", "shift")
ROUGH = {key: training("batch", 200.0, [2.0] * 20, 1.0, SHOWN)[key] for key in LANDSCAPE}
SMOOTH = {key: training("none", 0.5, [2.0] * 10, 0.0, SHOWN)[key] for key in LANDSCAPE}
UNLEARNT = {"loss": meter([0, 9], [100.0, 90.0])}
INFINITE = {"rate": 0.1, "before": 3.0, "after": None}
LOST = [
    ("dln", dln({"none": made_up.dln_losses(1, 99.0)}), ["App. A.1: gradient descent"]),
    ("dln", dln({"batch": made_up.dln_losses(1)}), ["drastically better"]),
    ("dln", dln({"none 1e-05": {"diverged": 4}}), ["valid for standard"]),
    ("dln", dln({"none": {"deviations": meter([0], [{"layer5": 1.0}])}}), ["sigma(y_j)"]),
    ("dln", dln({"l1": made_up.dln_losses(4)}), ["l_1 normalisation performs even better"]),
    ("dln", dln({"linf": made_up.dln_losses(4, 11.2)}), ["comparably"]),
    ("dln", dln({"batch 1e-07": UNLEARNT, "batch 1e-05": UNLEARNT}), ["range of learning rates"]),
    ("dln", dln({"batch": {"shift": ROUGH["shift"]}}), ["almost uncorrelated", "even worse"]),
    ("dln", dln({"none": SMOOTH}), ["almost no", "even worse", "variation", "predictiveness of",
        "larger distances", "random directions", "the effective", "l1", "l2", "linf"]),
    ("vgg", vgg({"batch 0.1": SLOW}), ["improvement in optimization", "almost non-existent"]),
    ("vgg", vgg({"batch 0.1": flat(0.8)}), ["in generalization", "almost non-existent"]),
    ("vgg", vgg({"none 0.5": flat(0.9)}), ["larger, learning rates"]),
    ("vgg", vgg({"noisy-batch 0.1": SLOW}), ["almost non-existent", "better than the standard"]),
    ("vgg", vgg({f"{NOISE} 0.1": flat(0.5)}), ["prevents it from training"]),
    ("vgg", vgg({"l1 0.1": STILL}), ["l1 normalisation leads"]),
    ("vgg", vgg({"noisy-batch 0.1": STILL}), ["less stable distributions"]),
    ("vgg", vgg({"batch 0.1": STILL}), ["seems to be marginal"]),
    ("vgg", vgg({"linf 0.1": flat(0.9)}), ["perform comparably"]),
    ("vgg", vgg({"batch 0.1": ROUGH}), ["covariate shift", "variation", "predictiveness of",
        "the effective", "random directions", "two orders"]),
    ("small-batch", small_batch({("dense", 60, "bnp"): 0.95}), ["Fig. 3: BN and BNP have"]),
    ("small-batch", small_batch({("dense", 60, "layer"): 0.905}), ["the vanilla and LN"]),
    ("small-batch", small_batch({("dense", 6, "bnp"): 0.79}), ["size 6, BNP outperforms"]),
    ("small-batch", small_batch({("dense", 6, "layer"): 0.7}), ["Batch Renorm and LN perform"]),
    ("small-batch", small_batch({("dense", 1, "layer"): 0.71}), ["BNP and LN converge"]),
    ("small-batch", small_batch({("convolutional", 60, "bnp"): 0.8}),
        ["batches of 128", "4 things and BNP have", "trained by Adam"]),
    ("small-batch", small_batch({("convolutional", 2, "bnp"): 0.81}),
        ["BN and Batch Renorm", "outperforms BN with 4 things"]),
    ("small-batch", small_batch({("convolutional", 2, "none"): 0.6}), ["BN underperforms"]),
    ("small-batch", small_batch({("convolutional", 1, "bnp"): 0.8}),
        ["BNP trains faster", "slightly higher"]),
    ("small-batch", small_batch({("convolutional", 60, FOUR_THINGS): 0.8}),
        ["4 things and BNP have"]),
    ("small-batch", small_batch({("convolutional", 2, FOUR_THINGS): 0.89}),
        ["outperforms BN with 4 things"]),
    ("small-batch", small_batch({("convolutional", 1, FOUR_THINGS): 0.79}),
        ["4 things significantly underperforms"]),
    ("small-batch", small_batch(refused=""), ["do not train"]),
    ("conditioning", conditioning(preconditioned=2e7), ["reduces the condition number of the",
        "reduces the condition number of the", "kappa(D)^2", "kappa(D)^2"]),
    ("conditioning", conditioning(preconditioned=9e5), ["by roughly kappa(D)^2"] * 2),
    ("conditioning", conditioning(preconditioned=1e2), ["by roughly kappa(D)^2"] * 2),
    ("conditioning", conditioning(scaling=50.0, preconditioned=1e5), ["the batch's deviations"]),
    ("conditioning", conditioning(guarded_scaling=5.0), ["deviations guarded"]),
    ("conditioning", conditioning(losses=(0.2, 1.0)), ["accelerated convergence"]),
    ("conditioning", conditioning(centred=2e8), ["Centring improves the condition number."] * 2),
    ("conditioning", conditioning(worse=1), ["a matrix of full column rank"]),
    ("cost", cost({16: 0.99, 256: 0.99, 512: 0.99}), ["smaller mini-batch"]),
    ("cost", cost({16: 1.04, 256: 1.01, 512: 0.99}), ["larger mini-batch"]),
    ("cost", cost({16: 1.2, 256: 0.99, 512: 0.99}), ["quite comparable"]),
    ("cost", cost({16: 1.04, 256: 0.5, 512: 0.99}), ["larger mini-batch", "quite comparable"]),
    ("resnet", resnet({"group+bnp": 0.69}), ["BNP+GN converges faster"]),
    ("resnet", resnet({}, {"group+bnp": 0.96}), ["comparable to BN"]),
    ("resnet", resnet({}, {"group+bnp": 0.90}), ["comparable to BN"]),
    ("resnet", preactivation(late={"group+bnp": 0.94}), ["slightly lower"]),
    ("resnet", preactivation(late={"group+bnp": 0.89, "bnp": 0.76}), ["slightly lower"]),
    ("resnet", resnet(parameters=1_000_000), ["has 54 residual blocks"]),
    ("resnet", resnet(first_step=INFINITE), ["has 54 residual blocks"]),
    ("resnet", resnet(first_step={}), ["has 54 residual blocks"]),
    ("resnet", resnet({}, {"group": 0.929}), ["outperform GN"]),
    ("resnet", resnet({}, {"bnp": 0.87}), ["can not take advantage", "benefit much more"]),
    ("resnet", resnet({"bnp": 0.69}, {"bnp": 0.74}), ["BNP converges faster"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "numbers", "words"), LOST)
def test_what_is_not_there_is_not_seen(name, numbers, words):
    lost = statements(name, numbers, False)
    assert len(lost) == len(words)
    assert all(word in statement for word, statement in zip(words, lost, strict=True))


@pytest.mark.parametrize(
    ("name", "numbers", "count"),
    [
        ("dln", dln({key: {"steps": 100} for key in dln()}), 4),
        ("vgg", vgg({key: {"steps": 100} for key in vgg()}), 8),
        ("small-batch", small_batch(seeds=2), 14),
        ("small-batch", small_batch(epochs=4), 14),
        ("conditioning", conditioning(seeds=1), 1),
        ("resnet", resnet(), 17),
        ("resnet", preactivation(), 17),
        ("resnet", resnet(epochs=120), 23),
        ("resnet", resnet(data="digits"), 23),
        ("resnet", resnet(epochs=0), 23),
        ("resnet", {}, 24),
    ],
)
def test_too_little_tells_nothing(name, numbers, count):
    assert len(statements(name, numbers, None)) == count


def test_what_is_missing_or_not_finite_is_said():
    few = find("small-batch").observations(small_batch(seeds=2))
    assert "needs 3 seeds, 5 epochs" in few[0].found
    short = find("resnet").observations(resnet(epochs=120))
    assert short[1].found.startswith("more than 120 epochs are needed; group+bnp was trained for")
    infinite, none = (find("resnet").observations(resnet(first_step=s)) for s in (INFINITE, {}))
    assert "3 to what is not finite" in infinite[0].found
    assert "loss not finite" in none[0].found


def test_a_run_that_diverged_counts_as_zero():
    numbers = small_batch()
    numbers["dense 60 bnp"]["runs"][0] |= {"accuracies": [0.2], "losses": [2.0], "diverged": 30}
    first, *_ = find("small-batch").observations(numbers)
    assert first.appeared is False
    assert "(0.000 to 0.910)" in first.found


# Landscapes


def two(none, batch):
    return {
        name: training(name, factor, [4.0, 2.0, 1.0, 0.5], 0.9, ("a", "b"))
        for name, factor in (("none", none), ("batch", batch))
    }


def is_smoother(numbers, normalization="batch", **facts):
    return smoother(numbers, SMOOTHNESS, normalization, "", "", **facts).appeared


def test_a_landscape_is_smoother_at_three_in_four_steps():
    found = two(4.0, 2.0)
    assert is_smoother(two(2.0, 2.0)) is False
    for step, expected in ((0, True), (1, False)):
        found["none"]["landscape"]["values"][step]["effective_smoothness"] = 1.0
        assert is_smoother(found) is expected
    assert is_smoother(found, "l1") is is_smoother(found, seed=5) is None
    assert more_shift(found, "l1", "", "").appeared is None


def test_what_overflowed_is_rougher_than_anything():
    found = two(1.0, 2.0)
    for value in found["none"]["landscape"]["values"]:
        value["effective_smoothness"] = None
    assert is_smoother(found) is True
    assert {r for _, r in all_ratios(found, "none", "batch", "landscape", SMOOTHNESS.read)} == {inf}


def test_a_zero_gradient_has_no_cosine_to_count():
    found = two(1.0, 1.0)
    found["none"]["shift"]["values"][0] = {"a": {"cosine": None}, "b": {"cosine": 0.1}}
    assert cosines(found, "none") == [0.1] + [0.9] * 6


def test_smoothness_nearby_is_in_learning_rates():
    # A change of 0.03 at a step of 0.01 learning rates along a gradient of norm 1.
    assert smoothness_nearby(two(3.0, 1.0), "none") == pytest.approx(3.0)


# Figures


def overflowed(numbers, name):
    numbers[name]["landscape"]["values"][3]["loss_variation"][1] = None
    return numbers


def stopped(numbers):
    one = numbers["bnp, seed 1"]
    for sample in ("batch", "many"):
        one[sample] = {"steps": [0], "values": one[sample]["values"][:1]}
    one["losses"] = [2.0]
    return numbers


DIVERGED = {"first_step": {}, "training_loss": [None] * 3}


@pytest.mark.parametrize(
    ("name", "numbers", "drawn", "title"),
    [
        ("dln", overflowed(dln({"none 1e-05": {"diverged": 3}}), "none"),
            "covariate-shift activations landscape smoothness", "seed"),
        ("vgg", overflowed(vgg(), "none 0.1"), "accuracy moments activations landscape", "digits"),
        ("small-batch", small_batch(), "dense_rates convolutional_training convolutional_rates",
            " on digits, n = 10, seed"),
        ("conditioning", stopped(conditioning()), "condition_numbers_batch reduction",
            "on digits, n = 100, seeds 0, 1, 2"),
        ("cost", cost(PRINTED), "epochs ratios", "1024 images, 3 rounds, cpu"),
        ("resnet", resnet(), "first_step training_1", "2 seeds"),
        ("resnet", resnet(epochs=3, **DIVERGED), "first_step training_1", "2 seeds"),
    ],
)  # fmt: skip
def test_figures_are_drawn_of_what_there_is_and_say_of_what(name, numbers, drawn, title):
    figures = find(name).figures(numbers)
    assert set(drawn.split()) <= set(figures)
    for figure in figures.values():
        assert title in figure.get_suptitle()
        for axes in figure.get_axes():
            assert axes.get_xlabel() or axes.get_ylabel()


def test_a_single_epoch_is_no_curve():
    assert set(find("resnet").figures(resnet(epochs=1))) == {"first_step"}
