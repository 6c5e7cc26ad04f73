"""What the kernel checked, as the ledger knows it: records of a witness called kernel.

A check counts only if it is today's: the theorem is stated as it was then, so is the statement that
it says, and no file of the library that it needs was edited since.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from theory.claim import Claim
from theory.language.coq import NoCoqError
from theory.statement import Statement
from verify import results
from verify.kernel import evidence
from verify.kernel.coq import LIBRARY
from verify.kernel.evidence import Check, Outcome
from verify.kernel.export import exported
from verify.kernel.meaning import definitions
from verify.kernel.theorems import digest_with_needed, sources, theorems
from verify.kernel.ties import digest, theorem_of, ties
from verify.ledger import KERNEL
from verify.record import Record
from verify.results import EVERY_M, EVERY_SIZE, Proof


def records(
    folder: Path, claims: Iterable[Statement], asked: Collection[str] | None = None
) -> list[Record]:
    """Return what the kernel found of statements, by the evidence in a folder.

    Args:
        folder: of the evidence.
        claims: all statements, since a theorem by hand may say several.
        asked: identifiers of those that are asked for; all, if left out.
    """
    found = [c for c in evidence.read(folder) if c.outcome is Outcome.CHECKED]
    if not found:
        return []
    by_id, library = {claim.id: claim for claim in claims}, sources(LIBRARY)
    wanted = by_id.keys() if asked is None else by_id.keys() & asked
    of_claims = [(c, by_id[c.claim]) for c in found if c.claim in wanted]
    return [*_exported(of_claims, library), *_by_hand(found, by_id, library, wanted)]


def _exported(
    of_claims: Iterable[tuple[Check, Statement]], library: dict[str, str]
) -> Iterator[Record]:
    """Yield that statements were checked that are exported today as they were then."""
    for check, claim in of_claims:
        try:
            today = exported(claim) if isinstance(claim, Claim) else None
        except NoCoqError:
            continue
        if today is None:
            continue
        [theorem] = theorems(today.source)
        needed = digest_with_needed(today.source, library)
        if (theorem.hash, needed) == (check.statement_hash, check.needs):
            yield _record(check, claim, besides=today.besides)


def _by_hand(
    found: Iterable[Check],
    claims: dict[str, Statement],
    library: dict[str, str],
    wanted: Collection[str],
) -> Iterator[Record]:
    checks = {(c.file, c.theorem): c for c in found if not c.claim}
    for tie in ties():
        if not any(name in wanted for name in tie.claims):
            continue
        check, theorem = checks.get((tie.file, tie.theorem)), theorem_of(tie, library)
        said = [claims[identifier] for identifier in tie.claims if identifier in claims]
        if check is None or theorem is None or len(said) < len(tie.claims):
            continue
        source = library[tie.file]
        today = theorem.hash, digest_with_needed(source, library), digest(tie, library, said)
        if today == (check.statement_hash, check.needs, tie.compared):
            defined = [s.text for s in definitions(theorem, {tie.file: source}, tie.file)]
            for claim in said:
                if claim.id in wanted:
                    yield _record(check, claim, defined=tuple(defined), refutes=tie.refutes)


def _record(
    check: Check,
    claim: Statement,
    besides: tuple[str, ...] = (),
    defined: tuple[str, ...] = (),
    refutes: bool = False,
) -> Record:
    """Return what was checked: a proof, or that a statement fails, or holds of most instances."""
    size = EVERY_M if isinstance(claim, Claim) else EVERY_SIZE
    return Record(
        claim.id,
        KERNEL,
        proof=None if refutes or besides else Proof((size,)),
        theorem=results.Theorem(
            check.theorem,
            check.file,
            check.statement,
            tuple(check.assumptions),
            check.coq,
            f"python -m verify prove {claim.id}",
            besides,
            defined,
            refutes,
        ),
        seconds=check.seconds,
    )
