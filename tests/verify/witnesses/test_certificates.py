"""Proofs for every batch size: what certificates may say, and how numbers stand in a ring."""

from dataclasses import replace

import pytest
from made_up_statements import of_a_unit
from slips import BOUND, FOR_EVERY_M, HESSIAN, RIGHT, SHARED_BOUND, SLIPS, VACUOUSLY_PROVED

from theory import batchnorm, unit
from theory.arithmetic import sqrt
from theory.language import arrays
from theory.language.expression import POWER, Letter, Operation, Sort, along, equal, number
from theory.language.letters import number_of
from theory.language.operations import dot, norm2, spread
from theory.language.operations import sqrt as root
from theory.statement import assume
from verify.results import EVERY_M, Proof
from verify.settings import PROFILES, Settings
from verify.witnesses import abstract, polynomial
from verify.witnesses.polynomial import Ring, SilentError

POSITIVE, NOT_NEGATIVE = assume(unit.beta > 0), assume(unit.beta >= 0)
NEGATIVE, NOT_POSITIVE = assume(unit.beta < 0), assume(unit.beta <= 0)
ZERO = assume(equal(unit.beta, 0))
ALONG = dot(unit.g, unit.yhat)


@pytest.fixture(params=FOR_EVERY_M)
def is_proved(request):
    return FOR_EVERY_M[request.param]


def shown(says, because, *hypotheses):
    """A statement with a certificate."""
    return replace(SHARED_BOUND, says=says, because=because, hypotheses=hypotheses)


def test_terms_that_do_not_add_up_prove_nothing(is_proved):
    doubled = replace(SHARED_BOUND, because=2 * SHARED_BOUND.because)
    assert not is_proved(doubled)
    assert not is_proved(replace(SHARED_BOUND, because=number(0)))
    said = "the slack less because= is not seen to vanish: "
    assert abstract.sought(doubled).startswith(said)
    assert polynomial.shortcoming(doubled) == "because= is not seen to add up to the slack"


@pytest.mark.parametrize(
    ("weight", "is_seen"),
    [
        (unit.gamma**2, True),
        (unit.m - 1, True),
        (root(unit.gamma**2), True),
        (norm2(unit.g), True),
        (1 / (unit.gamma - unit.beta) ** 2, True),
        (-(unit.gamma**2), False),
        (unit.m - 2, False),
        (unit.gamma, False),
        (unit.gamma - unit.beta, False),
        (unit.sigma - 1, False),
    ],
)
def test_a_weight_must_be_seen_not_to_be_negative(is_proved, weight, is_seen):
    assert is_proved(shown(weight * ALONG**2 >= 0, weight * ALONG**2)) == is_seen


def test_a_vector_counts_by_its_squared_norm(is_proved):
    square = norm2(unit.g - unit.one)
    assert is_proved(shown(square >= 0, square))


@pytest.mark.parametrize(
    ("says", "used", "hypotheses", "expected"),
    [
        (unit.beta >= 0, POSITIVE, [POSITIVE], True),
        (unit.beta >= 0, NOT_NEGATIVE, [NOT_NEGATIVE], True),
        (unit.beta >= 0, ZERO, [ZERO], True),
        (unit.beta >= 0, POSITIVE, [], False),
        (unit.beta >= 0, NEGATIVE, [NEGATIVE], False),
        (unit.beta >= 0, NOT_POSITIVE, [NOT_POSITIVE], False),
        (unit.beta > 0, POSITIVE, [POSITIVE], True),
        (unit.beta > 0, NOT_NEGATIVE, [NOT_NEGATIVE], False),
        (unit.beta > 0, ZERO, [ZERO], False),
    ],
)
def test_a_hypothesis_is_used_for_what_it_says_and_only_if_the_claim_has_it(
    is_proved, says, used, hypotheses, expected
):
    assert is_proved(shown(says, used.slack, *hypotheses)) == expected


