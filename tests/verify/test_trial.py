"""What a statement of others displays is what is checked, or it is refused."""

from dataclasses import replace
from functools import partial
from itertools import islice
from operator import mul

import numpy as np
import pytest

from theory import descent, layer, maps, random_matrix, unit
from theory.arithmetic import inner, sqrt
from theory.claim import Claim
from theory.expectation_claim import ExpectationClaim
from theory.expectation_claim import mean as expected
from theory.language.arrays import norm2 as norm2_of
from theory.language.expression import Operation, Primitive, Sort, along, equal, named, number
from theory.language.letters import free, matrix_of, number_of, positive, vector_of
from theory.language.operations import dot, norm2
from theory.layer import frobenius2
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Reading, Verdict, assume
from theory.unit import L, g, gamma, m, mean, one, y, yhat, z
from verify.subjects.unit import changed
from verify.tolerance import Outcome
from verify.trial.displays import disguised, misleading, misnamed, sizes_mistold
from verify.trial.evaluation import unfit
from verify.trial.hypotheses import imposing_a_constant, imposing_too_much
from verify.trial.instances import of_integers, typical
from verify.trial.letters import misread, tied, working_in_place
from verify.trial.ranges import misshapen, out_of_range
from verify.trial.reach import short_of_range
from verify.witnesses.exact import decided as of_exact
from verify.witnesses.exact import networks
from verify.witnesses.matrices.symbolic import keeps_subjects


def complaints(check, says, kind=None):
    """What is complained of in a statement about a unit, or about a layer."""
    return [found.says for found in check(statement(says, kind))]


def statement(says, kind=None):
    """A statement about a unit, or about a subject of a kind."""
    given = {"id": "x", "locations": (), "says": says, "expected": Verdict.REFUTED}
    return Claim(**given) if kind is None else MatrixClaim(**given, subject=kind)


def own(name, value, domain, make=number_of):
    """A letter that is a function of the instance."""
    return make(name, name, value, domain)


A = number_of("a", "a", "gamma")


@pytest.mark.parametrize(
    ("domain", "is_told"),
    [
        (r"b \in \mathbb R", False),  # in \mathbb there is an a, and nothing is told
        (r"b \ge \alpha", False),
        (r"b \text{ is any}", False),
        ("b = a", True),
        ("b = 2a^2", True),
    ],
)
def test_a_letter_is_told_by_a_range_that_names_it(domain, is_told):
    b = own("b", lambda unit: unit.gamma, domain)
    assert bool(complaints(tied, equal(A, b))) is not is_told


def square(unit):
    """The squared norm of the loss's gradient."""
    return inner(unit.g, unit.g)


@pytest.mark.parametrize(
    ("latex", "domain"),
    [("R", r"b \in \mathbb R"), ("p", r"b \in \mathbb{R}^p"), ("a", r"b > 0 \text{, a number}")],
)
def test_a_space_of_numbers_and_words_name_no_letter(latex, domain):
    letter = number_of("letter", latex, "gamma")
    assert complaints(tied, equal(letter, own("b", lambda unit: unit.gamma, domain)))


@pytest.mark.parametrize(
    "says",
    [
        equal(norm2(g), own("b", square, r"b \ge 0")),
        norm2(g - mean(g) * one) <= own("b", square, r"b \in [0, \infty)"),
        equal(g, own("w", lambda unit: unit.g, r"w \in \mathbb R^m", vector_of)),
        equal(L(z), own("r", lambda unit: unit.loss(unit.z), r"r \in \mathbb R")),
    ],
)
def test_what_is_made_of_the_loss_is_not_independent_of_its_slope(says):
    (problem,) = complaints(tied, says)
    assert "not independent" in problem


def test_what_is_made_of_the_loss_may_say_so():
    b = own("b", square, r"b = \|g\|^2")
    assert not complaints(tied, equal(norm2(g), b))


@pytest.mark.parametrize(
    ("letter", "reach"),
    [
        (number_of("t", "t", positive(0), r"t \ge 0"), "other than 0"),
        (number_of("t", "t", positive(0), "t > 0"), ""),
        (own("t", lambda layer: 1 / (1 + layer.free[0] ** 2), r"0 < t \le 1"), ""),
        (own("t", lambda layer: 1 / (1 + layer.free[0] ** 2), r"0 \le t \le 1"), "other than 0"),
        (own("t", lambda layer: 2 - 1 / (1 + layer.free[0] ** 2), r"t \in [1, 2]"), "other than 2"),
    ],
)
def test_a_letter_is_at_the_ends_that_its_range_has(letter, reach):
    found = complaints(short_of_range, letter <= 5, Kind.LAYER)
    assert [reach in problem for problem in found] == ([True] if reach else [])


