"""Of a statement whose hypothesis nothing satisfies every witness finds instances vacuous."""

from slips import BOUND, VACUOUS

from verify.witnesses.table import OF_A_BATCH

PROVING = {"abstract", "polynomial", "symbolic"}
MEASURING = [w for w in OF_A_BATCH if w.name not in PROVING and w.applies(VACUOUS)]


def test_every_instance_is_vacuous_and_not_so_without_the_hypothesis(settings):
    measured = {w.name: [*w.examine([VACUOUS, BOUND], settings)] for w in MEASURING}
    expected = {"exact", "ascent", "autograd", "complex step", "finite differences", "trained"}
    assert measured.keys() >= expected
    for name, (vacuous, free) in measured.items():
        assert vacuous.vacuous == vacuous.instances > 0, name
        assert (vacuous.violated, vacuous.undecided) == (0, 0), name
        assert (vacuous.worst_ratio, vacuous.counterexample, vacuous.points) == (None, None, [])
        assert free.vacuous < free.instances, name
