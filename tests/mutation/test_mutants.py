"""The pass that makes wrong formulas, and how they are put in the place of the right ones."""

import pytest
from mutants import mutants, mutants_of
from planting import planted

from theory import batchnorm

SHORT = '''
def spread(y, eps):
    """An - docstring * that stays."""
    c = centre(y)
    return sqrt(c @ c / m) + eps
'''
WRONG = {
    ("no centring", "c = y"),
    ("sign", "return sqrt(c @ c / m) - eps"),
    ("dropped term", "return sqrt(c @ c / m)"),
    ("dropped term", "return eps"),
    ("dropped root", "return c @ c / m + eps"),
    ("dropped divisor", "return sqrt(c @ c) + eps"),
    ("dropped factor", "return sqrt(1 / m) + eps"),
    ("times for over", "return sqrt(c @ c * m) + eps"),
    ("swapped", "return sqrt(y @ c / m) + eps"),
    ("swapped", "return sqrt(c @ y / m) + eps"),
    ("m - 1 for m", "return sqrt(c @ c / (m - 1)) + eps"),
    ("root of m for m", "return sqrt(c @ c / sqrt(m)) + eps"),
    ("no eps", "return sqrt(c @ c / m) + 0"),
}
KINDS = {
    "sign", "dropped term", "dropped factor", "dropped divisor", "times for over", "power",
    "number", "m - 1 for m", "root of m for m", "dropped root", "no centring", "no mean",
    "swapped", "no eps",
}  # fmt: skip


def changed_line(mutant):
    right = SHORT.replace("(c @ c / m)", "(c @ c / m)").splitlines()
    (line,) = (x for x in mutant.source.splitlines() if x not in right)
    return line.strip()


def test_mistakes_of_a_short_function():
    assert {(m.kind, changed_line(m)) for m in mutants_of(SHORT)} == WRONG


def test_every_kind_of_mistake_is_made_in_the_formulas():
    assert {m.kind for m in mutants("theory/batchnorm.py")} | {"number"} == KINDS


def test_mutants_differ_from_the_source_and_from_each_other():
    found = mutants("theory/batchnorm.py")
    assert len({m.source for m in found}) == len({m.key for m in found}) == len(found) > 200


@pytest.mark.parametrize(
    "source",
    [
        "def f(y):\n    if y.shape[0] - 1 < 2:\n        raise ValueError(y + 1)",
        "def f(y) -> list[Claim]:\n    return [y] + [y]",
        "X = 2 * 3\nY = f(1 + 1)",
        'def f(y):\n    """1 + 1"""',
        "def f(y, axis=0):\n    return y",
    ],
    ids=["checks", "claims", "constants", "docstring", "defaults"],
)
def test_what_computes_nothing_is_left_alone(source):
    assert mutants_of(source) == []


def test_a_planted_mistake_reaches_who_imported_the_function():
    (mutant,) = (
        m for m in mutants("theory/batchnorm.py") if m.description == "y - mean(y, axis) -> y"
    )
    y = batchnorm.variance  # any function that is not planted keeps its code
    before, other = batchnorm.centre.__code__, y.__code__
    with planted(mutant):
        assert batchnorm.centre.__code__ is not before
        assert batchnorm.centre(3.5) == 3.5
        assert y.__code__ is other
    assert batchnorm.centre.__code__ is before


def test_a_root_can_be_planted_where_none_was_imported():
    (mutant,) = (
        m
        for m in mutants("theory/claim.py")
        if m.function == "letters_of" and m.kind == "root of m for m"
    )
    module = __import__("theory.claim", fromlist=["claim"])
    with planted(mutant):
        assert hasattr(module, "sqrt")
    assert not hasattr(module, "sqrt")
