"""Words that pages and terminals share."""

from __future__ import annotations

from collections.abc import Sequence

from theory.statement import Form, Statement, Verdict


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun.

    >>> plural(1, "witness", "witnesses"), plural(1200, "case")
    ('1 witness', '1,200 cases')
    """
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def unprinted(claim: Statement) -> str:
    """Return what a hypothesis that the text does not state is to a statement.

    The text lacks what a statement needs that holds; what falls, is sharper than the text's, or is
    not the text's, has been made special here.
    """
    is_ours = claim.form in (Form.BOUNDARY, Form.SHARPENED)
    is_needed = not is_ours and claim.expected is not Verdict.REFUTED
    return "missing from the text" if is_needed else "added here"


def besides(quantities: Sequence[str]) -> list[str]:
    """Return what a theorem assumes beyond the statement: a phrase, or nothing.

    >>> besides(["norm2 u"]), besides([])
    (['besides the statement that norm2 u is not zero'], [])
    """
    verb = "is" if len(quantities) == 1 else "are"
    said = f"besides the statement that {' and '.join(quantities)} {verb} not zero"
    return [said] if quantities else []
