"""The ledger as a table for a terminal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from theory.claim import Verdict
from theory.expectation_claim import ExpectationClaim
from verify import counterexamples
from verify.headlines import Headline, counted, headlines
from verify.ledger import Entry

COLOURS = {
    Verdict.PROVED: "green",
    Verdict.REFUTED: "red",
    Verdict.SUPPORTED: "cyan",
    Verdict.UNREADABLE: "yellow",
    Verdict.UNDECIDED: "magenta",
    Verdict.NOT_RUN: "dim",
}


WIDE = 160
"""Where a terminal is narrower, the table of entries has no place for all its columns."""
HALF = 100
"""Where one is narrower, the table of statements has no place for a column of places."""


def titled(title: str | None, *names: str) -> Table:
    """Return a table without rows, as all here look, whose columns fold what is long."""
    made = Table(title=title, title_justify="left", header_style="bold", box=SIMPLE)
    for name in names:
        made.add_column(name, overflow="fold")
    return made


def table(entries: Sequence[Entry], width: int = WIDE) -> Table:
    """Return one row for each entry; in a narrow terminal its verdict and sizes alone."""
    if width < WIDE:
        return _narrow(entries, width)
    result = titled("The ledger")
    result.add_column("id", overflow="fold", width=_longest(entries))
    for name in ("where", "verdict", "scope", "witnesses"):
        result.add_column(name, overflow="fold")
    for name in ("instances", "ratio", "seconds"):
        result.add_column(name, justify="right", no_wrap=True)
    for entry in entries:
        result.add_row(
            entry.claim.id,
            entry.claim.locations[0].place.removeprefix("App. C.2, "),
            _verdict(entry),
            _scope(entry),
            _witnesses(entry),
            f"{entry.instances:,}" if entry.records else "",
            "" if entry.worst_ratio is None else f"{entry.worst_ratio:.6g}",
            f"{entry.seconds:.1f}" if entry.records else "",
        )
    return result


def _narrow(entries: Sequence[Entry], width: int) -> Table:
    result = titled("The ledger")
    result.add_column("id", overflow="fold", width=min(_longest(entries), width // 2))
    for name in ("verdict", "scope"):
        result.add_column(name, overflow="fold")
    for entry in entries:
        result.add_row(entry.claim.id, _verdict(entry), _scope(entry))
    return result


def _longest(entries: Sequence[Entry]) -> int:
    """Return the letters of the longest identifier, which is found again if it is not cut."""
    return max(len(name) for name in ("id", *(entry.claim.id for entry in entries)))


def _scope(entry: Entry) -> str:
    return f"{entry.scope_in_short} ({entry.by})" if entry.by else entry.scope_in_short


def summary(entries: Sequence[Entry]) -> str:
    """Return the verdicts' counts in one line."""
    counts = Counter(entry.verdict for entry in entries)
    listed = ", ".join(f"{counts[v]} {v.value}" for v in Verdict if counts[v])
    unexpected = [entry.claim.id for entry in entries if entry.is_unexpected]
    ending = f"; not as expected: {', '.join(unexpected)}" if unexpected else ""
    return f"with readings, corrections and proofs {len(entries)}: {listed}{ending}"


def headline_table(found: Sequence[Headline], width: int = HALF) -> Table:
    """Return one line for each statement of the papers, its place below it in a narrow terminal."""
    is_narrow = width < HALF
    places = () if is_narrow else ("where",)
    names = "statement", *places, "as printed", "what is wrong, or needed", "right form"
    result = titled(None, *names)
    for headline in found:
        below = [headline.name, headline.place] if is_narrow else [headline.name]
        result.add_row(
            "\n".join([headline.title, *(f"[dim]{line}[/]" for line in below)]),
            *(() if is_narrow else (headline.place,)),
            headline.verdict,
            escape(in_characters(headline.what_is_wrong)),
            headline.right,
        )
    return result


