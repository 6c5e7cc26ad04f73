"""A claim's other readings and its corrections are tied to it; a reading says what letters mean."""

from dataclasses import replace

from theory.claim import Claim, Form, Location, Reading, Verdict
from theory.language.expression import equal
from theory.unit import gamma, sigma

PRINTED = Claim(
    id="S-one",
    locations=(Location("S-final", 1, "Sect. 1", "a few words"),),
    says=equal(gamma, sigma),
    expected=Verdict.PROVED,
    remark="a remark",
)


def test_another_reading_is_the_same_statement_under_another_name():
    shared = PRINTED.under(Reading.SHARED_EPSILON, Verdict.REFUTED, corrected_by="S-two")
    changed = {"id": "S-one/eps", "reading": Reading.SHARED_EPSILON, "form": Form.READING}
    changed |= {"expected": Verdict.REFUTED, "corrected_by": "S-two"}
    assert shared == replace(PRINTED, **changed)


def test_a_correction_is_tied_to_what_it_corrects_and_does_not_repeat_its_remark():
    wrong = replace(PRINTED, expected=Verdict.REFUTED, corrected_by="S-two")
    changed = {"says": gamma <= sigma}
    tied = {"id": "S-one/corrected", "amends": "S-one", "form": Form.CORRECTED}
    right = tied | {"expected": Verdict.PROVED, "remark": "", "corrected_by": None}
    assert wrong.corrected(**changed) == replace(wrong, **changed, **right)
    assert wrong.corrected(id="S-two", form=Form.SHARPENED).id == "S-two"


def test_a_sharper_statement_is_tied_to_what_it_sharpens():
    shared = PRINTED.under(Reading.SHARED_EPSILON, Verdict.PROVED)
    tied = {"id": "S-one/eps/equality", "amends": "S-one/eps", "form": Form.SHARPENED}
    sharper = shared.sharpened("equality", remark="attained")
    assert sharper == replace(shared, **tied, remark="attained")
    assert PRINTED.sharpened().id == "S-one/sharpened"
