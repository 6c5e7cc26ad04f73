"""Inside ``torch.vmap``: formulas take many batches in one call, checks name the formula."""

import importlib
import inspect

import pytest
import torch

import theory
from theory import batchnorm, bnp, convolution, lp
from theory.convolution import gramian, unfolded

COPIES, M, N, P = 4, 5, 3, 2
MAPS, OUT, K = (3, 2, 4, 5), 2, 3
SHAPES = {
    **dict.fromkeys("yguH", (M, N)),
    **dict.fromkeys(("gamma", "beta", "running_mean", "running_variance"), (N,)),
    **dict.fromkeys(("mean", "deviation", "variance", "old", "new"), (N,)),
    **dict.fromkeys(("W", "grad_W"), (P, N)),
    **dict.fromkeys(("b", "grad_b"), (P,)),
    "curvature": (M,),
    "eps": (),
    "h": MAPS,
    "weights": (OUT, MAPS[1], K, K),
    "bias": (OUT,),
    "v": (MAPS[0], OUT, *MAPS[2:]),
    "S": (MAPS[0], *MAPS[2:]),
    "vector": (K**2 * MAPS[1] + 1, OUT),
}
OTHERS = {"p": 3, "hessian_of_loss": torch.sin, "kernel": K}
CHECKED = [
    function
    for module in (theory, lp, bnp, convolution)
    for name in vars(module)
    if not name.startswith("_") and name != "scale_factor"
    if hasattr(function := getattr(module, name), "__wrapped__")
]


def named(function):
    return f"{function.__module__}.{function.__name__}"


def drawn(shapes):
    """Positive numbers of some shapes, as many of each as there are copies."""
    generator = torch.Generator().manual_seed(0)
    return [
        0.1 + torch.rand(COPIES, *shape, generator=generator, dtype=torch.float64)
        for shape in shapes
    ]


def of_arrays(function, formula):
    """A formula of arrays alone, and arrays for all that the function takes."""
    shapes = SHAPES | ({"H": (M, M, N)} if function is theory.hessian else {})
    names = inspect.signature(function).parameters
    given = [name for name in names if name in shapes]
    others = {name: value for name, value in OTHERS.items() if name in names}
    arrays = drawn(shapes[name] for name in given)
    return lambda *arrays: formula(**dict(zip(given, arrays, strict=True)), **others), arrays


def assert_one_call(formula, arrays):
    one_by_one = [formula(*each) for each in zip(*arrays, strict=True)]
    expected = torch.utils._pytree.tree_map(lambda *found: torch.stack(found), *one_by_one)
    torch.testing.assert_close(torch.vmap(formula)(*arrays), expected)


@pytest.mark.parametrize("function", CHECKED, ids=named)
def test_many_batches_are_one_call_of_the_formula_that_a_check_names(function):
    checked, arrays = of_arrays(function, function)
    advice = rf"torch\.vmap .* call {named(function)}, which checks nothing"
    with pytest.raises(RuntimeError, match=advice):
        torch.vmap(checked)(*arrays)
    formula = getattr(importlib.import_module(function.__module__), function.__name__)
    assert_one_call(*of_arrays(function, formula))


@pytest.mark.parametrize(
    "formula",
    [
        lambda h: unfolded.apply(h, torch.ones(OUT, MAPS[1], K, K, dtype=h.dtype), h[0, :, 0, 0],
                                 chunk=2),
        lambda h: unfolded.apply_transposed(h, h, K, chunk=2),
        lambda h: gramian.gram(h, K, dilation=2, chunk=2),
        lambda h: gramian.weighted_gram(h, torch.sin, K),
    ],
    ids=["apply in chunks", "apply_transposed in chunks", "gram in chunks", "an operator"],
)  # fmt: skip
def test_many_maps_are_one_call(formula):
    assert_one_call(formula, drawn([MAPS]))


@pytest.mark.parametrize("mapped", range(5))
def test_one_argument_alone_has_many_copies(mapped):
    arrays = drawn(SHAPES[name] for name in ("y", "g", "u", "gamma", "eps"))

    def formula(y, g, u, gamma, eps):
        return batchnorm.hvp(y, g, torch.sin, u, gamma, eps)

    given = [every if i == mapped else every[0] for i, every in enumerate(arrays)]
    axes = tuple(0 if i == mapped else None for i in range(5))
    alone = [formula(*given[:mapped], one, *given[mapped + 1 :]) for one in arrays[mapped]]
    torch.testing.assert_close(torch.vmap(formula, axes)(*given), torch.stack(alone))


def test_every_checked_formula_is_among_them():
    assert {theory.hvp, theory.running_hvp, lp.gradient, convolution.gram} <= set(CHECKED)
    assert len(CHECKED) == 47
