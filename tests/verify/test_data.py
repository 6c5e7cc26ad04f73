import pytest
import torch

from verify.data import as_maps, digits, examination_batch

IMAGES, LABELS = digits()


def test_digits_are_scaled_rows_with_labels():
    assert (IMAGES.shape, IMAGES.dtype) == ((1797, 64), torch.float64)
    assert (IMAGES.min(), IMAGES.max()) == (0, 1)
    assert LABELS.shape == (1797,)
    assert LABELS.unique().tolist() == list(range(10))


def test_as_maps_keeps_the_rows_of_an_image():
    maps = as_maps(IMAGES)
    assert maps.shape == (1797, 1, 8, 8)
    assert torch.equal(maps[5, 0, 2], IMAGES[5, 16:24])


def test_examination_batch_is_seeded_nested_and_without_repetition():
    images, labels = examination_batch(64, seed=3)
    assert torch.equal(images[:16], examination_batch(16, seed=3)[0])
    assert not torch.equal(images, examination_batch(64, seed=4)[0])
    every, every_label = examination_batch(1797, seed=3)
    assert torch.equal(every_label[:64], labels)
    assert torch.equal(every_label.bincount(), LABELS.bincount())
    assert len(every.unique(dim=0)) == len(IMAGES.unique(dim=0))


@pytest.mark.parametrize("n", [1, 1798])
def test_examination_batch_refuses_a_size_out_of_range(n):
    with pytest.raises(ValueError, match=rf"n = {n} .* choose 2 <= n <= 1797"):
        examination_batch(n, seed=0)
