"""The preconditioner's formulas against index loops, in every arithmetic, and against autograd."""

from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import array_api_strict
import numpy as np
import pytest
import sympy as sp
import torch
from array_api_compat import device
from test_operations import to_numpy

from theory import preconditioning
from theory.arithmetic.exact import rational_array

STRICT = array_api_strict.__array_namespace_info__()
DOUBLE_DEVICES = [d for d in STRICT.devices() if "float64" in STRICT.dtypes(device=d)]
ROUNDINGS = 64 * 2.0**-53
"""Sums of at most six terms of size one, a few in a row."""

NUMBERS = {
    "H": [[1, -2, "1/2"], [3, 5, -1], [4, "1/3", 7], [-2, 1, 2], ["5/2", 6, -3]],
    "mean": ["3/2", -4, "2/5"],
    "deviation": [2, "3/4", "7/3"],
    "variance": [4, "2/3", "5/7"],
    "W": [[2, -1, "4/3"], ["1/2", 3, -5]],
    "b": [7, "-3/2"],
    "gamma": ["-5/3", 2, "1/4"],
    "beta": [1, "8/3", -2],
    "curvature": ["1/5", -2, 3, "7/2", 1],
    "S": [[(3 * i + i * j) % 7 - 2 for j in range(2, 7)] for i in range(2, 7)],
}
EXACT = SimpleNamespace(**{name: rational_array(x) for name, x in NUMBERS.items()})
Q_SQUARED, EPS_1, EPS_2, RHO = Fraction(3, 2), Fraction(1, 8), Fraction(1, 64), Fraction(3, 4)


def by_loops(entry, *shape):
    """An array entry by entry."""
    result = np.empty(shape, dtype=object)
    for index in np.ndindex(*shape):
        result[index] = entry(*index)
    return result


def augmented(c):
    return by_loops(lambda i, j: c.H[i, j - 1] if j else 1, len(c.H), 1 + len(c.mean))


def means(c, divisor=None):
    N, n = c.H.shape
    return by_loops(lambda j: sum(c.H[i, j] for i in range(N)) / (divisor or N), n)


def variances(c, ddof=0, centred=1):
    (N, n), mu = c.H.shape, means(c)
    squares = by_loops(lambda j: sum((c.H[i, j] - centred * mu[j]) ** 2 for i in range(N)), n)
    return squares / (N - ddof)


def centring(c, sign=-1, row=0):
    def entry(i, j):
        if i == j:
            return 1
        return sign * c.mean[max(i, j) - 1] if (i, j)[row] == 0 else 0

    return by_loops(entry, 4, 4)


def scaling(c, power=-1):
    return by_loops(lambda i, j: (i == j) * (c.deviation[i - 1] ** power if i else 1), 4, 4)


def matrix_product(A, B):
    inside = range(len(B))
    return by_loops(lambda i, j: sum(A[i, k] * B[k, j] for k in inside), A.shape[0], B.shape[1])


def normalized(c, power=1, sign=-1):
    def entry(i, j):
        return (c.H[i, j - 1] + sign * c.mean[j - 1]) / c.deviation[j - 1] ** power if j else 1

    return by_loops(entry, len(c.H), 4)


def squared_correlations(c, centred=1):
    """R_ij |R_ij|: the entries without their roots."""
    (N, n), mu = c.H.shape, means(c)
    D = c.H - centred * mu
    C = by_loops(lambda i, j: sum(D[k, i] * D[k, j] for k in range(N)), n, n)
    return by_loops(lambda i, j: C[i, j] * abs(C[i, j]) / (C[i, i] * C[j, j]), n, n)


def unit_hessian(c, S, power=1):
    Hhat = augmented(c)
    pairs = list(product(range(len(c.H)), repeat=2))
    return by_loops(
        lambda i, j: sum(Hhat[k, i] * S(k, m) ** power * Hhat[m, j] for k, m in pairs), 4, 4
    )


def algorithm(c, q_squared=Q_SQUARED, sign=-1, power=1, sequential=True):
    """Steps 4 and 5 of Algorithm 2, as printed; the result as [G_b; G_W']."""
    outputs, inputs = range(len(c.b)), range(len(c.mean))
    G_b, G_W, old = c.b.copy(), c.W.copy(), c.W
    for i, j in product(outputs, inputs):
        G_W[i, j] = (G_W[i, j] + sign * c.mean[j] * G_b[i]) / c.variance[j] ** power / q_squared
    for i in outputs:
        taken = G_W if sequential else old
        G_b[i] = G_b[i] / q_squared - sum(taken[i, j] * c.mean[j] for j in inputs)
    return np.vstack([G_b, G_W.T])


