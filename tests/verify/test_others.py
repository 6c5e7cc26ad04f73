"""Statements of others: found by a target, and refused with the line of their file."""

import importlib
import json
import os
import re
import sys
from functools import cache
from itertools import count
from pathlib import Path

import pytest
from typer.testing import CliRunner

from theory import layer, unit
from theory.claim import Claim
from theory.language.expression import Letter
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Reading, Verdict, letters_of, values_of
from verify import engine, others, pool, trial
from verify.__main__ import app
from verify.commands import examination
from verify.fingerprint import of_statement
from verify.others import OthersError
from verify.progress import NEED_NETWORKS
from verify.settings import PROFILES, Settings
from verify.subjects.matrices import BEHIND_LOSS
from verify.test_claims import checking
from verify.trial import letters, ranges
from verify.trial.instances import instance, made_of
from verify.witnesses import symbolic
from verify.witnesses.table import WITNESSES

ROOT = Path(__file__).resolve().parents[2]
SMOKE = PROFILES["smoke"]
RIGHT = """\
from theory import layer, unit
from theory.claim import Claim, Location, Reading, Verdict
from theory.language.expression import equal, along, gradient, number
from theory.language.operations import dot, norm2, sqrt as root
from theory.statement import assume
from theory.unit import eps, g, gamma, grad, m, one, sigma, y, yhat, L, deviation, u, z

PLACE = (Location("notes", 1, "Sect. 1", "words"),)
FIRST = Claim(
    id="mine-1",
    title="The gradient is centred",
    locations=PLACE,
    says=equal(dot(one, grad), 0),
    expected=Verdict.PROVED,
)
SECOND = Claim(
    id="mine-2",
    title="The gradient's norm",
    locations=PLACE,
    says=norm2(grad) <= gamma**2 / sigma**2 * norm2(g),
    because=gamma**2 / (m * sigma**2) * (dot(one, g) ** 2 + dot(g, yhat) ** 2),
    expected=Verdict.PROVED,
)
CLAIMS = [FIRST, SECOND]
"""
BECAUSE = "gamma**2 / (m * sigma**2) * (dot(one, g) ** 2 + dot(g, yhat) ** 2)"
QUICK = ("abstract", "exact")
OF_INSTANCES = [w.name for w in WITNESSES if w.name not in NEED_NETWORKS]
numbers = count()


@pytest.fixture
def file_of(tmp_path, monkeypatch):
    """Write a file of statements under a name that no other test has."""
    monkeypatch.setattr(sys, "path", list(sys.path))

    def write(code):
        path = tmp_path / f"statements_{next(numbers)}.py"
        path.write_text(code)
        return path

    return write


@pytest.fixture
def check(file_of, tmp_path, monkeypatch):
    """Check a file of statements by chosen witnesses in its folder; the result, and the file."""

    def checked(code, witnesses, *options):
        path = file_of(code)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(engine, "WITNESSES", [w for w in WITNESSES if w.name in witnesses])
        words = ["check", path.name, "--profile", "smoke", *options]
        return CliRunner().invoke(app, words), path

    return checked


def complaint(path):
    """What is said of a file, when it is loaded and tried."""
    with pytest.raises(OthersError) as refused:
        trial.refuse_unfit(others.load(str(path)), str(path))
    return str(refused.value)


def assert_refused(path, said):
    """A file is refused in these words, or is not if there are none."""
    if said:
        assert said in complaint(path)
    else:
        trial.refuse_unfit(others.load(str(path)), str(path))


def line_of(path, words):
    """The place of a line of a file."""
    lines = path.read_text().splitlines()
    return f"{path}:{next(n for n, line in enumerate(lines, 1) if words in line)}: "


# ---- what is refused, where, and what is to be written ----


EQUATION = "equal(dot(one, grad), 0)"
UNRUNNABLE = [
    ("dot(one, grad)", "dot(one, gard)", ["name 'gard' is not", "theory.unit has grad"]),
    ("dot(one, grad)", "dot(one, v)", ["write: from theory.unit import v"]),
    ("import eps, g,", "import epsilon, g,", ["import name 'epsilon'", "theory.unit has"]),
    ("import equal", "import norm2", ["write: from theory.language.operations import norm2"]),
    ("Verdict.PROVED,\n)\nSECOND", "Verdict.TRUE,\n)\nSECOND", ["one of Verdict.PROVED, "]),
    ("says=equal(dot", "reading=Reading('eps'), says=equal(dot", ["Reading.SHARED_EPSILON"]),
    (EQUATION, "-1 <= dot(one, grad) <= 1", ["two statements", "assume("]),
    (EQUATION, "dot(one, grad) <= 1 and gamma <= 2", ["two statements", "assume("]),
    (EQUATION, "max(gamma, 1) <= 2", ["two statements", "assume("]),
    (EQUATION, "equal(grad[0], 0)", ["written as a whole", "entrywise(y, y)"]),
    (EQUATION, "equal(sum(grad), 0)", ["written as a whole", "dot(one, y) is the sum"]),
    (EQUATION, "dot(one, grad) == 0", ["says= is False", "equal(a, b)"]),
    (EQUATION, "dot(one, grad)", ["says= is dot(one, ", "write a <= b"]),
    (EQUATION, "abs(dot(one, grad)) <= 0", ["no number", "absolute(x)"]),
    (EQUATION, "equal(one + 1, grad)", ["things of one kind", "2 * one"]),
    (EQUATION, "equal(one * grad, 0)", ["write dot(a, b) for an inner"]),
    (EQUATION, "equal(grad, m)", ["is compared with", "compare numbers"]),
    (EQUATION, "norm2(grad) <= 0.5", ["write a fraction as 1 / number(2)"]),
    (EQUATION, "norm2(grad)**0.5 <= 1", ["not 0.5", "a root is sqrt(x)"]),
    (EQUATION, "gamma / 0 <= 1", ["gamma is divided by 0"]),
    (EQUATION, "layer.H <= 2 * layer.H", ["are matrices, which are not compared entry by entry"]),
    (EQUATION, "norm2(norm2) >= 0", ["got a function; write what it is of"]),
    (EQUATION, "equal(dot @ u, 0)", ["an operator is a function: write H(u)"]),
    (EQUATION, "1 / g <= 1", ["1 is divided by g, which is a vector"]),
    (EQUATION, "m * number(0.5) <= 1", ["got 0.5", "write a fraction as 1 / number(2)"]),
    (EQUATION, "equal(gradient(gamma**2, gamma), 1)", ["along(f, gamma, number(1))"]),
    (EQUATION, "equal(gradient(L(y), 2 * y), g)", ["in 2*y, which is no letter", "at=2 * y"]),
    (EQUATION, "equal(gradient(g, y), g)", ["g is a vector", "along(f, x, u)"]),
    (EQUATION, "equal(gradient(L, z), g)", ["got a function; write what it is of"]),
    (EQUATION, "equal(along(L(z), z, 3), g)", ["which is a vector; it was given 3, a number"]),
    (EQUATION, "2**m <= 1", ["an exponent is a whole number, such as"]),
    (EQUATION, "m // 2 <= 1", ["a quotient is a / b"]),
    (EQUATION, "(gamma > 0) & (m > 1)", ["two statements", "assume("]),
    (EQUATION, "__import__('math').sqrt(m) <= 1", ["no number", "sqrt(x)"]),
    (EQUATION, "gamma.sqrt() <= 1", ["no number", "sqrt(x)"]),
    (EQUATION, "sigma(y) <= 1", ["no function; of y are deviation(y)"]),
    (EQUATION, "unit.hessian >= 0", ["an operator is a function: write H(u)"]),
    ('    title="The gradient is', '    titel="The gradient is', ["write title="]),
    ("locations=PLACE,\n    says=equal", "locations=PLACE[0],\n    says=equal", ["with its comma"]),
    (EQUATION, f"{EQUATION}, hypotheses=assume(gamma > 0)", ["write hypotheses=(assume(gamma"]),
    (EQUATION, f"{EQUATION}, hypotheses=(gamma > 0,)", ["write hypotheses=(assume(gamma"]),
    (f"because={BECAUSE}", "because=0", ["because= is 0 (int), and no", "number(0) for 0"]),
    (f"because={BECAUSE}", "because=norm2", ["and no expression; write terms"]),
    (f"because={BECAUSE}", "because=(gamma >= 0)", ["(Says), and no expression; write terms"]),
    (EQUATION, f"{EQUATION}, reading='eps'", ["write one of Reading.NO_EPSILON, Reading.SHARED"]),
    (EQUATION, f"{EQUATION}, hypotheses=(assume(gamma > 0, impose=3),)", ["impose=lambda case"]),
    ('title="The gradient is centred"', "title=3", ["title= is text, not 3", 'title="..."']),
    ('id="mine-1"', "id=3", ["id= is text, not 3"]),
    (EQUATION, f"{EQUATION}, form='printed'", ["write one of Form.PRINTED, Form.STEP"]),
    (EQUATION, f"{EQUATION}, attack=(3,)", ["attack= is a tuple of functions"]),
    (EQUATION, "__import__('sys').exit('no more')", ["no more"]),
    (f"because={BECAUSE}", "because=g", ["because= is a vector, ", "of a vector v give norm2(v)"]),
]


