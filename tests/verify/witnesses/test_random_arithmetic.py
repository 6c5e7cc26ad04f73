"""Random arithmetic measures how ill conditioned a computation is, and only that."""

import pytest
import torch
from torch.func import grad, vmap

from verify.tolerance import STEP
from verify.witnesses.random_arithmetic import EXACT, RandomArithmetic

X = torch.tensor([1.0, -2.0, 0.5, 3.0], dtype=torch.float64)


def perturbed(f, *arguments, step=STEP, seed=0):
    with RandomArithmetic(step, seed):
        return f(*arguments)


def change(f, argument, seed=0):
    """The largest relative change of a result, in steps."""
    moved, plain = perturbed(f, argument, seed=seed), f(argument)
    return ((moved - plain) / plain).abs().max() / STEP


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x + 1,
        lambda x: x - 0.25,
        lambda x: 3 * x,
        lambda x: x / 3,
        lambda x: x @ x,
        lambda x: x.sum(),
        lambda x: torch.sqrt(x * x),
        lambda x: torch.exp(x),
        lambda x: torch.logaddexp(x, torch.zeros_like(x)),
    ],
)
def test_every_operation_that_rounds_is_perturbed_by_a_few_steps(f):
    assert all(0.01 < change(f, X, seed) < 4 for seed in range(3))


@pytest.mark.parametrize("values", [torch.linalg.eigvalsh, torch.linalg.svdvals])
@pytest.mark.parametrize("together", [lambda f: f, vmap])
def test_a_small_eigenvalue_is_known_up_to_a_part_of_the_largest(values, together):
    graded = torch.diag(torch.tensor([1.0, 1e-20], dtype=torch.float64))
    matrices = graded if together is not vmap else torch.stack([graded] * 3)
    for seed in range(3):
        least = perturbed(together(values), matrices, seed=seed).abs().min()
        assert 1e-3 * STEP < least < 2 * STEP


def test_many_numbers_at_once_are_perturbed_each():
    many = torch.linspace(1, 2, 2**18, dtype=torch.float64)
    for seed in range(8):
        moved = (perturbed(lambda x: 3 * x, many, seed=seed) - 3 * many) / (3 * many)
        assert moved.abs().max() < 1.01 * STEP
        assert moved.unique().numel() > 2**17


@pytest.mark.parametrize(
    "f",
    [
        lambda x: -x,
        lambda x: x.abs(),
        lambda x: torch.relu(x),
        lambda x: x[1:].reshape(3, 1).T.expand(3, 3),
        lambda x: torch.stack([x, x]),
        lambda x: torch.where(x > 0, x, -x),
        lambda x: x.clone(),
        lambda x: torch.zeros_like(x) + 0 * x,
        lambda x: x.sign(),
        lambda x: torch.arange(4) * torch.arange(4) + 1,
    ],
)
def test_what_does_not_round_is_not_perturbed(f):
    assert torch.equal(perturbed(f, X), f(X))


def test_cancellation_is_seen_also_inside_of_derivatives():
    def f(x):
        return ((x + 1e6) - 1e6) ** 2 @ x

    assert change(lambda x: (x + 1e8) - 1e8, X) > 1e7
    assert change(grad(f), X) > 1e4
    assert change(vmap(grad(f)), torch.stack([X, 2 * X])) > 1e4


def test_what_is_zero_in_exact_arithmetic_is_not_zero_here():
    assert perturbed(lambda x: 3 * (x / 3) - x, X).abs().max() > STEP / 100
    assert perturbed(lambda x: x - x, X / 3).abs().max() == 0


def test_the_seed_decides_and_nothing_else():
    def f(x):
        return (x + 1) @ x

    state = torch.get_rng_state()
    assert perturbed(f, X, seed=1) == perturbed(f, X, seed=1) != perturbed(f, X, seed=2)
    assert torch.equal(torch.get_rng_state(), state)
    assert perturbed(f, X, step=0) == f(X)


def test_what_rounds_nothing_names_operations_of_torch():
    known = {name.split("::")[1].split(".")[0] for name in torch._C._dispatch_get_all_op_names()}
    assert not EXACT - known
