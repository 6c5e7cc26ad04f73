"""CIFAR, from files in its formats that are written here; and files that would run something."""

import os
import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch

from verify.datasets import cifar
from verify.datasets.cifar import CIFAR10, CIFAR100, load
from verify.datasets.dataset import DataError
from verify.datasets.plain_pickle import PlainArray, read_dictionary
from verify.datasets.presence import is_there

BYTES = np.zeros((2, 3072), np.uint8)
COUNTS = {"train_images": 3, "test_images": 2}
SMALL = {
    10: tuple(replace(version, **COUNTS) for version in CIFAR10),
    100: tuple(replace(version, **COUNTS) for version in CIFAR100),
}


def version_of(classes, kind):
    return SMALL[classes][kind == "python"]


def drawn(version, file):
    """Return the pixels and the labels of a file, by its name."""
    rng = np.random.default_rng(list(file.encode()))
    n = version.test_images if file == version.test else version.train_images
    pixels = rng.integers(256, size=(n, 3072), dtype=np.uint8)
    return pixels, rng.integers(version.classes, size=n).tolist()


def binary(version, file):
    pixels, labels = drawn(version, file)
    rows = zip(pixels, labels, strict=True)
    coarse = b"\7" * (version.label_bytes - 1)
    return b"".join(coarse + bytes([label]) + row.tobytes() for row, label in rows)


def pickled(version, file, protocol=2, **changed):
    """Python 2 wrote protocol 2; strings of bytes, as this version of Python reads them."""
    pixels, labels = drawn(version, file)
    content = {b"data": pixels, version.labels: labels, b"filenames": [b"a.png"] * len(labels)}
    changed = {name.encode(): value for name, value in changed.items()}
    return pickle.dumps({**content, **changed}, protocol)


def write(folder, version):
    folder.mkdir(exist_ok=True)
    for file in (*version.train, version.test):
        content = binary(version, file) if version.label_bytes else pickled(version, file)
        (folder / file).write_bytes(content)


@pytest.fixture(params=[(10, "binary"), (10, "python"), (100, "binary"), (100, "python")])
def version(request):
    return version_of(*request.param)


@pytest.fixture
def folder(tmp_path, version):
    write(tmp_path / version.folder, version)
    return tmp_path


def test_the_files_come_back_as_images(folder, version):
    for place in (folder, folder / version.folder):
        data = load(place, SMALL[version.classes], "CIFAR")
        assert data.classes == version.classes
        expected = [drawn(version, file) for file in version.train]
        pixels = np.concatenate([p for p, _ in expected]).reshape(-1, 3, 32, 32)
        assert data.train.labels.tolist() == [label for _, labels in expected for label in labels]
        assert torch.equal(data.train.inputs, torch.from_numpy(pixels).float() / 255)
        assert data.test.labels.tolist() == drawn(version, version.test)[1]
        assert len(data.test) == 2


def test_the_folder_of_the_files_may_have_any_name(folder, version):
    renamed = (folder / version.folder).rename(folder / "data")
    assert [name for name in ("cifar10", "cifar100", "imagenet") if is_there(name, renamed)] == [
        f"cifar{version.classes}"
    ]


@pytest.mark.parametrize("protocol", range(5))
def test_pickles_of_every_protocol_are_read(tmp_path, protocol):
    version = version_of(10, "python")
    (tmp_path / "test").write_bytes(pickled(version, "test_batch", protocol))
    found = read_dictionary(tmp_path / "test")
    pixels, labels = drawn(version, "test_batch")
    assert found[b"labels"] == labels
    assert torch.equal(found[b"data"].as_bytes((2, 3072)), torch.from_numpy(pixels))


def test_the_pickle_that_python_2_wrote_is_read(tmp_path):
    """As its cPickle wrote it: text is bytes, and NumPy has its old name."""
    raw = bytes(range(256)) * 12
    content = b"".join(
        [
            b"\x80\x02}q\x01(U\x06labelsq\x02]q\x03K\x05aU\x04dataq\x04",
            b"cnumpy.core.multiarray\n_reconstruct\nq\x05cnumpy\nndarray\nq\x06",
            b"K\x00\x85U\x01b\x87Rq\x07(K\x01K\x01M\x00\x0c\x86cnumpy\ndtype\nq\x08U\x02u1K\x00K\x01\x87Rq\t",
            b"(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89",
            b"T" + len(raw).to_bytes(4, "little") + raw + b"tbu.",
        ]
    )
    assert pickle.loads(content, encoding="bytes")[b"data"].tobytes() == raw
    (tmp_path / "test_batch").write_bytes(content)
    found = read_dictionary(tmp_path / "test_batch")
    assert found[b"labels"] == [5]
    assert found[b"data"].as_bytes((1, 3072)).numpy().tobytes() == raw


def test_a_missing_file_is_named_and_an_empty_folder_is_told_of_every_version(
    folder, version, tmp_path
):
    missing = folder / version.folder / version.train[-1]
    missing.unlink()
    with pytest.raises(DataError, match=rf"CIFAR: expected {version.train[-1]} in .*has none"):
        load(folder, SMALL[version.classes], "CIFAR")
    with pytest.raises(DataError, match=r"bin/test_batch\.bin or .* or cifar-10-batches-py/test_b"):
        cifar.load_cifar10(tmp_path / "nothing")
    with pytest.raises(DataError, match=r"CIFAR-100: expected cifar-100-binary/test\.bin or"):
        cifar.load_cifar100(tmp_path / "nothing")


