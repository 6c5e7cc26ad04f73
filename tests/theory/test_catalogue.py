"""A list of statements that is wrong in itself is refused before anything is examined."""

from dataclasses import replace

import pytest

from theory.catalogue import CatalogueError, checked
from theory.santurkar2018 import CLAIMS, theorem_4_1

RIGHT = theorem_4_1.PRINTED


def test_the_papers_are_catalogues():
    assert checked(CLAIMS) == tuple(CLAIMS)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"title": ""}, "give a title="),
        ({"locations": ()}, "give the places"),
        ({"says": None}, "give either says= .* or in_words="),
        ({"corrected_by": "S-nothing"}, "corrected_by names S-nothing, which is no statement"),
        ({"id": "S-other"}, "S-other: says what S-thm-4.1 says"),
        ({}, "2 statements have this identifier"),
    ],
)
def test_what_is_wrong_is_named_with_what_to_do(wrong, complaint):
    with pytest.raises(CatalogueError, match=complaint):
        checked([RIGHT, replace(RIGHT, **wrong)])
