r"""Whether the letters of a statement of others range over what they are displayed with.

A range is written as inequalities, ``x > 0``, ``0 < x \le 1`` or ``|x| < 1``, as an interval,
``x \in (0, 1]``, or as all numbers, ``x \in \mathbb{R}``.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from theory import descent, unit
from theory.arithmetic.spectra import squared_singular_values
from theory.catalogue import Complaint
from theory.claim import Claim
from theory.language.expression import Letter, Sort
from theory.language.letters import attribute_of
from theory.matrix_claim import MatrixClaim
from theory.statement import Relation, letters_of
from verify.tolerance import Array
from verify.trial.displays import MODULES, OURS, is_ours
from verify.trial.instances import (
    FAR,
    Tried,
    drawn_at_scales,
    drawn_for,
    grounds_of,
    in_floats,
    special_for,
    without_hypotheses,
)
from verify.trial.letters import NAME, is_own_function
from verify.witnesses.integers import HintError, hinted

Bounds = list[tuple[str, str]]
"""How a letter compares with the ends of its range: relations and ends, as LaTeX."""
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    ">": Relation.MORE_THAN.compare, r"\ge": Relation.AT_LEAST.compare, r"\ne": operator.ne,
    "<": Relation.LESS_THAN.compare, r"\le": Relation.AT_MOST.compare, "=": np.isclose,
}  # fmt: skip
CLOSED = r"\ge", r"\le"
"""How a letter compares with a low and with a high end that it may be at."""
TURNED = {"<": ">", r"\le": r"\ge", ">": "<", r"\ge": r"\le"}
"""What relates a letter to an end where these relate the end to the letter."""
SPELLINGS = {
    r"\\(?:left|right)(?![a-zA-Z])|\\[,;!]": "", r"\\leqslant": r"\\le", r"\\geqslant": r"\\ge",
    r"\\lt(?![a-zA-Z])": "<", r"\\gt(?![a-zA-Z])": ">",
    r" *\\in *\\mathbb *(?:R|\{R\})_(?:\+|\{\+\}|\{ *> *0 *\})": " > 0",
    r" *\\in *\\mathbb *(?:R|\{R\})_\{ *\\geq? *0 *\}": r" \\ge 0",
}  # fmt: skip
"""Other ways to write what ranges are written with."""
INEQUALITY = re.compile(r"(?:(\S+) (<|\\le) )?(\S+) (>|\\ge|<|\\le|\\ne|=) (\S+)")
"""A range as a letter's domain has it, with one end or two, or what it equals."""
DESCENDING = re.compile(r"(\S+) (>|\\ge) (\S+) (>|\\ge) (\S+)")
"""A range whose high end stands first."""
INTERVAL = re.compile(r"(\S+?) *\\in *([(\[]) *([^,\s]+) *, *([^,\s]+?) *([)\]])")
MODULUS = re.compile(r"(?:\||\\lvert *)(\S+?) *(?:\||\\rvert) (<|\\le) (\S+)")
SPACE = re.compile(r"\\mathbb *(?:R|\{R\})\^(\{[^{}]*\}|\S)")
REALS = re.compile(r"(\S+?) *\\in *\\mathbb *(?:R|\{R\})(?:\^(?:\{[^{}]*\}|\S+))?")
FRACTION = re.compile(r"\\frac *(?:\{(\d+)\}|(\d)) *(?:\{(\d+)\}|(\d))")
EPSILON = replace(unit.eps, domain=r"\epsilon > 0")
"""As readings display it."""
SIGNS = 12
"""So many instances have numbers of either sign."""
NONSINGULAR = attribute_of(descent.P)
FORMS = r"x > 0, x \ge 0, x \ne 0, 0 < x \le 1, |x| \le 1 or x \in (0, 1]"


def _kept(attribute: str, domain: str, latex: str) -> tuple[str, str]:
    """Return what an attribute is displayed with, whatever the letter that reads it."""
    return attribute, re.sub(NAME.format(re.escape(latex)), "", domain)


KEPT = {
    _kept(attribute_of(letter), letter.domain, letter.latex)
    for letters in OURS.values()
    for letter in letters
    if letter.domain and attribute_of(letter)
}
"""Ranges of our own letters, which every instance keeps to."""


