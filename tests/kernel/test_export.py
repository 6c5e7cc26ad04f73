"""A statement's Coq text is what its expression says, with what it leaves unsaid."""

from dataclasses import replace

import pytest

from theory import unit
from theory.claim import Claim, Reading, Verdict
from theory.language.coq import NoCoqError
from theory.language.expression import Letter, Primitive, Sort, along, equal, gradient, number
from theory.language.letters import vector_of
from theory.language.operations import centred, dot, norm, norm2, sqrt
from theory.santurkar2018 import CLAIMS, theorem_4_1
from theory.statement import assume
from theory.unit import H, L, Lhat, eps, g, gamma, m, sigma, u, v, y, yhat, z
from verify.kernel.export import exported, letters_of, name_of, theorem
from verify.kernel.proving import exportable

NONE, SHARED, UNIT = Reading


def statement(says, reading=NONE, **fields):
    return theorem("S-x", says, reading, **fields).statement.splitlines()


def test_theorem_4_1_is_exported_as_it_is_written_by_hand():
    assert (
        exported(theorem_4_1.SHARED).source
        == """\
From BatchNorm Require Import Tactics.

Theorem S_thm_4_1__eps (m : nat) (L : vec m -> R) (y : vec m) (gamma beta eps : R) :
  (0 < m)%nat ->
  0 <= eps ->
  0 < variance y + eps ->
  let z := bn gamma beta eps y in
  let Lhat := fun x => L (bn gamma beta eps x) in
  let sigma := deviation eps y in
  let yhat := normalize eps y in
  let g := gradient L z in
  differentiable L z ->
  norm2 (gradient Lhat y) <= gamma ^ 2 / sigma ^ 2 * \
(norm2 g - dot one g ^ 2 / INR m - dot g yhat ^ 2 / INR m).
Proof.
intros.
by_certificate (eps * gamma ^ 2 / (INR m * sigma ^ 4) * dot g yhat ^ 2); nonneg_terms.
Qed.
"""
    )


def test_second_derivatives_are_hessians_and_ask_for_a_loss_that_has_them():
    lines = statement(equal(dot(u, H(v)), dot(v, H(u))))
    assert lines[-1] == "  dot u (hessian L z v) = dot v (hessian L z u)"
    assert "  twice_differentiable L z ->" in lines


def test_a_directional_derivative_and_a_function_of_its_own():
    x = unit.variable
    lines = statement(equal(along(Lhat(x), x, u, at=y), dot(gradient(L(2 * x), x, at=y), v)))
    assert lines[-1] == "  along Lhat y u = dot (gradient (fun x => L (2 *: x)%V) y) v"
    assert "  differentiable L ((2 *: y)%V) ->" in lines


@pytest.mark.parametrize(
    ("reading", "variance", "normalized"),
    [
        (NONE, "  0 < variance y ->", "  let yhat := normalize 0 y in"),
        (SHARED, "  0 < variance y + eps ->", "  let yhat := normalize eps y in"),
        (UNIT, "  0 < variance y ->", "  let yhat := normalize 0 y in"),
    ],
)
def test_what_the_letters_are_is_the_readings_choice(reading, variance, normalized):
    lines = statement(equal(norm2(sigma * yhat), m), reading)
    assert variance in lines
    assert normalized in lines
    assert f"  let sigma := deviation {'0' if reading is NONE else 'eps'} y in" in lines


@pytest.mark.parametrize(
    ("name", "says", "said"),
    [
        ("x", lambda a: equal(gradient(dot(unit.variable, a), unit.variable, at=y), 2 * y), "x is"),
        ("g", lambda a: equal(dot(a, yhat), dot(g, yhat)), "g would be two things"),
        ("sigma", lambda a: equal(dot(a, y), dot(a, y)), "sigma would be two things"),
        ("norm2", lambda a: equal(norm2(a), dot(a, a)), "norm2 would be two things"),
        ("v", lambda a: equal(dot(a, v), norm2(v)), "v would be two things"),
    ],
)
def test_a_letter_with_the_name_of_something_else_is_refused(name, says, said):
    letter = vector_of(name, r"\vec a", "direction")
    with pytest.raises(NoCoqError, match=said):
        statement(says(letter))


def test_a_derivative_in_a_variable_with_the_name_of_a_function_is_refused():
    variable = Letter("mean", "x", Sort.VECTOR)
    with pytest.raises(NoCoqError, match="a derivative's variable is called mean"):
        statement(equal(gradient(dot(variable, u) ** 2, variable, at=y), u))


@pytest.mark.parametrize("name", ["x y", "x => 0) y = (fun x", "x.\nProof", "2x", "\u0445", ""])
def test_a_derivative_in_a_variable_whose_name_is_no_word_is_refused(name):
    variable = Letter(name, "x", Sort.VECTOR)
    with pytest.raises(NoCoqError, match="a derivative's variable is called"):
        statement(equal(gradient(norm2(u), variable, at=y), 0))


