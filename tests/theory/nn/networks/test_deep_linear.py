import math

import pytest
import torch

from theory.nn.networks.deep_linear import deep_linear


def test_without_normalisation_it_is_the_product_of_its_weights():
    network = deep_linear(generator=torch.Generator().manual_seed(0)).double()
    x = torch.randn(7, 10, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    product = torch.eye(10, dtype=torch.float64)
    for layer in network:
        product = layer.linear.weight @ product
    torch.testing.assert_close(network(x), x @ product.T)
    assert len(network) == 25
    assert sum(p.numel() for p in network.parameters()) == 25 * 100


def test_every_layer_but_the_last_is_normalised():
    network = deep_linear(4, 3, normalization="batch", generator=torch.Generator().manual_seed(0))
    x = torch.randn(50, 3, generator=torch.Generator().manual_seed(1))
    for layer in list(network)[:-1]:
        x = layer(x)
        torch.testing.assert_close(x.mean(0), torch.zeros(3), atol=1e-5, rtol=0)
        torch.testing.assert_close(x.var(0, correction=0), torch.ones(3), atol=1e-3, rtol=0)
    assert [name for name, _ in network[-1].named_children()] == ["linear"]


def test_initialisation_is_glorots():
    network = deep_linear(100, 10, generator=torch.Generator().manual_seed(0))
    weights = torch.stack([layer.linear.weight for layer in network]).detach().double()
    bound = math.sqrt(6 / 20)
    assert 0.999 * bound < weights.abs().max() <= bound
    # Uniform: kurtosis 9/5.  The variance of 10,000 entries is within five standard errors.
    error = 5 * math.sqrt((9 / 5 - 1) / weights.numel())
    assert float(weights.square().mean()) == pytest.approx(1 / 10, rel=error)


def test_weights_come_from_the_generator_and_from_nowhere_else():
    before = torch.get_rng_state()
    once, again, other = (
        deep_linear(3, 4, normalization="batch", generator=torch.Generator().manual_seed(seed))
        for seed in (5, 5, 6)
    )
    assert torch.equal(once.layer2.linear.weight, again.layer2.linear.weight)
    assert not torch.equal(once.layer2.linear.weight, other.layer2.linear.weight)
    same = deep_linear(3, 4, normalization="l1", generator=torch.Generator().manual_seed(5))
    assert torch.equal(once.layer3.linear.weight, same.layer3.linear.weight)
    assert torch.equal(torch.get_rng_state(), before)


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"depth = 0 and width = 10"):
        deep_linear(0)
    with pytest.raises(ValueError, match="frobnicate"):
        deep_linear(2, normalization="frobnicate")
