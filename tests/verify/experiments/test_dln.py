"""The experiment of the deep linear network, for few steps, and on numbers that are made up."""

from copy import deepcopy

import pytest
import torch
from landscape_numbers import meter, training

from verify.experiments.deep_linear import experiment as deep_linear
from verify.experiments.deep_linear.experiment import EXPERIMENT, SHOWN, Profile
from verify.experiments.evidence import as_json
from verify.experiments.experiment import Setting

TINY = Profile(steps=3, measured=2, step_sizes=2, tried=2)


@pytest.fixture
def tiny(monkeypatch):
    """Five layers for three steps; the statements have tests of their own."""
    monkeypatch.setitem(deep_linear.PROFILES, "smoke", TINY)
    monkeypatch.setattr(deep_linear, "DEPTH", 5)
    monkeypatch.setattr(deep_linear, "theorems", lambda *_: lambda _: [])
    return {piece.name: piece for piece in EXPERIMENT.pieces(Setting("smoke", (0, 1)))}


def run(piece, steps=None):
    for _ in range(piece.steps if steps is None else steps):
        piece.step()
    return piece


def test_every_normalisation_starts_from_the_same_weights_and_data(tiny):
    first, other = tiny["none, seed 0"], tiny["l1, seed 0"]
    assert torch.equal(first.model.layer3.linear.weight, other.model.layer3.linear.weight)
    assert all(
        torch.equal(a, b) for a, b in zip(first.batches.next(), other.batches.next(), strict=True)
    )
    assert not torch.equal(first.batches.next()[0], tiny["none, seed 1"].batches.next()[0])


def test_targets_are_linear_in_the_inputs_and_the_loss_is_their_sum():
    inputs, targets = deep_linear.data(0)
    assert inputs.shape == targets.shape == (1000, 10)
    fitted = torch.linalg.lstsq(inputs, targets).solution
    torch.testing.assert_close(inputs @ fitted, targets)
    assert 0.5 < float(fitted.square().mean()) < 2
    assert float(deep_linear.sum_of_squares(inputs, inputs + 0.5)) == pytest.approx(2500)


def test_a_killed_piece_goes_on_as_if_it_had_not_been(tiny):
    whole = run(tiny["batch, seed 1"])
    killed = run(deep_linear._training("batch", 1, TINY, "cpu"), steps=2)
    resumed = deep_linear._training("batch", 1, TINY, "cpu")
    resumed.load_state_dict(deepcopy(killed.state_dict()))
    assert as_json(run(resumed, 1).numbers()) == as_json(whole.numbers())
    assert set(whole.numbers()["shift"]["values"][0]) == {"layer5"}


def test_a_learning_rate_too_large_diverges(tiny):
    trial = deep_linear._trial("none", 1e-3, 0, 5, "cpu")
    assert run(trial).numbers()["diverged"] == 2


STEPS = 10_000
LAYERS = SHOWN


def made_up():
    """Numbers in which everything that the paper sees is there."""
    losses = [100.0] * 5 + [10.0] * 5
    rows = {
        "none": (50.0, losses, 0.99),
        "batch": (1.0, [x / 4 for x in losses], 0.1),
        "l1": (1.0, [x / 5 for x in losses], 0.1),
        "l2": (1.0, [x / 4 for x in losses], 0.1),
        "linf": (1.0, [x / 4 for x in losses], 0.1),
    }
    found = {
        name: training(name, factor, losses=values, cosine=cosine, layers=LAYERS, kind="training")
        for name, (factor, values, cosine) in rows.items()
    }
    for name, numbers in found.items():
        numbers["steps"] = STEPS
        numbers["loss"]["steps"] = [0, 1, 2, 3, 4, 9000, 9200, 9400, 9600, 9999]
        numbers["deviations"]["values"] = [dict.fromkeys(LAYERS, 5.0)] * 10
        found[name] = numbers
    for name, rates in {"none": (1e-6,), "batch": (1e-7, 1e-6, 1e-5)}.items():
        for rate in (1e-9, 1e-7, 1e-6, 1e-5):
            last = 10.0 if rate in rates else 90.0
            found[f"{name} {rate}"] = {
                "kind": "trial",
                "normalization": name,
                "seed": 0,
                "learning_rate": rate,
                "steps": 10,
                "diverged": None,
                "loss": meter([0, 9], [100.0, last]),
            }
    return found


def appeared(found):
    return {o.source + ": " + o.statement: o.appeared for o in EXPERIMENT.observations(found)}


def test_all_that_the_paper_sees_appears_in_numbers_where_it_is():
    assert set(appeared(made_up()).values()) == {True}


def change(found, change_of):
    for numbers in found.values():
        change_of(numbers)
    return appeared(found)


def swap(numbers):
    names = {"none": "batch", "batch": "none"}
    numbers["normalization"] = names.get(numbers["normalization"], numbers["normalization"])


def test_with_the_networks_exchanged_it_does_not():
    found = change(made_up(), swap)
    seen = [statement for statement, has_appeared in found.items() if has_appeared]
    # What does not compare a normalised network with the standard one stays.
    of_one = (
        "trains the network",
        "sigma(y_j)",
        "comparably",
        "l_1 normalisation",
        "valid for standard training",
    )
    assert len(found) == 18
    assert len(seen) == len(of_one)
    assert all(any(words in statement for statement in seen) for words in of_one)


@pytest.mark.parametrize(
    ("words", "change_of"),
    [
        ("trains the network", lambda n: n["loss"]["values"].__setitem__(-1, 99.0)),
        ("valid for standard", lambda n: n.update(diverged=4)
            if n["normalization"] == "none" and n["kind"] == "trial" else None),
        ("sigma(y_j)", lambda n: n.update(deviations=meter([0], [{"layer5": 1.0}]))),
        ("l_1 normalisation performs even better", lambda n: n["loss"].update(
            values=made_up()["batch"]["loss"]["values"]) if n["normalization"] == "l1" else None),
        ("comparably", lambda n: n["loss"]["values"].__setitem__(-1, 2.8)
            if n["normalization"] == "linf" else None),
    ],
)  # fmt: skip
def test_each_other_observation_can_fail(words, change_of):
    found = change(made_up(), change_of)
    (matching,) = [seen for statement, seen in found.items() if words in statement]
    assert matching is False


def test_short_trainings_do_not_tell_what_is_reached():
    found = made_up()
    for numbers in found.values():
        numbers["steps"] = 100
    told = appeared(found)
    assert sum(seen is None for seen in told.values()) == 4


def test_figures_are_drawn_of_what_there_is():
    found = made_up()
    found["none"]["landscape"]["values"][3]["loss_variation"][1] = None
    found["none 1e-05"]["diverged"] = 3
    drawn = EXPERIMENT.figures(found)
    assert set(drawn) >= {"training", "covariate-shift", "landscape", "smoothness", "activations"}
    for figure in drawn.values():
        assert "seed" in figure.get_suptitle()
        for axes in figure.get_axes():
            assert axes.get_xlabel() or axes.get_ylabel()
