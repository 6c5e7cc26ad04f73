"""BNP in a training loop: batches, modes, optimisers, states, copies, precision and processes."""

import pickle
from copy import deepcopy
from datetime import timedelta
from functools import partial
from threading import Thread, get_ident

import pytest
import torch
from bnp_training import X, alike, dense, drawn, step
from torch import distributed, nn

from theory.nn.bnp import BNP
from theory.nn.preconditioned_gradients import Constants


def test_the_statistics_start_at_zero_and_one_and_move_with_each_batch():
    model = dense().double()
    assert BNP(dense()).constants == Constants() == (1e-2, 1e-4, 0.99)  # the papers'
    bnp = BNP(model, rho=0.7)
    state = bnp.state_dict()
    assert sorted(state) == ["0.mean", "0.variance", "2.mean", "2.variance"]
    assert state["0.mean"].tolist() == [0.0] * 4
    assert state["2.variance"].tolist() == [1.0] * 6
    x = X.double()
    for batch in (x, 5 - 2 * x):
        step(model, bnp, batch)
    mean, spread = x.mean(0), x.var(0, correction=0)
    alike([bnp.state_dict()["0.mean"]], [0.3 * (0.7 * mean + 5 - 2 * mean)], 1e-14)
    alike([bnp.state_dict()["0.variance"]], [0.49 + 0.3 * (0.7 + 4) * spread], 1e-14)


def test_of_one_example_the_variance_is_about_the_mean_before_it():
    model = dense()
    bnp = BNP(model, rho=0.5)
    step(model, bnp, X[:1])
    step(model, bnp, X[1])
    expected = 0.25 + 0.25 * X[0].square() + 0.5 * (X[1] - 0.5 * X[0]).square()
    torch.testing.assert_close(bnp.state_dict()["0.variance"], expected)


def test_evaluation_mode_keeps_the_statistics_and_uses_them():
    model = dense()
    bnp = BNP(model, rho=0.5)
    step(model, bnp, X)
    before = bnp.state_dict()
    found = step(model.eval(), bnp, 3 * X)
    alike(bnp.state_dict().values(), before.values(), 0.0)
    model.zero_grad()
    model(3 * X).square().sum().backward()
    assert not torch.allclose(found[0], model[0].weight.grad)


def test_forward_passes_without_gradients_are_not_collected_and_others_can_be_forgotten():
    model = dense()
    bnp = BNP(model)
    model(100 * X)
    bnp.forget()
    with torch.no_grad():
        model(100 * X)
    alike(step(model, bnp, X), step(other := dense(), BNP(other), X), 0.0)


def test_an_empty_batch_is_no_error_and_changes_nothing():
    model = dense()
    bnp = BNP(model)
    model(X[:0]).sum().backward()
    bnp.precondition()
    assert not any(p.grad.any() for p in model.parameters())
    model.zero_grad()
    alike(step(model, bnp, X), step(other := dense(), BNP(other), X), 0.0)


@pytest.mark.parametrize("count", [3, 100, 512, 2000])
def test_equal_entries_have_no_variance_to_divide_by(count):
    """Whose computed one is above zero, since their mean is rounded."""
    for layer in (nn.Linear(3, 2), nn.Conv2d(3, 2, 1)):
        x = torch.tensor([0.1, 0.7, 1.3]).expand(count, 3).reshape(count, 3, *[1] * 2)
        x = x.flatten(1) if isinstance(layer, nn.Linear) else x.contiguous()
        bnp = BNP(nn.Sequential(layer), rho=0.0, eps_1=0.0, eps_2=0.0)
        layer(x).square().sum().backward()
        with pytest.raises(ValueError, match="is zero at index"):
            bnp.precondition()


def test_preconditioning_twice_is_an_error():
    model = dense()
    bnp = BNP(model)
    step(model, bnp, X)
    with pytest.raises(RuntimeError, match=r"0 has a gradient but met no batch.*Leave a layer"):
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
    optimizers[1].step(lambda: 1.0)


