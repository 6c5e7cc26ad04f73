"""A counterexample as its statement speaks of it: which numbers, by which letters, and the loss."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import starmap
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.language.expression import Apply, Letter, Primitive
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Statement
from verify.letters import nodes, own, readers
from verify.results import Example, Size, in_words
from verify.subjects import losses
from verify.subjects.unit_lattice import shown

ATTRIBUTES = {"u": "direction", "v": "other_direction", "lambda": "bound"}
"""Of a case: the attribute that a number is of, where it is called otherwise."""
LOSS = losses.OF_MATRICES | {"loss", "parameters"}
"""Numbers that are told as a loss, or as the Hessian."""
MATRICES = {"H", "W"}
"""Where a statement takes a subject's matrices for others and names no sizes, none is told."""
OUTPUTS = {"p", "d"}
"""Numbers of outputs, which say nothing where none of these was looked at:"""
OF_OUTPUTS = losses.OF_MATRICES | {"W", "b", "w"}
"""what outputs have of their own, or their loss."""
_LONG = re.compile(r"(?=[-/\d]{50})(-?\d+)/(\d+)")
_ZEROS = re.compile(r"(\d)(?:\.0+|(\.\d*[1-9])0+)(?![\d.e])")


def lines(found: Example, claim: Statement) -> list[str]:
    """Return what a reader needs to check it, a line for each number.

    Args:
        found: a counterexample, or where a bound is attained.
        claim: the statement.
    """
    told = [in_words([size])] if (size := sizes(found, claim)) else []
    if found.distribution:
        told.append(f"entries of the distribution {found.distribution}")
    told += [f"{_name(letter)} = {_text(value)}" for letter, value in numbers(found, claim)]
    sides = (f"{name} = {_side(getattr(found, name))}" for name in ("actual", "claimed"))
    return [*told, *filter(None, [of_loss(found, claim), found.because]), *sides]


def _side(text: str) -> str:
    """Return a side as a line can hold it: of fractions that are longer, about what they are.

    >>> _side("1/2"), _side(f"(1, {10**60 + 1}/{2 * 10**60})")
    ('1/2', '(1, about 0.5)')
    """
    return _LONG.sub(_about, point(text))


def _about(found: re.Match[str]) -> str:
    return f"about {(Decimal(found[1]) / Decimal(found[2])).normalize():.6g}"


def point(text: str) -> str:
    """Return numbers without the zeros that an enclosure ends with which is a point.

    >>> point("(4.00000000000000, 0.390625000000000, 10, [3.50 +/- 1e-9])")
    '(4, 0.390625, 10, [3.5 +/- 1e-9])'
    """
    return _ZEROS.sub(r"\1\2", text)


def in_letters_of(claim: Statement, size: Size) -> Size:
    """Return a subject's size in the letters that a statement has for it.

    >>> from theory.lange2022.section_3_5 import SAME
    >>> in_letters_of(SAME, {"N": 3, "n": 1, "p": 2})
    {'N': 2, 'n': 1, 'p': 3}
    """
    named = _named_sizes(claim)
    if named is None:
        return size
    return {letter: size[own] for letter, own in named.items() if own in size}


def _named_sizes(claim: Statement) -> Mapping[str, str] | None:
    return claim.sizes if isinstance(claim, MatrixClaim) else None


def sizes(found: Example, claim: Statement) -> Size:
    """Return the sizes that the statement's own letters say nothing else of."""
    if found.letters.keys() >= MATRICES and _named_sizes(claim) is None:
        return {}
    needed = in_letters_of(claim, _needed(found))
    return {letter: n for letter, n in needed.items() if letter not in found.letters}


def _needed(found: Example) -> Size:
    """Return the sizes of what was looked at."""
    if len(found.size) == 1 or OF_OUTPUTS & found.numbers.keys():
        return found.size
    return {letter: n for letter, n in found.size.items() if letter not in OUTPUTS}


