"""Where a bound is attained: what is told is an equality, of numbers that are not zero."""

from dataclasses import replace
from functools import cache

from examined import array_of, close, side, values_at
from examined import number as number_of

from theory.lange2022 import CLAIMS as LANGE
from theory.language.expression import number
from theory.santurkar2018 import CLAIMS as SANTURKAR
from theory.statement import Relation
from verify.ledger import as_json, entry
from verify.results import EVERY_M, Proof
from verify.settings import PROFILES, Settings
from verify.show import shown_entry
from verify.site.findings import attained
from verify.witnesses import batches
from verify.witnesses.matrices import integers as matrices

FEW = Settings(replace(PROFILES["smoke"], examples=30))
BY_ID = {claim.id: claim for claim in (*SANTURKAR, *LANGE)}
ATTAINED = [
    BY_ID[name]
    for name in (
        "S-thm-4.1", "S-thm-4.2a/bending", "S-eq-10/sharpened", "S-v1-eq-64/sharpened", "L-thm-4a",
        "L-norm-Ghat/at-most", "L-norm-Ghat/at-least", "S-remark-growth/two-networks/constants/eps",
        "S-v1-remark-always/one-weight/corrected",
    )
]  # fmt: skip
REFUTED = [BY_ID["S-thm-4.1/two-networks"], BY_ID["S-thm-C1/kappa/at-most"], BY_ID["L-q-conv"]]


def records(claims):
    """Return what exact numbers say of claims, which are examined together."""
    of_units = [claim for claim in claims if claim.id.startswith("S")]
    of_matrices = [claim for claim in claims if claim not in of_units]
    found = [*batches.examine(of_units, FEW), *matrices.examine(of_matrices, FEW)]
    return {record.claim: record for record in found}


@cache
def found():
    return records([*ATTAINED, *REFUTED])


def times(claim, factor):
    """Return a bound whose larger side is multiplied."""
    larger = "claimed" if claim.relation is Relation.AT_MOST else "actual"
    says = replace(claim.says, **{larger: getattr(claim.says, larger) * factor})
    return replace(claim, says=says)


def test_a_bound_that_is_attained_is_told_with_both_sides():
    for claim in ATTAINED:
        told = found()[claim.id].attained
        assert told.actual == told.claimed != "0", claim.id


def test_pytorch_finds_both_sides_there_again():
    for claim in ATTAINED:
        told = found()[claim.id].attained
        sides = values_at(claim, told.numbers).sides(claim.says)
        for value in map(array_of, sides):
            assert close(value.ravel(), side(told.actual)), claim.id


def test_a_bound_that_is_looser_by_a_thousandth_is_attained_nowhere():
    looser = records([times(claim, number(1001) / 1000) for claim in ATTAINED])
    assert {name: record.attained for name, record in looser.items() if record.attained} == {}


def test_zero_on_both_sides_is_no_bound_that_is_attained():
    nothing = times(BY_ID["S-thm-4.1"], number(0))
    nothing = replace(nothing, says=replace(nothing.says, actual=nothing.says.actual * 0))
    assert records([nothing])[nothing.id].attained is None


def test_what_is_refuted_is_told_to_be_attained_nowhere():
    for claim in REFUTED:
        record = found()[claim.id]
        assert record.counterexample is not None
        assert entry(claim, [record]).attained is None


def test_of_several_subjects_the_largest_is_told():
    assert found()["L-norm-Ghat/at-most"].attained.size == {"N": 3, "n": 2, "p": 2}


def test_a_reader_is_told_on_the_terminal_on_the_page_and_in_json():
    claim = BY_ID["S-thm-4.2a/bending"]
    known = entry(claim, [replace(found()[claim.id], proof=Proof((EVERY_M,)))])
    lines = shown_entry(known).splitlines()
    assert lines[lines.index("attained at") + 1 :][:2] == ["  m = 4", "  y = (-1, -1, 1, 1)"]
    page = attained(known)
    assert page.startswith("**Attained.** <i>m</i> = 4, <i>y</i> = (−1, −1, 1, 1)")
    assert page.endswith("Then both sides are 576.\n")
    assert as_json(known)["attained"]["actual"] == "576"


def test_at_the_edge_of_a_hypothesis_it_is_met():
    for name in ("S-remark-growth/lipschitz/corrected", "S-remark-growth/lipschitz/eps/corrected"):
        claim = BY_ID[name]
        told = records([claim])[name].attained
        (hypothesis,) = claim.hypotheses
        values = values_at(claim, told.numbers)
        sides = [array_of(side).ravel() for side in values.sides(hypothesis.says)]
        assert hypothesis.impose is not None
        assert close(*sides), name


def test_where_the_reading_has_an_epsilon_it_is_positive():
    names = ("S-remark-growth/lipschitz/eps/corrected", "S-v1-remark-always/output/eps")
    found = records([BY_ID[name] for name in names])
    assert all(number_of(found[name].attained.numbers["eps"]) > 0 for name in names)
    assert records([BY_ID["S-v1-remark-resnet/any-pair/bound/eps"]]).popitem()[1].attained is None
