r"""Batches near the ends of a format's range, brought to its middle by powers of two.

The square of an entry of float64 beyond 1e154 is infinite and that of one below 1e-162 is zero,
though every derivative of the layer is a number between them.  Batch Normalization does not depend
on the scale of its batch, so the formulas are homogeneous: with :math:`y' = 2^{-a} y`,
:math:`\epsilon' = 4^{-a}\epsilon`, and u, g and :math:`\gamma` scaled by :math:`2^{-b}`,
:math:`2^{-c}` and :math:`2^{-d}`,

.. math:: J' = 2^{a-d} J, \qquad \text{and with } H' = 2^{d-c} H \quad
          \text{the Hessian is } 2^{2a-c-d} \text{ times itself.}

Powers of two round nothing.  Where everything is in the middle of the range, nothing is done.

An H that is a function may tie units together, and there is nothing to scale it by for each of
them.  So J H J u is computed in three steps, each scaled by itself, and what the layer's own
bending takes from it apart; H is applied to units of like size at a time, brought to about one.

With R the exponent of the largest number of the format, the middle of its range is from
:math:`2^{-R/4}` to :math:`2^{R/4}`.  Two limits remain, where digits are lost to underflow, or all
of them, though the result is a number of the format:

- The size of a batch is that of y or of the root of eps, whichever is larger, so deviations from
  the mean that are far below that root stay small: what is promised is for units in which the
  largest is at least :math:`2^{-R/4}` times the root, 5e-10 in float32 and 2e-77 in float64.
- How large H is, nobody knows before it is applied.  It is given J u as that is where everything is
  in the middle, and otherwise units within :math:`2^{\pm R/16}` of a power of two as if that were
  one; what it returns for them is to be in the range.

Index convention: a, b, c and d are a number for each unit, which no other unit has a part in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, reduce
from math import ceil, prod
from operator import add
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from theory import batchnorm, running
from theory.arithmetic import Axes, mean
from theory.arithmetic.sums import neighbours
from theory.arithmetic.unbounded import Unbounded, constant, exponents_of, reach, shifted

DEGREES = {
    "normalize": 0, "forward": 0, "gradient_gamma": 0, "project": 0, "projection": 0,
    "gradient_beta": 0, "jvp": -1, "gradient": -1, "jacobian": -1,
    "hvp": -2, "curvature": -2, "hessian": -2,
}  # fmt: skip
"""The functions, and the degree in which each is homogeneous in y and the root of eps.

