"""The strata are as nasty as their names, and a token is its case."""

import math
import subprocess
import sys

import numpy as np
import pytest

from verify.cases import strata
from verify.cases.strata import (
    EVERY_STRATUM,
    LONG,
    LOSSES,
    STRATA,
    draw,
    random_cases,
    rebuild,
)

SEED, MANY = 3, 60
NAMED = {stratum.name: stratum for stratum in EVERY_STRATUM}


def drawn(name):
    return [draw(NAMED[name], SEED, index) for index in range(MANY)]


def content(case):
    """Every number of a case, byte for byte."""
    numbers = (case.y, case.gamma, case.beta, case.eps, case.direction, case.other_direction)
    arrays = [*numbers, case.bound, *case.loss.parameters]
    return [(a.dtype, a.shape, a.tobytes()) for a in map(np.asarray, arrays)]


def offset(case):
    """Mean over standard deviation, the deviations taken where nothing cancels."""
    return abs(case.y.mean()) / case.y.std()


def test_there_are_ten_strata_of_different_names():
    assert len(STRATA) >= 10
    assert len(EVERY_STRATUM) == len(NAMED) == len(STRATA) + len(LONG)
    assert not any(":" in name for name in NAMED)


@pytest.mark.parametrize("name", NAMED)
def test_a_token_is_its_case_byte_for_byte(name):
    for index in range(6):
        case = draw(NAMED[name], SEED, index)
        again = rebuild(case.token)
        assert content(again) == content(case)
        assert (
            (again.token, again.stratum)
            == (case.token, case.stratum)
            == (
                f"random:{name}:{SEED}:{index}",
                name,
            )
        )
        assert again.loss.function is case.loss.function


def test_a_token_is_the_same_case_in_another_process():
    case = draw(NAMED["heavy tails"], 2, 1)
    script = (
        f"from verify.cases.strata import rebuild\nprint(rebuild({case.token!r}).y.tobytes().hex())"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == case.y.tobytes().hex()


def test_every_token_has_its_own_case():
    cases = [case for seed in (0, 1) for case in random_cases(seed, 3, EVERY_STRATUM)]
    assert len({case.token for case in cases}) == len(cases) == 2 * 3 * len(EVERY_STRATUM)
    assert len({case.y.tobytes() for case in cases}) == len(cases)


@pytest.mark.parametrize(
    "token",
    [
        "",
        "random",
        "generic:0:0",
        "random:generic:0",
        "random:generic:0:0:0",
        "trained:generic:0:0",
        "random:no such stratum:0:0",
        "random:Generic:0:0",
        "random:generic:zero:0",
        "random:generic:0:0.5",
        "random:generic:-1:0",
        "random:generic:0:-1",
    ],
)
def test_a_bad_token_is_refused(token):
    with pytest.raises(ValueError, match=r"names no random case; expected random:STRATUM:SEED:IN"):
        rebuild(token)


@pytest.mark.parametrize(("name", "m"), [("m=1", 1), ("m=2", 2), ("m=3", 3), ("generic m=33", 33)])
def test_batches_have_the_length_that_the_name_says(name, m):
    assert {case.y.shape for case in drawn(name)} == {(m,)}


def test_the_mean_is_up_to_1e8_standard_deviations():
    offsets = [offset(case) for case in drawn("large offset")]
    assert min(offsets) < 1e3
    assert max(offsets) > 1e7
    assert all(50 < o < 5e8 for o in offsets)
    assert {np.sign(case.y.mean()) for case in drawn("large offset")} == {-1, 1}


def test_deviations_are_tiny_but_not_zero_where_the_batch_is_near_constant():
    deviations = [case.y.std() for case in drawn("near constant")]
    assert all(1e-9 < d < 1e-2 for d in deviations)
    assert min(deviations) < 1e-6
    assert all(abs(case.y.mean()) < 10 for case in drawn("near constant"))


def test_duplicates_are_two_values_that_occur_again_and_again():
    counts = [len(set(case.y.tolist())) for case in drawn("duplicates")]
    assert set(counts) <= {1, 2}
    assert counts.count(2) > 0.9 * MANY


def test_heavy_tails_have_entries_that_normal_ones_never_have():
    entries = np.abs([case.y for case in drawn("heavy tails")])
    assert np.median(entries) < 1.5
    assert np.mean(entries > 10) > 0.01


def test_gamma_has_the_sign_that_the_name_says():
    assert all(case.gamma == 0 for case in drawn("gamma=0"))
    assert all(case.gamma < 0 for case in drawn("gamma<0"))
    assert {np.sign(case.gamma) for case in drawn("generic")} == {-1, 1}


def test_eps_is_from_a_millionth_to_one():
    eps = [case.eps for name in NAMED for case in drawn(name)]
    assert all(1e-6 <= e <= 1 for e in eps)
    assert min(eps) < 1e-5
    assert max(eps) > 0.1


def test_every_number_is_finite_and_the_bound_positive():
    for case in random_cases(SEED, 20):
        assert all(np.isfinite(np.frombuffer(b, d)).all() for d, _, b in content(case))
        assert case.bound > 0


def test_losses_take_turns():
    kinds = {
        "quadratic": lambda a, B, q, w, s: not q.any() and not w.any(),
        "quartic": lambda a, B, q, w, s: q.all() and not w.any(),
        "softplus": lambda a, B, q, w, s: not a.any() and not B.any() and w.all(),
    }
    for index in range(6):
        parameters = draw(NAMED["generic"], SEED, index).loss.parameters
        fitting = [kind for kind in LOSSES if kinds[kind](*parameters)]
        assert fitting == [LOSSES[index % 3]]
        assert np.array_equal(parameters[1], parameters[1].T)


def test_the_offset_is_that_of_a_batch_by_hand():
    rng = np.random.default_rng(0)
    batch = strata.large_offset(rng, 8)
    again = np.random.default_rng(0)
    expected = again.choice([-1, 1]) * 10 ** again.uniform(2, 8)
    assert math.isclose(batch.mean(), expected, rel_tol=0.05)
