"""The closed forms against torch autograd (fused layer, literal primitives), and by properties."""

from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_operations import assert_close, condition, deviation, to_numpy, unit_norm
from torch.nn.functional import batch_norm

from theory import batchnorm, dense
from theory.arithmetic import inner, mean, size, sqrt

LAYOUTS = {
    "one unit": ((7,), 0, (1,)),
    "units": ((7, 3), 0, (3,)),
    "maps": ((4, 3, 2, 2), (0, 2, 3), (1, 3, 1, 1)),
}
GAMMAS = [-0.7, 1.5, 0.0]
SHIFT = 2.0**27
"""About 1e8; a batch on a grid of 2**-20 is moved by it without rounding."""


class Case(NamedTuple):
    """A batch, and the 2-jet <g, d> + <d, Hd>/2 of a loss, H = diag(h) + q q' in each unit."""

    y: Any
    g: Any
    u: Any
    h: Any
    q: Any
    gamma: Any
    beta: Any
    eps: float
    axis: Any

    def H(self, w):
        return self.h * w + self.q * inner(self.q, w, self.axis)


def make_case(layout="units", eps=0.0, offset=0.0, seed=0):
    shape, axis, units = LAYOUTS[layout]
    rng = np.random.default_rng(seed)
    y, g, u, h, q = (torch.asarray(rng.standard_normal(shape)) for _ in range(5))
    y = torch.round(y * 2**20) / 2**20 + offset
    gamma = torch.asarray(GAMMAS[: max(units)], dtype=torch.float64).reshape(units)
    beta = torch.asarray(rng.standard_normal(units))
    return Case(y, g, u, h, q, gamma, beta, eps, axis)


def primitive(y, gamma, beta, eps, axis):
    """The layer, written literally."""
    spread = torch.var(y, axis, correction=0, keepdim=True)
    return gamma * (y - torch.mean(y, axis, keepdim=True)) / torch.sqrt(spread + eps) + beta


def fused(y, gamma, beta, eps, axis):
    """The layer as torch.nn.functional has it, or what that calls, where it refuses the input."""
    batch = y[:, None] if y.ndim == 1 else y
    weight, bias = gamma.flatten(), beta.flatten()
    if eps == 0 or size(y, axis) == 1:
        z = torch.batch_norm(batch, weight, bias, None, None, True, 0.0, eps, False)
    else:
        z = batch_norm(batch, None, None, weight, bias, training=True, eps=eps)
    return z.reshape(y.shape)


LAYERS = {"fused": fused, "primitive": primitive}


def by_autograd(name, layer, case):
    """What torch computes for a derivative of the layer, or of the loss behind it."""
    c = case

    def z(y, gamma=c.gamma, beta=c.beta):
        return layer(y, gamma, beta, c.eps, c.axis)

    at = z(c.y)

    def loss(y, gamma=c.gamma, beta=c.beta):
        d = z(y, gamma, beta) - at
        return (c.g * d).sum() + (d * c.H(d)).sum() / 2 * (name != "curvature")

    gradient = torch.func.grad(loss)
    return {
        "forward": lambda: at,
        "jvp": lambda: torch.func.jvp(z, (c.y,), (c.u,))[1],
        "gradient": lambda: gradient(c.y),
        "hvp": lambda: torch.func.jvp(gradient, (c.y,), (c.u,))[1],
        "curvature": lambda: -torch.func.jvp(gradient, (c.y,), (c.u,))[1],
        "gradient_gamma": lambda: torch.func.grad(loss, 1)(c.y, c.gamma),
        "gradient_beta": lambda: torch.func.grad(loss, 2)(c.y, c.gamma, c.beta),
    }[name]()


