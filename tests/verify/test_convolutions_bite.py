"""Large convolutions: no planted mistake passes, and bounds that are attained are seen to be."""

from dataclasses import replace

import numpy as np
import pytest

from theory import convolution
from verify.backends import Backend
from verify.convolutions import (
    border,
    checks,
    conditioning,
    examination,
    hessian,
    losses,
    preconditioner,
    run,
    statistics,
)
from verify.convolutions.arrays import ArrayLayer
from verify.options import Options
from verify.subjects import convolutions as cases
from verify.subjects.convolutions import SMALL, Shape
from verify.tolerance import Outcome

PLAIN, STRIDED = SMALL[1], SMALL[2]
GRAM, MEANS, VARIANCES = "Gram matrix", "means of the columns", "variances of the columns"
P = "columns centred, of one norm"


def found(shape=PLAIN):
    return examination.examine(shape, 2, run.describe(Options("smoke")))


def transposed(h, v, kernel, right, **options):
    weights, bias = right(h, v, kernel, **options)
    return weights.swapaxes(2, 3), bias


def without_bias(h, v, kernel, right, **options):
    weights, bias = right(h, v, kernel, **options)
    return weights, 0 * bias


def shifted(h, *rest, right, **options):
    """Windows that start one pixel late."""
    return right(np.roll(h, 1, axis=3), *rest, **options)


def wrapped(h, kernel, right, **options):
    """The map again where its padding should be zeros."""
    margin = kernel // 2
    around = np.pad(h, ((0, 0), (0, 0), (margin, margin), (margin, margin)), mode="wrap")
    return right(around, kernel, padding="valid", **options)


def with_stride_1(*arguments, right, stride=1, **options):
    return right(*arguments, stride=1, **options)


def without_coupling(loss, a, right):
    """The diagonal of the curvature alone."""
    return right(replace(loss, functionals=0 * a[None]), a)


PLANTED = [
    (convolution, "apply_transposed", transposed, {checks.PER_SAMPLE, checks.LATER_WHOLE}),
    (convolution, "apply_transposed", without_bias, {checks.PER_SAMPLE}),
    (convolution, "apply", shifted, {checks.PER_SAMPLE}),
    (convolution, "gram", wrapped, {GRAM}),
    (convolution, "gram", with_stride_1, {GRAM}),
    (convolution, "column_means", wrapped, {MEANS}),
    (convolution, "column_means", with_stride_1, {MEANS}),
    (convolution, "column_variances", wrapped, {VARIANCES}),
    (convolution, "column_variances", shifted, {P}),
    (losses.SampleLoss, "hessian", without_coupling, {checks.PER_SAMPLE}),
    (
        losses.SampleLoss,
        "hessian",
        lambda loss, a, right: lambda v: (1 + 1e-11) * right(loss, a)(v),
        {checks.PER_SAMPLE},
    ),
    (
        losses.SampleLoss,
        "gradient",
        lambda loss, a, right: 0 * right(loss, a),
        {checks.LATER_WHOLE},
    ),
    (
        preconditioner,
        "preconditioned",
        lambda gram, means, *rest, right: right(gram, -means, *rest),
        {P, "centring"},
    ),
]


@pytest.mark.parametrize(("owner", "name", "wrong", "readings"), PLANTED)
def test_a_planted_mistake_is_found(owner, name, wrong, readings, monkeypatch):
    right = getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *given, **o: wrong(*given, right=right, **o))
    finding = found(STRIDED if wrong is with_stride_1 else PLAIN)
    unexpected = [c for c in finding.checks if c.is_unexpected]
    assert readings <= {c.reading for c in unexpected if c.expected is Outcome.HOLDS}


def test_blocks_that_couple_examples_would_be_noticed(monkeypatch):
    """The check that must fail passes with the whole S, which is not as expected."""
    monkeypatch.setattr(hessian, "block_diagonal", lambda S: S)
    check = found().check(checks.LATER_BLOCKS)
    assert check.outcome is Outcome.HOLDS
    assert check.is_unexpected


