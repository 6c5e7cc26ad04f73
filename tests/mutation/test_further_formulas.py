"""Every mechanical mistake in the formulas beside the layer's own is noticed."""

import numpy as np
import pytest
from equivalent import survivors_of
from further_formulas import BY_FILE
from mutants import functions, mutants
from planting import differs, planted


def is_right(computed, expected):
    return not differs(computed(), np.squeeze(expected))


def is_noticed(mutant):
    with planted(mutant), np.errstate(all="ignore"):
        try:
            return not all(is_right(*entry) for entry in BY_FILE[mutant.file].values())
        except Exception:
            return True


@pytest.mark.parametrize("file", BY_FILE)
def test_the_formulas_give_what_they_must(file):
    wrong = [name for name, entry in BY_FILE[file].items() if not is_right(*entry)]
    assert not wrong


@pytest.mark.parametrize("file", BY_FILE)
def test_mistakes_are_noticed(file):
    survivors = {mutant.key for mutant in mutants(file) if not is_noticed(mutant)}
    assert survivors == {key for name in functions(file) for key in survivors_of(file, name)}