Those of a negative degree are linear in gamma besides.
"""

MATRICES = ("jacobian", "hessian")
"""Of these, the ones whose value is a matrix for each unit."""

LARGE, FEW = 2**14, 32
"""Entries of an array that is looked at once, and about as many of a unit are looked at again."""


def largest(x: Any, axis: Axes | None = None) -> Any:
    """Return the largest absolute value, along axes, which are kept with length one, or of all.

    Largest and least are read from memory, and nothing as large as ``x`` is written.

    >>> import numpy as np
    >>> largest(np.array([[1.0, -3.0], [2.0, 0.0]]), 0)
    array([[2., 3.]])
    """
    xp = array_namespace(x)
    if xp.isdtype(x.dtype, "complex floating"):
        return xp.max(xp.abs(x), axis=axis, keepdims=axis is not None)
    if axis is None:
        return xp.maximum(xp.max(x), -xp.min(x))
    high, low = _bounds(x, axis)
    return xp.maximum(high, -low)


def _bounds(x: Any, axis: Axes) -> tuple[Any, Any]:
    """Return the largest and the least entries along axes, which are kept with length one."""
    xp, axes = array_namespace(x), (axis,) if isinstance(axis, int) else axis
    high = low = x
    for together in neighbours(sorted(i % x.ndim for i in axes)):
        high = xp.max(high, axis=together, keepdims=True)
        low = xp.min(low, axis=together, keepdims=True)
    return high, low


def may_be_far(y: Any, axes: tuple[int, ...]) -> bool:
    """Whether a unit may be far from zero (:func:`less_offset`), by a look at a few entries.

    Where all are within a quarter of the largest, a few are within a quarter of theirs.

    >>> import numpy as np
    >>> y = np.tile([1.0, -1.0], 2**13)
    >>> may_be_far(y, (0,)), may_be_far(y + 1e9, (0,))
    (False, True)
    """
    if prod(y.shape) < LARGE:
        return True
    some = few(y, axes)
    return any(bool(array_namespace(y).any(_is_far(*_bounds(x, axes)))) for x in _parts(some))


def real_part(x: Any) -> Any:
    """Return the real part of complex entries; what is real as it is."""
    xp = array_namespace(x)
    return xp.real(x) if xp.isdtype(x.dtype, "complex floating") else x


def _parts(x: Any) -> list[Any]:
    """Return the real and the imaginary part of complex entries; what is real as it is."""
    xp = array_namespace(x)
    return [xp.real(x), xp.imag(x)] if xp.isdtype(x.dtype, "complex floating") else [x]


def _is_far(high: Any, low: Any) -> Any:
    xp = array_namespace(high)
    size = xp.maximum(high, -low)
    return (high - low < size / 4) & xp.isfinite(size)


def less_offset(y: Any, axis: Axes) -> tuple[Any, Any]:
    """Return a batch, less the computed mean in units far from zero, and its largest entries.

    Far is a unit whose entries are within a quarter of the largest, of complex ones the real or the
    imaginary parts, each by itself: these differences round nothing, and what does not depend on an
    offset loses no digits to it, as it would to the rounding of the mean.

    >>> import numpy as np
    >>> less_offset(np.array([1e9, 1e9 + 1, 1e9 + 5]), 0)
    (array([-2., -1.,  3.]), array([3.]))
    """
    xp = array_namespace(y)
    (middle, size), *imaginary = (_offset(part, axis) for part in _parts(constant(y)))
    if middle is None and not imaginary:
        return y, size
    if middle is not None:
        y = y - middle
    for above, _ in imaginary:
        if above is not None:
            y = y - 1j * xp.astype(above, y.dtype)
    return y, largest(constant(y), axis)


def _offset(values: Any, axis: Axes) -> tuple[Any, Any]:
    """Return the mean of real units that are far from zero, of others zero; None if none is far.

    And the largest entries.
    """
    xp, (high, low) = array_namespace(values), _bounds(values, axis)
    size, is_far = xp.maximum(high, -low), _is_far(high, low)
    if not bool(xp.any(is_far)):
        return None, size
    exponents = xp.where(is_far, exponents_of(size), xp.zeros_like(size))
    middle = shifted(mean(shifted(values, -exponents), axis), exponents)  # of sums that exist
    return xp.where(is_far, middle, xp.zeros_like(middle)), size


def batch_is_in_the_middle(x: Any, axes: tuple[int, ...]) -> bool:
    """Whether the largest entries of all units are for certain, by one look at a large array.

    None is above its norm, and that of a few entries is no larger than that of all.

    >>> import numpy as np
    >>> few, one_small = np.ones((2**14, 2)), np.ones((2**14, 2)) * [1.0, 1e-100]
    >>> batch_is_in_the_middle(few, (0,)), batch_is_in_the_middle(one_small, (0,))
    (True, False)
    """
    if prod(x.shape) < LARGE:
        return False
    xp = array_namespace(x)
    norm = xp.linalg.vector_norm(x)
    low, high = _middle(xp, norm.dtype)
    return bool(norm <= high) and bool(xp.all(largest(few(x, axes), axes) >= low))


def few(x: Any, axes: tuple[int, ...]) -> Any:
    """Return some of the entries of each unit; all of a small array."""
    each = slice(None if prod(x.shape) < LARGE else ceil(FEW ** (1 / len(axes))))
    return x[tuple(each if i in axes else slice(None) for i in range(x.ndim))]


def size_of(x: Any, axes: tuple[int, ...]) -> Any:
    """Return the largest entries, of a few in each unit if all are in the middle for certain."""
    return largest(few(x, axes) if batch_is_in_the_middle(x, axes) else x, axes)


def size_at_a_glance(x: Any, axes: tuple[int, ...]) -> Any:
    """Return the largest entries, of a few in each unit if these are in the middle.

    >>> import numpy as np
    >>> x = np.ones((2**14, 1))
    >>> x[-1] = 1e300
    >>> size_at_a_glance(x, (0,)), largest(x, 0)
    (array([[1.]]), array([[1.e+300]]))
    """
    size = largest(few(x, axes), axes)
    return size if sizes_are_in_the_middle({"": size}) else largest(x, axes)


def sizes_are_in_the_middle(sizes: Mapping[str, Any]) -> bool:
    """Whether all sizes, which broadcast, are for certain; none of them is NaN then.

    >>> import numpy as np
    >>> [sizes_are_in_the_middle({"y": np.array([1.0, size])}) for size in (2.0, 1e100)]
    [True, False]
    """
    if not sizes:
        return True
    xp, first = array_namespace(*sizes.values()), next(iter(sizes.values()))
    low, high = _middle(xp, first.dtype)
    least, most = reduce(xp.minimum, sizes.values()), reduce(xp.maximum, sizes.values())
    return bool(xp.all((least >= low) & (most <= high)))


def in_the_middle(
    function: Callable[..., Any],
    degree: int,
    arguments: dict[str, Any],
    sizes: Mapping[str, Any],
) -> Any:
    """Return the value of a function, with its arguments scaled where their size asks for it.

    Args:
        function: a formula of a name in :data:`DEGREES`, linear in g and H together and in u.
        degree: of the function in y.
        arguments: by name.
        sizes: by name, the largest entries of arrays in each unit, of y no less than the root of
            eps; and the absolute value of gamma, unless it is in the middle.
    """
    sizes = {name: sizes[name] for name in sizes if degree < 0 or name != "gamma"}
    shifts = _shifts(sizes)
    if "y" in shifts:
        arguments, sizes = _less_offset_first(arguments, sizes)
        shifts = _shifts(sizes)
    if not shifts:
        return function(**arguments)
    if "hessian_of_loss" in arguments:
        return _hessian_in_parts(arguments, shifts)
    if "H" in sizes:
        shifts |= _shifts_of_loss(sizes, shifts)
    result, power = _apart(function, degree, arguments, shifts)
    if power is not None and function.__name__ in MATRICES:
        xp = array_namespace(power)
        power = xp.reshape(xp.broadcast_to(power, sizes["y"].shape), result.shape[2:])
    return _put(result, power)


def running_in_the_middle(
    function: Callable[..., Any], arguments: dict[str, Any], sizes: Mapping[str, Any]
) -> Any:
    """Do the same for a formula of :mod:`theory.running`; the size of y is also the mean's.

    The root of a running variance is in the middle of the range, whatever the variance is.
    """
    shifts = _shifts(sizes)
    if not shifts:
        return function(**arguments)
    if "hessian_of_loss" in arguments:
        others = _without(arguments, "hessian_of_loss", "u")

        def slope(u: Any, shift: Any) -> tuple[Any, Any]:
            return _apart(running.gradient, 0, {**others, "g": u}, {**shifts, "g": shift})

        return _around(arguments["hessian_of_loss"], slope, arguments["u"], shifts.get("u"), 0)
    if "y" not in sizes:
        return _put(*_apart(function, 0, arguments, shifts))
    if "y" in shifts:
        shifts["running_mean"] = shifts["y"]
    result, power = _apart(function, 1, {**arguments, "beta": 0.0}, shifts)
    return _put(result, power) + arguments["beta"]


def linear_in_the_middle(
    function: Callable[..., Any],
    arguments: dict[str, Any],
    sizes: Mapping[str, Any],
    t: Any = None,
    degree: int = 0,
) -> Any:
    """Return the value of a function times a power of t, where only the product is in the range.

    Args:
        function: linear in each of the arguments that sizes are given of.
        arguments: by name.
        sizes: by name, the largest entries in each unit.
        t: positive, a number for each unit; None for one.
        degree: the power of t.

    >>> import numpy as np
    >>> g, t = np.array(2.0**-1000), np.array(2.0**-1050)  # of which one cannot divide by t
    >>> bool(linear_in_the_middle(lambda g: 8 * g, {"g": g}, {"g": g}, t, -1) == 2.0**53)
    True
    """
    result, power = _apart(function, 0, arguments, _shifts(sizes))
    if t is None or degree == 0:
        return _put(result, power)
    exponents = exponents_of(t)
    result = result * shifted(t, -exponents) ** degree
    return shifted(result, degree * exponents + (0 if power is None else power))


def form_in_the_middle(
    form: Callable[[Any, Any], Any], H: Any, S: Any, axes: Axes, entries: int = 1
) -> Any:
    r"""Return :math:`[e, H]^\top S [e, H]`, of columns of H and of an S brought to the middle.

    Args:
        form: the function of H and S.
        H: features on the axis that is not among the axes.
        S: an array, or an operator.
        axes: of H.
        entries: how many columns there are of each feature, beside each other.
    """
    size = largest(constant(H), axes)
    of_columns = shift_of(size)
    of_form = None if callable(S) else shift_of(largest(constant(S)))
    if of_columns is None and of_form is None:
        return form(H, S)
    xp = array_namespace(size)
    shift = xp.zeros_like(size) if of_columns is None else of_columns
    found = form(shifted(H, -shift), S if of_form is None else shifted(S, -of_form))
    of_each = xp.broadcast_to(xp.reshape(shift, (-1, 1)), (prod(shift.shape), entries))
    powers = xp.concat([0 * xp.reshape(shift, (-1,))[:1], xp.reshape(of_each, (-1,))])
    power = powers[:, None] + powers
    return shifted(found, power if of_form is None else power + of_form)


def _less_offset_first(
    arguments: dict[str, Any], sizes: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    r"""Return arguments and sizes with a batch without a large offset.

    That may be so far above the root of eps that :math:`4^{-a}\epsilon` vanishes where it is all
    that sigma consists of.
    """
    y, size = less_offset(arguments["y"], arguments.get("axis", 0))
    xp = array_namespace(size)
    root = xp.sqrt(xp.abs(constant(arguments.get("eps", 0)) + 0 * size))
    size = xp.reshape(xp.maximum(size, root), sizes["y"].shape)
    return {**arguments, "y": y}, {**sizes, "y": size}


def _shifts(sizes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the exponents of what is to be scaled, by name."""
    found = {name: shift_of(size) for name, size in sizes.items()}
    return {name: shift for name, shift in found.items() if shift is not None}


