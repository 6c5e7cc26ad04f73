"""The experiment on condition numbers: few steps of it, and its observations on made-up numbers."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from classifiers import run
from torch.func import functional_call, hessian
from torch.nn.functional import cross_entropy

from verify.experiments.conditioning import experiment as conditioning
from verify.experiments.conditioning.experiment import EXPERIMENT, Profile
from verify.experiments.conditioning.random_batches import RandomBatches, centring_quotient
from verify.experiments.evidence import as_json
from verify.experiments.experiment import Setting
from verify.experiments.metered_training import Moment

TINY = Profile(images=240, epochs=1, measured=2, examined_images=12, random_batches=20)


@pytest.fixture
def pieces(monkeypatch):
    monkeypatch.setitem(conditioning.PROFILES, "smoke", TINY)
    return lambda: {piece.name: piece for piece in EXPERIMENT.pieces(Setting("smoke", (0, 1)))}


def test_the_networks_are_the_papers_at_the_papers_rates(pieces):
    made = pieces()
    assert list(made) == [
        "none, seed 0", "bnp, seed 0", "none, seed 1", "bnp, seed 1", "random batches"
    ]  # fmt: skip
    sizes = [tuple(p.shape) for p in made["bnp, seed 1"].model.parameters()]
    assert sizes == [(100, 64), (100,), (100, 100), (100,), (10, 100), (10,)]
    assert [made[f"{m}, seed 0"].recipe.learning_rate for m in ("none", "bnp")] == [0.1, 0.5]


def test_a_killed_piece_goes_on_as_if_it_had_not_been(pieces):
    whole = run(pieces()["bnp, seed 1"])
    killed, resumed = run(pieces()["bnp, seed 1"], 3), pieces()["bnp, seed 1"]
    resumed.load_state_dict(deepcopy(killed.state_dict()))
    assert as_json(run(resumed, 1).numbers()) == as_json(whole.numbers())
    numbers = whole.numbers()
    assert numbers["batch"]["steps"] == numbers["many"]["steps"] == [0, 2]
    assert numbers["batch"]["values"][0]["rank"] == 60
    assert numbers["many"]["values"][0]["rank"] > 60
    assert numbers["theorems"]["steps"] == [0, 3]


def test_the_condition_number_is_that_of_the_hessian_by_autograd(pieces):
    """On many images, so that the Hessian's smallest eigenvalues are well above rounding."""
    piece = pieces()["none, seed 0"]
    images = piece.recipe.train
    now = Moment(0, piece.model, images.inputs, images.labels, cross_entropy, 0.1, None)
    found = conditioning.measured(now, images.inputs, images.labels)
    model = deepcopy(piece.model).double()
    own = {k: v.detach() for k, v in model.named_parameters()}
    h = model[:-1](images.inputs.double()).detach()
    alive = torch.nonzero(h.std(0) > 0).flatten()

    def loss(theta):
        row = own["output.weight"][0].clone().index_put((alive,), theta[1:])
        weight = torch.cat([row[None], own["output.weight"][1:]])
        bias = torch.cat([theta[:1], own["output.bias"][1:]])
        changed = {**own, "output.weight": weight, "output.bias": bias}
        outputs = functional_call(model, changed, (images.inputs.double(),))
        return cross_entropy(outputs, images.labels)

    at = torch.cat([own["output.bias"][:1], own["output.weight"][0, alive]])
    values = torch.linalg.eigvalsh(hessian(loss)(at))
    assert found["hessian"] == pytest.approx(float(values[-1] / values[0]), rel=1e-4)
    assert found["rank"] == len(alive) + 1


def test_guarded_scalings_cannot_leave_the_bound(pieces):
    """With eps_1 = 1/100 kappa(D) is at most 101/1 under the root, or 1/sqrt(eps_2) if small."""
    piece = pieces()["bnp, seed 0"]
    values = run(piece).numbers()["batch"]["values"]
    for value in values:
        assert value["guarded_scaling"] <= max(101**0.5, 100.0, 1.01 * value["largest_deviation"])


