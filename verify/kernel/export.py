r"""A statement on one unit as a theorem of Coq, from its expression and its certificate.

The letters become what ``theory/coq`` defines: :math:`\sigma` is ``deviation eps y``, :math:`g` is
``gradient L z``.  What a statement leaves unsaid is said: the length is positive, the variance plus
epsilon is, the loss is differentiable where it is differentiated, and what stands under a fraction
is not zero.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

from theory import unit
from theory.claim import Claim
from theory.language.coq import NoCoqError, Vocabulary, coq
from theory.language.expression import (
    NEGATIVE,
    POWER,
    PRODUCT,
    QUOTIENT,
    SUM,
    Abbreviation,
    Apply,
    Derivative,
    Expression,
    Letter,
    Number,
    Operation,
    Primitive,
    Relation,
    Says,
    Sort,
    walk,
)
from theory.language.operations import norm2, sqrt
from theory.santurkar2018.theorem_4_4 import largest
from theory.santurkar2018.version_1.remarks import spectral_norm
from theory.statement import Hypothesis, Reading, Statement
from verify.kernel.written import Written, expression_of, written

BUILDS = Path("build/coq")
"""Where sources are written and compiled, if nothing else is said."""
FOLDER = "exported"
HEADER = "From BatchNorm Require Import Tactics.\n"
OF_THE_LAYER = (unit.Lhat, unit.BN, unit.normalize, unit.deviation)
"""What divides by the standard deviation of its argument."""
POSITIVE = (unit.m, unit.sigma, unit.bound)
SOME_BATCH = "destruct (some_batch m ltac:(assumption)) as (batch & epsilon & positive)."
"""What the tactics ask for: a unit, though the statement is of none."""


@dataclass(frozen=True)
class Exported:
    """A statement in Coq."""

    name: str
    statement: str
    proof: str
    besides: tuple[str, ...] = ()
    """What is divided by in its certificate alone, and assumed not to be zero."""

    @property
    def file(self) -> str:
        """The path of its file below the library's root."""
        return f"{FOLDER}/{self.name}.v"

    @property
    def source(self) -> str:
        """The file that states and proves it."""
        return f"{HEADER}\nTheorem {self.name} {self.statement}.\nProof.\n{self.proof}\nQed.\n"


def exported(claim: Claim) -> Exported:
    """Return a claim as a theorem.

    Raises:
        NoCoqError: it has no words in Coq.
    """
    return theorem(claim.id, claim.spoken, claim.reading, claim.hypotheses, claim.because)


def name_of(identifier: str) -> str:
    """Return the name of a statement's theorem.

    >>> name_of("S-thm-4.1/eps")
    'S_thm_4_1__eps'
    """
    return re.sub(r"\W|^(?=\d)", "_", identifier.replace("/", "__"))


def letters_of(claim: Statement, file: str) -> dict[Letter, str]:
    """Return what the letters of a statement are in its theorem, where that is another word.

    A letter of the paper may be any vector of a unit by another name, or be made of a unit's.

    Args:
        claim: the statement.
        file: where its theorem stands; one that is written by hand says itself what it means.
    """
    if not isinstance(claim, Claim) or claim.says is None or not file.startswith(f"{FOLDER}/"):
        return {}
    try:
        statements = claim.said
        words = vocabulary(statements, claim.reading)
        every = dict.fromkeys(x for said in statements for x in said.letters if x != unit.m)
        known = {x: coq(_own(x), words) for x in every}
    except NoCoqError:  # evidence may have been written by anybody
        return {}
    return {x: word for x, word in known.items() if word != x.name}


