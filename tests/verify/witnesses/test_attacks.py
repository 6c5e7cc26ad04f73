"""False statements that an attacker had proved, one for each way: none is."""

from dataclasses import replace

import pytest
from made_up_statements import of_a_unit, of_matrices

from theory import descent, layer, maps
from theory.arithmetic import mean
from theory.arithmetic import sqrt as root
from theory.claim import Reading
from theory.language import arrays
from theory.language.expression import (
    Letter,
    Sort,
    along,
    equal,
    number,
)
from theory.language.letters import number_of
from theory.language.operations import SquaredNorm, dot, norm2, spread, sqrt
from theory.matrix_claim import Kind
from theory.statement import Relation, assume
from theory.unit import L, beta, gamma, m, one, u, v, y, z
from verify.settings import PROFILES, Settings
from verify.witnesses import abstract, polynomial, symbolic
from verify.witnesses.exact import compared
from verify.witnesses.matrices import abstract as of_every_height
from verify.witnesses.matrices import integers
from verify.witnesses.matrices import symbolic as of_named_sizes

SMOKE = Settings(PROFILES["smoke"])
FAR = 10**6
WITH_EPSILON = {"reading": Reading.SHARED_EPSILON}


def claim(says, because=None, *hypotheses, **changes):
    return of_a_unit(says, *hypotheses, because=because, **changes)


