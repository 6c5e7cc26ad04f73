"""Statements about matrices in every array library: the same verdicts, wrong formulas seen."""

from dataclasses import replace

import numpy as np
import pytest

from theory.lange2022 import algorithm_1, proposition_2, theorem_3, theorem_4
from theory.matrix_claim import Kind
from theory.statement import Sides
from verify import backends
from verify.backends import Backend
from verify.matrices import floats, libraries
from verify.matrices.strata import draw
from verify.operators import Operand, bare
from verify.settings import PROFILES, Settings
from verify.tolerance import Outcome

STRICT = "array-api-strict"
BACKENDS = [
    Backend(name, device)
    for name in backends.installed()
    for device in backends.devices(name)
    if name != STRICT or device == "device1"
]
"""Of the strict library, whose devices are alike, the one that is not taken by default."""
CLAIMS = [
    algorithm_1.CLAIMS[0],
    proposition_2.CLAIMS[0],
    theorem_3.CLAIMS[0],
    theorem_4.CENTRED,
]


SUBJECTS = [
    draw(Kind.LAYER, stratum, 0, 0) for stratum in ("gaussian", "nearly dependent", "rectified")
]


def subjects(backend):
    """The strict library, which checks each operation, takes a hundred times as long."""
    return SUBJECTS[:1] if backend.name == STRICT else SUBJECTS


def named(backend):
    return f"{backend.name} {backend.device}"


@pytest.mark.parametrize("backend", BACKENDS, ids=named)
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_library_agrees_with_pytorch(backend, claim):
    for subject in subjects(backend):
        there = libraries.examine(claim, subject, backend)
        here = floats.examine(claim, subject)
        assert Outcome.VIOLATED not in (*there.outcomes, *here.outcomes)
        if {*there.outcomes, *here.outcomes} != {Outcome.HOLDS}:
            continue
        np.testing.assert_allclose(there.actual, here.actual, rtol=1e-6)
        np.testing.assert_allclose(there.claimed, here.claimed, rtol=1e-6)


@pytest.mark.parametrize("backend", BACKENDS, ids=named)
@pytest.mark.parametrize("claim", CLAIMS[:3], ids=lambda claim: claim.id)
def test_a_wrong_formula_is_seen(backend, claim):
    def off(layer):
        actual, claimed = claim.sides(layer)
        return Sides(actual, claimed * (1 + 1e-3))

    wrong = replace(claim, says=None, sides=off)
    found = [
        libraries.examine(wrong, subject, backend).outcomes[0] for subject in subjects(backend)
    ]
    assert set(found) - {Outcome.VACUOUS, Outcome.UNDECIDED} == {Outcome.VIOLATED}


def test_a_record_says_which_strata():
    settings = Settings(PROFILES["smoke"], backend="array-api-strict")
    (found,) = libraries.examine_random(CLAIMS[:1], settings)
    assert found.witness == "array library"
    assert found.instances == sum(counts["instances"] for counts in found.strata.values()) > 0


NUMBERS = np.arange(24.0).reshape(2, 3, 4)
INDICES = [
    (0,),
    (slice(None), 1),
    (..., slice(1, 3)),
    (None, slice(0, 9)),
    (slice(None), [2, 0]),
    (slice(None, None, -1),),
    (1, ..., 2),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("backend", BACKENDS, ids=named)
def test_an_array_is_indexed_as_numpy_indexes(backend, index):
    if backend.name == "torch" and any(isinstance(i, slice) and i.step == -1 for i in index):
        pytest.skip("PyTorch has no negative steps")
    found = Operand(backend.asarray(NUMBERS))[index]
    np.testing.assert_array_equal(backend.to_numpy(bare(found)), NUMBERS[index])


@pytest.mark.parametrize("backend", BACKENDS, ids=named)
def test_methods_and_operators_are_numpys(backend):
    array = Operand(backend.asarray(NUMBERS))
    pairs = [
        (array.sum(), NUMBERS.sum()),
        (array.sum(0), NUMBERS.sum(0)),
        (
            array.reshape(6, 4) @ array.reshape(6, 4).T,
            NUMBERS.reshape(6, 4) @ NUMBERS.reshape(6, 4).T,
        ),
        (array.transpose(2, 0, 1), NUMBERS.transpose(2, 0, 1)),
        (2 - array / 3, 2 - NUMBERS / 3),
        (1 / (array + 1) ** 2, 1 / (NUMBERS + 1) ** 2),
        (-array, -NUMBERS),
        (abs(array - 5), abs(NUMBERS - 5)),
        (array.max(), NUMBERS.max()),
        (array.min(), NUMBERS.min()),
    ]
    for found, expected in pairs:
        np.testing.assert_allclose(backend.to_numpy(bare(found)), expected)
    assert len(array) == 2
    assert [float(bare(row.sum())) for row in array] == [66.0, 210.0]
    assert (array > 22).any()
    assert not (array > 23).any()
