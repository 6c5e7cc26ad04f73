"""One instance again, from its token."""

import re

import pytest

from theory.matrix_claim import Kind
from theory.santurkar2018 import CLAIMS
from verify import engine
from verify.reproduce import reproduce
from verify.subjects.matrix_strata import random_subjects
from verify.subjects.unit_strata import STRATA, draw, random_cases
from verify.tolerance import Outcome
from verify.witnesses import autograd
from verify.witnesses.matrices import best_scaling, floats, scaling_ascent
from verify.witnesses.records import record

FEW = [c for c in CLAIMS if c.id in ("S-thm-4.1", "S-fact-C1/eps-unit", "S-thm-4.2a/eps")]
LINE = re.compile(r"(\S+) +(\w+) +actual (\S+)  claimed (\S+)  ratio (\S+)$")


def test_there_is_one_line_for_each_claim_of_the_papers(monkeypatch):
    monkeypatch.setattr(engine, "CLAIMS", FEW)
    header, *lines = reproduce("random:generic:0:5")
    case = draw(STRATA[0], 0, 5)
    gamma, eps = case.gamma.item(), case.eps.item()
    assert header == f"random:generic:0:5: m = 8, gamma = {gamma!r}, eps = {eps!r}"
    assert [LINE.match(line)[1] for line in lines] == [claim.id for claim in FEW]


def test_what_is_not_defined_is_a_dash():
    claims = [c for c in CLAIMS if c.id in ("S-thm-4.1", "S-thm-4.1/eps")]
    _, *lines = reproduce("random:m=1:0:0", claims=claims)  # the deviation of one entry is zero
    assert [line.split()[1:] for line in lines] == [
        ["vacuous", "actual", "-", "claimed", "-", "ratio", "-"],
        ["holds", "actual", "0", "claimed", "0", "ratio", "-"],
    ]


@pytest.mark.parametrize("claim", FEW, ids=lambda claim: claim.id)
def test_the_worst_instance_of_a_run_is_found_again(claim):
    seed = 4
    found = record(claim, "autograd", autograd.examine_cases(claim, [*random_cases(seed, 3)], seed))
    _, line = reproduce(found.worst_token, claims=[claim])
    _, outcome, *_, ratio = LINE.match(line).groups()
    assert Outcome(outcome) is (Outcome.VIOLATED if found.violated else Outcome.HOLDS)
    assert float(ratio) == pytest.approx(found.worst_ratio, rel=1e-9)


def test_a_layer_at_its_best_scaling_is_found_again():
    claim = next(c for c in engine.CLAIMS if c.id == "L-thm-4c")
    solved = map(best_scaling.at_best, random_subjects(Kind.LAYER, 0, 2))
    at_best = [layer for layer, _ in filter(None, solved)]
    found = record(claim, "best scaling", floats.examine_all(claim, at_best))
    assert found.worst_token.startswith("best:matrices:layer:")
    _, line = reproduce(found.worst_token, claims=[claim])
    assert float(LINE.match(line)[5]) == pytest.approx(found.worst_ratio, rel=1e-6)


def test_the_liveliest_features_of_a_trained_layer_are_a_layer_for_every_statement():
    layers = [c for c in engine.CLAIMS if c.id in ("L-prop-2", "L-thm-3", "L-thm-4c", "L-alg-1")]
    header, *lines = reproduce("best:network:dense trained head:0", claims=layers)
    assert header == "best:network:dense trained head:0: N = 256, n = 20, p = 10"
    assert [LINE.match(line)[1] for line in lines] == [claim.id for claim in layers]


def test_a_layer_where_an_ascent_ended_is_found_again():
    claim = next(c for c in engine.CLAIMS if c.id == "L-thm-4c")
    ended = scaling_ascent.rebuild("scaling:0.5,-0.25,0.125")
    found = record(claim, "scaling ascent", floats.examine_all(claim, [ended]))
    header, line = reproduce(found.worst_token, claims=[claim])
    assert header.startswith("scaling:0.5,-0.25,0.125: ")
    assert float(LINE.match(line)[5]) == pytest.approx(found.worst_ratio, rel=1e-6)


@pytest.mark.parametrize(
    ("token", "said"),
    [
        ("a:1", "'a:1' names no instance; expected random:STRATUM:SEED:INDEX, trained:NETWORK"),
        ("random:nowhere:0:0", "names no random case; .* large offset"),
        ("matrices:layer:gaussian:0", "matrices:KIND:STRATUM:SEED:INDEX"),
        ("matrices:layer:nowhere:0:1", "a stratum of gaussian"),
        ("matrices:maps:gaussian:x:1", "whole numbers"),
        ("network:dense trained", "network:NAME STAGE layer N:SEED"),
        ("trained:dense:trained:0:9:0", "9"),
        ("matrices:layer:gaussian:9223372036854775808:0", "numbers up to 9223372036854775807"),
        ("best:matrices:layer:gaussian:9223372036854775808:0", "numbers up to 9223372036854775807"),
        ("network:dense trained head:9223372036854775808", "numbers up to 9223372036854775807"),
        ("best:", "names no subject"),
        ("best:matrices", "matrices:KIND:STRATUM:SEED:INDEX"),
        ("best:network:dense trained:x", "network:NAME STAGE layer N:SEED"),
        ("best:matrices:descent:gaussian:0:0", "names no layer"),
    ],
)
def test_a_token_that_names_no_instance_is_refused(token, said, tmp_path):
    with pytest.raises(ValueError, match=said):
        reproduce(token, tmp_path)
