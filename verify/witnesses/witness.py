"""What a witness is, how hard it looks, and how its instances become a record."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from theory.statement import Statement
from verify.evidence import Record
from verify.tolerance import Outcome
from verify.witnesses.instances import Instances

POINTS = 240
"""How many instances a record keeps for the plots."""


@dataclass(frozen=True)
class Budget:
    """How hard to look."""

    random: int
    """Random cases of every stratum for the autograd witness."""
    differences: int
    """Random cases of every stratum for finite differences and complex steps."""
    examples: int
    """Cases of small integers for every batch length."""
    restarts: int
    """Starts of the gradient ascent."""
    steps: int
    """Steps of the gradient ascent."""
    sizes: tuple[int, ...]
    """Batch lengths of the symbolic proofs."""
    stages: tuple[str, ...]
    """Stages of training at which the networks are examined."""


PROFILES = {
    "smoke": Budget(4, 1, 60, 8, 15, (2,), ("trained",)),
    "default": Budget(20, 1, 60, 8, 30, (1, 2, 3, 4), ("initial", "midway", "trained")),
    "deep": Budget(1000, 20, 400, 64, 300, (1, 2, 3, 4), ("initial", "midway", "trained")),
}


@dataclass(frozen=True)
class Settings:
    """A budget and where to run."""

    budget: Budget
    seed: int = 0
    backend: str = "numpy"
    device: str = ""
    cache: Path | None = None


@dataclass(frozen=True)
class Witness:
    """A name, which statements it can say something of, and how it examines them."""

    name: str
    applies: Callable[[Any], bool]
    examine: Callable[[Sequence[Any], Settings], Iterable[Record]]
    """What it finds of statements that it applies to, one record each."""
    together: int = 4
    """How many statements share a call: many where they share what is computed for a case."""


def each(
    examine: Callable[[Any, Settings], Record], claims: Sequence[Any], settings: Settings
) -> Iterator[Record]:
    """Yield what is found of statements one by one, with the time that each took."""
    for claim in claims:
        start = time.perf_counter()
        found = examine(claim, settings)
        yield replace(found, seconds=time.perf_counter() - start)


def timed(
    examine: Callable[[Sequence[Any], Settings], Iterable[Record]],
    claims: Sequence[Any],
    settings: Settings,
) -> Iterator[Record]:
    """Yield what is found of statements together, each with its share of the time."""
    start = time.perf_counter()
    found = list(examine(claims, settings))
    share = (time.perf_counter() - start) / len(claims)
    for record in found:
        yield replace(record, seconds=share)


def at_once(
    examine: Callable[[Sequence[Any], Settings], Iterable[Record]],
) -> Callable[[Sequence[Any], Settings], Iterable[Record]]:
    """Return what examines statements together, as they share what is computed for a case."""
    return partial(timed, examine)


def one_by_one(
    examine: Callable[[Any, Settings], Record],
) -> Callable[[Sequence[Any], Settings], Iterable[Record]]:
    """Return what examines statements one by one."""
    return partial(each, examine)


def record(claim: Statement, witness: str, groups: Sequence[Instances]) -> Record:
    """Return what the instances say, with the worst one's token and some points to plot."""
    total: Counter[Outcome] = sum((g.count() for g in groups), Counter())
    ratio, token = _worst(groups)
    return Record(
        claim=claim.id,
        witness=witness,
        instances=total.total(),
        violated=total[Outcome.VIOLATED],
        undecided=total[Outcome.UNDECIDED],
        vacuous=total[Outcome.VACUOUS],
        worst_ratio=ratio,
        worst_token=token,
        strata=_by_stratum(groups),
        points=_points(groups),
    )


def counted(met: Counter[Outcome]) -> dict[str, Any]:
    """Return the counts by the names that a record has for them."""
    return {
        "instances": met.total(),
        "violated": met[Outcome.VIOLATED],
        "undecided": met[Outcome.UNDECIDED],
        "vacuous": met[Outcome.VACUOUS],
    }


def in_words(counts: Counter[Outcome]) -> str:
    """Return what the outcomes for one size say."""
    if counts[Outcome.VIOLATED]:
        return "fails"
    decided = counts[Outcome.HOLDS]
    if not decided:
        return "undefined: sigma = 0, or a hypothesis cannot hold"
    return f"no violation in {decided} cases"


def _worst(groups: Sequence[Instances]) -> tuple[float | None, str | None]:
    candidates: list[tuple[bool, float, str]] = []
    for group in groups:
        index = group.worst()
        if index is not None:
            violated = group.outcomes[index] is Outcome.VIOLATED
            value = float(group.ratios[index])
            candidates.append(
                (violated, value if np.isfinite(value) else -1.0, group.tokens[index])
            )
    if not candidates:
        return None, None
    _, value, token = max(candidates)
    return (value if value >= 0 else None), token


def _by_stratum(groups: Sequence[Instances]) -> dict[str, dict[str, int]]:
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for group in groups:
        for stratum, outcome in zip(group.strata, group.outcomes, strict=True):
            table[stratum]["instances"] += 1
            table[stratum][outcome.value] += 1
    return {name: dict(counts) for name, counts in table.items()}


def _points(groups: Sequence[Instances]) -> list[dict[str, Any]]:
    decided = [
        {
            "actual": float(group.actual[i]),
            "claimed": float(group.claimed[i]),
            "stratum": group.strata[i],
            "m": group.m,
            "violated": outcome is Outcome.VIOLATED,
        }
        for group in groups
        for i, outcome in enumerate(group.outcomes)
        if outcome in (Outcome.HOLDS, Outcome.VIOLATED)
        and np.isfinite(group.actual[i])
        and np.isfinite(group.claimed[i])
    ]
    stride = max(1, -(-len(decided) // POINTS))
    return decided[::stride]
