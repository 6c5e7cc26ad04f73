"""The theorems that are written by hand, and the statements that are exported, checked by Coq."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from theory.claim import Claim
from theory.language.coq import NoCoqError
from theory.statement import Verdict
from verify.grouping import grouped
from verify.kernel import coq, theorems
from verify.kernel.compilation import Compilation, Found, question
from verify.kernel.coq import NAME, Coq
from verify.kernel.evidence import Check, Outcome
from verify.kernel.export import Exported, exported

AUDITS = "assumptions"
"""The folder of the files that ask what theorems rest on."""
OUTSIDE = re.compile(rf"^From (?!{NAME}\b)(\w+)", re.MULTILINE)
"""A library that is not this one."""
Told = Callable[[Found], None]


def exportable(claims: Iterable[Claim]) -> dict[str, Exported]:
    """Return the statements that are expected to be proved and have words in Coq, by their ids.

    Raises:
        ValueError: two of them would be theorems of one name.
    """
    found: dict[str, Exported] = {}
    names: dict[str, str] = {}
    for claim in claims:
        if claim.expected is Verdict.PROVED:
            try:
                found[claim.id] = exported(claim)
            except NoCoqError:
                continue
            name = found[claim.id].name
            if (first := names.setdefault(name, claim.id)) != claim.id:
                raise ValueError(f"{first} and {claim.id} would be one theorem, {name}")
    return found


def needed(statements: Mapping[str, Exported]) -> dict[str, str]:
    """Return the files of the library that exported statements need, by their paths there."""
    library = theorems.sources(coq.LIBRARY)
    every = (theorems.needed(exported.source, library) for exported in statements.values())
    return {file: text for of_one in every for file, text in of_one.items()}


def checks(
    installed: Coq,
    builds: Path,
    library: Mapping[str, str],
    statements: Mapping[str, Exported],
    workers: int,
    tell: Told,
) -> list[Check]:
    """Have Coq check files of the library and exported statements; tell of each file as it ends.

    Theorems are asked together what they rest on, because the question takes longer than most of
    their proofs.
    """
    exports = {e.file: e.source for e in statements.values()}
    every = {**library, **exports}
    claims = {e.file: identifier for identifier, e in statements.items()}
    found: list[Check] = []
    for compiled in Compilation(installed, builds, every).run(workers):
        tell(compiled)
        found += [replace(c, claim=claims.get(c.file, "")) for c in compiled.checks]
    accepted = [check for check in found if check.outcome is Outcome.CHECKED]
    sources = {**library, **{c.file: exports[c.file] for c in accepted if c.claim}}
    answers = resting(Compilation(installed, builds, sources), accepted, workers)
    return [
        replace(
            answers.get(check, check),
            needs=theorems.digest_with_needed(every[check.file], library),
        )
        for check in sorted(found, key=lambda c: (c.file, c.theorem))
    ]


def resting(work: Compilation, accepted: Iterable[Check], workers: int) -> dict[Check, Check]:
    """Return accepted theorems with what all that need the same libraries rest on, together."""
    together = grouped(accepted, lambda check: _asking_file(work.sources[check.file], work.sources))
    asked = {file: audit(checks) for file, checks in together.items()}
    compiled = replace(work, sources={**work.sources, **asked}).run(workers)
    answers = {found.file: found.checks[0] for found in compiled if found.file in asked}
    return {
        check: _resting_on(check, answers[file])
        for file, checks in together.items()
        for check in checks
    }


def _asking_file(source: str, library: Mapping[str, str]) -> str:
    """Return the file that asks for a theorem: one for those that need the same from outside."""
    texts = [source, *theorems.needed(source, library).values()]
    outside = sorted({name for text in texts for name in OUTSIDE.findall(text)})
    return f"{AUDITS}/{'_'.join(outside) or 'none'}.v"


def audit(accepted: Iterable[Check]) -> str:
    """Return a file that requires accepted theorems and asks what they rest on."""
    paths = {c: (NAME, *c.file.removesuffix(".v").split("/")) for c in accepted}
    files = dict.fromkeys(paths.values())
    required = "\n".join(f"From {'.'.join(folder)} Require {file}." for *folder, file in files)
    theorem = "Theorem every_one_is_there : True.\nProof. exact I. Qed.\n"
    names = [".".join((*path, check.theorem)) for check, path in paths.items()]
    return f"{required}\n{theorem}{question(names)}"


def _resting_on(check: Check, answer: Check) -> Check:
    if answer.outcome is not Outcome.CHECKED:
        return replace(check, outcome=Outcome.FAILED, message=answer.message)
    return replace(check, assumptions=answer.assumptions)