@pytest.mark.parametrize("copied", [deepcopy, lambda both: pickle.loads(pickle.dumps(both))])
@pytest.mark.parametrize("compiled", [False, True])
def test_copies_are_tied_to_each_other(copied, compiled, monkeypatch):
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
    model = dense()
    bnp = BNP(model, compiled=compiled)
    step(model, bnp, X)
    other, other_bnp = copied((model, bnp))
    alike(step(other, other_bnp, -X), step(model, bnp, -X), 0.0)
    alike(other_bnp.state_dict().values(), bnp.state_dict().values(), 0.0)
    other_bnp.remove()
    assert (len(other[0]._forward_hooks), len(model[0]._forward_hooks)) == (0, 1)


def test_the_state_is_taken_up_again():
    model, other = dense(), dense()
    bnp, resumed = BNP(model), BNP(other)
    step(model, bnp, X)
    state = pickle.loads(pickle.dumps(bnp.state_dict()))
    other(100 * X)
    resumed.load_state_dict(state)
    alike(step(other, resumed, -X), step(model, bnp, -X), 0.0)
    assert not torch.equal(state["0.mean"], bnp.state_dict()["0.mean"])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"4.mean": torch.zeros(3)}, r"other layers, which differ in 4\.mean"),
        ({"2.mean": torch.zeros(3)}, r"2\.mean has shape \(3,\); expected \(6,\)"),
        ({"2.variance": torch.full((6,), -1.0)}, r"2\.variance is not finite and >= 0 in every"),
        ({"2.variance": torch.full((6,), torch.inf)}, r"2\.variance is not finite and >= 0"),
        ({"0.mean": torch.full((4,), torch.nan)}, r"0\.mean is not finite in every entry"),
        ({"0.mean": [0.0] * 4}, r"0\.mean = \[0\.0, .*; expected a tensor of real"),
        ({"0.mean": torch.zeros(4) * 1j}, r"(?s)0\.mean = tensor.*; expected a tensor of real"),
    ],
)
def test_a_state_of_no_such_training_is_an_error_and_is_not_taken_up(wrong, message):
    bnp = BNP(dense())
    state = bnp.state_dict()
    others = {name: values + 2 for name, values in state.items()}
    with pytest.raises(TypeError if "tensor" in message else ValueError, match=message):
        bnp.load_state_dict(others | wrong)
    alike(bnp.state_dict().values(), state.values(), 0.0)
    with pytest.raises(TypeError, match=r"state is a NoneType; expected that of state_dict\(\)"):
        bnp.load_state_dict(None)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("eps_1", -1.0, "eps_1 = -1.0; expected a number >= 0"),
        ("eps_2", torch.nan, "eps_2 = nan"),
        ("rho", 1.5, r"rho = 1.5; expected a number in \[0, 1\]"),
    ],
)
def test_constants_out_of_range(name, value, message):
    with pytest.raises(ValueError, match=message):
        BNP(dense(), **{name: value})


def test_bfloat16_weights_have_statistics_in_float32():
    half, x = dense().bfloat16(), X.bfloat16()
    whole = deepcopy(half).float()
    bnp = BNP(half)
    found = step(half, bnp, x)
    assert {g.dtype for g in found} == {torch.bfloat16}
    expected = 0.99 + 0.01 * x.float().var(0, correction=0)
    torch.testing.assert_close(bnp.state_dict()["0.variance"], expected)
    for one, other in zip(found, step(whole, BNP(whole), x.float()), strict=True):
        assert (one.float() - other).abs().max() < 0.1 * other.abs().max()  # it has 8 bits


@pytest.mark.parametrize("compiled", [False, True])
def test_under_autocast_the_change_is_made_in_float32(compiled, monkeypatch):
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
    gradients = []
    for inside in (True, False):
        model = dense()
        bnp = BNP(model, compiled=compiled)
        with torch.autocast("cpu", torch.bfloat16):
            model(X).float().square().sum().backward()
            with torch.autocast("cpu", enabled=inside):
                bnp.precondition()
        gradients.append([p.grad for p in model.parameters()])
        assert bnp.state_dict()["2.mean"].dtype is torch.float32
    alike(*gradients, 0.0)


