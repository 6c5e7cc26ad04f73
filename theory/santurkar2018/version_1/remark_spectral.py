r"""The remark after Theorem 3.4: from the entries of the Hessian to its spectral norm.

"Bounded element-wise translates into a bound on the spectral norm (and therefore an improvement)".
A bound: yes, with a factor root of n in front, for n weights.  An improvement: no.  The entries
of k[[1, 1], [1, 1]] are k times those of [[1, 1], [1, -1]], and for k near one its norm is larger:
2k against the root of 2.  Networks have such Hessians: :math:`m = 3, x_1 = (1, -1, 0),
x_2 = (2, 0, -2), y = (1, 1, -2)`, H = pp'/4 - qq'/18 with p = (1, -1, 0) and q = (1, 1, -2),
k = 5/6.  The Frobenius norm does shrink, entry by entry.

Examined for two weights of one unit; :mod:`~theory.santurkar2018.version_1.sign_flip` has losses
of that kind for every batch.
"""

from typing import Any

from theory.arithmetic import inner, sqrt
from theory.claim import Claim, Hypothesis, Letters, Network, Relation, Sides, Term, Verdict
from theory.santurkar2018.texts import version_1
from theory.santurkar2018.version_1 import sign_flip
from theory.santurkar2018.version_1.symmetric import Symmetric
from theory.santurkar2018.version_1.weights import (
    loss_hessian,
    weight_hessian,
)


def with_layer(network: Network) -> Symmetric:
    """Return the Hessian in two weights, differentiated."""
    u, v = network.direction, network.other_direction
    pairs = ((u, u), (u, v), (v, v))
    return Symmetric(*(weight_hessian(network, x, x_k) for x, x_k in pairs))


def vanilla(network: Network) -> Symmetric:
    """Return the Hessian of the network without the layer at the layer's output."""

    def loss(y: Any) -> Any:
        return network.loss(network.z + network.gamma * (y - network.y))

    def entry(x: Any, x_k: Any) -> Any:
        moved = network.derivative(lambda y: network.gradient(loss, y), network.y, x_k)
        return inner(x, moved)

    u, v = network.direction, network.other_direction
    return Symmetric(entry(u, u), entry(u, v), entry(v, v))


def without_layer(network: Network, at: Letters) -> Symmetric:
    """Return the same by the loss's own Hessian."""
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


def form(matrix: Symmetric, weight: Any) -> Any:
    r"""Return :math:`w^\top Aw` for w = (1, weight)."""
    return matrix.first + 2 * weight * matrix.off + weight**2 * matrix.last


def by_entries(network: Network, at: Letters) -> Sides:
    """The form of A along (1, lambda), and that of the absolute values of the entries of B."""
    actual, claimed = with_layer(network), without_layer(network, at).positive()
    return Sides(form(actual, network.bound), form(claimed, network.bound))


def by_entries_slack(network: Network, at: Letters) -> list[Term]:
    r""":math:`2|B|(|B| - A) = (B^2 - A^2) + (|B| - A)^2`, entry by entry."""
    actual, claimed = with_layer(network), without_layer(network, at).positive()
    weights = (1, 2 * network.bound, network.bound**2)
    return [
        Term(weight / (2 * B), factors)
        for weight, A, B, smaller in zip(weights, actual, claimed, ENTRIES, strict=True)
        for factors in ((smaller,), (B - A,))
    ]


def root_of_two(network: Network, at: Letters) -> Sides:
    """The square of the latter form, and twice the spectral norm's."""
    size = 1 + network.bound**2
    claimed = without_layer(network, at)
    left = form(vanilla(network).positive(), network.bound)
    return Sides(left**2, 2 * (size * claimed.spectral()) ** 2)


def root_of_two_slack(network: Network, at: Letters) -> list[Term]:
    """Lagrange's identity, and the smaller eigenvalue."""
    claimed, weight = without_layer(network, at), network.bound
    first, off, last = claimed.positive()
    return [
        Term(claimed.trace() * (1 + weight**2) ** 2, (sqrt(claimed.gap()),)),
        Term(2, (first * weight - off,)),
        Term(1, (first * weight**2 - last,)),
        Term(2 * weight**2, (off * weight - last,)),
    ]


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
    sides=sign_flip.spectral,
    relation=Relation.LESS_THAN,
    hypotheses=(sign_flip.ACROSS, *sign_flip.ENTRIES),
    expected=Verdict.REFUTED,
    order=2,
    falsified_by="one batch, two centred inputs and a loss: every entry shrinks, the norm grows",
    remark="Examined for the losses of sign_flip, at a multiple of the batch.",
)

CLAIMS = [
    PRINTED,
    PRINTED.corrected(
        sides=by_entries,
        relation=Relation.AT_MOST,
        hypotheses=ENTRIES,
        certificate=by_entries_slack,
        statement=r"|A_{ik}| < |B_{ik}| \Rightarrow w^\top Aw \le w^\top |B| w \text{ for } w \ge 0"
        r"\text{, so that } \|A\|_2 \le \big\||B|\big\|_2,\quad |B| = (|B_{ik}|)",
        falsified_by="one batch, two inputs and a loss: every entry shrinks, and a form grows",
        remark="For w = (1, lambda): signs of the weights are signs of the inputs. Slack: that of"
        " the entries, and their signs. The Frobenius norm shrinks too, entry by entry.",
    ),
    PRINTED.corrected(
        "root-of-n",
        sides=root_of_two,
        relation=Relation.AT_MOST,
        hypotheses=(),
        certificate=root_of_two_slack,
        statement=r"w^\top|B|w \le \sqrt n\,\|w\|^2\|B\|_2,\quad n = 2",
        falsified_by="two inputs and a loss",
        remark="So the norm with the layer is at most the root of n times that without. Slack: the"
        " smaller eigenvalue; none at matrices of Hadamard.",
    ),
]