@pytest.mark.parametrize(("right", "wrong", "said"), UNRUNNABLE)
def test_a_line_that_cannot_be_run_is_named(file_of, right, wrong, said):
    path = file_of(RIGHT.replace(right, wrong, 1))
    found = complaint(path)
    assert found.startswith(line_of(path, wrong.split("\n")[0]))
    assert all(words in found for words in said), found


def test_a_line_of_ours_is_never_blamed():
    """A module that lies beside our packages, as in this checkout."""
    beside = ROOT / f"statements_{os.getpid()}.py"
    beside.write_text(RIGHT.replace(EQUATION, "equal(one + 1, grad)"))
    try:
        assert complaint(beside).startswith(line_of(beside, "one + 1"))
    finally:
        beside.unlink()


def test_what_is_missing_is_shown(file_of):
    path = file_of(RIGHT.replace(f"{EQUATION},", "equal(dot(one, grad), 0"))
    assert complaint(path).startswith(f"{path}:9: '(' was never closed")
    path = file_of(RIGHT.replace("    expected=Verdict.PROVED,\n)\nSECOND", ")\nSECOND"))
    found = complaint(path)
    assert found.startswith(line_of(path, "FIRST = Claim("))
    assert "write also expected=Verdict.PROVED" in found


WRONG_IN_THEMSELVES = [
    ('"mine-2"', '"mine-1"', "mine-1: 2 statements have this identifier"),
    ('"notes", 1', '"../notes", 1', "mine-1: the key of a paper is one word, not '../notes'"),
    ('"mine-1"', '"../mine"', "../mine: an identifier is of letters"),
    ('"mine-1"', '"mine--1"', "mine--1: an identifier is of letters"),
    ('"mine-1"', '"S-thm-4.1"', "S-thm-4.1: a statement of the papers has this identifier"),
    (EQUATION, "equal(eps, 0)", "mine-1: "),
    (EQUATION, f"{EQUATION}, hypotheses=(assume({EQUATION}),)", "mine-1: what it says is one of "),
    (
        EQUATION,
        "root(-(gamma**2) - 5) >= 0",
        "mine-1: is a real number at none of the instances that were tried (the root of ",
    ),
    (
        EQUATION,
        "norm2(layer.gamma) >= 0",
        "mine-1: its subject has no vector gamma; theory.unit has",
    ),
    (EQUATION, "equal(layer.q, 0)", "mine-1: its subject has no letter q; theory.unit has the "),
    (BECAUSE, "norm2(g)", "mine-2: because= adds up to "),
    (BECAUSE, f"2 * norm2(g) - 2 * norm2(g) + {BECAUSE}", "mine-2: because= has a term that is "),
]


OWN_LETTERS = """\
from theory.language.letters import number_of, vector_of
alpha = number_of("alpha", r"\\alpha", "gamma")
delta = number_of("delta", r"\\delta", "gamma")
small = number_of("small", r"\\varepsilon", "eps")
bare = number_of("s", "s", "bound")
double = number_of("w", "w", lambda unit: 2 * unit.gamma)
w = vector_of("w", "w", "yhat")
count = number_of("k", "k", "m")
length = number_of("k", "k", "m", r"k \\ge 1")
rows = number_of("k", "k", lambda unit: unit.m, "0 < k < 99")
first = number_of("f", "f", "y.real")
"""


@pytest.mark.parametrize(
    ("says", "hypothesis", "said"),
    [
        ("equal(alpha * y, delta * y)", "", "mine-1: its letters alpha and delta are the same "),
        ("equal(alpha, 1)", "assume(delta > 0)", "mine-1: its letters alpha and delta are the "),
        ("bare > 0", "", r"mine-1: its letter s reads bound, which has a range of its own, as in "),
        ("equal(double, 2 * gamma)", "", "mine-1: its letter w is a function of the instance, "),
        ("equal(small, 0)", "", "mine-1: speaks of eps as small, which is 0 in its reading"),
        ("equal(dot(one, w), 0)", "", "mine-1: its letter w reads yhat, which has a range of its"),
        ("count >= 1", "", "mine-1: its letter k reads m, which has a range of its own, as in m"),
        (
            "length >= 1",
            "",
            "mine-1: its letter k is displayed with k \\ge 1, and is one number for",
        ),
        (
            "rows >= 1",
            "",
            "mine-1: its letter k is displayed with 0 < k < 99, and is one number for",
        ),
        ("equal(first, first)", "", "mine-1: its letter f is a function of the instance, which"),
        ("equal(gamma, 0)", "assume(eps > 0)", "mine-1: speaks of eps, which is 0 in its "),
    ],
)
def test_two_letters_for_one_number_and_epsilon_by_another_name_are_refused(
    says, hypothesis, said, file_of
):
    code = RIGHT.replace(EQUATION, f"{says}, hypotheses=({hypothesis}{', ' * bool(hypothesis)})")
    assert said in complaint(file_of(OWN_LETTERS + code))
    apart = OWN_LETTERS.replace('delta", "gamma"', 'delta", "beta"').replace("0 < k < 99", "k = m")
    right = RIGHT.replace(EQUATION, "alpha**2 + delta**2 + rows >= 0")
    path = file_of(apart + right)
    trial.refuse_unfit(others.load(str(path)), str(path))


