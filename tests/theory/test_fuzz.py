"""Every public function, on shapes, dtypes, layouts and sizes that nobody chose.

Finite input gives a finite value of the right shape, dtype and library, or a TypeError or a
ValueError with a sentence; never a NaN, another error, or a warning.  A hundred examples of each of
the eight families are drawn here, 10,000 in all with ``--hypothesis-profile fuzz``.
"""

import importlib
import inspect
import re
import warnings
from functools import partial
from math import inf, prod

import array_api_strict
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import theory
from theory import bnp, convolution, lp

FLOATS = ["float16", "float32", "float64", "complex64", "complex128"]
LIBRARIES = {
    "numpy": lambda a: a,
    "torch": lambda a: torch.asarray(
        a if a.flags.writeable and min(a.strides, default=0) >= 0 else a.copy()
    ),
    "strict": lambda a: a if a.dtype == np.float16 else array_api_strict.asarray(a),
}
LAYOUTS = {
    "as it is": lambda a: a,
    "Fortran": np.asfortranarray,
    "backwards": lambda a: np.ascontiguousarray(a[::-1])[::-1],
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "read-only": lambda a: (a.setflags(write=False), a)[1],
}
OURS = re.compile("expected|; |overflows")
"""What every sentence of a refusal has, and the array libraries' own have not."""
KINDS = {
    "normal": lambda values, rng: values,
    "constant": lambda values, rng: np.full_like(values, values.sum()),
    "one differs": lambda values, rng: 1 + 2.0**-9 * (values == np.max(values, initial=-inf)),
    "zero": lambda values, rng: 0 * values,
    "integers": lambda values, rng: np.round(3 * values),
    "far": lambda values, rng: values + 2.0 ** rng.integers(31),
    "mixed": lambda values, rng: values * 2.0 ** rng.integers(-40, 10, values.shape),
}


@st.composite
def arrays(draw, shape, dtype, symmetric=False):
    """Finite entries, of one size or of many, over the whole range of a dtype."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = KINDS[draw(st.sampled_from(sorted(KINDS)))](rng.standard_normal(shape), rng)
    if dtype.startswith("complex"):
        values = values + 1j * rng.standard_normal(shape) * draw(st.sampled_from([0.0, 1.0, 1e-9]))
    if symmetric:
        values = values / 2 + np.swapaxes(values, 0, 1) / 2
    reach = int(np.log2(float(np.finfo(dtype).max))) - 2
    moderate = st.integers(-min(reach, 8), min(reach, 8))
    size = 2.0 ** draw(st.one_of(moderate, moderate, st.integers(-reach, reach)))
    with np.errstate(all="ignore"):
        made = (size * values).astype(dtype)
        made[~np.isfinite(made)] = 1
    return LAYOUTS[draw(st.sampled_from(sorted(LAYOUTS)))](made)


numbers = st.one_of(
    st.sampled_from([0, 1, -2, 0.5, 1e-5, 1e-30, 1e30, 1e-300, 1e300, 10**25, 10**400]),
    st.floats(-100, 100),
)
slopes = st.one_of(st.sampled_from([0, 1e-5, 1.0, 1e-40, 1e20]), st.floats(0, 10))


@st.composite
def batches(draw, name):
    """Strategies for arguments of functions of :mod:`theory` and :mod:`theory.lp`."""
    dtype = draw(st.sampled_from(FLOATS))
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    if name not in ("jacobian", "hessian", "projection") and draw(st.integers(0, 5)) == 0:
        shape = (draw(st.sampled_from([70, 300])), *shape[1:2])
    axis = draw(st.one_of(st.just(0), st.integers(-len(shape), len(shape) - 1)))
    if draw(st.booleans()) and len(shape) > 2:
        axis = tuple(i for i in range(len(shape)) if i != 1)
    batch = {i % len(shape) for i in ((axis,) if isinstance(axis, int) else axis)}
    units = tuple(1 if i in batch else n for i, n in enumerate(shape))
    m = prod(n for i, n in enumerate(shape) if i in batch)
    matrices = (m, m, *(n for i, n in enumerate(shape) if i not in batch))
    return {
        **dict.fromkeys("ygu", arrays(shape, dtype)),
        **dict.fromkeys(("gamma", "beta"), st.one_of(numbers, arrays(units, dtype))),
        "H": arrays(matrices, dtype, symmetric=True),
        "eps": st.one_of(slopes, arrays(units, dtype).map(lambda a: np.abs(a).astype(dtype))),
        "running_mean": st.one_of(numbers, arrays((1, *shape[1:]), dtype)),
        "running_variance": slopes,
        "axis": st.just(axis),
        "p": st.sampled_from([1, 2, 2.5, 7, 100.0, inf]),
        "hessian_of_loss": st.sampled_from([lambda w: w, lambda w: 0 * w, lambda w: w * 1e3]),
    }


@st.composite
def layers(draw, name):
    """Strategies for arguments of functions of :mod:`theory.bnp`."""
    dtype = draw(st.sampled_from(FLOATS))
    N, n, p = (draw(st.integers(1, 6)) for _ in range(3))
    columns = arrays((n,), dtype)
    operators = st.sampled_from([lambda V: V, lambda V: V * 1e200])
    matrix = arrays((N, N), dtype, symmetric=True)
    return {
        "H": arrays((N, n), dtype),
        "curvature": st.one_of(matrix, arrays((N,), dtype), operators),
        **dict.fromkeys(("W", "grad_W"), arrays((p, n), dtype)),
        **dict.fromkeys(("b", "grad_b"), arrays((p,), dtype)),
        **dict.fromkeys(("mean", "gamma", "beta", "old", "new"), columns),
        **dict.fromkeys(("deviation", "variance"), columns.map(lambda a: np.abs(a).astype(dtype))),
        **dict.fromkeys(("eps", "eps_1", "eps_2", "rho", "q_squared"), slopes),
        "N": st.just(N),
        "n": st.just(n),
    }


@st.composite
def maps(draw, name):
    """Strategies for arguments of functions of :mod:`theory.convolution`."""
    dtype = draw(st.sampled_from(FLOATS))
    N, c, d = (draw(st.integers(1, 3)) for _ in range(3))
    r, s = (draw(st.integers(1, 6)) for _ in range(2))
    kernel, stride = draw(st.sampled_from([1, 3, 5])), draw(st.integers(1, 2))
    padding = draw(st.sampled_from(["same", "valid"]))
    reach = kernel - 1 - (2 * (kernel // 2) if padding == "same" else 0)
    size = tuple(max((n - reach - 1) // stride + 1, 0) for n in (r, s))
    k = kernel**2 * c + 1
    geometry = {"kernel": kernel, "stride": stride, "dilation": 1, "padding": padding}
    operators = st.sampled_from([lambda maps: maps, lambda maps: maps * 1e200])
    return {name: st.just(value) for name, value in geometry.items()} | {
        "h": arrays((N, c, r, s), dtype),
        "weights": arrays((d, c, kernel, kernel), dtype),
        "bias": arrays((d,), dtype),
        "vector": arrays((k, d), dtype),
        "v": arrays((N, d, *size), dtype),
        "S": st.one_of(operators, arrays((N, *size), dtype)),
        "chunk": st.sampled_from([None, 1, 2]),
    }


FAMILIES = {theory: batches, lp: batches, bnp: layers, convolution: maps}


@st.composite
def calls(draw, module):
    """A public function, and arguments for all of its parameters."""
    functions = {
        name: function
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if not name.startswith("_")
        and hasattr(function, "__wrapped__")
        and function.__module__.startswith("theory")
    }
    name = draw(st.sampled_from(sorted(functions)))
    strategies = draw(FAMILIES[module](name))
    names = [name for name in inspect.signature(functions[name]).parameters if name in strategies]
    return functions[name], {name: draw(strategies[name]) for name in names}


def shapes_of(function, arguments):
    """The shapes of the formula's value for ordinary numbers, which are those of any."""
    formula = getattr(importlib.import_module(function.__module__), function.__name__)
    ordinary = {n: np.ones(x.shape) if hasattr(x, "dtype") else x for n, x in arguments.items()}
    with np.errstate(all="ignore"):
        value = formula(**ordinary)
    parts = value if isinstance(value, tuple) else (value,)
    return [np.shape(part) for part in parts]


