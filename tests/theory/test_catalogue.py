"""A list of statements that is wrong in itself is refused before anything is examined."""

import re
from dataclasses import replace

import pytest

from theory.catalogue import CatalogueError, checked
from theory.claim import Form, Reading, Verdict
from theory.descent import H, H_definite, alpha, v
from theory.language.arrays import first
from theory.language.expression import along, equal, named
from theory.language.letters import number_of, vector_of
from theory.language.operations import dot, norm2
from theory.matrix_claim import Kind, MatrixClaim
from theory.santurkar2018 import theorem_4_1
from theory.statement import assume
from theory.unit import g, gamma, m, sigma, u, variable, y, yhat, z
from verify.engine import CLAIMS
from verify.ledger import Entry, as_json
from verify.show import shown_entry

RIGHT = theorem_4_1.PRINTED
WHAT_THE_TEXT_NAMES = {
    "S-obs-4.3/minima/fixed/without-bias": "a minimum",
    "S-obs-4.3/minima/fixed/without-bias/eps": "a minimum",
    "L-def-minimiser/growth": "a positive semi-definite Hessian",
    "L-eq-5-6/6/lower-bound": "r",
    "L-lemma-A2/k-4-smaller-constant": "k at most 2 log max{m, n}",
}
"""Statements of ours that spell out what the paper's word for a hypothesis means."""


def test_what_is_refuted_says_what_is_right_or_remarks_why_not():
    corrected = {claim.amends for claim in CLAIMS if claim.form is Form.CORRECTED}
    refuted = [claim for claim in CLAIMS if claim.expected is Verdict.REFUTED]
    assert not [c.id for c in refuted if not (c.corrected_by or c.id in corrected or c.remark)]


def test_what_amends_a_statement_is_of_the_same_result():
    results = {claim.id: claim.result for claim in CLAIMS}
    assert not [c.id for c in CLAIMS if c.amends is not None and results[c.amends] != c.result]


def test_what_sharper_forms_and_boundaries_alone_assume_is_not_called_the_papers():
    of_the_text = {
        (claim.result, hypothesis.statement)
        for claim in CLAIMS
        if claim.form in (Form.PRINTED, Form.STEP, Form.READING)
        for hypothesis in claim.hypotheses
        if hypothesis.printed
    }
    ours = {
        claim.id
        for claim in CLAIMS
        if claim.form in (Form.SHARPENED, Form.BOUNDARY)
        for hypothesis in claim.hypotheses
        if hypothesis.printed and (claim.result, hypothesis.statement) not in of_the_text
    }
    assert ours == WHAT_THE_TEXT_NAMES.keys()


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"title": ""}, "give a title="),
        ({"locations": ()}, "give the places"),
        ({"says": None}, "give says=, a relation of two expressions"),
        ({"corrected_by": "S-nothing"}, "corrected_by names S-nothing, which is no statement"),
        ({"form": Form.CORRECTED, "id": "S-x"}, "S-x: is corrected; say of what with amends="),
        ({"amends": RIGHT.id}, "amends= is for what is corrected or sharpened"),
        ({"unreadable": "lost"}, "unreadable= says why, and goes with"),
        ({"id": "S-other"}, "S-other: says what S-thm-4.1 says"),
        ({}, "2 statements have this identifier"),
    ],
)
def test_what_is_wrong_is_named_with_what_to_do(wrong, complaint):
    with pytest.raises(CatalogueError, match=complaint):
        checked([RIGHT, replace(RIGHT, **wrong)])


SIDES = RIGHT.says.actual, RIGHT.says.claimed
EXACT = equal(*SIDES)


@pytest.mark.parametrize(
    ("says", "hypothesis"),
    [
        (RIGHT.says, RIGHT.says),
        (RIGHT.says, SIDES[1] >= SIDES[0]),
        (RIGHT.says, SIDES[1] - SIDES[0] >= 0),
        (RIGHT.says, SIDES[0] < SIDES[1]),
        (RIGHT.says, EXACT),
        (RIGHT.says, equal(*reversed(SIDES))),
        (EXACT, equal(*reversed(SIDES))),
        (EXACT, equal(SIDES[0] - SIDES[1], 0)),
    ],
)
def test_nothing_is_concluded_from_itself_in_whatever_order_its_sides_stand(says, hypothesis):
    claim = replace(RIGHT, says=says, because=None, hypotheses=(assume(hypothesis),))
    with pytest.raises(CatalogueError, match="what it says is one of its hypotheses"):
        checked([claim])


@pytest.mark.parametrize(
    ("says", "hypothesis"),
    [(SIDES[0] < SIDES[1], RIGHT.says), (EXACT, RIGHT.says), (SIDES[0] < SIDES[1], EXACT)],
)
def test_what_says_less_than_a_statement_or_something_else_may_be_assumed(says, hypothesis):
    claim = replace(RIGHT, says=says, because=None, hypotheses=(assume(hypothesis),))
    assert checked([claim])


