"""Whether what a statement of others displays is taken for something else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain, combinations
from string import Formatter
from typing import Any

from theory import descent, layer, maps, random_matrix, unit
from theory.catalogue import Complaint, source_of
from theory.claim import Claim
from theory.expectation_claim import ExpectationClaim
from theory.language import arrays, expression, operations
from theory.language.binding import as_seen
from theory.language.expression import Abbreviation, Apply, Expression, Letter, Operation, walk
from theory.language.latex import shown
from theory.language.letters import attribute_of
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Statement, letters_of, values_of
from verify.engine import CLAIMS
from verify.grouping import grouped
from verify.letters import nodes
from verify.trial.instances import instance, same

MODULES: dict[Any, Any] = {
    None: unit, Kind.LAYER: layer, Kind.MAPS: maps, Kind.DESCENT: descent
}  # fmt: skip
"""Where our letters are: of one unit, and of each kind of subject."""
OURS = {
    module: [letter for letter in vars(module).values() if isinstance(letter, Letter)]
    for module in MODULES.values()
}
"""The letters that come with the language."""
OF_MATRICES = [letter for letter in vars(random_matrix).values() if isinstance(letter, Letter)]
"""Those of a random matrix."""
ANYTHING = ("direction", "other_direction", "bound", "step", "q", "scaling", "curvature")
"""Attributes that are any number or vector: what reads them may be displayed as anything."""
GROUP = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
SCRIPT = re.compile(rf"[_^](?:{GROUP}|\\[a-zA-Z]+|.)")
"""An index, or what stands where a power does."""
POWER = re.compile(r"\^(?:\d|\{ *-?\d+ *\})")
FONT = re.compile(r"\\(?:math(?:bf|it|rm|sf|cal|bb|frak|scr)|bm|boldsymbol|text|operatorname) *")
FORMULA = re.compile(r"[-+/=<>|\d(]|\\(?:frac|cdot|sqrt|l?[vV]ert|\||nabla|partial|sum|le|ge)")
"""What no letter alone is displayed with, but in an index."""
MANY_LETTERS = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z]{2,}")
"""A name of several letters."""
USUAL = {
    "std": r"\sigma", "mean": r"\mu", "avg": r"\mu", "average": r"\mu", "variance": "var",
    "cond": r"\kappa", "trace": "tr",
}  # fmt: skip
"""Names of several letters, and what our operations have for them."""
SPELLINGS = {
    r"\\[lr]?Vert(?![a-zA-Z])": r"\\|", r"\\[lr]?vert(?![a-zA-Z])": "|", r"_0": "0",
    r"(\\\||\\kappa)_2": r"\1", r"[(){}]": "",
}  # fmt: skip
"""Other ways to write what operations are displayed with."""
ARITHMETIC = re.compile(r"-0|0(?:\+|-|/|\\cdot|\\times)?1|\\[dt]?frac01|0\^(?:1|\d)")
"""How sums, products, quotients and powers are displayed."""
ALL_OPERATIONS = [
    operation
    for module in (expression, operations, arrays, *OURS)
    for operation in vars(module).values()
    if isinstance(operation, Operation)
]
"""The operations that come with the language."""
OPERATIONS = [operation for operation in ALL_OPERATIONS if operation.latex]


def is_ours(letter: Letter) -> bool:
    """Whether a letter comes with the language."""
    return letter in chain(*OURS.values())


def is_theirs(operation: Operation) -> bool:
    """Whether an operation is none that comes with the language, or with the papers."""
    return operation not in known_operations()


@cache
def known_operations() -> set[Operation]:
    """Return the operations that come with the language, and those of the papers' statements."""
    of_papers = (node.operation for claim in CLAIMS for node in nodes(claim, Apply))
    return {*ALL_OPERATIONS, *of_papers}


def disguised(claim: Statement) -> Iterator[Complaint]:
    """Complain of an operation of theirs that is displayed as another, or as its operand."""
    operations = dict.fromkeys(node.operation for node in nodes(claim, Apply))
    theirs = [operation for operation in operations if is_theirs(operation)]
    for operation in theirs:
        ours = sorted(OPERATIONS, key=lambda known: not _looks_as(operation, known))
        alike = [f"our {known.name}" for known in ours if _reads_as(operation, known)]
        others = [f"another {x.name}" for x in theirs if x != operation and _looks_as(operation, x)]
        operand = ["its operand"] if _template(operation) in ("0", "(0)") else []
        if as_what := [*operand, *_arithmetic(operation), *alike, *others]:
            yield Complaint(
                claim.id,
                f"its operation {operation.name} is displayed as {as_what[0]}; give it a display"
                " of its own, or use ours",
            )
        places = {field for _, field, _, _ in Formatter().parse(operation.latex) if field}
        if operation.takes and len(places) < len(operation.takes):
            yield Complaint(
                claim.id,
                f"its operation {operation.name} takes {len(operation.takes)} operands and displays"
                f" {len(places)}; write each of them, as {{0}} and {{1}}",
            )


def _arithmetic(operation: Operation) -> list[str]:
    """Return what of arithmetic an operation is displayed as, if it is."""
    return ["sums and products are"] if ARITHMETIC.fullmatch(_template(operation)) else []


def _looks_as(operation: Operation, other: Operation) -> bool:
    """Whether two operations have one display, for what both take."""
    return _take_alike(operation, other) and _template(operation) == _template(other)


