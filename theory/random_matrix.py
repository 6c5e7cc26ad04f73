r"""A random matrix of independent entries of mean 0 and variance 1: letters and functions.

What a statement says of expectations is :func:`theory.expectation_claim.mean` of what it says of
one such matrix.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np

from theory.language.expression import Binding, Letter, Operation, Sort
from theory.language.letters import matrix_of, number_of

_N, _M = Sort.NUMBER, Sort.MATRIX


class OfMany(Operation):
    """An operation on matrices along the last two axes, so that it takes many of them at once."""


G = matrix_of(
    "G",
    "G",
    domain=r"g_{ij} \text{ iid},\ \mathbb{E} g_{ij} = 0,\ \mathbb{E} g_{ij}^2 = 1",
)
N = number_of("N", "N")
"""Its rows."""
n = number_of("n", "n")
"""Its columns."""
fourth_moment = Letter(
    "m_4", "m_4", _N, attrgetter("fourth_moment"), r"m_4 = \mathbb{E}\, g_{ij}^4"
)
"""The mean of an entry's fourth power, for hypotheses and constants."""
finite_below = Letter(
    "finite_below", "p^*", _N, attrgetter("order"),
    r"p^* = \sup\{p : \mathbb{E}\, |g_{ij}|^p < \infty\}",
)  # fmt: skip
"""The order below which every moment of an entry is finite, for hypotheses."""
is_fixed = Letter(
    "is_fixed", r"\chi", _N, lambda entries: int(entries.is_fixed),
    r"\chi = 1 \text{ for a law that is the same at every size, else } 0",
)  # fmt: skip
"""One where the law of the entries is the same for every size, else zero, for hypotheses."""


def spectral_norm(G: Any) -> Any:
    """The largest singular value of each matrix, from the smaller of its two Gram matrices."""
    gram = G @ G.mT if G.shape[-2] <= G.shape[-1] else G.mT @ G
    return np.sqrt(np.linalg.eigvalsh(gram)[..., -1])


def normalised(H: Any) -> Any:
    r"""Return :math:`G = (H - e\mu_H^\top)\operatorname{diag}(\sigma_H)^{-1}`.

    Raises:
        ZeroDivisionError: a deviation is computed as zero.  That of a constant column may be above
            it, by the rounding of its mean.
    """
    centred = H - H.mean(axis=-2, keepdims=True)
    deviations = np.sqrt((centred * centred).mean(axis=-2, keepdims=True))
    if not deviations.all():
        raise ZeroDivisionError("a column has no deviation, so it cannot be normalised")
    return centred / deviations


def with_ones(G: Any) -> Any:
    """Return :math:`[e, G]`."""
    return np.concat([np.ones_like(G[..., :1]), G], axis=-1)


norm = OfMany("norm", spectral_norm, r"\|{0}\|", takes=(_M,))
"""The largest singular value."""
normalize = OfMany("normalize", normalised, r"\mathcal B_{{0,1}}({0})", gives=_M, takes=(_M,))
"""Each column less its mean, over its standard deviation."""
augmented = OfMany("augmented", with_ones, r"[e,\ {0}]", gives=_M, takes=(_M,))
"""A column of ones before the others."""
longest_row = OfMany(
    "longest row", lambda G, k: np.max(np.sqrt((G * G).sum(axis=-1)) ** k, axis=-1),
    r"\max_i\|{0:atom}_{{i\cdot}}\|^{{{1}}}", takes=(_M, _N), binds=Binding.OPERATOR,
)  # fmt: skip
"""The largest k-th power of a row's norm."""
longest_column = OfMany(
    "longest column", lambda G, k: np.max(np.sqrt((G * G).sum(axis=-2)) ** k, axis=-1),
    r"\max_j\|{0:atom}_{{\cdot j}}\|^{{{1}}}", takes=(_M, _N), binds=Binding.OPERATOR,
)  # fmt: skip
"""The largest k-th power of a column's norm."""
