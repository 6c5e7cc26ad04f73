"""Who notices a wrong claim: each killer looks at one claim and returns a complaint, or nothing.

Some ask the witnesses of ``verify``.  The others look at what no witness sees: whether a refuted
statement is the printed one, and whether a hypothesis says something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from flint import ctx
from instances import EXACT, EXACT_CASES, FAR_CASES, MANY_CASES, instances_of, network_of
from restated import QUANTITIES, RESTATED

from theory.claim import Claim, Hypothesis, Network, Relation, Verdict
from verify import search
from verify.cases.case import Case, adapted
from verify.cases.strata import STRATA, draw
from verify.tolerance import Outcome
from verify.witnesses import abstract, autograd, exact

Killer = Callable[[Claim], str]
CLOSE = 1e-9
TINY = 1e-40
"""What balls of 256 bits leave of zero."""
HELPFUL = ("tenfold", "hundredfold")
"""What is imposed so that an inequality holds more often, not always."""
NEAR = "brought_near.<locals>.impose"
"""What is imposed for all of a claim's hypotheses, inequalities that become equalities at worst."""
ZERO_BY_HYPOTHESIS = ("S-v1-remark-always/zero-cosine",)
"""Statements that something is zero where the hypothesis says no more and no less."""


def other_formula(claim: Claim) -> str:
    """Compare sides and hypotheses with the printed formulas as they are restated in NumPy."""
    name = claim.id.replace(claim.reading.suffix, "", 1)
    if name not in RESTATED:
        return ""
    quantities = QUANTITIES.get(name, lambda n: ())
    for network, numbers in instances_of(claim):
        *sides, found = autograd.evaluate(claim, network)
        pairs = [*zip(sides, RESTATED[name](numbers), strict=True)]
        pairs += zip(found, quantities(numbers), strict=name in QUANTITIES)
        for computed, printed in pairs:
            if not np.allclose(computed.numpy(), printed, rtol=CLOSE, atol=CLOSE):
                return f"{computed.numpy()} where the restated formula gives {printed}"
    return ""


def empty_hypothesis(claim: Claim) -> str:
    """Look whether each hypothesis excludes some case, and holds where it is imposed."""
    free = replace(claim, hypotheses=())
    for hypothesis in claim.hypotheses:
        if not _is_lemma(hypothesis):
            values = (_quantity(hypothesis, free, case) for case in (*MANY_CASES, *FAR_CASES))
            if all(_meets(hypothesis, value) for value in values):
                return f"{hypothesis.statement} excludes no case"
        name = hypothesis.impose.__qualname__ if hypothesis.impose else ""
        if not name and not _are_near(claim):
            continue
        enough = any if name in HELPFUL else all
        if not enough(_holds(hypothesis, claim, case) for case in MANY_CASES):
            return f"{hypothesis.statement} does not hold where it is imposed"
    if not claim.hypotheses or claim.id in ZERO_BY_HYPOTHESIS:
        return ""
    return "" if _has_content(claim) else "every side is zero"


def _is_lemma(hypothesis: Hypothesis) -> bool:
    """Whether it is another claim, cited by its identifier: where that is true it always holds."""
    return ", by S-" in hypothesis.statement


def _are_near(claim: Claim) -> bool:
    return any(h.impose and h.impose.__qualname__ == NEAR for h in claim.hypotheses)


def _quantity(hypothesis: Hypothesis, claim: Claim, case: Case) -> float:
    network = network_of(adapted(case, claim))
    return hypothesis.quantity(network, claim.letters(network)).item()


def _holds(hypothesis: Hypothesis, claim: Claim, case: Case) -> bool:
    """Whether a hypothesis holds: in floats, or, where they are in doubt, in exact numbers.

    Where a batch has no variance nothing is said.
    """
    if _are_near(claim):
        hypothesis = replace(hypothesis, sign=Relation.AT_LEAST)
    if _meets(hypothesis, _quantity(hypothesis, claim, case)):
        return True
    try:
        network = exact._network(adapted(exact.rational_case(case), claim), exact.EXACT)
        quantity = hypothesis.quantity(network, claim.letters(network))
        return exact.stands(exact.number(np.squeeze(quantity).item()), hypothesis.sign)
    except exact.DifferentFieldsError:
        return False
    except ZeroDivisionError:
        return True


