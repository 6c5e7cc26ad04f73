"""Whether a mutant of a claim says the same: in numbers, and for every batch size."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from instances import CASES, network_of
from killers import CLOSE

from theory.arithmetic.abstract import is_zero
from theory.claim import Claim, Hypothesis, Letters, Network
from verify.cases.case import adapted
from verify.witnesses.abstract import AbstractNetwork, abstract_case


def same_numbers(claim: Claim, original: Claim) -> bool:
    """Whether a claim computes the numbers of the original, up to rounding."""
    return _all_alike(_numbers(claim), _original_numbers(original), _close)


def same_for_every_m(claim: Claim, original: Claim) -> bool:
    """Whether the abstract arithmetic proves that a claim computes what the original does."""
    network = AbstractNetwork(abstract_case(claim.reading.has_epsilon))
    letters = claim.reading.letters(network)
    these, those = (list(_computed(c, network, letters)) for c in (claim, original))
    return _all_alike(these, those, lambda a, b: is_zero(a - b))


def _numbers(claim: Claim) -> list[Any]:
    found: list[Any] = []
    for case in CASES:
        for imposed in (claim, replace(claim, hypotheses=())):
            network = network_of(adapted(case, imposed))
            found += [network.z, network.g]
            found += _computed(claim, network, claim.reading.letters(network))
    return found


@cache
def _original_numbers(claim: Claim) -> list[Any]:
    return _numbers(claim)


def _computed(claim: Claim, network: Network, at: Letters) -> Iterable[Any]:
    """Yield both sides, the hypotheses' quantities, and the certificate's weights and factors."""
    yield from claim.sides(network, at)
    yield from (h.quantity(network, at) for h in claim.hypotheses)
    for term in claim.certificate(network, at) if claim.certificate else ():
        yield term.weight
        yield from (f.statement if isinstance(f, Hypothesis) else f for f in term.factors)


def _all_alike(these: list[Any], those: list[Any], same: Callable[[Any, Any], bool]) -> bool:
    return len(these) == len(those) and all(
        a == b if isinstance(a, str) and isinstance(b, str) else same(a, b)
        for a, b in zip(these, those, strict=True)
    )


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, str) or isinstance(b, str) or np.shape(a) != np.shape(b):
        return False
    return np.allclose(a, b, rtol=CLOSE, atol=CLOSE)
