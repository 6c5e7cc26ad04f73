r"""The ball witness: certified numbers and certified comparisons.

A ball is a real number enclosed in an interval (python-flint's ``arb``).  Whatever is computed
with balls is certain up to their radius, so a comparison of two has three outcomes: it holds, it
is violated, or the precision does not decide it.

Entries of object arrays are ``arb``, or :class:`Series` inside a derivative; both answer to
+ - * / ** and to NumPy's ``sqrt``, ``exp`` and ``log``.  The precision is that of ``flint.ctx``;
:func:`decide` chooses it.

>>> f = lambda x: np.sqrt(x @ x)
>>> decide(lambda: (gradient(f, balls([3, 4])), balls(["0.61", "0.81"])), Relation.AT_MOST)
Decision(outcome=<Outcome.HOLDS: 'holds'>, bits=256)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from flint import arb, ctx

from theory.claim import Relation
from verify.tolerance import Outcome
from verify.witnesses.series import Series, ball, derivative, gradient, second_derivative

__all__ = [
    "Decision",
    "Outcome",
    "Series",
    "ball",
    "balls",
    "compare",
    "compare_pairs",
    "decide",
    "derivative",
    "distance",
    "gradient",
    "second_derivative",
]


def balls(values: Any) -> np.ndarray:
    """Return an object array of balls, of the shape of what is given.

    Args:
        values: an array, or nested lists, of whatever :func:`ball` takes.
    """
    return np.frompyfunc(ball, 1, 1)(np.asarray(values, dtype=object))


def compare(a: Any, b: Any, relation: Relation) -> Outcome:
    """Return whether a stands in the relation to b, entry by entry.

    The relation holds if it holds for every entry, and is violated if one entry violates it; a
    comparison of balls is true only where every point of both agrees.  The equality of balls that
    are not single points is never certain.

    >>> compare(ball(1) / 3, ball("1/3"), Relation.EQUAL).value
    'undecided'
    >>> compare(balls([1, 2]), balls([1, 1]), Relation.AT_MOST).value
    'violated'
    """
    return compare_pairs(_pairs(a, b), relation)


def compare_pairs(pairs: Sequence[tuple[arb, arb]], relation: Relation) -> Outcome:
    """Return whether the first of each pair of balls stands in the relation to the second."""
    if any(relation.fails(x, y) for x, y in pairs):
        return Outcome.VIOLATED
    return Outcome.HOLDS if all(relation.compare(x, y) for x, y in pairs) else Outcome.UNDECIDED


def distance(a: Any, b: Any) -> arb:
    """Return an upper bound of the largest difference between entries; nan if one is nan.

    >>> bool(distance(ball(1) / 3, ball("1/3")) < 1e-15)
    True
    """
    return reduce(arb.max, ((x - y).abs_upper() for x, y in _pairs(a, b)), arb(0))


def _pairs(a: Any, b: Any) -> list[tuple[arb, arb]]:
    return list(np.broadcast(np.asarray(balls(a)), np.asarray(balls(b))))


class Decision(NamedTuple):
    """The outcome of a comparison and the precision that it took."""

    outcome: Outcome
    bits: int


def decide(
    sides: Callable[[], tuple[Any, Any]], relation: Relation, bits: int = 256, cap: int = 4096
) -> Decision:
    """Compare two sides at a precision that is doubled until they are decided.

    Args:
        sides: computes both sides, its balls included, at the precision of ``flint.ctx``.
        relation: how the first side is to relate to the second.
        bits: the first precision.
        cap: the last precision is at most this.

    >>> decide(lambda: (ball(2).sqrt() ** 2, ball(2)), Relation.LESS_THAN, cap=512)
    Decision(outcome=<Outcome.UNDECIDED: 'undecided'>, bits=512)
    """
    with ctx.workprec(bits):
        outcome = compare(*sides(), relation)
    if outcome is Outcome.UNDECIDED and 2 * bits <= cap:
        return decide(sides, relation, 2 * bits, cap)
    return Decision(outcome, bits)