RANGED = """\
from theory.language.letters import number_of, vector_of
from theory.unit import beta
from theory.matrix_claim import Kind, MatrixClaim
def delta(value, domain):
    return number_of("delta", r"\\delta", value, domain)
positive = delta("gamma", r"\\delta > 0")
squared = number_of("s", "s", lambda unit: unit.beta**2, r"s \\ge 0")
by_beta = number_of("s", "s", lambda unit: unit.beta**2, r"s = \\beta^2")
apart = number_of("s", "s", lambda unit: unit.bound**2, "s > 0")
of_q = number_of("s", "s", lambda layer: layer.q**2, "s > 0")
part = number_of("p", "p", lambda unit: 1 + unit.bound**2, "0 < p < 1")
below = number_of("b", "b", lambda unit: unit.gamma - 1, r"b \\ge \\gamma")
entries = vector_of("w", "w", "direction", "w > 0")
unit_vector = vector_of("w", "w", "direction", r"\\|w\\| = 1")
not_zero = vector_of("w", "w", "direction", r"w \\ne 0")
any_vector = vector_of("w", "w", "direction", r"w \\in \\mathbb{R}^m")
within = number_of("k", "k", lambda unit: unit.m - 1, r"0 \\le k < m")
ours = number_of("b", "b", "bound", "b > 0")
share = lambda unit: 1 / (1 + unit.bound**2)
cosine = lambda unit: 2 * unit.gamma * unit.beta / (unit.gamma**2 + unit.beta**2)
"""


@pytest.mark.parametrize(
    ("says", "said"),
    [
        ("positive * norm2(g) >= 0", r"its letter delta is displayed with \delta > 0, and is -"),
        ("equal(gamma, 0), hypotheses=(assume(positive > 0),)", "gamma and delta are the same"),
        ("norm2(g) >= 0, hypotheses=(assume(positive > 0),)", ""),
        ("equal(squared, beta**2)", "its letters s and beta are not independent, as both are made"),
        ("equal(by_beta, beta**2)", r"with s = \beta^2, which nobody tests; name the expression"),
        ("equal(by_beta, beta**2), in_words='beta squared'", ""),
        ("apart * beta**2 >= 0", ""),
        ("part * beta**2 >= 0", "its letter p is displayed with 0 < p < 1, and is"),
        ("equal(below * gamma, gamma * below)", r"its letter b is displayed with b \ge \gamma"),
        ("dot(entries, entries) >= 0", "its letter w is displayed with w > 0, and is 0 in"),
        ("equal(norm2(unit_vector), 1)", r"with \|w\| = 1, which is not understood"),
        ("norm2(not_zero) > 0", r"with w \ne 0, and is zero in an instance"),
        ("norm2(any_vector) >= 0", ""),
        ("equal(of_q * layer.q, layer.q**3)", "its letters s and q are not independent"),
    ],
)
def test_a_letter_ranges_over_what_is_displayed(says, said, file_of):
    code = RIGHT.replace(EQUATION, says)
    if "layer" in says:
        code = code.replace("FIRST = Claim(", "FIRST = MatrixClaim(subject=Kind.LAYER,", 1)
    path = file_of(RANGED + code)
    assert_refused(path, said)


@pytest.mark.parametrize(
    ("value", "domain", "said"),
    [
        ("'gamma'", r"|\delta| \le 1", r"displayed with |\delta| \le 1, and is 3 in"),
        ("'gamma'", r"\delta\geq0", r"displayed with \delta\geq0, and is -"),
        ("'gamma'", r"\delta \in [0, \infty)", r"with \delta \in [0, \infty), and is -"),
        ("'gamma'", r"\delta \in (0,1)", "and is 3 in"),
        ("'bound'", r"\delta \in(-\infty,1]", "and is 2 in"),
        ("'bound'", r"\delta \in(-\infty,m]", "and is 2000 in"),
        ("'gamma'", r"\delta \ne 0", "and is 0 in"),
        ("'bound'", r"\delta > 1/2", "and is 1/500 in"),
        ("'bound'", r"\delta \ge \frac{1}{2}", "and is 1/500 in"),
        ("'bound'", r"\delta \ge \log 2", "which is not understood"),
        ("'gamma'", r"\delta = \gamma", ""),
        ("'gamma'", r"\delta = \beta", r"with \delta = \beta, and is 3 in"),
        ("lambda unit: unit.m + 1", r"\delta = m", r"with \delta = m, and is 5 in"),
        ("lambda unit: unit.m + 1", r"\delta = m + 1", "which nobody tests"),
        ("lambda unit: unit.gamma - 1", r"\delta > \gamma", "and is 2 in"),
        ("'bound'", r"\delta \text{ small}", "which is not understood"),
        ("'gamma'", r"\delta\in\mathbb R", ""),
        ("share", r"\delta \in (0, 1)", ""),
        ("cosine", r"|\delta| \le 1", ""),
        ("cosine", r"-1 \le \delta \le 1", ""),
    ],
)
def test_a_range_is_kept_in_every_form(value, domain, said, file_of):
    assert_refused(file_of(ranged(value, domain)), said)


@pytest.mark.parametrize(
    ("value", "domain", "said"),
    [
        ("'bound'", r"\delta \in \mathbb{R}", "and is at least 0.001 in every instance"),
        ("'bound'", r"\delta \ne 0", "and is at least 0.001 in"),
        ("'bound'", r"\delta > -1", "and is at least 0.001 in"),
        ("'bound'", r"\delta > 0", ""),
        ("lambda unit: 1 + unit.gamma**2", r"\delta > 0", "and is at least 1 in"),
        ("lambda unit: 0 * unit.gamma + 1", r"\delta \ge 1", "and is at most 1 in"),
        ("share", r"\delta > 0", "and is at most 1 in"),
        ("lambda unit: (1 + share(unit)) / 2", r"\delta \in (0, 1)", "and is at least 0.5 in"),
        ("lambda unit: (1 + share(unit)) / 2", r"\delta \text{ near } 1", "which nobody tests"),
    ],
)
def test_a_letter_reaches_the_ends_of_its_range(value, domain, said, file_of):
    assert_refused(file_of(ranged(value, domain)), said)


def ranged(value, domain):
    """Return a file with a right statement of a letter that is displayed with a range."""
    return RANGED + RIGHT.replace(EQUATION, f"delta({value}, r'{domain}')**2 * m >= 0")


IMPOSED = "assume(equal(eps, gamma), impose=lambda case: replace(case, eps=case.gamma))"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (f"hypotheses=({IMPOSED},)", r"its letter eps is displayed with \epsilon > 0, and is -"),
        (f"hypotheses=({IMPOSED}, assume(gamma > 0))", ""),
        ("attack=(lambda case: replace(case, eps=-case.eps),)", "which is positive in every"),
        ("attack=(lambda case: replace(case, bound=-1),)", "it makes bound -1, which is positive"),
        ("attack=(lambda case: replace(case, gamma=-case.gamma),)", ""),
    ],
)
def test_no_hypothesis_and_no_hint_leaves_the_range_of_a_letter(given, said, file_of):
    says = f"sigma**2 > 0, reading=Reading.SHARED_EPSILON, {given}"
    assert_refused(
        file_of("from dataclasses import replace\n" + RIGHT.replace(EQUATION, says)), said
    )


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        (
            "replace(case, P=0 * case.P)",
            "it makes P singular, which has an inverse in every instance",
        ),
        ("replace(case, P=2 * case.P)", ""),
    ],
)
def test_no_hint_makes_a_matrix_singular_that_is_displayed_as_nonsingular(hint, said, file_of):
    says = f"arrays.smallest_square(descent.P) > 0, attack=(lambda case: {hint},)"
    code = of_matrices("Kind.DESCENT", says)
    assert_refused(file_of("from dataclasses import replace\n" + code), said)


RENAMED = """\
from theory.language.letters import number_of, vector_of
from theory.unit import BN, H, L, Lhat, beta, mean, normalize, variable
alpha = number_of("alpha", r"\\alpha", "gamma")
told = number_of("alpha", r"\\alpha", "gamma", r"\\alpha = \\gamma")
square = number_of("s", "s", lambda unit: unit.gamma**2, r"s \\ge 0")
shift = number_of("c", "c", "beta")
p, q = vector_of("p", "p", "y"), vector_of("q", "q", "g")
x = vector_of("x", "x", "direction")
BOUND = norm2(g) / sigma**2
"""


