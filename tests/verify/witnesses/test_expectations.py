"""The Monte Carlo witness: what it certifies, how often it may err, and that it bites."""

from dataclasses import replace
from math import inf, nan, pi, sqrt

import numpy as np
import pytest
from by_functions import with_constant, worth
from scipy import stats

from theory.claim import Paper
from theory.expectation_claim import ExpectationClaim, FailsAt, mean, root
from theory.language.expression import number
from theory.language.operations import sqrt as square_root
from theory.layer import frobenius2
from theory.random_matrix import G, N, fourth_moment, n, norm
from theory.statement import Sides, Verdict, assume
from verify import ledger
from verify.settings import PROFILES, Settings
from verify.subjects import laws
from verify.subjects.laws import LAWS, Entries
from verify.tolerance import Outcome
from verify.witnesses.expectations import exact, means
from verify.witnesses.expectations.examine import examine, measure, sizes

SMOKE = Settings(PROFILES["smoke"])
NORM = ExpectationClaim(
    id="norm",
    locations=(),
    says=mean(norm(G)) / (square_root(N) + square_root(n)) <= 1,
    ceilings=lambda e: Sides(e.largest * sqrt(e.N * e.n), sqrt(e.N) + sqrt(e.n)),
    expected=Verdict.SUPPORTED,
)


def one(drawn):
    return 1.0


def comparing(X, Y=one):
    """That the mean of one function of what is drawn is at most that of another."""
    return mean(worth(X)) / mean(worth(Y)) <= 1


def mean_square(drawn):
    return (drawn.G**2).mean((-2, -1))


MODULUS = replace(
    NORM,
    id="modulus",
    says=comparing(lambda drawn: np.abs(drawn.G).mean((-2, -1))),
    ceilings=lambda e: Sides(e.largest, 1.0),
)
NOWHERE = assume(N < 1)


def entries(law, N, n):
    return Entries(law, LAWS[law], N, n)


ONE_SIGN = entries("signs", 1, 1)

# Verdicts


def test_a_constant_that_is_too_small_is_found_again_from_its_seed():
    small = with_constant(NORM, 0.5)
    (found,) = examine([small], SMOKE)
    assert [found] == [*examine([small], SMOKE)]
    (other,) = examine([small], replace(SMOKE, seed=1))
    assert found.points != other.points
    assert ledger.judge(small, [found]) is Verdict.REFUTED
    assert "confidence 1 - 1e-6" in found.counterexample.arithmetic


def test_what_no_law_meets_says_nothing():
    claim = replace(NORM, hypotheses=(NOWHERE,))
    (found,) = examine([claim], SMOKE)
    assert found.vacuous == found.instances > 0
    assert ledger.judge(claim, [found]) is Verdict.UNDECIDED
    assert "says nothing" in found.notes
    assert set(found.sizes.values()) == {"no law meets the hypotheses"}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("value", "outcome"), [(inf, Outcome.VACUOUS), (nan, Outcome.UNDECIDED)])
def test_an_infinite_bound_says_nothing(value, outcome):
    for claim in (with_constant(NORM, value), with_constant(WITHOUT_CEILINGS, value)):
        (found,) = measure([claim], entries("normal", 4, 4))
        assert found.outcome is outcome


WITHOUT_CEILINGS = replace(NORM, ceilings=lambda e: Sides(inf, inf))
OF_TWO_MEANS = replace(WITHOUT_CEILINGS, says=mean(norm(G)) / mean(norm(G)) <= 1)


def test_what_sampling_alone_violates_is_neither_supported_nor_refuted(monkeypatch):
    """Sparse matrices have norms of the order of the root of Nn."""
    monkeypatch.setattr("verify.witnesses.expectations.examine.sizes", lambda settings: [(25, 25)])
    (found,) = examine([WITHOUT_CEILINGS], SMOKE)
    assert found.violated > 0
    assert found.counterexample is None
    assert "violations, which an exact test needs finite ceilings for" in found.notes
    assert ledger.judge(WITHOUT_CEILINGS, [found]) is Verdict.UNDECIDED
    assert "violated by sampling (monte carlo:" in ledger.lacks(WITHOUT_CEILINGS, [found])


