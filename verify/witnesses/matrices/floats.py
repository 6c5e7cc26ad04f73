r"""Statements about matrices in floating point, differentiated by PyTorch.

How much rounding moves both sides is measured, as :mod:`verify.tolerance` says: every operation
is perturbed at random, and here the inputs too, by a part of their largest entry, since the
errors of a decomposition are as large as the matrix and not as its entries.  Subjects of the same
sizes are stacked and evaluated in one vectorised call (``torch.func.vmap``), and so are their
perturbed copies, but for statements whose sides look at numbers before they go on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
from torch.func import vmap

from theory.arithmetic.operations import taking_zeros
from theory.arithmetic.spectra import small_is_zero
from theory.matrix_claim import MatrixClaim
from theory.statement import Relation, Verdict
from verify import tolerance
from verify.grouping import grouped
from verify.record import Record
from verify.settings import FLOOR, Settings
from verify.subjects.matrices import Numbers, may_be_met
from verify.subjects.matrix_strata import STRATA, draw, random_subjects
from verify.subjects.unit import imposing_alike
from verify.tolerance import Array, Outcome
from verify.witnesses import autograd
from verify.witnesses.evaluations import (
    Evaluation,
    flat,
    in_rows,
    judged,
    may_be_violated,
    parted,
)
from verify.witnesses.instances import Instances
from verify.witnesses.matrices.exact import imposed
from verify.witnesses.random_arithmetic import RandomArithmetic
from verify.witnesses.records import recorded

MATRICES_SHARE = 2
"""One subject of matrices for so many batches of a unit: they are not examined all at once."""
FURTHER = 24
"""So many more subjects of a stratum are drawn at most where nothing is decided."""
AT_ONCE = 8
"""So many more are drawn together where too little is decided."""
MORE, FAR, MOST = 1000, 2000, 2096
"""Numbers of subjects that no profile gives to what is examined first."""


class Copies:
    """Subjects of the same sizes in PyTorch, and copies whose numbers are moved as rounding would.

    Statements that are examined at them share what is computed there.
    """

    def __init__(self, subjects: Sequence[Numbers], seed: int = 0):
        self.subjects = [subject.converted(tensor, autograd.CALCULUS) for subject in subjects]
        self.seed = seed

    @cached_property
    def numbers(self) -> dict[str, torch.Tensor]:
        """The numbers of the subjects, which the first axis counts."""
        return {
            name: torch.stack([getattr(subject, name) for subject in self.subjects])
            for name in self.subjects[0].names()
        }

    @cached_property
    def numbers_moved(self) -> dict[str, torch.Tensor]:
        """The numbers of the copies: the first ones of all subjects, then the second ones."""
        rounded = {name: self.numbers[name] for name in self.subjects[0].real()}
        kept = {name: torch.cat([x] * tolerance.SAMPLES) for name, x in self.numbers.items()}
        return kept | _moved(rounded, range(self.seed, self.seed + tolerance.SAMPLES))

    def evaluated(self, claim: MatrixClaim) -> list[Evaluation | None]:
        """Return what a claim is at each subject, None where it is not defined."""
        return [_evaluated_at(subject, claim) for subject in self.subjects]

    def evaluated_together(
        self, claims: Sequence[MatrixClaim]
    ) -> dict[str, list[Evaluation | None]]:
        """Return what claims are at each subject, found in one call.

        A subject at which something that divides is zero is looked at alone.  Claims that cannot
        be evaluated at several subjects at once are missing.
        """
        if len(self.subjects) == 1:
            return {claim.id: self.evaluated(claim) for claim in claims}
        found, has_zero = self._in_one_call(claims, self.numbers, len(self.subjects))
        return {
            claim.id: [
                _evaluated_at(subject, claim) if divides_by_zero else row
                for subject, divides_by_zero, row in zip(
                    self.subjects, has_zero, found[claim.id], strict=True
                )
            ]
            for claim in claims
            if claim.id in found
        }

    def perturbed(self, claim: MatrixClaim) -> list[Evaluation]:
        """Return what a claim is at each copy of the only subject, in random arithmetic."""
        found = []
        for i in range(tolerance.SAMPLES):
            copy = self._with({name: x[i] for name, x in self.numbers_moved.items()})
            with RandomArithmetic(tolerance.STEP, self.seed + i), small_is_zero():
                found.append(evaluate(claim, copy, _numpy))
        return found

    def perturbed_together(self, claims: Sequence[MatrixClaim]) -> dict[str, list[Evaluation]]:
        """Return what claims are at all copies, in random arithmetic and in one call.

        Claims that cannot be evaluated at several copies at once are missing.
        """
        with RandomArithmetic(tolerance.STEP, self.seed), small_is_zero():
            return self._in_one_call(claims, self.numbers_moved, tolerance.SAMPLES)[0]

    def judged(
        self,
        claim: MatrixClaim,
        found: Sequence[Evaluation | None],
        moved: Sequence[Evaluation],
    ) -> Instances:
        """Judge a claim by what it is at the subjects and at their copies."""
        first, *_ = self.subjects
        m = len(getattr(first, first.names()[0]))
        full, defined = in_rows(claim, found)
        instances = judged(claim, full, moved, defined, self.count, m)
        instances.tokens = [subject.token for subject in self.subjects]
        instances.strata = [subject.stratum for subject in self.subjects]
        return instances

    @property
    def count(self) -> int:
        """How many numbers are added up, at most."""
        first, *_ = self.subjects
        return max(2, *(getattr(first, name).numel() for name in first.names()))

    def outside(self, claim: MatrixClaim) -> Instances:
        """Return what becomes of a claim that speaks of no subject of these sizes."""
        every, _ = in_rows(claim, [None] * len(self.subjects))
        return self.judged(claim, [None] * len(self.subjects), [every])

    def _with(self, numbers: dict[str, Any]) -> Numbers:
        """Return a subject like these with other numbers."""
        return replace(self.subjects[0], **numbers)

    def _in_one_call(
        self, claims: Sequence[MatrixClaim], numbers: dict[str, torch.Tensor], parts: int
    ) -> tuple[dict[str, list[Evaluation]], Array]:
        """Return what claims are at numbers, in so many parts, and where something is zero."""

        def one(numbers: dict[str, Any]) -> tuple[dict[str, list[torch.Tensor]], torch.Tensor]:
            subject = self._with(numbers)
            with taking_zeros() as zeros:
                found = ((claim.id, _flat_or_none(claim, subject)) for claim in claims)
                known = {name: tensors for name, tensors in found if tensors is not None}
            return known, torch.stack([torch.zeros(()) > 0, *zeros]).any()

        together, has_zero = vmap(one)(numbers)
        found = {name: Evaluation.of(*map(_numpy, x)) for name, x in together.items()}
        return {name: parted(whole, parts) for name, whole in found.items()}, has_zero.numpy()


def examine(claims: Sequence[MatrixClaim], settings: Settings) -> Iterator[Record]:
    """Examine random subjects of every stratum."""
    seed, count = settings.seed, -(-settings.budget.random // MATRICES_SHARE)
    for alike in of_one_kind(claims):
        first = random_subjects(alike[0].subject, seed, count)
        found = examine_until_decided(alike, first, seed, partial(examine_together, seed=seed))
        for claim in alike:
            if claim.expected is Verdict.SUPPORTED and claim.relation is Relation.EQUAL:
                found[claim.id] += _examined_further(claim, found[claim.id], seed)
        yield from recorded(alike, "autograd", found)


def examine_until_decided(
    claims: Sequence[MatrixClaim],
    first: Iterable[Numbers],
    seed: int,
    examine: Callable[[Sequence[MatrixClaim], Iterable[Numbers]], dict[str, list[Instances]]],
) -> dict[str, list[Instances]]:
    """Examine subjects, and a few more of strata in which they decide too little."""
    kind, found = claims[0].subject, examine(claims, first)
    for number in range(MORE, MORE + FURTHER):
        waiting = [claim for claim in claims if not _is_settled(claim, found[claim.id])]
        decided = [_decided(found[claim.id]).keys() for claim in waiting]
        strata = [name for name in STRATA if not all(name in names for names in decided)]
        subjects = [draw(kind, name, seed, number) for name in strata]
        for name, more in examine(waiting, subjects).items():
            found[name] += more
    return found


def _examined_further(
    claim: MatrixClaim, groups: Sequence[Instances], seed: int
) -> list[Instances]:
    """Examine an equation that nothing proves, of which balls decide nothing, at more subjects."""
    further: list[Instances] = []
    for first in range(FAR, MOST, AT_ONCE):
        if _decided([*groups, *further]).total() >= FLOOR.instances:
            break
        further += examine_all(claim, random_subjects(claim.subject, seed, AT_ONCE, first), seed)
    return further


def _decided(groups: Sequence[Instances]) -> Counter[str]:
    """Return how many instances of every stratum hold, or are violated."""
    return Counter(
        name
        for group in groups
        for name, outcome in zip(group.strata, group.outcomes, strict=True)
        if outcome in (Outcome.HOLDS, Outcome.VIOLATED)
    )


def _is_settled(claim: MatrixClaim, groups: Sequence[Instances]) -> bool:
    """Whether enough strata decide something."""
    enough = FLOOR.strata if claim.expected is Verdict.SUPPORTED else 1
    return len(_decided(groups)) >= enough


def of_one_kind(claims: Sequence[MatrixClaim]) -> list[list[MatrixClaim]]:
    """Return groups of claims that are about the same kind of subject."""
    return list(grouped(claims, lambda claim: claim.subject).values())


def examine_all(claim: MatrixClaim, subjects: Iterable[Numbers], seed: int = 0) -> list[Instances]:
    """Examine a claim at subjects."""
    return examine_together([claim], subjects, seed)[claim.id]


def examine_together(
    claims: Sequence[MatrixClaim], subjects: Iterable[Numbers], seed: int = 0
) -> dict[str, list[Instances]]:
    """Examine claims at subjects; those that change them alike share all work."""
    return examine_at(claims, subjects, lambda stack: Copies(stack, seed))


def examine_at(
    claims: Sequence[MatrixClaim],
    subjects: Iterable[Numbers],
    copies_of: Callable[[Sequence[Numbers]], Copies],
) -> dict[str, list[Instances]]:
    """Examine claims at the copies of subjects: at those of the same sizes together."""
    found: dict[str, list[Instances]] = {claim.id: [] for claim in claims}
    for spoken, unspoken, stack in _stacks(claims, subjects):
        copies = copies_of(stack)
        examined = examined_in_one_call(spoken, copies)
        left = [claim for claim in spoken if claim.id not in examined]
        alone = [copies] if len(stack) == 1 else [copies_of([s]) for s in stack if left]
        for claim in unspoken:
            found[claim.id].append(copies.outside(claim))
        for name, instances in examined.items():
            found[name].append(instances)
        for claim in left:
            found[claim.id] += [examined_alone(claim, single) for single in alone]
    return found


def _stacks(
    claims: Sequence[MatrixClaim], subjects: Iterable[Numbers]
) -> Iterator[tuple[list[MatrixClaim], list[MatrixClaim], list[Numbers]]]:
    """Yield claims that change subjects alike with subjects of the same sizes, so changed.

    First come the claims that speak of such subjects, then those that do not.
    """
    every = [*subjects]
    for alike in imposing_alike(claims):
        for stack in _of_the_same_sizes([imposed(alike[0], subject) for subject in every]):
            is_met = {claim.id: may_be_met(claim, stack[0]) for claim in alike}
            spoken = [claim for claim in alike if is_met[claim.id]]
            yield spoken, [claim for claim in alike if not is_met[claim.id]], stack


def seem_violated(claims: Sequence[MatrixClaim], subjects: Iterable[Numbers]) -> set[str]:
    """Return the identifiers of the claims of which :func:`examine_together` may find a violation.

    To see that it finds none takes no random arithmetic.  What is not evaluated at several
    subjects at once may be violated.
    """
    found = set[str]()
    for spoken, _, stack in _stacks(claims, subjects):
        copies = Copies(stack)
        rounded = copies.evaluated_together(spoken)
        for claim in spoken:
            if claim.id in rounded:
                rows, _ = in_rows(claim, rounded[claim.id])
                if not may_be_violated(claim.relation, rows, copies.count):
                    continue
            found.add(claim.id)
    return found


def _of_the_same_sizes(subjects: Iterable[Numbers]) -> list[list[Numbers]]:
    """Return groups of subjects that differ in nothing but numbers."""

    def all_else(subject: Numbers) -> tuple[Any, ...]:
        shapes = (np.shape(getattr(subject, name)) for name in subject.names())
        return *shapes, getattr(subject, "rest", None)

    return list(grouped(subjects, all_else).values())


def examined_in_one_call(claims: Sequence[MatrixClaim], copies: Copies) -> dict[str, Instances]:
    """Examine claims at subjects together; those that look at numbers are missing."""
    perturbed = copies.perturbed_together(claims)
    together = [claim for claim in claims if claim.id in perturbed]
    base = copies.evaluated_together(together)
    return {c.id: copies.judged(c, base[c.id], perturbed[c.id]) for c in together if c.id in base}


def examine_one(claim: MatrixClaim, subject: Numbers, seed: int = 0) -> Instances:
    """Examine one subject; a side that cannot be evaluated there makes it vacuous."""
    return examined_alone(claim, Copies([imposed(claim, subject)], seed))


def examined_alone(claim: MatrixClaim, copies: Copies) -> Instances:
    """Examine the only subject that there are copies of."""
    with suppress(ZeroDivisionError):  # in a copy
        return copies.judged(claim, copies.evaluated(claim), copies.perturbed(claim))
    return copies.outside(claim)


def evaluate(claim: MatrixClaim, subject: Numbers, to_numpy: Callable[[Any], Array]) -> Evaluation:
    """Return both sides as NumPy arrays of one shape, and the hypotheses' quantities."""
    arrays = flat(claim, subject, to_numpy, np.broadcast_arrays)
    return Evaluation.of(*(array[None] for array in arrays))


