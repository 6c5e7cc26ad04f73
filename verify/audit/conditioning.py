r"""Condition numbers of a layer's inputs, before and after preconditioning.

.. math:: \kappa(A) = \sigma_{\max}/\sigma^*_{\min}, \qquad
          \kappa(D) = \frac{\max(1, \max_j 1/\sigma_j)}{\min(1, \min_j 1/\sigma_j)}

for :math:`\hat H`, :math:`\hat HU` and :math:`\hat G = \hat HP`.  The correlations of the features,
:math:`R`, are sums of products of deviations, and with :math:`R = LL^\top` and
:math:`\Sigma = \mathrm{diag}(\sigma_j)`

.. math:: \frac1N\hat G^\top\hat G = \begin{pmatrix}1 & 0\\ 0 & R\end{pmatrix}, \qquad
          \frac1{\sqrt N}\hat HU \sim \begin{pmatrix}1 & 0\\ 0 & L^\top\Sigma\end{pmatrix}, \qquad
          \frac1{\sqrt N}\hat H \sim \begin{pmatrix}1 & \mu^\top\\ 0 & L^\top\Sigma\end{pmatrix},

where :math:`\sim` is up to a matrix with orthonormal columns from the left.  So no offset and no
scale of a feature is squared.  In float64 an eigenvalue of R is off by about

.. math:: \phi = 2^{-53}\,(64\,(1 + \log_2 N) + n + 1)

of the largest, so that L is off by the factor :math:`1 + \phi\kappa^2(\hat G)/2`.  Where that is
too much L is made of the rows by orthogonal transformations, and off by the factor
:math:`1 + \phi\kappa(\hat G)`; what is below :math:`\phi` of its largest singular value counts as
zero.  A singular value of the others is off by :math:`\phi` of the largest besides.  So condition
numbers are resolved up to :math:`1/\phi`, about 10^12: beyond, they are infinite.  A feature that
does not vary over the batch has no deviation to divide by, and P leaves it out.

The inputs are rounded themselves, in the network's precision with unit roundoff u: an entry is off
by a few u of its size, at random.  So what the correlated deviations, C, are along v may be
roundings alone where

.. math:: \|Cv\| \le \|Sv\|, \qquad S = 4u\,\big(1 + \sqrt{(n+1)/N}\big)\,
          \mathrm{diag}\Big(\sqrt{1 + \mu_j^2/\sigma_j^2}\Big),

and counts as zero there too: singular values of :math:`CS^{-1}` up to one.  So what is an affine
function of fewer features has their rank in every precision, unless digits were lost before: the
outputs of a normalisation are off by the offset of what that was given, too.  Inputs that all have
a last digit of zero, such as small whole numbers, are not rounded.

Source: Lange, Helfrich and Ye 2022, sect. 3.3, Theorem 4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from verify.audit import gramian
from verify.spectra import LARGE, Extremes, floor, of_triangle
from verify.tolerance import UNIT_ROUNDOFF

WELL = 2.0**-26
"""The least eigenvalue over the largest that is left to products of columns or of rows: it is off
by a part of 2^-20 then."""


ROUNDINGS = 4
"""So many times the unit roundoff an entry is off that a network computed."""


@dataclass(frozen=True)
class Spectrum:
    """The squares of a matrix's extreme singular values that are not zero."""

    largest: float
    least: float
    rank: int
    kappa: float
    """The condition number, infinite beyond what is resolved."""
    relative_error: float
    """Of kappa; infinite where a singular value may or may not be zero."""


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
    floor: float
    r""":math:`\phi`"""
    constant: int
    """Features that do not vary."""
    mean: Tensor
    deviation: Tensor
    """Of the features that vary."""
    left_out: float = 0.0
    """What is left out as roundings, and those of means, change the square of the norm of the
    correlated deviations by no more, which is at least one; infinite where it may be as much."""

    @property
    def is_full_rank(self) -> bool:
        r"""Whether :math:`\hat H` has full column rank, as Theorem 4 assumes."""
        return self.plain.rank == self.columns

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
    means, variances = gramian.moments(module, inputs)
    rows, columns = gramian.positions(module, inputs), means.shape[-1] + 1
    phi, varying, deviations = floor(rows, columns), variances > 0, variances.sqrt()
    scales = torch.where(varying, 1 / deviations, 0.0)
    roundoff = 0.0 if _is_exact(inputs) else torch.finfo(inputs.dtype).eps / 2
    noise = (
        ROUNDINGS * roundoff * (1 + sqrt(columns / rows)) * (1 + (means * scales).square()).sqrt()
    )
    correlated = _Correlated(module, inputs, means, scales / sqrt(rows), varying, noise)
    squared = _by_columns(correlated) if rows > columns else _by_products(correlated)
    roots, ranks = squared or _by_rows(correlated, phi)
    centred = roots * deviations[:, None]
    plain = [_extremes(m, 1 + r) for m, r in zip(_bordered(centred, means), ranks, strict=True)]
    deficient = [1 + r < min(rows, 1 + int(v.sum())) for r, v in zip(ranks, varying, strict=True)]
    group = max(range(len(plain)), key=lambda i: (deficient[i], _condition(plain[i])))
    kept, rank, nothing = varying[group], 1 + ranks[group], torch.zeros_like(means[group])
    of_centred, of_correlations = (
        _extremes(_bordered(each[group], nothing), rank) for each in (centred, roots)
    )
    is_known = rank == min(rows, 1 + int(kept.sum()))
    kappa_r = _condition(of_correlations)
    of_roots = phi * (kappa_r**2 / 2 if squared else kappa_r) if is_known else inf

    def spectrum(found: Extremes) -> Spectrum:
        kappa = _condition(found)
        return Spectrum(
            largest=rows * found.largest,
            least=rows * found.least,
            rank=rank,
            kappa=kappa if phi * kappa < 1 else inf,
            relative_error=of_roots + phi * kappa,
        )

    of_means = ROUNDINGS * UNIT_ROUNDOFF * means * scales
    rounded = (of_means if is_known else of_means + noise)[group, kept].square().sum().item()
    steepness = torch.cat([scales.new_ones(1), scales[group, kept]])
    return Conditioning(
        group=group,
        rows=rows,
        columns=columns,
        plain=spectrum(plain[group]),
        centred=spectrum(of_centred),
        normalized=replace(spectrum(of_correlations), relative_error=of_roots),
        scaling=(steepness.max() / steepness.min()).item(),
        floor=phi,
        constant=int((~kept).sum()),
        mean=means[group, kept],
        deviation=deviations[group, kept],
        left_out=rounded if rounded < 1 else inf,
    )


