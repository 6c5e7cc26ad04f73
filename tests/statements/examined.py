r"""What statements are worth where they are examined: with it an edit of one is told.

Where an equation is proved, its actual side is what its claimed side is worth at any instance, and
nothing else.  A refuted statement has no proof that an edit would break, a bound that is made
weaker holds as well, and hypotheses hold at some instances only: of all these both sides at generic
instances are kept, and of a refuted one the counterexample, with its sides as exact arithmetic
found them.  PyTorch, whose derivatives share nothing with exact ones, finds them again.

    python tests/statements/examined.py EVIDENCE     # after a statement was changed on purpose
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache, reduce
from itertools import zip_longest
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import torch

from theory.claim import Claim, Reading, Unit
from theory.expectation_claim import Drawn, ExpectationClaim
from theory.language.expression import Relation, Says
from theory.language.values import Values
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Hypothesis, Statement, Verdict
from verify import engine, ledger
from verify.subjects import losses, matrix_strata
from verify.subjects.laws import LAWS, Entries
from verify.subjects.matrices import Layer, Numbers
from verify.subjects.unit import Case, adapted
from verify.subjects.unit_strata import random_cases
from verify.witnesses.autograd import CALCULUS, network_of
from verify.witnesses.matrices import floats
from verify.witnesses.stacks import loss_of, stacked

CLAIMS = [claim for claim in engine.CLAIMS if claim.says is not None and not claim.unreadable]
FILE = Path(__file__).with_name("kept.jsonl")
LOSSES = {formula: getattr(losses, name) for name, (formula, _) in losses._WRITTEN.items()}
CLOSE = 1e-9
ALWAYS = Verdict.PROVED, Relation.EQUAL
MEANINGLESS = (ZeroDivisionError, RuntimeError, ValueError, TypeError)
"""What an edit may be worth nothing by: a shape that does not fit, an index that is a half."""


def misses(claim: Statement, says: Says) -> str:
    """Return where a claim that said this would not be what was examined; nothing if it were."""
    every = expected(claim) or [[[0]]]
    for found, right in zip_longest(numbers(claim, says), every, fillvalue=[]):
        if not close(found, right):
            return f"sides {found}, not {right}"
    if written := kept().get(claim.id, {}).get("counterexample"):
        try:
            sides = values_at(claim, written["numbers"]).sides(says)._asdict()
        except MEANINGLESS as error:
            return repr(error)
        for name, found in sides.items():
            if not close(array_of(found).ravel(), side(written[name])):
                return f"{name} is {found}, and was {written[name]}"
    return ""


def is_kept(claim: Statement) -> bool:
    return bool(claim.hypotheses) or (claim.expected, claim.relation) != ALWAYS


@cache
def kept() -> dict[str, dict[str, Any]]:
    """Return what is kept of statements, by identifier."""
    return {line["id"]: line for line in map(json.loads, FILE.read_text().splitlines())}


@cache
def expected(claim: Statement) -> list[list[list[float]]]:
    """Return what the sides are: as they were kept, or as an equation says."""
    return kept()[claim.id]["generic"] if is_kept(claim) else list(numbers(claim, claim.says))


def numbers(claim: Statement, says: Says) -> Iterator[list[list[float]]]:
    """Yield two numbers of each side, of an equation of one, at each instance that has them."""
    for values in instances(claim):
        with suppress(*MEANINGLESS):
            sides = values.sides(says) if is_kept(claim) else [values[says.claimed]]
            entries = [np.nan_to_num(x.ravel()) for x in np.broadcast_arrays(*map(array_of, sides))]
            weights = np.cos(np.arange(len(entries[0])))
            yield [[float(np.sum(e)), float(e @ weights)] for e in entries]


def array_of(value: Any) -> np.ndarray:
    return np.asarray(value.detach() if isinstance(value, torch.Tensor) else value, dtype=float)


def close(found: Any, right: Any) -> bool:
    """Whether numbers are as many, and the same up to the rounding of both."""
    a, b = np.asarray(found, float), np.asarray(right, float)
    if a.shape != b.shape:
        return False
    size = np.max(np.maximum(np.maximum(abs(a), abs(b)), 1e-2), axis=-1, keepdims=True)
    return bool((abs(a - b) <= CLOSE * size).all())


class OfLaw:
    """A random matrix with the numbers of its law, which come first."""

    def __init__(self, law: Entries, drawn: Drawn):
        self.law, self.drawn = law, drawn

    def __getattr__(self, name: str) -> Any:
        return getattr(self.law if hasattr(self.law, name) else self.drawn, name)


def instances(claim: Statement) -> tuple[Values, ...]:
    """Return the values of expressions at cases where the claim's hypotheses are imposed."""
    hypotheses = tuple(h for h in claim.hypotheses if h.impose is not None)
    if isinstance(claim, Claim):
        return units(claim.reading, hypotheses)
    if isinstance(claim, MatrixClaim):
        return layers(claim.subject, hypotheses)
    laws = [Entries("uniform", LAWS["uniform"], *size) for size in ((6, 3), (3, 6))]
    return tuple(Values(OfLaw(law, Drawn(G))) for law in laws for G in law.matrices(0, 1))