def _reads_as(operation: Operation, other: Operation) -> bool:
    """Whether two operations have one name, for what both take, whatever its font and powers."""
    name = _read_aloud(operation)
    return _take_alike(operation, other) and name != "0" and name == _read_aloud(other)


def _take_alike(operation: Operation, other: Operation) -> bool:
    return None in (operation.takes, other.takes) or operation.takes == other.takes


def _read_aloud(operation: Operation) -> str:
    """Return how an operation is displayed, less its fonts, brackets and powers, by usual names."""
    name = FONT.sub("", POWER.sub("", _template(operation)))
    name = MANY_LETTERS.sub(lambda word: USUAL.get(word[0].lower(), word[0].lower()), name)
    for spelling, usual in SPELLINGS.items():
        name = re.sub(spelling, usual, name)
    return name


def _template(operation: Operation) -> str:
    parts = Formatter().parse(operation.latex)
    return as_seen("".join(text + (field or "") for text, field, _, _ in parts))


def misleading(claim: Statement) -> Iterator[Complaint]:
    """Complain of a letter of theirs that is displayed as another one of ours, or as no letter."""
    of_a_law = isinstance(claim, ExpectationClaim)
    ours = OF_MATRICES if of_a_law else OURS[MODULES[getattr(claim, "subject", None)]]
    for letter in letters_of(claim):
        if letter in ours or letter.value is None:
            continue
        if not _is_a_symbol(letter.latex):
            yield Complaint(
                claim.id,
                f"its letter {letter.name} is displayed as {letter.latex!r}, which reads as a"
                " number or a formula; write a symbol",
            )
        elif other := next((x for x in ours if _is_taken_for(letter, x)), None):
            yield Complaint(
                claim.id,
                f"its letter {letter.name} is displayed as our {other.name}, and is something else;"
                " write another symbol",
            )


def _is_a_symbol(tex: str) -> bool:
    alone = SCRIPT.sub("", tex)
    is_plain = not FORMULA.search(alone) and not POWER.search(tex)
    return is_plain and any(character.isalpha() for character in FONT.sub("", alone))


def _is_taken_for(letter: Letter, ours: Letter) -> bool:
    """Whether a letter is displayed as one of ours that is not anything, and is another."""
    is_displayed = _seen(letter) == _seen(ours) and letter.sort is ours.sort
    is_any = ours.value is None or attribute_of(ours) in ANYTHING
    is_fixed = not (is_any or ours.domain) or is_ours(letter)
    return is_displayed and is_fixed and source_of(letter) != source_of(ours)


def sizes_mistold(claim: Claim | MatrixClaim) -> Iterator[Complaint]:
    """Complain of sizes that no letter is told of: a proof at some would be one at all of them.

    And of a letter that is displayed for one size, and told for another.
    """
    if not isinstance(claim, MatrixClaim) or claim.sizes is None:
        return
    for letter in letters_of(claim):
        told = claim.sizes.get(letter.latex, letter.name)
        if letter.name in claim.subject.sizes and told != letter.name and is_ours(letter):
            yield Complaint(
                claim.id,
                f"its sizes= has {letter.latex} for the subject's {told}, and its {letter.latex} is"
                f" the subject's {letter.name}; tell each letter as it is displayed",
            )
    if missing := set(claim.subject.sizes) - {*claim.sizes.values()}:
        yield Complaint(
            claim.id,
            f"its sizes= has no letter for {', '.join(sorted(missing))}, of which nothing would be"
            " told; name each of the subject's sizes, or leave sizes= out",
        )


def _seen(letter: Letter) -> str:
    """Return how a letter looks, in whatever font."""
    return as_seen(FONT.sub("", letter.latex))


def misnamed(claim: Claim | MatrixClaim) -> Iterator[Complaint]:
    """Complain of a name of operands that stands for two functions.

    What one stands for, with the other's operands in place of its own, is what the other does.
    """
    of_operands = (node for node in nodes(claim, Abbreviation) if node.operands)
    for alike in grouped(dict.fromkeys(of_operands), lambda node: node.latex).values():
        for one, other in combinations(alike, 2):
            if len(one.operands) == len(other.operands) and _differ(one, other, claim):
                yield Complaint(
                    claim.id,
                    f"displays {shown(one).text} and {shown(other).text} by one name for two"
                    " functions; give each a name of its own",
                )
                break


def _differ(one: Abbreviation, other: Abbreviation, claim: Claim | MatrixClaim) -> bool:
    """Whether each with the operands of the other is seen to be worth something else.

    What stands in the other as its own operand and besides, nobody can tell apart.
    """
    if {*one.operands} & {*walk(other.body)} and {*other.operands} & {*walk(one.body)}:
        return False
    _, here = instance(claim)
    with suppress(Exception):  # what has no value here is not seen
        values, pairs = values_of(here), ((one, other), (other, one))
        return not any(same(values[_at(a, b.operands)], values[b]) for a, b in pairs)
    return False


def _at(name: Abbreviation, operands: Sequence[Expression]) -> Expression:
    """Return what a name stands for, with other operands in place of its own."""
    return _with(name.body, dict(zip(name.operands, operands, strict=True)))


def _with(expression: Expression, changes: Mapping[Expression, Expression]) -> Expression:
    """Return an expression with some of its parts replaced."""
    if expression in changes:
        return changes[expression]
    parts = [_with(part, changes) for part in expression.parts]
    return expression.with_parts(*parts) if parts else expression
