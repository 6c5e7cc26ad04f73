"""Findings are added in any order, and what ran twice counts once."""

import io
import random
from dataclasses import replace

import pytest
from rich.console import Console

from theory.claim import Relation
from verify.campaign.finding import KEPT, OverlapError, Worst, of_record
from verify.campaign.report import COUNTS, RATIOS, table
from verify.record import Record
from verify.results import Counterexample


def record(seed):
    """A record of which everything depends on the seed."""
    ratio = 0.5 + 0.001 * seed
    points = [("a", ratio / 2, 1.0), ("b", ratio, 1.0), ("b", 1e9, 1e-9)]
    return Record(
        *("claim", "witness", 10, seed % 2, seed % 3, 1, ratio, f"token:{seed}"),
        strata={"a": {"instances": 4}, f"b{seed % 2}": {"instances": 6, "holds": seed}},
        points=[{"actual": a, "claimed": c, "stratum": name} for name, a, c in points],
        seconds=0.5,
    )


def found(seeds):
    return [of_record(record(seed), seed) for seed in seeds]


def total(findings):
    first, *rest = findings
    for finding in rest:
        first = first.plus(finding)
    return first


SEEDS = range(100)
EXPECTED = total(found(SEEDS))


def test_counts_are_those_of_all_seeds():
    assert EXPECTED.seeds == ((0, 100),)
    assert (EXPECTED.instances, EXPECTED.violated, EXPECTED.vacuous) == (1000, 50, 100)
    assert EXPECTED.undecided == sum(seed % 3 for seed in SEEDS)
    assert EXPECTED.strata["a"] == {"instances": 400}
    assert EXPECTED.strata["b1"] == {"instances": 300, "holds": sum(range(1, 100, 2))}
    assert EXPECTED.seconds == 50


def test_neither_order_nor_repetition_matters():
    shuffled = found(SEEDS)
    random.Random(0).shuffle(shuffled)
    assert total(shuffled) == EXPECTED
    assert total([*found(SEEDS), *found([3, 3, 99, 0])]) == EXPECTED
    halves = total(found(range(50, 100))), total(found(range(50)))
    assert halves[0].plus(halves[1]) == halves[1].plus(EXPECTED) == EXPECTED


def test_what_overlaps_in_part_or_is_of_other_code_is_refused():
    with pytest.raises(OverlapError, match="0:60"):
        total(found(range(60))).plus(total(found(range(50, 100))))
    (one, other) = found([0, 1])
    with pytest.raises(ValueError, match="not findings of the same"):
        one.plus(replace(other, fingerprint="other"))


def test_the_worst_are_kept_with_their_tokens_and_the_first_violations():
    assert len(EXPECTED.worst) == len(EXPECTED.violations) == KEPT
    assert EXPECTED.worst[0] == Worst(0.5 + 0.099, 99, "token:99")
    assert [w.seed for w in EXPECTED.violations] == list(range(1, 2 * KEPT, 2))
    assert EXPECTED.violating_seeds == 50
    at_2 = Counterexample({"m": 2}, {}, "1", "0")
    without_ratio = of_record(Record("c", "w", counterexample=at_2), 5)
    assert without_ratio.violations[0].counterexample == at_2
    assert without_ratio.worst == ()


def test_quantiles_are_those_of_the_points_but_for_a_bin():
    """Half of the points have half the ratio of the other half; those lost in rounding none."""
    assert EXPECTED.quantile(0.5) == pytest.approx((0.5 + 0.099) / 2, rel=0.011)
    assert EXPECTED.quantile(0.75) == pytest.approx(0.55, rel=0.011)
    assert EXPECTED.quantile(1.0) <= EXPECTED.worst[0].ratio
    assert EXPECTED.largest == {"a": (0.5 + 0.099) / 2, "b": 0.5 + 0.099}
    assert of_record(Record("c", "w"), 0).quantile(0.5) is None


@pytest.mark.parametrize("width", [80, 139, 140])
def test_a_table_is_as_wide_as_the_terminal(width):
    console = Console(file=io.StringIO(), width=width)
    console.print(table([EXPECTED], width))
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    for name in (*COUNTS, *RATIOS):
        assert any(name in line for line in lines)


def test_the_ratios_of_a_lower_bound_are_claimed_over_actual():
    points = [{"actual": 2.0, "claimed": 1.0, "stratum": "a"}]
    one = Record("claim", "witness", 1, worst_ratio=0.5, points=points)
    assert of_record(one, 0, Relation.AT_LEAST).largest == {"a": 0.5}
    assert of_record(one, 0).largest == {}
