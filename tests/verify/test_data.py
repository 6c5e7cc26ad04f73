import pytest
import torch

from verify.data import as_maps, digits, examination_batch


def test_digits_are_scaled_rows_with_labels():
    images, labels = digits()
    assert images.shape == (1797, 64)
    assert images.dtype == torch.float64
    assert (images.min(), images.max()) == (0, 1)
    assert labels.shape == (1797,)
    assert labels.unique().tolist() == list(range(10))


def test_as_maps_keeps_the_rows_of_an_image():
    images, _ = digits()
    maps = as_maps(images)
    assert maps.shape == (1797, 1, 8, 8)
    assert torch.equal(maps[5, 0, 2], images[5, 16:24])


def test_examination_batch_is_seeded_nested_and_without_repetition():
    images, labels = examination_batch(64, seed=3)
    fewer, _ = examination_batch(16, seed=3)
    other, _ = examination_batch(64, seed=4)
    assert images.shape == (64, 64)
    assert torch.equal(images[:16], fewer)
    assert not torch.equal(images, other)
    every, every_label = examination_batch(1797, seed=3)
    assert torch.equal(every_label.bincount(), digits()[1].bincount())
    assert len(every.unique(dim=0)) == len(digits()[0].unique(dim=0))
    assert torch.equal(every_label[:64], labels)


@pytest.mark.parametrize("n", [-1, 0, 1, 1798])
def test_examination_batch_refuses_a_size_out_of_range(n):
    with pytest.raises(ValueError, match=rf"n = {n} .* choose 2 <= n <= 1797"):
        examination_batch(n, seed=0)
