"""How the search counts, shrinks, climbs and certifies."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import islice, product

import numpy as np
import pytest
from by_functions import assuming
from slips import SHARED_BOUND

from theory.arithmetic.exact import number as exactly
from theory.claim import Reading, Relation, Verdict
from theory.language.arrays import absolute, entrywise
from theory.language.expression import equal, number
from theory.language.operations import average, dot, norm2
from theory.language.operations import sqrt as root
from theory.santurkar2018 import CLAIMS, theorem_4_1
from theory.statement import assume
from theory.unit import beta, bound, eps, g, gamma, grad, m, one, u, v, y, yhat
from verify.settings import PROFILES, Settings
from verify.subjects import unit_lattice
from verify.subjects.rounding import with_fewer_digits
from verify.tolerance import Outcome
from verify.witnesses import batches, exact
from verify.witnesses.ascent import ascend, climbed
from verify.witnesses.batches import BATCHES, GROUNDS
from verify.witnesses.integers import counterexample
from verify.witnesses.search import MANY, drawn, fuzzed, insist, search, subjects

HOLDS, VIOLATED, VACUOUS = Outcome.HOLDS, Outcome.VIOLATED, Outcome.VACUOUS
GAP = replace(SHARED_BOUND, id="S-gap", says=norm2(g) <= 3, because=None)
"""False: a gradient may be longer than the root of three."""
THREE_ENTRIES = replace(GAP, id="S-three", says=m <= 2)
"""False from three entries on."""
TWO_ENTRIES = unit_lattice.lattice_case(
    [0, 1], 1, 0, Fraction(2), [0, 0], [0] * 3, [0, 0], [0, 0], 1
)


def searched(claims, examples, seed=0, sizes=BATCHES.sizes, failing=()):
    """Return what is met of claims at batches of small integers, searched twice."""
    space = replace(BATCHES, sizes=sizes)
    met = search(space, claims, examples, seed)
    insist(space, claims, met, examples, seed, failing)
    return met


def smallest(claim, examples, **how):
    return searched([claim], examples, **how)[claim.id]


def test_a_right_claim_has_no_counterexample():
    found = smallest(SHARED_BOUND, 15)
    assert found.found is counterexample(GROUNDS, SHARED_BOUND, TWO_ENTRIES) is None
    assert tuple(found.outcomes) == BATCHES.sizes
    assert all(counts == {HOLDS: 15} for counts in found.outcomes.values())


def test_the_shortest_batch_is_found_with_small_numbers_and_written_with_both_sides():
    told = counterexample(GROUNDS, GAP, smallest(GAP, 30).found)
    assert told.size == {"m": 1}
    assert (told.actual, told.claimed, told.arithmetic) == ("4", "3", "exact")
    assert told.ratio == 4 / 3
    given = told.numbers["parameters"]
    assert abs(int(given["a"][0])) + abs(int(given["B"][0][0])) < 5


def test_lengths_that_were_passed_by_are_searched_again_harder():
    found = smallest(THREE_ENTRIES, 5)
    assert found.found.y.tolist() == [0, 0, 0]
    assert found.outcomes[1].total() == found.outcomes[2].total() == 5 + BATCHES.insistence * 5
    assert 4 not in found.outcomes


def test_an_examination_searches_twice():
    few = replace(PROFILES["smoke"], examples=5)
    (found,) = batches.examine([THREE_ENTRIES], Settings(few))
    assert found.sizes["1"] == f"no violation in {5 + BATCHES.insistence * 5} cases"
    assert found.worst_ratio == found.counterexample.ratio == 3 / 2


def test_a_batch_is_told_without_its_mean_where_inputs_have_none():
    """Unless the statement holds there."""
    no_mean = assume(equal(average(u), 0), impose=lambda c: replace(c, direction=0 * c.y))
    claim = replace(GAP, hypotheses=(no_mean,), says=m <= 1)
    assert counterexample(GROUNDS, claim, TWO_ENTRIES).numbers["y"] == ["-1/2", "1/2"]
    of_mean = replace(claim, says=dot(one, y) <= 0)
    assert counterexample(GROUNDS, of_mean, TWO_ENTRIES).numbers["y"] == ["0", "1"]


def test_lengths_that_were_vacuous_are_not_searched_again():
    claim = replace(THREE_ENTRIES, reading=theorem_4_1.PRINTED.reading)
    found = smallest(claim, 5)
    assert found.outcomes[1] == {VACUOUS: 5}
    assert found.found is not None


def test_a_statement_that_fails_somewhere_is_searched_longer():
    found = smallest(SHARED_BOUND, 5, failing=[SHARED_BOUND.id])
    assert found.outcomes[4].total() == 5 + BATCHES.insistence * 5


def test_statements_meet_the_same_subjects_alone_and_together():
    together = searched([SHARED_BOUND, GAP, THREE_ENTRIES], 5)
    for claim in (SHARED_BOUND, GAP, THREE_ENTRIES):
        alone = smallest(claim, 5)
        assert alone.outcomes == together[claim.id].outcomes
        assert str(alone.found) == str(together[claim.id].found)


def test_what_is_found_is_as_simple_as_it_can_be():
    """The batch is not constant, and the shift is twice the scale: entries change together."""
    claim = replace(
        GAP,
        says=0 * m > 0,
        hypotheses=(
            assuming("y1 > 0", lambda at: at.y[0], Relation.MORE_THAN),
            assume(absolute(beta) >= absolute(2 * gamma)),
            assume(gamma < 0),
        ),
    )
    found = smallest(claim, 400, sizes=(3,)).found
    assert (found.y.tolist(), found.gamma, found.beta) == ([1, 0, 0], -1, 2)
    assert not found.direction.any()
    assert not any(np.any(parameter) for parameter in found.loss.parameters)


def test_half_of_a_deep_search_is_fuzzed():
    many = [*subjects(BATCHES, 3, 2 * MANY, 0)]
    later = many[MANY:]
    assert tuple(many[:MANY]) == drawn(BATCHES, 3, MANY, 0)
    assert tuple(later) == fuzzed.__wrapped__(BATCHES, 3, MANY, 0) != fuzzed(BATCHES, 3, MANY, 1)
    counts = [len(e.values) for e in BATCHES.letters(3).values() for _ in range(e.size)]
    assert all(0 <= k < n for places in later for k, n in zip(places, counts, strict=True))
    assert len(later) == MANY
    assert len(set(later)) > MANY / 2


def test_nothing_is_fuzzed_before_it_is_asked_for(monkeypatch):
    monkeypatch.setattr("verify.witnesses.search.fuzzed", None)
    assert len([*islice(subjects(BATCHES, 3, 2 * MANY, 0), MANY)]) == MANY


def test_a_counterexample_has_the_numbers_that_were_examined():
    bowl = assume(number(1) > 0, impose=lambda c: c.with_isotropic_loss(c.y, 5))
    claim = replace(GAP, reading=theorem_4_1.PRINTED.reading, hypotheses=(bowl,))
    found = counterexample(GROUNDS, claim, TWO_ENTRIES)
    assert found.numbers["eps"] == "0"
    assert found.numbers["parameters"].keys() == {"a", "h"}
    bowled = bowl.impose(replace(TWO_ENTRIES, eps=0))
    again = counterexample(GROUNDS, replace(claim, hypotheses=()), bowled)
    assert again == found


def norm_of_gradient(case):
    linear, matrix = case.loss.parameters
    yhat = (case.y - case.y.mean()) / np.sqrt(case.y.var() + case.eps)
    g = linear + matrix @ (case.gamma * yhat + case.beta)
    return g @ g


def test_ascent_climbs_and_yields_the_largest_violation_first():
    def excesses(steps):
        return [norm_of_gradient(case) for case in next(iter(ascend([GAP], 3, 0, 6, steps)))]

    low, high = excesses(0), excesses(15)
    assert len(high) == 6
    assert high[0] > low[0]
    assert high == pytest.approx(sorted(high, reverse=True), rel=0.2)


def test_ascent_rounds_to_short_binary_fractions():
    case = next(*ascend([GAP], 2, restarts=2, steps=2))
    numbers = [*case.y, case.gamma, case.eps, case.bound, *np.ravel(case.loss.parameters[1])]
    assert all((64 * number) % 1 == 0 for number in numbers)
    assert case.eps > 0 < case.bound
    assert case.stratum == "ascent"


def test_what_fails_for_long_batches_alone_is_refuted():
    """By integers where almost any batch does, else by ascent, with a proof expected or not."""
    at_most_6 = replace(GAP, says=m <= 6)
    (found,) = batches.examine([at_most_6], Settings(PROFILES["smoke"]))
    assert found.counterexample.size == {"m": 8}

    aligned = m * dot(g, u) ** 2 <= 10 * norm2(g) * norm2(u)
    of_directions = replace(GAP, says=aligned, expected=Verdict.SUPPORTED)
    (found,) = batches.examine([of_directions], Settings(PROFILES["smoke"]))
    assert found.counterexample is None
    ((case, _),) = climbed([of_directions], restarts=4, steps=40)
    assert exact.examined([of_directions], case)[0].outcome is VIOLATED
    assert len(case.y) == 12
    numbers = [*case.y, *case.direction, *np.ravel(case.loss.parameters[1])]
    assert all((8 * number) % 1 == 0 for number in numbers)  # fewer digits than it climbed to


def test_what_fails_at_one_length_alone_is_refuted():
    lengths = 5, 6, 7, 9, 12
    claims = [replace(GAP, id=f"S-{n}", says=(m - n) ** 2 > 0) for n in lengths]
    found = batches.examine(claims, Settings(PROFILES["smoke"]))
    assert [record.counterexample.size["m"] for record in found] == [*lengths]


def test_what_holds_of_small_integers_alone_is_refuted_by_a_random_batch_rounded():
    difference = gamma
    for k in range(1, unit_lattice.BOUND + 1):
        difference = difference * (gamma - k) * (gamma + k)
    equation = replace(GAP, says=equal(difference, 0), expected=Verdict.SUPPORTED)
    (found,) = batches.examine([equation], Settings(PROFILES["smoke"]))
    numbers = found.counterexample.numbers
    parts = Fraction(numbers["gamma"]).denominator
    assert parts > 1
    assert 64 % parts == 0
    # What does not matter has no digits left.
    assert (numbers["beta"], {e for row in numbers["parameters"]["B"] for e in row}) == ("0", {"0"})


def test_ascent_finds_what_integers_miss_and_certifies_it():
    far = replace(GAP, says=norm2(g) <= 1200)
    assert smallest(far, 10).found is None
    ((case, met),) = climbed([far], restarts=4, steps=120, lengths=(4,))
    assert met[VIOLATED] == 1
    assert exact.examined([far], case)[0].outcome is VIOLATED


def test_what_has_no_derivative_is_left_out_and_does_not_stop_what_climbs_with_it():
    """Zero times the derivative of a negative number's root would be no number."""
    rooted = replace(GAP, says=beta <= root(gamma - 100))
    linear = replace(GAP, says=gamma <= 200)
    together = ascend([GAP, rooted, linear], 3, restarts=3, steps=4)
    for claim, cases in zip([GAP, rooted, linear], together, strict=True):
        alone = list(*ascend([claim], 3, restarts=3, steps=4))
        assert [str(case) for case in cases] == [str(case) for case in alone]
        assert len(alone) == (0 if claim is rooted else 3)
    assert climbed([rooted], restarts=2, steps=2) == [(None, {})]


