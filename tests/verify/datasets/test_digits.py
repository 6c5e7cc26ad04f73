import pytest
import torch

from verify.data import digits
from verify.datasets.dataset import DataError, Dataset, Images, existing_file
from verify.datasets.digits import enlarged, load


def test_the_split_holds_every_digit_once():
    data = load()
    inputs = torch.cat([data.train.inputs, data.test.inputs])
    assert (len(data.train), len(data.test), data.classes) == (1437, 360, 10)
    assert inputs.shape == (1797, 1, 8, 8)
    assert inputs.dtype == torch.float32
    assert (float(inputs.min()), float(inputs.max())) == (0.0, 1.0)

    def as_rows(images, labels):
        rows = torch.cat([images.reshape(1797, 64).double(), labels[:, None].double()], dim=1)
        return sorted(map(tuple, rows.tolist()))

    labels = torch.cat([data.train.labels, data.test.labels])
    assert as_rows(inputs, labels) == as_rows(*digits())


def test_the_split_is_the_same_every_time_and_leaves_the_global_generator_alone():
    state = torch.get_rng_state()
    first, second = load(), load()
    assert torch.equal(first.train.inputs, second.train.inputs)
    assert torch.equal(state, torch.get_rng_state())


def test_every_class_is_in_both_parts():
    data = load()
    for part in (data.train, data.test):
        counts = part.labels.bincount(minlength=10)
        assert counts.min() > 0.05 * len(part)


def test_enlarged_digits_keep_their_brightness_and_their_label():
    test = load().test
    larger = enlarged(test, 32, channels=3)
    assert larger.inputs.shape == (360, 3, 32, 32)
    assert torch.equal(larger.inputs[:, 0], larger.inputs[:, 2])
    assert torch.equal(larger.labels, test.labels)
    assert torch.allclose(larger.inputs.mean((1, 2, 3)), test.inputs.mean((1, 2, 3)), atol=1e-6)
    assert torch.equal(enlarged(test, 8).inputs, test.inputs)


@pytest.mark.parametrize(("side", "channels"), [(0, 1), (8, 0)])
def test_enlarging_to_nothing_is_refused(side, channels):
    with pytest.raises(ValueError, match=f"side = {side} and channels = {channels}"):
        enlarged(load().test, side, channels)


def test_colours_are_not_enlarged():
    colours = Images(torch.zeros(2, 3, 4, 4), torch.zeros(2, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"\(2, 3, 4, 4\)"):
        enlarged(colours, 8)


@pytest.mark.parametrize(
    ("inputs", "labels", "says"),
    [
        (torch.zeros(2, 64), torch.zeros(2, dtype=torch.int64), r"\(2, 64\)"),
        (torch.zeros(2, 1, 8, 8).double(), torch.zeros(2, dtype=torch.int64), "float64"),
        (torch.zeros(2, 1, 8, 8), torch.zeros(3, dtype=torch.int64), r"\(3,\)"),
        (torch.zeros(2, 1, 8, 8), torch.zeros(2), "float32 of shape"),
    ],
)
def test_images_of_another_form_are_refused(inputs, labels, says):
    with pytest.raises(ValueError, match=says):
        Images(inputs, labels)


@pytest.mark.parametrize("label", [-1, 3])
def test_a_label_out_of_range_is_refused(label):
    images = Images(torch.zeros(1, 1, 8, 8), torch.tensor([label]))
    fine = images.first(0)
    with pytest.raises(ValueError, match="labels of test"):
        Dataset(fine, images, classes=3)


def test_a_missing_file_is_named_with_what_was_expected(tmp_path):
    (tmp_path / "b").write_bytes(b"")
    assert existing_file(tmp_path, ("a", "b"), "data") == tmp_path / "b"
    with pytest.raises(DataError, match=r"a\.gz or a in .* has none"):
        existing_file(tmp_path, ("a.gz", "a"), "data")
    with pytest.raises(DataError, match="is no folder"):
        existing_file(tmp_path / "nothing", ("a",), "data")
