"""Cases of floats as short binary fractions, which are decided exactly and can be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from verify.cases.case import REAL, Case
from verify.cases.losses import Loss, quadratic

POSITIVE = ("eps", "bound")
DIGITS = 6
"""How many binary ones a number has behind the point."""


def rounded(case: Case, digits: int = DIGITS) -> Case:
    """Return a case of a quadratic loss with every number rounded to a short binary fraction."""

    def short(number: Any) -> Any:
        return np.round(np.asarray(number) * 2**digits) / 2**digits

    found = {name: short(getattr(case, name)) for name in REAL}
    positive = {name: max(found[name], 2.0**-digits) for name in POSITIVE}
    loss = Loss(quadratic, tuple(map(short, case.loss.parameters)))
    return replace(case, **(found | positive), loss=loss)


def with_fewer_digits(case: Case, name: str) -> Iterator[Case]:
    """Yield a case with fewer digits of one of its numbers."""
    for digits in range(DIGITS):
        short = np.round(getattr(case, name) * 2.0**digits) / 2.0**digits
        if name not in POSITIVE or short > 0:
            yield replace(case, **{name: short})


def simpler(case: Case) -> Iterator[Case]:
    """Yield a case of a quadratic loss with fewer digits, first with a linear loss."""
    linear, matrix = case.loss.parameters
    for curvature, digits in product((0 * matrix, matrix), range(DIGITS)):
        yield rounded(replace(case, loss=Loss(quadratic, (linear, curvature))), digits)