@pytest.mark.parametrize(
    ("says", "said"),
    [
        ("norm2(grad) <= alpha**2 * BOUND", "its letter alpha and Lhat are not independent"),
        ("norm2(grad) <= square * BOUND", "its letter s and Lhat are not independent, as both"),
        ("norm2(grad) <= told**2 * BOUND", ""),
        ("equal(mean(BN(y)), shift)", "its letter c and BN are not independent, as both change"),
        ("norm2(p) >= m * sigma**2", "its letters p and sigma are not independent, as both are"),
        ("equal(alpha * yhat + shift * one, z)", "its letters alpha and z are not independent"),
        ("equal(L(alpha * yhat + shift * one), L(z))", "its letters alpha and z are not"),
        ("equal(gradient(L(variable), variable, at=alpha * yhat), g)", "letters alpha and g are"),
        ("equal(gradient(L(z), z), q)", "its letter q and L are not independent, as both change"),
        ("norm2(x + H(u)) >= 0", "its letter x is displayed as the variable of a derivative is"),
        ("dot(u, H(u)) <= alpha * norm2(u) + norm2(g)", ""),
        ("L(z) <= alpha * norm2(g)", ""),
        ("norm2(q) >= norm2(p)", ""),
        ("equal(normalize(alpha * y), normalize(y))", ""),
    ],
)
def test_a_letter_of_another_name_is_no_other_where_ours_is_at_work(says, said, file_of):
    path = file_of(RIGHT.partition("\n\n")[0] + "\n" + RENAMED + RIGHT.replace(EQUATION, says))
    assert_refused(path, said)


REAL = [
    ("Claim(", "root(gamma - 5) >= 0"),
    ("MatrixClaim(subject=Kind.LAYER,", "root(layer.q - 5) >= 0"),
]


@pytest.mark.parametrize(("kind", "says"), REAL)
def test_what_is_real_at_other_instances_than_the_first_is_not_refused(kind, says, file_of):
    made = RIGHT.replace("Claim(", kind, 1).replace(EQUATION, says)
    assert_refused(file_of(TIED + made), "")


TIED = """\
from theory import descent, layer, maps, unit
from theory.language import arrays, letters
from theory.matrix_claim import Kind, MatrixClaim
"""
FREE = 'letters.number_of("any{0}", "t_{0}", letters.free({0}))'


@pytest.mark.parametrize(
    ("says", "said"),
    [
        ("equal(gradient(sigma, y), 0 * y)", "takes sigma for a constant, which changes with y"),
        ("equal(gradient(L(z), y), 0 * y)", "takes z for a constant"),
        ("equal(along(gamma / sigma * g, y, u), 0 * y)", "takes g for a constant"),
        ("equal(along(yhat, y, u), 0 * y)", "takes yhat for a constant"),
        ("equal(gradient(gamma * deviation(y), y), gamma / m * yhat)", ""),
        ("equal(along(gamma * z, z, u), gamma * u)", ""),
        ("equal(gradient(L(gamma * deviation(y) * y), y), g)", ""),
    ],
)
def test_a_letter_that_moves_with_a_variable_is_no_constant_of_its_derivative(says, said, file_of):
    path = file_of(RIGHT.replace(EQUATION, says))
    assert_refused(path, said and f"mine-1: its derivative in y {said}")


OWN_PRIMITIVE = (
    "from theory.unit import BN, Lhat, beta, normalize\n"
    + TIED
    + """\
from theory.language.expression import Primitive, Sort
twice = Primitive("twice", lambda unit, y: 2 * y, "2 {{0}}", Sort.VECTOR, (Sort.VECTOR,){reads})
"""
)
AT_OUTPUTS = "layer.L(layer.outputs(layer.W, layer.b))"
CONSTANT = "for a constant, which changes with"


@pytest.mark.parametrize(
    ("says", "said"),
    [
        ("equal(along(Lhat(y), gamma, number(1)), 0)", f"gamma takes Lhat {CONSTANT} gamma"),
        ("equal(along(grad, beta, number(1)), 0)", f"beta takes Lhat {CONSTANT} beta"),
        ("equal(along(BN(y), beta, number(1)), one)", f"beta takes BN {CONSTANT} beta"),
        ("equal(along(deviation(y), eps, number(1)), 0)", f"eps takes deviation {CONSTANT} eps"),
        ("equal(along(normalize(y), eps, number(1)), 0)", f"eps takes normalize {CONSTANT} eps"),
        ("equal(along(m * gamma, m, number(1)), gamma)", "m is in what no number of an instance"),
        ("equal(along(twice(y), y, u), 2 * u)", "y may take for a constant what twice reads"),
        ("equal(along(L(gamma * normalize(y) + beta * one), gamma, number(1)), dot(g, yhat))", ""),
        ("equal(along(normalize(y), gamma, number(1)), 0 * y)", ""),
    ],
)
def test_what_a_primitive_reads_is_no_variable_of_its_derivative(says, said, file_of):
    code = OWN_PRIMITIVE.format(reads="") + RIGHT.replace(EQUATION, says)
    with_epsilon = code.replace("says=", "reading=Reading.SHARED_EPSILON, says=", 1)
    assert_refused(file_of(with_epsilon), said and f"mine-1: its derivative in {said}")


def test_a_primitive_of_ones_own_says_what_it_reads(file_of):
    code = RIGHT.replace(EQUATION, "equal(along(twice(y), y, u), 2 * u)")
    assert_refused(file_of(OWN_PRIMITIVE.format(reads=", reads=()") + code), "")
    moved = OWN_PRIMITIVE.format(reads=', reads=("y",)') + code
    assert_refused(file_of(moved), f"y takes twice {CONSTANT} y")


def of_matrices(subject, says):
    """A file with a statement of matrices."""
    made = RIGHT.replace("FIRST = Claim(", f"FIRST = MatrixClaim(subject={subject},", 1)
    return TIED + made.replace(EQUATION, says)


