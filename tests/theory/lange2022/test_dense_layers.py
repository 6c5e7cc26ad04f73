"""The claims about a dense layer: values by hand, wrong formulas, and the known counterexamples."""

import dataclasses

import numpy as np
import pytest

from theory import batchnorm, preconditioning
from theory.arithmetic.exact import number
from theory.lange2022 import (
    algorithm_1,
    backward_passes,
    batch_renormalization,
    centred_features,
    equation_7_8,
    equation_15,
    layer_and_group_norm,
    literal,
    over_parametrisation,
    proof_7,
    proposition_2,
    proposition_6,
    proposition_6_batchnorm,
    proposition_7,
    proposition_7_statistics,
    theorem_3,
)
from theory.lange2022.counted import Counted, Work
from theory.matrix_claim import Kind
from theory.statement import Relation, Sides, Verdict
from verify.matrices import exact, symbolic
from verify.matrices.lattice import SIZES
from verify.matrices.subjects import Descent, Layer, Maps
from verify.settings import PROFILES, Settings
from verify.tolerance import Outcome

MODULES = [
    algorithm_1, batch_renormalization, equation_7_8, proposition_2, theorem_3, centred_features,
    equation_15, proposition_6, proposition_6_batchnorm, proposition_7, proposition_7_statistics,
    proof_7, over_parametrisation, layer_and_group_norm,
]  # fmt: skip
CLAIMS = {claim.id: claim for module in MODULES for claim in module.CLAIMS}
SMALL = Settings(dataclasses.replace(PROFILES["smoke"], examples=18))


def array(values):
    return np.array(values, dtype=object)


def layer(H, W, b=None, **other):
    """A layer with a loss that is linear in the outputs, 1, 2, 3, ... times them."""
    H, W = array(H), array(W)
    (N, n), p = H.shape, len(W)
    numbers = {
        "gamma": array([1] * n), "beta": array([0] * n), "mean": array([0] * n),
        "deviation": array([1] * n), "curvature": array(range(1, N + 1)),
        "direction": array([1] * (n + 1)), "scaling": array([1] * (n + 1)), "step": 1, "q": 1,
        "couples": 0, "linear": array([[j + 1] * p for j in range(N)]),
        "quadratic": np.full((N, p, p), 0, object), "fourth": np.full((N, p), 0, object),
    }  # fmt: skip
    return Layer(H=H, W=W, b=array([0] * p if b is None else b), **numbers | other)


def decided(name, subject):
    return exact.examine(CLAIMS[name], subject)


def test_ids_are_different_and_every_refuted_claim_has_a_correction():
    assert len(CLAIMS) == sum(len(module.CLAIMS) for module in MODULES)
    for claim in CLAIMS.values():
        if claim.expected is Verdict.REFUTED:
            assert any(other.of == claim.id for other in CLAIMS.values()) or (
                claim.corrected_by in CLAIMS
            ), claim.id


BY_HAND = {
    # H = (0, 4): mean 2, deviation 2
    "L-alg-1/renormalization": ({"H": [[0], [4]], "W": [[1]], "mean": array([1]),
                                 "deviation": array([2])}, "(-1/2, 3/2)"),
    "L-thm-3/eq-14": ({"H": [[0], [4]], "W": [[1]]}, "(1, -1, 1, 1)"),
    "L-steps/193-centred": ({"H": [[0], [4]], "W": [[1]]}, "(1, -2, 1, 2)"),
    "L-steps/195/corrected": ({"H": [[0], [4]], "W": [[1]]}, "4"),
    # v = (3 - 2 * 1)/2^2 = 1/4, and the bias 1 - 2/4
    "L-eq-15": ({"H": [[0]], "W": [[3]], "b": [1], "mean": array([2]), "deviation": array([2])},
                "(1/2, 1/4)"),
    "L-prop-7/any-statistics": ({"H": [[0], [4]], "W": [[3]], "b": [1], "mean": array([2]),
                                 "deviation": array([2])}, "(-2, 4)"),
    # 2 w^2/2 with w = 3 and h = (0, 4): second derivatives 0 and 2, halved
    "L-prop-2": ({"H": [[0], [4]], "W": [[3]], "direction": array([0, 1]),
                  "quadratic": array([[[0]], [[2]]])}, "(4, 16)"),
    "L-overparam": ({"H": [[1], [4]], "W": [[3]], "b": [1], "gamma": array([2]),
                     "beta": array([5])}, "(22, 40)"),
    "L-prop-6/corrected": ({"H": [[0, 0, 0]] * 2, "W": [[0, 0, 0]] * 5}, "143"),
    "L-prop-6/from-zero/corrected": ({"H": [[0, 0, 0]] * 2, "W": [[0, 0, 0]] * 5}, "154"),
    "L-prop-6/BN-backward": ({"H": [[0]] * 3, "W": [[0]]}, "69"),
    "L-prop-6/BN-backward/closed-form": ({"H": [[0]] * 3, "W": [[0]]}, "22"),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_HAND)