def test_an_expectation_at_its_bound_is_no_violation():
    says = comparing(lambda drawn: mean_square(drawn) * (1 + 1e-15))
    at_its_bound = replace(WITHOUT_CEILINGS, says=says)
    (found,) = measure([at_its_bound], ONE_SIGN)
    assert found.outcome is not Outcome.VIOLATED


def test_profiles_grow_to_400_by_400():
    largest = [sizes(Settings(PROFILES[name]))[-1] for name in ("smoke", "default", "deep")]
    assert largest == [(100, 100), (150, 150), (400, 400)]


def test_only_bounds_from_above_are_statements():
    with pytest.raises(ValueError, match="from below it is one of the inverse"):
        replace(NORM, says=mean(norm(G)) / n >= 1)
    with pytest.raises(ValueError, match="tells a strict bound of expectations"):
        replace(NORM, says=mean(norm(G)) / n < 1)


def test_expectations_have_no_certificate():
    with pytest.raises(ValueError, match="they have no because="):
        replace(NORM, because=number(1))


def test_what_may_be_negative_is_not_compared():
    with pytest.raises(ValueError, match="of one draw a side is -1"):
        means.refuse_negative(np.array([1.0, -1.0]))


# One law at one size


def divided(drawn):
    raise ZeroDivisionError


def nothing(drawn):
    return 0.0


AT_THE_MEAN = with_constant(MODULUS, sqrt(2 / pi))
NORMAL = entries("normal", 1, 1)


@pytest.mark.parametrize(
    ("claim", "where", "outcome", "is_exact"),
    [
        (with_constant(NORM, 0.6), ONE_SIGN, Outcome.HOLDS, True),
        (with_constant(NORM, 0.4), ONE_SIGN, Outcome.VIOLATED, True),
        (with_constant(NORM, 0.5), entries("signs", 25, 25), Outcome.VIOLATED, True),
        (with_constant(MODULUS, 1.5), entries("normal", 4, 4), Outcome.HOLDS, False),
        (with_constant(WITHOUT_CEILINGS, 0.4), ONE_SIGN, Outcome.VIOLATED, True),
        (with_constant(OF_TWO_MEANS, 0.4), ONE_SIGN, Outcome.VIOLATED, False),
        (AT_THE_MEAN, NORMAL, Outcome.UNDECIDED, False),
        (replace(NORM, says=comparing(divided)), NORMAL, Outcome.VACUOUS, False),
        (replace(NORM, says=comparing(lambda drawn: inf)), NORMAL, Outcome.UNDECIDED, False),
        (replace(NORM, says=comparing(one, nothing)), NORMAL, Outcome.UNDECIDED, False),
    ],
)
def test_the_outcome_for_one_law_at_one_size(claim, where, outcome, is_exact):
    (found,) = measure([claim], where)
    assert (found.outcome, found.is_exact) == (outcome, is_exact)


def test_where_a_statement_fails_its_constant_may_ask_for_a_moment():
    bound = 1 + (fourth_moment - 1) / (2 * N * n)
    says = mean(norm(G) ** 4) / (N * n) ** 2 <= bound
    where = FailsAt("normal", 1, 1, number(3), number(1), "its fourth moment is three")
    assert exact.shortcoming(replace(WITHOUT_CEILINGS, says=says, fails_at=where)) == ""
    enough = replace(where, actual=number(2))
    assert "not above" in exact.shortcoming(replace(WITHOUT_CEILINGS, says=says, fails_at=enough))


def test_what_a_moment_is_known_to_be_up_to_rounding_refutes_nothing():
    says = mean(norm(G) ** 4) / (N * n) <= fourth_moment
    just_above = number(18_000_000_001) / 10**10
    where = FailsAt("uniform", 1, 1, just_above, number(1), "its fourth moment is nine fifths")
    assert "not above" in exact.shortcoming(replace(WITHOUT_CEILINGS, says=says, fails_at=where))