def out_of_range(claim: Claim | MatrixClaim) -> Iterator[Complaint]:
    """Complain of a letter that is displayed with a range, and is outside of it in an instance.

    The instance may be one that a hypothesis or a hint makes.
    """
    checks: dict[Letter, Callable[[Any, Tried], Any]] = {}
    for letter in _of_range(claim):
        if (bounds := bounds_of(letter, claim)) is not None:
            checks[letter] = partial(_outside, bounds)
        elif attribute_of(letter) == NONSINGULAR:
            checks[letter] = _singular
        elif is_not_zero(letter):
            checks[letter] = _nought
        elif _is_unread(letter):
            yield Complaint(
                claim.id,
                f"its letter {letter.name} is displayed with {letter.domain}, which is not"
                f" understood; write {FORMS}, or say it in a hypothesis, assume(...)",
            )
        elif letter.domain and is_own_function(letter) and not claim.in_words:
            yield Complaint(
                claim.id,
                f"its letter {letter.name} is displayed with {letter.domain}, which nobody tests;"
                " name the expression that it is, named(...), or say by in_words= why it is told"
                rf" in words; a range is written as {FORMS}, or x \in \mathbb R",
            )
    for letter, found in _found_outside(claim, checks).items():
        yield Complaint(
            claim.id,
            f"its letter {letter.name} is displayed with {letter.domain}, and is {found} in an"
            " instance; write that as a hypothesis, or let it be a function with such values",
        )


def misshapen(claim: Claim | MatrixClaim) -> Iterator[Complaint]:
    r"""Complain of a vector or matrix that has other sizes than the space that it is displayed in.

    A size is looked at where it is a letter or a number, as in ``x \in \mathbb R^n``.
    """
    tried = Tried(without_hypotheses(claim), next(drawn_for(claim)))
    for letter in letters_of(claim):
        space = None if is_ours(letter) else SPACE.search(letter.domain)
        if space is None or (value := tried.value_of(letter)) is None:
            continue
        sizes = space[1].strip("{}").split(r"\times")
        told = tuple(int(n) for x in sizes if (n := end_of(x.strip(), tried)) is not None)
        if len(told) == len(sizes) and told != np.shape(value):
            yield Complaint(
                claim.id,
                f"its letter {letter.name} is displayed with {letter.domain}, and is of the shape"
                f" {np.shape(value)} where that is {told}",
            )


def _of_range(claim: Claim | MatrixClaim) -> list[Letter]:
    """Return the letters that may leave their ranges, that of a displayed reading among them.

    Ours keep to theirs in every instance that is drawn.
    """
    moves = claim.attack or any(hypothesis.impose for hypothesis in claim.hypotheses)
    own = [letter for letter in letters_of(claim) if moves or not is_ours(letter)]
    return [*own, EPSILON] if moves and claim.reading.has_epsilon else own


def _found_outside(
    claim: Claim | MatrixClaim, checks: Mapping[Letter, Callable[[Any, Tried], Any]]
) -> dict[Letter, Any]:
    """Return what is outside of a letter's range in an instance that the statement speaks of."""
    seen: dict[Letter, Any] = {}
    some = [*islice(drawn_at_scales(claim, FAR), SIGNS * (1 + len(FAR)))] if checks else []
    special = special_for(claim) if checks else ()
    for tried in (Tried(claim, x) for x in (*some, *_hinted(claim), *special)):
        values = {letter: tried.value_of(letter) for letter in checks if letter not in seen}
        found = {x: checks[x](value, tried) for x, value in values.items() if value is not None}
        outside = {letter: value for letter, value in found.items() if value is not None}
        if outside and tried.is_meant() and _is_defined(tried):
            seen |= outside
    return seen


def _hinted(claim: Claim | MatrixClaim) -> Iterator[Any]:
    """Yield the instances at which a search looks first."""
    with suppress(HintError):  # another check says what is wrong
        yield from hinted(grounds_of(claim), claim)


def is_not_zero(letter: Letter) -> bool:
    """Whether a vector or matrix is displayed as not zero, which says that some entry is not."""
    is_number = letter.sort is Sort.NUMBER
    return not is_number and _read(letter.domain) == (letter.latex, [(r"\ne", "0")])


def _is_unread(letter: Letter) -> bool:
    """Whether what an instance has is displayed with what nobody understands."""
    attribute = attribute_of(letter)
    if is_ours(letter) or not letter.domain or not attribute:
        return False
    return _kept(attribute, letter.domain, letter.latex) not in KEPT


def _is_defined(tried: Tried) -> bool:
    """Whether a statement has sides at an instance: it may divide by zero, or take no real root."""
    with suppress(Exception):  # another check says what else is wrong
        tried.claim.sides(tried.offered)
        return True
    return False


def bounds_of(letter: Letter, claim: Claim | MatrixClaim) -> Bounds | None:
    """Return a letter's range, None if its domain is none, or has ends that are not known."""
    if letter.value is None or (read := _read(letter.domain)) is None:
        return None
    name, bounds = read
    if letter.latex not in (name, rf"({name}\mathbf 1)"):
        return None
    if letter.sort is not Sort.NUMBER and any(relation == r"\ne" for relation, _ in bounds):
        return None  # it says that some entry is not zero
    return bounds if all(_is_known(end, claim) for _, end in bounds) else None


