"""Hand out the units of a campaign, and take in what was found.

A unit is what one witness examines together, from one seed: it can be lost and done again.  What
other code would find is no evidence: a worker that runs another version of the suite refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from functools import partial

from theory.statement import Statement
from verify import engine, pool
from verify.campaign.finding import Finding, of_record
from verify.campaign.journal import Journal
from verify.engine import Pair, Task
from verify.settings import Settings
from verify.spread import called, spread, this_version
from verify.witnesses.table import WITNESSES
from verify.workers import Workers

SEEDED = tuple(
    dict.fromkeys(w.name for w in WITNESSES if "seed" in w.reads and "stages" not in w.reads)
)
"""The witnesses that look elsewhere from another seed, and train nothing."""

Found = Future[list[Finding]]


@dataclass(frozen=True)
class Unit:
    """What one witness examines together, from one seed."""

    task: Task
    seed: int
    tries: int = 0

    def __str__(self) -> str:
        """Return it as a reader would name it."""
        claims = ", ".join(claim.id for claim in self.task.claims)
        return f"{claims} by {self.task.witness.name} from the seed {self.seed}"


@dataclass(frozen=True)
class Failure:
    """A unit of which nothing was found, and why."""

    unit: Unit
    error: BaseException


def campaign_pairs(claims: Sequence[Statement], witnesses: Sequence[str] = ()) -> list[Pair]:
    """Return the claims with the witnesses of these names; without any, with all seeded ones.

    Raises:
        ValueError: a name is no witness's, or none of them can say anything of the claims.
    """
    known = dict.fromkeys(witness.name for witness in WITNESSES)
    if unknown := [name for name in witnesses if name not in known]:
        raise ValueError(
            f"no witness is called {', '.join(unknown)}; there are: {', '.join(known)}"
        )
    chosen = [w for w in WITNESSES if w.name in (witnesses or SEEDED)]
    found = engine.pairs(claims, chosen)
    if not found:
        raise ValueError(
            f"none of {', '.join(w.name for w in chosen)} can say anything of these statements; "
            "name other statements, or others by --witnesses"
        )
    return found


def units(pairs: Sequence[Pair], seeds: range, journal: Journal) -> Iterator[Unit]:
    """Yield what is not known yet, seed by seed."""
    for seed in seeds:
        waiting = [pair for pair in pairs if not _is_known(journal, pair, seed)]
        yield from (Unit(task, seed) for task in engine.tasks(waiting))


def run(
    pairs: Sequence[Pair], seeds: range, settings: Settings, journal: Journal, workers: Workers
) -> Iterator[Unit | Failure]:
    """Examine pairs from every seed; yield each unit once it is written, or why it is not.

    Raises:
        OtherVersionError: a worker runs another version.
        EvidenceError: the folder cannot be written to.
    """
    submit = partial(_submitted, settings=settings)
    for unit, done in spread(units(pairs, seeds, journal), submit, _apart, workers):
        error = done.exception()
        if error is None:
            journal.add(done.result())
            yield unit
        else:
            yield Failure(unit, error)


def find(witness: str, claims: Sequence[str], settings: Settings) -> list[Finding]:
    """Examine a unit, wherever this is called."""
    by_name = {claim.id: claim for claim in engine.statements(settings.claims)}
    found = pool.examine_named(witness, claims, settings)
    return [of_record(record, settings.seed, by_name[record.claim].relation) for record in found]


def _submitted(executor: Executor, unit: Unit, settings: Settings) -> Found:
    arguments = *pool.named(unit.task), replace(settings, seed=unit.seed)
    return executor.submit(called, this_version(), find, arguments)


def _apart(lost: Unit) -> list[Unit]:
    """Return units of one statement each: one of them may be what breaks a process."""
    if lost.tries + 1 >= pool.TRIES:
        return []
    alone = [Task(lost.task.witness, (claim,)) for claim in lost.task.claims]
    return [Unit(task, lost.seed, lost.tries + 1) for task in alone]


def _is_known(journal: Journal, pair: Pair, seed: int) -> bool:
    finding = journal.known.get(pair.name)
    return finding is not None and finding.has(seed)
