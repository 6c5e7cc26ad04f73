"""The Monte Carlo witness: what it certifies, how often it may err, and that it bites."""

from dataclasses import replace
from math import inf, pi, sqrt

import numpy as np
import pytest
from scipy import stats

from theory.expectation_claim import ExpectationClaim
from theory.statement import Hypothesis, Relation, Sides, Verdict
from verify import ledger
from verify.expectations import laws, means
from verify.expectations.examine import examine, measure, sizes
from verify.expectations.laws import LAWS, Entries
from verify.settings import PROFILES, Settings
from verify.tolerance import Outcome

SMOKE = Settings(PROFILES["smoke"])
NORM = ExpectationClaim(
    id="norm",
    row="norm",
    locations=(),
    statement=r"\mathbb{E}\|G\| \le C (\sqrt N + \sqrt n)",
    sides=lambda drawn: Sides(np.linalg.norm(drawn.G, 2), sqrt(drawn.N) + sqrt(drawn.n)),
    ceilings=lambda e: Sides(e.largest * sqrt(e.N * e.n), sqrt(e.N) + sqrt(e.n)),
    constant=lambda entries: 1,
    relation=Relation.AT_MOST,
    expected=Verdict.SUPPORTED,
)
MODULUS = replace(
    NORM,
    id="modulus",
    sides=lambda drawn: Sides(np.abs(drawn.G).mean(), 1.0),
    ceilings=lambda e: Sides(e.largest, 1.0),
)


def entries(law, N, n):
    return Entries(law, LAWS[law], N, n)


def constant(claim, value):
    return replace(claim, constant=lambda entries: value)


def test_a_constant_that_is_too_small_is_found():
    small = constant(NORM, 0.5)
    found = examine(small, SMOKE)
    assert found.counterexample is not None
    assert ledger.judge(small, [found]) is Verdict.REFUTED
    assert "confidence 1 - 1e-6" in found.counterexample.arithmetic
    assert measure(small, entries("signs", 25, 25)).outcome is Outcome.VIOLATED


def test_a_constant_that_is_large_enough_holds():
    claim = constant(NORM, 2)
    fixed = Hypothesis("fourth moment", lambda e: 1 / e.fourth_moment, Relation.MORE_THAN)
    same = Hypothesis("same law", lambda e: 1 - e.is_fixed, Relation.EQUAL)
    found = examine(replace(claim, hypotheses=(fixed, same)), SMOKE)
    assert found.violated == 0
    assert found.undecided == 0
    assert found.worst_ratio < 0.75
    assert ledger.judge(claim, [found]) is Verdict.SUPPORTED


def test_a_bounded_law_is_settled_exactly_and_an_unbounded_one_is_not():
    claim = constant(MODULUS, 1.5)
    signs, normal = (measure(claim, entries(law, 4, 4)) for law in ("signs", "normal"))
    assert (signs.outcome, normal.outcome) == (Outcome.HOLDS, Outcome.HOLDS)
    assert signs.is_exact
    assert not normal.is_exact


def test_a_bound_near_the_mean_is_left_undecided():
    near = constant(MODULUS, sqrt(2 / pi))  # the mean of a normal number's modulus
    assert measure(near, entries("normal", 1, 1)).outcome is Outcome.UNDECIDED


def test_the_root_is_taken():
    squares = replace(
        MODULUS, root=2, sides=lambda drawn: Sides((drawn.G**2).mean(), 1.0), constant=lambda e: 1.2
    )
    found = measure(squares, entries("normal", 25, 25))
    assert found.ratio == pytest.approx(1, abs=0.01)
    assert found.low < found.ratio < found.high
    assert found.outcome is Outcome.HOLDS


@pytest.mark.parametrize(
    ("law", "mean"),
    [
        ("normal", sqrt(2 / pi)),
        ("Laplace", 1 / sqrt(2)),
        ("uniform", sqrt(3) / 2),
        ("Student t, 3 degrees of freedom", 2 / pi),
    ],
)
def test_the_interval_holds_a_known_mean(law, mean):
    found = [measure(MODULUS, entries(law, 4, 4), seed, 80) for seed in range(40)]
    assert all(m.low < mean for m in found)
    assert sum(m.high > mean for m in found) >= 39  # Student's end is approximate
    assert np.median([m.low for m in found]) > 0.7 * mean


@pytest.mark.parametrize("tail", [1.1, 1.5, 3.0])
def test_the_exact_test_errs_no_more_often_than_it_says(tail, monkeypatch):
    monkeypatch.setattr(means, "RISK", 0.1)
    rng, mean = np.random.default_rng(0), tail / (tail - 1)
    draws = stats.pareto(tail).rvs(size=(500, 40), random_state=rng)
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


