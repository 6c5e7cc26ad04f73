"""One statement as text: what it says, where it stands, its verdict, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from textwrap import wrap

from theory.claim import Claim
from theory.language.latex import latex
from theory.language.plain import plain
from theory.statement import Form, Hypothesis, Location, Reading, Statement, Verdict
from verify import counterexamples
from verify.kernel.export import letters_of
from verify.ledger import Entry
from verify.site.sources import PAPERS, module_of
from verify.wording import besides, plural, told_whose, unprinted, where

WIDTH = 100
"""Of lines that go to a file."""
LONGEST = 2000
"""Letters of a formula that plain text, which knows no abbreviation, is worth."""


def shown_entry(entry: Entry, width: int = WIDTH, target: str = "") -> str:
    """Return an entry as lines of text, for a terminal of so many columns.

    Args:
        entry: what is known of a statement.
        width: of the terminal.
        target: whose statement it is; the papers' if empty.
    """
    claim = entry.claim
    lines = [
        f"{claim.id}: {claim.title}" if claim.title else claim.id,
        *_block("", _statement(claim)),
        *_block("which is", [_kind(claim)]),
        *_meant(claim),
        *_block("verdict", [_verdict(entry)]),
        *_block("because", _reasons(entry)),
        *_block("attained at", _attained(entry)),
        *_block("checked by Coq's kernel", _theorem(entry, target)),
        *_block("stands in", [_place(l) for l in claim.locations]),
        *_block("remark", wrap(claim.remark, width - 2)),
        *_block("written in", _written_in(claim)),
    ]
    return _folded_lines(lines, width)


def said_entry(entry: Entry, width: int = WIDTH) -> str:
    """Return what a statement says and, where one was found, its counterexample."""
    claim, found = entry.claim, entry.counterexample
    lines = [
        claim.id,
        *_block("", _statement(claim)),
        *_meant(claim),
        *_block("fails at", [] if found is None else counterexamples.lines(found, claim)),
    ]
    return _folded_lines(lines, width)


def _meant(claim: Statement) -> list[str]:
    hypotheses = [_hypothesis(claim, hypothesis) for hypothesis in claim.hypotheses]
    return [*_block("where", _where(claim)), *_block("assuming", hypotheses)]


def _folded_lines(lines: Iterable[str], width: int) -> str:
    return "\n".join(part for line in lines for part in folded(line, width))


def folded(line: str, width: int) -> list[str]:
    """Return a line as lines no wider, but for words that are: a formula goes on at an operator.

    >>> folded("  actual <= gamma**2*(norm2(g) - dot(one, g)**2/m)", 40)
    ['  actual <= gamma**2*(norm2(g)', '      - dot(one, g)**2/m)']
    """
    bound = OPERATOR.sub("\\1\xa0", line)
    parts = wrap(
        bound, width, subsequent_indent=6 * " ", break_long_words=False, break_on_hyphens=False
    )
    return [part.replace("\xa0", " ") for part in parts] or [""]


OPERATOR = re.compile(r"((?<= )(?:[-+=<>]|<=|>=)) ")
"""Which stands before what it goes with, on one line."""


def _written_in(claim: Statement) -> list[str]:
    """Return the file that lists a statement: of the papers', relative to the package's folder."""
    module = module_of(claim)
    if module is None:
        return []
    is_ours = module.__name__.startswith(PAPERS)
    return [f"{module.__name__.replace('.', '/')}.py" if is_ours else str(module.__file__)]


def _statement(claim: Statement) -> list[str]:
    if claim.says is None:
        return [f"{claim.statement}   (in words: {claim.in_words})"]
    in_letters = plain(claim.says)
    in_words = [f"(in words: {claim.in_words})"] if claim.in_words else []
    return [*([in_letters] if len(in_letters) <= LONGEST else []), latex(claim.says), *in_words]


def _where(claim: Statement) -> list[str]:
    reading = [] if claim.reading is Reading.NO_EPSILON else [claim.reading.value]
    return [*where(claim), *reading]


def _place(location: Location) -> str:
    quote = f": {location.quote}" if location.quote else ""
    return f"{location.text}, {location.place}{quote}"


def _hypothesis(claim: Statement, hypothesis: Hypothesis) -> str:
    checked = f", checked as {hypothesis.checked}" if hypothesis.checked else ""
    note = "" if hypothesis.printed else f"   ({unprinted(claim, hypothesis)})"
    return f"{hypothesis.statement}{checked}{note}"


FORMS = {
    Form.PRINTED: "as printed",
    Form.STEP: "a line of a proof",
    Form.READING: "one way to read the text",
    Form.BOUNDARY: "not claimed by the text: what it does not say, or a case that it leaves out",
    Form.CORRECTED: "what is right in place of what the text says",
    Form.SHARPENED: "more than the text says",
}
"""What a statement is to the text."""
WITH_EPSILON = ", for a layer with an epsilon, which the text does not have"
BY = {
    "kernel": "Coq's kernel, from the definitions",
    "abstract": "inner products",
    "named sizes": "calculation, entry by entry",
}


def _kind(claim: Statement) -> str:
    has_epsilon = isinstance(claim, Claim) and claim.reading.has_epsilon
    is_varied = has_epsilon and claim.form is not Form.PRINTED
    return FORMS[claim.form] + (WITH_EPSILON if is_varied else "")


def _verdict(entry: Entry) -> str:
    scope = f", {entry.scope}" if entry.scope else ""
    if entry.verdict is Verdict.REFUTED and entry.counterexample is not None:
        scope = ", by a counterexample" + (f" with {entry.scope}" if entry.scope else "")
    scope += f", by {BY[entry.by]}" if entry.by else ""
    other = "" if not entry.is_unexpected else f" (expected: {entry.claim.expected.value})"
    looked = f"; {plural(entry.instances, 'instance')}" if entry.records else ""
    return f"{entry.verdict.value}{scope}{other}{looked}"


def _reasons(entry: Entry) -> list[str]:
    found = entry.counterexample
    opening = [part for part in (entry.claim.unreadable, entry.lacks) if part]
    opening += entry.unproved
    if entry.lacks or (found is None and entry.is_unexpected):
        opening += [f"{record.witness}: {record.notes}" for record in entry.records if record.notes]
    if found is not None:
        return [*opening, *counterexamples.lines(found, entry.claim)]
    if entry.proof is None:
        return opening
    slack = entry.proof.slack
    opening += [f"slack = {slack}"] if slack else []
    terms = [f"  {'+' if i else '='} {t}" for i, t in enumerate(entry.proof.summands)]
    return [*opening, *terms, *(f"  where {told}" for told in entry.proof.letters)]


def _attained(entry: Entry) -> list[str]:
    found = entry.attained
    return [] if found is None else counterexamples.lines(found, entry.claim)


def _theorem(entry: Entry, target: str) -> list[str]:
    found = entry.theorem
    if found is None:
        return []
    rests_on = ", ".join(found.assumptions) or "Coq's logic alone"
    letters = letters_of(entry.claim, found.file).items()
    meant = ", ".join(f"{plain(x)} is {word}" for x, word in letters)
    more = [
        *([f"in it {meant}"] if meant else []),
        *(f"assumes {assumed}" for assumed in besides(found.besides)),
    ]
    return [
        *found.definitions,
        f"Theorem {found.name} {found.statement}",
        *more,
        f"in {found.file}; rests on {rests_on}",
        f"check it: {told_whose(found.command, target)}",
    ]


def _block(heading: str, lines: list[str]) -> Iterator[str]:
    """Yield lines under a heading, or nothing where there are none."""
    if lines:
        yield heading
        yield from (f"  {line}" for line in lines)
