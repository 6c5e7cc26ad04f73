"""Words that pages and terminals share."""

from __future__ import annotations

from theory.statement import Form, Statement, Verdict


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun.

    >>> plural(1, "witness", "witnesses"), plural(1200, "case")
    ('1 witness', '1,200 cases')
    """
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def unprinted(claim: Statement) -> str:
    """Return what a hypothesis that the text does not state is to a statement.

    The text lacks what a statement needs that holds; what falls, or is not the text's, has been
    made special here.
    """
    is_needed = claim.form is not Form.BOUNDARY and claim.expected is not Verdict.REFUTED
    return "missing from the text" if is_needed else "added here"
