"""The compiled formulas: traced whole, and equal to what they are made of."""

import pytest
import torch

from theory import batchnorm
from theory.nn import compiled
from theory.nn.compilers import can_compile

AXES = (0, 2, 3)
EPS = 1e-3


def drawn(count, *shape):
    generator = torch.Generator().manual_seed(7)
    return (3 + torch.randn(count, *shape, generator=generator, dtype=torch.float64)).unbind()


def calls(module, shape=(8, 3, 5, 4), axis=AXES):
    y, g, u, h = drawn(4, *shape)
    gamma = drawn(1, *(1 if i in axis else n for i, n in enumerate(shape)))[0]
    return {
        "forward": lambda: module.forward(y, gamma, 0.5, EPS, axis),
        "jvp": lambda: module.jvp(y, u, gamma, EPS, axis),
        "gradient": lambda: module.gradient(y, g, gamma, EPS, axis),
        "hvp": lambda: module.hvp(y, g, lambda w: h * w, u, gamma, EPS, axis),
        "curvature": lambda: module.curvature(y, g, u, gamma, EPS, axis),
    }


class Traced:
    """The formulas, traced as a compiler does, which must follow them to the end."""

    def __getattr__(self, name):
        return torch.compile(getattr(batchnorm, name), backend="eager", fullgraph=True)


@pytest.mark.parametrize("name", calls(batchnorm))
def test_a_formula_is_one_graph(name):
    torch.testing.assert_close(
        calls(Traced())[name](), calls(batchnorm)[name](), rtol=1e-12, atol=1e-12
    )


@pytest.mark.skipif(not can_compile("cpu"), reason="no C++ compiler: install one, such as g++")
@pytest.mark.parametrize("name", ["gradient", "hvp"])
def test_a_compiled_formula_is_the_formula(name):
    torch.testing.assert_close(
        calls(compiled)[name](), calls(batchnorm)[name](), rtol=1e-12, atol=1e-12
    )


def test_the_compiler_that_is_looked_for_is_the_one_that_is_run(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert not can_compile("cpu")
    assert can_compile("cuda:1")
    monkeypatch.setenv("CXX", "sh")  # as good as any that is found
    assert can_compile("cpu")
