"""One instance again: rebuild it from its token and examine every statement there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.matrix_claim import MatrixClaim
from theory.statement import Statement
from verify import engine
from verify.options import SEEDS
from verify.results import in_words
from verify.subjects import matrix_strata, unit_strata
from verify.subjects.matrices import Numbers
from verify.witnesses import autograd, trained
from verify.witnesses.instances import Instances
from verify.witnesses.matrices import best_scaling, floats, scaling_ascent
from verify.witnesses.matrices import trained as trained_matrices


def reproduce(
    token: str, cache: Path | None = None, claims: Sequence[Statement] | None = None
) -> list[str]:
    """Return one line for each statement: outcome, both sides (norms for vectors), their ratio.

    A side that is not defined there, and a ratio that says nothing, is a dash.

    Args:
        token: of a random batch or of a unit of a trained network, from the evidence.
        cache: the folder of trained networks; None for the user's own.
        claims: the statements; None for the papers'.

    Raises:
        ValueError: the token names no instance.
        TrainingError: the network has to be trained again and does not get where it should.
    """
    kind = token.partition(":")[0]
    if kind not in _KINDS:
        raise ValueError(
            f"{token!r} names no instance; expected random:STRATUM:SEED:INDEX"
            ", trained:NETWORK:STAGE:SEED:LAYER:UNIT, matrices:KIND:STRATUM:SEED:INDEX"
            ", network:PLACE:SEED, best: before one of both, or scaling:CORRELATIONS"
        )
    if any(int(part) >= SEEDS for part in token.split(":") if part.isdecimal()):
        raise ValueError(f"{token!r} names no instance; expected numbers up to {SEEDS - 1}")
    return _KINDS[kind](token, cache, engine.CLAIMS if claims is None else claims)


def _random(token: str, cache: Path | None, claims: Sequence[Statement]) -> list[str]:
    case = unit_strata.rebuild(token)
    seed = int(token.split(":")[2])
    header = _header(len(case.y), case.gamma, case.eps)
    return _lines(
        token, header, claims, lambda claim: autograd.examine_cases(claim, [case], seed)[0]
    )


def _trained(token: str, cache: Path | None, claims: Sequence[Statement]) -> list[str]:
    units = trained.rebuild(token, cache)
    gamma = units.layer.gamma[units.numbers].numpy()
    header = _header(len(units.layer.y), gamma, units.layer.eps)
    return _lines(token, header, claims, lambda claim: trained.examine_units(claim, units))


def _lines(
    token: str,
    header: str,
    claims: Sequence[Statement],
    examine: Callable[[Claim], Instances],
) -> list[str]:
    chosen = [c for c in claims if isinstance(c, Claim) and not c.unreadable]
    return [f"{token}: {header}", *(_line(claim, examine(claim)) for claim in chosen)]


def _matrices(token: str, cache: Path | None, claims: Sequence[Statement]) -> list[str]:
    return _subject_lines(matrix_strata.rebuild(token), int(token.split(":")[3]), claims)


def _network(token: str, cache: Path | None, claims: Sequence[Statement]) -> list[str]:
    found, seed = trained_matrices.rebuild(token, cache), int(token.split(":")[2])
    return [line for subject in found for line in _subject_lines(subject, seed, claims)]


def _subject_lines(subject: Numbers, seed: int, claims: Sequence[Statement]) -> list[str]:
    chosen = [
        claim
        for claim in claims
        if isinstance(claim, MatrixClaim) and claim.subject is subject.kind and not claim.unreadable
    ]
    lines = [_line(claim, floats.examine_one(claim, subject, seed)) for claim in chosen]
    return [f"{subject.token}: {in_words([subject.size])}", *lines]


def _scaling(token: str, cache: Path | None, claims: Sequence[Statement]) -> list[str]:
    return _subject_lines(scaling_ascent.rebuild(token), 0, claims)


def _best(token: str, cache: Path | None, claims: Sequence[Statement]) -> list[str]:
    layer, parts = best_scaling.rebuild(token, cache), token.split(":")
    seed = int(parts[4] if parts[1] == "matrices" else parts[3])
    return _subject_lines(layer, seed, claims)


_KINDS: dict[str, Callable[[str, Path | None, Sequence[Statement]], list[str]]] = {
    "random": _random,
    "trained": _trained,
    "matrices": _matrices,
    "network": _network,
    "scaling": _scaling,
    "best": _best,
}


def _header(m: int, gamma: Any, eps: Any) -> str:
    numbers = (f"{name} = {np.squeeze(n).item()!r}" for name, n in (("gamma", gamma), ("eps", eps)))
    return f"m = {m}, {', '.join(numbers)}"


def _line(claim: Statement, found: Instances) -> str:
    actual, claimed, ratio = map(_number, (found.actual[0], found.claimed[0], found.ratios[0]))
    outcome = found.outcomes[0].value
    return f"{claim.id:42s} {outcome:10s} actual {actual}  claimed {claimed}  ratio {ratio}"


def _number(x: float) -> str:
    """Return a number, or a dash where there is none."""
    return "-" if isnan(x) else f"{x:.17g}"