def norm(unit):
    """The squared norm of a direction."""
    return inner(unit.direction, unit.direction)


@pytest.mark.parametrize(
    ("value", "domain", "reach"),
    [
        (
            lambda unit: unit.y - unit.y.sum() / len(unit.y),
            r"w \in \mathbb R^m",
            "is never (",
        ),
        (lambda unit: unit.y * 0 + unit.gamma, r"w \in \mathbb{R}^{m}", "is never ("),
        (lambda unit: 2 * unit.y - unit.direction, r"w \in \mathbb R^m", ""),
        (lambda unit: unit.direction / sqrt(norm(unit)), r"w \in \mathbb R^m", "is never ("),
        (lambda unit: unit.direction / norm(unit), r"w \in \mathbb R^m", "is never (0, 0, 0, 0)"),
        (lambda unit: unit.direction / norm(unit), r"w \ne 0", ""),
        (lambda unit: unit.direction * unit.bound, r"w \in \mathbb R^m", ""),
        (lambda unit: unit.direction**2 * unit.gamma, r"w \in \mathbb R^m", "is never ("),
        (lambda unit: unit.direction**2, "w \\ge 0", ""),
        (lambda unit: unit.y + 1, r"w > 0", ""),  # which is out of its range, as is told elsewhere
    ],
)
def test_a_vector_has_all_its_dimensions(value, domain, reach):
    w = own("w", value, domain, vector_of)
    found = complaints(short_of_range, norm2(w) <= 5)
    assert [reach in problem for problem in found] == ([True] if reach else [])


@pytest.mark.parametrize(
    ("value", "is_refused"),
    [
        (lambda unit: unit.gamma + 1 / unit.gamma, True),
        (lambda unit: unit.gamma + 1 / (40000 * unit.gamma), True),
        (lambda unit: 1 / unit.gamma, True),
        (lambda unit: unit.gamma * 2, False),
        (lambda unit: unit.gamma / unit.beta, False),
    ],
)
def test_a_number_has_no_gap_in_its_range(value, is_refused):
    found = complaints(short_of_range, own("t", value, r"t \in \mathbb R") <= 5)
    assert ["is never " in problem for problem in found] == [True] * is_refused


@pytest.mark.parametrize(
    ("value", "is_refused"),
    [
        (lambda case: case.gamma[:, None] * case.beta, True),  # of rank one
        (
            lambda case: case.gamma[:, None] * case.beta + case.mean[:, None] * case.direction[1:],
            True,
        ),
        (lambda case: case.H.T @ case.H, True),
        (lambda case: case.H.T @ case.H @ case.W.T @ case.W, True),  # whose determinant has a sign
        (lambda case: case.H - 1, False),
    ],
)
def test_a_matrix_is_any_matrix(value, is_refused):
    A = own("A", value, r"A \in \mathbb R^{k \times k}", matrix_of)
    found = complaints(short_of_range, frobenius2(A) >= 0, Kind.LAYER)
    assert ["is never (" in problem for problem in found] == [True] * is_refused


@pytest.mark.parametrize(
    ("domain", "others", "is_refused"),
    [
        (r"A \succeq 0", {}, True),
        ("A = HH'", {}, True),
        (r"A \succeq 0", {"in_words": "A is a Gram matrix"}, False),
        (r"A \in \mathbb R^{n \times n}", {}, False),  # of which another check tells
    ],
)
def test_what_nobody_tests_is_told_in_words(domain, others, is_refused):
    A = own("A", lambda layer: layer.H.T @ layer.H, domain, matrix_of)
    claim = MatrixClaim(
        id="x", locations=(), says=norm2_of(A @ layer.gamma) >= 0, expected=Verdict.REFUTED,
        subject=Kind.LAYER, **others,
    )  # fmt: skip
    assert any("nobody tests" in found.says for found in out_of_range(claim)) is is_refused


def function(latex, factor, argument):
    """A name of an argument."""
    return named(latex, factor * norm2_of(argument), argument)


