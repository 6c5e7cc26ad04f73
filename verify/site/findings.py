"""What was found of one claim: proof, counterexample, figures, witnesses, how to do it again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from textwrap import fill

from theory.language.latex import latex
from theory.statement import Relation, Statement, Verdict
from verify.counterexamples import in_letters_of, scope
from verify.kernel.export import BUILDS, FOLDER, letters_of
from verify.ledger import Entry, agrees
from verify.record import Record
from verify.results import Proof, in_words
from verify.site import counterexamples
from verify.site.figures import Figure, is_drawn
from verify.site.markup import display, fenced, harmless, raw, table, words
from verify.site.numbers import typeset
from verify.site.sources import module_of
from verify.site.statements import address
from verify.tolerance import ratio_in_words
from verify.wording import besides, told_whose

LONGEST = 500
"""Characters of LaTeX; a certificate that is longer is printed for who asks."""
COLUMNS = 76
"""Of a line of Coq, so that it fits its box."""
_TOKEN = re.compile(r"[\w :.,<>=+-]+").fullmatch
"""What a reader may copy to a shell: evidence may have been written by anybody."""
_ONCE = re.compile(r"(^|[+=-] )1 (?=[\\(])(?!\\cdot)")
"""A weight that a reader does not need."""
ZERO = (
    "the difference of the sides is a term that a hypothesis makes zero",
    "the difference of the sides is a sum of terms that hypotheses make zero",
)
NOT_NEGATIVE = (
    "the slack is a term that is never negative",
    "the slack is a sum of terms that are never negative",
)
POSITIVE = (
    "the slack is a term that is positive",
    "the slack is a sum of terms that are never negative, one of them positive",
)
SLACKS = {
    Relation.EQUAL: ZERO,
    Relation.AT_MOST: NOT_NEGATIVE,
    Relation.AT_LEAST: NOT_NEGATIVE,
    Relation.LESS_THAN: POSITIVE,
    Relation.MORE_THAN: POSITIVE,
}
"""What a certificate is, of one term or of several."""
NAMES = ("Actual against claimed", "Over the training of real networks")
NOT_RUN = '<p class="not-run">{}: not yet run.</p>'


def proof(entry: Entry) -> str:
    """Return the proof, as the arithmetic that found it wrote it."""
    found = entry.proof
    if found is None or entry.verdict is not Verdict.PROVED:
        return ""
    if found.slack:
        return _abstract_proof(entry, found)
    if found.holds_at_every_size:
        return ""
    if found.has_symbolic_size:
        return (
            "**Proof.** In the arithmetic of inner products, with inputs of symbolic height: "
            f"{harmless(entry.scope)}.\n"
        )
    return f"**Proof.** Symbolically, entry by entry, for {harmless(entry.scope)}.\n"


def theorem(entry: Entry, target: str = "") -> str:
    """Return the theorem that Coq's kernel checked, where it stands, and what it rests on.

    Args:
        entry: what is known of a statement.
        target: whose statement it is; the papers' if empty.
    """
    found = entry.theorem
    if found is None:
        return ""
    what = "That it fails is checked" if entry.verdict is Verdict.REFUTED else "Checked"
    names = (f"`{harmless(name)}`" for name in found.assumptions)
    rests_on = ", ".join(names) or "Coq’s logic alone"
    counts = " (under an assumption, so that it counts for no proof)" if found.besides else ""
    quantities = [f"`{harmless(quantity)}`" for quantity in found.besides]
    stated = [*found.definitions, f"Theorem {found.name} {found.statement}"]
    folder = BUILDS if found.file.startswith(f"{FOLDER}/") else "theory/coq"
    told = [
        f"**{what} by Coq's kernel**{counts} from the definitions:"
        f" `{folder}/{harmless(found.file)}`, by Coq {words(found.coq)}; rests on {rests_on}.",
        *(f"It assumes {assumed}." for assumed in besides(quantities)),
    ]
    return (
        " ".join(told)
        + "\n\n"
        + fenced("\n".join(f"{in_lines(text)}." for text in stated), "coq")
        + _letters(entry.claim, found.file)
        + "\n"
        + fenced(told_whose(found.command, target), "sh")
    )


def _letters(claim: Statement, file: str) -> str:
    """Return what the statement's letters are in an exported theorem."""
    meant = [f"${latex(x)}$ is `{harmless(word)}`" for x, word in letters_of(claim, file).items()]
    return f"\nIn it {', '.join(meant)}.\n" if meant else ""


def in_lines(text: str) -> str:
    """Return a theorem or a definition with a line for each premise, none of them long.

    >>> print(in_lines("Theorem t (L : vec m -> R) : 0 < s -> let a := 1 in let b := 2 in a < b"))
    Theorem t (L : vec m -> R) :
      0 < s ->
      let a := 1 in
      let b := 2 in
      a < b
    """
    return "\n".join(
        fill(line, COLUMNS, initial_indent="  " if i else "", subsequent_indent="    ",
             break_long_words=False, break_on_hyphens=False)
        for i, line in enumerate(_premises(text))
    )  # fmt: skip


def _premises(text: str) -> Iterator[str]:
    """Yield a heading up to its colon, then what ends outside of brackets with an arrow or "in"."""
    ends = ":" if text.startswith("Theorem") else ":="
    depth, part = 0, ""
    for word in text.split():
        part += f" {word}" if part else word
        depth += sum(map(word.count, "([{")) - sum(map(word.count, ")]}"))
        if depth == 0 and word in ("->", "in", ends):
            ends = ends if word != ends else ""
            yield part
            part = ""
    if part:
        yield part


