"""Letters that a statement displays as any are any: no one is made of what others are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from theory.claim import Claim, Reading, Unit
from theory.language.expression import Letter
from theory.language.letters import matrix_of, number_of, vector_of
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import letters_of
from theory.unit import g, sigma, u, y, yhat, z
from verify.engine import CLAIMS
from verify.subjects import unit_strata
from verify.subjects.calculus import Calculus
from verify.subjects.losses import Loss, quadratic
from verify.subjects.matrices import Numbers
from verify.subjects.matrix_strata import GENERIC, draw
from verify.tolerance import Array
from verify.witnesses.exact import network_of

MATRIX_CLAIMS = [claim for claim in CLAIMS if isinstance(claim, MatrixClaim)]
CLAIMS_ON_UNITS = [c for c in CLAIMS if isinstance(c, Claim) and c.says is not None]
INDEX = {Kind.LAYER: 1, Kind.MAPS: 3, Kind.DESCENT: 5}
"""Numbers of subjects that are small, and generic in their sizes."""
OF_Y = sigma, yhat, z
"""What the layer makes of its batch."""
SHORT = 1e-6
NONE = 1e-5
"""What a difference quotient makes of a derivative that is zero, relative to the largest."""
SAID = {
    ("x", "z"): "z = (t, x)",
    ("t", "x", "z"): "z = (t, x)",
    ("y", "z"): "z differs from y in signs, as its domain says",
    ("a", "b", "s"): "s = (-b, 0, a)",
    ("H", "lambda_min"): "H is at least lambda_min I",
    ("a", "h"): "a is the layer's output",
    ("h", "mu_H"): "mu_H is the mean of h by definition",
    ("h", "q"): "h is q times a map that attains the bound",
    ("q", "q*ones"): "the constant map q",
    ("(d_3, ..., d_{n+1})", "d"): "those are entries of d",
    ("E max |g_i|^2", "q"): "the expectation is of numbers q and 0",
    ("E |G|^2", "q"): "the expectation is of signs and q",
    ("h_1", "h_2"): "both are made of the same random numbers, as is displayed",
    ("h_1", "h_2", "v_1", "v_2", "w_1", "w_2", "x_1", "x_2"): "h_1 = v_1 x_1 + v_2 x_2",
    ("Wx", "y"): "y = Wx",
    ("Wx", "lambda", "varepsilon", "y"): "the root of 1 - 2 varepsilon is 1/(1 + lambda)",
    ("sigma_l", "y_l", "yhat_l"): "what the layer makes of a second unit's batch",
    ("E h", "h", "h'", "h''"): "draws of one random number, and its mean",
}
"""Letters that depend on one another, as the reader is told."""
LESS = {
    "Y": "one block for each size of the groups",
    "G": "the same",
    "h_2": "independent of a number that h_1 is made of",
    "q e": "all entries the same, by its name",
    "E h": "the same for each draw",
    "h'": "a draw of h, for each of the others",
    "h''": "the same",
    "yhat_l": "a normalised batch, by its name",
}
"""Arrays of which not every one is meant, and no domain tells it."""


def _gradient(f: Callable[[Array], Any], x: Array) -> Array:
    """Return the gradient of a polynomial or a quotient of two, by a step along i."""
    steps = 1e-20j * np.eye(x.size).reshape(-1, *x.shape)
    return np.reshape([f(x + step).imag / 1e-20 for step in steps], x.shape)


CALCULUS = Calculus(np.sqrt, _gradient, NotImplemented)


@pytest.mark.parametrize("claim", MATRIX_CLAIMS, ids=lambda claim: claim.id)
def test_letters_are_as_free_as_they_are_displayed(claim: MatrixClaim) -> None:
    """Every other dependence of letters is one that the statement does not say."""
    _look_into(_slopes(claim.subject, letters_of(claim)))


@pytest.mark.parametrize("claim", CLAIMS_ON_UNITS, ids=lambda claim: claim.id)
def test_letters_of_a_unit_are_as_free_as_they_are_displayed(claim: Claim) -> None:
    """The loss leaves its gradient free, so that this may be read as any vector, but once."""
    displayed = [letter for letter in letters_of(claim) if letter not in OF_Y]
    _look_into(_slopes(claim.reading, displayed))


def test_letters_that_are_made_of_others_are_noticed() -> None:
    """One number under two names, and a matrix of rank one, are not any; nor a gradient as u."""
    q, eps = number_of("q", "q"), number_of("eps", r"\epsilon", lambda layer: 1 + layer.q**2)
    V = matrix_of("V", "V", lambda layer: layer.direction[:, None] * layer.curvature)
    slopes = _slopes(Kind.LAYER, [q, eps, V])
    assert _dependent(slopes) == ("eps", "q")
    assert [x for x in slopes if _is_less_than_any(slopes[x])] == [V]
    second = vector_of("y_l", "y_l", "g")
    assert _dependent(_slopes(Reading.NO_EPSILON, [y, g, u, second])) == ("g", "y_l")


def _look_into(slopes: dict[Letter, Array]) -> None:
    assert _dependent(slopes) in {(), *SAID}
    assert {x.name for x in slopes if _is_less_than_any(slopes[x]) and not x.domain} <= {*LESS}


def _slopes(of: Kind | Reading, letters: Sequence[Letter]) -> dict[Letter, Array]:
    """Return what changes of a letter's entries with each number of a subject, unless nothing.

    Args:
        of: what kind of subject, or a unit in which reading.
        letters: those that are displayed.
    """
    found = {x: _changes(of, x) for x in letters if x.value is not None}
    return {letter: slopes for letter, slopes in found.items() if slopes.any()}


@cache
def _changes(of: Kind | Reading, letter: Letter) -> Array:
    subject, *moved = _matrices(of) if isinstance(of, Kind) else _units(of)
    return np.array([_entries(letter, other) - _entries(letter, subject) for other in moved])


@cache
def _matrices(kind: Kind) -> list[Numbers]:
    """Return a subject, and the same with each of its numbers moved."""
    subject = replace(draw(kind, GENERIC, seed=0, index=INDEX[kind]), calculus=CALCULUS)
    return [subject, *(moved for name in subject.real() for moved in _moved(subject, name))]


@cache
def _units(reading: Reading) -> list[Any]:
    """Return a unit, and the same with each of its numbers moved, and of its loss's gradient."""
    drawn = next(unit_strata.random_cases(0, 1, (unit_strata.ORDINARY[0],)))
    linear, matrix, *_ = drawn.loss.parameters
    steps = [0 * linear, *SHORT * np.eye(len(linear))]
    case, *others = (
        replace(drawn, loss=Loss(quadratic, (linear + step, matrix))) for step in steps
    )
    every = [case, *others, *(moved for name in case.real() for moved in _moved(case, name))]
    units = [network_of(case, CALCULUS) for case in every]
    return [Unit(unit, reading) for unit in units]


