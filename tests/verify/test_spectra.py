"""Extreme eigenvalues without the others: the same as with them, of full rank and below."""

import numpy as np
import pytest

from verify import spectra

PHI = spectra.floor(4000, 60)


def gram(columns, seed=0):
    H = np.random.default_rng(seed).standard_normal((4000, columns))
    return H.T @ (H * np.geomspace(1, 1e-2, 4000)[:, None])


@pytest.fixture
def alone(monkeypatch):
    monkeypatch.setattr(spectra, "LARGE", 2)


def assert_extremes(matrix, rank):
    found, values = spectra.extremes(matrix, PHI), np.linalg.eigvalsh(matrix)
    assert found.rank == rank
    np.testing.assert_allclose(found[:2], (values[-1], values[-rank]), rtol=1e-9)


def test_of_full_rank(alone):
    matrix = gram(60)
    assert spectra._of_full_rank(matrix, PHI) is not None
    assert_extremes(matrix, 60)


def test_scaled_columns(alone):
    scale = np.geomspace(1, 1e-4, 60)
    assert_extremes(scale[:, None] * gram(60) * scale, 60)


def test_equal_columns_are_told(alone):
    matrix = gram(60)
    matrix[1], matrix[:, 1] = matrix[0], matrix[:, 0]
    assert spectra._of_full_rank(matrix, PHI) is None
    assert_extremes(matrix, 59)