def _abstract_proof(entry: Entry, found: Proof) -> str:
    opening = "**Proof.** In the arithmetic of inner products, for a batch of symbolic length, "
    if not found.summands:
        return (
            f"{opening}the two sides are the same expression: their difference is $0$, whatever"
            " the vectors, their length and the loss.\n"
        )
    written = _certificate(entry.claim)
    told = SLACKS[entry.claim.relation][len(found.terms) > 1]
    if r"\epsilon" in written and not entry.claim.reading.has_epsilon:
        told += r", and $\epsilon = 0$"
    if len(written) > LONGEST:
        return f"{opening}{told}; `python -m verify show {entry.claim.id}` prints it.\n"
    return f"{opening}{told}:\n\n{display(written)}\n"


def _certificate(claim: Statement) -> str:
    """Return the slack and what it is, as LaTeX."""
    if claim.because is None:
        return "?" * (LONGEST + 1)
    return f"{latex(claim.spoken.slack)} = " + _ONCE.sub(r"\1", latex(claim.because))


def counterexample(entry: Entry) -> str:
    """Return the smallest counterexample with both sides."""
    found = entry.counterexample
    if found is None:
        return ""
    told = counterexamples.sentence(found, entry.claim)
    return f"**Counterexample.** {told} {counterexamples.arithmetic(found, told)}\n"


def attained(entry: Entry) -> str:
    """Return where the sides of a bound are equal, and not zero."""
    found = entry.attained
    if found is None:
        return ""
    told = counterexamples.equality(found, entry.claim)
    return f"**Attained.** {told}\n"


def unproved(entry: Entry) -> str:
    """Return why no proof was found, where nothing is certain, in the words of ``verify show``."""
    return "".join(f"{words(told[:1].upper() + told[1:])}.\n\n" for told in entry.unproved)


def plots(entry: Entry, figures: Mapping[str, list[Figure]]) -> str:
    """Return the figures; of what was not yet run, which there may be."""
    if not is_drawn(entry.claim):
        return ""
    shown = [_figure(figure) for kind in figures.values() for figure in kind]
    missing = [] if entry.records else [NOT_RUN.format(name) for name in NAMES]
    grid = "".join(shown)
    parts = [f'<div class="figures">\n{grid}</div>'] if shown else []
    return raw("\n".join([*parts, *missing])) if parts or missing else ""


def _figure(figure: Figure) -> str:
    caption = escape(figure.caption).replace("**", "")
    claim, _, rest = caption.partition(". ")
    numbers = f' <a href="../figures/{figure.table_name}" download>Numbers (CSV)</a>'
    return (
        f'<figure><img src="../figures/{figure.name}" width="420" height="360" loading="lazy"'
        f' alt="{escape(figure.alternative, quote=True)}">'
        f"<figcaption><b>{claim}.</b> {rest}{numbers if figure.table else ''}"
        "</figcaption></figure>\n"
    )


def witnesses(entry: Entry) -> str:
    """Return the table of what each witness found."""
    if not entry.records:
        return ""
    records = sorted(entry.records, key=lambda r: (r.proof is None, r.counterexample is None))
    ratio = f"worst {ratio_in_words(entry.claim.relation)}"
    header = ("witness", "found", "instances", "undecided", ratio, "seconds")
    return raw(table(header, (_witness(entry, r) for r in records), "witnesses"))


def _witness(entry: Entry, record: Record) -> tuple[str, ...]:
    ratio = "" if record.worst_ratio is None else typeset(f"{record.worst_ratio:.6g}")
    return (
        escape(record.witness),
        escape(_said(entry, record)),
        f"{record.decided:,}" if record.instances else "",
        f"{record.undecided:,}" if record.undecided else "",
        ratio,
        f"{record.seconds:.2f}",
    )


def _said(entry: Entry, record: Record) -> str:
    if record.proof and entry.verdict is Verdict.REFUTED:
        return "no violation, or no instance, at the sizes that it looks at"
    if record.proof:
        sizes = [in_letters_of(entry.claim, size) for size in record.proof.sizes]
        return f"proof for {len(sizes)} sizes" if len(sizes) > 1 else f"proof for {in_words(sizes)}"
    if record.counterexample:
        told = scope(record.counterexample, entry.claim)
        return f"counterexample with {told}" if told else "counterexample"
    if record.theorem and record.theorem.besides:
        return "proof under an assumption"
    if record.theorem and entry.verdict is Verdict.REFUTED:
        return "proof that it fails"
    if record.violated:
        return f"{record.violated:,} violated"
    if record.decided:
        return "no violation" if agrees(entry.verdict, record) else "none violated"
    return "says nothing"


def reproduction(entry: Entry, target: str = "") -> str:
    """Return the commands that examine it again, its address and its code."""
    claim = entry.claim
    tokens = dict.fromkeys(r.worst_token for r in entry.records if r.worst_token)
    commands = [f"python -m verify check {claim.id}"]
    commands += [f'python -m verify reproduce "{token}"' for token in tokens if _TOKEN(token)]
    module = module_of(claim)
    code = (
        f' The statement as code: <a href="../reference/{module.__name__}.html">'
        f"<code>{module.__name__}</code></a>."
        if module
        else ""
    )
    permanent = f'Cite this as <a href="../{address(claim.id)}"><code>{claim.id}</code></a>.'
    block = fenced("\n".join(told_whose(command, target) for command in commands), "sh")
    return f'{block}\n<p class="sources">{permanent}{code}</p>\n'