@pytest.mark.parametrize(("factor", "is_refused"), [(1, False), (2, True)])
def test_a_name_of_operands_is_one_function(factor, is_refused):
    vectors = layer.gamma, layer.beta, layer.gamma + layer.beta
    first, second, both = (
        function("F({0})", factor if vector is layer.beta else 1, vector) for vector in vectors
    )
    found = complaints(misnamed, equal(both, first + second), Kind.LAYER)
    assert any("by one name for two functions" in problem for problem in found) is is_refused


@pytest.mark.parametrize(
    ("latex", "said"),
    [
        (r"\sigma", "as our sigma"),
        ("m", "as our m"),
        (r"\gamma", ""),  # of which it is another name
        ("2", "reads as a number"),
        ("", "reads as a number"),
        (r"-\alpha", "reads as a number"),
        (r"\alpha^2", "reads as a number"),
        ("a + b", "reads as a number"),
        (r"\hat a_{i+1}", ""),
    ],
)
def test_a_letter_is_displayed_as_a_symbol_of_its_own(latex, said):
    found = complaints(misleading, number_of("s", latex, "gamma") > 0)
    assert [said in problem for problem in found] == ([True] if said else [])


@pytest.mark.parametrize(
    ("latex", "ours"),
    [
        (r"\|{0}\|^{{2}}", "norm2"), (r"\lVert {0} \rVert_2^3", "norm2"), (r"\|{0}\|", "norm"),
        (r"\sigma_{{{0}}}", "deviation"), (r"\sigma^2({0})", "deviation"),
        (r"\mathrm{{Var}}({0})", "variance"), (r"\text{{variance}} {0}", "variance"),
        (r"\operatorname{{BN}}({0})", "BN"), (r"\mu({0})", "mean"), (r"\|{0}\|_4", ""),
        (r"\sigma_{{\max}}({0})", ""), (r"\operatorname{{median}}({0})", ""),
    ],
)  # fmt: skip
def test_an_operation_of_ones_own_is_read_as_none_of_ours(latex, ours):
    twice = Operation("twice", lambda x: 2 * inner(x, x), latex, takes=(Sort.VECTOR,))
    found = complaints(disguised, norm2(g) >= twice(g))
    assert [f"displayed as our {ours};" in problem for problem in found] == [True] * bool(ours)


def asking(*reads):
    """A primitive that changes with gamma, and what it says that it reads."""
    return Primitive(
        "F", lambda unit, x: unit.gamma * inner(x, x), "F({0})", takes=(Sort.VECTOR,), reads=reads
    )


def test_what_a_primitive_of_ones_own_reads_is_seen():
    slope = along(asking()(y), gamma, number(1))
    (problem,) = complaints(misread, equal(slope, 0))
    assert "changes with gamma" in problem
    assert not complaints(misread, equal(asking("gamma")(y), 0))
    assert complaints(tied, equal(asking()(y), A * norm2(y)))


def test_what_is_told_of_the_kinds_of_letters_is_true():
    assert not complaints(misleading, equal(unit.beta, gamma))
    assert not complaints(misleading, number_of("t", "t", free(0)) > 0, Kind.LAYER)
    assert not complaints(tied, equal(dot(one, g), gamma))


@pytest.mark.parametrize(
    ("domain", "is_refused"),
    [(r"x \in \mathbb R^n", True), (r"x \in \mathbb R^{n + 1}", False), ("x > 0", False)],
)
def test_a_vector_is_of_the_space_that_it_is_displayed_in(domain, is_refused):
    x = vector_of("x", "x", "direction", domain)
    found = complaints(misshapen, norm2_of(x) >= 0, Kind.LAYER)
    assert ["is of the shape" in problem for problem in found] == [True] * is_refused


def in_place(case):
    """Set the weights to zero, in the array that is given."""
    case.W[:] = 0 * case.W
    return case


def test_what_is_imposed_in_place_is_seen():
    no_sum = assume(equal(layer.total(layer.W @ layer.ones), 0), impose=in_place)
    claim = replace(statement(equal(frobenius2(layer.W), 0), Kind.LAYER), hypotheses=(no_sum,))
    assert any("changes an instance" in found.says for found in imposing_too_much(claim))


