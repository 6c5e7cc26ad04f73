"""Condition numbers of a unit's Hessian against that of autograd in the unit's own parameters."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.func import functional_call, hessian
from torch.nn.functional import cross_entropy, mse_loss

from theory.nn.measures import conditioning
from theory.nn.measures.conditioning import condition_number, condition_numbers, unit_of


def drawn(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def network(*, norm=False):
    middle = [nn.BatchNorm1d(5)] if norm else []
    model = nn.Sequential(nn.Linear(4, 5), *middle, nn.Tanh(), nn.Linear(5, 3)).double()
    for number, parameter in enumerate(model.parameters()):
        parameter.data = drawn(*parameter.shape, seed=number)
    return model


INPUTS = drawn(12, 4, seed=7) * torch.tensor([1.0, 5.0, 0.2, 1.0]) + 2.0
BATCH = INPUTS, torch.arange(12) % 3, cross_entropy


def literal_hessian(model, name, unit):
    """The Hessian in one unit's bias and weights, the bias first."""
    weight, bias = f"{name}.weight", f"{name}.bias"
    inner = {key: values.detach() for key, values in model.state_dict().items()}

    def value(own):
        return cross_entropy(functional_call(model, inner | own, (INPUTS,)), BATCH[1])

    found = hessian(value)({weight: inner[weight], bias: inner[bias]})
    own, with_bias = found[weight][weight][unit, :, unit], found[bias][weight][unit, unit]
    first = torch.cat([found[bias][bias][unit, [unit]], with_bias])
    return torch.cat([first[None], torch.cat([with_bias[:, None], own], 1)])


def kappa(matrix):
    values = np.abs(np.linalg.eigvalsh(matrix.numpy()))
    return values.max() / values.min()


SUBJECTS = {
    "output unit": ("2", 1, False),
    "hidden unit": ("0", 2, False),
    "below batch normalization": ("0", 0, True),
}


def errors(name):
    """Relative errors of the three condition numbers of a Hessian of full rank."""
    place, unit, norm = SUBJECTS[name]
    model = network(norm=norm).eval()
    layer = model.get_submodule(place)
    found = conditioning.conditioning(model, *BATCH, layer, unit)
    h = INPUTS if place == "0" else model[:-1](INPUTS).detach()
    mean = h.sum(0) / len(h)
    deviation = (((h - mean) ** 2).sum(0) / len(h)) ** 0.5
    P = torch.diag(torch.cat([torch.ones(1), 1 / deviation]))
    P[0, 1:] = -mean / deviation
    plain = literal_hessian(model, place, unit)
    expected = [
        (found.hessian, kappa(plain)),
        (found.preconditioned, kappa(P.T @ plain @ P)),
        (found.scaling, float(P.diagonal().max() / P.diagonal().min())),
    ]
    assert found.rank == found.preconditioned_rank == layer.in_features + 1
    return max(abs(a / b - 1) for a, b in expected)


@pytest.mark.parametrize("name", SUBJECTS)
def test_it_is_that_of_the_literal_hessian(name):
    assert errors(name) < 1e-8  # 2**-53 times a condition number of up to 1e6


def test_in_training_batch_normalization_couples_examples_and_the_model_is_left_as_it_is():
    model = network(norm=True).float()
    before = {k: v.clone() for k, v in model.state_dict().items()}
    H, S = unit_of(model, INPUTS.float(), *BATCH[1:], model[0], unit=1)
    assert (H.dtype, S.dtype) == (torch.float64, torch.float64)
    assert (S - torch.diag(S.diagonal())).abs().max() > 1e-3
    torch.testing.assert_close(S, S.T, rtol=1e-10, atol=1e-14)
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)
    assert all(p.grad is None and p.requires_grad for p in model.parameters())
    assert not model[0]._forward_hooks


def test_random_numbers_are_left_as_they_were():
    model = nn.Sequential(nn.Dropout(0.5), network())
    before = torch.get_rng_state()
    unit_of(model, *BATCH, model[1][0])
    assert torch.equal(torch.get_rng_state(), before)


def test_fewer_examples_leave_a_singular_hessian():
    H = drawn(4, 9)
    found = condition_numbers(H, torch.diag(torch.tensor([1.0, 2.0, 0.5, 1e-9]).double()))
    assert (found.rank, found.preconditioned_rank, found.varying) == (4, 4, 9)
    Hhat = np.concatenate([np.ones((4, 1)), H.numpy()], axis=1)
    values = np.linalg.svd(np.sqrt([[1.0], [2.0], [0.5], [1e-9]]) * Hhat, compute_uv=False)
    # An eigenvalue of S is off by the epsilon times the largest, 2, and this one is 1e-9.
    assert found.hessian == pytest.approx((values[0] / values[3]) ** 2, rel=2 * 2.0**-52 * 2e9)


def test_small_curvatures_are_resolved_beyond_the_machine_epsilon():
    """Singular values of S^(1/2) A, not eigenvalues of A'SA."""
    A = torch.diag(torch.tensor([1.0, 1e-11]).double())
    found, rank = condition_number(A, torch.eye(2).double())
    assert rank == 2
    assert found == pytest.approx(1e22, rel=2 * 2.0**-52 * 1e11)


