"""The page of one statement: as printed, its readings and corrections, what was found of each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import NamedTuple
from unicodedata import normalize

from theory.claim import Claim
from theory.statement import Form, Hypothesis, Reading, Statement, Verdict
from verify import results
from verify.ledger import KERNEL, Entry
from verify.results import EVERY_M, Size
from verify.site import findings, result_page
from verify.site.figures import Figure
from verify.site.markup import (
    anchor,
    by_identifier,
    chip,
    decided,
    formula_or_words,
    harmless,
    in_line,
    link,
    link_to_form,
    places,
    raw,
    table,
    trail,
    unbroken,
    words,
)
from verify.site.statements import Group, heading, section_title, title
from verify.wording import meanings, plural, unprinted

FORMULA = set("\\{^_")
"""What a quotation has that is no words."""
_NAME = re.compile(r"(Theorem|Lemma|Prop\.|Fact|Observation|Algorithm|eq\.) (\S+)")
"""What a statement is called where it stands, such as "Theorem 4.1" or "eq. (9)"."""
_SUBSCRIPTS = re.compile("[₀-₎ₐ-ₜᵢ-ᵪⱼ]+")
_IDENTIFIER = re.compile(r"\b[SL]-[\w.-]*\w(?:/[\w.-]*\w)*")
LINE = 160
"""Characters of LaTeX that are short enough for one line of a page."""
SHORT = 40
"""Characters of LaTeX of what is said again of each entry, such as a range."""
Figures = Callable[[Entry], Mapping[str, list[Figure]]]
WITH_EPSILON = r"For a layer with $\epsilon > 0$, as every framework has it"
READINGS = {
    Reading.SHARED_EPSILON: f"{WITH_EPSILON}:"
    r" $\sigma = \sqrt{v + \epsilon}$ and $\hat y = (y - \mu)/\sigma$.",
    Reading.UNIT_VARIANCE: r"For a layer with $\epsilon > 0$, which divides by"
    r" $\sigma = \sqrt{v + \epsilon}$, as do $\hat y(\cdot)$ and $\mathrm{BN}(\cdot)$; the vector"
    r" $\hat y = (y - \mu)/\sqrt v$, $v > 0$, is of the formula alone.",
}


class Told(NamedTuple):
    """What a page has said so far, which it does not say again."""

    statements: dict[str, str]
    """Where each formula stands."""
    meanings: dict[str, str]
    """What each name stands for, and each letter ranges over."""
    checked: set[str]
    """What is checked of hypotheses in words."""
    claims: tuple[Statement, ...]
    """What the page is about."""
    target: str
    """How commands are told whose statements they are."""


def page(
    statement: Group,
    figures: Figures,
    before: Group | None = None,
    after: Group | None = None,
    target: str = "",
    siblings: Sequence[Group] = (),
) -> str:
    """Return the page as MyST text.

    Args:
        statement: what it is about.
        figures: draws an entry.
        before: the page before it.
        after: the page after it.
        target: how commands are told whose statement it is; nothing for the papers'.
        siblings: other pages of the same statement of the paper.
    """
    claim = statement.claim
    appended = [e for e in statement.entries if _is_in_appendix(e.claim, claim)]
    kept = [e for e in statement.entries if e not in appended]
    claims = tuple(entry.claim for entry in statement.entries)
    told = Told({claim.statement: claim.id}, {}, set(), claims, target)
    parts = [
        _front_matter(statement),
        _sought(claim),
        f"# {words(heading(statement))}\n",
        _eyebrow(statement, target),
        _opening(claim),
        _quotes(claim),
        _overview(statement),
        *(_section(entry, figures(entry), told) for entry in kept),
        _appendix(appended, figures, told),
        f"## More of this statement\n\n{result_page.listed(siblings)}" if siblings else "",
        _neighbours(before, after),
    ]
    return "\n".join(part for part in parts if part)


def _is_in_appendix(claim: Statement, first: Statement) -> bool:
    """Whether an entry of a page is of interest only to who looks for it."""
    is_aside = claim.form is Form.STEP and first.form is not Form.STEP
    return is_aside or claim.reading is Reading.UNIT_VARIANCE


def _appendix(entries: Sequence[Entry], figures: Figures, told: Told) -> str:
    if not entries:
        return ""
    folded = (_folded(entry, figures(entry), told) for entry in entries)
    return "\n".join(["## Appendix\n", *folded])


def _folded(entry: Entry, figures: Mapping[str, list[Figure]], told: Told) -> str:
    summary = f"{escape(section_title(entry.claim, told.claims))} {decided(entry)}"
    body = "\n".join(_body(entry, figures, told))
    return (
        f"{anchor(entry.claim.id)}\n\n<details><summary>{summary}</summary>\n\n{body}\n</details>\n"
    )


def _front_matter(statement: Group) -> str:
    """Return that no list of pages has it, and what search engines show of it."""
    first = statement.entries[0]
    where = f"{statement.paper.short}, {first.claim.locations[0].place}"
    told = f"{where}: {title(first.claim).lower()}, {first.verdict.value} {in_words(first)}"
    return (
        "---\norphan: true\nmyst:\n  html_meta:\n"
        f"    description: {json.dumps(told.strip())}\n---\n"
    )


def _sought(claim: Statement) -> str:
    """Return what the statement is called in its text, for the site's search."""
    parts = (part for at in claim.locations for part in at.place.split(", "))
    names = dict.fromkeys(name for part in parts for name in sought(part))
    return f"```{{index}} {', '.join(f'! {name}' for name in names)}\n```\n" if names else ""


