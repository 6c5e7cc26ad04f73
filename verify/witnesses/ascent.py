"""Gradient ascent on the violation, for statements that fail only in a thin set.

What it finds in floats is rounded and decided exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np
import torch
from torch import Tensor
from torch.func import vmap

from theory.claim import Claim, Reading, Relation, Verdict
from verify.record import Record
from verify.settings import Settings
from verify.subjects.losses import Loss, quadratic
from verify.subjects.network import PrimitiveNetwork
from verify.subjects.rounding import rounded
from verify.subjects.unit import Case
from verify.tolerance import Outcome
from verify.witnesses import exact
from verify.witnesses.autograd import evaluate, network_of
from verify.witnesses.batches import GROUNDS, simplest
from verify.witnesses.integers import counterexample
from verify.witnesses.records import counted, told_of

SHORT, LONG = (2, 3, 4), 12
"""Lengths of batches, and one more for statements of which no proof is expected."""
TOGETHER = 64
"""How many claims climb together: each is evaluated at the cases of all."""


def ascend(
    claims: Sequence[Claim], m: int, seed: int = 0, restarts: int = 32, steps: int = 150
) -> list[Iterator[Case]]:
    """Return each claim's cases with a large violation, the largest first, by gradient ascent.

    The parameters are those of a case with a quadratic loss; the objective is the excess of one
    side over the other, relative to one plus their size.  All claims are of one reading,
    start from the same cases and are evaluated at each other's too, which costs less than a
    network for each.
    """
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> Tensor:
        drawn = torch.randn(restarts, *shape, generator=generator, dtype=torch.float64)
        return drawn.repeat(len(claims), 1, *[1] * len(shape))

    parameters = [
        draw(m), draw(), draw(), draw(), draw(m), draw(m), draw(), draw(m), draw(m, m)
    ]  # fmt: skip
    optimiser = torch.optim.Adam(parameters, lr=0.05)
    together = [list(range(len(claims)))]
    for _ in range(steps):
        slopes = [s for group in together for s in _slopes(claims, group, parameters)]
        for place, parameter in enumerate(parameters):
            parameter.grad = torch.full_like(parameter, torch.nan)
            for group, found in slopes:
                parameter.grad[group] = found[place]
        optimiser.step()
        climbing = _finite(parameters).any(1)
        together = [group for group, _ in slopes if climbing[group].any()]
    objectives = _own(_excesses(claims, parameters))
    return [_cases(own, [p[i] for p in parameters]) for i, own in enumerate(objectives)]


def _slopes(
    claims: Sequence[Claim], group: list[int], parameters: Sequence[Tensor]
) -> list[tuple[list[int], list[Tensor]]]:
    """Return the derivatives of minus each claim's own objective, in groups where all are finite.

    A formula that has no derivative at another claim's case would leave none to that claim: zero
    times infinity.  A claim of such a formula climbs alone.
    """
    at = [p[group].requires_grad_(True) for p in parameters]
    excesses = _excesses([claims[i] for i in group], at)

    def slopes(objective: Tensor) -> list[Tensor]:
        descent = -torch.nan_to_num(objective).sum()
        if not descent.requires_grad:  # it speaks of the batch's length alone
            return [torch.zeros_like(p) for p in at]
        found = torch.autograd.grad(
            descent, at, retain_graph=True, allow_unused=True, materialize_grads=True
        )
        return list(found)

    def is_steep(everywhere: Tensor) -> bool:
        return not _finite(slopes(everywhere)).all()

    own = slopes(_own(excesses))
    if len(group) == 1 or _finite(own).all():
        return [(group, own)]
    steep = [i for i, everywhere in zip(group, excesses, strict=True) if is_steep(everywhere)]
    if not steep:
        return [(group, own)]
    others = [i for i in group if i not in steep]
    parts = [others, *([i] for i in steep)]
    return [found for part in parts if part for found in _slopes(claims, part, parameters)]


def _finite(numbers: Sequence[Tensor]) -> Tensor:
    """Return of which cases all numbers are finite, of shape (claim, restart)."""
    return torch.stack([n.isfinite().reshape(*n.shape[:2], -1).all(2) for n in numbers]).all(0)


def _own(excesses: Sequence[Tensor]) -> Tensor:
    """Return each claim's objective at its own cases, of shape (claim, restart)."""
    return torch.stack([everywhere[place] for place, everywhere in enumerate(excesses)])


