"""Whether a mutant of a claim says the same: in numbers, and for every batch size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import zip_longest
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
    letters = claim.letters(network)
    these, those = (_computed(c, network, letters) for c in (claim, original))
    return _all_alike(these, those, lambda a, b: is_zero(a - b))


def _numbers(claim: Claim) -> Iterator[Any]:
    imposed = [claim, replace(claim, hypotheses=())] if claim.hypotheses else [claim]
    for case in CASES:
        for hypotheses in imposed:
            network = network_of(adapted(case, hypotheses))
            yield from (network.z, network.g)
            yield from _computed(claim, network, claim.letters(network))


@cache
def _original_numbers(claim: Claim) -> list[Any]:
    return list(_numbers(claim))


def _computed(claim: Claim, network: Network, at: Letters) -> Iterable[Any]:
    """Yield both sides, the hypotheses' quantities, and the certificate's weights and factors."""
    yield from claim.sides(network, at)
    yield from (h.quantity(network, at) for h in claim.hypotheses)
    for term in claim.certificate(network, at) if claim.certificate else ():
        yield term.weight
        yield from (f.statement if isinstance(f, Hypothesis) else f for f in term.factors)


def _all_alike(
    these: Iterable[Any], those: Iterable[Any], same: Callable[[Any, Any], bool]
) -> bool:
    pairs = zip_longest(these, those, fillvalue="nothing")
    return all(_is_one_word(a, b) if _has_word(a, b) else same(a, b) for a, b in pairs)


def _has_word(a: Any, b: Any) -> bool:
    return isinstance(a, str) or isinstance(b, str)


def _is_one_word(a: Any, b: Any) -> bool:
    return isinstance(a, str) and isinstance(b, str) and a == b


def _close(a: Any, b: Any) -> bool:
    return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=CLOSE, atol=CLOSE)
