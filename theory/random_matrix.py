r"""A random matrix of independent entries of mean 0 and variance 1: letters of statements on it.

What a statement says of expectations is :func:`theory.expectation_claim.mean` of what it says of
one such matrix.
"""

from operator import attrgetter

from theory.language.expression import Letter, Sort

G = Letter(
    "G",
    "G",
    Sort.MATRIX,
    attrgetter("G"),
    r"g_{ij} \text{ iid},\ \mathbb{E} g_{ij} = 0,\ \mathbb{E} g_{ij}^2 = 1",
)
N = Letter("N", "N", Sort.NUMBER, attrgetter("N"))
"""Its rows."""
n = Letter("n", "n", Sort.NUMBER, attrgetter("n"))
"""Its columns."""
