"""Every mistake that could be made in writing a statement is seen, and changes its verdict."""

from dataclasses import replace

import pytest
from examined import CLAIMS, is_kept, kept, misses

from theory.claim import Claim
from theory.language.expression import Abbreviation, Derivative, Letter, Sort, number, walk
from theory.language.latex import shown
from theory.language.plain import plain
from theory.language.variants import variants
from theory.matrix_claim import MatrixClaim
from theory.statement import Verdict
from theory.unit import one
from verify.witnesses import abstract

KEPT = [claim for claim in CLAIMS if is_kept(claim)]
BY_ID = {claim.id: claim for claim in CLAIMS}
REFLECTED = "norm2(gamma*normalize(u) + beta*one - (y - e))"
STEP = "theta_star + v - theta_star - alpha*"
SLOPE = "gradient(L(t) - dot(gradient(L(t), t = theta_star), t), t = theta_star"
TWICE_HG = "2*norm2(derivative(gradient(L(x), x), x = z, along g))"
OF_A_DEVIATION = ("L-prop-7/through-statistics/corrected",)
"""A deviation sees neither the sign nor the shift of what it is taken of."""
SAY_THE_SAME = {
    "S-lemma-4.5/trainable/minimum": {REFLECTED: "e is orthogonal to all others"},
    "S-lemma-4.5/trainable/minimum/eps": {REFLECTED: "e is orthogonal to all others"},
    "L-thm-4c/zeros": {"n + 1": "the condition number is one"},
    "L-thm-4c/tight": {"n": "the condition number is one"},
    "L-lemma-A1/zeros": {"n": "the condition number is one"},
    "L-prop-11/semidefinite": {
        "squared condition number(beside(e, H))": "the condition number is one"
    },
    "S-remark-predictive/gradient": {TWICE_HG: "H is assumed to be zero"},
    "S-remark-predictive/gradient/eps": {TWICE_HG: "H is assumed to be zero"},
    "L-thm-1/kink": {"2*derivative((a*(0*b) - 1)**2/2, b = 0, along 1)": "it is zero"},
    "L-thm-1/softmax": {"dot(t, s)**3": "the two are orthogonal"},
    "L-proof-thm-1/eq-24": {
        f"{STEP}{SLOPE} + v)": "the slope at theta_star is zero",
        f"{STEP}({SLOPE} + v) + {SLOPE}))": "the slope at theta_star is zero",
    },
}
"""Variants that nobody can tell from the right statement, and why."""


def wrong(claim):
    """What a claim would say with one mistake on its claimed side, or with another side there."""
    says = claim.says
    found = [side for side in dict.fromkeys(variants(says.claimed)) if side != says.claimed]
    return [replace(says, claimed=side) for side in found or [another(claim)]]


def another(claim):
    """Twice the claimed side; ones for zeros."""
    sort = claim.says.actual.sort
    if claim.says.claimed != number(0):
        return 2 * claim.says.claimed
    if sort is Sort.NUMBER:
        return number(1)
    return one if isinstance(claim, Claim) else Letter("1", "1", sort, lambda subject: 1)


def test_what_is_kept_of_each_is_enough_to_tell_an_edit():
    assert list(kept()) == [claim.id for claim in KEPT], "python tests/statements/examined.py"
    assert all(line["generic"] for line in kept().values())
    refuted = {c.id for c in KEPT if c.expected is Verdict.REFUTED}
    of_numbers = {c.id for c in KEPT if isinstance(c, Claim | MatrixClaim)}
    assert {i for i, line in kept().items() if line["counterexample"]} == refuted & of_numbers


def test_what_is_kept_is_found_again_without_exact_arithmetic():
    missed = {claim.id: misses(claim, claim.says) for claim in KEPT}
    assert {name: words for name, words in missed.items() if words} == {}


def test_every_mistake_in_a_statement_is_displayed_and_noticed():
    unnoticed, hidden = {}, set()
    for claim in CLAIMS:
        for says in wrong(claim):
            text = plain(says.claimed)
            sees_no_shift = claim.id in OF_A_DEVIATION and "deviation(" in text
            if not (sees_no_shift or misses(claim, says)):
                unnoticed.setdefault(claim.id, set()).add(text)
            if replace(claim, says=says).statement == claim.statement:
                hidden.add((claim.id, text))
    assert unnoticed == {name: set(texts) for name, texts in SAY_THE_SAME.items()}
    assert hidden == set()


def displays(claim):
    """What stands for letters in a statement and its hypotheses: their text and LaTeX, by each."""
    of_hypotheses = (h.says for h in claim.hypotheses if h.says is not None)
    sides = [side for s in (claim.says, *of_hypotheses) for side in (s.actual, s.claimed)]
    nodes = list(walk(*sides))
    free = frozenset().union(*(side.free for side in sides))
    bound = {node.variable for node in nodes if isinstance(node, Derivative)}
    names = {shown(node).text: node for node in nodes if isinstance(node, Abbreviation)}
    letters = free | bound
    yield from ((letter.name, letter) for letter in letters)
    yield from ((letter.latex, letter) for letter in letters)
    yield from ((letter.latex, names[letter.latex]) for letter in bound if letter.latex in names)


def test_what_is_displayed_alike_in_a_statement_is_one_letter():
    unlike = {}
    for claim in CLAIMS:
        found = {}
        for text, node in displays(claim):
            if found.setdefault(text, node) != node:
                unlike.setdefault(claim.id, set()).add(text)
    assert unlike == {}


def proved(claim):
    """The first variant that says something else, where it is proved."""
    for says in wrong(claim):
        if plain(says.claimed) not in SAY_THE_SAME.get(claim.id, {}):
            return abstract.prove(replace(claim, says=says)) and plain(says.claimed)
    return None


def test_no_mistake_in_a_statement_is_proved(monkeypatch):
    monkeypatch.setattr(abstract, "shown", str)  # what is left over is factored to be read
    of_units = [claim for claim in CLAIMS if isinstance(claim, Claim)]
    proved_for_every_m = [c for c in of_units if c.expected is Verdict.PROVED]
    found = {claim.id: proved(claim) for claim in proved_for_every_m}
    assert {name: text for name, text in found.items() if text} == {}


@pytest.mark.parametrize("name", ["L-thm-4c/sqrt-n", "L-norm-Ghat", "S-v1-lemma-3.3"])
@pytest.mark.parametrize("side", ["actual", "claimed"])
def test_a_bound_that_is_made_weaker_and_still_holds_is_seen(name, side):
    claim = BY_ID[name]
    weaker = replace(claim.says, **{side: 9 * getattr(claim.says, side) / 10})
    assert misses(claim, weaker)


@pytest.mark.parametrize("side", ["actual", "claimed"])
def test_a_number_at_a_counterexample_that_is_off_by_a_little_is_seen(side, monkeypatch):
    claim = BY_ID["S-thm-4.4"]
    sides = kept()[claim.id]["counterexample"]
    monkeypatch.setitem(sides, side, f"{sides[side]} + 1/1000000")
    assert side in misses(claim, claim.says)
