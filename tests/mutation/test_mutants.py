"""The pass that makes wrong formulas, and how they are put in the place of the right ones."""

from pathlib import Path

import pytest
from mutants import mutants, mutants_of
from planting import claims_with, loaded, originals, planted
from users import place_of, users

from theory import batchnorm
from theory.santurkar2018 import discussion_4_2, theorem_4_1, theorem_c1

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


def users_of(module, function):
    path = Path(module.__file__)
    place = place_of(path.read_text(), function, str(path))
    return {claim.id for claim in users(module.CLAIMS, place)}


def changed_line(mutant):
    right = SHORT.replace("(c @ c / m)", "(c @ c / m)").splitlines()
    (line,) = (x for x in mutant.source.splitlines() if x not in right)
    return line.strip()


def test_mistakes_of_a_short_function():
    assert {(m.kind, changed_line(m)) for m in mutants_of(SHORT)} == WRONG


def test_every_kind_of_mistake_is_made_in_the_formulas():
    assert {m.kind for m in mutants("theory/batchnorm.py")} | {"number"} == KINDS
    assert {m.kind for m in mutants("theory/santurkar2018/proof_4_1.py")} > {"number", "power"}


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


def test_mistakes_are_made_in_lambdas_of_hypotheses():
    found = mutants("theory/santurkar2018/discussion_4_2.py")
    assert {m.function for m in found} >= {"TOWARDS_BETA", "towards_minimum", "sides"}


def test_a_planted_mistake_reaches_who_imported_the_function():
    (mutant,) = (
        m for m in mutants("theory/batchnorm.py") if m.description == "y - mean(y, axis) -> y"
    )
    y = theorem_4_1.norm_squared  # any function that is not planted keeps its code
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


def test_a_loaded_mutant_leaves_the_module_alone():
    mutant = mutants("theory/santurkar2018/theorem_4_1.py")[0]
    names = loaded(mutant)
    assert names["sides"] is not theorem_4_1.sides
    assert [c.id for c in names["CLAIMS"]] == [c.id for c in theorem_4_1.CLAIMS]


@pytest.mark.parametrize(
    ("function", "identifiers"),
    [
        ("bound", {"S-thm-4.1", "S-thm-4.1/two-networks", "S-thm-4.1/equality"}),
        ("two_networks", {"S-thm-4.1/two-networks"}),
        ("slack", {"S-thm-4.1"}),
    ],
)
def test_users_of_a_function(function, identifiers):
    found = users_of(theorem_4_1, function)
    assert {i for i in found if "/eps" not in i} == identifiers


def test_users_of_a_hypothesis():
    found = users_of(discussion_4_2, "towards_minimum")
    assert found == {"S-thm-4.2-discussion/descent", "S-thm-4.2-discussion/descent/eps"}
    found = users_of(discussion_4_2, "TOWARDS_BETA")
    assert all(name.endswith("corrected") for name in found)
    assert len(found) == 2


def test_users_of_a_function_that_a_closure_holds():
    found = users_of(theorem_c1, "weights")
    assert {"S-thm-C1/weights", "S-thm-C1/weights/at-most"} <= found
    assert all("weights" in name for name in found)
    assert found < users_of(theorem_c1, "printed")


def test_a_mistake_in_a_module_without_claims_reaches_those_made_with_it():
    file = "theory/santurkar2018/convex_losses.py"
    mutant = next(m for m in mutants(file) if m.function == "with_constants")
    right, found = originals(file), {claim.id: claim for claim in claims_with(mutant)}
    assert {"S-obs-4.3/minima/fixed", "S-lemma-4.5/fixed"} <= found.keys() < right.keys()
    assert all(right[name].sides is not claim.sides for name, claim in found.items())
