"""Examine statements by witnesses; pytest and the command line are views of what comes out."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, partial
from itertools import chain
from pathlib import Path

from theory import lange2022, santurkar2018
from theory.catalogue import checked
from theory.lange2022.texts import PAPER as LANGE
from theory.santurkar2018.texts import PAPER as SANTURKAR
from theory.statement import Statement
from verify import evidence, fingerprint, others
from verify.evidence import Fingerprint, Run, Writer
from verify.grouping import grouped
from verify.kernel.verdicts import records as checked_by_kernel
from verify.record import Name, Record, by_claim
from verify.settings import PROFILES, Settings
from verify.witnesses.table import WITNESSES
from verify.witnesses.witness import Witness

__all__ = ["CLAIMS", "WITNESSES"]

PAPERS = (SANTURKAR, LANGE)
MOST_BEGUN = 5
"""Names that begin as what was asked for; more are a list, and no hint."""
CLAIMS: Sequence[Statement] = checked((*santurkar2018.CLAIMS, *lange2022.CLAIMS))


def statements(target: str = "") -> Sequence[Statement]:
    """Return the papers' statements, or those of others that a target names.

    Raises:
        OthersError: the target names none, or wrong ones.
    """
    return _of_others(target) if target else CLAIMS


_of_others = cache(others.load)


@dataclass(frozen=True)
class Pair:
    """A claim and a witness that can say something of it."""

    claim: Statement
    witness: Witness

    @property
    def name(self) -> Name:
        """The claim's identifier and the witness's name."""
        return self.claim.id, self.witness.name


@dataclass(frozen=True)
class Task:
    """Statements that one witness examines in one call."""

    witness: Witness
    claims: tuple[Statement, ...]

    @property
    def names(self) -> list[Name]:
        """The names of the records that come out."""
        return [(claim.id, self.witness.name) for claim in self.claims]


def pairs(claims: Iterable[Statement], witnesses: Sequence[Witness]) -> list[Pair]:
    """Return every claim with every witness that applies to it, one witness after the other."""
    return [
        Pair(claim, witness)
        for witness in witnesses
        for claim in claims
        if not claim.unreadable and witness.applies(claim)
    ]


def tasks(pairs: Iterable[Pair]) -> list[Task]:
    """Return the calls that examine pairs: those of one witness, as many together as it takes."""
    found = []
    for together in grouped(pairs, lambda pair: id(pair.witness)).values():
        witness = together[0].witness
        for start in range(0, len(together), witness.together):
            chunk = together[start : start + witness.together]
            found.append(Task(witness, tuple(pair.claim for pair in chunk)))
    return found


def unknown(pairs: Iterable[Pair], writer: Writer | None) -> list[Pair]:
    """Return the pairs of which nothing is known yet."""
    return [pair for pair in pairs if writer is None or pair.name not in writer.done]


def wholly_examined(claims: Sequence[Statement], records: Iterable[Record]) -> set[str]:
    """Return the identifiers of the statements of which every witness has said what it found."""
    known = {record.name for record in records}
    asked = grouped(pairs(claims, WITNESSES), lambda pair: pair.claim.id)
    return {claim for claim, own in asked.items() if all(pair.name in known for pair in own)}


def examine_task(task: Task, settings: Settings) -> Iterator[Record]:
    """Yield what a witness finds of its statements, given no more than it says it reads."""
    yield from task.witness.examine(task.claims, settings.only(task.witness.reads))


def examine(
    pairs: Sequence[Pair], settings: Settings, writer: Writer | None = None
) -> Iterator[Record]:
    """Yield what each witness found of each claim: what is known first, then as it is found."""
    waiting = unknown(pairs, writer)
    if writer is not None:
        yield from (writer.done[pair.name] for pair in pairs if pair.name in writer.done)
    for task in tasks(waiting):
        for record in examine_task(task, settings):
            if writer is not None:
                writer.add(record)
            yield record


def todays(settings: Settings, claims: Sequence[Statement] | None = None) -> Fingerprint:
    """Return today's fingerprints of statements (all, if none are given) and witnesses."""
    every = pairs(CLAIMS if claims is None else claims, WITNESSES)
    return partial(_fingerprint, {pair.name: pair for pair in every}, settings)


def _fingerprint(known: dict[Name, Pair], settings: Settings, claim: str, witness: str) -> str:
    pair = known.get((claim, witness))
    return "" if pair is None else _of_pair(pair, settings)


@cache
def _of_pair(pair: Pair, settings: Settings) -> str:
    return fingerprint.fingerprint(
        pair.claim, pair.witness, replace(settings, cache=None, claims="")
    )


