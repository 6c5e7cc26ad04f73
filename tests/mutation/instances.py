"""The cases at which killers look: small rational numbers, no two alike where it might matter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import numpy as np
import torch
from paper_numbers import Numbers

from theory.claim import Claim, Reading
from theory.santurkar2018 import CLAIMS
from verify.cases.case import Case, adapted
from verify.cases.lattice import lattice_case
from verify.cases.losses import Loss, general
from verify.witnesses.autograd import TorchNetwork

FIRST, *_ = CLAIMS


def quadratic_case(m: int, seed: int, spread: Fraction = Fraction(1), **changes: Any) -> Case:
    """Return a case of small integers with a quadratic loss; its batch is spread * integers."""
    rng = Random(seed)

    def entries(n: int) -> list[int]:
        return [rng.choice([-3, -2, -1, 1, 2, 3]) for _ in range(n)]

    case = lattice_case(
        y=rng.sample(range(-3, 4), m),
        gamma=rng.choice([-4, -2, 2, 3]),
        beta=rng.choice([-2, -1, 1, 3]),
        ratio=Fraction(3, 2),
        linear=entries(m),
        triangle=entries(m * (m + 1) // 2),
        direction=entries(m),
        other_direction=entries(m),
        bound=5,
    )
    return replace(case, y=spread * case.y, eps=spread**2 * case.eps, **changes)


def quartic(case: Case) -> Case:
    """Return the case with fourth powers in its loss, so that the Hessian knows where it is."""
    fourth = np.array([1 + k for k in range(len(case.y))], dtype=object)
    return replace(case, loss=Loss(general, (*case.loss.parameters, fourth, 0 * fourth, fourth)))


def without_slope(case: Case) -> Case:
    """Return the case with a loss that is zero."""
    return case.with_isotropic_loss(0 * case.y, 0)


EXACT = quadratic_case(3, 1, gamma=Fraction(-3, 2), beta=Fraction(1, 2))
OTHER = np.array([-3, 3, -1, 3], dtype=object)
CASES = quartic(EXACT), quartic(quadratic_case(4, 0, gamma=2, beta=-1, other_direction=OTHER))
EXACT_CASES = EXACT, quadratic_case(4, 6), quadratic_case(3, 4)
"""Where terms are added up; what vanishes at one, such as |t| - t, does not at every one."""
MANY_CASES = (
    *CASES,
    *(quadratic_case(3, seed, Fraction(1, 8), gamma=1) for seed in range(1, 4)),
    *(quadratic_case(2, seed) for seed in range(2, 8)),
    *(quadratic_case(2, seed, gamma=0) for seed in range(8, 14)),
    *(quadratic_case(3, seed, Fraction(1, 4), gamma=Fraction(1, 2)) for seed in range(14, 20)),
    quadratic_case(3, 20, gamma=1).with_later_batchnorm_loss(),
    without_slope(quadratic_case(2, 21)),
)
FAR_CASES = (
    quadratic_case(3, 22, Fraction(8)),
    quadratic_case(3, 23, other_direction=0 * EXACT.y + 1),
)
"""Cases that only hypotheses look at: a batch far away, and an input of equal entries."""


def network_of(case: Case) -> TorchNetwork:
    """Return the network of one case in float64."""
    y, u, v = (_tensor(a) for a in (case.y, case.direction, case.other_direction))
    numbers = (case.gamma, case.beta, case.eps, case.bound, case.later_normalizations)
    gamma, beta, eps, bound, later = (_tensor(number) for number in numbers)
    return TorchNetwork(y, gamma, beta, eps, u, loss_of(case), v, bound, later)


def loss_of(case: Case) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return the loss of a case for tensors."""
    parameters = [_tensor(p) for p in case.loss.parameters]
    return lambda z: case.loss.function(z, None, *parameters)


def numbers_of(case: Case, reading: Reading) -> Numbers:
    """Return the paper's symbols for a case, for the formulas as they are restated."""
    y, u, v = (_tensor(a).numpy() for a in (case.y, case.direction, case.other_direction))
    numbers = (case.gamma, case.beta, case.eps, case.bound)
    gamma, beta, eps, bound = (_tensor(number).item() for number in numbers)
    in_yhat = 0.0 if reading is Reading.UNIT_VARIANCE else eps
    return Numbers(y, gamma, beta, eps, u, v, loss_of(case), in_yhat, bound)


def _tensor(numbers: Any) -> torch.Tensor:
    return torch.tensor(np.squeeze(np.array(numbers, dtype=np.float64)))


def instances_of(claim: Claim) -> Iterator[tuple[TorchNetwork, Numbers]]:
    """Yield cases as networks and in the paper's symbols: free ones, then hypotheses imposed.

    What vanishes where the hypotheses hold can be told from zero where they do not.
    """
    yield from (free_case(index, claim.reading) for index in range(len(CASES)))
    if claim.hypotheses:
        case = adapted(CASES[0], claim)
        yield network_of(case), numbers_of(case, claim.reading)


@cache
def free_case(index: int, reading: Reading) -> tuple[TorchNetwork, Numbers]:
    """Return one case without hypotheses, computed once."""
    case = adapted(CASES[index], replace(FIRST, reading=reading, hypotheses=()))
    return network_of(case), numbers_of(case, reading)