def by_matrices(c):
    """(1/q^2) P P' [G_b; G_W'], with products of matrices alone."""
    U = centring(c)
    D_squared = by_loops(lambda i, j: (i == j) * (1 / c.variance[i - 1] if i else 1), 4, 4)
    PPt = matrix_product(matrix_product(U, D_squared), U.T)
    return matrix_product(PPt, np.vstack([c.b, c.W.T])) / Q_SQUARED


def regularized(c, largest=max):
    return by_loops(lambda j: c.variance[j] + EPS_1 * largest(c.variance) + EPS_2, 3)


def outputs_of(c, W, b, H):
    return by_loops(lambda i, d: sum(W[d, j] * H[i, j] for j in range(3)) + b[d], 5, 2)


def outputs(c, shift=1, beta=1):
    """What the layer computes from inputs that Batch Normalization transformed."""
    z = (c.H - shift * c.mean) / c.deviation * c.gamma + beta * c.beta
    return outputs_of(c, c.W, c.b, z)


FORMULAS = {
    "augmented": lambda c: preconditioning.augmented(c.H),
    "means": lambda c: preconditioning.means(c.H),
    "variances": lambda c: preconditioning.variances(c.H),
    "squared deviations": lambda c: preconditioning.standard_deviations(c.H) ** 2,
    "centring": lambda c: preconditioning.centring(c.mean),
    "scaling": lambda c: preconditioning.scaling(c.deviation),
    "preconditioner": lambda c: preconditioning.preconditioner(c.mean, c.deviation),
    "features": lambda c: preconditioning.features(c.H, c.mean, c.deviation),
    "normalized": lambda c: preconditioning.normalized(c.H, c.mean, c.deviation),
    "correlations": lambda c: signed_squares(preconditioning.correlations(c.H)),
    "diagonal S": lambda c: preconditioning.unit_hessian(c.H, c.curvature),
    "matrix S": lambda c: preconditioning.unit_hessian(c.H, c.S),
    "operator S": lambda c: preconditioning.unit_hessian(c.H, lambda V: c.S @ V),
    "algorithm 2": lambda c: stacked(c, Q_SQUARED),
    "algorithm 2, q = 1": lambda c: stacked(c, 1),
    "regularized": lambda c: preconditioning.regularized_variance(
        c.variance, like(EPS_1, c), like(EPS_2, c)
    ),
    "running": lambda c: preconditioning.running(c.mean, c.deviation, like(RHO, c)),
    "folded": lambda c: folded(c),
}
LITERAL = {
    "augmented": augmented,
    "means": means,
    "variances": variances,
    "squared deviations": variances,
    "centring": centring,
    "scaling": scaling,
    "preconditioner": lambda c: matrix_product(centring(c), scaling(c)),
    "features": lambda c: normalized(c)[:, 1:],
    "normalized": normalized,
    "correlations": squared_correlations,
    "diagonal S": lambda c: unit_hessian(c, lambda k, m: c.curvature[k] if k == m else 0),
    "matrix S": lambda c: unit_hessian(c, lambda k, m: c.S[k, m]),
    "operator S": lambda c: unit_hessian(c, lambda k, m: c.S[k, m]),
    "algorithm 2": algorithm,
    "algorithm 2, q = 1": lambda c: algorithm(c, q_squared=1),
    "regularized": regularized,
    "running": lambda c: by_loops(lambda j: RHO * c.mean[j] + (1 - RHO) * c.deviation[j], 3),
    "folded": outputs,
}
WRONG = {
    ("augmented", "ones last"): lambda c: np.roll(augmented(c), -1, axis=1),
    ("means", "N - 1"): lambda c: means(c, divisor=len(c.H) - 1),
    ("variances", "N - 1"): lambda c: variances(c, ddof=1),
    ("variances", "not centred"): lambda c: variances(c, centred=0),
    ("squared deviations", "root missing"): lambda c: variances(c) ** 2,
    ("centring", "sign"): lambda c: centring(c, sign=1),
    ("centring", "transposed"): lambda c: centring(c, row=1),
    ("scaling", "inverse"): lambda c: scaling(c, power=1),
    ("scaling", "variance"): lambda c: scaling(c, power=-2),
    ("preconditioner", "D U"): lambda c: matrix_product(scaling(c), centring(c)),
    ("preconditioner", "U alone"): centring,
    ("features", "sign"): lambda c: normalized(c, sign=1)[:, 1:],
    ("normalized", "variance"): lambda c: normalized(c, power=2),
    ("normalized", "not centred"): lambda c: normalized(c, sign=0),
    ("correlations", "not centred"): lambda c: squared_correlations(c, centred=0),
    ("correlations", "sign"): lambda c: abs(squared_correlations(c)),
    ("diagonal S", "S squared"): lambda c: unit_hessian(
        c, lambda k, m: c.curvature[k] if k == m else 0, power=2
    ),
    ("matrix S", "diagonal alone"): lambda c: unit_hessian(
        c, lambda k, m: c.S[k, k] if k == m else 0
    ),
    ("matrix S", "transposed"): lambda c: unit_hessian(c, lambda k, m: c.S[m, k]),
    ("algorithm 2", "step 5 with the old gradient"): lambda c: algorithm(c, sequential=False),
    ("algorithm 2", "sign"): lambda c: algorithm(c, sign=1),
    ("algorithm 2", "not centred"): lambda c: algorithm(c, sign=0),
    ("algorithm 2", "variance squared"): lambda c: algorithm(c, power=2),
    ("algorithm 2", "q^4"): lambda c: algorithm(c, q_squared=Q_SQUARED**2),
    ("algorithm 2", "q = 1"): lambda c: algorithm(c, q_squared=1),
    ("regularized", "smallest"): lambda c: regularized(c, largest=min),
    ("running", "swapped"): lambda c: by_loops(
        lambda j: RHO * c.deviation[j] + (1 - RHO) * c.mean[j], 3
    ),
    ("folded", "mean forgotten"): lambda c: outputs(c, shift=0),
    ("folded", "sign of mean"): lambda c: outputs(c, shift=-1),
    ("folded", "beta forgotten"): lambda c: outputs(c, beta=0),
}


