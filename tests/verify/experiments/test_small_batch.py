"""The experiment on small batches: few steps of it, its observations on made-up numbers."""

import pytest
from classifiers import run

from verify.experiments.classifier_training import FOUR_THINGS, METHODS
from verify.experiments.evidence import as_json
from verify.experiments.experiment import Setting
from verify.experiments.small_batch import experiment as small_batch
from verify.experiments.small_batch.experiment import BATCHES, EXPERIMENT, Profile

TINY = Profile(
    images={"dense": 75, "convolutional": 75},
    epochs={"dense": 1, "convolutional": 1},
    trial_epochs=1,
    grid=(0.1,),
    examined={"dense": (60,), "convolutional": ()},
    examined_images={"dense": 12, "convolutional": 4},
)


@pytest.fixture
def pieces(monkeypatch):
    monkeypatch.setitem(small_batch.PROFILES, "smoke", TINY)
    return {piece.name: piece for piece in EXPERIMENT.pieces(Setting("smoke", (0, 1)))}


def test_every_method_at_every_batch_size_that_it_can_have(pieces):
    assert len(pieces) == 2 * (3 * 5 + 3) + 2 + len(BATCHES)
    assert pieces["convolutional, batch 2, four-things"].plan.rates == (0.0001, 0.01)
    assert "dense, batch 2, four-things" not in pieces
    assert "dense, batch 1, bnp" in pieces
    assert "dense, batch 1, batch" not in pieces
    assert pieces["dense, batch 6, layer"].plan.rates == (0.05, 0.1)
    assert pieces["convolutional, batch 60, bnp"].plan.rates == (0.1,)


def test_images_are_enlarged_for_the_convolutional_network_only(pieces):
    shapes = [
        tuple(pieces[f"{network}, batch 60, none"].plan.recipe.train.inputs.shape[1:])
        for network in ("dense", "convolutional")
    ]
    assert shapes == [(1, 8, 8), (1, 32, 32)]


def test_a_piece_runs_and_is_examined(pieces):
    numbers = as_json(run(pieces["dense, batch 60, bnp"]).numbers())
    assert len(numbers["runs"]) == 2
    examined = numbers["runs"][0]["theorems"]["values"][0]
    assert {found["layer"] for found in examined} == {"output"}
    numbers = as_json(run(pieces["dense, batch 60, batch"]).numbers())
    examined = numbers["runs"][0]["theorems"]["values"][0]
    assert {found["layer"] for found in examined} == {"output", "layer3.normalization"}


def test_single_examples_are_refused(pieces):
    numbers = run(pieces["convolutional, one example"]).numbers()
    assert set(numbers["refused"]) == {"batch", "batch-renormalization"}
    assert all("1" in said for said in numbers["refused"].values())


def made_up(last, *, seeds=3, epochs=5):
    """Numbers as the pieces give them, from the last accuracy by network, batch and method."""
    pieces = {}
    for network in ("dense", "convolutional"):
        for batch in BATCHES:
            methods = METHODS if batch > 1 else ("none", "layer", "bnp")
            for method in (*methods, *([FOUR_THINGS] if network == "convolutional" else [])):
                accuracy = last.get((network, batch, method), 0.5)
                curve = [accuracy * (k + 1) / epochs for k in range(epochs)]
                a_run = {"losses": [1.0] * epochs, "accuracies": curve, "diverged": None}
                trial = {"learning_rate": 0.1, "accuracies": [0.3], "diverged": None}
                pieces[f"{network} {batch} {method}"] = {
                    "network": network, "batch": batch, "method": method, "data": "digits",
                    "paper": 0.1, "images": 10, "epochs": epochs, "trials": [trial], "rate": 0.1,
                    "runs": [{"seed": seed, **a_run} for seed in range(seeds)],
                }  # fmt: skip
    refused = {"batch": "one example", "batch-renormalization": "one example"}
    return {**pieces, "single": {"network": "dense", "refused": refused}}