def test_an_indefinite_curvature_has_absolute_eigenvalues():
    S = torch.diag(torch.tensor([4.0, -1.0, 2.0]).double())
    assert condition_number(torch.eye(3).double(), S) == (4.0, 3)


def test_features_that_do_not_vary_are_left_out_of_the_scaling():
    H = torch.tensor([[1.0, 0.0, 0.1], [3.0, 0.0, 0.1], [8.0, 0.0, 0.1]]).double()
    found, only = (condition_numbers(each, torch.eye(3).double()) for each in (H, H[:, :1]))
    assert found.varying == 1
    assert (found.scaling, found.preconditioned) == (only.scaling, only.preconditioned)
    one = condition_numbers(drawn(1, 3), torch.tensor([[0.3]]).double())
    assert one.hessian == pytest.approx(1.0)
    assert (one.preconditioned, one.scaling, one.varying) == (1.0, 1.0, 0)


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_no_condition_number_depends_on_the_size_of_the_curvature(size):
    H, S = drawn(6, 2), drawn(6, 6, seed=1)
    for curvature in (S @ S.T, S + S.T):
        expected = condition_numbers(H, curvature)
        assert condition_numbers(H, size * curvature) == pytest.approx(expected)


@pytest.mark.parametrize("size", [1e200, 1e-160, 1e-200])
def test_numbers_beyond_the_range_are_an_error(size):
    for S in (torch.eye(6), torch.diag(torch.tensor([1.0, -1.0, 2.0, 1.0, 1.0, 1.0]))):
        with pytest.raises(ValueError, match=r"beyond torch.float64; scale the inputs to about 1"):
            condition_numbers(size * drawn(6, 2), S.double())


def test_wrong_layers_and_losses_are_refused():
    model = network()
    with pytest.raises(ValueError, match="S is zero"):
        conditioning.conditioning(model, *BATCH[:2], lambda z, _: z.sum(), model[2])
    for foreign in (nn.Linear(1, 1), model[1]):
        with pytest.raises(ValueError, match=r"is no nn\.Linear of the model"):
            unit_of(model, *BATCH, foreign)
    with pytest.raises(ValueError, match="unit 3 of a layer of 3"):
        unit_of(model, *BATCH, model[2], unit=3)
    twice = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
    with pytest.raises(ValueError, match="expected one call"):
        unit_of(nn.Sequential(twice, twice).double(), INPUTS, INPUTS, mse_loss, twice[0])


def test_numbers_of_less_precision_are_taken_in_float64():
    H = torch.randn(60, 3, generator=torch.Generator().manual_seed(0))
    H = H * torch.tensor([1, 1e-2, 1e3]) + torch.tensor([0, 1, 10])
    S = torch.eye(60)
    assert condition_numbers(H, S) == condition_numbers(H.double(), S.double())


def test_one_condition_number_is_taken_in_float64_too():
    """The squares of singular values of 1 and 2^-26, which the rounding of float32 hides."""
    A = torch.diag(torch.tensor([1.0, 2.0**-26]))
    found, rank = condition_number(A, torch.eye(2))
    assert (found, rank) == (pytest.approx(2.0**52, rel=2 * 2.0**-52 * 2**26), 2)
    assert condition_number(A, 1e30 * torch.eye(2)) == (pytest.approx(found), 2)


ONES, EYE = torch.ones(3, 2), torch.eye(3)
REFUSED = [
    (ONES, EYE.cumsum(0), ValueError, r"S of shape \(3, 3\) is not symmetric"),
    (1j * ONES, EYE, TypeError, "complex64; expected real numbers"),
    (ONES, 1j * EYE, TypeError, "S of .*complex64; expected real numbers"),
    (ONES[:0], EYE[:0, :0], ValueError, "with N at least 1"),
    (ONES.numpy(), EYE, TypeError, "is a ndarray; expected a tensor"),
    (ONES[:2], EYE, ValueError, r"shape \(2, 2\) and S of shape \(3, 3\); expected \(N, n\) and"),
    (ONES, EYE[0], ValueError, r"expected \(N, n\) and \(N, N\)"),
    (ONES, EYE[:, :2], ValueError, r"expected \(N, n\) and \(N, N\)"),
    (ONES / 0, EYE, ValueError, r"of shape \(3, 2\) and S of shape .* are not finite"),
    (ONES, EYE * torch.inf, ValueError, "are not finite, or S is zero"),
    (ONES, 0 * EYE, ValueError, "are not finite, or S is zero"),
]


@pytest.mark.parametrize("of", [condition_number, condition_numbers])
@pytest.mark.parametrize(("A", "S", "error", "message"), REFUSED)
def test_what_is_no_batch_with_its_curvature_is_named(of, A, S, error, message):
    with pytest.raises(error, match=message):
        of(A, S)


def test_no_columns_have_no_condition_number():
    with pytest.raises(ValueError, match=r"A of shape \(3, 0\) has no columns"):
        condition_number(ONES[:, :0], EYE)
