"""Every public function, on arrays of every kind and inside ``torch.vmap``."""

import importlib
import inspect
from math import prod

import array_api_strict
import numpy as np
import pytest
import torch
from array_api_compat import array_namespace, device
from test_batchnorm import make_case
from test_operations import channels_last, to_numpy

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
    "h": MAPS,
    "weights": (OUT, MAPS[1], K, K),
    "bias": (OUT,),
    "v": (MAPS[0], OUT, *MAPS[2:]),
    "S": (MAPS[0], *MAPS[2:]),
    "vector": (K**2 * MAPS[1] + 1, OUT),
}
OF_MAPS = {
    **dict.fromkeys("ygu", (4, N, 2, 3)),
    **dict.fromkeys(("gamma", "beta", "running_mean", "running_variance", "eps"), (1, N, 1, 1)),
}
"""For functions of a batch, with the batch axes (0, 2, 3)."""
OTHERS = {"p": 3, "hessian_of_loss": lambda w: w**3, "kernel": K}
CHECKED = [
    function
    for module in (theory, lp, bnp, convolution)
    for name in vars(module)
    if not name.startswith("_") and name != "scale_factor"
    if hasattr(function := getattr(module, name), "__wrapped__")
]
OF_BATCHES = [f for f in CHECKED if "axis" in inspect.signature(f).parameters]


def named(function):
    return f"{function.__module__}.{function.__name__}"


def drawn(shapes):
    """Positive numbers of some shapes, as many of each as there are copies."""
    generator = torch.Generator().manual_seed(0)
    return [
        0.1 + torch.rand(COPIES, *shape, generator=generator, dtype=torch.float64)
        for shape in shapes
    ]


def arguments(function, shapes=SHAPES, **others):
    """Arrays for all that a function takes, as many of each as there are copies; and the others."""
    if function is theory.hessian:
        m = prod(shapes["y"]) // N
        shapes = shapes | {"H": (m, m, N)}
    names = inspect.signature(function).parameters
    given = [name for name in names if name in shapes]
    arrays = dict(zip(given, drawn(shapes[name] for name in given), strict=True))
    if function is theory.hessian:
        arrays["H"] = arrays["H"] + arrays["H"].transpose(1, 2)
    return arrays, {name: value for name, value in (OTHERS | others).items() if name in names}


STRICT = array_api_strict.__array_namespace_info__()
HOST, *_ = STRICT.devices()


def strict(where):
    dtype = STRICT.default_dtypes(device=where)["real floating"]
    return lambda a: array_api_strict.asarray(a, dtype=dtype, device=where)


KINDS = {
    "NumPy, channels last": channels_last,
    "NumPy, every other row": lambda a: np.repeat(a, 2, 0)[::2],
    "NumPy, a slice of wider rows": lambda a: np.pad(a, 2)[(slice(2, -2),) * a.ndim],
    "NumPy, single": lambda a: a.astype(np.float32),
    "PyTorch, Fortran": lambda a: torch.asarray(np.asfortranarray(a)),
    "PyTorch, every other row": lambda a: torch.asarray(np.repeat(a, 2, 0))[::2],
    "PyTorch, single": lambda a: torch.asarray(a).float(),
    **{f"strict, {where}": strict(where) for where in STRICT.devices()},
}


def parts(value):
    return value if isinstance(value, tuple) else (value,)


def on_host(a):
    return np.asarray(a.to_device(HOST)) if array_namespace(a) is array_api_strict else to_numpy(a)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("of_maps", [False, True], ids=["rows", "maps"])
