"""BNP in a training loop: batches, modes, optimisers, states and copies."""

import pickle
from copy import deepcopy

import pytest
import torch
from bnp_training import X, alike, dense, step

from theory.nn.bnp import BNP


def test_the_statistics_start_at_zero_and_one_and_are_those_of_the_inputs():
    model = dense()
    bnp = BNP(model)
    state = bnp.state_dict()
    assert sorted(state) == ["0.mean", "0.variance", "2.mean", "2.variance"]
    assert state["0.mean"].tolist() == [0.0] * 4
    assert state["2.variance"].tolist() == [1.0] * 6
    step(model, bnp, X)
    torch.testing.assert_close(bnp.state_dict()["0.mean"], 0.01 * X.mean(0))
    torch.testing.assert_close(bnp.state_dict()["0.variance"], 0.99 + 0.01 * X.var(0, correction=0))
    hidden = model[:2](X).detach()
    torch.testing.assert_close(bnp.state_dict()["2.mean"], 0.01 * hidden.mean(0))


def test_accumulated_gradients_are_those_of_one_batch():
    one, parts = dense(), dense()
    alike(step(parts, BNP(parts), X[:2], X[2:3], X[3:]), step(one, BNP(one), X))


def test_one_example_at_a_time():
    model = dense()
    bnp = BNP(model, rho=0.5)
    step(model, bnp, X[:1])
    torch.testing.assert_close(bnp.state_dict()["0.variance"], 0.5 + 0.5 * X[0].square())
    step(model, bnp, X[1:2])
    around = (X[1] - 0.5 * X[0]).square()
    expected = 0.25 + 0.25 * X[0].square() + 0.5 * around
    torch.testing.assert_close(bnp.state_dict()["0.variance"], expected)
    assert all(g.isfinite().all() for g in step(model, bnp, X[2]))


def test_evaluation_mode_keeps_the_statistics_and_uses_them():
    model = dense()
    bnp = BNP(model, rho=0.5)
    step(model, bnp, X)
    before = bnp.state_dict()
    model.eval()
    with torch.no_grad():
        model(X)
    found = step(model, bnp, 3 * X)
    alike(bnp.state_dict().values(), before.values(), 0.0)
    model.zero_grad()
    model(3 * X).square().sum().backward()
    assert not torch.allclose(found[0], model[0].weight.grad)


def test_forward_passes_without_gradients_are_not_collected():
    model = dense()
    bnp = BNP(model)
    with torch.no_grad():
        model(100 * X)
    model(100 * X)
    bnp.forget()
    alike(step(model, bnp, X), step(other := dense(), BNP(other), X), 0.0)


def test_preconditioning_twice_is_an_error():
    model = dense()
    bnp = BNP(model)
    step(model, bnp, X)
    with pytest.raises(RuntimeError, match="0 has a gradient but met no batch since the last step"):
        bnp.precondition()


def test_attached_to_an_optimiser_the_loop_stays_as_it_is():
    by_hand, attached = dense(), dense()
    bnp = BNP(by_hand)
    optimizers = [torch.optim.Adam(m.parameters(), 0.1) for m in (by_hand, attached)]
    handle = BNP(attached).attach(optimizers[1])
    for x in (X, -X):
        step(by_hand, bnp, x)
        optimizers[0].step()
        attached.zero_grad()
        attached(x).square().sum().backward()
        optimizers[1].step()
    alike(attached.parameters(), by_hand.parameters(), 0.0)
    with pytest.raises(RuntimeError, match="at the end of the closure"):
        optimizers[1].step(lambda: 1.0)
    handle.remove()


def test_hooks_can_be_removed():
    model = dense()
    bnp = BNP(model)
    assert len(model[0]._forward_hooks) == 1
    bnp.remove()
    assert len(model[0]._forward_hooks) == 0
    bnp.remove()


@pytest.mark.parametrize(
    "copied", [deepcopy, lambda both: pickle.loads(pickle.dumps(both))], ids=["deepcopy", "pickle"]
)
def test_copies_are_tied_to_each_other(copied):
    model = dense()
    bnp = BNP(model)
    step(model, bnp, X)
    other, other_bnp = copied((model, bnp))
    alike(step(other, other_bnp, -X), step(model, bnp, -X), 0.0)
    alike(other_bnp.state_dict().values(), bnp.state_dict().values(), 0.0)
    assert other_bnp.preconditioners["0"].layers[0] is other[0]
    other_bnp.remove()
    assert len(other[0]._forward_hooks) == 0
    assert len(model[0]._forward_hooks) == 1


def test_the_state_is_taken_up_again():
    model, other = dense(), dense()
    bnp, resumed = BNP(model), BNP(other)
    step(model, bnp, X)
    state = pickle.loads(pickle.dumps(bnp.state_dict()))
    other(100 * X)
    resumed.load_state_dict(state)
    alike(step(other, resumed, -X), step(model, bnp, -X), 0.0)
    assert not torch.equal(state["0.mean"], bnp.state_dict()["0.mean"])


def test_the_state_of_another_model_is_an_error():
    bnp = BNP(dense())
    state = bnp.state_dict()
    with pytest.raises(ValueError, match=r"other layers, which differ in 2\.mean"):
        bnp.load_state_dict({k: v for k, v in state.items() if k != "2.mean"})
    with pytest.raises(ValueError, match=r"2\.mean has shape \(3,\); expected \(6,\)"):
        bnp.load_state_dict(state | {"2.mean": torch.zeros(3)})


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("2.variance", -1.0, r"2\.variance is not finite and >= 0 in every entry"),
        ("2.variance", float("inf"), r"2\.variance is not finite and >= 0"),
        ("0.mean", float("nan"), r"0\.mean is not finite in every entry"),
    ],
)
def test_a_state_that_no_training_has_is_an_error_and_is_not_taken_up(key, value, message):
    bnp = BNP(dense())
    state = bnp.state_dict()
    wrong = {
        name: torch.full_like(old, value if name == key else 2.0) for name, old in state.items()
    }
    with pytest.raises(ValueError, match=message):
        bnp.load_state_dict(wrong)
    alike(bnp.state_dict().values(), state.values(), 0.0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"eps_1": -1.0}, "eps_1 = -1.0; expected a number >= 0"),
        ({"eps_2": float("nan")}, "eps_2 = nan"),
        ({"rho": 1.5}, r"rho = 1.5; expected a number in \[0, 1\]"),
    ],
)
def test_constants_out_of_range(wrong, message):
    with pytest.raises(ValueError, match=message):
        BNP(dense(), **wrong)