def told(found: Example, claim: Statement) -> Size:
    """Return the sizes as the statement's own letters have them; none where they have no other."""
    if not sizes(found, claim):
        return {}
    needed = in_letters_of(claim, _needed(found))
    return {letter: found.letters.get(letter, n) for letter, n in needed.items()}


def scope(found: Example, claim: Statement) -> str:
    """Return these in words."""
    size = told(found, claim)
    return in_words([size]) if size else ""


def numbers(found: Example, claim: Statement) -> Iterator[tuple[Letter | str, Any]]:
    """Yield the numbers that a statement speaks of, by its letters, or their names if it has none.

    Args:
        found: a counterexample, or where a bound is attained.
        claim: the statement.
    """
    by_attribute = readers(claim)
    for key, value in {**found.numbers, **_hessian(found.numbers)}.items():
        if key in found.behind or (key == "couples" and "linear" in found.numbers):
            continue
        letters: Iterable[Letter | str] = by_attribute.get(ATTRIBUTES.get(key, key), ())
        if not letters and _is_needed(key, value, found, claim):
            letters = [key]
        yield from ((letter, value) for letter in letters)
    chosen = own(claim)
    yield from ((chosen.get(name, name), value) for name, value in found.letters.items())


def _hessian(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return F'F where there is the factor F."""
    if "factor" not in given:
        return {}
    factor = np.vectorize(Fraction, otypes=[object])(given["factor"])
    return {"hessian": shown(factor.T @ factor)}


def _is_needed(key: str, value: Any, found: Example, claim: Statement) -> bool:
    """Whether a number matters to a statement that has no letter for it."""
    if key in LOSS or key == "hessian":
        return False
    if not is_of_a_batch(found):
        return True
    if key in ("gamma", "beta"):
        return is_about_the_layer(claim)
    return key not in ATTRIBUTES and (key != "eps" or value != "0")


def is_of_a_batch(found: Example) -> bool:
    """Whether it is one unit's batch."""
    return "m" in found.size


def primitives(claim: Statement) -> set[str]:
    """Return the names of the network's functions that a statement applies."""
    applied = (node.operation for node in nodes(claim, Apply))
    return {operation.name for operation in applied if isinstance(operation, Primitive)}


def is_about_the_loss(claim: Statement) -> bool:
    """Whether the loss of a case matters to a statement: it does not bring its own."""
    letters = {letter.name for letter in nodes(claim, Letter)}
    return not isinstance(claim, Claim) or claim.says is None or bool(
        {"L", "Lhat"} & primitives(claim) or "g" in letters
    )  # fmt: skip


def is_about_the_layer(claim: Statement) -> bool:
    """Whether scale and shift of a case matter to a statement."""
    letters = {letter.name for letter in nodes(claim, Letter)}
    return is_about_the_loss(claim) or bool({"BN", "Lhat"} & primitives(claim) or "z" in letters)


def of_loss(found: Example, claim: Statement) -> str:
    """Return the loss written out in the entries of what it is of; nothing without one.

    Args:
        found: a counterexample, or where a bound is attained.
        claim: the statement.
    """
    if isinstance(claim, MatrixClaim):
        return _OF_SUBJECTS[claim.subject](found.numbers) if "linear" in found.numbers else ""
    if "loss" not in found.numbers or not is_about_the_loss(claim):
        return ""
    given = found.numbers["parameters"]
    return f"L(z) = {_of_batch(given) or found.numbers['loss'] + ' with ' + _text(given)}"


def _of_batch(given: Mapping[str, Any]) -> str:
    """Return a loss of a batch without kinks; nothing of another."""
    if set(given) == {"a", "h"}:
        return _sum([*_polynomial(given["a"], []), (given["h"], "|z|^2", 2)])
    if set(given) == {"a", "B"}:
        return square(given["a"], given["B"]) or _sum(_polynomial(given["a"], given["B"]))
    if set(given) == {"a", "B", "c"}:
        names = _of_z(len(given["a"]))
        return _sum([*_polynomial(given["a"], given["B"], names=names), *_ridge(given["c"], names)])
    return ""


def square(linear: list[str], matrix: list[list[str]]) -> str:
    """Return the loss as half a square, up to a constant, if it is one.

    >>> square(["-2", "4"], [["1", "-2"], ["-2", "4"]])
    '(z_1 - 2 z_2 - 2)^2/2'
    """
    try:
        a, rows = list(map(Fraction, linear)), [list(map(Fraction, row)) for row in matrix]
    except ValueError:
        return ""
    first = next((i for i, row in enumerate(rows) if row[i] == 1), None)
    if first is None:
        return ""
    w, t = rows[first], -a[first]
    is_square = rows == [[p * q for q in w] for p in w] and a == [-t * p for p in w]
    return f"({_sum([*_polynomial(w, []), (-t, '', 1)])})^2/2" if is_square else ""


def _of_layer(given: Mapping[str, Any]) -> str:
    linear, ridges = given["linear"], given["ridge"]
    polynomials = zip(linear, given["quadratic"], given["fourth"], strict=True)
    is_coupled = given["couples"] == "1"
    name, indices = _named("a'" if is_coupled else "a", linear, ("example", "output"))
    terms: list[_Term] = []
    for i, coefficients in enumerate(polynomials):
        names = _less([name(i, j) for j in range(len(linear[i]))], given["centre"][i])
        terms += [*_polynomial(*coefficients, names=names), *_ridge(ridges[i], names)]
    less = "a' = a - its mean over the batch" if is_coupled else ""
    return ", ".join(filter(None, [f"L(a) = {_mean(terms, len(linear))}", indices, less]))


def _of_maps(given: Mapping[str, Any]) -> str:
    linear, fourth = given["linear"], given["fourth"]
    name, indices = _named("a", linear, ("example", "channel", "row", "column"))
    terms = []
    for i, pooled in enumerate(given["pooled"]):
        places = list(np.ndindex(np.shape(linear[i])))
        weights, powers, centre = (
            [_entry(part[i], at) for at in places] for part in (linear, fourth, given["centre"])
        )
        names = _less([name(i, *at) for at in places], centre)
        weighted = list(_linear(weights, names))
        terms += [*weighted, (pooled, f"({_sum(weighted)})^2", 1), *_fourth(powers, names)]
        terms += _ridge([_entry(given["ridge"][i], at) for at in places], names)
    return ", ".join(filter(None, [f"L(a) = {_mean(terms, len(linear))}", indices]))


def _of_descent(given: Mapping[str, Any]) -> str:
    name, _ = _named("theta", given["linear"], ("entry",))
    names = _less([name(i) for i in range(len(given["linear"]))], given["centre"])
    matrix = _hessian(given)["hessian"]
    terms = _polynomial(given["linear"], matrix, given["fourth"], names)
    return f"L(theta) = {_sum([*terms, *_ridge(given['ridge'], names)])}"


_OF_SUBJECTS = {Kind.LAYER: _of_layer, Kind.MAPS: _of_maps, Kind.DESCENT: _of_descent}
_Term = tuple[Any, str, int]
"""A coefficient, what it is of, and what both are divided by."""


def _named(
    letter: str, array: Sequence[Any], axes: Sequence[str]
) -> tuple[Callable[..., str], str]:
    """Return what names the entries of an array, and what their indices are if they are several."""
    kept = [axis for axis, length in enumerate(np.shape(array)) if length > 1]

    def name(*at: int) -> str:
        return "_".join(filter(None, [letter, ",".join(str(at[axis] + 1) for axis in kept)]))

    several = " and ".join(axes[axis] for axis in kept) if len(kept) > 1 else ""
    return name, f"indices: {several}" if several else ""


def _less(names: Iterable[str], centre: Iterable[Any]) -> list[str]:
    """Return names of entries, less where a loss is centred.

    >>> _less(["a_1", "a_2", "a_3"], ["0", "2", "-1/2"])
    ['a_1', '(a_2 - 2)', '(a_3 + 1/2)']
    """
    moved = (
        (name, _sum([(1, name, 1), (-Fraction(entry), "", 1)]))
        for name, entry in zip(names, centre, strict=True)
    )
    return [less if less == name else f"({less})" for name, less in moved]


def _of_z(count: int) -> list[str]:
    return [f"z_{k}" for k in range(1, count + 1)]


def _entry(array: Any, at: Iterable[int]) -> Any:
    return reduce(operator.getitem, at, array)


def _polynomial(
    linear: Sequence[Any],
    matrix: Sequence[Sequence[Any]],
    fourth: Sequence[Any] = (),
    names: Sequence[str] = (),
) -> Iterator[_Term]:
    """Yield the terms of a polynomial in the entries of z, or in others of these names."""
    names = names or _of_z(len(linear))
    yield from _linear(linear, names)
    for i, row in enumerate(matrix):
        yield row[i], f"{names[i]}^2", 2
        for j in range(i + 1, len(row)):
            both = dict.fromkeys((row[j], matrix[j][i]))
            yield from ((entry, f"{names[i]} {names[j]}", len(both)) for entry in both)
    yield from _fourth(fourth, names)


def _linear(entries: Iterable[Any], names: Iterable[str]) -> Iterator[_Term]:
    yield from ((entry, name, 1) for entry, name in zip(entries, names, strict=True))


def _fourth(entries: Iterable[Any], names: Iterable[str]) -> Iterator[_Term]:
    yield from ((entry, f"{name}^4", 1) for entry, name in zip(entries, names, strict=False))


def _ridge(entries: Iterable[Any], names: Sequence[str]) -> Iterator[_Term]:
    """Yield :func:`verify.subjects.losses.bend` of a sum; nothing where that is zero.

    >>> list(_ridge(["2", "-1"], ["a", "b"]))
    [(1, '(2 a - b + (2 a - b)^2)/(1 + (2 a - b)^2)', 1)]
    """
    inner = _sum(_linear(entries, names))
    squared = f"{inner}^2" if inner in names else f"({inner})^2"
    if inner != "0":
        yield 1, f"({inner} + {squared})/(1 + {squared})", 1


def _mean(terms: Iterable[_Term], count: int) -> str:
    return _sum((coefficient, what, over * count) for coefficient, what, over in terms)


def _term(coefficient: Any, what: str, over: int) -> str:
    """Return a term as text.

    >>> _term("-3", "z_1^2", 2), _term("4", "z_1^2", 2), _term("1 + sqrt(2)", "z_1", 1)
    ('-3 z_1^2/2', '2 z_1^2', '(1 + sqrt(2)) z_1')
    """
    text = str(coefficient)
    try:
        number = Fraction(text) / over
        text, over = str(number.numerator), number.denominator
    except (ValueError, ZeroDivisionError):
        text = f"({text})" if "+" in text or "-" in text[1:] else text
    factor = text.replace("1", "") if text in ("1", "-1") and what else f"{text} "
    return f"{factor}{what}".strip() + (f"/{over}" if over > 1 else "")


def _sum(terms: Iterable[_Term]) -> str:
    listed = list(starmap(_term, (term for term in terms if str(term[0]) != "0")))
    if not listed:
        return "0"
    joined = "".join(f" - {t[1:]}" if t.startswith("-") else f" + {t}" for t in listed)
    return joined[3:] if joined.startswith(" + ") else f"-{joined[3:]}"


def _name(letter: Letter | str) -> str:
    return letter.name if isinstance(letter, Letter) else letter


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {_text(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return f"({', '.join(map(_text, value))})"
    return str(value)
