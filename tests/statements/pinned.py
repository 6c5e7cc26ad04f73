r"""What refuted statements and bounds say, in numbers that nobody can edit by mistake.

A refuted statement has no proof that an edit of it would break, and a bound that is made weaker
holds as well, with a certificate that may be made of the same letters.  So both sides are kept at
the generic instances of :mod:`wrong_variants`, and of a refuted one the counterexample, with its
sides as exact arithmetic found them.  All are computed again by PyTorch, whose derivatives share
nothing with the exact ones.

    python tests/statements/pinned.py EVIDENCE     # after a statement was changed on purpose
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from wrong_variants import CLOSE, MEANINGLESS, array_of, instances, values_in

from theory.claim import Claim
from theory.language.expression import Relation, Says
from theory.language.values import Values
from theory.matrix_claim import MatrixClaim
from theory.statement import Statement, Verdict
from verify import engine, evidence, ledger
from verify.cases import losses
from verify.cases.case import Case
from verify.matrices import floats, strata

FILE = Path(__file__).with_name("pinned.jsonl")
PINNED = [
    claim
    for claim in engine.CLAIMS
    if isinstance(claim, Claim | MatrixClaim)
    and not claim.unreadable
    and (claim.expected is not Verdict.PROVED or claim.relation is not Relation.EQUAL)
]
"""Expectations are measured, and their constants pinned by tests of their own."""
FUNCTIONS = {
    losses.Loss(function, ()).formula: function
    for function in (
        losses.quadratic, losses.isotropic, losses.general, losses.separable,
        losses.relu_network, losses.later_batchnorm,
    )
}  # fmt: skip


@cache
def pins() -> dict[str, dict[str, Any]]:
    """Return what is kept of statements, by identifier."""
    return {pin["id"]: pin for pin in map(json.loads, FILE.read_text().splitlines())}


def values_at(claim: Statement, numbers: dict[str, Any]) -> Values:
    """Return the values of expressions at a counterexample, in PyTorch."""
    if isinstance(claim, Claim):
        return values_in(_case(numbers), claim.reading)
    drawn = strata.draw(claim.subject, "gaussian", 0, 0)
    given = {name: _parsed(numbers[name]) for name in drawn.names() if name in numbers}
    return Values(replace(drawn, **given).converted(floats.tensor, floats.CALCULUS))


def _case(numbers: dict[str, Any]) -> Case:
    function = FUNCTIONS[numbers["loss"]]
    loss = losses.Loss(function, tuple(map(_parsed, numbers["parameters"].values())))
    return Case(
        y=_parsed(numbers["y"]),
        gamma=_parsed(numbers["gamma"]),
        beta=_parsed(numbers["beta"]),
        eps=_parsed(numbers["eps"]),
        loss=loss,
        direction=_parsed(numbers["u"]),
        other_direction=_parsed(numbers["v"]),
        bound=_parsed(numbers["lambda"]),
        later_normalizations=int(function is losses.later_batchnorm),
    )


def _parsed(value: Any) -> Any:
    """Return numbers that were written as text, in nested lists."""
    return np.vectorize(_number, otypes=[float])(np.array(value))


def _number(text: str) -> float:
    """Return p + q sqrt(d), or the middle of a ball."""
    middle = str(text).strip("[]").partition("+/-")[0]
    return float(eval(middle, {"sqrt": sqrt, "__builtins__": {}}))


def side(text: str) -> np.ndarray:
    """Return a side as it was written: a number, or several in brackets."""
    entries = text[1:-1] if text.startswith("(") else text
    return np.array([_number(entry) for entry in entries.split(", ")])


def generic(claim: Statement, says: Says) -> list[float]:
    """Return two numbers of each side at each generic instance that has them."""
    found = []
    for values in instances(claim):
        with suppress(*MEANINGLESS):
            for value in map(array_of, values.sides(says)):
                entries = np.nan_to_num(value.ravel())
                found += [float(entries.sum()), float(entries @ np.cos(np.arange(len(entries))))]
    return found


def misses(claim: Statement, says: Says, pin: dict[str, Any]) -> str:
    """Return what is not as it is kept; nothing where all is."""
    if written := pin["counterexample"]:
        try:
            sides = values_at(claim, written["numbers"]).sides(says)._asdict()
        except MEANINGLESS as error:
            return repr(error)
        for name, found in sides.items():
            if not close(array_of(found).ravel(), side(written[name])):
                return f"{name} is {array_of(found)}, and was {written[name]}"
    now = generic(claim, says)
    return "" if close(now, pin["generic"]) else f"at generic instances {now}"


def close(found: Any, kept: Any) -> bool:
    """Whether numbers are the same up to the rounding of both."""
    try:
        a, b = np.broadcast_arrays(np.asarray(found, float), np.asarray(kept, float))
    except ValueError:
        return False
    size = max(np.nanmax(np.abs([a, b]), initial=0), 1)
    return bool(np.allclose(a, b, rtol=0, atol=CLOSE * size, equal_nan=True))


def write(folder: Path) -> None:
    """Keep the counterexamples of a folder of evidence."""
    entries = ledger.ledger(PINNED, evidence.read(folder)[1])
    _keep({e.claim.id: e.counterexample and asdict(e.counterexample) for e in entries})


def _keep(counterexamples: dict[str, dict[str, Any] | None]) -> None:
    lines = [
        {
            "id": claim.id,
            "counterexample": counterexamples[claim.id],
            "generic": [float(f"{number:.13g}") for number in generic(claim, claim.says)],
        }
        for claim in PINNED
    ]
    FILE.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
