"""Large convolutions: no planted mistake passes, and bounds that are attained are seen to be."""

from dataclasses import replace

import numpy as np
import pytest

from theory import convolution
from verify.backends import Backend
from verify.cases import convolutions as cases
from verify.cases.convolutions import SMALL, Shape
from verify.convolutions import (
    border,
    conditioning,
    hessian,
    losses,
    preconditioner,
    run,
    statistics,
)
from verify.convolutions.arrays import ArrayLayer
from verify.options import Options
from verify.tolerance import Outcome

PLAIN, STRIDED = SMALL[1], SMALL[2]
OPTIONS = Options("smoke")


def found(shape=PLAIN):
    return run.examine(shape, 2, run.describe(OPTIONS))


def violated(finding):
    """The readings that were expected to hold and do not."""
    return {c.reading for c in finding.checks if c.is_unexpected and c.expected is Outcome.HOLDS}


def transposed(function):
    def wrong(h, v, kernel, **options):
        weights, bias = function(h, v, kernel, **options)
        return weights.swapaxes(2, 3), bias

    return wrong


def without_bias(function):
    def wrong(h, v, kernel, **options):
        weights, bias = function(h, v, kernel, **options)
        return weights, 0 * bias

    return wrong


def shifted(function):
    """Windows that start one pixel late."""
    return lambda h, *rest, **options: function(np.roll(h, 1, axis=3), *rest, **options)


def wrapped(function):
    """The map again where its padding should be zeros."""

    def wrong(h, kernel, **options):
        margin = kernel // 2
        around = np.pad(h, ((0, 0), (0, 0), (margin, margin), (margin, margin)), mode="wrap")
        return function(around, kernel, padding="valid", **options)

    return wrong


def other_stride(function):
    return lambda *arguments, stride=1, **options: function(*arguments, stride=1, **options)


def of_channels(function):
    """The channel's own statistic at each entry of the kernel."""

    def wrong(h, kernel, **options):
        return function(h, 1) * np.ones((1, kernel, kernel))

    return wrong


def transposed_entries(function):
    return lambda h, kernel, **options: function(h, kernel, **options).swapaxes(1, 2)


def transposed_gram(function):
    def wrong(h, kernel, **options):
        order = np.arange(h.shape[1] * kernel**2).reshape(-1, kernel, kernel).swapaxes(1, 2)
        order = np.concatenate([[0], 1 + order.ravel()])
        return function(h, kernel, **options)[np.ix_(order, order)]

    return wrong


def gram_without_bias(function):
    def wrong(h, kernel, **options):
        gram = function(h, kernel, **options)
        gram[0, 1:] = gram[1:, 0] = 0
        return gram

    return wrong


