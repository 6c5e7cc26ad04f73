r"""The remark after Theorem 3.4: from the entries of the Hessian to its spectral norm.

"Bounded element-wise translates into a bound on the spectral norm (and therefore an improvement)".
A bound: yes, with a factor root of n in front, for n weights.  An improvement: no.  The entries
of k[[1, 1], [1, 1]] are k times those of [[1, 1], [1, -1]], and for k near one its norm is larger:
2k against the root of 2.  Networks have such Hessians: :math:`m = 3, x_1 = (1, -1, 0),
x_2 = (2, 0, -2), y = (1, 1, -2)`, H = pp'/4 - qq'/18 with p = (1, -1, 0) and q = (1, 1, -2),
k = 5/6.  The Frobenius norm does shrink.

Examined for two weights of one unit, g and H those of the loss at the layer's output.
"""

from typing import Any, NamedTuple

from theory.arithmetic import inner, sqrt
from theory.claim import Claim, Hypothesis, Letters, Network, Relation, Sides, Term, Verdict
from theory.santurkar2018.texts import version_1
from theory.santurkar2018.version_1.weights import (
    MEAN_ZERO,
    absolute,
    loss_hessian,
    weight_hessian,
)


class Symmetric(NamedTuple):
    """A symmetric matrix of two rows."""

    first: Any
    off: Any
    last: Any

    def trace(self) -> Any:
        """Return the absolute value of the trace."""
        return absolute(self.first + self.last)

    def gap(self) -> Any:
        """Return the distance of the eigenvalues."""
        return sqrt((self.first - self.last) ** 2 + 4 * self.off**2)

    def spectral(self) -> Any:
        """Return the spectral norm."""
        return (self.trace() + self.gap()) / 2

    def frobenius_squared(self) -> Any:
        """Return the sum of the squares."""
        return self.first**2 + 2 * self.off**2 + self.last**2


def with_layer(network: Network) -> Symmetric:
    """Return the Hessian in two weights, differentiated."""
    u, v = network.direction, network.other_direction
    pairs = ((u, u), (u, v), (v, v))
    return Symmetric(*(weight_hessian(network, x, x_k) for x, x_k in pairs))


def without_layer(network: Network, at: Letters) -> Symmetric:
    """Return the Hessian without the layer."""
    u, v = network.direction, network.other_direction
    Hu, Hv = loss_hessian(at, u), loss_hessian(at, v)
    return Symmetric(inner(u, Hu), inner(u, Hv), inner(v, Hv))


def entry(index: int) -> Hypothesis:
    """Return that an entry is smaller with the layer than without."""

    def margin(network: Network, at: Letters) -> Any:
        return without_layer(network, at)[index] ** 2 - with_layer(network)[index] ** 2

    return Hypothesis(
        r"|A_{ik}| < |B_{ik}| \text{ for the entry }" + str(index), margin, Relation.MORE_THAN
    )


ENTRIES = (entry(0), entry(1), entry(2))


def spectral(network: Network, at: Letters) -> Sides:
    """The spectral norms."""
    return Sides(with_layer(network).spectral(), without_layer(network, at).spectral())


def frobenius(network: Network, at: Letters) -> Sides:
    """The squared Frobenius norms."""
    actual, claimed = with_layer(network), without_layer(network, at)
    return Sides(actual.frobenius_squared(), claimed.frobenius_squared())


def spectral_bound(network: Network, at: Letters) -> Sides:
    """The squared Frobenius norm, which no spectral norm exceeds, and twice the spectral norm's."""
    actual, claimed = with_layer(network), without_layer(network, at)
    return Sides(actual.frobenius_squared(), 2 * claimed.spectral() ** 2)


def entries_slack(network: Network, at: Letters) -> list[Term]:
    """The three entries."""
    return [Term(weight, (h,)) for weight, h in zip((1, 2, 1), ENTRIES, strict=True)]


def spectral_slack(network: Network, at: Letters) -> list[Term]:
    r""":math:`|A|_F^2 \le |B|_F^2 \le 2|B|^2`."""
    claimed = without_layer(network, at)
    return [*entries_slack(network, at), Term(claimed.trace(), (sqrt(claimed.gap()),))]


PRINTED = Claim(
    id="S-v1-remark-spectral",
    row="S-v1-remark-spectral",
    locations=(
        version_1(
            183,
            "Sect. 3.3, after Theorem 3.4",
            "element-wise translates into a bound on the spectral norm",
        ),
    ),
    statement=r"|A_{ik}| < |B_{ik}| \Rightarrow \|A\|_2 < \|B\|_2,\quad"
    r" A = \frac{\partial^2\hat L}{\partial W\partial W},\ "
    r" B = \frac{\partial^2 L}{\partial W\partial W}",
    sides=spectral,
    relation=Relation.LESS_THAN,
    hypotheses=(MEAN_ZERO, *ENTRIES),
    expected=Verdict.REFUTED,
    order=2,
    falsified_by="one batch, two centred inputs and a loss: every entry shrinks, the norm grows",
)

CLAIMS = [
    PRINTED,
    PRINTED.corrected(
        sides=spectral_bound,
        hypotheses=ENTRIES,
        certificate=spectral_slack,
        statement=PRINTED.statement.replace(r"\|A\|_2 <", r"\|A\|_2^2 < n").replace(
            r"\|B\|_2,", r"\|B\|_2^2,"
        ),
        remark="For n = 2 weights; the factor is attained at matrices of Hadamard.",
    ),
    PRINTED.corrected(
        "frobenius",
        sides=frobenius,
        hypotheses=ENTRIES,
        certificate=entries_slack,
        statement=PRINTED.statement.replace("_2", "_F"),
        remark="Slack: that of the entries.",
    ),
]
