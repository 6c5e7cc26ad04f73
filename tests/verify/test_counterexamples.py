"""A counterexample is told by the letters of its statement, in a terminal and on a page."""

import re
from fractions import Fraction

import numpy as np
import pytest

from theory.arithmetic.exact import rational_array
from theory.claim import Relation
from verify import engine
from verify.counterexamples import lines, of_loss, scope
from verify.ledger import entry
from verify.letters import own, readers
from verify.record import Record
from verify.results import Counterexample, Proof
from verify.settings import PROFILES, Settings
from verify.site.counterexamples import sentence, written
from verify.subjects.matrices import Descent, Layer, Maps
from verify.subjects.unit_lattice import lattice_case, shown
from verify.witnesses.batches import GROUNDS
from verify.witnesses.integers import counterexample

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
    left_out = ("lambda =", "eps =", "loss =", "parameters =")
    assert not any(line.startswith(left_out) for line in shown)


def test_a_letter_of_two_roots_is_told_beside_those_of_one():
    claim = claim_of("S-v1-thm-C6/same-unit")
    half = Fraction(1, 2)
    case = lattice_case(
        y=[1, 0, -1], gamma=0, beta=0, ratio=Fraction(2), linear=[-half, half, half],
        triangle=[0] * 6, direction=[-5, -8, 13], other_direction=[-1, -1, 2], bound=24,
    )  # fmt: skip
    told = counterexample(GROUNDS, claim, case).letters
    assert told["a"] == ["-1/2", "1/2", "1/2"]
    assert told["varepsilon"].startswith("[0.00677")


def test_numbers_of_matrices_are_told_by_the_statements_letters():
    numbers = {"mean": ["0", "0"], "deviation": ["1", "1"]}
    example = Counterexample({"N": 2, "n": 2}, numbers, "2", "1")
    shown = lines(example, claim_of("L-prop-7"))
    assert {"mu = (0, 0)", "sigma = (1, 1)"} <= set(shown)
    assert "<i>σ\u0303</i> = (1, 1)" in sentence(example, claim_of("L-prop-7"))


RNG = np.random.default_rng(0)


def integers(*shape):
    return rational_array(RNG.integers(-3, 4, shape))


def subject(kind, **arrays):
    """A subject with these numbers, and whatever else it has to have."""
    return kind(**dict.fromkeys(kind.names(), 0) | arrays)


def layer(couples, N=2, p=2):
    return subject(
        Layer, couples=couples, H=integers(N, 2), W=integers(p, 2), linear=integers(N, p),
        quadratic=integers(N, p, p), fourth=integers(N, p), ridge=integers(N, p),
        centre=integers(N, p),
    )  # fmt: skip


def maps(N=2, d=1, r=2, s=2):
    shape = (N, d, r, s)
    arrays = {name: integers(*shape) for name in ("linear", "fourth", "ridge", "centre")}
    return subject(Maps, **arrays, pooled=integers(N))


def descent(d=2):
    arrays = {name: integers(d) for name in ("theta", "linear", "fourth", "ridge", "centre")}
    return subject(Descent, **arrays, factor=integers(1, d))


def told_at(text, point, mean):
    """What a loss that is told as text is worth at an array of entries."""
    _, _, told = text.partition(" = ")
    told = re.sub(r", (indices:|a' =).*", "", told)

    def entry(found):
        at = iter(int(index) - 1 for index in (found[3] or "").split(",") if index)
        place = tuple(next(at) if length > 1 else 0 for length in point.shape)
        return f"Fraction({point[place] - (mean[place[1:]] if found[2] else 0)})"

    python = re.sub(r"\b(a|theta)('?)(?:_([\d,]+))?(?!\w)", entry, told).replace("^", "**")
    return eval(re.sub(r"(?<=[\w)]) (?=[\w(])", "*", python), {"Fraction": Fraction})


@pytest.mark.parametrize(
    ("identifier", "made", "shape"),
    [
        ("L-prop-2/later-BN", lambda: layer(0), (2, 2)),
        ("L-prop-2/later-BN", lambda: layer(1), (2, 2)),
        ("L-prop-2/later-BN", lambda: layer(1, p=1), (2, 1)),
        ("L-prop-2/later-BN", lambda: layer(0, N=1, p=1), (1, 1)),
        ("L-prop-9/batch-coupled", maps, (2, 1, 2, 2)),
        ("L-prop-9/batch-coupled", lambda: maps(N=1, r=1), (1, 1, 1, 2)),
        ("L-eq-7-8/P-of-theta", descent, (2,)),
        ("L-eq-7-8/P-of-theta", lambda: descent(d=1), (1,)),
    ],
)
def test_a_loss_of_matrices_is_told_as_a_polynomial_of_its_entries(identifier, made, shape):
    chosen = made()
    numbers = {name: shown(getattr(chosen, name)) for name in chosen.names()}
    example = Counterexample({"N": 2}, numbers, "0", "1")
    told = of_loss(example, claim_of(identifier))
    for _ in range(3):
        point = integers(*shape)
        assert told_at(told, point, point.sum(0) * Fraction(1, shape[0])) == chosen.loss(point)
    said = lines(example, claim_of(identifier))
    assert told in said
    assert not any(
        re.match("(linear|quadratic|fourth|pooled|ridge|centre|factor|couples) =", x) for x in said
    )


