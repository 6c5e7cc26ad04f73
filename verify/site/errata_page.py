"""The errata: root causes, each with a counterexample, what is right, and what depends on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from theory.erratum import Erratum
from theory.lange2022.errata import ERRATA as LANGE
from theory.language.definitions import domains
from theory.santurkar2018.errata import FIRST_VERSION, LAST_VERSION
from theory.statement import Form, Statement, Verdict
from verify.ledger import Entry
from verify.site import counterexamples
from verify.site.markup import chip, formula_or_words, link, list_table, places, told_apart, words
from verify.site.statement_page import assumed, in_words
from verify.site.statements import paper_of, plain_title

HEADER = ("What", "Kind", "In short")
FEW = 2
"""So many entries are named at once."""


@dataclass(frozen=True)
class Part:
    """The errata of one text."""

    name: str
    """Of its page."""
    title: str
    errata: Sequence[Erratum]


PARTS = (
    Part("santurkar-2018", "Santurkar et al. 2018", LAST_VERSION),
    Part("lange-2022", "Lange et al. 2022", LANGE),
    Part("santurkar-2018-first-version", "Santurkar et al. 2018, first version", FIRST_VERSION),
)


def index(entries: Sequence[Entry]) -> str:
    """Return every paper's errata, a line each."""
    by_id = {entry.claim.id: entry for entry in entries}
    return "\n".join(text for part in PARTS for text in _listed(part, by_id))


def pages(entries: Sequence[Entry]) -> dict[str, str]:
    """Return a page for each text, by its name."""
    by_id = {entry.claim.id: entry for entry in entries}
    return {f"{part.name}.md": _page(part, by_id) for part in PARTS}


def standing(part: Part, by_id: Mapping[str, Entry]) -> list[Erratum]:
    """Return the errata of which the evidence refutes an entry."""
    return [erratum for erratum in part.errata if displayed(erratum, by_id)]


def _is_refuted(entry: Entry) -> bool:
    return entry.verdict is Verdict.REFUTED


def displayed(erratum: Erratum, by_id: Mapping[str, Entry]) -> Entry | None:
    """Return the first of an erratum's entries that the evidence refutes."""
    found = (by_id[name] for name in erratum.entries if name in by_id)
    return next((entry for entry in found if _is_refuted(entry)), None)


def _listed(part: Part, by_id: Mapping[str, Entry]) -> Iterator[str]:
    rows = [
        (f"[{e.title}](#erratum-{e.name})", e.kind.value, e.in_short) for e in standing(part, by_id)
    ]
    yield f"## {part.title}\n"
    yield list_table(HEADER, rows, "errata") if rows else "The evidence at hand refutes nothing.\n"


def _page(part: Part, by_id: Mapping[str, Entry]) -> str:
    shown = ((erratum, displayed(erratum, by_id)) for erratum in part.errata)
    items = [_item(erratum, entry, by_id) for erratum, entry in shown if entry is not None]
    opening = f"---\norphan: true\n---\n\n# Errata: {part.title}\n"
    return "\n".join([opening, *(items or ["The evidence at hand refutes nothing.\n"])])


def _item(erratum: Erratum, entry: Entry, by_id: Mapping[str, Entry]) -> str:
    lines = {
        "Kind": erratum.kind.value.capitalize(),
        "Where": _places(entry.claim),
        "What is examined": _examined(entry.claim),
        "What is wrong": erratum.wrong,
        "Counterexample": _counterexample(entry),
        "Right": _right(erratum, entry.claim, by_id),
        "Depends on it": erratum.depends,
        "Shown in": _entries([n for n in erratum.entries if n in by_id]),
    }
    listed = "\n".join(f"{name}\n{_indented(text)}\n" for name, text in lines.items() if text)
    return f"(erratum-{erratum.name})=\n\n## {erratum.title}\n\n{listed}"


def _places(claim: Statement) -> str:
    return places(claim, paper_of(claim).texts)


def _entries(names: Sequence[str]) -> str:
    """Return links to entries, folded where there are many."""
    links = "; ".join(link(name, "../") for name in names)
    if len(names) <= FEW:
        return links
    return f"<details><summary>{len(names)} entries</summary>{links}</details>"


def _counterexample(entry: Entry) -> str:
    found = entry.counterexample
    return counterexamples.sentence(found, entry.claim) if found else ""


def _indented(text: str) -> str:
    """Return the text as a definition."""
    first, *others = text.strip().split("\n")
    return "\n".join([f": {first}", *(f"  {line}" if line else "" for line in others)])


def _where(needed: Sequence[str]) -> str:
    return f"Where {'; '.join(needed)}:\n\n" if needed else ""


def _needed(claim: Statement) -> list[str]:
    """Return what a statement assumes, and what its letters range over where that is not said."""
    stated = [assumed(claim, hypothesis) for hypothesis in claim.hypotheses]
    ranges = dict.fromkeys(domains(claim.said).values())
    return [*stated, *(f"${each}$" for each in ranges if each not in "".join(stated))]


def _right(erratum: Erratum, printed: Statement, by_id: Mapping[str, Entry]) -> str:
    """Return what is right: the first in full, links to others."""
    found = [by_id[name] for name in erratum.right if name in by_id]
    first, *others = (_named(entry, found) for entry in found)
    return "\n\n".join([_in_full(found[0], printed), first, *others])


def _in_full(entry: Entry, printed: Statement) -> str:
    """Return a statement with all that it needs, as the same where that is all that differs."""
    claim = entry.claim
    if claim.statement == printed.statement:
        return f"The same, where {'; '.join(_needed(claim))}."
    return _examined(claim)


def _examined(claim: Statement) -> str:
    """Return a statement with all that it assumes."""
    return _where(_needed(claim)) + formula_or_words(claim.statement, displayed=True)


def _named(entry: Entry, others: Sequence[Entry]) -> str:
    """Return where a statement stands and its verdict, by what tells it from others."""
    to = told_apart(entry.claim, [other.claim for other in others])
    return f"{to}: {' '.join(filter(None, [chip(entry.verdict), in_words(entry)]))}."


def of_others(entries: Sequence[Entry]) -> str:
    """Return what is refuted of statements that have no table of root causes."""
    by_id = {entry.claim.id: entry for entry in entries}
    falling = [e for e in entries if _is_refuted(e) and e.claim.form is Form.PRINTED]
    items = [_refuted(entry, by_id) for entry in falling]
    return "\n".join(items) or "The evidence at hand refutes nothing.\n"


def _refuted(entry: Entry, by_id: Mapping[str, Entry]) -> str:
    claim = entry.claim
    named = [
        claim.corrected_by or "",
        *(e.claim.id for e in by_id.values() if e.claim.amends == claim.id),
    ]
    right = [by_id[name] for name in named if name in by_id]
    lines = {
        "Where": _places(claim),
        "What is examined": _examined(claim),
        "What is wrong": words(claim.remark),
        "Counterexample": _counterexample(entry),
        "Right": f"{_in_full(right[0], claim)}\n\n{_named(right[0], right)}" if right else "",
    }
    listed = "\n".join(f"{name}\n{_indented(text)}\n" for name, text in lines.items() if text)
    return f"## {words(plain_title(claim))}\n\n{listed}"