def test_the_root_is_taken():
    of_squares = root(comparing(mean_square).actual, 2)
    right, broken = (
        replace(MODULUS, says=of_squares <= bound) for bound in (number(6) / 5, number(1) / 2)
    )
    holds, fails = measure([right, broken], entries("normal", 25, 25))
    assert holds.ratio == fails.ratio == pytest.approx(1, abs=0.01)
    assert 0.5 < fails.low < fails.ratio < fails.high
    assert (holds.outcome, fails.outcome) == (Outcome.HOLDS, Outcome.VIOLATED)


@pytest.mark.parametrize(
    ("law", "mean"),
    [("uniform", sqrt(3) / 2), ("Student t, 3 degrees of freedom", 2 / pi)],
)
def test_the_interval_holds_a_known_mean(law, mean):
    small = with_constant(MODULUS, 0.1)
    found = [measure([small], entries(law, 4, 4), seed, 80)[0] for seed in range(40)]
    assert all(m.low < mean for m in found)
    assert sum(m.high > mean for m in found) >= 39  # Student's end is approximate
    assert np.median([m.low for m in found]) > 0.7 * mean


# Comparing means


@pytest.mark.parametrize("tail", [1.1, 3.0])
def test_the_exact_test_errs_no_more_often_than_it_says(tail, monkeypatch):
    monkeypatch.setattr(means, "RISK", 0.1)
    mean = tail / (tail - 1)
    draws = stats.pareto(tail).rvs(size=(500, 40), random_state=np.random.default_rng(0))
    wrong = [means.exceeds(x, np.full(40, mean), mean) for x in draws]
    assert np.mean(wrong) <= 0.1
    right = [means.exceeds(x, np.full(40, 0.4 * mean), 0.4 * mean) for x in draws]
    assert tail < 1.2 or np.mean(right) > 0.5


def test_a_random_bound_is_compared_by_its_mean_and_ceiling():
    rng = np.random.default_rng(0)
    X, Y = rng.uniform(1, 2, 200), rng.uniform(0, 1, 200)
    assert means.exceeds(X, Y, 1.0)
    assert not means.exceeds(X, 3.2 * Y, 3.2)
    assert means.lower_limit(X, Y, 1.0) < 3 < means.upper_limit(X, Y)
    assert means.lower_limit(0 * X, Y, 1.0) == 0


def test_without_a_ceiling_nothing_is_certain_and_a_wrong_one_is_noticed():
    assert not means.exceeds(np.full(100, 9.0), np.ones(100), inf)
    assert not means.exceeds(np.full(100, 9.0), np.zeros(100), 0)
    with pytest.raises(ValueError, match="correct the claim's ceilings"):
        means.exceeds(np.ones(9), np.full(9, 2.0), 1.0)
    with pytest.raises(ValueError, match="write the statement of a square or an absolute value"):
        means.exceeds(-np.ones(9), np.ones(9), 1.0)


def test_the_median_of_means_follows_many_large_values_and_not_one():
    values = np.ones(80)
    values[5] = 1e9
    assert means.median_of_means(values) == 1
    assert not means.seems_below(values, np.full(80, 2.0))  # Student's interval does
    assert means.median_of_means(np.where(np.arange(80) % 10 == 0, 10.0, 0.0)) == 1


# Laws


def test_of_small_matrices_so_many_are_drawn_that_a_moment_is_told_from_half_of_it():
    """A bound of 2 for what is 3 of one normal number was supported."""
    fourth = replace(
        NORM, says=mean(norm(G) ** 4) / (N * n) <= 1, ceilings=WITHOUT_CEILINGS.ceilings
    )
    (found,) = measure([with_constant(fourth, 2)], NORMAL)
    assert found.outcome is Outcome.VIOLATED
    assert found.is_exact


