"""Extreme eigenvalues without the others: the same as with them, of full rank and below."""

import numpy as np
import pytest

from verify import spectra

PHI = spectra.floor(4000, 60)
GRAM = np.cov(np.random.default_rng(0).standard_normal((60, 4000)) * np.geomspace(1, 0.1, 4000))
SCALE = np.geomspace(1, 1e-4, 60)
EQUAL_COLUMNS = GRAM[np.ix_([0, 0, *range(2, 60)], [0, 0, *range(2, 60)])]


@pytest.mark.parametrize(
    ("matrix", "rank"), [(GRAM, 60), (SCALE[:, None] * GRAM * SCALE, 60), (EQUAL_COLUMNS, 59)]
)
def test_extremes_found_alone_are_those_of_all_eigenvalues(matrix, rank, monkeypatch):
    monkeypatch.setattr(spectra, "LARGE", 2)
    found, values = spectra.extremes(matrix, PHI), np.linalg.eigvalsh(matrix)
    assert found.rank == rank
    np.testing.assert_allclose(found[:2], (values[-1], values[-rank]), rtol=1e-9)
    assert (spectra._of_full_rank(matrix, PHI) is None) == (rank < 60)