def _shifts_of_loss(sizes: Mapping[str, Any], shifts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the exponents for g and H, by which the larger of what they give comes to about one.

    What is lost of the other, if it is far smaller, is less than the rounding of the result.
    """
    xp = array_namespace(sizes["g"])
    d = shifts.get("gamma", xp.zeros_like(sizes["g"]))
    of_g = exponents_of(sizes["g"])
    of_h = exponents_of(sizes["H"]) + d
    c = xp.maximum(
        xp.where(sizes["g"] > 0, of_g, xp.minimum(of_g, of_h)),
        xp.where(sizes["H"] > 0, of_h, xp.minimum(of_g, of_h)),
    )
    return {"g": c, "H": c - d}


def _apart(
    function: Callable[..., Any],
    degree: int,
    arguments: Mapping[str, Any],
    shifts: Mapping[str, Any],
) -> tuple[Any, Any]:
    """Return the value at scaled arguments, and the exponent of what is to be multiplied by.

    That is None where it is zero.
    """
    shifts = {n: shift for n, shift in shifts.items() if n in arguments and shift is not None}
    scaled = dict(arguments)
    for name, shift in shifts.items():
        scaled[name] = shifted(scaled[name], _like(name, -shift, scaled))
    # Where there is a running variance eps is added to it, and not to the batch's.
    if "y" in shifts and "eps" in scaled and "running_variance" not in scaled:
        scaled["eps"] = shifted(scaled["eps"], -2 * shifts["y"])
    degrees = {"y": degree, "H": 0, "running_mean": 0}
    powers = [degrees.get(n, 1) * shift for n, shift in shifts.items() if degrees.get(n, 1)]
    return function(**scaled), sum(powers) if powers else None


def _like(name: str, shift: Any, arguments: Mapping[str, Any]) -> Any:
    """Return the exponents for an argument in its shape: of matrices the units come last."""
    if name != "H":
        return shift
    xp, units = array_namespace(shift), arguments["H"].shape[2:]
    return xp.reshape(shift, units)


def _hessian_in_parts(arguments: Mapping[str, Any], shifts: Mapping[str, Any]) -> Any:
    """J H J u less the layer's own curvature."""
    others = _without(arguments, "hessian_of_loss", "g", "u")

    def jvp(u: Any, shift: Any) -> tuple[Any, Any]:
        return _apart(batchnorm.jvp, -1, {**others, "u": u}, {**shifts, "u": shift})

    operator, u, axis = arguments["hessian_of_loss"], arguments["u"], arguments["axis"]
    bent = _apart(batchnorm.curvature, -2, _without(arguments, "hessian_of_loss"), shifts)
    return _around(operator, jvp, u, shifts.get("u"), axis) - _put(*bent)


def _around(
    operator: Callable[[Any], Any],
    slope: Callable[[Any, Any], tuple[Any, Any]],
    u: Any,
    shift: Any,
    axis: Axes,
) -> Any:
    """Return S H S u, for an S that is given a direction and its exponents, as :func:`_apart`."""
    w = _of_bands(operator, *slope(u, shift), axis)
    top = array_namespace(w.exponent).max(w.exponent, axis=axis, keepdims=True)
    result, power = slope(shifted(w.mantissa, w.exponent - top), None)
    return _put(result, top if power is None else power + top)


def _of_bands(operator: Callable[[Any], Any], v: Any, power: Any, axis: Axes) -> Unbounded:
    """Return H applied to 2^p v: to units of like size at a time, brought to about one."""
    sizes = largest(constant(v), axis)
    xp, far = array_namespace(sizes), _far(sizes)
    exponents = exponents_of(sizes) + (0.0 if power is None else power)
    power = xp.zeros_like(sizes) if power is None else power
    levels = map(float, xp.unique_values(exponents[sizes > 0]))
    parts = []
    for least, most in _bands(levels, far // 2) or [(0.0, 0.0)]:
        inside = (sizes > 0) & (least <= exponents) & (exponents <= most)
        middle = float((least + most) // 2)
        scaled = shifted(xp.where(inside, v, 0 * v), power - middle)
        parts.append(Unbounded.of(operator(scaled), middle))
    return reduce(add, parts)


def _bands(levels: Iterable[float], width: int) -> list[tuple[float, float]]:
    """Return the least and the greatest of levels that are at most so far apart, from the top.

    >>> _bands([-9.0, 0.0, 1.0, 5.0], 4)
    [(1.0, 5.0), (0.0, 0.0), (-9.0, -9.0)]
    """
    bands: list[tuple[float, float]] = []
    for level in sorted(levels, reverse=True):
        if bands and bands[-1][1] - level <= width:
            bands[-1] = (level, bands[-1][1])
        else:
            bands.append((level, level))
    return bands


def _without(arguments: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name not in names}


def _put(x: Any, power: Any) -> Any:
    return x if power is None else shifted(x, power)


def shift_of(size: Any) -> Any:
    """Return the exponents of sizes beyond the middle half of the range, or None.

    >>> import numpy as np
    >>> shift_of(np.array([3.0, 2.0**-800, 0.0])), shift_of(np.ones(3))
    (array([   0., -800.,    0.]), None)
    """
    if sizes_are_in_the_middle({"": size}):
        return None
    xp, exponents = array_namespace(size), exponents_of(size)
    far = xp.abs(exponents) > _far(size)
    if not bool(xp.any(far)):
        return None
    return xp.where(far, exponents, xp.zeros_like(exponents))


def _far(size: Any) -> int:
    """Return the exponent at which the middle of the range ends."""
    return reach(array_namespace(size), size.dtype) // 4


@cache
def _middle(xp: Any, dtype: Any) -> tuple[Any, Any]:
    """Return the least and the largest number in the middle of the range."""
    far = reach(xp, dtype) // 4
    two = np.longdouble(2) if far >= 1024 else 2.0  # whose powers are beyond Python's floats
    return two**-far, two**far
