"""The papers' statements, one line each: as the authors put them, whether they hold, what is right.

A statement of a paper has many entries: readings of its words, readings of epsilon, corrections,
lines of its proof.  Which of them a line shows is said next to the paper's statements
(:mod:`theory.summary`), and what is wrong in the table of its errata (:mod:`theory.erratum`).  A
statement from elsewhere has no such tables; its line shows what its text prints, without epsilon
where there is a reading without.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from theory.erratum import Erratum
from theory.lange2022.errata import ERRATA as LANGE_ERRATA
from theory.lange2022.summary import LINES as LANGE
from theory.santurkar2018.errata import ERRATA as SANTURKAR_ERRATA
from theory.santurkar2018.summary import LINES as SANTURKAR
from theory.statement import Form, Verdict
from theory.summary import Line, Section
from verify.grouping import grouped
from verify.ledger import Entry
from verify.wording import plural

LINES: tuple[Line, ...] = (*SANTURKAR, *LANGE)
ERRATA: tuple[Erratum, ...] = (*SANTURKAR_ERRATA, *LANGE_ERRATA)
PRINTED = (Form.PRINTED, Form.READING, Form.STEP)
LABELLED = 3
"""So many readings are named one by one."""
FEW = 2
"""So many root causes fit in a line."""
HOLDING = (Verdict.PROVED, Verdict.SUPPORTED)


@dataclass(frozen=True)
class Headline:
    """One statement of a paper."""

    name: str
    """Its identifier."""
    entries: tuple[Entry, ...]
    """Everything that is said of it, in the order of the catalogue."""
    line: Line | None = None
    every: Mapping[str, Entry] = field(default_factory=dict, repr=False)
    """The ledger by identifier: what is right may stand in another statement."""

    @property
    def first(self) -> Entry:
        """What the text prints."""
        return next(iter([*self.parts.values(), *self.as_printed]), self.entries[0])

    @cached_property
    def parts(self) -> dict[str, Entry]:
        """The entries that the line shows, by what tells them apart."""
        by_id = {e.claim.id: e for e in self.entries}
        if self.line is not None:
            named = self.line.parts.items()
            return {label: by_id[name] for label, name in named if name in by_id}
        found = self.as_printed
        if len(found) == 1:
            return {"": found[0]}
        return {self._label(e): e for e in found} if len(found) <= LABELLED else {}

    @cached_property
    def as_printed(self) -> list[Entry]:
        """What the text prints, in each reading of its words, without epsilon.

        Of a statement from elsewhere that has none without epsilon, in the readings that it has.
        """
        printed = [e for e in self.entries if e.claim.form in PRINTED]
        without_epsilon = [e for e in printed if not e.claim.reading.has_epsilon]
        return without_epsilon or ([] if self.line else printed)

    @property
    def title(self) -> str:
        """What it is about."""
        return self.line.title if self.line else self.first.claim.title or self.name

    @property
    def place(self) -> str:
        """Where it stands, without the text's name."""
        return self.first.claim.locations[0].place

    @property
    def section(self) -> Section:
        """Whether it is a result, a remark or lines of a proof."""
        return self.line.section if self.line else Section.RESULTS

    @property
    def shown(self) -> list[Entry]:
        """The entries that the line's verdict is made of."""
        return list(self.parts.values()) or self.as_printed or list(self.entries)

    @property
    def verdict(self) -> str:
        """Whether it holds, for each of its parts where they differ."""
        words = dict.fromkeys(e.verdict_in_words for e in self.shown)
        if len(words) == 1:
            return next(iter(words))
        if self.parts:
            return ", ".join(f"{label}: {e.verdict_in_words}" for label, e in self.parts.items())
        return ", ".join(
            f"{count} {verdict.value}{self._at_named_sizes(verdict)}"
            for verdict, count in Counter(e.verdict for e in self.shown).items()
        )

    def _at_named_sizes(self, verdict: Verdict) -> str:
        count = sum(bool(e.named_sizes) for e in self.shown if e.verdict is verdict)
        return f" ({count} of them at named sizes)" if count else ""

    @cached_property
    def errata(self) -> list[Erratum]:
        """The root causes of what falls: those of what the line shows, else of all that it has."""
        falling = {e.claim.id for e in self.as_printed if e.verdict is Verdict.REFUTED}
        shown = {e.claim.id for e in self.shown}
        found = [erratum for erratum in ERRATA if falling & set(erratum.entries)]
        return [e for e in found if shown & set(e.entries)] or found

    @property
    def what_is_wrong(self) -> str:
        """What the text leaves out, or what is wrong with it, in a few words."""
        if self.errata:
            told = [erratum.in_short for erratum in self.errata[:FEW]]
            more = len(self.errata) - len(told)
            return "; ".join([*told, *([f"and {more} more"] if more else [])])
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
        entry = self.right_entry
        return entry.verdict_in_words if entry else ""

    @property
    def right_entry(self) -> Entry | None:
        """What is right in its place: what the first root cause names, else its correction."""
        named = [self.every[n] for e in self.errata for n in e.right if n in self.every]
        falling = {e.claim.id for e in self.as_printed if e.verdict is Verdict.REFUTED}
        tied = [e for e in self.entries if e.claim.amends in falling]
        corrected = [e for e in tied if e.claim.form is not Form.SHARPENED]
        return next(iter([*named, *corrected, *tied]), None)

    def _label(self, entry: Entry) -> str:
        return entry.claim.id.removeprefix(self.name).strip("/") or "as it stands"

    def _left_out(self, entry: Entry) -> list[str]:
        """Return the hypotheses that the correction has and the text has not, as LaTeX."""
        corrections = (e for e in self.entries if e.claim.amends == entry.claim.id)
        for correction in corrections:
            if correction.claim.statement == entry.claim.statement:
                return [h.statement for h in correction.claim.hypotheses if not h.printed]
        return []


