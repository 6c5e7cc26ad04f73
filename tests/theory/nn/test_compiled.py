"""What is compiled: formulas, steps and layers, in one process, which loads the compiler once."""

import runpy
from copy import deepcopy
from functools import partial
from types import SimpleNamespace

import pytest
import torch
from test_bnp_step import TOLERANCE, error, subject
from torch import nn

from theory import batchnorm
from theory.arithmetic.sums import SHORT, total
from theory.nn import compiled
from theory.nn.batch_group_normalization import BatchGroupNormalization
from theory.nn.batch_renormalization import BatchRenormalization
from theory.nn.compilers import can_compile
from theory.nn.lp_normalization import LpNormalization
from theory.nn.noisy_batch_normalization import NoisyBatchNormalization
from theory.nn.post_activation import PostActivation
from verify.conform.process import Order
from verify.conform.report import not_offered
from verify.conform.run import Wanted, run

SHAPE, AXES, EPS = (8, 3, 5, 4), (0, 2, 3), 1e-3
LAYER = """
import torch


def layer(x, gamma, beta, eps):
    centred = x - x.mean(0)
    return gamma * centred / torch.sqrt((centred**2).mean(0) + eps) + beta
"""
needs_a_compiler = pytest.mark.skipif(
    not can_compile("cpu"), reason="no C++ compiler: install one, such as g++"
)


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


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("kind", [BatchRenormalization, BatchGroupNormalization])
def test_a_layer_is_one_graph(kind, training):
    y, layer = torch.randn(SHAPE, generator=torch.Generator().manual_seed(0)), kind(SHAPE[1])
    traced = torch.compile(deepcopy(layer.train(training)), backend="eager", fullgraph=True)
    torch.testing.assert_close(traced(y), layer(y))


TRAINED = {
    "renormalization": lambda: BatchRenormalization(3),
    "ghosts": lambda: BatchGroupNormalization(3, examples=4),
    "groups": lambda: BatchGroupNormalization(3, channels=3),
    "l3": lambda: LpNormalization(3, 3),
    "behind": lambda: PostActivation(nn.Linear(3, 3)),
    "noisy": lambda: NoisyBatchNormalization(3, 2),
}


@pytest.mark.filterwarnings("ignore:Dynamo detected", "ignore:The .grad attribute of a Tensor")
@pytest.mark.parametrize("name", TRAINED)
def test_a_compiled_layer_has_its_gradients_in_training(name):
    """To 2^-42: some thousand roundings, of numbers of up to about 10."""
    backend = "inductor" if can_compile("cpu") else "aot_eager"  # which is the former's first part
    torch.manual_seed(0)
    layer, y = TRAINED[name]().double(), 5 + 3 * torch.randn(8, 3, dtype=torch.float64)
    compiled = torch.compile(deepcopy(layer), backend=backend)
    for found, expected in zip(after_steps(compiled, y), after_steps(layer, y), strict=True):
        torch.testing.assert_close(found, expected, rtol=2.0**-42, atol=2.0**-42)


def after_steps(layer, y):
    """Gradients of two steps, in the batch and the parameters, and the state that is left."""
    y = y.clone().requires_grad_()
    for _ in range(2):
        (layer(y) * y.detach().sin()).sum().backward()
    return [y.grad, *[p.grad for p in layer.parameters()], *layer.buffers()]


@needs_a_compiler
def test_a_compiled_formula_is_the_formula():
    found, expected = called(compiled, "hvp"), called(batchnorm, "hvp")
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


@needs_a_compiler
@pytest.mark.parametrize(("shape", "axis"), [((1_000_000, 2), 0), ((1000, 100, 3), (0, 1))])
def test_a_compiled_sum_of_many_rows_is_one_of_short_chains(shape, axis):
    """Of equal terms a chain rounds the same way again and again; of at most SHORT**4 there are
    four, in each of which a sum is rounded so often."""
    compiled_total = torch.compile(total)
    for rows in (shape[0], shape[0] - 1):  # another length makes it a symbol
        a = torch.full((rows, *shape[1:]), 0.1)
        exact = a.double().sum(axis, keepdim=True)
        assert (compiled_total(a, axis) / exact - 1).abs().max() <= 4 * SHORT * 2.0**-24


@needs_a_compiler
def test_a_compiled_step_takes_batches_of_any_size():
    model, x = subject("one layer")
    for batch in (x, x[:-1]):
        model.zero_grad()
        assert error(model, batch, compiled=True) < TOLERANCE


@needs_a_compiler
@pytest.mark.usefixtures("in_this_process")
def test_a_compiled_layer_is_examined_with_its_gradients(tmp_path):
    (tmp_path / "layers.py").write_text(LAYER)
    order = Order(f"{tmp_path / 'layers.py'}:layer", is_compiled=True)
    modes = ("forward", "gradient")
    report = run(order, Wanted(dtypes=("float64",), modes=modes, strata=("plain",), axes=("NC",)))
    assert report.verdict == "conforms"
    assert not list(not_offered(report))


def test_the_compiler_that_is_looked_for_is_the_one_that_is_run(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert not can_compile("cpu")
    assert can_compile("cuda:1")
    monkeypatch.setenv("CXX", "sh")  # as good as any that is found
    assert can_compile("cpu")
