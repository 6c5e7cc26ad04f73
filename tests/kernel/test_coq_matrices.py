"""Coq rejects a theorem on matrices or convolutions with its statement edited."""

import pytest
from planted_matrices import EDITS
from planted_proofs import edited
from test_proofs import SOURCES, compiled

from verify.kernel.evidence import Outcome

PLANTED = {
    f"planted/{theorem}.v": (theorem, edited(SOURCES[file], theorem, *edit))
    for file, edits in EDITS.items()
    for theorem, edit in edits.items()
}


@pytest.fixture(scope="module")
def found():
    return compiled(SOURCES | {file: text for file, (_, text) in PLANTED.items()})


def test_every_theorem_on_matrices_has_a_planted_wrong_statement(found):
    theorems = {c.theorem for file in EDITS for c in found[file].checks}
    assert theorems == {theorem for edits in EDITS.values() for theorem in edits}


def test_every_file_of_paper_l_is_among_them():
    assert {file for file in SOURCES if file.startswith("lange2022/")} <= set(EDITS)


@pytest.mark.parametrize("file", PLANTED)
def test_coq_rejects_a_theorem_with_its_statement_edited(found, file):
    theorem, _ = PLANTED[file]
    failed = [c.theorem for c in found[file].checks if c.outcome is Outcome.FAILED]
    assert failed == [theorem], found[file].error