def _meets(hypothesis: Hypothesis, quantity: float) -> bool:
    match hypothesis.sign:
        case Relation.EQUAL:
            return abs(quantity) < CLOSE
        case Relation.MORE_THAN:
            return quantity > CLOSE
    return quantity >= -CLOSE


def _has_content(claim: Claim) -> bool:
    sides = (
        side for case in MANY_CASES[:4] for side in claim.evaluate(network_of(adapted(case, claim)))
    )
    return any(torch.any(side != 0) for side in sides)


def wrong_sum(claim: Claim) -> str:
    """Add up the terms of a certificate: in exact numbers, or in balls where roots meet."""
    if claim.certificate is None or claim.expected is not Verdict.PROVED:
        return ""
    rests = (_rest_at(case, claim) for case in EXACT_CASES)
    return next((f"the terms miss the slack by {rest}" for rest in rests if rest), "")


def _rest_at(case: Case, claim: Claim) -> str:
    """Return what the terms of a certificate leave of the slack at one case, if anything."""
    free, case = replace(claim, hypotheses=()), exact.rational_case(case)
    try:
        rest = _rest(claim, exact._network(adapted(case, free), exact.EXACT))
        return "" if exact.stands(exact.number(rest), Relation.EQUAL) else str(rest)
    except exact.DifferentFieldsError:
        with ctx.workprec(256):
            rest = _rest(claim, exact._network(adapted(exact._in_balls(case), free), exact.BALLS))
            return "" if abs(rest) < TINY else str(rest)


def _rest(claim: Claim, network: Network) -> Any:
    """Return what the terms of a certificate leave of the slack."""
    letters = claim.letters(network)
    actual, claimed = claim.sides(network, letters)
    is_lower = claim.relation in (Relation.AT_LEAST, Relation.MORE_THAN)
    rest = actual - claimed if is_lower else claimed - actual
    for term in claim.certificate(network, letters):
        product = term.weight
        for factor in term.factors:
            is_hypothesis = isinstance(factor, Hypothesis)
            product = product * (
                factor.quantity(network, letters) if is_hypothesis else _square(factor)
            )
        rest = rest - product
    return np.squeeze(rest).item()


def _square(factor: Any) -> Any:
    return np.sum(np.asarray(factor * factor, dtype=object))


def violated(claim: Claim) -> str:
    """Look for a violation of what is expected to hold, in exact numbers."""
    if claim.expected is Verdict.REFUTED:
        return ""
    found = exact.examine(claim, EXACT)
    is_violated = found.outcome is Outcome.VIOLATED
    return f"{found.actual} against {found.claimed}" if is_violated else ""


def unfit(claim: Claim) -> str:
    """Let the autograd witness look at two cases."""
    cases = [draw(STRATA[0], 0, index) for index in (0, 3)]
    (found,) = autograd.examine_cases(claim, cases)
    is_violated = Outcome.VIOLATED in found.outcomes and claim.expected is not Verdict.REFUTED
    return "violated in floats" if is_violated else ""


def wrong_proof(claim: Claim) -> str:
    """Ask the abstract witness."""
    is_proved = abstract.prove(claim) is not None
    is_expected = claim.expected in (Verdict.PROVED, Verdict.UNREADABLE)
    return "" if is_proved is is_expected else "proved" if is_proved else "not proved"


def unrefuted(claim: Claim) -> str:
    """Look for a counterexample to what is expected refuted, where hypotheses choose the cases."""
    if claim.expected is not Verdict.REFUTED or not claim.hypotheses:
        return ""
    if any(exact.examine(claim, case).outcome is Outcome.VIOLATED for case in MANY_CASES):
        return ""
    return "" if search.smallest(claim, 40).counterexample else "no counterexample"


BEYOND_WITNESSES = (other_formula, empty_hypothesis, wrong_sum)
QUICK = (other_formula, wrong_sum, empty_hypothesis, violated, unfit)
SLOW = (wrong_proof, unrefuted)
ALL = (*QUICK, *SLOW)
"""From the cheapest."""


def killer_of(claims: Iterable[Claim], killers: Iterable[Killer] = ALL) -> str:
    """Return who complains first, of which claim, and how; empty where nobody does."""
    for killer in killers:
        for claim in claims:
            try:
                complaint = killer(claim)
            except Exception as error:
                complaint = f"{type(error).__name__}: {error}"
            if complaint:
                return f"{killer.__name__} of {claim.id}: {complaint}"
    return ""
