"""One instance again: rebuild it from its token and examine every statement there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from theory.statement import Statement
from verify import engine
from verify.cases import strata
from verify.witnesses import autograd, trained
from verify.witnesses.instances import Instances

Examine = Callable[[Statement], Instances]
"""Examines a statement at one instance."""


def reproduce(token: str, cache: Path | None = None) -> list[str]:
    """Return one line for each statement: outcome, both sides (norms for vectors), their ratio.

    Args:
        token: of a random batch or of a unit of a trained network, from the evidence.
        cache: the folder of trained networks; None for the user's own.

    Raises:
        ValueError: the token names no instance.
        TrainingError: the network has to be trained again and does not get where it should.
    """
    kind = token.partition(":")[0]
    if kind not in _KINDS:
        raise ValueError(
            f"{token!r} names no instance; expected random:STRATUM:SEED:INDEX"
            " or trained:NETWORK:STAGE:SEED:LAYER:UNIT"
        )
    header, examine = _KINDS[kind](token, cache)
    claims = [claim for claim in engine.CLAIMS if not claim.unreadable]
    return [f"{token}: {header}", *(_line(claim, examine(claim)) for claim in claims)]


def _random(token: str, cache: Path | None) -> tuple[str, Examine]:
    case = strata.rebuild(token)
    seed = int(token.split(":")[2])
    header = _header(len(case.y), case.gamma, case.eps)
    return header, lambda claim: autograd.examine_cases(claim, [case], seed)[0]


def _trained(token: str, cache: Path | None) -> tuple[str, Examine]:
    units = trained.rebuild(token, cache)
    gamma = units.layer.gamma[units.numbers].numpy()
    header = _header(len(units.layer.y), gamma, units.layer.eps)
    return header, lambda claim: trained.examine_units(claim, units)


_KINDS = {"random": _random, "trained": _trained}


def _header(m: int, gamma: Any, eps: Any) -> str:
    numbers = (f"{name} = {np.squeeze(n).item()!r}" for name, n in (("gamma", gamma), ("eps", eps)))
    return f"m = {m}, {', '.join(numbers)}"


def _line(claim: Statement, found: Instances) -> str:
    return (
        f"{claim.id:42s} {found.outcomes[0].value:10s} actual {found.actual[0]:.17g}"
        f"  claimed {found.claimed[0]:.17g}  ratio {found.ratios[0]:.17g}"
    )
