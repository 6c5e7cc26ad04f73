"""Statements of others, tried at one small instance before any witness looks at them.

What cannot be evaluated there (a letter of another subject, a function that knows floats only), and
a certificate that does not add up, is refused with the line of their file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from fractions import Fraction
from itertools import chain, islice, product
from typing import Any

import numpy as np

from theory import descent, layer, maps, unit
from theory.arithmetic.exact import DifferentFieldsError, number
from theory.catalogue import Complaint, source_of
from theory.claim import Claim
from theory.expectation_claim import Drawn, ExpectationClaim
from theory.language.expression import Letter, Sort
from theory.language.letters import attribute_of
from theory.language.plain import plain
from theory.language.unrounded import total
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Hypothesis, Relation, Statement, joined, letters_of
from verify import engine, others
from verify.cases.case import NUMBERS, LosesGeneralityError, adapted
from verify.cases.lattice import lattice_case
from verify.cases.losses import Loss
from verify.expectations import exact
from verify.expectations.laws import LAWS, Entries
from verify.matrices import strata
from verify.matrices.exact import converted
from verify.matrices.integers import SPACES
from verify.matrices.symbolic import keeps_subjects
from verify.witnesses.abstract import UNPROVABLE
from verify.witnesses.exact import (
    EXACT,
    network_of,
    rational_case,
    side_in_words,
    stands,
    to_ball,
)
from verify.witnesses.integers import BATCHES, as_read
from verify.witnesses.retractions import keeps_a_batch
from verify.witnesses.search import drawn

LETTERS = {
    "batch": "theory.unit has the letters of one unit's batch",
    Kind.LAYER: "theory.layer has the letters of a layer",
    Kind.MAPS: "theory.maps has the letters of maps",
    Kind.DESCENT: "theory.descent has the letters of a descent",
    "matrix": "theory.random_matrix has the letters of a random matrix",
}
CASE = lattice_case(
    [1, 3, 1, 3], 3, 2, Fraction(3, 2), [1, -2, 0, 2], [1, 0, 2, -1, 1, 0, 2, 0, 1, -1],
    [1, 0, -1, 2], [2, 1, 1, -1], 2,
)  # fmt: skip
"""A batch whose deviation is rational, and so is the root of its size."""
SCALES = Fraction(3), Fraction(2)
"""The batch's gamma and beta, of which other signs are tried."""
BY_CHANCE = 200
"""Instances of small integers, of which some meet an equation."""
OURS = {
    module: [letter for letter in vars(module).values() if isinstance(letter, Letter)]
    for module in (unit, layer, maps, descent)
}
"""The letters that come with the language."""
RANGES = {
    "m": r"m \ge 1", "sigma": r"\sigma > 0", "one": r"\mathbf 1 = (1, \dots, 1)",
    "yhat": r"\hat y = (y - \mu)/\sigma", "z": r"z = \gamma\hat y + \beta",
} | {
    attribute_of(letter): letter.domain
    for letter in chain(*OURS.values())
    if letter.domain and attribute_of(letter)
}  # fmt: skip
"""What is drawn of attributes that are not any number, in the words of our own letters."""
KINDS = {attribute_of(unit.later_normalizations), attribute_of(layer.couples)}
"""Attributes that say what kind of network it is."""
MADE = {
    letter
    for letter in OURS[layer] + OURS[descent]
    if letter.value is not None and not attribute_of(letter) and letter.sort is not Sort.MATRIX
}
"""Our letters of a layer and of a descent that are functions of its numbers."""
RELATIONS = {
    ">": Relation.MORE_THAN, r"\ge": Relation.AT_LEAST, r"\geq": Relation.AT_LEAST,
    "<": Relation.LESS_THAN, r"\le": Relation.AT_MOST, r"\leq": Relation.AT_MOST,
}  # fmt: skip
SIGNS = 12
"""So many instances have numbers of either sign."""
GRID = 8
"""Matrices are of multiples of one over this."""


def refuse_unfit(claims: Sequence[Statement], target: str) -> None:
    """Refuse statements that cannot be evaluated, or are not what their certificates prove.

    Raises:
        OthersError: what is wrong, a line each, with the places in the target's files.
    """
    checks = (
        _of_the_papers, unfit, _told_apart, _untold, _out_of_range, _of_its_kind, _tied,
        _imposing_too_much,
    )  # fmt: skip
    complaints = [c for claim in claims for check in checks for c in check(claim)]
    if complaints:
        raise others.OthersError(others.with_places(complaints, target))


def _of_the_papers(claim: Statement) -> Iterator[Complaint]:
    """Complain of the identifier of another statement, whose evidence and page it would share."""
    if any(claim.id == known.id and claim != known for known in engine.CLAIMS):
        yield Complaint(claim.id, "a statement of the papers has this identifier; write another")