def theorem(
    identifier: str,
    says: Says,
    reading: Reading,
    hypotheses: Iterable[Hypothesis] = (),
    because: Expression | None = None,
) -> Exported:
    """Return a statement as a theorem, with a proof to try."""
    conditions = [h.says for h in hypotheses]
    words = vocabulary([says, *conditions], reading)
    eps = words.letters[unit.eps]
    says, *conditions = (_in_own_letters(s) for s in (says, *conditions))
    because = None if because is None else _own(because)
    everything = [part for s in [says, *conditions] for part in (s.actual, s.claimed)]
    certificate = [] if because is None else [because]
    has_layer = any(map(_is_of_the_layer, everything))
    premises = list(_domains(everything, reading, words, has_layer))
    losses = _losses(everything, words) if has_layer else {}
    divisors = _divisors(everything, certificate, conditions, words)
    after = [
        *_elsewhere(everything, words, eps),
        *(f"{kind} L {point}" for point, kind in losses.items()),
        *(f"{quantity} <> 0" for quantity in (*divisors.displayed, *divisors.besides)),
        *(coq(condition, words) for condition in conditions),
    ]
    defined = everything + certificate if has_layer else []
    definitions = _definitions(defined, losses, eps, reading)
    lines = [
        *(f"  {premise} ->" for premise in premises),
        *(f"  let {name} := {value} in" for name, value in definitions.items()),
        *(f"  {premise} ->" for premise in after),
        f"  {coq(says, words)}",
    ]
    stated = "\n".join([_quantified(lines, words), *lines])
    before = [
        *([] if has_layer else [SOME_BATCH]),
        *(f"assert ({d} <> 0) by {tactic}." for d, tactic in divisors.implied.items()),
    ]
    proof = "\n".join(["intros.", *before, _proof(says, because, conditions, words)])
    return Exported(name_of(identifier), stated, proof, divisors.besides)


def vocabulary(statements: Iterable[Says], reading: Reading) -> Vocabulary:
    """Return what the letters of a unit are in Coq, epsilon being a letter or zero."""
    eps = "eps" if reading.has_epsilon else "0"
    letters = (
        unit.gamma, unit.beta, unit.sigma, unit.y, unit.z, unit.g, unit.yhat, unit.one,
    )  # fmt: skip
    functions: dict[Operation, str] = {
        unit.L: "L",
        unit.Lhat: "Lhat",
        unit.BN: f"bn gamma beta {eps}",
        unit.normalize: f"normalize {eps}",
        unit.deviation: f"deviation {eps}",
    }
    free = {**{x: x.name for x in FREE}, **_names(statements)}
    own = {letter: letter.name for letter in letters}
    counted = Counter([*Vocabulary({}, functions).spoken, *own.values(), *free.values()])
    if clash := [word for word in free.values() if counted[word] > 1]:
        raise NoCoqError(f"{clash[0]} would be two things")
    return Vocabulary({**own, **free, unit.m: "INR m", unit.eps: eps}, functions)


# ---- the letters of a paper, in the unit's own ----

FREE = (unit.u, unit.v, unit.bound)
"""What a unit has besides its batch and its layer; a paper's letters are names for them."""
OWN = SimpleNamespace(
    **{
        x.name: Written(x)
        for x in (
            unit.m, unit.gamma, unit.beta, unit.sigma, unit.eps, unit.y, unit.z, unit.g, unit.yhat,
            unit.one,
        )
    },
    direction=Written(unit.u),
    other_direction=Written(unit.v),
    bound=Written(unit.bound),
    H=lambda x: Written(unit.H(x.expression)),
)  # fmt: skip
"""A unit whose numbers and vectors are written down."""
OF_THE_UNIT = (unit.L, unit.Lhat, unit.BN, unit.normalize, unit.deviation)
"""The primitives that Coq's library defines; others are functions of the unit, written out."""
EXPANSIONS: dict[Operation, Callable[..., Expression]] = {
    spectral_norm: partial(written, spectral_norm.meaning),
    largest: lambda a, bound: bound**2 * norm2(a),
}
"""Operations that are written out; that the first is a maximum is a theorem of Inputs.v."""


def _own(expression: Expression) -> Expression:
    """Return an expression in the unit's own letters."""
    values = {x: _worth(x) for x in expression.free}
    return _expanded(_substituted(expression, values))


def _in_own_letters(says: Says) -> Says:
    return Says(_own(says.actual), says.relation, _own(says.claimed))


