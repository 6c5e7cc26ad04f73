"""Claim and evidence make a verdict; the ledger is the list of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from re import findall
from typing import Any

from theory.expectation_claim import ExpectationClaim
from theory.statement import Hypothesis, Location, Statement, Verdict
from verify import counterexamples
from verify.counterexamples import in_letters_of
from verify.record import Record, by_claim
from verify.results import Counterexample, Example, Proof, Size, Theorem, in_short, in_words
from verify.settings import FLOOR, FLOOR_OF_EXPECTATIONS
from verify.wording import where

KERNEL = "kernel"
"""The witness that is a proof assistant."""


@dataclass(frozen=True)
class Entry:
    """A claim, what was found of it, and what follows."""

    claim: Statement
    records: tuple[Record, ...]
    verdict: Verdict

    @property
    def is_as_expected(self) -> bool:
        """Whether the verdict is the one that the claim's file expects.

        What is expected is found without a proof assistant.  One may find more: that what is
        supported is proved.
        """
        if self.by == KERNEL and self.verdict is Verdict.PROVED:
            return self.claim.expected in (Verdict.PROVED, Verdict.SUPPORTED)
        return self.verdict is self.claim.expected

    @property
    def by(self) -> str:
        """What a proof is by: the kernel, inner products, or every entry at named sizes."""
        if self.verdict is not Verdict.PROVED:
            return ""
        if any(r.proof for r in self.records if r.witness == KERNEL):
            return KERNEL
        is_abstract = self.proof is not None and self.proof.has_symbolic_size
        return "abstract" if is_abstract else "named sizes"

    @property
    def theorem(self) -> Theorem | None:
        """The theorem that a proof assistant's kernel checked, today, if one was."""
        return next((r.theorem for r in self.records if r.theorem), None)

    @property
    def is_unexpected(self) -> bool:
        """Whether the claim was examined, and the verdict is another than expected."""
        return self.verdict is not Verdict.NOT_RUN and not self.is_as_expected

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The sizes of which the verdict speaks: a proof's, or the counterexample's."""
        if self.verdict is Verdict.PROVED and self.proof is not None:
            told = [in_letters_of(self.claim, size) for size in self.proof.sizes]
            return tuple({tuple(size.items()): size for size in told}.values())
        if self.verdict is Verdict.REFUTED and self.counterexample is not None:
            size = counterexamples.told(self.counterexample, self.claim)
            return (size,) if size else ()
        return ()

    @property
    def scope(self) -> str:
        """The sizes in words."""
        return in_words(self.sizes)

    @property
    def scope_in_short(self) -> str:
        """The same, the first size standing for several."""
        return in_short(self.sizes)

    @property
    def named_sizes(self) -> str:
        """The sizes that a proof speaks of, in short; nothing where it speaks of every size."""
        is_narrow = self.proof is not None and not self.proof.holds_at_every_size
        return self.scope_in_short if is_narrow and self.verdict is Verdict.PROVED else ""

    @property
    def verdict_in_words(self) -> str:
        """The verdict, and that a proof does not speak of every size; of which, by one letter.

        That is "proved", "proved at m = 2, 3" or "proved at named sizes".
        """
        has_one_letter = all(len(size) == 1 for size in self.sizes)
        sizes = self.named_sizes and (self.named_sizes if has_one_letter else "named sizes")
        return " at ".join(filter(None, [self.verdict.value, sizes]))

    @property
    def counterexample(self) -> Counterexample | None:
        """The numbers of the counterexample that is easiest to check, if one was certified."""
        return _simplest(self.records)

    @property
    def attained(self) -> Example | None:
        """Where the sides of a bound that holds are equal, and not zero."""
        if self.verdict not in (Verdict.PROVED, Verdict.SUPPORTED):
            return None
        return next((r.attained for r in self.records if r.attained), None)

    @property
    def is_sampled(self) -> bool:
        """Whether the counterexample is an expectation that sampling decides."""
        found = self.counterexample
        return found is not None and bool(found.distribution) and not found.because

    @property
    def proof(self) -> Proof | None:
        """The proof with the widest scope, if there is one."""
        proofs = [record.proof for record in self.records if record.proof]
        return min(proofs, key=lambda proof: proof.named, default=None)

    @property
    def worst_ratio(self) -> float | None:
        """The largest ratio of the sides that any witness saw."""
        ratios = [r.worst_ratio for r in self.records if r.worst_ratio is not None]
        return max(ratios, default=None)

    @property
    def instances(self) -> int:
        """How many instances were decided, by all witnesses together."""
        return sum(r.decided for r in self.records)

    @property
    def unproved(self) -> list[str]:
        """Why no proof was found, in words, of each reason once, where nothing is certain."""
        if any(r.proof or r.counterexample or r.theorem for r in self.records):
            return []
        reasons = dict.fromkeys(r.unproved for r in self.records if r.unproved)
        named = {why: _names(r for r in self.records if r.unproved == why) for why in reasons}
        return [f"no proof ({names}): {why}" for why, names in named.items()]

    @property
    def lacks(self) -> str:
        """What was run lacks to decide the statement."""
        return lacks(self.claim, self.records) if self.verdict is Verdict.UNDECIDED else ""

    @property
    def idle(self) -> list[Record]:
        """The witnesses that looked at instances, of which none decides anything."""
        return [r for r in self.records if r.is_idle]

    @property
    def seconds(self) -> float:
        """How long the witnesses took."""
        return sum(r.seconds for r in self.records)


def ledger(claims: Iterable[Statement], records: Sequence[Record]) -> list[Entry]:
    """Return one entry for each claim."""
    found = by_claim(records)
    return [entry(claim, found.get(claim.id, [])) for claim in claims]


def entry(claim: Statement, records: Sequence[Record]) -> Entry:
    """Return the entry of one claim."""
    verdict = judge(claim, records)
    ordered = sorted(records, key=lambda record: record.witness)
    return Entry(claim, tuple(ordered), verdict)


def judge(claim: Statement, records: Sequence[Record]) -> Verdict:
    """Return the verdict that the records support."""
    if claim.unreadable:
        return Verdict.UNREADABLE
    if not records:
        return Verdict.NOT_RUN
    if lacks(claim, records):
        return Verdict.UNDECIDED
    if any(r.counterexample for r in records):
        return Verdict.REFUTED
    return Verdict.PROVED if any(r.proof for r in records) else Verdict.SUPPORTED


def lacks(claim: Statement, records: Sequence[Record]) -> str:
    """Return why the records decide nothing; nothing where they do.

    A proof and a counterexample of a batch size that it covers, or a proof and a violation in
    floating point, contradict each other: something is wrong with the suite.  A violation in
    floating point alone refutes nothing.  Nor does a proof decide what is vacuous wherever it was
    measured, or decided nowhere: its hypotheses may contradict each other, or what it divides by
    may be zero.
    """
    proofs = [r.proof for r in records if r.proof]
    failing = [r.counterexample for r in records if r.counterexample]
    proved = f"proved ({_names(r for r in records if r.proof)})"
    if any(proof.covers(c.size) for proof in proofs for c in failing):
        against = _names(r for r in records if r.counterexample)
        return f"{proved}, but there is a counterexample ({against})"
    if failing:
        return ""
    if refuting := [r.theorem.name for r in records if r.theorem and r.theorem.refutes]:
        found = proved if proofs else "no counterexample is found"
        return f"{found}, but Coq's kernel refutes it ({', '.join(refuting)})"
    if violating := [r for r in records if r.violated]:
        is_measured = isinstance(claim, ExpectationClaim)
        how, exact = ("by sampling", "test") if is_measured else ("in floating point", "numbers")
        violated = f"violated {how} ({'; '.join(map(_violation, violating))})"
        return f"{proved}, but {violated}" if proofs else f"{violated}, by no exact {exact}"
    unmet = _unmet(claim, records)
    if proofs:
        undecided = unmet or _nowhere_decided(records)
        return f"{proved}, but {undecided}" if undecided else ""
    return unmet or _below_floor(claim, records)


def _names(records: Iterable[Record]) -> str:
    return ", ".join(dict.fromkeys(r.witness for r in records))


def _violation(record: Record) -> str:
    where = f", as at {record.worst_token}" if record.worst_token else ""
    return f"{record.witness}: {record.violated:,} of {record.decided:,}{where}"


def _unmet(claim: Statement, records: Sequence[Record]) -> str:
    """Return that a statement says nothing of all instances that were looked at, if so."""
    instances = sum(r.instances for r in records)
    if not 0 < instances == sum(r.vacuous for r in records):
        return ""
    meant = "meets the hypotheses" if claim.hypotheses else "is one of which it says something"
    return f"none of {instances} instances {meant}"


def _nowhere_decided(records: Sequence[Record]) -> str:
    """Return that a statement says nothing of some instances and is decided at no other, if so."""
    instances, vacuous = sum(r.instances for r in records), sum(r.vacuous for r in records)
    if not vacuous or any(r.decided for r in records):
        return ""
    return f"of {instances} instances it says nothing of {vacuous}, and none is decided"


def _below_floor(claim: Statement, records: Sequence[Record]) -> str:
    """Return what was decided and what supports a statement, where the one is less."""
    floor = FLOOR_OF_EXPECTATIONS if isinstance(claim, ExpectationClaim) else FLOOR
    decided = sum(r.decided for r in records)
    strata = len(set().union(*(r.decided_strata for r in records)))
    if decided >= floor.instances and strata >= floor.strata:
        return ""
    if not decided:
        return "no instance decides it; is a side of it a number anywhere?"
    return (
        f"{decided} instances decided, in {strata} strata: "
        f"{floor.instances} in {floor.strata} support a statement; --profile deep looks at more"
    )


def _hypothesis(hypothesis: Hypothesis) -> dict[str, Any]:
    return {
        "statement": hypothesis.statement,
        "checked": hypothesis.checked or hypothesis.statement,
        "printed": hypothesis.printed,
    }


def as_json(entry: Entry) -> dict[str, Any]:
    """Return an entry as the command line prints it."""
    claim = entry.claim
    first, *_ = claim.locations
    return {
        "id": claim.id,
        "result": claim.result,
        "paper": first.text,
        "location": "; ".join(map(_place, claim.locations)),
        "quotes": [{"text": l.text, "line": l.line, "quote": l.quote} for l in claim.locations],
        "form": claim.form.value,
        "amends": claim.amends,
        "corrected_by": claim.corrected_by,
        "reading": claim.reading.value,
        "statement": claim.statement,
        "where": where(claim),
        "hypotheses": [_hypothesis(h) for h in claim.hypotheses],
        "relation": None if claim.says is None else claim.says.relation.value,
        "falsified_by": claim.falsifier,
        "remark": claim.remark,
        "expected": claim.expected.value,
        "verdict": entry.verdict.value,
        "scope": entry.scope,
        "by": entry.by,
        "theorem": entry.theorem and asdict(entry.theorem),
        "lacks": entry.lacks,
        "sizes": {r.witness: r.sizes for r in entry.records if r.sizes},
        "witnesses": {r.witness: _witness(entry, r) for r in entry.records},
        "proof": entry.proof and asdict(entry.proof),
        "counterexample": entry.counterexample and asdict(entry.counterexample),
        "attained": entry.attained and asdict(entry.attained),
        "seconds": round(entry.seconds, 3),
    }


def _place(location: Location) -> str:
    line = f" (line {location.line})" if location.line else ""
    return f"{location.text}, {location.place}{line}"


def _witness(entry: Entry, record: Record) -> dict[str, Any]:
    return {
        "instances": record.instances,
        "vacuous": record.vacuous,
        "undecided": record.undecided,
        "violated": record.violated,
        "worst_ratio": record.worst_ratio,
        "worst_token": record.worst_token,
        "passed": record.decides and agrees(entry.verdict, record),
        "proof": record.proof is not None,
        "notes": record.notes,
        "unproved": record.unproved,
        "seconds": round(record.seconds, 3),
    }


def agrees(verdict: Verdict, record: Record) -> bool:
    """Whether nothing that the witness found speaks against the verdict."""
    if verdict is Verdict.REFUTED:
        return record.proof is None or not record.proof.holds_at_every_size
    return record.violated == 0 and record.counterexample is None


def _simplest(records: Iterable[Record]) -> Counterexample | None:
    """Return the counterexample with the smallest integers, batch and text, in this order.

    A batch in which nothing varies comes after all others: there the layer is constant.
    """
    found = [record.counterexample for record in records if record.counterexample]
    return min(found, key=_difficulty, default=None)


def _difficulty(found: Counterexample) -> tuple[bool, int, int, int]:
    is_constant = len({*found.numbers.get("y", "01")}) == 1
    return is_constant, _digits(found), found.size.get("m") or 0, len(str(found.numbers))


def _digits(counterexample: Counterexample) -> int:
    """Return how many digits the longest integer has that a reader is given."""
    given = str((counterexample.size, counterexample.numbers))
    return max(map(len, findall(r"\d+", given)), default=0)
