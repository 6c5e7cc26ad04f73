"""The strata of matrices are as nasty as their names."""

import numpy as np
import pytest

from verify.matrices.strata import STRATA

SHAPES = [(40, 5), (7, 4, 6, 5)]


def drawn(name, shape):
    return [STRATA[name](np.random.default_rng(seed), shape) for seed in range(30)]


def by_feature(h):
    """All entries of a column or a channel: (feature, entries)."""
    return np.moveaxis(h, 1, 0).reshape(h.shape[1], -1)


def median(measure, name, shape):
    return np.median([measure(by_feature(h)) for h in drawn(name, shape)])


def offset(features):
    return np.max(np.abs(features.mean(1)) / features.std(1))


def spread_of_scales(features):
    return features.std(1).max() / features.std(1).min()


def dependence(features):
    values = np.linalg.svd(features, compute_uv=False)
    return values[0] / values[1]


def reach(features):
    """How far the outermost entry is from zero, in the median distance."""
    return np.abs(features).max() / np.median(np.abs(features))


EXTREME = {
    "large offset": (offset, 50),
    "badly scaled": (spread_of_scales, 50),
    "nearly dependent": (dependence, 100),
    "heavy tails": (reach, 12),
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", EXTREME)
def test_a_stratum_has_what_it_is_named_for_and_the_others_have_not(name, shape):
    measure, least = EXTREME[name]
    assert median(measure, name, shape) > least
    assert median(measure, "gaussian", shape) < least / 2


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", STRATA)
def test_entries_are_finite_floats_of_the_shape_and_vary(name, shape):
    for h in drawn(name, shape):
        assert h.shape == shape
        assert h.dtype == np.float64
        assert np.all(np.isfinite(h))
    assert len({h.tobytes() for h in drawn(name, shape)}) == 30


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rectified_features_are_not_negative_and_some_are_dead_or_mostly(shape):
    zeros = [np.mean(by_feature(h) == 0, axis=1) for h in drawn("rectified", shape)]
    assert all(np.all(h >= 0) for h in drawn("rectified", shape))
    assert np.min(zeros) < 0.2
    assert np.max(zeros) > 0.9


@pytest.mark.parametrize("shape", [*SHAPES, (5, 3)], ids=str)
def test_duplicates_have_at_most_half_the_examples(shape):
    for h in drawn("duplicates", shape):
        assert len(np.unique(h, axis=0)) == -(-shape[0] // 2)
