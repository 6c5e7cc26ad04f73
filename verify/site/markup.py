"""Pieces of MyST text that several kinds of page share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass, replace
from functools import cache
from html import escape
from typing import Any

from theory.statement import Paper, Statement, Verdict
from verify.engine import CLAIMS
from verify.ledger import Entry
from verify.site.mathematics import LONG
from verify.site.numbers import with_signs
from verify.site.statements import address, name_of, plain_title, section_title, title

KIND = {verdict: verdict.value.replace(" ", "-") for verdict in Verdict}
_WORDS = re.compile(r"\b[a-z]{2,}\b")
_MARKUP = str.maketrans({"<": "⟨", ">": "⟩", "`": "'", "&": "+", '"': "'"})
_MARKED = re.compile(r"([\\`*_\[\]#|~])")
_TEXT = re.compile(r"\\text\{([^{}]*)\}")
_FORMULA = re.compile(r"^(,?(?:\\?\s)*)(.*?)((?:\\?\s)*)$", re.DOTALL)
"""What stands between words, the comma and the spaces around it apart."""
_RUNS = re.compile("`{3,}")


def chip(verdict: Verdict) -> str:
    """Return the verdict as a word on its colour."""
    return f'<span class="verdict {KIND[verdict]}">{verdict.value}</span>'


def coloured(kind: str, word: str) -> str:
    """Return a word on a colour in few characters, where a page has thousands of them."""
    return f'<b class="{kind}">{word}</b>'


def decided(entry: Entry) -> str:
    """Return an entry's verdict, and where a proof does not speak of every size, of which."""
    sizes = unbroken(harmless(entry.named_sizes))
    return chip(entry.verdict) + (f" <small>at {sizes}</small>" if sizes else "")


def unbroken(sizes: str) -> str:
    """Return words in which no line ends within "m = 3"."""
    return sizes.replace(" = ", "\u00a0=\u00a0")


def anchor(identifier: str) -> str:
    """Return the place that a claim's permanent address leads to."""
    return f'<span class="anchor" id="{escape(identifier, quote=True)}"></span>'


def trail(paper: Paper) -> str:
    """Return the way back from a page of a statement: to the ledger, and to the paper's page."""
    return (
        '<a href="../index.html">The ledger</a>'
        f' · <a href="paper-{paper.key}.html">{escape(paper.short)}</a>'
    )


def link(identifier: str, up: str = "") -> str:
    """Return a link to a claim, from a page below the root where ``up`` says so."""
    return _link(identifier, up, named)


def link_to_form(identifier: str) -> str:
    """Return a link to a claim, a level up, with the form that tells it from another's title."""
    return _link(identifier, "../", lambda claim: f"{named(claim)} ({title(claim).lower()})")


def _link(identifier: str, up: str, in_words: Callable[[Statement], str]) -> str:
    known = by_identifier().get(identifier)
    text = identifier if known is None else in_words(known)
    return f'<a href="{up}{address(identifier)}">{escape(text)}</a>'


def told_apart(claim: Statement, others: Iterable[Statement]) -> str:
    """Return a link to a claim, a level up, by what tells it from the others of its statement."""
    own = [other for other in others if name_of(other.id) == name_of(claim.id)]
    told = f"{claim.locations[0].place}: {section_title(claim, own)}"
    return f'<a href="../{address(claim.id)}">{escape(told)}</a>'


def named(claim: Statement) -> str:
    """Return where a claim stands and what it is about, on one line."""
    return f"{claim.locations[0].place}: {plain_title(claim)}"


@cache
def by_identifier() -> dict[str, Statement]:
    """Return the papers' statements by identifier."""
    return {claim.id: claim for claim in CLAIMS}


def display(tex: str) -> str:
    """Return a displayed formula."""
    return f"$$\n{tex}\n$$\n"


def formula_or_words(text: str, *, displayed: bool = False) -> str:
    r"""Return a statement: mathematics where it is LaTeX, else its words.

    >>> formula_or_words("a later layer is a Batch Normalization")
    'a later layer is a Batch Normalization'
    >>> formula_or_words(r"\gamma > 0")
    '$\\gamma > 0$'
    """
    if is_words(text):
        return text
    return display(text) if displayed else in_line(text)