def like(number, c):
    """A rational number as the case's arithmetic has it."""
    return number if getattr(c.H.dtype, "kind", "") == "O" else float(number)


def signed_squares(R):
    return R * abs(R)


def stacked(c, q_squared):
    q_squared = like(q_squared, c)
    G_b, G_W = preconditioning.preconditioned_gradient(
        c.b, c.W, c.mean, c.variance, q_squared=q_squared
    )
    whole = to_numpy(G_W)
    return np.vstack([to_numpy(G_b), whole.T])


def folded(c):
    W, b = preconditioning.folded(c.W, c.b, c.gamma, c.beta, c.mean, c.deviation)
    return to_numpy(c.H) @ to_numpy(W).T + to_numpy(b)


def floats(convert=np.asarray):
    return SimpleNamespace(**{name: convert(x.astype(float)) for name, x in vars(EXACT).items()})


def assert_same(actual, expected):
    """Equal, as exact numbers; floats up to a few roundings of the largest entry."""
    actual = to_numpy(actual)
    assert actual.shape == expected.shape
    if actual.dtype == object:
        assert np.all(actual == expected), (actual, expected)
        return
    expected = expected.astype(float)
    error = np.max(np.abs(actual - expected))
    assert error <= ROUNDINGS * np.max(np.abs(expected)), f"differ by {error:.2e}"


ARITHMETICS = {
    "exact": lambda: EXACT,
    "numpy": floats,
    "torch": lambda: floats(torch.asarray),
}


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
@pytest.mark.parametrize("name", FORMULAS)
def test_formula_is_what_loops_give(name, arithmetic):
    assert_same(FORMULAS[name](ARITHMETICS[arithmetic]()), LITERAL[name](EXACT))


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
@pytest.mark.parametrize(("name", "mistake"), WRONG)
def test_comparison_sees_a_planted_mistake(name, mistake, arithmetic):
    with pytest.raises(AssertionError):
        assert_same(FORMULAS[name](ARITHMETICS[arithmetic]()), WRONG[name, mistake](EXACT))


