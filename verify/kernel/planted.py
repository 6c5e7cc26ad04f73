"""Wrong statements next to exported ones, which Coq is to refuse with the same proof.

A proof that is accepted whatever the statement says proves nothing.  So each exported statement is
edited, in a sign, a factor, a power, or by a hypothesis left out, and handed to Coq with the tactic
that proves the statement as it stands.  Coq accepts an edited statement only if that is true too;
what it does not accept in the time that a file may take is refused.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from theory.claim import Claim
from theory.language.expression import Says
from theory.language.plain import plain
from theory.language.variants import variants
from theory.statement import Hypothesis
from verify.kernel.compilation import LIMIT
from verify.kernel.coq import Coq
from verify.kernel.export import HEADER, Exported, exported, name_of, theorem

FOLDER, UNEDITED = "planted", "as it stands"
FEW = 3
"""So many edits of a statement's two sides."""
ANSWER = re.compile(r"^(accepted|refused): (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Planted:
    """A file that asks Coq of a statement and of what it becomes by edits."""

    claim: str
    right: Exported
    wrong: tuple[tuple[str, Exported], ...]
    """What was edited, and the statement that it makes."""

    @property
    def file(self) -> str:
        """Its path below the folder of builds."""
        return f"{FOLDER}/{name_of(self.claim)}.v"

    @property
    def source(self) -> str:
        """Its text, which Coq answers with a line for each statement."""
        asked = [(UNEDITED, self.right), *self.wrong]
        return HEADER + "".join(_question(words, statement) for words, statement in asked)


def planted(claim: Claim, few: int = FEW) -> Planted:
    """Return a claim and what it becomes by edits of its sides and by hypotheses left out."""
    return Planted(claim.id, exported(claim), tuple(_edits(claim, few)))


def ask(
    installed: Coq, builds: Path, asked: Iterable[Planted], workers: int
) -> Iterator[tuple[Planted, dict[str, bool]]]:
    """Yield what Coq accepts; the library was compiled in the folder of builds before."""
    (builds / FOLDER).mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(partial(_asked, installed, builds), asked)


def _asked(installed: Coq, builds: Path, one: Planted) -> tuple[Planted, dict[str, bool]]:
    (builds / one.file).write_text(one.source)
    try:
        done = installed.compile(builds, one.file, LIMIT * (1 + len(one.wrong)))
    except subprocess.TimeoutExpired:
        return one, {}
    was_killed = done.returncode < 0  # in the middle of its answers
    return one, {} if was_killed else answers(done.stdout)


def answers(output: str) -> dict[str, bool]:
    r"""Return whether Coq accepted each statement, by what was edited in it.

    >>> answers("accepted: as it stands\nrefused: a sign\n")
    {'as it stands': True, 'a sign': False}
    """
    return {words: answer == "accepted" for answer, words in ANSWER.findall(output)}


def _edits(claim: Claim, few: int) -> Iterator[tuple[str, Exported]]:
    says = claim.spoken
    edited = [Says(says.actual, says.relation, side) for side in variants(says.claimed)]
    edited += [Says(side, says.relation, says.claimed) for side in variants(says.actual)]
    for wrong in edited[:: max(1, len(edited) // few)][:few] if few else ():
        yield plain(wrong), _with(claim, wrong, claim.hypotheses)
    for place, hypothesis in enumerate(claim.hypotheses):
        others = claim.hypotheses[:place] + claim.hypotheses[place + 1 :]
        yield f"without {plain(hypothesis.says)}", _with(claim, says, others)


def _with(claim: Claim, says: Says, hypotheses: Iterable[Hypothesis]) -> Exported:
    return theorem(claim.id, says, claim.reading, hypotheses, claim.because)


def _question(words: str, statement: Exported) -> str:
    binders, _, body = statement.statement.partition(" :\n")
    tactic = "; ".join(re.split(r"\.\n", statement.proof.rstrip("."), flags=re.MULTILINE))
    attempt = f'timeout {LIMIT:g} solve [{tactic}]; idtac "accepted: {words}"'
    refusal = f'idtac "refused: {words}"'
    return f"\nGoal forall {binders},\n{body}.\nProof.\nfirst [{attempt} | {refusal}].\nAbort.\n"
