"""What the other formulas of the library give, next to NumPy's, PyTorch's and literal sums."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import torch
from formulas import OF_BATCHNORM, OF_LETTERS, OF_RUNNING, Entry
from torch.autograd.functional import hessian, jacobian
from torch.nn import functional

from theory import convolution, dense, family, lp_normalization, preconditioning
from theory.convolution.windows import Geometry, pad

RNG = np.random.default_rng(7)


def numbers(*shape: int) -> Any:
    """Random numbers, no two alike."""
    return RNG.normal(size=shape) + 0.25


def positive(*shape: int) -> Any:
    """Random numbers from one half to two."""
    return RNG.uniform(0.5, 2, size=shape)


N, n, p = 5, 3, 2
H, W, b = numbers(N, n), numbers(p, n), numbers(p)
GAMMA, BETA, MEAN, DEVIATION, EPS = numbers(n), numbers(n), numbers(n), positive(n), 0.75
HHAT = np.column_stack([np.ones(N), H])
U = np.eye(n + 1)
U[0, 1:] = -MEAN
P = U @ np.diag([1, *(1 / DEVIATION)])
S = numbers(N, N)
GRADIENTS = numbers(p), numbers(p, n)
UPDATE = P @ P.T @ np.vstack([GRADIENTS[0], GRADIENTS[1].T]) / 3


def folded_output() -> Any:
    """The vanilla layer's output on the raw inputs."""
    weights, bias = preconditioning.folded(W, b, GAMMA, BETA, MEAN, DEVIATION)
    return H @ weights.T + bias


OF_PRECONDITIONING: dict[str, Entry] = {
    "augmented": (lambda: preconditioning.augmented(H), HHAT),
    "means": (lambda: preconditioning.means(H), np.mean(H, axis=0)),
    "variances": (lambda: preconditioning.variances(H), np.var(H, axis=0)),
    "standard_deviations": (
        lambda: preconditioning.standard_deviations(H, EPS),
        np.sqrt(np.var(H, axis=0) + EPS),
    ),
    "centring": (lambda: preconditioning.centring(MEAN), U),
    "scaling": (lambda: preconditioning.scaling(DEVIATION), np.diag([1, *(1 / DEVIATION)])),
    "preconditioner": (lambda: preconditioning.preconditioner(MEAN, DEVIATION), P),
    "features": (
        lambda: preconditioning.features(H, MEAN, DEVIATION),
        [[(H[i, j] - MEAN[j]) / DEVIATION[j] for j in range(n)] for i in range(N)],
    ),
    "normalized": (lambda: preconditioning.normalized(H, MEAN, DEVIATION), HHAT @ P),
    "correlations": (lambda: preconditioning.correlations(H), np.corrcoef(H.T)),
    "unit_hessian of a diagonal": (
        lambda: preconditioning.unit_hessian(H, S[0]),
        HHAT.T @ np.diag(S[0]) @ HHAT,
    ),
    "unit_hessian of a matrix": (
        lambda: preconditioning.unit_hessian(H, S),
        HHAT.T @ S @ HHAT,
    ),
    "unit_hessian of an operator": (
        lambda: preconditioning.unit_hessian(H, lambda V: S @ V),
        HHAT.T @ S @ HHAT,
    ),
    "preconditioned_gradient": (
        lambda: np.vstack(
            [
                part.T.reshape(-1, p)
                for part in preconditioning.preconditioned_gradient(
                    *GRADIENTS, MEAN, DEVIATION**2, q_squared=3
                )
            ]
        ),
        UPDATE,
    ),
    "regularized_variance": (
        lambda: preconditioning.regularized_variance(DEVIATION, 0.25, 0.125),
        [d + 0.25 * max(DEVIATION) + 0.125 for d in DEVIATION],
    ),
    "regularized_variance as in the paper": (
        lambda: preconditioning.regularized_variance(DEVIATION),
        [d + 0.01 * max(DEVIATION) + 0.0001 for d in DEVIATION],
    ),
    "running": (
        lambda: preconditioning.running(MEAN, GAMMA, 0.75),
        MEAN + (GAMMA - MEAN) / 4,
    ),
    "running as in the paper": (
        lambda: preconditioning.running(MEAN, GAMMA),
        MEAN + (GAMMA - MEAN) / 100,
    ),
    "scale_factor": (
        lambda: [preconditioning.scale_factor(4.0, 6.0), preconditioning.scale_factor(6.0, 4.0)],
        [1.5, 1],
    ),
    "folded": (folded_output, (GAMMA * (H - MEAN) / DEVIATION + BETA) @ W.T + b),
}

