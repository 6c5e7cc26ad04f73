"""Condition numbers of a unit's Hessian against that of autograd in the unit's own parameters."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.func import functional_call, hessian
from torch.nn.functional import cross_entropy, mse_loss

from theory import preconditioning
from theory.nn.measures import conditioning
from theory.nn.measures.conditioning import condition_number, condition_numbers, unit_of


def drawn(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def network(*, norm=False):
    middle = [nn.BatchNorm1d(5)] if norm else []
    layers = [nn.Linear(4, 5), *middle, nn.Tanh(), nn.Linear(5, 3)]
    model = nn.Sequential(*layers).double()
    for number, parameter in enumerate(model.parameters()):
        parameter.data = drawn(*parameter.shape, seed=number)
    return model


def batch(N=12):
    return drawn(N, 4, seed=7) * torch.tensor([1.0, 5.0, 0.2, 1.0]) + 2.0, torch.arange(N) % 3


def literal_hessian(model, name, unit, inputs, targets, loss):
    """The Hessian in one unit's bias and weights, the bias first."""
    own = {k: v.detach() for k, v in model.named_parameters()}
    buffers = {k: v.clone() for k, v in model.named_buffers()}

    def value(theta):
        weight, bias = own[f"{name}.weight"].clone(), own[f"{name}.bias"].clone()
        weight = torch.cat([weight[:unit], theta[None, 1:], weight[unit + 1 :]])
        bias = torch.cat([bias[:unit], theta[:1], bias[unit + 1 :]])
        changed = {**own, **buffers, f"{name}.weight": weight, f"{name}.bias": bias}
        return loss(functional_call(model, changed, (inputs,)), targets)

    at = torch.cat([own[f"{name}.bias"][unit : unit + 1], own[f"{name}.weight"][unit]])
    return hessian(value)(at)


def literal_preconditioner(h):
    mean = h.sum(0) / len(h)
    deviation = (((h - mean) ** 2).sum(0) / len(h)) ** 0.5
    P = torch.diag(torch.cat([torch.ones(1).double(), 1 / deviation]))
    P[0, 1:] = -mean / deviation
    return P, deviation


def kappa(matrix):
    values = np.abs(np.linalg.eigvalsh(matrix.numpy()))
    return values.max() / values.min()


SUBJECTS = {
    "output unit": ("2", 1, cross_entropy, False),
    "hidden unit": ("0", 2, cross_entropy, False),
    "below batch normalization": ("0", 0, cross_entropy, True),
}


def errors(name):
    """Relative errors of the three condition numbers of a Hessian of full rank."""
    layer, unit, loss, norm = SUBJECTS[name]
    model, (inputs, targets) = network(norm=norm).eval(), batch()
    module = model.get_submodule(layer)
    found = conditioning.conditioning(model, inputs, targets, loss, module, unit)
    h = inputs if layer == "0" else model[:-1](inputs).detach()
    plain = literal_hessian(model, layer, unit, inputs, targets, loss)
    P, deviation = literal_preconditioner(h)
    scales = torch.cat([torch.ones(1), 1 / deviation]).double()
    expected = [
        (found.hessian, kappa(plain)),
        (found.preconditioned, kappa(P.T @ plain @ P)),
        (found.scaling, float(scales.max() / scales.min())),
    ]
    assert found.rank == found.preconditioned_rank == module.in_features + 1
    return max(abs(a / b - 1) for a, b in expected)


@pytest.mark.parametrize("name", SUBJECTS)
def test_it_is_that_of_the_literal_hessian(name):
    assert errors(name) < 1e-8  # 2**-53 times a condition number of up to 1e6


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("normalized", lambda H, mean, sigma: preconditioning.augmented(H / sigma)),
        ("normalized", lambda H, mean, sigma: preconditioning.augmented((H + mean) / sigma)),
        ("normalized", lambda H, mean, sigma: preconditioning.augmented((H - mean) / sigma**2)),
        ("standard_deviations", lambda H: (H.var(0) + H.mean(0) ** 2).sqrt()),
        ("augmented", lambda H: H),
    ],
)
def test_wrong_formulas_are_seen(name, wrong, monkeypatch):
    monkeypatch.setattr(conditioning.preconditioning, name, wrong)
    with pytest.raises(AssertionError):
        assert errors("output unit") < 1e-3


