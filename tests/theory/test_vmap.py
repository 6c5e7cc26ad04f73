"""The formulas behind the checks take many batches in one call of ``torch.vmap``."""

import inspect

import pytest
import torch

import theory
from theory import bnp, lp
from theory.batchnorm import hvp
from theory.running import hvp as running_hvp

COPIES, M, N, P = 4, 5, 3, 2
SHAPES = {
    **dict.fromkeys(("y", "g", "u"), (M, N)),
    **dict.fromkeys(("gamma", "beta", "running_mean", "running_variance"), (N,)),
    **dict.fromkeys(("mean", "deviation", "variance", "old", "new"), (N,)),
    "H": (M, N),
    "W": (P, N),
    "b": (P,),
    "grad_b": (P,),
    "grad_W": (P, N),
    "curvature": (M,),
    "eps": (),
}
OTHERS = {"p": 3, "hessian_of_loss": torch.sin}
MATRIX_FOR_EACH_UNIT = {theory.hessian: {"H": (M, M, N)}}
FORMULAS = [
    function
    for module in (theory, lp, bnp)
    for name in vars(module)
    if hasattr(function := getattr(module, name), "__wrapped__") and name != "scale_factor"
]


def named(function):
    return f"{function.__module__}.{function.__name__}"


@pytest.mark.parametrize("function", FORMULAS, ids=named)
def test_many_batches_are_one_call(function):
    shapes = SHAPES | MATRIX_FOR_EACH_UNIT.get(function, {})
    names = inspect.signature(function).parameters
    generator = torch.Generator().manual_seed(0)
    arrays = {
        name: 0.1 + torch.rand(COPIES, *shapes[name], generator=generator, dtype=torch.float64)
        for name in names
        if name in shapes
    }
    others = {name: value for name, value in OTHERS.items() if name in names}
    formula = inspect.unwrap(function)

    def of_one(*each):
        return formula(**dict(zip(arrays, each, strict=True)), **others)

    one_by_one = [of_one(*each) for each in zip(*arrays.values(), strict=True)]
    expected = torch.utils._pytree.tree_map(lambda *found: torch.stack(found), *one_by_one)
    torch.testing.assert_close(torch.vmap(of_one)(*arrays.values()), expected)


def test_every_checked_formula_is_among_them():
    assert {hvp, running_hvp} <= {inspect.unwrap(function) for function in FORMULAS}
    assert len(FORMULAS) >= 35