def _excesses(claims: Sequence[Claim], parameters: Sequence[Tensor]) -> list[Tensor]:
    """Return each claim's objective at the cases of all, of shape (claim of the case, restart)."""
    shape = parameters[0].shape[:2]
    found = vmap(partial(_excesses_at, claims))(*(p.flatten(end_dim=1) for p in parameters))
    return [everywhere.reshape(shape) for everywhere in found]


def _excesses_at(claims: Sequence[Claim], *parameters: Tensor) -> tuple[Tensor, ...]:
    case = _case(parameters)
    if claims[0].reading is Reading.NO_EPSILON:
        case = replace(case, eps=0 * case.eps)
    network = network_of(case, case.loss)
    return tuple(_excess(claim, network) for claim in claims)


def _excess(claim: Claim, network: PrimitiveNetwork) -> Tensor:
    actual, claimed, *quantities = evaluate(claim, network)
    slack = claim.relation.slack(actual, claimed)
    failing = torch.linalg.vector_norm(slack) if claim.relation is Relation.EQUAL else -slack
    size = torch.linalg.vector_norm(actual) + torch.linalg.vector_norm(claimed) + 1
    unmet = sum(torch.relu(-quantity).sum() for quantity in quantities)
    excess: Tensor = failing.sum() / size - unmet
    return excess


def _cases(objective: Tensor, parameters: Sequence[Tensor]) -> Iterator[Case]:
    """Yield a claim's cases, those with the largest objective first."""
    for index in torch.argsort(torch.nan_to_num(objective, nan=-np.inf), descending=True).tolist():
        here = [p[index] for p in parameters]
        if all(torch.isfinite(p).all() for p in here):  # a step may have met a sigma of zero
            yield rounded(_case(here))


def _case(parameters: Sequence[Tensor]) -> Case:
    y, gamma, beta, log_eps, direction, other, log_bound, linear, half = parameters
    return Case(
        y=y,
        gamma=gamma,
        beta=beta,
        eps=torch.exp(log_eps),
        loss=Loss(quadratic, (linear, (half + half.T) / 2)),
        direction=direction,
        other_direction=other,
        bound=torch.exp(log_bound),
        stratum="ascent",
    )


def climbed(
    claims: Sequence[Claim],
    seed: int = 0,
    restarts: int = 32,
    steps: int = 150,
    lengths: tuple[int, ...] = (*SHORT, LONG),
    tries: int = 4,
) -> list[tuple[Case | None, Counter[Outcome]]]:
    """Return a case that violates each claim for certain, if ascent finds one, and what was met.

    A claim that is violated at one length climbs no further.
    """
    found: dict[str, Case] = {}
    met = {claim.id: Counter[Outcome]() for claim in claims}
    for m in lengths:
        left = [claim for claim in claims if claim.id not in found and _is_asked(claim, m)]
        for claim, cases in _ends(left, m, seed, restarts, steps):
            case, outcomes = _first_violating(claim, islice(cases, tries))
            met[claim.id] += outcomes
            if case is not None:
                found[claim.id] = case
    return [(found.get(claim.id), met[claim.id]) for claim in claims]


def _is_asked(claim: Claim, m: int) -> bool:
    return m <= max(SHORT) or claim.expected is not Verdict.PROVED


def _ends(
    claims: Sequence[Claim], m: int, seed: int, restarts: int, steps: int
) -> Iterator[tuple[Claim, Iterator[Case]]]:
    """Yield each claim with the cases at which its ascents end, a few claims at a time."""
    for start in range(0, len(claims), TOGETHER):
        group = claims[start : start + TOGETHER]
        yield from zip(group, ascend(group, m, seed, restarts, steps), strict=True)


def _first_violating(claim: Claim, cases: Iterable[Case]) -> tuple[Case | None, Counter[Outcome]]:
    met: Counter[Outcome] = Counter()
    for case in cases:
        (examined,) = exact.examined([claim], case)
        met[examined.outcome] += 1
        if examined.is_violated:
            return simplest(claim, case), met
    return None, met


def examine(claims: Sequence[Claim], settings: Settings) -> Iterator[Record]:
    """Gradient ascent on the violation, certified exactly."""
    budget = settings.budget
    for reading in dict.fromkeys(claim.reading for claim in claims):
        alike = [claim for claim in claims if claim.reading is reading]
        every = climbed(alike, settings.seed, budget.restarts, budget.steps)
        for claim, (case, met) in zip(alike, every, strict=True):
            found = None if case is None else counterexample(GROUNDS, claim, case)
            yield Record(claim.id, "ascent", **counted(met), **told_of(found))
