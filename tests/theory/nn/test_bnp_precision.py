"""BNP in mixed precision, and with numbers that are not finite or do not vary."""

from functools import partial

import pytest
import torch
from bnp_training import X, alike, dense, step
from torch import nn

from theory.nn.bnp import BNP


def test_bfloat16_weights_have_statistics_in_float32():
    half, whole = dense().bfloat16(), dense()
    for p, q in zip(half.parameters(), whole.parameters(), strict=True):
        q.data = p.data.float()
    bnp = BNP(half)
    x = X.bfloat16()
    found = step(half, bnp, x)
    assert {g.dtype for g in found} == {torch.bfloat16}
    assert bnp.state_dict()["0.mean"].dtype is torch.float32
    torch.testing.assert_close(
        bnp.state_dict()["0.variance"], 0.99 + 0.01 * x.float().var(0, correction=0)
    )
    expected = step(whole, BNP(whole), x.float())
    for one, other in zip(found, expected, strict=True):  # bfloat16 has 8 bits
        assert (one.float() - other).abs().max() < 0.1 * other.abs().max()


@pytest.mark.parametrize("compiled", [False, True])
def test_under_autocast_the_change_is_made_in_float32(compiled, monkeypatch):
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
    inside, outside = dense(), dense()
    gradients = []
    for model, ends_before in ((inside, False), (outside, True)):
        bnp = BNP(model, compiled=compiled)
        with torch.autocast("cpu", torch.bfloat16):
            model(X).float().square().sum().backward()
            if not ends_before:
                bnp.precondition()
        if ends_before:
            bnp.precondition()
        gradients.append([p.grad for p in model.parameters()])
        assert bnp.state_dict()["2.mean"].dtype is torch.float32
    alike(*gradients, 0.0)


def test_a_gradient_beyond_float16_is_an_error():
    model = nn.Sequential(nn.Linear(2, 1)).half()
    bnp = BNP(model, rho=0.0)
    x = torch.zeros(2, 2, dtype=torch.float16)
    model(x).sum().backward()
    model[0].weight.grad.fill_(60.0)
    with pytest.raises(OverflowError, match=r"of 0 is 6e\+05 at most, beyond float16, 65504"):
        bnp.precondition()


def test_infinite_gradients_stay_infinite_for_a_gradient_scaler():
    model = dense()
    bnp = BNP(model)
    model(X).sum().backward()
    model[2].weight.grad[0, 0] = torch.inf
    bnp.precondition()
    assert not model[2].weight.grad.isfinite().all()


@pytest.mark.parametrize("wrong", [torch.nan, torch.inf, 1e30])
def test_inputs_that_are_not_finite_are_an_error_and_change_nothing(wrong):
    model = dense()
    bnp = BNP(model)
    x = X.clone()
    x[1, 2] = wrong
    model(x).sum().backward()
    before, gradients = bnp.state_dict(), [p.grad.clone() for p in model.parameters()]
    with pytest.raises(FloatingPointError, match="0 met a NaN or an infinity"):
        bnp.precondition()
    alike(bnp.state_dict().values(), before.values(), 0.0)
    for p, g in zip(model.parameters(), gradients, strict=True):
        assert torch.equal(p.grad.nan_to_num(), g.nan_to_num())
    bnp.forget()
    step(model, bnp, X)


def test_a_constant_input_needs_an_epsilon():
    model = dense()
    constant = X.clone()
    constant[:, 1] = 2.5
    with pytest.raises(ValueError, match=r"zero at index 1.*give an eps_2 > 0"):
        step(model, BNP(model, rho=0.0, eps_1=0.0, eps_2=0.0), constant)
    model = dense()
    assert all(g.isfinite().all() for g in step(model, BNP(model, rho=0.0), constant))
