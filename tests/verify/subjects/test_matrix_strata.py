"""The strata of matrices are as nasty as their names."""

import numpy as np
import pytest

from verify.subjects.matrix_strata import STRATA

SHAPES = [(40, 5), (7, 4, 6, 5)]


def drawn(name, shape):
    return [STRATA[name](np.random.default_rng(seed), shape) for seed in range(30)]


def features(h):
    """All entries of a column or a channel: (feature, entries)."""
    return np.moveaxis(h, 1, 0).reshape(h.shape[1], -1)


def dependence(h):
    values = np.linalg.svd(features(h), compute_uv=False)
    return values[0] / values[1]


EXTREME = {
    "large offset": (lambda h: np.max(np.abs(features(h).mean(1)) / features(h).std(1)), 50),
    "badly scaled": (lambda h: features(h).std(1).max() / features(h).std(1).min(), 50),
    "nearly dependent": (dependence, 100),
    "heavy tails": (lambda h: np.abs(h).max() / np.median(np.abs(h)), 12),
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_each_stratum_has_what_it_is_named_for_and_the_others_have_not(shape):
    for name in STRATA:
        matrices = drawn(name, shape)
        assert all(h.shape == shape and h.dtype == np.float64 for h in matrices)
        assert np.all(np.isfinite(matrices))
        assert len({h.tobytes() for h in matrices}) == 30
    for name, (measure, least) in EXTREME.items():
        assert np.median([*map(measure, drawn(name, shape))]) > least
        assert np.median([*map(measure, drawn("gaussian", shape))]) < least / 2
    rectified = drawn("rectified", shape)
    dead = [np.mean(features(h) == 0, axis=1) for h in rectified]
    assert np.min(rectified) >= 0
    assert np.min(dead) < 0.2 < 0.9 < np.max(dead)


def spread_of_sizes(h):
    """The largest example over the smallest."""
    sizes = np.abs(h).reshape(len(h), -1).max(1)
    return sizes.max() / sizes.min()


def test_examples_of_several_sizes_have_entries_of_one_each():
    for h in drawn("several sizes", SHAPES[0]):
        own = np.abs(h).max(1, keepdims=True)
        assert {*np.unique(own)} <= {0, 1, 10, 100, 1000}
        assert {*np.unique(h / np.where(own, own, 1))} == {-1, 0, 1}
    maps = drawn("several sizes", SHAPES[1])
    assert np.median([*map(spread_of_sizes, maps)]) >= 100
    assert np.median([*map(spread_of_sizes, drawn("gaussian", SHAPES[1]))]) < 10


@pytest.mark.parametrize("shape", [*SHAPES, (5, 3)], ids=str)
def test_duplicates_have_at_most_half_the_examples(shape):
    for h in drawn("duplicates", shape):
        assert len(np.unique(h, axis=0)) == -(-shape[0] // 2)
