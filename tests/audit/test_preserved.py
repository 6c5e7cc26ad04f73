"""A model that is audited is left as it was, whatever happens meanwhile."""

import random

import numpy as np
import pytest
import torch
from small_networks import CROSS_ENTROPY
from torch import nn

from theory.nn.noisy_batch_normalization import NoisyBatchNormalization
from verify.audit import AuditError, audit
from verify.audit.preserved import preserved


def network():
    torch.manual_seed(1)
    model = nn.Sequential(
        nn.Conv2d(3, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(inplace=True),
        nn.Dropout(0.5),
        NoisyBatchNormalization(4, 4),
        nn.Flatten(),
        nn.utils.spectral_norm(nn.Linear(144, 6)),
        nn.utils.parametrizations.spectral_norm(nn.Linear(6, 5)),
    )
    model[0].weight.requires_grad_(False)
    model[1].eval()
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    return model, torch.randn(6, 3, 8, 8), torch.randint(5, (6,))


def state(model):
    """Return all that an audit could change."""
    generators = [
        v.get_state() for m in model.modules() for v in vars(m).values()
        if isinstance(v, torch.Generator)
    ]  # fmt: skip
    hooks = [
        (len(m._forward_hooks), len(m._forward_pre_hooks), len(m._backward_hooks))
        for m in model.modules()
    ]
    tensors = [t.detach().clone() for t in (*model.parameters(), *model.buffers())]
    gradients = [p.grad.clone() for p in model.parameters()]
    # The generator that all of a process share is what must be left alone.
    numpy = np.random.get_state()  # noqa: NPY002  # the state of the generator that is watched
    return {
        "modes": [m.training for m in model.modules()],
        "learns": [p.requires_grad for p in model.parameters()],
        "identities": [id(t) for t in (*model.buffers(), *(p.grad for p in model.parameters()))],
        "tensors": tensors,
        "gradients": gradients,
        "random": [torch.get_rng_state(), *generators],
        "others": [random.getstate(), numpy[1].tolist(), numpy[2]],
        "hooks": hooks,
    }


def assert_same(before, after):
    for key, value in before.items():
        if key in ("tensors", "gradients", "random"):
            assert len(value) == len(after[key])
            assert all(torch.equal(a, b) for a, b in zip(value, after[key], strict=True)), key
        else:
            assert value == after[key], key


def test_it_is_left_as_it_was():
    model, inputs, targets = network()
    before = state(model)
    report = audit(model, inputs, targets, CROSS_ENTROPY)
    assert len(report.normalizations) == 2
    assert_same(before, state(model))


class InterruptionError(Exception):
    """Something that goes wrong in somebody's code."""


@pytest.mark.parametrize("call", range(3))
def test_it_is_left_as_it_was_when_a_pass_raises(call):
    model, inputs, targets = network()
    before, calls = state(model), []

    def loss(outputs, targets):
        random.random()
        np.random.rand()  # noqa: NPY002  # draws from the generator that is watched
        calls.append(outputs)
        if len(calls) > call:
            model.train()
            raise InterruptionError
        return CROSS_ENTROPY(outputs, targets)

    with pytest.raises(InterruptionError):
        audit(model, inputs, targets, loss)
    assert_same(before, state(model))


def test_it_is_left_as_it_was_when_a_backward_pass_raises():
    class Failing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            raise InterruptionError

    model, inputs, targets = network()
    before = state(model)
    with pytest.raises(InterruptionError):
        audit(model, inputs, targets, lambda z, t: CROSS_ENTROPY(Failing.apply(z), t))
    assert_same(before, state(model))


def test_buffers_that_are_replaced_come_back():
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(()))

        def forward(self, x):
            self.seen = self.seen + 1
            return x

    layer = Counting()
    own = layer.seen
    with preserved(layer) as rewind:
        layer(torch.ones(1))
        rewind()
        assert layer.seen == 0
        layer(torch.ones(1))
    assert layer.seen is own
    assert own == 0


def test_a_backward_pass_that_was_begun_before_goes_on():
    model, inputs, targets = network()
    model.train()
    loss = CROSS_ENTROPY(model(inputs), targets)
    versions = [buffer._version for buffer in model.buffers()]
    audit(model, inputs, targets, CROSS_ENTROPY, budget=0)
    assert [buffer._version for buffer in model.buffers()] == versions
    loss.backward()


def test_a_buffer_that_is_none_is_none_again():
    class Remembering(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 2)
            self.register_buffer("scale", None)
            self.register_buffer("shift", torch.zeros(1).expand(2))

        def forward(self, x):
            self.scale = x.detach().std() if self.scale is None else self.scale * 2
            self.register_buffer("seen", x.detach())
            return self.layer(x / self.scale) + self.shift

    model = Remembering()
    report = audit(model, torch.randn(8, 3), torch.arange(8) % 2, CROSS_ENTROPY)
    assert list(model._buffers) == ["scale", "shift"]
    assert model.scale is None
    assert report.unexpected == []