def _is_known(text: str, claim: Claim | MatrixClaim) -> bool:
    """Whether an end of a range is a number in one of a few instances."""
    some = (Tried(claim, subject) for subject in islice(drawn_for(claim), SIGNS))
    return any(end_of(text, tried) is not None for tried in some)


def _read(domain: str) -> tuple[str, Bounds] | None:
    r"""Return the letter that a range is of, and its bounds.

    >>> _read(r"0\leq x<1"), _read("|x| < 2"), _read(r"x \in \mathbb{R}")
    (('x', [('<', '1'), ('\\ge', '0')]), ('x', [('<', '2'), ('>', '-2')]), ('x', []))
    """
    for spelling, usual in SPELLINGS.items():
        domain = re.sub(spelling, usual, domain)
    if of_all := REALS.fullmatch(domain):
        return of_all[1], []
    if (found := INEQUALITY.fullmatch(_as_inequality(domain))) is None:
        return None
    low, above, name, relation, high = found.groups()
    if low is None and re.fullmatch(r"-?[\d./]+", name) and relation in TURNED:
        return high, [(TURNED[relation], name)]
    return name, [(relation, high), *([] if low is None else [(TURNED[above], low)])]


def _as_inequality(domain: str) -> str:
    r"""Return a range with single spaces around its relations, an interval as an inequality.

    >>> print(_as_inequality(r"0\leq x<1"), "|", _as_inequality(r"x \in [0, \infty)"))
    0 \le x < 1 | x \ge 0
    >>> _as_inequality(r"1 > x \geq 0")
    '0 \\le x < 1'
    """
    if interval := INTERVAL.fullmatch(domain):
        letter, opened, low, high, closed = interval.groups()
        below, above = ("<" if end in "()" else r"\le" for end in (opened, closed))
        if high in (r"\infty", r"+\infty"):
            return f"{letter} > {low}" if opened == "(" else rf"{letter} \ge {low}"
        if low == r"-\infty":
            return f"{letter} {above} {high}"
        return f"{low} {below} {letter} {above} {high}"
    short = re.sub(r"\\(ge|le|ne)q?(?![a-zA-Z])", r"\\\1", domain)
    spaced = " ".join(re.sub(r"(<|>|=|\\(?:ge|le|ne)(?![a-zA-Z]))", r" \1 ", short).split())
    if of_modulus := MODULUS.fullmatch(spaced):
        letter, relation, end = of_modulus.groups()
        return f"-{end} {relation} {letter} {relation} {end}"
    if descending := DESCENDING.fullmatch(spaced):
        high, above, letter, below, low = descending.groups()
        return f"{low} {TURNED[below]} {letter} {TURNED[above]} {high}"
    return spaced


def _outside(bounds: Bounds, value: Any, tried: Tried) -> Any:
    """Return a number of a letter that is not where its bounds say, None if there is none."""
    for relation, text in bounds:
        if (end := end_of(text, tried)) is not None:
            is_kept = COMPARISONS[relation](in_floats(value), end)
            if not np.all(is_kept):
                entries, kept = np.broadcast_arrays(np.asarray(value, dtype=object), is_kept)
                return entries[~kept][0]
    return None


def _nought(value: Any, _: Tried) -> str | None:
    """Return what a vector or matrix is all of whose entries are zero, None if it is not."""
    return None if in_floats(value).any() else "zero"


def _singular(matrix: Any, _: Tried) -> str | None:
    """Return what a matrix is that has no inverse, None if it has one."""
    return "singular" if squared_singular_values(matrix)[0] == 0 else None


def end_of(text: str, tried: Tried) -> Array | None:
    """Return an end of a range: a number, a size, a letter; nothing if it is none of them."""
    if text.startswith("-") and (opposite := end_of(text[1:], tried)) is not None:
        return -opposite
    with suppress(ValueError, ZeroDivisionError):
        plain = FRACTION.sub(lambda found: "{}/{}".format(*filter(None, found.groups())), text)
        return np.asarray(float(Fraction(plain)))
    claim, sizes = tried.claim, tried.subject.size
    module = MODULES[None if isinstance(claim, Claim) else claim.subject]
    for letter in (*letters_of(claim), *OURS[module]):
        if letter.latex == text and letter.value is not None:
            value = tried.value_of(letter)
            return None if value is None else in_floats(value)
    return np.asarray(float(sizes[text])) if text in sizes else None
