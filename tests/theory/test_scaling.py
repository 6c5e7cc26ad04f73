"""Units of far different sizes, against differences in numbers of many digits."""

from operator import attrgetter

import array_api_strict
import numpy as np
import pytest
import torch
from mpmath import mp, mpf, workdps
from test_operations import by_name

import theory
from theory import bnp

Y = np.array([[1.0, 2.0], [2.0, 5.0], [6.0, 4.0], [3.0, -1.0]])
G = np.array([[1.0, 1.0], [2.0, -1.0], [0.0, 3.0], [-1.0, 0.5]])
U = np.array([[0.5, -1.0], [1.0, 2.0], [-2.0, 0.25], [1.0, 1.0]])
H = np.array([[2.0, 1.0, 0.0, 0.5], [1.0, 1.0, -1.0, 0.0], [0.0, -1.0, 3.0, 2.0], [0.5, 0, 2, 1]])
TIES = np.array([[1.0, 0.5], [0.5, 2.0]])
"""Of the loss's Hessian between units."""
EPS = 1e-5


def numbers(array):
    return [[mpf(x) for x in row] for row in np.asarray(array, dtype=object).tolist()]


def layer(y, gamma, eps):
    """Columns normalized by the definition."""
    columns = list(zip(*y, strict=True))
    z = []
    for column, scale, small in zip(columns, gamma, eps, strict=True):
        mu = mp.fsum(column) / len(column)
        sigma = mp.sqrt(mp.fsum((x - mu) ** 2 for x in column) / len(column) + small)
        z.append([scale * (x - mu) / sigma for x in column])
    return [list(row) for row in zip(*z, strict=True)]


def moved(y, step, direction):
    return [
        [a + step * b for a, b in zip(*rows, strict=True)]
        for rows in zip(y, direction, strict=True)
    ]


def unit(b, j):
    return [[mpf(i == b and k == j) for k in range(2)] for i in range(4)]


def between(a, b):
    return mp.fsum(x * y for rows in zip(a, b, strict=True) for x, y in zip(*rows, strict=True))


def loss(z, z0, g, ties):
    """Of gradient g and a Hessian in z that is H in the batch times the ties between units."""
    apart = moved(z, -1, z0)
    of_h = [
        [mp.fsum(mpf(H[b, c]) * apart[c][j] for c in range(4)) for j in range(2)] for b in range(4)
    ]
    of_h = [[mp.fsum(row[k] * ties[j][k] for k in range(2)) for j in range(2)] for row in of_h]
    return between(apart, g) + between(apart, of_h) / 2


def by_differences(name, y, g, u, gamma, eps, ties):
    """The gradient, J u, or the Hessian along u, from the loss's values alone."""
    y, g, u, ties = map(numbers, (y, g, u, ties))
    gamma, eps = ([mpf(float(x)) for x in a] for a in (gamma, eps))
    z0 = layer(y, gamma, eps)
    sizes = [max(abs(row[j]) for row in y) for j in range(2)]
    s = min(sizes[j] / abs(row[j]) for row in u for j in range(2) if row[j]) / mpf(10) ** 400
    if name == "jvp":
        return [
            [(p - n) / (2 * s) for p, n in zip(*rows, strict=True)]
            for rows in zip(*(layer(moved(y, t, u), gamma, eps) for t in (s, -s)), strict=True)
        ]

    def in_entry(b, j):
        h = sizes[j] / mpf(10) ** 400

        def value(m, n):
            z = layer(moved(moved(y, m * h, unit(b, j)), n * s, u), gamma, eps)
            return loss(z, z0, g, ties)

        if name == "gradient":
            return (value(1, 0) - value(-1, 0)) / (2 * h)
        return (value(1, 1) - value(1, -1) - value(-1, 1) + value(-1, -1)) / (4 * h * s)

    return [[in_entry(b, j) for j in range(2)] for b in range(4)]


def assert_close(found, expected, digits):
    """To a few roundings of the largest entry of each unit, or of the format's least number."""
    roundoff, least = digits
    for j in range(2):
        entries = [row[j] for row in expected]
        allowed = roundoff * max(map(abs, entries)) + least
        errors = [abs(mpf(float(a)) - b) for a, b in zip(found[:, j], entries, strict=True)]
        assert max(errors) <= allowed, (j, found[:, j], [mp.nstr(x, 8) for x in entries])


