"""A statement whose hypothesis nothing satisfies is neither supported nor proved."""

import pytest
from slips import BOUND, VACUOUS, VACUOUSLY_PROVED

from theory.claim import Verdict
from verify import ledger
from verify.witnesses.table import OF_A_BATCH

PROVING = [w for w in OF_A_BATCH if w.name in {"abstract", "polynomial", "symbolic"}]
MEASURING = [w for w in OF_A_BATCH if w not in PROVING and w.applies(VACUOUS)]


@pytest.fixture(scope="module")
def measured(settings):
    """What each witness says of the vacuous statement, and of one without a hypothesis."""
    return {w.name: [*w.examine([VACUOUS, BOUND], settings)] for w in MEASURING}


def test_every_instance_is_vacuous_and_not_so_without_the_hypothesis(measured):
    expected = {"exact", "ascent", "autograd", "complex step", "finite differences", "trained"}
    assert measured.keys() >= expected
    for name, (vacuous, free) in measured.items():
        assert vacuous.vacuous == vacuous.instances > 0, name
        assert (vacuous.violated, vacuous.undecided) == (0, 0), name
        assert (vacuous.worst_ratio, vacuous.counterexample, vacuous.points) == (None, None, [])
        assert free.vacuous < free.instances, name


@pytest.mark.parametrize("claim", [VACUOUS, VACUOUSLY_PROVED], ids=["no proof", "a proof"])
def test_the_verdict_is_undecided(claim, measured, settings):
    """A proof alone cannot tell that the hypotheses contradict each other."""
    proofs = [record for w in PROVING for record in w.examine([claim], settings)]
    assert any(record.proof for record in proofs) is (claim is VACUOUSLY_PROVED)
    records = [*proofs, *(of_vacuous for of_vacuous, _ in measured.values())]
    assert ledger.judge(claim, records) is Verdict.UNDECIDED
    if claim is VACUOUSLY_PROVED:
        assert ledger.judge(claim, proofs) is Verdict.PROVED