def headlines(entries: Iterable[Entry]) -> list[Headline]:
    """Return the papers' statements, each paper's as its table has them, others after them."""
    every = {entry.claim.id: entry for entry in entries}
    by_result = grouped(every.values(), lambda entry: entry.claim.result)
    known = {line.result: line for line in LINES}
    in_order = dict.fromkeys([*(name for name in known if name in by_result), *by_result])
    return [Headline(name, tuple(by_result[name]), known.get(name), every) for name in in_order]


def counted(found: Sequence[Headline]) -> str:
    """Return how many statements hold as printed, how many do not, and how many are open.

    Of those that hold it is said how many are proved, where some are supported and no more.  One of
    which a line holds and another does not, or of which something needed is left out, holds in
    part; open is one of which nothing is decided.
    """
    holding = [h for h in found if _holds(h)]
    falls = sum(_falls(h) for h in found)
    open_ = sum(_is_open(h) for h in found)
    in_part = len(found) - len(holding) - falls - open_
    are = "is" if open_ == 1 else "are"
    whose = " of the papers" if any(headline.line is not None for headline in found) else ""
    return (
        f"{plural(len(found), 'statement')}{whose}: "
        f"{len(holding)} hold as printed{_how(holding)}, {falls} do not, "
        f"{in_part} hold in part or by the reading"
        + (f", {open_} {are} unreadable, undecided or not yet run" if open_ else "")
    )


def _how(holding: Sequence[Headline]) -> str:
    """Return how many of what holds are proved, where some are supported: that is no proof."""
    supported = sum(any(e.verdict is Verdict.SUPPORTED for e in h.shown) for h in holding)
    return f" ({len(holding) - supported} proved, {supported} supported)" if supported else ""


def _holds(headline: Headline) -> bool:
    is_whole = bool(headline.as_printed) and not headline.what_is_wrong
    is_known = is_whole and not _is_open(headline)
    return is_known and all(e.verdict in HOLDING for e in headline.shown)


def _falls(headline: Headline) -> bool:
    found = {e.verdict for e in headline.shown}
    is_known = bool(headline.as_printed) and not _is_open(headline)
    return is_known and Verdict.REFUTED in found and found.isdisjoint(HOLDING)


def _is_open(headline: Headline) -> bool:
    """Whether nothing is decided, or a reading of what is printed was not examined."""
    is_whole = all(e.verdict is not Verdict.NOT_RUN for e in headline.as_printed)
    return not is_whole or all(e.verdict not in (*HOLDING, Verdict.REFUTED) for e in headline.shown)