def called(function, arguments):
    """The value of a function, or None where it is refused in words."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return function(**arguments)
        except (TypeError, ValueError) as error:
            said = str(error)
    assert OURS.search(said), said
    return None


def assert_right(value, like, shapes):
    parts = value if isinstance(value, tuple) else (value,)
    for part, shape in zip(parts, shapes, strict=True):
        assert type(part) is type(like), type(part)
        assert part.dtype == like.dtype, (part.dtype, like.dtype)
        assert tuple(part.shape) == shape, (tuple(part.shape), shape)
        assert np.all(np.isfinite(np.asarray(part))), part


@given(data=st.data(), library=st.sampled_from(sorted(LIBRARIES)))
@pytest.mark.parametrize("module", FAMILIES, ids=lambda m: m.__name__)
def test_a_value_is_right_or_refused_in_words(module, data, library):
    function, given = data.draw(calls(module))
    arguments = {k: LIBRARIES[library](v) if hasattr(v, "dtype") else v for k, v in given.items()}
    value = called(function, arguments)
    if function is bnp.scale_factor:
        assert value is None or value >= 1
    elif value is not None:
        like = next(v for v in arguments.values() if hasattr(v, "dtype"))
        assert_right(value, like, shapes_of(function, given))


WRONG = [
    None, "1", [1.0, 2.0], 3, True, object(), 10**400, 1j, np.arange(6).reshape(3, 2),
    np.array([np.nan, 1.0]), np.array([["a"]]), np.ones((0, 2)), np.ones((2, 2, 2, 2, 2)),
    np.ma.masked_all((3, 2)), torch.ones(3, 2, device="meta"), torch.eye(2).to_sparse(),
]  # fmt: skip


@given(data=st.data(), wrong=st.sampled_from(WRONG))
@pytest.mark.parametrize("module", FAMILIES, ids=lambda m: m.__name__)
def test_wrong_arguments_are_refused_in_words(module, data, wrong):
    function, arguments = data.draw(calls(module))
    called(function, arguments | {data.draw(st.sampled_from(sorted(arguments))): wrong})


def test_a_silent_nan_a_wrong_shape_and_another_error_are_seen():
    y = np.ones((3, 2))
    for wrong in (partial(np.full_like, fill_value=np.nan), lambda a: a[:1], lambda a: a > 0):
        with pytest.raises(AssertionError):
            assert_right(wrong(y), y, [(3, 2)])
    with pytest.raises(ZeroDivisionError):
        called(lambda y: 1 // 0, {"y": y})
    with pytest.raises(RuntimeWarning):
        called(lambda y: y * np.array(1e308) * 1e308, {"y": y})
