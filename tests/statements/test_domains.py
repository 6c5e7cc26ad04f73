r"""A letter's values are where its displayed domain says: inequalities are read and tried.

A domain is LaTeX that an author wrote, and the values are a function's: nothing else holds them
together.  What is told in words, such as "k odd", is not read.
"""

import operator
import re
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from theory.arithmetic.exact import DifferentFieldsError, number
from theory.claim import Claim
from theory.language.expression import Letter
from theory.matrix_claim import MatrixClaim
from theory.statement import joined, letters_of
from verify.cases.case import adapted
from verify.cases.strata import random_cases
from verify.engine import CLAIMS
from verify.matrices.exact import converted
from verify.matrices.strata import random_subjects
from verify.witnesses.exact import EXACT, network_of, rational_case

RELATIONS = {">": operator.gt, r"\ge": operator.ge, "<": operator.lt, r"\le": operator.le}
OPPOSITES = {">": "<", r"\ge": "<", "<": ">", r"\le": ">"}
INEQUALITY = re.compile(r"(?:(\S+) (<|\\le) )?(\S+) (>|\\ge|<|\\le) (\S+)")
GRID = 1024
SHORT = 6
"""Exact numbers of longer batches are long themselves."""


def reads(letter: Letter) -> bool:
    """Whether a letter's domain is an inequality on its own numbers."""
    found = INEQUALITY.fullmatch(letter.domain)
    return found is not None and letter.latex in (found[3], rf"({found[3]}\mathbf 1)")


RANGING = [
    (claim, letter)
    for claim in CLAIMS
    if isinstance(claim, Claim | MatrixClaim) and not claim.unreadable
    for letter in letters_of(claim)
    if reads(letter)
]


def on_grid(value: Any) -> Any:
    return np.round(np.asarray(value) * GRID) / GRID


@cache
def batches() -> list[Any]:
    return [rational_case(case) for case in random_cases(0, 1) if len(case.y) <= SHORT]


@cache
def subjects(kind: Any) -> list[Any]:
    return [s.with_numbers(on_grid, s.names()) for s in random_subjects(kind, 0, 1)]


def offered(claim: Any) -> list[Any]:
    """Return what a statement's letters are read from, at instances where it says something."""
    found = []
    for drawn in batches() if isinstance(claim, Claim) else subjects(claim.subject):
        with suppress(ZeroDivisionError, DifferentFieldsError):
            if isinstance(claim, MatrixClaim):
                found.append(converted(claim, drawn))
            else:
                network = network_of(adapted(drawn, claim), EXACT)
                found.append(joined(network, claim.letters(network)))
    return found


def worth(letter: Letter, source: Any) -> np.ndarray:
    return np.vectorize(lambda x: float(number(x).ball()), otypes=[float])(letter.value(source))


def end(text: str, claim: Any, source: Any) -> Any:
    """Return an end of a range: a number, another letter, a size."""
    for letter in letters_of(claim):
        if letter.latex == text:
            return worth(letter, source)
    return source.size[text] if text.isalpha() else float(text)


def is_within(letter: Letter, claim: Any, source: Any) -> bool:
    """Whether a letter's value, each number of it, is in its range."""
    low, above, _, relation, high = INEQUALITY.fullmatch(letter.domain).groups()
    value = worth(letter, source)
    return bool(
        np.all(RELATIONS[relation](value, end(high, claim, source)))
        and (low is None or np.all(RELATIONS[above](end(low, claim, source), value)))
    )


@pytest.mark.parametrize(
    "claim", dict.fromkeys(claim for claim, _ in RANGING), ids=lambda claim: claim.id
)
def test_a_letter_is_in_the_range_that_is_displayed(claim):
    found = []
    for letter in (letter for of, letter in RANGING if of is claim):
        for source in offered(claim):
            with suppress(DifferentFieldsError):
                found.append(is_within(letter, claim, source))
    assert found
    assert all(found)


EACH = {(claim.id[0], letter.domain): (claim, letter) for claim, letter in RANGING}


def opposites(domain: str) -> list[str]:
    """Return ranges that have nothing in common with one, below it or above."""
    low, _, name, relation, high = INEQUALITY.fullmatch(domain).groups()
    return [f"{name} {OPPOSITES[relation]} {high}", *([] if low is None else [f"{name} < {low}"])]


@pytest.mark.parametrize(("paper", "domain"), EACH)
def test_a_letter_out_of_its_range_is_noticed(paper, domain):
    claim, letter = EACH[paper, domain]
    for other in opposites(domain):
        wrong = replace(letter, domain=other)
        assert not any(is_within(wrong, claim, source) for source in offered(claim))
