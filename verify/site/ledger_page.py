"""The ledger as a page: counts, what stands and what falls, and a table that can be filtered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from theory.statement import Form, Paper, Reading, Verdict
from verify.evidence import Run
from verify.ledger import Entry
from verify.site.markup import KIND, chip, link, places, plural, raw
from verify.site.statement_page import in_words
from verify.site.statements import (
    Group,
    Strength,
    address,
    paper_of,
    papers,
    reading_in_short,
    statements,
    strength,
    title,
)

LISTED = 12
"""How many entries a line of the summary names."""


def page(entries: Sequence[Entry], run: Run | None) -> str:
    """Return the ledger: counts, a summary in words, the table."""
    grouped = statements(entries)
    ordered = [entry for statement in grouped for entry in statement.entries]
    return "\n".join(
        [
            raw(_counts(ordered)),
            summary(grouped),
            raw(_controls(papers(grouped)) + _table(ordered)),
            _footer(run),
        ]
    )


def _counts(entries: Sequence[Entry]) -> str:
    counted = Counter(entry.verdict for entry in entries)
    buttons = "".join(
        f'<button type="button" class="count {KIND[v]}" data-verdict="{v.value}"'
        f' aria-pressed="false"><b>{counted[v]}</b> {v.value}</button>'
        for v in Verdict
        if counted[v]
    )
    return f'<div class="counts" role="group" aria-label="Verdicts">{buttons}</div>'


def summary(grouped: Sequence[Group]) -> str:
    """Return in a few lines what stands, what falls and what is sharper than printed.

    Only statements as printed count here, in the reading without epsilon, which is the papers'.
    """
    printed = [e for s in grouped for e in s.entries if _is_as_printed(e)]
    stands = [e for e in printed if e.verdict in (Verdict.PROVED, Verdict.SUPPORTED)]
    falls = [e for e in printed if e.verdict is Verdict.REFUTED]
    sharper = [
        e
        for s in grouped
        for e in s.entries
        if e.claim.form is Form.SHARPENED and e.verdict is Verdict.PROVED
    ]
    with_epsilon = [
        e
        for s in grouped
        for e in s.entries
        if e.claim.form is Form.READING
        and e.claim.reading is Reading.SHARED_EPSILON
        and e.verdict is Verdict.REFUTED
    ]
    proved = sum(e.verdict is Verdict.PROVED for e in stands)
    waiting = sum(e.verdict is Verdict.NOT_RUN for s in grouped for e in s.entries)
    lines = [
        f"**What stands.** Of {plural(len(printed), 'statement')} as printed (without $\\epsilon$,"
        f" each reading of words counted by itself), {proved} are proved and"
        f" {len(stands) - proved} supported by measurement.",
        f"**What falls.** {plural(len(falls), 'statement')}, each with a counterexample on"
        f" its page and in the [errata](errata.md): {_links(falls)}.",
        f"**With $\\epsilon > 0$**, as every layer computes it, "
        f" {plural(len(with_epsilon), 'statement')} of the table fail in that reading.",
        f"**What is sharper than printed.** {_links(sharper)}.",
    ]
    if waiting:
        lines.append(f"**Not yet run:** {plural(waiting, 'entry', 'entries')} of the table below.")
    return "\n\n".join(line for line in lines if not line.endswith(" .")) + "\n"


def _is_as_printed(entry: Entry) -> bool:
    return entry.claim.form is Form.PRINTED and not entry.claim.reading.has_epsilon


def _links(entries: Sequence[Entry]) -> str:
    """Return links to the first entries, theorems before the lines of their proofs."""
    ordered = sorted(entries, key=lambda entry: "-thm-" not in entry.claim.id)
    links = [link(entry.claim.id) for entry in ordered[:LISTED]]
    more = len(entries) - len(links)
    return (", ".join(links) or "none") + (f", and {more} more" if more else "")


def _controls(papers: Sequence[Paper]) -> str:
    return (
        '<form class="controls" role="search" aria-label="Filter the ledger" hidden>'
        '<label>Search<input type="search" name="text" autocomplete="off"'
        ' placeholder="4.1, Hessian, eq. (9)"></label>'
        + _select("paper", "Paper", [p.short for p in papers])
        + _select("verdict", "Verdict", [v.value for v in Verdict])
        + _select("strength", "Evidence", Strength.ALL)
        + _select("form", "Form", [f.value for f in Form])
        + _select("reading", "Reading", [reading_in_short(r) for r in Reading])
        + '<output aria-live="polite"></output>'
        '<button type="reset">Show all</button></form>\n'
    )


def _select(name: str, label: str, options: Iterable[str]) -> str:
    listed = "".join(f"<option>{escape(option)}</option>" for option in options)
    every = '<option value="">all</option>'
    return f'<label>{label}<select name="{name}">{every}{listed}</select></label>'


COLUMNS = ("statement", "where", "verdict", "evidence", "instances", "actual/claimed")
NUMERIC = ("instances", "actual/claimed")


def _table(entries: Sequence[Entry]) -> str:
    head = "".join(
        f'<th scope="col"{" class=number" if c in NUMERIC else ""}>{c}</th>' for c in COLUMNS
    )
    rows = "\n".join(_row(entry) for entry in entries)
    return (
        '<div class="scroller ledger-box"><table class="ledger" id="ledger">'
        f"<caption>Every statement, in its paper's order</caption>"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>"
    )


def _row(entry: Entry) -> str:
    claim = entry.claim
    paper = paper_of(claim)
    data = {
        "paper": paper.short,
        "verdict": entry.verdict.value,
        "strength": strength(entry),
        "form": claim.form.value,
        "reading": reading_in_short(claim.reading),
    }
    attributes = " ".join(f'data-{k}="{escape(v, quote=True)}"' for k, v in data.items())
    ratio = entry.worst_ratio
    instances = f"{entry.instances:,}" if entry.instances else ""
    shown_ratio = "" if ratio is None else f"{ratio:.6g}"
    return (
        f'<tr {attributes}><th scope="row"><a href="{address(claim.id)}">{escape(claim.id)}</a>'
        f"<small>{escape(title(claim))}</small></th>"
        f'<td data-label="where">{escape(places(claim, paper.texts))}</td>'
        f'<td data-label="verdict">{chip(entry.verdict)}</td>'
        f'<td data-label="evidence">{escape(in_words(entry))}</td>'
        f'<td data-label="instances" class="number" data-value="{entry.instances}">'
        f"{instances}</td>"
        f'<td data-label="actual/claimed" class="number" data-value="{ratio or ""}">'
        f"{shown_ratio}</td></tr>"
    )


def _footer(run: Run | None) -> str:
    if run is None:
        return "No evidence was found: run `make verify`, then build the site again.\n"
    versions = ", ".join(f"{name} {number}" for name, number in run.versions.items())
    return (
        f'<p class="run">From a run of profile {escape(run.profile)}, seed {run.seed}, backend'
        f" {escape(run.backend)} on {escape(run.device)}, commit <code>{escape(run.commit)}</code>;"
        f' {escape(versions)}. <a href="ledger.json" download>The ledger as JSON</a>.</p>\n'
    )
