"""Every place that a claim names holds the words that the claim quotes, in the texts as read.

The texts are not part of this repository: they are looked for in a folder beside it, or where the
environment variable says.
"""

import hashlib
import os
from pathlib import Path

import pytest

from theory import lange2022, santurkar2018
from theory.lange2022 import texts as lange
from theory.santurkar2018 import texts as santurkar

FILES = santurkar.FILES | lange.FILES
SHA256 = santurkar.SHA256 | lange.SHA256
VARIABLE = "BATCHNORM_PAPERS"
BESIDE = Path(__file__).parents[3] / "shared" / "papers"
PLACES = {
    (claim.id, place)
    for claim in (*santurkar2018.CLAIMS, *lange2022.CLAIMS)
    for place in claim.locations
}


@pytest.mark.parametrize("text", FILES)
def test_the_quotes_stand_on_their_lines_in_the_text_that_was_read(text):
    folder = Path(os.environ.get(VARIABLE, BESIDE))
    if not folder.is_dir():
        pytest.skip(f"set {VARIABLE} to the folder that holds {', '.join(FILES.values())}")
    read = (folder / FILES[text]).read_bytes()
    assert hashlib.sha256(read).hexdigest() == SHA256[text]
    lines = read.decode().split("\n")
    here = [(claim, place) for claim, place in PLACES if place.text == text]
    assert not [(c, place) for c, place in here if place.quote not in lines[place.line - 1]]


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
