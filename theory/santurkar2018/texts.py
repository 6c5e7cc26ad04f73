"""The texts of Santurkar, Tsipras, Ilyas and Madry, and how to point into them.

The texts are conversions of the printed pages, so a place is given by the line of the conversion
and a few words of it, verbatim; the SHA-256 says which conversion.
"""

from collections.abc import Callable
from typing import Any

from theory.claim import Claim, Form, Location, Paper
from theory.language.expression import Says
from theory.statement import PROVED

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
    stem: str,
    locations: tuple[Location, ...],
    title: str = "",
    **common: Any,
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
