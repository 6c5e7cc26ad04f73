"""A list of statements that is wrong in itself is refused before anything is examined."""

from dataclasses import replace

import pytest

from theory.catalogue import CatalogueError, checked
from theory.claim import Form, Verdict
from theory.santurkar2018 import theorem_4_1
from verify.engine import CLAIMS

RIGHT = theorem_4_1.PRINTED


def test_what_is_refuted_says_what_is_right_or_remarks_why_not():
    corrected = {claim.of for claim in CLAIMS if claim.form is Form.CORRECTED}
    refuted = [claim for claim in CLAIMS if claim.expected is Verdict.REFUTED]
    assert not [c.id for c in refuted if not (c.corrected_by or c.id in corrected or c.remark)]


def test_what_amends_a_statement_is_of_the_same_result():
    rows = {claim.id: claim.row for claim in CLAIMS}
    assert not [c.id for c in CLAIMS if c.of is not None and rows[c.of] != c.row]


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"title": ""}, "give a title="),
        ({"locations": ()}, "give the places"),
        ({"says": None}, "give either says= .* or in_words="),
        ({"corrected_by": "S-nothing"}, "corrected_by names S-nothing, which is no statement"),
        ({"form": Form.CORRECTED, "id": "S-x"}, "S-x: is corrected; say of what with of="),
        ({"of": RIGHT.id}, "of= is for what is corrected or sharpened"),
        ({"unreadable": "lost"}, "unreadable= says why, and goes with"),
        ({"id": "S-other"}, "S-other: says what S-thm-4.1 says"),
        ({}, "2 statements have this identifier"),
    ],
)
def test_what_is_wrong_is_named_with_what_to_do(wrong, complaint):
    with pytest.raises(CatalogueError, match=complaint):
        checked([RIGHT, replace(RIGHT, **wrong)])


def test_what_is_corrected_by_names_what_holds():
    wrong = replace(RIGHT, id="S-wrong", expected=Verdict.REFUTED, statement="a")
    with pytest.raises(CatalogueError, match="S-wrong, which is expected to be refuted; name"):
        checked([replace(RIGHT, corrected_by="S-wrong"), wrong])
