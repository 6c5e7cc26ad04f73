"""A cached file that cannot be used is named and made anew; what it holds is never trusted."""

import zipfile

import pytest
import torch

from verify.complaints import CacheWarning
from verify.settings import STAGES
from verify.subjects.cache import CacheError, read_stages, remembered, write_tensors
from verify.subjects.training import initialised

NETWORK = initialised("dense", 3)
HEAD = "head.bias"


def stages():
    return {stage: {k: v.clone() for k, v in NETWORK.state_dict().items()} for stage in STAGES}


def read(file):
    return read_stages(file, NETWORK, STAGES)


def truncated(file):
    file.write_bytes(file.read_bytes()[:1000])


def one_bit_flipped(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def a_bomb(file):
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", bytes(5_000_000))


def instead(content):
    return lambda file: torch.save(content, file)


def with_head(change):
    """Stages of which one has another bias of the last layer."""
    found = stages()
    found["midway"][HEAD] = change(found["midway"][HEAD])
    return instead(found)


SPOILT = {
    "truncated": (truncated, "cannot be read"),
    "one bit flipped": (one_bit_flipped, "damaged"),
    "not stages": (instead([1, 2]), "does not hold the stages initial, midway, trained"),
    "a wrong shape": (with_head(lambda bias: bias[1:]), "no state of dense at 'midway'"),
    "a wrong dtype": (with_head(torch.Tensor.float), "no state of dense at 'midway'"),
    "not a number": (with_head(lambda bias: bias * torch.nan), "no state of dense at 'midway'"),
    "code": (instead(dict.fromkeys(STAGES, print)), "cannot be read"),
    "a bomb": (a_bomb, "bytes and would unpack to 5,000,000"),
}


@pytest.mark.parametrize(("spoil", "said"), SPOILT.values(), ids=SPOILT)
def test_a_spoilt_file_is_named_and_replaced(tmp_path, spoil, said):
    file = tmp_path / "stages.pt"
    write_tensors(file, stages())
    spoil(file)
    with pytest.raises(CacheError, match=rf"{file.name} .*{said}.*; delete it"):
        read(file)
    with pytest.warns(CacheWarning, match=rf"{file.name} .*now replaced"):
        remembered(file, read, stages)
    torch.testing.assert_close(read(file), stages(), rtol=0, atol=0)
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_that_cannot_be_written_costs_only_the_cache(tmp_path):
    (tmp_path / "file").touch()
    with pytest.warns(CacheWarning, match="choose another cache folder"):
        made = remembered(tmp_path / "file" / "folder" / "stages.pt", read, stages)
    assert made.keys() == set(STAGES)
