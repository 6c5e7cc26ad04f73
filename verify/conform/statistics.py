r"""What a wrong output says of its statistics: a fit in each unit alone.

In each unit the layer is :math:`\gamma(x - \mu)/\sigma + \beta` and its derivative along u is
:math:`\gamma(u - b - c\,\hat y)/\sigma`, with numbers mu, sigma, b, c.  A layer that has these
forms with other numbers has other statistics; least squares find them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from verify.conform.vectors import Vectors

Array = np.ndarray
NOISE = {"float64": 1e-11, "float32": 1e-5}
"""Residuals below these parts of the output are a fit."""
SAME = {"float64": 1e-8, "float32": 1e-3}
"""Numbers that differ by less, relative to sigma or to what they should be, are the same."""
LEAST = 5
"""Entries of a unit that tell the numbers apart."""
HALF = (2.0**-18, 2.0**-7)
"""Relative errors that rounding to half precision leaves."""

ROUNDED_TO_HALF = "a statistic is rounded to half precision, or a root is rough"
TOO_SMALL = (
    "the variance is too small in every unit, as where parts are merged without the distance of "
    "their means, or its sum leaves entries out"
)
LEFT_OVER = "channels that are left over by vectors or blocks are treated on their own"
NO_MOMENTS = "no mean and sigma of a unit explain it"
OF_PARTS = (
    "entries of one unit are normalised by different statistics, as in another --family or with "
    "other --groups"
)
GENERAL = (
    "statistics of other numbers than the unit's entries, as of another axis, group or --family",
    "sums of other numbers",
)
"""Guesses that say less than the place where an output fails."""
MULTIPLIED = "is multiplied by"
"""So does one with these words."""


@dataclass(frozen=True)
class Form:
    """A target that is a sum of columns in each unit, with the coefficients that they should have.

    Columns have the shape (together, unit), coefficients the shape (unit,).
    """

    target: Array
    columns: tuple[Array, ...]
    expected: tuple[Array, ...]
    names: tuple[str, ...]


def _of_z(output: Array, v: Vectors) -> Form:
    unit = np.ones(output.shape[1])
    gamma = v.at["gamma"] * np.ones_like(output)
    return Form(output - v.at["beta"], (gamma * v.yhat, gamma), (unit, 0 * unit), ("sigma", "mean"))


def _of_slope(target: Array, v: Vectors, u: Array, scale: Array, name: str) -> Form:
    return Form(
        target,
        (scale * u / v.sigma, scale / v.sigma, scale * v.yhat / v.sigma),
        (np.ones(u.shape[1]), -v.mean(u)[0], -v.along(u)),
        (f"{name}/σ", f"mean({name})/σ", f"ŷ <ŷ, {name}>/(mσ)"),
    )


def _of_x(output: Array, v: Vectors) -> Form:
    return _of_slope(output, v, v.pulled, np.ones_like(output), "γg")


def _of_dz(output: Array, v: Vectors) -> Form:
    rest = output - v.at["a"] * v.yhat - v.at["b"]
    return _of_slope(rest, v, v.at["u"], v.at["gamma"] * np.ones_like(output), "u")


FORMS: dict[str, Callable[[Array, Vectors], Form]] = {"z": _of_z, "x": _of_x, "dz": _of_dz}


SUMS: dict[str, Callable[[Vectors], Array]] = {
    "gamma": lambda v: v.summed(v.at["g"] * v.yhat),
    "beta": lambda v: v.summed(v.at["g"]),
    "egamma": lambda v: v.summed(v.at["g"] * v.evaluated),
}
"""Closed forms of one sum."""


def _of_sums(output: Array, expected: Array, v: Vectors, same: float) -> tuple[str, str]:
    """Return what the sums are multiplied by, where that is a number of the unit."""
    if output.shape != v.sigma.shape:
        return "", ""
    with np.errstate(all="ignore"):
        known = _known(output / expected, v, same)
    return (f"the sum has {known} times its value", "") if known else ("", "")


def statistics_of(answer: str, output: Array, v: Vectors, dtype: str) -> tuple[str, str]:
    """Return a sentence on the statistics of an output, and a guess; empty where none fit."""
    if answer in SUMS:
        return _of_sums(output, SUMS[answer](v), v, SAME[dtype])
    if answer not in FORMS or len(output) < LEAST or not np.all(np.isfinite(output)):
        return "", ""
    form = FORMS[answer](output, v)
    found = _fitted(form, dtype, float(np.linalg.norm(output)))
    if found is None:
        return (NO_MOMENTS, OF_PARTS) if answer == "z" else ("", "")
    if answer == "z":
        return _of_moments(found, v, SAME[dtype])
    return _of_coefficients(form, found, v, SAME[dtype])


def _fitted(form: Form, dtype: str, size: float) -> Array | None:
    """Return the coefficients, shape (column, unit), or None where the form does not fit."""
    units = form.target.shape[1]
    found = np.empty((len(form.columns), units))
    rest = 0.0
    for unit in range(units):
        columns = np.stack([column[:, unit] for column in form.columns], axis=1)
        lengths = np.linalg.norm(columns, axis=0)
        lengths[lengths == 0] = 1.0
        target = form.target[:, unit]
        scaled, *_ = np.linalg.lstsq(columns / lengths, target, rcond=1e-12)
        rest += float(np.sum((columns / lengths @ scaled - target) ** 2))
        found[:, unit] = scaled / lengths
    return found if np.sqrt(rest) <= NOISE[dtype] * size else None


def _of_moments(found: Array, v: Vectors, same: float) -> tuple[str, str]:
    with np.errstate(all="ignore"):
        factor, shift = 1 / found[0], -found[1] / found[0]
    if not np.all(np.isfinite(factor)):
        return "", ""
    is_sigma, is_mean = np.ptp([*factor, 1.0]) > same, np.max(np.abs(shift)) > same
    said = [f"sigma is {_range(factor)} times what it should be"] if is_sigma else []
    said += [f"the mean is off by up to {np.max(np.abs(shift)):.1g} sigma"] if is_mean else []
    away = np.max(np.abs(shift) * v.sigma / np.max(np.abs(v.at["x"]), axis=0))
    largest = max(away, float(np.max(np.abs(factor - 1))))
    if not said:
        return "", ""
    if tail := _tail((np.abs(factor - 1) > same) | (np.abs(shift) > same)):
        return f"{' and '.join(said)} in {tail}", LEFT_OVER
    of_variance = _constant(((factor * v.sigma) ** 2 - v.eps) / v.variance, same)
    of_mean = _constant(1 + shift * v.sigma / v.at["x"].mean(axis=0), same)
    is_smaller = bool(np.all(factor < 1 + same)) and not is_mean
    if is_mean and of_mean:
        rest = f", and the variance by {of_variance}" if is_sigma and of_variance else ""
        guess = f"the mean {MULTIPLIED} {of_mean}{rest}"
    elif is_sigma and of_variance:
        rest = ", and the mean is another" if is_mean else ""
        guess = f"the variance {MULTIPLIED} {of_variance}{rest}"
    elif is_smaller and len(factor) >= LEAST:
        guess = TOO_SMALL
    elif HALF[0] < largest < HALF[1]:
        guess = ROUNDED_TO_HALF
    else:
        guess = GENERAL[0]
    return " and ".join(said), guess


def _constant(ratios: Array, same: float) -> str:
    """Return a ratio that all units have, where they do."""
    first = float(ratios[0])
    return _ratio(first) if np.ptp(ratios) < same * np.abs(first) else ""


def _tail(is_wrong: Array) -> str:
    """Say which units are wrong, where only the last ones are."""
    count = int(is_wrong.sum())
    is_last = 0 < count < len(is_wrong) and bool(is_wrong[-count:].all())
    return f"the last {count} of {len(is_wrong)} units, and right in the others" if is_last else ""


def _of_coefficients(form: Form, found: Array, v: Vectors, same: float) -> tuple[str, str]:
    with np.errstate(all="ignore"):
        ratios = [
            (name, have / should)
            for name, have, should in zip(form.names, found, form.expected, strict=True)
            if np.all(should != 0)
        ]
    different = [(name, ratio) for name, ratio in ratios if np.max(np.abs(ratio - 1)) > same]
    if not different:
        return "", ""
    first = different[0][1]
    if len(different) == len(ratios) > 1 and all(
        np.max(np.abs(ratio - first)) < same * np.max(np.abs(first)) for _, ratio in different
    ):
        known = _known(first, v, same)
        return (
            f"every term has {known or _range(first)} times its factor, by the unit",
            "" if known else "another sigma than the forward's",
        )
    return "; ".join(_terms(different)) + ", by the unit", GENERAL[1]


def _terms(different: list[tuple[str, Array]]) -> Iterator[str]:
    for name, ratio in different:
        yield f"the term {name} has {_range(ratio)} times its factor"


def _known(ratio: Array, v: Vectors, same: float) -> str:
    """Return what a ratio is that differs from unit to unit, where it is a number of the unit."""
    with np.errstate(all="ignore"):
        gamma = np.broadcast_to(v.at["gamma"], v.yhat.shape)[0]
        numbers = {"sigma": v.sigma, "1/sigma": 1 / v.sigma, "gamma": gamma, "1/gamma": 1 / gamma}
        numbers |= {"sign(gamma)": np.sign(gamma), "sigma^2": v.sigma**2}
        near = (
            name
            for name, number in numbers.items()
            if np.all(np.abs(ratio - number) <= same * np.abs(number))
            and np.all(np.isfinite(number))
        )
        return next(near, "")


def _range(values: Array) -> str:
    low, high = float(np.min(values)), float(np.max(values))
    return _ratio(low) if high - low < 1e-9 * abs(high) else f"{_ratio(low)} to {_ratio(high)}"


def _ratio(value: float) -> str:
    """Return a ratio so that it shows how far it is from one."""
    away = value - 1
    if 1e-12 < abs(away) < 1e-3:
        return f"1 {'+' if away > 0 else '-'} {abs(away):.1g}"
    return f"{value:.4g}"
