"""What a subject takes, found by trying: the axes, and an eps of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from verify.conform.cases import BLOCKS, PLAIN, Case, Stratum, draw
from verify.conform.examine import Bench
from verify.conform.geometry import LAYOUTS, OF_LAST_AXIS
from verify.conform.oracle import Oracle
from verify.conform.process import Facts, StartError

CUSTOMARY = (1e-3, 1e-5, 1e-6, 1e-8, 1e-12)
"""Values of eps that libraries choose."""
LIKENESS = 0.2
"""An output that is this near to the closed form, relative to its size, is of the same axes.

A layer that is wrong by m - 1 for m stays nearer; one that reads the axes otherwise does not.
"""


@dataclass(frozen=True)
class Found:
    """Axes that the subject takes, the first of them for most cases; and its eps."""

    axes: tuple[str, ...]
    eps: float | None
    otherwise: tuple[str, ...] = ()
    """Axes on which it runs and is unlike the formula, where none were declared."""


ORDINARY = Stratum("probe", PLAIN, units=4)
"""Its sizes differ, so that axes cannot be mistaken for each other."""
TRIED = (ORDINARY, Stratum("probe", PLAIN, *BLOCKS))
"""Some kernels take whole blocks alone."""


def probe(bench: Bench, facts: Facts, family: str, dtype: str) -> Found:
    """Return what the subject takes.

    Raises:
        StartError: it takes no axes that this family may have, or not all that are declared.
    """
    eps = facts.fixed_eps
    known = None if eps is None or np.isnan(eps) else eps
    reasons: dict[str, list[str]] = {}
    for stratum in TRIED:
        likeness: dict[str, float] = {}
        for axes in facts.axes or LAYOUTS[family]:
            case = _case(stratum, family, axes, dtype, facts, known)
            z, reason = _forward(bench, case)
            if z is not None:
                likeness[axes] = _likeness(case, z, family)
            elif stratum is ORDINARY:
                reasons.setdefault(reason, []).append(f"{axes} {case.place.shape}")
        if likeness:
            break
    if not likeness or not set(likeness) >= set(facts.axes):
        plain = {why: where for why, where in reasons.items() if where[0].startswith("NC")}
        said = [f"{why}, given {' or '.join(where)}" for why, where in (plain or reasons).items()]
        raise StartError("; ".join([*said, _advice(" ".join(said), tuple(likeness))]))
    chosen = facts.axes or _chosen(likeness, family not in OF_LAST_AXIS and facts.is_affine)
    if eps is not None and np.isnan(eps):
        small = _case(replace(stratum, log_scale=-9), family, chosen[0], dtype, facts, 1e-5)
        eps = _fitted_eps(bench, small, family != "rms")
    return Found(chosen, eps, tuple(axes for axes in likeness if axes not in chosen))


def _advice(said: str, taken: tuple[str, ...]) -> str:
    """Return what to do about the reasons why a layer does not take what it should."""
    if taken:
        return f"declare by --axes only what it takes, of these {', '.join(taken)}"
    devices = [name for name in ("cuda", "mps", "xpu", "tpu") if name in said.lower()]
    if devices:
        return (
            f"the layer needs a device that is not here; run this where there is one, with "
            f"--device {devices[0]}"
        )
    return "expected layer(x, gamma, beta, eps) -> z, an array of x's shape"


def _case(
    stratum: Stratum, family: str, axes: str, dtype: str, facts: Facts, eps: float | None
) -> Case:
    return draw(
        stratum,
        dtype,
        family,
        axes,
        groups=facts.groups,
        eps=eps,
        is_affine=facts.is_affine,
        has_shift=facts.has_shift,
    )


def _forward(bench: Bench, case: Case) -> tuple[np.ndarray | None, str]:
    outcome = next(iter(bench.outcomes(case, ["forward"])))
    if outcome.reason:
        return None, outcome.reason
    z = outcome.outputs["z"]
    if z.shape != case.place.shape:
        return None, f"returns the shape {z.shape} and not that of x"
    return z, ""


def _likeness(case: Case, z: np.ndarray, family: str) -> float:
    oracle = Oracle(case.inputs, case.eps, case.dtype, case.place, family != "rms")
    exact = oracle.answer("z").high
    away = case.place.matrix(z) - exact
    return float(np.sqrt(np.mean(away**2) / np.mean(exact**2)))


def _chosen(likeness: dict[str, float], is_telling: bool) -> tuple[str, ...]:
    """Return the axes to examine: those that look right, and maps that are taken all the same.

    A normalisation by channels that reads maps (N, C, H, W) without a complaint means to
    normalise them, and may do it wrongly.  With the channels last, or without gamma, one that is
    written for (N, C) is silent about maps.
    """
    right = [axes for axes in likeness if likeness[axes] < LIKENESS]
    is_met = {len(axes) for axes in right}
    taken = [
        axes
        for axes in likeness
        if is_telling and axes.startswith("NC") and len(axes) not in is_met
    ]
    return (*right, *taken) if right else tuple(likeness)[:1]


def _fitted_eps(bench: Bench, case: Case, is_centred: bool) -> float:
    """Return the eps that makes the output of a small channel what it is.

    Raises:
        StartError: the layer fails there, or no eps does.
    """
    z, reason = _forward(bench, case)
    if z is None:
        raise StartError(f"the layer fails at a small variance: {reason}")
    matrix, spread, inputs = case.place.matrix, case.place.spread, case.inputs
    x = matrix(inputs["x"])
    centred = x - x.mean(axis=0) if is_centred else x
    scaled = centred * spread(inputs["gamma"])
    output = matrix(z) - spread(inputs["beta"])
    with np.errstate(all="ignore"):
        sigma = np.sum(scaled**2, axis=0) / np.sum(scaled * output, axis=0)
        eps = float(np.median(sigma**2 - np.mean(centred**2, axis=0)))
    if not np.isfinite(eps):
        raise StartError(
            "the layer's own eps cannot be found from its output at small entries; give it an "
            "argument eps"
        )
    near = [value for value in CUSTOMARY if abs(eps - value) < 0.02 * value]
    return near[0] if near else max(eps, 0.0)