def test_what_works_in_place_leaves_the_instance_and_is_no_identity():
    subject = typical(Kind.LAYER)
    before = subject.W.copy()
    assert not changed(subject, [in_place]).W.any()
    assert np.array_equal(subject.W, before)
    no_sum = assume(equal(layer.total(layer.W @ layer.ones), 0), impose=in_place)
    claim = statement(equal(frobenius2(layer.W), 0), Kind.LAYER)
    assert not keeps_subjects(replace(claim, hypotheses=(no_sum,)))


@pytest.mark.parametrize(
    ("reading", "is_refused"), [(Reading.NO_EPSILON, True), (Reading.SHARED_EPSILON, False)]
)
def test_a_batch_that_is_imposed_is_not_constant_without_epsilon(reading, is_refused):
    no_batch = assume(equal(norm2(y), 0), impose=lambda case: replace(case, y=0 * case.y))
    claim = replace(statement(norm2(g) >= gamma), hypotheses=(no_batch,), reading=reading)
    assert bool([*imposing_a_constant(claim)]) is is_refused
    subjects = [*islice(of_integers(claim), 20)]
    outcomes = {of_exact(claim, networks(subject)).outcome for subject in subjects}
    assert (outcomes == {Outcome.VACUOUS}) is is_refused


def rounded(case):
    """Set gamma and beta to one whole number."""
    return replace(case, gamma=round(case.beta), beta=round(case.beta))


def test_what_is_imposed_on_whole_numbers_alone_is_seen():
    alike = assume(equal(gamma, unit.beta), impose=rounded)
    claim = replace(statement(gamma**2 >= gamma), hypotheses=(alike,))
    assert any("changes an instance" in found.says for found in imposing_too_much(claim))


@pytest.mark.parametrize(
    ("first", "second", "is_tied"),
    [(positive(0), free(1), True), (positive(0), free(2), False), (free(0), free(1), False)],
)
def test_positive_letters_are_made_of_two_free_ones(first, second, is_tied):
    c, t = (
        number_of("c", "c", first, "c > 0" if first is positive(0) else ""),
        number_of("t", "t", second),
    )
    assert bool(complaints(tied, c * (1 + t**2) >= 1, Kind.LAYER)) is is_tied


def test_what_hangs_on_a_sign_or_is_undefined_here_is_seen():
    sign = own("s", lambda case: case.bound * case.gamma / sqrt(case.gamma**2), r"s \in \mathbb R")
    root = own("r", lambda case: sqrt(-case.beta), r"r \ge 0")
    assert complaints(tied, gamma * sign >= 0)
    assert complaints(tied, equal(root**2, -unit.beta))


@pytest.mark.parametrize(
    ("domain", "is_tied"),
    [(r"t \ge a", True), (r"t = a + a^2", False), (r"0 < t \le a", True)],
)
def test_a_range_by_another_letter_leaves_some_freedom(domain, is_tied):
    t = own("t", lambda unit: unit.gamma + unit.gamma**2, domain)
    assert bool(complaints(tied, equal(t, A + A**2))) is is_tied


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (r"\frac{{{0}}}{{{1}}}", "as sums and products are"),
        ("{0} - {1}", "as sums and products are"),
        ("f({0})", "takes 2 operands and displays 1"),
        ("f({0}, {1})", ""),
    ],
)
def test_an_operation_is_displayed_with_all_operands_and_as_no_arithmetic(template, said):
    number_ = Sort.NUMBER
    own_ = Operation("f", lambda a, b: b - a, template, takes=(number_, number_))
    found = complaints(disguised, equal(own_(gamma, unit.beta), 0))
    assert [said in problem for problem in found] == ([True] if said else [])


def test_two_operations_of_one_display_are_told_apart():
    f, g_ = (Operation("f", partial(mul, k), "f({0})", takes=(Sort.NUMBER,)) for k in (1, 2))
    assert complaints(disguised, equal(g_(gamma), f(gamma) + gamma))


@pytest.mark.parametrize("domain", [r"0 < t \le \sqrt{m}", r"0 < t \le M"])
def test_a_range_with_an_end_that_nobody_knows_is_not_tested(domain):
    t = own("t", lambda unit: 1 / (1 + unit.bound), domain)
    assert any("nobody tests" in problem for problem in complaints(out_of_range, t <= 1))