def _worth(letter: Letter) -> Expression:
    """Return what a letter is worth, in the unit's own letters."""
    if letter.value is None:
        raise NoCoqError(f"the letter {letter.name} stands outside of its derivative")
    try:
        return expression_of(letter.value(OWN))
    except Exception as error:  # a function of others may raise anything
        raise NoCoqError(f"the letter {letter.name} has no word in Coq") from error


def _expanded(expression: Expression) -> Expression:
    parts = tuple(map(_expanded, expression.parts))
    if isinstance(expression, Apply):
        operation = expression.operation
        if operation in EXPANSIONS:
            return EXPANSIONS[operation](*parts)
        if isinstance(operation, Primitive) and operation not in OF_THE_UNIT:
            return _written_out(operation, parts)
    return expression.with_parts(*parts) if parts else expression


def _written_out(operation: Operation, operands: Sequence[Expression]) -> Expression:
    try:
        return written(partial(operation.meaning, OWN), *operands)
    except Exception as error:  # a function of others may raise anything
        raise NoCoqError(f"the operation {operation.name} has no word in Coq") from error


def _names(statements: Iterable[Says]) -> dict[Letter, str]:
    """Return what the paper calls the vectors and the number that are free."""
    names: dict[Letter, str] = {}
    for letter in (x for says in statements for x in says.letters):
        worth = _worth(letter)
        if worth in FREE and isinstance(worth, Letter):
            names.setdefault(worth, re.sub(r"\W", "_", letter.name.replace("*", "_star")))
    return names


# ---- what is quantified, and what the letters stand for ----


def _letters(expressions: Iterable[Expression]) -> set[Letter]:
    return {part for e in expressions for part in e.free}


def _quantified(lines: Iterable[str], words: Vocabulary) -> str:
    """Return the variables that occur in a statement's lines; without a layer g is any vector."""
    text = " ".join(lines)
    said = set(re.findall(r"\w+", text))
    vectors = ["y", words.letters[unit.u], words.letters[unit.v]]
    vectors += [] if "let g :=" in text else ["g"]
    kinds = {
        "vec m -> R": ["L"],
        "vec m": vectors,
        "R": ["gamma", "beta", "eps", words.letters[unit.bound]],
    }
    occurring = {kind: [name for name in names if name in said] for kind, names in kinds.items()}
    groups = (f" ({' '.join(names)} : {kind})" for kind, names in occurring.items() if names)
    return f"(m : nat){''.join(groups)} :"


def _is_of_the_layer(expression: Expression) -> bool:
    """Whether an expression speaks of the layer, or of a loss of its output."""
    letters = {unit.sigma, unit.yhat, unit.z} & set(expression.free)
    parts = (part for part in walk(expression) if isinstance(part, Apply))
    return bool(letters) or any(part.operation in (*OF_THE_LAYER, unit.L) for part in parts)


def _domains(
    expressions: list[Expression], reading: Reading, words: Vocabulary, has_layer: bool
) -> Iterator[str]:
    yield "(0 < m)%nat"
    if unit.bound in _letters(expressions):
        yield f"0 < {words.letters[unit.bound]}"
    if not has_layer:
        return
    if reading.has_epsilon:
        yield "0 <= eps"
    has_own_variance = reading is Reading.UNIT_VARIANCE or not reading.has_epsilon
    yield "0 < variance y" if has_own_variance else "0 < variance y + eps"


def _definitions(
    expressions: list[Expression], losses: dict[str, str], eps: str, reading: Reading
) -> dict[str, str]:
    """Return what the letters and functions that occur stand for, each after what it needs."""
    letters = {letter.name for letter in _letters(expressions)} | set(losses)
    letters |= {"z"} if "g" in letters else set()
    is_unit = reading is Reading.UNIT_VARIANCE
    values = {
        "z": f"bn gamma beta {eps} y",
        "Lhat": f"fun x => L (bn gamma beta {eps} x)",
        "sigma": f"deviation {eps} y",
        "yhat": f"normalize {'0' if is_unit else eps} y",
        "g": "gradient L z",
    }
    if any(isinstance(p, Apply) and p.operation == unit.Lhat for e in expressions for p in walk(e)):
        letters.add("Lhat")
    return {name: value for name, value in values.items() if name in letters}


