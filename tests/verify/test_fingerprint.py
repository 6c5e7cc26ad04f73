"""A fingerprint is the same in every process, and another for another statement or budget."""

from dataclasses import replace

import numpy as np

from theory.santurkar2018 import theorem_4_1
from verify import engine
from verify.fingerprint import fingerprint, of_code
from verify.settings import PROFILES, Settings

CLAIM, WITNESS = theorem_4_1.PRINTED, engine.WITNESSES[0]
SETTINGS = Settings(PROFILES["smoke"])


def test_a_function_of_another_package_goes_by_its_name_and_not_by_its_address():
    assert of_code(np.max) == "numpy.max"


def test_what_is_said_of_a_statement_does_not_make_it_another():
    told = replace(CLAIM, remark="another", title="another")
    assert fingerprint(told, WITNESS, SETTINGS) == fingerprint(CLAIM, WITNESS, SETTINGS)


def test_another_right_side_a_seed_and_a_budget_make_it_another():
    wrong = replace(CLAIM, says=CLAIM.says.actual <= 2 * CLAIM.says.claimed)
    marks = [
        fingerprint(CLAIM, WITNESS, SETTINGS),
        fingerprint(wrong, WITNESS, SETTINGS),
        fingerprint(CLAIM, WITNESS, replace(SETTINGS, seed=1)),
        fingerprint(CLAIM, WITNESS, Settings(PROFILES["deep"])),
    ]
    assert len(set(marks)) == len(marks)
