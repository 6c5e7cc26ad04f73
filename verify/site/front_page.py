"""The front page: the papers' statements, one line each; everything else opens from there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from theory.erratum import Erratum
from theory.statement import Paper, Statement
from theory.summary import Section
from verify.evidence import Run
from verify.headlines import FEW, Headline, counted, headlines
from verify.ledger import Entry
from verify.site.markup import decided, formula_or_words, list_table, on_one_line
from verify.site.numbers import with_signs
from verify.site.statements import page_of, paper_of
from verify.wording import is_added

HEADER = ("Statement", "As printed", "What is wrong, or needed; the right form")


def page(entries: Sequence[Entry], run: Run | None) -> str:
    """Return how many statements hold, and a table for each part of each paper."""
    found = headlines(entries)
    parts = [f"{counted(found)}.\n"]
    for paper, of_it in groupby(found, key=lambda h: paper_of(h.first.claim)):
        parts += _paper(paper, list(of_it))
    return "\n".join([*parts, _footer(run)])


def _paper(paper: Paper, found: Sequence[Headline]) -> Iterator[str]:
    yield f"## {paper.short}\n"
    yield f"{paper.citation}.\n"
    for section in Section:
        lines = [_line(h, section) for h in found if h.section is section]
        if lines:
            yield f"### {section.value}\n"
            yield list_table(HEADER, lines, "headlines")


def _line(headline: Headline, section: Section) -> tuple[str, ...]:
    claim = headline.first.claim
    shown = "" if section is Section.PROOFS else _formula(claim)
    title = f"**[{headline.title}](statements/{page_of(headline)}.md)** {small(headline.place)}"
    return f"{title}\n\n{shown}", verdicts(headline), _wrong(headline)


def _formula(claim: Statement) -> str:
    """Return what is examined, with what makes it a special case of what the text prints."""
    shown = formula_or_words(claim.statement, displayed=True)
    added = [formula_or_words(h.statement) for h in claim.hypotheses if is_added(claim, h)]
    return f"{shown}\nwhere {'; '.join(added)} *(added here)*" if added else shown


def small(text: str) -> str:
    """Return text that stands back."""
    return f"<small>{escape(text)}</small>"


def verdicts(headline: Headline) -> str:
    """Return the verdicts that a line shows, one below the other."""
    if not headline.parts:
        counts = Counter(map(decided, headline.shown))
        several = len(headline.shown) > 1
        return "<br>".join(f"{n} {word}" if several else word for word, n in counts.items())
    return "<br>".join(
        f"{decided(e)} {small(_apart(e) + with_signs(label))}" if label else decided(e)
        for label, e in headline.parts.items()
    )


def _apart(entry: Entry) -> str:
    """Return what stands between the sizes that a verdict is about and a part's label."""
    return "· " if entry.named_sizes else ""


def _wrong(headline: Headline) -> str:
    if not headline.errata:
        return headline.what_is_wrong
    told = [erratum_link(erratum) for erratum in headline.errata[:FEW]]
    more = len(headline.errata) - len(told)
    told += [f"[{more} more](errata.md)"] if more else []
    right = headline.right_entry
    return "; ".join(told) + (f" → {decided(right)}" if right else "")


def erratum_link(erratum: Erratum) -> str:
    """Return what an erratum says in short, as a link to it."""
    return f"[{erratum.in_short}](#erratum-{erratum.name})"


def _footer(run: Run | None) -> str:
    if run is None:
        return "No evidence was found: run `make verify`, then build the site again.\n"
    versions = ", ".join(f"{name} {number}" for name, number in run.versions.items())
    return (
        f'<p class="run">From a run of profile {on_one_line(run.profile)}, seed {run.seed}, backend'
        f" {on_one_line(' on '.join(filter(None, [run.backend, run.device])))}, commit"
        f" <code>{on_one_line(run.commit)}</code>;"
        f' {on_one_line(versions)}. <a href="ledger.json" download>Every verdict as JSON</a>.</p>\n'
    )