def test_without_a_ceiling_nothing_is_certain():
    assert not means.exceeds(np.full(100, 9.0), np.ones(100), inf)
    assert not means.exceeds(np.full(100, 9.0), np.zeros(100), 0)


def test_a_wrong_ceiling_is_noticed():
    with pytest.raises(ValueError, match="correct the claim's ceilings"):
        means.exceeds(np.ones(9), np.full(9, 2.0), 1.0)
    with pytest.raises(ValueError, match="correct the claim's ceilings"):
        means.exceeds(-np.ones(9), np.ones(9), 1.0)


def test_the_median_of_means_does_not_follow_one_large_value():
    values = np.ones(80)
    values[5] = 1e9
    assert means.median_of_means(values) == 1
    assert not means.seems_below(values, np.full(80, 2.0))  # Student's interval does


def test_few_values_of_many_are_not_overlooked_by_the_median_of_means():
    values = np.where(np.arange(80) % 10 == 0, 10.0, 0.0)
    assert means.median_of_means(values) == 1


def test_the_same_seed_gives_the_same_record():
    claim = constant(MODULUS, 0.5)  # violated at the first size
    found = examine(claim, SMOKE)
    assert found == examine(claim, SMOKE)
    assert found.points != examine(claim, replace(SMOKE, seed=1)).points


def test_what_no_law_meets_says_nothing():
    nowhere = Hypothesis("N < 1", lambda e: 1 - e.N, Relation.MORE_THAN)
    claim = replace(NORM, hypotheses=(nowhere,))
    found = examine(claim, SMOKE)
    assert found.vacuous == found.instances > 0
    assert ledger.judge(claim, [found]) is Verdict.UNDECIDED
    assert "says nothing" in found.notes
    assert set(found.sizes.values()) == {"no law meets the hypotheses"}


def test_a_side_that_divides_by_zero_is_vacuous_and_one_that_is_infinite_undecided():
    def divided(drawn):
        raise ZeroDivisionError

    one = entries("normal", 1, 1)
    assert measure(replace(NORM, sides=divided), one).outcome is Outcome.VACUOUS
    infinite = replace(NORM, sides=lambda drawn: Sides(inf, 1.0))
    assert measure(infinite, one).outcome is Outcome.UNDECIDED
    nothing = replace(NORM, sides=lambda drawn: Sides(1.0, 0.0))
    assert measure(nothing, one).outcome is Outcome.UNDECIDED


def test_one_by_one_signs_are_decided():
    assert measure(constant(NORM, 0.6), entries("signs", 1, 1)).outcome is Outcome.HOLDS
    assert measure(constant(NORM, 0.4), entries("signs", 1, 1)).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("law", LAWS)
def test_a_law_has_the_moments_that_it_says(law):
    drawn = np.array(entries(law, 20, 20).matrices(0, 500))
    fourth, largest = entries(law, 20, 20).fourth_moment, entries(law, 20, 20).largest
    assert abs(drawn.mean()) < 0.02
    assert np.abs(drawn).max() <= largest
    assert (fourth < inf) == (entries(law, 20, 20).order > 4)
    if law.startswith("log-normal"):
        return  # no sample shows what lies in the tails
    assert drawn.var() == pytest.approx(1, rel=0.3)
    if fourth < inf and not law.startswith("Student"):
        assert np.mean(drawn**4) == pytest.approx(fourth, rel=0.15)


@pytest.mark.parametrize("sigma", [1, 15])
def test_the_logarithms_of_log_normal_entries_are_normal(sigma):
    drawn = np.array(entries(f"log-normal, sigma = {sigma}", 20, 20).matrices(0, 50))
    logarithms = np.log(np.abs(drawn))
    assert np.mean(logarithms) == pytest.approx(-(sigma**2), abs=0.05 * sigma)
    assert np.std(logarithms) == pytest.approx(sigma, rel=0.05)
    assert np.mean(drawn > 0) == pytest.approx(0.5, abs=0.02)


def test_scipy_agrees_on_the_rectified_normal():
    fourth = laws.rectified().fourth_moment(1, 1)
    density = stats.norm().expect(lambda z: (max(z, 0) - 1 / sqrt(2 * pi)) ** 4)
    assert fourth == pytest.approx(density / (0.5 - 1 / (2 * pi)) ** 2, rel=1e-6)


def test_profiles_grow_to_400_by_400():
    largest = [largest_size(Settings(PROFILES[name])) for name in ("smoke", "default", "deep")]
    assert largest == [(100, 100), (150, 150), (400, 400)]


def largest_size(settings):
    return sizes(settings)[-1]


def test_only_bounds_from_above_are_statements():
    with pytest.raises(ValueError, match="exchange the sides"):
        replace(NORM, relation=Relation.AT_LEAST)
