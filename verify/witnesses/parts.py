"""Claims at cases that they change, those of one length and form of loss in one call.

What claims have in common, such as the gradient in the batch, is computed once in a call.  So
claims that change cases in different ways are evaluated at all of these, and judged at their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from theory.claim import Claim
from verify.grouping import grouped
from verify.subjects.unit import Case, adapted, imposing_alike
from verify.witnesses.stacks import Truths, is_defined, stacked

ENTRIES = 2**12
"""How many numbers the batches of one call have: with more, being evaluated at what others change
takes claims longer than another call."""


class Part(NamedTuple):
    """Claims that impose the same on a group of cases, and the cases as every reading has them."""

    claims: Sequence[Claim]
    cases: list[Case]
    own: list[slice]
    """Where the cases of each claim are."""
    defined: list[Truths]
    """Where sigma is defined, among its own."""

    @property
    def entries(self) -> int:
        """How many numbers the batches have."""
        return len(self.cases) * len(self.cases[0].y)


def parts_of_calls(claims: Sequence[Claim], cases: Sequence[Case]) -> Iterator[list[Part]]:
    """Yield the parts of each call; cases come by their length and form of loss."""
    for group in grouped(sorted(cases, key=_form), _form).values():
        every = (_part(alike, group) for alike in imposing_alike(claims))
        for parts in grouped(every, lambda part: part.cases[0].loss.function).values():
            count = max(1, ENTRIES // max(part.entries for part in parts))
            yield from (parts[first : first + count] for first in range(0, len(parts), count))


def _form(case: Case) -> tuple[int, str]:
    """Return the length of a case and the form of its loss."""
    return len(case.y), case.loss.function.__name__


def _part(claims: Sequence[Claim], group: Sequence[Case]) -> Part:
    readings = {claim.reading.has_epsilon: claim for claim in claims}
    cases = [adapted(case, claim) for claim in readings.values() for case in group]
    starts = dict(zip(readings, range(0, len(cases), len(group)), strict=True))
    own = [slice(start := starts[c.reading.has_epsilon], start + len(group)) for c in claims]
    stack = stacked(cases)
    defined = [is_defined(claim, stack)[at] for claim, at in zip(claims, own, strict=True)]
    return Part(claims, cases, own, defined)