MAPS, DIRECTION, UPSTREAM = numbers(3, 2, 2, 2), numbers(3, 2, 2, 2), numbers(3, 2, 2, 2)
SCALES, SHIFTS, BATCH = numbers(2).reshape(2, 1, 1), numbers(2).reshape(2, 1, 1), (0, 2, 3)


def autograd_of(layer: Callable[[Any], Any]) -> tuple[Any, Any, Any]:
    """A layer's output, its Jacobian along the direction, and the gradient of the upstream."""
    y, u, g = map(torch.tensor, (MAPS, DIRECTION, UPSTREAM))
    value, along = torch.autograd.functional.jvp(layer, y, u)
    return value.numpy(), along.numpy(), torch.autograd.functional.vjp(layer, y, g)[1].numpy()


def of_the_norm(exponent: float) -> dict[str, Entry]:
    """The normalisation by one average norm."""

    def average(y: Any) -> Any:
        if exponent == inf:
            return y.abs().amax(BATCH, keepdim=True) + EPS
        return ((y.abs() ** exponent).mean(BATCH, keepdim=True) + EPS) ** (1 / exponent)

    def standardized(y: Any) -> Any:
        return (y - y.mean(BATCH, keepdim=True)) / average(y)

    def layer(y: Any) -> Any:
        return torch.tensor(SCALES) * standardized(y) + torch.tensor(SHIFTS)

    value, along, back = autograd_of(layer)
    y = torch.tensor(MAPS)
    m = MAPS.size / 2
    slopes = m * torch.autograd.functional.vjp(lambda x: average(x).sum(), y)[1].numpy()
    by_scale = (torch.tensor(UPSTREAM) * standardized(y)).sum(BATCH).numpy().reshape(1, 2, 1, 1)
    last = {"eps": EPS, "axis": BATCH}
    return {
        f"power_mean {exponent}": (
            lambda: lp_normalization.power_mean(MAPS, exponent, **last),
            average(y).numpy(),
        ),
        f"normalize {exponent}": (
            lambda: lp_normalization.normalize(MAPS, exponent, **last),
            standardized(y).numpy(),
        ),
        f"forward {exponent}": (
            lambda: lp_normalization.forward(MAPS, exponent, SCALES, SHIFTS, **last),
            value,
        ),
        f"slopes {exponent}": (lambda: lp_normalization.slopes(MAPS, exponent, **last), slopes),
        f"jvp {exponent}": (
            lambda: lp_normalization.jvp(MAPS, DIRECTION, exponent, SCALES, **last),
            along,
        ),
        f"gradient {exponent}": (
            lambda: lp_normalization.gradient(MAPS, UPSTREAM, exponent, SCALES, **last),
            back,
        ),
        f"gradient_gamma {exponent}": (
            lambda: lp_normalization.gradient_gamma(MAPS, UPSTREAM, exponent, **last),
            by_scale,
        ),
    }


OF_THE_NORMS = {k: v for exponent in (1, 2, 3, inf) for k, v in of_the_norm(exponent).items()}

CURVATURE = numbers(12, 12, 2)
CURVATURE = CURVATURE + CURVATURE.transpose(1, 0, 2)


def rows_of(maps: Any) -> Any:
    """Maps as (batch * height * width, channel)."""
    return torch.as_tensor(maps).permute(*BATCH, 1).reshape(-1, 2)


