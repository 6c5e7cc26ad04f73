"""The page of one statement: as printed, its readings and corrections, what was found of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape

from theory.language.definitions import meanings
from theory.statement import Form, Reading, Statement, Verdict
from verify.ledger import EVERY_M, EVERY_N, EVERY_SIZE, KERNEL, Entry
from verify.site import findings
from verify.site.figures import Figure
from verify.site.markup import (
    anchor,
    chip,
    formula_or_words,
    link,
    places,
    plural,
    raw,
    table,
)
from verify.site.statements import Group, title

Figures = Callable[[Entry], Mapping[str, list[Figure]]]
_NO_TAGS = str.maketrans({"<": "\u2039", ">": "\u203a", "`": "'", "\n": " "})
READINGS = {
    Reading.SHARED_EPSILON: r"Read with $\epsilon > 0$, as every layer computes it:"
    r" $\sigma = \sqrt{v + \epsilon}$ and $\hat y = (y - \mu)/\sigma$.",
    Reading.UNIT_VARIANCE: r"Read with $\epsilon > 0$, $\sigma = \sqrt{v + \epsilon}$, but"
    r" $\hat y = (y - \mu)/\sqrt v$ of variance one.",
}


def page(
    statement: Group,
    figures: Figures,
    before: Group | None = None,
    after: Group | None = None,
    target: str = "",
) -> str:
    """Return the page as MyST text.

    Args:
        statement: what it is about.
        figures: what to draw of an entry.
        before: the statement before it.
        after: the statement after it.
        target: how commands are told whose statement it is; nothing for the papers'.
    """
    claim = statement.claim
    parts = [
        "---\norphan: true\n---\n",
        f"# {statement.name}\n",
        _eyebrow(statement),
        formula_or_words(claim.statement, displayed=True),
        _quotes(claim),
        _overview(statement),
        *(_section(entry, figures(entry), statement, target) for entry in statement.entries),
        _neighbours(before, after),
    ]
    return "\n".join(part for part in parts if part)


def _eyebrow(statement: Group) -> str:
    where = places(statement.claim, statement.paper.texts)
    trail = f'<a href="../index.html">Ledger</a> · {statement.paper.short}'
    return f'<p class="where">{trail} · {escape(where)}</p>\n'


def _quotes(claim: Statement) -> str:
    first = claim.locations[0]
    if not first.quote:
        return ""
    name = f"{first.text}, line {first.line} of its conversion" if first.line else first.text
    return (
        f'<p class="quote">In the text ({escape(name)}): <code>{escape(first.quote)}</code></p>\n'
    )


def _overview(statement: Group) -> str:
    if len(statement.entries) == 1:
        return ""
    rows = [
        (
            f'<a href="#{escape(e.claim.id)}">{escape(title(e.claim))}</a>',
            chip(e.verdict),
            escape(in_words(e)),
        )
        for e in statement.entries
    ]
    return raw(table(("reading or form", "verdict", "evidence"), rows, "overview"))


def _section(
    entry: Entry, figures: Mapping[str, list[Figure]], statement: Group, target: str
) -> str:
    claim = entry.claim
    parts = [
        f"{anchor(claim.id)}\n",
        f"## {title(claim)}\n",
        f'<p class="verdict-line">{chip(entry.verdict)} {escape(in_words(entry))}</p>\n',
        _unexpected(entry),
        READINGS.get(claim.reading, "") + "\n",
        ""
        if claim.statement == statement.claim.statement
        else formula_or_words(claim.statement, displayed=True) + "\n",
        _where(claim),
        _hypotheses(claim),
        _remarks(claim),
        findings.proof(entry),
        findings.theorem(entry),
        findings.counterexample(entry),
        findings.plots(entry, figures),
        findings.witnesses(entry),
        findings.reproduction(entry, target),
    ]
    return "\n".join(part for part in parts if part.strip())


def in_words(entry: Entry) -> str:
    """Return the verdict's scope as a phrase, in which no markup can stand."""
    scope = entry.scope.translate(_NO_TAGS)  # evidence may have been written by anybody
    match entry.verdict:
        case Verdict.PROVED if entry.by == KERNEL:
            sizes = "size" if scope == EVERY_SIZE else "batch size m"
            return f"for every {sizes}, checked by Coq's kernel"
        case Verdict.PROVED if scope == EVERY_M:
            return "for every batch size m"
        case Verdict.PROVED if scope.startswith(EVERY_N):
            *others, largest = scope.removeprefix(f"{EVERY_N}, ").split(f"; {EVERY_N}, ")
            return f"for every N at {len(others) + 1} sizes, such as {largest}"
        case Verdict.PROVED:
            *others, largest = scope.split("; ")
            return f"for {len(others) + 1} sizes, such as {largest}" if others else f"for {largest}"
        case Verdict.REFUTED:
            kind = "by sampling, at" if entry.is_sampled else "by an exact counterexample with"
            return f"{kind} {scope}"
        case Verdict.SUPPORTED:
            return f"{plural(entry.instances, 'instance')}, none violating"
        case Verdict.UNREADABLE:
            return "the conversion of the text is damaged here"
        case Verdict.UNDECIDED:
            return "the witnesses found no agreement"
    return ""


def _unexpected(entry: Entry) -> str:
    if entry.is_as_expected or entry.verdict is Verdict.NOT_RUN:
        return ""
    return f"The claim's file expects this to be {entry.claim.expected.value}.\n"


def _where(claim: Statement) -> str:
    """Return what the names in a statement stand for, or why it is in words."""
    if claim.says is None:
        return f"In words: {claim.in_words}.\n" if claim.in_words else ""
    told = meanings(claim.says)
    return "where " + ", ".join(f"${each}$" for each in told) + "\n" if told else ""


def _hypotheses(claim: Statement) -> str:
    if not claim.hypotheses:
        return ""
    lines = [
        f"- {formula_or_words(h.statement)}" + ("" if h.printed else " *(missing from the text)*")
        for h in claim.hypotheses
    ]
    return "Under the hypotheses\n\n" + "\n".join(lines) + "\n"


def _remarks(claim: Statement) -> str:
    lines = []
    if claim.remark:
        lines.append(claim.remark)
    if claim.unreadable:
        lines.append(f"What the conversion lost: {claim.unreadable}")
    if claim.falsified_by:
        lines.append(f"What would falsify it: {claim.falsified_by}.")
    if claim.of:
        word = "corrects" if claim.form is Form.CORRECTED else "sharpens"
        lines.append(f"This {word} {link(claim.of, '../')}.")
    if claim.corrected_by:
        lines.append(f"The right statement is {link(claim.corrected_by, '../')}.")
    return "\n\n".join(lines) + "\n"


def _neighbours(before: Group | None, after: Group | None) -> str:
    def to(statement: Group | None, word: str) -> str:
        if statement is None:
            return "<span></span>"
        return f'<a href="{statement.name}.html"><small>{word}</small>{statement.name}</a>'

    links = to(before, "before") + to(after, "after")
    return raw(f'<nav class="neighbours" aria-label="Statements">{links}</nav>')
