"""The embedded digits, and what every data set is made of."""

import pytest
import torch

from verify.data import digits
from verify.datasets.dataset import DataError, Dataset, Images, existing_file
from verify.datasets.digits import enlarged, load


def test_the_split_holds_every_digit_once_every_class_in_both_parts_always_alike():
    state = torch.get_rng_state()
    data, again = load(), load()
    assert torch.equal(data.train.inputs, again.train.inputs)
    assert torch.equal(state, torch.get_rng_state())
    inputs = torch.cat([data.train.inputs, data.test.inputs])
    assert (len(data.train), len(data.test), data.classes) == (1437, 360, 10)
    assert inputs.shape == (1797, 1, 8, 8)
    assert inputs.dtype == torch.float32

    def as_rows(images, labels):
        rows = torch.cat([images.reshape(1797, 64).double(), labels[:, None].double()], dim=1)
        return sorted(map(tuple, rows.tolist()))

    labels = torch.cat([data.train.labels, data.test.labels])
    assert as_rows(inputs, labels) == as_rows(*digits())
    for part in (data.train, data.test):
        assert part.labels.bincount(minlength=10).min() > 0.05 * len(part)


def test_enlarged_digits_keep_their_brightness():
    inputs = load().test.inputs
    larger = enlarged(inputs, (3, 32, 32))
    assert larger.shape == (360, 3, 32, 32)
    assert torch.equal(larger[:, 0], larger[:, 2])
    assert torch.allclose(larger.mean((1, 2, 3)), inputs.mean((1, 2, 3)), atol=1e-6)
    assert torch.equal(enlarged(inputs, (1, 8, 8)), inputs)


def images(*shape, labels=None):
    return Images(torch.zeros(shape), torch.tensor([0] * shape[0] if labels is None else labels))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: images(2, 64), r"\(2, 64\)"),
        (lambda: Images(torch.zeros(2, 1, 8, 8).double(), torch.tensor([0, 0])), "float64"),
        (lambda: images(2, 1, 8, 8, labels=[0, 0, 0]), r"\(3,\)"),
        (lambda: images(2, 1, 8, 8, labels=[0.0, 0.0]), "float32 of shape"),
        (lambda: Dataset(images(1, 1, 8, 8), images(1, 1, 8, 8, labels=[3]), 3), "labels of test"),
        (
            lambda: Dataset(images(1, 1, 8, 8, labels=[-1]), images(1, 1, 8, 8), 3),
            "labels of train",
        ),
        (lambda: enlarged(torch.zeros(1, 1, 8, 8), (1, 0, 8)), r"of shape \(1, 0, 8\)"),
        (lambda: enlarged(torch.zeros(1, 1, 8, 8), (0, 8, 8)), r"of shape \(0, 8, 8\)"),
        (lambda: enlarged(torch.zeros(2, 3, 4, 4), (1, 8, 8)), r"\(2, 3, 4, 4\)"),
    ],
)
def test_images_of_another_form_are_refused(make, says):
    with pytest.raises(ValueError, match=says):
        make()


def test_a_missing_file_is_named_with_what_was_expected(tmp_path):
    (tmp_path / "b").write_bytes(b"")
    assert existing_file(tmp_path, ("a", "b"), "data") == tmp_path / "b"
    with pytest.raises(DataError, match=r"a\.gz or a in .* has none"):
        existing_file(tmp_path, ("a.gz", "a"), "data")
    with pytest.raises(DataError, match="is no folder"):
        existing_file(tmp_path / "nothing", ("a",), "data")