def test_a_loader_that_shuffles_leaves_the_random_state():
    data = torch.utils.data.TensorDataset(torch.randn(16, 3), torch.arange(16) % 2)
    loader, model = torch.utils.data.DataLoader(data, 8, shuffle=True), nn.Linear(3, 2)
    before = torch.get_rng_state()
    report = audit(model, batches=loader, loss=CROSS_ENTROPY, budget=0)
    assert report.batches == 2
    assert torch.equal(torch.get_rng_state(), before)


def test_a_model_that_writes_into_its_input_is_given_the_same_every_time():
    class Preparing(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 2)

        def forward(self, x):
            return self.layer(x.sub_(0.5).mul_(3))

    torch.manual_seed(0)
    model, x, labels = Preparing(), torch.rand(16, 3), torch.arange(16) % 2
    before = x.clone()
    report = audit(model, x, labels, CROSS_ENTROPY)
    assert torch.equal(x, before)
    expected = audit(model.layer, 3 * (x - 0.5), labels, CROSS_ENTROPY)
    assert (report.losses, report.maps[0].kappa) == (expected.losses, expected.maps[0].kappa)


def test_passes_see_the_same_random_numbers():
    model = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.5), nn.BatchNorm1d(8), nn.Linear(8, 2))
    report = audit(
        model.double(), torch.randn(16, 3).double(), torch.randint(2, (16,)), CROSS_ENTROPY
    )
    by_id = {row.statement: row for row in report.statements}
    # The first derivatives and the second are those of two passes: other masks, other numbers.
    assert by_id["S-thm-4.2a/eps/corrected"].violated == 0
    assert report.unexpected == []


def test_a_closure_may_do_as_an_optimisers_does():
    model, inputs, targets = network()
    before = state(model)

    def closure():
        model.zero_grad()
        return CROSS_ENTROPY(model(inputs), targets)

    audit(model, closure=closure)
    assert_same(before, state(model))


UNKNOWN = torch.tensor([[1.0, 2.0, torch.nan]]).repeat(4, 1)


def differentiated():
    loss = torch.ones((), requires_grad=True) ** 2
    loss.backward()
    return loss


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "give one of"),
        ({"inputs": torch.ones(4, 3)}, "give loss"),
        ({"inputs": torch.ones(4, 3), "loss": nn.MSELoss}, "give what it makes, MSELoss"),
        ({"batches": [], "loss": CROSS_ENTROPY}, "there is no batch"),
        ({"batches": [torch.ones(4, 3)], "loss": CROSS_ENTROPY}, "expected a pair"),
        ({"batches": [{"x": 1, "y": 2}], "loss": CROSS_ENTROPY}, "a dict of x, y; expected a pair"),
        ({"batches": [[1, 2, 3]], "loss": CROSS_ENTROPY}, "a list of 3; expected a pair"),
        ({"inputs": UNKNOWN, "targets": torch.ones(4, 4), "loss": CROSS_ENTROPY}, "inputs have"),
        ({"closure": lambda: torch.ones(2, requires_grad=True)}, "return one number"),
        ({"closure": lambda: torch.ones(())}, "depends on nothing that has a gradient"),
        ({"closure": lambda: torch.tensor(float("nan"), requires_grad=True)}, "before it diverges"),
        ({"closure": lambda: 1.0}, "return one number"),
        ({"closure": lambda: torch.ones((), requires_grad=True) * 1j}, "the loss is complex"),
        ({"closure": lambda: differentiated()}, "without backward"),
        ({"closure": lambda: None, "entries": -1}, "entries = -1; expected a whole number"),
        ({"closure": lambda: None, "most": "3"}, "most = '3'; expected a whole number"),
        ({"closure": lambda: None, "budget": None}, "budget = None; expected seconds"),
        ({"closure": lambda: None, "layers": ["none*"]}, "among those called none*"),
    ],
)
def test_what_cannot_be_audited_gets_a_sentence(arguments, said):
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    with pytest.raises(AuditError, match=said.replace("*", r"\*")):
        audit(model, **arguments)


def test_what_is_no_model_gets_a_sentence():
    with pytest.raises(AuditError, match=r"the model is 'a'; expected a torch.nn.Module"):
        audit("a", torch.ones(4, 3), None, CROSS_ENTROPY)


def test_an_input_that_is_overwritten_gets_a_sentence():
    class Overwriting(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.norm = nn.Linear(3, 4), nn.GroupNorm(1, 4)

        def forward(self, x):
            y = self.linear(x)
            self.norm(y.detach().requires_grad_())
            z = self.norm(y)
            y += 1
            return z.sum() + y.sum()

    # PyTorch itself refuses where the layer needs what was overwritten.
    with pytest.raises((AuditError, RuntimeError), match=r"overwritten in place|inplace operation"):
        audit(Overwriting(), torch.randn(5, 3), None, lambda z, _: z)


def test_a_model_without_parameters_that_learn_is_audited_by_its_activations():
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU()).double()
    model.requires_grad_(False)
    report = audit(model, torch.randn(16, 3).double(), None, lambda z, _: z.square().mean())
    assert report.unexpected == []
    assert report.normalizations[0].dead == 0
    assert report.maps == []
