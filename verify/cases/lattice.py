r"""Cases of small integers, for exact arithmetic and for readable counterexamples.

With :math:`\epsilon = (r^2 - 1) v` for a small rational r, :math:`\sigma = r\sqrt v`: whatever the
batch, one square root suffices and both sides have a closed form.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from verify.cases.case import Case
from verify.cases.losses import Loss, quadratic


def cases(m: int, bound: int = 3) -> st.SearchStrategy[Case]:
    """Return a strategy of cases of length m whose entries are integers up to a bound."""
    entries = st.lists(_toward_zero(bound), min_size=m, max_size=m)
    size = m * (m + 1) // 2
    without_curvature = st.just([0] * size)
    triangle = without_curvature | st.lists(_toward_zero(bound), min_size=size, max_size=size)
    return st.builds(
        lattice_case,
        y=entries,
        gamma=_toward_zero(bound),
        beta=_toward_zero(bound),
        ratio=st.sampled_from([Fraction(2), Fraction(3, 2), Fraction(5, 4), Fraction(3)]),
        linear=entries,
        triangle=triangle,
        direction=entries,
        other_direction=entries,
        bound=st.integers(1, bound),
    )


def lattice_case(
    y: list[int],
    gamma: int,
    beta: int,
    ratio: Fraction,
    linear: list[int],
    triangle: list[int],
    direction: list[int],
    other_direction: list[int],
    bound: int,
) -> Case:
    """Return the case of these integers; the loss's matrix is given by its lower triangle."""
    m = len(y)
    mean = Fraction(sum(y), m)
    variance = sum((entry - mean) ** 2 for entry in y) / m
    matrix = np.zeros((m, m), dtype=object)
    rows, columns = np.tril_indices(m)
    matrix[rows, columns] = triangle
    matrix[columns, rows] = triangle
    return Case(
        y=np.array(y, dtype=object),
        gamma=gamma,
        beta=beta,
        eps=(ratio**2 - 1) * variance if variance else Fraction(1),
        loss=Loss(quadratic, (np.array(linear, dtype=object), matrix)),
        direction=np.array(direction, dtype=object),
        other_direction=np.array(other_direction, dtype=object),
        bound=bound,
        stratum=f"integers m={m}",
    )


def written(case: Case) -> dict[str, Any]:
    """Return the numbers of a case as strings, for a ledger."""
    return {
        "y": shown(case.y),
        "gamma": _number(case.gamma),
        "beta": _number(case.beta),
        "eps": _number(case.eps),
        "loss": case.loss.formula,
        "parameters": {
            name: shown(value)
            for name, value in zip(case.loss.letters, case.loss.parameters, strict=True)
        },
        "u": shown(case.direction),
        "v": shown(case.other_direction),
        "lambda": _number(case.bound),
    }


def shown(value: Any) -> Any:
    """Return a number as a string, an array as nested lists of strings."""
    return [shown(entry) for entry in value] if np.ndim(value) else str(value)


def _number(value: Any) -> str:
    """Return a number as a string, also one that a hypothesis left in an array of its own."""
    return str(np.asarray(value, dtype=object).item())


def _toward_zero(bound: int) -> st.SearchStrategy[int]:
    return st.integers(-bound, bound)
