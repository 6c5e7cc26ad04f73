"""Hand out the units of a campaign, and take in what was found.

A unit is what one witness examines together, from one seed: it can be lost and done again.  What
other code would find is no evidence: a worker that runs another version of the suite refuses.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain

from theory.statement import Statement
from verify import engine, fingerprint, pool
from verify.campaign.finding import Finding, of_record
from verify.campaign.journal import Journal
from verify.engine import Pair, Task
from verify.settings import Settings
from verify.witnesses.table import WITNESSES
from verify.workers import Workers

SEEDED = tuple(
    dict.fromkeys(w.name for w in WITNESSES if "seed" in w.reads and "stages" not in w.reads)
)
"""The witnesses that look elsewhere from another seed, and train nothing."""
AHEAD = 4
"""So many units wait for each that is worked at."""

Found = Future[list[Finding]]


class OtherVersionError(RuntimeError):
    """A worker runs another version of the suite, or of what computes."""


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
            "choose others by --claims or --witnesses"
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
    waiting: Iterator[Unit] = units(pairs, seeds, journal)
    while (first := next(waiting, None)) is not None:
        lost: list[Unit] = []
        waiting = chain([first], waiting)
        for unit, done in _attempt(waiting, settings, workers):
            error = done.exception()
            if isinstance(error, OtherVersionError):
                raise error
            if error is None:
                journal.add(done.result())
                yield unit
            elif not isinstance(error, BrokenProcessPool):
                yield Failure(unit, error)
            elif unit.tries + 1 < pool.TRIES:
                lost.append(unit)
            else:
                yield Failure(unit, error)
        waiting = chain(_apart(lost), waiting)


def find(version: str, witness: str, claims: Sequence[str], settings: Settings) -> list[Finding]:
    """Examine a unit, wherever this is called.

    Raises:
        OtherVersionError: this is not the version that was asked for.
    """
    if version != this_version():
        raise OtherVersionError(
            f"a worker on {_host()} runs another version of the suite or of the packages that "
            f"compute, {this_version()}; expected {version}: install there what is installed here"
        )
    found = pool.examine_named(witness, claims, settings)
    return [of_record(record, settings.seed) for record in found]


@cache
def this_version() -> str:
    """Return what tells versions of the suite, and of the packages that compute, apart."""
    packages = ", ".join(f"{name} {version}" for name, version in fingerprint.versions().items())
    return f"{fingerprint.of_everything()} ({packages})"


def _attempt(
    waiting: Iterator[Unit], settings: Settings, workers: Workers
) -> Iterator[tuple[Unit, Found]]:
    """Yield units with what came of them, until there are no more or the executor is broken."""
    begun: dict[Found, Unit] = {}
    executor, is_broken = workers.executor(), False
    try:
        while not is_broken and (unit := next(waiting, None)) is not None:
            begun[_submitted(executor, unit, settings)] = unit
            if len(begun) >= AHEAD * max(1, workers.width()):
                for done in wait(begun, return_when=FIRST_COMPLETED).done:
                    is_broken |= isinstance(done.exception(), BrokenProcessPool)
                    yield begun.pop(done), done
        while begun:
            for done in wait(begun, return_when=FIRST_COMPLETED).done:
                yield begun.pop(done), done
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _submitted(executor: Executor, unit: Unit, settings: Settings) -> Found:
    named = unit.task.witness.name, [claim.id for claim in unit.task.claims]
    try:
        return executor.submit(find, this_version(), *named, replace(settings, seed=unit.seed))
    except BrokenProcessPool as error:
        future: Found = Future()
        future.set_exception(error)
        return future


def _apart(lost: Iterable[Unit]) -> Iterator[Unit]:
    """Yield units of one statement each: one of them may be what breaks a process."""
    for unit in lost:
        for claim in unit.task.claims:
            yield Unit(Task(unit.task.witness, (claim,)), unit.seed, unit.tries + 1)


def _is_known(journal: Journal, pair: Pair, seed: int) -> bool:
    finding = journal.known.get(pair.name)
    return finding is not None and finding.has(seed)


def _host() -> str:
    return platform.node() or "a machine without a name"
