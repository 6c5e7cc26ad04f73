"""The family once more, entry by entry in mpmath, with numerical derivatives at 60 digits.

It shares nothing with the closed forms, nor with the positions of entries.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import mpmath as mp
import numpy as np

Inputs = dict[str, np.ndarray]
DIGITS = 60


def layer(family: str, x: dict, gamma: list, beta: list, eps: Any, groups: int) -> dict:
    """Return z by index (sample, channel, place) for x by index."""
    units: dict = {}
    for index in x:
        units.setdefault(_unit(family, index, len(gamma) // groups), []).append(index)
    z = {}
    for unit in units.values():
        m = len(unit)
        mean = mp.mpf(0) if family == "rms" else mp.fsum(x[i] for i in unit) / m
        sigma = mp.sqrt(mp.fsum((x[i] - mean) ** 2 for i in unit) / m + eps)
        for i in unit:
            z[i] = gamma[i[1]] * (x[i] - mean) / sigma + beta[i[1]]
    return z


def _unit(family: str, index: tuple, size: int) -> Any:
    """Return what the entries that are normalised together have in common."""
    sample, channel, place = index
    return {
        "batch": channel,
        "layer": (sample, place),
        "rms": (sample, place),
        "instance": (sample, channel),
        "group": (sample, channel // size),
    }[family]


def answers(family: str, inputs: Inputs, eps: float, groups: int = 1) -> dict[str, np.ndarray]:
    """Return every output; arrays of axes N, C, L."""
    with mp.workdps(DIGITS):
        return {name: _floats(value) for name, value in _outputs(family, inputs, eps, groups)}


def _outputs(family: str, inputs: Inputs, eps: float, groups: int) -> Any:
    shape = inputs["x"].shape
    indices = list(product(*map(range, shape)))
    channels = range(shape[1])
    entries = {n: {i: mp.mpf(float(inputs[n][i])) for i in indices} for n in ("x", "g", "u", "w")}
    numbers = {n: [mp.mpf(float(v)) for v in inputs[n]] for n in ("gamma", "beta", "a", "b", "c")}

    def z(*moves: tuple[Any, dict, list, list]) -> dict:
        """Return the layer, moved by steps along directions in (x, gamma, beta)."""
        x = {i: entries["x"][i] + mp.fsum(t * u[i] for t, u, _, _ in moves) for i in indices}
        gamma = [numbers["gamma"][k] + mp.fsum(t * a[k] for t, _, a, _ in moves) for k in channels]
        beta = [numbers["beta"][k] + mp.fsum(t * b[k] for t, _, _, b in moves) for k in channels]
        return layer(family, x, gamma, beta, mp.mpf(eps), groups)

    def scalar(*moves: Any) -> Any:
        found = z(*moves)
        return mp.fsum(entries["g"][i] * found[i] for i in indices)

    nothing = dict.fromkeys(indices, mp.mpf(0)), [mp.mpf(0)] * len(channels)
    along = entries["u"], numbers["a"], numbers["b"]
    second = entries["w"], numbers["c"], numbers["b"]

    def in_entry(index: tuple) -> tuple:
        return {**nothing[0], index: mp.mpf(1)}, nothing[1], nothing[1]

    def in_parameter(k: int, which: int) -> tuple:
        basis = [mp.mpf(j == k) for j in channels]
        return nothing[0], *((basis, nothing[1]) if which == 0 else (nothing[1], basis))

    def slope(direction: tuple, times: int) -> Any:
        """Differentiate once in a direction and so many times along (u, a, b)."""
        if times == 0:
            return _derivative(lambda t: scalar((t, *direction)), 1)
        return _mixed(lambda t, s: scalar((t, *direction), (s, *along)), times)

    def gradients(times: int) -> tuple:
        return (
            {i: slope(in_entry(i), times) for i in indices},
            [slope(in_parameter(k, 0), times) for k in channels],
        )

    yield "z", z()
    for names, times in ((("x", "gamma"), 0), (("hx", "hgamma"), 1), (("tx", "tgamma"), 2)):
        yield from zip(names, gradients(times), strict=True)
    yield "beta", [slope(in_parameter(k, 1), 0) for k in channels]
    yield "dz", {i: _derivative(lambda t, i=i: z((t, *along))[i], 1) for i in indices}
    yield (
        "ddz",
        {i: _mixed(lambda t, s, i=i: z((t, *along), (s, *second))[i], 1) for i in indices},
    )


WEIGHTS = {
    1: {1: (2, 3), 2: (-1, 12), -1: (-2, 3), -2: (1, 12)},
    2: {0: (-5, 2), 1: (4, 3), -1: (4, 3), 2: (-1, 12), -2: (-1, 12)},
}
"""Central differences, wrong by the fourth power of the step."""


def _derivative(f: Callable[[Any], Any], order: int) -> Any:
    step = mp.mpf(10) ** -10
    terms = (mp.mpf(top) / below * f(k * step) for k, (top, below) in WEIGHTS[order].items())
    return mp.fsum(terms) / step**order


def _mixed(f: Callable[[Any, Any], Any], times: int) -> Any:
    """Differentiate once in the first argument and so often in the second."""
    return _derivative(lambda t: _derivative(lambda s: f(t, s), times), 1)


def _floats(value: Any) -> np.ndarray:
    if isinstance(value, list):
        return np.array([float(v) for v in value])
    shape = tuple(max(index[k] for index in value) + 1 for k in range(3))
    return np.array([float(value[i]) for i in product(*map(range, shape))]).reshape(shape)