@pytest.mark.parametrize(
    ("subject", "says", "said"),
    [
        ("'dense'", "equal(layer.q, layer.q)", "write one of Kind.LAYER"),
        ("Kind.MAPS", "equal(layer.dot(maps.b, maps.x), 0)", "its shapes may not fit: theory.maps"),
        ("Kind.LAYER", "equal(layer.dot(layer.e, layer.v), 0)", "its shapes may not fit"),
        (
            "Kind.MAPS",
            "maps.inner(maps.h, maps.Conv(maps.h, maps.w, maps.b)) <= 1",
            "inner(h, Conv(h, w, b)) combines arrays of shapes (",
        ),
        (
            "Kind.LAYER, reading=Reading.SHARED_EPSILON",
            "layer.q >= 0",
            "mine-1: its reading= is displayed, and is of one unit's batch alone",
        ),
        ("Kind.LAYER", "unit.gamma >= 0", "its subject has no number gamma; theory.layer has"),
        ("Kind.LAYER", "equal(layer.H, layer.W)", "H and W are of shapes (34, 5) and (2, 5) in"),
        ("Kind.LAYER", "layer.v >= layer.ones", "v and ones are of shapes (6,) and (5,) in"),
        ("Kind.DESCENT", "arrays.largest(descent.P) >= 0", "and eigenvalues of a symmetric matrix"),
        ("Kind.DESCENT", "equal(layer.dot(descent.x, layer.ones), 0)", "mine-1: its subject has"),
        ("Kind.DESCENT", "descent.low <= descent.high", ""),
        ("Kind.MAPS", f"equal({FREE.format(0)}, {FREE.format(1)})", ""),
        (
            "Kind.MAPS",
            f"equal({FREE.format(0)}, 2 * {FREE.format(0).replace('t_', 's_')})",
            "are the same",
        ),
        ("Kind.LAYER", "equal(arrays.norm2(layer.v), layer.t**2)", "t and v are not independent"),
        (
            "Kind.DESCENT",
            "equal(layer.total(descent.H @ descent.v), descent.high)",
            "lambda_max and H",
        ),
        ("Kind.LAYER", "equal(arrays.norm2(layer.z), layer.t**2 + arrays.norm2(layer.x))", ""),
        (
            "Kind.LAYER",
            "equal(gradient(layer.L1(layer.e), layer.H), 0 * layer.H)",
            f"mine-1: its derivative in H takes L {CONSTANT} H",
        ),
        (
            "Kind.LAYER",
            "equal(gradient(layer.L1(layer.e), layer.W), 0 * layer.W)",
            f"mine-1: its derivative in W takes L {CONSTANT} W",
        ),
        (
            "Kind.LAYER",
            "equal(gradient(layer.L1(layer.e), layer.b), 0 * layer.b)",
            f"mine-1: its derivative in b takes L {CONSTANT} b",
        ),
        (
            "Kind.LAYER",
            "equal(along(layer.N * layer.q, layer.N, layer.unit), layer.q)",
            "mine-1: its derivative in N is in what no number",
        ),
        (
            "Kind.LAYER",
            f"equal(gradient({AT_OUTPUTS}, layer.W), gradient({AT_OUTPUTS}, layer.W))",
            "",
        ),
    ],
)
def test_a_statement_of_matrices_is_of_a_subject_fits_and_hides_nothing(
    subject, says, said, file_of
):
    assert_refused(file_of(of_matrices(subject, says)), said)


BATCH = Claim(
    id="batch", locations=(), says=unit.gamma <= 1, reading=Reading.SHARED_EPSILON,
    expected=Verdict.REFUTED,
)  # fmt: skip
LAYER = MatrixClaim(
    id="layer", locations=(), says=layer.q <= 1, subject=Kind.LAYER, expected=Verdict.REFUTED
)
ASKING = [unit.L, unit.Lhat, unit.BN, unit.normalize, unit.deviation, layer.L, layer.L1]


@pytest.mark.parametrize("operation", ASKING, ids=lambda operation: operation.name)
def test_a_primitive_changes_with_no_more_than_it_says_that_it_reads(operation):
    """Its value at one place is a letter, made of what the subject has besides the loss."""
    places = {layer.L: (LAYER, layer.outputs(layer.W, layer.b)), layer.L1: (LAYER, layer.e)}
    claim, place = places.get(operation, (BATCH, unit.y))
    _, instance_of = instance(claim)
    fixed = values_of(instance_of)[place]
    letter = Letter("f", "f", value=lambda subject: operation.value(subject, fixed))
    assert made_of(letter, claim) - BEHIND_LOSS <= set(operation.reads)


OWN_OPERATION = """
from theory.language.expression import Operation, Sort
half = Operation("half", lambda x: (x * x).sum() / 2, {display!r}, takes=(Sort.VECTOR,))
CLAIMS = [Claim(
    id="mine", title="Half", locations=PLACE, says=half(u) <= norm2(u), expected=Verdict.PROVED
)]
"""


@pytest.mark.parametrize(
    ("display", "said"),
    [
        (r"\|{0}\|^2", "mine: its operation half is displayed as our norm2"),
        ("{0}", "mine: its operation half is displayed as its operand"),
        (r"\tfrac12\|{0}\|^2", ""),
    ],
)
def test_an_operation_of_ones_own_is_displayed_as_none_of_ours(display, said, file_of):
    assert_refused(file_of(RIGHT + OWN_OPERATION.format(display=display)), said)


OF_A_LAW = """
from theory.expectation_claim import ExpectationClaim, mean as expected
from theory.random_matrix import G, N, n
rows = {letter}
CLAIMS = [
    ExpectationClaim(
        id="law", title="A mean", locations=PLACE, expected=Verdict.SUPPORTED,
        says=expected(layer.frobenius2(G)) / (rows * n) <= 1, ceilings=lambda e: Sides(inf, inf),
    )
]
"""


@pytest.mark.parametrize(
    ("letter", "said"),
    [
        ("N", ""),
        ("number_of('c', 'c', 'N')", "law: its letter c is a function of the instance, which is"),
        ("number_of('c', 'c', 'N', 'c = N')", ""),
    ],
)
def test_a_letter_of_an_expectation_says_what_it_is(letter, said, file_of):
    imported = "from math import inf\nfrom theory.language.letters import number_of\n"
    sides = "from theory.statement import Sides\n"
    assert_refused(file_of(imported + sides + RIGHT + OF_A_LAW.format(letter=letter)), said)


ANY_DESCENT = "from theory.descent import H_definite, I, high, low\n"


@pytest.mark.parametrize(
    "says",
    [
        "layer.trace(H_definite) >= layer.trace(I)",
        "low < high",
        "low < high, hypotheses=(assume(low > 0),)",
    ],
)
def test_a_descent_is_any_one_that_its_letters_are_displayed_as(says, check):
    only = of_matrices("Kind.DESCENT", says).replace("[FIRST, SECOND]", "[FIRST]")
    found, _ = check(ANY_DESCENT + only, ["exact"])
    assert "corrections and proofs 1: 1 refuted" in found.stdout


def test_what_tells_networks_apart_may_only_be_assumed(file_of):
    letter = "unit.later_normalizations"
    said = complaint(file_of(TIED + RIGHT.replace(EQUATION, f"equal({letter}, 0)")))
    assert "mine-1: its letter later tells networks apart" in said
    assumed = f"{EQUATION}, hypotheses=(assume(equal({letter}, 0)),)"
    path = file_of(TIED + RIGHT.replace(EQUATION, assumed))
    trial.refuse_unfit(others.load(str(path)), str(path))
    followed = assumed.replace(f"equal({letter}, 0)", f"{letter} >= 1")
    assert "tells networks apart" in complaint(file_of(TIED + RIGHT.replace(EQUATION, followed)))


