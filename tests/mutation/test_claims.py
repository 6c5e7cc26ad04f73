"""Every mechanical mistake in a claim's formulas is noticed, or changes nothing."""

import pytest
from equivalent import EQUIVALENT, PROVABLE, survivors_of
from killers import BEYOND_WITNESSES, QUICK, SLOW, killer_of, other_formula
from likeness import same_for_every_m, same_numbers
from mutants import ROOT, functions, mutants
from planting import claims_elsewhere, claims_with, originals

FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "theory/santurkar2018").rglob("*.py")
    if path.name != "__init__.py"
)
PLACES = [(file, function) for file in FILES for function in functions(file)]
CLAIMS = {name: claim for file in FILES for name, claim in originals(file).items()}


def killer(mutant):
    """Who notices the mistake; empty for a survivor.

    What computes the same numbers as the original is not examined any further.
    """
    right = originals(mutant.file)
    try:
        claims = claims_with(mutant)
        assert claims, f"no claim computes with {mutant.function}"
        if all(same_numbers(claim, right[claim.id]) for claim in claims):
            claims = claims_elsewhere(mutant)
            if all(same_numbers(claim, right[claim.id]) for claim in claims):
                return ""
        if complaint := killer_of(claims, [other_formula]):
            return complaint
        changed = [claim for claim in claims if not same_numbers(claim, right[claim.id])]
        at_once = filter(None, (killer_of([claim], QUICK) for claim in changed))
        return next(at_once, "") or killer_of(changed, SLOW)
    except AssertionError:
        raise
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_nobody_complains_of_a_right_claim(claim):
    assert killer_of([claim], BEYOND_WITNESSES) == ""


@pytest.mark.parametrize(("file", "function"), PLACES)
def test_mistakes_are_noticed(file, function):
    survivors = {m.key for m in mutants(file) if m.function == function and not killer(m)}
    assert survivors == survivors_of(file, function)


@pytest.mark.parametrize("key", [key for key in PROVABLE if key[0] in FILES], ids=" ".join)
def test_survivors_are_proved_equal_for_every_batch_size(key):
    (mutant,) = (m for m in mutants(key[0]) if m.key == key)
    right = originals(mutant.file)
    claims = claims_with(mutant)
    assert claims
    assert all(same_for_every_m(claim, right[claim.id]) for claim in claims)


def test_every_survivor_that_is_listed_is_a_mutant():
    listed = {key for key in EQUIVALENT if key[0] in FILES}
    assert listed <= {mutant.key for file in FILES for mutant in mutants(file)}