def test_ascent_counts_what_it_met():
    met = {HOLDS: 6}
    assert climbed([SHARED_BOUND], restarts=4, steps=2, lengths=(2, 3), tries=3) == [(None, met)]
    claim = replace(GAP, hypotheses=(assume(0 * gamma >= 1),))
    assert climbed([claim], restarts=4, steps=2, lengths=(2,), tries=3) == [(None, {VACUOUS: 3})]


def test_a_bound_that_fails_for_a_small_variance_has_a_short_counterexample():
    broken = replace(
        theorem_4_1.SUPPLEMENT, says=norm2(grad) <= 10**6 * gamma**2 * norm2(g), attack=()
    )
    (found,) = batches.examine([broken], Settings(PROFILES["smoke"]))
    assert found.counterexample.numbers["y"] == ["-1/1000", "0", "1/1000"]


def test_a_bound_that_fails_for_a_long_batch_with_an_outlier_is_refuted_there():
    fourth = entrywise(entrywise(yhat, yhat), entrywise(yhat, yhat))
    broken = replace(
        SHARED_BOUND,
        reading=Reading.NO_EPSILON,
        says=dot(one, fourth) <= number(17) / 20 * m**2,
        because=None,
    )
    (found,) = batches.examine([broken], Settings(PROFILES["smoke"]))
    assert found.counterexample.size == {"m": 16}