def _evaluated_at(subject: Numbers, claim: MatrixClaim) -> Evaluation | None:
    """Return what a claim is at one subject, None where it divides by zero."""
    with suppress(ZeroDivisionError):
        return evaluate(claim, subject, _numpy)
    return None


def _flat_or_none(claim: MatrixClaim, subject: Numbers) -> list[torch.Tensor] | None:
    """Return both sides and the hypotheses' quantities of copies that are evaluated in one call.

    None where a number is looked at, as it differs from copy to copy.
    """
    convert = partial(torch.as_tensor, dtype=torch.float64)
    try:
        return flat(claim, subject, convert, torch.broadcast_tensors)
    except (RuntimeError, ZeroDivisionError):
        return None


def _moved(numbers: dict[str, torch.Tensor], seeds: Sequence[int]) -> dict[str, torch.Tensor]:
    """Return numbers of subjects moved by a part of each subject's largest, once for each seed."""
    sizes = [value.numel() for value in numbers.values()]
    noise = torch.empty(len(seeds), sum(sizes), dtype=torch.float64)
    for row, seed in zip(noise, seeds, strict=True):
        row.uniform_(-1, 1, generator=torch.Generator().manual_seed(seed))
    moved = {}
    for (name, value), own in zip(numbers.items(), noise.split(sizes, dim=1), strict=True):
        largest = value.abs().reshape(len(value), -1).amax(1)
        step = tolerance.STEP * largest.reshape(-1, *[1] * (value.ndim - 1))
        copies = value + step * own.reshape(len(seeds), *value.shape)
        moved[name] = copies.flatten(end_dim=1)
    return moved


def tensor(value: Any) -> torch.Tensor:
    """Return numbers as a PyTorch tensor of float64."""
    return torch.as_tensor(np.asarray(value, dtype=np.float64))


def _numpy(value: Any) -> Array:
    detached = value.detach() if isinstance(value, torch.Tensor) else value
    return np.asarray(detached, dtype=np.float64)
