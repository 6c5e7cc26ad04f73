r"""Condition numbers that the statements about :math:`\hat H` compare, and what they are made of.

Everything is squared, so that rational matrices stay rational: :math:`\kappa(\hat H U D_0)^2` from
the squares of :math:`D_0`'s entries.  As in the paper, :math:`\kappa` is the largest singular
value over the smallest that is not zero.
"""

from typing import Any

from array_api_compat import array_namespace

from theory import preconditioning
from theory.arithmetic.spectra import (
    eigenvalues,
    squared_condition_number,
    squared_singular_values,
)
from theory.matrix_claim import Layer
from theory.statement import Hypothesis, Relation

augmented = preconditioning.augmented


def mean(layer: Layer) -> Any:
    r""":math:`\mu_H`, literally."""
    return layer.H.sum(0) / layer.H.shape[0]


def centred(H: Any) -> Any:
    r""":math:`H - e\mu_H^\top`, literally."""
    return H - H.sum(0) / H.shape[0]


def centred_and_ones(H: Any) -> Any:
    r""":math:`\hat H U = [e, H - e\mu_H^\top]`."""
    return augmented(centred(H))


def column_squares(F: Any) -> Any:
    """Squared norms of the columns, none of which is zero."""
    squares = (F * F).sum(0) + 0 * F[0, -1]
    if (squares == 0).any():
        raise ZeroDivisionError("a column is zero, so it cannot be scaled to norm one")
    return squares


def before(layer: Layer) -> Any:
    r""":math:`\kappa(\hat H)^2`."""
    return squared_condition_number(augmented(layer.H))


def after_centring(layer: Layer) -> Any:
    r""":math:`\kappa(\hat H U)^2`."""
    return squared_condition_number(centred_and_ones(layer.H))


def after_scaling(layer: Layer) -> Any:
    r""":math:`\kappa(\hat H U D_0)^2` with the layer's own nonsingular :math:`D_0`."""
    return squared_condition_number(centred_and_ones(layer.H), layer.scaling * layer.scaling)


def normalized(layer: Layer) -> Any:
    r""":math:`\kappa(\hat G)^2`: all columns of :math:`\hat H U` scaled to one norm."""
    F = centred_and_ones(layer.H)
    return squared_condition_number(F, 1 / column_squares(F))


def largest_correlation(layer: Layer) -> Any:
    r""":math:`\lambda_{\max}(R)`, R the correlation matrix of the features."""
    C = centred(layer.H)
    return eigenvalues(C.T @ C, 1 / column_squares(C))[-1]


def form(F: Any, z: Any) -> Any:
    r"""The quadratic form :math:`z^\top F^\top F z`."""
    image = F @ z
    return (image * image).sum()


def stacked(first: Any, rest: Any) -> Any:
    """A number above a vector."""
    xp = array_namespace(rest)
    return xp.concat([xp.zeros(1, dtype=rest.dtype) + first, rest])


def null_part(F: Any, v: Any) -> Any:
    """The projection of a vector on the null space of F."""
    xp = array_namespace(v)
    if v.dtype != object:
        return v - xp.linalg.pinv(F, rtol=2.0**-26) @ (F @ v)
    basis: list[Any] = []
    for row in F:
        for b in basis:
            row = row - b * ((row @ b) / (b @ b))
        if row @ row != 0:
            basis.append(row)
    for b in basis:
        v = v - b * ((v @ b) / (b @ b))
    return v


def along_eigenvector(C: Any, v: Any, end: int) -> Any:
    """A number that is zero if and only if v is orthogonal to an extreme eigenvector of C.

    Args:
        C: symmetric, shape (n, n).
        v: shape (n,).
        end: -1 for the largest eigenvalue, 0 for the smallest; a multiple one gives zero where
            the numbers are exact.
    """
    if C.dtype != object:
        found = array_namespace(C).linalg.eigh(C)
        return (v @ found.eigenvectors[:, end]) ** 2
    values = eigenvalues(C)
    image = v
    for value in values[:-1] if end else values[1:]:
        image = C @ image - value * image
    return (v @ image) ** 2


FULL_COLUMN_RANK = Hypothesis(
    r"\hat H \text{ has full column rank}",
    lambda layer: squared_singular_values(augmented(layer.H))[0],
    Relation.MORE_THAN,
)

MEAN_NONZERO = Hypothesis(
    r"\mu_H \ne 0",
    lambda layer: mean(layer) @ mean(layer),
    Relation.MORE_THAN,
)

NONSINGULAR = Hypothesis(
    r"D_0 \text{ is nonsingular}",
    lambda layer: layer.scaling * layer.scaling,
    Relation.MORE_THAN,
    printed=False,
)
