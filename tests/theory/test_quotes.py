"""Every place that a claim names holds the words that the claim quotes, in the texts as read.

The texts are not part of this repository; the environment variable says where they are.
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
PLACES = {f"{claim.id}-{l.text}-{l.line}": l for claim in CLAIMS for l in claim.locations}


@pytest.fixture(scope="session")
def papers():
    folder = os.environ.get(VARIABLE)
    if not folder:
        pytest.skip(f"set {VARIABLE} to the folder that holds {', '.join(FILES.values())}")
    return Path(folder)


def lines(papers, text):
    return (papers / FILES[text]).read_text(encoding="utf-8").split("\n")


@pytest.mark.parametrize("text", FILES)
def test_the_text_is_the_conversion_that_was_read(papers, text):
    assert hashlib.sha256((papers / FILES[text]).read_bytes()).hexdigest() == SHA256[text]


@pytest.mark.parametrize("place", PLACES)
def test_the_quote_stands_on_its_line(papers, place):
    location = PLACES[place]
    found = lines(papers, location.text)
    holding = [number for number, line in enumerate(found, start=1) if location.quote in line]
    assert location.line in holding, f"{location.quote!r} stands on lines {holding}"


def test_every_text_has_its_digest():
    assert FILES.keys() == SHA256.keys()
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in SHA256.values())


@pytest.mark.parametrize("place", PLACES)
def test_a_place_is_complete(place):
    location = PLACES[place]
    assert location.text in FILES
    assert location.line > 0
    assert location.place.startswith(("Sect. ", "App. ", "Abstract"))
    assert len(location.quote) > 5
