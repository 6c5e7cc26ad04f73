r"""What the statements on random matrices have in common: norms, q, and hypotheses on the law.

Source: Lange, Helfrich and Ye 2022, Prop. 5 and Lemma A2.
"""

from math import sqrt
from typing import Any

import numpy as np

from theory.expectation_claim import Entries
from theory.statement import Hypothesis, Relation


def spectral_norm(G: Any) -> float:
    """The largest singular value, from the smaller of the two Gram matrices."""
    gram = G @ G.T if len(G) <= G.shape[1] else G.T @ G
    return float(np.sqrt(np.linalg.eigvalsh(gram)[-1]))


def scaled_norm(G: Any) -> float:
    r""":math:`\|(1/q)[e, G]\|` with :math:`q^2 = \max\{n/N, 1\}`."""
    N, n = G.shape
    return spectral_norm(np.column_stack([np.ones(N), G])) / sqrt(max(n / N, 1))


def normalised(H: Any) -> Any:
    r"""Return :math:`G = (H - e\mu_H^\top)\operatorname{diag}(\sigma_H)^{-1}`.

    Raises:
        ZeroDivisionError: a column is constant.
    """
    centred = H - H.mean(axis=0)
    deviations = np.sqrt((centred * centred).mean(axis=0))
    if not deviations.all():
        raise ZeroDivisionError("a column is constant, so it cannot be normalised")
    return centred / deviations


SAME_AT_EVERY_SIZE = Hypothesis(
    r"\text{the law of the entries is the same for every } N \text{ and } n",
    lambda entries: 1 - entries.is_fixed,
    Relation.EQUAL,
)
FOURTH_MOMENT = Hypothesis(
    r"m_4 = \mathbb{E}\, g_{ij}^4 < \infty",
    lambda entries: 1 / entries.fourth_moment,
    Relation.MORE_THAN,
    printed=False,
)
SIGNS = Hypothesis(
    r"g_{ij} = \pm 1",
    lambda entries: entries.fourth_moment - 1,
    Relation.EQUAL,
    printed=False,
)


def three_columns(entries: Entries) -> int:
    r"""The quantity of the hypothesis :math:`n \ge 3`."""
    return entries.n - 3


THREE_COLUMNS = Hypothesis(r"n \ge 3", three_columns)
