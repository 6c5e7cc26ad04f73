"""MNIST, from files in its format that are written here."""

import gzip
import struct

import pytest
import torch

from verify.datasets.dataset import DataError, state_of
from verify.datasets.mnist import load, read_idx
from verify.datasets.presence import is_there
from verify.experiments.experiment import Setting
from verify.experiments.small_batch import experiment as small_batch

IMAGES = "train-images-idx3-ubyte"
LABELS = "train-labels-idx1-ubyte"


def drawn(highest, *shape):
    generator = torch.Generator().manual_seed(len(shape))
    return torch.randint(highest, shape, generator=generator).to(torch.uint8)


CONTENTS = {
    IMAGES: drawn(256, 5, 28, 28),
    LABELS: drawn(10, 5),
    "t10k-images-idx3-ubyte": drawn(256, 3, 28, 28),
    "t10k-labels-idx1-ubyte": drawn(10, 3),
}


def idx(values):
    shape = values.shape
    header = struct.pack(f">HBB{len(shape)}I", 0, 8, len(shape), *shape)
    return header + values.numpy().tobytes()


def write(folder, named=str, packed=bytes):
    for name, values in CONTENTS.items():
        file = folder / named(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(packed(idx(values)))


@pytest.mark.parametrize(
    ("named", "packed"),
    [
        (str, bytes),
        (lambda name: f"{name}.gz", gzip.compress),
        (lambda name: name.replace("-idx", ".idx"), bytes),
        (lambda name: f"MNIST/raw/{name}", bytes),
    ],
)
def test_the_files_come_back_as_images(tmp_path, named, packed):
    assert not is_there("mnist", tmp_path)
    write(tmp_path, named, packed)
    assert is_there("mnist", tmp_path)
    data = load(tmp_path)
    assert data.classes == 10
    for part, images in (("train", data.train), ("t10k", data.test)):
        pixels = CONTENTS[f"{part}-images-idx3-ubyte"]
        assert images.inputs.shape == (len(pixels), 1, 28, 28)
        assert torch.equal((images.inputs[:, 0] * 255).round().to(torch.uint8), pixels)
        assert torch.equal(images.labels, CONTENTS[f"{part}-labels-idx1-ubyte"].long())


def test_an_experiment_takes_it_where_the_folder_has_no_cifar10(tmp_path):
    write(tmp_path / "MNIST/raw")
    setting, before = Setting("smoke", data=tmp_path), state_of(tmp_path)
    name, data = small_batch.load(setting)
    assert (name, tuple(data.train.inputs.shape)) == ("MNIST", (5, 1, 28, 28))
    assert {piece.numbers()["data"] for piece in small_batch.pieces(setting)[:2]} == {"MNIST"}
    write(tmp_path)
    assert state_of(tmp_path) != before
    (tmp_path / "cifar-10-batches-py").mkdir()
    with pytest.raises(DataError, match=r"which has none$"):
        small_batch.load(setting)


def test_an_experiment_that_takes_either_names_both_where_a_folder_has_neither(tmp_path):
    with pytest.raises(DataError, match=r"CIFAR-10: expected .* has none, and no MNIST: train-im"):
        small_batch.load(Setting("smoke", data=tmp_path))


def zeros(*shape):
    return idx(torch.zeros(shape, dtype=torch.uint8))


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        (IMAGES, lambda c: c[:-1], r"3919 bytes of an array of shape \(5, 28, 28\); expected 3920"),
        (IMAGES, lambda c: c + b"\0", "3921 bytes"),
        (IMAGES, lambda c: c[:9], "truncated within its header"),
        (IMAGES, lambda c: b"", "no IDX file"),
        (IMAGES, lambda c: b"\0\0\x0d" + c[3:], "no IDX file of unsigned bytes"),
        (IMAGES, lambda c: zeros(5, 8, 8), r"\(any, 28, 28\)"),
        (IMAGES, lambda c: zeros(0, 28, 28), "no images"),
        (LABELS, lambda c: zeros(4), r"\(4,\); expected \(5\)"),
        (LABELS, lambda c: c[:-1] + b"\x0a", "a label 10"),
        (LABELS, lambda c: zeros(5, 1), r"shape \(5, 1\)"),
    ],
)
def test_a_file_that_is_damaged_or_another_is_named(tmp_path, name, change, says):
    write(tmp_path)
    (tmp_path / name).write_bytes(change(idx(CONTENTS[name])))
    with pytest.raises(DataError, match=says) as refused:
        load(tmp_path)
    assert str(tmp_path / name) in str(refused.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (gzip.compress(idx(CONTENTS[IMAGES]))[:3], rf"{IMAGES}.gz is damaged .*get it again"),
        (gzip.compress(idx(CONTENTS[IMAGES]))[:-5], rf"{IMAGES}.gz is damaged .*get it again"),
        (gzip.compress(bytes(1_000_000)), "more than 10,000 bytes, beyond any part of MNIST"),
    ],
)
def test_a_compressed_file_that_is_cut_off_or_never_ends_is_named(
    tmp_path, monkeypatch, content, says
):
    monkeypatch.setattr("verify.datasets.mnist.LARGEST", 10_000)
    file = tmp_path / f"{IMAGES}.gz"
    file.write_bytes(content)
    with pytest.raises(DataError, match=says):
        read_idx(file, (None, 28, 28))


@pytest.mark.parametrize("name", [IMAGES, "t10k-labels-idx1-ubyte"])
def test_a_missing_file_is_named(tmp_path, name):
    write(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(DataError, match=rf"MNIST: expected {name} or {name}.gz"):
        load(tmp_path)