def sought(part: str) -> list[str]:
    """Return the words by which a part of a place may be sought, if it names a statement.

    >>> sought("Theorem 4.1"), sought("Prop. 5"), sought("proof of Theorem 4.1")
    (['Theorem 4.1', '4.1'], ['Prop. 5', 'Proposition 5'], [])
    """
    found = _NAME.fullmatch(part)
    if found is None:
        return []
    kind, number = found.groups()
    return [
        part,
        *([f"Proposition {number}"] if kind == "Prop." else []),
        *([number] if "." in number else []),
    ]


def _eyebrow(statement: Group, target: str) -> str:
    """Return the way back, where the statement stands, and how to read the page."""
    where = places(statement.claim, statement.paper.texts)
    guide = "" if target else ' · <a href="../guides/verdicts.html">How to read this page</a>'
    return f'<p class="where">{trail(statement.paper)} · {escape(where)}{guide}</p>\n'


def _opening(claim: Statement) -> str:
    """Return the formula, and whose it is where it is not that of the text that the page names."""
    shown = formula_or_words(claim.statement, displayed=True)
    if claim.form is Form.CORRECTED:
        return f"In its corrected form; what the text says is below:\n\n{shown}"
    right = by_identifier().get(claim.corrected_by or "")
    if not claim.unreadable or right is None or right.statement != claim.statement:
        return shown
    first = right.locations[0]
    return f"As the {first.paper.texts.get(first.text, first.text)} prints it:\n\n{shown}"


def _quotes(claim: Statement) -> str:
    """Return where in a text's conversion a statement stands, and its words there, if any."""
    first = claim.locations[0]
    if not first.quote:
        return ""
    text = first.paper.texts.get(first.text, first.text)
    name = escape(f"{text}, line {first.line} of its conversion" if first.line else text)
    words_ = "" if FORMULA & set(first.quote) else f": “{escape(_cut_out(first.quote.strip()))}”"
    return f'<p class="quote">In the text ({name}){words_}</p>\n'


def _cut_out(quote: str) -> str:
    """Return words of a text, with dots where a sentence is cut."""
    before = "" if quote[0].isupper() else "… "
    after = "" if quote.endswith((".", ":")) else " …"
    return before + quote + after


