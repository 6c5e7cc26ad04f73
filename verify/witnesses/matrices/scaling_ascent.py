r"""Theorem 4 where it is nearly tight: an ascent of what normalization loses to the best scaling.

.. math:: \max_R\ \frac{\kappa(R)}{\min_{D_0} \kappa(D_0 R D_0)}, \qquad R \succ 0,\ R_{ii} = 1

with R the correlations of n features, which is the largest square of the factor in Theorem 4 at
full rank.  The best scaling is a semidefinite programme's, and its dual solution (V, W) is what the
ascent needs of the minimum's derivative:
:math:`WW^\top/\langle R, WW^\top\rangle - VV^\top/\langle R, VV^\top\rangle`.

Half of the ascents start anywhere, half near the family of unit vectors v and :math:`\epsilon \to
0` that comes as near as one likes to n/2: with :math:`v_1^2 = 1/2`, :math:`v_i^2` small for i > 2,
and w = v but for the sign of its first entry, :math:`B = vv^\top + \epsilon ww^\top + \dots` is
best scaled as it is, since v and w have the same squares, and scaling it to a unit diagonal costs
:math:`n\sum v_i^4 \to n/2`.  More features can lose more (:mod:`theory.lange2022.theorem_4`).

A token is the correlations themselves, ``scaling:R21,R31,R32,...``.

Source: van der Sluis 1969, for the factor n; Boyd et al. 1994 for the minimum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from math import isqrt
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.linalg import helmert
from scipy.optimize import minimize

from theory.matrix_claim import MatrixClaim
from verify.optimal_scaling import optimal_scaling
from verify.record import Record
from verify.settings import Settings
from verify.subjects.matrices import Layer, of_layers
from verify.tolerance import Array
from verify.witnesses.matrices import floats
from verify.witnesses.matrices.best_scaling import SOLVER, not_run
from verify.witnesses.records import recorded

WITNESS = "scaling ascent"
SIZES = (3, 4, 5, 6)
"""Numbers of features: of one and two the scaling is best."""
SHARE = 16
"""One ascent of each kind for so many of other ascents, whose steps are cheaper."""
CAP = 1e6
"""Of the best scaling's squared condition number: beyond it the solver's error would count."""
SINGULAR = 1e-9
"""Below that the smallest eigenvalue is not trusted, and an ascent turns back."""


def examine(claims: Sequence[MatrixClaim], settings: Settings) -> Iterator[Record]:
    """Examine claims at the ends of ascents, where the bound is nearly tight."""
    if find_spec(SOLVER) is None:
        yield from not_run(claims, WITNESS)
        return
    ends = [layer(R, kind) for kind, R in ascents(settings)]
    yield from recorded(claims, WITNESS, floats.examine_together(claims, ends, settings.seed))


def ascents(settings: Settings) -> Iterator[tuple[str, Array]]:
    """Yield the kind of start and the correlations at the end of each ascent."""
    for n in SIZES:
        for index in range(max(1, settings.budget.restarts // SHARE)):
            rng = np.random.default_rng([settings.seed, n, index])
            for kind, start in (("anywhere", anywhere), ("near n/2", near_half)):
                yield f"{kind}, n = {n}", climbed(start(rng, n), settings.budget.steps)


def anywhere(rng: Generator, n: int) -> Array:
    """Return a root of a matrix without any structure."""
    return rng.normal(size=(n, n))


def near_half(rng: Generator, n: int) -> Array:
    """Return a root of a matrix near the family that comes near n/2."""
    small = 10 ** rng.uniform(-2, -0.5, size=n - 2) / n
    v = np.sqrt([0.5, 0.5 - np.sum(small**2), *small**2])
    w = v * np.where(np.arange(n) == 0, -1, 1)
    rest = np.linalg.svd(np.stack([v, w]))[2][2:]
    smallest = 10 ** rng.uniform(-5, -2)
    between = smallest * 10 ** rng.uniform(0, 2, size=n - 2)
    root = np.stack([v, smallest**0.5 * w, *(between**0.5 * rest.T).T], axis=1)
    return root * (1 + 10 ** rng.uniform(-4, -1) * rng.normal(size=root.shape))


def climbed(start: Array, steps: int) -> Array:
    """Return the correlations at the end of an ascent from a root of a matrix."""
    n = len(start)
    found = minimize(
        lambda x: objective(x.reshape(n, n)),
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": steps},
    )
    return correlations(found.x.reshape(n, n))


def correlations(F: Array) -> Array:
    """Return FF', scaled to a diagonal of ones, symmetric to the last bit."""
    G = F / np.linalg.norm(F, axis=1)[:, None]
    R = (G @ G.T + (G @ G.T).T) / 2
    np.fill_diagonal(R, 1.0)
    return R


def objective(F: Array) -> tuple[float, Array]:
    """Return minus the logarithm of the quotient at FF' scaled, and its derivative in F.

    Beyond :data:`CAP` the minimum is held against the quotient.
    """
    R = correlations(F)
    values, vectors = np.linalg.eigh(R)
    if values[0] < SINGULAR:
        return 0.0, np.zeros(F.size)
    try:
        best = optimal_scaling(R)
    except RuntimeError:  # the solver gave up, which it does next to singular matrices only
        return 0.0, np.zeros(F.size)
    WW, VV = best.W @ best.W.T, best.V @ best.V.T
    slope_of_minimum = WW / np.sum(WW * R) - VV / np.sum(VV * R)
    minimum = 2 * np.log(best.kappa)
    first, last = vectors[:, -1], vectors[:, 0]
    slope = np.outer(first, first) / values[-1] - np.outer(last, last) / values[0]
    excess = max(0.0, minimum - np.log(CAP))
    value = np.log(values[-1] / values[0]) - minimum - excess
    slope = slope - (1 + (excess > 0)) * slope_of_minimum
    norms = np.linalg.norm(F, axis=1)[:, None]
    G = F / norms
    in_G = 2 * slope @ G
    return -value, -((in_G - np.sum(in_G * G, axis=1)[:, None] * G) / norms).ravel()


def layer(R: Array, stratum: str = "") -> Layer:
    """Return a layer of n + 1 examples whose features have these correlations, best scaled."""
    n = len(R)
    centred = helmert(n + 1).T * (n + 1) ** 0.5  # orthogonal to the ones
    D0 = optimal_scaling(R).D0
    written = ",".join(repr(float(x)) for x in R[np.tril_indices(n, -1)])
    shapes = of_layers(n + 1, n, 1)
    ones = ("gamma", "deviation", "curvature", "direction", "step", "q")
    known: dict[str, Any] = {
        name: np.full(shape, float(name in ones))[()] for name, shape in shapes.items()
    }
    known["H"] = centred @ np.linalg.cholesky(R).T
    known["scaling"] = np.append(D0[0], D0)  # the ones are like a feature that no other goes with
    return Layer(**known, stratum=stratum, token=f"scaling:{written}")


def rebuild(token: str) -> Layer:
    """Return the layer that a token names.

    Raises:
        ValueError: it names none.
    """
    expected = "expected scaling:R21,R31,R32,... with n(n - 1)/2 correlations"
    try:
        entries = [float(text) for text in token.partition(":")[2].split(",")]
        n = (1 + isqrt(1 + 8 * len(entries))) // 2
        R = np.eye(n)
        R[np.tril_indices(n, -1)] = entries
    except ValueError:
        raise ValueError(f"{token!r} names no correlations; {expected}") from None
    R = R + np.tril(R, -1).T
    if not np.linalg.eigvalsh(R)[0] > 0:
        raise ValueError(f"{token!r} is not positive definite; {expected} of independent features")
    return layer(R)
