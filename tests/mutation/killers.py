"""Who notices a wrong claim: each killer looks at one claim and returns a complaint, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import torch
from restated import RESTATED, Numbers

from theory.claim import Claim, Hypothesis, Reading, Relation, Verdict
from verify import search
from verify.cases.case import Case, adapted
from verify.cases.lattice import lattice_case
from verify.cases.strata import STRATA, draw
from verify.tolerance import Outcome
from verify.witnesses import abstract, autograd, exact

Killer = Callable[[Claim], str]
PROVED = (Verdict.PROVED, Verdict.UNREADABLE)


def some_case(m: int, seed: int, spread: Fraction = Fraction(1), **changes: Any) -> Case:
    """Return a case of small integers, no two entries of the batch alike."""
    rng = Random(seed)

    def entries(n: int) -> list[int]:
        return [rng.choice([-3, -2, -1, 1, 2, 3]) for _ in range(n)]

    case = lattice_case(
        y=rng.sample(range(-3, 4), m),
        gamma=rng.choice([-2, 2, 3]),
        beta=rng.choice([-2, -1, 1, 3]),
        ratio=Fraction(3, 2),
        linear=entries(m),
        triangle=entries(m * (m + 1) // 2),
        direction=entries(m),
        other_direction=entries(m),
        bound=2,
    )
    return replace(case, y=spread * case.y, eps=spread**2 * case.eps, **changes)


CASES = (
    some_case(4, 0),
    some_case(3, 1),
    some_case(3, 2, Fraction(1, 4)),
    some_case(4, 3, Fraction(1, 3)),
    some_case(3, 4, gamma=0),
    some_case(3, 5, gamma=-4),
)


def other_formula(claim: Claim) -> str:
    """Compare both sides with the printed formula as it is restated in NumPy."""
    name = claim.id.replace(claim.reading.suffix, "", 1)
    if name not in RESTATED:
        return ""
    case = adapted(CASES[0], claim)
    network, numbers = torch_network(case), numbers_of(case, claim.reading)
    actual, claimed, _ = autograd.evaluate(claim, network)
    for side, printed in zip((actual, claimed), RESTATED[name](numbers), strict=True):
        if not np.allclose(side.numpy(), printed, rtol=1e-9, atol=1e-9):
            return f"{side.numpy()} where the restated formula gives {printed}"
    return ""


def torch_network(case: Case) -> autograd.TorchNetwork:
    """Return the network of one case in float64."""
    y, gamma, beta, eps, u, v, bound = (
        torch.tensor(np.array(value, dtype=np.float64))
        for value in (
            case.y, case.gamma, case.beta, case.eps,
            case.direction, case.other_direction, case.bound,
        )
    )  # fmt: skip
    return autograd.TorchNetwork(y, gamma, beta, eps, u, loss_of(case), v, bound)


def loss_of(case: Case) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return the loss of a case for tensors."""
    parameters = [torch.tensor(np.array(p, dtype=np.float64)) for p in case.loss.parameters]
    return lambda z: case.loss.function(z, None, *parameters)


def numbers_of(case: Case, reading: Reading) -> Numbers:
    """Return the paper's symbols for a case."""
    y, u = (np.array(v, dtype=np.float64) for v in (case.y, case.direction))
    gamma, beta, eps = (float(np.squeeze(v)) for v in (case.gamma, case.beta, case.eps))
    in_yhat = 0.0 if reading is Reading.UNIT_VARIANCE else eps
    return Numbers(y, gamma, beta, eps, u, loss_of(case), in_yhat)


def empty_hypothesis(claim: Claim) -> str:
    """Look whether each hypothesis excludes some case, and holds where it is imposed."""
    for hypothesis in claim.hypotheses:
        free = [case for case in CASES if _meets(hypothesis, replace(claim, hypotheses=()), case)]
        if len(free) == len(CASES):
            return f"{hypothesis.statement} excludes no case"
    imposed = [h for h in claim.hypotheses if h.impose is not None]
    for hypothesis in imposed:
        if not all(_meets(hypothesis, claim, case) for case in CASES):
            return f"{hypothesis.statement} does not hold where it is imposed"
    return ""


def _meets(hypothesis: Hypothesis, claim: Claim, case: Case) -> bool:
    network = exact._network(adapted(exact.rational_case(case), claim), exact.EXACT)
    return exact._meets(hypothesis, hypothesis.quantity(network, claim.reading.letters(network)))


def violated(claim: Claim) -> str:
    """Look for a violation of what is expected proved, in exact numbers."""
    outcomes = [exact.examine(claim, case).outcome for case in CASES[: claim.expected in PROVED]]
    return "violated" if Outcome.VIOLATED in outcomes else ""


def wrong_sum(claim: Claim) -> str:
    """Add up the terms of a certificate in exact numbers."""
    if claim.certificate is None:
        return ""
    network = exact._network(adapted(exact.rational_case(CASES[0]), claim), exact.EXACT)
    letters = claim.reading.letters(network)
    actual, claimed = claim.sides(network, letters)
    is_lower = claim.relation in (Relation.AT_LEAST, Relation.MORE_THAN)
    slack = actual - claimed if is_lower else claimed - actual
    for term in claim.certificate(network, letters):
        product = term.weight
        for factor in term.factors:
            is_hypothesis = isinstance(factor, Hypothesis)
            product = product * (
                factor.quantity(network, letters) if is_hypothesis else (factor * factor).sum()
            )
        slack = slack - product
    return "" if exact.stands(exact.number(np.squeeze(slack).item()), Relation.EQUAL) else "sum"


def wrong_proof(claim: Claim) -> str:
    """Ask the abstract witness."""
    is_proved = abstract.prove(claim) is not None
    return "" if is_proved is (claim.expected in PROVED) else f"proved: {is_proved}"


def unrefuted(claim: Claim) -> str:
    """Search a counterexample to what is expected refuted, where hypotheses choose the cases."""
    if claim.expected is not Verdict.REFUTED or not claim.hypotheses:
        return ""
    return "" if search.smallest(claim, 40).counterexample else "no counterexample"


def unfit(claim: Claim) -> str:
    """Let the autograd witness look at two cases."""
    cases = [draw(STRATA[0], 0, index) for index in (0, 3)]
    (found,) = autograd.examine_cases(claim, cases)
    wrong = claim.expected in PROVED and Outcome.VIOLATED in found.outcomes
    return "violated in floats" if wrong else ""


NEW = (other_formula, empty_hypothesis, wrong_sum)
"""What no witness looks at."""
ALL = (other_formula, violated, empty_hypothesis, wrong_sum, unfit, wrong_proof, unrefuted)
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