def test_values_by_hand(name):
    numbers, value = BY_HAND[name]
    found = decided(name, layer(**numbers))
    assert (found.actual, found.claimed, found.outcome) == (value, value, Outcome.HOLDS)


COUNTEREXAMPLES = {
    "L-alg-1/pre-activation": layer([[0], [1]], [[2]]),
    "L-alg-1/renormalization-gradients": layer([[0], [1]], [[1]]),
    "L-prop-2/later-BN": layer(
        [[0], [1]], [[1]], couples=1, quadratic=array([[[2]], [[2]]]), direction=array([0, 1])
    ),
    "L-thm-3/every-batch": layer([[3]], [[1]]),
    "L-thm-3/other-statistics": layer([[0], [2]], [[1]]),
    "L-eq-15/simultaneous": layer([[0]], [[0]], [1], mean=array([1])),
    "L-prop-6": layer([[0]], [[0]]),
    "L-prop-6/from-zero": layer([[0]], [[0]]),
    "L-prop-6/expected": layer([[0]] * 21, [[0]]),
    "L-prop-7": layer([[0, 0, 0]] * 2, [[1, 1, 1]]),
    # q^2 = n/N = 4 here
    "L-prop-7/step-with-q": layer([[1, 2, 3, 4]], [[1, 1, 1, 1]], q=2),
    "L-prop-7/through-statistics": layer([[0], [2]], [[1]], linear=array([[1], [3]])),
    "L-LN-GN": layer([[1], [2]], [[1]], q=4),
    "L-LN-GN/examples": layer([[1], [2], [6]], [[1]], q=4),
    "L-steps/195": layer([[0], [1]], [[1]]),
    "L-eq-7-8/kept-learning-rate": Descent(
        theta=array([1]), direction=array([1]), factor=array([[1]]), P=array([[2]]), step=1,
        linear=array([0]), fourth=array([0]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTEREXAMPLES)
def test_known_counterexamples(name):
    assert CLAIMS[name].expected is Verdict.REFUTED
    assert decided(name, COUNTEREXAMPLES[name]).outcome is Outcome.VIOLATED


def test_the_notable_numbers():
    found = decided("L-prop-7/through-statistics", COUNTEREXAMPLES["L-prop-7/through-statistics"])
    assert (found.actual, found.claimed) == (
        "0",
        "3",
    )  # sum l_j h_j / (N sigma) = (1 * 0 + 3 * 2)/2
    found = decided("L-eq-7-8/kept-learning-rate", COUNTEREXAMPLES["L-eq-7-8/kept-learning-rate"])
    assert found.actual.startswith("3.0")
    assert found.claimed == "0"
    found = decided("L-alg-1/renormalization-gradients", COUNTEREXAMPLES["L-alg-1/pre-activation"])
    assert found.actual == "(0, 0)"


def wrong(change):
    """Sides whose claimed one is changed."""
    return lambda sides: (
        lambda subject: Sides(sides(subject).actual, change(sides(subject).claimed))
    )


def planted(name, sides):
    return pytest.param(name, sides, id=f"{name}:{sides.__name__}")


def unbiased(subject):
    H = subject.H
    sides = centred_features.norms_divided(subject)
    return Sides(sides.actual * H.shape[0] / (H.shape[0] - 1), sides.claimed)


def step_with_variance_for_deviation(subject):
    P = preconditioning.preconditioner(subject.mean, subject.deviation * subject.deviation)
    product = P @ (P.T @ literal.parameters(subject.W, subject.b)) / (subject.q * subject.q)
    return Sides(equation_15.steps(subject), product)


def step_with_q_for_its_square(subject):
    sides = equation_15.sequential(subject)
    return Sides(sides.actual, sides.claimed * subject.q)


def step_with_transposed_factors(subject):
    P = preconditioning.preconditioner(subject.mean, subject.deviation)
    product = P.T @ (P @ literal.parameters(subject.W, subject.b)) / (subject.q * subject.q)
    return Sides(equation_15.steps(subject), product)


def step_with_the_other_sign(subject):
    P = preconditioning.preconditioner(-subject.mean, subject.deviation)
    product = P @ (P.T @ literal.parameters(subject.W, subject.b)) / (subject.q * subject.q)
    return Sides(equation_15.steps(subject), product)


def descent_at_rate_q(subject):
    ours = subject.mean, subject.deviation
    step = proposition_7.after_bnp(
        subject, ours, ours, subject.q * subject.q, subject.q * subject.step
    )
    return Sides(proposition_7.after_descent(subject, *ours), step)


def hessian_of_centred_inputs(subject):
    a = proposition_2.output_of_unit(subject, proposition_2.unit(subject))
    H = batchnorm.centre(subject.H)
    S = proposition_2.curvatures(subject, a)
    wrong_hessian = preconditioning.unit_hessian(H, S) @ subject.direction
    return Sides(proposition_2.hessian(subject), wrong_hessian)


def hessian_without_mean(subject):
    sides = proposition_2.printed(subject)
    return Sides(sides.actual, sides.claimed * subject.H.shape[0])


def uncentred_jacobian(subject):
    u, s = batch_renormalization.generic(subject), batch_renormalization.corrections(subject)[0]
    shift = batchnorm.jvp(subject.H, u, subject.gamma) + literal.means(u)
    return Sides(batch_renormalization.slope(subject, u), s * shift)


def jacobian_without_s(subject):
    u = batch_renormalization.generic(subject)
    return Sides(
        batch_renormalization.slope(subject, u), batchnorm.jvp(subject.H, u, subject.gamma)
    )


def transposed_chain_rule(subject):
    sides = equation_7_8.gradient(subject)
    slope = subject.gradient(subject.loss, subject.P @ subject.direction)
    return Sides(sides.actual, subject.P @ slope)


def one_layer_norm_for_every_channel(maps):
    channels = maps.h.transpose(1, 0, 2, 3)
    each = batchnorm.normalize(channels, maps.q, axis=(2, 3))
    return Sides(layer_and_group_norm.one_group(maps).actual, each)


def descent_with_a_square(subject):
    gamma = subject.gamma
    sides = over_parametrisation.descent(subject)
    return Sides(sides.actual, sides.claimed + gamma @ gamma)


def fused_in_five(subject):
    N, n, _ = proposition_6.sizes(subject)
    return Sides(proposition_6_batchnorm.CLAIMS[5].sides(subject).actual, 5 * n * N + n)


PLANTED = [
    planted("L-steps/195/corrected", unbiased),
    planted("L-eq-15", step_with_variance_for_deviation),
    planted("L-eq-15", step_with_q_for_its_square),
    planted("L-eq-15", step_with_transposed_factors),
    planted("L-eq-15", step_with_the_other_sign),
    planted("L-prop-7/step-with-q/corrected", descent_at_rate_q),
    planted("L-prop-2", hessian_of_centred_inputs),
    planted("L-prop-2", hessian_without_mean),
    planted("L-alg-1/renormalization-gradients/corrected", uncentred_jacobian),
    planted("L-alg-1/renormalization-gradients/corrected", jacobian_without_s),
    planted("L-eq-7-8", transposed_chain_rule),
    planted("L-LN-GN/one-group", one_layer_norm_for_every_channel),
    planted("L-overparam/descent", descent_with_a_square),
    planted("L-prop-6/BN-backward/closed-form", fused_in_five),
]


@pytest.mark.parametrize(("name", "sides"), PLANTED)
def test_a_wrong_formula_is_refuted(name, sides):
    claim = dataclasses.replace(CLAIMS[name], sides=sides)
    assert exact.search(claim, SMALL).counterexample is not None
    proofs = (symbolic.prove(claim, size) for size in symbolic.SIZES[claim.subject])
    assert "not proved" in proofs


EQUATIONS = [
    name for name, claim in CLAIMS.items()
    if claim.expected is Verdict.PROVED and claim.relation is Relation.EQUAL
]  # fmt: skip


GENERIC = {
    Kind.LAYER: layer(
        [[0, 1], [2, 5], [3, -1]], [[1, 2]], [3], mean=array([1, -2]), deviation=array([2, 3]),
        gamma=array([2, -1]), beta=array([1, 3]), scaling=array([1, 2, -1]), q=2, step=3,
        quadratic=array([[[1]], [[2]], [[-1]]]), fourth=array([[1], [0], [2]]),
    ),
    Kind.MAPS: Maps(
        h=array([[[[1, 2], [0, -1]]], [[[3, 1], [1, 0]]]]), w=array([[[[1]]]]), b=array([0]), q=2,
        direction=array([1, 1]), linear=np.full((2, 1, 2, 2), 1, object),
        fourth=np.full((2, 1, 2, 2), 0, object), pooled=array([0, 0]),
    ),
    Kind.DESCENT: Descent(
        theta=array([1, 2]), direction=array([2, -1]), factor=array([[1, 2], [0, 1]]),
        P=array([[2, 1], [0, 3]]), step=1, linear=array([1, 2]), fourth=array([1, 3]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EQUATIONS)
def test_every_proved_equation_holds_and_can_fail(name):
    claim = CLAIMS[name]
    assert exact.examine(claim, GENERIC[claim.subject]).outcome in (
        Outcome.HOLDS,
        Outcome.UNDECIDED,  # two equal balls
    )
    sides = wrong(lambda claimed: claimed + number("1/1000"))(claim.sides)
    off = exact.examine(dataclasses.replace(claim, sides=sides), GENERIC[claim.subject])
    assert off.outcome is Outcome.VIOLATED


def test_backward_passes_are_the_gradient():
    rng = np.random.default_rng(0)
    x, g, gamma = rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), rng.normal(size=3)
    yhat, sigma = batchnorm.standardize(x)
    inverse = 1 / sigma[0]
    expected = batchnorm.gradient(x, g, gamma)
    for formulas in (backward_passes.literal, backward_passes.termwise, backward_passes.fused):
        in_x, in_gamma, in_beta = formulas(g, x, yhat, x.mean(0), inverse, inverse**3, gamma)
        np.testing.assert_allclose(in_x, expected, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(in_gamma, (g * yhat).sum(0))
        np.testing.assert_allclose(in_beta, g.sum(0))


class Number:
    """A number that counts the operations done with it: what shapes alone should give."""

    done = 0

    def __add__(self, other):
        Number.done += 1
        return Number()

    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __add__

    def __neg__(self):
        return self


def numbers(*shape):
    return array([Number() for _ in range(int(np.prod(shape)))]).reshape(shape)


@pytest.mark.parametrize("sizes", [(2, 1, 1), (3, 2, 2), (5, 4, 3)])
def test_shapes_count_what_numbers_count(sizes):
    N, n, p = sizes
    cases = [
        (lambda of: proposition_6.statistics(of(N, n)), [(N, n)]),
        (lambda of: preconditioning.preconditioned_gradient(
            of(p), of(p, n), of(n), of(n), q_squared=2), []),
        *((lambda of, f=f: f(of(N, n), of(N, n), of(N, n), *(of(n) for _ in range(4))), [])
          for f in (backward_passes.literal, backward_passes.fused)),
    ]  # fmt: skip
    for run, _ in cases:
        work = Work()
        run(lambda *shape, work=work: Counted(shape, work))
        Number.done = 0
        run(numbers)
        assert Number.done == work.done


def test_sizes_of_the_lattice_reach_two_outputs():
    assert any(p > 1 for _, _, p in SIZES[algorithm_1.STEPS.subject])
