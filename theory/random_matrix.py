r"""A random matrix of independent entries of mean 0 and variance 1: letters of statements on it.

What a statement says of expectations is :func:`theory.expectation_claim.mean` of what it says of
one such matrix.
"""

from theory.language.letters import matrix_of, number_of

G = matrix_of(
    "G",
    "G",
    domain=r"g_{ij} \text{ iid},\ \mathbb{E} g_{ij} = 0,\ \mathbb{E} g_{ij}^2 = 1",
)
N = number_of("N", "N")
"""Its rows."""
n = number_of("n", "n")
"""Its columns."""
