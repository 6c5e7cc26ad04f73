"""The experiment on cost: what is timed, by turns; its observations on made-up seconds."""

from copy import deepcopy

import pytest
import torch
from classifiers import run

from verify.experiments.cost import experiment as cost
from verify.experiments.cost.experiment import EXPERIMENT, METHODS, Profile, Subject
from verify.experiments.cost.figures import PRINTED
from verify.experiments.experiment import Setting

TINY = Profile(images=20, rounds=5)


@pytest.fixture
def timings(monkeypatch):
    monkeypatch.setitem(cost.PROFILES, "smoke", TINY)
    monkeypatch.setattr(cost, "SHAPE", (1, 3, 3))
    monkeypatch.setattr(cost, "can_compile", lambda device: False)  # which would take seconds
    return lambda: EXPERIMENT.pieces(Setting("smoke"))


def test_every_method_is_timed_in_every_round(timings):
    first, *_ = timings()
    numbers = run(first).numbers()
    assert set(numbers["seconds"]) == set(METHODS)
    assert all(len(times) == 5 and min(times) > 0 for times in numbers["seconds"].values())
    assert (numbers["batch"], numbers["images"]) == (16, 20)


def test_the_methods_take_turns_at_being_first(timings, monkeypatch):
    order = []
    monkeypatch.setattr(cost.Timing, "_epoch", lambda self, subject: order.append(subject) or 1.0)
    piece = timings()[0]
    run(piece, 4)
    names = {id(subject): name for name, subject in piece.subjects.items()}
    rounds = [[names[id(s)] for s in order[i : i + 4]] for i in range(0, 16, 4)]
    assert [each[0] for each in rounds] == list(METHODS)
    assert all(sorted(each) == sorted(METHODS) for each in rounds)


def test_a_killed_piece_keeps_its_times(timings):
    killed, resumed = run(timings()[1], 3), timings()[1]
    resumed.load_state_dict(deepcopy(killed.state_dict()))
    run(resumed, 2)
    for method in METHODS:
        assert resumed.seconds[method][:3] == killed.seconds[method]
        assert len(resumed.seconds[method]) == 5


def test_each_method_is_what_it_is_called():
    named = {method: Subject(method, "cpu") for method in METHODS}
    kinds = {
        name: [type(m).__name__ for m in subject.model.modules()] for name, subject in named.items()
    }
    assert kinds["batch"].count("BatchNorm1d") == 2
    assert "BatchNorm1d" not in kinds["none"] + kinds["bnp"] + kinds["bnp, hidden"]
    assert named["none"].bnp is None
    assert named["batch"].bnp is None
    assert list(named["bnp"].bnp.preconditioners) == ["layer1.linear", "layer2.linear", "output"]
    assert list(named["bnp, hidden"].bnp.preconditioners) == ["layer2.linear", "output"]


def test_the_compiled_one_is_timed_where_there_is_a_compiler(monkeypatch):
    for found in (False, True):
        monkeypatch.setattr(cost, "can_compile", lambda device, found=found: found)
        (piece, *_) = EXPERIMENT.pieces(Setting("smoke"))
        assert piece.methods == METHODS + (cost.COMPILED,) * found
    subject = Subject(cost.COMPILED, "cpu")
    assert list(subject.bnp.preconditioners) == ["layer1.linear", "layer2.linear", "output"]
    assert subject.bnp._steps is not Subject("bnp", "cpu").bnp._steps


def test_a_step_trains(timings):
    subject = Subject("bnp", "cpu")
    before = subject.model.output.bias.detach().clone()
    subject.step(torch.rand(4, 1, 3, 3), torch.tensor([0, 1, 2, 3]))
    assert not torch.equal(subject.model.output.bias, before)


def made_up(ratios):
    return {
        f"batch {batch}": {
            "batch": batch, "images": 1024, "device": "cpu",
            "seconds": {
                "none": [0.9] * 3, "batch": [1.0, 1.0, 5.0], "bnp": [ratio, ratio, 5 * ratio],
                "bnp, hidden": [ratio, ratio, 5 * ratio],
            },
        }
        for batch, ratio in ratios.items()
    }  # fmt: skip


def test_what_the_paper_saw_is_seen_in_its_own_ratios():
    found = EXPERIMENT.observations(made_up(PRINTED))
    assert [one.appeared for one in found] == [True] * 6
    assert "batch 16: 1.038 (1.038 to 1.038), printed 1.038" in found[0].found
    assert "in Table 1 2.03 and 1.79 ms" in found[2].found


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        ({16: 0.99, 256: 0.99, 512: 0.99}, [False, True, True]),
        ({16: 1.04, 256: 1.01, 512: 0.99}, [True, False, True]),
        ({16: 1.2, 256: 0.99, 512: 0.99}, [True, True, False]),
        ({16: 1.04, 256: 0.5, 512: 0.99}, [True, False, False]),
    ],
)
def test_other_ratios_are_seen_not_to_show_it(ratios, expected):
    found = EXPERIMENT.observations(made_up(ratios))
    assert [one.appeared for one in found] == expected * 2


def test_figures_say_what_was_timed():
    drawn = EXPERIMENT.figures(made_up(PRINTED))
    assert list(drawn) == ["epochs", "ratios"]
    for figure in drawn.values():
        assert figure.get_suptitle().endswith("1024 images, 3 rounds, cpu")