def test_a_bound_that_fails_where_vectors_vanish_alone_is_refuted_there():
    hidden = root(norm2(u) ** 2 * gamma)
    broken = replace(
        SHARED_BOUND,
        reading=Reading.NO_EPSILON,
        says=hidden + gamma + norm2(v) >= 0,
        because=None,
    )
    (found,) = batches.examine([broken], Settings(PROFILES["smoke"]))
    assert {*found.counterexample.numbers["u"], *found.counterexample.numbers["v"]} == {"0"}


def test_a_bound_by_a_constant_is_refuted_however_large_it_is():
    broken = [
        replace(SHARED_BOUND, id=f"S-{n}", says=x <= 300_000, because=None)
        for n, x in enumerate((beta, -beta, gamma, eps, bound))
    ]
    found = batches.examine(broken, Settings(PROFILES["smoke"]))
    assert all(record.counterexample for record in found)


def test_bounds_that_are_attained_where_vectors_coincide_are_broken_there():
    claim = next(claim for claim in CLAIMS if claim.id == "S-thm-4.2a/eps/bending")
    actual, claimed = claim.says.actual, claim.says.claimed
    cases = [*map(partial(batches.as_read, claim), batches.coincident_cases())]
    assert not any(BATCHES.violates(claim, case) for case in cases)
    for wrong in (actual < claimed, actual <= number(99) / 100 * claimed):
        broken = replace(claim, says=wrong, because=None)
        assert any(BATCHES.violates(broken, case) for case in cases)
        (found,) = batches.examine([broken], Settings(PROFILES["smoke"]))
        assert found.counterexample is not None