def _overview(statement: Group) -> str:
    if len(statement.entries) == 1:
        return ""
    claims = [e.claim for e in statement.entries]
    rows = [
        (
            f'<a href="#{escape(e.claim.id)}">{escape(section_title(e.claim, claims))}</a>',
            chip(e.verdict),
            unbroken(escape(in_words(e))),
        )
        for e in statement.entries
    ]
    return raw(table(("reading or form", "verdict", "evidence"), rows, "overview"))


def _section(entry: Entry, figures: Mapping[str, list[Figure]], told: Told) -> str:
    heading_ = f"## {words(section_title(entry.claim, told.claims))}\n"
    return "\n".join([f"{anchor(entry.claim.id)}\n", heading_, *_body(entry, figures, told)])


def _body(entry: Entry, figures: Mapping[str, list[Figure]], told: Told) -> list[str]:
    claim = entry.claim
    parts = [
        f'<p class="verdict-line">{chip(entry.verdict)} {unbroken(escape(in_words(entry)))}</p>\n',
        _unexpected(entry),
        _reading(claim),
        _formula(claim, told),
        _where(claim, told),
        _hypotheses(claim, told),
        _remarks(claim, told),
        findings.proof(entry),
        findings.theorem(entry, told.target),
        findings.counterexample(entry),
        findings.attained(entry),
        findings.unproved(entry),
        _falsifier(entry),
        findings.plots(entry, figures),
        findings.witnesses(entry),
        findings.reproduction(entry, told.target),
    ]
    return [part for part in parts if part.strip()]


def _reading(claim: Statement) -> str:
    """Return that a layer has an epsilon, and which letters of a unit have it."""
    if isinstance(claim, Claim) or not claim.reading.has_epsilon:
        return READINGS.get(claim.reading, "") + "\n"
    return f"{WITH_EPSILON}.\n"


def _falsifier(entry: Entry) -> str:
    """Return what would falsify a statement that is neither proved nor refuted."""
    if entry.verdict in (Verdict.PROVED, Verdict.REFUTED) or not entry.claim.falsifier:
        return ""
    return f"What would falsify it: an instance with ${entry.claim.falsifier}$.\n"


def in_words(entry: Entry) -> str:
    """Return the verdict's scope as a phrase, in which no markup can stand."""
    match entry.verdict:
        case Verdict.PROVED:
            by = ", checked by Coq's kernel" if entry.by == KERNEL else ""
            return f"for {_sizes(entry.sizes)}{by}"
        case Verdict.REFUTED:
            return harmless(_refuted(entry))
        case Verdict.SUPPORTED:
            return f"{plural(entry.instances, 'instance')}, none violating"
        case Verdict.UNREADABLE:
            return "the conversion of the text is damaged here"
        case Verdict.UNDECIDED:
            return str(harmless(entry.lacks))
    return ""


def _refuted(entry: Entry) -> str:
    sizes = entry.scope
    if entry.is_sampled:
        return f"by sampling, at {sizes}" if sizes else "by sampling"
    return "by an exact counterexample" + (f" with {sizes}" if sizes else "")


def _sizes(sizes: Sequence[Size]) -> str:
    """Return the sizes of a proof as a phrase, the last one standing for many."""
    if list(sizes) == [EVERY_M]:
        return "every batch size m"
    if len(sizes) == 1 or all(len(size) == 1 for size in sizes):
        return harmless(results.in_words(sizes))
    symbolic = [letter for letter, n in sizes[-1].items() if n is None]
    largest: Size = {letter: n for letter, n in sizes[-1].items() if n is not None}
    every = f"every {', '.join(symbolic)} at " if symbolic else ""
    return harmless(f"{every}{len(sizes)} sizes, such as {results.in_words([largest])}")


def _unexpected(entry: Entry) -> str:
    if entry.is_as_expected or entry.verdict is Verdict.NOT_RUN:
        return ""
    return f"The claim's file expects this to be {entry.claim.expected.value}.\n"