FORMULAS = {
    "forward": lambda c: batchnorm.forward(c.y, c.gamma, c.beta, c.eps, c.axis),
    "jvp": lambda c: batchnorm.jvp(c.y, c.u, c.gamma, c.eps, c.axis),
    "gradient": lambda c: batchnorm.gradient(c.y, c.g, c.gamma, c.eps, c.axis),
    "hvp": lambda c: batchnorm.hvp(c.y, c.g, c.H, c.u, c.gamma, c.eps, c.axis),
    "curvature": lambda c: batchnorm.curvature(c.y, c.g, c.u, c.gamma, c.eps, c.axis),
    "gradient_gamma": lambda c: batchnorm.gradient_gamma(c.y, c.g, c.eps, c.axis),
    "gradient_beta": lambda c: batchnorm.gradient_beta(c.g, c.axis),
}


def magnitude(name, c):
    """A bound on the terms of a formula in each unit: norms of what is multiplied in it."""
    g, u, q = (unit_norm(a, c.axis) for a in (c.g, c.u, c.q))
    gamma, sigma = np.abs(to_numpy(c.gamma)), deviation(c.y, c.eps, c.axis)
    H = np.max(np.abs(to_numpy(c.h)), axis=c.axis, keepdims=True) + q**2
    root = size(c.y, c.axis) ** 0.5
    curvature = gamma / sigma**2 * g * u
    return {
        "forward": gamma * root + np.abs(to_numpy(c.beta)),
        "jvp": gamma / sigma * u,
        "gradient": gamma / sigma * g,
        "hvp": (gamma / sigma) ** 2 * H * u + curvature,
        "curvature": curvature,
        "gradient_gamma": g * root,
        "gradient_beta": g * root,
    }[name]


def check(name, formula, case, expected):
    """Compare a formula with what was computed otherwise."""
    actual = formula(case)
    expected = expected.reshape(actual.shape)
    assert_close(actual, expected, magnitude(name, case), case.y, case.eps, case.axis)


@pytest.mark.parametrize("offset", [0.0, SHIFT])
@pytest.mark.parametrize("eps", [0.0, 1e-5, 1.0])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", FORMULAS)
def test_formula_is_what_autograd_computes(name, layer, layout, eps, offset):
    case = make_case(layout, eps, offset)
    check(name, FORMULAS[name], case, by_autograd(name, LAYERS[layer], case))


def first_order(direction, scale="gamma", centring=1, weight=lambda m: 1 / m, ddof=0, power=1):
    """Fact C.1 with a choice of mistakes; without any of them, the fact itself."""

    def formula(c):
        m, v = size(c.y, c.axis), getattr(c, direction)
        centred = c.y - mean(c.y, c.axis)
        sigma = sqrt(inner(centred, centred, c.axis) / (m - ddof) + c.eps)
        yhat = centred / sigma
        taken = centring * mean(v, c.axis) + weight(m) * yhat * inner(yhat, v, c.axis)
        return (c.gamma if scale == "gamma" else 1) / sigma**power * (v - taken)

    return formula


def second_order(weights=(1, 1, 1, 3), centred=True, ddof=0, per=lambda m: 1 / m):
    """Equation (42) with a choice of mistakes; without any of them, the equation itself."""

    def formula(c):
        m, y = size(c.y, c.axis), c.y - mean(c.y, c.axis)
        sigma = sqrt(inner(y, y, c.axis) / (m - ddof) + c.eps)
        yhat = y / sigma
        g, u = (v - centred * mean(v, c.axis) for v in (c.g, c.u))
        yhat_g, yhat_u = inner(yhat, g, c.axis), inner(yhat, u, c.axis)
        a, b, k, three = weights
        bent = a * g * yhat_u + b * yhat * inner(g, u, c.axis) + k * u * yhat_g
        return c.gamma * per(m) / sigma**2 * (bent - three * yhat * yhat_g * yhat_u / m)

    return formula


def with_the_loss(curvature):
    return lambda c: FORMULAS["hvp"](c) + FORMULAS["curvature"](c) - curvature(c)


