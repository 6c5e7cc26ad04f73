"""Every mechanical mistake in the shipped formulas is noticed.

The claims' letters (``theory/claim.py``) are formulas too, and are mutated with them.
"""

import numpy as np
import pytest
from equivalent import PROVABLE, survivors_of
from formulas import for_every_m
from further_formulas import BY_FILE
from mutants import functions, mutants
from planting import differs, live, planted

from theory.arithmetic.abstract import is_zero

LETTERS = "theory/claim.py"
PLACES = [
    (file, function)
    for file in BY_FILE
    for function in (["letters_of"] if file == LETTERS else functions(file))
]
OF_ONE_BATCH = ("theory/batchnorm.py", "theory/running.py")
"""Their survivors are proved to say the same."""


def is_noticed(mutant):
    with planted(mutant), np.errstate(all="ignore"):
        try:
            return any(
                differs(computed(), value) for computed, value in BY_FILE[mutant.file].values()
            )
        except Exception:
            return True


@pytest.mark.parametrize("file", BY_FILE)
def test_the_formulas_give_what_they_must(file):
    entries = BY_FILE[file].items()
    assert not [name for name, (computed, value) in entries if differs(computed(), value, 1e-12)]


@pytest.mark.parametrize(("file", "function"), PLACES)
def test_mistakes_are_noticed(file, function):
    found = [m for m in mutants(file) if m.function == function]
    assert {m.key for m in found if not is_noticed(m)} == survivors_of(file, function)


@pytest.mark.parametrize("key", [key for key in PROVABLE if key[0] in OF_ONE_BATCH], ids=" ".join)
def test_survivors_are_proved_equal_for_every_batch_size(key):
    (mutant,) = (m for m in mutants(key[0]) if m.key == key)
    formula = live(mutant)
    right = for_every_m(formula)
    with planted(mutant):
        wrong = for_every_m(formula)
    assert all(is_zero(a - b) for a, b in zip(wrong, right, strict=True))
