from pathlib import Path

import pytest
import torch

from verify.data import digits
from verify.networks import NETWORKS
from verify.training import (
    LEAST_ACCURACY,
    STAGES,
    Recipe,
    TrainingError,
    accuracy,
    cache_file,
    initialised,
    trained,
)

SHORT = Recipe(learning_rate=0.05, epochs=2, midway=1)


@pytest.fixture(scope="session")
def full_cache(shared):
    return shared / "networks"


@pytest.fixture
def short(tmp_path):
    """A network trained for two epochs, and its cached file."""
    network = trained("dense", cache=tmp_path, recipe=SHORT)
    return network, cache_file(tmp_path, network, 0, SHORT)


def same(a, b):
    pairs = zip(a.state_dict().values(), b.state_dict().values(), strict=True)
    return all(torch.equal(x, y) for x, y in pairs)


@pytest.mark.parametrize("name", NETWORKS)
def test_stages_descend_and_the_trained_one_is_accurate(name, full_cache):
    stages = [trained(name, stage, cache=full_cache) for stage in STAGES]
    losses = [network.loss(*digits()).item() for network in stages]
    reached = [accuracy(network, *digits()) for network in stages]
    assert losses == sorted(losses, reverse=True)
    assert reached[0] < 0.5 < reached[1] < LEAST_ACCURACY <= reached[2]
    assert same(stages[0], initialised(name, 0))


def test_second_call_reads_the_cache(short, tmp_path):
    told = []
    again = trained("dense", cache=tmp_path, recipe=SHORT, progress=lambda *a: told.append(a))
    assert told == []
    assert same(again, short[0])
    assert list(tmp_path.iterdir()) == [short[1]]


def test_progress_is_told_every_epoch(tmp_path):
    told = []
    trained("dense", cache=tmp_path, recipe=SHORT, progress=lambda *a: told.append(a))
    assert told == [("training dense, seed 0", epoch, 2) for epoch in (1, 2)]


def test_training_repeats_bit_for_bit_whatever_the_threads_and_the_global_seed(short, tmp_path):
    threads = torch.get_num_threads()
    during = []

    def note_threads(*_):
        during.append(torch.get_num_threads())

    try:
        torch.set_num_threads(3)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(99)
            before = torch.get_rng_state()
            again = trained("dense", cache=tmp_path / "other", recipe=SHORT, progress=note_threads)
            assert torch.equal(torch.get_rng_state(), before)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(threads)
    assert during == [1, 1]
    assert same(again, short[0])


def test_seeds_and_recipes_have_files_of_their_own():
    network, folder = initialised("dense", 0), Path("folder")
    files = [
        cache_file(folder, network, 0, SHORT),
        cache_file(folder, network, 1, SHORT),
        cache_file(folder, network, 0, Recipe(learning_rate=0.04, epochs=2, midway=1)),
        cache_file(folder, initialised("convolutional", 0), 0, SHORT),
    ]
    assert len(set(files)) == 4
    assert files[0] == cache_file(folder, initialised("dense", 5), 0, SHORT)
    assert not same(network, initialised("dense", 1))


def test_training_that_fails_says_so_and_is_not_cached(tmp_path):
    with pytest.raises(TrainingError, match=r"dense, seed 0, reached an accuracy of 0\.\d+ .*0.95"):
        trained("dense", cache=tmp_path, recipe=Recipe(learning_rate=1e-9, epochs=2, midway=1))
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_name_or_stage_is_refused_with_the_choices(tmp_path):
    with pytest.raises(ValueError, match=r"'densely'; choose one of dense, convolutional"):
        trained("densely", cache=tmp_path)
    with pytest.raises(ValueError, match=r"'half'; choose one of initial, midway, trained"):
        trained("dense", "half", cache=tmp_path)


@pytest.mark.parametrize("midway", [0, 10])
def test_midway_lies_between_the_ends(midway):
    with pytest.raises(ValueError, match="choose 0 < midway < epochs"):
        Recipe(learning_rate=0.1, midway=midway)