FIRST = {
    "sign": {"weight": lambda m: -1 / m},
    "dropped projection": {"weight": lambda m: 0},
    "1/sqrt(m) for 1/m": {"weight": lambda m: m**-0.5},
    "missing centring": {"centring": 0},
    "m - 1 for m": {"ddof": 1},
    "1/sigma^2 for 1/sigma": {"power": 2},
    "gamma forgotten": {"scale": None},
}
SECOND = {
    "sign": {"weights": (1, 1, -1, 3)},
    "dropped g yhat'": {"weights": (0, 1, 1, 3)},
    "dropped yhat g'": {"weights": (1, 0, 1, 3)},
    "2 for 3": {"weights": (1, 1, 1, 2)},
    "1/sqrt(m) for 1/m": {"per": lambda m: m**-0.5},
    "missing centring": {"centred": False},
    "m - 1 for m": {"ddof": 1},
}
PLANTED = (
    [("gradient", w, first_order("g", **FIRST[w])) for w in FIRST]
    + [("jvp", w, first_order("u", **FIRST[w])) for w in FIRST]
    + [("curvature", w, second_order(**SECOND[w])) for w in SECOND]
    + [("hvp", w, with_the_loss(second_order(**SECOND[w]))) for w in SECOND]
    + [("gradient_gamma", "raw y", lambda c: inner(c.g, c.y, c.axis))]
    + [("gradient_beta", "mean for sum", lambda c: mean(c.g, c.axis))]
    + [("forward", "sign of beta", lambda c: FORMULAS["forward"](c) - 2 * c.beta)]
)


@pytest.mark.parametrize("eps", [0.0, 1e-5, 1.0])
def test_without_a_planted_mistake_the_comparison_holds(eps):
    case = make_case(eps=eps)
    for name, formula in [
        ("gradient", first_order("g")),
        ("jvp", first_order("u")),
        ("curvature", second_order()),
        ("hvp", with_the_loss(second_order())),
    ]:
        check(name, formula, case, by_autograd(name, primitive, case))


@pytest.mark.parametrize("offset", [0.0, SHIFT])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("name", "mistake", "formula"), PLANTED, ids=lambda a: a)
def test_comparison_sees_a_planted_mistake(name, mistake, formula, layout, offset):
    case = make_case(layout, 1e-5, offset)
    with pytest.raises(AssertionError, match="differ by"):
        check(name, formula, case, by_autograd(name, primitive, case))


def test_loss_may_tie_units_together():
    case = make_case()

    def loss(z):
        return torch.logsumexp(z.flatten(), 0)

    def layer(y):
        return primitive(y, case.gamma, case.beta, case.eps, case.axis)

    slope, z = torch.func.grad(loss), layer(case.y)
    expected = torch.func.jvp(torch.func.grad(lambda y: loss(layer(y))), (case.y,), (case.u,))[1]
    actual = batchnorm.hvp(
        case.y, slope(z), lambda w: torch.func.jvp(slope, (z,), (w,))[1], case.u, case.gamma
    )
    steep = np.max(np.abs(GAMMAS) / deviation(case.y))  # derivatives of the loss are at most 1
    spread = (steep**2 + steep / np.min(deviation(case.y))) * np.linalg.norm(case.u)
    assert_close(actual, expected, spread, case.y)
    with pytest.raises(AssertionError, match="differ by"):
        assert_close(actual + FORMULAS["curvature"](case), expected, spread, case.y)


def degenerate(kind, eps):
    case = make_case("units", eps)
    if kind == "ones upstream":
        return case._replace(g=torch.ones_like(case.g))
    if kind == "constant batch":
        return case._replace(y=torch.full_like(case.y, 3.0))
    m = {"m = 1": 1, "m = 2": 2}[kind]
    return case._replace(**{name: getattr(case, name)[:m] for name in ("y", "g", "u", "h", "q")})


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(
    ("kind", "eps"),
    [(kind, eps) for kind in ("m = 1", "constant batch") for eps in (1e-5, 1.0)]
    + [(kind, eps) for kind in ("m = 2", "ones upstream") for eps in (0.0, 1e-5, 1.0)],
)
@pytest.mark.parametrize("name", FORMULAS)
def test_degenerate_points(name, kind, eps, layer):
    case = degenerate(kind, eps)
    check(name, FORMULAS[name], case, by_autograd(name, LAYERS[layer], case))


