r"""Statements about matrices in floating point, differentiated by PyTorch.

How much rounding moves both sides is measured, as :mod:`verify.tolerance` says: every operation
is perturbed at random, and here the inputs too, by a part of their largest entry, since the
errors of a decomposition are as large as the matrix and not as its entries.  The perturbed copies
of a subject are stacked and evaluated in one vectorised call (``torch.func.vmap``), but for
statements whose sides look at numbers before they go on, such as those on condition numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.func import vmap

from theory.arithmetic import sqrt
from theory.arithmetic.operations import taking_zeros
from theory.matrix_claim import MatrixClaim
from theory.statement import Hypothesis, Relation, Verdict
from verify import tolerance
from verify.cases.case import imposed_by
from verify.evidence import Record
from verify.matrices.exact import imposed
from verify.matrices.strata import STRATA, draw, random_subjects
from verify.matrices.subjects import Numbers
from verify.network import Calculus
from verify.settings import FLOOR, Settings
from verify.tolerance import Array, Outcome
from verify.witnesses import autograd
from verify.witnesses.complex_step import LARGEST_ERROR
from verify.witnesses.instances import Instances
from verify.witnesses.random_arithmetic import RandomArithmetic
from verify.witnesses.records import record

MATRICES_SHARE = 2
"""One subject of matrices for so many batches of a unit: they are not examined all at once."""
FURTHER = 8
"""So many more subjects of a stratum are drawn at most where nothing is decided."""
FAR, MOST = 2000, 2096
"""Numbers of subjects that no profile gives to what is examined first."""
NOTHING = np.full(1, np.nan)
CALCULUS = Calculus(sqrt, autograd.gradient, autograd.derivative)


class Evaluation(NamedTuple):
    """Both sides and the hypotheses' quantities, each with a leading axis of one."""

    actual: Array
    claimed: Array
    quantities: tuple[Array, ...]

    @classmethod
    def of(cls, actual: Array, claimed: Array, *quantities: Array) -> Evaluation:
        """Return an evaluation of flat arrays with a leading axis of one."""
        return cls(actual, claimed, quantities)

    def at(self, index: slice) -> Evaluation:
        """Return the sides' entries of an index."""
        return Evaluation(self.actual[:, index], self.claimed[:, index], self.quantities)


class Copies:
    """A subject in PyTorch, and copies of it whose numbers are moved as rounding would.

    Statements that are examined at one share what is computed there.
    """

    def __init__(self, subject: Numbers, seed: int):
        self.subject, self.seed = subject.converted(tensor, CALCULUS), seed

    @cached_property
    def numbers_moved(self) -> dict[str, Any]:
        """The numbers of the copies, which the first axis counts."""
        numbers = {name: getattr(self.subject, name) for name in self.subject.names()}
        rounded = {n: x for n, x in numbers.items() if n not in self.subject.truths}
        seeds = range(self.seed, self.seed + tolerance.SAMPLES)
        kept = {name: x.expand(len(seeds), *x.shape) for name, x in numbers.items()}
        return kept | _moved(rounded, seeds)

    @cached_property
    def moved(self) -> list[Numbers]:
        """The copies."""
        return [
            replace(self.subject, **{name: x[i] for name, x in self.numbers_moved.items()})
            for i in range(tolerance.SAMPLES)
        ]

    def evaluated(self, claim: MatrixClaim) -> tuple[Evaluation, float]:
        """Return what a claim is there, and its derivatives' largest relative error."""
        return evaluate(claim, self.subject, _numpy), 0.0

    def error_of(self, hypothesis: Hypothesis) -> float:
        """Return the largest relative error of the derivatives in a hypothesis."""
        return 0.0

    def perturbed(self, claim: MatrixClaim) -> list[Evaluation]:
        """Return what a claim is at each copy, in random arithmetic."""
        return [
            _evaluated_randomly(claim, moved, self.seed + i) for i, moved in enumerate(self.moved)
        ]

    def perturbed_together(self, claims: Sequence[MatrixClaim]) -> dict[str, list[Evaluation]]:
        """Return what claims are at all copies, in random arithmetic and in one call.

        Claims that cannot be evaluated at several copies at once are missing.
        """

        def one(numbers: dict[str, Any]) -> dict[str, list[torch.Tensor]]:
            subject = replace(self.subject, **numbers)
            found = ((claim.id, _flat_or_none(claim, subject)) for claim in claims)
            return {name: tensors for name, tensors in found if tensors is not None}

        with RandomArithmetic(tolerance.STEP, self.seed), taking_zeros():
            together = vmap(one)(self.numbers_moved)
        return {name: _of_every_copy(tensors) for name, tensors in together.items()}