def test_a_letter_that_depends_on_a_derivatives_variable_is_not_made_a_function_of_it():
    twice = vector_of("c", "c", lambda unit: 2 * unit.y, "c = 2y")
    with pytest.raises(NoCoqError, match="c, which depends on y, stands in a derivative in y"):
        statement(equal(gradient(dot(twice, y), y), 4 * y))
    elsewhere = statement(equal(gradient(dot(twice, unit.variable), unit.variable, at=y), twice))
    assert elsewhere[-1] == "  gradient (fun x => dot (2 *: y)%V x) y = (2 *: y)%V :> vec m"


@pytest.mark.parametrize("compared", [u < v, u > v, u <= v, u >= v], ids=str)
def test_vectors_compared_entry_by_entry_are_not_made_equal(compared):
    with pytest.raises(NoCoqError, match="between vectors, entry by entry, has no word"):
        statement(compared)
    with pytest.raises(NoCoqError, match="between vectors, entry by entry, has no word"):
        statement(equal(norm2(u - v), 0), hypotheses=[assume(compared)])


@pytest.mark.parametrize(
    "meaning",
    [
        lambda unit, a: a if unit.eps == 0 else 2 * a,
        lambda unit, a: 2 * a if unit.eps > 0 else a,
        lambda unit, a: a if unit.gamma else 2 * a,
        lambda unit, a: a.sort(),
        lambda unit, a: [a][1],
    ],
    ids=["equal", "more", "true", "a method", "an index"],
)
def test_what_is_done_by_cases_is_no_one_expression(meaning):
    own = Primitive("own", meaning, r"\phi({0})", gives=0, takes=(Sort.VECTOR,))
    with pytest.raises(NoCoqError, match="the operation own has no word"):
        statement(equal(own(u), 2 * u))
    letter = vector_of("a", "a", lambda unit: meaning(unit, unit.y), "a = \\phi(y)")
    with pytest.raises(NoCoqError, match="the letter a has no word"):
        statement(equal(letter, 2 * u))


def test_a_derivative_in_a_number_is_refused():
    with pytest.raises(NoCoqError, match="a derivative in gamma, a number, has no word"):
        statement(equal(along(gamma * norm2(u), gamma, number(1)), norm2(u)))


def test_the_variable_of_a_derivative_hides_no_other():
    x, other = unit.variable, Letter("x", "x'", Sort.VECTOR)
    inner = gradient(dot(x, other) * norm2(other), other, at=y)
    with pytest.raises(NoCoqError, match="two variables of derivatives are called x"):
        statement(equal(along(inner, x, u, at=y), 0))


def test_a_denominator_that_may_vanish_is_said_not_to():
    lines = statement(equal(dot(u, g) / (m * sigma**2 * norm2(u) * gamma), number(1) / 2))
    assert [line for line in lines if "<> 0" in line] == ["  norm2 u <> 0 ->", "  gamma <> 0 ->"]


def test_epsilon_is_zero_in_the_reading_without_it():
    assert statement(equal(eps * gamma, 0))[-1] == "  0 * gamma = 0"


def test_vectors_are_in_vector_scope_and_zero_is_the_vector():
    lines = statement(equal(centred(u) - v / norm(u), 0))
    assert lines[-1] == "  (centre u - 1 / norm u *: v)%V = (0 *: one)%V :> vec m"


def test_a_statement_that_is_no_expression_is_refused():
    third = along(along(gradient(L(z), z), z, u), z, v)
    with pytest.raises(NoCoqError, match="loss is differentiated more than twice"):
        theorem("S-x", equal(third, 0), NONE)


def test_everything_on_one_unit_that_is_proved_has_words_in_coq():
    on_a_unit = [claim for claim in CLAIMS if isinstance(claim, Claim)]
    proved = {claim.id for claim in on_a_unit if claim.expected is Verdict.PROVED}
    assert set(exportable(on_a_unit)) == proved


def test_a_formula_of_the_library_is_written_out_as_its_code_is():
    (shipped,) = (claim for claim in CLAIMS if claim.id == "S-fact-C1/eps/shipped")
    *_, says = exported(shipped).statement.splitlines()
    root = "sqrt (dot (y - mean y *: one)%V (y - mean y *: one)%V / INR m + eps)"
    assert says.startswith(f"  gradient Lhat y = (gamma / {root} *: (g - mean g *: one")


def test_where_the_layer_is_put_to_another_batch_is_said_after_its_letters_are():
    lines = statement(equal(norm2(unit.normalize(sigma * v)), m))
    place = lines.index("  0 < variance (sigma *: v)%V ->")
    assert lines.index("  let sigma := deviation 0 y in") < place


