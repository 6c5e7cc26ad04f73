"""A folder of images, as files that are written here."""

import numpy as np
import pytest
import torch
from PIL import Image

from verify.datasets.dataset import DataError, existing_file
from verify.datasets.imagenet import decoded, open_folder


def write(file, colour=(255, 0, 0), size=(20, 10), mode="RGB"):
    file.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, colour).save(file)


@pytest.fixture
def folder(tmp_path):
    for part in ("train", "val"):
        write(tmp_path / part / "n01" / "b.JPEG")
        write(tmp_path / part / "n01" / "a.JPEG", (0, 255, 0))
        write(tmp_path / part / "n02" / "a.png", 128, mode="L")
        (tmp_path / part / "n02" / "notes.txt").write_text("not an image")
    return tmp_path


def test_images_have_the_class_of_their_folder_in_the_order_of_names(folder):
    found = open_folder(folder, shorter_side=8, cropped=6)
    assert found.classes == ("n01", "n02")
    assert [f.name for f in found.train.files] == ["a.JPEG", "b.JPEG", "a.png"]
    inputs, labels = found.val.middle_crops(torch.tensor([0, 2]))
    assert labels.tolist() == [0, 1]
    assert inputs.shape == (2, 3, 6, 6)
    assert inputs.dtype == torch.float32
    torch.testing.assert_close(inputs[1], torch.full((3, 6, 6), 128 / 255))
    assert inputs[0, 1].min() > 0.98  # green, up to what JPEG loses


def test_the_middle_square_is_kept_whichever_side_is_shorter(tmp_path):
    pixels = np.zeros((30, 90, 3), np.uint8)
    pixels[:, 30:60] = 255
    wide, high = tmp_path / "wide.png", tmp_path / "high.png"
    Image.fromarray(pixels).save(wide)
    Image.fromarray(pixels.swapaxes(0, 1)).save(high)
    for file in (wide, high):
        assert torch.equal(decoded(file, 30), torch.ones(3, 30, 30))
        assert decoded(file, 10)[:, 2:-2, 2:-2].min() == 1
    Image.fromarray(pixels[:, ::-1]).resize((5, 3)).save(wide)
    assert decoded(wide, 16).shape == (3, 16, 16)


def test_crops_are_drawn_from_the_generator_and_lie_within(tmp_path):
    ramp = np.tile(np.arange(16, dtype=np.uint8) * 10, (16, 1))
    (tmp_path / "train" / "a").mkdir(parents=True)
    Image.fromarray(ramp).save(tmp_path / "train" / "a" / "ramp.png")
    write(tmp_path / "val" / "a" / "a.png")
    train = open_folder(tmp_path, shorter_side=16, cropped=12).train

    def drawn(seed):
        return train.random_crops([0] * 40, torch.Generator().manual_seed(seed))[0]

    assert torch.equal(drawn(0), drawn(0))
    assert not torch.equal(drawn(0), drawn(1))
    first_row = (drawn(0)[:, 0, 0] * 255 / 10).round()
    steps = first_row.diff(dim=1)
    mirrored = (steps == -1).all(dim=1)
    assert ((steps == 1).all(dim=1) | mirrored).all()
    assert 5 < int(mirrored.sum()) < 35
    assert set(first_row.amin(dim=1).int().tolist()) == {0, 1, 2, 3, 4}
    middle = train.middle_crops([0])[0]
    assert (middle[0, 0, 0] * 255 / 10).round().int().tolist() == list(range(2, 14))


def test_sizes_are_the_papers_and_more_than_there_is_cannot_be_cut_out(folder):
    inputs, _ = open_folder(folder).val.middle_crops([0])
    assert inputs.shape == (1, 3, 224, 224)
    for cropped in (9, 0):
        with pytest.raises(ValueError, match="1 <= cropped <= shorter_side"):
            open_folder(folder, 8, cropped)


@pytest.mark.parametrize(
    "damaged",
    [lambda image: b"", lambda image: image[:150], lambda image: image[:-20], lambda image: b"<p>"],
)
def test_an_image_that_is_truncated_or_none_is_named_when_it_is_decoded(folder, damaged):
    file = folder / "train" / "n01" / "a.JPEG"
    file.write_bytes(damaged(file.read_bytes()))
    train = open_folder(folder, 8, 6).train
    with pytest.raises(DataError, match=r"n01/a\.JPEG cannot be decoded \(.*get it again"):
        train.middle_crops([0])


@pytest.mark.parametrize("size", [(9_000, 9_000), (1, 40_000), (40_000, 2)])
def test_an_image_that_would_unpack_to_too_much_is_refused_before_it_is(tmp_path, size):
    write(tmp_path / "bomb.png", 0, size, mode="1")
    assert (tmp_path / "bomb.png").stat().st_size < 100_000
    with pytest.raises(DataError, match=r"bomb\.png .*get it again"):
        decoded(tmp_path / "bomb.png", 256 if max(size) < 40_000 else 2_000)


def test_missing_folders_are_named(tmp_path):
    for part, name, says in (
        (".", "", r"expected the folder .*train, with a folder for every"),
        ("train", "", r"train has no folders; expected one for every class"),
        ("train", "n01/a.png", r"expected the folder .*val"),
        ("val", "ILSVRC2012_val_00000001.JPEG", r"val has no folders"),
        ("val", "n99/a.png", r"val has classes that train has not: n99"),
    ):
        (tmp_path / part).mkdir(exist_ok=True)
        if name:
            write(tmp_path / part / name)
        with pytest.raises(DataError, match=says):
            open_folder(tmp_path)


def test_a_class_without_images_is_named(folder):
    (folder / "train" / "n03").mkdir()
    with pytest.raises(DataError, match=r"n03 has no images; expected"):
        open_folder(folder)


def test_more_than_a_byte_for_a_pixel_is_refused_and_not_cut_off(tmp_path):
    file = tmp_path / "deep.png"
    Image.fromarray(np.full((20, 20), 40_000, np.uint16)).save(file)
    with pytest.raises(DataError, match=r"deep\.png has more than 8 bits .* convert it"):
        decoded(file, 16)


def test_what_systems_hide_in_a_folder_is_no_class_and_no_image(folder):
    before = open_folder(folder)
    (folder / "train" / ".ipynb_checkpoints").mkdir()
    (folder / "train" / "n01" / "._a.JPEG").write_bytes(b"of another system")
    after = open_folder(folder)
    assert (after.classes, after.train.files) == (before.classes, before.train.files)


def test_what_may_not_be_read_is_named(folder, monkeypatch):
    def refuse(path, *_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("PIL.Image.open", refuse)
    with pytest.raises(DataError, match=r"a\.JPEG cannot be read: Permission denied$"):
        decoded(folder / "train" / "n01" / "a.JPEG", 8)
    monkeypatch.setattr("pathlib.Path.iterdir", refuse)
    with pytest.raises(DataError, match=r"train cannot be read: Permission denied"):
        open_folder(folder)
    monkeypatch.setattr("pathlib.Path.is_file", refuse)
    with pytest.raises(DataError, match=r"some cannot be read: Permission denied"):
        existing_file(folder, ("some",), "a set")
