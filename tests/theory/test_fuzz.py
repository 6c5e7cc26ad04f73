"""Every public function, on shapes, dtypes, layouts and sizes that nobody chose.

Finite input gives a finite value of the right shape, dtype and library, or a TypeError or a
ValueError with a sentence; never a NaN, another error, or a warning.  A hundred examples of each of
the eight families are drawn here, 10,000 in all with ``--hypothesis-profile fuzz``.
"""

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
KINDS = ["normal", "constant", "one differs", "zero", "integers", "far", "mixed"]


@st.composite
def sizes(draw, dtype):
    """Powers of two over the whole range of a dtype, mostly moderate."""
    reach = int(np.log2(float(np.finfo(dtype).max))) - 2
    moderate = st.integers(-min(reach, 8), min(reach, 8))
    return 2.0 ** draw(st.one_of(moderate, moderate, st.integers(-reach, reach)))


@st.composite
def arrays(draw, shape, dtype):
    """Finite entries, of one size or of many."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = rng.standard_normal(shape)
    match draw(st.sampled_from(KINDS)):
        case "constant":
            values = np.full(shape, values.flat[0] if values.size else 0.0)
        case "one differs":
            values = np.ones(shape)
            values.flat[:1] = 1 + 2.0**-9
        case "zero":
            values = np.zeros(shape)
        case "integers":
            values = np.round(3 * values)
        case "far":
            values = values + 2.0 ** draw(st.integers(0, 30))
        case "mixed":
            values = values * 2.0 ** rng.integers(-40, 10, shape)
    if dtype.startswith("complex"):
        values = values + 1j * rng.standard_normal(shape) * draw(st.sampled_from([0.0, 1.0, 1e-9]))
    with np.errstate(all="ignore"):
        made = (values * draw(sizes(dtype))).astype(dtype)
        made[~np.isfinite(made)] = 1
    return draw(st.sampled_from(sorted(LAYOUTS)).map(LAYOUTS.get))(made) if shape else made


numbers = st.one_of(
    st.sampled_from([0, 1, -2, 0.5, 1e-5, 1e-30, 1e30, 1e-300, 1e300, 10**25, 10**400]),
    st.floats(-100, 100),
)
slopes = st.one_of(st.sampled_from([0, 1e-5, 1.0, 1e-40, 1e20]), st.floats(0, 10))


@st.composite
def per_unit(draw, units, dtype, numbers):
    if draw(st.booleans()):
        return draw(numbers)
    return np.asarray(draw(arrays(units, dtype)))


@st.composite
def batches(draw):
    """Arguments by name of the functions of :mod:`theory`, and of :mod:`theory.lp`."""
    dtype = draw(st.sampled_from(FLOATS))
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    if draw(st.integers(0, 5)) == 0:
        shape = (draw(st.sampled_from([70, 300])), *shape[1:2])
    axis = draw(st.one_of(st.just(0), st.integers(-len(shape), len(shape) - 1)))
    if draw(st.booleans()) and len(shape) > 2:
        axis = tuple(i for i in range(len(shape)) if i != 1)
    batch = {i % len(shape) for i in ((axis,) if isinstance(axis, int) else axis)}
    units = tuple(1 if i in batch else n for i, n in enumerate(shape))
    m = prod(n for i, n in enumerate(shape) if i in batch)
    matrices = (m, m, *(n for i, n in enumerate(shape) if i not in batch))
    arguments = {name: draw(arrays(shape, dtype)) for name in "ygu"}
    H = np.zeros((1,)) if m > 40 else draw(arrays(matrices, dtype))
    with np.errstate(all="ignore"):
        arguments["H"] = (H / 2 + np.swapaxes(H, 0, 1) / 2).astype(dtype) if H.ndim > 1 else H
    arguments |= {name: draw(per_unit(units, dtype, numbers)) for name in ("gamma", "beta")}
    variance = draw(per_unit(units, dtype, slopes))
    statistics = tuple(1 if i == 0 else n for i, n in enumerate(shape))
    arguments |= {
        "eps": np.abs(variance).astype(dtype) if isinstance(variance, np.ndarray) else variance,
        "running_mean": draw(per_unit(statistics, dtype, numbers)),
        "running_variance": draw(slopes),
        "axis": axis,
        "p": draw(st.sampled_from([1, 2, 2.5, 7, 100.0, inf])),
        "hessian_of_loss": draw(st.sampled_from([lambda w: w, lambda w: 0 * w, lambda w: w * 1e3])),
    }
    return arguments, {"m": m, "shape": shape, "units": units, "matrices": matrices}


BY_SHAPE = {
    "gradient_gamma": "units", "gradient_beta": "units", "power_mean": "units",
    "jacobian": "matrices", "hessian": "matrices", "projection": "matrices",
}  # fmt: skip


def called(function, arguments, library):
    """The value of a function, or None where it is refused in words."""
    names = inspect.signature(function).parameters
    given = {
        name: LIBRARIES[library](value) if isinstance(value, np.ndarray) else value
        for name, value in arguments.items()
        if name in names
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return function(**given), given
        except (TypeError, ValueError) as error:
            said = str(error)
    assert OURS.search(said), said
    return None, given


def assert_right(value, like, shape):
    assert type(value) is type(like), type(value)
    assert value.dtype == like.dtype, (value.dtype, like.dtype)
    assert tuple(value.shape) == tuple(shape), (tuple(value.shape), shape)
    value = np.asarray(value.detach() if isinstance(value, torch.Tensor) else value)
    assert np.all(np.isfinite(value)), value


def public(module):
    return sorted(
        name
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if not name.startswith("_")
        and hasattr(function, "__wrapped__")
        and function.__module__.startswith("theory")
    )


@given(data=st.data(), library=st.sampled_from(sorted(LIBRARIES)))
@pytest.mark.parametrize("module", [theory, lp], ids=["formulas", "lp"])
def test_formulas_of_batches(module, data, library):
    name = data.draw(st.sampled_from(public(module)))
    arguments, expected = data.draw(batches())
    if expected["m"] > 40 and BY_SHAPE.get(name) == "matrices":
        return
    value, given = called(getattr(module, name), arguments, library)
    if value is not None:
        like = given.get("y", given.get("g", given.get("u")))
        assert_right(value, like, expected[BY_SHAPE.get(name, "shape")])


@st.composite
def layers(draw):
    """Arguments by name of the functions of :mod:`theory.bnp`."""
    dtype = draw(st.sampled_from(FLOATS))
    N, n, p = (draw(st.integers(1, 6)) for _ in range(3))
    S = draw(arrays((N, N), dtype))
    with np.errstate(all="ignore"):
        S = (S / 2 + S.T / 2).astype(dtype)
    shapes = {"H": (N, n), "W": (p, n), "grad_W": (p, n), "b": (p,), "grad_b": (p,)}
    shapes |= dict.fromkeys(("mean", "deviation", "variance", "gamma", "beta", "old", "new"), (n,))
    arguments = {name: draw(arrays(shape, dtype)) for name, shape in shapes.items()}
    for name in ("deviation", "variance"):
        arguments[name] = np.abs(arguments[name]).astype(dtype)
    curvature = draw(
        st.sampled_from([S, np.ascontiguousarray(S[0]), lambda V: V, lambda V: V * 1e200])
    )
    arguments |= {"curvature": curvature, "N": N, "n": n}
    arguments |= {name: draw(slopes) for name in ("eps", "eps_1", "eps_2", "rho", "q_squared")}
    k = n + 1
    expected = {
        "augmented": (N, k), "means": (n,), "variances": (n,), "standard_deviations": (n,),
        "centring": (k, k), "scaling": (k, k), "preconditioner": (k, k), "features": (N, n),
        "normalized": (N, k), "correlations": (n, n), "unit_hessian": (k, k),
        "preconditioned_gradient": ((p,), (p, n)), "regularized_variance": (n,), "running": (n,),
        "folded": ((p, n), (p,)),
    }  # fmt: skip
    return arguments, expected


@given(data=st.data(), library=st.sampled_from(sorted(LIBRARIES)))
def test_preconditioning(data, library):
    name = data.draw(st.sampled_from([name for name in public(bnp) if name != "checked"]))
    arguments, expected = data.draw(layers())
    value, given = called(getattr(bnp, name), arguments, library)
    if value is None:
        return
    if name == "scale_factor":
        assert value >= 1
        return
    like = next(v for v in given.values() if hasattr(v, "dtype"))
    shapes = expected[name]
    pairs = zip(value, shapes, strict=True) if isinstance(value, tuple) else [(value, shapes)]
    for part, shape in pairs:
        assert_right(part, like, shape)


@st.composite
def maps(draw):
    """Arguments by name of the functions of :mod:`theory.convolution`."""
    dtype = draw(st.sampled_from(FLOATS))
    N, c, d = (draw(st.integers(1, 3)) for _ in range(3))
    r, s = (draw(st.integers(1, 6)) for _ in range(2))
    kernel, stride, dilation = draw(st.sampled_from([1, 3, 5])), draw(st.integers(1, 2)), 1
    padding = draw(st.sampled_from(["same", "valid"]))
    geometry = {"kernel": kernel, "stride": stride, "dilation": dilation, "padding": padding}
    reach = kernel - 1 - (2 * (kernel // 2) if padding == "same" else 0)
    size = tuple(max((n - reach - 1) // stride + 1, 0) for n in (r, s))
    arguments = geometry | {
        "h": draw(arrays((N, c, r, s), dtype)),
        "weights": draw(arrays((d, c, kernel, kernel), dtype)),
        "bias": draw(arrays((d,), dtype)),
        "vector": draw(arrays((kernel**2 * c + 1, d), dtype)),
        "v": draw(arrays((N, d, *size), dtype)),
        "S": draw(st.sampled_from([lambda maps: maps, lambda maps: maps * 1e200])),
        "chunk": draw(st.sampled_from([None, 1, 2])),
    }
    if draw(st.booleans()):
        arguments["S"] = draw(arrays((N, *size), dtype))
    k = kernel**2 * c + 1
    weights = ((d, c, kernel, kernel), (d,))
    columns = (c, kernel, kernel)
    expected = {
        "unfold": (N * prod(size), k), "apply": (N, d, *size), "apply_transposed": weights,
        "flatten": (k, d), "unflatten": weights, "gram": (k, k), "weighted_gram": (k, k),
        "column_sums": columns, "column_means": columns, "column_variances": columns,
    }  # fmt: skip
    return arguments, expected


@given(data=st.data(), library=st.sampled_from(sorted(LIBRARIES)))
def test_convolutions(data, library):
    name = data.draw(st.sampled_from(convolution.__all__))
    arguments, expected = data.draw(maps())
    value, given = called(getattr(convolution, name), arguments, library)
    if value is None:
        return
    like = next(v for v in given.values() if hasattr(v, "dtype"))
    shapes = expected[name]
    pairs = zip(value, shapes, strict=True) if isinstance(value, tuple) else [(value, shapes)]
    for part, shape in pairs:
        assert_right(part, like, shape)


WRONG = [
    None, "1", [1.0, 2.0], 3, True, object(), 10**400, 1j, np.arange(6).reshape(3, 2),
    np.array([np.nan, 1.0]), np.array([["a"]]), np.ones((0, 2)), np.ones((2, 2, 2, 2, 2)),
    np.ma.masked_all((3, 2)), torch.ones(3, 2, device="meta"), torch.eye(2).to_sparse(),
]  # fmt: skip


@given(data=st.data())
@pytest.mark.parametrize("module", [theory, lp, bnp, convolution], ids=lambda m: m.__name__)
def test_wrong_arguments_are_refused_in_words(module, data):
    functions = [name for name in public(module) if name not in ("checked", "library", "check")]
    function = getattr(module, data.draw(st.sampled_from(functions)))
    strategy = {theory: batches, lp: batches, bnp: layers, convolution: maps}[module]
    arguments, _ = data.draw(strategy())
    names = [name for name in inspect.signature(function).parameters if name in arguments]
    arguments[data.draw(st.sampled_from(names))] = data.draw(st.sampled_from(WRONG))
    called(function, arguments, "numpy")


def test_a_silent_nan_a_wrong_shape_and_another_error_are_seen():
    y = np.ones((3, 2))
    for wrong in (partial(np.full_like, fill_value=np.nan), lambda a: a[:1], lambda a: a > 0):
        with pytest.raises(AssertionError):
            assert_right(wrong(y), y, (3, 2))
    with pytest.raises(ZeroDivisionError):
        called(lambda y: 1 // 0, {"y": y}, "numpy")
    with pytest.raises(RuntimeWarning):
        called(lambda y: y * np.array(1e308) * 1e308, {"y": y}, "numpy")