@pytest.mark.parametrize(
    ("says", "hypothesis", "power", "expected"),
    [
        (unit.beta**2 > 0, POSITIVE, 2, True),
        (unit.beta**3 > 0, POSITIVE, 3, True),
        (unit.beta**3 >= 0, NOT_NEGATIVE, 3, True),
        (unit.beta**2 > 0, NOT_NEGATIVE, 2, False),
        (equal(unit.beta**2, 0), ZERO, 2, True),
        (equal(unit.beta**2, 0), NOT_NEGATIVE, 2, False),
    ],
)
def test_powers_of_a_slack_have_its_sign(is_proved, says, hypothesis, power, expected):
    assert is_proved(shown(says, hypothesis.slack**power, hypothesis)) == expected


@pytest.mark.parametrize(
    ("says", "because"),
    [
        (unit.eps > 0, unit.eps),
        (norm2(unit.yhat) < unit.m, unit.m * unit.eps / unit.sigma**2),
    ],
)
def test_epsilon_is_positive_where_the_reading_says_so(is_proved, says, because):
    assert is_proved(shown(says, because))


BOTH = assume(unit.gamma * unit.beta >= 0)
BETWEEN = assume(unit.gamma + unit.beta >= 0)


@pytest.mark.parametrize(
    ("hypothesis", "because"),
    [
        (BOTH, BOTH.slack * (2 * unit.sigma)),
        (BOTH, BOTH.slack * BOTH.slack * BOTH.slack),
        (BETWEEN, BETWEEN.slack + unit.sigma),
        (BETWEEN, BETWEEN.slack * unit.sigma + BETWEEN.slack),
    ],
)
def test_a_slack_is_known_again_wherever_it_stands(is_proved, hypothesis, because):
    assert is_proved(shown(because >= 0, because, hypothesis))
    assert not is_proved(shown(because >= 0, because))


def test_a_slack_that_is_a_factor_is_not_lost_to_a_longer_one(is_proved):
    because = unit.gamma * unit.beta * unit.beta
    alone = assume(unit.gamma >= 0)
    assert is_proved(shown(because >= 0, because, alone))
    assert is_proved(shown(because >= 0, because, alone, BOTH))


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("says", [unit.beta > 0, equal(unit.beta, 0)])
def test_of_two_hypotheses_of_one_slack_the_one_counts_that_says_more(is_proved, says, order):
    stronger = POSITIVE if says == (unit.beta > 0) else ZERO
    assert stronger.slack == NOT_NEGATIVE.slack
    assert is_proved(shown(says, stronger.slack, *(NOT_NEGATIVE, stronger)[::order]))


@pytest.mark.parametrize(("hypothesis", "expected"), [(ZERO, True), (NOT_NEGATIVE, False)])
def test_equations_and_weights_of_either_sign_need_hypotheses_that_say_zero(
    is_proved, hypothesis, expected
):
    bound = shown(-unit.beta * unit.gamma >= 0, -unit.gamma * hypothesis.slack, hypothesis)
    assert is_proved(bound) == expected
    assert is_proved(shown(equal(unit.beta, 0), hypothesis.slack, hypothesis)) == expected


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        (unit.sigma**2, True),
        (1 / unit.gamma**2, True),
        (unit.gamma**2, False),
        (unit.gamma**2 / unit.sigma**2, False),
    ],
)
def test_a_strict_inequality_needs_a_weight_that_cannot_vanish(is_proved, weight, expected):
    claim = shown(weight * unit.beta > 0, weight * POSITIVE.slack, POSITIVE)
    assert is_proved(claim) == expected


ALONG_ONE = assume(equal(dot(unit.one, unit.g), 0))
NO_STEEPER = assume((1 - unit.gamma) * norm2(unit.u) >= 0)
ACROSS = unit.g - unit.u * (dot(unit.u, unit.g) / norm2(unit.u))


