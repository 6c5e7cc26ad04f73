r"""After Proposition 6: the operations of Batch Normalization, and which method takes fewer.

Counted as in :mod:`theory.lange2022.proposition_6`, a sum of k terms being k - 1 additions.  The
statistics with their moving averages and an epsilon take 4nN + 7n, if the square roots count
nothing, and the normalization 4nN, as printed.

For the backward pass the text has a number, 24nN - 3n, and no formulas.  It is what those of Ioffe
and Szegedy (2015) take if whatever stands in a term is done for every example, the division by N
and the minus before :math:`1/\sigma` included.  Evaluated as arrays they take 21nN - n, and the
closed form 7nN + n (:mod:`theory.lange2022.backward_passes`).  With that, BN takes fewer operations
than BNP as soon as :math:`11N \le 6n_\ell`.
"""

from typing import Any

from theory.lange2022.backward_passes import fused, literal, termwise
from theory.lange2022.counted import Counted, Work
from theory.lange2022.proposition_6 import (
    ALL,
    SMALL,
    Part,
    averages,
    claim,
    counting,
    sizes,
    statistics,
)
from theory.matrix_claim import Layer, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Term, Verdict

WIDTH = 100
"""Of the hidden layers of sect. 5.1, whose batches are of 60, 6 and 1."""


def with_averages(N: int, n: int, p: int, work: Work) -> None:
    """Statistics, their moving averages, and an epsilon."""
    mean, variance = statistics(Counted((N, n), work))
    averages(mean, variance)
    _ = variance + SMALL


def forward(N: int, n: int, p: int, work: Work) -> None:
    """Normalization, re-scaling and re-centring."""
    H, vector = Counted((N, n), work), Counted((n,), work)
    _ = vector * ((H - vector) / vector) + vector


def backward(formulas: Any) -> Part:
    """Return the backward pass by some formulas."""

    def part(N: int, n: int, p: int, work: Work) -> None:
        batch, vector = Counted((N, n), work), Counted((n,), work)
        formulas(batch, batch, batch, vector, vector, vector, vector)

    return part


def difference(formulas: Any, printed: Any) -> Any:
    """Return the sides: the operations of BN less those of BNP."""

    def sides(layer: Layer) -> Sides:
        parts = (with_averages, forward, backward(formulas))
        ours = counting(*parts, printed=printed)(layer)
        return Sides(ours.actual - counting(*ALL, printed=printed)(layer).actual, ours.claimed)

    return sides


def at_small_batches(layer: Layer) -> Sides:
    """The expected inequality at the width of the paper's dense networks."""
    return Sides(28 * layer.H.shape[0], 6 * WIDTH)


def expected(layer: Layer) -> Sides:
    """The expected inequality at the layer's own sizes."""
    N, _, p = sizes(layer)
    return Sides(28 * N, 6 * p)


LARGE_BATCH = Hypothesis(
    r"N > \tfrac3{14} n_\ell",
    lambda layer: 14 * layer.H.shape[0] - 3 * layer.W.shape[0],
    Relation.MORE_THAN,
    printed=False,
)


def numbers(
    name: str, quote: str, words: str, statement: str, sides: Any, **other: Any
) -> MatrixClaim:
    """Return an equation between the operations of BN and a number."""
    text = rf"\text{{operations of {words}}} = " + statement
    return claim("/BN-" + name, 250, quote, text, sides, **other)


BACKWARD = numbers(
    "backward", r"n_{\ell-1}N-3n_{\ell-1}",
    "the backward pass of Ioffe and Szegedy, term by term", r"24n_{\ell-1}N-3n_{\ell-1}",
    counting(backward(termwise), printed=lambda N, n, p: 24 * n * N - 3 * n),
    falsified_by="one size; whatever stands in a term is done for every example, 1/sigma and its"
    " cube are at hand, and the minus before 1/sigma is an operation",
    remark="No formulas are given; this is one way of counting that gives the number.",
)  # fmt: skip

AS_ARRAYS = numbers(
    "backward-as-arrays", r"n_{\ell-1}N-3n_{\ell-1}",
    "the backward pass of Ioffe and Szegedy, as arrays", r"24n_{\ell-1}N-3n_{\ell-1}",
    counting(backward(literal), printed=lambda N, n, p: 24 * n * N - 3 * n),
    expected=Verdict.REFUTED,
    falsified_by="one size; what depends on the feature alone is computed once",
)  # fmt: skip

EXPECTED = claim(
    "/expected", 250, "we expect", r"28N > 6n_\ell,\quad n_\ell = 100", at_small_batches,
    relation=Relation.MORE_THAN, expected=Verdict.REFUTED,
    falsified_by="a mini-batch with which section 5.1 trains layers of 100: 60, 6 or 1",
    remark="60 keeps it, 1680 > 600; 6 and 1 do not, 168 and 28. Table 1, too, has BN faster at"
    " the small batch.",
)  # fmt: skip

CLAIMS = [
    numbers(
        "statistics", "and their moving averages, which amounts to",
        "the statistics of BN and their averages", r"4n_{\ell-1}N+7n_{\ell-1}",
        counting(with_averages, printed=lambda N, n, p: 4 * n * N + 7 * n),
        remark="With an epsilon and free square roots, or the other way about.",
    ),
    numbers(
        "forward", "in the normalization step in the forward propagation",
        "the normalization of BN", r"4n_{\ell-1}N",
        counting(forward, printed=lambda N, n, p: 4 * n * N),
    ),
    BACKWARD,
    AS_ARRAYS,
    AS_ARRAYS.corrected(
        sides=counting(backward(literal), printed=lambda N, n, p: 21 * n * N - n), falsified_by="",
        statement=AS_ARRAYS.statement.replace("24", "21").replace("-3n", "-n"),
    ),
    BACKWARD.sharpened(
        "closed-form", falsified_by="", remark="A third of what the text says that BN requires.",
        sides=counting(backward(fused), printed=lambda N, n, p: 7 * n * N + n),
        statement=r"\text{operations of the closed backward pass} = 7n_{\ell-1}N+n_{\ell-1}",
    ),
    numbers(
        "total", "The total cost of BN is", "BN", r"32n_{\ell-1}N+4n_{\ell-1}",
        counting(
            with_averages, forward, backward(termwise), printed=lambda N, n, p: 32 * n * N + 4 * n
        ),
    ),
    CROSSOVER := claim(
        "/crossover", 250, "BN is more efficient if",
        r"\text{operations of BN} - \text{operations of BNP} = n_{\ell-1}(28N-6n_\ell)"
        r" - 4n_{\ell-1} - n_\ell", difference(
            termwise, lambda N, n, p: n * (28 * N - 6 * p) - 4 * n - p
        ),
        remark="First order terms are ignored in the text.",
    ),
    CROSSOVER.sharpened(
        "closed-form",
        sides=difference(fused, lambda N, n, p: n * (11 * N - 6 * p) - p),
        statement=r"\text{operations of BN in closed form} - \text{operations of BNP} ="
        r" n_{\ell-1}(11N-6n_\ell) - n_\ell", remark="",
    ),
    EXPECTED,
    EXPECTED.corrected(
        sides=expected, hypotheses=(LARGE_BATCH,), falsified_by="",
        certificate=lambda layer: [Term(2, (LARGE_BATCH,))], remark="",
        statement=r"28N > 6n_\ell \quad\text{if } N > \tfrac3{14}n_\ell",
    ),
]  # fmt: skip
