"""The theorems that are written by hand, and the statements that are exported, checked by Coq."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from theory.claim import Claim
from theory.language.coq import NoCoqError
from theory.statement import Verdict
from verify.kernel import coq, theorems
from verify.kernel.compilation import Compilation, Found, library, question
from verify.kernel.coq import Coq
from verify.kernel.evidence import Check, Outcome
from verify.kernel.export import FOLDER, Exported, exported

AUDIT = f"{FOLDER}/assumptions_of_all.v"
"""A file that asks what the exported theorems rest on, all together."""
Told = Callable[[Found], None]


def exportable(claims: Iterable[Claim]) -> dict[str, Exported]:
    """Return the statements that are expected to be proved and have words in Coq, by their ids."""
    found = {}
    for claim in claims:
        if claim.expected is Verdict.PROVED:
            try:
                found[claim.id] = exported(claim)
            except NoCoqError:
                continue
    return found


def checks(
    installed: Coq, builds: Path, statements: Mapping[str, Exported], workers: int, tell: Told
) -> list[Check]:
    """Have Coq check the library and the exported statements; tell of each file as it ends.

    Exported statements are asked together what they rest on, because the question takes longer
    than most of their proofs.
    """
    texts, sources = theorems.sources(coq.LIBRARY), library(coq.LIBRARY)
    exports = {e.file: e.source for e in statements.values()}
    by_file = {e.file: identifier for identifier, e in statements.items()}
    by_hand: list[Check] = []
    of_claims: list[Check] = []
    for found in Compilation(installed, builds, sources | exports).run(workers):
        tell(found)
        if (identifier := by_file.get(found.file)) is None:
            by_hand += found.checks
        else:
            of_claims += [replace(check, claim=identifier) for check in found.checks]
    accepted = [c for c in of_claims if c.outcome is Outcome.CHECKED]
    if accepted:
        kept = sources | {c.file: exports[c.file] for c in accepted} | {AUDIT: audit(accepted)}
        [audited] = [
            f for f in Compilation(installed, builds, kept).run(workers) if f.file == AUDIT
        ]
        of_claims = [_resting_on(check, audited) for check in of_claims]
    return [
        replace(c, needs=theorems.digest_with_needed((texts | exports)[c.file], texts))
        for c in sorted(by_hand + of_claims, key=lambda c: (c.file, c.theorem))
    ]


def audit(accepted: Iterable[Check]) -> str:
    """Return a file that requires accepted theorems and asks what they rest on."""
    names = [check.theorem for check in accepted]
    modules = "\n".join(f"From BatchNorm.{FOLDER} Require {name}." for name in names)
    theorem = "Theorem every_one_is_there : True.\nProof. exact I. Qed.\n"
    return f"{modules}\n{theorem}{question([f'{name}.{name}' for name in names])}"


def _resting_on(check: Check, audited: Found) -> Check:
    """Return the check of an exported statement with what all of them rest on."""
    if check.outcome is not Outcome.CHECKED:
        return check
    [question_asked] = audited.checks
    if question_asked.outcome is not Outcome.CHECKED:
        return replace(check, outcome=Outcome.FAILED, message=question_asked.message)
    return replace(check, assumptions=question_asked.assumptions)
