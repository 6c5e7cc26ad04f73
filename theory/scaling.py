r"""Batches near the ends of a format's range, brought to its middle by powers of two.

The square of an entry of float64 beyond 1e154 is infinite and that of one below 1e-162 is zero,
though every derivative of the layer is a number between them.  Batch Normalization does not depend
on the scale of its batch, so the formulas are homogeneous: with :math:`y' = 2^{-a} y`,
:math:`\epsilon' = 4^{-a}\epsilon`, and g, u scaled by :math:`2^{-c}` and :math:`2^{-b}`,

.. math:: J' = 2^a J, \qquad \text{and with } H' w = 2^{a-c} H(2^{-a} w) \quad
          \text{the Hessian is } 2^{2a-c} \text{ times itself.}

Powers of two round nothing.  Where everything is in the middle of the range, nothing is done.

Index convention: ``a`` is a number for each unit, b and c are one for all units, which a loss may
tie together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log2, prod, sqrt
from typing import Any

from array_api_compat import array_namespace

from theory.arithmetic import Axes
from theory.arithmetic.sums import neighbours

DEGREES = {
    "normalize": 0, "forward": 0, "gradient_gamma": 0, "project": 0, "projection": 0,
    "gradient_beta": 0, "jvp": -1, "gradient": -1, "jacobian": -1,
    "hvp": -2, "curvature": -2, "hessian": -2,
}  # fmt: skip
"""The functions, and the degree in which each is homogeneous in y and the root of eps."""

MATRICES = ("jacobian", "hessian")
"""Of these, the ones whose value is a matrix for each unit."""


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
    axes = (axis,) if isinstance(axis, int) else axis
    high = low = x
    for together in neighbours(sorted(i % x.ndim for i in axes)):
        high = xp.max(high, axis=together, keepdims=True)
        low = xp.min(low, axis=together, keepdims=True)
    return xp.maximum(high, -low)


def are_in_the_middle(x: Any) -> bool:
    """Whether the largest absolute value is for certain, by the Euclidean norm.

    Of n entries of norm r it is between r over the root of n, and r.  So x is read once, and not
    twice as for :func:`largest`.

    >>> import numpy as np
    >>> are_in_the_middle(np.array([1.0, -3.0])), are_in_the_middle(np.array([1e100, 1.0]))
    (True, False)
    """
    xp = array_namespace(x)
    norm = xp.linalg.vector_norm(x)
    root, far = sqrt(prod(x.shape)), 2.0 ** (_reach(norm) / 4)
    return bool((norm <= far) & (norm >= root / far))


def in_the_middle(
    function: Callable[..., Any],
    degree: int,
    arguments: dict[str, Any],
    largest: Mapping[str, Any],
) -> Any:
    """Return the value of a function, with its arguments scaled where their size asks for it.

    Args:
        function: a formula of a name in :data:`DEGREES`, linear in g and H together and in u.
        degree: of the function in y.
        arguments: by name; eps is an array.
        largest: the largest entry of each array by its name, unless it is in the middle; of y in
            each unit, and no less than the root of eps.
    """
    shifts = {name: shift_of(size) for name, size in largest.items()}
    a, b, c = (shifts.get(name) for name in ("y", "u", "g"))
    if c is not None and ("hessian_of_loss" in arguments or "H" in arguments):
        c = array_namespace(c).maximum(c, c * 0)  # H, of another size, would be scaled up too
    if a is b is c is None:
        return function(**arguments)
    scaled = dict(arguments)
    for name, shift in (("y", a), ("u", b), ("g", c), ("H", c)):
        if name in scaled and shift is not None:
            scaled[name] = shifted(scaled[name], -shift)
    if a is not None and "eps" in scaled:
        scaled["eps"] = shifted(scaled["eps"], -2 * a)
    if "hessian_of_loss" in scaled:
        scaled["hessian_of_loss"] = _scaled_operator(arguments["hessian_of_loss"], a, c)
    result = function(**scaled)
    if a is not None and function.__name__ in MATRICES:
        a = array_namespace(a).reshape(a, result.shape[2:])
    powers = [b, c, None if a is None or degree == 0 else degree * a]
    found = [power for power in powers if power is not None]
    return shifted(result, sum(found)) if found else result


def shifted(x: Any, power: Any) -> Any:
    """Return :math:`2^p x`, in steps, since that power itself may be beyond the range.

    >>> import numpy as np
    >>> shifted(np.array([2.0**-600, 0.0]), np.array(1200.0)) == [2.0**600, 0.0]
    array([ True,  True])
    """
    xp = array_namespace(power)
    most = 2 * _reach(power)  # which takes any number that is not zero out of the range
    power = xp.clip(power, -most, most)
    quarter = xp.floor(power / 4)
    for step in (quarter, quarter, quarter, power - 3 * quarter):
        x = x * 2.0**step
    return x


def _reach(size: Any) -> int:
    """Return the exponent of the largest number of a dtype."""
    return int(log2(float(array_namespace(size).finfo(size.dtype).max)))


def shift_of(size: Any) -> Any:
    """Return the exponents of sizes beyond the middle half of the range, or None."""
    xp = array_namespace(size)
    exponents = xp.floor(xp.log2(xp.where(size > 0, size, xp.ones_like(size))))
    far = xp.abs(exponents) > _reach(size) / 4
    if not bool(xp.any(far)):
        return None
    return xp.where(far, exponents, xp.zeros_like(exponents))


def _scaled_operator(operator: Callable[[Any], Any], a: Any, c: Any) -> Callable[[Any], Any]:
    def scaled(w: Any) -> Any:
        result = operator(w if a is None else shifted(w, -a))
        for shift in (a, None if c is None else -c):
            result = result if shift is None else shifted(result, shift)
        return result

    return scaled
