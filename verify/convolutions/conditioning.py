r"""Theorem 4 for a convolution: condition numbers before and after preconditioning.

From the Gram matrix, :math:`\kappa(\hat{\mathcal H}P)^2` is the ratio of the largest to the least
nonzero eigenvalue of :math:`P^\top\hat{\mathcal H}^\top\hat{\mathcal H}P`.  In double precision
an eigenvalue is off by about :math:`\phi` over the largest (:mod:`verify.spectra`), so that
:math:`\kappa` is resolved up to :math:`1/\sqrt\phi`, a million or more at every size here, with a
relative error of at most :math:`\phi\kappa^2/2`.

Source: Lange, Helfrich and Ye 2022, Theorem 4; its D0 = I is one of the choices.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

from verify.convolutions.arrays import ArrayLayer
from verify.convolutions.checks import Check
from verify.spectra import extremes, floor
from verify.tolerance import Outcome

CENTRING = "L-thm-4a"
SCALING = "L-thm-4c"


@dataclass(frozen=True)
class Spectrum:
    """The extreme nonzero eigenvalues of a Gram matrix."""

    largest: float
    least: float
    rank: int
    most: int
    """The largest rank that the matrix can have: the smaller of its rows and columns unfolded."""
    columns: int
    floor: float
    """phi"""

    @property
    def condition(self) -> float:
        """The condition number of the unfolded matrix; a lower bound if it is not resolved.

        >>> Spectrum(9.0, 1.0, 2, 2, 2, 1e-14).condition
        3.0
        """
        return sqrt(self.largest / self.least)

    @property
    def relative_error(self) -> float:
        """Of the condition number."""
        return self.floor * self.condition**2 / 2

    @property
    def is_resolved(self) -> bool:
        """Whether every eigenvalue that can differ from zero was seen to."""
        return self.rank == self.most


def spectrum(gram: Any, layer: ArrayLayer) -> Spectrum:
    """Return the spectrum of the Gram matrix of the layer's unfolded matrix, preconditioned."""
    matrix = layer.backend.to_numpy(gram)
    columns, phi = len(matrix), floor(layer.rows, len(matrix))
    found = extremes(matrix, phi)
    most = min(layer.rows, columns)
    return Spectrum(*found, most, columns, phi)


def centring(plain: Spectrum, centred: Spectrum) -> Check:
    r"""Compare :math:`\kappa(\hat{\mathcal H}U)` with :math:`\kappa(\hat{\mathcal H})`.

    Without full column rank the theorem says nothing; the ratio is kept.
    """
    ratio, allowed, outcome = _at_most(centred, plain, 1.0)
    if plain.most < plain.columns:
        outcome = Outcome.VACUOUS
    return Check(CENTRING, "centring", ratio, allowed, outcome)


def scaling(centred: Spectrum, normalized: Spectrum, rows: int) -> list[Check]:
    r"""Compare :math:`\kappa(\hat{\mathcal G})` with that of the centred matrix, times a factor.

    The factor is :math:`\sqrt{n+1}` as printed, and the norm of :math:`\hat{\mathcal G}` over
    that of a column, :math:`\sqrt{\lambda_{\max}(R)} \le \sqrt n`, sharpened.
    """
    factors = {"printed": sqrt(normalized.columns), "sharpened": sqrt(normalized.largest / rows)}
    return [
        Check(SCALING, f"scaling, {form}", *_at_most(normalized, centred, factor))
        for form, factor in factors.items()
    ]


def _at_most(actual: Spectrum, claimed: Spectrum, factor: float) -> tuple[float, float, Outcome]:
    ratio = actual.condition / (factor * claimed.condition)
    allowed = 1 + actual.relative_error + claimed.relative_error
    if not (actual.is_resolved and claimed.is_resolved):
        return ratio, allowed, Outcome.UNDECIDED
    return ratio, allowed, Outcome.HOLDS if ratio <= allowed else Outcome.VIOLATED