@pytest.mark.parametrize("keep", [0, 1, -1])
def test_a_truncated_file_is_named(folder, version, keep):
    file = folder / version.folder / version.train[0]
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(DataError, match=r"get it again") as refused:
        load(folder, SMALL[version.classes], "CIFAR")
    assert str(file) in str(refused.value)


@pytest.mark.parametrize(("versions", "size"), [(CIFAR10, 30_730_000), (CIFAR100, 30_740_000)])
def test_the_published_files_have_their_published_lengths(versions, size):
    assert versions[0].test_images * (versions[0].label_bytes + 3072) == size
    assert all(len(one.train) * one.train_images == 50_000 for one in versions)


PYTHON, BINARY = version_of(10, "python"), version_of(10, "binary")


@pytest.mark.parametrize(
    ("version", "content", "says"),
    [
        (BINARY, b"\x0a" + bytes(3072) + binary(BINARY, BINARY.test)[3073:], "to 10; expected"),
        (PYTHON, pickled(PYTHON, "test_batch", labels=[0, 11]), "labels from 0 to 11"),
        (PYTHON, pickled(PYTHON, "test_batch", labels=[0, -1]), "labels from -1 to 0"),
        (PYTHON, pickled(PYTHON, "test_batch", labels=[0, 2**70]), "damaged or another"),
        (PYTHON, pickled(PYTHON, "test_batch", labels=[0]), "1 labels; expected 2 numbers"),
        (PYTHON, pickled(PYTHON, "test_batch", labels=[0, 1.0]), "expected 2 numbers"),
        (PYTHON, pickled(PYTHON, "test_batch", labels=None), "no data or no labels"),
        (PYTHON, pickled(PYTHON, "test_batch", data=[1, 2]), "no data or no labels"),
        (
            PYTHON,
            pickled(PYTHON, "test_batch", data=BYTES[:, 1:]),
            r"\(2, 3071\), expected \(2, 30",
        ),
        (PYTHON, pickled(PYTHON, "test_batch", data=BYTES.astype("f4")), "not of unsigned bytes"),
        (PYTHON, pickled(PYTHON, "test_batch", data=BYTES.astype(object)), "not of unsigned bytes"),
        (PYTHON, pickled(PYTHON, "test_batch", data=np.asfortranarray(BYTES)), "expected"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path, version, content, says):
    write(tmp_path, version)
    (tmp_path / version.test).write_bytes(content)
    with pytest.raises(DataError, match=says) as refused:
        load(tmp_path, SMALL[10], "CIFAR")
    assert str(tmp_path / version.test) in str(refused.value)


# Pickles that would run something


class Calls:
    """Pickles as a call."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def malicious(folder):
    mark = str(folder / "was-here")
    return {
        "a system command": Calls(os.system, f"touch {mark}"),
        "an evaluation": Calls(eval, f"open({mark!r}, 'w')"),
        "an array from a file": Calls(np.load, mark),
        "an attribute": Calls(getattr, np.ndarray, "tofile"),
        "within the data": {b"data": Calls(os.system, f"touch {mark}"), b"labels": [0, 0]},
        "as a key": {Calls(os.system, f"touch {mark}"): 0},
    }


@pytest.mark.parametrize("name", malicious(__import__("pathlib").Path()))
@pytest.mark.parametrize("protocol", range(5))
def test_a_pickle_that_calls_something_is_refused_and_calls_nothing(tmp_path, name, protocol):
    (tmp_path / "test_batch").write_bytes(pickle.dumps(malicious(tmp_path)[name], protocol))
    with pytest.raises(DataError, match=r"names .*, which was not called"):
        read_dictionary(tmp_path / "test_batch")
    assert not (tmp_path / "was-here").exists()
    if name == "a system command":
        pickle.loads(pickle.dumps(malicious(tmp_path)[name], protocol))
        assert (tmp_path / "was-here").exists(), "an ordinary reader would not have run it either"


HANDWRITTEN = {
    "a path through an allowed name": b"\x80\x04\x8c\x05numpy\x8c\x10ndarray.__init__\x93.",
    "a codec that is not latin1": b"\x80\x02c_codecs\nencode\n(X\x01\0\0\0aX\x03\0\0\0bz2tR.",
    "a state for a name": b"\x80\x02c_codecs\nencode\n}X\x01\x00\x00\x00aK\x01sb.",
    "a state for the array's name": b"\x80\x02cnumpy\nndarray\n}X\x01\x00\x00\x00aK\x01sb.",
    "something outside of the file": b"\x80\x02X\x01\x00\x00\x00aQ.",
    "more bytes than there are": b"\x80\x04\x8e" + b"\xff" * 7 + b"\x7f" + b"a.",
    "protocol 5": pickle.dumps({b"data": [1]}, 5),
    "text": b"<html>not found</html>",
    "nothing": b"",
    "no end": b"\x80\x02}",
    "a list": pickle.dumps([1], 2),
    "a deep list": b"\x80\x02" + b"]" * 10 + b"a" * 9 + b".",
}


@pytest.mark.parametrize("name", HANDWRITTEN)
def test_a_strange_pickle_is_refused(tmp_path, name):
    (tmp_path / "test_batch").write_bytes(HANDWRITTEN[name])
    before = dict(vars(PlainArray))
    with pytest.raises(DataError, match="test_batch"):
        read_dictionary(tmp_path / "test_batch")
    assert dict(vars(PlainArray)) == before
