"""Statistics of a layer's inputs: of batches, of several taken as one, of several processes."""

import os

import pytest
import torch
from torch import distributed, multiprocessing, nn

from theory.nn import batch_statistics
from theory.nn.batch_statistics import BatchStatistics
from theory.nn.bnp import BNP

LINEAR, CONV = nn.Linear(3, 2), nn.Conv2d(3, 2, 3, padding=1)


def drawn(*shape, seed=0):
    return 3.0 + torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def literal(rows):
    """Mean and biased variance of each column, number by number in float64."""
    columns = [[float(x) for x in column] for column in rows.T]
    means = [sum(c) / len(c) for c in columns]
    variances = [
        sum((x - mu) ** 2 for x in c) / len(c) for c, mu in zip(columns, means, strict=True)
    ]
    return BatchStatistics(len(rows), torch.tensor(means), torch.tensor(variances))


def alike(found, expected):
    assert found.size == expected.size
    torch.testing.assert_close(found.mean, expected.mean, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(found.variance, expected.variance, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [(7, 3), (1, 3), (3,), (4, 5, 3)])
def test_of_a_linear_layer(shape):
    h = drawn(*shape)
    alike(batch_statistics.of(LINEAR, h), literal(h.reshape(-1, 3)))


@pytest.mark.parametrize("shape", [(4, 3, 5, 2), (1, 3, 1, 1), (3, 4, 4)])
def test_of_a_convolution_the_pixels_count_as_examples(shape):
    h = drawn(*shape)
    alike(batch_statistics.of(CONV, h), literal(h.movedim(-3, 0).reshape(3, -1).T))


def test_half_precision_is_taken_up_to_float32_and_float64_kept():
    h = drawn(50, 3).half()
    found = batch_statistics.of(nn.Linear(3, 2).half(), h)
    assert found.variance.dtype is torch.float32
    alike(found, literal(h))
    assert batch_statistics.of(nn.Linear(3, 2).double(), h.double()).mean.dtype is torch.float64


@pytest.mark.parametrize("sizes", [(1, 1), (2, 5), (1, 9)])
def test_pooled_are_those_of_the_batches_taken_as_one(sizes):
    batches = [100.0 * number + drawn(size, 3, seed=number) for number, size in enumerate(sizes)]
    found = batch_statistics.pooled(*(batch_statistics.of(LINEAR, h) for h in batches))
    alike(found, literal(torch.cat(batches)))


def test_wrong_poolings_would_be_seen():
    a, b = (batch_statistics.of(LINEAR, 5.0 * i + drawn(2 + i, 3, seed=i)) for i in range(2))
    right = batch_statistics.pooled(a, b)
    without_means = torch.lerp(a.variance, b.variance, 3 / 5)
    unweighted = (a.variance + b.variance) / 2 + (a.mean - b.mean).square() / 4
    for wrong in (without_means, unweighted):
        assert (wrong - right.variance).abs().min() > 0.01


def one_of_two(rank, folder):
    """A process's part of a step: three examples here, two there."""
    distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=2
    )
    model, bnp, parts = subject()
    model(parts[rank]).sum().backward()
    for parameter in model.parameters():
        distributed.all_reduce(parameter.grad)
    bnp.precondition()
    torch.save([bnp.state_dict(), [p.grad for p in model.parameters()]], f"{folder}/{rank}.pt")
    distributed.destroy_process_group()


def subject():
    model = nn.Linear(3, 2)
    for parameter in model.parameters():
        parameter.data = drawn(*parameter.shape)
    return model, BNP(model, rho=0.5), (drawn(3, 3, seed=1), 2 - drawn(2, 3, seed=2))


def test_processes_take_their_batches_as_one(tmp_path):
    os.environ["OMP_NUM_THREADS"] = "1"
    multiprocessing.spawn(one_of_two, (str(tmp_path),), nprocs=2)
    model, bnp, parts = subject()
    model(torch.cat(parts)).sum().backward()
    bnp.precondition()
    for rank in range(2):
        state, gradients = torch.load(tmp_path / f"{rank}.pt")
        torch.testing.assert_close(state, bnp.state_dict())
        torch.testing.assert_close(gradients, [p.grad for p in model.parameters()])
