"""Cases of floats as short binary fractions, which are decided exactly and can be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from verify.subjects.losses import Loss, quadratic
from verify.subjects.unit import Case

DIGITS = 6
"""How many binary ones a number has behind the point."""


def short(number: Any, digits: int = DIGITS) -> Any:
    """Return a number, or every entry of an array, rounded to a short binary fraction."""
    return np.round(np.asarray(number) * 2.0**digits) / 2.0**digits


def rounded(case: Case, digits: int = DIGITS) -> Case:
    """Return a case of a quadratic loss with every number rounded to a short binary fraction."""
    found = case.converted(partial(short, digits=digits))
    return found.with_numbers(lambda value: max(value, 2.0**-digits), case.positive)


def with_fewer_digits(case: Case, name: str) -> Iterator[Case]:
    """Yield a case with fewer digits of one of its numbers, as long as that changes it."""
    number = getattr(case, name)
    for digits in range(DIGITS):
        found = short(number, digits)
        if np.array_equal(found, number):
            return
        if name not in case.positive or found > 0:
            yield replace(case, **{name: found})


def simpler(case: Case) -> Iterator[Case]:
    """Yield a case of a quadratic loss with fewer digits, first with a linear loss."""
    linear, matrix = case.loss.parameters
    for curvature, digits in product((0 * matrix, matrix), range(DIGITS)):
        yield rounded(replace(case, loss=Loss(quadratic, (linear, curvature))), digits)
