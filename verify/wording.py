"""Words that pages and terminals share."""

from __future__ import annotations


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun.

    >>> plural(1, "witness", "witnesses"), plural(1200, "case")
    ('1 witness', '1,200 cases')
    """
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"