t, w = Letter("t", "t"), number_of("w", "w", lambda unit: root(unit.beta + FAR))
THIN = -((beta - 2) ** 2)
TURNED = assume(
    equal((beta - FAR) * u, (beta - FAR) * v),
    impose=lambda case: replace(case, direction=case.other_direction),
)
NO_SHIFT = assume(
    equal(beta * (y - FAR * one), 0 * one), impose=lambda case: replace(case, beta=0 * case.beta)
)
ONE_EXAMPLE = assume(equal(m - 1, 0))
AT_EDGE = assume(equal(beta + 1, 0))
ROOT_OF_BOTH = sqrt(norm2(u - v) * norm2(u + v))
ROOTS = sqrt(norm2(u - v)) * sqrt(norm2(u + v))
WITHIN = along(t * sqrt(THIN), t, number(1), at=gamma)
WRONG_NORM = SquaredNorm("mean", mean, r"\|{0}\|^2", takes=(Sort.VECTOR,))
OF_ANY_SIZE = {
    "a letter within a derivative": claim(
        gamma**2 + beta >= -FAR, gamma**2 + along(t * w, t, number(1), at=gamma) ** 2
    ),
    "a loss of zero": claim(L(z) >= -FAR, (L(z) + FAR) * 1),
    "a size that may be one": claim(
        (m - 1) + (beta - FAR) ** 2 > 0, (m - 1) * 1 + (beta - FAR) ** 2, **WITH_EPSILON
    ),
    "a divisor that may be zero": claim(
        dot(u, v) >= -(FAR**2), (dot(u, v) + FAR**2) / (m - 1) * ONE_EXAMPLE.slack, ONE_EXAMPLE,
        **WITH_EPSILON,
    ),
    "a root that may be zero": claim(sqrt(beta + FAR) ** 2 > 0, (beta + FAR) * 1),
    "a divisor by a root that may be zero": claim(
        dot(u, v) + 0 * sqrt(beta + 1) >= -(FAR**2),
        (dot(u, v) + FAR**2) / (beta + 1) * AT_EDGE.slack,
        AT_EDGE,
    ),
    "a batch that may be constant": claim(
        spread(y) + (beta - FAR) ** 2 > 0, spread(y) * 1 + (beta - FAR) ** 2, **WITH_EPSILON
    ),
    "vectors that may differ": claim(equal(dot(u, y), dot(v, y)), None, TURNED),
    "a constant batch": claim(equal(beta, 0), None, NO_SHIFT, **WITH_EPSILON),
    "a thin domain": claim(
        dot(u, v) + FAR**2 + 0 * sqrt(THIN) >= 0,
        norm2(u + v) / 4 + norm2(u - v) / 4 * (beta - 2) ** 2 * sqrt(THIN) ** (-2) + FAR**2,
    ),
    "a norm of another meaning": claim(
        WRONG_NORM(u) >= -FAR, sqrt(WRONG_NORM(u)) ** 2 + FAR
    ),
    "a rounded root": claim(equal(sqrt(number(FAR**6 + 1)), FAR**3)),
    "a factor that may be zero": claim(
        beta + FAR + sqrt(gamma**2 * (beta + FAR)) >= 0,
        (beta + FAR) * 1 + sqrt(gamma**2 * (beta + FAR)),
    ),
    "zero by zero": claim(
        ROOT_OF_BOTH <= FAR**3,
        FAR**3 + ROOTS * norm2(u - v) * (ROOT_OF_BOTH - ROOTS) ** 2
        / (ROOT_OF_BOTH * sqrt(norm2(u - v)) - norm2(u - v) * sqrt(norm2(u + v))) ** 2,
    ),
    "a thin domain within a derivative": claim(
        dot(u, v) + FAR**2 + 0 * WITHIN >= 0,
        norm2(u + v) / 4 + norm2(u - v) / 4 * (beta - 2) ** 2 * WITHIN ** (-2) + FAR**2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_ANY_SIZE)
def test_of_a_unit_nothing_false_is_proved(name):
    false = OF_ANY_SIZE[name]
    assert abstract.prove(false) is None
    assert polynomial.shortcoming(false)
    assert {symbolic.sought(false, size).finding for size in (2, 3)} <= {"not proved", "undefined"}


def test_a_root_of_one_statement_says_nothing_to_another():
    speaks_of_it = replace(claim(equal(sqrt(beta + FAR) ** 2, beta + FAR)), id="S-a")
    false = claim(beta >= -FAR, (beta + FAR) * 1)
    found = polynomial.examine([speaks_of_it, false], SMOKE)
    assert [bool(record.proof) for record in found] == [True, False]


def of(kind, says, *hypotheses, because=None):
    return of_matrices(says, *hypotheses, subject=kind, because=because)


NOUGHT = layer.mu * 0
DEVIATION = layer.deviation(layer.H)
SIZE = arrays.norm(layer.beta) + arrays.norm(layer.mu)
OF_MATRICES = {
    "the loss at zero": of(Kind.DESCENT, equal(descent.L(descent.zero), 0)),
    "of one number alone": of(
        Kind.DESCENT,
        equal(
            arrays.dot(descent.theta, descent.x) ** 2,
            arrays.norm2(descent.theta) * arrays.norm2(descent.x),
        ),
    ),
    "a size by chance": of(
        Kind.LAYER, equal(3 * layer.mu, NOUGHT),
        assume(
            equal((layer.N - 2) * layer.mu, NOUGHT),
            impose=lambda inputs: replace(inputs, mean=0 * inputs.mean),
        ),
    ),
    "a certificate of what is imposed": of(
        Kind.LAYER, layer.total(layer.mu) >= 0,
        assume(
            equal(arrays.norm2(layer.mu), 100 * layer.n),
            impose=lambda inputs: replace(inputs, mean=0 * inputs.mean + 10),
        ),
        because=layer.total(layer.mu),
    ),
    "what is imposed changes a third column": of(
        Kind.LAYER,
        equal(arrays.norm2(layer.gamma), layer.n * arrays.first(layer.gamma) ** 2),
        assume(
            equal(arrays.first(layer.gamma), layer.last(layer.gamma)),
            impose=lambda inputs: replace(inputs, gamma=0 * inputs.gamma + inputs.gamma[0]),
        ),
    ),
    "a branch": of(
        Kind.LAYER,
        equal(layer.null_part((layer.q - 12345) * layer.diagonal(layer.ones), layer.ones),
              layer.ones * 0),
    ),
}  # fmt: skip


TRUE = {
    "a root of a number of examples": of(
        Kind.LAYER, equal(arrays.norm(layer.e), sqrt(layer.N))
    ),
    "a power of one": of(
        Kind.LAYER, equal(arrays.norm2(layer.e * (1 / layer.N)), layer.N ** (-1))
    ),
    "a root of a number of pixels": of(
        Kind.MAPS, equal(sqrt(maps.r * maps.s) ** 2, maps.r * maps.s)
    ),
    "parts of an index": of(Kind.MAPS, equal(maps.t / 10 + maps.t / 5, 3 * maps.t / 10)),
    "a largest quotient where one has no value": of(
        Kind.LAYER,
        SIZE * arrays.norm2(layer.mu)
        <= SIZE * layer.total(DEVIATION)
        * layer.largest_entry(layer.ratio(layer.squares(layer.mu), DEVIATION)),
    ),
    "a norm scaled by roots that need not exist": of(
        Kind.LAYER, layer.square_norm_scaled(layer.H, layer.gamma) >= 0
    ),
    "a condition number of what is not symmetric": of(
        Kind.DESCENT,
        equal(layer.kappa(arrays.transpose(descent.P) @ descent.P), layer.kappa(descent.P) ** 2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_or_says_nothing_is_not_refuted(name):
    (found,) = integers.examine([TRUE[name]], SMOKE)
    assert found.counterexample is None


def test_a_float_is_no_side_of_an_exact_comparison():
    with pytest.raises(TypeError, match="was rounded"):
        compared(2**0.5, 1, Relation.AT_LEAST)


@pytest.mark.parametrize("name", OF_MATRICES)
def test_of_matrices_nothing_false_is_proved(name):
    false = OF_MATRICES[name]
    assert of_named_sizes.examine(false, SMOKE).proof is None
    if false.subject is Kind.LAYER:
        assert of_every_height.examine(false, SMOKE).proof is None