def test_algorithm_2_is_the_product_with_the_preconditioner():
    assert_same(algorithm(EXACT), by_matrices(EXACT))
    P = preconditioning.preconditioner(EXACT.mean, EXACT.deviation)
    G = preconditioning.preconditioned_gradient(EXACT.b, EXACT.W, EXACT.mean, EXACT.deviation**2)
    assert_same(np.vstack([G[0], G[1].T]), P @ P.T @ np.vstack([EXACT.b, EXACT.W.T]))


def test_batch_statistics_leave_the_identity_and_the_correlations():
    """Theorem 3: the Gram matrix of the normalized inputs is N diag(1, R)."""
    H = floats().H
    Ghat = preconditioning.normalized(
        H, preconditioning.means(H), preconditioning.standard_deviations(H)
    )
    expected = np.eye(4)
    expected[1:, 1:] = np.corrcoef(H.T)
    assert_same(Ghat.T @ Ghat / len(H), expected)
    assert_same(preconditioning.correlations(H), expected[1:, 1:])
    assert_same(preconditioning.standard_deviations(H, 0.5), np.sqrt(np.var(H, axis=0) + 0.5))
    assert np.all(np.diagonal(preconditioning.correlations(H)) == 1)


def test_every_entry_has_its_own_root():
    """Roots of different radicands stand in one matrix, exactly."""
    R = preconditioning.correlations(EXACT.H)
    assert np.all(R == R.T)
    assert len({str(entry.d) for entry in R.ravel()}) == 4
    assert_same(R.astype(float), np.corrcoef(floats().H.T))


@pytest.mark.parametrize(
    ("N", "n", "expected"), [(60, 100, Fraction(5, 3)), (100, 60, 1), (7, 7, 1)]
)
def test_scale_factor(N, n, expected):
    assert preconditioning.scale_factor(Fraction(N), n) == expected
    assert preconditioning.scale_factor(N, n) == float(expected)


def test_defaults_are_those_of_the_algorithm():
    variance = np.array([1.0, 4.0])
    assert_same(preconditioning.regularized_variance(variance), np.array([1.0401, 4.0401]))
    assert_same(preconditioning.running(variance, np.zeros(2)), 0.99 * variance)


def test_symbols_prove_it_for_two_examples_and_two_inputs():
    H = np.array(sp.symbols("h:4")).reshape(2, 2)
    W = np.array(sp.symbols("w:2")).reshape(1, 2)
    b, mean, s = (np.array(sp.symbols(names)) for names in ("b:1", "mu:2", "s:2"))
    P = preconditioning.preconditioner(mean, s)
    G_b, G_W = preconditioning.preconditioned_gradient(b, W, mean, s * s)
    differences = [
        preconditioning.augmented(H) @ P - preconditioning.normalized(H, mean, s),
        P - preconditioning.centring(mean) @ preconditioning.scaling(s),
        P @ P.T @ np.vstack([b, W.T]) - np.vstack([G_b, G_W.T]),
    ]
    assert all(sp.simplify(entry) == 0 for matrix in differences for entry in matrix.ravel())
    spread = preconditioning.variances(H) - (H[0] - H[1]) ** 2 / 4
    assert [sp.expand(entry) for entry in spread] == [0, 0]


@pytest.mark.parametrize("where", DOUBLE_DEVICES, ids=str)
def test_strict_arrays_keep_their_device_and_give_what_numpy_gives(where):
    c, plain = floats(lambda a: array_api_strict.asarray(a, device=where)), floats()
    for name, formula in FORMULAS.items():
        if name not in ("algorithm 2", "algorithm 2, q = 1", "folded"):
            compare_strict(formula(c), formula(plain), where)
    for function, arguments in [
        (preconditioning.preconditioned_gradient, ("b", "W", "mean", "variance")),
        (preconditioning.folded, ("W", "b", "gamma", "beta", "mean", "deviation")),
    ]:
        results = function(*(getattr(c, name) for name in arguments))
        expected = function(*(getattr(plain, name) for name in arguments))
        for result, other in zip(results, expected, strict=True):
            compare_strict(result, other, where)


