"""Mutants that nobody notices, with the reason why none can: they say the same.

The lists are exact: a mutant that survives without being listed, and one that is listed without
surviving, both fail.  Where the values are the same, the abstract arithmetic proves it.
"""

from __future__ import annotations

Key = tuple[str, str, str]
"""A file, a function of it and the change."""

SAME_LENGTH = "all batches of a formula have one length"
CENTRED = "the inner product of a centred vector with another sees only the other's centred part"
ZERO = "zero times one thing is zero times another, where it has the same shape"

B = "theory/batchnorm.py"
IN_THE_SQUARE = ("inner(c, c, axis) -> inner(c, y, axis)", "inner(c, c, axis) -> inner(y, c, axis)")
LENGTHS = "size(yhat, axis) -> size(g, axis)", "size(yhat, axis) -> size(u, axis)"

BY_REASON: dict[str, dict[tuple[str, str], tuple[str, ...]]] = {
    SAME_LENGTH: {
        (B, "variance"): ("size(y, axis) -> size(c, axis)",),
        (B, "standardize"): ("size(y, axis) -> size(c, axis)",),
        (B, "_jvp"): ("size(yhat, axis) -> size(u, axis)",),
        (B, "hvp"): ("size(y, axis) -> size(g, axis)", "size(y, axis) -> size(u, axis)"),
        (B, "_curvature"): LENGTHS,
    },
    CENTRED: {(B, name): IN_THE_SQUARE for name in ("variance", "standardize", "hvp")},
    ZERO: {("theory/claim.py", "letters_of"): ("0 * yhat -> 0 * y",)},
}
EQUIVALENT: dict[Key, str] = {
    (*place, change): reason
    for reason, places in BY_REASON.items()
    for place, changes in places.items()
    for change in changes
}
PROVABLE = [key for key in EQUIVALENT if key[1] != "letters_of"]
"""Those whose values the abstract arithmetic can compare."""


def survivors_of(file: str, function: str) -> set[Key]:
    """Return the mutants of a function that survive."""
    return {key for key in EQUIVALENT if key[:2] == (file, function)}