OF_SIZES = "from theory.language.arrays import absolute, maximum\n"
SAYING = {
    "an exponent is a whole number": (
        "gamma**m <= 1", "an exponent is a whole number, such as 2 in gamma**2"
    ),
    "our own operations are displayed as they are": ("absolute(gamma) >= gamma", ""),
    "a certificate is of numbers": (
        "y <= y + gamma**2 * one, because=gamma**2 * one",
        "mine-1: because= proves an inequality of two numbers",
    ),
    "where a hypothesis fails nothing need be defined": (
        "equal(root(-dot(one, y))**2, -dot(one, y)), hypotheses=(assume(dot(one, y) < 0),)", ""
    ),
    "a hypothesis gives back an instance": (
        f"{EQUATION}, hypotheses=(assume(gamma > 0, impose=lambda case: None),)",
        "mine-1: impose= returned None; return the changed instance",
    ),
    "a maximum is not differentiated": (
        "along(maximum(gamma, sigma), gamma, number(1)) <= 1",
        "write (a + b + absolute(a - b)) / 2 for the larger of two numbers",
    ),
    "a hypothesis is given the numbers of an instance": (
        f"{EQUATION}, hypotheses=(assume(gamma > 0, impose=lambda case: case.sigma),)",
        "impose= is given an instance's numbers: y, gamma, beta, eps, direction",
    ),
    "a certificate may be divided": (
        "norm2(y) / 2 + number(1) / 3 > 0, because=norm2(y) / 2 + number(1) / 3", ""
    ),
    "a certificate may have fractions": (
        "norm2(y) / 2 + number(1) / 3 > 0, because=number(1) / 2 * norm2(y) + number(1) / 3", ""
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAYING)
def test_what_a_statement_is_made_of(name, file_of):
    says, said = SAYING[name]
    assert_refused(file_of(OF_SIZES + RIGHT.replace(EQUATION, says)), said)


@pytest.mark.parametrize(
    ("hypothesis", "is_refused"),
    [
        ("assume(gamma > 0, impose=lambda case: replace(case, gamma=1))", True),
        ("assume(gamma < 0, impose=lambda case: replace(case, gamma=-1))", True),
        ("assume(gamma > 0, impose=lambda case: replace(case, gamma=abs(case.gamma)))", False),
        ("assume(gamma**2 >= 25, impose=lambda case: replace(case, gamma=5))", True),
        ("assume(equal(gamma, 1), impose=lambda case: replace(case, gamma=1 + 0 * case.gamma))", 0),
        ("assume(equal(dot(one, g), 0), impose=lambda case: replace(case, gamma=0))", True),
        ("assume(equal(dot(one, y), 0), impose=lambda case: replace(case, y=0 * case.y))", True),
    ],
)
def test_a_hypothesis_may_not_change_what_meets_it(hypothesis, is_refused, file_of):
    code = RIGHT.replace(EQUATION, f"{EQUATION}, hypotheses=({hypothesis},)")
    path = file_of("from dataclasses import replace\n" + code)
    assert_refused(path, "mine-1: impose= of the hypothesis" if is_refused else "")


@pytest.mark.parametrize(
    ("fraction", "imposed", "is_refused"),
    [("1) / 10", "0.1", True), ("1) / 8", "0.125", False), ("1) / 10", "Fraction(1, 10)", False)],
)
def test_a_number_that_is_imposed_is_exact(fraction, imposed, is_refused, file_of):
    imposed = f"impose=lambda case: replace(case, gamma={imposed})"
    hypothesis = f"assume(equal(gamma, number({fraction}), {imposed})"
    code = RIGHT.replace(EQUATION, f"{EQUATION}, hypotheses=({hypothesis},)")
    path = file_of("from dataclasses import replace\nfrom fractions import Fraction\n" + code)
    said = "sets a number to the float 0.1, which is not the number"
    assert_refused(path, said if is_refused else "")


@pytest.mark.parametrize(("right", "wrong", "said"), WRONG_IN_THEMSELVES)
def test_a_statement_that_is_wrong_in_itself_is_named(file_of, right, wrong, said):
    path = file_of(RIGHT.replace(right, wrong, 1))
    name = said.partition(": ")[0]
    assert complaint(path).startswith(line_of(path, f'id="{name}"') + said)


HELPED = """
def claimed(says, id="x", **others):
    return Claim(id=id, title="t", locations=PLACE, expected=Verdict.PROVED, says=says, **others)

CLAIMS = [
    claimed(norm2(grad) <= norm2(g), because=norm2(g)),
    claimed(norm2(grad) <= norm2(y), "z", because=norm2(y)),
]
"""


def test_what_a_helper_makes_wrong_is_told_where_it_is_called_each_in_its_line(file_of):
    path = file_of(RIGHT + HELPED)
    first, second = complaint(path).splitlines()
    assert first.startswith(line_of(path, "because=norm2(g)") + "x: because= adds up to ")
    assert second.startswith(line_of(path, "because=norm2(y)") + "z: because= adds up to ")
    path = file_of(RIGHT + HELPED.replace("because=norm2(y)", "hypotheses=[assume(gamma > 0)]"))
    said = line_of(path, "[assume(gamma > 0)]") + "z: hypotheses= is a tuple"
    assert complaint(path).startswith(said)


def test_what_is_corrected_wrongly_is_told_where_that_is_said(file_of):
    says = "norm2(grad) <= norm2(g)"
    made = f"SECOND.corrected(says={says}, because=norm2(g))"
    path = file_of(f"{RIGHT}CLAIMS.append(\n    {made})\n")
    said = line_of(path, "SECOND.corrected") + "mine-2/corrected: because= adds up to "
    assert complaint(path).startswith(said)


def test_two_of_one_name_are_both_told(file_of):
    path = file_of(RIGHT.replace("mine-1", "a").replace("mine-2", "a"))
    said = "a: 2 statements have this identifier"
    assert [line.partition(";")[0] for line in complaint(path).splitlines()] == [
        f"{path}:{number}: {said}"
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if 'id="a"' in line
    ]


@pytest.mark.parametrize(
    ("says", "kind"), [("norm2(layer.gamma) >= 0", "LAYER"), ("equal(descent.H, 0)", "DESCENT")]
)
def test_a_letter_of_another_subject_is_told_with_its_kind(says, kind, file_of):
    code = "from theory import descent\n" + RIGHT.replace(EQUATION, says)
    assert f"MatrixClaim(subject=Kind.{kind}, ...)" in complaint(file_of(code))


def test_a_file_that_is_no_python_is_named(file_of, tmp_path):
    path = file_of("CLAIMS = [\0]")
    assert complaint(path).startswith(f"{path}: is no Python (source code")
    named = tmp_path / "notes.txt"
    named.write_text(RIGHT)
    refused = CliRunner().invoke(app, ["check", str(named)])
    assert refused.exit_code == 2
    assert f"{named} does not end in .py" in refused.stderr


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ("FIRST", "CLAIMS is one statement; write [...] around it"),
        ("[FIRST, [SECOND]]", "CLAIMS[1] is a list; write * in front of it"),
        ("[FIRST, equal(m, m)]", "CLAIMS[1] is m = m of type Says; expected"),
        ("[]", "CLAIMS is []; expected a list of statements"),
    ],
)
def test_what_is_no_list_of_statements_is_refused(file_of, listed, said):
    assert said in complaint(file_of(RIGHT.replace("[FIRST, SECOND]", listed)))


def test_a_target_that_is_not_there_is_refused(tmp_path, file_of):
    assert "there is no file" in complaint(tmp_path / "nothing.py")
    found = complaint("no_such_module:CLAIMS")
    assert "'no_such_module:CLAIMS' cannot be found" in found
    assert "give package.module:name" in found
    assert "has no 'OTHERS'; it has CLAIMS" in complaint(f"{file_of(RIGHT)}:OTHERS")
    (tmp_path / "random.py").write_text(RIGHT)
    assert "there is a module 'random' already; rename the" in complaint(tmp_path / "random.py")


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ("CLAIM = [FIRST]", "did you mean 'CLAIM'? it has CLAIM"),
        ("SECOND_HALF = [SECOND]; CLAIM = (FIRST,)", "'CLAIM'? it has SECOND_HALF, CLAIM"),
        ("MINE = [FIRST, SECOND]", "; it has MINE"),
        ("ONE = 1", "; write CLAIMS = [FIRST, SECOND]"),
        ("del FIRST, SECOND", "; it has no list of statements"),
    ],
)
def test_a_list_of_another_name_is_told_and_nothing_that_is_imported(listed, said, file_of):
    found = complaint(file_of(f"{RIGHT}\ndel CLAIMS\n{listed}\n"))
    assert "has no 'CLAIMS'; " in found
    assert found.endswith(said)