@pytest.mark.parametrize(
    ("says", "hypotheses", "because", "expected"),
    [
        (
            norm2(unit.g) <= -1,
            [ALONG_ONE],
            (-1 - norm2(unit.g)) / dot(unit.one, unit.g) * ALONG_ONE.slack,
            False,
        ),
        (unit.gamma <= 1, [NO_STEEPER], 1 / norm2(unit.u) * NO_STEEPER.slack, False),
        (
            unit.gamma <= 1,
            [NO_STEEPER, assume(norm2(unit.u) > 0)],
            1 / norm2(unit.u) * NO_STEEPER.slack,
            True,
        ),
        (
            dot(unit.one, unit.g) / norm2(unit.u) <= 0,
            [ALONG_ONE],
            -1 / norm2(unit.u) * ALONG_ONE.slack,
            True,
        ),
        (
            dot(unit.u, unit.g) ** 2 + dot(unit.one, unit.g) <= norm2(unit.u) * norm2(unit.g),
            [ALONG_ONE],
            norm2(unit.u) * norm2(ACROSS) - ALONG_ONE.slack,
            True,
        ),
    ],
    ids=["zero by it", "zero on its edge", "positive besides", "displayed", "cancels"],
)
def test_what_a_hypothesis_may_make_zero_is_not_divided_by(
    is_proved, says, hypotheses, because, expected
):
    assert is_proved(of_a_unit(says, *hypotheses, because=because)) == expected


X = dot(unit.g, unit.y) + 1000
HIDDEN = Operation("hidden", lambda x: sqrt(x), r"h({0})", takes=(Sort.NUMBER,))
OF_THE_LIBRARY = Operation(
    "deviation", batchnorm.standard_deviation, r"\sigma({0}, {1})", takes=(Sort.VECTOR, Sort.NUMBER)
)
OWN = number_of("r", "r", lambda unit: sqrt((unit.g * unit.y).sum() + 1000), "r")
LENGTH = norm2(unit.u)
SHRUNK = root(LENGTH**2 * X)
"""It exists where X is negative, if u is zero."""
T = Letter("t", "t")


@pytest.mark.parametrize(
    ("says", "because", "hypotheses", "expected"),
    [
        (X >= 0, root(X) ** 2, (), False),
        (X * unit.gamma**2 >= 0, root(X) * root(X * unit.gamma**4), (), False),
        (X * norm2(unit.u) >= 0, norm2(root(X) * unit.u), (), False),
        (X >= 0, HIDDEN(X) ** 2, (), False),
        (X >= 0, OWN**2, (), False),
        (X + spread(unit.u) >= 0, OF_THE_LIBRARY(unit.u, X) ** 2, (), False),
        (OF_THE_LIBRARY(unit.u, X) ** 2 >= 0, OF_THE_LIBRARY(unit.u, X) ** 2, (), True),
        (X >= 0, POWER(POWER(X, number(1) / 2), 2), (), False),
        (X**3 >= 0, X**2 * root(X) ** 2, (assume(X >= -1),), False),
        (
            X + along(root(norm2(unit.y) * X), unit.y, unit.u, at=unit.v) ** 2 >= 0,
            root(norm2(unit.y) * X) ** 2 / norm2(unit.y)
            + along(root(norm2(unit.y) * X), unit.y, unit.u, at=unit.v) ** 2,
            (),
            False,
        ),
        (X**2 >= 0, along(root(X) ** 4, unit.y, unit.u) ** 2 - X**2, (), False),
        (
            X**2 >= 0,
            X**2 + (along(OF_THE_LIBRARY(unit.y, X), unit.y, unit.u, at=unit.v) * 0) ** 2,
            (),
            False,
        ),
        (root(X) >= 0, root(X), (), True),
        (X * root(X) >= 0, root(X) ** 2 * root(X), (), True),
        (X * unit.m >= 0, root(X) ** 2 * unit.m, (assume(X >= 0),), True),
        (norm2(unit.g) >= 0, root(norm2(unit.g)) ** 2, (), True),
        (unit.gamma * unit.beta >= -1, root(unit.gamma * unit.beta + 1) ** 2, (), False),
        (SHRUNK + X >= 0, (SHRUNK / LENGTH) ** 2 + SHRUNK, (), False),
        (SHRUNK + X >= 0, (SHRUNK * LENGTH**-1) ** 2 + SHRUNK, (), False),
        (SHRUNK + X >= 0, norm2(SHRUNK / LENGTH * unit.one) / unit.m + SHRUNK, (), False),
        (
            SHRUNK + X >= 0,
            (SHRUNK * along(T / LENGTH, T, number(1), at=unit.gamma)) ** 2 + SHRUNK,
            (),
            False,
        ),
        (SHRUNK + X >= 0, (SHRUNK / LENGTH) ** 2 + SHRUNK, (assume(LENGTH**2 * X >= 0),), False),
        (X >= 0, (SHRUNK / LENGTH) ** 2, (assume(LENGTH**2 * X >= 0),), False),
        (X >= 0, (SHRUNK / LENGTH) ** 2, (assume(LENGTH**2 * X > 0),), True),
        (SHRUNK + X >= 0, (SHRUNK / LENGTH) ** 2 + SHRUNK, (assume(LENGTH > 0),), True),
        (SHRUNK / LENGTH + X >= 0, (SHRUNK / LENGTH) ** 2 + SHRUNK / LENGTH, (), True),
    ],
)
def test_a_root_that_need_not_exist_has_no_sign(is_proved, says, because, hypotheses, expected):
    assert is_proved(of_a_unit(says, *hypotheses, because=because)) == expected