DIGITS = {np.float32: (2e-5, 2.0**-147), np.float64: (1e-13, mpf(2) ** -1072)}
UNITS = [
    (np.float64, (1, 1), (1, 1), (1e-300, 1e120), (1, 1)),
    (np.float64, (1e-120, 1e200), (1e-290, 1e-100), (1, 1e200), (1, 1)),
    (np.float64, (1e-100, 1e100), (1, 1e-250), (1, 1), (1e-250, 1e80)),
    (np.float32, (1e-11, 1e-11), (0, 0), (1, 1), (1e-24, 1e-24)),
]
"""A dtype, and the sizes of y, g, u and gamma in two units."""


@pytest.mark.parametrize("name", ["gradient", "jvp", "hvp", "hvp between units", "hessian"])
@pytest.mark.parametrize("case", UNITS, ids=str)
def test_each_unit_is_scaled_by_itself(case, name):
    dtype, *sizes = case
    y, g, u, gamma = (
        (values * np.array(size)).astype(dtype)
        for values, size in zip((Y, G, U, np.array([1.0, 3.0])), sizes, strict=True)
    )
    eps = np.array([EPS if size == 1 else 0.0 for size in sizes[0]], dtype)
    if name == "hessian":  # whose entries do not know the direction that they are applied to
        u = U.astype(dtype)
    is_tied = name == "hvp between units"
    ties = TIES if is_tied else np.eye(2)
    with workdps(2500):
        expected = by_differences(name, y, g, u, gamma, eps, ties)
        arguments = {"y": y, "g": g, "u": u, "gamma": gamma, "eps": eps}
        arguments["hessian_of_loss"] = lambda w: H.astype(dtype) @ w @ ties.astype(dtype)
        arguments["H"] = np.stack([H.astype(dtype)] * 2, axis=-1)
        found = by_name(attrgetter(name.split()[0])(theory), arguments)
        if name == "hessian":
            found = [
                [
                    mp.fsum(mpf(float(found[b, c, j])) * mpf(float(u[c, j])) for c in range(4))
                    for j in range(2)
                ]
                for b in range(4)
            ]
            found = np.array(found, dtype=object)
        assert_close(found, expected, DIGITS[dtype])


@pytest.mark.parametrize("name", ["gradient_beta", "gradient_gamma", "project"])
def test_what_is_linear_in_each_unit_keeps_the_digits_of_each(name):
    """A power of two in a unit comes out of it as it is."""
    powers = np.array([332, -960])
    call = attrgetter(name)(theory)
    expected = by_name(call, {"y": Y, "g": G, "u": U, "eps": EPS})
    far = {"y": Y, "g": np.ldexp(G, powers), "u": np.ldexp(U, powers), "eps": EPS}
    np.testing.assert_array_equal(np.ldexp(by_name(call, far), -powers), expected)


def test_running_formulas_meet_no_product_beyond_the_range():
    """Of numbers so chosen that the exact value is a power of ten."""
    y, one = np.full((1, 2), 1e-25, np.float32), np.ones((1, 2), np.float32)
    gamma, variance = np.array([1e-25, 1e30], np.float32), np.array([1e-30, 1e-30], np.float32)
    forward = theory.running_forward(y, 0.0, variance, gamma=gamma)
    np.testing.assert_allclose(forward, [[1e-35, 1e20]], rtol=1e-6)
    np.testing.assert_allclose(
        theory.running_forward(y, 1e-25, variance, gamma, beta=2.0), [[2.0, 2.0]], rtol=1e-6
    )
    gradient = theory.running_gradient(y, variance, gamma)
    np.testing.assert_allclose(gradient, [[1e-35, 1e20]], rtol=1e-6)
    hvp = theory.running_hvp(lambda w: np.float32(1e-30) * w, y, 1e-30, gamma=1e28)
    np.testing.assert_allclose(hvp, [[1e31, 1e31]], rtol=1e-6)
    np.testing.assert_array_equal(theory.running_forward(one, 0.0, 1.0, gamma=1e-30), 1e-30 * one)