def examine_random(claims: Sequence[MatrixClaim], settings: Settings) -> Iterator[Record]:
    """Examine random subjects of every stratum."""
    count = -(-settings.budget.random // MATRICES_SHARE)
    for alike in of_one_kind(claims):
        found = examine_until_decided(
            alike, settings.seed, count, partial(examine_together, seed=settings.seed)
        )
        for claim in alike:
            if claim.expected is Verdict.SUPPORTED and claim.relation is Relation.EQUAL:
                found[claim.id] += _examined_further(claim, found[claim.id], settings.seed)
        for claim in alike:
            yield record(claim, "autograd", found[claim.id])


def examine_until_decided(
    claims: Sequence[MatrixClaim],
    seed: int,
    count: int,
    examine: Callable[[Sequence[MatrixClaim], Iterable[Numbers]], dict[str, list[Instances]]],
) -> dict[str, list[Instances]]:
    """Examine ``count`` subjects of every stratum, and a few more where they decide too little."""
    kind = claims[0].subject
    found = examine(claims, random_subjects(kind, seed, count))
    for number in range(count, count + FURTHER):
        open_ones = [claim for claim in claims if not _is_settled(claim, found[claim.id])]
        for stratum in STRATA:
            waiting = [claim for claim in open_ones if _is_awaited(claim, found[claim.id], stratum)]
            if waiting:
                for name, more in examine(waiting, [draw(kind, stratum, seed, number)]).items():
                    found[name] += more
    return found


def _examined_further(
    claim: MatrixClaim, groups: Sequence[Instances], seed: int
) -> list[Instances]:
    """Examine an equation that nothing proves, of which balls decide nothing, at more subjects."""
    further: list[Instances] = []
    for first in range(FAR, MOST, FURTHER):
        if _decided([*groups, *further]).total() >= FLOOR.instances:
            break
        further += examine_all(claim, random_subjects(claim.subject, seed, FURTHER, first), seed)
    return further


def _decided(groups: Sequence[Instances]) -> Counter[str]:
    """Return how many instances of every stratum hold, or are violated."""
    return Counter(
        name
        for group in groups
        for name, outcome in zip(group.strata, group.outcomes, strict=True)
        if outcome in (Outcome.HOLDS, Outcome.VIOLATED)
    )


def _is_awaited(claim: MatrixClaim, groups: Sequence[Instances], stratum: str) -> bool:
    """Whether a stratum decides nothing yet, and others too little."""
    return stratum not in _decided(groups) and not _is_settled(claim, groups)


def _is_settled(claim: MatrixClaim, groups: Sequence[Instances]) -> bool:
    """Whether enough strata decide something."""
    enough = FLOOR.strata if claim.expected is Verdict.SUPPORTED else 1
    return len(_decided(groups)) >= enough


def of_one_kind(claims: Sequence[MatrixClaim]) -> list[list[MatrixClaim]]:
    """Return groups of claims that are about the same kind of subject."""
    kinds = dict.fromkeys(claim.subject for claim in claims)
    return [[claim for claim in claims if claim.subject is kind] for kind in kinds]


def examine_all(claim: MatrixClaim, subjects: Iterable[Numbers], seed: int = 0) -> list[Instances]:
    """Examine a claim at subjects one by one."""
    return examine_together([claim], subjects, seed)[claim.id]


def examine_together(
    claims: Sequence[MatrixClaim], subjects: Iterable[Numbers], seed: int = 0
) -> dict[str, list[Instances]]:
    """Examine claims at subjects one by one; those that change it alike share all work."""
    return examine_at(claims, subjects, lambda subject: Copies(subject, seed))


def examine_at(
    claims: Sequence[MatrixClaim],
    subjects: Iterable[Numbers],
    copies_of: Callable[[Numbers], Copies],
) -> dict[str, list[Instances]]:
    """Examine claims at the copies of subjects one by one."""
    found: dict[str, list[Instances]] = {claim.id: [] for claim in claims}
    groups: dict[tuple[Any, ...], list[MatrixClaim]] = {}
    for claim in claims:
        groups.setdefault(imposed_by(claim), []).append(claim)
    one_by_one: set[str] = set()
    for subject in subjects:
        for alike in groups.values():
            copies = copies_of(imposed(alike[0], subject))
            together = [claim for claim in alike if claim.id not in one_by_one]
            perturbed = copies.perturbed_together(together) if together else {}
            one_by_one |= {claim.id for claim in together} - perturbed.keys()
            for claim in alike:
                found[claim.id].append(judged(claim, copies, perturbed.get(claim.id)))
    return found


def examine(claim: MatrixClaim, subject: Numbers, seed: int = 0) -> Instances:
    """Examine one subject; a side that cannot be evaluated there makes it vacuous."""
    return judged(claim, Copies(imposed(claim, subject), seed))


def judged(
    claim: MatrixClaim, copies: Copies, known: Sequence[Evaluation] | None = None
) -> Instances:
    """Judge a claim by how far rounding moves it; what cannot be evaluated is vacuous.

    Args:
        claim: the claim.
        copies: of the subject.
        known: what the claim is at each copy, in random arithmetic; None to evaluate it there.
    """
    subject = copies.subject
    try:
        full, error = copies.evaluated(claim)
        perturbed = copies.perturbed(claim) if known is None else known
    except ZeroDivisionError:
        return _instance(subject, Outcome.VACUOUS)
    index = _nearest_to_failing(claim.relation, full)
    base, samples = full.at(index), [sample.at(index) for sample in perturbed]
    rounding = autograd.rounding_of(base[:2], [sample[:2] for sample in samples])
    count = max(2, *(getattr(subject, name).numel() for name in subject.names()))
    allowed = tolerance.tolerance(rounding, count, error, rounding)
    errors = [copies.error_of(hypothesis) for hypothesis in claim.hypotheses]
    if not _met(claim, base, samples, count, errors):
        return _instance(subject, Outcome.VACUOUS)
    sides = base.actual, base.claimed, claim.relation
    (outcome,) = tolerance.judge_approximate(*sides, count, rounding, np.array([error]))
    ratio = tolerance.ratio(base.actual, base.claimed, claim.relation, allowed)
    scalars = tolerance.scalar(base.actual), tolerance.scalar(base.claimed)
    return _instance(
        subject, outcome if error <= LARGEST_ERROR else Outcome.UNDECIDED, ratio, *scalars
    )


def evaluate(claim: MatrixClaim, subject: Numbers, to_numpy: Callable[[Any], Array]) -> Evaluation:
    """Return both sides as NumPy arrays of one shape, and the hypotheses' quantities."""
    arrays = _flat(claim, subject, to_numpy, np.broadcast_arrays)
    return Evaluation.of(*(array[None] for array in arrays))


def _flat_or_none(claim: MatrixClaim, subject: Numbers) -> list[torch.Tensor] | None:
    """Return both sides and the hypotheses' quantities of copies that are evaluated in one call.

    None where a number is looked at, as it differs from copy to copy.
    """
    convert = partial(torch.as_tensor, dtype=torch.float64)
    try:
        return _flat(claim, subject, convert, torch.broadcast_tensors)
    except (RuntimeError, ZeroDivisionError):
        return None


def _flat(
    claim: MatrixClaim, subject: Numbers, convert: Callable[[Any], Any], broadcast: Any
) -> list[Any]:
    """Return both sides, of one shape, and the hypotheses' quantities, as flat arrays."""
    sides = broadcast(*map(convert, claim.sides(subject)))
    quantities = [convert(h.quantity(subject)) for h in claim.hypotheses]
    return [array.reshape(-1) for array in (*sides, *quantities)]


def _of_every_copy(tensors: Sequence[torch.Tensor]) -> list[Evaluation]:
    """Return the evaluation at each of the copies that the first axis counts."""
    arrays = [_numpy(tensor) for tensor in tensors]
    return [
        Evaluation.of(*(array[i : i + 1] for array in arrays)) for i in range(tolerance.SAMPLES)
    ]


def _nearest_to_failing(relation: Relation, full: Evaluation) -> slice:
    """Return which entry of an inequality between arrays is to be judged; all of an equation."""
    if relation is Relation.EQUAL or full.actual.size <= 1:
        return slice(None)
    worst = int(np.argmin(relation.slack(full.actual, full.claimed)))
    return slice(worst, worst + 1)


def _moved(numbers: dict[str, torch.Tensor], seeds: Sequence[int]) -> dict[str, torch.Tensor]:
    """Return numbers moved by a part of their largest, once for each seed."""
    sizes = [value.numel() for value in numbers.values()]
    noise = torch.empty(len(seeds), sum(sizes), dtype=torch.float64)
    for row, seed in zip(noise, seeds, strict=True):
        row.uniform_(-1, 1, generator=torch.Generator().manual_seed(seed))
    drawn = zip(numbers.items(), noise.split(sizes, dim=1), strict=True)
    return {
        name: value + tolerance.STEP * value.abs().max() * own.reshape(-1, *value.shape)
        for (name, value), own in drawn
    }


def _evaluated_randomly(claim: MatrixClaim, subject: Numbers, seed: int) -> Evaluation:
    with RandomArithmetic(tolerance.STEP, seed):
        return evaluate(claim, subject, _numpy)


def _met(
    claim: MatrixClaim,
    base: Evaluation,
    samples: Sequence[Evaluation],
    count: int,
    errors: Sequence[float],
) -> bool:
    """Whether every hypothesis is met, up to rounding where it is an equation or a bound."""
    for number, hypothesis in enumerate(claim.hypotheses):
        value = base.quantities[number]
        rounding = tolerance.condition_times_size(value, [s.quantities[number] for s in samples])
        slack = tolerance.tolerance(rounding, count, errors[number], rounding)
        if not tolerance.stands(value, hypothesis.sign, slack).all():
            return False
    return True


def _instance(
    subject: Numbers, outcome: Outcome, ratio: Array = NOTHING, *sides: Array
) -> Instances:
    actual, claimed = sides or (NOTHING, NOTHING)
    return Instances(
        outcomes=[outcome],
        ratios=ratio,
        actual=actual,
        claimed=claimed,
        m=_rows(subject),
        tokens=[subject.token],
        strata=[subject.stratum],
    )


def _rows(subject: Numbers) -> int:
    """The batch size, or the dimension, that plots are drawn against."""
    return len(getattr(subject, subject.names()[0]))


def tensor(value: Any) -> torch.Tensor:
    """Return numbers as a PyTorch tensor of float64."""
    return torch.as_tensor(np.asarray(value, dtype=np.float64))


def _numpy(value: Any) -> Array:
    detached = value.detach() if isinstance(value, torch.Tensor) else value
    return np.asarray(detached, dtype=np.float64)