def _is_exact(inputs: Tensor) -> bool:
    """Whether the last digit of every entry is zero, as of no results of roundings.

    >>> _is_exact(torch.arange(9.0)), _is_exact(torch.arange(9.0) / 7)
    (True, False)
    """
    whole = {2: torch.int16, 4: torch.int32, 8: torch.int64}[inputs.element_size()]
    return not bool((inputs.contiguous().view(whole) & 1).any())


class _Correlated(NamedTuple):
    """A layer's inputs, and what makes their columns deviations of the length one."""

    module: nn.Module
    inputs: Tensor
    means: Tensor
    scales: Tensor
    """Zero for a column that does not vary."""
    varying: Tensor
    noise: Tensor
    """Of each column, how far the inputs' own roundings may move it, at random."""


Roots = tuple[Tensor, list[int]]
"""Of each group, a matrix whose Gram matrix is R, rows that are not zero on top; their number."""


def _by_columns(given: _Correlated) -> Roots | None:
    """Return the roots by Cholesky's method, None where R is too badly conditioned for it."""
    scatters = gramian.scatter(given.module, given.inputs, given.means)
    correlations = given.scales[:, :, None] * scatters * given.scales[:, None]
    alone = torch.diag_embed((~given.varying).to(correlations))
    factors, failed = torch.linalg.cholesky_ex(correlations + alone)
    if failed.any():
        return None
    found = [_extremes(factor.mT, len(factor)) for factor in factors]
    noise = given.noise.amax(-1).square().tolist()
    if any(x.least <= max(WELL * x.largest, y) for x, y in zip(found, noise, strict=True)):
        return None
    if bool(given.varying.all()):
        return factors.mT, [len(factor) for factor in factors]
    order = (~given.varying).long().argsort(dim=-1, stable=True)[..., None]
    roots = factors.mT * given.varying[..., None]
    return roots.gather(1, order.expand_as(roots)), given.varying.sum(-1).tolist()


