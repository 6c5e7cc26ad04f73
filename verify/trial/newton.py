"""Whether functions of many numbers are zero somewhere, by Newton's steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from verify.tolerance import Array

Function = Callable[[Array], Array | None]
"""A function of numbers; it gives nothing where it is not defined."""
STEPS, HALVINGS = 20, 12
"""So many steps are made, each halved so often until it is not too far."""
DECREASE = 0.1
"""A step is too far after which more is left than without this part of what it promised."""
MOVED = 1e-5
"""By how much a number is moved for a derivative."""
MET, ROUNDED = 1e-8, 1e-14
"""How near zero is near enough: this part of what was left at first, or rounding."""
RANK = 1e-6
"""A direction counts for nothing in which a function moves so little, of its largest."""


def vanishes_near(function: Function, start: Array) -> bool:
    """Whether Newton's steps lead from a point to one where a function is zero.

    A function that only tends to zero, far away, does not vanish.

    >>> start = np.array([1.0, 2.0])
    >>> vanishes_near(lambda x: x**2 - 2, start), vanishes_near(lambda x: 1 / x, start)
    (True, False)
    """
    here, left = start, function(start)
    enough = 0 if left is None else MET * np.linalg.norm(left) + ROUNDED
    for _ in range(STEPS):
        if left is None or np.linalg.norm(left) <= enough:
            break
        here, left = _nearer(function, here, left)
    return left is not None and bool(np.linalg.norm(left) <= enough)


def _nearer(function: Function, here: Array, left: Array) -> tuple[Array, Array | None]:
    """Return where a step leads and what is left there; nothing is if no step leads nearer."""
    if (slopes := _slopes(function, here)) is not None:
        step = np.linalg.lstsq(slopes, -left, rcond=RANK)[0]
        for part in 2.0 ** -np.arange(HALVINGS):
            further = function(here + part * step)
            enough = (1 - DECREASE * part) * np.linalg.norm(left)
            if further is not None and np.linalg.norm(further) < enough:
                return here + part * step, further
    return here, None


def _slopes(function: Function, here: Array) -> Array | None:
    """Return a function's derivatives, a column for each number, if it is defined around."""
    columns = []
    for place, size in enumerate(MOVED * (1 + abs(here))):
        move = size * (np.arange(here.size) == place)
        after, before = function(here + move), function(here - move)
        if after is None or before is None:
            return None
        columns.append((after - before) / (2 * size))
    return np.column_stack(columns)
