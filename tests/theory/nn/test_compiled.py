"""The compiled formulas: traced whole, and equal to what they are made of."""

import runpy
from functools import partial
from types import SimpleNamespace

import pytest
import torch

from theory import batchnorm
from theory.nn import compiled
from theory.nn.compilers import can_compile

SHAPE, AXES, EPS = (8, 3, 5, 4), (0, 2, 3), 1e-3


def called(module, name):
    generator = torch.Generator().manual_seed(7)
    drawn = 3 + torch.randn(4, *SHAPE, generator=generator, dtype=torch.float64)
    y, g, u, h = drawn
    gamma = drawn[0, :1, :, :1, :1] / 2
    arguments = {
        "forward": (y, gamma, 0.5),
        "jvp": (y, u, gamma),
        "gradient": (y, g, gamma),
        "hvp": (y, g, lambda w: h * w, u, gamma),
        "curvature": (y, g, u, gamma),
    }
    return getattr(module, name)(*arguments[name], EPS, AXES)


@pytest.mark.parametrize("name", ["forward", "jvp", "gradient", "hvp", "curvature"])
def test_a_formula_is_one_graph(name, monkeypatch):
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager", fullgraph=True))
    traced = SimpleNamespace(**runpy.run_path(compiled.__file__))
    torch.testing.assert_close(
        called(traced, name), called(batchnorm, name), rtol=1e-12, atol=1e-12
    )


@pytest.mark.skipif(not can_compile("cpu"), reason="no C++ compiler: install one, such as g++")
def test_a_compiled_formula_is_the_formula():
    found, expected = called(compiled, "hvp"), called(batchnorm, "hvp")
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


def test_the_compiler_that_is_looked_for_is_the_one_that_is_run(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert not can_compile("cpu")
    assert can_compile("cuda:1")
    monkeypatch.setenv("CXX", "sh")  # as good as any that is found
    assert can_compile("cpu")