@dataclass(frozen=True)
class Known:
    """What a folder of evidence says today."""

    run: Run
    """That in which most of the statements were examined."""
    records: list[Record]
    """Those that today's code would find again, of statements that are wholly examined."""
    outdated: tuple[str, ...]
    """Statements that were examined before they, or what they depend on, changed."""
    unfinished: tuple[str, ...]
    """Statements of which some witnesses have not said yet what they find."""
    heard: Mapping[str, Run]
    """In which run each statement was examined."""

    def run_of(self, claim: str) -> Run:
        """Return the run in which a statement was examined."""
        return self.heard.get(claim, self.run)


def known(
    folder: Path,
    claims: Sequence[Statement] | None = None,
    asked: Collection[str] | None = None,
) -> Known:
    """Return what the evidence in a folder says of today's statements.

    Of a statement that runs of several seeds or profiles examined, the last one that did so wholly
    is heard, and no other.

    Args:
        folder: of the evidence.
        claims: the statements; the papers' if left out.
        asked: identifiers of those that are asked for; all, if left out, and what else is there.

    Raises:
        NoEvidenceError: there is none.
        EvidenceError: it is damaged.
    """
    every = CLAIMS if claims is None else claims
    if asked is None and claims is not None:
        asked = {claim.id for claim in claims}
    chosen = [claim for claim in every if asked is None or claim.id in asked]
    runs, lines = evidence.read_all(folder, asked)
    heard: dict[str, list[Record]] = {}
    ran: dict[str, Run] = {}
    current: set[Name] = set()
    every_run = _of_different_settings(runs)
    for run in every_run:
        found = evidence.fresh(lines, todays_of_run(run, chosen))
        current |= {record.name for record in found}
        whole = wholly_examined(chosen, found) - heard.keys()
        found_of = by_claim(found)
        heard |= {name: found_of[name] for name in whole}
        ran |= dict.fromkeys(whole, run)
    left = [line.name for line in lines if line.about.claim not in heard]
    outdated = dict.fromkeys(claim for claim, witness in left if (claim, witness) not in current)
    unfinished = dict.fromkeys(claim for claim, _ in left if claim not in outdated)
    by_kernel = [r for r in checked_by_kernel(folder, every, asked) if r.proof or r.claim in heard]
    main = max(every_run, key=[*ran.values()].count)
    records = [*chain(*heard.values()), *by_kernel]
    return Known(main, records, tuple(outdated), tuple(unfinished), ran)


def todays_of_run(run: Run, claims: Sequence[Statement] | None = None) -> Fingerprint:
    """Return today's fingerprints for what a run read of its settings."""
    if run.profile not in PROFILES:
        return lambda claim, witness: ""
    return todays(Settings(PROFILES[run.profile], run.seed, run.backend, run.device), claims)


def _of_different_settings(runs: Sequence[Run]) -> list[Run]:
    """Return one run of each settings, the last one first."""
    return [own[0] for own in grouped(reversed(runs), lambda run: run.settings).values()]


def selected(
    claims: Sequence[Statement], identifiers: Sequence[str], target: str = ""
) -> list[Statement]:
    """Return the claims whose identifier or result is named, or begins with a name and "/".

    Args:
        claims: what there is to choose from.
        identifiers: the names; all claims if there are none.
        target: whose claims they are; the papers' if empty.

    Raises:
        ValueError: a name fits no claim.
    """
    if not identifiers:
        return list(claims)
    unknown = [i for i in identifiers if not any(_fits(claim, i) for claim in claims)]
    if unknown:
        named = dict.fromkeys(name for claim in claims for name in (claim.result, claim.id))
        near = dict.fromkeys(n for i in unknown for n in _near(i, named))
        meant = f"did you mean {' or '.join(near)}? " if near else ""
        called = f"no statement is called {', '.join(unknown)}"
        raise ValueError(f"{called}; {meant}{how_to_list(target)}")
    return [claim for claim in claims if any(_fits(claim, i) for i in identifiers)]


def how_to_list(target: str) -> str:
    """Return how to list a target's statements, or the papers'.

    >>> how_to_list("notes.py")
    'to list all, run: python -m verify ledger --claims notes.py'
    """
    whose = ["--claims", target] if target else []
    return f"to list all, run: {shlex.join(['python', '-m', 'verify', 'ledger', *whose])}"


def _near(identifier: str, named: Iterable[str]) -> list[str]:
    """Return the results' names that begin so, or else the closest name."""
    begun = [n for n in named if n.startswith(identifier) and "/" not in n]
    return begun if 0 < len(begun) <= MOST_BEGUN else get_close_matches(identifier, named, 1, 0.85)


def _fits(claim: Statement, name: str) -> bool:
    return name in (claim.id, claim.result) or claim.id.startswith(f"{name}/")