# ---- what a statement leaves unsaid ----


def _substituted(expression: Expression, values: dict[Letter, Expression]) -> Expression:
    """Return an expression with values for its free variables; derivatives keep theirs."""
    if values.keys().isdisjoint(expression.free):
        return expression
    match expression:
        case Letter():
            return values.get(expression, expression)
        case Abbreviation(body=body):
            return _substituted(body, values)
        case Derivative(body, variable):
            inner = {x: value for x, value in values.items() if x in body.free - {variable}}
            if hidden := [x.name for x, value in inner.items() if variable in value.free]:
                named = f"{hidden[0]}, which depends on {variable.name}"
                raise NoCoqError(f"{named}, stands in a derivative in {variable.name}")
            _, *others = expression.parts
            return expression.with_parts(
                _substituted(body, inner), *(_substituted(o, values) for o in others)
            )
        case _:
            return expression.with_parts(*(_substituted(p, values) for p in expression.parts))


@dataclass(frozen=True)
class Bound:
    """A variable of a derivative in progress."""

    point: Expression
    """Where the derivative is taken, in letters of the statement alone."""
    order: int
    """How many derivatives a function of the variable is subject to."""


def _in_place(
    expression: Expression, bound: Mapping[Letter, Bound] | None = None
) -> Iterator[tuple[Expression, int]]:
    """Yield each part, points standing for variables, and how often it is differentiated."""
    known = bound or {}
    while isinstance(expression, Abbreviation):
        expression = expression.body
    points = {x: b.point for x, b in known.items()}
    order = _order(expression, known)
    yield _substituted(expression, points), order
    match expression:
        case Derivative(body, variable, point, _):
            inner = Bound(_substituted(point, points), 1 + _order(point, known))
            yield from _in_place(body, {**known, variable: inner})
            for other in expression.parts[1:]:
                yield from _in_place(other, known)
        case _:
            for part in expression.parts:
                yield from _in_place(part, known)


def _order(expression: Expression, bound: Mapping[Letter, Bound]) -> int:
    return max((bound[x].order for x in expression.free if x in bound), default=0)


def _elsewhere(expressions: list[Expression], words: Vocabulary, eps: str) -> list[str]:
    """Return that the variance is positive at batches other than y to which the layer is put."""
    found: dict[str, None] = {}
    for expression in expressions:
        for part, _ in _in_place(expression):
            if isinstance(part, Apply) and part.operation in OF_THE_LAYER:
                (batch,) = part.operands
                if batch != unit.y:
                    plus = "" if eps == "0" else f" + {eps}"
                    found[f"0 < {coq(unit.variance(batch), words)}{plus}"] = None
    return list(found)


def _losses(expressions: list[Expression], words: Vocabulary) -> dict[str, str]:
    """Return where the loss is differentiated, and that it is differentiable there as often."""
    orders: dict[str, int] = {}
    for expression in expressions:
        for part, order in _in_place(expression):
            point = None
            if part == unit.g:
                point, order = "z", order + 1
            elif isinstance(part, Apply) and order and part.operation == unit.L:
                point = coq(part.operands[0], words)
            elif isinstance(part, Apply) and order and part.operation == unit.Lhat:
                batch = part.operands[0]
                point = "z" if batch == unit.y else coq(unit.BN(batch), words)
            if point is not None:
                orders[point] = max(order, orders.get(point, 0))
    if any(order > 2 for order in orders.values()):
        raise NoCoqError("a loss is differentiated more than twice")
    kinds = {1: "differentiable", 2: "twice_differentiable"}
    return {
        point if " " not in point else f"({point})": kinds[order] for point, order in orders.items()
    }


class Divisors(NamedTuple):
    """What is divided by, in Coq: none of it is zero."""

    displayed: tuple[str, ...]
    """By the statement."""
    implied: dict[str, str]
    """By its certificate alone, with the tactic that sees it from the statement."""
    besides: tuple[str, ...]
    """By its certificate alone, and assumed."""