PAPERS = {
    ("dense", 60, "batch"): 0.9, ("dense", 60, "bnp"): 0.91, ("dense", 60, "layer"): 0.85,
    ("dense", 60, "none"): 0.8, ("dense", 6, "bnp"): 0.9, ("dense", 6, "layer"): 0.88,
    ("dense", 6, "batch-renormalization"): 0.88, ("dense", 6, "batch"): 0.8,
    ("dense", 6, "none"): 0.79, ("dense", 1, "bnp"): 0.9, ("dense", 1, "layer"): 0.9,
    ("dense", 1, "none"): 0.7, ("convolutional", 60, "batch"): 0.9,
    ("convolutional", 60, "bnp"): 0.89, ("convolutional", 60, "none"): 0.8,
    ("convolutional", 2, "bnp"): 0.9, ("convolutional", 2, "batch-renormalization"): 0.8,
    ("convolutional", 2, "none"): 0.75, ("convolutional", 2, "batch"): 0.6,
    ("convolutional", 1, "bnp"): 0.9, ("convolutional", 1, "none"): 0.8,
    ("convolutional", 60, FOUR_THINGS): 0.9, ("convolutional", 2, FOUR_THINGS): 0.85,
    ("convolutional", 1, FOUR_THINGS): 0.3,
}  # fmt: skip


def test_what_the_paper_saw_is_seen_in_numbers_like_its_own():
    found = EXPERIMENT.observations(made_up(PAPERS))
    assert len(found) == 15
    assert [one.appeared for one in found] == [True] * 15
    assert "bnp 0.910 (0.910 to 0.910) at rate 0.1" in found[0].found


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({("dense", 60, "bnp"): 0.95}, {0}),
        ({("dense", 60, "layer"): 0.905}, {1}),
        ({("dense", 6, "bnp"): 0.79}, {2}),
        ({("dense", 6, "layer"): 0.7}, {3}),
        ({("dense", 1, "layer"): 0.71}, {4}),
        ({("convolutional", 60, "bnp"): 0.8, ("convolutional", 60, "none"): 0.8}, {5, 6, 7}),
        ({("convolutional", 2, "bnp"): 0.81}, {8, 9}),
        ({("convolutional", 2, "none"): 0.6}, {10}),
        ({("convolutional", 1, "bnp"): 0.8}, {11, 12}),
        ({("convolutional", 60, FOUR_THINGS): 0.8}, {6}),
        ({("convolutional", 2, FOUR_THINGS): 0.89}, {9}),
        ({("convolutional", 1, FOUR_THINGS): 0.79}, {13}),
    ],
)
def test_other_numbers_are_seen_not_to_show_it(changed, expected):
    found = EXPERIMENT.observations(made_up(PAPERS | changed))
    assert {place for place, one in enumerate(found) if one.appeared is False} == expected


@pytest.mark.parametrize("few", [{"seeds": 2}, {"epochs": 4}])
def test_few_seeds_or_epochs_can_tell_nothing(few):
    found = EXPERIMENT.observations(made_up(PAPERS, **few))
    assert {one.appeared for one in found[:-1]} == {None}
    assert "needs 3 seeds, 5 epochs" in found[0].found


def test_a_run_that_diverged_counts_as_zero():
    numbers = made_up(PAPERS)
    numbers["dense 60 bnp"]["runs"][0] |= {"accuracies": [0.2], "losses": [2.0], "diverged": 30}
    first, *_ = EXPERIMENT.observations(numbers)
    assert first.appeared is False
    assert "(0.000 to 0.910)" in first.found
    assert set(EXPERIMENT.figures(numbers)) == {
        "dense_training", "dense_rates", "convolutional_training", "convolutional_rates"
    }  # fmt: skip


def test_an_example_that_passes_is_seen():
    numbers = made_up(PAPERS)
    numbers["single"]["refused"]["batch"] = ""
    assert EXPERIMENT.observations(numbers)[-1].appeared is False


def test_figures_say_their_n_and_seeds():
    drawn = EXPERIMENT.figures(made_up(PAPERS))
    title = drawn["dense_training"].get_suptitle()
    assert title == "3 x 100 network on digits, n = 10, seeds 0, 1, 2: training by batch size"
    assert "seed 0:" in drawn["dense_rates"].get_suptitle()
    for figure in drawn.values():
        assert all(axes.get_title().startswith("batch ") for axes in figure.axes[:4])
