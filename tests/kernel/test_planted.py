"""Exported statements that are edited, and what Coq says of them."""

from theory.claim import Claim
from theory.santurkar2018 import CLAIMS
from theory.statement import Verdict
from verify.kernel.planted import UNEDITED, answers, ask, planted

BY_ID = {claim.id: claim for claim in CLAIMS}
PROVED = [c for c in CLAIMS if isinstance(c, Claim) and c.expected is Verdict.PROVED]


def test_nearly_every_exported_statement_has_edits_and_they_say_something_else():
    """Where two names are equated there is nothing to edit."""
    found = [planted(claim, few=1) for claim in PROVED]
    assert sum(bool(one.wrong) for one in found) > 0.9 * len(found)
    assert all(e.statement != one.right.statement for one in found for _, e in one.wrong)


def test_the_edits_are_asked_with_the_proof_of_the_right_statement():
    text = planted(BY_ID["S-thm-4.1/eps"]).source
    assert text.count("solve [intros; by_certificate (eps * gamma ^ 2") == text.count("Goal forall")
    assert "(norm2 g - dot one g ^ 2 / INR m + dot g yhat ^ 2 / INR m).\nProof." in text


def test_a_hypothesis_is_left_out():
    found = planted(BY_ID["S-v1-eq-13"], few=0)
    [(words, wrong)] = found.wrong
    assert words == "without mean(x_i) = 0"
    assert "mean x_i = 0 ->" in found.right.statement
    assert "mean x_i = 0 ->" not in wrong.statement


def test_no_answer_is_no_acceptance():
    assert answers("Error: syntax") == {}


def test_coq_accepts_the_statement_and_refuses_its_edits_and_what_lacks_a_hypothesis(
    compiled_library,
):
    """Of this one no edit is true as well, and Coq decides each in seconds."""
    [(one, found)] = ask(*compiled_library, [planted(BY_ID["S-v1-eq-13"])], 1)
    assert found.pop(UNEDITED)
    assert found == dict.fromkeys([words for words, _ in one.wrong], False)
