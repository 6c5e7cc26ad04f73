"""What is wrong with a paper's statements: one root cause each, however many lines it shows in.

A table of them stands next to a paper's statements.  It holds words and the identifiers of
entries: the formula, the counterexample and the right statement are those of the entries, so that
nothing of them is typed twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from theory.statement import Form, Reading, Statement, Verdict


class Kind(StrEnum):
    """What sort of error it is."""

    FALSE = "false"
    HYPOTHESIS = "needs a hypothesis"
    SLIP = "slip of a symbol"
    READING = "depends on the reading"


@dataclass(frozen=True, kw_only=True)
class Erratum:
    """One root cause: what is printed, what is wrong with it, what is right."""

    name: str
    """Of its place on the page."""
    title: str
    kind: Kind
    in_short: str
    """What is wrong, or what it needs, in a few words: a line of the ledger."""
    wrong: str
    """What the text prints and what is wrong with it, in a sentence or two."""
    entries: tuple[str, ...]
    """The refuted entries that it explains; the first is displayed, with its counterexample."""
    right: tuple[str, ...]
    """The entries that say what is right."""
    depends: str = ""
    """What else in the paper rests on it, in a few words."""


def is_erroneous(claim: Statement) -> bool:
    """Whether a statement of a text fails, in the papers' own reading, which has no epsilon.

    What the text does not claim, and what it says of layers with epsilon, is no error of its.
    """
    return (
        claim.expected is Verdict.REFUTED
        and claim.reading is Reading.NO_EPSILON
        and claim.form in (Form.PRINTED, Form.READING, Form.STEP)
    )


def complaints(errata: Sequence[Erratum], claims: Sequence[Statement]) -> Iterator[str]:
    """Yield what is wrong with a table of errata for its statements, if anything is."""
    by_id = {claim.id: claim for claim in claims}
    explained = Counter(identifier for erratum in errata for identifier in erratum.entries)
    for identifier, count in explained.items():
        if identifier not in by_id or not is_erroneous(by_id[identifier]):
            yield f"{identifier}: is not expected to be refuted as the text has it"
        if count > 1:
            yield f"{identifier}: has {count} root causes; keep the one that explains it"
    for claim in filter(is_erroneous, claims):
        if claim.id not in explained:
            yield f"{claim.id}: is refuted and has no root cause; add it to one, or add one"
    yield from _wrong_rights(errata, by_id)
    for name, count in Counter(erratum.name for erratum in errata).items():
        if count > 1:
            yield f"{name}: {count} root causes have this name"


def _wrong_rights(errata: Sequence[Erratum], by_id: dict[str, Statement]) -> Iterator[str]:
    for erratum in errata:
        for identifier in erratum.right:
            right = by_id.get(identifier)
            if right is None or right.expected not in (Verdict.PROVED, Verdict.SUPPORTED):
                yield f"{erratum.name}: what is right, {identifier}, is not expected to hold"
