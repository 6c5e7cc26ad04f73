"""Statements about matrices in every array library: the same verdicts, wrong formulas seen."""

from dataclasses import replace

import numpy as np
import pytest

from theory.lange2022 import algorithm_1, theorem_3, theorem_4
from theory.language.expression import equal, number
from theory.matrix_claim import Kind
from theory.statement import Relation
from verify import backends, engine
from verify.backends import Backend
from verify.operators import Operand, bare
from verify.settings import PROFILES, Settings
from verify.subjects.matrix_strata import draw
from verify.tolerance import Outcome
from verify.witnesses.matrices import floats, libraries

STRICT = "array-api-strict"
BACKENDS = [
    Backend(name, device)
    for name in backends.installed()
    for device in backends.devices(name)
    if name != STRICT or device == "device1"
]
"""Of the strict library, whose devices are alike, the one that is not taken by default."""
CLAIMS = [algorithm_1.CLAIMS[0], theorem_3.CLAIMS[0], theorem_4.CENTRED]
STATEMENTS = {claim.id: claim for claim in engine.CLAIMS}
SUBJECT = draw(Kind.LAYER, "gaussian", 0, 0)
in_each_library = pytest.mark.parametrize(
    "backend", BACKENDS, ids=lambda backend: f"{backend.name} {backend.device}"
)


def examined(claim, backend):
    (found,) = libraries.examine_together([claim], [SUBJECT], backend)[claim.id]
    return found


@in_each_library
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_library_agrees_with_pytorch_and_a_wrong_formula_is_seen(backend, claim):
    there, here = examined(claim, backend), floats.examine_one(claim, SUBJECT)
    assert there.outcomes == here.outcomes == [Outcome.HOLDS]
    np.testing.assert_allclose(there.actual, here.actual, rtol=1e-6)
    np.testing.assert_allclose(there.claimed, here.claimed, rtol=1e-6)
    if claim.relation is Relation.EQUAL:
        off = equal(claim.says.actual, number(1000) / 1001 * claim.says.claimed)
        assert examined(replace(claim, says=off), backend).outcomes == [Outcome.VIOLATED]


@pytest.mark.parametrize(
    "name",
    [
        "L-eq-5-6/5/corrected", "L-eq-5-6/rate", "L-lemma-8/example", "L-alg-3",
        "L-thm-4-remarks/property-A", "L-prop-10/variance/bound/attained", "L-thm-4c/nearly-tight",
    ],
)  # fmt: skip
def test_what_a_statement_brings_of_its_own_is_where_its_arrays_are(name):
    """The strict library refuses to mix the arrays of two devices, as PyTorch does on a GPU."""
    settings = Settings(PROFILES["smoke"], backend=STRICT, device="device1")
    (found,) = libraries.examine([STATEMENTS[name]], settings)
    assert found.instances > found.vacuous


def test_a_record_says_which_strata():
    settings = Settings(PROFILES["smoke"], backend="array-api-strict")
    (found,) = libraries.examine(CLAIMS[:1], settings)
    assert found.witness == "array library"
    assert found.instances == sum(counts["instances"] for counts in found.strata.values()) > 0


NUMBERS = np.arange(24.0).reshape(2, 3, 4)
INDICES = [
    (slice(None, None, -1),),  # which PyTorch has not
    (0,),
    (slice(None), 1),
    (..., slice(1, 3)),
    (None, slice(0, 9)),
    (slice(None), [2, 0]),
    (1, ..., 2),
]


@in_each_library
def test_arrays_are_indexed_and_computed_with_as_in_numpy(backend):
    array = Operand(backend.asarray(NUMBERS))
    for index in INDICES[backend.name == "torch" :]:
        np.testing.assert_array_equal(backend.to_numpy(bare(array[index])), NUMBERS[index])
    expressions = [
        lambda a: a.sum(),
        lambda a: a.sum(0),
        lambda a: a.reshape(6, 4) @ a.reshape(6, 4).T,
        lambda a: a.transpose(2, 0, 1),
        lambda a: 2 - a / 3,
        lambda a: 1 / (a + 1) ** 2,
        lambda a: -a,
        lambda a: abs(a - 5),
        lambda a: a.max(),
        lambda a: a.min(),
    ]
    for expression in expressions:
        found = backend.to_numpy(bare(expression(array)))
        np.testing.assert_allclose(found, expression(NUMBERS))
    assert len(array) == 2
    assert [float(bare(row.sum())) for row in array] == [66.0, 210.0]
    assert (array > 22).any()
    assert not (array > 23).any()
    copy = Operand(backend.asarray(NUMBERS.copy()))
    copy[0, ..., 1:] = array[1, ..., 1:]
    assert float(bare(copy.sum())) == 384.0
