"""A run that is killed at random moments leaves what a run leaves that nobody kills."""

from pathlib import Path

import pytest
from kills import Outcome, cheap_pairs, kill


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are found in /proc")
def test_a_run_that_is_killed_leaves_what_one_leaves_that_is_not(tmp_path):
    outcome = kill(3, cheap_pairs(20), tmp_path)
    assert outcome.kills.total() == 3
    assert outcome.is_well, str(outcome)


def test_what_kills_spoil_is_seen():
    assert not Outcome().is_well
    assert not Outcome(runs=1, lost=1).is_well
    assert not Outcome(runs=1, orphans=1).is_well
    assert not Outcome(runs=1, differing={("S-1", "exact")}).is_well
    assert Outcome(runs=1).is_well
