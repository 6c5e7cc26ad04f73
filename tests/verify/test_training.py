from pathlib import Path

import pytest
import torch

from verify.data import digits
from verify.networks import NETWORKS
from verify.training import (
    LEAST_ACCURACY,
    STAGES,
    CacheError,
    Recipe,
    TrainingError,
    accuracy,
    cache_file,
    initialised,
    read_stages,
    trained,
)

SHORT = Recipe(learning_rate=0.05, epochs=2, midway=1)


@pytest.fixture(scope="session")
def full_cache(tmp_path_factory):
    return tmp_path_factory.mktemp("full")


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


def truncated(file):
    file.write_bytes(file.read_bytes()[:1000])


def one_bit_flipped(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def not_stages(file):
    torch.save([1, 2], file)


def wrong_shape(file):
    stages = torch.load(file, weights_only=True)
    stages["midway"]["head.bias"] = torch.zeros(11, dtype=torch.float64)
    torch.save(stages, file)


def wrong_dtype(file):
    stages = torch.load(file, weights_only=True)
    stages["midway"]["head.bias"] = stages["midway"]["head.bias"].float()
    torch.save(stages, file)


def not_a_number(file):
    stages = torch.load(file, weights_only=True)
    stages["trained"]["head.bias"][3] = torch.nan
    torch.save(stages, file)


def code_inside(file):
    torch.save(dict.fromkeys(STAGES, print), file)


@pytest.mark.parametrize(
    "spoil",
    [truncated, one_bit_flipped, not_stages, wrong_shape, wrong_dtype, not_a_number, code_inside],
)
def test_a_spoilt_file_is_named_and_replaced(short, tmp_path, spoil):
    network, file = short
    spoil(file)
    with pytest.raises(CacheError, match=rf"{file.name} .*delete it"):
        read_stages(file, network)
    with pytest.warns(UserWarning, match=rf"{file.name} .*now replaced"):
        again = trained("dense", cache=tmp_path, recipe=SHORT)
    assert same(again, network)
    assert set(read_stages(file, network)) == set(STAGES)
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_that_cannot_be_written_costs_only_the_cache(tmp_path):
    (tmp_path / "file").touch()
    with pytest.warns(UserWarning, match="choose another cache folder"):
        network = trained("dense", cache=tmp_path / "file" / "folder", recipe=SHORT)
    assert accuracy(network, *digits()) >= LEAST_ACCURACY


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