DERIVATIVES = ("jvp", "gradient", "hvp", "curvature")


@pytest.mark.parametrize("name", DERIVATIVES)
def test_a_batch_of_one_has_derivatives_exactly_zero(name):
    case = degenerate("m = 1", 1e-5)
    assert torch.all(FORMULAS[name](case) == 0)
    assert torch.all(FORMULAS["forward"](case) == case.beta)
    assert torch.any(first_order("u", centring=0)(case) != 0)


def test_a_batch_of_two_without_epsilon_has_no_derivative():
    case = degenerate("m = 2", 0.0)
    for name in DERIVATIVES:
        check(name, FORMULAS[name], case, torch.zeros_like(case.y))
    with pytest.raises(AssertionError, match="differ by"):
        check("gradient", first_order("g", ddof=1), case, torch.zeros_like(case.y))


def test_a_constant_batch_is_only_centred():
    case = degenerate("constant batch", 1e-5)
    centred = case.gamma / 1e-5**0.5 * (case.u - case.u.mean(0))
    check("jvp", FORMULAS["jvp"], case, centred)
    with pytest.raises(AssertionError, match="differ by"):
        check("jvp", first_order("u", power=2), case, centred)


def cancelling(c):
    """The gradient with the variance as a difference of large numbers."""
    spread = mean(c.y**2, c.axis) - mean(c.y, c.axis) ** 2
    yhat = (c.y - mean(c.y, c.axis)) / (spread + c.eps) ** 0.5
    taken = mean(c.g, c.axis) + yhat * mean(yhat * c.g, c.axis)
    return c.gamma / (spread + c.eps) ** 0.5 * (c.g - taken)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", FORMULAS)
def test_a_large_offset_changes_nothing(name, layout):
    near, far = make_case(layout, 1e-5), make_case(layout, 1e-5, SHIFT)
    assert torch.equal(far.y - SHIFT, near.y)
    check(name, FORMULAS[name], far, FORMULAS[name](near))
    check("gradient", cancelling, near, FORMULAS["gradient"](near))
    with pytest.raises(AssertionError, match="differ by"):
        check("gradient", cancelling, far, FORMULAS["gradient"](near))


@st.composite
def batches(draw):
    """One unit, eps = 0, entries that are eighths: sums, shifts and scalings of them are exact."""
    m = draw(st.integers(2, 8))
    eighths = st.lists(st.integers(-9999, 9999), min_size=m, max_size=m)
    y, g, u = (np.array(draw(eighths)) / 8.0 for _ in range(3))
    assume(np.ptp(y) > 0)
    gamma = np.array([draw(st.integers(-99, 99)) / 8.0])
    return Case(y, g, u, np.zeros(m), np.zeros(m), gamma, np.zeros(1), 0.0, 0)


def invariant(formula, c, a, b):
    """z(ay + b) = z(y)."""
    moved = c._replace(y=a * c.y + b)
    worse = max(moved, c, key=lambda case: condition(case.y))
    assert_close(formula(moved), formula(c), magnitude("forward", c), worse.y)


def orthogonal_to_ones(formula, c):
    """<1, grad> = 0."""
    total = inner(formula(c), np.ones_like(c.y))
    assert_close(total, np.zeros(1), size(c.y) ** 0.5 * magnitude("gradient", c), c.y)


def orthogonal_to_the_batch(formula, c):
    """<y, grad> = 0, when eps = 0."""
    total = inner(formula(c), c.y)
    assert_close(total, np.zeros(1), unit_norm(c.y) * magnitude("gradient", c), c.y)


@given(case=batches(), a=st.integers(1, 99), b=st.integers(-9999, 9999))
@settings(max_examples=50)
def test_properties(case, a, b):
    invariant(FORMULAS["forward"], case, a / 8.0, b / 8.0)
    orthogonal_to_ones(FORMULAS["gradient"], case)
    orthogonal_to_the_batch(FORMULAS["gradient"], case)


