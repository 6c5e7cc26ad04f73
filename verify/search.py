r"""Counterexamples: searched for, shrunk, certified.

Two searches, each from a cold start.  :func:`smallest` draws cases of small integers, batch
lengths in ascending order, and has Hypothesis shrink what it finds; every comparison is certain.
:func:`ascend` climbs the violation itself by its gradient, for statements that fail only in a
thin set; what it finds in floats is rounded and decided exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np
import torch
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.errors import NoSuchExample
from torch.func import vmap

from theory.claim import Claim, Reading, Relation
from theory.statement import Statement
from verify.cases import lattice
from verify.cases.case import Case, adapted
from verify.cases.losses import Loss, quadratic
from verify.cases.strata import random_cases
from verify.evidence import Record
from verify.settings import Settings
from verify.tolerance import Outcome
from verify.witnesses import autograd, exact
from verify.witnesses.autograd import TorchNetwork, evaluate
from verify.witnesses.records import counted, in_words

SEARCHED_LENGTHS = (1, 2, 3, 4)
INSISTENCE = 4
EQUATION_SHARE = 3
FEW = 2
"""Random batches of every stratum that say whether it is worth to insist."""


@dataclass(frozen=True)
class Counterexample:
    """A case of rational numbers that violates a claim, and both sides."""

    case: Case
    examined: exact.Examined

    def written(self) -> dict[str, Any]:
        """Return the numbers as strings."""
        return {
            **lattice.written(self.case),
            "actual": self.examined.actual,
            "claimed": self.examined.claimed,
            "arithmetic": self.examined.arithmetic,
        }


@dataclass
class Searched:
    """What the search of one claim met: outcomes for each batch length, and what it found."""

    outcomes: dict[int, Counter[Outcome]] = field(default_factory=dict)
    counterexample: Counterexample | None = None


def smallest(
    claim: Claim,
    examples: int,
    seed: int = 0,
    lengths: tuple[int, ...] = SEARCHED_LENGTHS,
    insists: bool | None = None,
) -> Searched:
    """Search batch lengths in ascending order until a counterexample is found, and shrink it.

    The lengths that were passed by are then searched again, :data:`INSISTENCE` times as hard; and
    so is the longest, where nothing was found although floats violate the claim.

    Args:
        claim: what is searched.
        examples: how many cases of each length are drawn.
        seed: of the draws.
        lengths: of the batches.
        insists: whether floats violate the claim; None to try it here.
    """
    searched = Searched()
    if (hinted := first_looked_at(claim)) is not None:
        searched.outcomes[len(hinted.case.y)] = Counter({Outcome.VIOLATED: 1})
        searched.counterexample = hinted
        return searched
    for m in lengths:
        searched.counterexample = search_length(claim, m, examples, seed, searched)
        if searched.counterexample is not None:
            break
    insists = bool(fail_in_floats([claim], seed)) if insists is None else insists
    if searched.counterexample is None and insists:
        longest, again = lengths[-1], seed + 1
        searched.counterexample = search_length(
            claim, longest, INSISTENCE * examples, again, searched
        )
        m = longest
    passed_by = lengths[: lengths.index(m)] if searched.counterexample else ()
    for shorter in passed_by:
        if set(searched.outcomes[shorter]) <= {Outcome.VACUOUS}:
            continue
        found = search_length(claim, shorter, INSISTENCE * examples, seed, searched)
        if found is not None:
            searched.counterexample = found
            break
    return searched


def first_looked_at(claim: Claim) -> Counterexample | None:
    """Return a counterexample where a claim's hints say that there is one, chosen for a reader."""
    for case in small_cases() if claim.attack else ():
        start = exact.rational_case(case)
        if not claim.reading.has_epsilon:
            start = replace(start, eps=0 * start.eps)
        for hint in claim.attack:
            found = certified(claim, hint(start))
            if found is not None:
                return found
    return None


def small_cases() -> Iterator[Case]:
    """Yield batches with few small entries, a scale of one and no shift; longer ones first."""
    batches = ([-1, 0, 1], [-1, 1], [0, -1])
    for y, entries in product(batches, ([1, -2], [1, 0], [2, 1])):
        m = len(y)
        direction = [*entries, 2][:m]
        nothing, triangle = [0] * m, [0] * (m * (m + 1) // 2)
        yield lattice.lattice_case(y, 1, 0, Fraction(2), nothing, triangle, direction, direction, 1)


def fail_in_floats(claims: Sequence[Claim], seed: int) -> set[str]:
    """Return the identifiers of the claims that one of a few random batches seems to violate."""
    with np.errstate(all="ignore"):  # a hypothesis may be imposed where sigma is zero
        few = autograd.examine_all(claims, list(random_cases(seed, FEW)), seed)
    return {
        name
        for name, groups in few.items()
        if any(Outcome.VIOLATED in found.outcomes for found in groups)
    }


def search_length(
    claim: Claim, m: int, examples: int, seed: int, searched: Searched
) -> Counterexample | None:
    """Return a shrunk counterexample of length m, if one is found; count what was met."""
    met = searched.outcomes.setdefault(m, Counter())

    def violates(case: Case) -> bool:
        outcome = decided(claim, case)
        met[outcome] += 1
        return outcome is Outcome.VIOLATED

    try:
        found = find(
            lattice.cases(m), violates, settings=search_settings(examples), random=Random(seed)
        )
    except NoSuchExample:
        return None
    return certified(claim, found)


def decided(claim: Claim, case: Case) -> Outcome:
    """Return the outcome for certain: by balls where they suffice, else by exact numbers."""
    quick = exact.examine_in_balls(claim, case, cap=128).outcome
    return quick if quick is not Outcome.UNDECIDED else exact.examine(claim, case).outcome


def certified(claim: Claim, case: Case) -> Counterexample | None:
    """Return the case, with its hypotheses imposed, as a counterexample if it is one."""
    settled = adapted(exact.rational_case(case), claim)
    examined = exact.examine(claim, case)
    return Counterexample(settled, examined) if examined.outcome is Outcome.VIOLATED else None


def examples_for(claim: Statement, examples: int) -> int:
    """Return how many examples to draw: an equation that is false fails almost everywhere."""
    return examples // (EQUATION_SHARE if claim.relation is Relation.EQUAL else 1)


def search_settings(examples: int) -> settings:
    """Return Hypothesis's settings for a search of so many examples."""
    return settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )


