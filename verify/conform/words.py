"""What a cell says, and how it is decided from the errors in two precisions."""

from __future__ import annotations

from enum import StrEnum

LIMIT = {"float64": 32.0, "float32": 32.0, "bfloat16": 4.0, "float16": 4.0}
"""A right layer's errors stay below so many units.

In half precision most of the literal algorithm's rounding is avoided by any layer that takes its
statistics in single precision: those that do, and those that only add up in it, stay below 1.  An
accumulator of half precision loses 2 units at a thousand entries and 7 at 4097.  One accumulator of
squares in single precision, as in Welford's recurrence, loses a part like (m u)^(3/2) of them: 8
units at 2^17 entries, twice the most that are examined.
"""
JUDGED = {"float64": 1e-2, "float32": 1e-2, "bfloat16": 0.25, "float16": 0.25}
"""Where rounding may take more of the statistics than this, the bound means nothing.

The bound counts about ten roundings, so this is a condition number times u of 1e-3.
"""
DOES_NOT_SHRINK = 2.0**10
"""An error that is this many times larger in units of double than of single precision.

An error that shrinks with u is about as many units in both; one that does not shrink at all is
2^29 times as many.
"""
LARGE_ALONE = 2.0**10
"""So many units in a well-conditioned case of one precision are no matter of rounding."""


ENDED = "its process ended"
"""So begins the reason of a mode that took its process with it."""
HUNG, GIVEN_UP = "did not return within", "given up"
"""So begins the reason of a mode that hung, and of one that is not asked for again."""


class Word(StrEnum):
    """The verdict of one cell."""

    RIGHT = "right"
    INACCURATE = "inaccurate"
    WRONG = "wrong"
    RAISES = "raises"
    NOT_FINITE = "not finite"
    OVERWRITES = "overwrites"
    OTHER_CONVENTION = "other convention"
    NOT_OFFERED = "not offered"
    NOT_JUDGED = "not judged"


FAILURES = (
    Word.WRONG,
    Word.RAISES,
    Word.NOT_FINITE,
    Word.OVERWRITES,
    Word.OTHER_CONVENTION,
    Word.INACCURATE,
)
"""The words that mean that a layer does not conform, the gravest first."""
ORDER = (*FAILURES, Word.RIGHT, Word.NOT_JUDGED, Word.NOT_OFFERED)
"""Of several words the first of these stands for all."""


def gravest(words: list[Word]) -> Word:
    """Return the word that stands for several.

    >>> str(gravest([Word.RIGHT, Word.INACCURATE, Word.NOT_JUDGED]))
    'inaccurate'
    """
    return min(words, key=ORDER.index)
