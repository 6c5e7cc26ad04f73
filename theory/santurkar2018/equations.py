"""The displayed equations of a proof as claims, which stand in both texts with their numbers."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from theory.claim import Claim, Form, Location
from theory.language.expression import Says
from theory.santurkar2018.texts import final, supplement
from theory.statement import PROVED, UNREADABLE

Words = tuple[int, str]
"""A line of a text, and a few words of it."""
Places = dict[int, tuple[Words, Words | None]]
"""By the equation's number: the words in the last version, and in the supplement if readable."""


def displayed(proof: str, result: str, **common: Any) -> Callable[..., Claim]:
    """Return what makes claims of a proof's equations; those with several numbers are one step."""

    def equation(places: Places, says: Says, **fields: Any) -> Claim:
        first, last = min(places), max(places)
        name = f"S-eq-{first}" if first == last else f"S-eq-{first}-{last}"
        settled = {"id": name, "result": result, "expected": PROVED, "form": Form.STEP, **common}
        return Claim(
            locations=locations(proof, places),
            says=says,
            **{**settled, **fields},
        )

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
        in_words="What the supplement prints is lost.",
        expected=UNREADABLE,
        corrected_by=claim.id,
        unreadable=f"{lost}; the last version prints it whole.",
        remark="",
    )