PLANTED = {
    "product, transposed kernel": ("apply_transposed", transposed, PLAIN, hessian.PER_SAMPLE),
    "product, no bias": ("apply_transposed", without_bias, PLAIN, hessian.PER_SAMPLE),
    "product, shifted": ("apply_transposed", shifted, STRIDED, hessian.PER_SAMPLE),
    "convolution, shifted": ("apply", shifted, STRIDED, hessian.PER_SAMPLE),
    "later, transposed kernel": ("apply_transposed", transposed, PLAIN, hessian.LATER_WHOLE),
    "Gram, transposed kernel": ("gram", transposed_gram, PLAIN, "Gram matrix"),
    "Gram, no bias": ("gram", gram_without_bias, PLAIN, "Gram matrix"),
    "Gram, no zeros": ("gram", wrapped, PLAIN, "Gram matrix"),
    "Gram, shifted": ("gram", shifted, STRIDED, "Gram matrix"),
    "Gram, stride 1": ("gram", other_stride, STRIDED, "Gram matrix"),
    "means of channels": ("column_means", of_channels, PLAIN, "means of the columns"),
    "means, transposed": ("column_means", transposed_entries, PLAIN, "means of the columns"),
    "means, no zeros": ("column_means", wrapped, PLAIN, "means of the columns"),
    "means, stride 1": ("column_means", other_stride, STRIDED, "means of the columns"),
    "variances of channels": ("column_variances", of_channels, PLAIN, "variances of the columns"),
    "variances, no zeros": ("column_variances", wrapped, PLAIN, "variances of the columns"),
    "P of channels' means": ("column_means", of_channels, PLAIN, "columns centred, of one norm"),
    "P of shifted variances": ("column_variances", shifted, PLAIN, "columns centred, of one norm"),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_mistake_is_found(planted, monkeypatch):
    name, mistake, shape, reading = PLANTED[planted]
    assert reading not in violated(found(shape))
    monkeypatch.setattr(convolution, name, mistake(getattr(convolution, name)))
    assert reading in violated(found(shape))


WRONG_CURVATURES = {
    "diagonal alone": lambda right, loss, a: right(replace(loss, functionals=0 * a[None]), a),
    "no 1/N": lambda right, loss, a: lambda v: a.shape[0] * right(loss, a)(v),
    "at another point": lambda right, loss, a: right(loss, 1.01 * a),
    "a little too much": lambda right, loss, a: lambda v: (1 + 1e-11) * right(loss, a)(v),
}


@pytest.mark.parametrize("planted", WRONG_CURVATURES)
def test_another_curvature_is_found(planted, monkeypatch):
    right, wrong = losses.SampleLoss.hessian, WRONG_CURVATURES[planted]
    monkeypatch.setattr(losses.SampleLoss, "hessian", lambda loss, a: wrong(right, loss, a))
    assert hessian.PER_SAMPLE in violated(found())


def test_a_later_batch_norm_without_its_gradient_term_is_found(monkeypatch):
    right = losses.SampleLoss.gradient
    monkeypatch.setattr(losses.SampleLoss, "gradient", lambda self, a: 0 * right(self, a))
    assert violated(found()) == {hessian.LATER_WHOLE}


def test_blocks_that_couple_examples_would_be_noticed(monkeypatch):
    """The check that must fail passes with the whole S, which is not as expected."""
    monkeypatch.setattr(hessian, "block_diagonal", lambda S: S)
    check = found().check(hessian.LATER_BLOCKS)
    assert check.outcome is Outcome.HOLDS
    assert check.is_unexpected


def test_a_preconditioner_that_adds_the_mean_is_found(monkeypatch):
    right = preconditioner.preconditioned
    monkeypatch.setattr(
        preconditioner, "preconditioned", lambda gram, means, *rest: right(gram, -means, *rest)
    )
    assert violated(found()) >= {"columns centred, of one norm", "centring"}


def test_condition_numbers_the_other_way_round_are_found():
    there = ArrayLayer.of(cases.layer(PLAIN, 2, 0), Backend())
    gram = convolution.gram(there.maps, **PLAIN.geometry)
    spectra = [
        conditioning.spectrum(matrix, there)
        for matrix in (gram, preconditioner.centred(gram, statistics.measure(there), there))
    ]
    assert conditioning.centring(*spectra).outcome is Outcome.HOLDS
    assert conditioning.centring(*reversed(spectra)).outcome is Outcome.VIOLATED


def test_a_condition_number_beyond_double_precision_decides_nothing():
    layer = cases.layer(PLAIN, 2, 0)
    maps = layer.maps.copy()
    maps[:, 1] = maps[:, 0]
    there = ArrayLayer.of(replace(layer, maps=maps), Backend())
    spectrum = conditioning.spectrum(convolution.gram(maps, 3), there)
    assert (spectrum.rank, spectrum.most) == (28, 37)
    assert conditioning.centring(spectrum, spectrum).outcome is Outcome.UNDECIDED


# The border: bounds that are attained


def constant(shape, value=2.0):
    layer = cases.layer(shape, 2, 0)
    return replace(layer, maps=np.full_like(layer.maps, value))


def border_checks(layer):
    there = ArrayLayer.of(layer, Backend())
    checks = statistics.examine(layer, statistics.measure(there))
    return {check.reading: check for check in checks}


def test_a_constant_map_attains_every_bound(monkeypatch):
    checks = border_checks(constant(PLAIN))
    for reading in ("mean, as printed", "mean, sharpened", "variance, ours"):
        assert checks[reading].value == pytest.approx(1, rel=1e-12)
        assert checks[reading].outcome is Outcome.HOLDS
    for name in ("printed_factor", "theta"):
        right = getattr(border, name)
        monkeypatch.setattr(border, name, lambda shape, right=right: right(shape) * (1 - 1e-9))
    checks = border_checks(constant(PLAIN))
    for reading in ("mean, as printed", "mean, sharpened", "variance, ours"):
        assert checks[reading].outcome is Outcome.VIOLATED


@pytest.mark.parametrize("kernel", [1, 3, 5])
@pytest.mark.parametrize("size", [4, 5, 8])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_the_share_is_the_sum_of_the_weights_differences(kernel, size, stride):
    """The weights of each entry of the map in a column's mean are the column means of units."""
    shape = Shape("", "", 1, 1, kernel, stride, size)
    units = np.eye(size * size).reshape(-1, 1, size, size)
    weights = [convolution.column_means(unit[None], **shape.geometry)[0] for unit in units]
    shares = np.sum(np.abs(np.stack(weights) - 1 / size**2), axis=0)
    np.testing.assert_allclose(border.theta(shape), shares, atol=1e-14)
    worst = np.where(np.stack(weights)[:, 0, 0] > 1 / size**2, 1.0, -1.0).reshape(1, 1, size, size)
    change = convolution.column_means(worst, **shape.geometry)[0, 0, 0] - worst.mean()
    assert change == pytest.approx(shares[0, 0])
    if stride == 1:
        assert border.printed_factor(shape) == pytest.approx(border.theta(shape).max())


@pytest.mark.parametrize("stride", [1, 2])
def test_no_map_of_signs_exceeds_the_variance_bounds(stride):
    shape = Shape("", "", 1, 1, 3, stride, 4)
    less, more = border.variance_bounds(shape)
    for number in range(0, 2**16, 37):
        bits = (number >> np.arange(16)) & 1
        maps = (2.0 * bits - 1).reshape(1, 1, 4, 4)
        change = convolution.column_variances(maps, **shape.geometry)[0] - maps.var()
        assert (change <= more + 1e-12).all()
        assert (change >= -less - 1e-12).all()


def test_the_variance_is_least_where_the_border_has_the_other_sign():
    shape = Shape("", "", 1, 1, 3, 1, 4)
    maps = np.ones((1, 1, 4, 4))
    maps[..., :3, :3] = -1  # what the kernel's first entry meets
    change = convolution.column_variances(maps, 3)[0, 0, 0] - maps.var()
    assert change == pytest.approx(-border.variance_bounds(shape)[0][0, 0])