def test_two_papers_of_one_key_are_refused(file_of):
    second = 'locations=(Location("notes", 1, "here", "", Paper("notes", "Others", "")),),'
    code = RIGHT.replace("locations=PLACE,\n    says=norm2", f"{second}\n    says=norm2")
    found = complaint(file_of(code.replace("import Claim, ", "import Claim, Paper, ")))
    assert "whose key 'notes' is that of 'notes' too" in found


def test_the_papers_statements_are_fit_and_their_certificates_add_up():
    certified = [
        c for c in engine.CLAIMS if c.because is not None and c.expected is not Verdict.REFUTED
    ]
    tried = [*engine.CLAIMS[::40], *certified]
    assert [str(c) for claim in tried for c in trial.unfit(claim)] == []


PAPERS = [c for c in engine.CLAIMS if isinstance(c, Claim | MatrixClaim) and not c.unreadable]


def test_the_papers_letters_are_where_they_are_displayed():
    """What statements of the same letters say beside them changes none."""
    alike = {(c.attack, c.hypotheses, c.reading, frozenset(letters_of(c))): c for c in PAPERS}
    assert [str(c) for claim in alike.values() for c in ranges.out_of_range(claim)] == []


def test_no_derivative_in_the_papers_takes_what_moves_for_a_constant():
    assert [str(c) for claim in PAPERS for c in letters.frozen(claim)] == []


OWN_LETTER = """\
from theory.claim import Claim, Location, Verdict
from theory.language.expression import Letter, equal

{before}
size = Letter("size", "s", value=lambda unit: {value}, domain=r"s \\ge 0")
CLAIMS = [
    Claim(
        id="own-letter",
        title="A letter of one's own",
        locations=(Location("notes", 1, "here", ""),),
        says=equal(size, size),
        expected=Verdict.PROVED,
    )
]
"""


def test_a_letter_that_a_witness_cannot_evaluate_is_named(check):
    value = "unit.gamma if unit.gamma > 0 else -unit.gamma"
    found, path = check(OWN_LETTER.format(before="", value=value), QUICK)
    assert found.exit_code == 2
    assert line_of(path, "size = Letter") in found.stderr
    assert "verify: own-letter: a witness could not evaluate it (abstract): " in found.stderr


CRASHING = """\
ODD = Letter("odd", "o", value=lambda unit: unit.gamma if unit.gamma > -9 else 9, domain=r"\\gamma")
SAYS = equal(dot(one, yhat) * ODD, 0)
CLAIMS.insert(0, replace(FIRST, id="odd", says=SAYS, in_words="odd"))
"""


@pytest.mark.parametrize("few", [0, 9])
def test_what_a_witness_cannot_evaluate_costs_no_other_its_verdict(few, check, monkeypatch):
    imported = "from dataclasses import replace\nfrom theory.language.expression import Letter\n"
    monkeypatch.setattr(examination, "FEW", few)
    found, path = check(imported + RIGHT + CRASHING, ["polynomial", "autograd"])
    assert found.exit_code == 2
    assert "verify: odd: a witness could not evaluate it (autograd): " in found.stderr
    assert line_of(path, "ODD = Letter") in found.stderr
    assert "corrections and proofs 3: 2 proved, 1 undecided" in found.stdout


OF_SIZES_AND_VECTORS = """
LONG = replace(SECOND, id="long", hypotheses=(assume(m >= 3),))
WITHIN = replace(SECOND, id="within", hypotheses=(assume(y <= one), assume(y >= -one)))
OF_SIZES = replace(SECOND, id="sizes", says=2 * m >= 5, because=None, expected=Verdict.REFUTED)
CLAIMS = [LONG, WITHIN, OF_SIZES]
"""
OF_WIDE_LAYERS = """
from theory.language.arrays import first, norm2 as square, second
OF_TWO = first(layer.gamma) ** 2 + second(layer.gamma) ** 2
WIDE = MatrixClaim(
    id="wide", title="Two entries", subject=Kind.LAYER, locations=PLACE,
    says=square(layer.gamma) >= OF_TWO, hypotheses=(assume(layer.n >= 2),),
    expected=Verdict.SUPPORTED,
)
ONLY = replace(WIDE, id="only", says=equal(square(layer.gamma), OF_TWO), expected=Verdict.REFUTED)
CLAIMS = [WIDE, ONLY]
"""
CORRECTED = """
from theory.language.arrays import norm2 as squares
from theory.unit import mean, variance
UNBIASED = replace(
    FIRST,
    id="unbiased",
    says=equal(m / (m - 1) * variance(y), norm2(y) / (m - 1) - m / (m - 1) * mean(y) ** 2),
    reading=Reading.SHARED_EPSILON,
)
OF_A_LAYER = MatrixClaim(
    id="layer", title="Of a layer", subject=Kind.LAYER, locations=PLACE, expected=Verdict.PROVED,
    says=equal(layer.N / (layer.N - 1) * squares(layer.b), squares(layer.b) / (1 - 1 / layer.N)),
)
CLAIMS = [UNBIASED, OF_A_LAYER]
"""
SPEAKING = {
    "of the batch size or of vectors": (OF_SIZES_AND_VECTORS, "3: 2 proved, 1 refuted"),
    "where sizes are excluded": (OF_WIDE_LAYERS, "2: 1 refuted, 1 supported"),
    "of a quotient by a size less one": (CORRECTED, "2: 2 proved"),
}


@pytest.mark.parametrize("name", SPEAKING)
def test_every_witness_can_evaluate_what_speaks(name, check):
    code, verdicts = SPEAKING[name]
    found, _ = check("from dataclasses import replace\n" + TIED + RIGHT + code, OF_INSTANCES)
    assert (found.exit_code, "could not evaluate" in found.stderr) == (0, False)
    assert f"corrections and proofs {verdicts}" in found.stdout


def test_what_no_witness_could_evaluate_is_undecided_and_said_plainly(check):
    sorting = (
        "from theory.language.expression import Operation, Sort\n"
        "most = Operation('most', lambda x: sorted(x)[-1], 'most {0}', takes=(Sort.VECTOR,))\n"
    )
    code = RIGHT.replace(EQUATION, "most(yhat) ** 2 <= m").replace("[FIRST, SECOND]", "[FIRST]")
    found, _ = check(sorting + code, ["autograd"])
    assert "it looks at the numbers that it is given" in found.stderr
    assert "largest_entry and smallest_entry of theory.layer" in found.stderr
    assert "corrections and proofs 1: 1 undecided" in found.stdout


def test_what_divides_by_zero_everywhere_is_undecided_with_a_reason(check):
    wrong = RIGHT.replace("dot(one, grad), 0)", "dot(one, grad), 1 / (gamma - gamma))")
    wrong = wrong.replace(f"because={BECAUSE}", f"because={BECAUSE} / (gamma - gamma)")
    found, path = check(wrong, QUICK, "--json")
    assert (found.exit_code, "could not evaluate" in found.stderr) == (1, False)
    first, second = (entry["witnesses"]["abstract"] for entry in json.loads(found.stdout))
    assert first["unproved"] == "a denominator vanishes identically"
    assert second["unproved"] == first["unproved"]
    shown = CliRunner().invoke(app, ["show", "mine-1", "--claims", path.name]).stdout
    assert re.search(
        rf"because\n  none of \d+ instances is one of which it says something\n"
        rf"  no proof \(abstract\): {first['unproved']}\n",
        shown,
    )


