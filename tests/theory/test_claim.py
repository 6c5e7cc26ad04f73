"""A claim's other readings and its corrections are tied to it; a reading says what letters mean."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from theory.claim import (
    Claim,
    Form,
    Hypothesis,
    Location,
    Reading,
    Relation,
    Sides,
    Verdict,
    gradient_in_y,
    hessian_in_y,
    hessian_of_loss,
    letters_of,
)

PRINTED = Claim(
    id="S-one",
    row="S-one",
    locations=(Location("S-final", 1, "Sect. 1", "a few words"),),
    statement="a = b",
    sides=lambda network, at: Sides(at.gamma, at.sigma),
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    remark="a remark",
)


class Quadratic:
    """A network with the loss <z, z>/2, its derivatives by hand as far as the letters need them."""

    y = np.array([0.0, 0.0, 2.0, 2.0])
    gamma, beta, eps, m = 2.0, 1.0, 3.0, 4
    direction = np.array([1.0, 0.0, 0.0, 0.0])
    z = np.array([0.0, 0.0, 2.0, 2.0])
    g = z

    def loss(self, z):
        return z @ z / 2

    def normalized_loss(self, y):
        return y @ y

    def gradient(self, f, x):
        return x if f == self.loss else 2 * x

    def derivative(self, f, x, u):
        return f(x + u) - f(x)


def test_another_reading_is_the_same_statement_under_another_name():
    shared = PRINTED.under(Reading.SHARED_EPSILON, Verdict.REFUTED, corrected_by="S-two")
    assert (shared.id, shared.reading) == ("S-one/eps", Reading.SHARED_EPSILON)
    assert (shared.expected, shared.corrected_by) == (Verdict.REFUTED, "S-two")
    assert shared.form is Form.READING
    unchanged = {"id": "S-one", "reading": PRINTED.reading, "corrected_by": None}
    unchanged["form"] = PRINTED.form
    assert replace(shared, expected=Verdict.PROVED, **unchanged) == PRINTED


def test_a_correction_is_tied_to_what_it_corrects():
    corrected = PRINTED.corrected(relation=Relation.AT_MOST, statement="a <= b")
    assert (corrected.id, corrected.of) == ("S-one/corrected", "S-one")
    assert (corrected.form, corrected.expected) == (Form.CORRECTED, Verdict.PROVED)
    assert (corrected.relation, corrected.statement) == (Relation.AT_MOST, "a <= b")
    assert (corrected.locations, corrected.row) == (PRINTED.locations, PRINTED.row)


def test_a_correction_does_not_repeat_what_is_remarked_of_what_it_corrects():
    wrong = replace(PRINTED, remark="It lacks a factor.", corrected_by="S-two")
    assert (wrong.corrected().remark, wrong.corrected().corrected_by) == ("", None)
    assert wrong.sharpened(remark="It is attained.").remark == "It is attained."


def test_a_sharper_statement_is_tied_to_what_it_sharpens():
    sharper = PRINTED.under(Reading.SHARED_EPSILON, Verdict.PROVED).sharpened("equality")
    assert (sharper.id, sharper.of) == ("S-one/eps/equality", "S-one/eps")
    assert (sharper.form, sharper.reading) == (Form.SHARPENED, Reading.SHARED_EPSILON)
    assert PRINTED.sharpened().id == "S-one/sharpened"


def test_a_correction_may_say_everything_itself():
    settled = PRINTED.corrected(id="S-two", form=Form.SHARPENED, expected=Verdict.SUPPORTED)
    assert (settled.id, settled.form, settled.expected) == (
        "S-two",
        Form.SHARPENED,
        Verdict.SUPPORTED,
    )


def test_a_claim_is_a_value():
    with pytest.raises(FrozenInstanceError):
        PRINTED.id = "S-two"
    assert replace(PRINTED) == PRINTED


@pytest.mark.parametrize("reading", Reading)
def test_each_reading_has_its_suffix(reading):
    suffixes = {other.suffix for other in Reading}
    assert len(suffixes) == len(Reading)
    assert reading.has_epsilon == (reading.suffix != "")


@pytest.mark.parametrize(
    ("reading", "eps", "sigma", "yhat"),
    [
        (Reading.NO_EPSILON, 0.0, 1.0, 1.0),
        (Reading.SHARED_EPSILON, 3.0, 2.0, 0.5),
        (Reading.UNIT_VARIANCE, 3.0, 2.0, 1.0),
    ],
)
def test_a_reading_says_what_sigma_and_yhat_stand_for(reading, eps, sigma, yhat):
    network = Quadratic()
    network.eps = eps
    at = letters_of(network, reading)
    np.testing.assert_array_equal(at.sigma, [sigma])
    np.testing.assert_array_equal(at.yhat, [-yhat, -yhat, yhat, yhat])
    np.testing.assert_array_equal(at.one, [1, 1, 1, 1])
    assert (at.m, at.gamma, at.beta) == (4, 2.0, 1.0)
    np.testing.assert_array_equal(at.g, network.g)


def test_H_is_the_hessian_of_the_loss_at_the_layers_output():
    network = Quadratic()
    at = letters_of(network, Reading.NO_EPSILON)
    np.testing.assert_array_equal(at.H(network.direction), network.direction)
    np.testing.assert_array_equal(hessian_of_loss(network, 3 * network.direction), [3, 0, 0, 0])


def test_derivatives_in_y_are_those_of_the_whole_network():
    network = Quadratic()
    np.testing.assert_array_equal(gradient_in_y(network), 2 * network.y)
    np.testing.assert_array_equal(hessian_in_y(network, network.direction), [2, 0, 0, 0])


def test_both_sides_are_returned_and_not_judged():
    actual, claimed = PRINTED.evaluate(Quadratic())
    assert actual == 2.0
    np.testing.assert_array_equal(claimed, [2.0])


def test_a_hypothesis_is_printed_and_at_least_zero_unless_it_says_otherwise():
    hypothesis = Hypothesis("gamma >= 0", lambda network, at: at.gamma)
    assert (hypothesis.sign, hypothesis.impose, hypothesis.printed) == (
        Relation.AT_LEAST,
        None,
        True,
    )
