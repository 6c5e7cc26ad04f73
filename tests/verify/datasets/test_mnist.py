"""MNIST, from files in its format that are written here."""

import gzip
import struct

import pytest
import torch

from verify.datasets.dataset import DataError
from verify.datasets.mnist import load, read_idx

COUNTS = {"train": 5, "t10k": 3}


def idx(values):
    shape = values.shape
    header = struct.pack(f">HBB{len(shape)}I", 0, 8, len(shape), *shape)
    return header + values.numpy().tobytes()


@pytest.fixture
def contents():
    generator = torch.Generator().manual_seed(0)

    def drawn(highest, *shape):
        return torch.randint(highest, shape, generator=generator).to(torch.uint8)

    made = {}
    for part, n in COUNTS.items():
        made[f"{part}-images-idx3-ubyte"] = drawn(256, n, 28, 28)
        made[f"{part}-labels-idx1-ubyte"] = drawn(10, n)
    return made


@pytest.fixture(params=["plain", "compressed", "dotted", "MNIST/raw"])
def folder(request, tmp_path, contents):
    for name, values in contents.items():
        file = tmp_path / name
        match request.param:
            case "plain":
                file.write_bytes(idx(values))
            case "compressed":
                file.with_name(f"{name}.gz").write_bytes(gzip.compress(idx(values)))
            case "dotted":
                file.with_name(name.replace("-idx", ".idx")).write_bytes(idx(values))
            case below:
                (tmp_path / below).mkdir(parents=True, exist_ok=True)
                (tmp_path / below / name).write_bytes(idx(values))
    return tmp_path


def test_the_files_come_back_as_images(folder, contents):
    data = load(folder)
    assert data.classes == 10
    for part, images in (("train", data.train), ("t10k", data.test)):
        pixels = contents[f"{part}-images-idx3-ubyte"]
        assert images.inputs.shape == (COUNTS[part], 1, 28, 28)
        assert torch.equal((images.inputs[:, 0] * 255).round().to(torch.uint8), pixels)
        assert torch.equal(images.labels, contents[f"{part}-labels-idx1-ubyte"].long())


IMAGES = "train-images-idx3-ubyte"
LABELS = "train-labels-idx1-ubyte"


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        (IMAGES, lambda c: c[:-1], r"3919 bytes of an array of shape \(5, 28, 28\); expected 3920"),
        (IMAGES, lambda c: c + b"\0", "3921 bytes"),
        (IMAGES, lambda c: c[:9], "truncated within its header"),
        (IMAGES, lambda c: b"", "no IDX file"),
        (IMAGES, lambda c: b"\x89PNG" + c[4:], "no IDX file"),
        (IMAGES, lambda c: b"\0\0\x0d" + c[3:], "no IDX file of unsigned bytes"),
        (IMAGES, lambda c: idx(torch.zeros(5, 8, 8, dtype=torch.uint8)), r"\(any, 28, 28\)"),
        (IMAGES, lambda c: idx(torch.zeros(0, 28, 28, dtype=torch.uint8)), "no images"),
        (LABELS, lambda c: idx(torch.zeros(4, dtype=torch.uint8)), r"\(4,\); expected \(5\)"),
        (LABELS, lambda c: idx(torch.full((5,), 10, dtype=torch.uint8)), "a label 10"),
        (LABELS, lambda c: idx(torch.zeros(5, 1, dtype=torch.uint8)), r"shape \(5, 1\)"),
    ],
)
def test_a_file_that_is_damaged_or_another_is_named(tmp_path, contents, name, change, says):
    for file, values in contents.items():
        (tmp_path / file).write_bytes(idx(values))
    (tmp_path / name).write_bytes(change(idx(contents[name])))
    with pytest.raises(DataError, match=says) as refused:
        load(tmp_path)
    assert str(tmp_path / name) in str(refused.value)


@pytest.mark.parametrize("keep", [3, 30, -5])
def test_a_compressed_file_that_was_cut_off_is_named(tmp_path, contents, keep):
    file = tmp_path / f"{IMAGES}.gz"
    file.write_bytes(gzip.compress(idx(contents[IMAGES]))[:keep])
    with pytest.raises(DataError, match=rf"{file.name} is damaged .*get it again"):
        read_idx(file, (None, 28, 28))


def test_a_compressed_file_that_never_ends_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("verify.datasets.mnist.LARGEST", 10_000)
    file = tmp_path / f"{IMAGES}.gz"
    file.write_bytes(gzip.compress(bytes(1_000_000)))
    with pytest.raises(DataError, match="more than 10,000 bytes, beyond any part of MNIST"):
        read_idx(file, (None, 28, 28))


@pytest.mark.parametrize("name", [IMAGES, LABELS, "t10k-images-idx3-ubyte"])
def test_a_missing_file_is_named(tmp_path, contents, name):
    for file, values in contents.items():
        if file != name:
            (tmp_path / file).write_bytes(idx(values))
    with pytest.raises(DataError, match=rf"MNIST: expected {name} or {name}.gz"):
        load(tmp_path)
