"""The statements of the first version: verdicts, planted mistakes, and networks of two units."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
import sympy as sp

from theory.arithmetic import inner
from theory.claim import Form, Relation, Sides, Verdict
from theory.santurkar2018.texts import FILES
from theory.santurkar2018.version_1 import CLAIMS
from theory.santurkar2018.version_1.weights import loss_gradient
from verify.cases.lattice import lattice_case
from verify.tolerance import Outcome
from verify.witnesses import abstract, exact

BY_ID = {claim.id: claim for claim in CLAIMS}


def _of(verdict):
    return [pytest.param(c, id=c.id) for c in CLAIMS if c.expected is verdict]


def _cases(count, lengths=(2, 3), seed=0):
    """Small integers, drawn without a look at any claim."""
    random = Random(seed)
    for index in range(count):
        m = lengths[index % len(lengths)]

        def row(n=m, low=-3):
            return [random.randint(low, 3) for _ in range(n)]

        yield lattice_case(
            y=row(),
            gamma=random.choice([-1, 1, 2, 3]),
            beta=random.randint(-1, 1),
            ratio=random.choice([Fraction(2), Fraction(3, 2), Fraction(5, 4)]),
            linear=row(),
            triangle=row(m * (m + 1) // 2, -1),
            direction=row(),
            other_direction=row(),
            bound=random.randint(1, 2),
        )


def _case(y, x, linear, x_k=None, triangle=None, beta=0):
    """An instance with gamma = 1 and eps three times the variance, where there is one."""
    m = len(y)
    return lattice_case(
        y=y,
        gamma=1,
        beta=beta,
        ratio=Fraction(2),
        linear=linear,
        triangle=triangle or [0] * (m * (m + 1) // 2),
        direction=x,
        other_direction=x_k or y,
        bound=1,
    )


COSINE = _case([1, 0, -1], [1, -1, 0], [2, 3, -5])
KNOWN = {
    "S-v1-thm-3.2/cosine": COSINE,
    "S-v1-thm-C4/cosine": COSINE,
    "S-v1-remark-always/one-weight": _case([3, 0, -3], [1, -1, 0], [2, 3, -5]),
    "S-v1-thm-3.2/two-networks/eps": _case(
        [-3, -2, 3], [-1, 2, -3], [1, 3, -3], triangle=[0, -1, 3, 0, 0, 1], beta=1
    ),
    "S-v1-remark-always/all-weights": _case([1, -1, 0], [1, -1, 0], [3, 2, 0], [0, 1, -1]),
    "S-v1-eq-59": _case([1, -1], [1, -1], [-1, 0], [1, -1]),
    "S-v1-eq-59/absolute": _case(
        [-1, 0, -1], [0, 0, 1], [0, 3, 0], [-1, 2, 0], [0, 0, -3, -2, -2, 0]
    ),
    "S-v1-eq-58": _case([1, -1, 0], [0, 1, -1], [1, 0, 0], [0, 1, -1]),
    "S-v1-eq-17": _case([1, -2, 1], [-4, -2, 6], [-1, 1, 0]),
    "S-v1-thm-3.1/as-defined": _case([2, -2], [1, -1], [0, 0]),
    "S-v1-thm-C3/as-used": _case([1, -1], [1, -1], [0, 0]),
    "S-v1-fact-C2-eq-2/any-mean": _case([-1, 1], [0, 2], [0, 0]),
}
"""Counterexamples of the adjudication, and from searches, in small integers."""


def _is_violated(claim, count=150):
    return any(exact.examine(claim, case).outcome is Outcome.VIOLATED for case in _cases(count))


def test_identifiers_are_unique_and_tied():
    assert len(BY_ID) == len(CLAIMS)
    assert all(c.of in BY_ID for c in CLAIMS if c.form is not Form.PRINTED)
    corrected = {c.of for c in CLAIMS if c.form is Form.CORRECTED}
    for claim in CLAIMS:
        assert not claim.corrected_by or BY_ID[claim.corrected_by].expected is Verdict.PROVED
        if claim.expected is Verdict.REFUTED:
            assert claim.corrected_by or claim.id in corrected, claim.id


def test_every_claim_says_what_would_falsify_it_or_what_was_lost():
    for claim in CLAIMS:
        is_unreadable = claim.expected is Verdict.UNREADABLE
        assert bool(claim.unreadable) == is_unreadable
        assert is_unreadable or claim.falsified_by, claim.id
        assert {place.text for place in claim.locations} <= FILES.keys()


def test_every_numbered_line_has_its_entry():
    """Two hold a hypothesis, two nothing, two a copy; two are the definitions of G and of X."""
    without = {18, 22, 23, 38, 47, 49, 52, 60, 62}
    in_facts = {1, 2}
    named = {c.id.removeprefix("S-v1-eq-").split("/")[0] for c in CLAIMS}
    for number in sorted(set(range(1, 65)) - without - in_facts):
        assert str(number) in named, number


@pytest.mark.parametrize("claim", _of(Verdict.PROVED))
def test_proved_for_every_batch_size(claim):
    assert abstract.prove(claim) is not None
    assert not _is_violated(claim, 2)


@pytest.mark.parametrize("name", KNOWN)
def test_refuted_by_the_known_instance(name):
    assert BY_ID[name].expected is Verdict.REFUTED
    assert exact.examine(BY_ID[name], KNOWN[name]).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("claim", _of(Verdict.REFUTED))
def test_refuted_by_small_integers(claim):
    assert claim.id in KNOWN or _is_violated(claim)


def _changed(claim, change):
    """Plant a mistake on the claimed side."""

    def sides(network, at):
        actual, claimed = claim.sides(network, at)
        return Sides(actual, change(network, at, claimed))

    return replace(claim, sides=sides, expected=Verdict.REFUTED)


def _wrong_sign(network, at, claimed):
    return -1 * claimed


def _a_little_less(network, at, claimed):
    return claimed * 999 / 1000


def _dropped_summand(network, at, claimed):
    return claimed + inner(loss_gradient(at), network.direction) / at.m


MISTAKES = (_wrong_sign, _a_little_less)
EQUALITIES = [
    c.id
    for c in CLAIMS
    if c.relation is Relation.EQUAL
    and c.expected is Verdict.PROVED
    and c.id
    not in (
        "S-v1-remark-resnet/as-used/no-sensitivity",
        "S-v1-thm-3.4/own-constants",
        "S-v1-line-625",
    )
]
"""Those whose sides are not zero, and that are not empty."""


@pytest.mark.parametrize("change", MISTAKES)
@pytest.mark.parametrize("name", EQUALITIES)
def test_a_wrong_equality_is_violated(name, change):
    assert _is_violated(_changed(BY_ID[name], change), 12)


MAIN = (
    "S-v1-thm-3.1/as-used/eps/corrected",
    "S-v1-fact-C2-eq-2/any-mean/corrected",
    "S-v1-eq-58/corrected",
    "S-v1-eq-43/corrected",
    "S-v1-eq-45/corrected",
    "S-v1-eq-41/corrected",
    "S-v1-line-710",
)


@pytest.mark.parametrize("change", [*MISTAKES, _dropped_summand])
@pytest.mark.parametrize("name", MAIN)
def test_a_wrong_equality_is_not_proved(name, change):
    assert abstract.prove(_changed(BY_ID[name], change)) is None


def test_the_sharpened_bound_is_attained():
    """x = (1, -1, 0), g = (3, 5, -8), y = (5, -1, -4): both sides are equal."""
    claim = BY_ID["S-v1-thm-3.2/square/sharpened"]
    case = _case([5, -1, -4], [1, -1, 0], [3, 5, -8])
    assert exact.examine(claim, case).outcome is Outcome.HOLDS
    smaller = _changed(claim, _a_little_less)
    assert exact.examine(smaller, case).outcome is Outcome.VIOLATED


BOUNDS = [
    c.id
    for c in CLAIMS
    if c.certificate
    and c.expected is Verdict.PROVED
    and c.order == 1
    and not c.id.endswith(("/eps", "squared/corrected"))
]
"""Those whose terms are quickly multiplied out."""


@pytest.mark.parametrize("name", BOUNDS)
def test_a_certificate_with_a_wrong_term_is_no_proof(name):
    claim = BY_ID[name]

    def without_first(network, at):
        return claim.certificate(network, at)[1:]

    def doubled(network, at):
        first, *rest = claim.certificate(network, at)
        return [first._replace(weight=2 * first.weight), *rest]

    assert abstract.prove(replace(claim, certificate=without_first)) is None
    assert abstract.prove(replace(claim, certificate=doubled)) is None


ONE = sp.Matrix([1, 1, -1, -1])
TWO = sp.Matrix([1, -1, 1, -1])


def _normalized(z):
    c = z - sp.ones(4, 1) * sum(z) / 4
    return c / sp.sqrt((c.T * c)[0] / 4)


def test_two_networks_of_two_units():
    """Theorem 3.2 for a linear network with squared loss, c = 1: 36 is not below 4/4 times 16."""
    a, b, c, d = weights = sp.symbols("a b c d")
    at = dict(zip(weights, (2, 0, 0, 3), strict=True))
    units = [ONE * a + TWO * b, ONE * c + TWO * d]
    target = ONE * 2 + TWO * 6 - TWO

    def slope(outputs):
        error = outputs[0] + 2 * outputs[1] - target
        return sp.diff((error.T * error)[0] / 2, b).subs(at)

    vanilla, normalized = slope(units), slope([_normalized(z) for z in units])
    assert (vanilla, sp.simplify(normalized)) == (4, -6)
    assert normalized**2 > Fraction(4, 4) * vanilla**2


def test_an_entry_for_two_units_of_a_linear_network():
    """Theorem C.6, j != l: the entry is zero without the layer and -1/9 with it; d = 1/4."""
    a, b, c, d = weights = sp.symbols("a b c d")
    at = dict.fromkeys(weights, 3)
    units = [ONE * a + TWO * b, ONE * c + TWO * d]

    def entry(outputs):
        error = outputs[0] + outputs[1]
        return sp.simplify(sp.diff((error.T * error)[0] / 2, a, d).subs(at))

    assert entry(units) == 0
    assert entry([_normalized(z) for z in units]) == -sp.Rational(1, 9)
    sigma_squared, root_of_dd, epsilon = 18, sp.Rational(1, 4), sp.Rational(1, 8)
    assert sigma_squared >= (1 + sp.Rational(1, 2)) ** 2 / (root_of_dd - epsilon)