def _divisors(
    displayed: list[Expression],
    certificate: list[Expression],
    conditions: list[Says],
    words: Vocabulary,
) -> Divisors:
    own = dict.fromkeys(coq(d, words) for d in _denominators(displayed))
    factors = {coq(f, words) for d in _denominators(displayed) for f in _under_root(d)}
    positive = {coq(c.slack, words) for c in conditions if c.relation.is_strict}
    used = dict.fromkeys(coq(d, words) for d in _denominators(certificate))
    others = [d for d in used if d not in own]
    tactics = dict.fromkeys(factors, "factor_of_nonzero") | dict.fromkeys(positive, "lra")
    implied = {d: tactics[d] for d in others if d in tactics}
    return Divisors(tuple(own), implied, tuple(d for d in others if d not in tactics))


def _denominators(expressions: list[Expression]) -> Iterator[Expression]:
    """Yield what is divided by and is not positive by what its letters are."""
    for expression in expressions:
        for part, _ in _in_place(expression):
            if isinstance(part, Apply) and part.operation is QUOTIENT:
                yield from _factors(part.operands[1])


def _factors(expression: Expression) -> Iterator[Expression]:
    while isinstance(expression, Abbreviation):
        expression = expression.body
    match expression:
        case _ if is_positive(expression):
            return
        case Apply(operation, operands) if operation in (PRODUCT, QUOTIENT, NEGATIVE):
            for operand in operands:
                yield from _factors(operand)
        case Apply(operation, (base, _)) if operation is POWER:
            yield from _factors(base)
        case Number():
            return
        case _:
            yield expression


def _under_root(denominator: Expression) -> Iterator[Expression]:
    """Yield the factors under a root: none vanishes where the root does not."""
    if isinstance(denominator, Apply) and denominator.operation is sqrt:
        yield from _factors(denominator.operands[0])


def is_positive(expression: Expression) -> bool:
    """Whether a number is positive by what its letters are."""
    match expression:
        case Number(value):
            return value > 0
        case Letter():
            return expression in POSITIVE
        case Abbreviation(body=body):
            return is_positive(body)
        case Apply(operation, operands) if operation in (SUM, PRODUCT, QUOTIENT, sqrt):
            return all(map(is_positive, operands))
        case Apply(operation, (base, _)) if operation is POWER:
            return is_positive(base)
        case Apply(operation, _):
            return operation == unit.deviation
    return False


# ---- the proof ----


def _proof(
    says: Says, because: Expression | None, conditions: list[Says], words: Vocabulary
) -> str:
    relation = says.relation
    is_vector = Sort.VECTOR in (says.actual.sort, says.claimed.sort)
    if because is None or is_vector:
        first = {Relation.AT_MOST: "apply Req_le; ", Relation.AT_LEAST: "apply Req_ge; "}
        identity = "vector_identity" if is_vector else "identity"
        return f"{first.get(relation, '')}{identity}."
    terms = [coq(term, words) for term in certificate_terms(because)]
    slacks = [f"assert ({_sign(c)} {coq(c.slack, words)}) by lra." for c in conditions]
    sign = "zero_terms" if relation is Relation.EQUAL else "nonneg_terms"
    turned = "symmetry; " if says.says_zero else ""  # the tactic takes the left side from the right
    certificate = f"{turned}by_certificate ({' + '.join(terms)}); {sign}."
    return "\n".join([*slacks, certificate])


def _sign(condition: Says) -> str:
    """Return how zero relates to a condition's slack."""
    if condition.relation is Relation.EQUAL:
        return "0 ="
    return "0 <" if condition.relation.is_strict else "0 <="


def certificate_terms(because: Expression) -> Iterator[Expression]:
    """Yield the terms of a certificate."""
    while isinstance(because, Abbreviation):
        because = because.body
    if isinstance(because, Apply) and because.operation is SUM:
        for operand in because.operands:
            yield from certificate_terms(operand)
    else:
        yield because