def compare_strict(result, expected, where):
    assert device(result) == where
    assert result.dtype == array_api_strict.float64
    assert_same(np.asarray(result.to_device(STRICT.default_device())), expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_torch_keeps_its_dtype(dtype):
    c = floats(lambda a: torch.asarray(a, dtype=dtype))
    results = [
        FORMULAS[name](c) for name in FORMULAS if "algorithm" not in name and name != "folded"
    ]
    results += preconditioning.preconditioned_gradient(c.b, c.W, c.mean, c.variance, q_squared=1.5)
    results += preconditioning.folded(c.W, c.b, 1, 0, c.mean, c.deviation)
    assert {result.dtype for result in results} == {dtype}


def test_gradient_step_on_the_normalized_network_is_a_preconditioned_step_on_the_folded():
    """Prop. 7 with q = 1: statistics of the batch, through which no gradient passes."""
    c, step = floats(torch.asarray), 0.1
    mean, deviation = preconditioning.means(c.H), preconditioning.standard_deviations(c.H)
    G = preconditioning.features(c.H, mean, deviation)

    def fold(W, b):
        return preconditioning.folded(W, b, 1, 0, mean, deviation)

    def gradients(W, b, inputs):
        def loss(W, b):
            return torch.logsumexp(inputs @ W.T + b, 1).mean()

        return torch.func.grad(loss, (0, 1))(W, b)

    grad_W, grad_b = gradients(c.W, c.b, G)
    expected = fold(c.W - step * grad_W, c.b - step * grad_b)

    What, bhat = fold(c.W, c.b)
    grad_W, grad_b = gradients(What, bhat, c.H)

    def stepped(q_squared):
        G_b, G_W = preconditioning.preconditioned_gradient(
            grad_b, grad_W, mean, deviation**2, q_squared=q_squared
        )
        return What - step * G_W, bhat - step * G_b

    for actual, other, scaled in zip(stepped(1), expected, stepped(1.5), strict=True):
        assert_same(actual, to_numpy(other))
        with pytest.raises(AssertionError):
            assert_same(scaled, to_numpy(other))


def test_unit_hessian_is_what_autograd_computes():
    c = floats(torch.asarray)
    Hhat, N = preconditioning.augmented(c.H), len(c.H)
    targets, what = c.curvature, torch.cat([c.b[:1], c.W[0]]) / 8

    def mean_loss(a):
        return (torch.nn.functional.softplus(a) - targets * a**2).mean()

    def coupled_loss(a):
        return mean_loss(a - a.mean())

    hessian = torch.func.hessian(lambda w: mean_loss(Hhat @ w))(what)
    curvature = torch.func.hessian(mean_loss)(Hhat @ what)
    assert_same(preconditioning.unit_hessian(c.H, torch.diagonal(curvature)), to_numpy(hessian))
    double = N * torch.diagonal(curvature)
    with pytest.raises(AssertionError):
        assert_same(preconditioning.unit_hessian(c.H, double), to_numpy(hessian))

    hessian = torch.func.hessian(lambda w: coupled_loss(Hhat @ w))(what)
    curvature = torch.func.hessian(coupled_loss)(Hhat @ what)
    assert_same(preconditioning.unit_hessian(c.H, curvature), to_numpy(hessian))
    alone = torch.diagonal(curvature)
    with pytest.raises(AssertionError):
        assert_same(preconditioning.unit_hessian(c.H, alone), to_numpy(hessian))


class Counted:
    """A number that counts what is done with it."""

    operations = 0

    def _counted(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented  # entry by entry
        Counted.operations += 1
        return Counted()

    __add__ = __radd__ = __sub__ = __rsub__ = _counted
    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _counted

    def __pow__(self, power):
        return self


def test_one_step_takes_five_operations_for_each_weight():
    """Algorithm 2 as printed takes six: it divides each weight by q^2 besides."""
    p, n = 7, 11

    def entries(*shape):
        return by_loops(lambda *index: Counted(), *shape)

    c = SimpleNamespace(b=entries(p), W=entries(p, n), mean=entries(n), variance=entries(n))
    Counted.operations = 0
    preconditioning.preconditioned_gradient(c.b, c.W, c.mean, c.variance, q_squared=Counted())
    assert Counted.operations == 5 * p * n + n + p

    Counted.operations = 0
    algorithm(c, q_squared=Counted())
    signs, zeros = p * n, p  # what the loops here multiply by -1, and add to the first 0
    assert Counted.operations - signs - zeros == 6 * p * n + p
