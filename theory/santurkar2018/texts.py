"""The texts of Santurkar, Tsipras, Ilyas and Madry, and how to point into them.

The texts are conversions of the printed pages, so a place is given by the line of the conversion
and a few words of it, verbatim; the SHA-256 says which conversion.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from theory.claim import Claim, Form, Location, Paper
from theory.language.expression import Says
from theory.statement import PROVED, UNREADABLE

PAPER = Paper(
    "S",
    "Santurkar et al. 2018",
    "S. Santurkar, D. Tsipras, A. Ilyas and A. Mądry,"
    " *How Does Batch Normalization Help Optimization?*, 2018",
    {"S-final": "last version", "S-supp": "supplement", "S-v1": "first version"},
)
SHA256 = {
    "S-final": "c9a67f7aa05a217373707aa949ecac4679cf6cf41fd5e5afe964a8ab77a7bb14",
    "S-supp": "b2c852b42901a3de37f51aa4673cef1eca0f7bbd92b883b2742b931bf8f2695c",
    "S-v1": "3a82d961cff823a3e8b4f77d6eb5d175e6e00dce5caf938d4f9408fc6da4dfc0",
}
FILES = {
    "S-final": "santurkar2018-final.txt",
    "S-supp": "santurkar2018-supplement.txt",
    "S-v1": "santurkar2018-v1.txt",
}
ONE_TEXT = "Known from one conversion of the first version, whose slip it may be."
"""A remark on slips that no second text shows."""

Words = tuple[int, str]
"""A line of a text, and a few words of it."""
Places = dict[int, tuple[Words, Words | None]]
"""By the equation's number: the words in the last version, and in the supplement if readable."""


def final(line: int, place: str, quote: str) -> Location:
    """Return a place in the last version."""
    return Location("S-final", line, place, quote, PAPER)


def supplement(line: int, place: str, quote: str) -> Location:
    """Return a place in the conference supplement."""
    return Location("S-supp", line, place, quote, PAPER)


def version_1(line: int, place: str, quote: str) -> Location:
    """Return a place in the first version."""
    return Location("S-v1", line, place, quote, PAPER)


def readings_of(
    stem: str, locations: tuple[Location, ...], title: str = "", **common: Any
) -> Callable[..., Claim]:
    """Return what makes claims of one statement, each a way to read it.

    A claim takes what its identifier adds to the stem, what is said, and what its title adds; and
    other fields of a :class:`Claim`.

    Args:
        stem: what identifiers begin with.
        locations: where the statement stands.
        title: what titles begin with.
        common: fields of all these claims.
    """

    def reading(name: str, says: Says, words: str, **fields: Any) -> Claim:
        settled = {"form": Form.READING, "expected": PROVED, "locations": locations}
        named = {"id": stem + name, "title": title + words, "says": says}
        return Claim(**{**settled, **common, **named, **fields})

    return reading


def lines_of(proof: str, result: str, **common: Any) -> Callable[..., Claim]:
    """Return what makes claims of a proof's lines."""

    def line(
        name: str, at: tuple[int, str], says: Says, title: str, place: str = "", **fields: Any
    ) -> Claim:
        number_of_line = f"eq. ({name.removeprefix('S-v1-eq-').split('/')[0]})"
        where: tuple[Location, ...] = (
            version_1(at[0], f"{proof}, {place or number_of_line}", at[1]),
        )
        settled = {"result": result, "expected": PROVED, "form": Form.STEP, **common}
        return Claim(id=name, locations=where, says=says, title=title, **{**settled, **fields})

    return line


def displayed(proof: str, result: str, **common: Any) -> Callable[..., Claim]:
    """Return what makes claims of a proof's equations; those with several numbers are one step."""

    def equation(places: Places, says: Says, **fields: Any) -> Claim:
        first, last = min(places), max(places)
        name = f"S-eq-{first}" if first == last else f"S-eq-{first}-{last}"
        settled = {"id": name, "result": result, "expected": PROVED, "form": Form.STEP, **common}
        return Claim(locations=locations(proof, places), says=says, **{**settled, **fields})

    return equation


def locations(proof: str, places: Places) -> tuple[Location, ...]:
    """Return the places of equations, the last version's before the supplement's."""
    found = []
    for number, (words, other_words) in places.items():
        place = f"{proof}, eq. ({number})"
        line, quote = words
        found.append(final(line, place, quote))
        if other_words is not None:
            line, quote = other_words
            found.append(supplement(line, place, quote))
    return tuple(found)


def garbled(claim: Claim, proof: str, places: dict[int, Words], lost: str, name: str = "") -> Claim:
    """Return equations as the conversion of the supplement has them, which nobody printed."""
    return replace(
        claim,
        id=name or f"S-eq-{min(places)}-supp",
        locations=tuple(
            supplement(line, f"{proof}, eq. ({number})", quote)
            for number, (line, quote) in places.items()
        ),
        says=None,
        display=claim.statement,
        in_words="What the supplement prints is lost; this is the last version's.",
        expected=UNREADABLE,
        corrected_by=claim.id,
        unreadable=f"{lost}; the last version prints it whole.",
        remark="",
    )