def test_arrays_of_every_kind_are_kept_and_have_the_values_of_numpys(of_maps, kind):
    """Which the formulas' own tests know; another epsilon stands in each unit of a batch."""
    shapes, axis = (OF_MAPS, (0, 2, 3)) if of_maps else (SHAPES, 0)
    for function in OF_BATCHES if of_maps else CHECKED:
        eps = {"eps": (N,)} if function in OF_BATCHES and not of_maps else {}
        arrays, others = arguments(function, shapes | eps, axis=axis)
        arrays = {name: each[0].numpy() for name, each in arrays.items()}
        expected = function(**arrays, **others)
        given = {name: KINDS[kind](array) for name, array in arrays.items()}
        like = next(iter(given.values()))
        for part, of_numpy in zip(parts(function(**given, **others)), parts(expected), strict=True):
            assert (type(part), part.dtype) == (type(like), like.dtype), named(function)
            assert device(part) == device(like), named(function)
            error = np.max(np.abs(on_host(part) - of_numpy))
            roundoff = 2.0**-24 if "32" in str(like.dtype) else 2.0**-53
            assert error <= 64 * roundoff * (1 + np.max(np.abs(of_numpy))), named(function)


@pytest.mark.parametrize("layout", ["one unit", "maps"])
def test_a_complex_step_is_a_derivative(layout):
    """That through ``forward`` is the Jacobian, that through ``gradient`` the curvature."""
    step = 2.0**-80  # its square is below roundoff, so nothing is truncated
    *given, _, axis = make_case(layout)
    y, g, u, _, _, gamma, beta = map(to_numpy, given)
    y_far, gamma, beta = y + 1j * step * u, gamma + 0j, beta + 0j
    stepped = theory.forward(y_far, gamma, beta, 1e-5, axis)
    slope = np.imag(stepped) / step
    np.testing.assert_allclose(slope, theory.jvp(y, u, gamma.real, 1e-5, axis), atol=1e-14)
    stepped = theory.gradient(y_far, g + 0j, gamma, 1e-5, axis)
    bent = -np.imag(stepped) / step
    np.testing.assert_allclose(bent, theory.curvature(y, g, u, gamma.real, 1e-5, axis), atol=1e-13)


def assert_one_call(formula, arrays):
    one_by_one = [formula(*each) for each in zip(*arrays, strict=True)]
    expected = torch.utils._pytree.tree_map(lambda *found: torch.stack(found), *one_by_one)
    torch.testing.assert_close(torch.vmap(formula)(*arrays), expected)


@pytest.mark.parametrize("function", CHECKED, ids=named)
def test_many_batches_are_one_call_of_the_formula_that_a_check_names(function):
    eps = {"eps": ()} if function in OF_BATCHES else {}
    arrays, others = arguments(function, SHAPES | eps)
    advice = rf"torch\.vmap .* call {named(function)}, which checks nothing"
    formula = getattr(importlib.import_module(function.__module__), function.__name__)

    def of_arrays(function):
        return lambda *each: function(**dict(zip(arrays, each, strict=True)), **others)

    with pytest.raises(RuntimeError, match=advice):
        torch.vmap(of_arrays(function))(*arrays.values())
    first = [each[0] for each in arrays.values()]
    found, expected = (of_arrays(each)(*first) for each in (function, formula))
    torch.testing.assert_close(found, expected, rtol=0, atol=0)
    assert function.__doc__ == formula.__doc__
    assert_one_call(of_arrays(formula), list(arrays.values()))


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
    arrays = drawn([*[(M, N)] * 3, (N,), ()])

    def formula(y, g, u, gamma, eps):
        return batchnorm.hvp(y, g, torch.sin, u, gamma, eps)

    given = [every if i == mapped else every[0] for i, every in enumerate(arrays)]
    axes = tuple(0 if i == mapped else None for i in range(5))
    alone = [formula(*given[:mapped], one, *given[mapped + 1 :]) for one in arrays[mapped]]
    torch.testing.assert_close(torch.vmap(formula, axes)(*given), torch.stack(alone))


def test_every_checked_formula_is_among_them():
    assert {theory.hvp, theory.running_hvp, lp.gradient, convolution.gram} <= set(CHECKED)
    assert len(CHECKED) == 47