@pytest.mark.parametrize("convert", [np.asarray, torch.asarray])
def test_an_operator_meets_units_of_like_size_at_a_time(convert):
    """Of units 270 decades apart in J u, by homogeneity; H is a multiple of one in each."""
    of_y, of_u, of_h = 2.0 ** np.array([-465, -332]), 2.0 ** np.array([-963, 66]), 2.0**-664
    ties = np.array([[1.0, 0.0], [0.0, -3.0]])
    asked = []

    def hessian_of_loss(w):
        asked.append(w)
        return of_h * (convert(H) @ w @ convert(ties))

    y, g, u = convert(of_y * Y), convert(0 * G), convert(of_u * U)
    found = np.asarray(theory.hvp(y, g, hessian_of_loss, u))
    expected = theory.hvp(Y, 0 * G, lambda w: H @ w @ ties, U)
    np.testing.assert_allclose(found / (of_u / of_y / of_y * of_h), expected, rtol=1e-12)
    assert len(asked) == 2


def test_scales_are_off_the_tape():
    """The derivative in eps of y/sigma is -y/(2 sigma^3); a root of eps = 0 has none."""
    y = torch.asarray(1e100 * Y, requires_grad=True)
    eps = torch.zeros((), dtype=torch.float64, requires_grad=True)
    theory.forward(y, eps=eps)[0].sum().backward()
    c = Y - Y.mean(0)
    expected = -np.sum(c[0] / (2 * np.mean(c * c, 0) ** 1.5)) * 1e-200
    np.testing.assert_allclose(float(eps.grad), expected, rtol=1e-12)
    assert bool(torch.all(torch.isfinite(y.grad)))


def test_wider_formats_than_double_are_taken():
    wide = np.longdouble
    y, g, powers = Y.astype(wide), G.astype(wide), np.array([9000, -9000])
    found = theory.gradient(y, np.ldexp(g, powers), eps=EPS)
    np.testing.assert_allclose(np.ldexp(found, -powers), theory.gradient(Y, G, eps=EPS), rtol=1e-13)
    assert found.dtype == wide


@pytest.mark.parametrize("far", [1e-290, 1e290])
@pytest.mark.parametrize("where", [(slice(None), 1), (-1, 1)], ids=["a unit", "its last example"])
@pytest.mark.parametrize("library", [np, torch], ids=["numpy", "torch"])
def test_one_unit_of_large_batches_is_seen(library, where, far):
    """By homogeneity where all of the unit is far; else by Fact C.1 for a g of one entry."""
    y, g = (np.random.default_rng(i).standard_normal((9000, 2)) for i in range(2))
    moved = g.copy()
    moved[where] *= far
    if where[0] == -1:
        moved[:-1, 1] = 0
    yhat = (y[:, 1] - y[:, 1].mean()) / y[:, 1].std()
    exact = moved[:, 1] / far
    along = yhat * np.mean(yhat * exact)
    exact = (exact - exact.mean() - along) / y[:, 1].std()
    found = np.asarray(theory.gradient(library.asarray(y), library.asarray(moved)))
    assert np.max(np.abs(found[:, 1] / far - exact)) <= 1e-12 * np.max(np.abs(exact))


@pytest.mark.parametrize(
    ("y", "variance", "eps"), [(1e10, 1e-6, 1e-3), (1e-10, 1.0, 1e-5), (-3e12, 0.0, 2.0)]
)
def test_a_running_variances_epsilon_is_not_of_the_batchs_scale(y, variance, eps):
    batch = np.full((2, 1), y, np.float32)
    right = y / np.sqrt(variance + eps)
    np.testing.assert_allclose(
        theory.running_forward(batch, 0.0, variance, eps=eps), [[right]] * 2, rtol=1e-6
    )


