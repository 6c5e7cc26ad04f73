"""The strata are as nasty as their names, and a token is its case."""

import subprocess
import sys

import numpy as np
import pytest

from verify.subjects.unit_strata import EVERY_STRATUM, FAR_SCALES, draw, random_cases, rebuild

SEED, MANY = 3, 60
NAMED = {stratum.name: stratum for stratum in EVERY_STRATUM}


def drawn(name):
    return [draw(NAMED[name], SEED, index) for index in range(MANY)]


def content(case):
    """Every number of a case."""
    numbers = (case.y, case.gamma, case.beta, case.eps, case.direction, case.other_direction)
    return np.concatenate([np.ravel(a) for a in (*numbers, case.bound, *case.loss.parameters)])


def test_every_token_is_a_case_of_its_own_byte_for_byte():
    cases = [case for seed in (0, 1) for case in random_cases(seed, 3, EVERY_STRATUM)]
    assert len({case.token for case in cases}) == len(cases) == 2 * 3 * len(EVERY_STRATUM)
    assert len({case.y.tobytes() for case in cases}) == len(cases)
    assert all(case.token.startswith(f"random:{case.stratum}:") for case in cases)
    for case in cases:
        again = rebuild(case.token)
        np.testing.assert_array_equal(content(again), content(case))
        assert (again.token, again.stratum) == (case.token, case.stratum)
        assert again.loss.function is case.loss.function
        assert np.isfinite(content(case)).all()
        assert case.bound > 0
        orders = NAMED[case.stratum].orders
        assert 10 ** (-6 - orders) <= case.eps <= 10**orders


def test_of_far_scales_each_number_is_of_its_own_size():
    cases = [draw(FAR_SCALES, 0, index) for index in range(40)]
    for name in ("gamma", "beta", "eps", "bound", "y", "direction"):
        sizes = [np.abs(getattr(case, name)).max() for case in cases]
        assert max(sizes) > 100
        assert min(sizes) < 0.01
    sizes = np.log([[abs(case.gamma), abs(case.beta), case.bound] for case in cases])
    assert np.abs(np.corrcoef(sizes.T) - np.eye(3)).max() < 0.5
    assert {case.later_normalizations for case in cases} == {0}


def test_a_token_is_the_same_case_in_another_process():
    case = draw(NAMED["heavy tails"], 2, 1)
    code = "from verify.subjects.unit_strata import rebuild\n"
    code += f"print(rebuild({case.token!r}).y.tobytes())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str(case.y.tobytes())


BAD = ["", "generic:0", "generic:0:0:0", "Generic:0:0", "generic:zero:0", "generic:0:-1"]


@pytest.mark.parametrize("token", ["trained:generic:0:0", *(f"random:{rest}" for rest in BAD)])
def test_a_bad_token_is_refused(token):
    with pytest.raises(ValueError, match=r"names no random case; expected random:STRATUM:SEED:IN"):
        rebuild(token)


def test_batches_are_as_nasty_as_the_name_says():
    offsets = [case.y.mean() / case.y.std() for case in drawn("large offset")]
    assert min(offsets) < -1e7 < -50 > max(o for o in offsets if o < 0)
    assert max(offsets) > 1e7 > 1e3 > min(map(abs, offsets))
    deviations = [case.y.std() for case in drawn("near constant")]
    assert 1e-9 < min(deviations) < 1e-6
    assert max(deviations) < 1e-2
    assert all(abs(case.y.mean()) < 10 for case in drawn("near constant"))
    counts = [len(set(case.y.tolist())) for case in drawn("duplicates")]
    assert set(counts) <= {1, 2}
    assert counts.count(2) > 0.9 * MANY
    entries = np.abs([case.y for case in drawn("heavy tails")])
    assert np.median(entries) < 1.5
    assert np.mean(entries > 10) > 0.01


def test_length_and_gamma_are_what_the_name_says_and_eps_is_small_too():
    for stratum in EVERY_STRATUM:
        m = int(stratum.name.partition("m=")[2] or 8)
        assert draw(stratum, SEED, 0).y.shape == (m,)
    assert all(case.gamma == 0 for case in drawn("gamma=0"))
    assert all(case.gamma < 0 for case in drawn("gamma<0"))
    assert {np.sign(case.gamma) for case in drawn("generic")} == {-1, 1}
    eps = [case.eps for case in drawn("generic")]
    assert min(eps) < 1e-5 < 0.1 < max(eps)


def test_quadratic_quartic_and_softplus_losses_take_turns():
    for index in range(6):
        a, B, q, w, _ = draw(NAMED["generic"], SEED, index).loss.parameters
        assert np.array_equal(B, B.T)
        present = (a.any(), B.any(), q.all(), w.all())
        assert present == [(1, 1, 0, 0), (1, 1, 1, 0), (0, 0, 0, 1)][index % 3]
