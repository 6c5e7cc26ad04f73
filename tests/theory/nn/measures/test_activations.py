import pytest
import torch
from torch import nn

from theory.nn.measures.activations import activations, by_unit
from theory.nn.noisy_batch_normalization import ActivationNoise


def test_they_are_what_the_parts_put_out_in_the_models_own_mode():
    x = torch.randn(5, 3, generator=torch.Generator().manual_seed(1))
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(inplace=True))
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    found = activations(model, x, {"y": model[0], "z": model[1]})
    y = model[0](x)
    expected = (y - y.mean(0)) / (y.var(0, correction=0) + model[1].eps).sqrt()
    torch.testing.assert_close(found["y"], y.detach())
    torch.testing.assert_close(found["z"], expected.detach())  # the ReLU in place came after
    assert all(torch.equal(state[name], tensor) for name, tensor in model.state_dict().items())
    model.eval()
    torch.testing.assert_close(
        activations(model, x, {"z": model[1]})["z"], (y / (1 + model[1].eps) ** 0.5).detach()
    )


def test_noise_is_that_of_the_next_step_and_still_to_come():
    noise = ActivationNoise(3, generator=torch.Generator().manual_seed(1))
    model = nn.Sequential(noise, nn.Dropout(0.5))
    x = torch.ones(5, 3)
    before = torch.get_rng_state()
    found = activations(model, x, {"noise": noise, "dropout": model[1]})
    assert torch.equal(torch.get_rng_state(), before)
    after = noise(x)
    torch.testing.assert_close(found["noise"], after)
    torch.testing.assert_close(found["dropout"], model[1](after))


def test_units_are_the_second_axis():
    maps = torch.arange(24.0).reshape(2, 3, 2, 2)
    assert torch.equal(by_unit(maps)[:, 1], maps[:, 1].flatten())
    assert torch.equal(by_unit(maps[:, :, 0, 0]), maps[:, :, 0, 0])


def test_what_is_refused():
    model = nn.Sequential(nn.Linear(2, 2))
    with pytest.raises(ValueError, match="other: not part of the model"):
        activations(model, torch.ones(1, 2), {"other": nn.Linear(2, 2)})

    class Partly(nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, x):
            return self.used(x)

    partly = Partly()
    with pytest.raises(ValueError, match="unused: not called"):
        activations(partly, torch.ones(1, 2), {"unused": partly.unused})
