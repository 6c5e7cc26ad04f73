"""The text of Lange, Helfrich and Ye, and how to point into it.

The text is a conversion of the printed pages, so a place is given by the line of the conversion
and a few words of it, verbatim; the SHA-256 says which conversion.
"""

from theory.statement import Location

PAPER = "Batch Normalization Preconditioning for Neural Network Training"
SHA256 = {"L": "5113e9a4498d71a3e05097d1b3cc472dc48b0751398b706fc155bba0ba131c87"}
FILES = {"L": "lange2022-bnp.txt"}


def at(line: int, place: str, quote: str) -> tuple[Location, ...]:
    """Return a place in the paper, as the places of a claim."""
    return (Location("L", line, place, quote),)