def unfit(claim: Statement) -> Iterator[Complaint]:
    """Yield what is wrong with a statement at one small instance."""
    if claim.unreadable:
        return
    try:
        kind, sources = _instance(claim)
        if foreign := list(_foreign_letters(claim, sources)):
            named = ", ".join(foreign)
            yield Complaint(claim.id, f"its subject has no letter {named}; {LETTERS[kind]}")
        else:
            yield from _misfit(claim, sources)
    except (ZeroDivisionError, DifferentFieldsError):
        return  # the instance is outside of the statement, or says nothing of it
    except Exception as error:
        if not _assumed(claim):
            return
        yield Complaint(
            claim.id,
            f"cannot be evaluated at small whole numbers ({type(error).__name__}: {error}); build "
            "it from the operations of theory.language.operations and theory.arithmetic, which "
            "know every arithmetic",
        )


def _told_apart(claim: Statement) -> Iterator[Complaint]:
    """Complain of letters that are displayed as two, and are one number, vector or matrix."""
    first: dict[Any, Letter] = {}
    for letter in letters_of(claim):
        other = first.setdefault(source_of(letter), letter)
        if other.latex != letter.latex:
            yield Complaint(
                claim.id,
                f"its letters {other.name} and {letter.name} are the same in every instance: both "
                f"read {attribute_of(letter) or 'one function'}; write one letter, or let one of "
                "them read another attribute",
            )


def _untold(claim: Statement) -> Iterator[Complaint]:
    """Complain of letters that are not any number, vector or matrix, and are displayed as such."""
    for letter in letters_of(claim):
        if letter.domain or letter.value is None or letter in chain(*OURS.values()):
            continue
        attribute = attribute_of(letter)
        if attribute in RANGES:
            yield Complaint(
                claim.id,
                f"its letter {letter.name} reads {attribute}, which has a range of its own, as in "
                f"{RANGES[attribute]}; write domain=, what {letter.name} ranges over",
            )
        elif not attribute.isidentifier():
            yield Complaint(
                claim.id,
                f"its letter {letter.name} is a function of the instance, which is displayed as if "
                "it were anything; write domain=, what it is made of or ranges over",
            )


def _is_own_function(letter: Letter) -> bool:
    """Whether a letter is a function of the instance that its author wrote."""
    is_function = letter.value is not None and not attribute_of(letter).isidentifier()
    return is_function and not letter.value.__module__.startswith("theory.")


def _out_of_range(claim: Statement) -> Iterator[Complaint]:
    """Complain of a number that is displayed with a sign, and has another in an instance."""
    if not isinstance(claim, Claim | MatrixClaim):
        return
    for letter in letters_of(claim):
        if (relation := _range(letter)) is None:
            continue
        for subject in islice(_drawn(claim), SIGNS):
            value = _worth(letter, claim, subject)
            if value is None or relation.compare(_as_float(np.squeeze(value)[()]), 0):
                continue
            sources = _offered(claim, subject)
            if all(_is_met(hypothesis, sources) for hypothesis in claim.hypotheses):
                yield Complaint(
                    claim.id,
                    f"its letter {letter.name} is displayed with {letter.domain}, and is {value} in"
                    " an instance; write that as a hypothesis, or let it be a function with such"
                    " values",
                )
                break


def _range(letter: Letter) -> Relation | None:
    """Return how a number relates to zero by its domain, where that says no more."""
    name, _, rest = letter.domain.partition(" ")
    relations = (relation for text, relation in RELATIONS.items() if rest == f"{text} 0")
    is_number = letter.sort is Sort.NUMBER and letter.value is not None
    return next(relations, None) if is_number and name == letter.latex else None


def _of_its_kind(claim: Statement) -> Iterator[Complaint]:
    """Complain of what is said of a network's kind, which is the same in all of one kind."""
    if claim.says is None:
        return
    for letter in claim.says.letters:
        if attribute_of(letter) in KINDS:
            yield Complaint(
                claim.id,
                f"its letter {letter.name} tells networks apart, and a proof is of those of one"
                f" kind; it may stand in a hypothesis, as in assume(equal({letter.name}, 0))",
            )


def _tied(claim: Statement) -> Iterator[Complaint]:
    """Complain of a letter that is made of what another one reads, and does not say so."""
    if not isinstance(claim, Claim | MatrixClaim):
        return
    letters = letters_of(claim)
    read = {attribute_of(letter): letter for letter in letters if attribute_of(letter)}
    for letter in letters:
        if letter not in MADE and not (_is_own_function(letter) and letter.domain):
            continue
        for attribute in _made_of(letter, claim) & read.keys():
            other = read[attribute]
            if other.latex not in letter.domain:
                yield Complaint(
                    claim.id,
                    f"its letters {letter.name} and {other.name} are not independent, as both are "
                    f"made of {attribute}; write one of them by the other, or let one of them read"
                    " another attribute",
                )