def test_the_curvature_of_cross_entropy_is_diagonal():
    model, (inputs, targets) = network(), batch()
    found = unit_of(model, inputs, targets, cross_entropy, model[2], unit=1)
    p = model(inputs).detach().softmax(1)[:, 1]
    torch.testing.assert_close(found.curvature, torch.diag(p * (1 - p) / 12), rtol=1e-12, atol=0)
    torch.testing.assert_close(found.inputs, model[:-1](inputs).detach(), rtol=0, atol=0)


def test_batch_normalization_above_couples_examples():
    model, (inputs, targets) = network(norm=True), batch()
    S = unit_of(model, inputs, targets, cross_entropy, model[0], unit=1).curvature
    assert (S - torch.diag(S.diagonal())).abs().max() > 1e-3
    torch.testing.assert_close(S, S.T, rtol=1e-10, atol=1e-14)


def test_the_model_is_left_as_it_is():
    model, (inputs, targets) = network(norm=True), batch()
    before = {k: v.clone() for k, v in model.state_dict().items()}
    conditioning.conditioning(model, inputs, targets, cross_entropy, model[0])
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)
    assert all(p.grad is None and p.requires_grad for p in model.parameters())
    assert not model[0]._forward_hooks


def test_a_model_in_float32_is_measured_in_float64():
    model, (inputs, targets) = network().float(), batch()
    found = unit_of(model, inputs.float(), targets, cross_entropy, model[2])
    assert (found.inputs.dtype, found.curvature.dtype) == (torch.float64, torch.float64)


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
    found = condition_numbers(H, torch.eye(3).double())
    only = condition_numbers(H[:, :1], torch.eye(3).double())
    assert found.varying == 1
    assert (found.scaling, found.preconditioned) == (only.scaling, only.preconditioned)


def test_one_example_has_condition_number_one():
    found = condition_numbers(drawn(1, 3), torch.tensor([[0.3]]).double())
    assert found.hessian == pytest.approx(1.0)
    assert (found.preconditioned, found.scaling, found.varying) == (1.0, 1.0, 0)


@pytest.mark.parametrize(
    ("H", "S"),
    [
        (torch.full((2, 3), torch.nan), torch.eye(2)),
        (torch.ones(2, 3), torch.diag(torch.tensor([torch.inf, 1.0]))),
        (torch.ones(2, 3), torch.zeros(2, 2)),
    ],
)
def test_what_has_no_condition_number_is_refused(H, S):
    with pytest.raises(ValueError, match=r"H of shape \(2, 3\) and S of shape \(2, 2\)"):
        condition_numbers(H.double(), S.double())


def test_a_loss_without_curvature_is_refused():
    model, (inputs, targets) = network(), batch()
    with pytest.raises(ValueError, match="S is zero"):
        conditioning.conditioning(model, inputs, targets, lambda z, _: z.sum(), model[2])


def test_wrong_layers_are_refused():
    model, (inputs, targets) = network(), batch()
    arguments = (inputs, targets, cross_entropy)
    with pytest.raises(ValueError, match=r"is no nn\.Linear of the model"):
        unit_of(model, *arguments, nn.Linear(1, 1))
    with pytest.raises(ValueError, match=r"is no nn\.Linear of the model"):
        unit_of(model, *arguments, model[1])
    with pytest.raises(ValueError, match="unit 3 of a layer of 3"):
        unit_of(model, *arguments, model[2], unit=3)
    twice = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
    with pytest.raises(ValueError, match="expected one call"):
        unit_of(nn.Sequential(twice, twice).double(), inputs, inputs, mse_loss, twice[0])


@pytest.mark.parametrize("size", [1e200, 1e-160, 1e-200])
def test_numbers_beyond_the_range_are_an_error(size):
    H, signs = size * drawn(6, 2), torch.tensor([1.0, -1.0, 2.0, 1.0, 1.0, 1.0])
    for S in (torch.eye(6, dtype=torch.float64), torch.diag(signs).double()):
        with pytest.raises(ValueError, match=r"beyond torch.float64; scale the inputs to about 1"):
            condition_numbers(H, S)


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_no_condition_number_depends_on_the_size_of_the_curvature(size):
    H, S = drawn(6, 2), drawn(6, 6, seed=1)
    assert condition_numbers(H, size * S @ S.T) == pytest.approx(condition_numbers(H, S @ S.T))
    assert condition_numbers(H, size * (S + S.T)) == pytest.approx(condition_numbers(H, S + S.T))


def test_a_curvature_that_is_not_symmetric_is_an_error():
    with pytest.raises(ValueError, match=r"S of shape \(6, 6\) is not symmetric"):
        condition_numbers(drawn(6, 2), drawn(6, 6, seed=1))
