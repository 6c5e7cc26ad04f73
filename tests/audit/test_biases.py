"""Which biases are said to do nothing: those whose change changes no loss."""

import pytest
import torch
from small_networks import CROSS_ENTROPY
from torch import nn

from verify.audit import audit


class Between(nn.Module):
    """Subtracts the batch's mean in a function, behind another."""

    def forward(self, x):
        return nn.functional.batch_norm(2 * x, None, None, training=True)


def head(*, is_zero):
    layer = nn.Linear(8, 4)
    if is_zero:
        nn.init.zeros_(layer.weight)
        nn.init.zeros_(layer.bias)
    return layer


NETWORKS = {
    "straight into one": (lambda: [nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Tanh(), head], ["0"]),
    "through a function": (lambda: [nn.Linear(6, 8), Between(), nn.Tanh(), head], ["0"]),
    "into layer normalisation": (lambda: [nn.Linear(6, 8), nn.LayerNorm(8), head], []),
    "into none": (lambda: [nn.Linear(6, 8), nn.ReLU(), head], []),
}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("is_zero", [False, True], ids=["", "an output layer that is zero"])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_bias_is_useless_where_the_loss_does_not_change_with_it(name, is_zero, dtype):
    make, expected = NETWORKS[name]
    torch.manual_seed(0)
    layers = [layer if isinstance(layer, nn.Module) else layer(is_zero=is_zero) for layer in make()]
    model = nn.Sequential(*layers).to(dtype)
    x, labels = torch.randn(64, 6).to(dtype), torch.arange(64) % 4
    report = audit(model, x, labels, CROSS_ENTROPY, budget=0)
    found = [row.layer for row in report.maps if row.useless_bias]
    if is_zero:  # then no gradient comes as far as the layers before
        expected = []
    assert found == expected


def test_under_autocast_an_output_layer_keeps_its_bias():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 10))
    x, labels = torch.randn(64, 6), torch.randint(10, (64,))

    def closure():
        with torch.autocast("cpu", torch.bfloat16):
            return CROSS_ENTROPY(model(x), labels)

    report = audit(model, closure=closure)
    assert [row.useless_bias for row in report.maps] == [True, False]
    assert "a bias does nothing" not in report.maps[1].hessian_said


def test_a_bias_that_is_useless_by_chance_is_not_called_so():
    """The gradient is zero at this bias alone."""
    torch.manual_seed(0)
    layer = nn.Linear(3, 1)
    x = torch.randn(32, 3)
    with torch.no_grad():
        layer.bias -= layer(x).mean()
    report = audit(layer, x, None, lambda z, _: z.square().sum(), budget=0)
    assert not report.maps[0].useless_bias


class UsedAgain(nn.Module):
    """A bias that a Batch Normalization takes away, and that is added once more behind it."""

    def __init__(self, is_used):
        super().__init__()
        self.a, self.n, self.o = nn.Linear(5, 5), nn.BatchNorm1d(5), nn.Linear(5, 3)
        self.is_used = is_used

    def forward(self, x):
        hidden = torch.tanh(self.n(self.a(x)))
        return self.o(hidden + self.a.bias if self.is_used else hidden)


@pytest.mark.parametrize("is_used", [False, True])
def test_a_bias_that_is_used_elsewhere_is_not_useless(is_used):
    x, labels = torch.randn(8, 5, generator=torch.Generator().manual_seed(0)), torch.arange(8) % 3
    report = audit(UsedAgain(is_used), x, labels, loss=nn.functional.cross_entropy)
    assert report.maps[0].useless_bias is not is_used