@pytest.mark.parametrize(
    ("holds", "wrong"),
    [
        (lambda f, c: invariant(f, c, 3.0, 0.0), lambda c: c.gamma * c.y),
        (lambda f, c: invariant(f, c, 1.0, 5.0), lambda c: c.gamma * c.y / deviation(c.y)),
        (orthogonal_to_ones, first_order("g", centring=0)),
        (orthogonal_to_the_batch, first_order("g", weight=lambda m: 0)),
        (orthogonal_to_the_batch, first_order("g", ddof=1)),
    ],
)
def test_properties_see_a_planted_mistake(holds, wrong):
    case = Case(*(to_numpy(a) for a in make_case("one unit")[:7]), 0.0, 0)
    with pytest.raises(AssertionError, match="differ by"):
        holds(wrong, case)


EPS_BY_UNIT = {"units": [0.0, 1e-2, 3.0], "maps": [0.5, 0.0, 2.0]}
WITH_EPS = {
    "standard_deviation": lambda c: batchnorm.standard_deviation(c.y, c.eps, c.axis),
    "normalize": lambda c: batchnorm.normalize(c.y, c.eps, c.axis),
    "project": lambda c: dense.project(c.y, c.u, c.eps, c.axis),
    "projection": lambda c: dense.projection(c.y, c.eps, c.axis),
    "jacobian": lambda c: dense.jacobian(c.y, c.gamma, c.eps, c.axis),
    **{name: FORMULAS[name] for name in ("forward", "jvp", "gradient", "hvp", "curvature")},
    "gradient_gamma": FORMULAS["gradient_gamma"],
}


def only(case, unit):
    """The case's one unit, with its own gamma, beta and eps."""

    def of(value):
        if not isinstance(value, torch.Tensor) or value.ndim == 0:
            return value
        axis = 1 if value.ndim > 1 else 0
        return value.narrow(axis, unit, 1)

    return case._replace(**{name: of(value) for name, value in case._asdict().items()})


@pytest.mark.parametrize("layout", EPS_BY_UNIT)
@pytest.mark.parametrize("name", WITH_EPS)
def test_each_unit_has_the_epsilon_that_it_is_given(name, layout):
    case = make_case(layout)
    eps = torch.asarray(EPS_BY_UNIT[layout], dtype=torch.float64)
    case = case._replace(eps=eps.reshape(case.gamma.shape))
    together = WITH_EPS[name](case)
    for unit in range(3):
        alone = WITH_EPS[name](only(case, unit))
        axis = together.ndim - 1 if name in ("projection", "jacobian") else 1
        torch.testing.assert_close(together.narrow(axis, unit, 1), alone, rtol=1e-13, atol=1e-13)


LAID_OUT = {
    "Fortran": lambda y: torch.asarray(np.asfortranarray(y.numpy())),
    "every other row": lambda y: y.repeat_interleave(2, 0)[::2],
    "a slice of wider rows": lambda y: torch.nn.functional.pad(y, (2, 3))[..., 2:-3],
    "units outermost": lambda y: y.movedim(1, 0).contiguous().movedim(0, 1),
}


@pytest.mark.parametrize("convert", [torch.asarray, np.asarray], ids=["torch", "numpy"])
@pytest.mark.parametrize("laid_out", LAID_OUT)
@pytest.mark.parametrize("layout", ["units", "maps"])
@pytest.mark.parametrize("name", [*WITH_EPS, "gradient_beta"])
def test_no_layout_of_memory_changes_a_value(name, layout, laid_out, convert):
    formula = (WITH_EPS | FORMULAS)[name]
    case = make_case(layout, 1e-2)
    names = ("y", "g", "u", "h", "q")
    moved = {n: convert(LAID_OUT[laid_out](getattr(case, n))) for n in names}
    assert not (
        moved["y"].flags.c_contiguous if convert is np.asarray else moved["y"].is_contiguous()
    )
    moved |= {n: convert(getattr(case, n)) for n in ("gamma", "beta")}
    np.testing.assert_allclose(
        to_numpy(formula(case._replace(**moved))), to_numpy(formula(case)), rtol=1e-13, atol=1e-13
    )