def test_a_gradient_beyond_float16_is_an_error():
    model = nn.Sequential(nn.Linear(2, 1)).half()
    bnp = BNP(model, rho=0.0)
    model(torch.zeros(2, 2, dtype=torch.float16)).sum().backward()
    model[0].weight.grad.fill_(60.0)
    with pytest.raises(OverflowError, match=r"of 0 is 6e\+05 at most, beyond float16, 65504"):
        bnp.precondition()


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
    alike([p.grad.nan_to_num() for p in model.parameters()], map(torch.nan_to_num, gradients), 0.0)
    bnp.forget()
    step(model, bnp, X)


def test_a_constant_input_needs_an_epsilon():
    constant, none = X.clone(), {"eps_1": 0.0, "eps_2": 0.0}
    constant[:, 1] = 2.5
    with pytest.raises(ValueError, match=r"zero at index 1.*give an eps_2 > 0"):
        step(model := dense(), BNP(model, rho=0.0, **none), constant)
    for x, options in ((constant, {}), (X, none)):
        found = step(model := dense(), BNP(model, rho=0.0, **options), x)
        assert all(g.isfinite().all() for g in found)


class OfTwoFormats(nn.Module):
    """A layer in float64, and one in float32 that meets nothing but zeros."""

    def __init__(self):
        super().__init__()
        self.wide, self.narrow = nn.Linear(4, 2).double(), nn.Linear(2, 2)

    def forward(self, x):
        return self.narrow(0 * self.wide(x.double()).float())


def test_an_epsilon_that_one_of_the_formats_has_no_number_for_is_refused():
    model = OfTwoFormats()
    with pytest.raises(ValueError, match="give an eps_2 > 0"):
        step(model, BNP(model, rho=0.0, eps_1=0.0, eps_2=1e-100), X)


def test_a_compiled_model_is_compiled_once_for_any_number_of_micro_batches():
    model, other = dense(), dense()
    bnp, other_bnp = BNP(model), BNP(other)
    parts = drawn(24, 4).split(2)
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    with torch._dynamo.config.patch(error_on_recompile=True):
        found = [step(compiled, bnp, *parts[:count]) for count in (1, 2, 12)]
    for gradients, count in zip(found, (1, 2, 12), strict=True):
        alike(gradients, step(other, other_bnp, *parts[:count]))


def test_processes_take_their_batches_as_one(monkeypatch):
    """Threads, each with a process group of its own: three examples here and two there."""
    store, groups = distributed.HashStore(), {}
    x = X.double()
    parts = x[:3], 2 - x[3:]
    models = [dense().double() for _ in parts]
    bnps = [BNP(model, rho=0.5) for model in models]

    def all_reduce(tensor):
        groups[get_ident()].allreduce([tensor]).wait()

    def part_of_a_step(rank):
        groups[get_ident()] = distributed.ProcessGroupGloo(store, rank, 2, timedelta(seconds=20))
        models[rank](parts[rank]).square().sum().backward()
        for parameter in models[rank].parameters():
            all_reduce(parameter.grad)
        bnps[rank].precondition()

    with monkeypatch.context() as patch:
        patch.setattr(distributed, "is_initialized", lambda: True)
        patch.setattr(distributed, "all_reduce", all_reduce)
        threads = [Thread(target=part_of_a_step, args=(rank,)) for rank in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    one = dense().double()
    bnp = BNP(one, rho=0.5)
    expected = step(one, bnp, torch.cat(parts))
    for model, its_bnp in zip(models, bnps, strict=True):
        torch.testing.assert_close([p.grad for p in model.parameters()], expected)
        torch.testing.assert_close(its_bnp.state_dict(), bnp.state_dict())