def ascend(
    claim: Claim, m: int, seed: int = 0, restarts: int = 32, steps: int = 150
) -> Iterator[Case]:
    """Yield cases with a large violation, the largest first, found by gradient ascent.

    The parameters are those of a case with a quadratic loss; the
    objective is the excess of one side over the other, relative to one plus their size.
    """
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(restarts, *shape, generator=generator, dtype=torch.float64)

    parameters = [
        draw(m), draw(), draw(), draw(), draw(m), draw(m), draw(), draw(m), draw(m, m)
    ]  # fmt: skip
    for p in parameters:
        p.requires_grad_(True)
    optimiser = torch.optim.Adam(parameters, lr=0.05)
    objective = vmap(lambda *p: _excess(claim, *p))
    for _ in range(steps):
        optimiser.zero_grad()
        loss = -torch.nan_to_num(objective(*parameters)).sum()
        loss.backward()
        optimiser.step()
    final = torch.nan_to_num(objective(*parameters), nan=-np.inf).detach()
    for index in torch.argsort(final, descending=True).tolist():
        numbers = [p[index].detach() for p in parameters]
        if all(torch.isfinite(p).all() for p in numbers):  # a step may have met a sigma of zero
            yield _case(numbers)


def _excess(claim: Claim, *parameters: torch.Tensor) -> torch.Tensor:
    y, gamma, beta, log_eps, direction, other, log_bound, linear, half = parameters
    eps = torch.exp(log_eps) if claim.reading is not Reading.NO_EPSILON else 0 * log_eps
    symmetric = (half + half.T) / 2
    network = TorchNetwork(
        y,
        gamma,
        beta,
        eps,
        direction,
        lambda z: quadratic(z, None, linear, symmetric),
        other,
        torch.exp(log_bound),
    )
    actual, claimed, quantities = evaluate(claim, network)
    difference = actual - claimed
    if claim.relation is Relation.EQUAL:
        difference = torch.linalg.vector_norm(difference)
    elif claim.relation in (Relation.AT_LEAST, Relation.MORE_THAN):
        difference = -difference
    size = torch.linalg.vector_norm(actual) + torch.linalg.vector_norm(claimed) + 1
    unmet = torch.relu(-quantities).sum() if len(quantities) else 0.0
    return difference.sum() / size - unmet


def _case(parameters: list[torch.Tensor], digits: int = 6) -> Case:
    """Return the case with every number rounded to a short binary fraction."""

    def short(t: torch.Tensor) -> Any:
        return np.round(t.numpy() * 2**digits) / 2**digits

    y, gamma, beta, log_eps, direction, other, log_bound, linear, half = parameters
    symmetric = (half + half.T) / 2
    return Case(
        y=short(y),
        gamma=short(gamma),
        beta=short(beta),
        eps=max(short(torch.exp(log_eps)), 2.0**-digits),
        loss=Loss(quadratic, (short(linear), short(symmetric))),
        direction=short(direction),
        other_direction=short(other),
        bound=max(short(torch.exp(log_bound)), 2.0**-digits),
        stratum="ascent",
    )


def climbed(
    claim: Claim,
    seed: int = 0,
    restarts: int = 32,
    steps: int = 150,
    lengths: tuple[int, ...] = (2, 3, 4),
    tries: int = 4,
) -> tuple[Counterexample | None, Counter[Outcome]]:
    """Return a counterexample found by ascent and certified, if any, and the outcomes met."""
    met: Counter[Outcome] = Counter()
    for m in lengths:
        for _, case in zip(range(tries), ascend(claim, m, seed, restarts, steps), strict=False):
            outcome = exact.examine(claim, case).outcome
            met[outcome] += 1
            if outcome is Outcome.VIOLATED:
                return certified(claim, case), met
    return None, met


def search_integers(claims: Sequence[Claim], settings: Settings) -> Iterator[Record]:
    """Small integers in exact arithmetic, drawn and shrunk by Hypothesis."""
    failing = fail_in_floats(claims, settings.seed)
    for claim in claims:
        examples = examples_for(claim, settings.budget.examples)
        insists = claim.id in failing
        yield _found(claim, smallest(claim, examples, settings.seed, insists=insists))


def _found(claim: Claim, searched: Searched) -> Record:
    total = Counter[Outcome]()
    for counts in searched.outcomes.values():
        total += counts
    found = searched.counterexample
    return Record(
        claim=claim.id,
        witness="exact",
        **counted(total),
        sizes={str(m): in_words(counts) for m, counts in searched.outcomes.items()},
        counterexample=found.written() if found else None,
    )


def climb(claim: Claim, settings: Settings) -> Record:
    """Gradient ascent on the violation, certified exactly."""
    budget = settings.budget
    found, met = climbed(claim, settings.seed, budget.restarts, budget.steps)
    return Record(
        claim=claim.id,
        witness="ascent",
        **counted(met),
        counterexample=found.written() if found else None,
    )