def of_channel(channel: int, *, is_hessian: bool) -> Any:
    """The Jacobian or the Hessian of one channel, by autograd."""
    y, g = (rows_of(maps)[:, channel] for maps in (MAPS, UPSTREAM))
    gamma = SCALES[channel].item()
    curvature = torch.tensor(CURVATURE[:, :, channel])

    def layer(x: Any) -> Any:
        centred = x - x.mean()
        return gamma * centred / ((centred**2).mean() + EPS).sqrt()

    if not is_hessian:
        return jacobian(layer, y).numpy()
    z = layer(y)
    constant = g - curvature @ z
    return hessian(lambda x: constant @ layer(x) + layer(x) @ curvature @ layer(x) / 2, y).numpy()


JACOBIANS = np.stack([of_channel(c, is_hessian=False) for c in range(2)], axis=2)
HESSIANS = np.stack([of_channel(c, is_hessian=True) for c in range(2)], axis=2)
SIGMAS = np.sqrt(np.var(MAPS, axis=BATCH) + EPS)
PROJECTIONS = JACOBIANS * SIGMAS / SCALES.ravel()
PROJECTED = np.einsum("bkc,kc->bc", PROJECTIONS, rows_of(DIRECTION).numpy())
OF_DENSE: dict[str, Entry] = {
    "project": (
        lambda: rows_of(dense.project(MAPS, DIRECTION, EPS, BATCH)).numpy(),
        PROJECTED,
    ),
    "projection": (lambda: dense.projection(MAPS, EPS, BATCH), PROJECTIONS),
    "jacobian": (lambda: dense.jacobian(MAPS, SCALES, EPS, BATCH), JACOBIANS),
    "hessian": (
        lambda: dense.hessian(MAPS, UPSTREAM, CURVATURE, SCALES, EPS, BATCH),
        HESSIANS,
    ),
    "jacobian of a unit": (
        lambda: dense.jacobian(rows_of(MAPS).numpy()[:, 0], SCALES[0].item(), EPS),
        JACOBIANS[:, :, 0],
    ),
}

C, V, X = numbers(4, 3), numbers(4, 3), numbers(4, 3)


def standardized(c: Any) -> Any:
    """RMS normalisation of the columns."""
    return c / ((c**2).mean(0) + EPS).sqrt()


def derived(*directions: Any) -> Any:
    """A derivative of it along directions, by autograd."""
    function = standardized
    for direction in map(torch.tensor, directions):
        function = _along(function, direction)
    return function(torch.tensor(C)).numpy()


def _along(function: Callable[[Any], Any], direction: Any) -> Callable[[Any], Any]:
    return lambda c: torch.func.jvp(function, (c,), (direction,))[1]


YHAT, SIGMA = standardized(torch.tensor(C)).numpy(), np.sqrt(np.mean(C**2, axis=0) + EPS)
OF_THE_FAMILY: dict[str, Entry] = {
    "standardize": (lambda: np.vstack(family.standardize(C, EPS)), np.vstack([YHAT, SIGMA])),
    "first": (lambda: family.first(YHAT, SIGMA, V), derived(V)),
    "second": (lambda: family.second(YHAT, SIGMA, V, X), derived(V, X)),
    "third": (lambda: family.third(YHAT, SIGMA, V, X, V - X), derived(V, X, V - X)),
}

IMAGES, BIAS, OUT = numbers(3, 2, 6, 5), numbers(4), numbers(3, 4, 6, 5)
KERNELS = {3: numbers(4, 2, 3, 3), 5: numbers(4, 2, 5, 5)}
PLACES: tuple[tuple[int, dict[str, Any]], ...] = (
    (3, {}), (5, {}), (3, {"stride": 2}), (3, {"dilation": 2}), (5, {"padding": "valid"}),
    (3, {"chunk": 1}),
)  # fmt: skip


def unfolded(
    kernel: int, stride: int = 1, dilation: int = 1, padding: str = "same", **_: Any
) -> Any:
    """The unfolded matrix with its column of ones, by PyTorch."""
    margin = kernel // 2 * dilation if padding == "same" else 0
    columns = functional.unfold(
        torch.tensor(IMAGES), kernel, dilation=dilation, padding=margin, stride=stride
    )
    rows = columns.permute(0, 2, 1).reshape(-1, columns.shape[1]).numpy()
    return np.column_stack([np.ones(len(rows)), rows])


