r"""Condition numbers of a layer's inputs, before and after preconditioning.

.. math:: \kappa(A) = \sigma_{\max}/\sigma^*_{\min}, \qquad
          \kappa(D) = \frac{\max(1, \max_j 1/\sigma_j)}{\min(1, \min_j 1/\sigma_j)}

from the Gram matrices of :math:`\hat H`, :math:`\hat H U` and :math:`\hat G = \hat H P`.  In
float64 an eigenvalue is off by about

.. math:: \phi = 2^{-53}\,(64\,(1 + \log_2 N) + n + 1)

of the largest, so that :math:`\kappa` is resolved up to :math:`1/\sqrt\phi`, about a million, with
the relative error :math:`\phi\kappa^2/2`; what is below counts as zero.  A feature that does not
vary over the batch has no deviation to divide by, and P leaves it out.

Source: Lange, Helfrich and Ye 2022, sect. 3.3, Theorem 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan, sqrt

import torch
from torch import Tensor, nn

from verify.audit import gramian
from verify.spectra import floor


@dataclass(frozen=True)
class Spectrum:
    """The extreme eigenvalues of a Gram matrix that are not zero."""

    largest: float
    least: float
    rank: int
    size: int
    rows: int
    floor: float

    @property
    def kappa(self) -> float:
        """The condition number of the matrix whose Gram matrix it is."""
        return sqrt(self.largest / self.least)

    @property
    def relative_error(self) -> float:
        """Of kappa; infinite where an eigenvalue may or may not be zero."""
        is_resolved = self.rank == min(self.rows, self.size)
        return self.floor * self.kappa**2 / 2 if is_resolved else inf

    @property
    def is_full(self) -> bool:
        """Whether no eigenvalue is zero."""
        return self.rank == self.size


@dataclass(frozen=True)
class Conditioning:
    """The inputs of one group of a layer's channels."""

    group: int
    rows: int
    columns: int
    plain: Spectrum
    centred: Spectrum
    normalized: Spectrum
    scaling: float
    r""":math:`\kappa(D)`"""
    constant: int
    """Features that do not vary."""
    mean: Tensor
    deviation: Tensor
    """Of the features that vary."""
    varying: Tensor

    @property
    def is_full_rank(self) -> bool:
        r"""Whether :math:`\hat H` has full column rank, as Theorem 4 assumes."""
        return self.rows >= self.columns and self.plain.is_full

    @property
    def gain(self) -> float:
        """What preconditioning divides the bound on the Hessian's condition number by."""
        return (self.plain.kappa / self.normalized.kappa) ** 2


def conditioning(module: nn.Module, inputs: Tensor) -> Conditioning:
    """Return the condition numbers of a layer's inputs; of its worst group if there are several.

    Args:
        module: linear, or a convolution.
        inputs: what it is given.
    """
    grams, rows = gramian.gram(module, inputs)
    means, variances = gramian.moments(module, inputs)
    phi = floor(rows, grams.shape[-1])
    spectra = [_spectrum(values, rows, phi) for values in torch.linalg.eigvalsh(grams)]
    group = max(range(len(grams)), key=lambda i: spectra[i].kappa)
    gram, mean, variance = grams[group], means[group], variances[group]
    varying = variance > 0
    kept = torch.cat([varying.new_ones(1), varying])
    chosen = gram[kept][:, kept]
    mean, deviation = mean[varying], variance[varying].sqrt()
    centred = gramian.preconditioned(chosen, mean, torch.ones_like(deviation))
    # The first row and column are those of the ones, which U makes orthogonal to the others.
    blocks = [torch.linalg.eigvalsh(m[1:, 1:]) for m in (centred, _scaled(centred, deviation))]
    ones = gram.new_tensor([rows])
    scales = torch.cat([torch.ones_like(ones), 1 / deviation])
    return Conditioning(
        group=group,
        rows=rows,
        columns=len(gram),
        plain=spectra[group],
        centred=_spectrum(torch.cat([ones, blocks[0]]), rows, phi),
        normalized=_spectrum(torch.cat([ones, blocks[1]]), rows, phi),
        scaling=(scales.max() / scales.min()).item(),
        constant=int((~varying).sum()),
        mean=mean,
        deviation=deviation,
        varying=kept,
    )


def _scaled(gram: Tensor, deviation: Tensor) -> Tensor:
    scale = torch.cat([torch.ones_like(deviation[:1]), 1 / deviation])
    return scale[:, None] * gram * scale


def _spectrum(values: Tensor, rows: int, phi: float) -> Spectrum:
    largest = values.max()
    nonzero = values[values > phi * largest]
    if not len(nonzero):
        return Spectrum(nan, nan, 0, len(values), rows, phi)
    return Spectrum(largest.item(), nonzero.min().item(), len(nonzero), len(values), rows, phi)
