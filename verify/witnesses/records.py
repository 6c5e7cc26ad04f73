"""How the instances that a witness examined become a record."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from theory.statement import Statement
from verify.record import Record
from verify.results import Counterexample
from verify.tolerance import Outcome
from verify.witnesses.instances import Instances

POINTS = 240
"""How many instances a record keeps for the plots."""


def record(claim: Statement, witness: str, groups: Sequence[Instances]) -> Record:
    """Return what the instances say, with the worst one's token and some points to plot."""
    ratio, token = _worst(groups)
    return Record(
        claim=claim.id,
        witness=witness,
        **counted(Counter(outcome for group in groups for outcome in group.outcomes)),
        worst_ratio=ratio,
        worst_token=token,
        strata=_by_stratum(groups),
        points=_points(groups),
    )


def recorded(
    claims: Iterable[Statement], witness: str, found: Mapping[str, Sequence[Instances]]
) -> Iterator[Record]:
    """Yield the record of each claim, given its instances by its identifier."""
    yield from (record(claim, witness, found[claim.id]) for claim in claims)


def counted(met: Counter[Outcome]) -> dict[str, Any]:
    """Return the counts by the names that a record has for them."""
    return {
        "instances": met.total(),
        "violated": met[Outcome.VIOLATED],
        "undecided": met[Outcome.UNDECIDED],
        "vacuous": met[Outcome.VACUOUS],
    }


def told_of(found: Counterexample | None) -> dict[str, Any]:
    """Return a counterexample and its sides' ratio by the names that a record has for them."""
    return {"counterexample": found, "worst_ratio": None if found is None else found.ratio}


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
        (group, i)
        for group in groups
        for i, outcome in enumerate(group.outcomes)
        if outcome in (Outcome.HOLDS, Outcome.VIOLATED)
        and np.isfinite(group.actual[i])
        and np.isfinite(group.claimed[i])
    ]
    stride = max(1, -(-len(decided) // POINTS))
    return [
        {
            "actual": float(group.actual[i]),
            "claimed": float(group.claimed[i]),
            "stratum": group.strata[i],
            "m": group.m,
            "violated": group.outcomes[i] is Outcome.VIOLATED,
        }
        for group, i in decided[::stride]
    ]