SEARCHES = """
from dataclasses import replace
from theory.language.operations import sqrt
from theory.layer import largest_entry, squares

def searched(id, says, **others):
    return replace(FIRST, id=id, says=says, **others)

NESTED = norm2(y) + norm2(u) + 2 * sqrt(norm2(y) * norm2(u))
CLAIMS = [
    searched("roots", equal(sqrt(NESTED), sqrt(norm2(y)) + sqrt(norm2(u)))),
    searched("bare", dot(one, y) ** 2 <= m * norm2(y)),
    searched("crooked", dot(one, u) ** 2 <= m * norm2(u), because=CROOKED),
    searched("signed", equal(deviation(gamma * y), gamma * sigma), hypotheses=(assume(gamma > 0),)),
    searched("largest", largest_entry(squares(yhat)) <= m - 1),
    searched("scaled", equal(largest_entry(4 * y), 4 * largest_entry(y))),
]
"""
CROOKED = "m**2 * (norm2(u) / m - dot(one, u)**2 / m**2)"
WHY = {
    "roots": "the difference of its sides is not seen to vanish: sqrt(<u, u>) + ",
    "bare": "a bound is proved by because=, terms that add up to its slack; it has none",
    "crooked": "a term of because= with the factor m**2*(",
    "signed": "the difference of its sides is not seen to vanish: -sigma*(-gamma + Abs(gamma)) "
    "(a hypothesis is used by impose= alone where there is no because=; write "
    "because=hypothesis.slack * what it is multiplied by)",
    "largest": "of a vector of any length inner products are known, and no single entries",
    "scaled": "of a vector of any length inner products are known, and no single entries",
}


def test_why_no_proof_is_found_is_said(check):
    code = RIGHT + SEARCHES.replace("CROOKED", CROOKED)
    found, path = check(code, (*QUICK, "symbolic", "polynomial"), "--json")
    assert (found.exit_code, "could not evaluate" in found.stderr) == (1, False)
    told = {entry["id"]: entry["witnesses"] for entry in json.loads(found.stdout)}
    assert all(told[name]["abstract"]["unproved"].startswith(why) for name, why in WHY.items())
    assert all(told[name]["polynomial"]["unproved"] for name in WHY)
    shown = CliRunner().invoke(app, ["show", "bare", "--claims", path.name]).stdout
    assert f"  no proof (abstract): {WHY['bare']}\n  no proof (polynomial): " in shown


def test_a_related_root_is_told_of_the_smallest_batch(file_of):
    [claim, *_] = others.load(str(file_of(RIGHT + SEARCHES.replace("CROOKED", CROOKED))))
    why = symbolic.examine(claim, Settings(PROFILES["default"])).unproved
    assert why.startswith("m = 2: the expression may vanish, because the roots of these may be")
    assert why.endswith("write one root by means of the others")


CONDITIONED = """
CLAIMS = [MatrixClaim(
    id="conditioned", title="Normalized inputs are conditioned better", subject=Kind.LAYER,
    locations=PLACE, says=layer.kappa2(layer.B01(layer.H)) <= 3 * layer.kappa2(layer.H),
    expected=Verdict.REFUTED,
)]
"""


def test_eigenvalues_of_matrices_that_are_not_rational_are_decided(check):
    found, _ = check(TIED + RIGHT + CONDITIONED, QUICK, "--json")
    assert (found.exit_code, "could not evaluate" in found.stderr) == (0, False)
    (entry,) = json.loads(found.stdout)
    assert entry["verdict"] == "refuted"
    assert entry["witnesses"]["exact"]["undecided"] == 0


def test_the_commands_take_statements_of_others(file_of, tmp_path, monkeypatch):
    path = file_of(RIGHT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(engine, "WITNESSES", [w for w in WITNESSES if w.name in QUICK])

    def run(*words):
        return CliRunner().invoke(app, list(words), catch_exceptions=False)

    examining = f"or run: python -m verify check {path.name}\n"
    assert run("ledger", "--claims", path.name).stderr.endswith(examining)
    assert run("page", "--claims", path.name).stderr.endswith(examining)
    checked = run("check", path.name, "--profile", "smoke")
    assert checked.exit_code == 0, checked.stderr
    assert "corrections and proofs 2: 2 proved" in checked.stdout
    assert (tmp_path / "evidence" / "claims" / path.stem / "evidence.jsonl").is_file()
    listed = run("ledger", "--claims", path.name)
    assert listed.stderr.startswith("verify: looked at by the profile smoke only: 2 statements")
    assert listed.exit_code == 0
    assert "2 statements: 2 hold as printed" in listed.stdout
    shown = run("show", "mine-2", "--claims", f"{path.name}:CLAIMS").stdout
    assert "proved, every m" in shown
    assert str(path) in shown
    again = run("reproduce", "random:generic:0:0", "--claims", path.name).stdout
    assert [line.split()[0] for line in again.splitlines()[1:]] == ["mine-1", "mine-2"]
    assert run("prune", "--claims", path.name).stdout.startswith("0 records removed, 4 kept")
    monkeypatch.setattr(engine, "todays_of_run", lambda run, claims: lambda claim, witness: "")
    outdated = run("ledger", "--claims", path.name).stderr
    assert outdated.endswith(f"mine-1, mine-2; run: python -m verify check {path.name}\n")
    statement = engine.statements(path.name)[0]
    assert checking(path.name, statement) == f"python -m verify check {path.name} mine-1"
    assert checking("", statement) == "python -m verify check mine-1"
    refused = run("ledger", "--claims", "nothing.py")
    assert (refused.exit_code, refused.stdout) == (2, "")


# ---- where statements are found ----


def test_a_module_is_found_from_the_folder_where_one_stands(tmp_path, monkeypatch):
    (tmp_path / "their_package").mkdir()
    (tmp_path / "their_package" / "__init__.py").touch()
    (tmp_path / "their_package" / "notes.py").write_text(RIGHT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert [c.id for c in others.load("their_package.notes")] == ["mine-1", "mine-2"]


def test_a_word_names_a_list_of_statements_or_a_statement(tmp_path, monkeypatch):
    (tmp_path / "notes.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(others, "installed", cache(others.installed))  # which reads many files
    assert all(map(others.is_target, ["notes", "their.notes", "notes.py", "notes:OTHERS"]))
    words = {"nothing", *(word for claim in engine.CLAIMS for word in (claim.id, claim.result))}
    assert not any(map(others.is_target, words))
    refused = CliRunner().invoke(app, ["check", "their.notes"])
    assert "'their.notes:CLAIMS' cannot be found" in refused.stderr


def test_an_installed_package_is_found_by_its_name(tmp_path, monkeypatch):
    (tmp_path / "notes_of_a_package.py").write_text(RIGHT)
    metadata = tmp_path / "notes-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: notes\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[batchnorm_theory.claims]\nnotes = notes_of_a_package:CLAIMS\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    assert others.installed()["notes"] == "notes_of_a_package:CLAIMS"
    assert [claim.id for claim in others.load("notes")] == ["mine-1", "mine-2"]


def test_another_process_finds_a_statement_by_its_target(file_of):
    settings = Settings(SMOKE, claims=others.resolved(str(file_of(RIGHT))))
    (found,) = pool.examine_named("abstract", ["mine-2"], settings)
    assert found.proof


def test_a_change_beside_their_file_makes_a_record_old(file_of, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    code = OWN_LETTER.format(before="from beside import twice", value="twice(unit.gamma)")
    path, marks = file_of(code), []
    for written in ("2 * x", "2 * x", "x + x"):
        (tmp_path / "beside.py").write_text(f"def twice(x):\n    return {written}\n")
        of_statement.cache_clear()
        marks.append(of_statement(others.load(str(path))[0]))
    assert marks[0] == marks[1] != marks[2]
    sys.modules.pop("beside")
