"""A counterexample is told by the letters of its statement, in a terminal and on a page."""

import pytest

from theory.claim import Relation
from verify import engine
from verify.counterexamples import lines
from verify.results import Counterexample
from verify.settings import PROFILES, Settings
from verify.site.counterexamples import sentence

BATCH = {
    "y": ["-1", "0", "1"], "gamma": "2", "beta": "0", "eps": "0", "loss": "<a, z> + h |z|^2/2",
    "parameters": {"a": ["1", "-2", "0"], "h": "3"}, "u": ["1", "0", "0"], "v": ["0", "1", "0"],
    "lambda": "5",
}  # fmt: skip


def claim_of(identifier):
    return next(claim for claim in engine.CLAIMS if claim.id == identifier)


def found(identifier):
    """What the exact witness finds today."""
    pairs = engine.pairs([claim_of(identifier)], engine.WITNESSES)
    exact = [pair for pair in pairs if pair.witness.name == "exact"]
    [record] = engine.examine(exact, Settings(PROFILES["smoke"]))
    return record.counterexample


@pytest.mark.parametrize(
    ("identifier", "told"),
    [
        ("S-v1-thm-3.1/any-mean", ["y = (-1, 0, 1)", "x_i = (1, 0, 0)"]),
        (
            "S-thm-4.1-supp",
            ["y = (-1, 0, 1)", "gamma = 2", "beta = 0", "L(z) = z_1 - 2 z_2 + 3 |z|^2/2"],
        ),
        ("S-lemma-4.5/fixed", ["u = (1, 0, 0)", "v = (0, 1, 0)", "k = 5"]),
    ],
)
def test_numbers_of_a_batch_are_told_by_the_statements_letters(identifier, told):
    example = Counterexample({"m": 3}, BATCH, "1", "0")
    shown = lines(example, claim_of(identifier))
    assert shown[0] == "m = 3"
    assert shown[-2:] == ["actual = 1", "claimed = 0"]
    assert set(told) <= set(shown)
    assert not any(line.startswith(("lambda =", "loss =", "parameters =")) for line in shown)


def test_numbers_of_matrices_are_told_by_the_statements_letters():
    numbers = {"mean": ["0", "0"], "deviation": ["1", "1"]}
    example = Counterexample({"N": 2, "n": 2}, numbers, "2", "1")
    shown = lines(example, claim_of("L-prop-7"))
    assert {"mu = (0, 0)", "sigma = (1, 1)"} <= set(shown)
    assert "<i>σ\u0303</i> = (1, 1)" in sentence(example, claim_of("L-prop-7"))


def test_a_size_is_not_told_twice():
    example = Counterexample({"N": 4, "n": 3}, {}, "2", "1", letters={"N": "2"})
    assert lines(example, claim_of("L-proof-prop-5/column-of-ones"))[:2] == ["n = 3", "N = 2"]


def test_any_vector_and_number_of_a_statement_has_a_value():
    shown = lines(found("S-v1-thm-C6/same-weight"), claim_of("S-v1-thm-C6/same-weight"))
    assert "a = (1, 0, 0, 0)" in shown
    assert any(line.endswith("epsilon = 3/8") for line in shown)


@pytest.mark.parametrize(
    ("identifier", "name"),
    [
        ("L-prop-10", "w"),
        ("L-proof-prop-5/column-of-ones", "H"),
        ("L-proof-prop-5/longest-row", "H"),
    ],
)
def test_what_only_a_shape_is_looked_at_of_is_not_told(identifier, name):
    example = found(identifier)
    assert name in example.numbers
    assert not any(line.startswith(f"{name} =") for line in lines(example, claim_of(identifier)))


def test_what_is_not_written_as_a_letter_is_told_where_it_matters():
    assert "q = 2" in lines(
        found("L-proof-prop-5/longest-row"), claim_of("L-proof-prop-5/longest-row")
    )


def test_what_sampling_leaves_open_is_told():
    drawn = Counterexample({"N": 1}, {}, "[0.9268 +/- 0.0062]", "5/6", "sampling", "signs")
    assert claim_of("L-lemma-A2/negative-k").relation is Relation.AT_MOST
    assert "Then 0.9268 ± 0.0062 &gt; 5/6." in sentence(drawn, claim_of("L-lemma-A2/negative-k"))