def test_of_letters_it_is_open_which_is_larger(is_proved):
    either = arrays.maximum(unit.gamma, unit.beta) + arrays.minimum(unit.gamma, unit.beta)
    assert not is_proved(of_a_unit(equal(either, unit.gamma + unit.beta)))


def test_a_proof_shows_its_slack_and_its_terms():
    assert abstract.prove(HESSIAN) == Proof((EVERY_M,), "0")
    assert abstract.prove(BOUND).slack == "0"
    found = abstract.prove(SHARED_BOUND)
    assert "epsilon*gamma**2" in found.slack
    assert found.terms == ("(epsilon*gamma**2/(m*sigma**4)) * (<c, g>/sigma)^2",)
    assert abstract.prove(VACUOUSLY_PROVED).terms == ("(1) * [-1 - |g|^2 >= 0]",)


def test_statements_share_the_polynomials_of_one_network_and_are_decided_as_alone():
    mixed = [claim for pair in zip(RIGHT.values(), SLIPS.values(), strict=False) for claim in pair]
    records = polynomial.examine(mixed, Settings(PROFILES["smoke"]))
    assert [bool(record.proof) for record in records] == [True, False] * len(RIGHT)


def test_a_root_is_known_by_its_square_and_its_sign():
    ring = Ring()
    gamma, m, sigma = map(ring.letter, ("gamma", "m", "sigma"))
    size = (gamma * gamma).sqrt()
    assert (size * size - gamma * gamma).is_zero
    assert not (size - gamma).is_zero
    assert not (size + gamma).is_zero
    assert ((sigma * sigma).sqrt() - sigma).is_zero
    assert ((m * gamma * gamma / sigma**2).sqrt() - m.sqrt() * size / sigma).is_zero
    two, root = ring.number(2), ring.number(2).sqrt()
    assert (root * root - two).is_zero
    assert not (root - two).is_zero


def test_what_is_not_exact_is_refused():
    with pytest.raises(SilentError, match=r"0\.5 is not an exact number"):
        Ring().number(0.5)
    with pytest.raises(SilentError, match="division by zero"):
        Ring().number(1) / 0
    with pytest.raises(SilentError, match="the larger one is open"):
        max(Ring().letter("m"), 1)
    with pytest.raises(SilentError, match="letter m"):
        len(polynomial.Space(Ring()).vector("c"))


def test_a_type_error_of_a_certificates_own_code_is_not_silence():
    """Nor is it taken for sympy's, which does not know which of two letters is larger."""
    broken = Operation("broken", len, r"\operatorname{{broken}}({0})", takes=(Sort.NUMBER,))
    squares = norm2(unit.g) + unit.gamma**2 >= 0
    with pytest.raises(TypeError, match="has no len"):
        abstract.sought(of_a_unit(squares, because=norm2(unit.g) + broken(unit.gamma)))