CHARACTERS = {
    r"\gamma": "γ", r"\beta": "β", r"\lambda": "λ", r"\sigma": "σ", r"\kappa": "κ", r"\mu": "μ",
    r"\epsilon": "ε", r"\varepsilon": "ε", r"\alpha": "α", r"\hat y": "ŷ", r"\hat L": "L̂",
    r"\mathbf 1": "𝟏", r"\le": "≤", r"\ge": "≥", r"\langle ": "⟨", r"\rangle": "⟩",
    r"^\top": "ᵀ", r"\sqrt ": "√", r"\nabla": "∇", r"\partial": "∂", r"\sum": "Σ",
    r"\max": "max", r"\mathrm": "", r"\operatorname": "", r"\ell": "ℓ", r"\,": " ", "$": "",
    "{": "", "}": "", "^2": "²",
}  # fmt: skip
"""How a terminal shows what a page sets as mathematics."""


def in_characters(text: str) -> str:
    r"""Return words with formulas as plain characters.

    >>> in_characters(r"needs $\gamma \le \sigma$, $\max\{r, s\} > \sqrt{2k}$, $\nabla_y\hat L$")
    'needs γ ≤ σ, max{r, s} > √(2k), ∇_yL̂'
    """
    shown = re.sub(r"\\sqrt\{([^{}]*)\}", r"√(\1)", text)
    shown = shown.replace(r"\{", "\x01").replace(r"\}", "\x02")
    for command, character in CHARACTERS.items():
        shown = shown.replace(command, character)
    return shown.replace("\x01", "{").replace("\x02", "}")


def show(entries: Sequence[Entry], console: Console, every: bool = False) -> None:
    """Print a line for each statement of the papers, then what differs, and the counts.

    Args:
        entries: the ledger.
        console: where.
        every: print each reading, correction and line of a proof instead.
    """
    found = headlines(entries)
    unexpected = [entry for entry in entries if entry.is_unexpected]
    console.print(table(entries, console.width) if every else headline_table(found, console.width))
    if unexpected and not every:
        console.print(table(unexpected, console.width))
    for entry in entries:
        if (failing := entry.counterexample) is not None and entry.is_unexpected:
            told = "; ".join(counterexamples.lines(failing, entry.claim))
            console.print(f"{entry.claim.id}: {told}", highlight=False, markup=False)
    for entry in entries:
        if entry.lacks:
            console.print(f"{entry.claim.id}: {entry.lacks}", highlight=False, markup=False)
        if entry.is_unexpected and (why := _unrefuted(entry) or entry.unproved[:1]):
            console.print(f"{entry.claim.id}: {'; '.join(why)}", highlight=False, markup=False)
    console.print(counted(found), highlight=False, markup=False)
    if idle := [f"{e.claim.id} ({r.witness})" for e in entries for r in e.idle]:
        told = f"{len(idle)} looked at instances that decide nothing: {', '.join(idle)}"
        console.print(told, highlight=False, markup=False)
    console.print(summary(entries), highlight=False, markup=False)


def _unrefuted(entry: Entry) -> list[str]:
    """Return what else may refute a statement that was expected to be, where nothing did."""
    if entry.claim.expected is not Verdict.REFUTED or entry.verdict is not Verdict.SUPPORTED:
        return []
    harder = "--profile deep looks harder, and {} leads to numbers that you know"
    if isinstance(entry.claim, ExpectationClaim):
        return [harder.format("fails_at=")]
    if entry.claim.attack:
        of_hints = [record.notes for record in entry.records if record.notes]
        told = of_hints or ["nothing that attack= makes violates it"]
        return [*told, "--profile deep looks harder"]
    return [harder.format("attack=")]


def _verdict(entry: Entry) -> str:
    colour = COLOURS[entry.verdict]
    mark = f" (expected {entry.claim.expected.value})" if entry.is_unexpected else ""
    return f"[{colour}]{entry.verdict.value}[/]{mark}"


def _witnesses(entry: Entry) -> str:
    return ", ".join(record.witness for record in entry.records if record.decides)
