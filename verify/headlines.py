"""The papers' statements, one line each: as the authors put them, whether they hold, what is right.

A statement of a paper has many entries: readings of its words, readings of epsilon, corrections,
lines of its proof.  Its headline is what the text prints, without epsilon, which is the papers'
own reading; theorems come first, then remarks, then proofs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from theory.statement import Form, Paper, Reading, Verdict
from verify.ledger import Entry

PRINTED = (Form.PRINTED, Form.READING, Form.STEP)
LABELLED = 3
"""So many readings are named one by one."""


@dataclass(frozen=True)
class Headline:
    """One statement of a paper."""

    name: str
    """Its identifier."""
    entries: tuple[Entry, ...]
    """Everything that is said of it, in the order of the catalogue."""

    @property
    def first(self) -> Entry:
        """What the text prints."""
        return next(iter(self.as_printed), self.entries[0])

    @property
    def as_printed(self) -> list[Entry]:
        """What the text prints, in each reading of its words, without epsilon."""
        return [e for e in self.entries if e.claim.form in PRINTED and _is_the_papers(e)]

    @property
    def title(self) -> str:
        """What it is about."""
        return self.first.claim.title or self.name

    @property
    def paper(self) -> Paper:
        """The paper that it stands in."""
        return self.entries[0].claim.locations[0].paper

    @property
    def place(self) -> str:
        """Where it stands, without the text's name."""
        return self.first.claim.locations[0].place

    @property
    def verdict(self) -> str:
        """Whether it holds, for each reading where they differ."""
        verdicts = dict.fromkeys(e.verdict for e in self.as_printed or self.entries)
        if len(verdicts) == 1:
            return next(iter(verdicts)).value
        if len(self.as_printed) <= LABELLED:
            return ", ".join(f"{self._label(e)}: {e.verdict.value}" for e in self.as_printed)
        counts = [sum(e.verdict is v for e in self.as_printed) for v in verdicts]
        return ", ".join(f"{n} {v.value}" for n, v in zip(counts, verdicts, strict=True))

    @property
    def what_is_wrong(self) -> str:
        """What the text leaves out, or what is wrong with it, in a few words."""
        falling = [e for e in self.as_printed if e.verdict is Verdict.REFUTED]
        for entry in falling:
            needed = self._left_out(entry)
            if needed:
                return "needs " + " and ".join(needed)
        remarks = [e.claim.remark for e in falling if e.claim.remark]
        return remarks[0].partition(". ")[0].rstrip(".") if remarks else ""

    @property
    def right(self) -> str:
        """The verdict of the statement that is right in its place."""
        falling = {e.claim.id for e in self.as_printed if e.verdict is Verdict.REFUTED}
        named = {e.claim.corrected_by for e in self.entries if e.claim.id in falling}
        right = [e for e in self.entries if e.claim.of in falling or e.claim.id in named]
        corrected = [e for e in right if e.claim.form is not Form.SHARPENED] or right
        return corrected[0].verdict.value if corrected else ""

    def _label(self, entry: Entry) -> str:
        return entry.claim.id.removeprefix(self.name).strip("/") or "as it stands"

    def _left_out(self, entry: Entry) -> list[str]:
        """Return the hypotheses that the correction has and the text has not, as LaTeX."""
        corrections = (e for e in self.entries if e.claim.of == entry.claim.id)
        for correction in corrections:
            if correction.claim.statement == entry.claim.statement:
                return [h.statement for h in correction.claim.hypotheses if not h.printed]
        return []


def headlines(entries: Iterable[Entry]) -> list[Headline]:
    """Return the papers' statements, those of each paper in its order: theorems before proofs."""
    by_row: dict[str, list[Entry]] = {}
    for entry in entries:
        by_row.setdefault(entry.claim.row, []).append(entry)
    found = [Headline(name, tuple(of_it)) for name, of_it in by_row.items()]
    papers = list(dict.fromkeys(headline.paper for headline in found))
    return sorted(found, key=lambda h: (papers.index(h.paper), _rank(h)))


def _rank(headline: Headline) -> int:
    """Order theorems before remarks, and these before proofs."""
    rest = headline.name.removeprefix(f"{headline.paper.key}-").removeprefix("v1-")
    if rest.startswith(("eq", "steps", "norm")):
        return 2
    return 1 if "remark" in rest or "discussion" in rest else 0


def _is_the_papers(entry: Entry) -> bool:
    return entry.claim.reading is Reading.NO_EPSILON


def counted(found: Sequence[Headline]) -> str:
    """Return how many statements hold as printed, how many do not, and how many are open."""
    holds = sum(_all(h, Verdict.PROVED, Verdict.SUPPORTED) for h in found)
    falls = sum(_all(h, Verdict.REFUTED) for h in found)
    return (
        f"{len(found)} statements of the papers: {holds} hold as printed, {falls} do not, "
        f"{len(found) - holds - falls} hold in part, by the reading, or were not examined"
    )


def _all(headline: Headline, *verdicts: Verdict) -> bool:
    return bool(headline.as_printed) and all(e.verdict in verdicts for e in headline.as_printed)
