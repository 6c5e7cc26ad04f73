"""Every place that a claim names holds the words that the claim quotes, in the texts as read.

The texts are not part of this repository: they are looked for in a folder beside it, or where the
environment variable says.
"""

import hashlib
import os
import re
from pathlib import Path

import pytest

from theory import lange2022, santurkar2018
from theory.lange2022 import texts as lange
from theory.santurkar2018 import texts as santurkar

CLAIMS = (*santurkar2018.CLAIMS, *lange2022.CLAIMS)
FILES = santurkar.FILES | lange.FILES
SHA256 = santurkar.SHA256 | lange.SHA256
VARIABLE = "BATCHNORM_PAPERS"
BESIDE = Path(__file__).parents[3] / "shared" / "papers"
PLACES = {(claim.id, place) for claim in CLAIMS for place in claim.locations}


@pytest.fixture(scope="session")
def papers():
    folder = Path(os.environ.get(VARIABLE, BESIDE))
    if not folder.is_dir():
        pytest.skip(f"set {VARIABLE} to the folder that holds {', '.join(FILES.values())}")
    return folder


def lines(papers, text):
    return (papers / FILES[text]).read_text(encoding="utf-8").split("\n")


@pytest.mark.parametrize("text", FILES)
def test_the_text_is_the_conversion_that_was_read(papers, text):
    assert hashlib.sha256((papers / FILES[text]).read_bytes()).hexdigest() == SHA256[text]


@pytest.mark.parametrize("text", FILES)
def test_the_quotes_stand_on_their_lines(papers, text):
    found = lines(papers, text)
    astray = [
        (claim, place.line, place.quote)
        for claim, place in PLACES
        if place.text == text and place.quote not in found[place.line - 1]
    ]
    assert not astray


def test_every_text_has_its_digest():
    assert FILES.keys() == SHA256.keys()
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in SHA256.values())


def test_places_are_complete():
    incomplete = [
        (claim, place)
        for claim, place in PLACES
        if place.text not in FILES
        or place.line <= 0
        or not place.place.startswith(("Sect. ", "App. ", "Abstract"))
        or len(place.quote) <= 5
    ]
    assert not incomplete
