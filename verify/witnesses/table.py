"""The witnesses, from those that prove to those that measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from theory.claim import Claim, Relation
from theory.expectation_claim import ExpectationClaim
from theory.matrix_claim import MatrixClaim
from theory.statement import Statement
from verify import ledger, search
from verify.backends import Backend
from verify.cases.case import Case
from verify.cases.strata import LONG, random_cases
from verify.evidence import Record
from verify.expectations import examine as expectations
from verify.matrices import abstract as abstract_matrices
from verify.matrices import best_scaling
from verify.matrices import exact as exact_matrices
from verify.matrices import floats as float_matrices
from verify.matrices import library as library_matrices
from verify.matrices import symbolic as symbolic_matrices
from verify.matrices import trained as trained_matrices
from verify.tolerance import Outcome
from verify.witnesses import (
    abstract,
    autograd,
    complex_step,
    finite_differences,
    kinks,
    symbolic,
    trained,
)
from verify.witnesses.witness import (
    Settings,
    Witness,
    at_once,
    counted,
    in_words,
    one_by_one,
    record,
)

LONG_SHARE = 4
"""One long batch for so many of another stratum."""


TOGETHER = 64
"""So many statements share the derivatives of a case."""


def of_a_batch(claim: Statement) -> bool:
    """Whether a statement is about one unit's batch."""
    return isinstance(claim, Claim)


def of_matrices(claim: Statement) -> bool:
    """Whether a statement is about matrices of numbers."""
    return isinstance(claim, MatrixClaim)


def bounds_a_batch(claim: Statement) -> bool:
    """Whether a statement about a batch bounds one side by the other."""
    return of_a_batch(claim) and claim.relation is not Relation.EQUAL


def prove_abstractly(claim: Claim, settings: Settings) -> Record:
    """A proof for every batch size, or silence."""
    proof = abstract.prove(claim)
    if proof is None:
        return Record(claim.id, "abstract", notes="no proof found; says nothing")
    return Record(claim.id, "abstract", proof={"scope": ledger.EVERY_M, **asdict(proof)})


def search_integers(claim: Claim, settings: Settings) -> Record:
    """Small integers in exact arithmetic, drawn and shrunk by Hypothesis."""
    examples = search.examples_for(claim, settings.budget.examples)
    searched = search.smallest(claim, examples, settings.seed)
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


def prove_symbolically(claim: Claim, settings: Settings) -> Record:
    """Proofs for single batch sizes, with every entry a symbol."""
    found = {m: symbolic.prove(claim, m) for m in settings.budget.sizes}
    proved = [m for m, finding in found.items() if finding == "proved"]
    is_proved = any(proved) and "not proved" not in found.values()
    return Record(
        claim=claim.id,
        witness="symbolic",
        sizes={str(m): finding for m, finding in found.items() if finding != "not proved"},
        proof={"scope": f"m = {', '.join(map(str, proved))}"} if is_proved else None,
        notes="" if is_proved else "not proved for every size; says nothing of the others",
    )


def climb(claim: Claim, settings: Settings) -> Record:
    """Gradient ascent on the violation, certified exactly."""
    budget = settings.budget
    found, met = search.climbed(claim, settings.seed, budget.restarts, budget.steps)
    return Record(
        claim=claim.id,
        witness="ascent",
        **counted(met),
        counterexample=found.written() if found else None,
    )


def differentiate_random(claims: Sequence[Claim], settings: Settings) -> Iterator[Record]:
    """Random batches of every stratum, differentiated by PyTorch."""
    seed, count = settings.seed, settings.budget.random
    cases = [*random_cases(seed, count), *random_cases(seed, -(-count // LONG_SHARE), LONG)]
    found = autograd.examine_all(claims, cases, settings.seed)
    for claim in claims:
        yield record(claim, "autograd", found[claim.id])


def step_into_the_complex(claim: Claim, settings: Settings) -> Record:
    """Random batches in the chosen array library, differentiated by complex steps."""
    found = complex_step.examine_cases(
        claim, _few(settings), Backend(settings.backend, settings.device), settings.seed
    )
    return record(claim, "complex step", found)


def take_differences(claim: Claim, settings: Settings) -> Record:
    """Random batches in the chosen array library, differentiated by finite differences."""
    found = finite_differences.examine_cases(
        claim, _few(settings), Backend(settings.backend, settings.device), settings.seed
    )
    return record(claim, "finite differences", found)


def _few(settings: Settings) -> list[Case]:
    return list(random_cases(settings.seed, settings.budget.differences))


def of_expectations(claim: Statement) -> bool:
    """Whether a statement is about expectations of random matrices."""
    return isinstance(claim, ExpectationClaim)


OF_A_BATCH = (
    Witness("abstract", of_a_batch, one_by_one(prove_abstractly)),
    Witness("exact", of_a_batch, one_by_one(search_integers)),
    Witness("symbolic", of_a_batch, one_by_one(prove_symbolically)),
    Witness("ascent", bounds_a_batch, one_by_one(climb)),
    Witness("autograd", of_a_batch, at_once(differentiate_random), TOGETHER),
    Witness("complex step", complex_step.applies, one_by_one(step_into_the_complex)),
    Witness("finite differences", of_a_batch, one_by_one(take_differences)),
    Witness(trained.WITNESS, of_a_batch, at_once(trained.examine), TOGETHER),
    Witness(kinks.WITNESS, kinks.applies, one_by_one(kinks.examine)),
)
OF_MATRICES = (
    Witness(
        abstract_matrices.WITNESS, abstract_matrices.applies, one_by_one(abstract_matrices.examine)
    ),
    Witness("exact", of_matrices, one_by_one(exact_matrices.search)),
    Witness("symbolic", of_matrices, one_by_one(symbolic_matrices.examine)),
    Witness("autograd", of_matrices, one_by_one(float_matrices.examine_random)),
    Witness("array library", of_matrices, one_by_one(library_matrices.examine_random)),
    Witness(trained.WITNESS, trained_matrices.applies, one_by_one(trained_matrices.examine)),
    Witness(best_scaling.WITNESS, best_scaling.applies, one_by_one(best_scaling.examine)),
)
OF_EXPECTATIONS = (
    Witness(expectations.WITNESS, of_expectations, one_by_one(expectations.examine)),
)
WITNESSES = (*OF_A_BATCH, *OF_MATRICES, *OF_EXPECTATIONS)