def _moved(subject: Any, name: str) -> Iterator[Any]:
    """Yield a subject with each of some numbers moved."""
    numbers = np.array(getattr(subject, name), dtype=float)
    for place in np.ndindex(numbers.shape):
        others = numbers.copy()
        others[place] += SHORT * max(1, abs(numbers[place]))
        yield replace(subject, **{name: others})


def _entries(letter: Letter, subject: Any) -> Array:
    assert letter.value is not None
    return np.ravel(np.asarray(letter.value(subject), dtype=float))


def _dependent(slopes: dict[Letter, Array]) -> tuple[str, ...]:
    return tuple(sorted(x.name for x in slopes if _shares(slopes, x)))


def _shares(slopes: dict[Letter, Array], letter: Letter) -> bool:
    others = [s for other, s in slopes.items() if other is not letter]
    together = _rank(np.hstack(list(slopes.values())))
    return bool(others) and together < _rank(slopes[letter]) + _rank(np.hstack(others))


def _is_less_than_any(slopes: Array) -> bool:
    return _rank(slopes) < slopes.shape[1]


def _rank(slopes: Array) -> int:
    lengths = np.linalg.norm(slopes, axis=0)
    return int(np.linalg.matrix_rank(slopes / np.where(lengths == 0, 1, lengths), rtol=NONE))