def test_what_has_few_digits_already_is_not_looked_at_again():
    case = replace(TWO_ENTRIES, y=np.array([0.25, 2.5]), bound=3.0)
    assert [list(tried.y) for tried in with_fewer_digits(case, "y")] == [[0, 2], [0, 2.5]]
    assert not list(with_fewer_digits(case, "bound"))


def found_of(says, reading=Reading.NO_EPSILON, hypotheses=(), attack=()):
    """Return what the exact witness finds of a statement that nothing proves."""
    claim = replace(GAP, says=says, reading=reading, hypotheses=hypotheses, attack=attack)
    (record,) = batches.examine([claim], Settings(PROFILES["smoke"]))
    return record


kurtosis = norm2(entrywise(yhat, yhat)) / m


@pytest.mark.parametrize("y", [[0, 0, 0, 0, 0, 1], np.array([0.0, 0, 0, 0, 0, 1])])
def test_a_hint_gives_a_batch_and_the_other_vectors_are_of_its_length(y):
    found = found_of(
        kurtosis < number(21) / 5,
        hypotheses=(assume(m >= 6), assume(m <= 6)),
        attack=(lambda case: replace(case, y=y),),
    )
    assert found.counterexample.size == {"m": 6}
    assert {len(found.counterexample.numbers[name]) for name in ("y", "u", "v")} == {6}


def test_a_hint_may_give_a_root():
    at_root = (lambda case: replace(case, gamma=exactly(2).sqrt()),)
    rounded = (lambda case: replace(case, gamma=2**0.5),)
    assert found_of((gamma**2 - 2) ** 2 > 0, attack=at_root).counterexample
    assert found_of((gamma**2 - 2) ** 2 > 0, attack=rounded).counterexample is None


def test_hints_change_longer_batches_where_a_statement_asks_for_them():
    at_fraction = (lambda case: replace(case, gamma=Fraction(17, 5)),)
    found = found_of((5 * gamma - 17) ** 2 > 0, hypotheses=(assume(m >= 5),), attack=at_fraction)
    assert found.counterexample.size == {"m": 5}


def test_hints_that_lead_to_nothing_are_told():
    found = found_of(
        norm2(g) >= 0, hypotheses=(assume(gamma > 1),), attack=(lambda c: replace(c, gamma=1),)
    )
    assert found.notes.startswith("no instance that attack= makes is decided: undefined")
    assert not found_of(norm2(g) >= 0, attack=(lambda c: replace(c, gamma=1),)).notes


def test_what_fails_where_a_letter_is_a_number_of_the_statement_is_refuted():
    constants = number(7), number(7) / 3
    broken = [
        replace(GAP, id=f"S-{n}", says=(letter - constant) ** 2 > 0)
        for n, (letter, constant) in enumerate(product((gamma, beta, bound, eps), constants))
    ]
    found = batches.examine(broken, Settings(PROFILES["smoke"]))
    assert all(record.counterexample for record in found)
    assert found_of((gamma + 7) ** 2 + (beta - number(7) / 3) ** 2 > 0).counterexample


def test_what_fails_for_two_values_of_one_frequency_is_refuted():
    found = found_of(kurtosis > 1, hypotheses=(assume(m >= 5),))
    assert found.counterexample.size == {"m": 6}