@pytest.mark.parametrize(("dtype", "far"), [(np.float32, 2.0**66), (np.float64, 1e200)])
@pytest.mark.parametrize("library", [np, torch], ids=["numpy", "torch"])
def test_far_from_zero_sigma_is_the_root_of_epsilon_where_nothing_varies(library, dtype, far):
    """A unit that is far and constant, beside one that is neither."""
    y, u = np.stack([np.full(4, far), Y[:, 1]], axis=1).astype(dtype), U.astype(dtype)
    near = y - np.array([far, 0], dtype)
    y, near, u = map(library.asarray, (y, near, u))
    rest = {"g": u, "u": u, "eps": EPS, "hessian_of_loss": lambda w: w + w.sum()}
    for name in ("forward", "normalize", "jvp", "gradient", "hvp", "curvature"):
        found, expected = (by_name(getattr(theory, name), {"y": a} | rest) for a in (y, near))
        np.testing.assert_allclose(found, expected, rtol=2e-5)
    found, expected = (bnp.standard_deviations(a, eps=EPS) for a in (y, near))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize(("of_h", "of_u", "of_gamma"), [(-997, -270, 400), (963, 520, -400)])
def test_an_operator_that_is_far_meets_what_is_about_one(of_h, of_u, of_gamma):
    """By homogeneity: all three are powers of two."""
    asked = []

    def hessian_of_loss(w):
        asked.append(np.max(np.abs(w)))
        return 2.0**of_h * w

    y, u, zero = Y[:, 0], U[:, 0], np.zeros(4)
    found = theory.hvp(y, zero, hessian_of_loss, 2.0**of_u * u, 2.0**of_gamma)
    expected = theory.hvp(y, zero, lambda w: w, u)
    found = np.ldexp(found, -of_h - of_u - 2 * of_gamma)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    found = theory.running_hvp(hessian_of_loss, 2.0**of_u * u, 1.0, 2.0**of_gamma)
    np.testing.assert_array_equal(np.ldexp(found, -of_h - of_u - 2 * of_gamma), u)
    assert len(asked) == 2
    assert all(0.5 <= size <= 2 for size in asked)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_units_of_ordinary_sizes_cost_one_call_of_an_operator(dtype):
    y, g, u = (np.random.default_rng(i).standard_normal((8, 300)).astype(dtype) for i in range(3))
    y = y * np.logspace(-2, 2, 300, dtype=dtype)
    for far in (1.0, 2.0 ** (np.finfo(dtype).maxexp // 2)):
        asked = []
        theory.hvp(y, g, lambda w: asked.append(w) or w, dtype(far) * u, eps=EPS)  # noqa: B023
        assert len(asked) == 1


@pytest.mark.parametrize(("dtype", "far"), [(np.float32, 31), (np.float64, 255)])
@pytest.mark.parametrize("name", ["curvature", "gradient", "jvp", "gradient_gamma", "forward"])
def test_what_varies_by_the_least_share_of_the_root_of_epsilon_keeps_its_digits(dtype, far, name):
    """The leading term in y/sqrt(eps), whose square rounds to nothing."""
    y, g, u = ((2.0**-p * a[:, 0]).astype(dtype) for p, a in ((far, Y), (far, G), (far, U)))
    found = by_name(getattr(theory, name), {"y": y, "g": g, "u": u, "eps": 1.0})
    c, d, v = ((a - a.mean()).astype(np.float64) for a in (Y[:, 0], G[:, 0], U[:, 0]))
    degree, leading = {
        "curvature": (3, (np.mean(c * d) * v + np.mean(c * v) * d + np.mean(d * v) * c)),
        "gradient": (1, d),
        "jvp": (1, v),
        "gradient_gamma": (2, 4 * np.mean(c * d)),
        "forward": (1, c),
    }[name]
    found = np.asarray(found[0] if isinstance(found, tuple) else found, np.float64)
    np.testing.assert_allclose(np.ldexp(found, degree * far), leading, rtol=2e-6)


OFFSETS = {"float64": 2.0**44, "float32": 2.0**18}


@pytest.mark.parametrize("library", [np, torch])
@pytest.mark.parametrize("dtype", OFFSETS)
@pytest.mark.parametrize(
    "name", ["normalize", "forward", "jvp", "gradient", "hvp", "curvature", "gradient_gamma"]
)
def test_an_offset_costs_no_digits(name, dtype, library):
    kind = getattr(library, dtype)
    y, g, u = (library.asarray(a, dtype=kind) for a in (Y, G, U))
    given = {
        "normalize": (), "forward": (2, 3), "jvp": (u, 2), "gradient": (g, 2),
        "hvp": (g, lambda w: 3 * w, u, 2), "curvature": (g, u, 2), "gradient_gamma": (g,),
    }[name]  # fmt: skip
    function = getattr(theory, name)
    found = function(y + OFFSETS[dtype], *given, eps=0.5)
    near = function(y - 2, *given, eps=0.5)
    unit = np.finfo(dtype).eps
    assert np.allclose(found, near, rtol=64 * unit, atol=64 * unit)


@pytest.mark.parametrize("library", [np, torch, array_api_strict])
@pytest.mark.parametrize("offset", [2.0**40, 2.0**40 * 1j, 2.0**40 * (1 - 1j)])
@pytest.mark.parametrize("name", ["normalize", "gradient"])
def test_a_complex_offset_costs_no_digits(name, offset, library):
    y, g = (np.round(2**8 * (Y + 0.25j * U)) / 2**8)[:3], (G + 1j * U)[:3]
    given = () if name == "normalize" else (library.asarray(g, dtype=library.complex128),)
    found, near = (
        np.asarray(getattr(theory, name)(library.asarray(shifted), *given, eps=0.5))
        for shifted in (y + offset, y)
    )
    assert np.allclose(found, near, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex128])
def test_an_outlier_that_comes_first_costs_no_digits(kind, order):
    y = (1e4 + np.random.default_rng(0).standard_normal(2000)).astype(kind)
    y[0] = 12000
    right = theory.normalize(y.real.astype(float) - 1e4)
    found = theory.normalize(y[::order].copy())[::order]
    assert np.allclose(found[1:], right[1:], rtol=0, atol=8 * np.finfo(kind).eps)


def test_what_differs_in_the_last_digit_alone_is_normalized():
    y = np.array([0.1, 0.1, 0.1 + 2.0**-56])
    root = np.sqrt(0.5)
    assert np.allclose(theory.forward(y), [-root, -root, 2 * root], rtol=1e-15)
    gradient = theory.gradient(y, np.array([1.0, 0.0, 0.0]))
    assert np.allclose(gradient / gradient[0], [1, -1, 0], atol=1e-15)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("m", [3, 7, 49])
def test_what_does_not_vary_far_from_zero_is_zero_exactly(kind, m):
    for constant in (0.1, 1e6 / 3, -1e15 / 7):
        y, g = np.full(m, constant, dtype=kind), np.arange(m, dtype=kind)
        assert not theory.forward(y, eps=EPS).any()
        assert not theory.curvature(y, g, g, eps=EPS).any()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_an_offset_may_be_as_large_as_a_sum_cannot_be(kind):
    y = np.array([8, 7, 9, 8], dtype=kind)
    large = np.ldexp(y, np.finfo(kind).maxexp - 4)
    assert np.array_equal(theory.normalize(large), theory.normalize(y))


def test_the_last_entry_of_a_large_batch_is_seen():
    """One entry that is far from m - 1 alike has the normalised value sqrt(m - 1)."""
    y = np.random.default_rng(3).normal(size=(9001, 2))
    y[-1, 1] = 1e200
    np.testing.assert_allclose(theory.normalize(y)[-1, 1], np.sqrt(9000), rtol=1e-14)


def test_the_offset_of_one_unit_of_a_large_batch_costs_no_digits():
    y = np.random.default_rng(3).integers(-9, 9, (9001, 3)).astype(float)
    found = theory.normalize(y + np.array([0, 2**45 + 1, 0]))
    np.testing.assert_allclose(found, theory.normalize(y), rtol=1e-14)


def test_derivatives_pass_where_an_offset_is_taken_out():
    y = torch.tensor(Y + 1e6, requires_grad=True)
    for eps in (0, EPS):
        g, u = torch.tensor(G), torch.tensor(U)
        (once,) = torch.autograd.grad((g * theory.forward(y, eps=eps)).sum(), y, create_graph=True)
        (twice,) = torch.autograd.grad((once * u).sum(), y)
        centred = Y - Y.mean(0)
        assert np.allclose(once.detach(), theory.gradient(centred, G, eps=eps), rtol=1e-8)
        expected = theory.hvp(centred, G, lambda w: 0 * w, U, eps=eps)
        assert np.allclose(twice, expected, rtol=1e-8, atol=1e-12)