def _made_of(letter: Letter, claim: Claim | MatrixClaim) -> set[str]:
    """Return the names of an instance's numbers that change a letter's value."""
    alone = replace(claim, hypotheses=(), because=None)
    if isinstance(claim, Claim):
        here = rational_case(CASE)
        moved = {n: replace(here, **{n: getattr(here, n) * 2 + 1}) for n in NUMBERS}
    else:
        here = _small(claim.subject, 3)
        moved = {n: here.with_numbers(_elsewhere, [n]) for n in here.names()}
    worth = _worth(letter, alone, here)
    others = {name: _worth(letter, alone, subject) for name, subject in moved.items()}
    return {
        name
        for name, other in others.items()
        if worth is not None and other is not None and not _same(worth, other)
    }


def _worth(letter: Letter, claim: Claim | MatrixClaim, subject: Any) -> Any:
    """Return what a letter is worth in an instance, None where that is outside of the statement."""
    with suppress(Exception):  # another check says what else is wrong
        return letter.value(joined(*_offered(claim, subject)))  # type: ignore[misc]
    return None


def _elsewhere(value: Any) -> Any:
    return np.asarray(value) * 2 + 1


def _imposing_too_much(claim: Statement) -> Iterator[Complaint]:
    """Complain of what changes instances that meet a hypothesis: of those nothing would be said."""
    found = [*_of_small_instances(claim)]
    yield from found
    if not found and _loses_generality(claim):
        yield Complaint(
            claim.id,
            "impose= changes instances that meet its equation: what it adds to them is no multiple"
            " of what is zero there, so that of some nothing would be said; solve the equation for"
            " one letter, as in equal(gamma, sigma), or leave impose= out",
        )


def _of_small_instances(claim: Statement) -> Iterator[Complaint]:
    for hypothesis in claim.hypotheses:
        if hypothesis.impose is not None and _changes_what_meets(hypothesis, claim):
            yield Complaint(
                claim.id,
                f"impose= of the hypothesis {hypothesis.statement} changes an instance that meets "
                "it, so that of others nothing would be said; return such an instance as it is, or "
                "leave impose= out",
            )


def _loses_generality(claim: Statement) -> bool:
    imposing = [h for h in claim.hypotheses if h.impose is not None]
    if claim.certificate is not None or not any(h.sign is Relation.EQUAL for h in imposing):
        return False
    try:
        if isinstance(claim, Claim):
            return not keeps_a_batch(claim)
        return isinstance(claim, MatrixClaim) and not keeps_subjects(claim)
    except (LosesGeneralityError, *UNPROVABLE):
        return False  # then nothing is proved


def _changes_what_meets(hypothesis: Hypothesis, claim: Statement) -> bool:
    if not isinstance(claim, Claim | MatrixClaim):
        return False
    alone = replace(claim, hypotheses=(), because=None)
    for subject in _drawn(claim):
        try:
            sources = _offered(alone, subject)
            if not _is_met(hypothesis, sources):
                continue
            imposed = hypothesis.impose(subject)  # type: ignore[misc]
        except Exception:
            continue  # it is outside of the statement, or another check says what is wrong
        if not _alike(subject, imposed):
            return True
    return False


def _drawn(claim: Claim | MatrixClaim) -> Iterator[Any]:
    """Yield instances as a hypothesis may change them: of several signs, and of small integers.

    Among the latter are such as meet an equation by chance.
    """
    if isinstance(claim, Claim):
        for signs in product((1, -1), repeat=2):
            gamma, beta = (sign * part for sign, part in zip(signs, SCALES, strict=True))
            yield as_read(claim, replace(CASE, gamma=gamma, beta=beta))
        for places in drawn(BATCHES, 3, BY_CHANCE, 0):
            yield as_read(claim, BATCHES.at(3, places))
    else:
        for number in range(3):
            yield _small(claim.subject, number)
        space = SPACES[claim.subject]
        for places in drawn(space, space.sizes[0], BY_CHANCE, 0):
            yield space.at(space.sizes[0], places)


def _alike(subject: Any, other: Any) -> bool:
    """Whether two instances are of the same numbers, up to rounding."""
    return all(
        _same(getattr(subject, field.name), getattr(other, field.name)) for field in fields(subject)
    )


