r"""The norm of (1/q) times the normalized matrix, whatever the batch.

:math:`\|\hat G\|^2 \le N n`, so that over :math:`q^2 = \max\{n/N, 1\}` it is at most
:math:`N\min\{N, n\}`: bounded by N, not by the root of N as line 219 says without the constant and
the expectation of the sentence before.  Copies of one feature attain it.
"""

from typing import Any

from theory.arithmetic.spectra import squared_singular_values
from theory.lange2022.spectral import centred_and_ones, column_squares
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Relation, Sides, Verdict


def size(layer: Layer) -> tuple[int, int]:
    """N and n."""
    return layer.H.shape[0], layer.H.shape[1]


def balanced(layer: Layer) -> Any:
    """The square of the q of a layer's size, as a number of the layer."""
    N, n = size(layer)
    return max(n * layer.q / layer.q / N, layer.q / layer.q)


def last_step(layer: Layer) -> Sides:
    """The squares of both sides."""
    N, n = size(layer)
    return Sides(max(N, n) / balanced(layer), N + 0 * layer.q)


def whatever_the_batch(layer: Layer) -> Sides:
    """The squared norm of the normalized matrix over the square of q."""
    N, n = size(layer)
    F = centred_and_ones(layer.H)
    largest = N * squared_singular_values(F, 1 / column_squares(F))[-1]
    return Sides(largest / balanced(layer), N * min(N, n) + 0 * layer.q)


def bounded_by_N(layer: Layer) -> Sides:
    """The same against N alone."""
    actual, _ = whatever_the_batch(layer)
    return Sides(actual, layer.H.shape[0] + 0 * layer.q)


NORMALIZED = MatrixClaim(
    id="L-steps/219",
    row="L-steps",
    locations=at(219, "Sect. 3.3, before Prop. 5", "is bounded by"),
    statement=r"\tfrac1{q^2}\|\hat G\|^2 \le N,\quad q^2 = \max\{n/N, 1\}",
    sides=bounded_by_N,
    subject=Kind.LAYER,
    relation=Relation.AT_MOST,
    expected=Verdict.REFUTED,
    corrected_by="L-steps/219/corrected",
    falsified_by="one batch without a zero variance",
    remark="The constant and the expectation of the sentence before are lost.",
)

CLAIMS = [
    NORMALIZED,
    NORMALIZED.corrected(
        statement=r"\tfrac1{q^2}\|\hat G\|^2 \le N\min\{N, n\},\quad q^2 = \max\{n/N, 1\}",
        sides=whatever_the_batch,
        expected=Verdict.SUPPORTED,
        corrected_by=None,
        remark="Whatever the batch; attained by copies of one feature.",
    ),
    MatrixClaim(
        id="L-steps/664",
        row="L-steps",
        locations=at(664, "App. A, proof of Prop. 5", r"=\sqrt{2}C_{1}\sqrt{N}."),
        statement=r"\tfrac1{q^2}\max\{N, n\} = N,\quad q^2 = \max\{n/N, 1\}",
        sides=last_step,
        subject=Kind.LAYER,
        relation=Relation.EQUAL,
        expected=Verdict.PROVED,
        falsified_by="one size",
    ),
]
