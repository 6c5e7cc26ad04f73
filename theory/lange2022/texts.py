"""The text of Lange, Helfrich and Ye, and how to point into it.

The text is a conversion of the printed pages, so a place is given by the line of the conversion
and a few words of it, verbatim; the SHA-256 says which conversion.
"""

from collections.abc import Callable
from typing import Any

from theory.language.expression import Says
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import PROVED, Location, Paper

PAPER = Paper(
    "L",
    "Lange et al. 2022",
    "S. Lange, K. Helfrich and Q. Ye,"
    " *Batch Normalization Preconditioning for Neural Network Training*, 2022",
    {"L": "the paper"},
)
SHA256 = {"L": "5113e9a4498d71a3e05097d1b3cc472dc48b0751398b706fc155bba0ba131c87"}
FILES = {"L": "lange2022-bnp.txt"}


def at(line: int, place: str, quote: str) -> tuple[Location, ...]:
    """Return a place in the paper, as the places of a claim."""
    return (Location("L", line, place, quote, PAPER),)


def about(kind: Kind, stem: str, place: str, **common: Any) -> Callable[..., MatrixClaim]:
    """Return what makes claims about one kind of subject that stand at one place of the paper.

    A claim takes what its identifier adds to the stem, the line and words of the conversion, a
    title, what is said, and other fields: ``at``, where in that place it stands, or ``place``,
    where it is another one; ``also`` for further places; and those of a :class:`MatrixClaim`.

    Args:
        kind: what the claims are about.
        stem: what identifiers begin with: the paper's statement, if no other is given.
        place: the section, as a reader would look for it.
        common: fields of all these claims.
    """

    def claim(
        name: str, line: int, quote: str, title: str, says: Says | None, **fields: Any
    ) -> MatrixClaim:
        settled = {"expected": PROVED, "subject": kind, "result": stem, **common}
        standing = f"{place}, {fields.pop('at')}" if "at" in fields else fields.pop("place", place)
        where = (*at(line, standing, quote), *fields.pop("also", ()))
        named = {"id": stem + name, "locations": where, "title": title, "says": says}
        return MatrixClaim(**{**named, **settled, **fields})

    return claim


def sharper_forms(of: MatrixClaim, **common: Any) -> Callable[..., MatrixClaim]:
    """Return what makes sharper forms of a claim, which say what it says if nothing else."""

    def sharper(name: str, title: str, says: Says | None = of.says, **changes: Any) -> MatrixClaim:
        return of.sharpened(name, **{"title": title, "says": says, **common, **changes})

    return sharper


def of_layers(place: str, result: str, stem: str = "", **common: Any) -> Callable[..., MatrixClaim]:
    """Return what makes claims about a layer; identifiers begin with the stem, or the result."""
    return about(Kind.LAYER, stem or result, place, result=result, **common)