def _same(value: Any, other: Any) -> bool:
    if value is other or isinstance(value, str):
        return True
    if isinstance(value, Loss):
        parameters = zip(value.parameters, other.parameters, strict=False)
        return value.function is other.function and all(_same(a, b) for a, b in parameters)
    a, b = (np.squeeze(np.vectorize(_as_float, otypes=[float])(x)) for x in (value, other))
    return a.shape == b.shape and bool(np.allclose(a, b))


def _as_float(value: Any) -> float:
    return float(value) if isinstance(value, float | int) else float(to_ball(value))


def _instance(claim: Statement) -> tuple[Kind | str, tuple[Any, ...]]:
    """Return what a statement is about, and an instance as its sides take it."""
    if isinstance(claim, Claim):
        return "batch", _offered(claim, rational_case(CASE))
    if isinstance(claim, MatrixClaim):
        return claim.subject, _offered(claim, _small(claim.subject, 3))
    return "matrix", (Drawn(np.array([[1.0, -1.0], [-1.0, -1.0], [1.0, 1.0]])),)


def _offered(claim: Claim | MatrixClaim, subject: Any) -> tuple[Any, ...]:
    """Return an instance as a statement's sides take it."""
    if isinstance(claim, Claim):
        network = network_of(adapted(subject, claim), EXACT)
        return network, claim.letters(network)
    return (converted(claim, subject),)


def _small(kind: Kind, number: int) -> Any:
    drawn = strata.draw(kind, "gaussian", 0, number)
    return drawn.with_numbers(_to_grid, drawn.names())


def _to_grid(value: Any) -> Any:
    return np.round(np.asarray(value) * GRID) / GRID


def _foreign_letters(claim: Statement, sources: tuple[Any, ...]) -> Iterator[str]:
    if claim.says is None or isinstance(claim, ExpectationClaim):
        return
    for letter in letters_of(claim):
        if not _has(letter, joined(*sources)):
            yield plain(letter)


def _has(letter: Letter, subject: Any) -> bool:
    try:
        return letter.value is None or letter.value(subject) is not None
    except AttributeError:
        return False


def _misfit(claim: Statement, sources: tuple[Any, ...]) -> Iterator[Complaint]:
    actual, claimed = claim.sides(*sources)
    if isinstance(claim, ExpectationClaim):
        law = next(iter(LAWS))
        entries = Entries(law, LAWS[law], *sources[0].G.shape)
        claim.constant(entries)
        claim.ceilings(entries)
        if undecided := exact.shortcoming(claim):
            yield Complaint(claim.id, undecided)
        return
    quantities = [np.asarray(h.quantity(*sources), dtype=object) for h in claim.hypotheses]
    if claim.certificate is None or np.size(actual) > 1:
        return
    if claim.because is None:
        yield Complaint(
            claim.id,
            "certificate= is a function, in which nobody sees a root of what may be negative; write"
            " because=, an expression",
        )
        return
    slack = claim.slack(actual, claimed)
    values = [term.value(*sources) for term in claim.certificate(*sources)]
    if _sign(total(*values, -1 * slack)) != 0:
        yield Complaint(
            claim.id,
            f"because= adds up to {side_in_words(total(*values))} where the slack is "
            f"{side_in_words(slack)}; write terms whose sum is {_slack_in_words(claim)}, each "
            "visibly not negative",
        )
    elif _met(claim, quantities) and any(_sign(value) < 0 for value in values):
        yield Complaint(
            claim.id,
            "because= has a term that is negative somewhere; write it as squares, squared norms "
            "and slacks of hypotheses times positive numbers",
        )


def _slack_in_words(claim: Statement) -> str:
    if claim.relation.bounds_below:
        return "actual - claimed"
    says_zero = claim.says is not None and claim.says.says_zero
    return "the side that is not 0" if says_zero else "claimed - actual"


def _assumed(claim: Statement) -> bool:
    """Whether the instance meets the hypotheses, as far as they can be evaluated."""
    try:
        _, sources = _instance(claim)
        return all(_is_met(hypothesis, sources) for hypothesis in claim.hypotheses)
    except Exception:
        return True


def _met(claim: Statement, quantities: Sequence[Any]) -> bool:
    """Whether the hypotheses hold at the instance."""
    return all(map(_stands, quantities, claim.hypotheses))


def _is_met(hypothesis: Hypothesis, sources: tuple[Any, ...]) -> bool:
    return _stands(np.asarray(hypothesis.quantity(*sources), dtype=object), hypothesis)


def _stands(quantity: Any, hypothesis: Hypothesis) -> bool:
    return all(stands(number(entry), hypothesis.sign) for entry in quantity.ravel())


def _sign(value: Any) -> int:
    return int(number(np.asarray(value, dtype=object).item()).sign())
