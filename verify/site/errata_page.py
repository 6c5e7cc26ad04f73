"""The errata: refuted statements in their papers' order, five lines each."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from theory.statement import Form, Paper, Statement, Verdict
from verify.ledger import Entry
from verify.site import counterexamples
from verify.site.markup import anchor, chip, formula_or_words, link, places, plural, raw, table
from verify.site.sources import module_of
from verify.site.statement_page import in_words
from verify.site.statements import paper_of, place_in_order, reading_in_short, title

NONE = "No statement of this paper is refuted by the evidence at hand.\n"


def page(entries: Sequence[Entry]) -> str:
    """Return the errata of every paper as MyST text."""
    by_id = {entry.claim.id: entry for entry in entries}
    papers = dict.fromkeys(paper_of(entry.claim) for entry in entries)
    return "\n".join(_of(paper, by_id) for paper in papers)


def _of(paper: Paper, by_id: dict[str, Entry]) -> str:
    refuted = sorted(
        (
            e
            for e in by_id.values()
            if paper_of(e.claim) == paper
            and e.verdict is Verdict.REFUTED
            and e.claim.form is Form.PRINTED
        ),
        key=lambda e: place_in_order(e.claim),
    )
    printed = [e for e in refuted if not e.claim.reading.has_epsilon]
    with_epsilon = [e for e in refuted if e.claim.reading.has_epsilon]
    parts = [
        f"## {paper.short}\n",
        f"{paper.citation}.\n",
        *([_item(e, by_id, paper) for e in printed] or [NONE]),
    ]
    if with_epsilon:
        parts.append(_with_epsilon(with_epsilon, by_id))
    return "\n".join(parts)


def _item(entry: Entry, by_id: dict[str, Entry], paper: Paper) -> str:
    claim, found = entry.claim, entry.counterexample or {}
    read = f", {title(claim).partition(', ')[2]}" if "," in title(claim) else ""
    lines = {
        "Printed": _hypothetical(claim) + formula_or_words(claim.statement, displayed=True),
        "Counterexample": counterexamples.in_one_line(found, claim),
        "Where it breaks": where_it_breaks(claim),
        "Right": _right(claim, by_id),
        "How sure": how_sure(entry),
    }
    listed = "\n".join(f"{name}\n{_indented(text)}\n" for name, text in lines.items())
    place = places(claim, paper.texts)
    return f"{anchor(f'erratum/{claim.id}')}\n\n### {place}{read}\n\n{link(claim.id)}\n\n{listed}"


def _indented(text: str) -> str:
    """Return the text as a definition."""
    first, *others = text.strip().split("\n")
    return "\n".join([f": {first}", *(f"  {line}" if line else "" for line in others)])


def _hypothetical(claim: Statement) -> str:
    stated = [formula_or_words(h.statement) for h in claim.hypotheses if h.printed]
    return f"Under {'; '.join(stated)}:\n\n" if stated else ""


def where_it_breaks(claim: Statement) -> str:
    """Return where the derivation goes wrong, as far as the claim's file says."""
    if claim.remark:
        return claim.remark
    module = module_of(claim)
    written = (inspect.getdoc(module) or "").split("\n\n") if module else []
    plain = [" ".join(p.split()) for p in written[1:] if "``" not in p and ":math:" not in p]
    told = [text for text in plain if text.endswith(".")]
    return told[0] if told else "The counterexample contradicts the line itself."


def _right(claim: Statement, by_id: dict[str, Entry]) -> str:
    identifier = claim.corrected_by or next(
        (e.claim.id for e in by_id.values() if e.claim.of == claim.id), None
    )
    if identifier is None or identifier not in by_id:
        return "No corrected form is in the ledger yet."
    entry = by_id[identifier]
    missing = [formula_or_words(h.statement) for h in entry.claim.hypotheses if not h.printed]
    under = f"Under {' and '.join(missing)}; " if missing else ""
    right = formula_or_words(entry.claim.statement, displayed=True)
    return f"{right}\n\n{under}{chip(entry.verdict)} {in_words(entry)}, {link(identifier)}."


def how_sure(entry: Entry) -> str:
    """Return which witnesses contradict the statement."""
    exact = [r.witness for r in entry.records if r.counterexample]
    floats = [r for r in entry.records if r.violated and not r.counterexample]
    found = entry.counterexample or {}
    if entry.is_sampled:
        return f"Decided by sampling, {found['arithmetic']}."
    certain = "Certain" if found.get("arithmetic") == "exact" else "Certified by intervals"
    seen = "; ".join(
        f"{r.witness} sees {plural(r.violated, 'violation')} in {plural(r.instances, 'instance')}"
        for r in floats
    )
    by = f"{certain}; the counterexample was found and decided by {' and by '.join(exact)}"
    return f"{by}; in floating point {seen}." if seen else f"{by}."


def _with_epsilon(entries: Sequence[Entry], by_id: dict[str, Entry]) -> str:
    rows = []
    for entry in entries:
        claim = entry.claim
        right = claim.corrected_by or next(
            (e.claim.id for e in by_id.values() if e.claim.of == claim.id), ""
        )
        rows.append(
            (
                link(claim.id),
                reading_in_short(claim.reading),
                in_words(entry),
                link(right) if right else "",
            )
        )
    header = ("statement", "reading", "refuted", "right statement")
    return (
        f"### With ε > 0: {paper_of(entries[0].claim).short}\n\n"
        "The paper has no $\\epsilon$ and is not at fault here; but every layer has one, and"
        " these lines do not carry over to it as they stand.\n\n" + raw(table(header, rows))
    )