def in_line(tex: str) -> str:
    r"""Return a formula within a line, which may end between the words of a long one.

    >>> print(in_line(r"k - 1 \text{ additions in a sum of } k \text{ terms},\ \text{no maxima}"))
    $k - 1$ additions in a sum of $k$ terms, no maxima
    >>> print(in_line(r"H \text{ has full rank}"))
    $H \text{ has full rank}$
    """
    parts = _TEXT.split(tex)
    if len(tex) <= LONG or len(parts) == 1 or not all(map(_is_whole, parts[::2])):
        return f"${tex}$"
    told = (
        _escaped(part) if i % 2 else _FORMULA.sub(_beside_words, part)
        for i, part in enumerate(parts)
    )
    return " ".join("".join(told).split())


def _is_whole(tex: str) -> bool:
    """Whether no brackets are left open where words stand."""
    brackets = ("{", "}"), (r"\left", r"\right")
    return all(tex.count(opens) == tex.count(closes) for opens, closes in brackets)


def _beside_words(found: re.Match[str]) -> str:
    before, formula, after = found.groups()
    spaces = before.replace("\\", "")
    return f"{spaces}${formula}${after and ' '}" if formula else spaces


def is_words(text: str) -> bool:
    """Whether a statement is written in words rather than in LaTeX."""
    plain = re.sub(r"\\(?:text|mathrm|operatorname)\{[^{}]*\}", "", text)
    return "$" in text or ("\\" not in plain and len(_WORDS.findall(plain)) > 2)


def table(header: Iterable[str], rows: Iterable[Iterable[str]], kind: str = "") -> str:
    """Return a table as HTML, within a box that scrolls by itself where it is too wide."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in header)
    body = "\n".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return (
        f'<div class="scroller" tabindex="0" role="group" aria-label="Table">\n'
        f'<table class="plain {kind}">\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>\n"
    )


def list_table(header: Iterable[str], rows: Iterable[Iterable[str]], kind: str) -> str:
    """Return a table whose cells are MyST text, which may have formulas and paragraphs."""
    cells = [_listed(row) for row in (tuple(header), *rows)]
    return f"```{{list-table}}\n:class: {kind}\n:header-rows: 1\n\n{''.join(cells)}```\n"


def _listed(row: Iterable[str]) -> str:
    first, *others = (cell.strip().replace("\n", "\n    ") for cell in row)
    return "".join([f"* - {first}\n", *(f"  - {cell}\n" for cell in others)])


def raw(html: str) -> str:
    """Return HTML as a block of its own."""
    return fenced(html.rstrip(), "{raw} html")


def fenced(text: str, language: str) -> str:
    r"""Return lines as a block that nothing in them can end.

    >>> fenced("a\n```\nb", "sh")
    '````sh\na\n```\nb\n````\n'
    """
    fence = "`" * max([3, *(1 + len(run) for run in _RUNS.findall(text))])
    return f"{fence}{language}\n{text}\n{fence}\n"


def on_one_line(text: object) -> str:
    r"""Return words of the evidence, which anybody may have written, as HTML on one line.

    >>> on_one_line("2.0\n\n```{include} <x>")
    '2.0 ```{include} &lt;x&gt;'
    """
    return escape(" ".join(str(text).split()), quote=True)


def harmless(value: Any) -> Any:
    """Return texts, in lists, by name and in records, in which no markup of HTML or MyST can stand.

    >>> harmless({"y": ["<script>", "[a](b)"]})
    {'y': ['⟨script⟩', '[a] (b)']}
    """
    if isinstance(value, Mapping):
        return {harmless(key): harmless(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [harmless(part) for part in value]
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **harmless(vars(value)))
    if not isinstance(value, str):
        return value
    return " ".join(value.split()).translate(_MARKUP).replace("](", "] (")


def words(text: str) -> str:
    r"""Return plain text as Markdown, formulas between dollars as they are.

    >>> words(r"-a_1 < [2] * 3, but $-a_1 \le 2$")
    '−a\\_1 &lt; \\[2\\] \\* 3, but $-a_1 \\le 2$'
    """
    parts = " ".join(text.split()).split("$")
    if len(parts) % 2 == 0:  # a dollar that opens no formula
        return r"\$".join(map(_escaped, parts))
    return "$".join(
        part.replace("<", r"\lt ").replace(">", r"\gt ") if i % 2 else _escaped(part)
        for i, part in enumerate(parts)
    )


def _escaped(text: str) -> str:
    return _MARKED.sub(r"\\\1", escape(with_signs(text), quote=False))


def places(claim: Statement, texts: Mapping[str, str]) -> str:
    """Return where a statement stands, in words, each place once."""
    told = (f"{at.place} ({texts.get(at.text, at.text)})" for at in claim.locations)
    return "; ".join(dict.fromkeys(told))