def outputs_as_rows(maps: Any) -> Any:
    """Maps as (batch * height * width, output)."""
    return maps.transpose(0, 2, 3, 1).reshape(-1, maps.shape[1])


def at(k: int, place: dict[str, Any]) -> dict[str, Entry]:
    """The convolution's formulas for one kernel and geometry."""
    matrix, kernel = unfolded(k, **place), KERNELS[k]
    whole = {name: value for name, value in place.items() if name != "chunk"}
    r, s = functional.conv2d(
        torch.tensor(IMAGES), torch.tensor(kernel),
        **{"padding": "same", **whole} if "stride" not in place else {"padding": 1, **whole},
    ).shape[2:]  # fmt: skip
    upstream = OUT[:, :, :r, :s]
    rows = outputs_as_rows(upstream)
    weighted, entries = matrix.T @ (rows[:, :1] * matrix), (2, k, k)
    found: dict[str, Entry] = {
        "unfold": (lambda: convolution.unfold(IMAGES, k, **whole), matrix),
        "apply": (
            lambda: outputs_as_rows(convolution.apply(IMAGES, kernel, BIAS, **place)),
            matrix @ np.vstack([BIAS, kernel.reshape(4, -1).T]),
        ),
        "apply_transposed": (
            lambda: convolution.flatten(
                *convolution.apply_transposed(IMAGES, upstream, k, **place)
            ),
            matrix.T @ rows,
        ),
        "gram": (lambda: convolution.gram(IMAGES, k, **place), matrix.T @ matrix),
        "weighted_gram": (
            lambda: convolution.weighted_gram(IMAGES, upstream[:, 0], k, **place),
            weighted,
        ),
        "weighted_gram of an operator": (
            lambda: convolution.weighted_gram(
                IMAGES, lambda maps: maps * upstream[:, :1], k, **place
            ),
            weighted,
        ),
        "column_sums": (
            lambda: convolution.column_sums(IMAGES, k, **whole),
            matrix[:, 1:].sum(0).reshape(entries),
        ),
        "column_means": (
            lambda: convolution.column_means(IMAGES, k, **whole),
            matrix[:, 1:].mean(0).reshape(entries),
        ),
        "column_variances": (
            lambda: convolution.column_variances(IMAGES, k, **place),
            matrix[:, 1:].var(0).reshape(entries),
        ),
    }
    return {f"{name}, kernel {k}, {place}": entry for name, entry in found.items()}


OF_CONVOLUTION: dict[str, Entry] = {
    name: entry for k, place in PLACES for name, entry in at(k, place).items()
} | {
    "output of a map that is too small": (
        lambda: Geometry(5, padding="valid").output(2),
        0,
    ),
    "pad": (lambda: pad(IMAGES, 1, 2), np.pad(IMAGES, ((0, 0), (0, 0), (1, 1), (2, 2)))),
    "flatten": (
        lambda: convolution.flatten(KERNELS[3], BIAS),
        np.vstack([BIAS, KERNELS[3].reshape(4, -1).T]),
    ),
    "unflatten": (
        lambda: np.concatenate(
            [part.ravel() for part in convolution.unflatten(np.arange(57.0).reshape(19, 3), 3)]
        ),
        np.concatenate([np.arange(57.0).reshape(19, 3)[1:].T.ravel(), [0, 1, 2]]),
    ),
}
BY_FILE: dict[str, dict[str, Entry]] = {
    "theory/batchnorm.py": OF_BATCHNORM,
    "theory/running.py": OF_RUNNING,
    "theory/claim.py": OF_LETTERS,
    "theory/preconditioning.py": OF_PRECONDITIONING,
    "theory/lp_normalization.py": OF_THE_NORMS,
    "theory/dense.py": OF_DENSE,
    "theory/family.py": OF_THE_FAMILY,
    "theory/convolution/unfolded.py": OF_CONVOLUTION,
    "theory/convolution/gramian.py": OF_CONVOLUTION,
    "theory/convolution/moments.py": OF_CONVOLUTION,
    "theory/convolution/windows.py": OF_CONVOLUTION,
    "theory/convolution/correlations.py": OF_CONVOLUTION,
}
"""What the formulas of each file must give."""