@cache
def units(reading: Reading, hypotheses: tuple[Hypothesis, ...]) -> tuple[Values, ...]:
    claim = Claim(
        id="", locations=(), expected=Verdict.PROVED, reading=reading, hypotheses=hypotheses
    )
    return tuple(values_in(adapted(case, claim), reading) for case in cases())


@cache
def cases() -> tuple[Case, ...]:
    """Return generic batches, one of them with a negative gamma."""
    found = [c for c in random_cases(0, 2) if c.stratum in ("generic", "gamma<0")]
    return tuple(case for case in found if 3 <= len(case.y) <= 8)[:3]


def values_in(case: Case, reading: Reading) -> Values:
    stack, loss = stacked([case]), loss_of([case])
    first = stack.mapped(lambda tensor: tensor[0])
    network = network_of(first, lambda z: loss(z, *first.arguments))
    return Values(Unit(network, reading))


@cache
def layers(kind: Kind, hypotheses: tuple[Hypothesis, ...]) -> tuple[Values, ...]:
    found = []
    for number, stratum in enumerate(("gaussian", "heavy tails") * 3):
        subject = matrix_strata.draw(kind, stratum, 6, number)
        with suppress(ZeroDivisionError):
            imposed = reduce(lambda x, h: h.impose(x), hypotheses, subject)
            if not is_rounding(subject, imposed):
                found.append(Values(imposed.converted(floats.tensor, CALCULUS)))
    return tuple(found)


def is_rounding(subject: Numbers, imposed: Numbers) -> bool:
    """Whether a hypothesis leaves no more of a column than rounding, which differs by machine."""
    if not isinstance(subject, Layer):
        return False
    before, after = (np.linalg.norm(np.asarray(x.H, float), axis=0) for x in (subject, imposed))
    return before.shape == after.shape and bool(((after > 0) & (after < 1e-9 * before)).any())


def values_at(claim: Statement, written: dict[str, Any]) -> Values:
    """Return the values of expressions at a counterexample."""
    if isinstance(claim, MatrixClaim):
        drawn = matrix_strata.draw(claim.subject, "gaussian", 0, 0)
        given = {name: parsed(written[name]) for name in drawn.names() if name in written}
        return Values(replace(drawn, **given).converted(floats.tensor, CALCULUS))
    function = LOSSES[written["loss"]]
    loss = losses.Loss(function, tuple(map(parsed, written["parameters"].values())))
    unit = {name: parsed(written[name]) for name in ("y", "gamma", "beta", "eps")}
    others = {"direction": "u", "other_direction": "v", "bound": "lambda"}
    unit |= {name: parsed(written[letter]) for name, letter in others.items()}
    later = int(function is losses.later_batchnorm)
    return values_in(Case(**unit, loss=loss, later_normalizations=later), claim.reading)


def parsed(value: Any) -> Any:
    """Return numbers that were written as text, in nested lists."""
    return np.vectorize(number, otypes=[float])(np.array(value))


def number(text: str) -> float:
    """Return p + q sqrt(d), or the middle of a ball."""
    middle = str(text).strip("[]").partition("+/-")[0]
    return float(eval(middle, {"sqrt": sqrt, "__builtins__": {}}))


def side(text: str) -> list[float]:
    """Return a side as it was written: a number, or several in brackets."""
    entries = text[1:-1] if text.startswith("(") else text
    return [number(entry) for entry in entries.split(", ")]


def keep(counterexamples: dict[str, Any]) -> None:
    lines = []
    for claim in filter(is_kept, CLAIMS):
        rounded = np.vectorize(lambda x: float(f"{x:.13g}"))(list(numbers(claim, claim.says)))
        found = {"counterexample": counterexamples.get(claim.id), "generic": rounded.tolist()}
        lines.append(json.dumps({"id": claim.id, **found}))
    FILE.write_text("\n".join([*lines, ""]))


if __name__ == "__main__":
    examined = [c for c in CLAIMS if is_kept(c) and not isinstance(c, ExpectationClaim)]
    entries = ledger.ledger(examined, engine.known(Path(sys.argv[1])).records)
    keep({e.claim.id: e.counterexample and asdict(e.counterexample) for e in entries})