def test_what_is_corrected_by_names_what_holds():
    wrong = replace(RIGHT, id="S-wrong", expected=Verdict.REFUTED, says=gamma <= 1, because=None)
    with pytest.raises(CatalogueError, match="S-wrong, which is expected to be refuted; name"):
        checked([replace(RIGHT, corrected_by="S-wrong"), wrong])


def test_a_letter_of_another_domain_makes_another_statement():
    upright, definite = (
        MatrixClaim(
            id=name,
            title="A quadratic form",
            subject=Kind.DESCENT,
            locations=RIGHT.locations,
            says=dot(v, letter @ v) >= 0,
            hypotheses=(assume(alpha <= 1),),
            expected=Verdict.PROVED,
        )
        for name, letter in (("one", H), ("two", H_definite))
    )
    assert checked([upright, definite]) == (upright, definite)
    assert upright.statement == definite.statement
    for claim, domain in (upright, r"H \succeq 0"), (definite, r"H \succ 0"):
        assert claim.where == [domain, r"\alpha > 0"]
        entry = Entry(claim, (), Verdict.NOT_RUN)
        assert as_json(entry)["where"] == claim.where
        assert f"where\n  {domain}\n  \\alpha > 0\n" in shown_entry(entry)


def test_what_names_in_a_hypothesis_stand_for_is_told_and_what_is_checked_of_its_words():
    energy = named("E", norm2(g))
    small = assume(energy <= 1, words=r"\text{the gradient is small}")
    claim = replace(RIGHT, hypotheses=(small, assume(energy > 0)))
    assert r"E = \|g\|^2" in claim.where
    assert [hypothesis.checked for hypothesis in claim.hypotheses] == [r"E \le 1", ""]
    told = shown_entry(Entry(claim, (), Verdict.NOT_RUN))
    assert r"\text{the gradient is small}, checked as E \le 1" in told


@pytest.mark.parametrize(
    "words", [r"m > 1 \text{ and odd}", r"\text{not } m > 1", r"\gamma = 1,\ m > 1", "m > 10"]
)
def test_what_is_checked_is_told_beside_any_other_words(words):
    assert assume(m > 1, words=words).checked == "m > 1"
    assert not assume(m > 1, words="m > 1").checked


@pytest.mark.parametrize(
    ("says", "reading", "is_told"),
    [
        (norm2(y) > 0, Reading.NO_EPSILON, True),
        (m >= 2, Reading.NO_EPSILON, True),
        (norm2(y) > 0, Reading.SHARED_EPSILON, False),
        (norm2(y) >= 0, Reading.NO_EPSILON, False),
        (norm2(g) > 0, Reading.NO_EPSILON, False),
        (sigma**2 * m > 0, Reading.NO_EPSILON, False),
    ],
)
def test_that_the_batch_is_not_constant_is_told_where_nothing_says_so(says, reading, is_told):
    claim = replace(RIGHT, says=says, reading=reading, because=None)
    told = shown_entry(Entry(claim, (), Verdict.NOT_RUN))
    assert ("the batch is not constant" in told) == is_told


def test_a_name_stands_for_one_thing():
    energy, other = named("E", norm2(g)), named("E", norm2(g) / 2)
    claim = replace(RIGHT, hypotheses=(assume(energy <= 1), assume(other > 0)))
    with pytest.raises(CatalogueError, match="displays E for two different things"):
        checked([claim])


@pytest.mark.parametrize(
    ("hypothesis", "name"),
    [
        (named(r"\gamma", 2 * gamma) >= gamma, r"\gamma"),
        (named("gamma", 2 * gamma) >= 0, "gamma"),
        (number_of("beta", r"\gamma", "beta") >= gamma, r"\gamma"),
        (norm2(vector_of("v", r"\hat{y}", "other_direction")) >= norm2(yhat), r"\hat y"),
        (named(r"\gamma^2", gamma) >= gamma**2, r"\gamma^2"),
        (first(y) >= number_of("beta", "y_{1}", "beta"), "y_{1}"),
        (along(dot(variable, vector_of("w", "x", "direction")), variable, u, at=z) >= 0, "x"),
    ],
    ids=[
        "a name as a letter",
        "as one in plain text",
        "two letters",
        "two letters in unlike LaTeX",
        "a name as a power",
        "a letter as an entry",
        "a letter as the variable of a derivative",
    ],
)
def test_a_letter_stands_for_one_thing_too(hypothesis, name):
    claim = replace(RIGHT, hypotheses=(assume(hypothesis),))
    with pytest.raises(CatalogueError, match=f"displays {re.escape(name)} for two different"):
        checked([claim])
