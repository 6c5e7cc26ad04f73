"""Networks are trained to an accuracy, the same wherever and however often, and remembered."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from verify.data import digits
from verify.settings import STAGES
from verify.subjects import training
from verify.subjects.training import Recipe, TrainingError, cache_file, initialised, trained

SHORT = Recipe(learning_rate=0.05, epochs=2, midway=1)


def same(a, b):
    pairs = zip(a.state_dict().values(), b.state_dict().values(), strict=True)
    return all(torch.equal(x, y) for x, y in pairs)


@pytest.mark.parametrize("name", ["dense", "convolutional"])
def test_stages_descend_and_the_trained_one_is_accurate(name, shared):
    stages = [trained(name, stage, cache=shared / "networks") for stage in STAGES]
    losses = [network.loss(*digits()).item() for network in stages]
    reached = [training.accuracy(network, *digits()) for network in stages]
    assert losses == sorted(losses, reverse=True)
    assert reached[0] < 0.5 < reached[1] < training.LEAST_ACCURACY <= reached[2]
    assert same(stages[0], initialised(name, 0))


def test_training_repeats_bit_for_bit_and_is_remembered(tmp_path):
    """Whatever the threads and the global seed; every epoch is told."""
    first = trained("dense", cache=tmp_path / "first", recipe=SHORT)
    told, threads = [], torch.get_num_threads()
    asked = {"cache": tmp_path, "recipe": SHORT, "progress": lambda *said: told.append(said)}
    try:
        torch.set_num_threads(3)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(99)
            before = torch.get_rng_state()
            again = trained("dense", **asked)
            assert torch.equal(torch.get_rng_state(), before)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(threads)
    assert same(again, first)
    assert same(trained("dense", **asked), first)
    assert told == [("training dense, seed 0", epoch, 2) for epoch in (1, 2)]
    assert cache_file(tmp_path, first, 0, SHORT).exists()


def test_seeds_and_recipes_have_files_of_their_own():
    network, folder = initialised("dense", 0), Path("folder")
    slower = replace(SHORT, learning_rate=0.04)
    asked = [(network, 0, SHORT), (network, 1, SHORT), (network, 0, slower)]
    asked.append((initialised("convolutional", 0), 0, SHORT))
    assert len({cache_file(folder, *each) for each in asked}) == 4
    assert not same(network, initialised("dense", 1))


def test_training_that_fails_says_so_and_is_not_cached(tmp_path):
    with pytest.raises(TrainingError, match=r"dense, seed 0, reached an accuracy of 0\.\d+ .*0.95"):
        trained("dense", cache=tmp_path, recipe=replace(SHORT, learning_rate=1e-9))
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_name_or_stage_is_refused_with_the_choices(tmp_path):
    with pytest.raises(ValueError, match=r"'densely'; choose one of dense, convolutional"):
        trained("densely", cache=tmp_path)
    with pytest.raises(ValueError, match=r"'half'; choose one of initial, midway, trained"):
        trained("dense", "half", cache=tmp_path)
    for midway in (0, 10):
        with pytest.raises(ValueError, match="choose 0 < midway < epochs"):
            Recipe(learning_rate=0.1, midway=midway)