@pytest.mark.parametrize("law", LAWS)
def test_a_law_has_the_moments_that_it_says(law):
    here = entries(law, 20, 20)
    drawn = np.array(here.matrices(0, 500))
    assert abs(drawn.mean()) < 0.02
    assert np.abs(drawn).max() <= here.largest
    assert (here.fourth_moment < inf) == (here.order > 4)
    assert here.is_fixed != law.startswith("sparse")
    if law.startswith("log-normal"):  # no sample shows what lies in the tails
        sigma, logarithms = float(law.rpartition(" ")[2]), np.log(np.abs(drawn))
        assert np.mean(logarithms) == pytest.approx(-(sigma**2), abs=0.05 * sigma)
        assert np.std(logarithms) == pytest.approx(sigma, rel=0.05)
        assert np.mean(drawn > 0) == pytest.approx(0.5, abs=0.02)
        return
    assert drawn.var() == pytest.approx(1, rel=0.3)
    if here.fourth_moment < inf and not law.startswith("Student"):
        assert np.mean(drawn**4) == pytest.approx(here.fourth_moment, rel=0.15)


def test_laws_are_skewed_to_either_side():
    """That entries below their mean weigh no more than those above is not supported."""
    cubes = [np.mean(np.clip(entries(law, 50, 50).matrices(0, 40), -4, 4) ** 3) for law in LAWS]
    assert min(cubes) < -1 < 1 < max(cubes)


def test_scipy_agrees_on_the_rectified_normal():
    fourth = laws.rectified().fourth_moment(1, 1)
    density = stats.norm().expect(lambda z: (max(z, 0) - 1 / sqrt(2 * pi)) ** 4)
    assert fourth == pytest.approx(density / (0.5 - 1 / (2 * pi)) ** 2, rel=1e-6)


def bound(says, **changes):
    return ExpectationClaim(
        id="bound", title="", locations=(Paper("x", "A paper", "A. Reader").at("Sect. 1"),),
        says=says, ceilings=lambda e: Sides(inf, inf), expected=Verdict.SUPPORTED, **changes,
    )  # fmt: skip


@pytest.mark.parametrize(
    "says",
    [
        frobenius2(G) / (N * n) <= 2,
        mean(frobenius2(G) ** 2) / mean(frobenius2(G)) ** 2 <= 2,
        mean(frobenius2(G) * mean(frobenius2(G))) / n <= 2,
    ],
)
def test_what_is_no_sum_of_expectations_is_refused(says):
    with pytest.raises(ValueError, match="a sum of constants times expectations was expected"):
        bound(says)


@pytest.mark.parametrize("k", [number(-1), number(0), N, number(1) / 2])
def test_a_root_is_of_a_positive_whole_number(k):
    with pytest.raises(ValueError, match="a root is the k-th for a positive whole number k"):
        bound(root(mean(frobenius2(G)) / (N * n), k) <= 2)


def test_no_root_is_below_a_negative_number():
    claim = bound(root(mean(frobenius2(G)) / (N * n), 2) <= 2 * (N - n) + 1)
    (found,) = measure([claim], Entries("signs", LAWS["signs"], 1, 3))
    assert (found.outcome, found.is_exact, found.ratio) == (Outcome.VIOLATED, True, 1)
    (found,) = measure([claim], Entries("signs", LAWS["signs"], 3, 3))
    assert found.outcome is not Outcome.VIOLATED


def test_a_root_of_a_bound_is_not_rounded():
    where = FailsAt("signs", 3, 1, number(3), number(1), because="every entry is a sign")
    claim = bound(mean(frobenius2(G)) / n <= root(number(3), 2) ** 2, fails_at=where)
    assert "which is not above" in exact.shortcoming(claim)


@pytest.mark.parametrize(
    ("power", "law", "outcome"),
    [
        (2, "Student t, 5 degrees of freedom", Outcome.HOLDS),
        (3, "Student t, 5 degrees of freedom", Outcome.UNDECIDED),  # of sixth powers
        (1, "Student t, 3 degrees of freedom", Outcome.HOLDS),
        (2, "Student t, 3 degrees of freedom", Outcome.UNDECIDED),
        (3, "normal", Outcome.HOLDS),
    ],
)
def test_where_a_mean_may_be_infinite_nothing_is_decided(power, law, outcome):
    says = mean(frobenius2(G) ** power) / (N * n) ** power <= 1000
    powers = replace(NORM, says=says, ceilings=lambda e: Sides(inf, inf))
    (found,) = measure([powers], entries(law, 4, 4))
    assert found.outcome is outcome
