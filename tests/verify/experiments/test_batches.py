import pytest
import torch

from verify.experiments.batches import FullBatch, ShuffledBatches


def shuffled(seed=0, n=10, size=4):
    return ShuffledBatches(
        torch.arange(n), torch.arange(n) + 100, size, torch.Generator().manual_seed(seed)
    )


def test_an_epoch_has_no_image_twice_and_epochs_and_seeds_differ():
    batches = shuffled()
    epochs = [torch.cat([batches.next()[0] for _ in range(2)]) for _ in range(3)]
    assert all(len(epoch.unique()) == 8 for epoch in epochs)
    assert not torch.equal(epochs[0], epochs[1])
    assert not torch.equal(epochs[0][:4], shuffled(seed=1).next()[0])
    inputs, targets = batches.next()
    assert torch.equal(targets, inputs + 100)


@pytest.mark.parametrize("done", [0, 1, 2])
def test_taken_up_again_they_go_on(done):
    batches, resumed = shuffled(), shuffled(seed=9)
    for _ in range(done):
        batches.next()
    resumed.load_state_dict(batches.state_dict())
    for _ in range(5):
        assert torch.equal(batches.next()[0], resumed.next()[0])


def test_a_full_batch_is_always_the_same():
    inputs, targets = torch.ones(3), torch.zeros(3)
    batch = FullBatch(inputs, targets)
    batch.load_state_dict(batch.state_dict())
    assert batch.next()[0] is batch.next()[0] is inputs
    assert batch.next()[1] is targets


@pytest.mark.parametrize("size", [0, 11])
def test_a_batch_that_cannot_be_filled_is_refused(size):
    with pytest.raises(ValueError, match=f"size = {size} of a batch from 10"):
        shuffled(size=size)
