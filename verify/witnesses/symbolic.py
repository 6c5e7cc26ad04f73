r"""The symbolic witness: a proof for one batch size m, with every entry a symbol.

It knows what the abstract witness cannot: the relations that a small m forces.  At m = 2 every
centred vector is a multiple of one, so there a statement may hold that fails for m = 3.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np

from theory.arithmetic import sqrt, symbolic
from theory.arithmetic.formulas import UnreadableError, formula, letter
from theory.arithmetic.radicals import MOST, UndecidedError
from theory.claim import Claim, Relation
from verify import primitives
from verify.record import Record
from verify.results import Proof
from verify.settings import Settings
from verify.subjects.network import PrimitiveNetwork
from verify.subjects.unit import (
    Change,
    GenericCase,
    LosesGeneralityError,
    changed,
)
from verify.witnesses import abstract, exact
from verify.witnesses.certificates import DIFFER, remainder, unused
from verify.witnesses.jet import OutsideJetError, refuse_outside
from verify.witnesses.retractions import without_loss

Finding = Literal["proved", "not proved", "undefined"]


class Search(NamedTuple):
    """What a search for a proof found, and why no proof."""

    finding: Finding
    why: str = ""


UNDEFINED = Search("undefined")
DEGENERATE = 2
"""Up to so many entries, normalised without epsilon, are constant near any batch."""
GROWTH = 40
"""One more entry of the batch multiplies the products that a long proof takes by this or more."""


def sought(claim: Claim, m: int, most: int = MOST) -> Search:
    """Return whether the claim is proved for batches of m entries, or why it is not.

    An inequality is proved by its certificate, as in the abstract arithmetic.

    Args:
        claim: the claim.
        m: the batch size.
        most: how many products of two terms the proof may take.
    """
    if (m == 1 and not claim.reading.has_epsilon) or _is_of_other_sizes(claim, m):
        return UNDEFINED
    if claim.because is None and (claim.relation.is_strict or exact.differ_somewhere(claim, m)):
        is_bound = claim.relation is not Relation.EQUAL
        return Search("not proved", "" if is_bound else f"{DIFFER}{unused(claim)}")
    try:
        unit = claim.read(generic(m, claim.reading.has_epsilon, without_loss(claim)))
        divisors = claim.divided_by(unit) if claim.because is None else []
        if any(symbolic.is_zero(by, most) for by in divisors):
            return UNDEFINED
        if not symbolic.is_zero(claim.left_over(unit, claim.terms(unit)), most):
            return Search("not proved", remainder(claim))
    except (LosesGeneralityError, OutsideJetError, UndecidedError, UnreadableError) as error:
        return Search("not proved", str(error))
    except ZeroDivisionError:
        return UNDEFINED
    is_shown = claim.because is None or abstract.prove(claim) is not None
    return Search("proved" if is_shown else "not proved")


@cache
def generic(m: int, has_epsilon: bool, imposed: tuple[Change, ...]) -> PrimitiveNetwork:
    """Return the network of the generic batch of m entries, changed as hypotheses want it.

    Statements share what is computed there.
    """
    case = GenericCase(
        y=_in_orthogonal_coordinates(symbolic.vector("y", m)),
        gamma=letter("gamma"),
        beta=letter("beta"),
        eps=letter("epsilon", positive=True) if has_epsilon else formula(0),
        direction=symbolic.vector("u", m),
        other_direction=symbolic.vector("v", m),
        bound=letter("lambda", positive=True),
    )
    return _network(changed(case, imposed), m)


def _is_of_other_sizes(claim: Claim, m: int) -> bool:
    """Whether a hypothesis on the batch size alone excludes m."""
    on_size = [
        h for h in claim.hypotheses if {letter.name for letter in h.says.letters} <= {"one", "m"}
    ]
    if not on_size:
        return False
    unit = claim.read(generic(m, claim.reading.has_epsilon, ()))
    return any(not h.sign.compare(h.quantity(unit), 0) for h in on_size)


def _in_orthogonal_coordinates(letters: np.ndarray) -> np.ndarray:
    """Return any batch, by as many letters: its mean, and deviations along orthogonal vectors.

    Its variance is a sum of their squares, without mixed terms, which keeps polynomials short.  Two
    entries have a single deviation; the root of its square would be its absolute value.
    """
    if len(letters) == 2:
        return letters
    mean, *deviations = letters
    entries = np.full(len(letters), mean, dtype=object)
    for k, deviation in enumerate(deviations, start=1):
        entries[:k] += deviation
        entries[k] -= k * deviation
    return entries


def _network(case: GenericCase, m: int) -> PrimitiveNetwork:
    """The network whose loss has any gradient and Hessian, of letters, at the layer's output."""
    count = formula(m)  # whose root is not rounded
    output = primitives.forward(case.y, count, case.gamma, case.beta, case.eps, sqrt)
    slope, hessian = symbolic.vector("g", m), symbolic.symmetric_matrix("H", m)

    def jet(z: np.ndarray) -> Any:
        d = z - output
        refuse_outside(d, symbolic.is_zero)
        return letter("L") + slope @ d + (d @ (hessian @ d)) / 2

    return PrimitiveNetwork(case, count, jet, exact.ROOTS)


def _attempts(claim: Claim, sizes: Collection[int]) -> list[tuple[int, int]]:
    """Return batch sizes, the largest first, and how many products a proof of each may take.

    That the sum of a certificate is too long for the largest is seen sooner at the next.
    """
    attempts = [(m, MOST) for m in sorted(sizes, reverse=True)]
    if claim.because is None or len(attempts) < 2:
        return attempts
    largest, (smaller, most), *others = attempts
    return [(smaller, most // GROWTH), largest, *others]


def _suffice(sizes: Collection[int], claim: Claim) -> bool:
    """Whether proofs for batches of these sizes say something of a claim."""
    return any(m > DEGENERATE for m in sizes) or (
        any(sizes) and _is_of_other_sizes(claim, DEGENERATE + 1)
    )


def examine(claim: Claim, settings: Settings) -> Record:
    """Proofs for single batch sizes, with every entry a symbol.

    A certificate that fails at one is not tried at others: it is of use where the abstract witness
    proves the claim for every size, and here its sum is added up once more.  That it is proved of
    two entries alone says nothing where there may be more: no loss has a gradient there.
    """
    found: dict[int, Search] = {}
    sizes = settings.budget.sizes
    for m, most in _attempts(claim, sizes) if _suffice(sizes, claim) else ():
        found[m] = sought(claim, m, most)
        if found[m].finding == "not proved" and claim.because is not None:
            break
    proved = sorted(m for m, search in found.items() if search.finding == "proved")
    unproved = [m for m, search in found.items() if search.finding == "not proved"]
    is_proved = _suffice(proved, claim) and not unproved
    return Record(
        claim=claim.id,
        witness="symbolic",
        sizes={str(m): found[m].finding for m in sorted(found) if m not in unproved},
        proof=Proof(tuple({"m": m} for m in proved)) if is_proved else None,
        unproved=next((f"m = {m}: {found[m].why}" for m in unproved[::-1] if found[m].why), ""),
    )
