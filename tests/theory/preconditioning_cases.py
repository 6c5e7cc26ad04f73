"""The preconditioner's formulas as index loops, and wrong ones, over one layer of rationals."""

from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import numpy as np
from test_operations import to_numpy

from theory import preconditioning
from theory.arithmetic.exact import rational_array

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
