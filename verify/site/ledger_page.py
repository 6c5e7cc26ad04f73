"""Every entry: readings, corrections, lines of proofs, epsilon, in a table that can be filtered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from theory.statement import Form, Paper, Reading, Verdict
from verify.ledger import Entry
from verify.site.markup import KIND, decided, raw
from verify.site.numbers import typeset
from verify.site.statements import (
    FORMS,
    address,
    paper_of,
    papers,
    plain_title,
    reading_in_short,
    statements,
    title,
)


def page(entries: Sequence[Entry]) -> str:
    """Return the counts of verdicts, every entry in a table, and which are in words."""
    grouped = statements(entries)
    ordered = [entry for statement in grouped for entry in statement.entries]
    table = raw(_controls(papers(grouped)) + _table(ordered))
    return "\n".join([raw(_counts(ordered)), table, _in_words(ordered)])


def _in_words(entries: Sequence[Entry]) -> str:
    """Return which entries, or sides of them, are displayed in words, and why."""
    reasons: dict[str, list[str]] = {}
    for claim in (entry.claim for entry in entries):
        if claim.in_words:
            link = f'<a href="{address(claim.id)}">{escape(claim.id)}</a>'
            reasons.setdefault(claim.in_words, []).append(link)
    listed = [f"<li>{escape(reason)} {', '.join(links)}</li>" for reason, links in reasons.items()]
    if not listed:
        return ""
    return "## In words\n\nWhat is no expression, or a side of it, and why:\n\n" + raw(
        f"<ul>\n{chr(10).join(listed)}\n</ul>"
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


def _controls(papers: Sequence[Paper]) -> str:
    return (
        '<form class="controls" role="search" aria-label="Filter the ledger" hidden>'
        '<label>Search<input type="search" name="text" autocomplete="off"'
        ' placeholder="4.1, Hessian, eq. (9)"></label>'
        + _select("paper", "Paper", [p.short for p in papers])
        + _select("verdict", "Verdict", [v.value for v in Verdict])
        + _select("form", "Form", [FORMS[form] for form in Form])
        + _select("reading", "Reading", [reading_in_short(r) for r in Reading])
        + '<output aria-live="polite"></output>'
        '<button type="reset">Show all</button></form>\n'
    )


def _select(name: str, label: str, options: Iterable[str]) -> str:
    listed = "".join(f"<option>{escape(option)}</option>" for option in options)
    every = '<option value="">all</option>'
    return f'<label>{label}<select name="{name}">{every}{listed}</select></label>'


COLUMNS = ("statement", "where", "verdict", "instances", "ratio")
NUMERIC = ("instances", "ratio")


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
        "form": FORMS[claim.form],
        "reading": reading_in_short(claim.reading),
    }
    attributes = " ".join(f'data-{k}="{escape(v, quote=True)}"' for k, v in data.items())
    ratio = entry.worst_ratio
    instances = f"{entry.instances:,}" if entry.instances else ""
    shown_ratio = "" if ratio is None else f"{ratio:.6g}"
    value = f' data-value="{shown_ratio}"' if "e" in shown_ratio else ""
    return (
        f'<tr {attributes}><th scope="row"><a href="{address(claim.id)}" title="{claim.id}">'
        f"{escape(plain_title(claim))}</a><small>{escape(title(claim))}</small></th>"
        f"<td>{escape(claim.locations[0].place)}</td><td>{decided(entry)}</td>"
        f'<td class="number">{instances}</td>'
        f'<td class="number"{value}>{typeset(shown_ratio)}</td></tr>'
    )
