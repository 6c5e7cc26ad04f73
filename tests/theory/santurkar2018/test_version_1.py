"""The statements of the first version: that they are complete, and what they may not assume."""

from fractions import Fraction

from theory.erratum import Kind
from theory.santurkar2018.errata import FIRST_VERSION, ONE_TEXT
from theory.santurkar2018.version_1 import CLAIMS
from theory.santurkar2018.version_1.letters import X_I_CENTRED
from theory.statement import Form, Verdict, letters_of
from verify.subjects.unit import adapted
from verify.subjects.unit_lattice import lattice_case
from verify.tolerance import Outcome
from verify.witnesses import exact

BY_ID = {claim.id: claim for claim in CLAIMS}


def case_of(y, x, linear, x_k=None):
    """An instance with gamma = 1 and eps three times the variance, where there is one."""
    m = len(y)
    return lattice_case(
        y=y, gamma=1, beta=0, ratio=Fraction(2), linear=linear, triangle=[0] * (m * (m + 1) // 2),
        direction=x, other_direction=x_k or y, bound=1,
    )  # fmt: skip


def test_every_numbered_line_has_its_entry():
    """Two hold a hypothesis, two nothing, two a copy; two are the definitions of G and of X."""
    without = {18, 22, 23, 38, 47, 49, 52, 60, 62}
    in_facts = {1, 2}
    named = {c.id.removeprefix("S-v1-eq-").split("/")[0] for c in CLAIMS}
    assert {str(number) for number in {*range(1, 65)} - without - in_facts} <= named


def test_a_slip_that_one_text_shows_has_its_caveat():
    slips = {erratum.name for erratum in FIRST_VERSION if erratum.kind is Kind.SLIP}
    assert slips == {erratum.name for erratum in FIRST_VERSION if ONE_TEXT in erratum.wrong}


def test_what_refutes_a_theorem_on_the_gradient_has_inputs_of_mean_zero():
    """Lemma 3.3 says that Theorem 3.2 is of such, and Theorem C.4 is its full form."""
    of_gradients = [c for c in CLAIMS if c.result in ("S-v1-thm-3.2", "S-v1-thm-C4")]
    refuted = [c for c in of_gradients if c.expected is Verdict.REFUTED]
    assert all(X_I_CENTRED in c.hypotheses for c in refuted if c.form is not Form.BOUNDARY)


def test_a_lemma_is_no_hypothesis():
    """What a certificate needs is in it, or is a condition that a reader can check."""
    for claim in CLAIMS:
        for hypothesis in claim.hypotheses:
            assert hypothesis.says is not None
            assert "S-v1" not in hypothesis.statement


def test_a_domain_of_epsilon_says_what_the_text_does():
    """How small it has to be is a hypothesis, marked as missing from the text."""
    letters = {l for claim in CLAIMS for l in letters_of(claim) if l.latex == r"\varepsilon"}
    assert {letter.domain for letter in letters} == {r"\varepsilon > 0"}
    for name in ("lemma-3.3", "thm-C4/square", "thm-C6/same-weight", "thm-C6/two-units"):
        assert [h for h in BY_ID[f"S-v1-{name}"].hypotheses if not h.printed]


def test_the_inputs_meet_the_assumption_on_d():
    """For H = I it asks for entries of one absolute value, and d is one over their number."""
    given = case_of([3, 1, -1, -3], [1, 2, 0, 5], [1, 0, 0, 0], [2, 0, 7, 1])
    for name in ("thm-C6/two-units", "proof-C6/vanilla-by-d", "proof-C6/two-units-vanilla"):
        case = adapted(given, BY_ID[f"S-v1-{name}"])
        for x in (case.direction, case.other_direction):
            assert {abs(int(str(entry))) for entry in x} == {1}
            assert sum(int(str(entry)) for entry in x) == 0


def test_no_correlation_is_not_a_quotient_of_zeros():
    """In two examples what is uncorrelated with an input is constant: there is no correlation."""
    claim = BY_ID["S-v1-remark-always/zero-correlation-any-mean"]
    two = case_of([0, 1], [0, 1], [0, 0], [0, 1])
    assert exact.examined([claim], two)[0].outcome is Outcome.VACUOUS
    known = case_of([1, 0, -1], [1, 0, 0], [0, 0, 0], [0, 0, 0])
    assert exact.examined([claim], known)[0].outcome is Outcome.VIOLATED