@pytest.mark.parametrize(
    ("domain", "found"),
    [
        (r"p \ge 0.1", []), (r"0.1 \le p", []), (r"p \in \left[0.1,\, \infty\right)", []),
        (r"p \geqslant 0.1", []), (r"p \in \mathbb R_{>0}", []),
    ],
)  # fmt: skip
def test_a_tenth_is_a_tenth_in_every_spelling(domain, found):
    p = own("p", lambda unit: (1 + unit.gamma**2) / 10, domain)
    assert complaints(out_of_range, p >= 0) == found


def test_the_projection_is_one_function():
    def projected(a):
        return named(r"\Pi {0:atom}", a - dot(one, a) / m * one - dot(a, yhat) / m * yhat, a)

    assert not complaints(misnamed, equal(projected(one) + projected(yhat), projected(z)))


@pytest.mark.parametrize(
    ("sizes", "is_refused"),
    [(None, False), ({"M": "N", "n": "n", "q": "p"}, False), ({"M": "N"}, True), ({}, True)],
)
def test_no_size_is_left_out(sizes, is_refused):
    claim = MatrixClaim(
        id="x", locations=(), says=layer.q > 0, expected=Verdict.PROVED, subject=Kind.LAYER,
        sizes=sizes,
    )  # fmt: skip
    assert bool([*sizes_mistold(claim)]) is is_refused


@pytest.mark.parametrize("sizes", [{"d": "n"}, {"n": "d", "m": "d"}, {"foo": "bar"}])
def test_sizes_are_those_of_the_subject(sizes):
    with pytest.raises(ValueError, match="a descent has the sizes d, each once"):
        MatrixClaim(
            id="x", locations=(), says=layer.q > 0, expected=Verdict.PROVED, sizes=sizes,
            subject=Kind.DESCENT,
        )  # fmt: skip


def test_the_least_of_sizes_is_a_whole_number():
    least = maps.minimum.meaning(3, 2)
    assert (least, type(least)) == (2, int)
    assert list(maps.greatest.meaning(np.array([1, 3]), 2)) == [2, 3]


def test_small_descents_are_preconditioned_by_full_matrices():
    subjects = islice(of_integers(statement(descent.alpha > 0, Kind.DESCENT)), 300)
    entries = np.array([np.asarray(x.P, float).ravel() for x in subjects if len(x.theta) == 2])
    assert all(np.linalg.det(P.reshape(2, 2)) != 0 for P in entries)
    assert entries[:, 1:3].any(0).all()


SQUARES, ENTRIES = frobenius2(random_matrix.G), random_matrix.N * random_matrix.n


@pytest.mark.parametrize(
    ("says", "is_refused"),
    [
        (expected(SQUARES) / ENTRIES <= 2, False),
        (expected(SQUARES - ENTRIES) / ENTRIES <= 1, True),
    ],
)
def test_an_expectation_is_of_what_is_not_negative(says, is_refused):
    claim = ExpectationClaim(id="x", locations=(), says=says, expected=Verdict.SUPPORTED)
    assert any("may be negative" in found.says for found in unfit(claim)) is is_refused


def halved(x):
    """Work in place."""
    x[:] = x / 2
    return (x * x).sum()


def test_a_function_that_works_in_place_is_refused():
    t = own("t", lambda case: halved(case.H), r"t \ge 0")
    half = Operation("half", halved, r"h({0})", takes=(Sort.VECTOR,))
    for says, kind in ((t + frobenius2(layer.W) >= 0, Kind.LAYER), (half(y) >= 0, None)):
        (problem,) = complaints(working_in_place, says, kind)
        assert "in place; let it work on a copy" in problem
    t = own("t", lambda case: halved(1 * case.H), r"t \ge 0")
    assert not complaints(working_in_place, t >= 0, Kind.LAYER)


@pytest.mark.parametrize(
    ("value", "kind", "said"),
    [
        (lambda unit: unit.gama, None, "did you mean gamma? an instance has m, gamma, beta"),
        (lambda layer: layer.Hx.sum(), Kind.LAYER, "did you mean H? an instance has free, H, W"),
        ("gama", None, "its subject has no letter t, which reads gama"),
        (lambda unit: unit.gamma.foo, None, "has no attribute 'foo'"),
    ],
)
def test_a_slip_in_what_a_letter_reads_is_told(value, kind, said):
    (problem,) = complaints(unfit, own("t", value, r"t \in \mathbb R") >= 0, kind)
    assert said in problem
