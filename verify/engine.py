"""Examine claims by witnesses; pytest and the command line are views of what comes out."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from theory.lange2022 import CLAIMS as LANGE
from theory.santurkar2018 import CLAIMS as SANTURKAR
from theory.statement import Statement
from verify.evidence import Record, Writer
from verify.witnesses.witness import Settings, Witness

CLAIMS: Sequence[Statement] = (*SANTURKAR, *LANGE)


@dataclass(frozen=True)
class Pair:
    """A claim and a witness that can say something of it."""

    claim: Statement
    witness: Witness

    @property
    def name(self) -> str:
        """The pair as tests and progress name it."""
        return f"{self.claim.id}-{self.witness.name}"


def pairs(claims: Iterable[Statement], witnesses: Sequence[Witness]) -> list[Pair]:
    """Return every claim with every witness that applies to it, one witness after the other."""
    return [
        Pair(claim, witness)
        for witness in witnesses
        for claim in claims
        if not claim.unreadable and witness.applies(claim)
    ]


def examine_pair(pair: Pair, settings: Settings, writer: Writer | None = None) -> Record:
    """Return what the witness found of the claim, from the writer's folder if it is there."""
    if writer is not None and (known := writer.done.get((pair.claim.id, pair.witness.name))):
        return known
    start = time.perf_counter()
    found = pair.witness.examine(pair.claim, settings)
    record = replace(found, seconds=time.perf_counter() - start)
    if writer is not None:
        writer.add(record)
    return record


def examine(
    pairs: Iterable[Pair], settings: Settings, writer: Writer | None = None
) -> Iterator[Record]:
    """Yield what each witness found of each claim, as it is found."""
    for pair in pairs:
        yield examine_pair(pair, settings, writer)


def finish(writer: Writer, witnesses: Sequence[Witness]) -> None:
    """End the writer's run; it is complete if every statement has been examined."""
    everything = pairs(CLAIMS, witnesses)
    writer.finish(all((p.claim.id, p.witness.name) in writer.done for p in everything))


def selected(claims: Sequence[Statement], identifiers: Sequence[str]) -> list[Statement]:
    """Return the claims whose identifier or docket row is named, or begins with a name and "/".

    Raises:
        ValueError: a name fits no claim.
    """
    if not identifiers:
        return list(claims)
    unknown = [i for i in identifiers if not any(_fits(claim, i) for claim in claims)]
    if unknown:
        rows = ", ".join(dict.fromkeys(claim.row for claim in claims))
        raise ValueError(f"no claim is called {', '.join(unknown)}; the docket has: {rows}")
    return [claim for claim in claims if any(_fits(claim, i) for i in identifiers)]


def _fits(claim: Statement, name: str) -> bool:
    return name in (claim.id, claim.row) or claim.id.startswith(f"{name}/")
