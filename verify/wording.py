"""Words that pages and terminals share."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

from theory import unit
from theory.claim import Claim
from theory.language.definitions import sides_of_each
from theory.language.expression import Apply, Letter, walk
from theory.language.letters import attribute_of
from theory.statement import Form, Hypothesis, Statement, Verdict

OF_THE_LAYER = {unit.sigma, unit.yhat}
OF_THE_SIZE = ("m", "one")
"""What letters read that tells the length of a batch."""
BY_THE_LAYER = {unit.Lhat, unit.BN, unit.normalize, unit.deviation}
"""The letters and the operations that are none where the batch is constant."""
NOT_CONSTANT = r"\sigma > 0 \text{ (the batch is not constant, so } m \ge 2)"


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun.

    >>> plural(1, "witness", "witnesses"), plural(1200, "case")
    ('1 witness', '1,200 cases')
    """
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def meanings(claim: Statement) -> dict[str, str]:
    """Return what a statement's names stand for and its letters range over, as LaTeX.

    The layer takes no constant batch without epsilon.  Where nothing of it is in the statement that
    is told if it matters: in the limit of a constant batch a strict inequality need not be strict,
    and m may be one.
    """
    return claim.meanings | ({"sigma": NOT_CONSTANT} if _is_silent_of_the_layer(claim) else {})


def where(claim: Statement) -> list[str]:
    """Return the same without the names, each once."""
    return list(dict.fromkeys(meanings(claim).values()))


def _is_silent_of_the_layer(claim: Statement) -> bool:
    if not isinstance(claim, Claim) or claim.reading.has_epsilon:
        return False
    met = {part for side in sides_of_each(claim.said) for part in walk(side)}
    operations = {part.operation for part in met if isinstance(part, Apply)}
    if not OF_THE_LAYER.isdisjoint(met) or not BY_THE_LAYER.isdisjoint(operations):
        return False
    read = {attribute_of(part) for part in met if isinstance(part, Letter)}
    is_strict = any(says.relation.is_strict for says in claim.said)
    return not read.isdisjoint(OF_THE_SIZE) or ("y" in read and is_strict)


def told_whose(command: str, target: str) -> str:
    """Return a command on statements of others with whose they are.

    >>> told_whose("python -m verify prove S-eq-3", ""), told_whose("prove a-1", "my claims.py")
    ('python -m verify prove S-eq-3', "prove a-1 --claims 'my claims.py'")
    """
    return f"{command} --claims {quote(target)}" if target else command


def unprinted(claim: Statement, hypothesis: Hypothesis) -> str:
    """Return what a hypothesis that the text does not state is to a statement."""
    return "added here" if is_added(claim, hypothesis) else "missing from the text"


def is_added(claim: Statement, hypothesis: Hypothesis) -> bool:
    """Whether a statement has been made special here by a hypothesis.

    The text lacks what a statement needs that holds; what falls, is sharper than the text's, or is
    not the text's, has been made special here.
    """
    is_ours = hypothesis.is_ours or claim.form in (Form.BOUNDARY, Form.SHARPENED)
    return not hypothesis.printed and (is_ours or claim.expected is Verdict.REFUTED)


def besides(quantities: Sequence[str]) -> list[str]:
    """Return what a theorem assumes beyond the statement: a phrase, or nothing.

    >>> besides(["norm2 u"]), besides([])
    (['besides the statement that norm2 u is not zero'], [])
    """
    verb = "is" if len(quantities) == 1 else "are"
    said = f"besides the statement that {' and '.join(quantities)} {verb} not zero"
    return [said] if quantities else []