def test_condition_numbers_are_compared_where_double_precision_resolves_them():
    layer = cases.layer(PLAIN, 2, 0)
    there = ArrayLayer.of(layer, Backend())

    def spectrum(gram):
        return conditioning.spectrum(gram, there)

    gram = convolution.gram(layer.maps, 3)
    plain = spectrum(gram)
    centred = spectrum(preconditioner.centred(gram, statistics.measure(there), there))
    assert conditioning.centring(plain, centred).outcome is Outcome.HOLDS
    assert conditioning.centring(centred, plain).outcome is Outcome.VIOLATED
    layer.maps[:, 1] = layer.maps[:, 0]
    singular = spectrum(convolution.gram(layer.maps, 3))
    assert (singular.rank, singular.most) == (28, 37)
    assert conditioning.centring(singular, singular).outcome is Outcome.UNDECIDED


# The border: bounds that are attained


def test_a_constant_map_attains_every_bound(monkeypatch):
    layer = cases.layer(PLAIN, 2, 0)
    layer.maps[...] = 2
    measured = statistics.measure(ArrayLayer.of(layer, Backend()))

    def examined():
        by_reading = {check.reading: check for check in statistics.examine(layer, measured)}
        return [by_reading[r] for r in ("mean, as printed", "mean, sharpened", "variance, ours")]

    assert [check.value for check in examined()] == pytest.approx([1, 1, 1], rel=1e-12)
    assert [check.outcome for check in examined()] == [Outcome.HOLDS] * 3
    for name in ("printed_factor", "theta"):
        right = getattr(border, name)
        monkeypatch.setattr(border, name, lambda shape, right=right: right(shape) * (1 - 1e-9))
    assert [check.outcome for check in examined()] == [Outcome.VIOLATED] * 3


@pytest.mark.parametrize(
    ("kernel", "size", "stride"), [(1, 5, 2), (3, 4, 1), (3, 5, 3), (3, 8, 2), (5, 4, 2), (5, 8, 1)]
)
def test_the_share_is_the_sum_of_the_weights_differences(kernel, size, stride):
    """The weights of each entry of the map in a column's mean are the column means of units."""
    shape = Shape("", "", 1, 1, kernel, stride, size)
    units = np.eye(size * size).reshape(1, -1, size, size)
    weights = convolution.column_means(units, **shape.geometry)
    shares = np.sum(np.abs(weights - 1 / size**2), axis=0)
    np.testing.assert_allclose(border.theta(shape), shares, atol=1e-14)
    worst = np.where(weights[:, 0, 0] > 1 / size**2, 1.0, -1.0).reshape(1, 1, size, size)
    change = convolution.column_means(worst, **shape.geometry)[0, 0, 0] - worst.mean()
    assert change == pytest.approx(shares[0, 0])
    if stride == 1:
        assert border.printed_factor(shape) == pytest.approx(border.theta(shape).max())


@pytest.mark.parametrize("stride", [1, 2])
def test_no_map_of_signs_exceeds_the_variance_bounds_and_the_border_attains_one(stride):
    shape = Shape("", "", 1, 1, 3, stride, 4)
    numbers = np.arange(0, 2**16, 37)
    signs = 2.0 * ((numbers[:, None] >> np.arange(16)) & 1) - 1
    maps = np.append(signs, np.ones((1, 16)), axis=0).reshape(1, -1, 4, 4)
    maps[0, -1, :3, :3] = -1  # what the kernel's first entry meets
    variances = convolution.column_variances(maps, **shape.geometry)
    change = variances - maps.var(axis=(0, 2, 3))[:, None, None]
    less, more = border.variance_bounds(shape)
    assert (change <= more + 1e-12).all()
    assert (change >= -less - 1e-12).all()
    assert stride == 2 or change[-1, 0, 0] == pytest.approx(-less[0, 0])