def test_a_size_is_not_told_twice():
    example = Counterexample({"N": 4, "n": 3}, {}, "2", "1", letters={"N": "2"})
    assert lines(example, claim_of("L-proof-prop-5/column-of-ones"))[:2] == ["n = 3", "N = 2"]


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
    example = Counterexample({"N": 2, "n": 1}, {"q": "2"}, "1", "0")
    assert "q = 2" in lines(example, claim_of("L-thm-4a"))


def test_a_hessian_is_told_and_not_what_it_is_the_square_of():
    numbers = {"factor": [["1", "2"]], "step": "3/2"}
    example = Counterexample({"d": 2}, numbers, "3", "2")
    said = sentence(example, claim_of("L-before-prop-5/one-rate-suffices"))
    assert "<i>∇² L</i> = ((1, 2), (2, 4))" in said
    assert "factor" not in said


def test_a_hessian_that_the_formula_does_not_have_is_not_told():
    example = Counterexample({"d": 1}, {"factor": [["2"]]}, "8", "9")
    told = lines(example, claim_of("L-eq-5-6/6/lower-bound"))
    assert told == ["d = 1", "actual = 8", "claimed = 9"]


def test_what_the_formula_does_not_have_is_not_told():
    claim = claim_of("S-obs-4.3/activations/beta-given")
    told = lines(Counterexample({"m": 3}, BATCH, "1", "0"), claim)
    assert "beta = 0" in told
    assert not any(line.startswith("gamma =") for line in told)


@pytest.mark.parametrize(
    ("identifier", "actual", "claimed", "said"),
    [
        ("L-thm-1/rate", "(2, 1058)", "(32, 128)", "in entry 2, 1058 &gt; 128"),
        ("L-prop-10", "(0, 1, 1)", "0", "in entry 2, 1 &gt; 0"),
        ("L-prop-10", "([0.1 +/- 1e-9], [2.50 +/- 1e-9])", "2", "in entry 2, 2.5 &gt; 2"),
        ("L-prop-7", "(0, 1)", "(0, 2)", "(0, 1) ≠ (0, 2)"),
        ("L-prop-7", f"({'0, ' * 9}1)", f"({'0, ' * 9}2)", "in entry 10, 1 ≠ 2"),
        ("L-prop-10", "4.00000000000000", "22500.0000000000", "4 &gt; 22500"),
    ],
)
def test_of_vectors_an_entry_that_fails_is_told(identifier, actual, claimed, said):
    example = Counterexample({"N": 1}, {}, actual, claimed)
    assert sentence(example, claim_of(identifier)).endswith(f"Then {said}.")


def test_every_letter_is_written_without_commands_of_latex():
    read = {x for claim in engine.CLAIMS for found in readers(claim).values() for x in found}
    chosen = {letter for claim in engine.CLAIMS for letter in own(claim).values()}
    told = {x.latex: re.sub("</?sub>", "", written(x)) for x in read | chosen}
    left = re.compile(r"[\\{}^_]|tau|nu|alpha|beta|text")
    assert {latex: text for latex, text in told.items() if left.search(text)} == {}


def test_what_sampling_leaves_open_is_told():
    drawn = Counterexample({"N": 1}, {}, "[0.9268 +/- 0.0062]", "5/6", "sampling", "signs")
    assert claim_of("L-lemma-A2/negative-k").relation is Relation.AT_MOST
    assert "Then 0.9268 ± 0.0062 &gt; 5/6." in sentence(drawn, claim_of("L-lemma-A2/negative-k"))


@pytest.mark.parametrize(
    ("also", "told"), [({}, "N = 2, n = 1"), ({"W": [["3"]]}, "N = 2, n = 1, p = 1")]
)
def test_the_number_of_outputs_is_told_where_something_of_theirs_is_looked_at(also, told):
    example = Counterexample({"N": 2, "n": 1, "p": 1}, {"H": [["1"], ["0"]], **also}, "1", "0")
    claim = claim_of("L-thm-4a")
    assert lines(example, claim)[0] == scope(example, claim) == told


@pytest.mark.parametrize(
    ("identifier", "told"),
    [
        ("L-LN-GN", "N = 1, n = 2, p = 3"),
        ("L-LN-GN/of-BN", "N = 3, n = 2, p = 1"),
        ("L-LN-GN/gradient-rms", "N = 1, n = 3"),
        ("L-thm-1/invariance/open", "n = 2"),
        ("L-thm-1", "d = 2"),
    ],
)
def test_sizes_are_told_by_the_letters_of_what_is_displayed(identifier, told):
    size, given = {"N": 3, "n": 2, "p": 1}, {"H": [["1", "0"]] * 3, "W": [["1", "2"]]}
    if identifier.startswith("L-thm-1"):
        size, given = {"d": 2}, {}
    example = Counterexample(size, given, "1", "0")
    claim = claim_of(identifier)
    proof = Record(identifier, "symbolic", proof=Proof((size,)))
    assert lines(example, claim)[0] == scope(example, claim) == told
    assert entry(claim, [proof]).scope == told


@pytest.mark.parametrize("identifier", ["L-thm-1/rate", "L-thm-1/kink", "L-thm-1/softmax"])
def test_no_size_is_told_of_what_has_none(identifier):
    example = Counterexample({"d": 1}, {}, "2", "1")
    claim = claim_of(identifier)
    assert scope(example, claim) == ""
    assert not sentence(example, claim).startswith("d = ")
