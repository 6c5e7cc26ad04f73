"""A statement whose hypothesis nothing satisfies is neither supported nor proved."""

import pytest
from slips import BOUND, VACUOUS, VACUOUSLY_PROVED

from theory.claim import Verdict
from verify import ledger
from verify.witnesses.table import OF_A_BATCH, WITNESSES

PROVING = {"abstract", "polynomial", "symbolic"}
MEASURING = [witness for witness in OF_A_BATCH if witness.name not in PROVING]
APPLYING = [witness for witness in MEASURING if witness.applies(VACUOUS)]


def test_most_witnesses_measure():
    measuring = {"exact", "ascent", "autograd", "complex step", "finite differences", "trained"}
    assert measuring <= {witness.name for witness in APPLYING}


@pytest.mark.parametrize("witness", APPLYING, ids=lambda witness: witness.name)
def test_every_instance_is_vacuous_and_not_so_without_the_hypothesis(witness, settings):
    (found,) = witness.examine([VACUOUS], settings)
    assert found.vacuous == found.instances > 0
    assert (found.violated, found.undecided) == (0, 0)
    assert (found.worst_ratio, found.counterexample, found.points) == (None, None, [])
    (found,) = witness.examine([BOUND], settings)
    assert found.vacuous < found.instances


@pytest.mark.parametrize("claim", [VACUOUS, VACUOUSLY_PROVED], ids=["no proof", "a proof"])
def test_the_verdict_is_undecided(claim, settings):
    records = [r for w in WITNESSES if w.applies(claim) for r in w.examine([claim], settings)]
    assert ledger.judge(claim, records) is Verdict.UNDECIDED
    proving = {record.witness for record in records if record.proof}
    assert proving == (PROVING if claim is VACUOUSLY_PROVED else set())


def test_a_proof_alone_cannot_tell(settings):
    """Nothing was measured, so nothing says that the hypotheses contradict each other."""
    records = [
        r for w in OF_A_BATCH if w not in MEASURING for r in w.examine([VACUOUSLY_PROVED], settings)
    ]
    assert ledger.judge(VACUOUSLY_PROVED, records) is Verdict.PROVED