def of_random_batches(worse=0):
    found = [
        {"law": "normal", "N": N, "n": 100, "worse": many, "largest": 1.5}
        for N, many in ((60, 7), (101, worse), (240, 0))
    ]
    return {"method": "centring", "count": 20, "found": found}


def made_up(
    hessian=1e8,
    centred=1e7,
    worse=0,
    preconditioned=1e4,
    scaling=1e2,
    guarded=5.0,
    seeds=3,
    losses=(1.0, 0.2),
):
    value = {
        "hessian": hessian, "centred": centred, "preconditioned": preconditioned, "guarded": 1e5,
        "scaling": scaling, "guarded_scaling": guarded,
    }  # fmt: skip
    kept = {"steps": [0, 5], "values": [value, value]}
    trainings = {
        f"{method}, seed {seed}": {
            "method": method, "data": "digits", "images": 100, "epochs": 5, "seed": seed,
            "losses": [loss] * 5, "accuracies": [1 - loss / 2] * 5, "batch": kept, "many": kept,
        }
        for seed in range(seeds)
        for method, loss in zip(("none", "bnp"), losses, strict=True)
    }  # fmt: skip
    return {**trainings, "random batches": of_random_batches(worse)}


def appeared(**changed):
    return [one.appeared for one in EXPERIMENT.observations(made_up(**changed))]


def test_what_the_paper_saw_is_seen_in_numbers_like_its_own():
    assert appeared() == [True] * 8 + [False, True]
    assert appeared(guarded=200.0)[8] is True


@pytest.mark.parametrize(
    ("changed", "places"),
    [
        ({"preconditioned": 2e7}, [0, 1, 2, 3]),
        ({"preconditioned": 9e5}, [2, 3]),
        ({"preconditioned": 1e2}, [2, 3]),
        ({"scaling": 50.0, "preconditioned": 1e5}, [7]),
        ({"losses": (0.2, 1.0)}, [9]),
        ({"centred": 2e8}, [4, 5]),
        ({"worse": 1}, [6]),
    ],
)
def test_other_numbers_are_seen_not_to_show_it(changed, places):
    found = appeared(**changed)
    assert [place for place, one in enumerate(found) if one is False and place != 8] == places


def test_few_seeds_cannot_tell_which_is_faster():
    assert appeared(seeds=1)[9] is None


def test_figures_say_their_n_and_seeds_even_where_a_training_diverged():
    numbers = made_up()
    numbers["bnp, seed 1"]["losses"] = [2.0]
    for sample in ("batch", "many"):
        first = numbers["bnp, seed 1"][sample]
        numbers["bnp, seed 1"][sample] = {"steps": [0], "values": first["values"][:1]}
    drawn = EXPERIMENT.figures(numbers)
    assert list(drawn) == [
        "training", "condition_numbers_batch", "condition_numbers_many", "reduction"
    ]  # fmt: skip
    for figure in drawn.values():
        assert "on digits, n = 100, seeds 0, 1, 2" in figure.get_suptitle()
        assert all("unit" in axes.get_ylabel() or "nats" in axes.get_ylabel()
                   for axes in figure.axes)  # fmt: skip


def test_random_batches_go_on_where_they_were_and_only_wide_ones_get_worse():
    whole, killed, resumed = (RandomBatches(60) for _ in range(3))
    run(whole)
    resumed.load_state_dict(deepcopy(run(killed, 1).state_dict()))
    run(resumed, 2)
    assert as_json(resumed.numbers()) == as_json(whole.numbers())
    numbers = whole.numbers()
    assert numbers["count"] == 60
    for one in numbers["found"]:
        is_tall = one["N"] > one["n"]
        assert 0 < one["largest"] <= (1 if is_tall else 10)
        assert one["worse"] == 0 or not is_tall
    assert max(one["largest"] for one in numbers["found"]) > 1.5


def test_the_quotient_of_centring_sees_the_example_of_the_theorem():
    """H = (5/4, 3/4; -5/4, 3/4) is the sharp case, and H = (2, 1; -2, 1) doubles its square."""
    assert centring_quotient(np.array([[1.25, 0.75], [-1.25, 0.75]])) == 1.25
    assert centring_quotient(np.array([[2.0, 1.0], [-2.0, 1.0]])) == pytest.approx(2**0.5)