def _formula(claim: Statement, told: Told) -> str:
    """Return the statement, or where on the page it stands already."""
    first = told.statements.setdefault(claim.statement, claim.id)
    if first == claim.id:
        if len(told.statements) == 1:
            return "The formula at the head of this page.\n"
        return formula_or_words(claim.statement, displayed=True) + "\n"
    section = next(section_title(c, told.claims) for c in told.claims if c.id == first)
    return f'The formula of <a href="#{escape(first)}">{escape(section)}</a>.\n'


def _where(claim: Statement, told: Told) -> str:
    """Return what the names in a statement stand for, or why it is in words."""
    opening = "Why it cannot be read" if claim.unreadable else "In words"
    why = f"{opening}: {words(claim.in_words.rstrip('.'))}.\n" if claim.in_words else ""
    if claim.says is None:
        return why
    # A range is said of every entry, which may be read alone; a long definition once.
    new = {
        name: meaning
        for name, meaning in meanings(claim).items()
        if len(meaning) <= SHORT or told.meanings.get(name) != meaning
    }
    told.meanings.update(new)
    shown = [in_line(each) for each in dict.fromkeys(new.values())]
    return why + (listed("where", shown) + "\n" if new else "")


def listed(word: str, formulas: Sequence[str]) -> str:
    """Return formulas after a word, on one line where they fit."""
    line = f"{word} {', '.join(formulas)}"
    return line if len(line) <= LINE else "\n".join([f"{word}\n", *(f"- {x}" for x in formulas)])


def _hypotheses(claim: Statement, told: Told) -> str:
    if not claim.hypotheses:
        return ""
    lines = [f"- {_hypothesis(claim, hypothesis, told)}" for hypothesis in claim.hypotheses]
    return "Under the hypotheses\n\n" + "\n".join(lines) + "\n"


def _hypothesis(claim: Statement, hypothesis: Hypothesis, told: Told) -> str:
    """Return what is assumed; what is checked beside words for it, where a page has them first."""
    checked = hypothesis.checked
    is_new = checked and checked not in told.checked
    told.checked.add(checked)
    return assumed(claim, hypothesis, f", checked as ${checked}$" if is_new else "")


def assumed(claim: Statement, hypothesis: Hypothesis, checked: str = "") -> str:
    """Return what is assumed, as what it is checked, and whether the text leaves it out."""
    note = "" if hypothesis.printed else f" *({unprinted(claim, hypothesis)})*"
    return formula_or_words(hypothesis.statement) + checked + note


def _remarks(claim: Statement, told: Told) -> str:
    lines = []
    if claim.remark:
        lines.append(_linked(claim.remark))
    if claim.unreadable:
        lines.append(f"What the conversion lost: {words(claim.unreadable)}")
    if claim.amends:
        base = next((c.expected for c in told.claims if c.id == claim.amends), None)
        word = "corrects" if claim.form is Form.CORRECTED else "sharpens"
        if word == "sharpens" and base is Verdict.REFUTED:
            word = "goes further than the refutation of"
        lines.append(f"This {word} {link_to_form(claim.amends)}.")
    if claim.corrected_by:
        lines.append(f"The right statement is {link_to_form(claim.corrected_by)}.")
    return "\n\n".join(lines) + "\n"


def _linked(text: str) -> str:
    """Return a remark with links in place of the identifiers of entries.

    Subscripts are set as such: few fonts have all of their letters.
    """

    def to(found: re.Match[str]) -> str:
        return link(found[0], "../") if found[0] in by_identifier() else found[0]

    return _SUBSCRIPTS.sub(_lowered, _IDENTIFIER.sub(to, words(text)))


def _lowered(found: re.Match[str]) -> str:
    return f"<sub>{normalize('NFKC', found[0])}</sub>"


def _neighbours(before: Group | None, after: Group | None) -> str:
    def to(statement: Group | None, word: str) -> str:
        if statement is None:
            return "<span></span>"
        return (
            f'<a href="{statement.name}.html"><small>{word}</small>{escape(heading(statement))}</a>'
        )

    links = to(before, "before") + to(after, "after")
    return raw(f'<nav class="neighbours" aria-label="Statements">{links}</nav>')
