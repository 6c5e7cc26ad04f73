import zipfile

import pytest
import torch

from verify.cache import CacheError, CacheWarning, read_stages, read_tensors
from verify.data import digits
from verify.training import LEAST_ACCURACY, STAGES, Recipe, accuracy, cache_file, trained

SHORT = Recipe(learning_rate=0.05, epochs=2, midway=1)


@pytest.fixture
def short(tmp_path):
    """A network trained for two epochs, and its cached file."""
    network = trained("dense", cache=tmp_path, recipe=SHORT)
    return network, cache_file(tmp_path, network, 0, SHORT)


def same(a, b):
    pairs = zip(a.state_dict().values(), b.state_dict().values(), strict=True)
    return all(torch.equal(x, y) for x, y in pairs)


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


def a_bomb(file):
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", bytes(50_000_000))


def code_inside(file):
    torch.save(dict.fromkeys(STAGES, print), file)


@pytest.mark.parametrize(
    "spoil",
    [
        truncated,
        one_bit_flipped,
        not_stages,
        wrong_shape,
        wrong_dtype,
        not_a_number,
        a_bomb,
        code_inside,
    ],
)
def test_a_spoilt_file_is_named_and_replaced(short, tmp_path, spoil):
    network, file = short
    spoil(file)
    with pytest.raises(CacheError, match=rf"{file.name} .*delete it"):
        read_stages(file, network, STAGES)
    with pytest.warns(CacheWarning, match=rf"{file.name} .*now replaced"):
        again = trained("dense", cache=tmp_path, recipe=SHORT)
    assert same(again, network)
    assert set(read_stages(file, network, STAGES)) == set(STAGES)
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_that_cannot_be_written_costs_only_the_cache(tmp_path):
    (tmp_path / "file").touch()
    with pytest.warns(CacheWarning, match="choose another cache folder"):
        network = trained("dense", cache=tmp_path / "file" / "folder", recipe=SHORT)
    assert accuracy(network, *digits()) >= LEAST_ACCURACY


def test_what_would_unpack_to_more_than_the_file_has_is_refused_before_it_is_unpacked(tmp_path):
    a_bomb(tmp_path / "bomb.pt")
    with pytest.raises(CacheError, match=r"bytes and would unpack to 50,000,000, .* delete it"):
        read_tensors(tmp_path / "bomb.pt")