def _by_products(given: _Correlated) -> Roots | None:
    """Return the same of no more rows than columns, by the inner products of the rows."""
    deviations = gramian.deviations(given.module, given.inputs, given.means)
    normalized = deviations * given.scales[:, None]
    values, vectors = torch.linalg.eigh(normalized @ normalized.mT)
    ranks = given.varying.sum(-1).clamp(max=normalized.shape[1] - 1)
    told = values > torch.maximum(WELL * values[:, -1:], given.noise.amax(-1, True).square())
    if bool((told.sum(-1) != ranks).any()):
        return None
    roots = torch.where(told[..., None], vectors.mT @ normalized, 0.0)
    return roots.flip(-2), ranks.tolist()


def _by_rows(given: _Correlated, phi: float) -> Roots:
    """Return the same by orthogonal transformations of the rows, in which nothing is squared."""
    module, inputs, means, scales, _, noise = given
    left, count = torch.zeros_like(means), 0
    for part in gramian.rows_less(module, inputs, means):
        left, count = left + part.sum(1), count + part.shape[1]
    left /= count
    triangle, waiting, most = means.new_zeros(len(means), 0, means.shape[-1]), [], 0
    for part in gramian.rows_less(module, inputs, means):
        waiting.append((part - left[:, None]) * scales[:, None])
        most += part.shape[1]
        if most >= 2 * means.shape[-1]:
            triangle, waiting, most = _triangle(triangle, waiting), [], 0
    triangle = _triangle(triangle, waiting)
    largest = torch.linalg.matrix_norm(triangle, 2)[:, None]
    unresolved = torch.maximum(noise, phi * largest)[:, None]
    left_vectors, values, _ = torch.linalg.svd(triangle / unresolved, full_matrices=False)
    told = values > 1
    return told[..., None] * (left_vectors.mT @ triangle), told.sum(-1).tolist()


def _triangle(triangle: Tensor, rows: list[Tensor]) -> Tensor:
    return torch.linalg.qr(torch.cat([triangle, *rows], dim=1), mode="r").R


def _bordered(roots: Tensor, means: Tensor) -> Tensor:
    """Return the matrix of a one and the means over zeros and the roots."""
    found = pad(roots, (1, 0, 1, 0))
    found[..., 0, 0], found[..., 0, 1:] = 1.0, means
    return found


def _extremes(matrix: Tensor, rank: int) -> Extremes:
    """Return the squares of the largest singular value and of the last that is not zero.

    Args:
        matrix: upper triangular, or with as many rows that are not zero as its rank, on top.
        rank: its own.
    """
    if rank < len(matrix):
        matrix = torch.linalg.qr(matrix[:rank].mT, mode="r").R
    if rank >= LARGE:
        return of_triangle(matrix.cpu().numpy())
    values = torch.linalg.svdvals(matrix).square()
    return Extremes(values[0].item(), values[rank - 1].item(), rank)


def _condition(found: Extremes) -> float:
    return sqrt(found.largest / found.least) if found.least else inf
