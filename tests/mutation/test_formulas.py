"""Every mechanical mistake in the shipped formulas is noticed, by autograd.

The claims' letters (``theory/claim.py``) are formulas too, and are mutated with them.
"""

from functools import cache

import numpy as np
import pytest
from equivalent import PROVABLE, survivors_of
from formulas import FORMULAS, LETTERS, for_every_m, instance
from mutants import functions, mutants
from planting import differs, live, planted

from theory.arithmetic.abstract import is_zero
from theory.claim import Reading, letters_of

FILES = ("theory/batchnorm.py", "theory/running.py")
LETTERS_OF = ("theory/claim.py", "letters_of")
PLACES = [*((file, function) for file in FILES for function in functions(file)), LETTERS_OF]
READINGS = {reading: instance(reading) for reading in Reading}
_, NUMBERS = READINGS[Reading.SHARED_EPSILON]


@cache
def expected(name):
    return FORMULAS[name][1](NUMBERS)


def disagreement():
    """Which formula does not give what autograd gives, which letter is not what it stands for."""
    try:
        for name, (computed, _) in FORMULAS.items():
            if differs(computed(NUMBERS), expected(name)):
                return f"{name} and autograd disagree"
        for reading, (network, numbers) in READINGS.items():
            letters = letters_of(network, reading)
            for name, value in LETTERS.items():
                letter = getattr(letters, name)
                found = letter(network.direction) if name == "H" else letter
                if differs(found, value(numbers)):
                    return f"{name} is not what it stands for when {reading.value}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def killer(mutant):
    with planted(mutant):
        return disagreement()


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_gives_what_autograd_gives(name):
    computed, _ = FORMULAS[name]
    np.testing.assert_allclose(np.squeeze(computed(NUMBERS)), expected(name), rtol=1e-12)


def test_nobody_complains_of_the_shipped_formulas():
    assert disagreement() == ""


@pytest.mark.parametrize(("file", "function"), PLACES)
def test_mistakes_are_noticed(file, function):
    survivors = {m.key for m in mutants(file) if m.function == function and not killer(m)}
    assert survivors == survivors_of(file, function)


@pytest.mark.parametrize("key", [key for key in PROVABLE if key[0] in FILES], ids=" ".join)
def test_survivors_are_proved_equal_for_every_batch_size(key):
    (mutant,) = (m for m in mutants(key[0]) if m.key == key)
    formula = live(mutant)
    right = for_every_m(formula)
    with planted(mutant):
        wrong = for_every_m(formula)
    assert all(is_zero(a - b) for a, b in zip(wrong, right, strict=True))
