"""One instance again: rebuild it from its token and examine every statement there."""

from __future__ import annotations

from theory.claim import Claim
from verify import engine
from verify.cases import strata
from verify.cases.case import Case
from verify.witnesses import autograd


def reproduce(token: str) -> list[str]:
    """Return one line for each statement: outcome, both sides (norms for vectors), their ratio.

    Raises:
        ValueError: the token names no instance.
    """
    case = strata.rebuild(token)
    header = [f"{token}: m = {len(case.y)}, gamma = {case.gamma!r}, eps = {case.eps!r}"]
    return header + [_line(claim, case) for claim in engine.CLAIMS if not claim.unreadable]


def _line(claim: Claim, case: Case) -> str:
    (found,) = autograd.examine_cases(claim, [case])
    return (
        f"{claim.id:42s} {found.outcomes[0].value:10s} actual {found.actual[0]:.17g}"
        f"  claimed {found.claimed[0]:.17g}  ratio {found.ratios[0]:.17g}"
    )