def test_an_equation_is_proved_by_its_certificate_whose_terms_are_zero():
    zero = assume(equal(dot(u, yhat), 0))
    says = equal(gamma, gamma - gamma * dot(u, yhat))
    found = theorem("S-x", says, NONE, [zero], -gamma * zero.slack)
    assert found.proof.splitlines() == [
        "intros.",
        "assert (0 = dot u yhat) by lra.",
        "by_certificate (- gamma * dot u yhat); zero_terms.",
    ]


def test_that_a_side_is_zero_is_proved_by_what_that_side_is():
    zero = assume(equal(dot(y, v), 0))
    found = theorem("S-x", equal(2 * dot(y, v), 0), NONE, (zero,), 2 * zero.slack)
    assert "symmetry; by_certificate (2 * dot y v); zero_terms." in found.proof


def test_an_equation_without_a_certificate_is_proved_by_its_hypotheses():
    zero = assume(equal(dot(u, yhat), 0))
    found = theorem("S-x", equal(gamma * dot(u, yhat), 0), NONE, [zero])
    assert found.proof.splitlines() == ["intros.", "identity."]


def test_what_only_the_certificate_divides_by_is_told_apart():
    says = dot(u, g) ** 2 <= norm2(u) * norm2(g)
    found = theorem("S-x", says, NONE, (), norm2(u) * norm2(g - dot(u, g) / norm2(u) * u))
    assert found.besides == ("norm2 u",)
    assert "  norm2 u <> 0 ->" in found.statement.splitlines()
    divided = dot(u, g) ** 2 / norm2(u) <= norm2(g)
    assert theorem("S-x", divided, NONE, (), norm2(g - dot(u, g) / norm2(u) * u)).besides == ()


@pytest.mark.parametrize(
    ("says", "hypotheses", "seen"),
    [
        (dot(u, g) <= 1, [assume(norm2(u) > 0)], "(norm2 u <> 0) by lra"),
        (
            dot(u, g) / sqrt(norm2(u) * norm2(g)) <= 1,
            [],
            "(norm2 u <> 0) by factor_of_nonzero",
        ),
    ],
    ids=["a hypothesis", "a root that is divided by"],
)
def test_what_the_statement_says_not_to_vanish_is_not_assumed_besides(says, hypotheses, seen):
    found = theorem("S-x", says, NONE, hypotheses, norm2(g) / norm2(u))
    assert found.besides == ()
    assert seen in found.proof
    assert "  norm2 u <> 0 ->" not in found.statement.splitlines()


def test_without_a_layer_nothing_is_said_of_one_and_vectors_are_any():
    lines = statement(equal(dot(y, g), dot(g, y)), SHARED)
    assert lines == ["(m : nat) (y g : vec m) :", "  (0 < m)%nat ->", "  dot y g = dot g y"]
    assert "some_batch" in theorem("S-x", equal(dot(y, g), dot(g, y)), NONE).proof
    assert "  0 < variance y ->" in statement(equal(dot(yhat, u), dot(u, yhat)))


def test_only_what_is_expected_to_be_proved_is_exported():
    ids = set(exportable(theorem_4_1.CLAIMS))
    assert "S-thm-4.1/eps" in ids
    assert "S-thm-4.1/eps-unit" not in ids
    assert name_of("S-thm-4.1/eps") == "S_thm_4_1__eps"
    assert name_of("4.1") == "_4_1"  # no name begins with a digit


def test_two_statements_whose_theorems_would_have_one_name_are_refused():
    twins = [replace(theorem_4_1.SHARED, id=identifier) for identifier in ("mine/1", "mine__1")]
    with pytest.raises(ValueError, match="mine/1 and mine__1 would be one theorem, mine__1"):
        exportable(twins)


def test_what_letters_of_the_paper_are_in_coq_is_told_of_exports_alone():
    lemma = next(claim for claim in CLAIMS if claim.id == "S-v1-lemma-3.3")
    told = {x.name: word for x, word in letters_of(lemma, exported(lemma).file).items()}
    assert told["W'x"] == "W_x"
    assert told["l"] == "(u - mean u *: one)%V"
    assert "lambda" in told["varepsilon"]
    assert letters_of(lemma, "santurkar2018/theorem_4_1.v") == {}
    assert letters_of(theorem_4_1.PRINTED, exported(theorem_4_1.PRINTED).file) == {}


def test_of_a_theorem_that_no_export_wrote_no_letters_are_told():
    without_words = next(c for c in CLAIMS if c.says is not None and not has_words(c))
    assert letters_of(without_words, "exported/forged.v") == {}


def has_words(claim):
    try:
        return exported(claim)
    except NoCoqError:
        return None
