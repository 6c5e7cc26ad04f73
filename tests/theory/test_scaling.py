"""Units of far different sizes, and batches far from zero."""

import array_api_strict
import numpy as np
import pytest
import torch
from test_operations import by_name

import theory

Y = np.array([[1.0, 2.0], [2.0, 5.0], [6.0, 4.0], [3.0, -1.0]])
G = np.array([[1.0, 1.0], [2.0, -1.0], [0.0, 3.0], [-1.0, 0.5]])
U = np.array([[0.5, -1.0], [1.0, 2.0], [-2.0, 0.25], [1.0, 1.0]])
EPS = 1e-5


@pytest.mark.parametrize("name", ["gradient_beta", "gradient_gamma", "project"])
def test_what_is_linear_in_each_unit_keeps_the_digits_of_each(name):
    """A power of two in a unit comes out of it as it is."""
    powers = np.array([332, -960])
    call = getattr(theory, name)
    expected = by_name(call, {"y": Y, "g": G, "u": U, "eps": EPS})
    far = {"y": Y, "g": np.ldexp(G, powers), "u": np.ldexp(U, powers), "eps": EPS}
    np.testing.assert_array_equal(np.ldexp(by_name(call, far), -powers), expected)


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


def calls(y, u, dtype):
    asked = []
    y, g, u = (a.astype(dtype) for a in (y, np.cos(y), u))
    theory.hvp(y, g, lambda w: asked.append(w) or w, u, eps=EPS)
    return len(asked)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_operator_meets_units_of_like_size_at_a_time(dtype):
    """Units of ordinary sizes in one call, those that are far apart in J u in another."""
    y, u = (np.random.default_rng(i).standard_normal((8, 300)) for i in range(2))
    far = 2.0 ** (np.finfo(dtype).maxexp // 2)
    y = y * np.logspace(-2, 2, 300)
    assert [calls(y, size * u, dtype) for size in (1.0, far)] == [1, 1]
    u[:, 7] /= far**1.5
    assert calls(y, u, dtype) == 2


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
